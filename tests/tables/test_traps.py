"""What real services and other loaders were seen to stumble over: each loses nothing here and invents nothing."""

from __future__ import annotations

import json
from collections import Counter
from itertools import permutations
from typing import Any

import pytest

import prodex
from prodex.errors import InputError
from prodex.tables.flatten import Tables, decoded, flatten_products
from prodex.tables.parse import ShapeCache
from prodex.tables.plain_walk import flatten_one
from prodex.tables.records import read_records
from tests.cases import each_row
from tests.tables.test_laws import plain, rows
from tests.wire import encode

CLEAN = [
    {
        "id": number,
        "gtin": f"{number:014d}",
        "brand": {"code": "ACME", "label": "Acme"},
        "namePublicLong": [
            {"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}, "data": f"Riz {number}"}
        ],
        "unknown": {"list": [{"code": "2026-11-20", "value": 250}]},
    }
    for number in range(1, 41)
]


def flat(*products: Any, shapes: ShapeCache | None = None) -> Tables:
    """Flatten odd products amid clean ones, so that the fast path is what meets them."""
    page = [*CLEAN[:20], *products, *CLEAN[20:]]
    encoded = [product if isinstance(product, bytes) else encode(product) for product in page]
    tables = decoded(flatten_products(encoded, shapes or ShapeCache()))
    expected = plain(encoded)
    assert Counter(set(expected.pop("descriptors"))) == rows(tables, "descriptors")
    assert expected == {name: rows(tables, name) for name in expected}
    return tables


def values(tables: Tables, table: str, attribute: str, *columns: str) -> list[Any]:
    """Return some columns of the rows under one attribute that the clean products do not have."""
    found = [row for row in tables[table].to_pylist() if row["attribute"] == attribute]
    return [tuple(row[c] for c in columns) if len(columns) > 1 else row[columns[0]] for row in found]


def test_ids_come_as_integers_and_as_strings() -> None:
    """Both give the same kind of key, which is text."""
    tables = flat({"id": "0815"}, {"id": 4711}, {"uuid": "c995"})

    ids = tables["products"]["product_id"].to_pylist()
    assert ["0815", "4711", "c995"] == ids[20:23]


def test_codes_come_as_integers_and_as_strings() -> None:
    """An integer code becomes text and a string code keeps its leading zeros."""
    tables = flat({"id": 91, "kind": {"code": 530852}}, {"id": 92, "kind": {"code": "0042"}})

    assert ["530852", "0042"] == tables["products"]["kind_code"].to_pylist()[20:22]


def test_an_object_may_stand_where_others_have_a_list() -> None:
    """Its text is found all the same; only the position tells that there was no list."""
    tables = flat({"id": 91, "namePublicLong": {"expressedIn": {"code": "deu-DE"}, "data": "Reis"}})

    assert ("Reis", "") in values(tables, "texts", "namePublicLong", "text", "position")


def test_null_items_of_a_list_keep_the_others_in_their_place() -> None:
    """After `[null, {...}]` the item's position is 1."""
    tables = flat({"id": 91, "namePublicLong": [None, {"expressedIn": {"code": "deu-DE"}, "data": "Reis"}]})

    assert ("Reis", "1") in values(tables, "texts", "namePublicLong", "text", "position")


def test_attributes_that_first_appear_on_the_last_page_are_not_lost() -> None:
    """Whatever the order of pages, the tables hold the same rows."""
    first, second = [encode(p) for p in CLEAN[:20]], [encode(p) for p in CLEAN[20:]]
    last = [encode({"id": 1000 + i, "late": {"comer": [{"deep": i}]}}) for i in range(20)]
    together = []
    for order in permutations([first, second, last]):
        shapes = ShapeCache()
        pages = [decoded(flatten_products(page, shapes)) for page in order]
        together.append({name: sum((rows(page, name) for page in pages), Counter()) for name in pages[0]})

    assert [together[0]] * 6 == together
    assert 20 == sum(count for row, count in together[0]["scalars"].items() if "'late.comer.deep'" in row)


def test_date_like_codes_stay_text() -> None:
    """A code that looks like a date, or a number, is no date and no number."""
    tables = flat({"id": 91, "unknown": {"list": [{"code": "2026-11-20T00:00:00"}, {"code": "1e5"}]}})

    assert {"2026-11-20T00:00:00", "1e5"} <= set(values(tables, "codes", "unknown.list", "code"))


def test_numbers_are_kept_by_value_not_by_spelling() -> None:
    """250, then 0.5, then 1.0 of one attribute: each is what it was."""
    tables = flat(*({"id": 90 + i, "odd": {"number": n}} for i, n in enumerate((250, 0.5, 1.0, -0.0))))

    assert ["250", "0.5", "1", "0"] == values(tables, "scalars", "odd.number", "value")


@each_row("number", [2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**63, 2**64 + 1, 10**40])
def test_large_integers_are_exact(number: int) -> None:
    """No integer passes through a double or a 64-bit number that cannot hold it."""
    tables = flat(*({"id": 90 + i, "unknown": {"big": number + i}} for i in range(10)))

    found = values(tables, "scalars", "unknown.big", "value")
    assert sorted(str(number + i) for i in range(10)) == sorted(found)


@each_row("number", ["1e400", "-1e400", "NaN", "Infinity"])
def test_numbers_that_no_double_holds_are_kept_as_text(number: str) -> None:
    """The product is kept, the other values on it are untouched, and nothing becomes null."""
    tables = flat(b'{"id": 91, "odd": ' + number.encode() + b', "brand": {"code": "ZEST"}}')

    assert "ZEST" == tables["products"]["brand_code"].to_pylist()[20]
    assert 1 == len(values(tables, "scalars", "odd", "value"))


def test_numbers_of_any_length_are_kept() -> None:
    """Python refuses to read integers of more than 4,300 digits, and a double ends at 1e308."""
    tables = flat(b'{"id": 91, "odd": [' + b"9" * 5000 + b", 1e400]}")

    assert ["9" * 5000, "1E+400"] == values(tables, "scalars", "odd", "value")


def test_empty_null_and_absent_are_three_facts() -> None:
    """Presence tells them apart, and none of them makes a row."""
    tables = flat(
        {"id": 91, "allergens": []},
        {"id": 92, "allergens": None},
        {"id": 93},
        b'{"id": 94, "allergens": [ \n ]}',
    )

    assert ["empty", "null", "absent", "empty"] == tables["presence"]["allergens"].to_pylist()[20:24]
    assert [] == values(tables, "texts", "allergens", "text")


@each_row("empty", ["", [""], ["", None]])
@each_row("around", [lambda tags: tags, lambda tags: {"lastRequest": tags}])
def test_an_empty_text_is_no_tag(empty: Any, around: Any) -> None:
    """Both walks keep it in `scalars`: at the top of the record, in a list, and in a pending update."""
    record = {"id": 1, **around({"isTaggedBy": empty})}
    tables = flatten_products([encode(record)])

    assert 0 == tables["tags"].num_rows == len(flatten_one(record)["tags"])
    assert [""] == tables["scalars"]["value"].to_pylist()
    expected = plain([encode(record)])
    assert expected == {name: rows(tables, name) for name in expected}


def test_lists_of_nothing_but_null_are_read() -> None:
    """Arrow 26 makes invalid arrays of lists of its null type; whatever follows in the list is found."""
    tables = flat(
        {"id": 91, "odd": [None, None], "odder": [[None, None], [None]]}, {"id": 92, "odd": [None, "x"]}
    )

    assert [("x", "1")] == values(tables, "scalars", "odd", "value", "position")


def test_data_may_be_a_list_with_null() -> None:
    """`data: [null]` is no text; the language that stands beside it is kept as a code."""
    tables = flat({"id": 91, "odd": [{"expressedIn": {"code": "fra-FR"}, "data": [None]}]})

    assert ["fra-FR"] == values(tables, "codes", "odd.expressedIn", "code")


def test_a_page_may_be_empty() -> None:
    """It gives every table, without rows."""
    tables = flatten_products([])

    assert {0} == {table.num_rows for table in tables.values()}
    assert set(flat()) == set(tables)


def test_of_a_key_given_twice_the_last_counts_and_raw_keeps_both() -> None:
    """This is the same as in every JSON reader, at the top and below."""
    doubled = b'{"id": 91, "brand": {"code": "OLD", "code": "NEW"}, "lifeCycle": 1, "lifeCycle": 2}'
    tables = flat(doubled)

    assert ("NEW", 2) == tuple(tables["products"][c].to_pylist()[20] for c in ("brand_code", "life_cycle"))
    assert doubled.decode() == tables["raw"]["json"].to_pylist()[20]


def test_emoji_and_long_texts_come_through_verbatim() -> None:
    """40,000 characters, right-to-left text, markup and formulas are what they were."""
    said = [
        "🧀" * 10_000,
        "x" * 40_000,
        "שלום",
        "<img src=x onerror=alert(1)>",
        '=HYPERLINK("http://x")',
        "$5 or $6",
    ]
    tables = flat({"id": 91, "odd": [{"expressedIn": {"code": "eng-GB"}, "data": text} for text in said]})

    assert said == values(tables, "texts", "odd", "text")


def test_lone_surrogates_are_kept_as_their_wire_escape() -> None:
    """No UTF-8 file can hold half a character; what was sent stays readable."""
    tables = flat(b'{"id": 91, "odd": "a\\ud83dz", "fine": "\\ud83d\\ude00"}')

    assert ["a\\ud83dz"] == values(tables, "scalars", "odd", "value")
    assert ["😀"] == values(tables, "scalars", "fine", "value")


def test_bytes_that_are_no_utf8_are_refused() -> None:
    """Whoever receives records sets such a one aside; here it would become a letter that nobody has sent."""
    with pytest.raises(InputError, match="Record 0 of 41 is not UTF-8: byte 0xe9 at 22"):
        flatten_products([b'{"id": 91, "odd": "caf\xe9"}', *map(encode, CLEAN)])


def test_pretty_printed_products_are_read_like_others() -> None:
    """Line ends between tokens change nothing."""
    pretty = [json.dumps(product, indent=2).encode() for product in CLEAN]
    tables = decoded(flatten_products(pretty))

    assert rows(flat(), "texts") == rows(tables, "texts")
    assert [p.decode() for p in pretty] == tables["raw"]["json"].to_pylist()


def test_nesting_of_500_levels_is_walked() -> None:
    """The value at the bottom is found, under its whole path."""
    deep: Any = "bottom"
    for _ in range(500):
        deep = {"a": deep}
    tables = flat({"id": 91, "deep": deep})

    assert ["bottom"] == values(tables, "scalars", "deep" + ".a" * 500, "value")


@pytest.mark.slow
def test_a_product_of_40_megabytes_is_read() -> None:
    """Size alone is no reason to lose anything."""
    texts = [{"expressedIn": {"code": "fra-FR"}, "data": "é" * 200_000} for _ in range(100)]
    tables = decoded(flatten_products([encode({"id": 91, "namePublicLong": texts})]))

    assert 100 == tables["texts"].num_rows
    assert {200_000} == {len(text) for text in tables["texts"]["text"].to_pylist()}


@pytest.mark.slow
def test_thousands_of_attributes_of_one_product_cost_others_nothing() -> None:
    """Time grows with the number of attributes, not with its square: so many did not end."""
    many = {f"extra{number}": number for number in range(10_000)}
    catalog = prodex.flatten([*CLEAN, {"id": 91, **many}])

    assert set(many) <= set(catalog.arrow("scalars")["attribute"].to_pylist())
    states = catalog.arrow("presence", [catalog.arrow("presence").column_names[-1]]).columns[0].to_pylist()
    assert [*["absent"] * len(CLEAN), "filled"] == states


def test_unknown_attributes_are_found_at_any_depth() -> None:
    """A scalar, a text, a code and a quantity that nobody declared each go where their shape says."""
    odd = {
        "scalar": [[True], [None, False]],
        "text": {"inner": [{"expressedIn": {"code": "nld-NL"}, "data": "rijst"}]},
        "code": [{"x": {"code": 7, "label": "seven", "extra": "kept"}}],
        "quantity": {"data": 0.5, "expressedIn": {"code": "GRM", "label": "g"}},
    }
    tables = flat({"id": 91, "odd": odd})

    assert [("true", "0.0"), ("false", "1.1")] == values(tables, "scalars", "odd.scalar", "value", "position")
    assert [("rijst", "nl")] == values(tables, "texts", "odd.text.inner", "text", "language")
    assert [("7", "seven")] == values(tables, "codes", "odd.code.x", "code", "label")
    assert ["kept"] == values(tables, "scalars", "odd.code.x.extra", "value")
    assert [(0.5, "g")] == values(tables, "quantities", "odd.quantity", "value", "unit")


def test_a_value_that_does_not_fit_its_column_stands_in_scalars() -> None:
    """An unparseable date or a flag that is a word is kept, and the column is empty."""
    tables = flat({"id": 91, "updatedAt": "yesterday", "isConsumerUnit": "yes", "lifeCycle": 1.5})

    kept = {a: values(tables, "scalars", a, "value") for a in ("updatedAt", "isConsumerUnit", "lifeCycle")}
    assert {"updatedAt": ["yesterday"], "isConsumerUnit": ["yes"], "lifeCycle": ["1.5"]} == kept
    assert [
        tables["products"][c].to_pylist()[20] for c in ("updated_at", "is_consumer_unit", "life_cycle")
    ] == [None] * 3


def test_the_worked_hierarchy_counts_4000_eaches() -> None:
    """Pallet x10 cases x20 packs x20 eaches; where a quantity is not said, units are unknown, never 1."""
    each: dict[str, Any] = {"gtin": "03091033779527", "quantity": 20}
    pack = {"gtin": "03663836037984", "quantity": 20, "children": [each, {"gtin": "03036811359935"}]}
    case = {
        "gtin": "13663836037981",
        "quantity": 10,
        "children": [pack],
        "version": {"isOrderableUnit": True},
    }
    tables = flat(
        {
            "id": 91,
            "logisticalHierarchies": [{"gtin": "23663836037988", "children": [case], "activeListing": True}],
        }
    )

    columns = ("node_gtin", "parent_gtin", "level", "units_per_root", "is_orderable_unit")
    expected = [
        ("23663836037988", None, 0, 1.0, None),
        ("13663836037981", "23663836037988", 1, 10.0, True),
        ("03663836037984", "13663836037981", 2, 200.0, None),
        ("03091033779527", "03663836037984", 3, 4000.0, None),
        ("03036811359935", "03663836037984", 3, None, None),
    ]
    assert expected == sorted(
        (tuple(r[c] for c in columns) for r in tables["hierarchies"].to_pylist()), key=lambda r: r[2]
    )
    assert {"23663836037988"} == set(tables["hierarchies"]["root_gtin"].to_pylist())


def test_an_update_that_waits_is_marked_and_flattened_under_its_own_path() -> None:
    """A product shared but not yet accepted has its data under lastRequest; pictures there are pictures."""
    waiting = {"brand": {"code": "ACME"}, "assets": {"pictures": [{"url": "https://m.example/1"}]}}
    tables = flat({"id": 91, "lastRequest": waiting}, {"id": 92, "lastRequest": {}})

    assert [True, False] == tables["products"]["has_pending_update"].to_pylist()[20:22]
    assert ["https://m.example/1"] == values(tables, "pictures", "lastRequest.assets.pictures", "url")
    assert ["ACME"] == values(tables, "codes", "lastRequest.brand", "code")


def test_codes_that_come_both_ways_take_the_fast_path() -> None:
    """Half the products with integer codes, half with text: none of them is odd."""
    page = [encode({"kindOf": {"code": i if i % 2 else str(i)}}) for i in range(100)]
    fields, odd = ShapeCache().parse(read_records(page).tops)

    assert {} == odd
    assert [str(i) for i in range(100)] == fields["kindOf"].field("code").to_pylist()


def test_only_the_odd_attribute_of_a_product_goes_the_plain_way() -> None:
    """The other attributes of the same product are parsed with the page."""
    page = [encode({"even": i, "other": [i]}) for i in range(100)]
    page[7] = encode({"even": 7, "other": {"surprise": 7}})
    fields, odd = ShapeCache().parse(read_records(page).tops)

    assert {7: {"other": {"surprise": 7}}} == odd
    assert list(map(float, range(100))) == fields["even"].to_pylist()


@pytest.mark.slow
def test_what_was_learnt_is_no_more_than_a_cache() -> None:
    """With a cache taught by anything else, or none, the tables are the same."""
    taught = ShapeCache()
    page = [encode({"id": i, "brand": [i], "namePublicLong": "text"}) for i in range(50)]
    taught.parse(read_records(page).tops)

    assert {name: rows(flat(), name) for name in flat()} == {n: rows(flat(shapes=taught), n) for n in flat()}


def test_one_odd_product_among_many_is_put_back_in_its_place() -> None:
    """Products, presence and raw keep the order of the page."""
    odd = {"id": 91, "brand": ["surprise"]}
    tables = flat(odd)

    expected = [str(p["id"]) for p in (*CLEAN[:20], odd, *CLEAN[20:])]
    assert [expected] * 3 == [tables[t]["product_id"].to_pylist() for t in ("products", "presence", "raw")]


def test_drift_names_attributes_that_came_in_several_forms() -> None:
    """Text here and number there: the report shows both, with an example."""
    catalog = prodex.flatten([{"id": 1, "odd": "12 g"}, {"id": 2, "odd": 12}, {"id": 3, "even": 1}])

    found = catalog.drift[["attribute", "form", "values", "example"]].values.tolist()
    assert [["odd", "number", 1, "12"], ["odd", "string", 1, "12 g"]] == found


def test_the_plain_walk_refuses_nothing_that_json_can_say() -> None:
    """Root keys that look like a text, a code or a table are walked like all others."""
    root = {"id": 1, "code": "C", "label": "L", "data": 5, "expressedIn": {"code": "GRM"}, "": {"": 1}}
    flattened = flatten_one(root)

    assert [("", "C", "L")] == [(r["attribute"], r["code"], r["label"]) for r in flattened["codes"]]
    assert [("", 5.0)] == [(r["attribute"], r["value"]) for r in flattened["quantities"]]
    assert [("\\e.\\e", "1")] == [(r["attribute"], r["value"]) for r in flattened["scalars"]]
