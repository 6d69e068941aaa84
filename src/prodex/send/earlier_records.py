"""The earlier records of products: how they were before an upsert wrote them, kept beside its journal.

They are on disk before the first call, as payloads are. So a write can be taken back, and whoever looks back finds what
a value was before. They are kept for a time and up to a size, both settings; the oldest are removed first.

The file has a line for the index and one for each product, each with its checksum: a damaged line hides no other. The
index says where each line is, so that one product is found without reading all. Lines behind those of the index are of
products that are sent later than planned, and hold in place of the earlier ones.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from prodex.arguments import names_given
from prodex.errors import InputError, OtherLayout, ProdexError, StorageError, UnexpectedReply
from prodex.files.append_log import AppendLog, sealed, unsealed
from prodex.files.atomic import remove
from prodex.files.layouts import require_layout
from prodex.files.untrusted import is_file
from prodex.limits import KeepingLimits
from prodex.messages import counted
from prodex.progress import Progress, showing
from prodex.query import GTINS_PER_CALL, ProductQuery
from prodex.send.batches import writable
from prodex.send.journal import EARLIER_RECORDS, UpsertJournal, kept_bytes, name_of, planned_at
from prodex.send.records import Product, gtin_key
from prodex.send.upsert_history import LONGEST, changed_at, ended_imports, journals, upsert_named
from prodex.service import Client, pages
from prodex.service.replies import canonical
from prodex.tables.plain_walk import product_key
from prodex.written_json import read_written, written_json

_LOG = logging.getLogger("prodex")

_VERSION = 1
#: What to know of records that another version has kept.
_ADVICE = (
    "What it has of its products as they were before is not known here, and the upsert is not taken back."
)

#: Bytes of one product when it is unpacked: far more than any has.
_MOST_BYTES = 2**28

#: Products of 7 kB take a fifth of it; stronger compression takes much longer, and saves little.
_STRENGTH = 3


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


class KeptUpsert(NamedTuple):
    """An upsert of which the earlier records are kept.

    Attributes
    ----------
    name
        Of the upsert.
    at
        When it was planned.
    tracking_ids
        The tracking identifiers of its calls.
    by, why
        Who sent it, and what for.
    base_url
        Of the service.
    products
        Number of products.
    bytes
        Size of the earlier records on the disk.
    until
        When they are removed.
    """

    name: str
    at: datetime
    tracking_ids: tuple[int | str, ...]
    by: str
    why: str
    base_url: str
    products: int
    bytes: int
    until: datetime


def earlier_lines(products: Iterable[Product], before: Iterable[Product]) -> list[bytes]:
    """Return the lines of the file: the index, and one for each product.

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
            packed[gtin][product_key(record)] = _line(by_gtin[gtin], record)
    names, lines, place = [], [], 0
    for gtin, product in by_gtin.items():
        for key, line in (packed[gtin] or {"": _line(product, None)}).items():
            names.append([key, str(product["gtin"]), place, len(line)])
            lines.append(line)
            place += len(line) + 1
    return [sealed({"version": _VERSION, "products": names}), *lines]


def _line(product: Product, record: Product | None) -> bytes:
    sent = {name: value for name, value in writable(product).items() if name != "gtin"}
    try:
        text = written_json({"before": record, "sent": sent}, is_ascii=True)
    except RecursionError:
        text = json.dumps({"problem": "it is nested too deep to be kept"})
    content = zlib.compress(text.encode(), _STRENGTH)
    name = {"product": "" if record is None else product_key(record), "gtin": str(product["gtin"])}
    return sealed({**name, "packed": base64.b64encode(content).decode()})


def requested_lines(
    service: Client, products: Sequence[Product], extra: Mapping[str, Any], progress: Progress
) -> list[bytes]:
    """Request products before they are written, and return the lines that keep them.

    Parameters
    ----------
    service
        Where they are to be written.
    products
        As they are to be sent.
    extra
        Further filters with which they were loaded.

    Raises
    ------
    ProdexError
        When they cannot be requested; a note of the error says how to send them nevertheless.
    """
    try:
        return earlier_lines(
            products, products_now(service, (one["gtin"] for one in products), extra, progress)
        )
    except ProdexError as error:
        error.add_note(
            "Nothing was sent: the products could not be requested as they are now, which is kept to take the write "
            "back. keep_before=False (--no-keep-before) sends them without."
        )
        raise


