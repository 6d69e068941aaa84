"""The formats of exports, declared once: how each is written, read back, named and described.

A new format is a module that writes and reads one table, and an entry here. Exports, `read_export`, the command line
and the panels take their formats from this declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import pyarrow as pa

from prodex.files import parquet
from prodex.formats.csv_files import read_csv, write_csv
from prodex.formats.json_lines import read_jsonl, write_jsonl
from prodex.formats.xlsx_files import read_xlsx, write_xlsx
from prodex.limits import Limits

#: What `format=` accepts. Editors propose these values, so they are written out.
FormatName = Literal["parquet", "csv", "xlsx", "jsonl"]

Batches = Iterator[pa.RecordBatch]


class ReadTable(Protocol):
    """Reads one table back from a file, as it was written."""

    def __call__(
        self, path: Path, schema: pa.Schema, *, escape_formulas: bool, limits: Limits | None
    ) -> pa.Table: ...


@dataclass(frozen=True)
class ExportFormat:
    """One format.

    Attributes
    ----------
    title
        Its name in a list of choices.
    write
        Writes one table to a file; returns how many texts the file cannot hold as they are.
    read
        Reads one table back; None where the files are read in place, when they are needed.
    note
        What whoever reads the files without prodex has to know; it is in `datapackage.json`.
    pandas_read
        The pandas call that reads one file.
    pandas_write
        The call that writes a single table to a single file, for whoever asks for that.
    endings
        Endings of files that are most likely meant to be of this format.
    can_escape_formulas
        Whether a spreadsheet would run text in it, so that `write` and `read` have the option `escape_formulas`.
    only_if_named
        Tables that are written only where they are named.
    holds_records
        Whether a file holds whole records, from which the tables are made again, and not the rows of a table.
    """

    title: str
    write: Callable[..., int]
    read: ReadTable | None
    note: str
    pandas_read: str
    pandas_write: str
    endings: tuple[str, ...]
    can_escape_formulas: bool = False
    only_if_named: tuple[str, ...] = ()
    holds_records: bool = False


def write_parquet(batches: Batches, schema: pa.Schema, path: Path) -> int:
    """Write one table as Parquet (zstd), every text as it is, with the types of pandas."""
    with parquet.writer(path, schema) as writer:
        for batch in batches:
            writer.write_batch(batch.cast(schema))
    return 0


#: Every format by its name, which is also the ending of its files.
FORMATS: Mapping[FormatName, ExportFormat] = {
    "parquet": ExportFormat(
        "Parquet",
        write_parquet,
        None,
        "pandas.read_parquet(path) gives every column with the type that prodex gives it.",
        "pandas.read_parquet({path!r})",
        "catalog.products.to_parquet({path!r})",
        (".parquet", ".pq", ".feather"),
    ),
    "csv": ExportFormat(
        "CSV",
        write_csv,
        read_csv,
        "CSV does not say types. pandas.read_csv(path, **resource['pandas']) gives the types of prodex; without "
        "these arguments GTINs lose their leading zeros and the text NA (the nutrient code of sodium) becomes a "
        "missing value. An empty cell is null, and two quotes are an empty text, which pandas cannot tell apart; it "
        "chooses the unit of moments itself, and ends a text at U+0000.",
        "pandas.read_csv({path!r}, dtype=str, keep_default_na=False)",
        "catalog.products.to_csv({path!r}, index=False)",
        (".csv", ".tsv", ".txt", ".gz", ".zip"),
        can_escape_formulas=True,
        # More than half of all bytes, and as JSON inside CSV of little use to anybody.
        only_if_named=("raw",),
    ),
    "xlsx": ExportFormat(
        "XLSX (Excel)",
        write_xlsx,
        read_xlsx,
        "Text is text, GTINs included. No cell is null, an empty cell is an empty text.",
        "pandas.read_excel({path!r})",
        "catalog.products.to_excel({path!r}, index=False)",
        (".xlsx", ".xls", ".xlsm", ".ods"),
    ),
    "jsonl": ExportFormat(
        "JSON lines (whole records)",
        write_jsonl,
        read_jsonl,
        "Each line of products.jsonl is the record of a product as it was received; prodex.read_products reads the "
        "file alone as well.",
        "pandas.read_json({path!r}, lines=True, dtype=False, convert_dates=False)",
        "pathlib.Path({path!r}).write_text('\\n'.join(catalog.raw['json']))",
        (".jsonl", ".json"),
        holds_records=True,
    ),
}
