"""Snapshots: catalogues kept as Parquet, immutable, each visible only when it is whole.

`<root>/<name>/<UTC time>/manifest.json` and `<table>/part-00000.parquet` beside it. Files of the same number are
about the same products.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pandas as pd

from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.catalog.origin import Origin
from prodex.errors import InputError, SnapshotDamaged, SnapshotNotFound
from prodex.files import (
    checked_name,
    home,
    publish,
    safe_name,
    storage,
    sweep,
    writing_folder,
)
from prodex.files.untrusted import Count, MadeByNewer, is_folder, is_there, read_json, refuse_links
from prodex.store.parts import StoredPart, path_of, write_part
from prodex.tables.declaration import TABLES
from prodex.text import hint_and_all


def snapshots_folder() -> Path:
    """Return the folder of all snapshots: `PRODEX_HOME`/snapshots, else in the platform's data folder."""
    return home() / "snapshots"


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
        raise InputError(
            f"{function}() takes a snapshot, and this catalogue is in memory. prodex.save(catalog, name) keeps it."
        )
    return given.folder


def name_of(given: str | Catalog, function: str) -> str:
    """Return the name of the snapshots among which one is that was given to a function.

    Raises
    ------
    InputError
        When it is no name, nor a catalogue from a snapshot in the folder of all snapshots.
    """
    folder = folder_of(given, function)
    if not isinstance(given, Catalog):
        return str(folder)
    parent = Path(folder).absolute().parent
    if parent.parent != snapshots_folder().absolute():
        raise InputError(
            f"{function}() takes a snapshot by its name, and {folder} is not in {snapshots_folder()}. Save it there "
            "first: prodex.save(catalog, name)."
        )
    return parent.name


_FORMAT = 1
_MANIFEST = "manifest.json"


def save(catalog: Catalog | str, name: str) -> Catalog:
    """Keep a catalogue as a new snapshot, and return it opened from there.

    Earlier snapshots of the name stay as they are. An interrupted save leaves nothing.

    Parameters
    ----------
    catalog
        What to keep, or the name of a snapshot; a filtered catalogue keeps only its products.
    name
        Name of the snapshot: letters, digits, "-", "_" and ".".

    Raises
    ------
    StorageError
        When the disk refuses.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}])
    >>> len(prodex.save(catalog.where(brand_code="ACME"), "acme"))
    1
    """

    if isinstance(name, Catalog):
        raise InputError("The catalogue comes first: write prodex.save(catalog, 'copy').")
    if not isinstance(catalog, Catalog):
        catalog = open_snapshot(folder_of(catalog, "save"))

    def write(folder: Path) -> Iterable[StoredPart]:
        for number, part in enumerate(catalog.parts):
            yield write_part([{table: part.stored(table) for table in TABLES}], folder, number)

    return commit(name, catalog.origin, write)


def commit(name: str, origin: Origin, write: Callable[[Path], Iterable[StoredPart]]) -> Catalog:
    """Write the parts of a new snapshot and its manifest, then make all of it visible at once."""
    folder = new_folder(name)
    with writing_folder(folder) as beside:
        parts = list(write(beside))
        _write_manifest(beside / _MANIFEST, name, origin, parts)
    return _open(folder)


def commit_built(name: str, origin: Origin, parts: Sequence[StoredPart], built: Path) -> Catalog:
    """Make a snapshot of parts that stand in a folder already: the manifest is added, and the folder moves."""
    with storage(built):
        _write_manifest(built / _MANIFEST, name, origin, parts)
    folder = new_folder(name)
    publish(built, folder)
    return _open(folder)


def new_folder(name: str) -> Path:
    """Return the folder of a snapshot made now, and clear away what killed processes left beside it."""
    folder = snapshots_folder() / checked_name(name) / _time_now()
    sweep(folder.parent)
    return folder


