"""Saved views: conditions, columns and order of an explorer, kept on disk under a name that somebody typed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from prodex.errors import InputError, ProdexError
from prodex.exploration.filtering import ProductFilter
from prodex.files.atomic import home, reading, remove, safe_name, storage
from prodex.files.state import write_state
from prodex.files.untrusted import read_json
from prodex.selection import Selection
from prodex.selection.paths import needs_audit
from prodex.selection.plain import as_plain, from_plain

_FORMAT = 2
#: Characters of a name; a longer one is a text that was pasted by mistake.
_LONGEST = 120


@dataclass(frozen=True)
class SavedView:
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

    Examples
    --------
    >>> view = SavedView("French drinks", Selection().toggled("language", "fr"))
    >>> save_view(view).name[:13]
    'French_drinks'
    >>> [one.name for one in saved_views()], open_view("French drinks") == view
    (['French drinks'], True)
    >>> remove_view("French drinks")
    """

    name: str
    conditions: Selection = field(default_factory=Selection)
    columns: tuple[str, ...] = ()
    sorted_by: str = ""
    descending: bool = False


def save_view(view: SavedView) -> Path:
    """Save a view, in the place of the one of the same name, and return its file.

    Raises
    ------
    InputError
        When it has no name, or one that is too long.
    StorageError
        When the disk refuses; an earlier view of this name is then as it was.
    """
    path = _view_path(view.name)
    write_state(path, {**asdict(view), "conditions": as_plain(view.conditions)}, _FORMAT)
    return path


def saved_views() -> list[SavedView]:
    """Return all saved views by name; files that are damaged are left out, and opening them says why.

    Raises
    ------
    OtherLayout
        When another version of prodex has saved one.
    """
    found = []
    with reading(_views_folder()):
        paths = list(_views_folder().iterdir()) if _views_folder().is_dir() else []
    for path in paths:
        if path.suffix != ".json":
            continue
        with suppress(InputError):
            found.append(_read_view(path))
    return sorted(found, key=lambda view: (view.name.casefold(), view.name))


def open_view(name: str) -> SavedView:
    """Return a saved view.

    Raises
    ------
    InputError
        When there is none of this name, or its file cannot be read.
    OtherLayout
        When another version of prodex has saved it.
    """
    path = _view_path(name)
    with reading(path):
        is_known = path.exists()
    if not is_known:
        names = ", ".join(repr(view.name) for view in saved_views()) or "none"
        raise InputError(f"There is no view {name!r}. Saved are {names}.")
    return _read_view(path)


def remove_view(name: str) -> None:
    """Remove a saved view; one that is gone already stays gone."""
    path = _view_path(name)
    with storage(path):
        remove(path)


def _read_view(path: Path) -> SavedView:
    try:
        written = read_json(path, _ViewLayout, layout=_FORMAT, advice="Save the view again.")
        return SavedView(**{**msgspec.structs.asdict(written), "conditions": from_plain(written.conditions)})
    except (OSError, ValueError) as error:
        raise InputError(
            f"The view in {path} cannot be read: {error}. Remove the file, and save it again."
        ) from error


class _ViewLayout(msgspec.Struct):
    """A view as JSON."""

    name: str
    conditions: dict[str, Any]
    columns: tuple[str, ...] = ()
    sorted_by: str = ""
    descending: bool = False


def _views_folder() -> Path:
    return home() / "views"


def _view_path(name: str) -> Path:
    """Return the file of a view; names that differ in anything have different files."""
    name = name.strip()
    if not 0 < len(name) <= _LONGEST:
        raise InputError(f"The name of a view has {len(name):,} characters. Give it 1 to {_LONGEST}.")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return _views_folder() / f"{safe_name(name)[:60]}-{digest}.json"


def applicable(conditions: Selection, chosen: ProductFilter) -> tuple[Selection, str]:
    """Return conditions as far as a catalogue can answer them, and in words what was left out, and what nothing meets.

    Words are kept as they are: a search of everything takes a while, and says itself what it finds.

    Parameters
    ----------
    conditions
        The conditions, as they were saved for another catalogue, or before an audit.
    chosen
        The products of this one.

    Examples
    --------
    >>> import prodex
    >>> here = ProductFilter(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}]))
    >>> asked = Selection().toggled("brand", "ACME").toggled("brand", "OTHER").toggled("grade", "A")
    >>> kept, notes = applicable(asked, here)
    >>> kept == asked.without_group("grade")
    True
    >>> print(notes.replace(chr(0x2068), "").replace(chr(0x2069), ""))
    There is no audit here, so this was left out: grade: A. No product here meets: brand: OTHER.
    """
    kept = Selection(words=conditions.words)
    unaudited, unanswered, unmet = [], [], []
    for one in _each(conditions.searching("")):
        (label,) = chosen.labels(one)
        if needs_audit(one) and chosen.products.audit is None:
            unaudited.append(label)
            continue
        try:
            mask = chosen.narrow(one).mask
        except ProdexError as error:
            unanswered.append(f"{label} was left out: {error}")
            continue
        kept = _with(kept, one)
        if not mask.any():
            unmet.append(label)
    notes = [f"There is no audit here, so this was left out: {'; '.join(unaudited)}."] if unaudited else []
    notes += unanswered
    notes += [f"No product here meets: {'; '.join(unmet)}."] if unmet else []
    return kept, " ".join(notes)


def _each(selection: Selection) -> Iterator[Selection]:
    """Yield each condition, and each code of a group, as a selection of its own."""
    for one in selection.single():
        for name, codes in (*one.groups.items(), *one.excluded.items()):
            for code in codes:
                yield Selection().toggled(name, code) if one.groups else Selection().excluding(name, code)
        if not one.groups and not one.excluded:
            yield one


def _with(kept: Selection, one: Selection) -> Selection:
    """Return a selection with a further condition, or a further code of a group."""
    for name, codes in one.groups.items():
        return kept.choosing(name, (*kept.groups.get(name, ()), *codes))
    for name, (code,) in one.excluded.items():
        return kept.excluding(name, code)
    return kept.adding(one)
