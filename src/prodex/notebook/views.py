"""Saved views: conditions, columns and order of an explorer, kept on disk under a name that somebody typed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from prodex.errors import InputError, ProdexError
from prodex.files.atomic import home, make_folder, reading, remove, safe_name, storage, writing
from prodex.files.untrusted import read_json
from prodex.notebook.conditions import Conditions

#: The newest format that this version reads, and the one that it writes.
FORMAT = 1
#: Characters of a name; a longer one is a text that was pasted by mistake.
_LONGEST = 120


@dataclass(frozen=True)
class View:
    """What an explorer shows.

    Attributes
    ----------
    name
        Its name, as it was typed.
    conditions
        Which products are shown.
    columns
        The columns of the table; none for those that the explorer shows anyway.
    sorted_by, descending
        The column by which products are sorted, and in which direction.
    format
        The format of its file.

    Examples
    --------
    >>> view = View("French drinks", Conditions().toggled("language", "fr"))
    >>> save_view(view).name[:13]
    'French_drinks'
    >>> [one.name for one in saved_views()], open_view("French drinks") == view
    (['French drinks'], True)
    >>> remove_view("French drinks")
    """

    name: str
    conditions: Conditions = field(default_factory=Conditions)
    columns: tuple[str, ...] = ()
    sorted_by: str = ""
    descending: bool = False
    format: int = FORMAT


def save_view(view: View) -> Path:
    """Save a view, in the place of the one of the same name, and return its file.

    Raises
    ------
    InputError
        When it has no name, or one that is too long.
    StorageError
        When the disk refuses; an earlier view of this name is then as it was.
    """
    path = _path(view.name)
    with storage(path):
        make_folder(path.parent, private=True)
        with writing(path, private=True) as beside:
            beside.write_text(json.dumps(msgspec.to_builtins(view), ensure_ascii=False), "utf-8")
    return path


def saved_views() -> list[View]:
    """Return all saved views by name; files that cannot be read are left out, and opening them says why."""
    found = []
    with reading(_folder()):
        paths = list(_folder().iterdir()) if _folder().is_dir() else []
    for path in paths:
        if path.suffix != ".json":
            continue
        try:
            found.append(_read(path))
        except ProdexError:
            continue
    return sorted(found, key=lambda view: (view.name.casefold(), view.name))


def open_view(name: str) -> View:
    """Return a saved view.

    Raises
    ------
    InputError
        When there is none of this name, or its file cannot be read.
    """
    path = _path(name)
    with reading(path):
        is_known = path.exists()
    if not is_known:
        names = ", ".join(repr(view.name) for view in saved_views()) or "none"
        raise InputError(f"There is no view {name!r}. Saved are {names}.")
    return _read(path)


def remove_view(name: str) -> None:
    """Remove a saved view; one that is gone already stays gone."""
    path = _path(name)
    with storage(path):
        remove(path)


def _read(path: Path) -> View:
    try:
        return read_json(path, View, newest=FORMAT)
    except (OSError, ValueError) as error:
        raise InputError(
            f"The view in {path} cannot be read: {error}. Remove the file, and save it again."
        ) from error


def _folder() -> Path:
    return home() / "views"


def _path(name: str) -> Path:
    """Return the file of a view; names that differ in anything have different files."""
    name = name.strip()
    if not 0 < len(name) <= _LONGEST:
        raise InputError(f"The name of a view has {len(name):,} characters. Give it 1 to {_LONGEST}.")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return _folder() / f"{safe_name(name)[:60]}-{digest}.json"
