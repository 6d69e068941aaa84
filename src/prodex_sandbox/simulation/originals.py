"""Products of the sample as its generator made them: what their values should be, and what can go wrong with them.

A supplier that corrects a planted defect needs the right value, and one that breaks something needs a planter of the
sample, which works on a draft. Both come from making the family of a product once more. Products of other origin have
no original: nobody knows what is right for them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any, Final

from prodex_sandbox.raw_json import decode
from prodex_sandbox.records.upsert import SET_BY_EXCHANGE
from prodex_sandbox.sample.catalogue import Made, family_of, family_places
from prodex_sandbox.sample.dates import Dates
from prodex_sandbox.sample.defects.planting import Repair, plant_in_record
from prodex_sandbox.sample.families import draw_family
from prodex_sandbox.sample.participants import SUPPLIERS, Supplier
from prodex_sandbox.sample.product import Draft, draft

#: Attributes that planters read; a record where one of them is not as it was made cannot be broken by them.
_READ: Final = """
nameLegal namePublicShort namePublicLong description composition allergens conservationAdvices consumptionAdvice
netContent isPartitionedBy contact brand kind originCountry percentageOfAlcoholByVolume logisticalHierarchies
"""

#: Attributes that change with statuses, or are the exchange's own.
NOT_THEIRS: Final = {*SET_BY_EXCHANGE, "lastRequest"}

#: So many families are kept, as each is made anew in about two milliseconds.
_KEPT: Final = 4_096

#: Suppliers of the sample, by the id of their organisation.
SUPPLIERS_BY_ID: Final[Mapping[int, Supplier]] = {one.id: one for one in SUPPLIERS}


@dataclass(frozen=True, slots=True)
class Original:
    """A product as it was made: its draft, the repairs of what was planted in it, and which values it has at all."""

    draft: Draft
    repairs: Sequence[Repair]
    shape: Mapping[str, Any]

    def drafted(self, record: dict[str, Any], rng: Random) -> Draft | None:
        """Return the draft of the record as it is now; None where it lacks what planters need."""
        if "lastRequest" in record or shape_of(record) != self.shape:
            return None
        return replace(self.draft, record=record, rng=rng)


class Originals:
    """The originals of the sample that a store was filled with.

    Parameters
    ----------
    count, seed
        Size and seed of the sample.
    """

    def __init__(self, count: int, seed: int) -> None:
        self._count, self._seed = count, seed

    def find(self, key: int, record: Mapping[str, Any]) -> Original | None:
        """Return the original of a product by its key in the store; None where it is not of this sample."""
        number = key - 1
        if number >= self._count:
            return None
        places = family_places(self._count, self._seed)
        index = bisect_right(places, number) - 1
        first = places[index]
        original = _originals(index, first, self._count, self._seed)[number - first]
        return original if original.draft.unit.uuid == record.get("uuid") else None


def new_product(supplier: Supplier, number: int, dates: Dates) -> Draft:
    """Make a new product of a supplier, as careful as the supplier is.

    Parameters
    ----------
    supplier
        Whose product it is.
    number
        Its place behind the catalogue, from which its numbers are made.
    dates
        When it was made.
    """
    # The same whenever the product is added, whoever did what before.
    rng = Random(f"new/{number}")
    family = draw_family(rng, number, 1, lone=True, supplier=supplier)
    made = draft(rng, family, family.units[0], dates)
    plant_in_record(made)
    return made


def shape_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return which of the attributes that planters read a record has, and texts in which languages."""
    shape: dict[str, Any] = {}
    for attribute in _READ.split():
        value = record.get(attribute)
        if isinstance(value, list):
            described = [item.get("expressedIn") if isinstance(item, dict) else None for item in value]
            shape[attribute] = tuple(
                one.get("normalizedCode") if isinstance(one, dict) else None for one in described
            )
        else:
            shape[attribute] = type(value) if value is not None else None
    assets = record.get("assets")
    pictures = assets.get("pictures") if isinstance(assets, dict) else None
    shape["pictures"] = bool(pictures)
    return {name: found for name, found in shape.items() if found not in (None, (), False)}


# The same suppliers are looked at for every time that some days are simulated.
@lru_cache(maxsize=_KEPT)
def _originals(index: int, first: int, count: int, seed: int) -> tuple[Original, ...]:
    """Return the originals of one family."""
    return tuple(_original(one) for one in family_of(index, first, count, seed))


def _original(made: Made) -> Original:
    """Keep what is needed of a product: not its record, and the repairs that are the supplier's to make."""
    record = dict(made.product.record)
    repairs = []
    # The last planter first, as what it damaged may have been damaged before.
    for repair in reversed(made.repairs):
        values = {name: pair for name, pair in repair.values.items() if name not in NOT_THEIRS}
        if values:
            repairs.append(Repair(repair.defect, values))
            _put_right(record, values)
    return Original(replace(made.draft, record={}), repairs, shape_of(record))


def _put_right(record: dict[str, Any], values: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
    for name, (_, right) in values.items():
        if name.startswith("assets."):
            record["assets"] = {**record["assets"], name.removeprefix("assets."): decode(right or b"null")}
        else:
            record[name] = decode(right or b"null")