def renew(service: Client, journal: UpsertJournal, numbers: Iterable[int], progress: Progress) -> None:
    """Keep the products of batches as they are now, before these are sent later than they were planned.

    Somebody may have changed them meanwhile, and an undo has to lead back to that. What was merged with loaded products
    is only sent if they have not changed, and what may have arrived already is not as it was before any more.

    Raises
    ------
    ProdexError
        When they cannot be requested; a note of the error says how to send them nevertheless.
    """
    batches = journal.batches()
    gtins = {
        gtin
        for number in numbers
        if batches[number].sent in {"not sent", "refused"} and not journal.loaded(number)
        for gtin in batches[number].gtins
    }
    if not gtins or not journal.keeps_earlier_records:
        return
    sent = {
        one.gtin: {**one.sent, "gtin": one.gtin}
        for one in earlier_records(journal.name, gtins)
        if not one.problem
    }
    try:
        _, *lines = earlier_lines(sent.values(), products_now(service, sent, journal.head.extra, progress))
    except ProdexError as error:
        error.add_note(
            "Nothing was sent: the products could not be requested as they are now, which is kept to take the write "
            f'back. prodex.forget_earlier_records("{journal.name}") sends them without.'
        )
        raise
    if lines:
        AppendLog(journal.path.with_name(EARLIER_RECORDS)).append(b"\n".join(lines))


def products_now(
    service: Client, gtins: Iterable[str], extra: Mapping[str, Any], progress: Progress = False
) -> Iterator[Product]:
    """Request products by their GTINs, whatever units they are; pages overlap, so that one may come more than once.

    Parameters
    ----------
    service, gtins
        Where, and which.
    extra
        Further filters with which they were loaded.
    progress
        As for `prodex.upsert`.

    Raises
    ------
    ProdexError
        When they cannot be requested, or read.
    """
    # Without it a service may list consumer units only, and any other product would seem to be new.
    extra = {"allow_not_consumer_units": True, **extra}
    wanted = list(dict.fromkeys(map(str, gtins)))
    if not wanted:
        return
    query = ProductQuery(gtins_in=wanted, extra=extra)
    # What a user gave as a function of (done, total) counts the products that are sent.
    shown, count = False if callable(progress) else progress, 0
    with showing(shown, "Kept", phase="Keeping the products as they are now", total=len(wanted)) as show:
        for page in pages(service, query, page_size=GTINS_PER_CALL, progress=False):
            for content in page.envelope.data:
                try:
                    yield read_written(bytes(content))
                except (ValueError, RecursionError) as error:
                    raise UnexpectedReply(
                        f"A product of {service.base_url} cannot be read: {error}."
                    ) from error
            count += len(page.envelope.data)
            show(min(count, len(wanted)), len(wanted))


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
    journal = upsert_named(name)
    if not is_file(path := journal.path.with_name(EARLIER_RECORDS)):
        raise InputError(why_none(journal))
    wanted = None if products is None else frozenset({*products, *map(gtin_key, products)})
    yield from _records_in(path, wanted)


def _records_in(path: Path, wanted: frozenset[str] | None) -> Iterator[EarlierRecord]:
    def is_wanted(product: str, gtin: str) -> bool:
        return wanted is None or bool(wanted & {product, gtin_key(gtin)})

    try:
        with path.open("rb") as file:
            index = _index(path, first := file.readline())
            if index is None:  # nobody knows which products it names, so the other lines do
                every = _last_of_each(_numbered_records(file, 2))
                yield from (one for one in every if one.problem or is_wanted(one.product, one.gtin))
                return
            file.seek(len(first) + max((at + size + 1 for _, _, at, size in index), default=0))
            renewed = list(_last_of_each(_numbered_records(file, len(index) + 2)))
            known = {gtin_key(one.gtin) for one in renewed}
            for product, gtin, at, size in index:
                if is_wanted(product, gtin) and gtin_key(gtin) not in known:
                    file.seek(len(first) + at)
                    yield _record(file.read(min(size, _MOST_BYTES)), product, gtin, "its entry is damaged")
            yield from (one for one in renewed if one.problem or is_wanted(one.product, one.gtin))
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from error


def _numbered_records(lines: Iterable[bytes], begin: int) -> Iterator[EarlierRecord]:
    return (_record(line, "", "", f"line {number} is damaged") for number, line in enumerate(lines, begin))


def _last_of_each(records: Iterable[EarlierRecord]) -> Iterable[EarlierRecord]:
    """Return the records without those that were kept anew later, and the damaged ones."""
    found: dict[tuple[str, str, str], EarlierRecord] = {}
    for one in records:
        if one.product:  # it was new before, and is there by now
            found.pop(("", gtin_key(one.gtin), ""), None)
        key = one.product, gtin_key(one.gtin), one.problem
        found.pop(key, None)
        found[key] = one
    return found.values()


def _index(path: Path, line: bytes) -> list[tuple[str, str, int, int]] | None:
    head = unsealed(line.rstrip(b"\n"))
    if head is None:
        return None
    found = head.get("version")
    require_layout(path, found if isinstance(found, int) else None, _VERSION, _ADVICE)
    if not isinstance(head.get("products"), list):
        return None
    entries = []
    for one in head["products"]:
        match one:
            case [str(product), str(gtin), int(at), int(size)] if at >= 0 and size >= 0:
                entries.append((product, gtin, at, size))
            case _:
                return None
    return entries


