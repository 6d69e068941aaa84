"""Questions in SQL: DuckDB over the tables of a catalogue, and over nothing else unless the caller allows it.

DuckDB is given tables, never files: what is on disk is read by `prodex.parquet`, which verifies it (DuckDB's own reader
of Parquet verifies no checksums), column by column and piece by piece, as the query needs it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from prodex import parquet
from prodex.catalog.part import Part
from prodex.catalog.sql_values import parameters_of, tables_of
from prodex.errors import MissingExtra, QueryError, SnapshotDamaged
from prodex.tables.declaration import TABLES
from prodex.tables.frames import to_frame

if TYPE_CHECKING:
    from prodex.catalog.catalog import Catalog

Settings = dict[str, str | bool | int | float | list[str]]

#: What keeps a query to the tables that it was given: no files, addresses, databases or extensions.
_CONFINED: Settings = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


def ask(
    catalog: Catalog, query: str, parameters: Any, frames: Mapping[str, Any], *, allow_external: bool
) -> pd.DataFrame:
    """Answer a query over the tables of a catalogue and frames beside them; see `Catalog.sql`."""
    values = parameters_of(parameters)
    own = tables_of(frames, TABLES)
    tables = {str(name): catalog._source(str(name)) for name in catalog.tables.index}
    return answer(query, tables | own, catalog.parts, values, allow_external=allow_external)


def answer(
    query: str,
    tables: Mapping[str, Any],
    parts: Sequence[Part],
    parameters: list[Any] | dict[str, Any] | None = None,
    *,
    allow_external: bool,
) -> pd.DataFrame:
    """Answer a query over some tables.

    Parameters
    ----------
    query
        In DuckDB's SQL.
    tables
        What it may name: Arrow tables, or datasets of files that are read when they are needed.
    parts
        What the tables were made of, to find out whether a file is damaged when reading fails.
    parameters
        Values for the query, as `parameters_of` gives them.
    allow_external
        Let the query reach files, addresses and extensions as well.

    Raises
    ------
    QueryError
        When DuckDB does not take the query; its own words are in the message.
    SnapshotDamaged
        When a file that the query needs is not as it was written.
    """
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtra("catalog.sql() needs DuckDB: pip install 'prodex[sql]'.") from error
    with _scratch() as folder:
        # Names in the query mean tables only: DuckDB would otherwise look among Python's variables as well.
        settings: Settings = {"python_enable_replacements": "false", "temp_directory": folder}
        with duckdb.connect(config=settings | ({} if allow_external else _CONFINED)) as connection:
            for name, source in tables.items():
                connection.register(name, source)
            if not allow_external:
                connection.execute("SET lock_configuration = true")
            try:
                found = connection.sql(query, params=parameters)
                rows = None if found is None else found.to_arrow_table()
            except (duckdb.Error, OSError, pa.ArrowException, UnicodeDecodeError) as error:
                asked = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
                if not isinstance(error, asked) and (damage := _damage(parts)):
                    raise SnapshotDamaged(f"The query cannot be answered: {damage}") from error
                raise QueryError(
                    f"The query does not work: {error}{_advice(error, allow_external)}"
                ) from error
    if rows is None:
        raise QueryError(f"The query {query!r:.60} has no answer. Begin it with SELECT.")
    return to_frame(rows)


def _advice(error: Exception, allow_external: bool) -> str:
    if allow_external or ("disabled" not in str(error) and "locked" not in str(error)):
        return ""
    return (
        "\nA query reads the catalogue's own tables and nothing else; catalog.sql(query, allow_external=True) lets it "
        "reach files and extensions as well."
    )


def _damage(parts: Sequence[Part]) -> str:
    """Name the first file that is not as it was written; nothing where all are."""
    for part in parts:
        for table, facts in part.facts.items():
            if wrong := parquet.problem(part.files[table], facts):
                return (
                    f"{part.files[table]}: {wrong}. Run verify() to see what else is damaged, and open an earlier "
                    "snapshot or load again."
                )
            try:
                part.read(table)
            except SnapshotDamaged as error:  # as it was written, and still no table of ours
                return str(error)
    return ""


@contextmanager
def _scratch() -> Iterator[str]:
    """Give DuckDB a folder of its own for what does not fit in memory; where none can be made, it does without."""
    try:
        folder: Any = tempfile.TemporaryDirectory(prefix="prodex-", ignore_cleanup_errors=True)
    except OSError:
        yield ""
        return
    with folder as name:
        yield name
