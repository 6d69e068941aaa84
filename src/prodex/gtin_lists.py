"""GTINs as people give them: one or many, as text or numbers, with the empty cells of a spreadsheet between."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prodex import gtin
from prodex.errors import InputError, QueryError
from prodex.several import is_one, listed

#: What a spreadsheet shows of a long number: its last digits are lost.
_ROUNDED = re.compile(r"[0-9]+([.,][0-9]+)?[eE]\+?[0-9]+")


@dataclass(frozen=True)
class Given:
    """GTINs that a person gave.

    Attributes
    ----------
    texts
        Each as it compares, once, with how it was given.
    blanks
        How many cells were empty.
    is_none
        Whether a single missing value was given, not a list with one.
    """

    texts: Mapping[str, Any]
    blanks: int = 0
    is_none: bool = False


def given(name: str, value: object) -> Given:
    """Read GTINs out of anything that holds values; a single text may hold several, with commas between.

    Raises
    ------
    QueryError
        When something in it can be no GTIN and is no empty cell either.

    Examples
    --------
    >>> given("gtin", [3036811359935.0, None, "03036811359935"])
    Given(texts={'03036811359935': 3036811359935.0}, blanks=1, is_none=False)
    """
    items = value.split(",") if isinstance(value, str) and "," in value else listed(name, value)
    texts: dict[str, Any] = {}
    blanks = 0
    for item in items:
        try:
            text = gtin.comparable(item)
        except InputError as error:
            raise QueryError(f"{name}: {error}") from error
        if text is None:
            blanks += 1
        else:
            texts.setdefault(text, item)
    return Given(texts, blanks, is_none=is_one(value) and not texts and not isinstance(value, str))


def refuse_rounded(name: str, text: str) -> None:
    """Refuse a number that a spreadsheet shortened: nobody can tell which GTIN it was.

    Raises
    ------
    QueryError
        When the text is such a number.
    """
    if _ROUNDED.fullmatch(text):
        raise QueryError(
            f"{name}: {text!r} is what a spreadsheet shows of a long number; its last digits are lost. Format "
            "the column as text before it is saved, or read it with dtype=str."
        )
