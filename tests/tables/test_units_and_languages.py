"""Texts, amounts and times in the spellings that services use beside the specification: the right value, by hand."""

from __future__ import annotations

from typing import Any

import pytest

import prodex
from prodex.tables.descriptors import expressed
from prodex.tables.flatten import decoded, flatten_products
from tests.cases import each_row
from tests.wire import encode


def read(attribute: str, data: Any, code: Any = None, short: Any = None) -> tuple[str, Any]:
    """Return the table that a value became a row of, and the value; several copies take the fast path."""
    names = {"code": code, "normalizedCode": short}
    item = {
        "expressedIn": {name: value for name, value in names.items() if value is not None},
        "data": data,
    }
    tables = decoded(flatten_products([encode({"id": n, attribute: [item]}) for n in range(20)]))
    found = [
        (name, row[column])
        for name, column in (("texts", "text"), ("quantities", "value"), ("scalars", "value"))
        for row in tables[name].to_pylist()
        if row["attribute"] in {attribute, f"{attribute}.data"}
    ]
    assert 20 == len(found)
    (one,) = set(found)
    return one


@each_row(
    ("data", "code", "short", "becomes"),
    [
        # An amount beside a unit, whatever its spelling.
        ("500.0000", "GRM", None, ("quantities", 500.0)),
        ("500", "KGM", "kg", ("quantities", 500.0)),
        ("0,5", "LTR", "l", ("quantities", 0.5)),
        (" +12.50 ", "E14", None, ("quantities", 12.5)),
        ("-18", "CEL", "°C", ("quantities", -18.0)),
        ("30", "MIN", None, ("quantities", 30.0)),
        ("6", "H87", None, ("quantities", 6.0)),
        ("7", "DAY", "d", ("quantities", 7.0)),
        ("3.99", "EUR", "€", ("quantities", 3.99)),
        ("2", "PCE", None, ("quantities", 2.0)),  # of an older list
        ("250", "MLT", "ml", ("quantities", 250.0)),
        ("5", "g", None, ("quantities", 5.0)),
        ("12", "%", None, ("quantities", 12.0)),
        # No number by the grammar: it is there, and nobody knows what it says.
        ("about 500", "GRM", None, ("scalars", "about 500")),
        ("1.000,5", "GRM", None, ("scalars", "1.000,5")),
        ("1e3", "GRM", None, ("scalars", "1e3")),
        ("5 00", "GRM", None, ("scalars", "5 00")),
        ("<0.5", "GRM", None, ("scalars", "<0.5")),
        ("500 g", "GRM", None, ("scalars", "500 g")),
        ("٥٠٠", "GRM", None, ("scalars", "٥٠٠")),
        ("9007199254740993", "GRM", None, ("scalars", "9007199254740993")),
        ("1" * 31, "GRM", None, ("scalars", "1" * 31)),
        ("", "GRM", None, ("scalars", "")),
        (True, "GRM", None, ("scalars", "true")),
        # A text beside a language, whatever it says.
        ("Riz", "fra-FR", "fr", ("texts", "Riz")),
        ("1664", "fra-FR", "fr", ("texts", "1664")),
        ("500.0000", "fr", None, ("texts", "500.0000")),
        ("Riz", "FRA", None, ("texts", "Riz")),
        ("Riz", "FR", None, ("texts", "Riz")),
        ("Riz", "fra", None, ("texts", "Riz")),
        ("Riz", None, "fr-FR", ("texts", "Riz")),
        ("Riz", "French", None, ("texts", "Riz")),
        ("Riz", 12, "fr", ("texts", "Riz")),  # a service that numbers its languages
        ("Melħ", "MLT", "mt", ("texts", "Melħ")),
        ("Riz", "xxx-XX", None, ("texts", "Riz")),
        ("Riz", "und", None, ("texts", "Riz")),
        ("Riz", "KAR", None, ("texts", "Riz")),
        ("Beras", "min", None, ("texts", "Beras")),
        # A number in a language is no amount, and a name only perhaps.
        (1664, "fra-FR", "fr", ("scalars", "1664")),
        # A code of both a language and a unit or currency, or of neither.
        ("500", "ml", None, ("scalars", "500")),
        ("500", "grm", None, ("scalars", "500")),
        ("500", "min", None, ("scalars", "500")),
        ("12.50", "RON", None, ("scalars", "12.50")),
        ("Orez", "RON", None, ("texts", "Orez")),
        ("12.50", "RON", "lei", ("scalars", "12.50")),
        ("500", "NL", None, ("scalars", "500")),
        ("500", "klingon", None, ("scalars", "500")),
        ("500", 12, None, ("scalars", "500")),
        (500, "grm", None, ("quantities", 500.0)),  # a number is an amount of something
        (2, "hr", None, ("quantities", 2.0)),
        (500, None, "lt", ("quantities", 500.0)),
        ("500", "LTR", "lt", ("quantities", 500.0)),
        ("2", "hr", None, ("texts", "2")),
    ],
)
def test_the_descriptor_says_what_data_is(data: Any, code: Any, short: Any, becomes: tuple[str, Any]) -> None:
    """A language makes a text, a unit an amount; what contradicts itself or may be both is kept as a scalar."""
    assert becomes == read("serves", data, code, short)


