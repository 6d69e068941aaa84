"""What a difference names, what it leaves alone, and what it says it cannot know."""

from __future__ import annotations

import copy
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import prodex
from prodex.compare.pairs import GROUP_BYTES
from prodex.compare.record_differences import KEYS, compare_records
from prodex.compare.scope import Scope
from prodex.errors import InputError, QueryError
from prodex.tables.declaration import TABLES

Product = dict[str, Any]


def text(language: str, data: str) -> Product:
    codes = {"fr": "fra-FR", "en": "eng-GB", "de": "deu-DE"}
    return {
        "expressedIn": {"code": codes[language], "normalizedCode": language, "label": language},
        "data": data,
    }


def product(**attributes: Any) -> Product:
    return {"id": 1, "gtin": "03036811359935", "updatedAt": "2026-11-13T08:00:00", **attributes}


def changes(old: Product, new: Product) -> list[list[Any]]:
    """Return attribute, column, change, old and new of each change between two states of one product."""
    frame = prodex.diff(prodex.flatten([old]), prodex.flatten([new])).changes
    shown = frame[["attribute", "column", "change", "old", "new"]].astype(object)
    return [list(row) for row in shown.where(shown.notna(), None).values.tolist()]


CASES = {
    "a text": (
        {"namePublicLong": [text("fr", "Riz"), text("en", "Rice")]},
        {"namePublicLong": [text("fr", "Riz"), text("en", "Ryce")]},
        [["namePublicLong", "text", "changed", "Rice", "Ryce"]],
    ),
    "a language in front": (
        {"namePublicLong": [text("fr", "Riz"), text("en", "Rice")]},
        {"namePublicLong": [text("de", "Reis"), text("fr", "Riz"), text("en", "Rice")]},
        [["namePublicLong", "text", "added", None, "Reis"]],
    ),
    "another country": (
        {"x": [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]},
        {"x": [{"expressedIn": {"code": "fra-BE"}, "data": "Riz"}]},
        [["x", "language_code", "changed", "fra-FR", "fra-BE"]],
    ),
    "a tag in front": (
        {"isTaggedBy": ["new", "big"]},
        {"isTaggedBy": ["red", "new", "big"]},
        [["isTaggedBy", "tag", "added", None, "red"]],
    ),
    "a picture in front, and one that grew": (
        {"assets": {"pictures": [{"url": "1", "width": 10}, {"url": "2", "width": 10}]}},
        {"assets": {"pictures": [{"url": "0"}, {"url": "1", "width": 10}, {"url": "2", "width": 20}]}},
        [
            ["assets.pictures", "url", "added", None, "0"],
            ["assets.pictures", "width", "changed", "10", "20"],
        ],
    ),
    "something without a key in front": (
        {"benefits": [{"text": [text("fr", "A")]}, {"text": [text("fr", "B")]}]},
        {"benefits": [{"text": [text("fr", "0")]}, {"text": [text("fr", "A")]}, {"text": [text("fr", "B")]}]},
        [["benefits.text", "text", "added", None, "0"]],
    ),
    "what stands together is told apart": (
        {"benefits": [{"name": "A", "c": {"code": "X"}}, {"name": "B", "c": {"code": "Y"}}]},
        {"benefits": [{"name": "A", "c": {"code": "Y"}}, {"name": "B", "c": {"code": "X"}}]},
        [["benefits.c", "code", "changed", "X", "Y"], ["benefits.c", "code", "changed", "Y", "X"]],
    ),
    "a child of a hierarchy": (
        {"logisticalHierarchies": [{"gtin": "P", "children": [{"gtin": "C", "quantity": 10}]}]},
        {
            "logisticalHierarchies": [
                {"gtin": "P", "children": [{"gtin": "D"}, {"gtin": "C", "quantity": 12}]}
            ]
        },
        [
            ["logisticalHierarchies.children", "node_gtin", "added", None, "D"],
            ["logisticalHierarchies.children", "quantity", "changed", "10", "12"],
        ],
    ),
    "a nutrient": (
        {
            "isPartitionedBy": [
                {"name": "100 g", "contains": [{"isConceptualizedBy": {"code": "FAT"}, "quantity": 1}]}
            ]
        },
        {
            "isPartitionedBy": [
                {"name": "portion"},
                {"name": "100 g", "contains": [{"isConceptualizedBy": {"code": "FAT"}, "quantity": 2.5}]},
            ]
        },
        [
            ["isPartitionedBy.contains", "quantity", "changed", "1", "2.5"],
            ["isPartitionedBy.name", "value", "added", None, "portion"],
        ],
    ),
    "a table of nutrients without a name, for another amount": (
        {"isPartitionedBy": [{"quantity": 100, "contains": [{"isConceptualizedBy": {"code": "FAT"}}]}]},
        {"isPartitionedBy": [{"quantity": 50, "contains": [{"isConceptualizedBy": {"code": "FAT"}}]}]},
        [["isPartitionedBy.quantity", "value", "changed", "100", "50"]],
    ),
    "two tables of nutrients of one name": (
        {
            "isPartitionedBy": [
                {
                    "name": "sold",
                    "quantity": size,
                    "contains": [{"isConceptualizedBy": {"code": "FAT"}, "quantity": size}],
                }
                for size in (100, 30)
            ]
        },
        {
            "isPartitionedBy": [
                {
                    "name": "sold",
                    "quantity": size,
                    "contains": [{"isConceptualizedBy": {"code": "FAT"}, "quantity": size + 1}],
                }
                for size in (30, 100)
            ]
        },
        [
            ["isPartitionedBy.contains", "quantity", "changed", "30", "31"],
            ["isPartitionedBy.contains", "quantity", "changed", "100", "101"],
        ],
    ),
    "an amount that is sent as text": (
        {"netContent": [{"data": 60, "expressedIn": {"code": "MLT"}}]},
        {"netContent": [{"data": "60", "expressedIn": {"code": "MLT"}}]},
        [],
    ),
    "a list that no table declares": (
        {"x": [{"uuid": "1", "y": 1}, {"uuid": "2", "y": 2}, {"uuid": "3", "y": 3}]},
        {"x": [{"uuid": "3", "y": 4}, {"uuid": "2", "y": 2}, {"uuid": "1", "y": 5}]},
        [["x.y", "value", "changed", "3", "4"], ["x.y", "value", "changed", "1", "5"]],
    ),
    "a unit": (
        {"netContent": [{"data": 250, "expressedIn": {"code": "GRM"}}]},
        {"netContent": [{"data": 0.25, "expressedIn": {"code": "GRM"}}]},
        [["netContent", "value", "changed", "250", "0.25"]],
    ),
    "the type of a value": (
        {"serves": 3, "months": [1, 3]},
        {"serves": "3", "months": [1, "3"]},
        [
            ["months", "type", "changed", "number", "string"],
            ["serves", "type", "changed", "number", "string"],
        ],
    ),
    "the type of a declared value": (
        {"lifeCycle": 3},
        {"lifeCycle": "3"},
        [
            ["lifeCycle", "life_cycle", "removed", "3", None],
            ["lifeCycle", "type", "added", None, "string"],
            ["lifeCycle", "value", "added", None, "3"],
        ],
    ),
    "the face of what is missing": (
        {"synonyms": [], "warnings": None},
        {"synonyms": None},
        [
            ["synonyms", "presence", "changed", "empty", "null"],
            ["warnings", "presence", "changed", "null", "absent"],
        ],
    ),
    "a value that went, not its presence as well": (
        {"serves": 3},
        {"serves": None},
        [["serves", "value", "removed", "3", None]],
    ),
    "a gtin": ({"gtin": "1"}, {"gtin": "2"}, [["gtin", "gtin", "changed", "1", "2"]]),
    "a label with its code": (
        {"brand": {"code": 12, "label": "Acme"}},
        {"brand": {"code": "12", "label": "ACME"}},
        [["brand.label", "brand", "changed", "Acme", "ACME"]],
    ),
    "the order of lists": (
        {"isTaggedBy": ["a", "b"], "x": [{"y": [1, True]}, {"y": [2]}]},
        {"isTaggedBy": ["b", "a"], "x": [{"y": [2]}, {"y": [True, 1]}]},
        [],
    ),
    "the spelling of a number": ({"serves": 1, "x": [0.5]}, {"serves": 1.0, "x": [5e-1]}, []),
    "whatever a supplier typed": (
        {"description": [text("fr", "<b>")]},
        {"description": [text("fr", "=HYPERLINK(1)\u202e" + 40_000 * "x")]},
        [["description", "text", "changed", "<b>", "=HYPERLINK(1)\u202e" + 40_000 * "x"]],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_change_is_named_as_what_it_is(case: str) -> None:
    """Each changed value is listed once, the old one beside the new one, and nothing else is."""
    old, new, expected = CASES[case]

    assert expected == changes(product(**old), product(**new, updatedAt="2026-11-20T08:00:00"))


def test_rows_say_where_they_stood_and_stand() -> None:
    """A row has its language, its key and both positions."""
    old = product(assets={"pictures": [{"url": "1", "width": 1}]}, description=[text("fr", "Riz")])
    new = product(
        assets={"pictures": [{"url": "0"}, {"url": "1", "width": 2}]}, description=[text("fr", "Ris")]
    )
    found = prodex.diff(prodex.flatten([old]), prodex.flatten([new])).changes.set_index(
        ["attribute", "column"]
    )

    picture, words = found.loc[("assets.pictures", "width")], found.loc[("description", "text")]
    assert ["pictures", "1", "0", "1"] == picture[["table", "key", "old_position", "position"]].tolist()
    assert ["texts", "fr", "fra-FR"] == words[["table", "language", "language_code"]].tolist()
    assert ["1", "03036811359935"] == words[["product_id", "gtin"]].tolist()


OLD = [
    product(brand={"code": "A", "label": "Acme"}, namePublicLong=[text("fr", "Riz")]),
    product() | {"id": 2},
    product() | {"id": 3, "serves": 1.0},
    product() | {"id": 4, "brand": {"code": "A", "label": "Acme"}, "namePublicLong": [text("fr", "Sel")]},
]
NEW = [
    product() | {"id": 3, "serves": 1},
    product() | {"id": 2, "updatedAt": "2026-11-20T08:00:00"},
    product(
        brand={"code": "A", "label": "ACME"},
        namePublicLong=[text("fr", "Ris")],
        updatedAt="2026-11-20T08:00:00",
    ),
    product() | {"id": 5, "brand": {"code": "B"}},
]


def test_products_are_added_removed_changed_touched_or_none_of_it() -> None:
    """Each product of both once; only those that differ are listed, with what they are known by."""
    difference = prodex.diff(prodex.flatten(OLD), prodex.flatten(NEW))

    counts = dict(difference.summary.values.tolist())
    assert {
        "added": 1,
        "removed": 1,
        "changed": 1,
        "touched only": 1,
        "unchanged": 1,
        "not comparable": 0,
    } == counts
    shown = difference.products[["product_id", "change", "name", "brand", "changes"]].astype(object)
    assert [
        ["1", "changed", "Ris", "ACME", 2],
        ["4", "removed", "Sel", "Acme", None],
        ["5", "added", None, None, None],
    ] == shown.where(shown.notna(), None).values.tolist()
    assert ["2026-11-13", "2026-11-20"] == [
        str(difference.products.loc[0, f"{side}_updated_at"])[:10] for side in ("old", "new")
    ]
    assert (True, False) == (bool(difference), bool(prodex.diff(prodex.flatten(OLD), prodex.flatten(OLD))))


def test_groups_are_made_by_code_and_counted_like_the_whole() -> None:
    """A label that was rewritten makes no second group."""
    difference = prodex.diff(prodex.flatten(OLD), prodex.flatten(NEW))
    by_brand = difference.counts("brand").set_index("brand_code")

    assert [0, 1, 1] == by_brand.loc["A", ["added", "removed", "changed"]].tolist()
    assert [1, 0, 0] == by_brand.loc["B", ["added", "removed", "changed"]].tolist()
    assert difference.summary["products"].tolist() == difference.counts("gtin").iloc[:, 1:].sum().tolist()
    with pytest.raises(QueryError, match="nothing to group by that is called 'colour'"):
        difference.counts("colour")


def test_attributes_are_counted_by_language() -> None:
    """Values added, removed and changed are counted, and the products that they are on."""
    counted = prodex.diff(prodex.flatten(OLD), prodex.flatten(NEW)).by_attribute

    assert ["brand.label", "namePublicLong"] == counted["attribute"].tolist()
    assert [0, 0, 1, 1] == counted.iloc[1][["added", "removed", "changed", "products"]].tolist()
    assert "fr" == counted["language"][1]


def test_it_shows_itself_without_running_what_was_typed() -> None:
    """Words and HTML tell the counts; markup stays text."""
    bad = "<img src=x onerror=alert(1)>"
    old = prodex.flatten([product(**{bad: 1})], source=bad)
    difference = prodex.diff(old, prodex.flatten([product(**{bad: 2})]))
    html = difference._repr_html_()

    assert "<img" not in html
    assert "mathjax_ignore" in html
    assert "changed                    1" in repr(difference)
    assert f"{bad}" in repr(difference)


def with_origin(records: list[Product], **origin: Any) -> prodex.Catalog:
    return replace(prodex.flatten(records), origin=prodex.catalog.Origin("service", **origin))


def test_what_only_one_was_asked_for_is_not_compared() -> None:
    """Such an attribute or language is left out of the changes and listed with the reason."""
    full = product(
        serves=4, composition=[text("fr", "Riz"), text("en", "Rice")], assets={"pictures": [{"url": "1"}]}
    )
    part = product(composition=[text("fr", "Ris")])
    query = prodex.ProductQuery(source_include=["composition"], product_languages=["fr"])
    difference = prodex.diff(with_origin([full]), with_origin([part], query=query))
    mirrored = prodex.diff(with_origin([part], query=query), with_origin([full]))

    assert [["composition", "Riz", "Ris"]] == difference.changes[["attribute", "old", "new"]].values.tolist()
    shown = difference.not_comparable.astype(object).where(difference.not_comparable.notna(), None)
    assert [
        ["assets", None, "not requested in new", 1],
        ["composition", "en", "not requested in new", 1],
        ["serves", None, "not requested in new", 1],
    ] == shown.values.tolist()
    assert {"not requested in old"} == set(mirrored.not_comparable["why"])
    assert "The queries differ" in " ".join(difference.notes)


def test_what_holds_no_data_is_not_compared_with_a_filtered_reply() -> None:
    """Null and empty of a full record do not come where fields were chosen; data that came or went still counts."""
    full = with_origin([product(allergens=[], composition=None, description=[text("fr", "Riz")])])
    fields = ["allergens", "composition", "description"]
    part = with_origin([product()], query=prodex.ProductQuery(source_include=fields))
    alike = with_origin([product(allergens=None)], query=prodex.ProductQuery(source_include=fields))

    difference = prodex.diff(full, part)

    assert [["description", "Riz"]] == difference.changes[["attribute", "old"]].values.tolist()
    assert ["allergens", "composition"] == difference.not_comparable["attribute"].tolist()
    assert ["allergens"] == prodex.diff(part, alike).changes["attribute"].tolist()


@pytest.mark.parametrize("left", [{}, {"x": []}, {"x": None}], ids=["absent", "empty", "null"])
@pytest.mark.parametrize(
    "there",
    [
        [text("de", "Reis")],
        text("de", "Reis"),
        [{"text": [text("de", "Reis")]}],
        [{"sort": 1, "text": [text("de", "Reis")]}],
    ],
    ids=["texts", "one text", "texts inside", "texts inside beside a number"],
)
def test_texts_in_a_language_that_was_not_asked_for_are_no_attribute_that_went(
    there: Any, left: Product
) -> None:
    """However the other reply writes that nothing of it came: absent, empty or null; a French text that went counts."""
    query = prodex.ProductQuery(product_languages=["fr"])
    full, part = with_origin([product(x=there)]), with_origin([product(**left)], query=query)

    for difference in (prodex.diff(full, part), prodex.diff(part, full)):
        assert not len(difference.changes)
        assert {"unchanged": 1} == {
            name: count for name, count in difference.summary.values.tolist() if count
        }
        assert ["de"] == difference.not_comparable["language"].tolist()
    both = with_origin([product(x=[text("fr", "Riz"), text("de", "Reis")])])
    assert "Riz" in prodex.diff(both, part).changes["old"].tolist()


def test_labels_in_two_languages_are_not_compared() -> None:
    """Their codes are compared; where no language was asked for, it is US English."""
    old = with_origin([product(brand={"code": "A", "label": "Rice"}, kind={"code": "1"})])
    new = with_origin(
        [product(brand={"code": "A", "label": "Riz"}, kind={"code": "2"})], accept_language="fr-FR"
    )
    difference = prodex.diff(old, new)

    assert [["kind.code", "1", "2"]] == difference.changes[["attribute", "old", "new"]].values.tolist()
    assert ["*.description", "*.label"] == difference.not_comparable["attribute"].tolist()
    assert prodex.diff(old, replace(new, origin=prodex.catalog.Origin("service", accept_language="en-US")))


def test_what_an_incomplete_catalogue_lacks_is_not_called_removed() -> None:
    """Neither is it called added when the older catalogue is the incomplete one."""
    incomplete = with_origin(OLD[:1], ledger=prodex.catalog.Ledger(announced=4, received=1, distinct=1))
    whole = with_origin(OLD)

    for difference in (prodex.diff(whole, incomplete), prodex.diff(incomplete, whole)):
        assert {"not comparable": 3, "unchanged": 1} == {
            change: count for change, count in difference.summary.values.tolist() if count
        }
        assert "incomplete" in " ".join(difference.notes)
        assert not difference


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        ({"source": "another"}, "old is from service, new from another"),
        ({"asked_by": "b"}, "Different access keys"),
        ({"query": prodex.ProductQuery(target_market=250)}, "The queries differ"),
    ],
)
def test_notes_say_what_makes_them_two_things(origin: dict[str, Any], said: str) -> None:
    """The notes name another service, another access key and another filter."""
    old = with_origin(OLD, asked_by="a")
    new = replace(old, origin=replace(old.origin, **origin))

    assert said in " ".join(prodex.diff(old, new).notes)
    assert () == prodex.diff(old, old).notes


