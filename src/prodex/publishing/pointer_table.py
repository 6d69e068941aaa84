"""The table `_snapshots`: one row for each publication, written last. Whoever follows it never sees a mixture.

A publication is there when its row is: each row is a file, and one commit names it. Of several processes that publish
at once, the first one whose commit is taken has published; see `delta_tables` for what takes it.

A row counts if its file can be read and its tables are there as a whole. A file of the log that is damaged or missing
gets a content that any two publishers would write alike, and which names nothing; all else is part of the commit that
publishes, and which one of them wins.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from io import BytesIO
from itertools import groupby
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid4, uuid5

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from prodex.errors import ProdexError, SnapshotDamaged, SnapshotError, SnapshotNotFound, StorageError
from prodex.files.untrusted import Count, json_in_shape
from prodex.publishing.delta_tables import (
    CONFIGURATION,
    created,
    log_name,
    mark,
    open_delta_table,
    removal,
    require_mark,
    table_state,
    written,
)
from prodex.publishing.destination import UNCHANGED, WORKERS, Place, delta
from prodex.publishing.publication import (
    FACTS,
    SCHEMA,
    Publication,
    Row,
    file_names,
    publication_of_row,
    unreadable,
)
from prodex.tables.declaration import TABLES

POINTER = "_snapshots"

#: Numbers in the log: the last version of it that was lost and replaced, and the version that has set this right.
LOST, REPAIRED = "prodex-lost", "prodex-repaired"

_NAME = re.compile(r"[\w.\-]+\.parquet")


class RowFile(NamedTuple):
    """A file of the table: its name, its bytes, and the number of the one publication in it."""

    path: str
    size: int
    number: int

    def action(self) -> Any:
        """Return the action that makes it a file of the table."""
        from deltalake.transaction import AddAction

        bounds = {"publication": self.number}
        statistics = {
            "numRecords": 1,
            "minValues": bounds,
            "maxValues": bounds,
            "nullCount": {"publication": 0},
        }
        return AddAction(self.path, self.size, {}, int(time.time() * 1000), True, json.dumps(statistics))


@dataclass(frozen=True)
class Pointer:
    """The publications at a place, as they were found; `handle` is the table of `deltalake`, None before the first."""

    place: Place
    handle: Any = field(default=None, repr=False)

    @cached_property
    def files(self) -> dict[str, int | None]:
        """The files of the table, each with the number of its only row, if Delta knows it."""
        if self.handle is None:
            return {}
        with self.place.refusals("read"):
            files = pa.table(self.handle.get_add_actions(flatten=True)).to_pylist()
        return {
            file["path"]: file.get("min.publication") if file.get("num_records") == 1 else None
            for file in files
        }

    @cached_property
    def lost(self) -> int | None:
        """The last version of the log that was lost, as long as nothing has set this right; else None."""
        lost, repaired = (
            None if self.handle is None else self.handle.transaction_version(name)
            for name in (LOST, REPAIRED)
        )
        return None if lost is None or (repaired is not None and repaired > lost) else int(lost)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the publications, in order."""
        if self.lost is not None:
            raise unreadable(self.place.address, "a part of its log is lost")
        # Years of publications need not be read to find the newest.
        found = [number for number in self.files.values() if number is not None]
        if len(found) < len(self.files):
            found = [one.number for one in self.publications]
        if len(set(found)) < len(found):
            raise unreadable(self.place.address, "two publications have the same number")
        return tuple(sorted(found))

    @cached_property
    def publications(self) -> tuple[Publication, ...]:
        """All publications, in order."""
        with ThreadPoolExecutor(WORKERS) as pool:
            rows = [row for read in pool.map(self.read, self.files) for row in read]
        found = (
            publication_of_row({name: row.get(name) for name in FACTS}, self.place.address) for row in rows
        )
        return tuple(sorted(found, key=lambda one: one.number))

    @cached_property
    def newest(self) -> Row | None:
        """The newest publication; None before the first."""
        return self.row(self.numbers[-1]) if self.numbers else None

    def row(self, number: int) -> Row:
        """Read what prodex needs to open a publication."""
        near = [path for path, known in self.files.items() if known in (None, number)]
        found = [row for path in near for row in self.read(path) if row.get("publication") == number]
        if len(found) != 1:
            raise unreadable(self.place.address, f"it has {len(found)} rows of publication {number}")
        return Row.read(found[0], self.place.address)

    def read(self, path: str) -> list[dict[str, Any]]:
        """Read a file of the table."""
        # A log may be from somebody else, and name files elsewhere.
        if not _NAME.fullmatch(path):
            raise unreadable(self.place.address, f"{path!r:.80} is not a file of it")
        try:
            content = self.place.read(f"{POINTER}/{path}")
            # Not `read_table`: its threads may hold the bytes, which belong to Python, a moment longer than the call.
            # One that lets them go while the interpreter exits aborts the process.
            with pq.ParquetFile(pa.BufferReader(content)) as file:
                rows: list[dict[str, Any]] = file.read(use_threads=False).to_pylist()
        except StorageError:
            raise
        except (OSError, pa.ArrowException, UnicodeDecodeError, OverflowError) as error:
            raise unreadable(self.place.address, error) from error
        return rows

    def append(
        self, rows: Iterable[Row], name: str, found: Iterable[RowFile] = (), withdrawn: Iterable[str] = ()
    ) -> bool:
        """Add publications, all in one commit; False when another process has committed since these were read.

        Parameters
        ----------
        rows
            The publications.
        name
            Name of the snapshots.
        found
            Files of rows that are there already, and are no longer in the table.
        withdrawn
            Files of the table that are to be none of it any more.

        Raises
        ------
        StorageError
            When the place refuses; the message says so if nobody knows whether the rows were added.
        """
        added = [*found, *(self._upload(row) for row in rows)]
        actions = [file.action() for file in added]
        next_version = 0 if self.handle is None else self.handle.version() + 1
        try:
            with self.place.refusals("write"):
                if self.handle is None:
                    columns = delta().Schema.from_arrow(SCHEMA)
                    done = created(self.place, POINTER, name, columns, actions)
                else:
                    repaired = {} if self.lost is None else {REPAIRED: next_version}
                    changes = [*actions, *map(removal, withdrawn)]
                    done = written(self.handle, changes, transactions=repaired)
        except StorageError as error:
            if not self._are_there(added, error):
                raise
            done = True
        # A store that was asked twice, since its first answer was lost, refuses what it has taken.
        if done := done or self._are_there(added):
            self.place.flush(log_name(POINTER, next_version))
        return done

    def _upload(self, row: Row) -> RowFile:
        """Write the file of a row, which nobody reads until it is committed."""
        output = BytesIO()
        pq.write_table(row.to_arrow(version("prodex")), output)
        number = row.publication.number
        # Two processes may be about to publish the same number.
        file = RowFile(f"part-{number:06d}-{uuid4().hex}.parquet", output.tell(), number)
        self.place.write(f"{POINTER}/{file.path}", output.getvalue())
        return file

    def _are_there(self, added: list[RowFile], error: StorageError | None = None) -> bool:
        """Whether some files are in the table by now."""
        try:
            return bool(added) and {file.path for file in added} <= pointer_of(self.place).files.keys()
        except ProdexError:
            if error is None:
                raise
            raise StorageError(
                f"{str(error).removesuffix(UNCHANGED)}Nobody knows whether it is published. Publish again: nothing is "
                "uploaded or published twice."
            ) from None


