"""A snapshot of the records in files: they go through a journal, as those of a load do, and are never all in memory.

The journal holds them compressed until the snapshot is published. It decides which copy of a product is the newest
before anything is built, and keeps the parts that are built already if that is interrupted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from prodex import clock
from prodex.catalog import Catalog
from prodex.catalog.load_ledger import Ledger, limited_lines
from prodex.catalog.origin import Origin
from prodex.errors import InputError, ProdexError
from prodex.files.atomic import storage
from prodex.files.lock import locked
from prodex.limits import Limits
from prodex.progress import Progress, Reporter, reporting
from prodex.query import ProductQuery
from prodex.store.archive import new_name, snapshots_folder
from prodex.store.build import build_folder, build_parts
from prodex.store.copies import left_out
from prodex.store.journal import LoadJournal
from prodex.store.journal_contents import newest
from prodex.store.journal_format import Stage, framed
from prodex.store.plan import PartPlan, parts_of
from prodex.store.publish import SAVING, publish_built
from prodex.store.records_in_files import ReadingNotes, records_in
from prodex.tables.envelope import Envelope
from prodex.tables.records import Identity, identify

#: The question of a journal names under this key the files that its records are from.
FILES = "files"
_ENCODING = "encoding"

#: About the most records and bytes on one page.
_RECORDS, _BYTES = 1_000, 8_000_000

#: The note that everything was read, with what the files held besides products.
_READ = "read"


def save_files(
    files: Sequence[Path],
    name: str,
    limits: Limits | None,
    query: ProductQuery | None,
    progress: Progress,
    executor: Executor | None,
    encoding: str | None = None,
) -> Catalog:
    """Make a snapshot of the records in files; see `read_products`."""
    folder = snapshots_folder() / new_name(name)
    with locked(folder, f"reading files into {name!r}"), reporting(progress, "Products") as reporter:
        journal, plans, origin = _read(files, folder, limits, query, encoding, reporter)
        # Keys of all products were held, and there may be a million of them.
        pa.default_memory_pool().release_unused()
        with _kept_for_later():
            built = build_folder(journal)
            with storage(built):
                parts = list(build_parts(journal, plans, built, executor, reporter, counts=True))
            with reporter.phase(SAVING):
                catalog = publish_built(name, origin, parts, built)
        LoadJournal(journal, {}).remove()
        return catalog


def _read(
    files: Sequence[Path],
    folder: Path,
    limits: Limits | None,
    query: ProductQuery | None,
    encoding: str | None,
    reporter: Reporter,
) -> tuple[Path, Sequence[PartPlan], Origin]:
    """Read files into a journal, and return where it is, what to build from it, and what that is an answer to."""
    journal, reply = _journal_of_files(files, folder, limits, encoding, reporter)
    with reporter.phase("Checking what was read"):
        received = newest(journal)
    if not received and reply.set_aside:
        journal.remove()
        raise nothing_read(reply)
    others = left_out(journal, received, is_from_service=False).values()
    ledger = Ledger(
        reply.total,
        received=sum(len(entry.keys) for entry in journal.entries()),
        distinct=len(received),
        set_aside=tuple(reply.set_aside),
        left_out=tuple(limited_lines(line for lines in others for line in lines)),
    )
    source = ", ".join(path.name for path in files)
    origin = Origin(source, query, loaded_at=clock.now(), ledger=ledger)
    return journal.folder, parts_of(journal, received.by_page()), origin


def nothing_read(reply: ReadingNotes) -> InputError:
    """Return the error for files that hold no product."""
    return InputError(f"No product could be read. {reply.set_aside[0]}")


def odd_key(index: int) -> str:
    """Return the key of a record that is no object: with one of its own it takes the place of nothing else.

    Parameters
    ----------
    index
        Its place among all records.
    """
    return f"odd {index}"


def _journal_of_files(
    files: Sequence[Path],
    folder: Path,
    limits: Limits | None,
    encoding: str | None,
    reporter: Reporter,
) -> tuple[LoadJournal, ReadingNotes]:
    """Return the journal of all records: the one of an interrupted call, if it has read the same files to the end."""
    # The journal of a call without an encoding is found by its files alone.
    asked: dict[str, Any] = {FILES: _file_facts(files)} | ({} if encoding is None else {_ENCODING: encoding})
    digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
    path = folder / f".journal-{digest[:8]}"
    journal = LoadJournal.open(path)
    if journal is not None and _READ in journal.notes and _holds_files(journal, asked):
        found = json.loads(journal.notes[_READ])
        return journal, ReadingNotes(set(found["announced"]), found["set_aside"])
    journal = LoadJournal.begin(path, asked | {"began": clock.now().isoformat()})
    reply = ReadingNotes()
    try:
        records = (record for file in files for record in records_in(file, reply, limits, encoding))
        _fill(journal, records, reporter, _megabytes(files))
        found = asdict(reply) | {"announced": sorted(reply.announced)}
        journal.note(_READ, json.dumps(found))
    except BaseException:
        # Half of the files is of no use: they are there, and are read again.
        journal.remove()
        raise
    return journal, reply


def _holds_files(journal: LoadJournal, asked: Mapping[str, Any]) -> bool:
    """Whether a journal holds the records of these files."""
    return all(journal.question.get(name) == asked.get(name) for name in (FILES, _ENCODING))


def _file_facts(files: Iterable[Path]) -> list[list[Any]]:
    """Return what identifies files, and differs after a change of their content; what is no file is never the same."""
    facts: list[list[Any]] = []
    for path in files:
        if path.is_file():
            found = path.stat()
            facts.append([str(path.absolute()), found.st_size, found.st_mtime_ns])
        else:
            facts.append([str(path.absolute()), clock.now().isoformat()])
    return facts


def _megabytes(files: Iterable[Path]) -> int:
    """Return how much there is to read; 0 where nobody knows: compressed files, and what is no file."""
    if any(not path.is_file() or path.suffix == ".gz" for path in files):
        return 0
    return round(sum(path.stat().st_size for path in files) / 1e6)


def _fill(journal: LoadJournal, records: Iterable[bytes], reporter: Reporter, megabytes: int) -> None:
    received = size = 0
    with reporter.phase("Reading files", "MB" if megabytes else "products", megabytes) as show:
        for page in _pages(records):
            keys = [
                Identity(one.product_id, one.updated_at)
                if (one := identify(record))
                else Identity(odd_key(index))
                for index, record in enumerate(page, received)
            ]
            moment = clock.now()
            journal.add(f"{Stage.PULL}/0", framed(page), Envelope([]), keys, received_at=moment)
            received += len(page)
            size += sum(map(len, page))
            # Records are read without the spaces between them, so that less than all of the bytes may be counted.
            show(min(round(size / 1e6), megabytes) if megabytes else received, megabytes)
            reporter.count(received, 0)  # how many there will be nobody knows


def _pages(records: Iterable[bytes]) -> Iterator[list[bytes]]:
    page: list[bytes] = []
    size = 0
    for record in records:
        page.append(record)
        size += len(record)
        if len(page) >= _RECORDS or size >= _BYTES:
            yield page
            page, size = [], 0
    if page:
        yield page


@contextmanager
def _kept_for_later() -> Iterator[None]:
    try:
        yield
    except ProdexError as error:
        error.add_note("Everything read and built so far is kept: the same call continues from there.")
        raise