def open_snapshot(name: str | Path | Catalog) -> Catalog:
    """Open a snapshot; only its manifest is read.

    Parameters
    ----------
    name
        "shop" is the newest snapshot of that name, "shop@2026-11-13" the last one of that day; any beginning of
        the time will do. A folder of a snapshot is taken as well, and so is a catalogue from a snapshot, which is
        open already.

    Raises
    ------
    SnapshotNotFound
        When there is none; the message names those that are there.
    SnapshotDamaged
        When its manifest cannot be read.
    InputError
        When it is something else, or a catalogue that is in memory.

    Examples
    --------
    >>> import prodex
    >>> _ = prodex.save(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]), "shop")
    >>> prodex.open_snapshot("shop").products["gtin"].tolist()
    ['03036811359935']
    """
    if isinstance(name, Catalog):
        folder_of(name, "open_snapshot")
        return name
    name = str(folder_of(name, "open_snapshot"))
    if name and _is_snapshot(Path(name)):
        return _open(Path(name))
    wanted, _, time = name.partition("@")
    found = [folder for folder in _folders(wanted) if folder.name.startswith(time)]
    if not found:
        there = sorted({folder.parent.name for folder in _every_folder()})
        times = ", ".join(folder.name for folder in _folders(wanted)[-5:])
        near = hint_and_all(wanted, there, f"There are {', '.join(there) or 'none'}.")
        near = f". {wanted!r} has {times}." if times else near
        raise SnapshotNotFound(f"No snapshot {name!r} in {snapshots_folder()}{near}")
    return _open(_unlinked(found[-1]))


def stored_parts(folder: Path) -> tuple[StoredPart, ...]:
    """Return what the manifest of a snapshot says of its parts."""
    return _manifest(folder).parts


def list_snapshots(name: str | Catalog = "*") -> pd.DataFrame:
    """Return the snapshots of a name, or all: when, how many products, complete or not, bytes, where.

    A snapshot that cannot be read is listed with the reason under `note`.

    Parameters
    ----------
    name
        Name of the snapshots, or a catalogue that is one of them; all when "*".

    Examples
    --------
    >>> import prodex
    >>> _ = prodex.save(prodex.flatten([{"id": 7}]), "shop")
    >>> prodex.list_snapshots("shop")[["name", "products"]].values.tolist()
    [['shop', 1]]
    """
    name = name_of(name, "list_snapshots")
    rows = []
    for folder in _every_folder() if name == "*" else _folders(name):
        row: dict[str, Any] = {
            "name": folder.parent.name,
            "time": folder.name,
            "folder": str(folder),
            "note": "",
        }
        try:
            manifest = _manifest(_unlinked(folder))
            row |= {
                "products": manifest.products,
                "complete": manifest.origin.complete,
                "bytes": sum(int(facts["bytes"]) for part in manifest.parts for facts in part.files.values()),
            }
        except SnapshotDamaged as error:
            row["note"] = str(error)
        rows.append(row)
    columns = ["name", "time", "products", "complete", "bytes", "folder", "note"]
    return pd.DataFrame(rows, columns=columns).convert_dtypes()


def verify(name: str | Path | Catalog) -> pd.DataFrame:
    """Check every file of a snapshot against the manifest.

    Parameters
    ----------
    name
        Its name, its folder, or the catalogue that was opened from it.

    Returns
    -------
    pandas.DataFrame
        One row per file: path, ok, and what is wrong under `problem`.

    Examples
    --------
    >>> import prodex
    >>> _ = prodex.save(prodex.flatten([{"id": 7}]), "tried")
    >>> bool(prodex.verify("tried")["ok"].all())
    True
    """
    catalog = open_snapshot(folder_of(name, "verify"))
    assert catalog.folder is not None  # noqa: S101 - an opened snapshot has one
    rows = []
    for part in stored_parts(catalog.folder):
        for table in part.files:
            problem = part.problem(table, catalog.folder)
            rows.append((str(path_of(table, part.number)), not problem, problem))
    return pd.DataFrame(rows, columns=["file", "ok", "problem"])


def _folders(name: str) -> list[Path]:
    """Return the folders of the snapshots of a name, oldest first."""
    return list(_times(snapshots_folder() / name)) if name == safe_name(name) else []


