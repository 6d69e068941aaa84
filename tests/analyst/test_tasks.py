"""What an analyst types first is right: each of twenty-one tasks, held against plain Python over the records."""

from __future__ import annotations

import ast
import csv
import inspect
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
import pytest

import prodex as px
from prodex.sandbox import Sandbox
from prodex_sandbox.sample import shared_products
from tests.analyst import tasks

Record = dict[str, Any]

TASKS: list[Callable[..., Any]] = [
    task for _, task in inspect.getmembers(tasks, inspect.isfunction) if task.__module__ == tasks.__name__
]


@pytest.fixture(scope="module")
def exchange() -> Iterator[Sandbox]:
    """Serve products that these tests may change."""
    with Sandbox(products=shared_products(600)) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def client(exchange: Sandbox) -> px.service.Client:
    """Reach them as the retailer that sees all."""
    key = exchange.credentials[0]
    return px.connect(
        base_url=exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Have snapshots here."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def catalog(client: px.service.Client, home: Path) -> Iterator[px.Catalog]:
    """Load them as a snapshot."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRODEX_HOME", str(home))
        yield px.load_products(client, name="shop", progress=False)


@pytest.fixture(scope="module")
def records(catalog: px.Catalog) -> list[Record]:
    """Return them as they came."""
    return [json.loads(text) for text in catalog.raw["json"]]


#: What the corrections are about.
NAMES = ["namePublicShort", "nameLegal"]


#: Units of nutrients by their codes (UN/ECE Recommendation 20).
UNITS = {"KJO": "kJ", "E14": "kcal", "GRM": "g", "MGM": "mg", "MC": "µg"}


def text_in(record: Record, attribute: str, language: str) -> str | None:
    """Return what a record says in a language; several texts are joined as `wide` joins them."""
    found = [
        item["data"]
        for item in record.get(attribute) or []
        if item and (item["expressedIn"] or {}).get("normalizedCode") == language and item["data"] is not None
    ]
    return " | ".join(found) if found else None


def none(value: Any) -> Any:
    """Return None for any of pandas' missing values."""
    return None if pd.isna(value) else value


def test_there_are_twenty_one_of_at_most_four_lines() -> None:
    """More would be a programme; the line that defines a rule's function counts, and so does each in it."""
    assert 21 == len(TASKS)
    for task in TASKS:
        (function,) = ast.parse(inspect.getsource(task)).body
        lines = [node for node in ast.walk(function) if isinstance(node, ast.stmt)]
        said = sum(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in lines)
        assert 4 >= len(lines) - 1 - said, task.__name__


@pytest.mark.slow
def test_names_side_by_side(catalog: px.Catalog, records: list[Record]) -> None:
    """One row per product, one column per language, nothing where there is no name."""
    expected = [
        (
            record["gtin"],
            (record["brand"] or {}).get("label"),
            text_in(record, "namePublicLong", "fr"),
            text_in(record, "namePublicLong", "nl"),
        )
        for record in records
    ]
    frame = tasks.names_side_by_side(catalog)
    assert ["gtin", "brand", "namePublicLong.fr", "namePublicLong.nl"] == list(frame.columns)
    assert sorted(expected, key=str) == sorted(
        (tuple(none(value) for value in row) for row in frame.itertuples(index=False, name=None)), key=str
    )


def test_ingredients_told(catalog: px.Catalog, records: list[Record]) -> None:
    """A composition is told where it is neither absent, null nor empty."""
    told, every = Counter[Any](), Counter[Any]()
    for record in records:
        key = (record["kind"]["label"], record["owner"]["name"])
        every[key] += 1
        told[key] += bool(record.get("composition"))
    assert {key: (told[key], number) for key, number in every.items()} == {
        key: (row["sum"], row["size"]) for key, row in tasks.ingredients_told(catalog).iterrows()
    }


@pytest.mark.slow
def test_large_packshots(catalog: px.Catalog, records: list[Record]) -> None:
    """Every packshot of that size, and no picture that does not say its size."""
    expected = [
        (record["gtin"], picture["url"])
        for record in records
        for picture in (record["assets"] or {}).get("pictures") or []
        if picture.get("isPackshot") and max(picture.get("width") or 0, picture.get("height") or 0) >= 2000
    ]
    found = tasks.large_packshots(catalog)
    assert expected
    assert Counter(expected) == Counter(zip(found["gtin"], found["url"], strict=True))


def packaging(node: Record) -> str | None:
    """Return the type of packaging of a unit, which stands in its version or beside it."""
    version = node.get("version") or {}
    return ((version.get("typePackaging") or node.get("typePackaging")) or {}).get("code")


def pieces(node: Record) -> float | None:
    """Count the eaches in one unit of a hierarchy; None where a quantity on the way is not said."""
    if packaging(node) == "EACH":
        return 1
    counted = [
        None if below is None or child.get("quantity") is None else child["quantity"] * below
        for child in node.get("children") or []
        if (below := pieces(child)) != 0
    ]
    return None if None in counted else sum(counted)


def test_pieces_per_pallet(catalog: px.Catalog, records: list[Record]) -> None:
    """Each pallet once, however many products repeat its tree."""
    expected: dict[str, set[float | None]] = defaultdict(set)
    for record in records:
        for root in record.get("logisticalHierarchies") or []:
            if packaging(root) == "PALLET":
                expected[root["gtin"]].add(pieces(root))
    found = tasks.pieces_per_pallet(catalog)
    assert set(expected) == set(found["root_gtin"])
    assert found["root_gtin"].is_unique
    known = {gtin: number for gtin, (number, *others) in expected.items() if not others and (number or 0) > 0}
    assert len(known) > 10
    assert known == {
        row.root_gtin: row.pieces for row in found[found["known"]].itertuples() if row.root_gtin in known
    }


def test_french_equals_dutch(catalog: px.Catalog, records: list[Record]) -> None:
    """The same text in both languages; no text in either is not the same text."""
    expected = {
        record["gtin"]
        for record in records
        if (text := text_in(record, "description", "fr")) is not None
        and text == text_in(record, "description", "nl")
    }
    assert expected
    assert expected == set(tasks.french_equals_dutch(catalog)["gtin"])


def test_nutrients_as_columns(catalog: px.Catalog, records: list[Record]) -> None:
    """Every quantity of every product that tells it for 100 g once; sodium is "NA", and not missing."""
    expected = {}
    for record in records:
        for part in record.get("isPartitionedBy") or []:
            if part["quantity"] == 100 and part["isMeasuredBy"]["code"] == "GRM":
                for one in part["contains"]:
                    key = (
                        str(record["id"]),
                        one["isConceptualizedBy"]["code"],
                        one["expressedIn"]["code"],
                    )
                    expected.setdefault(key, []).append(one["quantity"])
    frame = tasks.nutrients_as_columns(catalog).set_index("product_id")
    shown = {key: values[0] for key, values in expected.items() if len(set(values)) == 1}
    assert len(shown) > 100
    for (product, nutrient, unit), quantity in shown.items():
        assert quantity == none(frame.loc[product, f"{nutrient}.{UNITS[unit]}"])


def test_updates_by_supplier(catalog: px.Catalog, records: list[Record]) -> None:
    """A line for each supplier, a point for each month with updates."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    drawn = tasks.updates_by_supplier(catalog)
    totals = {str(line.get_label()): sum(line.get_ydata()) for line in drawn.get_lines()}
    plt.close(drawn.figure)
    assert Counter(record["owner"]["name"] for record in records) == totals


def test_lengths_of_texts(catalog: px.Catalog, records: list[Record]) -> None:
    """Shortest and longest of each attribute and language."""
    lengths = [
        len(item["data"])
        for record in records
        for item in record.get("namePublicLong") or []
        if item and (item["expressedIn"] or {}).get("normalizedCode") == "fr" and item["data"]
    ]
    frame = tasks.lengths_of_texts(catalog)
    (row,) = frame[(frame["attribute"] == "namePublicLong") & (frame["language"] == "fr")].to_dict("records")
    assert (min(lengths), max(lengths)) == (row["shortest"], row["longest"])


def test_attributes_of_some_suppliers_only(catalog: px.Catalog, records: list[Record]) -> None:
    """What each supplier fills at least once, counted over suppliers."""
    owners = {record["owner"]["name"] for record in records}
    fills: dict[str, set[str]] = defaultdict(set)
    for record in records:
        for name, value in record.items():
            if value not in (None, "", [], {}):
                fills[name].add(record["owner"]["name"])
    expected = {f"{name}_state": len(by) for name, by in fills.items() if 0 < len(by) < len(owners)}
    assert expected
    assert expected == tasks.attributes_of_some_suppliers_only(catalog).to_dict()


def test_labels_by_brand(catalog: px.Catalog, records: list[Record]) -> None:
    """Each label of a product counts once."""
    expected: Counter[Any] = Counter()
    for record in records:
        codes = {item["isConceptualizedBy"]["code"] for item in record.get("isLabeledBy") or [] if item}
        expected.update((record["brand"]["label"], code) for code in codes)
    assert expected
    assert expected == tasks.labels_by_brand(catalog).to_dict()


def test_duplicates(catalog: px.Catalog, records: list[Record]) -> None:
    """A GTIN written in two ways is one, and two markets are two."""
    keys = Counter((r["gtin"].zfill(14), r["product_key"]["target_market_id"]) for r in records)
    expected = {
        str(r["id"]) for r in records if keys[r["gtin"].zfill(14), r["product_key"]["target_market_id"]] > 1
    }
    assert expected == set(tasks.duplicates(catalog)["product_id"])


@pytest.mark.slow
def test_failures_by_supplier(catalog: px.Catalog, tmp_path: Path) -> None:
    """Every failure is in the file of its supplier, none twice."""
    tasks.failures_by_supplier(catalog, tmp_path)
    failures = px.audit(catalog).failures()
    written = [
        list(csv.DictReader(path.read_text("utf-8").splitlines(keepends=True)))
        for path in sorted(tmp_path.iterdir())
    ]
    assert len(failures) == sum(map(len, written))
    assert all(len({row["owner"] for row in rows}) == 1 for rows in written)
    assert all(row["updated_at"] for rows in written for row in rows)


@pytest.mark.slow
def test_price_relevant_changes(records: list[Record]) -> None:
    """A net content that shrank and a price that came are in it, and a text that changed is not."""
    after = [json.loads(json.dumps(record)) for record in records]
    shrunk = next(record for record in after if record.get("netContent"))
    shrunk["netContent"][0]["data"] /= 2
    priced = after[-1]
    priced["suggestedRetailPrice"] = [{"data": 2.49, "expressedIn": {"code": "EUR"}}]
    next(record for record in after if record.get("namePublicLong"))["namePublicLong"][0]["data"] = "X"
    found = tasks.price_relevant_changes(px.flatten(records), px.flatten(after))
    assert {(shrunk["gtin"], "netContent"), (priced["gtin"], "suggestedRetailPrice")} == set(
        zip(found["gtin"], found["attribute"], strict=True)
    )


def test_not_shared(catalog: px.Catalog, records: list[Record]) -> None:
    """The words mean the numbers of the contract."""
    expected = [str(record["id"]) for record in records if record["manufacturerSharingStatus"] in (2, 3)]
    assert expected
    assert sorted(expected) == sorted(tasks.not_shared(catalog).products["product_id"])


def test_a_list_out_of_excel(catalog: px.Catalog, records: list[Record], tmp_path: Path) -> None:
    """GTINs come as numbers without their zeros, one as text with blanks, one is empty, one is not there."""
    from xlsxwriter import Workbook

    wanted = [record["gtin"] for record in records[:3]]
    path = tmp_path / "list.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet()
        for row, value in enumerate(
            ["EAN", int(wanted[0]), int(wanted[1]), None, f" {wanted[2]} ", 4006381333931]
        ):
            sheet.write(row, 0, value)
        sheet.write(len(wanted) + 3, 1, "a column beside it")
    with pytest.warns(UserWarning, match="1 of 4.*4006381333931"):
        found = tasks.of_a_list_out_of_excel(catalog, path)
    assert {record["gtin"] for record in records if record["gtin"] in wanted} == set(found.products["gtin"])


def test_over_two_tables(catalog: px.Catalog, records: list[Record]) -> None:
    """Pictures of each brand in one market."""
    expected: Counter[str] = Counter()
    for record in records:
        if record["product_key"]["target_market_id"] == 250:
            expected[record["brand"]["label"]] += len((record["assets"] or {}).get("pictures") or [])
    frame = tasks.over_two_tables(catalog, "250")
    assert +expected == dict(zip(frame["brand"], frame["pictures"], strict=True))


def test_memory(catalog: px.Catalog) -> None:
    """Every table has a size, and raw records have the largest of those of products."""
    sizes = tasks.memory(catalog)
    assert set(catalog.tables.index) == set(sizes.index)
    assert sizes["raw"] > sum(map(len, catalog.raw["json"]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_round_trip(catalog: px.Catalog, tmp_path: Path, kind: str) -> None:
    """What was given away is read back to the last row and type."""
    again = tasks.round_trip(catalog, tmp_path / "export", kind)
    for name in catalog.tables.index:
        pd.testing.assert_frame_equal(catalog.table(name), again.table(name))


@pytest.mark.slow
def test_fifty_corrections(client: px.service.Client, exchange: Sandbox, catalog: px.Catalog) -> None:
    """The rehearsal sends nothing and shows what is sent then; the service holds it in the end."""
    before = len(exchange.requests)
    rehearsal, tracking = tasks.fifty_corrections(client, catalog)
    sent = [one for payload in rehearsal.payloads for one in json.loads(payload)["data"]]
    texts = [item["data"] for one in sent for name in NAMES for item in one.get(name) or [] if item]
    assert 50 == sum("\u2019" in text for text in texts)
    assert "SUCCESS" == tracking.status
    assert before < len(exchange.requests)
    again = px.load_products(client, name="corrected", progress=False).texts
    right = again["attribute"].isin(NAMES) & again["text"].str.contains("\u2019")
    assert 50 == right.sum()


def test_own_rule_and_profile(catalog: px.Catalog, records: list[Record]) -> None:
    """Exactly the consumer units without an origin."""
    expected = [r["gtin"] for r in records if r["isConsumerUnit"] and not r.get("originCountry")]
    assert sorted(expected) == sorted(tasks.own_rule_and_profile(catalog)["gtin"])


@pytest.mark.slow
def test_every_night(
    client: px.service.Client,
    exchange: Sandbox,
    catalog: px.Catalog,
    records: list[Record],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a supplier spoilt during the day is said at night."""
    monkeypatch.setenv("PRODEX_HOME", str(home))
    spoilt = next(r for r in records if r["isConsumerUnit"] and r.get("brand") and not r.get("lastRequest"))
    exchange.change([{**spoilt, "namePublicLong": [], "brand": None}])
    said = tasks.every_night(client)
    assert "newly failing" in said, said


def test_products_of_quantities_are_what_the_answers_say() -> None:
    """The counting of pieces above, on a tree with two branches."""
    each = {"quantity": 6, "version": {"typePackaging": {"code": "EACH"}}}
    case = {"quantity": 4, "version": {"typePackaging": {"code": "CASE"}}, "children": [each]}
    assert prod([4, 6]) * 2 == pieces({"quantity": 1, "children": [case, case]})
