"""Words of labels, in tables that people can read and correct: tab separated, folded, one language a row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources
from itertools import zip_longest
from typing import Any

from prodex.packs import once_per_process


@once_per_process
def rows_of(table: str, delimiter: str = "\t", **chosen: str) -> tuple[Mapping[str, str], ...]:
    """Return the rows of a table of words, or those that have some values, such as one use and one language.

    Examples
    --------
    >>> "language" in rows_of("kinds.tsv")[0]
    True
    >>> {row["use"] for row in rows_of("food_words.tsv", use="care")}
    {'care'}
    """
    if chosen:
        return _rows_by(table, delimiter, tuple(chosen)).get(tuple(chosen.values()), ())
    text = resources.files("prodex_food.words").joinpath(table).read_text("utf-8")
    names, *rows = (line.split(delimiter) for line in text.splitlines() if line)
    # A language, a use or a group stands in thousands of rows, and once in memory. The last cells may be missing.
    known: dict[Any, Any] = {}
    return tuple(dict(zip_longest(names, map(known.setdefault, row, row))) for row in rows)


@once_per_process
def _rows_by(
    table: str, delimiter: str, columns: tuple[str, ...]
) -> Mapping[tuple[str, ...], tuple[Mapping[str, str], ...]]:
    """Return the rows by their values in some columns: a table is asked for dozens of languages and uses."""
    found: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for row in rows_of(table, delimiter):
        found.setdefault(tuple(row[name] for name in columns), []).append(row)
    return {values: tuple(rows) for values, rows in found.items()}


@once_per_process
def listed_words(table: str, **chosen: str) -> tuple[str, ...]:
    """Return the words of such rows."""
    return tuple(word for row in rows_of(table, **chosen) for word in row["words"].split())


@once_per_process
def table_words(table: str, **chosen: str) -> TableWords:
    """Return them to look words up in."""
    return TableWords(listed_words(table, **chosen))


@lru_cache(maxsize=2**18)
def has_use(table: str, word: str, *uses: str) -> bool:
    """Say whether a table has a folded word for one of some uses.

    >>> has_use("law_words.tsv", "bienenhonig", "honey", "feed"), has_use("law_words.tsv", "honey", "feed")
    (True, False)
    """
    return any(word in table_words(table, use=use) for use in uses)


@lru_cache(maxsize=2**17)
def first_use(table: str, word: str, *uses: str) -> str:
    """Return the first of some uses for which a table has a folded word, "" where it has it for none of them."""
    return next((use for use in uses if has_use(table, word, use)), "")


def plain_words(text: str) -> list[str]:
    """Return the words of a text: all between digits, spaces and signs.

    >>> plain_words("lait demi-ecreme 1l")
    ['lait', 'demi', 'ecreme', 'l']
    """
    return _WORD.findall(text)


_WORD = re.compile(r"[^\W\d_]+")


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
