"""How a difference looks: the counts, what was not compared, and what happened most."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from prodex.catalog.origin import scope_of
from prodex.display.html_tables import block, table
from prodex.phrases import counted, moment_in_words
from prodex.untrusted_text import on_one_line

if TYPE_CHECKING:
    from prodex.catalog import Catalog
    from prodex.compare.difference import Difference

_ROWS = 10


def text_of(difference: Difference) -> str:
    """Return a difference in words."""
    counts = difference.summary
    lines = _difference_lines(difference)
    lines += [f"  {row.change:<16}{row.products:>12,}" for row in counts.itertuples()]
    causes = difference.causes
    if len(causes):
        most = causes["says"].head(_ROWS)
        lines.append(
            f"what happened ({len(most)} of {len(causes):,}; all in .causes, each value in .changes):"
        )
        lines += [f"  {sentence}" for sentence in most]
    return "\n".join(map(on_one_line, lines))


def html_of(difference: Difference) -> str:
    """Return a difference as small tables for a notebook."""
    headline, *others = _difference_lines(difference)
    changes = difference.summary[["change", "products"]].itertuples(index=False, name=None)
    tables = [table("Products", ["change", "products"], changes, numbers=["products"])]
    causes = difference.causes
    if len(causes):
        most = causes.head(_ROWS)
        title = f"What happened: {len(most)} of {len(causes):,}, most products first"
        rows = zip(most["says"], most["items"], most["products"], strict=True)
        tables.append(table(title, ["what", "items", "products"], rows, numbers=["items", "products"]))
    return block(headline, [(line, False) for line in others], tables)


def _difference_lines(difference: Difference) -> list[str]:
    old, new = difference.old, difference.new
    lines = [f"Difference of {counted(len(new), 'product')} to {counted(len(old), 'earlier one')}"]
    lines += [f"old: {_origin_line(old)}", f"new: {_origin_line(new)}", *difference.notes]
    if len(difference.not_comparable):
        number = len(difference.not_comparable)
        are = "is" if number == 1 else "are"
        lines.append(f"{counted(number, 'attribute')} {are} not comparable; see .not_comparable")
    return lines


def _origin_line(catalog: Catalog) -> str:
    when = catalog.origin.server_time or catalog.origin.loaded_at
    scope = scope_of(catalog.chosen, len(catalog))
    line = f"{catalog.origin.source}{f', {moment_in_words(when, zone=UTC)}' if when else ''}"
    return line if scope is None else f"{line}: {scope}"
