"""The laws of comparing: nothing lost, nothing invented, the same from both sides and however parts are cut."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex.catalog import Part
from prodex.compare.record_differences import COMPARED, ChangedCell, compare_records
from prodex.compare.scope import Scope
from prodex.tables.flatten import decoded, flatten_products
from prodex.tables.plain_walk import flatten_one
from prodex.tables.values import read_json, scalar_text
from tests import laws
from tests.wire import CORNERS, FULL, OTHER_CORNERS, encode, products

EVERYTHING = Scope(prodex.catalog.Origin("old"), prodex.catalog.Origin("new"))

#: A cell of a table: table, attribute, position, column.
Cell = tuple[str, str, str, str]


@st.composite
def edited(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw a product and what became of it: lists grown, shrunk, shuffled; values taken from another product."""
    old, other = draw(products), draw(products)
    new = json.loads(json.dumps(old))
    for key in draw(st.lists(st.sampled_from(sorted({*new, *other})), max_size=3)) if {*new, *other} else ():
        if key in other and (key not in new or draw(st.booleans())):
            new[key] = other[key]
        elif key in new:
            new[key] = _edit(draw, new[key], 0)
    return old, {name: new[name] for name in new if draw(st.integers(0, 9)) or name in {"id", "uuid", "gtin"}}


def _edit(draw: st.DrawFn, value: Any, depth: int) -> Any:
    if depth > 4:
        return value
    if isinstance(value, dict) and value:
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 5)) == 0:
            return {k: item for k, item in value.items() if k != key}
        return {**value, key: _edit(draw, value[key], depth + 1)}
    if isinstance(value, list) and value:
        items = list(draw(st.permutations(value))) if draw(st.booleans()) else list(value)
        index = draw(st.integers(0, len(items) - 1))
        change = draw(st.integers(0, 3))
        if change == 0:
            del items[index]
        elif change == 1:
            items.insert(index, draw(st.sampled_from([*items, "more", 3, {"code": "NEW"}])))
        else:
            items[index] = _edit(draw, items[index], depth + 1)
        return items
    return draw(st.sampled_from([value, "3", 3, None, [], "other", True, str(value)]))


#: A full product, and what becomes of all or of one in a list of it.
EDITED = [
    (FULL, {"id": 1}),
    (FULL, CORNERS[3] | {"id": 1}),
    (
        FULL,
        FULL | {"netContent": FULL["netContent"][1:], "isTaggedBy": ["other", "new"], "isConsumerUnit": "3"},
    ),
    (FULL, FULL | {"assets": {"pictures": [*FULL["assets"]["pictures"], {"url": "b"}]}, "gtin": None}),
]


def cells(product: dict[str, Any]) -> dict[Cell, str]:
    """Return every compared cell of a product, as the plain walk has it: no descriptors, nothing derived."""
    found = {}
    flat = flatten_one(product)
    for table, columns in {**COMPARED, "products": (*COMPARED["products"], "gtin")}.items():
        for row in flat[table]:
            for column in columns:
                if row[column] is not None and (table, column) != ("products", "updated_at"):
                    place = (row.get("attribute", ""), row.get("position", ""))
                    found[table, *place, column] = _text(row[column])
    return {cell: value for cell, value in found.items() if cell[1] != "updatedAt"}


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else scalar_text(value)


def _cell(change: ChangedCell, position: str | None) -> Cell:
    if change.table == "products":
        return "products", "", "", change.column
    return change.table, change.attribute, position or "", change.column


def compared(old: dict[str, Any], new: dict[str, Any]) -> list[ChangedCell]:
    return compare_records(encode(old), encode(new), EVERYTHING).changes


@pytest.mark.slow
@laws.planted(*EDITED)
@given(edited())
def test_nothing_is_lost_and_nothing_invented(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Each change names cells of both sides as they are, and the cells that no change names are the same ones."""
    old, new = (read_json(encode(side)) for side in pair)
    before, after = cells(old), cells(new)
    left, right = dict(before), dict(after)
    for change in compared(*pair):
        if change.table == "presence":
            continue
        assert change.old != change.new
        if change.old is not None:
            assert change.old == left.pop(_cell(change, change.old_position))
        if change.new is not None:
            assert change.new == right.pop(_cell(change, change.position))

    manners = {"type", "language", "language_code"}  # said beside the value where a whole row comes or goes
    bags = [
        Counter(
            (table, attribute, column, value)
            for (table, attribute, _, column), value in side.items()
            if column not in manners
        )
        for side in (left, right)
    ]
    assert bags[0] == bags[1]


@pytest.mark.slow
@laws.planted(*EDITED)
@given(edited())
def test_the_mirror_shows_the_same(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """What was added from here was removed from there, old and new change places."""
    turned = {"added": "removed", "removed": "added", "changed": "changed"}
    there = Counter(
        c._replace(
            change=turned[c.change], old=c.new, new=c.old, old_position=c.position, position=c.old_position
        )
        for c in compared(*reversed(pair))
    )

    assert there == Counter(compared(*pair))


@laws.planted(*CORNERS)
@given(products)
def test_a_product_does_not_differ_from_itself(product: dict[str, Any]) -> None:
    """A record equals itself however it is spelled: key order and whitespace have no meaning."""
    spelled = json.dumps(dict(reversed(product.items())), indent=2).encode()

    assert [] == compare_records(encode(product), spelled, EVERYTHING).changes


@pytest.mark.slow
@given(edited(), st.randoms(use_true_random=False))
def test_the_order_of_lists_is_no_change(pair: tuple[dict[str, Any], dict[str, Any]], random: Any) -> None:
    """Shuffling every list of a product changes nothing, and hides nothing."""

    def shuffled(value: Any) -> Any:
        if isinstance(value, list):
            items = [shuffled(item) for item in value]
            random.shuffle(items)
            return items
        return {k: shuffled(item) for k, item in value.items()} if isinstance(value, dict) else value

    assert [] == compared(pair[0], shuffled(pair[0]))


pages = st.lists(products, max_size=5)


@pytest.mark.slow
@example(CORNERS, OTHER_CORNERS, 2)
@given(pages, pages, st.integers(0, 5))
def test_neither_parts_nor_order_matter(
    old: list[dict[str, Any]], new: list[dict[str, Any]], cut: int
) -> None:
    """The same frames, however the products are shared out and in whichever order they stand."""
    before, after = prodex.flatten(old), prodex.flatten(new)
    records = [record.encode() for record in reversed(after.raw["json"].tolist())]
    parts = [Part.in_memory(decoded(flatten_products(some))) for some in (records[:cut], records[cut:])]
    one, other = prodex.diff(before, after), prodex.diff(before, prodex.Catalog(tuple(parts), after.origin))

    pd.testing.assert_frame_equal(one.changes, other.changes)
    pd.testing.assert_frame_equal(one.products, other.products)
    pd.testing.assert_frame_equal(one.summary, other.summary)
