"""The tables of a catalogue, shown in a terminal: sizes first, then a few lines of each."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from prodex.catalog import Catalog
from prodex.tables.declaration import TABLES

_LINES = 3
_WIDTH = 110


def show_tables(catalog: Catalog, say: Callable[[str], object]) -> None:
    """Show each table with rows, columns and bytes, then a few lines of it."""
    say(repr(catalog).split("\n  ")[0])
    say(f"\n{'table':<18}{'rows':>12}{'columns':>9}{'bytes':>15}")
    sizes = catalog.tables
    rows_of = {name: int(rows) for name, rows in sizes["rows"].items()}
    for name in TABLES:
        stored = (
            sum(path.stat().st_size for path in catalog.files(name))
            if catalog.folder
            else catalog.arrow(name).nbytes
        )
        say(f"{name:<18}{rows_of[name]:>12,}{sizes['columns'][name]:>9}{stored:>15,}")
    for name, table in TABLES.items():
        rows = catalog.arrow(name).slice(0, _LINES).to_pylist()
        say(f"\n{name}: one row per {table.row}; {len(rows)} of {rows_of[name]:,}")
        for row in rows:
            shown = [
                f"{column}={_plain(value)}"
                for column, value in row.items()
                if value is not None and value != "absent"
            ]
            say("  " + _cut(", ".join(shown), _WIDTH))


def _plain(value: object) -> str:
    """Write a value on one line; what a supplier typed must not move a terminal's cursor."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in {"Cc", "Cf"} else c for c in str(value)
    )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
