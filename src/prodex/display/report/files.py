"""The files beside a page: all failures, products and checks, of which the page shows a part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pandas as pd
import pyarrow as pa

from prodex.files import safe_name
from prodex.formats.csv_files import write_csv
from prodex.formats.registry import write_parquet
from prodex.quality.failures import FAILURES

if TYPE_CHECKING:
    from prodex.quality.audit import Audit

#: CSV is what people open in a spreadsheet, so nothing in it may run there; Parquet holds every text as it came.
_WRITERS: dict[str, Callable[..., object]] = {
    "csv": partial(write_csv, escape_formulas=True),
    "parquet": write_parquet,
}


@dataclass(frozen=True)
class LinkedFile:
    """One table beside the page.

    Attributes
    ----------
    name, title, rows
        What it is called, what is in it, how many rows.
    csv, parquet
        Where it is, seen from the page.
    """

    name: str
    title: str
    rows: int
    csv: str
    parquet: str


#: The names of these files.
FILES = tuple(f"{name}.{ending}" for name in ("failures", "products", "checks") for ending in _WRITERS)


def folder_of(page: Path) -> Path:
    """Return the folder of the files that a page links to; it stands beside the page."""
    return page.with_name(f"{safe_name(page.stem)}_files")


def write_files(audit: Audit, folder: Path, name: str, failures: int) -> tuple[LinkedFile, ...]:
    """Write what a page links to, and return what there is.

    Parameters
    ----------
    audit
        What is reported.
    folder
        Where to write.
    name
        What the folder will be called.
    failures
        How many failures there are.
    """
    products, checks = _table(audit.products), _table(audit.by_check)
    return (
        _written(folder / "failures", name, "all findings", failures, FAILURES, audit.failure_batches),
        _written(
            folder / "products",
            name,
            "all products with score and grade",
            len(products),
            products.schema,
            products.to_batches,
        ),
        _written(
            folder / "checks",
            name,
            "all checks with their counts",
            len(checks),
            checks.schema,
            checks.to_batches,
        ),
    )


def _written(
    path: Path,
    folder: str,
    title: str,
    rows: int,
    schema: pa.Schema,
    batches: Callable[[], Iterable[pa.RecordBatch]],
) -> LinkedFile:
    plain = pa.schema([(field.name, _plain(field.type)) for field in schema])
    for ending, write in _WRITERS.items():
        write((batch.cast(plain) for batch in batches()), plain, path.with_name(f"{path.name}.{ending}"))
    address = quote(f"{folder}/{path.name}")
    return LinkedFile(path.name, title, rows, f"{address}.csv", f"{address}.parquet")


def _table(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Write texts as texts: not as a dictionary's numbers, nor as a column of nothing."""
    is_text = pa.types.is_dictionary(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)
    return pa.string() if is_text else kind
