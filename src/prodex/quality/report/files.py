"""The files beside a page: all failures, products and checks, where the page shows some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pandas as pd
import pyarrow as pa

from prodex.files import safe_name, writing
from prodex.formats import write_csv, write_parquet
from prodex.quality.failures import FAILURES

if TYPE_CHECKING:
    from prodex.quality.outcome import Audit

#: CSV is what people open in a spreadsheet, so nothing in it may run there; Parquet holds every text as it came.
_WRITERS = {"csv": partial(write_csv, escape_formulas=True), "parquet": write_parquet}


@dataclass(frozen=True)
class LinkedFile:
    """What is in files beside the page, and where they are seen from the page."""

    name: str
    title: str
    rows: int
    csv: str
    parquet: str


def write_files(audit: Audit, page: Path) -> tuple[LinkedFile, ...]:
    """Write what the page links to into a folder of the page's name, and return what there is."""
    folder = page.with_name(f"{safe_name(page.stem)}_files")
    products, checks = _batches(audit.products), _batches(audit.by_check())
    return (
        _written(folder, "failures", "all failures", _plain(FAILURES), audit.failure_batches),
        _written(folder, "products", "all products with score and grade", *products),
        _written(folder, "checks", "all checks with their counts", *checks),
    )


def _written(
    folder: Path, name: str, title: str, schema: pa.Schema, batches: Callable[[], Iterator[pa.RecordBatch]]
) -> LinkedFile:
    rows = 0
    for ending, write in _WRITERS.items():
        rows = 0

        def counted() -> Iterator[pa.RecordBatch]:
            nonlocal rows
            for batch in batches():
                rows += batch.num_rows
                yield batch.cast(schema)

        with writing(folder / f"{name}.{ending}") as beside:
            write(counted(), schema, beside)
    address = quote(f"{folder.name}/{name}")
    return LinkedFile(name, title, rows, f"{address}.csv", f"{address}.parquet")


def _batches(frame: pd.DataFrame) -> tuple[pa.Schema, Callable[[], Iterator[pa.RecordBatch]]]:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return _plain(table.schema), lambda: iter(table.to_batches())


def _plain(schema: pa.Schema) -> pa.Schema:
    """Return the same columns without dictionaries, long texts and notes of pandas, as every reader takes them."""
    return pa.schema(
        [
            (field.name, pa.string() if _is_text(field.type) else field.type)
            for field in schema
        ]
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind))
