"""An odd product costs itself: what is left to the plain walk, and how often a block is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow.json
import pytest

from prodex.tables.flatten import decoded, flatten_products
from prodex.tables.parse import Fields, Odd, ShapeCache
from prodex.tables.records import read_records
from tests.cases import each_row
from tests.tables.test_laws import plain, rows
from tests.wire import encode

CLEAN = [
    encode(
        {
            "id": i,
            "lifeCycle": i,
            "brand": {"code": f"B{i}", "label": "Brand"},
            "size": {"row": i},
            "box": {"size": {"row": i, "unit": "mm"}},
            "steps": [{"row": i}],
        }
    )
    for i in range(60)
]

#: Something odd about one attribute, as JSON of the product at place 30; the last one is new to the shape.
ODD = {
    "an integer that a double cannot hold": b'{"id":30,"lifeCycle":3,"size":{"row":9007199254740993}}',
    "an integer beyond 64 bits": b'{"id":30,"lifeCycle":3,"size":{"row":123456789012345678901234567890}}',
    "a number that no double reaches": b'{"id":30,"lifeCycle":3,"size":{"row":1e400}}',
    "such an integer two objects deep": b'{"id":30,"lifeCycle":3,"box":{"size":{"row":9007199254740993,"unit":"mm"}}}',
    "such an integer inside a list": b'{"id":30,"lifeCycle":3,"steps":[{"row":1},{"row":9007199254740993}]}',
    "a key that comes twice": b'{"id":30,"lifeCycle":3,"size":{"row":1,"row":2}}',
    "text instead of a number": b'{"id":30,"lifeCycle":3,"size":{"row":"large"}}',
    "a list instead of an object": b'{"id":30,"lifeCycle":3,"size":[1,2]}',
    "a key that nobody else has": b'{"id":30,"lifeCycle":3,"size":{"row":1,"other":2}}',
    "an attribute that nobody else has": b'{"id":30,"lifeCycle":3,"only":{"row":1}}',
}

Parse = Callable[[list[bytes]], tuple[Fields, Odd]]


@pytest.fixture
def taught() -> Parse:
    """Parse with a cache that has seen clean products."""
    shapes = ShapeCache()
    shapes.parse(read_records(CLEAN).tops)
    return lambda page: shapes.parse(read_records(page).tops)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note each time that Arrow reads a block."""
    noted: list[int] = []
    read_json = pyarrow.json.read_json

    def reading(*arguments: Any, **options: Any) -> Any:
        noted.append(1)
        return read_json(*arguments, **options)

    monkeypatch.setattr(pyarrow.json, "read_json", reading)
    return noted


@each_row("odd", ODD.values(), ids=ODD)
def test_only_the_odd_attribute_of_the_odd_product_goes_the_plain_way(taught: Parse, odd: bytes) -> None:
    """All other products, and the other attributes of this one, are read together."""
    fields, apart = taught([*CLEAN[:30], odd, *CLEAN[31:]])

    assert [30] == list(apart)
    assert {"size", "box", "steps", "only"} >= apart[30].keys()
    assert 3 == fields["lifeCycle"].to_pylist()[30]
    assert [float(i) for i in range(60) if i != 30] == [
        size["row"] for place, size in enumerate(fields["size"].to_pylist()) if place != 30
    ]


@each_row("odd", ODD.values(), ids=ODD)
def test_an_oddity_that_was_seen_costs_no_second_reading(taught: Parse, odd: bytes, reads: list[int]) -> None:
    """What made one block be refused is looked at beforehand in the next."""
    taught([*CLEAN[:30], odd, *CLEAN[31:]])
    before = len(reads)

    taught([*CLEAN[:7], odd, *CLEAN[8:]])

    assert 1 == len(reads) - before


@pytest.mark.slow
@each_row("odd", ODD.values(), ids=ODD)
def test_odd_products_have_the_rows_of_the_plain_walk(odd: bytes) -> None:
    """One odd product among clean ones, with whatever was learnt before, gives exactly the rows of the plain walk."""
    shapes = ShapeCache()
    for page in ([*CLEAN[:30], odd, *CLEAN[31:]], [odd, *CLEAN], [odd, odd, *CLEAN]):
        tables = decoded(flatten_products(page, shapes))
        expected = plain(page)

        expected["descriptors"] = dict.fromkeys(expected["descriptors"], 1)  # each is listed once
        assert expected == {name: rows(tables, name) for name in expected}


def test_many_reasons_in_one_block_are_all_found(taught: Parse) -> None:
    """A block with several oddities, keys that come twice in several attributes among them, is read all the same."""
    page = list(CLEAN)
    page[3] = b'{"id":3,"lifeCycle":3,"size":{"row":1,"row":2}}'
    page[5] = b'{"id":5,"lifeCycle":5,"brand":{"code":"B","code":"C"}}'
    page[8] = b'{"id":8,"lifeCycle":8,"brand":["B"]}'
    page[9] = b'{"id":9,"lifeCycle":9007199254740993}'
    fields, apart = taught(page)

    assert {3: ["size"], 5: ["brand"], 8: ["brand"], 9: ["lifeCycle"]} == {
        place: list(attributes) for place, attributes in apart.items()
    }
    assert {"lifeCycle", "brand", "size", "box", "steps"} == fields.keys()


def test_a_root_that_is_a_text_is_never_taken_apart(taught: Parse) -> None:
    """Where `code` and `label` stand at the top, one odd attribute sends the whole product the plain way."""
    whole = b'{"id":30,"code":"C","label":"L","lifeCycle":9007199254740993}'
    _, apart = taught([*CLEAN[:30], whole, *CLEAN[31:], whole])

    assert all({"code", "label", "lifeCycle"} == set(apart[place]) for place in (30, 60))
