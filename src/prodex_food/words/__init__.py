"""Words of labels, in tables that people can read and correct: tab separated, folded, one language a row."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources


@cache
def rows_of(table: str, delimiter: str = "\t") -> tuple[Mapping[str, str], ...]:
    """Return the rows of a table of words.

    Examples
    --------
    >>> "language" in rows_of("kinds.tsv")[0]
    True
    """
    text = resources.files("prodex_food.words").joinpath(table).read_text("utf-8")
    return tuple(csv.DictReader(text.splitlines(), delimiter=delimiter, quoting=csv.QUOTE_NONE))
