"""The laws of many changes: a row of the table is a `Change`, and columns find what `diff` finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prodex.changes import (
    ABSENT,
    NOT_ASKED,
    Change,
    applied,
    changes_of,
    diff,
    differences,
    differing_leaves,
    inverse,
    table_of,
)
from prodex.changes.columns import RECORDS, SCHEMA
from prodex.written_json import read_written, written_json
from tests.changes.records import edited_records


def records(products: Sequence[tuple[str, Any]]) -> pa.Table:
    """Return records as a table; ABSENT for a product that is not in it."""
    there = [(key, written_json(one)) for key, one in products if one is not ABSENT]
    return pa.table(
        [pa.array(column, pa.string()) for column in zip(*there, strict=True)] or [[], []], schema=RECORDS
    )


def rows(table: pa.Table) -> dict[str, str]:
    """Return records by product; a key twice is found by its length."""
    found = dict(zip(table["product_id"].to_pylist(), table["json"].to_pylist(), strict=True))
    assert len(table) == len(found)
    return found


@pytest.mark.slow
@given(
    st.lists(st.one_of(edited_records, edited_records.map(lambda pair: (pair[0], pair[0]))), max_size=2),
    st.data(),
)
@example([], None)
@example([({"id": 1}, {"id": 1}), ({"id": 2, "a": read_written("1.50")}, {"id": 2, "a": 1.5})], None)
@example([(read_written('{"id":1,"a":NaN,"b":1}'), read_written('{"id":1,"a":NaN,"b":2}'))], None)
def test_columns_find_what_is_found_product_by_product(
    pairs: list[tuple[Any, Any]], data: st.DataObject | None
) -> None:
    """Also of products that are in one table only, in any order; and applied, they are the other table and back."""
    sides = [(str(number), *pair) for number, pair in enumerate(pairs) if not repeats_a_key(*pair)]
    if data is not None:
        sides = [
            data.draw(st.sampled_from([one, (one[0], ABSENT, one[2]), (one[0], one[1], ABSENT)]))
            for one in sides
        ]
    before, after = (records([(one[0], one[side]) for one in sides]) for side in (1, 2))
    shuffled = before.take(pa.array(range(len(before) - 1, -1, -1), pa.int64()))

    found = differences(shuffled, after)

    expected = {change for key, old, new in sides for change in diff(old, new, product=key)}
    assert expected == set(changes_of(found))
    assert len(expected) == len(found)
    assert SCHEMA == found.schema
    assert rows(after) == rows(applied(before, found))
    assert rows(before) == rows(applied(after, table_of(inverse(changes_of(found)))))


def repeats_a_key(*pair: Any) -> bool:
    """Whether a record as a whole has a key twice, of which a table knows the last value."""
    return any(type(one) is not dict for one in pair)


def test_a_table_of_changes_says_which_absence_it_is() -> None:
    """In a column of its own, so that columns can be asked."""
    sides = [4, None, [], {}, ABSENT, NOT_ASKED]
    changes = [Change("7", ("serves",), side, 2) for side in sides]
    table = table_of(changes)
    assert ["value", "null", "empty", "empty", "absent", "not asked for"] == table["before_is"].to_pylist()
    assert changes == [*changes_of(table)]
    assert changes == [*changes_of(pa.concat_tables([table.slice(0, 2), table.slice(2)]))]


def test_an_operation_on_a_column_changes_what_differs() -> None:
    """And nothing else: what was nothing may become something, and the other way round."""
    before = pa.array(["RIZ", "Pain", None, "weg", None, 'é\\"\u2028'])
    after = pa.array(["Riz", "Pain", "neu", None, None, "É"])
    assert [True, False, True, True, False, True] == differing_leaves(before, after).to_pylist()
    amounts = pa.chunked_array([[1.5], [2.0, None, 0.0]])
    assert [True, True, False, False] == differing_leaves(amounts, pc.multiply(amounts, 2.0)).to_pylist()


def test_a_quantity_differs_by_its_amount_and_by_its_unit() -> None:
    """One without the other is no quantity, and none at all is like none at all."""
    kind = pa.struct([("amount", pa.string()), ("unit", pa.string())])
    before = pa.array([("1", "KGM"), ("1", "KGM"), ("1", "KGM"), ("1", "KGM"), None, None], kind)
    after = pa.array([("1", "KGM"), ("2", "KGM"), ("1", "GRM"), None, ("1", "KGM"), None], kind)
    assert [False, True, True, True, True, False] == differing_leaves(before, after).to_pylist()