def test_catalogues_of_every_form_compare_alike(tmp_path: Path) -> None:
    """In memory, by the name of a snapshot, by folder, and filtered, with a word on the filter."""
    old, new = prodex.flatten(OLD), prodex.flatten(NEW)
    expected = prodex.diff(old, new).changes
    kept = old.save("old"), new.save("new")

    assert expected.equals(prodex.diff("old", "new").changes)
    assert kept[1].folder is not None
    assert expected.equals(prodex.diff(old, kept[1].folder).changes)
    some = prodex.diff(kept[0], kept[1].where(pc.field("product_id") == "1"))
    assert expected.equals(some.changes)
    assert 3 == some.summary.set_index("change").loc["removed", "products"]
    assert "new is a selection" in " ".join(some.notes)


def overwrite_column(path: Path, name: str) -> None:
    """Make a column of a file unreadable; all else of it stays."""
    rows = pq.read_metadata(path).row_group(0)
    (column,) = (one for one in map(rows.column, range(rows.num_columns)) if one.path_in_schema == name)
    first = min(filter(None, (column.dictionary_page_offset, column.data_page_offset)))
    with path.open("r+b") as file:
        file.seek(first)
        file.write(bytes(column.total_compressed_size))


def test_parts_that_are_the_same_file_are_not_read() -> None:
    """A refresh links what did not change; what it links is unchanged, whatever else stands in it."""
    old = prodex.flatten(OLD).save("shop")
    new = prodex.flatten(OLD).save("shop")
    path = new.parts[0].files["raw"]
    path.unlink()
    os.link(old.parts[0].files["raw"], path)
    overwrite_column(path, "json")

    assert not prodex.diff(old, new)
    assert 4 == prodex.diff(old, new).summary.set_index("change").loc["unchanged", "products"]


