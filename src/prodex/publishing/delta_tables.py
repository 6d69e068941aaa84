"""Delta tables of existing Parquet files: files are registered and withdrawn, never rewritten or merged.

Every commit expects the version that was read before, and is a file of that number in the log of the table, written
only where there is none: by a link in a folder, by a conditional write in an object store. If another process has
committed meanwhile, it is refused, and done again on what the table is then. What the other process committed stays a
version of its own, so that its publication is as whole as ours.

Readers leave out files whose values cannot match a filter. So only what is exact is given: of the columns by which
products are looked up and of whole numbers. Times are left out, since Delta rounds them to milliseconds.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from prodex.errors import PublicationConflict, PublicationRefused, SnapshotNotFound
from prodex.files import parquet
from prodex.files.layouts import require_layout
from prodex.files.parquet import FileFacts
from prodex.phrases import counted
from prodex.publishing.destination import Place, delta
from prodex.publishing.publication import Publication, unreadable

#: The number of the layout of publications.
FORMAT = 2

#: A table for which more than so many processes have committed in between is given up.
_ATTEMPTS = 20

#: Seconds that each attempt more is waited at most, so that two do not get in each other's way for ever.
_PAUSE = 0.05

_MARK = re.compile(r"Published by prodex, format ([0-9]{1,6})\b")

#: What prodex reads of a publication is not in the logs of its tables.
_ELSEWHERE = (
    "prodex.open_published still opens what was published there. Publish the snapshot to a new place, for programs "
    "that read Delta tables."
)

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


def open_delta_table(place: Place, table: str, version: int | None = None, *advice: str) -> Any:
    """Open a Delta table that prodex wrote; `advice` is what to do where its log cannot be read.

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
                place.table(table), version=version, storage_options=place.storage_options
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
            raise unreadable(place.at(table), place.cleaned(str(error)).rstrip("."), *advice) from None
    require_mark(place, table, found.metadata().description)
    return found


def require_mark(place: Place, table: str, description: object) -> None:
    """Refuse a Delta table whose description does not say that this version of prodex may change it.

    Raises
    ------
    PublicationRefused
        When another program wrote it.
    OtherLayout
        When another version of prodex wrote it.
    """
    written = _MARK.match(str(description or ""))
    if written is None:
        raise PublicationRefused(
            f"{place.at(table)} is a Delta table of another program, and stays as it is. Publish to a place of its own."
        )
    require_layout(place.at(table), int(written[1]), FORMAT, "Publish to a place of its own.")


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


def table_state(place: Place, table: str, version: int | None = None) -> TableState:
    """Return a table as it is now, or as it was in a version."""
    found = open_delta_table(place, table, version, _ELSEWHERE)
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
    *,
    overtaken: Callable[[], None],
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
    overtaken
        Is called when another process has changed the table since, and raises if that makes ours vain. Otherwise it is
        done again.

    Raises
    ------
    PublicationConflict
        When other processes change the table again and again.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        version = _committed(place, table, name, schema, wanted, found)
        if version is not None:
            place.flush(log_name(table, version))
            return version
        overtaken()
        time.sleep(random.uniform(0, _PAUSE * attempt))  # noqa: S311 - nothing depends on it but who is next
        found = table_state(place, table)
    raise busy(place)


def _committed(
    place: Place,
    table: str,
    name: str,
    schema: pa.Schema,
    wanted: Mapping[str, PublishedFile],
    found: TableState,
) -> int | None:
    """Do it once; None when another process has changed the table since."""
    deltalake = delta()
    columns = deltalake.Schema.from_arrow(schema)
    with place.refusals("write"):
        if found.version is None:
            added = [_add(file, schema) for file in wanted.values()]
            return 0 if created(place, table, name, columns, added) else None
        handle, version, there = found.handle, found.version, found.files
        same = handle.schema() == columns
        if same and there == wanted.keys():
            return version
        # Delta takes other columns only together with all files, and a file only if it is not there yet.
        gone = there - wanted.keys() if same else there & wanted.keys()
        added = [_add(file, schema) for name, file in wanted.items() if not same or name not in there]
        removed = [removal(path) for path in sorted(gone)]
        if same:
            return version + 1 if written(handle, [*added, *removed]) else None
        if removed:
            if not written(handle, removed):
                return None
            version += 1
            handle.update_incremental()
            if handle.version() != version:
                return None
        return version + 1 if written(handle, added, "overwrite", columns) else None


def log_name(table: str, version: int) -> str:
    """Return the file that is the commit of a version, as a path inside the place.

    >>> log_name("texts", 7)
    'texts/_delta_log/00000000000000000007.json'
    """
    return f"{table}/_delta_log/{version:020d}.json"


def removal(path: str) -> Any:
    """Return the action that withdraws a file from a table."""
    from deltalake.transaction import RemoveAction

    return RemoveAction(path, True, int(time.time() * 1000))


