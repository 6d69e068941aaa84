"""A grid of cells that can be pressed: heads of rows and columns, a figure in each cell, and a shade behind it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prodex.colour_scale import shade
from prodex.notebook.session.actions import Block
from prodex.notebook.views.blocks import typed_text
from prodex.selection import Code
from prodex.untrusted_text import LABEL, cut, ends

#: Characters that are shown of the head of a column, of other texts, and of a tooltip; and those of a key.
_NARROW, _WIDE, _HINT, _KEY = 60, LABEL, 400, 80


@dataclass(frozen=True)
class ShownCell:
    """A head or a cell.

    Attributes
    ----------
    key
        What a press reports.
    text
        What is shown; of a head, suppliers may have typed it.
    say
        What a screen reader reads out in its place; the text where it is empty.
    detail
        A line below the text of a head.
    hint
        The tooltip.
    shade
        Its place in `prodex.colour_scale.SCALE`, 0 where nothing is missing; None where there is no figure.
    is_pressed
        Whether what it lists is shown now.
    is_mute
        Whether it lists nothing: it can be read, and a press does nothing.
    """

    key: str
    text: str
    say: str = ""
    detail: str = ""
    hint: str = ""
    shade: int | None = None
    is_pressed: bool = False
    is_mute: bool = False

    def to_json(self, most: int = _WIDE) -> Block:
        """Return it as pages draw it; of long labels the beginning.

        >>> ShownCell("fr", "50 %", "French: 1 of 2").to_json()
        {'key': 'fr', 'text': {'text': '50 %'}, 'say': 'French: 1 of 2'}
        """
        made: Block = {
            "key": self.key,
            "text": typed_text(_beginning(self.text, most)),
            "say": _beginning(self.say or self.text, _HINT),
        }
        optional = {
            "detail": self.detail and typed_text(_beginning(self.detail, _HINT)),
            "hint": _beginning(self.hint, _HINT),
            "pressed": self.is_pressed,
            "mute": self.is_mute,
        }
        made.update({name: value for name, value in optional.items() if value})
        return made if self.shade is None else {**made, "shade": self.shade}


def cells_row(
    head: ShownCell, cells: Sequence[ShownCell], *, is_total: bool = False, sort: str | None = None
) -> Block:
    """Return a row.

    Parameters
    ----------
    head, cells
        What it begins with, and a cell for each column.
    is_total
        Whether it is set apart from the others.
    sort
        "ascending" or "descending" where the columns are sorted by it, "" where they can be; None where they cannot.
    """
    made = {**head.to_json(), "cells": [one.to_json() for one in cells], "total": is_total}
    return made if sort is None else {**made, "sort": sort}


def cells(
    columns: Sequence[ShownCell],
    rows: Sequence[Mapping[str, Any]],
    *,
    key: str,
    label: str,
    corner: str,
    do: Mapping[str, str],
    empty: str = "",
) -> Block:
    """Return a grid of cells.

    Parameters
    ----------
    columns, rows
        The heads of the columns, and rows of `cells_row`.
    label
        What the grid shows, for screen readers.
    corner
        The head above the heads of the rows.
    do
        The actions of a press, with the keys of what was pressed: "cell" (`row` and `column`), "row" and "sort"
        (`row`), "column" (`column`); where one is left out, a press does nothing.
    empty
        What is shown where there are no rows or no columns.
    """
    return {
        "kind": "cells",
        "key": key,
        "label": label,
        "corner": corner,
        "columns": [one.to_json(_NARROW) for one in columns],
        "rows": [*rows],
        "do": dict(do),
        "empty": empty,
    }


def short_key(key: str) -> str:
    """Return a key that stays short however long a code is: each cell of a grid has one.

    >>> short_key("=fr"), len(short_key("x" * 40_000))
    ('=fr', 64)
    """
    return key if len(key) <= _KEY else hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def code_key(code: Code) -> str:
    """Return the key of a group: two groups may have one name, and what their codes are is a supplier's choice.

    >>> code_key(None), code_key("none")
    ('none', '=none')
    """
    return "none" if code is None else short_key(f"={code}")


def share_shade(share: float) -> int:
    """Return the shade of a share as it is written, in whole per cent: one figure has one shade.

    >>> share_shade(1.0), share_shade(0.999), share_shade(0.0)
    (0, 1, 7)
    >>> share_shade(0.8999), share_shade(0.9)  # both are written as 90 %
    (4, 4)
    """
    return shade(share if share >= 1 else min(round(share, 2), 0.99))


def _beginning(text: str, most: int) -> str:
    """Return the beginning of a text, with whatever closes the marks of direction that it leaves open."""
    beginning = cut(text, most)
    return beginning + ends(beginning)
