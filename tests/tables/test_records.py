"""The top level of records, read many at a time: the same as one value at a time."""

from __future__ import annotations

import json
from typing import Any

import pyarrow.json
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.errors import InputError
from prodex.tables import flatten
from prodex.tables.fill_state import STATES
from prodex.tables.flatten import decoded, flatten_products
from prodex.tables.parse import ShapeCache, quoted_codes
from prodex.tables.records import Identity, identify, read_records
from tests.cases import each_row

#: What a key may be on the wire, as JSON, and what it is as a code; None where it is none.
CODES: dict[bytes, str | None] = {
    b"7": "7",
    b"0": "0",
    b"-7": "-7",
    b"7.0": "7",
    b"7.5": None,
    b"1e3": "1000",
    b"123456789012345678901234567890": "123456789012345678901234567890",
    b'"7"': "7",
    b'"0007"': "0007",
    b'""': "",
    b'"a,b"': "a,b",
    b'"a\\",\\"b"': 'a","b',
    b'"\\u00e9"': "é",
    b'"\\ud83d"': "\\ud83d",
    b"false": None,
    b"true": None,
    b"null": None,
    b"NaN": None,
    b"[]": None,
    b'["7","8"]': None,
    b"{}": None,
}

#: What is blank however it is written, and what only looks like it.
FACES = {
    b"null": "null",
    b"[]": "empty",
    b"[ ]": "empty",
    b"[\n\t ]": "empty",
    b"{}": "empty",
    b"{\r\n}": "empty",
    b'""': "empty",
    b'" "': "filled",
    b"[null]": "filled",
    b"[ null ]": "filled",
    b"[[]]": "filled",
    b'{"a":null}': "filled",
    b"{ }": "empty",
    b'"[]"': "filled",
    b'"null"': "filled",
    b"0": "filled",
    b"false": "filled",
    b"NaN": "filled",
}


@each_row("size", [1, 2, 5])
@each_row("gtin", CODES)
def test_codes_that_are_read_together_are_those_read_alone(gtin: bytes, size: int) -> None:
    """Whatever stands beside it, a GTIN is the same code, and a value that is none is no GTIN."""
    for beside in (b'"8"', b"9", gtin):
        page = [b'{"id":%d,"gtin":%b}' % (place, beside) for place in range(size)]
        page[size // 2] = b'{"id":%d,"gtin":%b}' % (size // 2, gtin)

        assert CODES[gtin] == read_records(page).gtins[size // 2]


@given(st.lists(st.sampled_from(sorted(CODES)), min_size=1, max_size=8))
def test_ids_are_codes_or_else_the_uuid(ids: list[bytes]) -> None:
    """An id that is no code, or an empty one, is no key."""
    page = [b'{"id":%b,"uuid":"u%d"}' % (one, place) for place, one in enumerate(ids)]

    assert [CODES[one] or f"u{place}" for place, one in enumerate(ids)] == read_records(page).product_ids


@given(st.lists(st.sampled_from(sorted(CODES)), min_size=4, max_size=4))
def test_an_identity_is_that_of_the_tables(values: list[bytes]) -> None:
    """The key and the GTIN under which a page is kept are those that its tables have."""
    product = b'{"id":%b,"uuid":%b,"gtin":%b,"updatedAt":%b}' % tuple(values)
    records = read_records([product])

    assert identify(product) == Identity(
        records.product_ids[0], CODES[values[3]] if values[3][:1] == b'"' else None, records.gtins[0]
    )


@each_row("value", FACES)
def test_presence_is_seen_by_how_a_value_is_written(value: bytes) -> None:
    """Among many products, also where it is the first or the last of its kind."""
    page = [b'{"id":%d,"other":1}' % place for place in range(450)]
    for place in (0, 201, 449):
        page[place] = b'{"id":1,"x":%b}' % value
    faces = [STATES[state] for state in read_records(page).presence["x"]]

    assert [FACES[value]] * 3 == [faces[0], faces[201], faces[449]]
    assert 447 == faces.count("absent")


def test_records_in_many_lines_are_read_once_and_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Line ends between the tokens of a record change nothing, and cost nothing."""
    products: list[dict[str, Any]] = [
        {"id": place, "steps": [{"row": place}, {}], "brand": {"code": f"B{place}"}, "lifeCycle": place}
        for place in range(50)
    ]
    shapes = ShapeCache()
    lines = decoded(flatten_products([json.dumps(product).encode() for product in products], shapes))
    reads: list[int] = []
    read_json = pyarrow.json.read_json

    def reading(*arguments: Any, **options: Any) -> Any:
        reads.append(1)
        return read_json(*arguments, **options)

    monkeypatch.setattr(pyarrow.json, "read_json", reading)
    many = decoded(
        flatten_products(
            [json.dumps(one, indent=1).replace("\n", "\r\n").encode() for one in products], shapes
        )
    )

    assert [1] == reads
    assert {name: lines[name] for name in lines if name != "raw"} == {
        name: many[name] for name in many if name != "raw"
    }


def test_codes_are_quoted_before_they_are_read_and_keys_are_of_the_record_as_received() -> None:
    """A record without any key has that of its bytes as they came, whatever was learnt before."""
    page = [b'{"kindOf":{"code": %d},"code":%d}' % (place, place) for place in range(20)]
    shapes = ShapeCache()
    first = flatten_products(page, shapes)

    assert shapes.codes_are_numbers
    assert decoded(first) == decoded(flatten_products(page, shapes))
    assert read_records(page).product_ids == read_records(page, quoted_codes).product_ids


def test_more_than_an_array_holds_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of offsets that run over."""
    monkeypatch.setattr(flatten, "_MOST_BYTES", 10)
    with pytest.raises(InputError, match="2 records of 16 bytes cannot be held together"):
        flatten_products([b'{"id":7}', b'{"id":8}'])
