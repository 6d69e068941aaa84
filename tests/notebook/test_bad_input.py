"""Input that nobody hopes for: every panel says in words what is so, and what can be done; nothing fails or is lost."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prodex.notebook.explore import Explore, explore

import prodex
from prodex import CorrectionsPanel, ProductCard, TextCorrection
from prodex.exploration.drafts import read_draft
from prodex.sandbox import Sandbox
from prodex.selection import Range
from tests.quality.reading_html import parsed

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
    """Fail when a widget has logged the traceback of an error that is none of ours."""
    with caplog.at_level(logging.ERROR, "prodex"):
        yield
    assert [] == [one.message for one in caplog.records]


def seen(widget: Any) -> str:
    """Return the words of a widget that are shown: its HTML, its buttons, and what its scripts draw."""
    if getattr(getattr(widget, "layout", None), "display", None) == "none":
        return ""
    own = str(getattr(widget, "value", "")) if type(widget).__name__ == "HTML" else ""
    words = [parsed(own).words if "<style" not in own else "", str(getattr(widget, "view", ""))]
    return " ".join([*words, *map(seen, getattr(widget, "children", ()))])


def through(explored: Explore) -> dict[str, str]:
    """Open every section, and return the words of each."""
    said = {}
    for section, place in explored.places.items():
        explored.section = section
        (panel,) = place.children
        if hasattr(panel, "wait"):
            panel.wait()
        said[section] = seen(place)
        assert "" == panel.message, section
    return said


@pytest.mark.slow
@pytest.mark.parametrize("is_audited", [False, True])
def test_a_catalogue_without_products(is_audited: bool) -> None:
    """Every panel opens and says that there is nothing, and what to do; an audit of it can be run."""
    catalog = prodex.flatten([])
    explored = explore(catalog, audit=prodex.audit(catalog, PROFILE, progress=False) if is_audited else None)
    said = through(explored)
    assert all("This catalogue has no products. Load" in said[one] for one in ("Products", "Coverage"))
    assert "No corrections." in said["Corrections"]
    assert "No snapshots in" in said["Snapshots"]
    quality = explored.places["Quality"].children[0]
    if is_audited:
        assert "This catalogue has no products." in said["Quality"]
    explored.section = "Quality"
    quality.controls.run.click()
    quality.wait()
    assert "0 products" in quality._headline.value
    assert "There is no product 7 among 0" in ProductCard(catalog, "7").message
    assert "no products" in seen(prodex.gallery(catalog)) + repr(prodex.gallery(catalog))


def test_a_query_that_finds_nothing() -> None:
    """A service without products is loaded as a catalogue without products, and said to be one."""
    with Sandbox([]) as sandbox:
        key = sandbox.credentials[0]
        access = {"client_id": key["client_id"], "client_secret": key["client_secret"]}
        service = prodex.connect(base_url=sandbox.base_url, **access)
        explored = explore(prodex.flatten([ONE]), service=service)
        explored.section = "Load"
        panel = explored.places["Load"].children[0]
        panel.wait()
        panel.loading.load_button.click()
        panel.wait()
        assert "0 products" in panel.loading.message
        # What was explored is replaced: that is said where somebody looks, and it is one press away.
        assert "“Back to 1 product” at the top returns." in panel.loading.message
        explored.section = "Products"
        assert (0, True) == (len(explored.catalog), "has no products" in seen(explored.places["Products"]))


@pytest.mark.slow
def test_a_catalogue_of_one_product() -> None:
    """Everything that is said of one is said in the singular, and its card opens."""
    catalog = prodex.flatten([ONE])
    explored = explore(catalog, audit=prodex.audit(catalog, PROFILE, progress=False))
    said = through(explored)
    assert "has no products" not in "".join(said.values())
    assert "1 product audited" in said["Quality"]
    assert "1 products" not in "".join(said.values())
    explored._explorer.table.grid.press(do="open", id="7")
    assert "Pain" in seen(explored._explorer.pane)


@pytest.mark.slow
def test_an_audit_that_has_no_product_of_the_catalogue() -> None:
    """The figures are said to be of others; with a condition none is left, and the other panels work."""
    others = prodex.flatten([{"id": 1}, {"id": 2}])
    explored = explore(prodex.flatten([ONE]), audit=prodex.audit(others, PROFILE, progress=False))
    said = through(explored)
    assert (
        "covers another catalogue (2 products) than the one shown (1 product): no product is in both"
        in (said["Quality"])
    )
    quality = explored.places["Quality"].children[0]
    quality.gaps.buttons[0].click()
    assert ("Products", 0) == (explored.section, len(explored.catalog))
    explored.section = "Quality"
    assert "0 of 2 products" in quality._headline.value
    explored.section = "Products"
    explored.exploration.history.back()
    explored._explorer.table.grid.press(do="open", id="7")
    assert "Pain" in seen(explored._explorer.pane)
    explored.section = "Quality"
    quality.controls.run.click()
    quality.wait()
    assert "another catalogue" not in seen(quality)


@pytest.mark.slow
@pytest.mark.parametrize("text", [LONG, ARABIC], ids=["long", "right-to-left"])
def test_a_text_that_is_hard_to_show(text: str) -> None:
    """On the card, in the editor and in the list of corrections it is whole, in its own direction, and not run."""
    record = ONE | {"namePublicLong": [{"expressedIn": {"code": "ara-SA"}, "data": text}]}
    catalog = prodex.flatten([record]).save("shop")
    panel = CorrectionsPanel(catalog)
    card = ProductCard(exploration=panel.exploration, product_id="7")
    view = card.texts.widget.view
    (item,) = (one for row in view["rows"] for cell in row["cells"] for one in cell["items"] if one["was"])
    if item["text"] is None:  # asked for letter by letter by the editor
        card.texts.widget.press(do="open", key=item["key"])
        assert text == card.texts.widget.view["opened"]["text"]
    else:
        assert text == item["text"]
    assert text.strip()[:100].split("\u2067")[0] in item["was"]["text"]
    assert ("note" in item["was"]) == (text == LONG)

    card.texts.widget.press(do="save", key=item["key"], text=f"{text}.")
    panel.wait()
    (row,) = panel.list.view["rows"]
    assert ("refused" if text == LONG else "accepted") == row["state"]
    assert f"{text}." == read_draft("shop")[0].corrections[0].text
    for one in (row["was"], row["now"]):
        # Each isolate is closed inside its own text; the others end with the element around it.
        assert one["text"].count("\u2067") == one["text"].count("\u2069")
    assert "ar" == row["lang"]
    assert len(row["reason"]) < 1_000


@pytest.mark.slow
def test_a_snapshot_that_disappears_while_it_is_shown(home: Path) -> None:
    """The next click of any panel says what happened and what to do; corrections are kept, and others can be opened."""
    prodex.flatten([ONE | {"id": number} for number in range(1, 200)]).save("shop")
    other = prodex.flatten([ONE]).save("other")
    catalog = prodex.open_snapshot("shop")
    explored = explore(catalog)
    explorer = explored._explorer
    explorer.table.grid.press(do="open", id="7")
    view = explorer._card.texts.widget.view
    key = next(one["key"] for row in view["rows"] for cell in row["cells"] for one in cell["items"])
    assert catalog.folder is not None
    shutil.rmtree(catalog.folder.parent)

    gone = "The snapshot shop@"
    conditions = explored.exploration.conditions
    explored.exploration.conditions = conditions.toggled("brand", None).within("texts_count", Range(1, 9))
    assert gone in explorer.message
    explored.exploration.conditions = conditions
    explorer._search_field.value = "pain"
    explorer._looking.wait()
    assert gone in explorer.message
    explorer._search_field.value = ""
    explorer.table.grid.press(do="open", id="9")
    assert gone in explorer._card.message
    # What was typed for the card before arrives when the next one is asked for.
    explorer._card.texts.widget.press(do="save", key=key, text="Pain bis")
    assert ["Pain bis"] == [one.text for one in read_draft("shop")[0].corrections]
    for section in ("Quality", "Coverage", "Corrections"):
        explored.section = section
        (panel,) = explored.places[section].children
        panel.wait()
        if section == "Quality":
            panel.controls.run.click()
            panel.wait()
        assert gone in panel.message, section
        assert "prodex.list_snapshots()" in panel.message
    explored.section = "Snapshots"
    (panel,) = explored.places["Snapshots"].children
    panel.wait()
    assert ["other"] == [one.name for one in panel._every]
    panel.table.selected_rows = [0]
    assert other.folder == explored.exploration.catalog.folder
    explored.section = "Products"
    assert ("", 1) == (explorer.message, len(explored.catalog))
    assert isinstance(read_draft("shop")[0].corrections[0], TextCorrection)
