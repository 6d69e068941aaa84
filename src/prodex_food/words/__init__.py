"""Words of labels, in tables that people can read and correct: tab separated, folded, one language a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import resources
from itertools import zip_longest
from typing import Any

from prodex.packs import made_once


@made_once
def rows_of(table: str, delimiter: str = "\t") -> tuple[Mapping[str, str], ...]:
    """Return the rows of a table of words.

    Examples
    --------
    >>> "language" in rows_of("kinds.tsv")[0]
    True
    """
    text = resources.files("prodex_food.words").joinpath(table).read_text("utf-8")
    names, *rows = (line.split(delimiter) for line in text.splitlines() if line)
    # A language, a use or a group stands in thousands of rows, and once in memory. The last cells may be missing.
    known: dict[Any, Any] = {}
    return tuple(dict(zip_longest(names, map(known.setdefault, row, row))) for row in rows)


class TableWords:
    """Words of a table, in which `*` stands for the rest of a word: "milk", "salz*", "*saft", "*weizen*".

    An expression of hundreds of words takes a tenth of a second to compile, and longer to look for.

    Attributes
    ----------
    whole
        Those without an asterisk.

    Examples
    --------
    >>> words = TableWords(["milk", "salz*", "*saft"])
    >>> "salzig" in words, "apfelsaft" in words, "milky" in words
    (True, True, False)
    """

    def __init__(self, words: Iterable[str]) -> None:
        words = frozenset(words)
        self.whole = frozenset(word for word in words if "*" not in word)
        inside = frozenset(word for word in words if word.startswith("*") and word.endswith("*"))
        self._begins = tuple(word[:-1] for word in words - inside if word.endswith("*"))
        self._ends = tuple(word[1:] for word in words - inside if word.startswith("*"))
        self._inside = tuple(word[1:-1] for word in inside)

    def __contains__(self, word: str) -> bool:
        return (
            word in self.whole
            or word.startswith(self._begins)
            or word.endswith(self._ends)
            or (self._inside != () and any(part in word for part in self._inside))
        )
