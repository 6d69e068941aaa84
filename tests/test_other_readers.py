"""The files of a snapshot, and its folder itself, are tables to other programs: every table, column, row and type.

Each program is one function from paths to an Arrow table; what it gives is compared with what the catalogue holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import prodex
from prodex.tables.declaration import TABLES
from prodex_sandbox.sample import shared_products

ODD = [
    {"id": 901, "gtin": "03036811359935", "onlyHere": None, "namePublicLong": "Crème\n\U0001f9c0", "a.b": []},
    {
        "id": 902,
        "netContent": [{"data": 0.1}],
        "updatedAt": "2026-03-29T02:30:00",
        "Brand": "upper",
        "serves": 4,
    },
]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> prodex.Catalog:
    """A snapshot of three parts with different attributes, one of them with products but hardly a child."""
    records = [dict(product.record) for product in shared_products(30)]
    pieces = [prodex.flatten(some) for some in (records[:15], [{"id": 900}], [*records[15:], *ODD])]
    whole = prodex.Catalog(tuple(part for piece in pieces for part in piece.parts), pieces[0].origin)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRODEX_HOME", str(tmp_path_factory.mktemp("home")))
        return whole.save("shop")


def by_pandas(paths: Sequence[Path]) -> pa.Table:
    """Read with `pandas.read_parquet`, a folder at once and files one by one."""
    frame = pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)
    return pa.Table.from_pandas(frame, preserve_index=False)


def by_polars(paths: Sequence[Path]) -> pa.Table:
    """Read with `polars.scan_parquet`, which refuses files whose columns differ."""
    return pl.scan_parquet([str(path) for path in paths]).collect().to_arrow()


def by_duckdb(paths: Sequence[Path]) -> pa.Table:
    """Read with DuckDB's `read_parquet`, which takes the columns of the first file."""
    names = [str(path / "*.parquet") if path.is_dir() else str(path) for path in paths]
    with duckdb.connect() as connection:
        return connection.read_parquet(names).to_arrow_table()


def by_dask(paths: Sequence[Path]) -> pa.Table:
    """Read with `dask.dataframe.read_parquet`, which has pandas frames for its parts."""
    names: Any = [str(path) for path in paths]
    with dask.config.set(scheduler="synchronous"):
        frame = dd.read_parquet(names[0] if paths[0].is_dir() else names).compute()
    return pa.Table.from_pandas(frame, preserve_index=False)


def by_arrow(paths: Sequence[Path]) -> pa.Table:
    """Read with `pyarrow.dataset`, which takes the columns of the first file."""
    if paths[0].is_dir():
        return ds.dataset(paths[0]).to_table()
    return ds.dataset([str(path) for path in paths]).to_table()


READERS: dict[str, Callable[[Sequence[Path]], Any]] = {
    "pandas": by_pandas,
    "polars": by_polars,
    "DuckDB": by_duckdb,
    "Dask": by_dask,
    "pyarrow.dataset": by_arrow,
}


@pytest.fixture(scope="module")
def held(catalog: prodex.Catalog) -> dict[str, pa.Table]:
    """The tables as their files hold them, read part by part through the catalogue."""
    return {table: pa.concat_tables([part.stored(table) for part in catalog.parts]) for table in TABLES}


def alike(found: pa.Table, expected: pa.Table) -> pa.Table:
    """Return what a reader gave in the declared types: a kind of text for another, a unit of time for another."""
    kinds = [(one.type, other.type) for one, other in zip(found.schema, expected.schema, strict=True)]
    assert [] == [kind for kind in kinds if _family(kind[0]) != _family(kind[1])]
    return found.cast(pa.schema(list(zip(found.column_names, expected.schema.types, strict=True))))


def _family(kind: pa.DataType) -> str:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "text"
    # Two names of one zone.
    return f"moment {str(kind.tz).removeprefix('Etc/')}" if pa.types.is_timestamp(kind) else str(kind)


# Dask's own, of pandas.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("whole", [True, False], ids=["folder", "files"])
def test_other_programs_read_every_table(
    reader: str, whole: bool, catalog: prodex.Catalog, held: dict[str, pa.Table]
) -> None:
    """All rows of all parts in their order, all columns under their names, and no value other than here."""
    assert catalog.folder is not None
    assert 20 == len(TABLES)
    for table in TABLES:
        paths = [catalog.folder / table] if whole else catalog.files(table)
        expected = held[table]

        found = READERS[reader](paths)

        names = _without_twins(expected.column_names) if reader == "DuckDB" else expected.column_names
        assert (table, names) == (table, found.column_names)
        found = alike(found, expected)
        assert [] == [
            (table, name)
            for name, one, other in zip(names, expected.columns, found.columns, strict=True)
            if not one.equals(other)
        ]


def _without_twins(names: Sequence[str]) -> list[str]:
    """Return the names as DuckDB has them, which knows no two that differ in case only."""
    known: dict[str, int] = {}
    shown = []
    for name in names:
        number = known.get(name.lower(), 0)
        known[name.lower()] = number + 1
        shown.append(f"{name}_{number}" if number else name)
    return shown


def test_files_are_in_the_order_of_the_parts(catalog: prodex.Catalog) -> None:
    """So that whoever reads one after the other has the products in the order of the catalogue."""
    for table in TABLES:
        assert [f"part-{number:05d}.parquet" for number in range(3)] == [
            path.name for path in catalog.files(table)
        ]
        assert all(path.is_absolute() and path.is_file() for path in catalog.files(table))
