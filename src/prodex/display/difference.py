"""How a difference shows itself: the counts, what they do not say, and where most changed.

Whatever a supplier typed is escaped, and a notebook is told to leave formulas in it alone.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from prodex.display_text import on_one_line

if TYPE_CHECKING:
    from prodex.catalog import Catalog
    from prodex.compare.result import Difference

_ROWS = 10
_STYLE = (
    ".prodex-difference table{border-collapse:collapse;margin-top:.5em}"
    ".prodex-difference td,.prodex-difference th{padding:.15em .8em .15em 0;text-align:left}"
    ".prodex-difference td.n,.prodex-difference th.n{text-align:right;font-variant-numeric:tabular-nums}"
)


def text_of(difference: Difference) -> str:
    """Return a difference in words."""
    counts = difference.summary
    lines = _lines(difference)
    lines += [f"  {row.change:<16}{row.products:>12,}" for row in counts.itertuples()]
    most, every = _most(difference)
    if every:
        lines.append(f"values that changed, by attribute ({len(most)} of {every:,}; all in .by_attribute):")
        width = max(len(row[0]) for row in most)
        lines += [
            f"  {name:<{width}}{values:>10,} on {products:,} products" for name, values, products in most
        ]
    return "\n".join(map(on_one_line, lines))


def html_of(difference: Difference) -> str:
    """Return a difference as small tables for a notebook."""
    headline, *others = map(on_one_line, _lines(difference))
    lines = "".join(f"<div>{escape(line)}</div>" for line in others)
    counts = "".join(
        f"<tr><td>{escape(str(row.change))}</td><td class='n'>{row.products:,}</td></tr>"
        for row in difference.summary.itertuples()
    )
    most, every = _most(difference)
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td class='n'>{values:,}</td><td class='n'>{products:,}</td></tr>"
        for name, values, products in most
    )
    attributes = (
        f"<table><caption>{len(most)} of {every:,} attributes, those with most changes first</caption><thead><tr>"
        "<th scope='col'>attribute</th><th scope='col' class='n'>values</th><th scope='col' class='n'>products</th>"
        f"</tr></thead><tbody>{rows}</tbody></table>"
        if rows
        else ""
    )
    return (
        f"<div class='prodex-difference mathjax_ignore'><style>{_STYLE}</style>"
        f"<div><strong>{escape(headline)}</strong></div>{lines}<table><thead><tr><th scope='col'>products</th>"
        f"<th scope='col' class='n'>count</th></tr></thead><tbody>{counts}</tbody></table>{attributes}</div>"
    )


def _lines(difference: Difference) -> list[str]:
    old, new = difference.old, difference.new
    lines = [f"Difference of {len(new):,} products to {len(old):,} earlier ones"]
    lines += [f"old: {_origin(old)}", f"new: {_origin(new)}", *difference.notes]
    if len(difference.not_comparable):
        lines.append(f"{len(difference.not_comparable):,} attributes are not comparable; see .not_comparable")
    return lines


def _origin(catalog: Catalog) -> str:
    when = catalog.origin.server_time or catalog.origin.loaded_at
    return f"{catalog.origin.source}{f', {when:%Y-%m-%d %H:%M} UTC' if when else ''}"


def _most(difference: Difference) -> tuple[list[tuple[str, int, int]], int]:
    """Return the attributes with most changes, and how many there are."""
    frame: pd.DataFrame = difference.by_attribute
    frame["values"] = frame[["added", "removed", "changed"]].sum(axis=1)
    first = frame.sort_values(["values", "attribute"], ascending=[False, True]).head(_ROWS)
    names = [
        attribute if pd.isna(language) else f"{attribute} ({language})"
        for attribute, language in zip(first["attribute"], first["language"], strict=True)
    ]
    return list(zip(names, first["values"].tolist(), first["products"].tolist(), strict=True)), len(frame)
