"""The record of a product in each snapshot of a name: of a snapshot only the row of the product is read.

A snapshot that cannot be read, one that does not have the product, and one that was loaded by another query are three
different things, and none of them says that the product was changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from prodex import clock
from prodex.catalog import Catalog, Origin, Part
from prodex.errors import OtherLayout, SnapshotDamaged, SnapshotError, StorageError
from prodex.executors import side_by_side
from prodex.gtin import comparable, comparable_column
from prodex.store.archive import unlinked
from prodex.store.snapshot import SNAPSHOTS, open_snapshot
from prodex.tables.values import read_json


class ProductKeys(NamedTuple):
    """What a product is known by: its id, its GTIN in the form in which GTINs compare, or both."""

    product_id: str | None
    gtin: str | None


@dataclass(frozen=True)
class SnapshotRecord:
    """A product in one snapshot.

    Attributes
    ----------
    name, time
        Name and time of the snapshot.
    moment, published
        When its load began, and when it was published, by the clock of this machine: what was sent in between may be in
        it.
    origin
        What was asked for; None if the snapshot cannot be read.
    problem
        Why it cannot be read, else "".
    product_id, gtin
        Those of the product here; None where the snapshot does not have it.
    updated_at
        When the product was last changed, as the service says: local time without zone.
    record
        Its record; None where there is none, or where it cannot be decoded.
    """

    name: str
    time: str
    moment: datetime
    published: datetime
    origin: Origin | None = None
    problem: str = ""
    product_id: str | None = None
    gtin: str | None = None
    updated_at: datetime | None = None
    record: Mapping[str, Any] | None = None

    @property
    def snapshot(self) -> str:
        """The snapshot as `prodex.open_snapshot` takes it."""
        return f"{self.name}@{self.time}"

    @property
    def has_product(self) -> bool:
        """Whether the snapshot has the product."""
        return self.product_id is not None

    @property
    def complete(self) -> bool:
        """Whether the snapshot has everything that was asked for: only then something that is not there is gone."""
        return self.origin is not None and self.origin.complete

    def asked_for_the_same(self, other: SnapshotRecord) -> bool:
        """Whether another snapshot was loaded by a query for the same products, whatever it asked of them."""
        if self.origin is None or other.origin is None:
            return False
        return (self.origin.source, self.origin.products_asked) == (
            other.origin.source,
            other.origin.products_asked,
        )


def names_of_snapshots() -> list[str]:
    """Return the names under which there are snapshots on this machine."""
    return sorted({SNAPSHOTS.name_of(folder) for folder, _ in SNAPSHOTS.numbered("*")})


def records_over_time(key: ProductKeys, name: str) -> list[tuple[SnapshotRecord, ...]]:
    """Return the records of a product in all snapshots of a name, in the order in which these were published.

    Parameters
    ----------
    key
        The product; its id alone, if any snapshot has it. By its GTIN it is found under another id as well, where the
        one before is no longer there.
    name
        Name of the snapshots.

    Returns
    -------
    list
        One sequence for each product: two that had one GTIN at the same time are two. None where no snapshot has it.
    """
    opened = [_opened(name, folder) for folder in SNAPSHOTS.of(name)]
    reader = _RowReader()
    wanted = _Wanted(frozenset(filter(None, [key.product_id])), frozenset(filter(None, [key.gtin])))
    places = reader.places(opened, wanted)
    # A text that is no id may be a GTIN.
    own = key.product_id if any(one.product_id == key.product_id for here in places for one in here) else None
    # What it was called meanwhile: it may have had another id under its GTIN, or another GTIN under its id.
    if (wider := wanted.with_names(places, own)) != wanted:
        places = reader.places(opened, wider)
    found = []
    for ids in _same_product(places, own):
        at = [next((one for one in here if one.product_id in ids), None) for here in places]
        facts = side_by_side(reader.facts, at)
        chain = [replace(one, **of) for (one, _), of in zip(opened, facts, strict=True)]
        found.append(_with_problems(chain, reader.problems))
    return found


class _Place(NamedTuple):
    """A row of a product: the part that has it, and what `products` says of it."""

    part: Part
    product_id: str
    gtin: str | None
    updated_at: datetime | None
    snapshot: str


class _Wanted(NamedTuple):
    """The ids and GTINs that a product is looked for under."""

    ids: frozenset[str]
    gtins: frozenset[str]

    def with_names(self, places: Sequence[Sequence[_Place]], product_id: str | None) -> _Wanted:
        """Return these, with those of the rows that were found: of a product that is known by its id, of its own."""
        own = [one for here in places for one in here if product_id in {None, one.product_id}]
        gtins = {one.gtin for one in own if one.gtin is not None}
        return _Wanted(self.ids | {one.product_id for one in own}, self.gtins | gtins)


_Opened: TypeAlias = tuple[SnapshotRecord, Catalog | None]


def _opened(name: str, folder: Path) -> _Opened:
    """Return a snapshot, and what is known of it before the product is looked for."""
    # Somebody may have renamed the folder.
    moment = clock.from_name(folder.name) or datetime.min.replace(tzinfo=UTC)
    there = SnapshotRecord(name, folder.name, moment, moment)
    try:
        catalog = open_snapshot(unlinked(folder))
    except (SnapshotError, OtherLayout, StorageError) as error:
        return replace(there, problem=str(error)), None
    return replace(there, origin=catalog.origin, moment=catalog.origin.loaded_at or there.moment), catalog


class _RowReader:
    """Reads rows of parts. A refresh keeps most files as they are, and each is read once."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, _Wanted], list[_Place]] = {}
        self._records: dict[tuple[str, str], Mapping[str, Any] | None] = {}
        self._same: dict[str, Mapping[str, Any] | None] = {}
        #: Why a snapshot cannot be read after all, by its name and time.
        self.problems: dict[str, str] = {}

    def places(self, opened: Sequence[_Opened], wanted: _Wanted) -> list[list[_Place]]:
        """Return the rows of products with these ids and GTINs in each snapshot."""

        def read(one: _Opened) -> list[_Place]:
            there, catalog = one
            found: list[_Place] = []
            for part in () if catalog is None else catalog.parts:
                # A damaged part hides no product of another one.
                try:
                    found += [
                        place._replace(snapshot=there.snapshot) for place in self._in_part(part, wanted)
                    ]
                except (SnapshotDamaged, StorageError) as error:
                    self.problems[there.snapshot] = str(error)
            return found

        return list(side_by_side(read, opened))

    def _in_part(self, part: Part, wanted: _Wanted) -> list[_Place]:
        digest = str(part.facts["products"]["sha256"]), wanted
        if digest not in self._places:
            keys = part.read("products", ["product_id", "gtin", "updated_at"])
            is_meant = pc.or_(
                pc.is_in(keys["product_id"], pa.array(sorted(wanted.ids), pa.string())),
                pc.is_in(_as_compared(keys["gtin"]), pa.array(sorted(wanted.gtins), pa.string())),
            )
            rows = keys.filter(is_meant)
            self._places[digest] = [
                _Place(part, row["product_id"], comparable(row["gtin"]), row["updated_at"], "")
                for row in rows.to_pylist()
            ]
        # The part of this snapshot: the files of an earlier one may be removed meanwhile.
        return [place._replace(part=part) for place in self._places[digest]]

    def facts(self, place: _Place | None) -> dict[str, Any]:
        """Return what a snapshot has of a product."""
        if place is None:
            return {}
        found = {"product_id": place.product_id, "gtin": place.gtin, "updated_at": place.updated_at}
        try:
            return found | {"record": self._record(place)}
        except (SnapshotDamaged, StorageError) as error:
            self.problems[place.snapshot] = str(error)
            return {}

    def _record(self, place: _Place) -> Mapping[str, Any] | None:
        key = str(place.part.facts["raw"]["sha256"]), place.product_id
        if key not in self._records:
            is_it = pc.field("product_id") == place.product_id
            (row, *_) = place.part.read("raw", ["json"], is_it)["json"].to_pylist() or [None]
            # Most snapshots have the same record: it is decoded once.
            if row is not None and row not in self._same:
                self._same[row] = _decoded(row)
            self._records[key] = None if row is None else self._same[row]
        return self._records[key]


