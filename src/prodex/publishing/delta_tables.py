"""Delta tables of existing Parquet files: files are registered and withdrawn, never rewritten or merged.

Every commit expects the version that was read before. If another process has committed meanwhile, it is refused.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from prodex.errors import PublicationConflict, PublicationRefused, SnapshotNotFound
from prodex.files.parquet import FileFacts
from prodex.publishing.place import Place, delta
from prodex.publishing.publication import unreadable
from prodex.publishing.statistics import statistics_of

#: The newest format of publications that this version reads, and the one that it writes.
FORMAT = 1

_MARK = re.compile(r"Published by prodex, format ([0-9]{1,6})\b")

#: A version that a publication pins is readable as long as its log is there.
CONFIGURATION: dict[str, str | None] = {"delta.enableExpiredLogCleanup": "false"}


@dataclass(frozen=True)
class PublishedFile:
    """A file of a table: its name there, where it is on this machine, and what the manifest keeps of it."""

    name: str
    source: Path
    facts: FileFacts


@dataclass(frozen=True)
class TableState:
    """A Delta table as it was found.

    Attributes
    ----------
    version
        Its newest version, or None if it is not there.
    files
        The files of that version.
    handle
        The table of `deltalake`.
    """

    version: int | None = None
    files: frozenset[str] = frozenset()
    handle: Any = field(default=None, repr=False)


def mark(name: str) -> str:
    """Return the description that says that a Delta table is ours."""
    return f"Published by prodex, format {FORMAT}, from snapshots {name!r}"


def opened(place: Place, table: str, version: int | None = None) -> Any:
    """Open a Delta table that prodex wrote.

    Raises
    ------
    SnapshotNotFound
        When it is not there.
    PublicationRefused
        When another program wrote it, or a newer version of prodex.
    SnapshotDamaged
        When its log cannot be read.
    StorageError
        When the place refuses.
    """
    deltalake = delta()
    with place.refusals("read"):
        try:
            found = deltalake.DeltaTable(
                place.at(table), version=version, storage_options=place.storage_options
            )
        except deltalake.exceptions.DeltaProtocolError as error:
            raise _newer(place) from error
        except deltalake.exceptions.TableNotFoundError as error:
            if "scheme" in str(error):  # of the address
                raise place.refusal("read", error) from None
            raise nothing_at(place.address) from None
        except deltalake.exceptions.DeltaError as error:
            if "Unsupported" in str(error):
                raise _newer(place) from None
            raise unreadable(place.at(table), place.cleaned(str(error)).rstrip(".")) from None
    written = _MARK.match(found.metadata().description or "")
    if written is None:
        raise PublicationRefused(
            f"{place.at(table)} is a Delta table of another program, and stays as it is. Publish to a place of its own."
        )
    if int(written[1]) > FORMAT:
        raise _newer(place)
    return found


def nothing_at(address: str) -> SnapshotNotFound:
    """Return the error for a place without publications."""
    return SnapshotNotFound(
        f"Nothing is published at {address}. prodex.publish(catalog, uri) publishes a snapshot."
    )


def _newer(place: Place) -> PublicationRefused:
    return PublicationRefused(
        f"What is published at {place.address} was written by a newer version of prodex or of deltalake, and stays as "
        "it is. Update both: pip install --upgrade 'prodex[publish]'."
    )


def state_of(place: Place, table: str) -> TableState:
    """Return a table as it is now."""
    found = opened(place, table)
    with place.refusals("read"):
        files = pa.table(found.get_add_actions())["path"].to_pylist()
    return TableState(found.version(), frozenset(files), found)


def commit(
    place: Place,
    table: str,
    name: str,
    schema: pa.Schema,
    wanted: Mapping[str, PublishedFile],
    found: TableState,
) -> int:
    """Make a table consist of some files, and return its version; a table that does already stays as it is.

    Parameters
    ----------
    place
        Of the publications.
    table, name
        Names of the table and of the snapshots.
    schema
        Its columns.
    wanted
        Its files by name; they are at their place already.
    found
        The table as it was found.

    Raises
    ------
    PublicationConflict
        When another process has changed the table since.
    """
    deltalake = delta()
    from deltalake.transaction import RemoveAction, create_table_with_add_actions

    columns = deltalake.Schema.from_arrow(schema)
    with place.refusals("write"):
        try:
            if found.version is None:
                create_table_with_add_actions(
                    place.at(table),
                    columns,
                    [_add(file, schema) for file in wanted.values()],
                    name=table,
                    description=mark(name),
                    configuration=CONFIGURATION,
                    storage_options=place.storage_options,
                )
                return 0
            handle, version, there = found.handle, found.version, found.files
            same = handle.schema() == columns
            if same and there == wanted.keys():
                return version
            # Delta takes other columns only together with all files, and a file only if it is not there yet.
            gone = there - wanted.keys() if same else there & wanted.keys()
            added = [_add(file, schema) for name, file in wanted.items() if not same or name not in there]
            now = int(time.time() * 1000)
            removed = [RemoveAction(path, True, now) for path in sorted(gone)]
            if same:
                return _written(handle, [*added, *removed], "append", columns, version)
            if removed:
                version = _written(handle, removed, "append", handle.schema(), version)
                handle.update_incremental()
                if handle.version() != version:
                    raise conflict(place)
            return _written(handle, added, "overwrite", columns, version)
        except deltalake.exceptions.CommitFailedError:
            raise conflict(place) from None
        except deltalake.exceptions.DeltaError as error:
            if "already exists" in str(error):
                raise conflict(place) from None
            raise


def _written(handle: Any, actions: list[Any], mode: str, columns: Any, version: int) -> int:
    expected = delta().CommitProperties(max_commit_retries=0)
    handle.create_write_transaction(actions, mode, columns, commit_properties=expected)
    return version + 1


def _add(file: PublishedFile, schema: pa.Schema) -> Any:
    from deltalake.transaction import AddAction

    statistics = statistics_of(file.source, file.facts, schema.names)
    return AddAction(file.name, int(file.facts["bytes"]), {}, int(time.time() * 1000), True, statistics)


def conflict(place: Place) -> PublicationConflict:
    """Return the error for a second process that publishes to the same place."""
    return PublicationConflict(
        f"Another process has published to {place.address} meanwhile; what it published is whole. Look at it with "
        "prodex.open_published, and publish again if yours is the newer one: nothing is uploaded twice."
    )
