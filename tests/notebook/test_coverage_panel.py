"""The coverage panel without a browser: its figures, what a press asks for, and bad input."""

from __future__ import annotations

import re
import shutil
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from traitlets import TraitError

import prodex
from prodex.catalog import Catalog, Origin
from prodex.errors import InputError
from prodex.exploration.coverage import CoverageData
from prodex.exploration.filled import USUAL, FilledColumns
from prodex.facts.filled import fill_states
from prodex.notebook.coverage.panel import GROUPINGS, CoveragePanel
from prodex.notebook.shared.cell_grid import CellGrid, GridRow, PressableCell
from prodex.notebook.shared.panel import Panel
from prodex.notebook.shared.state import Exploration
from prodex.progress import Reporter
from prodex.query import ProductQuery
from prodex.selection import Selection
from prodex_sandbox.sample import AS_OF, shared_products
from tests.cases import each_row
from tests.quality.hostile import LONG
from tests.wire import CORNERS, attributes

MISSING = ("empty", "null", "absent")
_NAME = "namePublicLong"


@pytest.fixture(scope="module")
def sample() -> Catalog:
    return prodex.flatten(one.record for one in shared_products(300))


@pytest.fixture(scope="module")
def audit(sample: Catalog) -> prodex.Audit:
    return prodex.audit(sample, "online-listing", progress=False, now=AS_OF)


def text(data: Any, language: str = "fra-FR") -> dict[str, Any]:
    """Return a localized text as the service writes it."""
    return {"expressedIn": {"code": language}, "data": data}


def panel_of(catalog: Catalog, **options: Any) -> CoveragePanel:
    """Return a panel whose figures are read."""
    panel = CoveragePanel(catalog, **options)
    panel.wait()
    assert not panel.message
    return panel


def row_of(panel: CoveragePanel, attribute: str) -> dict[str, Any]:
    """Return the row of an attribute that is shown."""
    (found,) = (one for one in panel.grid.view["rows"] if one["hint"].split(":")[0] == attribute)
    shown: dict[str, Any] = found
    return shown


def cell(panel: CoveragePanel, attribute: str, column: str) -> dict[str, Any]:
    """Return a cell that is shown, by its attribute and the text of its head."""
    found = row_of(panel, attribute)
    place = [one["text"] for one in panel.grid.view["columns"]].index(column)
    shown: dict[str, Any] = found["cells"][place]
    return shown


def press(panel: CoveragePanel, row: str, column: str) -> None:
    """Press a cell, as the script reports it."""
    panel.grid.press(do="cell", row=row_of(panel, row)["key"], column=cell(panel, row, column)["key"])


def head(panel: CoveragePanel, column: str) -> dict[str, Any]:
    """Return the head of a column that is shown."""
    (found,) = (one for one in panel.grid.view["columns"] if one["text"] == column)
    shown: dict[str, Any] = found
    return shown


@example([{name: one[name] for name in (_NAME, "netContent", "brand") if name in one} for one in CORNERS])
@given(
    st.lists(
        st.fixed_dictionaries(
            {}, optional={name: attributes[name] for name in (_NAME, "netContent", "brand")}
        ),
        max_size=4,
    )
)
def test_filled_columns_are_what_the_states_say(records: list[dict[str, Any]]) -> None:
    """What is read for the grid is what the facet of an attribute says of each product."""
    catalog = prodex.flatten({"id": n + 1, **record} for n, record in enumerate(records))
    filled = FilledColumns.of(catalog, [_NAME, "netContent", "brand"])
    for attribute in (_NAME, "netContent", "brand"):
        for language in (None, "fr", "nl"):
            expected = fill_states(catalog, attribute, language) == 0
            np.testing.assert_array_equal(expected, filled.mask(attribute, language))
            everybody = np.ones(len(catalog), bool)
            assert expected.sum() == filled.counted((attribute, language), everybody).filled


def consumer_units(catalog: Catalog) -> pd.DataFrame:
    """Return the products that do not say that they are another unit."""
    return catalog.products[[flag is not False for flag in catalog.products["is_consumer_unit"].tolist()]]


#: A consumer unit, one of unknown kind and a case; the first has a brand, and nothing has a name.
UNITS: list[dict[str, Any]] = [
    {"id": 7, "isConsumerUnit": True, "brand": {"code": "ACME"}},
    {"id": 8},
    {"id": 9, "isConsumerUnit": False},
]


