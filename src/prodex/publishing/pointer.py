"""The table `_snapshots`: one row for each publication, written last. Whoever follows it never sees a mixture."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import SnapshotNotFound
from prodex.publishing.delta_tables import CONFIGURATION, conflict, mark, opened
from prodex.publishing.place import Place, delta
from prodex.publishing.publication import FACTS, Publication, Row, facts_of, unreadable

POINTER = "_snapshots"


@dataclass(frozen=True)
class Pointer:
    """The publications at a place, as they were found.

    Attributes
    ----------
    publications
        In the order of their numbers.
    """

    place: Place
    publications: tuple[Publication, ...] = ()
    handle: Any = field(default=None, repr=False)

    def row(self, number: int) -> Row:
        """Read what prodex needs to open a publication."""
        found = _rows(self.place, self.handle, None, pc.field("publication") == number)
        if len(found) != 1:
            raise unreadable(self.place.address, f"it has {len(found)} rows of publication {number}")
        return Row.read(found[0], self.place.address)

    @property
    def newest(self) -> Row | None:
        """The newest publication; None before the first."""
        return self.row(self.publications[-1].number) if self.publications else None

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
    """Read the publications at a place; none where there is no such table."""
    try:
        handle = opened(place, POINTER)
    except SnapshotNotFound:
        return Pointer(place)
    rows = _rows(place, handle, FACTS)
    found = sorted((facts_of(row, place.address) for row in rows), key=lambda one: one.number)
    if len({one.number for one in found}) < len(found):
        raise unreadable(place.address, "two publications have the same number")
    return Pointer(place, tuple(found), handle)


def _rows(
    place: Place, handle: Any, columns: list[str] | None, condition: pc.Expression | None = None
) -> list[dict[str, Any]]:
    with place.refusals("read"):
        try:
            found = handle.to_pyarrow_dataset().to_table(columns=columns, filter=condition)
        except (pa.ArrowException, FileNotFoundError) as error:
            raise unreadable(place.address, error) from error
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows
