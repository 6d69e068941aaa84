"""What changed between two catalogues as a file: by cause, by attribute and by group, with old and new values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from prodex.compare import Difference
from prodex.errors import InputError
from prodex.files.html_file import HtmlFile
from prodex.messages import counted
from prodex.notebook.html_file.packing import Packer, packed_together
from prodex.notebook.html_file.page import (
    MOST_BYTES,
    MOST_PRODUCTS,
    file_part,
    page_head,
    page_path,
    size_around,
    write_page,
)
from prodex.notebook.session.actions import Block
from prodex.notebook.views.blocks import typed_text
from prodex.notebook.views.comparison import (
    BY,
    VALUE_COLUMNS,
    ComparedSnapshots,
    audits_compared,
    change_row,
    compared_audits,
    group_table,
    what_changed,
)
from prodex.notebook.views.frame import catalog_title
from prodex.progress import PATIENCE, Progress, reporting

#: Changed values that are packed together, those by which is found what most have in common, and those on a page.
_EACH, _SAMPLE, _ROWS = 500, 1_000, 20
#: Causes, and attributes, that are listed.
_MOST = 100
#: Bytes that stay free for what the parts have in common.
_COMMON = 800_000
_PRODUCTS = ("gtin", "name", "brand", "owner")
_HOW = "Compare a selection of both catalogues: px.diff(old.where(...), new.where(...)).to_html(path)."


def write_changes(difference: Difference, path: str | Path, progress: Progress = None) -> HtmlFile:
    """Write what changed between two catalogues as one file.

    Parameters
    ----------
    difference
        What changed.
    path
        The file; an existing one is replaced.
    progress
        As for `prodex.verify`, in changed values.

    Returns
    -------
    HtmlFile
        Where it is, and what it does not have.

    Raises
    ------
    InputError
        When the path is that of a folder, or the changes do not fit into a file.
    StorageError
        When the disk refuses.

    Examples
    --------
    >>> import prodex, tempfile
    >>> old, new = prodex.flatten([{"id": 7, "serves": 4}]), prodex.flatten([{"id": 7, "serves": 6}])
    >>> write_changes(prodex.diff(old, new), f"{tempfile.mkdtemp()}/changes.html").path.name
    'changes.html'
    """
    page = page_path(path)
    old, new = difference.old, difference.new
    title = f"What changed: {catalog_title(new)}"
    with reporting(progress, "File", "changed values", after=PATIENCE) as reporter:
        with reporter.phase("Counting changes"):
            audits = None
            if old.folder is not None and new.folder is not None:
                audits = compared_audits(old.folder, new.folder)
            found = ComparedSnapshots.of(difference, audits)
            shown, notes = _within_limit(difference.changes)
        data = {
            "kind": "changes",
            "blocks": _blocks(what_changed(found, _MOST)),
            "groups": {by: group_table(found, by) for by in BY},
            "by": BY,
            "audits": [] if audits is None else _blocks(audits_compared(audits)),
            "choices": [*_choices(found, shown)],
            "columns": VALUE_COLUMNS,
            "size": _ROWS,
        }
        parts: list[str] = []
        room = MOST_BYTES - size_around(title) - _COMMON - len(file_part("data", data))
        with reporter.phase("Writing values", "changed values", len(shown), counts=True) as phase:
            rows = _Rows(shown)
            for part in rows:
                if (room := room - len(part)) < 0:
                    break
                parts.append(part)
                phase.add(min(_EACH, len(shown) - phase.done))
        if (count := len(parts) * _EACH) < len(shown):
            if not count:
                raise InputError(f"These changes do not fit into a file of {MOST_BYTES / 1e6:.0f} MB. {_HOW}")
            notes.append(
                f"The first {count:,} of {counted(len(shown), 'changed value')}: a file has at most "
                f"{MOST_BYTES / 1e6:.0f} MB. {_HOW}"
            )
            data["choices"] = [*_choices(found, shown.iloc[:count])]
        data |= {"head": page_head(title, [f"Since {catalog_title(old)}.", *notes]), "each": _EACH}
        size = write_page(page, title, file_part("data", data), [rows.common(), *parts])
    return HtmlFile(page, size, tuple(notes))


def _within_limit(changes: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the changes of as many products as a file has, and what is to be said about the others."""
    products = changes["product_id"].drop_duplicates()
    if len(products) <= MOST_PRODUCTS:
        return changes, []
    kept = changes["product_id"].isin(products.iloc[:MOST_PRODUCTS])
    said = (
        f"The values of {MOST_PRODUCTS:,} of {len(products):,} changed products are listed; the counts are of all. "
        f"{_HOW}"
    )
    return changes[kept], [said]


def _blocks(blocks: Iterable[Block | None]) -> list[Block]:
    """Return blocks with headings of the level that they have on a page of their own."""
    return [{**one, "level": 2} if one["kind"] == "heading" else one for one in blocks if one]


def _choices(found: ComparedSnapshots, shown: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield whose changes can be listed: the places of their values, or the products themselves."""
    places = pd.Series(range(len(shown)), shown.index)
    whole = found.whole.loc[shown.index]
    by_attribute = {str(name): rows.tolist() for name, rows in places.groupby(whole)}
    for (outcome, attribute), words in found.choices.items():
        value = [outcome, attribute]
        if outcome == "changed":
            rows = places.tolist() if attribute is None else by_attribute.get(attribute, [])
            every = len(found.values((outcome, attribute)))
            yield {"value": value, "label": words, "rows": rows, "every": every}
        elif outcome != "added":
            yield {"value": value, "label": words, **_products(found.difference, outcome)}
    for outcome in ("added", "removed"):
        if found.counts[outcome]:
            label = f"{outcome} products ({found.counts[outcome]:,})"
            yield {"value": [outcome, None], "label": label, **_products(found.difference, outcome)}


def _products(difference: Difference, outcome: str) -> dict[str, Any]:
    of = difference.products[difference.products["change"] == outcome]
    lines = of[["product_id", *_PRODUCTS]].head(MOST_PRODUCTS).to_dict("records")
    rows = [
        {
            "key": str(place),
            "cells": [
                typed_text(str(one["product_id"] if name == "gtin" and pd.isna(one[name]) else one[name]))
                if name == "gtin" or not pd.isna(one[name])
                else {"gap": "none"}
                for name in _PRODUCTS
            ],
        }
        for place, one in enumerate(lines)
    ]
    columns = [{"name": one, "title": one.upper() if one == "gtin" else one.capitalize()} for one in _PRODUCTS]
    return {"products": rows, "every": len(of), "columns": columns}


class _Rows:
    """Packs changed values into parts of a page."""

    def __init__(self, changes: pd.DataFrame) -> None:
        self._changes = changes
        self._common = packed_together(_rows(changes.iloc[:_SAMPLE]))

    def __iter__(self) -> Iterator[str]:
        for number, first in enumerate(range(0, len(self._changes), _EACH)):
            packer = Packer(self._common)
            roots = [packer.pack(one) for one in _rows(self._changes.iloc[first : first + _EACH])]
            yield file_part(f"values-{number}", {"roots": roots, "nodes": packer.nodes})

    def common(self) -> str:
        """Return the part that all others need, once these are made."""
        return file_part("values", {"shapes": [*self._common.shapes], "nodes": self._common.nodes})


def _rows(changes: pd.DataFrame) -> Sequence[Block]:
    rows = [change_row(one) for one in changes.to_dict("records")]
    # There are no cards to be opened.
    return [{name: one[name] for name in ("key", "cells")} for one in rows]