def _record(line: bytes, product: str, gtin: str, problem: str) -> EarlierRecord:
    """Return what a line says; a damaged one is named as the index names it."""
    found = unsealed(line.rstrip(b"\n"))
    if found is None:
        return EarlierRecord(product, gtin, None, problem=problem)
    product, gtin = str(found.get("product")), str(found.get("gtin"))
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(base64.b64decode(str(found.get("packed"))), _MOST_BYTES)
        if not unpacking.eof:
            return EarlierRecord(
                product, gtin, None, problem=f"its entry is cut, or unpacks to over {_MOST_BYTES:,} bytes"
            )
        said = read_written(content)
    except (zlib.error, binascii.Error, ValueError, RecursionError):
        return EarlierRecord(product, gtin, None, problem=problem)
    match said:
        case {"before": dict() | None as before, "sent": dict() as sent}:
            return EarlierRecord(product, gtin, before, sent)
        case {"problem": str() as words}:
            return EarlierRecord(product, gtin, None, problem=words)
    return EarlierRecord(product, gtin, None, problem=problem)


def why_none(journal: UpsertJournal) -> str:
    """Return why no earlier records are kept of an upsert, as sentences."""
    whose = f"No earlier records are kept of the upsert {journal.name}: "
    match journal.head.earlier_records:
        case "kept":
            return (
                f"{whose}they were removed, by the time or size for which they are kept, or by somebody who removed "
                "them."
            )
        case "left out":
            return f"{whose}it was sent with keep_before=False (--no-keep-before), or the settings keep none."


def kept_upserts() -> list[KeptUpsert]:
    """Return the upserts from this machine of which earlier records are kept, the newest first."""
    limits = KeepingLimits.given()
    found = []
    for path in journals():
        if not (size := kept_bytes(path)):
            continue
        try:
            journal = UpsertJournal(path)
            batches = journal.batches()
        except (InputError, StorageError) as error:
            _LOG.warning("%s Its earlier records are passed over.", error)
            continue
        at = datetime.fromisoformat(journal.head.at)
        ids = tuple(canonical(one.tracking) for one in batches if one.tracking is not None)
        products = sum(len(one.gtins) + len(one.left_out) for one in batches)
        head = journal.head
        until = limits.until(at)
        found.append(
            KeptUpsert(journal.name, at, ids, head.by, head.why, head.base_url, products, size, until)
        )
    return found


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
    >>> prodex.forget_earlier_records() > 0, prodex.forget_earlier_records()
    (True, 0)
    """
    paths = {name_of(path): path for path in journals()}
    names = list(paths)
    if upserts is not None:
        names = names_given(upserts, "forget_earlier_records(upserts)", "upserts")
    for name in names:
        if name not in paths:
            raise InputError(f"There is no upsert {name!r:.80}. prodex.list_upserts() shows all.")
    return sum(_removed(paths[name]) for name in dict.fromkeys(names))


def _removed(journal: Path) -> int:
    size = kept_bytes(journal)
    if size:
        remove(journal.with_name(EARLIER_RECORDS))
    return size - kept_bytes(journal)


def remove_old(limits: KeepingLimits, now: datetime | None = None) -> list[str]:
    """Remove the earlier records that are too old, and the oldest of too many; return the names of their upserts.

    Those of an upsert that is under way stay, and so do those of the newest one, however large they are.
    """
    moment = datetime.now(UTC) if now is None else now
    left = limits.gigabytes * 1e9
    removed = []
    try:
        kept = [path for path in journals() if kept_bytes(path)]
    except StorageError as error:  # no reason to stop what is done at the same time
        _LOG.warning("Old earlier records could not be removed: %s", error)
        return []
    for number, path in enumerate(kept):
        size = kept_bytes(path)
        is_over = moment > limits.until(planned_at(path)) or (number > 0 and size > left)
        if is_over and not _is_under_way(path, moment):
            if _removed(path):
                removed.append(name_of(path))
            continue
        left -= size
    if removed:
        _LOG.info(
            "the earlier records of %s were removed: %s", counted(len(removed), "upsert"), ", ".join(removed)
        )
    return removed


def _is_under_way(path: Path, now: datetime) -> bool:
    """Whether something of an upsert is still to be sent, or may still be imported."""
    try:
        journal = UpsertJournal(path)
    except OtherLayout:  # it is not known what becomes of it
        return True
    except (InputError, StorageError):
        return False
    if journal.keeps_payloads or journal.is_busy:
        return True
    ended = ended_imports(path)
    return any(
        call.tracking not in ended and now < (call.at or changed_at(path)) + LONGEST for call in journal.calls
    )
