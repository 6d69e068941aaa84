"""The table `_snapshots`: one row for each publication, written last. Whoever follows it never sees a mixture.

A publication is there when its row is: each row is a file, and one commit names it. Of several processes that publish
at once, the first one whose commit is taken has published; see `delta_tables` for what takes it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from io import BytesIO
from typing import Any, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from prodex.errors import ProdexError, SnapshotNotFound, StorageError
from prodex.publishing.delta_tables import created, log_name, opened, removal, written
from prodex.publishing.place import UNCHANGED, WORKERS, Place, delta
from prodex.publishing.publication import FACTS, SCHEMA, Publication, Row, facts_of, unreadable

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
        found = (facts_of({name: row.get(name) for name in FACTS}, self.place.address) for row in rows)
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
        # A log may come from somebody else, and name files elsewhere.
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
    """Return the publications at a place; none where there is no such table. For `advice` see `opened`."""
    try:
        return Pointer(place, opened(place, POINTER, None, *advice))
    except SnapshotNotFound:
        return Pointer(place)
