"""A catalogue in a terminal: how much is in its tables, or every table with a few of its lines."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from prodex.catalog import Catalog
from prodex.cli.output import aligned
from prodex.display_text import on_one_line
from prodex.files.atomic import seen_from_here
from prodex.tables.declaration import TABLES
from prodex.text import counted

_LINES = 3
_WIDTH = 110
_CELL = 26


def show_contents(catalog: Catalog, say: Callable[[str], object]) -> None:
    """Show how many products and tables there are, and where they are kept."""
    rows = {name: catalog.row_count(name) for name in TABLES}
    filled = counted(sum(map(bool, rows.values())), "table")
    where = "in memory" if catalog.folder is None else f"in {seen_from_here(catalog.folder)}"
    say(f"{counted(len(catalog), 'product')} in {filled} are kept {where}")


def show_tables(catalog: Catalog, say: Callable[[str], object]) -> None:
    """Show rows, columns and bytes of each table, then a few of its lines."""
    say(repr(catalog).split("\n  ")[0])
    say(f"\n{'table':<18}{'rows':>12}{'columns':>9}{'bytes':>15}")
    for name in TABLES:
        every = catalog.arrow(name)
        stored = sum(path.stat().st_size for path in catalog.files(name)) if catalog.folder else every.nbytes
        say(f"{name:<18}{every.num_rows:>12,}{every.num_columns:>9}{stored:>15,}")
    for name, table in TABLES.items():
        every = catalog.arrow(name)
        rows = _spread(every)
        say(f"\n{name}: one row per {table.row}; {rows.num_rows} of {every.num_rows:,}")
        for line in _lines(rows):
            say(f"  {line}")


def _spread(table: pa.Table) -> pa.Table:
    """Return a few rows from the whole table: the first ones often belong to one product."""
    places = sorted({number * len(table) // _LINES for number in range(_LINES)}) if len(table) else []
    return table.take(pa.array(places, pa.int64()))


def _lines(rows: pa.Table) -> list[str]:
    """Format rows in columns: as many of the filled ones as fit into the width."""
    shown: list[list[str]] = []
    left = _WIDTH
    for name, column in _telling(rows):
        texts = (on_one_line("" if value is None else value) for value in column.to_pylist())
        cells = [text if len(text) <= _CELL else f"{text[: _CELL - 1]}…" for text in (name, *texts)]
        if (width := max(map(len, cells))) > left:
            break
        shown.append(cells)
        left -= width + 2  # the gap between two columns
    return aligned(list(zip(*shown, strict=True))) if rows.num_rows else []


def _telling(rows: pa.Table) -> list[tuple[str, pa.ChunkedArray]]:
    """Return the columns to show: the GTIN, then filled ones, without keys and repeated facts."""
    dull = {"product_id", "gtin", "uuid", "position", "created_at"}
    columns = dict(zip(rows.column_names, rows.columns, strict=True))
    filled = [(n, c) for n, c in columns.items() if n not in dull and c.null_count < len(c)]
    return [("gtin", columns["gtin"]), *filled] if "gtin" in columns else filled
