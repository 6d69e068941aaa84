"""The comparison in the section Snapshots: what it finds, lists, shows among the products, and writes to a file."""

from __future__ import annotations

import csv
import json
import re
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.compare import Difference
from prodex.notebook.app import App
from prodex.notebook.views.compared import ComparedSnapshots
from prodex.notebook.views.comparison import ComparisonState
from prodex.progress import Reporter
from tests.quality import hostile

from .test_snapshots_view import app_of, block, blocks, record, refresh, shop, texts, words

__all__ = ["shop"]  # a fixture


def compare(app: App, **chosen: str) -> Difference:
    """Choose two snapshots, and press Compare."""
    for field, value in chosen.items():
        app.act("form.set", form="compare", field=field, value=value)
    app.act("comparison.run")
    app.wait()
    assert app.session.difference is not None, words(app)
    return app.session.difference


def fields(app: App, form: str) -> dict[str, Any]:
    return {one["key"]: one for one in block(app, form)["fields"]}


def rows_of(app: App, key: str) -> list[list[str]]:
    """Return what the cells of a table say."""
    return [[" ".join(texts(cell)) for cell in row["cells"]] for row in block(app, key)["rows"]]


def summary(app: App) -> str:
    return words(app, "values-pages")


def of(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> App:
    """Return a panel that shows what changed between two catalogues of which no snapshot is saved."""
    found = ComparedSnapshots.of(prodex.diff(prodex.flatten(old), prodex.flatten(new)), None)
    prodex.flatten(new).save("shown")
    app = app_of()
    state = ComparisonState(found)
    app.change(lambda session: session.replaced(difference=found.difference).with_part(state))
    return app


def test_what_was_compared_is_named_whatever_the_form_has_by_now(
    shop: tuple[prodex.Catalog, prodex.Catalog],
) -> None:
    """The figures below two lists are not taken for those of what somebody has chosen in them since."""
    old, new = (str(one.folder) for one in shop)
    app = app_of()
    compare(app, old=old, new=new)
    pair = words(app, "compared")
    assert pair.index(shop[0].folder.name[:10]) < pair.rindex(shop[1].folder.name[:10])
    assert "Others are chosen above" not in pair
    app.act("form.set", form="compare", field="old", value=new)
    assert "Others are chosen above" in words(app, "compared")


def test_an_id_is_not_shown_as_a_gtin() -> None:
    """A product without a GTIN is named by its id, which says that it is one."""
    old, new = (
        [{"id": 13, "brand": {"code": one}}, {"id": 7, "gtin": "03036811359935", "brand": {"code": one}}]
        for one in "AB"
    )
    assert {"id 13", "03036811359935"} == {row[0] for row in rows_of(of(old, new), "values")}


@pytest.mark.slow
def test_two_are_compared(shop: tuple[prodex.Catalog, prodex.Catalog], tmp_path: Path) -> None:
    """The two newest of a name are offered; counts, groups, values and audits say what changed, and a file has all."""
    app = app_of()
    assert [str(one.folder) for one in shop] == [
        fields(app, "compare")[name]["value"] for name in ("old", "new")
    ]
    difference = compare(app)
    counted = difference.summary.set_index("change")["products"].to_dict()
    said = words(app)
    for change, count in counted.items():
        assert f"{change.capitalize()} {count}" in said
    assert {"added": 1, "removed": 1, "changed": 2} == {
        name: counted[name] for name in ("added", "removed", "changed")
    }
    assert "Fixed 1" in said
    assert "Ready 66.7 → 100 %" in said
    assert ["Long name in French changed on 1 product", "1", "1"] in rows_of(app, "causes")
    app.act("form.set", form="comparison", field="by", value="brand")
    assert "2 of 2 brands with changes" in words(app)
    app.act("form.set", form="comparison", field="by", value="colour")
    assert "2 of 2 brands with changes" in words(app), "there is no such group"

    path = tmp_path / "changes.csv"
    app.act("form.set", form="changes-file", field="file", value=str(path))
    app.act("comparison.export")
    app.wait()
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert len(difference.changes) == len(rows)
    assert {"'=1+1"} == {row["new"] for row in rows if row["attribute"] == "namePublicLong"}
    assert f"Exported {len(rows)} changed values to {path}" in words(app, "written")
    written = path.read_bytes()
    app.act("comparison.export")
    app.wait()
    assert "already exists" in fields(app, "changes-file")["file"]["error"]
    assert written == path.read_bytes()


@pytest.mark.slow
def test_a_file_can_be_verbatim(shop: tuple[prodex.Catalog, prodex.Catalog], tmp_path: Path) -> None:
    """Who does not open it in a spreadsheet gets what was typed; a name that no file can have is refused."""
    app = app_of(shop[1])
    compare(app)
    app.act("form.set", form="changes-file", field="file", value="x" * 300)
    app.act("comparison.export")
    assert "cannot be written to" in fields(app, "changes-file")["file"]["error"]
    app.act("form.set", form="changes-file", field="file", value=str(tmp_path / "changes.csv"))
    assert "error" not in fields(app, "changes-file")["file"]
    app.act("form.set", form="changes-file", field="is_safe", value=False)
    app.act("comparison.export")
    app.wait()
    assert '"=1+1"' in (tmp_path / "changes.csv").read_text("utf-8")


@pytest.mark.slow
def test_the_same_twice_is_refused(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """A snapshot is not compared with itself, and that is said beside the field, until another one is chosen."""
    app = app_of(shop[1])
    new = fields(app, "compare")["new"]["value"]
    app.act("form.set", form="compare", field="old", value=new)
    app.act("comparison.run")
    app.wait()
    assert "Both are the same snapshot" in fields(app, "compare")["old"]["error"]
    assert app.session.difference is None
    app.act("form.set", form="compare", field="old", value="/etc")  # nothing that is offered
    app.act("comparison.run")
    app.wait()
    assert app.session.difference is not None, "what was preferred is compared, and no other folder"
    assert shop[0].folder == app.session.difference.old.folder


def test_one_snapshot_cannot_be_compared() -> None:
    """It says so, and what is needed."""
    app = app_of(prodex.flatten([record(1)]).save("alone"))
    app.act("comparison.run")
    assert "A comparison needs two snapshots" in words(app, "notice")


@pytest.mark.slow
def test_nothing_comes_of_a_comparison_that_was_cancelled(
    shop: tuple[prodex.Catalog, prodex.Catalog],
) -> None:
    """Cancel leaves the section ready to be asked again, and with what was compared before."""
    app = app_of(shop[1])
    before = compare(app)
    has_begun, go_on = threading.Event(), threading.Event()

    def slow(reporter: Reporter) -> Any:
        has_begun.set()
        go_on.wait(10)
        with reporter.phase("Comparing", "products", 2) as show:
            show(1, 2)
        raise AssertionError("it was cancelled")

    app.run("comparison", slow, title="Comparing")
    assert has_begun.wait(10)
    app._watched("comparison", 0)
    compare_button = block(app, "compare")["buttons"][0]
    assert compare_button["off"]
    cancel = block(app, "work comparison")["cancel"]
    app.act(cancel["do"], **cancel["args"])
    go_on.set()
    app.wait()
    assert before is app.session.difference
    assert "off" not in block(app, "compare")["buttons"][0]
    assert {} == block(app, "notice")
    compare(app)


@pytest.mark.slow
def test_only_the_audits_that_both_have_are_compared(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """A snapshot that was never judged has no audit to compare, and nothing is said of it."""
    app = app_of(shop[1].save("shop"))
    compare(app)
    assert "Newly failing" not in words(app)


@pytest.mark.slow
def test_what_suppliers_typed_is_a_text_everywhere() -> None:
    """Names, titles and reasons of a hostile catalogue are texts of their own in every cell, and long ones are cut."""
    one, other = hostile.catalog(), hostile.catalog()
    spoiled = [
        {**row, "brand": {"code": row["id"], "label": text}}
        for row, text in zip(
            [json.loads(text) for text in other.raw["json"]], [*hostile.STRINGS, hostile.LONG], strict=False
        )
    ]
    one.save("shop")
    app = app_of(prodex.flatten(spoiled).save("shop"))
    difference = compare(app)
    every = difference.changes[["old", "new"]].stack()
    assert every.str.len().max() > 40_000
    typed = {*hostile.STRINGS, hostile.LONG}
    notes = set()
    for by in ("owner", "brand", "kind"):
        app.act("form.set", form="comparison", field="by", value=by)
        for first in range(0, len(difference.changes), 20):
            app.act("pages.turn", name="comparison.values", first=first)
            for table in (found for found in blocks(app.view()["blocks"]) if found["kind"] == "table"):
                for row in table["rows"]:
                    # Our own sentences are strings, and no text of a supplier is one.
                    assert not typed.intersection(found for found in row["cells"] if isinstance(found, str))
                    notes |= {
                        found["note"] for found in row["cells"] if isinstance(found, dict) and "note" in found
                    }
            json.dumps(app.view(), allow_nan=False)
    assert "300 of 40,003 characters" in notes


@pytest.mark.slow
def test_a_press_compares_with_an_earlier_snapshot(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """The button names the snapshot, selects it under From, and compares at once."""
    old, new = shop
    app = app_of(new)
    (since,) = block(app, "since")["blocks"]
    assert " ".join(texts(since["label"])).startswith("Since ")
    app.act("form.set", form="compare", field="old", value=str(new.folder))
    app.act(since["do"], **since["args"])
    app.wait()
    assert str(old.folder) == fields(app, "compare")["old"]["value"]
    assert app.session.difference is not None
    app.act("comparison.since", old="/etc", new=str(new.folder))
    app.wait()
    assert {"/etc"}.isdisjoint(one["value"] for one in fields(app, "compare")["old"]["options"])


@pytest.mark.slow
def test_changed_products_are_listed_among_all(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """Of all attributes or of one, by a press; the products of another snapshot are shown as that snapshot has them."""
    old, new = shop
    app = app_of(old)
    # The older one is explored, so that the pair is chosen.
    difference = compare(app, old=str(old.folder), new=str(new.folder))
    offered = {tuple(one["value"]): one["label"] for one in fields(app, "changes")["what"]["options"]}
    assert offered["changed", None] == "all changed products (2)"
    assert offered["added", None] == "added products (1)"

    for outcome, attribute in offered:
        app.act("comparison.show", value=[outcome, attribute])
        if attribute is None:
            outcomes = difference.outcomes.to_pandas().set_index("product_id")["change"]
            wanted = set(outcomes.index[outcomes == outcome])
        else:
            rows = difference.changes[
                difference.changes["attribute"].str.split(".").str[0] == attribute.split(".")[0]
            ]
            wanted = set(rows["product_id"])
            assert f"{len(rows)} changed value" in summary(app)
        assert wanted
        shows = block(app, "products")
        assert f"Show {len(wanted)} product" in shows["label"]
        app.act(shows["do"], **shows["args"])
        assert "products" == app.session.section
        assert wanted == set(app.session.chosen.products["product_id"])
        assert new.folder == app.session.catalog.folder
        (listed,) = app.session.conditions.listed
        assert old.origin.loaded_at is None or f"since {old.origin.loaded_at:%Y-%m-%d}" in listed.title
        assert app.session.filter.labels(app.session.conditions) == [f"list: \u2068{listed.title}\u2069"]
        app.act("section.open", name="snapshots")
    app.act("comparison.products", value=["changed", "colour"])
    assert "no such changes by now" in words(app, "notice")
    assert "snapshots" == app.session.section


@pytest.mark.slow
def test_a_changed_value_opens_its_product(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """In the newer snapshot, which is explored then; a cause and an attribute list their values."""
    app = app_of(shop[0])
    compare(app, old=str(shop[0].folder), new=str(shop[1].folder))
    cause = next(one for one in block(app, "causes")["rows"] if "Long name" in " ".join(texts(one["cells"])))
    app.act(cause["do"], **cause["args"])
    assert ["changed", "namePublicLong"] == fields(app, "changes")["what"]["value"]
    (row,) = block(app, "values")["rows"]
    assert [
        "03036811359935",
        "Long name in French namePublicLong",
        "text changed",
        "Milk",
        "=1+1",
    ] == rows_of(app, "values")[0]
    app.act(row["do"], **row["args"])
    assert ("products", "2") == (app.session.section, app.session.product_id)
    assert shop[1].folder == app.session.catalog.folder


@pytest.mark.slow
def test_whoever_opens_another_snapshot_compares_that_one(
    shop: tuple[prodex.Catalog, prodex.Catalog],
) -> None:
    """What is explored is what is compared, and what was compared before stays until something else is."""
    app = app_of(shop[1])
    difference = compare(app)
    third = shop[0].save("shop")
    refresh(app)
    app.act("snapshots.open", folder=str(third.folder))
    app.wait()
    assert [str(shop[1].folder), str(third.folder)] == [
        fields(app, "compare")[name]["value"] for name in ("old", "new")
    ]
    assert difference is app.session.difference
    assert "all changed products" in words(app, "changes")
    app.act("form.set", form="compare", field="new", value=str(shop[1].folder))
    assert str(shop[0].folder) == fields(app, "compare")["old"]["value"], "the one before it"


def test_the_group_with_most_changes_comes_first() -> None:
    """Also before one with a product that was added, which counts no more than a change."""

    def made(number: int, owner: int, text: str) -> dict[str, Any]:
        name = [{"expressedIn": {"code": "fra-FR"}, "data": text}]
        return {"id": number, "owner": {"id": owner, "name": f"Owner {owner}"}, "namePublicLong": name}

    new = [*(made(number, 1, "Pain") for number in range(3)), made(9, 2, "Lait")]
    app = of([made(number, 1, "Riz") for number in range(3)], new)
    (table,) = (one for one in blocks(block(app, "groups")["blocks"]) if one["kind"] == "table")
    assert ["Owner 1", "Owner 2"] == [
        re.findall(r"Owner \d", " ".join(texts(row)))[0] for row in table["rows"]
    ]


def test_changes_are_counted_by_attribute() -> None:
    """Products and values, of the attribute that the changed ones are parts of; those of most products come first."""

    def made(number: int, picture: dict[str, object] | None, text: str) -> dict[str, Any]:
        name = [{"expressedIn": {"code": "fra-FR"}, "data": text}]
        pictures = [] if picture is None else [picture]
        return {"id": number, "namePublicLong": name, "assets": {"pictures": pictures}}

    picture: dict[str, object] = {"url": "https://a.example/1.jpg", "width": 9, "tags": ["<b>a</b>", "b"]}
    app = of(
        [made(1, picture, "Riz"), made(2, None, "Riz"), made(3, None, "Riz")],
        [made(1, None, "Pain"), made(2, None, "Pain"), made(3, None, "Riz")],
    )
    names, pictures = rows_of(app, "attributes")[:2]
    assert ["Long name namePublicLong", "2", "0", "0", "2"] == names
    assert app.session.difference is not None
    changes = app.session.difference.changes
    removed = int(changes["attribute"].str.startswith("assets.pictures").sum())
    assert removed > 3
    assert ["Pictures assets.pictures", "1", "0", str(removed), "0"] == pictures
    same = [made(3, None, "Riz")]
    nothing = of(same, same)
    assert {} == block(nothing, "attributes")
    assert "No value has changed" in words(nothing, "values")


def test_a_comparison_of_attributes_that_nobody_knows_is_cut_and_says_so() -> None:
    """A service may send thousands of attributes of its own, with any name: some are listed, with their number."""
    app = of(
        [{"id": 1, **{f"<i>{number}</i>": 1 for number in range(40)}}],
        [{"id": 1, **{f"<i>{number}</i>": 2 for number in range(40)}}],
    )
    assert "12 of 40 attributes with changed values" in words(app)
    assert 12 == len(rows_of(app, "attributes"))


def test_missing_values_have_their_own_words() -> None:
    """What was absent before is none, what was typed as nothing is empty."""
    app = of([{"id": 7, "x": ""}], [{"id": 7, "x": "a", "y": ""}])
    cells = {one for row in rows_of(app, "values") for one in row[3:]}
    assert {"none", "empty"} <= cells


@pytest.mark.slow
def test_an_attribute_may_be_called_anything() -> None:
    """Also as an outcome is, or with marks of direction and 40,000 letters: it is listed by itself, and cut."""
    names = ["added", "touched only", "\u202eevil", "x" * 40_000, ""]
    one, other = ([{"id": 7, **dict.fromkeys(names, value)}] for value in (1, 2))
    prodex.flatten(one).save("odd")
    app = app_of(prodex.flatten(other).save("odd"))
    difference = compare(app)
    options = fields(app, "changes")["what"]["options"]
    assert max(len(one["label"]) for one in options) < 120
    listed = [one["value"] for one in options if one["value"][1] is not None]
    assert len(listed) == difference.changes["attribute"].str.partition(".")[0].nunique()
    for value in listed:
        app.act("comparison.show", value=value)
        assert value == fields(app, "changes")["what"]["value"]
        assert len(block(app, "values")["rows"]) >= 1
        assert re.search(r"changed values?", summary(app))
    app.act("comparison.show", value=["changed"])
    app.act("comparison.show", value=[None, None])
    assert listed[-1] == fields(app, "changes")["what"]["value"]


@pytest.mark.slow
def test_many_changes_are_counted_once() -> None:
    """A press among tens of thousands of changes takes no noticeable time: nothing is counted again."""
    old = [{"id": n, "brand": {"code": f"B{n % 50}"}, "serves": 1, "nameLegal": []} for n in range(20_000)]
    new = [{**one, "serves": 2} for one in old]
    app = of(old, new)
    app.act("comparison.show", value=["changed", "serves"])
    before = pd.Timestamp.now()
    for first in range(0, 200, 20):
        app.act("pages.turn", name="comparison.values", first=first)
        app.view()
    assert (pd.Timestamp.now() - before).total_seconds() < 1.5