def test_figures_count_consumer_units_unless_others_are_asked_for() -> None:
    """The panel and its frame say how many, and a choice of all units, or a condition that names some, counts these."""
    panel = panel_of(prodex.flatten(UNITS))

    def brand() -> tuple[int, int]:
        (row,) = panel.coverage.query("attribute == 'brand' and language.isna()").to_dict("records")
        return row["filled"], row["products"]

    assert (1, 2) == brand()
    assert "<b>3</b> products" in panel._about.value
    assert "counted: 2 consumer units, 1 of unknown kind" in panel._about.value
    assert "2 consumer units, 1 of unknown kind" == panel.coverage.attrs["counted"]
    panel._units.value = "all"
    assert (1, 3) == brand()
    assert "counted:" not in panel._about.value
    panel.units = "consumer"
    panel.exploration.conditions = Selection().toggled("unit", "false")
    assert (0, 1) == brand()
    with pytest.raises(TraitError, match="give 'consumer' or 'all'"):
        panel.units = "pallets"


def test_a_press_lists_those_that_were_counted() -> None:
    """The cases stay left out until nothing that was pressed says so any more, and all units list all."""
    panel = panel_of(prodex.flatten(UNITS))

    def chosen() -> list[str]:
        return panel.exploration.chosen.products["product_id"].tolist()

    press(panel, "brand", "any language")
    assert ["8"] == chosen()
    press(panel, _NAME, "any language")
    press(panel, "brand", "any language")
    assert ["7", "8"] == chosen()
    assert cell(panel, _NAME, "any language")["pressed"]
    press(panel, _NAME, "any language")
    assert not panel.exploration.conditions
    panel.units = "all"
    press(panel, "brand", "any language")
    assert ["8", "9"] == chosen()


@pytest.mark.slow
def test_figures_by_language_are_those_of_describe(sample: Catalog) -> None:
    """How many products have texts in each language is what the description of the catalogue says."""
    panel = panel_of(sample)
    described = sample.describe().set_index(["attribute", "language"])["filled"]
    found = panel.coverage.query("state == '' and language.notna()").set_index(["attribute", "language"])

    counted = consumer_units(sample)

    assert set(USUAL) == set(panel.coverage["attribute"])
    assert len(found) > 20
    for pair, row in found.iterrows():
        assert (described.get(pair, 0), len(counted)) == (row["filled"], row["products"])
    brands = int(counted["brand_code"].notna().sum())
    said = f"Brand, any language: {brands:,} of {len(counted)} products"
    assert said in cell(panel, "brand", "any language")["hint"]


@pytest.mark.slow
@each_row("by", [one for one in GROUPINGS if one != "language"])
def test_figures_by_group_are_counted_by_hand(sample: Catalog, by: str) -> None:
    """Of each group: how many products have a French name."""
    panel = panel_of(sample)
    panel.by, panel.text_language = by, "fr"
    has_name = set(sample.texts.query(f"attribute == {_NAME!r} and language == 'fr'")["product_id"])
    counted = consumer_units(sample)
    products = counted.assign(has=counted["product_id"].isin(has_name))
    code = {"owner": "owner_uuid", "market": "target_market"}.get(by, f"{by}_code")
    expected = products.groupby(products[code].astype(object).fillna("none"))["has"].agg(["sum", "size"])
    rows = panel.coverage.query(f"attribute == {_NAME!r}")
    codes = rows[{"owner": "owner_id", "market": "market"}.get(by, f"{by}_code")].fillna("none")

    assert expected["sum"].to_dict() == dict(zip(codes, rows["filled"], strict=True))
    assert expected["size"].to_dict() == dict(zip(codes, rows["products"], strict=True))
    assert {"fr"} == set(rows["language"])
    assert (len(expected), "Long name · French") == (
        len(panel._view.figures.columns) - 1,  # type: ignore[union-attr]
        panel.grid.view["rows"][2]["text"],
    )


