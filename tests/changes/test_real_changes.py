"""Real products, and what becomes of them: all that holds of invented records holds of these."""

from __future__ import annotations

import gzip
import itertools
import os
from collections.abc import Iterator
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from prodex.changes import ABSENT, Change, applied, apply, changes_of, diff, differences, inverse
from prodex.changes.columns import RECORDS
from prodex.written_json import read_written, written_json
from tests.test_real_products import REAL

#: Every how many-th of 5,000 products; with PRODEX_ALL_REAL=1, as `make soak` sets it, all of them.
_STEP = 1 if os.environ.get("PRODEX_ALL_REAL") else 50

pytestmark = pytest.mark.skipif(not REAL.is_file(), reason=f"the real products are not at {REAL.name}")


@pytest.fixture(scope="module")
def real() -> list[bytes]:
    """Return records as they are in the file."""
    with gzip.open(REAL) as file:
        return [line.strip() for line in file][::_STEP]


@pytest.mark.slow
def test_real_products_become_one_another(real: list[bytes]) -> None:
    """A product that becomes the next one is that, byte for byte, and leads back."""
    wrong = []
    for one, other in itertools.pairwise(real):
        before, after = read_written(one), read_written(other)
        changes = diff(before, after)
        if written_json(after) != written_json(apply(before, changes)):
            wrong.append(("there", before["id"], after["id"]))
        if written_json(before) != written_json(apply(after, inverse(changes))):
            wrong.append(("back", before["id"], after["id"]))
        if [*changes] != [Change.from_json(change.to_json()) for change in changes]:
            wrong.append(("written", before["id"], after["id"]))
    assert [] == wrong


@pytest.mark.slow
def test_a_leaf_that_changes_is_one_change(real: list[bytes]) -> None:
    """Of the columns as of each record: what it holds before and after, within the only change that there is."""
    chance, edits = Random(1), []
    for line in real:
        record = read_written(line)
        holder, key = chance.choice([*scalars_of(record)])
        was = holder[key]
        holder[key] = chance.choice([17.25, "another", None])
        edits.append((str(record["id"]), line.decode(), written_json(record), was, holder[key]))
    before, after = (
        pa.table([[one[0] for one in edits], [one[side] for one in edits]], schema=RECORDS) for side in (1, 2)
    )
    before = pa.table(
        [before["product_id"], [written_json(read_written(one[1])) for one in edits]], schema=RECORDS
    )

    found = differences(before, after)

    by_product: dict[str, list[Change]] = {}
    for change in changes_of(found):
        by_product.setdefault(change.product, []).append(change)
    wrong = [
        (product, was, new)
        for product, old, changed, was, new in edits
        if not is_told(by_product.get(product, []), was, new) and written_json(read_written(old)) != changed
    ]
    assert [] == wrong
    assert after.equals(applied(before, found).combine_chunks())


def scalars_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each scalar below the top level by what holds it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inner:
        if isinstance(one, dict | list):
            yield from scalars_of(one)
        elif key not in ("id", "uuid", "gtin"):
            yield value, key


def is_told(changes: list[Change], before: Any, after: Any) -> bool:
    """Whether values that were changed are within what is said to be before and after."""
    sides = [
        [written_json([]) if one is ABSENT else written_json(one) for one in side]
        for side in zip(*((change.before, change.after) for change in changes), strict=True)
    ]
    return len(sides) == 2 and all(
        any(written_json(value) in one for one in side)
        for value, side in zip((before, after), sides, strict=True)
    )
