"""The files next to a page: all failures, products and checks, of which the page shows a part."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa

from prodex.display.audit import lines
from prodex.files.atomic import safe_name
from prodex.formats.csv_files import write_csv
from prodex.formats.registry import write_parquet
from prodex.languages import Message
from prodex.progress import Phase, Reporter
from prodex.quality.failures import FAILURES
from prodex.untrusted_text import on_one_line

if TYPE_CHECKING:
    from prodex.quality.audit import Audit

#: People open CSV in a spreadsheet, so nothing in it may run as a formula; Parquet has every text unchanged.
_WRITERS: dict[str, Callable[..., object]] = {
    "csv": partial(write_csv, escape_formulas=True),
    "parquet": write_parquet,
}


@dataclass(frozen=True)
class LinkedFile:
    """One table that is exported next to the page.

    Attributes
    ----------
    name, title, rows
        Its name, its contents, and its number of rows.
    address
        Its path without suffix, relative to the page.
    """

    name: str
    title: Message
    rows: int
    address: str


#: Which products the lists are of, where these were chosen.
SCOPE = "scope.txt"
#: The names of these files.
FILES = (*(f"{name}.{ending}" for name in ("failures", "products", "checks") for ending in _WRITERS), SCOPE)


def folder_of(page: Path) -> Path:
    """Return the folder of the files that a page links to, which is next to the page, and of no other page.

    Pages of suppliers called "A & B" and "A + B" would have the same safe name, and each the lists of the other.

    >>> [folder_of(Path(name)).name for name in ("report.html", "A & B.html", "A + B.html")]
    ['report_files', 'A_B-208dce6b_files', 'A_B-03673d5d_files']
    """
    name = unicodedata.normalize("NFC", page.name)
    safe = safe_name(page.stem)
    if name == f"{safe}.html":
        return page.with_name(f"{safe}_files")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return page.with_name(f"{safe}-{digest[:8]}_files")


def write_files(
    audit: Audit, folder: Path, name: str, failures: int, reporter: Reporter
) -> tuple[LinkedFile, ...]:
    """Write the files that a page links to, and return them.

    Parameters
    ----------
    audit
        The audit.
    folder
        The folder to write to.
    name
        The final name of the folder.
    failures
        Number of failures.
    reporter
        Hears of how many rows are written.
    """
    frames = (
        ("products", Message("all products with score and grade"), audit.products),
        ("checks", Message("all checks with their counts"), audit.by_check),
    )
    tables = [
        (file, title, pa.Table.from_pandas(frame, preserve_index=False)) for file, title, frame in frames
    ]
    if audit.chosen is not None:
        # A list that is passed on alone says nothing of the others.
        scope = "\n".join(on_one_line(str(line)) for line, _ in lines(audit))
        (folder / SCOPE).write_text(f"{scope}\n", encoding="utf-8", newline="\n")
    total = len(_WRITERS) * (failures + sum(len(table) for *_, table in tables))
    with reporter.phase("Writing lists", "rows", total, counts=True) as phase:
        files = [
            _write_table(
                folder / "failures",
                name,
                Message("all findings"),
                failures,
                FAILURES,
                audit.failure_batches,
                phase,
            )
        ]
        for file, title, table in tables:
            files.append(
                _write_table(folder / file, name, title, len(table), table.schema, table.to_batches, phase)
            )
    return tuple(files)


def _write_table(
    path: Path,
    folder: str,
    title: Message,
    rows: int,
    schema: pa.Schema,
    batches: Callable[[], Iterable[pa.RecordBatch]],
    phase: Phase,
) -> LinkedFile:
    plain = pa.schema([(field.name, _file_type(field.type)) for field in schema])
    # The batches are made once for each format: all findings of a large audit do not fit into memory.
    for ending, write in _WRITERS.items():
        plainly = (batch.cast(plain) for batch in batches())
        write(phase.passing(plainly), plain, path.with_name(f"{path.name}.{ending}"))
    return LinkedFile(path.name, title, rows, quote(f"{folder}/{path.name}"))


def _file_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column in a file: texts as text, neither as a dictionary nor as a column without a type."""
    is_text = pa.types.is_dictionary(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)
    return pa.string() if is_text else kind
