"""How commands show things: words, and frames as a table, CSV, JSON or Parquet, on the terminal or in a file.

Nothing else of the commands writes to the terminal: what others typed is shown there, and never obeyed.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from prodex.display_text import on_one_line, printable, printable_json
from prodex.errors import InputError
from prodex.files import writing
from prodex.formats.spreadsheet import escape_formulas as escaped


class Format(StrEnum):
    """The formats."""

    TABLE = "table"
    CSV = "csv"
    CSV_VERBATIM = "csv-verbatim"
    JSON = "json"
    PARQUET = "parquet"


FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        help="How to show the result; csv is safe in a spreadsheet, csv-verbatim has every text as it is.",
    ),
]
OutOption = Annotated[Path | None, typer.Option("--out", help="File to write to instead; Parquet needs one.")]


class InertFormatter(logging.Formatter):
    """Lines of a log, whoever writes them, as a terminal may have them."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def say(text: object, *, aside: bool = False) -> None:
    """Print our own words and what they quote.

    Parameters
    ----------
    text
        What to print; its line breaks are ours.
    aside
        Whether it goes to stderr, beside the result.
    """
    typer.echo(printable(text), err=aside)


def show(frame: pd.DataFrame, format: Format, out: Path | None) -> None:
    """Show a frame, or write it to a file that is whole or not there."""
    if format is Format.PARQUET:
        if out is None:
            raise InputError("Parquet is not for the terminal. Give --out FILE.")
        with writing(out) as beside:
            _storable(frame).to_parquet(beside, index=False, write_page_checksum=True)
        return
    text = _text(frame, format)
    if out is not None:
        with writing(out) as beside:
            beside.write_text(text, "utf-8", newline="")
        return
    # A program that reads CSV from a pipe gets all of it; a person gets nothing that moves the cursor.
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def _text(frame: pd.DataFrame, format: Format) -> str:
    if format is Format.CSV:
        return _csv(frame, escaped)
    if format is Format.CSV_VERBATIM:
        return _csv(frame, str)
    if format is Format.JSON:
        return printable_json(frame.to_json(orient="records", force_ascii=False, indent=2)) + "\n"
    if frame.empty:
        return "nothing\n"
    cells = frame.astype(object).where(frame.notna(), "").map(on_one_line)
    names = [on_one_line(name) for name in cells.columns]
    widths = [max(len(name), *map(len, cells[column])) for name, column in zip(names, cells, strict=True)]
    lines = [tuple(names), *cells.itertuples(index=False, name=None)]
    rows = ("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "".join(f"{row.rstrip()}\n" for row in rows)


def _csv(frame: pd.DataFrame, spelled: Callable[[str], str]) -> str:
    """Return lines of which every text is quoted, so that null, "" and numbers stay apart, and no line ends early."""

    def cell(value: object) -> str:
        if value is None or isinstance(value, int | float):
            return "" if value is None else str(value)
        quoted = spelled(str(value)).replace('"', '""')
        return f'"{quoted}"'

    cells = frame.astype(object).where(frame.notna(), None)
    rows = chain([tuple(frame.columns)], cells.itertuples(index=False, name=None))
    return "".join(f"{','.join(map(cell, row))}\n" for row in rows)


def _storable(frame: pd.DataFrame) -> pd.DataFrame:
    """Write mixed columns as text: Parquet has one type for each."""
    mixed = [name for name in frame if frame[name].dtype == object]
    return frame.astype(dict.fromkeys(mixed, "string"))