@pytest.mark.slow
@pytest.mark.parametrize("by", GROUPINGS)
def test_what_is_required_is_what_the_audit_says(sample: Catalog, audit: prodex.Audit, by: str) -> None:
    """FilledCount of those to which it applies, the figures are those of `Audit.coverage`."""
    panel = panel_of(sample, audit=audit)
    panel.of_required, panel.by = True, by
    found = panel.coverage.query("state == ''")
    code = {"language": [], "owner": ["owner_id"], "market": ["market"]}.get(by, [f"{by}_code"])
    keys = ["attribute", "language", *code]

    def figures(frame: pd.DataFrame, of: str) -> dict[Any, tuple[int, int]]:
        names = frame[keys].astype(object).where(frame[keys].notna(), None)
        counts = zip(frame["filled"], frame[of], strict=True)
        return dict(zip(names.itertuples(index=False, name=None), counts, strict=True))

    expected = audit.coverage(by).query("applicable > 0")
    assert figures(expected, "applicable") == figures(found, "products")
    assert len(expected) == len(found) > 5
    assert "not shown, since no product here needs them" in panel._about.value


def test_a_press_asks_for_the_products_that_lack_it(sample: Catalog) -> None:
    """A cell adds conditions to those that are there, and a second press takes only these back."""
    exploration = Exploration(catalog=sample)
    panel = CoveragePanel(exploration=exploration)
    panel.wait()
    panel.grid.press(do="cell", row=f" {_NAME}", column="=fr")
    assert {f"fill:{_NAME}:fr": MISSING} == exploration.conditions.groups
    panel.grid.press(do="row", row=" brand")
    exploration.conditions = Selection()

    panel.by = "market"
    panel.wait()
    exploration.conditions = Selection().toggled("unit", "true")
    press(panel, "allergens", "Belgium")
    expected = {"unit": ("true",), "fill:allergens": MISSING, "market": ("56",)}
    assert expected == exploration.conditions.groups


def test_a_head_lists_its_group_and_is_taken_back(sample: Catalog) -> None:
    """The head of a group lists its products, the one of a language those with texts in it."""
    panel = panel_of(sample)
    panel.grid.press(do="column", column="=nl")
    assert {"language": ("nl",)} == panel.exploration.conditions.groups
    assert head(panel, "Dutch")["pressed"]
    panel.grid.press(do="column", column="=nl")
    assert not panel.exploration.conditions
    panel.by = "owner"
    panel.wait()
    name, code = panel._view.figures.columns[1].label, panel._view.figures.columns[1].code  # type: ignore[union-attr]
    panel.grid.press(do="column", column=head(panel, name)["key"])
    assert {"owner": (code,)} == panel.exploration.conditions.groups
    assert [name] == [one["text"] for one in panel.grid.view["columns"][1:]]
    panel.grid.press(do="column", column="all")
    assert {"owner": (code,)} == panel.exploration.conditions.groups


@pytest.mark.slow
def test_a_required_cell_lists_what_fails(sample: Catalog, audit: prodex.Audit) -> None:
    """Of those to which it applies, a press lists exactly the products that fail the check."""
    panel = panel_of(sample, audit=audit)
    panel.of_required = True
    panel.wait()
    assert row_of(panel, _NAME)["detail"].startswith("required: fr, nl")
    press(panel, _NAME, "French")
    check = f"required_text[{_NAME},fr]"
    assert [(check,)] == [one.checks for one in panel.exploration.conditions.failing]
    failing = set(audit.failures(check=check)["product_id"]) & set(consumer_units(sample)["product_id"])
    assert failing == set(panel.exploration.chosen.products["product_id"])
    assert (f"<b>{len(failing)}</b> of 300 products", "0 %") == (
        panel._about.value[20 : 20 + len(f"<b>{len(failing)}</b> of 300 products")],
        cell(panel, _NAME, "French")["text"],
    )
    press(panel, _NAME, "French")
    assert not panel.exploration.conditions


def test_figures_are_about_the_products_that_are_chosen(sample: Catalog) -> None:
    """Selection of any panel narrow the figures, and a sentence says to how many of how many."""
    panel = panel_of(sample)
    assert ">300</b> products" in panel._about.value
    panel.exploration.conditions = Selection().toggled("market", "56").searching("a")
    panel.wait()
    chosen = panel.exploration.chosen
    some = chosen.describe().set_index(["attribute", "language"])["filled"]
    assert f"<b>{len(chosen)}</b> of 300 products" in panel._about.value
    assert [some["nameLegal", "nl"]] == panel.coverage.query("attribute == 'nameLegal' and language == 'nl'")[
        "filled"
    ].tolist()

    panel.is_shown = False
    panel.exploration.conditions = Selection()
    assert "of 300 products" in panel._about.value
    panel.is_shown = True
    panel.wait()
    assert ">300</b> products" in panel._about.value


