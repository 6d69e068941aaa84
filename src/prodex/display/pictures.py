"""The summary of downloaded pictures: how many there are, and why the others are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pandas as pd

from prodex.advice import Named, PythonCall
from prodex.display.html_tables import block, table
from prodex.files.atomic import relative_to_working_folder
from prodex.untrusted_text import on_one_line

if TYPE_CHECKING:
    from prodex.pictures.result import Pictures

_ROWS = 5


def text_of(pictures: Pictures, words: Callable[[Named], str] = str) -> str:
    """Return the summary as text; `words` are those of arguments and calls that it names."""
    rows = [f"  {gtin}, picture {number}: {reason}" for gtin, number, reason in _broken(pictures)]
    return "\n".join(map(on_one_line, [*_picture_lines(pictures, words), *rows]))


def html_of(pictures: Pictures) -> str:
    """Return the summary for a notebook."""
    headline, *others = _picture_lines(pictures, str)
    rows = _broken(pictures)
    missing = [table("Missing pictures", ["GTIN", "picture", "reason"], rows)] if rows else []
    return block(headline, [(line, False) for line in others], missing)


def _picture_lines(pictures: Pictures, words: Callable[[Named], str]) -> Iterator[str]:
    counts = pictures.counts
    lost = {words: counts[state] for state, words in _LOST.items() if counts[state]}
    headline = f"{pictures.good:,} of {pictures.wanted:,} pictures"
    missing = (f"{count:,} {words}" for words, count in lost.items())
    yield "; ".join([headline, *missing]) + (words(PythonCall(", see .broken")) if lost else "")
    yield f"{counts['downloaded']:,} downloaded, {counts['already there']:,} already there"
    if counts["not asked"]:
        yield f"{counts['not asked']:,} more pictures of the catalogue were not requested"
    yield f"in {relative_to_working_folder(pictures.folder)}, listed in pictures.csv"
    if (every := sum(lost.values())) > _ROWS:
        yield f"the first {_ROWS} of {every:,} missing pictures:"


_LOST = {"broken": "broken", "failed": "not downloaded", "no address": "without an address"}


def _broken(pictures: Pictures) -> list[tuple[str, str, str]]:
    """Return GTIN, number and reason of the first missing pictures."""
    first = pictures.broken.head(_ROWS).to_dict("records")
    return [
        (
            row["product_id"] if pd.isna(row["gtin"]) else row["gtin"],
            _position_from_one(row["position"]),
            row["reason"],
        )
        for row in first
    ]


def _position_from_one(position: str) -> str:
    # Positions count from 0, and people from 1; that of a nested list has dots, and stays as it is.
    return str(int(position) + 1) if position.isdecimal() else position
