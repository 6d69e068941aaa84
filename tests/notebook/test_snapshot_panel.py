"""The snapshot panel without a browser: what it lists, opens, draws and compares, and says of damage."""

from __future__ import annotations

import base64
import csv
import html
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import ipywidgets as w
import pandas as pd
import pytest
from PIL import Image

import prodex
from prodex.errors import ServiceError
from prodex.files.atomic import discard
from prodex.notebook.card.panel import ProductCard
from prodex.notebook.shared.panel import is_busy
from prodex.notebook.shared.state import Exploration
from prodex.notebook.snapshots.comparison import attributes_markup, changes_markup, groups_markup
from prodex.notebook.snapshots.panel import SnapshotPanel
from prodex.notebook.snapshots.saved import snapshot_entries
from prodex.notebook.snapshots.trend import read_trend
from prodex.sandbox import Fault, Sandbox
from prodex.store.archive import snapshots_folder
from prodex.store.journal import LoadJournal
from tests.load.exchange import TOTAL, connected, records
from tests.quality import hostile

PROFILE = {"checks": {"valid_gtin": {"severity": "blocker"}}}


def record(number: int, gtin: str = "03036811359935", name: str = "Milk") -> dict[str, object]:
    french = {"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}, "data": name}
    brand = {"code": f"B{number % 2}", "label": "Ace"}
    return {"id": number, "gtin": gtin, "brand": brand, "namePublicLong": [french]}


@pytest.fixture
def shop() -> tuple[prodex.Catalog, prodex.Catalog]:
    """Keep two snapshots of a shop, both audited: one GTIN was mended, one name changed, one product came, one went."""
    old = prodex.flatten([record(1, "1"), record(2), record(3)]).save("shop")
    new = prodex.flatten([record(1), record(2, name="=1+1"), record(4)]).save("shop")
    for catalog in (old, new):
        prodex.audit(catalog, PROFILE, progress=False).save()
    prodex.flatten([record(9)]).save("other")
    return old, new


def below(widget: w.Widget) -> Iterator[w.Widget]:
    """Yield a widget and all in it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from below(child)


def markup(panel: SnapshotPanel) -> str:
    return "\n".join(one.value for one in below(panel) if isinstance(one, w.HTML))


def words(panel: SnapshotPanel) -> str:
    bare = re.sub(r"<style>.*?</style>|<[^>]+>", " ", markup(panel), flags=re.DOTALL)
    return re.sub(r"\s+", " ", bare)


def column(panel: SnapshotPanel, title: str) -> list[str]:
    """Return the texts of a column of the list."""
    place = [one["title"] for one in panel.table.view["columns"]].index(title)
    return [row["cells"][place] for row in panel.table.view["rows"]]


def chosen(panel: SnapshotPanel, folder: Path | None) -> None:
    """Choose the row of a snapshot."""
    panel.table.selected_rows = [[one.folder for one in panel._shown].index(str(folder))]
    panel.wait()


def test_snapshots_are_listed_the_newest_first(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """Of all names, or of one; each with its products, its size and whether it is complete."""
    assert ["other", "shop", "shop"] == column(SnapshotPanel(), "Name")
    panel = SnapshotPanel("shop")
    assert [["shop"] * 2, ["3"] * 2] == [column(panel, "Name"), column(panel, "Products")]
    assert ["complete"] * 2 == column(panel, "State")
    created = column(panel, "Created (UTC)")
    assert sorted(created, reverse=True) == created


@pytest.mark.slow
def test_what_is_chosen_is_opened_and_looked_at(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """A row gives the catalogue as a trait, and everybody who shares the state looks at it."""
    exploration = Exploration(catalog=prodex.flatten([]))
    panel = SnapshotPanel(exploration=exploration)
    assert panel.catalog is None
    chosen(panel, shop[0].folder)
    assert panel.catalog is not None
    assert shop[0].folder == panel.catalog.folder
    assert panel.catalog is exploration.catalog
    assert "Selected" in words(panel)


@pytest.mark.slow
def test_a_refreshed_list_shows_what_came_since(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """What was chosen stays chosen, wherever it stands now."""
    panel = SnapshotPanel()
    chosen(panel, shop[1].folder)
    before = panel.catalog
    shop[1].save("third")
    panel.refresh.click()
    panel.wait()
    assert "third" == column(panel, "Name")[0]
    assert [2] == panel.table.selected_rows
    assert before is panel.catalog


def test_the_line_that_is_said_of_an_interrupted_load_does_what_it_says() -> None:
    """A load that ended after some pages becomes a snapshot of the products that came, and is listed no longer."""
    with Sandbox(records()) as sandbox:
        sandbox.order(Fault("404", at=range(5, 10**6)))
        with pytest.raises(ServiceError):
            prodex.load_products(connected(sandbox), name="cut", page_size=20, progress=False)
    panel = SnapshotPanel()
    (line,) = re.findall(r"prodex\.recover\(.*?\)", html.unescape(words(panel)))
    recovered = eval(line, {"prodex": prodex})
    assert 0 < len(recovered) < TOTAL
    assert not recovered.complete
    panel.show_unfinished()
    assert "not finished" not in words(panel)


@pytest.mark.slow
def test_loads_that_were_cut_short_are_listed(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """With what continues them; what is no load, or cannot be read, is not called one; nothing is changed on disk."""
    now = datetime.now(UTC)
    asked = {"asked": shop[0].origin.to_json(), "began": (now - timedelta(hours=1)).isoformat()}
    journals = {
        "shop/.journal-1": asked,
        "old/.journal-1": {**asked, "began": (now - timedelta(days=3)).isoformat()},
        "refreshed/.journal-1": {**asked, "snapshot": "shop"},
        "files/.journal-1": {"files": []},
        "odd/.journal-1": {**asked, "began": 7},
        "odd/.journal-2": {**asked, "began": "2026-11-25T08:00:00"},
    }
    folder = snapshots_folder()
    for name, question in journals.items():
        LoadJournal.begin(folder / name, question)
    (folder / "shop" / ".journal-cut").mkdir()
    before = sorted(folder.rglob("*"))

    said = html.unescape(words(SnapshotPanel()))
    assert "2 loads are not finished (times in UTC): shop, begun" in said
    how = r"prodex.recover\('shop', allow_incomplete=True\)"
    assert re.search(rf"shop, begun \S+ \S+: the same load continues it until \S+ \S+; {how}", said)
    assert re.search(
        r"old, begun \S+ \S+: prodex.recover\('old', allow_incomplete=True\) makes a snapshot", said
    )
    assert before == sorted(folder.rglob("*"))
    panel = SnapshotPanel("shop")
    assert "1 load is not finished" in words(panel)
    discard(folder / "shop" / ".journal-1")
    panel.show_unfinished()
    assert "not finished" not in words(panel)


@pytest.mark.slow
def test_cards_show_what_changed_of_their_product(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """Old and new value of what changed since the older snapshot, on cards of the newer one only."""
    exploration = Exploration(catalog=shop[1])
    card, panel = ProductCard(exploration=exploration), SnapshotPanel(exploration=exploration)

    def shown(product_id: str) -> str:
        exploration.product_id = product_id
        (found,) = [one.value for one in below(card) if " since 20" in getattr(one, "value", "")] or [""]
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found)).strip()

    assert "" == shown("2"), "nothing was compared yet"
    panel.comparison.run.click()
    panel.wait()
    assert re.search(r"^1 value changed since 20\S+ \S+ .* Long name in French Milk =1\+1$", shown("2"))
    assert re.search(r"GTIN 1 03036811359935$", shown("1"))
    assert shown("4").startswith("New since 20")
    exploration.look_at(shop[0])
    assert "" == shown("2"), "this is the older one"


@pytest.mark.slow
def test_two_are_compared(shop: tuple[prodex.Catalog, prodex.Catalog], tmp_path: Path) -> None:
    """The two newest of a name are offered; counts, groups, values and audits say what changed, and a file has all."""
    panel = SnapshotPanel()
    comparison = panel.comparison
    assert [str(one.folder) for one in shop] == [comparison.old.value, comparison.new.value]
    comparison.run.click()
    panel.wait()
    assert panel.difference is not None
    counted = panel.difference.summary.set_index("change")["products"].to_dict()
    for change, count in counted.items():
        assert f"{change.capitalize()} {count}" in words(panel)
    assert {"added": 1, "removed": 1, "changed": 2} == {
        name: counted[name] for name in ("added", "removed", "changed")
    }
    assert "Fixed 1" in words(panel)
    assert "Ready 66.7 → 100 %" in words(panel)
    comparison.by.value = "brand"
    assert "2 of 2 brands with changes" in words(panel)
    comparison.file.value = str(tmp_path / "changes.csv")
    comparison.export.click()
    panel.wait()
    with (tmp_path / "changes.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert len(panel.difference.changes) == len(rows)
    assert {"'=1+1"} == {row["new"] for row in rows if row["attribute"] == "namePublicLong"}
    comparison.export.click()
    panel.wait()
    assert "already exists" in words(panel)


@pytest.mark.slow
def test_a_file_can_be_verbatim(shop: tuple[prodex.Catalog, prodex.Catalog], tmp_path: Path) -> None:
    """Who does not open it in a spreadsheet gets what was typed."""
    panel = SnapshotPanel()
    panel.comparison.run.click()
    panel.wait()
    panel.comparison.file.value = str(tmp_path / "changes.csv")
    panel.comparison.is_safe.value = False
    panel.comparison.export.click()
    panel.wait()
    assert '"=1+1"' in (tmp_path / "changes.csv").read_text("utf-8")


@pytest.mark.slow
def test_the_same_twice_is_refused(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """A snapshot is not compared with itself, and that is said beside the button."""
    panel = SnapshotPanel("shop")
    panel.comparison.old.value = panel.comparison.new.value
    panel.comparison.run.click()
    assert "Both are the same snapshot" in words(panel)
    assert panel.difference is None


@pytest.mark.slow
def test_nothing_comes_of_a_comparison_that_was_cancelled(
    shop: tuple[prodex.Catalog, prodex.Catalog],
) -> None:
    """Cancel leaves the panel ready to be asked again."""
    panel = SnapshotPanel("shop")
    panel.comparison.run.click()
    panel.comparison.cancel.click()
    panel.wait()
    assert panel.difference is None
    assert not is_busy(panel.comparison.run)


@pytest.mark.slow
def test_the_trend_is_that_of_the_name(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """Counts come from the list, grades from the audits that were saved, both also as a table."""
    trend = read_trend("shop", snapshot_entries())
    assert [3, 3] == trend.products.tolist()
    assert trend.grades is not None
    assert [2, 3] == trend.grades["grade_A"].tolist()
    assert read_trend("other", snapshot_entries()).grades is None
    panel = SnapshotPanel("shop")
    panel.wait()
    pictures = [base64.b64decode(found) for found in re.findall(r"base64,([^']+)'", markup(panel))]
    for picture in pictures:
        drawn = Image.open(io.BytesIO(picture)).convert("RGBA")
        assert 0 == drawn.getpixel((0, 0))[3]  # type: ignore[index]
        assert drawn.getchannel("A").getextrema()[1] == 255
    assert 2 == len(pictures) == markup(panel).count("alt=")
    assert "100 % of 3 products have grade A or B" in words(panel)


@pytest.mark.slow
def test_a_trend_of_one_point_is_a_sentence() -> None:
    """One snapshot and one audit are no chart, and a name without any audit says how to come by one."""
    catalog = prodex.flatten([record(1), record(2)]).save("alone")
    panel = SnapshotPanel("alone")
    panel.wait()
    assert "2 products in the only snapshot, made 20" in words(panel)
    assert "No audit of these snapshots is saved" in words(panel)
    prodex.audit(catalog, PROFILE, progress=False).save()
    panel = SnapshotPanel("alone")
    panel.wait()
    assert "100 % of 2 products have grade A or B in the only comparable audit, by profile" in words(panel)
    assert "<img" not in markup(panel)


@pytest.mark.slow
def test_only_the_audits_that_both_have_are_compared(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """A snapshot that was never judged has no audit to compare, and nothing is said of it."""
    shop[1].save("shop")
    panel = SnapshotPanel("shop")
    panel.comparison.run.click()
    panel.wait()
    assert panel.difference is not None
    assert "Newly failing" not in words(panel)


@pytest.mark.slow
def test_damage_is_said(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """A changed file is named, a manifest that cannot be read too, and the panel goes on."""
    old, new = (catalog.folder for catalog in shop)
    assert old is not None and new is not None  # noqa: PT018
    panel = SnapshotPanel("shop")
    chosen(panel, old)
    panel.verify.click()
    panel.wait()
    assert "are intact" in words(panel)
    (old / "products" / "part-00000.parquet").write_bytes(b"no")
    panel.verify.click()
    panel.wait()
    assert re.search(r"1 of \d+ files of shop.* is damaged", words(panel))
    assert "products/part-00000.parquet" in words(panel)
    (new / "manifest.json").write_text("{", "utf-8")
    panel.refresh.click()
    panel.wait()
    assert "cannot be read" in column(panel, "State")
    chosen(panel, new)
    assert "cannot be read" in panel.message
    assert old == panel.catalog.folder  # type: ignore[union-attr]
    assert [str(old)] == [folder for _, folder in panel.comparison.old.options]


def test_no_snapshot_is_a_sentence(home: Path) -> None:
    """Where there is none, the panel says how to make one."""
    panel = SnapshotPanel("none")
    assert "No snapshots of none in" in words(panel)
    assert str(home) in words(panel)
    assert [] == panel.table.view["rows"]


@pytest.mark.slow
def test_what_suppliers_typed_is_markup_nowhere() -> None:
    """Names, titles and reasons of a hostile catalogue are escaped wherever they are in HTML."""
    one, other = hostile.catalog(), hostile.catalog()
    spoiled = [
        {**row, "brand": {"code": row["id"], "label": text}}
        for row, text in zip(_records(other), [*hostile.STRINGS, hostile.LONG], strict=False)
    ]
    one.save("shop")
    prodex.flatten(spoiled).save("shop")
    panel = SnapshotPanel()
    panel.comparison.run.click()
    panel.wait()
    assert panel.difference is not None
    for by in ("owner", "brand", "kind"):
        panel.comparison.by.value = by
        for _ in panel.difference.changes.index:
            assert not re.search(r"<(script|svg|base)\b|<img(?! alt)", markup(panel))
            if panel.comparison.values.pager.next.disabled:
                break
            panel.comparison.values.pager.next.click()
        assert panel.comparison.values.pager.next.disabled
    every = panel.difference.changes[["old", "new"]].stack()
    assert every.str.len().max() > 40_000
    while not panel.comparison.values.pager.previous.disabled:
        if "(300 of 40,003 characters)" in words(panel):
            break
        panel.comparison.values.pager.previous.click()
    assert "(300 of 40,003 characters)" in words(panel)


def _records(catalog: prodex.Catalog) -> list[dict[str, object]]:
    import json

    return [json.loads(text) for text in catalog.raw["json"]]


@pytest.mark.slow
def test_a_press_compares_with_an_earlier_snapshot(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """The button names the snapshot, selects it under From, and compares at once."""
    old, new = shop
    panel = SnapshotPanel("shop")
    offered = [one for one in panel.comparison.since if one.layout.display != "none"]
    assert 1 == len(offered)
    assert offered[0].description.startswith("Since ")
    panel.comparison.old.value = str(new.folder)
    offered[0].click()
    panel.wait()
    assert str(old.folder) == panel.comparison.old.value
    assert panel.difference is not None


@pytest.mark.slow
def test_changed_products_are_listed_among_all(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """Of all attributes or of one, by a press; the products of another snapshot are shown as that snapshot has them."""
    old, new = shop
    looked = prodex.explore(old)
    looked.section = "Snapshots"
    (panel,) = looked.places["Snapshots"].children
    comparison = panel.comparison
    comparison.old.value, comparison.new.value = str(old.folder), str(new.folder)
    comparison.run.click()
    panel.wait()
    difference, values = panel.difference, comparison.values
    offered = {value: title for title, value in values.what.options}
    assert offered["changed", None] == "all changed products (2)"
    assert offered["added", None] == "added products (1)"

    for outcome, attribute in offered:
        values.what.value = (outcome, attribute)
        if attribute is None:
            outcomes = difference.outcomes.to_pandas().set_index("product_id")["change"]
            wanted = set(outcomes.index[outcomes == outcome])
        else:
            rows = difference.changes[
                difference.changes["attribute"].str.split(".").str[0] == attribute.split(".")[0]
            ]
            wanted = set(rows["product_id"])
            assert f"{counted_rows(rows)}" in values.pager.summary
        assert wanted
        assert f"Show {len(wanted)} product" in values.products.description
        values.products.click()
        assert "Products" == looked.section
        assert wanted == set(looked.catalog.products["product_id"])
        assert new.folder == looked.exploration.catalog.folder
        (listed,) = looked.exploration.conditions.listed
        assert old.origin.loaded_at is None or f"since {old.origin.loaded_at:%Y-%m-%d}" in listed.title
        assert looked.exploration.filter.labels(looked.exploration.conditions) == [
            f"list: \u2068{listed.title}\u2069"
        ]
        looked.section = "Snapshots"


def counted_rows(rows: pd.DataFrame) -> str:
    """Return the number of changed values as a pager says it."""
    return f"{len(rows)} changed value"


@pytest.mark.slow
def test_without_products_beside_it_a_comparison_shows_values_alone(
    shop: tuple[prodex.Catalog, prodex.Catalog],
) -> None:
    """A panel of its own has nowhere to list products."""
    panel = SnapshotPanel("shop")
    panel.comparison.run.click()
    panel.wait()
    assert "none" == panel.comparison.values.products.layout.display


def test_the_group_with_most_changes_comes_first() -> None:
    """Also before one with a product that was added, which counts no more than a change."""

    def made(number: int, owner: int, text: str) -> dict[str, object]:
        name = [{"expressedIn": {"code": "fra-FR"}, "data": text}]
        return {"id": number, "owner": {"id": owner, "name": f"Owner {owner}"}, "namePublicLong": name}

    old = prodex.flatten(made(number, 1, "Riz") for number in range(3))
    new = prodex.flatten([*(made(number, 1, "Pain") for number in range(3)), made(9, 2, "Lait")])
    markup = groups_markup(prodex.diff(old, new), "owner")
    assert ["Owner 1", "Owner 2"] == re.findall(r"Owner \d", markup)


def test_changes_are_counted_by_attribute() -> None:
    """Products and values, of the attribute that the changed ones are parts of; those of most products come first."""

    def made(number: int, picture: dict[str, object] | None, text: str) -> dict[str, object]:
        name = [{"expressedIn": {"code": "fra-FR"}, "data": text}]
        pictures = [] if picture is None else [picture]
        return {"id": number, "namePublicLong": name, "assets": {"pictures": pictures}}

    picture = {"url": "https://a.example/1.jpg", "width": 9, "tags": ["<b>a</b>", "b"]}
    old = prodex.flatten([made(1, picture, "Riz"), made(2, None, "Riz"), made(3, None, "Riz")])
    new = prodex.flatten([made(1, None, "Pain"), made(2, None, "Pain"), made(3, None, "Riz")])
    changes = prodex.diff(old, new).changes
    said = attributes_markup(changes)
    rows = [re.sub("<[^>]+>", " ", one).split() for one in said.split("<tr>")[2:]]
    assert ["Long", "name", "2", "0", "0", "2"] == rows[0]
    removed = int(changes["attribute"].str.startswith("assets.pictures").sum())
    assert removed > 3
    assert ["Pictures", "1", "0", str(removed), "0"] == rows[1]
    assert "" == attributes_markup(changes.head(0))


def test_a_comparison_of_attributes_that_nobody_knows_is_cut_and_says_so() -> None:
    """A service may send thousands of attributes of its own, with any name: some are listed, with their number."""
    old = prodex.flatten([{"id": 1, **{f"<i>{number}</i>": 1 for number in range(40)}}])
    new = prodex.flatten([{"id": 1, **{f"<i>{number}</i>": 2 for number in range(40)}}])
    said = attributes_markup(prodex.diff(old, new).changes)
    assert "12 of 40 attributes with changed values" in said
    assert "<i>" not in said


def test_an_unknown_keyword_is_refused() -> None:
    """A word that is no parameter is an error."""
    with pytest.raises(TypeError):
        SnapshotPanel(names="shop")  # type: ignore[call-arg]


def test_missing_values_have_their_own_words(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """What was absent before is none, what was typed as nothing is empty."""

    row = {
        "gtin": None,
        "product_id": "7",
        "attribute": "a",
        "language": None,
        "column": "text",
        "change": "added",
    }
    said = changes_markup(pd.DataFrame([{**row, "old": None, "new": ""}]))
    assert ">none<" in said
    assert ">empty<" in said


@pytest.mark.slow
def test_an_attribute_may_be_called_anything() -> None:
    """Also as an outcome is, or with marks of direction and 40,000 letters: it is listed by itself, and cut."""
    names = ["added", "touched only", "\u202eevil", "x" * 40_000, ""]
    one, other = ([{"id": 7, **dict.fromkeys(names, value)}] for value in (1, 2))
    prodex.flatten(one).save("odd")
    prodex.flatten(other).save("odd")
    panel = SnapshotPanel("odd")
    panel.comparison.run.click()
    panel.wait()
    values = panel.comparison.values
    listed = [value for _, value in values.what.options if value[1] is not None]
    assert max(len(title) for title, _ in values.what.options) < 120
    assert panel.difference is not None
    assert len(listed) == panel.difference.changes["attribute"].str.partition(".")[0].nunique()
    for one_of_them in listed:
        values.what.value = one_of_them
        assert len(values._changes) >= 1
        assert values.pager.summary.endswith("changed value") or "changed values" in values.pager.summary
