"""The commands that show the tables of a catalogue, or write them to files; parsing and printing only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast

import typer

import prodex
from prodex.cli.shown import say
from prodex.errors import QueryError
from prodex.nearest import hint_and_all
from prodex.tables.declaration import TABLES, data_dictionary

app = typer.Typer()


@app.command(epilog="Example: prodex tables texts")
def tables(table: Annotated[str, typer.Argument(help="Show the columns of this table.")] = "") -> None:
    """Show the tables of a catalogue, or the columns of one: the data dictionary."""
    if table and table not in TABLES:
        near = hint_and_all(table, TABLES, f"There are {', '.join(TABLES)}.")
        raise QueryError(f"There is no table {table!r}{near}")
    if not table:
        width = max(map(len, TABLES))
        for one in TABLES.values():
            say(f"{one.name:<{width}}  one row per {one.row}")
        return
    rows = data_dictionary(table)
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for column, kind, path, meaning in rows:
        say(f"{column:<{widths[0]}}  {kind:<{widths[1]}}  {path:<{widths[2]}}  {meaning}")


@app.command(epilog="Example: prodex export shop --format csv --to out/")
def export(
    snapshot: Annotated[str, typer.Argument(help='"shop", or "shop@2026-11-13" for an earlier one.')],
    to: Annotated[Path, typer.Option(help="Folder to write to.")],
    format: Annotated[str, typer.Option(help="parquet, csv or xlsx.")] = "parquet",
    table: Annotated[list[str], typer.Option(help="Only this table (repeat).")] = [],  # noqa: B006
    escape_formulas: Annotated[bool, typer.Option(help="CSV that is safe to open in a spreadsheet.")] = False,
) -> None:
    """Write the tables of a snapshot to files; prodex.read_export reads them back."""
    catalog = prodex.open_snapshot(snapshot)
    # Which formats there are is said by `export`, as from Python.
    chosen = cast("Literal['parquet', 'csv', 'xlsx']", format)
    for path in catalog.export(to, chosen, tables=table or None, escape_formulas=escape_formulas):
        say(f"{path}  {path.stat().st_size:,} bytes")