def _every_folder() -> Iterator[Path]:
    """Yield the folders of all snapshots, by name, the oldest of each first."""
    for folder in entries_of(snapshots_folder()):
        yield from _times(folder)


def _times(folder: Path) -> Iterator[Path]:
    """Yield the snapshots in the folder of a name; links among them too, which are listed and not followed."""
    for path in entries_of(folder):
        if path.name[:1] in _DIGITS and is_there(path / _MANIFEST):
            yield path


def _unlinked(folder: Path) -> Path:
    """Return the folder of a snapshot, unless it is a link."""
    if not is_folder(folder):
        raise SnapshotDamaged(
            f"{folder} is a link, and links among snapshots are not followed. Open what it leads to by its own path."
        )
    return folder


def entries_of(folder: Path) -> list[Path]:
    """Return what is in a folder, by name; nothing where it cannot be read."""
    try:
        return sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError:
        return []


_DIGITS = tuple("0123456789")


def _is_snapshot(folder: Path) -> bool:
    try:
        return (folder / _MANIFEST).is_file()
    except OSError:  # a name longer than any file's
        return False


def _open(folder: Path) -> Catalog:
    manifest = _manifest(folder)
    parts = tuple(part.open(folder) for part in manifest.parts)
    try:
        refuse_links(folder, (path for part in parts for path in part.files.values()))
    except OSError as error:
        raise SnapshotDamaged(f"{error}. Open an earlier snapshot, or load again.") from error
    return Catalog(parts, manifest.origin, folder)


class _Written(msgspec.Struct):
    """A manifest as JSON; what it says of versions is for people."""

    products: Count
    origin: dict[str, Any]
    parts: list[Any]


def _parts(written: _Written) -> tuple[StoredPart, ...]:
    parts = tuple(map(StoredPart.from_json, written.parts))
    if len({part.number for part in parts}) < len(parts):
        raise ValueError("it gives two parts the same number")
    if sum(part.products for part in parts) != written.products:
        raise ValueError(f"its parts do not have {written.products:,} products together")
    return parts


class _Manifest(NamedTuple):
    """What a manifest says, checked."""

    products: int
    origin: Origin
    parts: tuple[StoredPart, ...]


def _manifest(folder: Path) -> _Manifest:
    path = folder / _MANIFEST
    try:
        written = read_json(path, _Written, newest=_FORMAT)
        return _Manifest(written.products, Origin.from_json(written.origin), _parts(written))
    except MadeByNewer as error:
        raise SnapshotDamaged(f"{path} was {error}.") from error
    except (OSError, ValueError) as error:
        raise SnapshotDamaged(
            f"{path} cannot be read ({error}). Open an earlier snapshot, or load again."
        ) from error


def _write_manifest(path: Path, name: str, origin: Origin, parts: Sequence[StoredPart]) -> None:
    manifest = {
        "format": _FORMAT,
        "name": name,
        "prodex": version("prodex"),
        "pyarrow": version("pyarrow"),
        "products": sum(part.products for part in parts),
        "origin": origin.to_json(),
        "parts": [part._asdict() for part in parts],
    }
    path.write_text(json.dumps(manifest, ensure_ascii=False, indent=1), encoding="utf-8")


def _time_now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H%M%S.%f}Z"


def catalog_given(given: object, call: str, *others: object) -> Catalog:
    """Return the catalogue that was given to a function; the snapshot of a name is opened.

    Parameters
    ----------
    given
        What stands in the place of the catalogue.
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
        raise InputError(f"The catalogue stands elsewhere: write prodex.{call}.")
    if isinstance(given, str | Path):
        return open_snapshot(given)
    name = call.partition("(")[0]
    raise InputError(
        f"{name}() takes a catalogue or the name of a snapshot, and catalog is {described(given)}. Write "
        f"prodex.{call}; "
        "prodex.open_snapshot('shop') opens a catalogue, and prodex.flatten(records) makes one of records."
    )
