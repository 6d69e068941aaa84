"""How commands show a frame: as a table, CSV, JSON or Parquet, on the terminal or in a file."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from prodex.demo import plain
from prodex.errors import InputError
from prodex.files import writing


class Format(StrEnum):
    """The formats."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


FormatOption = Annotated[Format, typer.Option("--format", help="How to show the result.")]
OutOption = Annotated[Path | None, typer.Option("--out", help="File to write to instead; Parquet needs one.")]


def show(frame: pd.DataFrame, format: Format, out: Path | None) -> None:
    """Show a frame, or write it to a file that is whole or not there."""
    if format is Format.PARQUET:
        if out is None:
            raise InputError("Parquet is not for the terminal. Give --out FILE.")
        with writing(out) as beside:
            _storable(frame).to_parquet(beside, index=False, write_page_checksum=True)
    elif out is None:
        sys.stdout.write(_text(frame, format))
    else:
        with writing(out) as beside:
            beside.write_text(_text(frame, format), "utf-8")


def _text(frame: pd.DataFrame, format: Format) -> str:
    if format is Format.CSV:
        return frame.to_csv(index=False, lineterminator="\n")
    if format is Format.JSON:
        return frame.to_json(orient="records", force_ascii=False, indent=2) + "\n"
    if frame.empty:
        return "nothing\n"
    # What others wrote must not move a terminal's cursor.
    cells = frame.astype(object).where(frame.notna(), "").map(plain)
    widths = [max(len(str(name)), *map(len, cells[name])) for name in cells]
    lines = [tuple(map(str, cells.columns)), *cells.itertuples(index=False, name=None)]
    rows = ("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "".join(f"{row.rstrip()}\n" for row in rows)


def _storable(frame: pd.DataFrame) -> pd.DataFrame:
    """Write mixed columns as text: Parquet has one type for each."""
    mixed = [name for name in frame if frame[name].dtype == object]
    return frame.astype(dict.fromkeys(mixed, "string"))
