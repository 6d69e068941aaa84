"""The products as they were before an upsert wrote them, kept with it.

They are on the disk before the first call, as payloads are. So a write can be taken back, and whoever looks back finds
what a value was before. They are kept for a time and up to a size, both settings; the oldest are removed first.

Each product is a row of its own, so a damaged one hides no other. Those of products that are sent later than planned
are kept again behind the others, and hold in place of the earlier ones.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from prodex.advice import Argument, PythonCall, advice
from prodex.arguments import names_given
from prodex.changes import MAINTAINED_BY_SERVICE
from prodex.errors import InputError, StorageError
from prodex.files.sealed_rows import SealedRow
from prodex.gtin import gtin_key
from prodex.ledger.upsert_file import LONGEST, UpsertFile
from prodex.ledger.upserts import LedgerEntry, list_entries, upsert_named
from prodex.limits import KeepingLimits
from prodex.phrases import counted
from prodex.tables.plain_walk import product_key
from prodex.written_json import read_written, written_json

_LOG = logging.getLogger("prodex")

#: Bytes of one product when it is unpacked: far more than any has.
_MOST_BYTES = 2**28

#: Products of 7 kB take a fifth of it; stronger compression takes much longer, and saves little.
_STRENGTH = 3

Product: TypeAlias = dict[str, Any]
#: A packed product, and the key of its GTIN, by which it is found.
Packed: TypeAlias = tuple[str, bytes]


@dataclass(frozen=True)
class EarlierRecord:
    """A product as it was before an upsert, and what was sent of it.

    Attributes
    ----------
    product
        Its id; "" where the service did not list it.
    gtin
        Its GTIN as sent.
    before
        The record as received; None where the service did not list the product, or the entry is damaged.
    sent
        The attributes that were written; None deletes one.
    problem
        Why the entry cannot be read, or "".
    """

    product: str
    gtin: str
    before: Product | None = field(repr=False)
    sent: Mapping[str, Any] = field(default_factory=dict, repr=False)
    problem: str = ""

    @property
    def is_new(self) -> bool:
        """Whether the service did not list the product before: it did not exist, or could not be seen."""
        return self.before is None and not self.problem


def without_maintained(product: Product) -> Product:
    """Return a product without the attributes that the service maintains: as it is sent."""
    kept = {name: value for name, value in product.items() if name not in MAINTAINED_BY_SERVICE}
    if isinstance(assets := kept.get("assets"), dict) and "lastUpdatedAt" in assets:
        kept["assets"] = {name: value for name, value in assets.items() if name != "lastUpdatedAt"}
    return kept


def pack_records(products: Iterable[Product], before: Iterable[Product]) -> list[Packed]:
    """Return products as they were before, packed, each with what is sent of it.

    Parameters
    ----------
    products
        As they are to be sent.
    before
        The records as received.
    """
    by_gtin = {gtin_key(one["gtin"]): one for one in products}
    # Pages overlap: a product may come more than once, and its last record is the newest. Each is packed as it comes,
    # since all records at once would take much memory.
    packed: dict[str, dict[str, bytes]] = {gtin: {} for gtin in by_gtin}
    for record in before:
        if (gtin := gtin_key(record.get("gtin"))) in by_gtin:
            packed[gtin][product_key(record)] = _packed(by_gtin[gtin], record)
    return [
        (gtin, one)
        for gtin, product in by_gtin.items()
        for one in (packed[gtin] or {"": _packed(product, None)}).values()
    ]


def _packed(product: Product, record: Product | None) -> bytes:
    sent = {name: value for name, value in without_maintained(product).items() if name != "gtin"}
    who = {"product": "" if record is None else product_key(record), "gtin": str(product["gtin"])}
    try:
        text = written_json({**who, "before": record, "sent": sent}, is_ascii=True)
    except RecursionError:
        text = json.dumps({**who, "problem": "it is nested too deep to be kept"})
    return zlib.compress(text.encode(), _STRENGTH)


def earlier_records(name: str, products: Collection[str] | None = None) -> Iterator[EarlierRecord]:
    """Yield the earlier records that are kept of an upsert, in the order of sending.

    A damaged entry is yielded with its `problem`, and hides no other.

    Parameters
    ----------
    name
        Of the upsert.
    products
        Ids or GTINs of those that are wanted; all by default.

    Raises
    ------
    InputError
        When there is no such upsert, or nothing is kept of it; the message says why.
    OtherLayout
        When another version of prodex sent it.
    """
    upsert = upsert_named(name)
    if not upsert.keeps_earlier_records:
        raise InputError(why_none_kept(upsert))
    if products is None:
        yield from _last_of_each(map(_record, upsert.earlier_rows()))
        return
    keys = {*map(gtin_key, products)}
    found = [*map(_record, upsert.earlier_rows([*keys]))]
    if keys - {gtin_key(one.gtin) for one in found}:
        # Some may be given by their ids.
        wanted = {*products, *keys}
        every = map(_record, upsert.earlier_rows())
        found = [one for one in every if one.problem or wanted & {one.product, gtin_key(one.gtin)}]
    yield from _last_of_each(found)


def _last_of_each(records: Iterable[EarlierRecord]) -> Iterable[EarlierRecord]:
    """Return the records without those that were kept anew later; what is damaged may be newer than what is not."""
    found: dict[tuple[str, str], EarlierRecord] = {}
    for one in records:
        gtin = gtin_key(one.gtin)
        if one.product:  # it was new before, and is there by now
            found.pop(("", gtin), None)
        elif one.problem:
            found = {key: kept for key, kept in found.items() if key[1] != gtin}
        found[one.product, gtin] = one
    return found.values()


def _record(row: SealedRow) -> EarlierRecord:
    """Return what a row says; a damaged one has the GTIN by which it is found."""
    problem = "its entry is damaged"
    if row.content is None:
        return EarlierRecord("", row.name, None, problem=problem)
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(row.content, _MOST_BYTES)
        if not unpacking.eof:
            problem = f"its entry is cut, or unpacks to over {_MOST_BYTES:,} bytes"
            return EarlierRecord("", row.name, None, problem=problem)
        said = read_written(content)
    except (zlib.error, ValueError, RecursionError):
        return EarlierRecord("", row.name, None, problem=problem)
    match said:
        case {
            "product": str(product),
            "gtin": str(gtin),
            "before": dict() | None as before,
            "sent": dict() as sent,
        }:
            return EarlierRecord(product, gtin, before, sent)
        case {"product": str(product), "gtin": str(gtin), "problem": str(words)}:
            return EarlierRecord(product, gtin, None, problem=words)
    return EarlierRecord("", row.name, None, problem=problem)


def why_none_kept(upsert: UpsertFile) -> str:
    """Return why no earlier records are kept of an upsert, as sentences."""
    whose = f"No earlier records are kept of the upsert {upsert.name}: "
    match upsert.plan.earlier_records:
        case "kept":
            return (
                f"{whose}they were removed, by the time or size for which they are kept, or by somebody who removed "
                "them."
            )
        case "left out":
            return advice(
                "{whose}it was sent with {keep}, or the settings keep none.",
                whose=whose,
                keep=Argument("keep_before", False),
            )


def forget_earlier_records(upserts: str | Iterable[str] | None = None) -> int:
    """Remove the earlier records of upserts from this machine: these can then not be taken back.

    What was sent, and when, remains known.

    Parameters
    ----------
    upserts
        Names of upserts, as `prodex.list_upserts` shows them; by default all.

    Returns
    -------
    int
        Number of bytes that were removed.

    Raises
    ------
    InputError
        When there is no upsert with such a name.

    Examples
    --------
    >>> import prodex
    >>> product = {"gtin": "08784900123459", "nameLegal": "Riz long", "kind": {"code": "70020"}}
    >>> _ = prodex.upsert(prodex.connect("sandbox"), [product])
    >>> prodex.send.forget_earlier_records() > 0, prodex.send.forget_earlier_records()
    (True, 0)
    """
    there = {entry.name: entry for entry in list_entries()}
    names = list(there)
    if upserts is not None:
        names = names_given(upserts, "forget_earlier_records(upserts)", "upserts")
    for name in names:
        if name not in there:
            raise InputError(
                advice(
                    "There is no upsert {name}. {list} shows all.",
                    name=f"{name!r:.80}",
                    list=PythonCall("prodex.list_upserts()"),
                )
            )
    return sum(_removed(there[name]) for name in dict.fromkeys(names))


def _removed(entry: LedgerEntry) -> int:
    if entry.earlier_bytes:
        entry.opened().forget()
    return entry.earlier_bytes


def remove_old(limits: KeepingLimits, now: datetime | None = None) -> list[str]:
    """Remove the earlier records that are too old, and the oldest of too many; return the names of their upserts.

    Those of an upsert that is under way stay, and so do those of the newest one, however large they are.
    """
    moment = datetime.now(UTC) if now is None else now
    left = limits.gigabytes * 1e9
    removed = []
    try:
        kept = [entry for entry in list_entries() if entry.earlier_bytes]
    except StorageError as error:  # no reason to stop what is done at the same time
        _LOG.warning("Old earlier records could not be removed: %s", error)
        return []
    for number, entry in enumerate(kept):
        is_over = moment > limits.until(entry.planned_at) or (number > 0 and entry.earlier_bytes > left)
        if is_over and not _is_under_way(entry, moment):
            try:
                _removed(entry)
            except (InputError, StorageError) as error:
                _LOG.warning("Old earlier records could not be removed: %s", error)
            else:
                removed.append(entry.name)
            continue
        left -= entry.earlier_bytes
    if removed:
        _LOG.info(
            "the earlier records of %s were removed: %s", counted(len(removed), "upsert"), ", ".join(removed)
        )
    return removed


def _is_under_way(entry: LedgerEntry, now: datetime) -> bool:
    """Whether something of an upsert is still to be sent, or may still be imported."""
    if entry.problem:  # it is not known what becomes of it
        return True
    upsert = entry.opened()
    if upsert.keeps_payloads or upsert.is_busy:
        return True
    return any(
        call.tracking not in upsert.ended and now < (call.at or entry.changed_at) + LONGEST
        for call in upsert.calls
    )
