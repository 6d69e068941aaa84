"""Output of commands: text, and frames as a table, CSV, JSON or Parquet, on the terminal or in a file.

All commands write to the terminal through this module, which makes control characters printable: texts of suppliers
must not move the cursor or change the title of the window.
"""

from __future__ import annotations

import errno
import io
import logging
import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TextIO

import pandas as pd

import prodex
from prodex.advice import in_words
from prodex.cli.words import of_terminal
from prodex.errors import InputError, StorageError
from prodex.files.atomic import writing
from prodex.formats.formulas import escape_formulas as escaped
from prodex.untrusted_text import on_one_line, printable, printable_json


class Format(StrEnum):
    """The formats of a result."""

    TABLE = "table"
    CSV = "csv"
    CSV_VERBATIM = "csv-verbatim"
    JSON = "json"
    PARQUET = "parquet"


class PrintableFormatter(logging.Formatter):
    """Formats lines of a log without control characters, whichever library writes them."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def accept_all_letters() -> None:
    """Have both outputs show a letter that their encoding lacks as an escape, as Python does on standard error.

    Windows opens pipes and files in an encoding of 256 letters, and Python would end at any other letter. It would so
    where the locale is C or POSIX, as under cron: that lets only the bytes of odd file names pass.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in {"strict", "surrogateescape"}:
            stream.reconfigure(errors="backslashreplace")


def say(text: object, *, aside: bool = False) -> None:
    """Print a text, which may quote the service and suppliers.

    Parameters
    ----------
    text
        What to print, in the words of a terminal; its line breaks are kept.
    aside
        Whether to print it on stderr, apart from the result.
    """
    # Not `typer.echo`: it writes UTF-8 into what was opened as ASCII.
    if (stream := sys.stderr if aside else sys.stdout) is not None:
        _write(stream, f"{printable(in_words(text, of_terminal))}\n")


def _write(stream: TextIO, text: str) -> None:
    """Write a text to an output.

    Raises
    ------
    StorageError
        When the output takes no more, such as a file on a full disk.
    """
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        # Whoever read it has ended, as `head` does; then a command ends without a word.
        if error.errno == errno.EPIPE:
            raise
        # What waits in the buffer would fail once more when Python ends.
        with suppress(OSError), Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        raise StorageError(
            f"What the command shows could not be written: {error.strerror}. Nothing that it saved is lost. Send its "
            "output elsewhere, or make room for it."
        ) from error


#: Characters of a cell on a terminal: a message is whole, and a text of a supplier makes no row of 40,000 blanks.
_WIDEST_CELL = 500


def show(frame: pd.DataFrame, format: Format, out: Path | None) -> None:
    """Show a frame, or write it to a file, which is complete or not there."""
    if format is Format.PARQUET:
        if out is None:
            raise InputError("Parquet cannot be shown on the terminal. Give --out FILE.")
        # Written beside and renamed: a program that reads the file never sees a part of it.
        with writing(out) as beside:
            _storable(frame).to_parquet(beside, index=False, write_page_checksum=True)
        return
    text = _format_frame(frame, format, widest=_WIDEST_CELL if out is None else None)
    if out is not None:
        with writing(out) as beside:
            # Spreadsheets read UTF-8 as such only behind its mark.
            beside.write_text(text, "utf-8-sig" if format is Format.CSV else "utf-8", newline="")
        return
    if (stream := sys.stdout) is None:  # closed, as schedulers of jobs do
        return
    if stream.isatty():  # it gets no control characters
        _write(stream, printable(text))
    else:
        _give(stream, text, frame, format)


