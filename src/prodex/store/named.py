"""Which snapshot is meant by what a function was given: a name, a folder, or a catalogue that was opened from one."""

from __future__ import annotations

from pathlib import Path

from prodex.catalog import Catalog
from prodex.described import described
from prodex.errors import InputError
from prodex.files import home


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
