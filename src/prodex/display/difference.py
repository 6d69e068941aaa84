"""How a difference looks: the counts, what was not compared, and the attributes that changed most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from prodex.display.html_tables import block, table
from prodex.display_text import on_one_line

if TYPE_CHECKING:
    from prodex.catalog import Catalog
    from prodex.compare.result import Difference

_ROWS = 10


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
    headline, *others = _lines(difference)
    changes = difference.summary[["change", "products"]].itertuples(index=False, name=None)
    tables = [table("Products", ["change", "products"], changes, numbers=["products"])]
    most, every = _most(difference)
    if most:
        title = f"{len(most)} of {every:,} attributes, most changes first"
        headings = ["attribute", "values", "products"]
        tables.append(table(title, headings, most, numbers=headings[1:], codes=headings[:1]))
    return block(headline, [(line, False) for line in others], tables)


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
    # Values and not products: one product may have changed in many texts of an attribute.
    frame["values"] = frame[["added", "removed", "changed"]].sum(axis=1)
    first = frame.sort_values(["values", "attribute"], ascending=[False, True]).head(_ROWS)
    names = [
        attribute if pd.isna(language) else f"{attribute} ({language})"
        for attribute, language in zip(first["attribute"], first["language"], strict=True)
    ]
    return list(zip(names, first["values"].tolist(), first["products"].tolist(), strict=True)), len(frame)
