"""Groups of products: every place that groups takes the same words, and means the same by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.errors import QueryError
from prodex.exploration.facets import Facets
from prodex.exploration.product_columns import ProductColumns
from prodex.store.reading import flatten
from tests.cases import each_row
from tests.facts.everywhere import Groups, Record, catalog_of, grouped_everywhere, market, text

OWNERS = [
    {"id": 1, "owner": {"id": 4, "name": "Mill"}},
    {"id": 2, "owner": {"id": 5, "name": "Mill"}},
    {"id": 3, "owner": {"id": 5, "name": "Mill & Co"}},
    {"id": 4, "owner": {"id": 5, "name": "Mill"}},
    {"id": 5, "owner": {"id": 6, "name": None}},
    {"id": 6, "owner": {"uuid": "u-1", "name": "Bakery"}},
    {"id": 7, "owner": {"name": "Dairy"}},
    {"id": 8, "owner": {"id": None, "name": " "}},
    {"id": 9, "owner": {"id": "", "uuid": "", "name": "Dairy"}},
    {"id": 10, "owner": {}},
    {"id": 11, "owner": None},
    {"id": 12, "lastRequest": {"owner": {"id": 9, "name": "Waits"}}},
]
BRANDS = [
    {"id": 1, "brand": {"code": "A", "label": "Acme"}},
    {"id": 2, "brand": {"code": "A", "label": "ACME"}},
    {"id": 3, "brand": {"code": "A", "label": "Acme"}},
    {"id": 4, "brand": {"code": "B", "label": "Acme"}},
    {"id": 5, "brand": {"code": "C"}},
    {"id": 6, "brand": {"code": "D", "label": " "}},
    {"id": 7, "brand": {"code": 7, "label": "Seven"}},
    {"id": 8, "brand": {"label": "Acme"}},
    {"id": 9, "brand": None},
]
BRAND_GROUPS: Groups = {
    ("A", "Acme", 3),
    ("B", "Acme", 1),
    ("C", "C", 1),
    ("D", "D", 1),
    ("7", "Seven", 1),
    (None, None, 2),
}
MARKETS: list[Record] = [
    {"id": 1, **market(250)},
    {"id": 2, **market("0250")},
    {"id": 3, **market("056")},
    {"id": 4, **market("XX")},
    {"id": 5, **market(999)},
    {"id": 6, **market("")},
    {"id": 7, **market("000")},
    {"id": 8},
]
TAGS: list[Record] = [
    {"id": 1, "hasTags": [{"tag": "new"}, {"tag": "new"}], "isTaggedBy": ["big", "new"]},
    {"id": 2, "hasTags": [{"tag": None}, {"tag": " "}]},
    {"id": 3, "hasTags": []},
    {"id": 4, "hasTags": None},
    {"id": 5},
    {"id": 6, "hasTags": [{"tag": "<b>أرز</b>"}]},
    {"id": 7, "lastRequest": {"hasTags": [{"tag": "waits"}]}},
]
#: What is grouped, by what, and the groups: code, label, number of products.
CASES: dict[str, tuple[list[Record], Groups]] = {
    "owner": (
        OWNERS,
        {
            ("4", "Mill", 1),
            ("5", "Mill", 3),
            ("6", "6", 1),
            ("u-1", "Bakery", 1),
            ("Dairy", "Dairy", 2),
            (None, None, 4),
        },
    ),
    "brand": (BRANDS, BRAND_GROUPS),
    "kind": ([{"id": one["id"], "kind": one.get("brand")} for one in BRANDS], BRAND_GROUPS),
    "market": (
        MARKETS,
        {
            ("250", "France", 2),
            ("56", "Belgium", 1),
            ("XX", "XX", 1),
            ("999", "999", 1),
            (None, None, 3),
        },
    ),
    "tag": (
        TAGS,
        {
            ("new", "new", 1),
            ("big", "big", 1),
            (" ", " ", 1),
            ("<b>أرز</b>", "<b>أرز</b>", 1),
            (None, None, 4),
        },
    ),
    "packaging": (
        [
            {"id": 1, "typePackaging": {"code": "EACH", "label": "Unité"}},
            {"id": 2, "typePackaging": {"code": "CASE", "label": "Unité"}},
            {"id": 3},
        ],
        {("EACH", "Unité", 1), ("CASE", "Unité", 1), (None, None, 1)},
    ),
    "sharing_status": (
        [{"id": 1, "manufacturerSharingStatus": 2}, {"id": 2, "manufacturerSharingStatus": None}],
        {("2", "2", 1), (None, None, 1)},
    ),
    "is_consumer_unit": (
        [{"id": 1, "isConsumerUnit": True}, {"id": 2, "isConsumerUnit": False}, {"id": 3}],
        {("true", "true", 1), ("false", "false", 1), (None, None, 1)},
    ),
    "brand_code": (
        BRANDS[:1] + BRANDS[3:4],
        {("A", "Acme", 1), ("B", "Acme", 1)},
    ),
    "owner_id": (
        OWNERS[:2],
        {("4", "Mill", 1), ("5", "Mill", 1)},
    ),
    "product_id": ([{"id": 1}, {"id": 2}], {("1", "1", 1), ("2", "2", 1)}),
}
TOLD_APART = {
    "owner": {"Mill (4)", "Mill (5)", "6", "Bakery", "Dairy", "without owner"},
    "brand": {"Acme (A)", "Acme (B)", "C", "D", "Seven", "without brand"},
}


def spelled(groups: Groups) -> Groups:
    """Return groups with the code in place of a label that repeats it, as frames leave it out."""
    return {(code, label if label is not None else code, size) for code, label, size in groups}


@pytest.mark.slow
@pytest.mark.parametrize("by", CASES)
def test_every_place_makes_the_same_groups(by: str, tmp_path: Path) -> None:
    """By code, never by label; shown by the label that most products have; who has none is a group too."""
    records, expected = CASES[by]
    found = grouped_everywhere(catalog_of(records), by, tmp_path)
    facets = found.pop("facets", None) if isinstance(found, dict) else None

    assert dict.fromkeys(found, spelled(expected)) == {
        place: spelled(groups) for place, groups in found.items()
    }
    if facets is not None:
        sizes = {(code, size) for code, _, size in expected}
        assert sizes == {(code, size) for code, _, size in facets}


@pytest.mark.parametrize("by", TOLD_APART)
def test_groups_of_one_name_are_told_apart_in_what_is_shown(by: str) -> None:
    """Two owners of one name are two in a list of names as well: their codes stand behind."""
    from prodex.display.report.contents import heat_map, offenders

    records, _ = CASES[by]
    catalog = catalog_of(records)
    audit = prodex.audit(catalog, {"checks": {"has_name": {}}})

    assert TOLD_APART[by] == set(Facets(ProductColumns(catalog))[by].labels)
    assert TOLD_APART[by] == {row["name"].text for row in heat_map(audit, by)["rows"]}
    assert TOLD_APART[by] == {row["name"].text for row in offenders(audit, by)[0]}


def test_languages_are_those_of_the_texts() -> None:
    """A product is in the group of each language that it has a text in; blanks and what waits do not count."""
    records: list[Record] = [
        {"id": 1, "namePublicLong": [text("fra-FR", "Riz"), text("fra-BE", "Riz"), text("nld-BE", "Rijst")]},
        {"id": 2, "description": [text("fra-FR", "Riz"), text("nld-BE", " ")]},
        {"id": 3, "lastRequest": {"namePublicLong": [text("deu-DE", "Reis")]}},
        {"id": 4},
    ]
    catalog = flatten(records)
    expected = {("fr", "French", 2), ("nl", "Dutch", 1), (None, None, 2)}
    groups = prodex.audit(catalog, {"checks": {"has_name": {}}}).groups("language")
    sizes = [int((groups.groups == number).sum()) for number in range(len(groups.codes))]
    counts = prodex.diff(flatten([]), catalog).counts("language")
    facet = Facets(ProductColumns(catalog))["language"]

    assert expected == set(zip(groups.codes, groups.labels, sizes, strict=True))
    named = counts.astype(object).where(counts.notna(), None)
    assert expected == set(zip(named["language"], named["language_label"], named["added"], strict=True))
    assert {(code, size) for code, _, size in expected} == set(
        zip(facet.codes, facet.totals.tolist(), strict=True)
    )


def test_a_product_that_changed_its_group_counts_in_the_new_one() -> None:
    """A product that is gone counts in the group where it was."""
    old = flatten([{"id": 1, "hasTags": [{"tag": "a"}]}, {"id": 2, "hasTags": [{"tag": "a"}]}])
    new = flatten([{"id": 1, "hasTags": [{"tag": "b"}]}])
    counts = prodex.diff(old, new).counts("tag").set_index("tag")

    assert {"a": 1, "b": 0} == counts["removed"].to_dict()
    assert {"a": 0, "b": 1} == counts["changed"].to_dict()


def test_the_market_that_was_asked_for_groups_too() -> None:
    """A product that does not say its market is of the one that its catalogue was asked for, in each side of a diff."""
    records: list[Record] = [{"id": 1}, {"id": 2, **market(56)}]
    asked = catalog_of(records, 250)
    audit = prodex.audit(asked, {"checks": {"has_name": {}}})

    assert {"250": 1, "56": 1} == audit.scores("market").set_index("market")["products"].to_dict()
    counts = prodex.diff(asked, catalog_of([*records, {"id": 3}], 276)).counts("market")
    assert {"276": 1, "56": 1} == counts.set_index("market")[["added", "unchanged"]].sum(axis=1).to_dict() | {
        "276": 1
    }


@pytest.mark.slow
@each_row(("given", "meant"), [("ownr", "owner"), ("Brand", "brand"), ("langage", "language")])
def test_every_place_refuses_what_is_no_group_alike(given: str, meant: str, tmp_path: Path) -> None:
    """The message names what was meant."""
    catalog = flatten([{"id": 1}])
    audit = prodex.audit(catalog, {"checks": {"has_name": {}}})
    asked: list[Any] = [
        lambda: audit.scores(given),
        lambda: audit.groups(given),
        lambda: audit.worklists(tmp_path / "lists", given),
        lambda: prodex.diff(catalog, catalog).counts(given),
    ]
    for ask in asked:
        with pytest.raises(
            QueryError, match=f"There is nothing to group by that is called '{given}'; did you mean '{meant}'"
        ):
            ask()
