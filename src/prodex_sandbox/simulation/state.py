"""What a simulation knows of a store while it runs: the suppliers, their products, and what waits to be done."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from typing import Final

from prodex_sandbox.raw_json import decode
from prodex_sandbox.records.beginning import last_key
from prodex_sandbox.records.merging import stored_attributes
from prodex_sandbox.records.model import OrganizationType
from prodex_sandbox.records.store import Store
from prodex_sandbox.sample.catalogue import seed_of
from prodex_sandbox.sample.defects.planting import Repair
from prodex_sandbox.simulation.journal import Note, read_notes
from prodex_sandbox.simulation.originals import Originals

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
        with store.writing() as connection:
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
    """Tell whether a record still has the values that a repair puts right."""
    stored = stored_attributes(body)
    return all(
        (stored.get(name) or b"null") == (wrong or b"null") for name, (wrong, _) in repair.values.items()
    )
