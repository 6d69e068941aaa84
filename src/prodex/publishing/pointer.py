"""The table `_snapshots`: one row for each publication, written last. Whoever follows it never sees a mixture."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from prodex.errors import SnapshotNotFound, StorageError
from prodex.publishing.delta_tables import CONFIGURATION, conflict, mark, opened
from prodex.publishing.place import WORKERS, Place, delta
from prodex.publishing.publication import FACTS, Publication, Row, facts_of, unreadable

POINTER = "_snapshots"

_NAME = re.compile(r"[\w.\-]+\.parquet")


@dataclass(frozen=True)
class Pointer:
    """The publications at a place, as they were found; `handle` is the table of `deltalake`, None before the first."""

    place: Place
    handle: Any = field(default=None, repr=False)

    @cached_property
    def _files(self) -> dict[str, int | None]:
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
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the publications, in order."""
        # Years of publications need not be read to find the newest.
        found = [number for number in self._files.values() if number is not None]
        if len(found) < len(self._files):
            found = [one.number for one in self.publications]
        if len(set(found)) < len(found):
            raise unreadable(self.place.address, "two publications have the same number")
        return tuple(sorted(found))

    @cached_property
    def publications(self) -> tuple[Publication, ...]:
        """All publications, in order."""
        with ThreadPoolExecutor(WORKERS) as pool:
            rows = [row for read in pool.map(self._read, self._files) for row in read]
        found = (facts_of({name: row.get(name) for name in FACTS}, self.place.address) for row in rows)
        return tuple(sorted(found, key=lambda one: one.number))

    @cached_property
    def newest(self) -> Row | None:
        """The newest publication; None before the first."""
        return self.row(self.numbers[-1]) if self.numbers else None

    def row(self, number: int) -> Row:
        """Read what prodex needs to open a publication."""
        near = [path for path, known in self._files.items() if known in (None, number)]
        found = [row for path in near for row in self._read(path) if row.get("publication") == number]
        if len(found) != 1:
            raise unreadable(self.place.address, f"it has {len(found)} rows of publication {number}")
        return Row.read(found[0], self.place.address)

    def _read(self, path: str) -> list[dict[str, Any]]:
        """Read a file of the table."""
        # A log may come from somebody else, and name files elsewhere.
        if not _NAME.fullmatch(path):
            raise unreadable(self.place.address, f"{path!r:.80} is no file of it")
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

    def append(self, row: Row) -> None:
        """Add a publication.

        Raises
        ------
        PublicationConflict
            When another one was added since these were read.
        """
        deltalake = delta()
        content = row.to_arrow(version("prodex"))
        with self.place.refusals("write"):
            try:
                if self.handle is not None:
                    expected = deltalake.CommitProperties(max_commit_retries=0)
                    deltalake.write_deltalake(self.handle, content, mode="append", commit_properties=expected)
                    return
                deltalake.write_deltalake(
                    self.place.at(POINTER),
                    content,
                    mode="error",
                    name=POINTER,
                    description=mark(row.publication.name),
                    configuration=CONFIGURATION,
                    storage_options=self.place.storage_options,
                )
            except deltalake.exceptions.CommitFailedError:
                raise conflict(self.place) from None
            except deltalake.exceptions.DeltaError as error:
                if "already exists" in str(error):
                    raise conflict(self.place) from None
                raise


def pointer_of(place: Place) -> Pointer:
    """Return the publications at a place; none where there is no such table."""
    try:
        return Pointer(place, opened(place, POINTER))
    except SnapshotNotFound:
        return Pointer(place)