def test_what_was_not_asked_for_says_so() -> None:
    """Words stand where nothing is known, and a part is a part; neither can be pressed into a claim."""
    records = [{"id": 7, "nameLegal": [text("Riz")]}, {"id": 8}]
    origin = Origin("sandbox", ProductQuery(source_include=["nameLegal"], product_languages=["fr"]))
    panel = panel_of(Catalog(prodex.flatten(records).parts, origin))
    assert ("≥ 50 %", "50 %") == tuple(
        cell(panel, "nameLegal", one)["text"] for one in ("any language", "French")
    )
    assert "asked for in part" in cell(panel, "nameLegal", "any language")["say"]
    assert ("not asked for", True, None) == tuple(
        cell(panel, "brand", "any language")[one] for one in ("text", "disabled", "shade")
    )
    assert "not applicable" == cell(panel, "brand", "French")["text"]
    panel.grid.press(do="row", row=" brand")
    panel.grid.press(do="cell", row=" brand", column="all")
    assert not panel.exploration.conditions
    states = panel.coverage.set_index(["attribute", "language"])["state"]
    assert "not asked for" == states["description", "fr"]


def test_the_worst_come_first_by_choice(sample: Catalog) -> None:
    """Rows and groups are ordered by what is filled, small groups after the others; the whole stays in front."""
    panel = panel_of(sample)
    panel.by = "kind"
    panel.is_worst_first = True
    panel.wait()
    figures = panel._view.figures  # type: ignore[union-attr]
    whole = figures.shares[:, 0]
    assert all(one <= other for one, other in pairwise(whole))
    large = [
        share for share, one in zip(figures.total_shares, figures.columns, strict=True) if one.products >= 10
    ][1:]
    assert large == sorted(large)
    sizes = [group.products >= 10 for group in figures.columns[1:]]
    assert sizes == sorted(sizes, reverse=True)
    assert "all products" == panel.grid.view["columns"][0]["text"]


def test_attributes_are_added_and_removed(sample: Catalog) -> None:
    """Any attribute of the catalogue can be added by its path; a slip is refused with the nearest."""
    panel = panel_of(sample)
    panel._attributes.is_open = True
    panel.wait()
    assert {"netWeight", "assets.pictures.url"} <= set(panel.picker.field.options)
    panel.picker.field.value = "assets.pictures.url"
    panel.wait()
    assert ("assets.pictures.url", "") == (panel.attributes[-1], panel.picker.field.value)
    assert cell(panel, "assets.pictures.url", "any language")["text"].endswith("%")
    panel.picker.field.value = "netWieght"
    panel.wait()
    assert "did you mean" in panel.message
    assert len(USUAL) + 1 == len(panel.attributes)

    panel.attributes = ("brand", "kind")
    panel.picker.remove(0)
    assert (("kind",), True) == (panel.attributes, panel.picker._buttons[0].disabled)
    panel.picker._reset.click()
    assert panel.attributes == USUAL


def test_another_catalogue_and_another_audit(sample: Catalog, audit: prodex.Audit) -> None:
    """The rows follow the audit unless somebody has chosen others, and no figure of another catalogue stays."""
    panel = panel_of(sample, audit=audit)
    required = panel.attributes
    assert "originCountry" not in required
    panel.of_required = True
    panel.exploration.look_at(prodex.flatten([{"id": 7, "brand": {"code": "A"}}]))
    panel.wait()
    assert (USUAL, False) == (panel.attributes, panel.of_required)
    assert "1 of 1 product;" not in panel._about.value
    assert ">1</b> product<" in panel._about.value
    panel.attributes = ("brand",)
    panel.exploration.look_at(sample, audit)
    panel.wait()
    assert ("brand",) == panel.attributes


@pytest.mark.slow
def test_an_audit_counts_what_applies_until_somebody_chooses_otherwise(
    sample: Catalog, audit: prodex.Audit
) -> None:
    """What is required of few products looks empty among all; a choice outlives the next audit."""
    assert not panel_of(sample).of_required
    panel = panel_of(sample, audit=audit)
    assert panel.of_required
    panel.of_required = False
    panel.exploration.audit = prodex.audit(sample, "online-listing", progress=False)
    panel.wait()
    assert not panel.of_required
    later = panel_of(sample)
    later.exploration.audit = audit
    later.wait()
    assert later.of_required


