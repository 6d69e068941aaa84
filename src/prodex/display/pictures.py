"""The summary of downloaded pictures: how many there are, and why the others are missing.

Text of suppliers is escaped, and notebooks do not typeset formulas in it.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from prodex.display_text import label, on_one_line
from prodex.files import seen_from_here

if TYPE_CHECKING:
    from prodex.pictures.result import Pictures

_ROWS = 5
_STYLE = (
    ".prodex-pictures table{border-collapse:collapse;margin-top:.5em}"
    ".prodex-pictures table td,.prodex-pictures table th{padding:.15em .8em .15em 0;text-align:left;"
    "vertical-align:top}.prodex-pictures .warn{font-weight:bold}"
)


def text_of(pictures: Pictures) -> str:
    """Return the summary as text."""
    rows = [f"  {gtin}, picture {number}: {reason}" for gtin, number, reason in _broken(pictures)]
    return "\n".join(map(on_one_line, [*_lines(pictures), *rows]))


def html_of(pictures: Pictures) -> str:
    """Return the summary for a notebook."""
    headline, *others = map(on_one_line, _lines(pictures))
    lines = "".join(f"<div>{escape(line)}</div>" for line in others)
    rows = "".join(
        "<tr>" + "".join(f"<td><bdi dir='auto'>{escape(cell)}</bdi></td>" for cell in row) + "</tr>"
        for row in _broken(pictures)
    )
    table = (
        "<table><thead><tr><th scope='col'>GTIN</th><th scope='col'>picture</th><th scope='col'>why not</th></tr>"
        f"</thead><tbody>{rows}</tbody></table>"
        if rows
        else ""
    )
    return (
        f"<div class='prodex-pictures mathjax_ignore'><style>{_STYLE}</style>"
        f"<div><strong>{escape(headline)}</strong></div>{lines}{table}</div>"
    )


def _lines(pictures: Pictures) -> list[str]:
    counts = pictures.counts
    lost = [f"{counts[state]:,} {words}" for state, words in _LOST.items() if counts[state]]
    headline = f"{pictures.good:,} of {pictures.wanted:,} pictures"
    lines = ["; ".join([headline, *lost]) + (", see .broken" if lost else "")]
    lines.append(f"{counts['downloaded']:,} downloaded, {counts['already there']:,} already there")
    if counts["not asked"]:
        lines.append(f"{counts['not asked']:,} more pictures of the catalogue were not asked for")
    lines.append(f"in {seen_from_here(pictures.folder)}, listed in pictures.csv")
    every = sum(counts[state] for state in _LOST)
    if every > _ROWS:
        lines.append(f"the first {_ROWS} of {every:,} missing pictures:")
    return lines


_LOST = {"broken": "broken", "failed": "not downloaded", "no address": "without an address"}


def _broken(pictures: Pictures) -> list[tuple[str, str, str]]:
    """Return GTIN, number and reason of the first missing pictures."""
    first = pictures.broken.head(_ROWS).to_dict("records")
    return [
        (
            label(row["product_id"] if pd.isna(row["gtin"]) else row["gtin"]).text,
            _number(row["position"]),
            label(row["reason"]).text,
        )
        for row in first
    ]


def _number(position: str) -> str:
    return str(int(position) + 1) if position.isdecimal() else position
