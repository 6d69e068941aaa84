"""Input that nobody hopes for: every section says in words what is so and what to do; nothing fails or is lost."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.exploration.drafts import read_draft
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.sandbox import Sandbox
from prodex.selection import Range, Selection
from tests.notebook.cards import texts
from tests.notebook.pressing import press, said, settle

ONE = {
    "id": 7,
    "gtin": "03036811359935",
    "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}],
}
PROFILE = {"checks": {"has_name": {}, "valid_gtin": {}, "has_front_packshot": {}}}
LONG = "longue phrase " * 3_000
ARABIC = "خبز \u2067ريفي \u202egnp.exe 24 قطعة"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is saved in a folder of the test, and work there."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def no_traceback(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail when a panel has logged the traceback of an error that is none of ours."""
    with caplog.at_level(logging.ERROR, "prodex"):
        yield
    assert [] == [one.message for one in caplog.records]


def judged(catalog: prodex.Catalog) -> prodex.quality.Audit:
    """Audit a catalogue by a few checks."""
    return prodex.audit(catalog, PROFILE, progress=False)


def through(app: App) -> dict[str, str]:
    """Open every section, and return the words of each; none has a problem to tell."""
    words = {}
    for section in [one.name for one in app.sections]:
        app.act("section.open", name=section)
        settle(app)
        words[section] = said(app)
        assert {} == dict(app.session.notices), section
    return words


def opened(app: App, section: str) -> str:
    """Open a section, and return its words, and those above it."""
    app.act("section.open", name=section)
    settle(app)
    return said(app)


@pytest.mark.slow
@pytest.mark.parametrize("is_audited", [False, True])
def test_a_catalogue_without_products(is_audited: bool) -> None:
    """Every section opens and says that there is nothing, and what to do; an audit of it can be run."""
    catalog = prodex.flatten([])
    app = App(Session(catalog, judged(catalog) if is_audited else None))
    words = through(app)
    assert all("This catalogue has no products. Load" in words[one] for one in ("products", "coverage"))
    assert "No corrections." in words["corrections"]
    assert "No snapshots in" in words["snapshots"]
    assert ("This catalogue has no products." in words["quality"]) == is_audited
    opened(app, "quality")
    press(app, "Audit")
    assert "0 products" in said(app)
    alone = App(Session(catalog, product_id="7", section="card"), ["card"])
    settle(alone)
    assert "There is no product 7 among 0" in said(alone)
    gallery = App(Session(catalog, section="gallery"), ["gallery"])
    settle(gallery)
    assert "no products" in said(gallery)


def test_a_query_that_finds_nothing() -> None:
    """A service without products is loaded as a catalogue without products, and said to be one."""
    with Sandbox([]) as sandbox:
        key = sandbox.credentials[0]
        access = {"client_id": key["client_id"], "client_secret": key["client_secret"]}
        service = prodex.connect(base_url=sandbox.base_url, **access)
        app = App(Session(prodex.flatten([ONE]), service=service))
        opened(app, "load")
        press(app, "Load products")
        # What was explored is replaced: that is said where somebody looks, and it is one press away.
        assert "Back to 1 product" in said(app)
        assert "at the top returns" in said(app)
        assert "has no products" in opened(app, "products")
        assert 0 == len(app.session.chosen)


@pytest.mark.slow
def test_a_catalogue_of_one_product() -> None:
    """Everything that is said of one is said in the singular, and its card opens."""
    catalog = prodex.flatten([ONE])
    app = App(Session(catalog, judged(catalog)))
    words = through(app)
    assert "has no products" not in "".join(words.values())
    assert "1 product audited" in words["quality"]
    assert "1 products" not in "".join(words.values())
    opened(app, "products")
    app.act("table.open", product_id="7")
    assert "Pain" == texts(app)["Long name, French"]["was"]["text"]


@pytest.mark.slow
def test_an_audit_that_has_no_product_of_the_catalogue() -> None:
    """The figures are said to be of others; with a condition none is left, and the other sections work."""
    others = prodex.flatten([{"id": 1}, {"id": 2}])
    app = App(Session(prodex.flatten([ONE]), judged(others)))
    assert "No product is in both" in through(app)["quality"]
    opened(app, "quality")
    press(app, "Show 2 products")
    assert ("products", 0) == (app.session.section, len(app.session.chosen))
    assert "0 of 2 products" in opened(app, "quality")
    opened(app, "products")
    press(app, "← Back")
    app.act("table.open", product_id="7")
    assert "Pain" == texts(app)["Long name, French"]["was"]["text"]
    opened(app, "quality")
    press(app, "Audit")
    assert "No product is in both" not in said(app)


@pytest.mark.slow
@pytest.mark.parametrize("text", [LONG, ARABIC], ids=["long", "right-to-left"])
def test_a_text_that_is_hard_to_show(text: str) -> None:
    """On the card, in the editor and in the list of corrections it is whole, in its own direction, and not run."""
    record = ONE | {"namePublicLong": [{"expressedIn": {"code": "ara-SA"}, "data": text}]}
    app = App(Session(prodex.flatten([record]).save("shop"), product_id="7"))
    item = texts(app)["Long name, Arabic"]
    shown = item["was"]["text"]
    # Each isolate is closed inside its own text; the others end with the element around it.
    assert shown.count("\u2067") == shown.count("\u2069")
    assert text.strip()[:100].split("\u2067")[0] in shown

    correct(app, item, text, f"{text}.")
    words = opened(app, "corrections")
    assert ("cannot be used" in words) == (text == LONG)
    assert f"{text}." == read_draft("shop")[0].corrections[0].text


def correct(app: App, item: dict[str, Any], before: str, text: str) -> None:
    """Correct a text as the card does."""
    app.act("card.correct", product_id="7", place=item["key"], before=before, text=text)
    settle(app)


@pytest.mark.slow
def test_a_snapshot_that_disappears_while_it_is_shown(home: Path) -> None:
    """The next press anywhere says what happened and what to do; corrections are kept, and others can be opened."""
    prodex.flatten([ONE | {"id": number} for number in range(1, 200)]).save("shop")
    other = prodex.flatten([ONE]).save("other")
    app = App(Session(prodex.open_snapshot("shop"), product_id="7"))
    item = texts(app)["Long name, French"]
    folder = app.session.catalog.folder
    assert folder is not None
    shutil.rmtree(folder.parent)

    gone = "The snapshot shop@"
    app.change(
        lambda session: session.filtered(
            Selection().toggled("brand", None).within("texts_count", Range(1, 9))
        )
    )
    settle(app)
    assert gone in said(app)
    app.change(lambda session: session.filtered(Selection()))
    app.act("search.set", value="pain")
    settle(app)
    assert gone in said(app)
    app.act("search.set", value="")
    app.act("table.open", product_id="9")
    settle(app)
    assert gone in said(app)
    # What was typed for the card before arrives when the next one is asked for.
    correct(app, item, "Pain", "Pain bis")
    assert ["Pain bis"] == [one.text for one in read_draft("shop")[0].corrections]
    for section in ("quality", "coverage", "corrections"):
        words = opened(app, section)
        if section == "quality":
            press(app, "Audit")
            words = said(app)
        assert gone in words, section
        assert "prodex.list_snapshots()" in words, section
    opened(app, "snapshots")
    app.act("snapshots.open", folder=str(other.folder))
    settle(app)
    assert other.folder == app.session.catalog.folder
    assert gone not in opened(app, "products")
    assert 1 == len(app.session.chosen)
    assert home.exists()
