"""What suppliers are asked to correct, such as by worklists: how soon they do, and what would be right.

What is right is known where the sample planted a defect, or a simulated supplier made one. Careful suppliers correct
most of what they are asked for within a week, and others little of it; on weekends hardly anything happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.store import Store
from prodex_sandbox.sample.defects.planting import Repair
from prodex_sandbox.simulation.day import Day
from prodex_sandbox.simulation.journal import by_language
from prodex_sandbox.simulation.rhythm import activity, care
from prodex_sandbox.simulation.state import CORRECTED, ActiveSupplier, SimulationState, is_open

#: The share of the products that it is asked for which an average supplier corrects on a working day.
_SHARE: Final = 0.12
#: Nobody corrects more than this on one day.
_MOST: Final = 0.6


@dataclass(frozen=True, slots=True)
class OpenDefect:
    """A value of a product that is wrong, with the right one.

    Attributes
    ----------
    supplier
        Whose product it is.
    gtin, product_id
        The product.
    defect
        Kind of defect.
    attribute
        Wire path of the attribute.
    language
        Short language code of the text, or "".
    value, right
        The value as it is and as it should be, None for no value.
    """

    supplier: str
    gtin: str
    product_id: str
    defect: str
    attribute: str
    language: str
    value: Any
    right: Any


def requested_keys(store: Store, gtins: Iterable[str]) -> frozenset[int]:
    """Return the keys of the products with these GTINs; a GTIN that no product has is left out."""
    wanted = encode(sorted({spelled for gtin in gtins for spelled in (gtin, gtin.zfill(14))})).decode()
    rows = store.rows("SELECT key FROM products WHERE gtin IN (SELECT value FROM json_each(?))", (wanted,))
    return frozenset(key for (key,) in rows)


def correct_requested(
    day: Day, owner: ActiveSupplier, rng: Random, state: SimulationState, requested: frozenset[int]
) -> None:
    """Let a supplier correct some of the products that it is asked to correct, each as a whole."""
    share = min(_SHARE * activity(owner.name, day.day) * care(owner.name), _MOST)
    for key in owner.products:
        if key not in requested or rng.random() >= share:
            continue
        for repair in _repairs(owner, key, decode(day.body(key)), state):
            if is_open(day.body(key), repair):
                right = {name: value for name, (_, value) in repair.values.items()}
                day.write(key, right, owner.name, CORRECTED, repair.defect)
                state.note(owner, day.notes[-1])


def open_defects(store: Store, gtins: Iterable[str]) -> Iterator[OpenDefect]:
    """Yield what is still wrong with products of the sample: as it was planted, or as a supplier broke it since."""
    state = SimulationState(store)
    owners = {key: owner for owner in state.owners for key in owner.products}
    keys = sorted(requested_keys(store, gtins) & owners.keys())
    sql = "SELECT key, body FROM records WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key"
    for key, body in store.rows(sql, (encode(keys).decode(),)):
        record = decode(body)
        for repair in _repairs(owners[key], key, record, state):
            if not is_open(body, repair):
                continue
            for attribute, pair in repair.values.items():
                values = tuple(None if raw is None else decode(raw) for raw in pair)
                for language, value, right in by_language(*values):
                    yield OpenDefect(
                        owners[key].name,
                        str(record.get("gtin") or ""),
                        str(record.get("id") or ""),
                        repair.defect,
                        attribute,
                        language,
                        value,
                        right,
                    )


def _repairs(
    owner: ActiveSupplier, key: int, record: Mapping[str, Any], state: SimulationState
) -> list[Repair]:
    """Return what may have to be put right: what the supplier broke, newest first, then what the sample planted."""
    broken = [repair for of, repair in reversed(owner.broken) if of == key]
    original = state.originals.find(key, record)
    return [*broken, *(original.repairs if original else ())]
