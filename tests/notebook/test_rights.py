"""What a page for colleagues may do: it reads; with a service it corrects; whatever else is asked of it, it refuses."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import prodex as px
from prodex.files.atomic import home
from prodex.notebook.app import App
from prodex.notebook.permitted import permitted
from prodex.notebook.session.actions import DEEDS, Deed, Section
from prodex.notebook.session.rights import NEEDED, Right
from prodex.notebook.session.session import Session
from prodex.notebook.views import SECTIONS
from prodex.notebook.views.downloads import packed
from prodex.notebook.views.gallery_pictures import CONSENT
from prodex.notebook.views.products_left import ids_digest
from prodex.selection import ProductList, Selection
from prodex_sandbox.sample import shared_products

from .pressing import blocks_in, buttons, has_button, press, said, settle, type_in

#: What each section needs at its first sight, and what somebody may think of as harmless.
MORE_THAN_READING = [name for name in DEEDS if NEEDED.get(name, Right.EVERYTHING) > Right.READ]
MORE_THAN_CORRECTING = [name for name in DEEDS if NEEDED.get(name, Right.EVERYTHING) > Right.CORRECT]


@pytest.fixture(scope="module")
def catalog() -> px.Catalog:
    """Hold some products."""
    return px.flatten(one.record for one in shared_products(60))


@pytest.fixture(scope="module")
def audit(catalog: px.Catalog) -> px.quality.Audit:
    """Hold their audit."""
    return px.audit(catalog, "online-listing")


@pytest.fixture
def reading(catalog: px.Catalog, audit: px.quality.Audit) -> App:
    """Show them, audited, in a panel that only reads."""
    return App(Session(catalog, audit, may=Right.READ))


def test_what_needs_which_right_is_there() -> None:
    """A name that no action and no section has would be a right that somebody else takes up one day."""
    assert [] == [name for name in NEEDED if name not in DEEDS and name not in SECTIONS]
    assert {"load", "card", "gallery"} == SECTIONS.keys() - NEEDED.keys()


def test_what_reaches_files_services_or_hosts_needs_more_than_reading() -> None:
    """These are known to load, send, accept, save, write or download; a right that slips is a hole."""
    known = {
        "load.start", "load.resume", "send.ask", "send.start", "send.check", "send.confirm", "acceptance.accept",
        "acceptance.withdraw", "returned.read", "returned.upload", "returned.accept", "views.save", "views.open",
        "views.remove", "export.save", "export.report", "export.worklists", "products.export", "gallery.sheet",
        "gallery.show", "gallery.again", "card.pictures", "card.correct", "corrections.write", "bulk.keep",
        "bulk.collect", "comparison.export",
    }  # fmt: skip
    assert known <= set(MORE_THAN_READING)
    of_corrections = {"send.ask", "send.start", "send.check", "send.confirm", "card.correct", "bulk.collect"}
    answers = {"returned.read", "returned.upload"}
    assert known - of_corrections - answers <= set(MORE_THAN_CORRECTING)


def test_an_action_of_tomorrow_is_refused_until_somebody_says_what_it_needs(
    reading: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever adds one need not think of pages."""
    done: list[str] = []

    def do(session: Session) -> Session:
        done.append("done")
        return session

    monkeypatch.setitem(DEEDS, "tomorrow.do", Deed("tomorrow.do", do, is_task=False))
    monkeypatch.setitem(SECTIONS, "tomorrow", Section("tomorrow", lambda _: "Tomorrow", lambda _: []))
    reading.act("tomorrow.do")
    assert "tomorrow.do is not allowed in this page" in reading.session.notices["products"].sentence
    reading.act("section.open", name="tomorrow")

    assert [] == done
    assert "products" == reading.session.section
    whole = App(Session(reading.session.catalog))
    whole.act("tomorrow.do")
    assert ["done"] == done


@pytest.mark.parametrize("name", MORE_THAN_READING)
def test_a_forged_message_does_nothing(reading: App, name: str) -> None:
    """A page sends what it likes: whatever the arguments, the session stays, and the reason is said."""
    before = reading.session
    reading.hear({"type": "open", "page": "forged"})
    for number, arguments in enumerate(forged(name), 1):
        reading.hear({"type": "act", "page": "forged", "number": number, "do": name, "args": arguments})

    after = reading.session
    assert before.replaced(notices=after.notices) == after
    assert "Nothing was done" in after.notices["products"].sentence


def forged(name: str) -> Iterator[dict[str, Any]]:
    """Yield arguments of an action: none, and one of each that its function takes."""
    yield {}
    names = [*DEEDS[name].function.__code__.co_varnames[1 : DEEDS[name].function.__code__.co_argcount]]
    yield dict.fromkeys(names, "x")
    yield dict.fromkeys(names, 1)


