"""Changes by what is written as a whole: an attribute at the top of a product, its place in a write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TypeAlias

from prodex.changes import Change, by_product
from prodex.gtin import gtin_key
from prodex.ledger.change_digests import Digests, attribute_of, digests_of
from prodex.send.corrections import Changes

#: What is written as a whole: an attribute at the top of a product, by the key of its GTIN.
Place: TypeAlias = tuple[str, str]


def digests_by_gtin(changes: Changes) -> dict[str, tuple[str, ...]]:
    """Return the digests of all changes by GTIN."""
    by = by_product(changes.changes)
    return {
        record["gtin"]: tuple(sorted(digests_of(by.get(product, ()))))
        for product, record in zip(changes.loaded, changes.records, strict=True)
    }


def places_of(changes: Changes) -> dict[Place, Digests]:
    """Return the changes of each place."""
    found: dict[Place, set[str]] = defaultdict(set)
    for gtin, digests in digests_by_gtin(changes).items():
        for one in digests:
            found[gtin_key(gtin), attribute_of(one)].add(one)
    return {place: frozenset(digests) for place, digests in found.items()}


def without_places(changes: Changes, places: Collection[Place]) -> Changes:
    """Return the changes without those of some places."""
    keys = _gtin_keys(changes)
    left = []
    for (product, updated_at), record in zip(changes.loaded.items(), changes.records, strict=True):
        key = gtin_key(record["gtin"])
        kept = {name: value for name, value in record.items() if (key, name) not in places}
        if kept.keys() - {"gtin"}:
            left.append((product, updated_at, kept))

    def outside(several: Iterable[Change]) -> tuple[Change, ...]:
        return tuple(one for one in several if (keys.get(one.product), one.attribute) not in places)

    return replace(
        changes,
        records=tuple(record for *_, record in left),
        loaded={product: updated_at for product, updated_at, _ in left},
        changes=outside(changes.changes),
        asked=outside(changes.asked),
    )


def _gtin_keys(changes: Changes) -> dict[str, str]:
    """Return the keys of the GTINs of products by their id."""
    return {
        product: gtin_key(record["gtin"])
        for product, record in zip(changes.loaded, changes.records, strict=True)
    }


def with_places(changes: Changes, others: Changes, places: Collection[Place]) -> Changes:
    """Return the changes, with those that others make of some places which these do not change."""
    here = places_of(changes)
    unwanted = {place for place in places_of(others) if place not in places or place in here}
    added = without_places(others, unwanted)
    records = dict(zip(changes.loaded, changes.records, strict=True))
    loaded = {**added.loaded, **changes.loaded}
    for product, record in zip(added.loaded, added.records, strict=True):
        records[product] = {**record, **records.get(product, {})}
    return replace(
        changes,
        records=tuple(records.values()),
        loaded={product: loaded[product] for product in records},
        changes=(*changes.changes, *added.changes),
        asked=(*changes.asked, *added.asked),
        known={**added.known, **changes.known},
    )
