"""The catalogue or snapshot that a function was given: a catalogue, a name or a folder, whichever is at hand."""

from __future__ import annotations

from pathlib import Path

from prodex.catalog import Catalog
from prodex.described import described
from prodex.errors import InputError
from prodex.store.snapshot import open_snapshot


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