@each_row(
    ("attribute", "data", "code", "becomes"),
    [
        ("netContent", "500.0000", "grm", ("quantities", 500.0)),
        ("netContent", "500", "ml", ("quantities", 500.0)),
        ("netContent", "500", "gram", ("quantities", 500.0)),
        ("netContent", "about 500", "xyz", ("scalars", "about 500")),
        ("netContent", "six pièces", "fra-FR", ("texts", "six pièces")),
        ("netContent", "six pièces", "fr", ("texts", "six pièces")),
        ("netContent", "6", "st", ("quantities", 6.0)),
        ("netContent", 6, "st", ("quantities", 6.0)),
        ("suggestedRetailPrice", "12.50", "RON", ("quantities", 12.5)),
        ("namePublicLong", "7", "MIN", ("texts", "7")),
        ("namePublicLong", "Riz", "GRM", ("texts", "Riz")),
        ("namePublicLong", 1664, "GRM", ("scalars", "1664")),
    ],
)
def test_of_some_attributes_it_is_known_what_they_hold(
    attribute: str, data: Any, code: str, becomes: tuple[str, Any]
) -> None:
    """A net content has a unit and a name has a language, whatever else their codes could be."""
    assert becomes == read(attribute, data, code)


def test_the_descriptor_stays_beside_what_is_neither() -> None:
    """Of an amount that cannot be read, unit and label are kept as a code, and nothing is in the lexicon."""
    item = {"data": "about 500", "expressedIn": {"code": "GRM", "label": "g"}}
    catalog = prodex.flatten([{"id": 7, "netContent": [item]}])

    assert [["netContent.expressedIn", "GRM", "g"]] == catalog.codes[
        ["attribute", "code", "label"]
    ].values.tolist()
    assert [] == catalog.descriptors.values.tolist()
    assert '"about 500"' in catalog.raw["json"][0]


def test_one_list_may_hold_all_of_it() -> None:
    """Each item is read by itself, so that a text, an amount and an unreadable one stand side by side."""
    items = [("500.0000", "GRM"), ("un paquet", "fra-FR"), ("about 500", "GRM"), (500, "GRM"), (None, "GRM")]
    record = {"synonyms": [{"data": data, "expressedIn": {"code": code}} for data, code in items]}
    catalog = prodex.flatten({"id": number, **record} for number in range(3))

    assert [["0", "0", 500.0], ["0", "3", 500.0]] == _of(catalog.quantities, "value")
    assert [["0", "1", "un paquet"]] == _of(catalog.texts, "text")
    assert [["0", "2", "about 500"]] == _of(catalog.scalars, "value")


def _of(frame: Any, column: str) -> list[list[Any]]:
    return frame.loc[frame["product_id"] == "0", ["product_id", "position", column]].values.tolist()


def test_amounts_of_declared_columns_are_read_as_well() -> None:
    """Nutrients, what they refer to, and the number of units in a case are amounts, also as text."""
    nutrient = {
        "isConceptualizedBy": {"code": "FAT"},
        "quantity": "3,50",
        "expressedIn": {"code": "GRM"},
        "percentageOfDailyValueIntake": "5",
    }
    partition = {
        "name": "100 g",
        "quantity": "100.0",
        "isMeasuredBy": {"code": "GRM"},
        "contains": [nutrient],
    }
    traces = {**partition, "contains": [{**nutrient, "quantity": "traces"}]}
    child = {"gtin": "03036811359935", "quantity": "20"}
    case = {"gtin": "13663836037981", "children": [child]}
    catalog = prodex.flatten(
        [{"id": 7, "isPartitionedBy": [partition, traces], "logisticalHierarchies": [case]}]
    )

    columns = ["basis_quantity", "quantity", "daily_percentage"]
    assert [[100.0, 3.5, 5.0], [100.0, None, 5.0]] == [
        [row[column] for column in columns] for row in catalog.arrow("nutrients", columns).to_pylist()
    ]
    assert [20.0] == catalog.hierarchies["units_per_root"].tolist()[1:]
    kept = catalog.scalars.query("attribute == 'isPartitionedBy.contains.quantity'")
    assert ["traces"] == kept["value"].tolist()


