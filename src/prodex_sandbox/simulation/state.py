"""What a simulation knows of a store while it runs: the suppliers, their products, and what waits to be done.

A supplier that corrects a planted defect needs the right value, and one that breaks something needs a planter of the
sample, which works on a draft. Both come from making the family of a product once more. Products of other origin have
no original: nobody knows what is right for them.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random
from typing import Any, Final

from prodex_sandbox.raw_json import decode
from prodex_sandbox.records.baseline import beside_baseline, last_key
from prodex_sandbox.records.merging import stored_attributes
from prodex_sandbox.records.model import OrganizationType
from prodex_sandbox.records.store import Store
from prodex_sandbox.records.upsert import SET_BY_EXCHANGE
from prodex_sandbox.sample.catalogue import Made, family_of, family_places, seed_of
from prodex_sandbox.sample.defects.planting import Repair, plant_in_record
from prodex_sandbox.sample.products.dates import Dates
from prodex_sandbox.sample.products.families import draw_family
from prodex_sandbox.sample.products.participants import SUPPLIERS, Supplier
from prodex_sandbox.sample.products.product import Draft, draft
from prodex_sandbox.simulation.journal import Note, read_notes

#: Actions that leave something to correct, that correct, and that add.
BROKEN: Final = "broken"
CORRECTED: Final = "corrected"
ADDED: Final = "added"
#: The tag of products that are delisted.
DELISTED_TAG: Final = "delisted"

_PRODUCTS: Final = """
SELECT products.owner_id, products.key, min(views.shared_from, views.shared_with) < 4
    OR views.product_status = 'UPDATED' AND instr(records.body, '"lastRequest":{'),
    EXISTS (SELECT 1 FROM tags WHERE tags.product_key = products.key AND tags.name = :tag)
FROM products JOIN views ON views.product_key = products.key JOIN records ON records.key = products.key
JOIN organizations ON organizations.id = views.organization_id
WHERE organizations.type = :recipient ORDER BY products.key, views.organization_id
"""


@dataclass(slots=True)
class ActiveSupplier:
    """A supplier in a simulation.

    Attributes
    ----------
    products
        Keys of its products that somebody sees, in order; so are the others.
    waiting
        Those of them that are not shared, or not accepted.
    delisted
        Those of them that are delisted.
    broken
        What it broke and has not corrected: key of the product, and how to put it right.
    """

    id: int
    name: str
    products: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    delisted: list[int] = field(default_factory=list)
    broken: list[tuple[int, Repair]] = field(default_factory=list)

    def leave_out(self, key: int) -> None:
        """Forget a product that nobody sees any more."""
        for keys in (self.products, self.waiting, self.delisted):
            if key in keys:
                keys.remove(key)

    def delist(self, key: int) -> None:
        """Put a product among the delisted ones."""
        insort(self.delisted, key)


class SimulationState:
    """The suppliers of a store, and what is known of its products.

    Attributes
    ----------
    owners
        Suppliers with a product that somebody sees, in the order of their ids.
    manufacturers
        Ids of all suppliers.
    filled
        Key of the last product that the store was filled with.
    originals
        The products as the sample made them.
    is_sample
        Whether the store was filled with the sample.
    added
        How many products were added so far.
    """

    def __init__(self, store: Store) -> None:
        manufacturers = [one for one in store.organizations if one.type is OrganizationType.MANUFACTURER]
        self.manufacturers = frozenset(one.id for one in manufacturers)
        names = {one.id: one.name for one in manufacturers}
        owners: dict[int, ActiveSupplier] = {}
        recipient = int(OrganizationType.RETAILER)
        for owner_id, key, waits, delisted in store.rows(
            _PRODUCTS, {"tag": DELISTED_TAG, "recipient": recipient}
        ):
            owner = owners.setdefault(owner_id, ActiveSupplier(owner_id, names.get(owner_id, str(owner_id))))
            # A product has a row for each recipient.
            if not owner.products or owner.products[-1] != key:
                owner.products.append(key)
                if delisted:
                    owner.delisted.append(key)
            if waits and key not in owner.waiting[-1:]:
                owner.waiting.append(key)
        self.owners = [owners[id_] for id_ in sorted(owners)]
        with beside_baseline(store) as connection:
            self.filled = last_key(connection)
        self.originals = Originals(self.filled, seed_of(store.origin))
        first = store.rows("SELECT body FROM records WHERE key = 1")
        self.is_sample = bool(first) and self.originals.find(1, decode(first[0][0])) is not None
        self.added = 0
        by_name = {owner.name: owner for owner in self.owners}
        for note in read_notes(store, (BROKEN, CORRECTED, ADDED)):
            self.note(by_name.get(note.supplier), note)

    def note(self, owner: ActiveSupplier | None, note: Note) -> None:
        """Take a note of the journal into account."""
        self.added += note.action == ADDED
        if owner is None or note.product_key is None:
            return
        if note.action == BROKEN:
            values = {name: (after, before) for name, (before, after) in note.changes.items()}
            owner.broken.append((note.product_key, Repair(note.detail, values)))
        elif note.action == CORRECTED:
            for one in owner.broken:
                if (one[0], one[1].defect) == (note.product_key, note.detail):
                    owner.broken.remove(one)
                    return


def is_open(body: bytes, repair: Repair) -> bool:
    """Whether a record still has the values that a repair puts right."""
    stored = stored_attributes(body)
    return all(
        (stored.get(name) or b"null") == (wrong or b"null") for name, (wrong, _) in repair.values.items()
    )


#: Attributes that planters read; a record where one of them is not as it was made cannot be broken by them.
_PLANTED_ATTRIBUTES: Final = """
nameLegal namePublicShort namePublicLong description composition allergens conservationAdvices consumptionAdvice
netContent isPartitionedBy contact brand kind originCountry percentageOfAlcoholByVolume logisticalHierarchies
"""

#: Attributes that change with statuses, or are the exchange's own.
NOT_THEIRS: Final = {*SET_BY_EXCHANGE, "lastRequest"}

#: So many families are kept, as each is made anew in about two milliseconds.
_FAMILIES_CACHED: Final = 4_096

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
    for attribute in _PLANTED_ATTRIBUTES.split():
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
@lru_cache(maxsize=_FAMILIES_CACHED)
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
            _repair(record, values)
    return Original(replace(made.draft, record={}), repairs, shape_of(record))


def _repair(record: dict[str, Any], values: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
    for name, (_, right) in values.items():
        if name.startswith("assets."):
            record["assets"] = {**record["assets"], name.removeprefix("assets."): decode(right or b"null")}
        else:
            record[name] = decode(right or b"null")