def created(place: Place, table: str, name: str, columns: Any, added: list[Any]) -> bool:
    """Make a table of some files, as its version 0; False if there is one already."""
    deltalake = delta()
    from deltalake.transaction import create_table_with_add_actions

    place.make_log(table)
    return _is_committed(
        lambda: create_table_with_add_actions(
            place.table(table),
            columns,
            added,
            name=table,
            description=mark(name),
            configuration=CONFIGURATION,
            storage_options=place.storage_options,
            # Without this, the second of two that make the same table would add its files as version 1 in silence.
            commit_properties=deltalake.CommitProperties(max_commit_retries=0),
        )
    )


def written(
    handle: Any,
    actions: list[Any],
    mode: str = "append",
    columns: Any = None,
    transactions: Mapping[str, int] | None = None,
) -> bool:
    """Commit the next version of a table, with numbers that applications keep in its log; False if another has."""
    deltalake = delta()
    kept = [deltalake.Transaction(*one) for one in (transactions or {}).items()]
    expected = deltalake.CommitProperties(max_commit_retries=0, app_transactions=kept or None)
    return _is_committed(
        lambda: handle.create_write_transaction(
            actions, mode, columns or handle.schema(), commit_properties=expected
        )
    )


def _is_committed(commit: Callable[[], object]) -> bool:
    """Commit a version, and say whether it became the one that was expected: another may have been first."""
    deltalake = delta()
    try:
        commit()
    except deltalake.exceptions.CommitFailedError:
        return False
    except deltalake.exceptions.DeltaError as error:
        if "already exists" in str(error):
            return False
        raise
    return True


def _add(file: PublishedFile, schema: pa.Schema) -> Any:
    from deltalake.transaction import AddAction

    statistics = statistics_of(file.source, file.facts, schema.names)
    return AddAction(file.name, int(file.facts["bytes"]), {}, int(time.time() * 1000), True, statistics)


def busy(place: Place) -> PublicationConflict:
    """Return the error for a place at which others have changed tables again and again, and published nothing yet."""
    return PublicationConflict(
        f"Other processes are publishing to {place.address}, and have changed its tables again and again. None of them "
        "has published yet, and yours is not published. Publish again in a while; nothing is uploaded twice."
    )


def conflict(place: Place, newest: Publication, *, is_newer: bool) -> PublicationConflict:
    """Return the error for a second process that published to the same place meanwhile, perhaps a newer snapshot."""
    advice = "It is the newer one. To publish yours after it all the same, publish again with older=True"
    if not is_newer:
        advice = "Yours is the newer one: publish again"
    return PublicationConflict(
        f"Another process has published to {place.address} meanwhile: publication {newest.number}, of the snapshot "
        f"{newest.name}@{newest.snapshot} with {counted(newest.products, 'product')}. It is whole, and yours is not "
        f"published. {advice}; nothing is uploaded twice."
    )


#: Delta keeps statistics of this many columns, counted from the first.
_COLUMNS = 32

#: Longer texts would make the log larger than what they save.
_LONGEST = 200


def statistics_of(path: Path, facts: FileFacts, columns: Sequence[str]) -> str:
    """Return the statistics of a file as JSON.

    Parameters
    ----------
    path
        The file.
    facts
        What the manifest keeps of it: a file that is not as it was written is refused.
    columns
        The columns of its Delta table; those that a Parquet file lacks have no statistics.

    Raises
    ------
    SnapshotDamaged
        When the file is missing or not as it was written.
    """
    with parquet.opened(path, facts) as file:
        footer = file.metadata
    wanted = set(columns[:_COLUMNS])
    places = {
        name: number
        for number in range(footer.num_columns)
        if (name := footer.schema.column(number).path) in wanted
    }
    found: dict[str, Any] = {"numRecords": footer.num_rows, "minValues": {}, "maxValues": {}, "nullCount": {}}
    for name, number in places.items():
        groups = [footer.row_group(group).column(number) for group in range(footer.num_row_groups)]
        _add_column(found, name, groups)
    return json.dumps(found)


def _add_column(found: dict[str, Any], name: str, groups: list[pq.ColumnChunkMetaData]) -> None:
    """Add the statistics of a column, as far as every row group has them."""
    known = [group.statistics for group in groups]
    if not known or not all(one is not None and one.has_null_count for one in known):
        return
    nulls = sum(one.null_count for one in known)
    found["nullCount"][name] = nulls
    # A row group of nulls has no least value, and that says nothing against the others.
    with_values = [one for one in known if one.num_values]
    if not with_values or not all(one.has_min_max for one in with_values):
        return
    least, greatest = min(one.min for one in with_values), max(one.max for one in with_values)
    if _is_exact(least) and _is_exact(greatest):
        found["minValues"][name], found["maxValues"][name] = least, greatest


def _is_exact(value: object) -> bool:
    """Whether Delta keeps a value as it is."""
    if isinstance(value, str):
        return len(value) <= _LONGEST and value.isascii() and value.isprintable()
    return isinstance(value, int) and not isinstance(value, bool)
