"""Publishing a snapshot in this folder: its parts and its manifest are written beside it, and one rename shows them.

Publishing it to others, as Delta tables, is `prodex.publishing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from prodex.catalog import Catalog
from prodex.catalog.code_labels import of_codes_in_use
from prodex.catalog.origin import Origin, chosen_as_json
from prodex.catalog.part import with_absent
from prodex.files.atomic import folder_beside, make_ready, publish_folder, remove_leftovers, storage
from prodex.progress import PATIENCE, SILENT, Progress, Reporter, showing
from prodex.store.archive import MANIFEST, SEAL, new_entry, new_name
from prodex.store.parts import StoredPart, path_of, same_columns, write_part
from prodex.store.snapshot import SNAPSHOTS, open_folder
from prodex.tables.declaration import TABLES

#: The phase in which a snapshot becomes visible.
SAVING = "Saving the snapshot"

_PYARROW = version("pyarrow")


def save(catalog: Catalog, name: str, progress: Progress = None) -> Catalog:
    """Store a catalogue as a new snapshot; see `Catalog.save`."""

    # Known from the start here, so that no part is written twice.
    seen = list(dict.fromkeys(name for part in catalog.parts for name in part.stored_columns("presence")))

    def write(folder: Path) -> Iterable[StoredPart]:
        for number, part in enumerate(catalog.parts):
            for table, lacking in part.lacking.items():
                part.require(table, lacking)  # a snapshot holds every column
            tables = {table: part.stored(table) for table in TABLES}
            tables["presence"] = with_absent(tables["presence"], seen)
            tables["code_labels"] = of_codes_in_use(tables["code_labels"], catalog)
            yield write_part([tables], folder, number)
            phase.add(part.size)

    with showing(progress, SAVING, total=len(catalog), after=PATIENCE) as phase:
        chosen = chosen_as_json(catalog.chosen, len(catalog))
        return publish_parts(name, catalog.origin, write, is_own=is_own(catalog), chosen=chosen)


def is_own(catalog: Catalog) -> bool:
    """Whether this installation made all tables of a catalogue from records, as far as they are on disk.

    Tables of somebody else may say another thing than the records beside them.
    """
    if catalog.folder is None:
        return not any(part.files for part in catalog.parts)
    return SNAPSHOTS.is_own(catalog.folder)


def publish_parts(
    name: str,
    origin: Origin | Callable[[], Origin],
    write: Callable[[Path], Iterable[StoredPart]],
    reporter: Reporter = SILENT,
    *,
    is_own: bool = True,
    chosen: Mapping[str, Any] = MappingProxyType({}),
) -> Catalog:
    """Write the parts of a new snapshot and its manifest, then publish everything with one rename.

    Parameters
    ----------
    name
        Its name.
    origin
        Its origin. A function that returns it is called when the parts are written: what is in them may be part of it.
    write
        Writes the parts to a folder.
    reporter
        Gets the phase.
    is_own
        Whether this installation made the parts, not somebody else; see `Archive.is_own`.
    chosen
        What the manifest says of a selection; see `chosen_as_json`.
    """
    with folder_beside(new_entry(SNAPSHOTS.folder(new_name(name)))) as beside:
        parts = list(write(beside))
        with reporter.phase(SAVING):
            made_from = origin() if callable(origin) else origin
            parts = same_columns(parts, beside)
            folder = _publish_folder(beside, name, made_from, parts, is_own=is_own, chosen=chosen)
    return open_folder(folder)


def publish_built(name: str, origin: Origin, parts: Sequence[StoredPart], built: Path) -> Catalog:
    """Make a snapshot of parts that are in a folder already: its manifest is added, and the folder is renamed."""
    # The manifest is written last: a folder without it is not taken for a snapshot.
    with storage(built):
        parts = same_columns(parts, built)
        _keep_only(parts, built)
        remove_leftovers(SNAPSHOTS.folder(name))
        folder = _publish_folder(built, name, origin, parts, is_own=True)
    return open_folder(folder)


def _publish_folder(
    beside: Path,
    name: str,
    origin: Origin,
    parts: Sequence[StoredPart],
    *,
    is_own: bool,
    chosen: Mapping[str, Any] = MappingProxyType({}),
) -> Path:
    """Write the manifest, give the folder its name, and return it."""
    make_ready(beside)  # before it is our turn, so that others wait for the manifest only
    with SNAPSHOTS.publishing(SNAPSHOTS.folder(name)) as (folder, sequence, later):
        if later is not None:
            origin = origin.with_ledger(origin.ledger.with_note(_set_back(folder.name, later)))
        content = {
            "name": name,
            "pyarrow": _PYARROW,
            "products": sum(part.products for part in parts),
            "origin": origin.to_json(),
            **chosen,
            "parts": [part._asdict() for part in parts],
        }
        SNAPSHOTS.write_manifest(beside, content, sequence, sealed_for=folder if is_own else None)
        added = [path for path in (beside / MANIFEST, beside / SEAL) if path.exists()]
        publish_folder(beside, folder, added=added)
    return folder


def _set_back(time: str, later: str) -> str:
    return (
        f"this machine's clock was set back: this snapshot is of {time} and newer than that of {later}; the newest is "
        "the one that was published last"
    )


def _keep_only(parts: Iterable[StoredPart], built: Path) -> None:
    """Delete the files of parts that were built for another plan: other programs read the folders as they are."""
    named = {path_of(table, part.number) for part in parts for table in part.files}
    for path in built.glob("*/*.parquet"):
        if path.relative_to(built) not in named:
            path.unlink()
