"""Whether products hold what was sent from here: as it was sent, something else by now, or not visible yet.

Only a value that the service confirmed, or has shown, can be overridden. What waits for the end of an import or for
somebody's acceptance, what was loaded before, and what nobody asked for says nothing.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from prodex import clock
from prodex.catalog import Catalog, Origin
from prodex.changes import ABSENT, NOT_ASKED, Change, absence_of, is_same
from prodex.changes.trails import Trail, ValuePlace, trails
from prodex.executors import side_by_side
from prodex.gtin import comparable_column
from prodex.ledger.change_digests import Shown, are_shown, shown_by
from prodex.ledger.upsert_file import LONGEST
from prodex.ledger.writes import SentWrite, WriteOutcome, sent_writes
from prodex.send.records import Product
from prodex.tables.columns import as_one_chunk
from prodex.tables.values import read_json


class SentState(StrEnum):
    """What became of a value that was sent from here."""

    OVERRIDDEN = "overridden"
    AS_SENT = "as sent"
    NOT_VISIBLE = "not visible yet"
    UNKNOWN = "not known"


@dataclass(frozen=True)
class SentValue:
    """The last value that was sent to a place of a product, and what the product holds there now.

    Attributes
    ----------
    product_id, gtin
        The product.
    place
        Where it is. That of the whole product is a call of which it is not kept what it sent.
    sent, now
        What was sent, and what is there.
    write
        By which call.
    state
        What became of it.
    """

    product_id: str
    gtin: str
    place: ValuePlace
    sent: Any
    now: Any
    write: SentWrite
    state: SentState

    @property
    def key(self) -> tuple[str, str, str | None, str, str]:
        """What it is known by in another snapshot: the product, the place and the upsert."""
        place = self.place
        return self.product_id, place.attribute, place.language_code, place.item, self.write.upsert


class SentChange(NamedTuple):
    """What a call changed at a place; NOT_ASKED is before where that is not known."""

    write: SentWrite
    change: Change

    @property
    def was_refused(self) -> bool:
        """Whether nothing of it arrived."""
        return self.write.outcome is WriteOutcome.REFUSED


def sent_values(
    catalog: Catalog, among: Collection[str] | None = None, written: Sequence[SentWrite] | None = None
) -> list[SentValue]:
    """Return what was sent of the products of a catalogue, and what became of each value.

    Only products of which something was sent are read.

    Parameters
    ----------
    catalog
        The products; what was sent to another service than theirs is of other products.
    among
        Ids of the products that are meant; all by default.
    written
        What was sent of them, if that was read before.
    """
    keys = _keys(catalog, among)
    if written is None:
        written = sent_writes(keys.keys(), {catalog.origin.source}).writes
    writes: dict[str, list[SentWrite]] = defaultdict(list)
    for write in written:
        if (product := _product_of(write, keys)) is not None:
            writes[product].append(write)
    records = _records(catalog, writes)
    return [
        value
        for product, of_product in writes.items()
        if product in records
        for value in _of_product(product, records[product], of_product, catalog.origin)
    ]


def _keys(catalog: Catalog, among: Collection[str] | None) -> dict[str, list[str]]:
    """Return the ids of products by their GTINs."""
    read = catalog.arrow("products", ["product_id", "gtin"])
    if among is not None:
        read = read.filter(pc.is_in(read["product_id"], pa.array(sorted(among), pa.string())))
    keys: dict[str, list[str]] = {}
    gtins = comparable_column(as_one_chunk(read["gtin"]))
    for product, gtin in zip(read["product_id"].to_pylist(), gtins.to_pylist(), strict=True):
        if gtin is not None:
            keys.setdefault(gtin, []).append(product)
    return keys


def _product_of(write: SentWrite, keys: Mapping[str, Sequence[str]]) -> str | None:
    """Return the product of a call; one that has another id by now is known by its GTIN, if no other one has that."""
    ids = keys.get(write.gtin, ())
    if write.product in ids:
        return write.product
    return ids[0] if len(ids) == 1 else None


def _records(catalog: Catalog, products: Collection[str]) -> dict[str, Product]:
    """Read the records of some products; those that cannot be decoded are left out."""
    if not products:
        return {}
    is_meant = pc.field("product_id").isin(pa.array(sorted(products), pa.string()))
    found: dict[str, Product] = {}
    for rows in side_by_side(lambda part: part.read("raw", ["product_id", "json"], is_meant), catalog.parts):
        for product, json in zip(rows["product_id"].to_pylist(), rows["json"].to_pylist(), strict=True):
            try:
                record = read_json(json.encode())
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                found[product] = record
    return found


def sent_changes(
    product: str, root: str, now: Sequence[Any], writes: Iterable[SentWrite]
) -> Iterator[tuple[Trail, list[SentChange]]]:
    """Yield the places of an attribute: what each held at several times, and what was sent to it.

    What was written along as it was is not what somebody meant to send.

    Parameters
    ----------
    product
        The key of the product.
    root
        The attribute.
    now
        Its values at these times, as `prodex.changes.trails` takes them.
    writes
        Calls that wrote the product.

    Raises
    ------
    RecursionError
        When it is nested deeper than Python walks.
    """
    written = [one for one in writes if root in (one.sent or ())]
    before, after = [one.value_before(root) for one in written], [one.value_sent(root) for one in written]
    many, more = len(now), len(now) + len(written)
    # All of them first: of what is nested too deep, nothing is followed.
    for place, held in [*trails(root, [*now, *before, *after])]:
        sent = zip(written, held[many:more], held[more:], strict=True)
        made = [SentChange(write, Change(product, place.path, *sides)) for write, *sides in sent]
        yield (
            Trail(place, held[:many]),
            [one for one in made if not is_same(one.change.before, one.change.after)],
        )


def _of_product(
    product: str, record: Product, writes: Sequence[SentWrite], origin: Origin
) -> Iterator[SentValue]:
    waiting = record.get("lastRequest")
    yield from _not_kept(product, record, writes)
    for root in dict.fromkeys(root for one in writes for root in one.sent or ()):
        unclear = [one for one in writes if one.sent is None and one.writes(root)]
        try:
            found = [*sent_changes(product, root, [record.get(root, ABSENT)], writes)]
        except RecursionError:
            continue
        is_waiting = isinstance(waiting, Mapping) and root in waiting
        for (place, (now,)), sent in found:
            arrived = [one for one in sent if not one.was_refused]
            if not arrived or (
                absence_of(now) and not origin.asked(place.attribute, place.language_code or None)
            ):
                continue
            write, change = arrived[-1]
            state = _state(write, change, now, origin)
            if state is SentState.OVERRIDDEN and (is_waiting or _is_as_before(record, write)):
                state = SentState.NOT_VISIBLE
            if state is SentState.OVERRIDDEN and any(one.at >= write.at for one in unclear):
                state = SentState.UNKNOWN
            yield SentValue(product, write.gtin, place, change.after, now, write, state)


def _is_as_before(record: Product, write: SentWrite) -> bool:
    """Whether a product is exactly as before a call: then it was requested before, whatever a clock said."""
    before = write.before
    if before is None or before.get("updatedAt") is None or before["updatedAt"] != record.get("updatedAt"):
        return False
    return all(is_same(record[name], before[name]) for name in record.keys() & before.keys())


def _not_kept(product: str, record: Product, writes: Sequence[SentWrite]) -> Iterator[SentValue]:
    """Yield the calls of which it is not kept what they sent; corrections may still be seen to be there."""
    shown: Shown | None = None
    for write in writes:
        if write.sent is not None or write.outcome is WriteOutcome.REFUSED:
            continue
        if shown is None:
            shown = shown_by(record)
        is_there = are_shown(write.digests, shown)
        state = SentState.AS_SENT if is_there else SentState.UNKNOWN
        yield SentValue(product, write.gtin, ValuePlace(), NOT_ASKED, NOT_ASKED, write, state)


def composed(value: Any) -> Any:
    """Return a value with its texts in one normal form (NFC): two that read the same are the same then.

    >>> composed(["Cafe" + chr(0x301)]) == ["Caf" + chr(0xE9)]
    True
    """
    if type(value) is str:
        return unicodedata.normalize("NFC", value)
    if isinstance(value, list):
        return [composed(one) for one in value]
    return {name: composed(one) for name, one in value.items()} if type(value) is dict else value


def has_arrived(change: Change, now: Any) -> bool:
    """Whether a place holds what was sent to it.

    A service may store letters in another normal form, unless the change was about nothing else.

    >>> sent = Change("7", ("x",), "Tea", "Caf" + chr(0xE9))
    >>> has_arrived(sent, "Cafe" + chr(0x301)), has_arrived(sent, "Cafe")
    (True, False)
    """
    if is_same(change.after, now):
        return True
    after = composed(change.after)
    return is_same(after, composed(now)) and not is_same(after, composed(change.before))


def _state(write: SentWrite, change: Change, now: Any, origin: Origin) -> SentState:
    if has_arrived(change, now):
        return SentState.AS_SENT
    if origin.loaded_at is not None and origin.loaded_at > clock.now() + clock.TOLERATED:
        return SentState.UNKNOWN  # its clock was ahead
    if not write.is_visible_at(origin.loaded_at):
        # Nobody has seen its end, and it is long over.
        is_over = (
            write.ended is None and origin.loaded_at is not None and origin.loaded_at > write.at + LONGEST
        )
        return SentState.UNKNOWN if is_over else SentState.NOT_VISIBLE
    return SentState.OVERRIDDEN if write.outcome is WriteOutcome.CONFIRMED else SentState.UNKNOWN
