"""What changed between two catalogues as a file: by cause, by attribute and by group, with old and new values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from prodex.compare import Difference
from prodex.errors import InputError
from prodex.files.html_file import HtmlFile
from prodex.notebook.html_file.packing import PackedParts
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
from prodex.notebook.views.compared import (
    EVERY,
    GROUPS,
    ComparedSnapshots,
    audit_blocks,
    group_table,
    summary_blocks,
    value_table,
)
from prodex.notebook.views.comparison import compared_audits
from prodex.notebook.views.frame import catalog_title
from prodex.phrases import counted
from prodex.progress import PATIENCE, Progress, reporting

#: Changed values that are packed together, those by which is found what most have in common, and those on a page.
_EACH, _SAMPLE, _ROWS = 500, 1_000, 20
#: Causes, and attributes, that are listed.
_MOST = 100
#: Bytes that stay free for the shapes of values, and for what is said of what does not fit.
_SHAPES = 100_000
_PRODUCTS = ("gtin", "name", "brand", "owner")
_HOW = (
    "Compare a selection of both catalogues: px.diff(old.where(...), new.where(...)).to_html(path), or --select in a "
    "terminal."
)


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
            choices = [*_choices(found, shown)]
            notes += _unlisted(choices)
        data = {
            "kind": "changes",
            "blocks": _blocks(summary_blocks(found, _MOST)),
            "groups": {by: group_table(found, by) for by in GROUPS},
            "by": GROUPS,
            "audits": [] if audits is None else _blocks(audit_blocks(audits)),
            "choices": choices,
            "columns": value_table(found, EVERY, slice(0))["columns"],
            "size": _ROWS,
        }
        room = MOST_BYTES - size_around(title) - _SHAPES - len(file_part("data", data))
        with reporter.phase("Writing values", "changed values", shown, counts=True) as phase:
            rows = PackedParts("values", _rows(found, shown), _EACH, _SAMPLE)
            parts, count = rows.within(room, phase)
        if room < 0 or (shown and not count):
            raise InputError(f"These changes do not fit into a file of {MOST_BYTES / 1e6:.0f} MB. {_HOW}")
        if count < shown:
            notes.append(
                f"The first {count:,} of {counted(shown, 'changed value')}: a file has at most "
                f"{MOST_BYTES / 1e6:.0f} MB. {_HOW}"
            )
            data["choices"] = [*_choices(found, count)]
        data |= {"head": page_head(title, [f"Since {catalog_title(old)}.", *notes]), "each": _EACH}
        size = write_page(page, title, file_part("data", data), [rows.common(), *parts])
    return HtmlFile(page, size, tuple(notes))


def _within_limit(changes: pd.DataFrame) -> tuple[int, list[str]]:
    """Return how many changes a file has, those of the first products, and what is to be said about the others."""
    numbers, products = pd.factorize(changes["product_id"])
    if len(products) <= MOST_PRODUCTS:
        return len(changes), []
    said = (
        f"The values of {MOST_PRODUCTS:,} of {len(products):,} changed products are listed; the counts are of all. "
        f"{_HOW}"
    )
    # The values of a product are beside each other.
    return int((numbers < MOST_PRODUCTS).sum()), [said]


def _unlisted(choices: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield what is to be said of products, such as those that are new or gone, that are not all listed."""
    for one in choices:
        if "products" in one and (listed := len(one["products"])) < (every := one["every"]):
            called = one["label"].removesuffix(f" ({every:,})")
            yield f"{listed:,} of {every:,} {called} are listed; the counts are of all. {_HOW}"


def _blocks(blocks: Iterable[Block | None]) -> list[Block]:
    """Return blocks with headings of the level that they have on a page of their own."""
    return [{**one, "level": 2} if one["kind"] == "heading" else one for one in blocks if one]


def _choices(found: ComparedSnapshots, shown: int) -> Iterator[dict[str, Any]]:
    """Yield whose changes can be listed: the places of their values, or the products themselves."""
    for value, listed in found.choices.items():
        outcome, _ = value
        if outcome == "changed":
            rows = listed.rows[listed.rows < shown].tolist()
            yield {"value": value, "label": listed.label, "rows": rows, "every": len(listed.rows)}
        elif outcome != "added":
            yield {"value": value, "label": listed.label, **_products(found.difference, outcome)}
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
    columns = [
        {"name": one, "title": one.upper() if one == "gtin" else one.capitalize()} for one in _PRODUCTS
    ]
    return {"products": rows, "every": len(of), "columns": columns}


def _rows(found: ComparedSnapshots, shown: int) -> Iterator[Block]:
    for first in range(0, shown, _EACH):
        rows = value_table(found, EVERY, slice(first, min(first + _EACH, shown)))["rows"]
        # There are no cards to be opened.
        yield from ({name: one[name] for name in ("key", "cells")} for one in rows)
