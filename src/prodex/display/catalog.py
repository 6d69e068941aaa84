"""How a catalogue shows itself: what is inside, from when, complete or not, and where it lies.

Whatever a supplier typed is escaped, and a notebook is told to leave formulas in it alone.
"""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING

from prodex.display_text import on_one_line
from prodex.files import seen_from_here
from prodex.tables.declaration import TABLES

if TYPE_CHECKING:
    from prodex.catalog.catalog import Catalog

_STYLE = (
    ".prodex-catalog table{border-collapse:collapse;margin-top:.5em}"
    ".prodex-catalog table td,.prodex-catalog table th{padding:.15em .8em .15em 0;text-align:left}"
    ".prodex-catalog table td.n,.prodex-catalog table th.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".prodex-catalog .warn{font-weight:bold}"
)


def text_of(catalog: Catalog) -> str:
    """Return a catalogue in words."""
    width = max(map(len, TABLES))
    rows = [
        f"  {name:<{width}} {row['rows']:>12,} rows  one per {row['one row per']}"
        for name, row in _filled(catalog)
    ]
    return "\n".join(map(on_one_line, [*_lines(catalog), *rows]))


def html_of(catalog: Catalog) -> str:
    """Return a catalogue as a small table for a notebook."""
    headline, *others = map(on_one_line, _lines(catalog))
    state = "" if catalog.complete else " class='warn'"
    lines = "".join(f"<div{state if 'incomplete' in line else ''}>{escape(line)}</div>" for line in others)
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td class='n'>{row['rows']:,}</td>"
        f"<td class='n'>{row['columns']}</td><td>{escape(str(row['one row per']))}</td></tr>"
        for name, row in _filled(catalog)
    )
    return (
        f"<div class='prodex-catalog mathjax_ignore'><style>{_STYLE}</style>"
        f"<div><strong>{escape(headline)}</strong></div>{lines}"
        "<table><thead><tr><th scope='col'>table</th><th scope='col' class='n'>rows</th>"
        "<th scope='col' class='n'>columns</th>"
        f"<th scope='col'>one row per</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _filled(catalog: Catalog) -> list[tuple[str, dict[str, object]]]:
    frame = catalog.tables
    return [(str(name), row) for name, row in frame[frame["rows"] > 0].to_dict("index").items()]  # type: ignore[misc]


def _lines(catalog: Catalog) -> list[str]:
    origin = catalog.origin
    ledger = origin.ledger
    every = ledger.distinct
    chosen = f"{len(catalog):,} of {every:,}" if len(catalog) < every else f"{len(catalog):,}"
    lines = [f"Catalogue of {chosen} products"]
    when = origin.server_time or origin.loaded_at
    lines.append(f"from {origin.source}" + (f", {_moment(when)}" if when else ""))
    if origin.query is not None:
        lines.append(f"asked for {origin.query!r}")
    lines.append(f"{'complete' if origin.complete else 'incomplete'}: {ledger}")
    lines += [f"set aside: {reason}" for reason in ledger.set_aside[:5]]
    if len(ledger.set_aside) > 5:
        lines.append(
            f"set aside: 5 of {len(ledger.set_aside):,} shown; all in catalog.origin.ledger.set_aside"
        )
    lines += [f"note: {note}" for note in ledger.notes]
    if left_out := [name for name in TABLES if not all(part.holds(name) for part in catalog.parts)]:
        lines.append(f"not exported, and so not here: {', '.join(left_out)}")
    if catalog.folder is None:
        lines.append("in memory; catalog.save(name) keeps it")
    else:
        lines.append(
            f"{'chosen from the snapshot' if len(catalog) < every else 'snapshot'} in {seen_from_here(catalog.folder)}"
        )
    return lines


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