def _give(stream: TextIO, text: str, frame: pd.DataFrame, format: Format) -> None:
    """Write a result for a program that reads from a pipe: its exact text, in which no letter and no line end changes.

    Raises
    ------
    InputError
        When the pipe has an encoding that lacks a letter, and the format has no escape for it.
    """
    lacking = _lacking(text, stream.encoding or "utf-8")
    if lacking and format is Format.JSON:
        text = (
            printable_json(frame.to_json(orient="records", force_ascii=True, indent=2, date_format="iso"))
            + "\n"
        )
    elif lacking and format is not Format.TABLE:
        raise InputError(
            f"The output has the encoding {stream.encoding}, which has no {lacking!r}, so that CSV would lose it. Give "
            "--out FILE, which is written as UTF-8, or set PYTHONUTF8=1."
        )
    if format is not Format.TABLE and isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(newline="")  # Windows would make two characters of a line end in a cell
    _write(stream, text)


def _lacking(text: str, encoding: str) -> str:
    """Return the first letter of a text that an encoding lacks, or nothing."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError as error:
        return text[error.start]
    return ""


def _format_frame(frame: pd.DataFrame, format: Format, widest: int | None = None) -> str:
    if format is Format.CSV:
        return _csv(frame, escaped)
    if format is Format.CSV_VERBATIM:
        return _csv(frame, str)
    if format is Format.JSON:
        return (
            printable_json(frame.to_json(orient="records", force_ascii=False, indent=2, date_format="iso"))
            + "\n"
        )
    if frame.empty:
        return "nothing\n"
    cells = frame.astype(object).where(frame.notna(), "").map(on_one_line)
    if widest is not None:
        cells = cells.map(lambda cell: cut(cell, widest))
    rows = aligned([tuple(map(on_one_line, cells.columns)), *cells.itertuples(index=False, name=None)])
    return "".join(f"{row}\n" for row in rows)


def cut(text: str, most: int) -> str:
    """Return a text of so many characters at most, with a sign and its length where something is left out.

    >>> cut("Bread", 3), cut("Bread", 5)
    ('Bre … (5 characters)', 'Bread')
    """
    return text if len(text) <= most else f"{text[:most]} … ({len(text):,} characters)"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose cells are one below the other.

    >>> aligned([("name", "rows"), ("texts", "7")])
    ['name   rows', 'texts  7']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = (map(str.ljust, row, widths) for row in rows)
    return ["  ".join(cells).rstrip() for cells in padded]


def wrapped(text: str, width: int = 110) -> str:
    """Return a line broken at blanks where it is too long; what follows is indented as it is.

    Paths and addresses stay whole, so that they can be opened with a click.

    >>> wrapped("  products 12, texts 70", 16).split("\\n")
    ['  products 12,', '  texts 70']
    """
    indent = text[: len(text) - len(text.lstrip())]
    lines = textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines)


def _csv(frame: pd.DataFrame, spelled: Callable[[str], str]) -> str:
    """Return CSV in which every text is quoted, so that null, "" and numbers differ, and line breaks stay in a cell."""

    def cell(value: object) -> str:
        if value is None or isinstance(value, int | float):
            return "" if value is None else str(value)
        quoted = spelled(str(value)).replace('"', '""')
        # Numbers stay bare and texts are quoted, so that a GTIN with leading zeros is not read as a number.
        return f'"{quoted}"'

    cells = frame.astype(object).where(frame.notna(), None)
    rows = chain([tuple(frame.columns)], cells.itertuples(index=False, name=None))
    return "".join(f"{','.join(map(cell, row))}\n" for row in rows)


def _storable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with text in place of mixed columns: a Parquet column has one type."""
    # Reference data may have values of any type in one column: the specification shows none.
    mixed = [name for name in frame if frame[name].dtype == object]
    return frame.astype(dict.fromkeys(mixed, "string"))


_IN_WORDS = {"touched only": "with only a new date of update"}


def counts_of(difference: prodex.compare.Difference) -> str:
    """Return how many products were added, removed, changed ..., in words that need no manual."""
    by_change = difference.summary.set_index("change")["products"]
    return ", ".join(
        f"{int(count):,} {_IN_WORDS.get(str(change), change)}" for change, count in by_change.items() if count
    )
