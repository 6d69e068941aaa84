"""The files beside a page: all failures, products and checks, where the page shows some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pandas as pd
import pyarrow as pa

from prodex.errors import InputError
from prodex.files import safe_name, writing
from prodex.formats import write_csv, write_parquet
from prodex.quality.failures import FAILURES
from prodex.untrusted import is_folder, is_there

if TYPE_CHECKING:
    from prodex.quality.outcome import Audit

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


def write_files(audit: Audit, page: Path, failures: int) -> tuple[LinkedFile, ...]:
    """Write what the page links to into a folder of the page's name, and return what there is.

    Parameters
    ----------
    audit
        What is reported.
    page
        Where the page will stand.
    failures
        How many failures there are.
    """
    folder = page.with_name(f"{safe_name(page.stem)}_files")
    if is_there(folder) and not is_folder(folder):
        raise InputError(
            f"{folder} is a link or a file, and the lists of the page go into a folder of that name beside it. Give "
            "the page another name."
        )
    products, checks = _table(audit.products), _table(audit.by_check())
    return (
        _written(folder / "failures", "all findings", failures, FAILURES, audit.failure_batches),
        _written(
            folder / "products",
            "all products with score and grade",
            len(products),
            products.schema,
            products.to_batches,
        ),
        _written(
            folder / "checks", "all checks with their counts", len(checks), checks.schema, checks.to_batches
        ),
    )


def _written(
    path: Path, title: str, rows: int, schema: pa.Schema, batches: Callable[[], Iterable[pa.RecordBatch]]
) -> LinkedFile:
    plain = pa.schema([(field.name, _plain(field.type)) for field in schema])
    for ending, write in _WRITERS.items():
        with writing(path.with_name(f"{path.name}.{ending}")) as beside:
            write((batch.cast(plain) for batch in batches()), plain, beside)
    address = quote(f"{path.parent.name}/{path.name}")
    return LinkedFile(path.name, title, rows, f"{address}.csv", f"{address}.parquet")


def _table(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Write texts as texts: not as a dictionary's numbers, nor as a column of nothing."""
    is_text = pa.types.is_dictionary(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)
    return pa.string() if is_text else kind