def test_many_products_are_read_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is the same when only a little fits into memory at a time."""
    old = [{"id": number, "serves": number} for number in range(50)]
    new = [{"id": number, "serves": number + 1} for number in range(5, 55)]
    expected = prodex.diff(prodex.flatten(old), prodex.flatten(new))
    assert GROUP_BYTES > 1_000_000
    monkeypatch.setattr("prodex.compare.pairs.GROUP_BYTES", 100)
    grouped = prodex.diff(prodex.flatten(old), prodex.flatten(new))

    assert 45 == len(expected.changes)
    assert expected.changes.equals(grouped.changes)
    assert expected.products.equals(grouped.products)


def test_a_product_that_stands_twice_is_said() -> None:
    """The first of the two is compared, and a note counts the rest."""
    parts = prodex.flatten(OLD).parts
    twice = prodex.Catalog(parts + parts, prodex.flatten(OLD).origin)

    assert "old holds 4 products more than once" in " ".join(prodex.diff(twice, prodex.flatten(OLD)).notes)


def test_a_record_that_the_other_catalogue_holds_a_second_time_is_read_again() -> None:
    """The first of each key counts: a record can be needed although the other catalogue holds the same bytes."""
    first, second = prodex.flatten([{"id": 7, "serves": 1}]), prodex.flatten([{"id": 7, "serves": 2}])
    old = prodex.Catalog(first.parts + second.parts, first.origin)

    changes = prodex.diff(old, second).changes

    assert [["7", "serves", "1", "2"]] == changes[
        ["product_id", "attribute", "old", "new"]
    ].to_numpy().tolist()


@pytest.mark.slow
def test_very_deep_products_are_compared_as_well() -> None:
    """Records are compared however deep they are nested."""
    old, new = (b'{"id": 1, "x": %s%d%s}' % (400 * b'[{"a": ', value, 400 * b"}]") for value in (1, 2))
    (change,) = compare_records(
        old, new, Scope(prodex.catalog.Origin("old"), prodex.catalog.Origin("new"))
    ).changes

    assert ("1", "2") == (change.old, change.new)


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (b"1e400", b"1e401"),
        (b"0.1", b"0.10000000000000002"),
        (b"123456789012345678901234567890", b"123456789012345678901234567891"),
        (b"1" * 5_000, b"1" * 4_999 + b"2"),
        (b"[1, true]", b"[1, 1]"),
        (b'{"a": [null]}', b'{"a": ["null"]}'),
        (rb'"\ud800a"', rb'"\ud800b"'),
    ],
    ids=["no double", "doubles", "whole", "long", "types", "null", "surrogate"],
)
def test_what_is_only_spelled_differently_is_left_out_and_nothing_else(value: bytes, other: bytes) -> None:
    """A value is the same in other bytes; the nearest other value is a change, also where no number holds it."""
    scope = Scope(prodex.catalog.Origin("old"), prodex.catalog.Origin("new"))
    plain = [b'{"id": 1, "x": %s}' % one for one in (value, other)]
    spelled = b'{ "x" :[ %s ], "id":1}' % value.replace(b", ", b" ,\n")
    listed = [b'{"id": 1, "x": [%s]}' % one for one in (value, other)]

    assert [] == compare_records(listed[0], spelled, scope).changes
    for old, new in (plain, listed, listed[::-1]):
        assert compare_records(old, new, scope).changes


def test_every_table_says_how_its_rows_are_recognised() -> None:
    """A new table has to declare its keys, in columns that it has."""
    rows = {name for name, table in TABLES.items() if table.per_product}

    assert rows - {"products", "presence", "raw"} == set(KEYS)
    for name, keys in KEYS.items():
        assert {column for columns in keys for column in columns} <= set(TABLES[name].schema.names)


def test_only_catalogues_are_compared() -> None:
    """Anything else is an error in words."""
    with pytest.raises(InputError, match="not DataFrame and Catalog"):
        prodex.diff(prodex.flatten([]).products, prodex.flatten([]))  # type: ignore[arg-type]


def test_comparing_changes_neither_catalogue() -> None:
    """Both catalogues are afterwards as they were."""
    old, new = prodex.flatten(OLD), prodex.flatten(NEW)
    before = copy.deepcopy([side.raw["json"].tolist() for side in (old, new)])
    prodex.diff(old, new)

    assert before == [side.raw["json"].tolist() for side in (old, new)]
