"""Refreshing: only changed products are fetched, and merged by key into a new snapshot.

Every table of a snapshot except `code_labels` follows from `raw`, which holds the products as received. If `raw` is
undamaged, the other tables of its part are built again, as a new snapshot; the damaged one is not changed.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from prodex.advice import PythonCall, advice
from prodex.catalog import Catalog, Origin
from prodex.catalog.load_ledger import limited_lines
from prodex.errors import InputError, QueryError, SnapshotDamaged
from prodex.executors import checked_executor
from prodex.files.atomic import checked_name, storage
from prodex.files.lock import locked
from prodex.gtin import comparable
from prodex.limits import WINDOWS, LoadBudget
from prodex.load.clocks import Clocks, checked_lag, newest_update, starting_from
from prodex.load.fetch import Fetch
from prodex.load.labels import load_code_labels
from prodex.load.matching import unmatched, with_mismatches
from prodex.load.products import checked_windows, dated
from prodex.load.resume import kept_for_later, question_of, require_complete, resumed
from prodex.progress import SILENT, Progress, Reporter, reporting
from prodex.query import ProductQuery
from prodex.service import Client, connect
from prodex.service.connection import service_given
from prodex.store.archive import snapshots_folder
from prodex.store.copies import Copy, left_out, left_out_line, replacement
from prodex.store.disappeared_products import absence_of, listing_is_whole
from prodex.store.journal import LoadJournal, journals_in
from prodex.store.journal_contents import ABSENT, newest
from prodex.store.journal_format import Stage
from prodex.store.merge import link_table, merge_parts
from prodex.store.merge_plan import held_products, plan_merge
from prodex.store.newest import Newest, NewestCopy, repeated
from prodex.store.parts import Files, StoredPart, write_tables
from prodex.store.publish import publish_parts
from prodex.store.reconciliation import ledger_of
from prodex.store.snapshot import SNAPSHOTS, name_of, open_snapshot, stored_parts
from prodex.store.snapshot_keys import RefreshedKeys, SnapshotKeys
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import blocks_of

_LOG = logging.getLogger("prodex")


def refresh(
    name: str | Catalog,
    service: Client | Literal["sandbox"] | None = None,
    *,
    sweep: bool | None = None,
    lag: timedelta | float | None = None,
    windows: int = WINDOWS,
    allow_incomplete: bool = False,
    progress: Progress = None,
    executor: Executor | None = None,
    budget: LoadBudget | None = None,
) -> Catalog:
    """Update a snapshot by fetching only changed products, and save the result as a new snapshot.

    Changed products are those updated since the earlier of two moments, less the lag: the service's clock at the
    last load, and the newest `updatedAt` received. Parts without a change are not written again.

    A product that was removed, or that left the query without an update, is not among the changed ones. So key and date
    of all products are listed if that takes few calls (below 10,000 products) or if the counts do not agree. Missing
    products are then fetched; a product that is not in the list is requested by its GTIN, and removed if the
    reply contains others but not it. If the reply contains no other product, it is kept: the refresh is incomplete.

    Parameters
    ----------
    name
        Name of the snapshot, or a catalogue that was opened from it; the newest of that name is refreshed.
    service
        From `prodex.connect`, with the same access key that loaded the snapshot; the one in your settings unless given.
    sweep
        Make that list always (True), or only if the counts do not agree (False). They also agree if as many products
        are missing as were removed.
    lag
        After which time at most the service shows a change (a timedelta, or seconds); 15 minutes by default. What was
        changed before the last load, and shown after it, is found within this time; without that, only a list of all
        keys finds it.
    windows, allow_incomplete, progress, executor, budget
        As for `load_products`.

    Raises
    ------
    QueryError
        When the lag is not a time, or the snapshot is not from this service and access key.
    SnapshotNotFound
        When there is no snapshot of this name yet.
    SnapshotDamaged
        When records of it are damaged; `error.products` has to be loaded again. Other damage is repaired from the
        records.
    IncompleteLoad, SnapshotLocked, ServiceError, StorageError
        As for `load_products`; what was received is kept, and the same call continues from there.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> catalog = prodex.load_products(service, name="shop")
    >>> newer = prodex.refresh("shop", service)
    >>> bool(prodex.diff(catalog, newer))  # nothing has changed meanwhile
    False
    """
    if isinstance(name, Client):
        meant = service if isinstance(service, str) and service != "sandbox" else "shop"
        raise InputError(f"The name comes first: write prodex.refresh({meant!r}, service).")
    checked_executor(executor)
    name = _newest_name(name)
    service = connect() if service is None else service_given(service, f"refresh({name!r}, service)")
    windows = checked_windows(windows)
    lag_given = {} if lag is None else {"lag": checked_lag(lag).total_seconds()}
    folder = snapshots_folder() / checked_name(name)
    open_snapshot(name)
    with locked(folder, f"refreshing {name!r}"), reporting(progress, "Changed products") as reporter:
        newest_one = open_snapshot(name)
        old = repaired(newest_one, reporter, remakes=not _is_interrupted(folder, newest_one))
        origin, client = _same_question(service, old, name)
        assert old.folder is not None  # noqa: S101 - an opened snapshot has one
        assert origin.query is not None and origin.loaded_at is not None  # noqa: S101, PT018 - a load has both
        with reporter.phase("Reading the keys of the snapshot"):
            held = _keys_of_snapshot(old)
        newest_second = newest_update(held.dates)
        since = starting_from(origin.server_time, origin.loaded_at, newest_second, checked_lag(lag))
        asked = question_of(origin).to_json()
        question = {"asked": asked, "snapshot": old.folder.name, "sweep": sweep is True} | lag_given
        journal = resumed(folder, question, {"windows": windows}, allow_incomplete)
        with kept_for_later(journal):
            fetch = Fetch(
                client,
                origin.query,
                journal,
                since=since,
                held=held,
                last=Clocks(origin.server_time, origin.loaded_at),
                tolerant=allow_incomplete,
                reporter=reporter,
                budget=budget,
            )
            fetch.refresh(sweep=sweep, was_complete=origin.complete)
            new = _merged(client, name, old, journal, held, allow_incomplete, executor, reporter)
        journal.remove()
        return new


def _is_interrupted(folder: Path, snapshot: Catalog) -> bool:
    """Whether a refresh of a snapshot was interrupted: what it has received goes on from this very snapshot."""
    questions = filter(None, map(LoadJournal.question_of, journals_in(folder)))
    return any(one.get("snapshot") == Path(snapshot.folder or "").name for one in questions)


def _newest_name(snapshot: Any) -> str:
    """Return the name of a snapshot, provided that it is the newest one."""
    name, _, earlier = name_of(snapshot, "refresh").partition("@")
    if isinstance(snapshot, Catalog):
        earlier = "" if open_snapshot(name).folder == snapshot.folder else "of then"
    if earlier:
        shown = repr(snapshot) if isinstance(snapshot, str) else str(snapshot.folder)
        raise QueryError(
            advice(
                "{shown} is an earlier snapshot. The newest is refreshed: {refresh}.",
                shown=shown,
                refresh=PythonCall("refresh({name!r}, service)", name=name),
            )
        )
    return name


def _same_question(service: Client, old: Catalog, name: str) -> tuple[Origin, Client]:
    """Return the origin of the snapshot, and the client for this load, in its language."""
    origin = old.origin
    if origin.query is None or (origin.source, origin.asked_by) != (service.base_url, service.fingerprint):
        raise QueryError(
            f"{name!r} comes from {origin.source}"
            + (", asked with another access key" if origin.source == service.base_url else "")
            + f"; {service.base_url} does not know what changed in it. Load from there under another name."
        )
    if len(old) != origin.ledger.distinct:
        raise QueryError(
            f"{name!r} was saved with {len(old):,} of {origin.ledger.distinct:,} products. No query describes such "
            "a selection, so it cannot be requested again: refresh the snapshot that it was made from."
        )
    if origin.accept_language != service.accept_language:
        return origin, service.with_language(origin.accept_language).for_load()
    return origin, service.for_load()


def _keys_of_snapshot(old: Catalog) -> SnapshotKeys:
    """Return the products of a snapshot by key, with the date as the service writes it."""
    table = old.arrow("products", ["product_id", "updated_at", "gtin"])
    dates = pc.strftime(table["updated_at"], format="%Y-%m-%dT%H:%M:%S")
    seconds = pc.utf8_slice_codeunits(dates, 0, 19)  # Arrow writes fractions of seconds too
    return SnapshotKeys(table.set_column(1, "updated_at", seconds))


def _merged(
    client: Client,
    name: str,
    old: Catalog,
    journal: LoadJournal,
    held: SnapshotKeys,
    allow_incomplete: bool,
    executor: Executor | None,
    reporter: Reporter,
) -> Catalog:
    """Check what was received, and merge it with the snapshot."""
    origin, folder = old.origin, old.folder
    assert folder is not None  # noqa: S101 - see refresh
    query = origin.query or ProductQuery()
    with reporter.phase("Checking what was received"):
        copies = newest(journal)
        received = _newer(copies, held, old, journal)
        everything = RefreshedKeys(held, received)
        # Products that never belonged to the query may go, however many they are.
        left = unmatched(old.parts, query) if journal.notes.get(ABSENT) else []
        absence = absence_of(journal, everything, {product for one in left for product, _, _ in one.products})
        gone = absence.gone
        ledger = ledger_of(journal, everything, absence, query.gtins_in or (), refreshed=True)
        # It names each product of the service, which nobody needs while parts are merged.
        del absence
        # An unchanged product is not received again, so that its GTIN is not missing.
        if ledger.missing_gtins:
            ledger = replace(
                ledger, missing_gtins=_not_kept(ledger.missing_gtins, old, gone | received.keys())
            )
        others = _left_out_lines(journal, copies, received, held, old, gone)
        ledger = replace(ledger, left_out=tuple(limited_lines(others)))
        require_complete("The refresh", ledger, journal, allow_incomplete)
        places = {
            product: (copy.page, copy.item) for product, copy in received.items() if product not in gone
        }
        decided = plan_merge(held_products(old), places, gone)
    _LOG.info("%d added, %d changed, %d removed", decided.added, decided.changed, decided.gone)

    # `build` learns which products do not match the query, and `publish_parts` asks for the origin only afterwards.
    checked = ledger

    def build(beside: Path) -> Iterable[StoredPart]:
        nonlocal checked
        with storage(beside):
            stored = stored_parts(folder)
            parts = list(
                merge_parts(stored, folder, journal.folder, decided.parts, beside, executor, reporter)
            )
            checked = with_mismatches(ledger, unmatched((part.open(beside) for part in parts), query))
            require_complete("The refresh", checked, journal, allow_incomplete)
            if origin.labels:
                parts, notes = load_code_labels(client, query, origin.labels, parts, beside, reporter)
                checked = replace(checked, notes=(*checked.notes, *notes))
            return parts

    return publish_parts(
        name,
        lambda: dated(question_of(origin), journal, checked),
        build,
        reporter,
        is_own=SNAPSHOTS.is_own(folder),
    )


def _not_kept(gtins: Sequence[str], old: Catalog, left: Collection[str]) -> tuple[str, ...]:
    """Return the GTINs that no unchanged product has."""
    table = old.arrow("products", ["product_id", "gtin"])
    rows = zip(table["product_id"].to_pylist(), table["gtin"].to_pylist(), strict=True)
    kept = {comparable(gtin) for product, gtin in rows if product not in left}
    return tuple(gtin for gtin in gtins if gtin not in kept)


def _newer(
    received: Mapping[str, NewestCopy], held: SnapshotKeys, old: Catalog, journal: LoadJournal
) -> dict[str, NewestCopy]:
    """Return the received copies that differ: products updated shortly before the last load are received every time."""
    newer = {}
    same = []
    before = held.among(received)
    for product, copy in received.items():
        # Any other date counts, not only a later one: it has no time zone, and one hour is repeated in autumn.
        if product not in before or copy.updated_at[:19] != (before[product].updated_at or ""):
            newer[product] = copy
        else:
            same.append(product)
    stored = old.arrow(
        "raw", ["product_id", "json"], pc.field("product_id").isin(pa.array(same, pa.string()))
    )
    texts = dict(zip(stored["product_id"].to_pylist(), stored["json"].to_pylist(), strict=True))
    for product in same:  # within the same second, only the whole record shows another change
        copy = received[product]
        (record,) = journal.products(copy.page, [copy.item])
        if record.decode("utf-8", "replace") != texts[product]:
            newer[product] = copy
    return newer


def _left_out_lines(
    journal: LoadJournal,
    copies: Newest,
    received: Mapping[str, NewestCopy],
    held: SnapshotKeys,
    old: Catalog,
    gone: frozenset[str],
) -> list[str]:
    """Return a line for each record that is left out although it is of another product than the one with its key."""
    lines = left_out(journal, copies)
    for key, line in _replaced_by_others(journal, received, held, old):
        lines.setdefault(key, [line])
    # What the snapshot left out is still left out, unless the listing has each of these keys once.
    before: dict[str, list[str]] = {}
    for line in old.origin.ledger.left_out:
        key = line.removeprefix("product ").partition(", GTIN ")[0]
        before.setdefault(key, []).append(line)
    listing = [entry for entry in journal.entries() if entry.stage is Stage.LISTING]
    again = {key for key, _ in repeated(listing)} if listing_is_whole(journal) else before.keys()
    for key in (before.keys() & again) - lines.keys() - set(gone):
        lines[key] = before[key]
    return [line for several in lines.values() for line in several]


def _replaced_by_others(
    journal: LoadJournal, received: Mapping[str, NewestCopy], held: SnapshotKeys, old: Catalog
) -> Iterator[tuple[str, str]]:
    """Yield each product of the snapshot that another one would replace under its key, with a line about it."""
    before = held.among(received)
    entries = (entry for entry in journal.entries() if entry.stage.has_products)
    keys = (key for entry in entries for key in entry.keys if key and key.product_id in before)
    other_gtin = {key.product_id for key in keys if key.filled_gtin != before[key.product_id].filled_gtin}
    # Only these can be other products under the same key; the records of all would take long to compare.
    asked = [key for key, one in before.items() if key in other_gtin or key == one.gtin]
    rows = old.arrow("raw", ["product_id", "json"], pc.field("product_id").isin(pa.array(asked, pa.string())))
    for key, text in zip(rows["product_id"].to_pylist(), rows["json"].to_pylist(), strict=True):
        copy = received[key]
        (record,) = journal.products(copy.page, [copy.item])
        one, other = Copy.of(text.encode()), Copy.of(record, reply=1)
        if one is not None and other is not None and (why := replacement(one, other)):
            yield key, left_out_line(one, why)


#: Loaded from the service and not made from the records; it can be loaded again.
_LABELS = "code_labels"

_SHOWN = 5


def repaired(catalog: Catalog, reporter: Reporter = SILENT, *, remakes: bool = True) -> Catalog:
    """Return a snapshot if every file of it is as it was written, else a new snapshot with the damage repaired.

    Of a snapshot that this installation did not make, the records alone are taken: whoever made it may have written
    other things into its tables than its records say, and links would carry them into snapshots of our own.

    Parameters
    ----------
    catalog
        An opened snapshot; whoever calls holds the lock of its folder.
    reporter
        Gets the number of products that were read.
    remakes
        Whether the tables of somebody else are made anew; else they are linked, and what has them is not our own.

    Raises
    ------
    SnapshotDamaged
        When records themselves are damaged: `error.products` are those that have to be fetched again.
    """
    folder = catalog.folder
    assert folder is not None  # noqa: S101 - an opened snapshot has one
    parts = stored_parts(folder)
    damage = {}
    with reporter.phase("Checking the files of the snapshot", "products", len(catalog)) as phase:
        for part in parts:
            if found := {table: wrong for table in part.files if (wrong := part.problem(table, folder))}:
                damage[part.number] = found
            phase.add(part.products)
    is_own = SNAPSHOTS.is_own(folder)
    are_kept = is_own or not remakes
    if not damage and are_kept:
        return catalog
    if not are_kept:
        _LOG.info("this installation did not make %s: its tables are made anew from its records", folder)
    for number, tables in damage.items():
        _LOG.warning("part %d of %s is damaged: %s", number, folder, ", ".join(sorted(tables)))
    # Everything else follows from `raw`; what is damaged there is known to the service alone.
    lost = [part for part in parts if "raw" in damage.get(part.number, ())]
    if lost:
        raise _records_lost(lost, damage, folder)

    def write(beside: Path) -> Iterable[StoredPart]:
        return [
            _linked_or_rebuilt(
                part, _kept_tables(part, damage.get(part.number, {}), are_kept), folder, beside
            )
            for part in parts
        ]

    with reporter.phase("Repairing damaged tables"):
        return publish_parts(folder.parent.name, catalog.origin, write, is_own=is_own or remakes)


def _kept_tables(part: StoredPart, damage: Mapping[str, str], are_kept: bool) -> set[str]:
    """Return the tables of a part that stay; all others are made from its records."""
    kept = {_LABELS} if not are_kept else {"raw", _LABELS} if damage else set(part.files)
    return kept & part.files.keys() - damage.keys()


def _linked_or_rebuilt(part: StoredPart, kept: Collection[str], folder: Path, beside: Path) -> StoredPart:
    """Link the tables of a part that are good, and build the others from its records."""
    for table in kept:
        link_table(part, folder, table, beside, part.number)
    files: Files = {table: dict(part.files[table]) for table in kept}
    if len(kept) < len(part.files):
        records = part.open(folder).read("raw", ["json"])["json"]
        built = blocks_of(record.as_py().encode() for record in records)
        blocks = ({name: rows for name, rows in tables.items() if name not in kept} for tables in built)
        files |= write_tables(blocks, beside, part.number)
    if int(files["products"]["rows"]) != part.products:
        raise SnapshotDamaged(
            f"{folder} cannot be repaired: `raw` of part {part.number} has the records of {files['products']['rows']} "
            f"products instead of {part.products}. Load again."
        )
    return StoredPart(part.number, part.products, {name: files[name] for name in TABLES if name in files})


def _records_lost(
    lost: Iterable[StoredPart], damage: Mapping[int, Mapping[str, str]], folder: Path
) -> SnapshotDamaged:
    """Return the error that names the products without an undamaged record."""
    products: list[str] = []
    for part in lost:
        good = (t for t in ("products", "presence", "texts") if t not in damage[part.number])
        table = next(good, None)
        if table is not None:
            rows = part.open(folder).stored(table, ["product_id", "gtin"]).group_by(["product_id", "gtin"])
            found = rows.aggregate([]).to_pylist()
            products += [row["gtin"] or row["product_id"] for row in found]
    count = sum(part.products for part in lost)
    named = ", ".join(products[:_SHOWN])
    return SnapshotDamaged(
        advice(
            "{folder} cannot be refreshed: the records of {count} products are damaged and have to be fetched "
            "again{named}{more}. Load everything again ({load}), or refresh from an earlier snapshot; {verify} "
            "lists the damaged files.",
            folder=folder,
            count=f"{count:,}",
            named=f": {named}" if named else "",
            more=PythonCall(" and more (error.products)") if products[_SHOWN:] else "",
            load=PythonCall("load_products with max_age=0"),
            verify=PythonCall("verify()"),
        ),
        products=tuple(products),
    )
