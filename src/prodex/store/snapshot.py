"""Snapshots: catalogues stored as Parquet, immutable, each visible only when it is complete.

`<root>/<name>/<UTC time>/manifest.json` with `<table>/part-00000.parquet` beside it. Files of the same number hold the
same products. Names, times and manifests are those of every `prodex.store.archive`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import pandas as pd

from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.catalog.origin import Chosen, Origin
from prodex.errors import InputError, SnapshotDamaged, StorageError
from prodex.files.atomic import (
    reading,
    safe_name,
)
from prodex.files.untrusted import Count, refuse_links
from prodex.progress import PATIENCE, Progress, showing
from prodex.store.archive import (
    Archive,
    is_entry,
    snapshots_folder,
    unlinked,
)
from prodex.store.parts import StoredPart, path_of

FORMAT = 3

SNAPSHOTS = Archive("snapshot", "Open an earlier snapshot, or load again.", format=FORMAT)


def folder_of(given: str | Path | Catalog, function: str) -> str | Path:
    """Return the name or folder of the snapshot that was given to a function.

    Raises
    ------
    InputError
        When it is neither, nor a catalogue from a snapshot; the message says what to write.
    """
    if isinstance(given, str | Path):
        return given
    if not isinstance(given, Catalog):
        raise InputError(
            f"{function}() takes the name of a snapshot, and name is {described(given)}. Write "
            f"prodex.{function}('shop'); prodex.list_snapshots() shows the names."
        )
    if given.folder is None:
        where = "in memory" if given.published is None else f"published at {given.published}"
        raise InputError(
            f"{function}() takes a snapshot, and this catalogue is {where}. catalog.save(name) keeps it."
        )
    return given.folder


def name_of(given: str | Catalog, function: str) -> str:
    """Return the name of the snapshots among which one is that was given to a function.

    Raises
    ------
    InputError
        When it is no name, nor a catalogue from a snapshot in the folder of all snapshots; and when it is a selection
        of one: what is kept under a name is of all products.
    """
    folder = folder_of(given, function)
    if not isinstance(given, Catalog):
        return str(folder)
    parent = Path(folder).absolute().parent
    # By name only what is stored there is found; a folder elsewhere may have the name of another snapshot.
    if parent.parent != snapshots_folder().absolute():
        raise InputError(
            f"{function}() takes a snapshot by its name, and {folder} is not in {snapshots_folder()}. Save it there "
            "first: catalog.save(name)."
        )
    if any(part.chosen is not part.own for part in given.parts):
        raise InputError(
            f"This catalogue is a selection of {parent.name!r}, and {function}() is about all of its products: write "
            f"{function}({parent.name!r}, ...)."
        )
    return parent.name


def catalog_given(given: object, call: str, *others: object) -> Catalog:
    """Return the catalogue that was given to a function; the snapshot of a name is opened.

    Parameters
    ----------
    given
        What was given in place of a catalogue.
    call
        The call as it should be: "save(catalog, 'copy')".
    *others
        What was given after it: where a catalogue is among them, the order was wrong.

    Raises
    ------
    InputError
        When it is none; the message has the line to write.
    SnapshotNotFound
        When there is no snapshot of this name.
    """
    if isinstance(given, Catalog):
        return given
    if any(isinstance(one, Catalog) for one in others):
        raise InputError(f"The catalogue is in the wrong place: write prodex.{call}.")
    if isinstance(given, str | Path):
        return open_snapshot(given)
    name = call.partition("(")[0]
    raise InputError(
        f"{name}() takes a catalogue or the name of a snapshot, and catalog is {described(given)}. Write "
        f"prodex.{call}; "
        "prodex.open_snapshot('shop') opens a catalogue, and prodex.flatten(records) makes one of records."
    )


def open_snapshot(name: str | Path | Catalog) -> Catalog:
    """Open a snapshot; only its manifest is read.

    Parameters
    ----------
    name
        "shop" is the snapshot of that name that was published last, "shop@2026-11-13" the last one of that day, which
        is a day of this machine's time zone; "shop@2026-11-13T05" is one by its time as it is listed (UTC). The folder
        of a snapshot is accepted as well, and so is a catalogue from a snapshot, which is open already.

    Raises
    ------
    SnapshotNotFound
        When there is none; the message names those that are there.
    SnapshotDamaged
        When its manifest cannot be read.
    StorageError
        When it belongs to somebody else and may not be read.
    InputError
        When it is something else, or a catalogue that is in memory.

    Examples
    --------
    >>> import prodex
    >>> _ = prodex.flatten([{"id": 7, "gtin": "03036811359935"}]).save("shop")
    >>> prodex.open_snapshot("shop").products["gtin"].tolist()
    ['03036811359935']
    """
    if isinstance(name, Catalog):
        folder_of(name, "open_snapshot")
        return name
    name = str(folder_of(name, "open_snapshot"))
    if name and is_entry(Path(name)):
        return open_folder(Path(name))
    if not (found := SNAPSHOTS.matching(name)):
        raise SNAPSHOTS.not_found(name, "snapshots")
    return open_folder(unlinked(found[-1]))


def snapshot_named(name: str) -> Catalog:
    """Open the newest snapshot of a name that a file of somebody else says: a path in its place opens nothing.

    Raises
    ------
    InputError
        When it cannot be the name of a snapshot.
    SnapshotNotFound
        When there is none of this name.
    """
    if name != safe_name(name):
        raise InputError(
            f"{name!r:.80} is named as the snapshot, and cannot be the name of one. A file from elsewhere opens no "
            "path: give the catalogue yourself."
        )
    if not (found := SNAPSHOTS.of(name)):
        raise SNAPSHOTS.not_found(name, "snapshots")
    return open_folder(unlinked(found[-1]))


def stored_parts(folder: Path) -> tuple[StoredPart, ...]:
    """Return what the manifest of a snapshot says of its parts."""
    return _manifest(folder).parts


def list_snapshots(name: str | Catalog = "*") -> pd.DataFrame:
    """Return the snapshots of a name, or all: when, how many products, complete or not, bytes, where.

    Those of a name are in the order in which they were published, which `sequence` numbers: `time` is that of a clock,
    and may have been wrong. A snapshot that cannot be read is listed with the reason under `note`.

    Parameters
    ----------
    name
        Name of the snapshots, or a catalogue that is one of them; all when "*".

    Examples
    --------
    >>> import prodex
    >>> _ = prodex.flatten([{"id": 7}]).save("shop")
    >>> prodex.list_snapshots("shop")[["name", "products"]].values.tolist()
    [['shop', 1]]
    """
    rows = SNAPSHOTS.listing(name_of(name, "list_snapshots"), _listing_row)
    columns = ["name", "time", "sequence", "products", "complete", "bytes", "folder", "note"]
    return pd.DataFrame(rows, columns=columns).convert_dtypes()


def _listing_row(folder: Path) -> dict[str, Any]:
    manifest = _manifest(unlinked(folder))
    return {
        "products": manifest.products,
        "complete": manifest.origin.complete,
        "bytes": sum(int(facts["bytes"]) for part in manifest.parts for facts in part.files.values()),
    }


def verify(name: str | Path | Catalog, *, progress: Progress = None) -> pd.DataFrame:
    """Check every file of a snapshot against the manifest.

    Parameters
    ----------
    name
        Its name, its folder, or the catalogue that was opened from it.
    progress
        A progress bar in notebooks and terminals once it takes over a second (None), or from the start (True), none
        (False), or a function of (done, total), both in products.

    Returns
    -------
    pandas.DataFrame
        One row per file: path, ok, and what is wrong under `problem`.

    Examples
    --------
    >>> import prodex
    >>> _ = prodex.flatten([{"id": 7}]).save("tried")
    >>> bool(prodex.verify("tried")["ok"].all())
    True
    """
    catalog = open_snapshot(folder_of(name, "verify"))
    assert catalog.folder is not None  # noqa: S101 - an opened snapshot has one
    rows = []
    with showing(progress, "Verifying files", total=len(catalog), after=PATIENCE) as phase:
        for part in stored_parts(catalog.folder):
            for table in part.files:
                problem = part.problem(table, catalog.folder)
                rows.append((str(path_of(table, part.number)), not problem, problem))
            phase.add(part.products)
    return pd.DataFrame(rows, columns=["file", "ok", "problem"])


def open_folder(folder: Path) -> Catalog:
    manifest = _manifest(folder)
    parts = tuple(part.open(folder) for part in manifest.parts)
    try:
        # A snapshot may be from somebody else: a link in it could lead to any file of the reader.
        with reading(folder):
            refuse_links(folder, (path for part in parts for path in part.files.values()))
    except StorageError:
        raise
    except OSError as error:
        raise SnapshotDamaged(f"{error}. Open an earlier snapshot, or load again.") from error
    return Catalog(parts, manifest.origin, folder, chosen=manifest.chosen)


class _ManifestLayout(msgspec.Struct):
    """A manifest as JSON; what it says of versions is for people."""

    products: Count
    origin: dict[str, Any]
    parts: list[Any]
    chosen: dict[str, Any] | None = None


class _Manifest(NamedTuple):
    """What a manifest says, checked."""

    products: int
    origin: Origin
    parts: tuple[StoredPart, ...]
    chosen: Chosen | None

    @classmethod
    def of(cls, written: _ManifestLayout) -> Self:
        parts = tuple(map(StoredPart.from_json, written.parts))
        # Numbers become file names: two parts of one number would be the same products twice.
        if len({part.number for part in parts}) < len(parts):
            raise ValueError("it gives two parts the same number")
        if sum(part.products for part in parts) != written.products:
            raise ValueError(f"its parts do not have {written.products:,} products together")
        chosen = None if written.chosen is None else Chosen.from_json(written.chosen)
        return cls(written.products, Origin.from_json(written.origin), parts, chosen)


def _manifest(folder: Path) -> _Manifest:
    return SNAPSHOTS.read_manifest(folder, _ManifestLayout, _Manifest.of)