def _decoded(json: str) -> Mapping[str, Any] | None:
    try:
        found = read_json(json.encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _as_compared(gtins: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return GTINs as they compare; a column of digits needs no pattern."""
    padded = pc.utf8_lpad(gtins, width=14, padding="0")
    if pc.all(pc.fill_null(pc.ascii_is_decimal(gtins), True)).as_py():
        return padded
    return comparable_column(gtins)


def _same_product(places: Sequence[Sequence[_Place]], product_id: str | None) -> list[frozenset[str]]:
    """Return the ids of each product: of two ids in one snapshot each is a product, of two in turn both are one."""
    ids = list(dict.fromkeys(one.product_id for here in places for one in here))
    together: dict[str, set[str]] = {one: set() for one in ids}
    for here in places:
        for one in here:
            together[one.product_id] |= {other.product_id for other in here} - {one.product_id}
    found: list[set[str]] = []
    # The last one first: a product that is there now has been called otherwise before, not the other way about.
    for own in [*([product_id] if product_id in ids else []), *reversed(ids)]:
        if any(own in known for known in found):
            continue
        free = [known for known in found if not together[own] & known]
        # Of two products that are there today nobody can say which one had the earlier id.
        if len(free) == 1 and len(found) == 1:
            free[0].add(own)
        else:
            found.append({own})
    kept = found if product_id is None else [known for known in found if product_id in known]
    return [frozenset(known) for known in kept]


def _with_problems(
    chain: Sequence[SnapshotRecord], problems: Mapping[str, str]
) -> tuple[SnapshotRecord, ...]:
    return tuple(
        one if one.has_product or one.problem else replace(one, problem=problems.get(one.snapshot, ""))
        for one in chain
    )
