"""Amounts that are converted and copied: exactly, or not at all. A record may have more digits than tables hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.changes import in_words
from prodex.corrections.leaves import AMOUNT, UNIT, Leaves, Mask, Rows, differing_rows
from prodex.corrections.operations import ConvertUnit, Transformed
from prodex.corrections.products_in_work import ProductsInWork
from prodex.corrections.value_places import StepPlace, StepRefusal, StepRows
from prodex.send.known_products import received_values
from prodex.worklists.answer_kinds import AnswerShape
from prodex.written_json import exact_value


def convert_quantities(work: ProductsInWork, place: StepPlace, operation: ConvertUnit) -> StepRows:
    """Convert quantities to another unit."""
    leaves, rows = place.leaves, place.rows
    held = leaves.now.take(pa.array(rows))
    new, why = operation.transformed(held)
    refused = dict(why)
    is_new = differing_rows(held, new)
    more_digits = find_inexact(work, leaves, rows[is_new])
    for number, row in enumerate(rows.tolist()):
        if row in more_digits:
            refused[number] = f"{more_digits[row]} is no number that is converted exactly."
            is_new[number] = False
    for meant, why_twice in _several(leaves, rows, is_new, operation.to):
        refused |= dict.fromkeys(np.flatnonzero(meant).tolist(), why_twice)
    stays = np.isin(np.arange(len(rows)), [*refused])
    not_read = find_unread(work, leaves, place.chosen, "converted")
    lacking = frozenset(place.lacking.tolist()) - {one.product for one in not_read}
    made = place.put(Transformed(pc.if_else(pa.array(stays), held, new), refused), len(lacking))
    return made._replace(refused=[*made.refused, *not_read])


def _several(leaves: Leaves, rows: Rows, is_new: Mask, to: str) -> Iterator[tuple[Mask, str]]:
    """Yield which rows would hold a second quantity in one unit, two answers to one question, and why."""
    owners = leaves.product[rows]
    units = pc.struct_field(leaves.now, UNIT).dictionary_encode()
    in_unit = pc.equal(units.dictionary_decode(), to).fill_null(False).to_numpy(zero_copy_only=False)
    have_one = np.isin(owners, leaves.product[in_unit])
    yield is_new & have_one, f"the product has a quantity in {to} already."
    # Several of one unit were as many before; those of several units are told apart by these.
    number = units.indices.fill_null(-1).to_numpy(zero_copy_only=False)[rows]
    pairs = set(zip(owners[is_new].tolist(), number[is_new].tolist(), strict=True))
    counts = Counter(owner for owner, _ in pairs)
    mixed = np.isin(owners, [owner for owner, count in counts.items() if count > 1])
    why = f"the product has quantities in several units, and would have several in {to}."
    yield is_new & mixed & ~have_one, why


def find_inexact(work: ProductsInWork, leaves: Leaves, rows: Rows) -> dict[int, str]:
    """Return the rows whose number is not the one in the record, which may have more digits, as it is there."""
    found: dict[int, str] = {}
    # What an earlier step has set is what it is.
    rows = rows[~leaves.is_changed[rows]]
    if not len(rows):
        return found
    ids = work.ids.take(pa.array(leaves.product[rows])).to_pylist()
    received = received_values(work.catalog, ids, leaves.attribute)
    positions = leaves.position.take(pa.array(rows)).to_pylist()
    for (row, value), product, position in zip(leaves.held(rows).items(), ids, positions, strict=True):
        if "." in position:  # a list in a list, which is not corrected here
            continue
        held = received[product]
        item = held[int(position)] if isinstance(held, list) and position else held
        own = item.get("data") if isinstance(item, dict) else item
        spelled = own.strip().replace(",", ".") if isinstance(own, str) else repr(own)
        amount = value[AMOUNT] if isinstance(value, dict) else value
        if exact_value(spelled) != exact_value(amount) or math.isinf(float(amount)):
            found[row] = in_words(item)
    return found


def find_unread(work: ProductsInWork, leaves: Leaves, chosen: Mask, done: str) -> list[StepRefusal]:
    """Return the products of which an amount is no number that tables can hold, which are not without one."""
    if leaves.shape is not AnswerShape.QUANTITY:
        return []
    rows = work.catalog.arrow(
        "scalars", ["product_id", "value"], pc.field("attribute") == f"{leaves.attribute}.data"
    )
    owners = pc.index_in(rows["product_id"], work.ids).to_pylist()
    return [
        StepRefusal(owner, -1, f"{amount} is no number that is {done} exactly.")
        for owner, amount in zip(owners, rows["value"].to_pylist(), strict=True)
        if chosen[owner]
    ]
