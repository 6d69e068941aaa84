"""Publish a snapshot: upload the files that are not there, commit each table, and pin their versions last."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from prodex import clock
from prodex.advice import Argument, PythonCall, advice
from prodex.catalog import Catalog
from prodex.catalog.part import Part
from prodex.errors import InputError, PublicationConflict, PublicationRefused
from prodex.files import parquet
from prodex.progress import Progress, Reporter, reporting
from prodex.publishing.delta_tables import (
    PublishedFile,
    TableState,
    busy,
    commit,
    conflict,
    log_name,
    table_state,
)
from prodex.publishing.destination import WORKERS, Place, delta, place_of
from prodex.publishing.pointer_table import POINTER, Pointer, PointerRepair, pointer_of, repaired_pointer
from prodex.publishing.publication import Publication, Row, file_names
from prodex.store.parts import StoredPart, path_of, rewrite_table
from prodex.store.snapshot import SNAPSHOTS, catalog_given, stored_parts
from prodex.tables.declaration import TABLES

Given = TypeVar("Given")
Result = TypeVar("Result")

#: The files of a table by name.
TableFiles = dict[str, PublishedFile]


def publish(
    catalog: Catalog | str | Path,
    uri: str | Path,
    *,
    older: bool = False,
    storage_options: Mapping[str, str] | None = None,
    progress: Progress = None,
) -> Publication:
    """Publish a snapshot as Delta tables, one for each table, for a team and for other programs.

    The Parquet files of the snapshot are uploaded as they are, and only those that are not there yet. Earlier
    publications stay readable. The table `_snapshots`, written last, says which versions of the tables belong together;
    an interruption before that changes nothing for readers, and the next call continues. If nothing has changed since
    the newest publication, nothing is written. Of several processes that publish at once, one has published, and the
    others get a `PublicationConflict`. A damaged table `_snapshots` is repaired from what is there.

    Parameters
    ----------
    catalog
        A snapshot, or its name; "shop@2026-11-13" is an earlier one.
    uri
        A folder, or an address of S3, Google Cloud Storage or Azure ("s3://bucket/shop"), for one name of snapshots.
    older
        Publish the snapshot even if the newest publication is of a newer one.
    storage_options
        What the object store needs, as the package `deltalake` takes it. Credentials may also be in the environment.
    progress
        Whether to show a bar, or a function that is called with the steps done and their number.

    Returns
    -------
    Publication
        Its number, what it holds, and how many files were uploaded.

    Raises
    ------
    InputError
        When the catalogue is in memory or filtered: save it first.
    PublicationRefused
        When the place belongs to another program, to other snapshots, or to a newer version of prodex, or the newest
        publication is of a newer snapshot.
    PublicationConflict
        When another process published another snapshot to the same place meanwhile.
    SnapshotDamaged
        When a file of the snapshot is not as it was written.
    StorageError
        When the place refuses: full, no rights, not reached.
    MissingExtra
        When `deltalake` is not installed.

    Examples
    --------
    >>> import prodex, tempfile
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}]).save("shop")
    >>> folder = tempfile.mkdtemp()
    >>> published = prodex.publish(catalog, folder)
    >>> published.number, published.products
    (1, 1)
    >>> prodex.publish(catalog, folder).uploaded  # nothing has changed
    0
    """
    snapshot = _whole_snapshot(catalog_given(catalog, f"publish(catalog, {str(uri)!r:.60})", uri))
    place = place_of(uri, storage_options)
    delta()
    folder = snapshot.folder
    assert folder is not None  # noqa: S101 - a whole snapshot has one
    with (
        tempfile.TemporaryDirectory(prefix="prodex-", ignore_cleanup_errors=True) as scratch,
        reporting(progress, "Published", "steps") as reporter,
    ):
        with reporter.phase("Reading the snapshot"):
            parts, tables = _gathered(snapshot, stored_parts(folder), Path(scratch))
        return _publish_content(_Content(snapshot, folder, parts, tables), place, reporter, older=older)


@dataclass(frozen=True)
class _Content:
    """What is to be published: a snapshot, its parts as they are published, and the files of each table."""

    snapshot: Catalog
    folder: Path
    parts: tuple[StoredPart, ...]
    tables: Mapping[str, TableFiles]

    @property
    def name(self) -> str:
        return self.folder.parent.name


def _publish_content(content: _Content, place: Place, reporter: Reporter, *, older: bool) -> Publication:
    name, tables = content.name, content.tables
    with reporter.phase("Listing what is published"):
        there = place.sizes(["_delta_log", POINTER, *tables])
        pointer, repair = _own_pointer(place, there, name)
        # A row of a log that is lost altogether may never have been published.
        if not older and repair.newest is not None and pointer.handle is not None:
            _refuse_older(content, repair.newest.publication)
    newest = repair.newest
    settled = {} if newest is None else _settled(newest, tables, there)
    unsettled = [table for table in tables if table not in settled]
    missing = [
        (f"{table}/{file.name}", file)
        for table, files in tables.items()
        for file in files.values()
        if there.get(f"{table}/{file.name}") != file.facts["bytes"]
    ]
    logs = {path.partition("/_delta_log/")[0] for path in there if "/_delta_log/" in path}

    def found(table: str) -> TableState:
        return table_state(place, table) if table in logs else TableState()

    def upload(one: tuple[str, PublishedFile]) -> None:
        place.upload(one[1].source, one[0], one[1].facts)

    def overtaken() -> None:
        # Once another row is there, ours can no longer be added.
        if pointer_of(place).files.keys() != pointer.files.keys():
            raise PublicationConflict

    def committed(table: str) -> int:
        schema = _delta_schema(content.snapshot, table)
        return commit(place, table, name, schema, tables[table], states[table], overtaken=overtaken)

    place.remove_left_over(tables)
    total = len(missing) + len(unsettled) + 1
    with reporter.phase("Publishing", "steps", total, counts=True) as phase:
        # All are opened before anything is written: a table of another program is then refused in time.
        states = dict(zip(unsettled, in_threads(found, unsettled), strict=True))
        in_threads(upload, missing, phase.add)
        try:
            versions = in_threads(committed, unsettled, phase.add)
            row = _pointer_row(
                content, place, repair.number, settled | dict(zip(unsettled, versions, strict=True))
            )
            row = _added(pointer, repair, row)
        except PublicationConflict:
            row = _of_another(content, pointer)
        phase(total, total)
    return replace(row.publication, uploaded=len(missing))


def _own_pointer(place: Place, there: Mapping[str, int], name: str) -> tuple[Pointer, PointerRepair]:
    """Return the publications at a place and what is to be repaired, provided that this name may be published there.

    Raises
    ------
    PublicationRefused
        When another program or another name uses it.
    """
    if any(path.startswith("_delta_log/") for path in there):
        raise PublicationRefused(
            f"{place.address} is a Delta table of another program, and stays as it is. Publish to a place of its own."
        )
    pointer, repair = repaired_pointer(place, there, name)
    newest = repair.newest
    if newest is not None and newest.publication.name != name:
        raise PublicationRefused(
            f"{place.address} has publications of {newest.publication.name!r}, not of {name!r}. Publish each name to a "
            "place of its own."
        )
    return pointer, repair


def _refuse_older(content: _Content, newest: Publication) -> None:
    """Refuse a snapshot if the newest publication is of a newer one.

    Raises
    ------
    PublicationRefused
        When it is.
    """
    if _is_older(content, newest):
        raise PublicationRefused(
            advice(
                "The snapshot {ours} is older than {theirs}, the newest publication at {uri} (number {number}), and is "
                "not published. To have readers open the older one from now on, publish it with {older}{at}.",
                ours=f"{content.name}@{content.folder.name}",
                theirs=f"{newest.name}@{newest.snapshot}",
                uri=newest.uri,
                number=newest.number,
                older=Argument("older", True),
                at=PythonCall("; open_published(uri, at=...) opens an earlier publication"),
            )
        )


def _is_older(content: _Content, newest: Publication) -> bool:
    """Whether a snapshot is older than a published one: by the order of those that are here, else by their times."""
    ours, theirs = content.folder.name, newest.snapshot
    known = [folder.name for folder in SNAPSHOTS.of(content.name)]
    if ours in known and theirs in known:
        return known.index(ours) < known.index(theirs)
    if theirs > clock.as_name(clock.now()):
        # Its clock was ahead, or ours is behind: a time proves nothing then, and the newest one here is taken for new.
        return known[-1:] != [ours]
    return ours < theirs


def _added(pointer: Pointer, repair: PointerRepair, row: Row) -> Row:
    """Add a publication, and repair what has to be; a publication that is there already is not added again.

    Raises
    ------
    PublicationConflict
        When another process has published meanwhile.
    """
    rows, newest = repair.rows, repair.newest
    if (
        newest is not None
        and newest.says_the_same(row)
        and newest.publication.versions == row.publication.versions
    ):
        row = newest
        if not repair.is_needed:
            return row
    else:
        rows = (*rows, row)
    if not pointer.append(rows, row.publication.name, repair.found, repair.withdrawn):
        raise PublicationConflict
    return row


def _of_another(content: _Content, before: Pointer) -> Row:
    """Return the publication that another process has added meanwhile, if it is what we wanted to publish.

    Raises
    ------
    PublicationConflict
        When it is another one; the message says which.
    """
    place = before.place
    now = pointer_of(place)
    if now.files.keys() == before.files.keys() or (newest := now.newest) is None:
        raise busy(place)
    if newest.says_the_same(_pointer_row(content, place, newest.publication.number)):
        return newest
    raise conflict(place, newest.publication, is_newer=_is_older(content, newest.publication)) from None


def _pointer_row(
    content: _Content, place: Place, number: int, versions: Mapping[str, int] | None = None
) -> Row:
    """Return what the pointer is to say."""
    publication = Publication(
        place.address,
        number,
        content.name,
        content.folder.name,
        datetime.now(UTC),
        len(content.snapshot),
        content.snapshot.complete,
        {} if versions is None else {table: versions[table] for table in TABLES},
    )
    return Row(publication, content.snapshot.origin, content.parts)


def _part_columns(part: Part, table: str) -> list[str]:
    return list(parquet.schema_of(part.files[table], part.facts.get(table)).names)


def _whole_snapshot(catalog: Catalog) -> Catalog:
    """Return a catalogue that is a snapshot as it was saved, or say what to do.

    Raises
    ------
    InputError
        When it is in memory or filtered.
    """
    if catalog.folder is None:
        raise InputError(
            "publish() takes a snapshot, and this catalogue has none on this machine. Save it first: "
            "catalog.save(name)."
        )
    # Where products were requested anew, their number is the same.
    is_filtered = any(part.chosen is not None or "raw" not in part.files for part in catalog.parts)
    if is_filtered or len(catalog) != sum(part.products for part in stored_parts(catalog.folder)):
        raise InputError(
            "publish() takes a whole snapshot, and this catalogue is filtered, or some of its products were requested "
            "anew. Save it under a name of its own first: catalog.save(name)."
        )
    return catalog


def _gathered(
    snapshot: Catalog, stored: tuple[StoredPart, ...], scratch: Path
) -> tuple[tuple[StoredPart, ...], dict[str, TableFiles]]:
    """Return the parts as they are published, and the files of each table.

    Every part has the entries of a lexicon that it uses, so that its parts together have entries twice. Their union is
    published in their place, as one file that all parts share.
    """
    folder = snapshot.folder
    assert folder is not None  # noqa: S101 - see publish
    shared: dict[str, StoredPart] = {}
    for table in (name for name, one in TABLES.items() if not one.per_product):
        if len(stored) > 1:
            shared[table] = rewrite_table(StoredPart(0, 0, {}), scratch, table, snapshot.arrow(table))
    parts = tuple(
        part._replace(files=part.files | {table: one.files[table] for table, one in shared.items()})
        for part in stored
    )
    tables: dict[str, TableFiles] = {table: {} for table in TABLES}
    for part, names in zip(parts, file_names(parts), strict=True):
        for table, name in names.items():
            source = scratch / path_of(table, 0) if table in shared else folder / path_of(table, part.number)
            file = PublishedFile(name.partition("/")[2], source, part.files[table])
            tables[table][file.name] = file
    return parts, tables


def _delta_schema(catalog: Catalog, table: str) -> pa.Schema:
    """Return the columns of a Delta table, as its files hold them."""
    declared = TABLES[table]
    names = declared.schema.names
    if table == "presence":
        # A catalogue without parts still has the declared columns.
        names = list(
            dict.fromkeys([*names, *(name for part in catalog.parts for name in _part_columns(part, table))])
        )
    # Delta does not distinguish names by case. What it cannot hold is in the files, and in the catalogue.
    different = {name.lower(): name for name in reversed(names)}
    fields = [
        pa.field(one.name, pa.string() if pa.types.is_dictionary(one.type) else one.type)
        for one in declared.schema_of(name for name in names if different[name.lower()] == name)
    ]
    return pa.schema(
        [f.with_type(pa.timestamp("us", f.type.tz)) if pa.types.is_timestamp(f.type) else f for f in fields]
    )


def _settled(newest: Row, tables: Mapping[str, TableFiles], there: Mapping[str, int]) -> dict[str, int]:
    """Return the versions of those tables that are as they were published last."""
    files: dict[str, set[str]] = defaultdict(set)
    for names in file_names(newest.parts):
        for table, name in names.items():
            files[table].add(name.partition("/")[2])
    logs: dict[str, set[str]] = defaultdict(set)
    for path in there:
        table, _, log = path.partition("/_delta_log/")
        if log.endswith(".json"):
            logs[table].add(path)
    return {
        table: version
        for table, version in newest.publication.versions.items()
        if table in tables
        and tables[table].keys() == files[table]
        and max(logs[table], default="") == log_name(table, version)
        # After a power cut it may be empty, which Delta takes for a commit of nothing.
        and there[log_name(table, version)]
    }


def in_threads(
    work: Callable[[Given], Result], given: list[Given], after: Callable[[], object] = lambda: None
) -> list[Result]:
    """Do some work for each, several at a time; what has not begun when one fails or is stopped is not done."""
    results = []
    with ThreadPoolExecutor(WORKERS) as pool:
        try:
            for result in pool.map(work, given):
                results.append(result)
                after()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return results