@pytest.mark.parametrize("count", [1, 400])
def test_more_units_than_a_number_can_hold_are_unknown(count: int) -> None:
    """Two quantities that are no quantities make no infinite number, in one product and in a block of many."""
    child = {"gtin": "03036811359935", "quantity": 1e300}
    between = {"gtin": "13663836037981", "quantity": 1e300, "children": [child]}
    pallet = {"gtin": "23663836037988", "children": [between]}
    records = [
        {"id": number, "note": "x" * 1_500, "logisticalHierarchies": [pallet]} for number in range(count)
    ]
    units = prodex.flatten(records).hierarchies["units_per_root"]
    assert sorted([1.0, 1e300] * count) == sorted(units.dropna())
    assert count == units.isna().sum()


@pytest.mark.slow
@each_row(
    ("written", "moment"),
    [
        ("2026-11-01T06:00:00", "2026-11-01T06:00:00"),
        ("2026-11-01 06:00:00", "2026-11-01T06:00:00"),
        ("2026-11-01T06:00:00Z", "2026-11-01T06:00:00"),
        ("2026-11-01t06:00:00z", "2026-11-01T06:00:00"),
        ("2026-11-01T06:00:00+01:00", "2026-11-01T05:00:00"),
        ("2026-11-01T06:00:00+0100", "2026-11-01T05:00:00"),
        ("2026-11-01T06:00:00-05", "2026-11-01T11:00:00"),
        ("2026-11-01T06:00:00 +05:30", "2026-11-01T00:30:00"),
        ("2026-11-01T23:30:00-01:00", "2026-11-02T00:30:00"),
        ("2026-11-01T06:00:00.123", "2026-11-01T06:00:00.123000"),
        ("2026-11-01T06:00:00,5", "2026-11-01T06:00:00.500000"),
        ("2026-11-01T06:00:00.123456+00:00", "2026-11-01T06:00:00.123456"),
        ("2026-11-01T06:00:00.1234567Z", "2026-11-01T06:00:00.123456"),
        # Not certain to the second, or no time at all.
        ("2026-11-01", None),
        ("2026-11-01T06:00", None),
        ("2026-11-01T24:00:00", None),
        ("2026-11-01T06:00:60", None),
        ("2026-11-01T06:00:00+15:00", None),
        ("2026-11-01T06:00:00+01:75", None),
        ("2026-11-01T06:00:00 CET", None),
        ("2026-02-30T06:00:00Z", None),
        ("01/11/2026 06:00:00", None),
        ("20261101T060000Z", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("yesterday", None),
    ],
)
def test_times_are_read_where_they_are_certain(written: str, moment: str | None) -> None:
    """A time with a zone is in UTC, one without is as the service has it, and what is no time is kept as a scalar."""
    for beside in (
        [],
        [{"id": n, "updatedAt": "2026-11-20T08:00:00"} for n in range(5)],
    ):  # alone, and among others
        catalog = prodex.flatten([{"id": 7, "updatedAt": written}, *beside])
        found = catalog.arrow("products")["updated_at"].to_pylist()[0]
        kept = catalog.scalars.query("attribute == 'updatedAt'")["value"].tolist()
        assert (moment, [] if moment else [written]) == (found and found.isoformat(), kept)


def test_times_that_are_expected_in_seconds_are_read_with_their_zone_alone() -> None:
    """Documents are valid until a number of seconds; a local time in its place is not certain."""
    ends = ["2027-01-01T00:00:00Z", "2027-01-01T00:00:00", 1_798_761_600, "1798761600"]
    documents = [{"fileName": "a.pdf", "fileEffectiveEndDateTime": end} for end in ends]
    catalog = prodex.flatten([{"id": 7, "assets": {"documents": documents}}])

    read_as = [
        None if value is None else str(value)
        for value in catalog.arrow("documents")["effective_end"].to_pylist()
    ]
    assert ["2027-01-01 00:00:00+00:00", None, "2027-01-01 00:00:00+00:00", None] == read_as


@each_row(
    ("code", "short", "names"),
    [
        ("GRM", "fr", "a unit"),
        ("GRM", "fr-FR", "a language or a unit"),
        ("MLT", "mt", "a language or a unit"),
        ("fr", "g", "a language or a unit"),
        ("fr", "fr-FR", "a language"),
        ("fra-FR", "g", "a language"),
        (None, "g", "a unit"),
        (" fra-FR ", None, "a language"),
        ("", None, "a language or a unit"),
        ("EN", None, "two letters of a language"),
        ("ENG", None, "a language"),
        ("XX", None, "probably a unit"),
        ("xx", None, "a language or a unit"),
        ("4K", None, "a unit"),
        ("cad", None, "a language"),
        ("CAD", None, "a language or a unit"),
    ],
)
def test_code_and_short_code_decide_together(code: str | None, short: str | None, names: str) -> None:
    """Where they contradict each other nothing is certain; otherwise the one that is certain decides."""
    assert names == expressed(code, short).value