@pytest.mark.slow
def test_no_products_and_one() -> None:
    """An empty catalogue has rows without figures, and one product is one product."""
    panel = panel_of(prodex.flatten([]))
    assert {"–"} == {one["text"] for row in panel.grid.view["rows"] for one in row["cells"]}
    assert [0] == panel.coverage["products"].unique().tolist()
    one = panel_of(prodex.flatten([{"id": 7, "nameLegal": [text("Riz")]}]))
    assert ("100 %", True) == tuple(cell(one, "nameLegal", "French")[key] for key in ("text", "disabled"))
    for by in GROUPINGS:
        panel.by = one.by = by
        panel.wait()
        one.wait()
        assert (len(USUAL) + 1, "") == (len(one.grid.view["rows"]), panel.message)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["language", "kind"])
def test_hundreds_of_columns_are_cut_with_their_number(by: str) -> None:
    """Ten columns are shown, of how many is said, the others are on further pages, and a press keeps the page."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    codes = [f"{a}{b}x{c}" for a in letters for b in letters for c in letters[:3]][:400]
    records = [
        {"id": n, "kind": {"code": code}, "nameLegal": [text("Riz", f"{code}-FR")]}
        for n, code in enumerate(codes)
    ]
    panel = panel_of(prodex.flatten(records))
    panel.by = by
    panel.wait()
    number = len(panel._view.figures.columns) - 1  # type: ignore[union-attr]
    assert number > 380
    assert f"1 to 10 of {number:,} {by}s" == panel.columns_pager.summary
    panel.columns_pager.next.click()
    shown = [one["key"] for one in panel.grid.view["columns"]]
    assert (11, f"11 to 20 of {number:,} {by}s") == (len(shown), panel.columns_pager.summary)
    panel.columns_pager.first = 0
    panel.columns_pager.next.click()
    panel.is_worst_first = True
    panel.wait()
    assert f"11 to 20 of {number:,} {by}s" == panel.columns_pager.summary
    assert number * len(USUAL) == len(
        panel.coverage.query("language.notna()" if by == "language" else "filled >= 0")
    )


def test_long_and_reversed_labels_are_cut_and_closed() -> None:
    """A label of 40,000 characters shows its beginning, an open mark of direction is closed, and keys stay short."""
    labels = [LONG, "\u2067reversed \u202e", "שלום"]
    records = [
        {"id": n, "kind": {"code": label, "label": label}, label[:50]: [text("x")]}
        for n, label in enumerate(labels)
    ]
    panel = panel_of(prodex.flatten(records))
    panel.by = "kind"
    panel.attributes = tuple(label[:50] for label in labels)
    panel.wait()
    heads = panel.grid.view["columns"][1:]
    assert 3 == len(heads)
    assert all(len(one["text"]) < 120 and len(one["key"]) <= 80 and len(one["hint"]) < 500 for one in heads)
    assert any(one["text"].endswith("\u2069") for one in heads)
    panel.grid.press(do="column", column=next(one["key"] for one in heads if "characters)" in one["text"]))
    assert {"kind": (LONG,)} == panel.exploration.conditions.groups


def test_a_snapshot_that_disappears(sample: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read stays and can be pressed; what would have to be read is refused in words."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    saved = sample.save("shop")
    panel = panel_of(saved)
    before = panel.coverage
    assert saved.folder is not None
    shutil.rmtree(saved.folder)

    panel.attributes = (*panel.attributes, "netWeight")
    panel.wait()
    assert "problem" in panel.message
    assert "is gone" in panel.message
    assert str(saved.folder) in panel.message
    assert before["filled"].tolist() == panel._view.figures.frame()["filled"].tolist()  # type: ignore[union-attr]
    with pytest.raises(InputError, match="could not be read"):
        _ = panel.coverage
    panel.attributes = USUAL
    panel.grid.press(do="cell", row=" nameLegal", column="all")
    assert {"fill:nameLegal": MISSING} == panel.exploration.conditions.groups


def test_progress_is_said_in_words(sample: Catalog) -> None:
    """While attributes are read, the panel says of how many products."""
    heard: list[tuple[int, int]] = []
    FilledColumns.of(sample, ["brand"], lambda done, total: heard.append((done, total)))
    assert (300, 300) == heard[-1]
    panel = panel_of(sample)
    has_read, go_on = threading.Event(), threading.Event()

    def read(reporter: Reporter) -> CoverageData:
        with reporter.phase("Reading attributes", "products", 300) as show:
            show(100, 300)
            has_read.set()
            go_on.wait(10)
        return panel._data

    panel._reading.start(read, "Reading attributes")
    assert has_read.wait(10)
    panel._report()
    assert "Reading attributes: 100 of 300 products (33 %)" in panel._status.value
    assert re.search(r"about \d+ \w+ left", panel._status.value)
    go_on.set()
    panel.wait()


def test_bad_arguments(sample: Catalog, audit: prodex.Audit) -> None:
    """What is no grouping, and what contradicts itself, is refused with what there is."""
    panel = panel_of(sample)
    with pytest.raises(TraitError, match="did you mean 'kind'"):
        panel.by = "kinds"
    with pytest.raises(InputError, match="CoveragePanel needs a catalogue"):
        CoveragePanel()
    with pytest.raises(InputError, match="either a catalogue or an exploration"):
        CoveragePanel(sample, exploration=Exploration(catalog=sample))
    shared = Exploration(catalog=sample)
    assert audit is CoveragePanel(exploration=shared, audit=audit).exploration.audit


def test_an_audit_of_other_products_is_unknown(sample: Catalog, audit: prodex.Audit) -> None:
    """Products that the audit does not cover are neither filled nor missing."""
    other = prodex.flatten([{"id": 10**8, "namePublicLong": [text("Riz")]}])
    panel = panel_of(other, audit=audit)
    panel.of_required = True
    panel.wait()
    assert {"unknown", "not required"} == set(panel.coverage["state"])


def test_explore_has_a_section(sample: Catalog) -> None:
    """A press in the section Coverage lists the products, and the panel follows only while it is shown."""
    explored = prodex.explore(sample)
    explored.section = "Coverage"
    (panel,) = explored.places["Coverage"].children
    panel.wait()
    panel.grid.press(do="column", column="=nl")
    assert ("Products", False) == (explored.section, panel.is_shown)
    assert len(explored.catalog) == sum(
        "nl" in set(rows) for _, rows in sample.texts.groupby("product_id")["language"]
    )
    assert ">300</b> products" in panel._about.value
    explored.section = "Coverage"
    panel.wait()
    assert "of 300 products" in panel._about.value


def test_a_grid_answers_only_what_it_shows() -> None:
    """A page that was open before may report any cell; one that lists nothing, or is gone, is ignored."""
    pressed: list[Any] = []
    grid = CellGrid(Panel(), cell=lambda *keys: pressed.append(keys), row=pressed.append)
    rows = [
        GridRow(PressableCell("a", "A"), (PressableCell("x", "1"), PressableCell("y", "–", is_mute=True)))
    ]
    grid.show("label", "corner", [PressableCell("x", "X"), PressableCell("y", "Y")], rows)
    for row, column in (("a", "x"), ("a", "y"), ("b", "x")):
        grid.press(do="cell", row=row, column=column)
    grid.press(do="row", row="a")
    grid.press(do="column", column="x")  # nobody answers
    grid.press(do="anything")
    assert [("a", "x"), "a"] == pressed
    assert pa.array(["label"]).to_pylist() == [grid.view["label"]]


def test_languages_that_an_audit_leaves_out_are_named() -> None:
    """An audit that requires French alone: the panel says that Dutch is not shown, and how it is shown again."""
    texts = [{"expressedIn": {"code": code}, "data": "Pain"} for code in ("fra-FR", "nld-NL", "deu-DE")]
    records = [{"id": n, "gtin": f"{n:014d}", "namePublicLong": texts} for n in range(5)]
    profile = {"checks": {"required_text": {"attribute": "namePublicLong", "language": "fr"}}}
    catalog = prodex.flatten(records)
    exploration = Exploration(catalog=catalog, audit=prodex.audit(catalog, profile, progress=False))
    panel = CoveragePanel(exploration=exploration)
    panel.wait()
    about = panel._about.value
    assert "not shown, since the audit requires nothing in them: " in about
    assert "Dutch" in about
    assert "German" in about
    assert "choose Count: needed or not" in about