def pointer_of(place: Place, *advice: str) -> Pointer:
    """Return the publications at a place; none where there is no such table. For `advice` see `open_delta_table`."""
    try:
        return Pointer(place, open_delta_table(place, POINTER, None, *advice))
    except SnapshotNotFound:
        return Pointer(place)


#: What to do where nothing here helps.
_ELSEWHERE = "Publish the snapshot to a new place."

#: How the log calls a version that took the place of one that could not be read.
_REPLACED = "prodex repair"


@dataclass(frozen=True)
class PointerRepair:
    """What is published at a place as far as it can be read, and what the next commit sets right; nothing as a rule.

    Attributes
    ----------
    newest
        The newest publication; None where there is none.
    number
        The number that the next publication gets.
    found
        Files of rows that were published, and which the log has lost.
    withdrawn
        Files of the table that cannot be read, or whose rows are written anew.
    rows
        Rows that are written anew.
    is_log_lost
        Whether readers get a warning that a part of the log is lost.
    """

    newest: Row | None
    number: int
    found: tuple[RowFile, ...] = ()
    withdrawn: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    is_log_lost: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to set right."""
        return self.is_log_lost or bool(self.found or self.withdrawn or self.rows)


class _LoggedFile(msgspec.Struct):
    path: str
    size: Count = 0


class _LogLine(msgspec.Struct, rename="camel"):
    """A line of a log, as far as it matters here."""

    add: _LoggedFile | None = None
    remove: _LoggedFile | None = None
    meta_data: dict[str, Any] | None = None
    protocol: dict[str, Any] | None = None
    commit_info: dict[str, Any] | None = None


#: The lines of each version; None for one that is damaged or missing, or was and has been replaced.
_Log = dict[int, list[_LogLine] | None]


def repaired_pointer(place: Place, there: Mapping[str, int], name: str) -> tuple[Pointer, PointerRepair]:
    """Return the publications at a place, and what the next commit has to set right.

    Parameters
    ----------
    place
        Of the publications.
    there
        The files at the place, by path, with their bytes.
    name
        Name of the snapshots.

    Raises
    ------
    PublicationRefused
        When another program wrote the table, or a newer version of prodex.
    SnapshotDamaged
        When it cannot be read, and nothing shows that prodex wrote it.
    StorageError
        When the place refuses.
    """
    try:
        pointer = pointer_of(place)
    except SnapshotDamaged:
        _replace_damaged(place, there, name)
        pointer = pointer_of(place, _ELSEWHERE)
    numbers = [number for number in pointer.files.values() if number is not None]
    is_simple = len(set(numbers)) == len(pointer.files)  # all are known, and no two are the same
    repair = _newest_read(pointer) if is_simple else _all_read(pointer, there)
    return pointer, replace(_with_found(pointer, repair, there), is_log_lost=pointer.lost is not None)


def _newest_read(pointer: Pointer) -> PointerRepair:
    """Read the newest row, and of the earlier ones only as many as it takes: years of publications need not be read."""
    withdrawn: list[str] = []
    newest, highest = None, 0
    for path, number in sorted(pointer.files.items(), key=lambda file: file[1] or 0, reverse=True):
        highest = max(highest, number or 0)
        rows, others = _rows_of(pointer, path)
        if len(rows) == 1 and not others and rows[0].publication.number == number:
            newest = rows[0]
            break
        withdrawn.append(path)
    return PointerRepair(newest, highest + 1, withdrawn=tuple(withdrawn))


class _Read(NamedTuple):
    """A row of the table, and the file that has it."""

    path: str
    row: Row

    @property
    def number(self) -> int:
        return self.row.publication.number


def _all_read(pointer: Pointer, there: Mapping[str, int]) -> PointerRepair:
    """Read every row: where two have the same number, those that are whole are numbered anew, in order of the log."""
    changed: set[str] = set()
    read: list[_Read] = []
    highest = max((number or 0 for number in pointer.files.values()), default=0)
    for path in _in_log_order(pointer, there):
        rows, others = _rows_of(pointer, path)
        read += [_Read(path, row) for row in rows]
        if others or not rows:
            changed.add(path)
    kept: list[_Read] = []
    for _, group in groupby(sorted(read, key=lambda one: one.number), key=lambda one: one.number):
        several = list(group)
        whole = [one for one in several if _is_complete(pointer.place, one.row, there)]
        chosen = _without_repeats(whole) if len(several) > 1 else several
        changed |= {one.path for one in several if one not in chosen}
        kept += chosen
    last = 0
    for place, one in enumerate(kept):
        if one.number <= last:
            kept[place] = _Read(one.path, _numbered(one.row, last + 1))
            changed.add(one.path)
        last = kept[place].number
    newest = kept[-1].row if kept else None
    anew = tuple(one.row for one in kept if one.path in changed)
    return PointerRepair(newest, max(last, highest) + 1, withdrawn=tuple(sorted(changed)), rows=anew)


def _with_found(pointer: Pointer, repair: PointerRepair, there: Mapping[str, int]) -> PointerRepair:
    """Add the rows of which the log has lost the names.

    A row that was never committed is there as well, of a publisher that was killed or was second. So a row counts only
    if part of the log is lost, and it is the only one of its number.
    """
    taken = {number for number in pointer.files.values() if number is not None}
    taken |= {row.publication.number for row in (*repair.rows, repair.newest) if row is not None}
    read = []
    for path in sorted(there):
        folder, _, file = path.partition("/")
        if folder != POINTER or not file.endswith(".parquet") or "/" in file or file in pointer.files:
            continue
        rows, others = _rows_of(pointer, file)
        if len(rows) == 1 and not others and rows[0].publication.number not in taken:
            read.append(_Read(file, rows[0]))
    if not read or not _has_lost(pointer.place, there):
        return repair
    read = _without_repeats(read)
    of_number = Counter(one.number for one in read)
    found = [
        one for one in read if of_number[one.number] == 1 and _is_complete(pointer.place, one.row, there)
    ]
    files = tuple(RowFile(one.path, there[f"{POINTER}/{one.path}"], one.number) for one in found)
    rows = [row for row in (repair.newest, *(one.row for one in found)) if row is not None]
    return replace(
        repair,
        newest=max(rows, key=lambda row: row.publication.number, default=None),
        number=max(repair.number, max(of_number) + 1),
        found=files,
    )


def _rows_of(pointer: Pointer, path: str) -> tuple[list[Row], int]:
    """Return the rows of a file that can be read, and how many others it has."""
    try:
        written = pointer.read(path)
    except SnapshotDamaged:
        return [], 1
    rows = []
    for one in written:
        try:
            rows.append(Row.read(one, pointer.place.address))
        except SnapshotDamaged:
            continue
    return rows, len(written) - len(rows)


def _without_repeats(rows: Iterable[_Read]) -> list[_Read]:
    """Return rows without those that say the same as an earlier one."""
    kept: list[_Read] = []
    for one in rows:
        if not any(one.number == other.number and one.row.says_the_same(other.row) for other in kept):
            kept.append(one)
    return kept


def _numbered(row: Row, number: int) -> Row:
    return replace(row, publication=replace(row.publication, number=number))


def _is_complete(place: Place, row: Row, there: Mapping[str, int]) -> bool:
    """Whether the files of a publication are there, and the versions of its tables are of exactly these."""
    wanted: dict[str, set[str]] = {table: set() for table in TABLES}
    for part, names in zip(row.parts, file_names(row.parts), strict=True):
        for table, name in names.items():
            if there.get(name) != part.files[table]["bytes"]:
                return False
            wanted[table].add(name.partition("/")[2])

    def has_its_files(table: str) -> bool:
        try:
            return table_state(place, table, row.publication.versions[table]).files == wanted[table]
        except StorageError:
            raise
        except SnapshotError:
            return False

    with ThreadPoolExecutor(WORKERS) as pool:
        return all(pool.map(has_its_files, TABLES))


def _in_log_order(pointer: Pointer, there: Mapping[str, int]) -> list[str]:
    """Return the files of the table in the order in which the log has added them."""
    added: dict[str, int] = {}
    for number, actions in _log(pointer.place, there).items():
        added |= {action.add.path: number for action in actions or () if action.add is not None}
    return sorted(pointer.files, key=lambda path: (added.get(path, -1), path))


def _has_lost(place: Place, there: Mapping[str, int]) -> bool:
    """Whether a version of the log is damaged or missing, or was; also where there is no log at all."""
    log = _log(place, there)
    return not log or None in log.values()


def _log(place: Place, there: Mapping[str, int]) -> _Log:
    """Read the log of the table, from its first version to its last."""
    folder = log_name(POINTER, 0).rpartition("/")[0]
    names = (path.removeprefix(f"{folder}/") for path in there if path.startswith(f"{folder}/"))
    stems = (name.removesuffix(".json") for name in names if name.endswith(".json"))
    last = max((int(stem) for stem in stems if stem.isdecimal() and len(stem) == 20), default=-1)
    with ThreadPoolExecutor(WORKERS) as pool:
        return dict(enumerate(pool.map(lambda version: _actions(place, version), range(last + 1))))


def _actions(place: Place, version: int) -> list[_LogLine] | None:
    """Read a version of the log; None if it is damaged or missing, or was."""
    try:
        lines = place.read(log_name(POINTER, version)).splitlines()
        actions = [json_in_shape(line, _LogLine) for line in lines if line.strip()]
    except StorageError:
        raise
    except (OSError, ValueError):
        return None
    infos = [action.commit_info for action in actions if action.commit_info is not None]
    is_replaced = any(info.get("operation") == _REPLACED for info in infos)
    begins = any(action.meta_data for action in actions) and any(action.protocol for action in actions)
    return None if is_replaced or not actions or not (version or begins) else actions


def _replace_damaged(place: Place, there: Mapping[str, int], name: str) -> None:
    """Replace the damaged and missing files of a log, so that Delta can read it.

    The replacement depends on nothing but the version and the name: publishers that do it at the same time write the
    same, and what is committed after it stays.
    """
    log = _log(place, there)
    described = [
        action.meta_data.get("description")
        for actions in log.values()
        for action in actions or ()
        if action.meta_data is not None
    ]
    if described:
        require_mark(place, POINTER, described[-1])
    else:
        _require_own_tables(place, there)
    # What checkpoints hold, the log has as well: ours is never tidied up.
    checkpoints = [
        path for path in there if path.startswith(f"{POINTER}/_delta_log/") and "checkpoint" in path
    ]
    # `_last_checkpoint`, which names one of them, is the first to go.
    for path in sorted(checkpoints, reverse=True):
        place.remove(path)
    for entry, actions in log.items():
        if actions is None:
            place.write(log_name(POINTER, entry), _replacement(entry, name))


def _require_own_tables(place: Place, there: Mapping[str, int]) -> None:
    """Refuse to write to a log of which nothing can be read, unless the tables beside it, written first, are ours."""
    beside = [table for table in TABLES if log_name(table, 0) in there]
    if not beside:
        raise unreadable(
            place.at(POINTER), "nothing is left of its log, or of the tables beside it", _ELSEWHERE
        )
    open_delta_table(place, beside[0])


def _replacement(version: int, name: str) -> bytes:
    actions: list[dict[str, Any]] = [
        {"commitInfo": {"timestamp": 0, "operation": _REPLACED}},
        {"txn": {"appId": LOST, "version": version}},
    ]
    if not version:
        metadata = {
            "id": str(uuid5(NAMESPACE_URL, f"prodex:{name}")),
            "name": POINTER,
            "description": mark(name),
            "format": {"provider": "parquet", "options": {}},
            "schemaString": delta().Schema.from_arrow(SCHEMA).to_json(),
            "partitionColumns": [],
            "createdTime": 0,
            "configuration": CONFIGURATION,
        }
        actions += [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": metadata}]
    return "".join(f"{json.dumps(action)}\n" for action in actions).encode()