@pytest.mark.parametrize("right", [Right.READ, Right.CORRECT])
def test_nothing_that_is_offered_is_refused(catalog: px.Catalog, right: Right, tmp_path: Path) -> None:
    """In no section, with whatever can be opened open, is there a button, a field or a row that is not allowed."""
    shop = catalog.save("shop")
    audit = px.audit(shop, "online-listing")
    app = App(Session(shop, audit, may=right, product_id=shop.products["product_id"][0]))

    for section in [one.name for one in app.sections]:
        app.act("section.open", name=section)
        settle(app)
        for _ in range(2):
            for fold in [
                one["key"] for one in blocks_in(app.view()) if one["kind"] == "fold" and not one["open"]
            ]:
                app.act("fold.set", key=fold, is_open=True)
            settle(app)
        asked = set(asked_in(app.view()))
        assert asked
        assert [] == [do for do in asked if NEEDED.get(do, Right.EVERYTHING) > right], section
    assert (right is Right.CORRECT) == ("corrections" in [one.name for one in app.sections])


def asked_in(shown: Any) -> Iterator[str]:
    """Yield every action that a view names, wherever it does."""
    if isinstance(shown, str) and shown in DEEDS:
        yield shown
    elif isinstance(shown, dict | list):
        for one in shown.values() if isinstance(shown, dict) else shown:
            yield from asked_in(one)


def test_a_page_says_what_is_accepted_where_it_accepts_nothing(
    catalog: px.Catalog, audit: px.quality.Audit, tmp_path: Path
) -> None:
    """Its figures count what somebody has found to be right, which readers would take for what is to be done."""
    accepted = px.accept(audit, reason="printed so", by="ann", to=tmp_path / "accepted.jsonl")
    shown = {}
    for name, one in (("as found", audit), ("accepted", accepted)):
        app = App(Session(catalog, one, may=Right.READ))
        app.act("section.open", name="quality")
        settle(app)
        shown[name] = str(app.view())
        assert not has_button(app, "Accept ")

    assert f"{len(audit.failures()):,} findings accepted by ann" in shown["accepted"]
    assert "Accepted findings" not in shown["as found"]


def test_words_name_no_button_that_a_page_lacks(tmp_path: Path) -> None:
    """Who wants grades over time is sent to a terminal, and changed values are listed where nothing exports them."""
    records = [one.record for one in shared_products(2)]
    old, new = (
        px.flatten([{**records[0], **{f"a{n}": value for n in range(30)}}, records[1]])
        for value in ("x", "y")
    )
    difference = px.diff(old.save("shop"), shop := new.save("shop"))
    first = str(shop.products["product_id"][0])
    named = {}
    for may in (Right.READ, Right.EVERYTHING):
        app = App(Session(shop, may=may, difference=difference, product_id=first))
        settle(app)
        seen = str(app.view())
        app.act("section.open", name="snapshots")
        settle(app)
        seen += str(app.view())
        wanted = ("Save one with 'Save audit'", "Save one with 'prodex audit NAME --save' in a terminal")
        named[may] = [one in seen for one in (*wanted, "Snapshots exports all", "Snapshots lists all")]

    assert [False, True, False, True] == named[Right.READ]
    assert [True, False, True, False] == named[Right.EVERYTHING]


def test_what_a_notebook_shows_is_as_it_was(catalog: px.Catalog) -> None:
    """Nothing is left out where everything may be done."""
    view = App(Session(catalog)).view()

    assert view == permitted(view, lambda _: True)
    assert "load.start" not in set(asked_in(view))
    assert {"views.save", "products.export"} <= DEEDS.keys()


def test_rows_stay_where_they_cannot_be_pressed() -> None:
    """A table is read, cell by cell below its heads; a form without its button, and a box without content, are gone."""
    press = {"kind": "button", "key": "b", "do": "views.save"}
    view = {
        "blocks": [
            {
                "kind": "table",
                "rows": [{"key": "1", "do": "views.save", "args": {}, "cells": ["a", {"button": press}]}],
            },
            {"kind": "form", "key": "f", "fields": [{"kind": "text", "key": "x"}], "buttons": [press]},
            {"kind": "box", "key": "x", "blocks": [press]},
            {"kind": "box", "key": "empty", "blocks": []},
            {"kind": "text", "key": "t", "text": [None, "words", {"button": press}]},
        ]
    }

    assert {
        "blocks": [
            {"kind": "table", "rows": [{"key": "1", "cells": ["a", ""]}]},
            {"kind": "box", "key": "empty", "blocks": []},
            {"kind": "text", "key": "t", "text": [None, "words"]},
        ]
    } == permitted(view, lambda name: name != "views.save")


def test_a_working_day_of_reading_changes_no_file(tmp_path: Path) -> None:
    """Filter, card, figures, coverage, comparison, downloads: what is kept on this machine is as it was."""
    records = [one.record for one in shared_products(60)]
    for day, count in ((11, 60), (20, 50)):
        folder = px.flatten(records[:count]).save("shop").folder
        assert folder is not None
        folder.rename(folder.parent / f"2026-11-{day}T050102.000000Z")
    shop = px.open_snapshot("shop")
    before = state_of(home())
    app = App(Session(shop, may=Right.READ))
    app.send = lambda *_: None
    settle(app)
    app.act("facets.toggle", facet="brand", code=str(shop.products["brand_code"].dropna().iloc[0]))
    app.act("table.open", product_id=str(shop.products["product_id"][0]))
    settle(app)
    app.act("section.open", name="quality")
    press(app, "Audit")
    press(app, "Download worklists")
    app.act("section.open", name="coverage")
    settle(app)
    app.act("section.open", name="snapshots")
    settle(app)
    press(app, "Compare")
    app.act("section.open", name="products")
    app.act("fold.set", key="export", is_open=True)
    press(app, "Download")

    assert app.session.difference is not None
    assert app.session.audit is not None
    assert before == state_of(home())


