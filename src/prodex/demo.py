"""The tables of a catalogue, shown in a terminal: sizes first, then a few lines from all over each."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pyarrow as pa

from prodex.catalog import Catalog
from prodex.tables.declaration import TABLES

_LINES = 3
_WIDTH = 110
_CELL = 26


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
        every = catalog.arrow(name)
        spread = sorted({number * len(every) // _LINES for number in range(_LINES)}) if len(every) else []
        rows = every.take(pa.array(spread, pa.int64()))
        say(f"\n{name}: one row per {table.row}; {rows.num_rows} of {rows_of[name]:,}")
        for line in _lines(rows):
            say(f"  {line}")


def _lines(rows: pa.Table) -> list[str]:
    """Lay the first rows out in columns, as many of those that are filled as the width holds."""
    cells = [[name, *(_plain(value) for value in column.to_pylist())] for name, column in _telling(rows)]
    lines = [""] * (rows.num_rows + 1)
    for column in cells:
        width = min(max(map(len, column)), _CELL)
        if len(lines[0]) + width > _WIDTH:
            break
        lines = [f"{line}{_cut(cell, width):<{width}}  " for line, cell in zip(lines, column, strict=True)]
    return [line.rstrip() for line in lines] if rows.num_rows else []


def _telling(rows: pa.Table) -> list[tuple[str, pa.ChunkedArray]]:
    """Return the columns worth showing: the GTIN, then what is filled, keys and repeated facts left out."""
    dull = {"product_id", "gtin", "uuid", "position", "created_at"}
    columns = dict(zip(rows.column_names, rows.columns, strict=True))
    filled = [(n, c) for n, c in columns.items() if n not in dull and c.null_count < len(c)]
    return [("gtin", columns["gtin"]), *filled] if "gtin" in columns else filled


def _plain(value: object) -> str:
    """Write a value on one line; what a supplier typed must not move a terminal's cursor."""
    text = "" if value is None else str(value)
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in {"Cc", "Cf"} else c for c in text
    )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