def state_of(folder: Path) -> dict[str, str]:
    """Return the content of every file below a folder, as a digest."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_pictures_are_not_asked_for_where_a_notebook_of_this_process_may(
    catalog: px.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Consent is of the process; a page asks no host of a supplier in any case."""
    monkeypatch.setattr(CONSENT, "is_given", True)
    app = App(Session(catalog, may=Right.READ))
    app.act("products.look", name="gallery")
    settle(app)

    def wanted(session: Session) -> list[str]:
        return [want.slot for want in SECTIONS["products"].wants(session)]

    assert "gallery.pictures" not in wanted(app.session)
    assert "gallery.pictures" in wanted(app.session.replaced(may=Right.EVERYTHING))
    assert not has_button(app, "Show pictures")


def test_a_row_that_is_to_be_edited_opens_its_card(reading: App, catalog: px.Catalog) -> None:
    """A double click is a habit; where nothing can be corrected it opens the card, without its editors."""
    first = str(catalog.products["product_id"][0])
    reading.act("table.edit", product_id=first)
    settle(reading)

    assert first == reading.session.product_id
    texts = [one for one in blocks_in(reading.view()) if one["kind"] == "card_texts"]
    assert texts
    items = [item for row in texts[0]["rows"] for cell in row["cells"] for item in cell.get("items", ())]
    assert items
    assert [] == [item for item in items if item.get("key") or item.get("editor")]
    assert not buttons(reading, "✎")
    assert {} == reading.session.notices


def test_products_are_handed_over_to_the_browser(reading: App) -> None:
    """The table as it is shown, in one file; the products of now, or none."""
    files = handed(reading)
    reading.act("fold.set", key="export", is_open=True)
    type_in(reading, "products-export", format="csv")
    press(reading, "Download 60 products")

    ((name, content),) = files
    assert "products_as_shown.csv" == name
    assert 61 <= content.decode("utf-8-sig").count("\n")
    assert "Your browser saves products_as_shown.csv" in said(reading)
    sentence = reading.session.notices["products.export"].sentence
    assert sentence.startswith("Exported 60 products (10 columns). Your browser saves"), sentence
    reading.act("products.download", of=ids_digest(["1"]))
    settle(reading)
    assert 1 == len(files)


def test_worklists_are_handed_over_to_the_browser(reading: App) -> None:
    """One of a single supplier is a workbook; those of several are an archive, which can be unpacked anywhere."""
    files = handed(reading)
    reading.act("section.open", name="quality")
    settle(reading)
    press(reading, "Download worklists")

    ((name, content),) = files
    assert "worklists.zip" == name
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert 1 < len(names)
    assert {".xlsx", ".eml", ".csv", ".json"} == {Path(one).suffix for one in names}
    assert [] == [one for one in names if "/" in one or "\\" in one]
    assert "worklists.zip" in said(reading)


def test_a_worklist_of_one_supplier_is_a_workbook_that_is_read_when_it_comes_back(
    reading: App, tmp_path: Path
) -> None:
    """Whoever hands it on wants one file, and it is worth no less than one of a folder."""
    files = handed(reading)
    failing = px.audit(reading.session.catalog, "online-listing").failures()
    owner = failing["owner"].iloc[0]
    ids = tuple(dict.fromkeys(failing.loc[failing["owner"] == owner, "product_id"]))
    one = Selection(listed=(ProductList("of one supplier", ids),))
    reading.change(lambda session: session.filtered(one))
    reading.act("section.open", name="quality")
    settle(reading)
    press(reading, "Download worklists")

    ((name, content),) = files
    assert name.endswith(".xlsx")
    (tmp_path / name).write_bytes(content)
    assert 0 < px.read_worklist(tmp_path / name, reading.session.catalog).rows


def handed(app: App) -> list[tuple[str, bytes]]:
    """Return the list in which the files stand that a panel hands over."""
    files: list[tuple[str, bytes]] = []

    def send(message: dict[str, Any], buffers: Any) -> None:
        if message["type"] == "file":
            files.append((message["name"], *buffers))

    app.send = send
    return files


def test_nothing_to_hand_over_is_said(tmp_path: Path) -> None:
    """No empty archive is saved in its place; what describes files for programs is no file of its own."""
    (tmp_path / "datapackage.json").write_text("{}", "utf-8")

    with pytest.raises(px.errors.InputError, match="nothing to hand over"):
        packed(tmp_path, "worklists", "xlsx")
