"""Questions in SQL: DuckDB over the tables of a catalogue, and over nothing else unless the caller allows it.

DuckDB is given tables, never files: what is on disk is read by `files.parquet`, which verifies it (DuckDB's own reader
of Parquet verifies no checksums), column by column and piece by piece, as the query needs it.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa

from prodex.catalog.catalog import Catalog
from prodex.catalog.part import Part
from prodex.errors import QueryError, SnapshotDamaged
from prodex.files import parquet
from prodex.installation import missing_extra
from prodex.phrases import nearest
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import decoded_table
from prodex.tables.frames import to_frame

if TYPE_CHECKING:
    import duckdb

_Made = TypeVar("_Made")

#: Beginnings of words by which a query lists tables, or makes their names while it runs.
_LISTING = ("describe", "duckdb_", "information_schema", "pg_", "pragma", "query", "show", "sqlite_")

#: What DuckDB takes as a value, and nothing that it would look into or run.
_VALUES = (bool, int, float, str, bytes, Decimal, datetime, date, time, timedelta, UUID)
_SEQUENCES = (list, tuple, np.ndarray, pd.Series, pd.Index)


def parameters_of(given: Any) -> list[Any] | dict[str, Any] | None:
    """Return parameters as DuckDB takes them.

    Raises
    ------
    QueryError
        When they are neither a list nor a dict, or one is no value; the message says which.

    Examples
    --------
    >>> parameters_of(["ACME", pd.NA]), parameters_of({"codes": ("a", "b")})
    (['ACME', None], {'codes': ['a', 'b']})
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        if odd := [name for name in given if not isinstance(name, str)]:
            raise QueryError(f"Parameters by name have names that are texts, not {odd[0]!r:.40}.")
        return {name: _parameter_value(value, f"${name}") for name, value in given.items()}
    if isinstance(given, _SEQUENCES):
        return [_parameter_value(value, f"number {place}") for place, value in enumerate(given, 1)]
    example = "catalog.sql('select * from products where brand_code = ?', ['ACME'])"
    if isinstance(given, pd.DataFrame | pa.Table):
        example = "catalog.sql('select * from products join mine using (gtin)', mine=frame)"
    raise QueryError(
        f"parameters is a list of values, or a dict of values by name, not {type(given).__name__}. Write {example}."
    )


def _parameter_value(value: Any, place: str) -> Any:
    if isinstance(value, _SEQUENCES):
        return [_parameter_value(item, place) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, pd.Timestamp):
        value = value.to_pydatetime(warn=False)
    elif isinstance(value, pd.Timedelta):
        value = value.to_pytimedelta()
    if isinstance(value, _VALUES):
        return value
    raise QueryError(
        f"Parameter {place} is a {type(value).__name__}, which is not a value. Take texts, numbers, dates, None, or a "
        "list of these."
    )


def tables_of(frames: Mapping[str, Any], taken: Iterable[str]) -> dict[str, pa.Table]:
    """Return frames as Arrow tables, by name.

    Parameters
    ----------
    frames
        pandas frames, or tables of Arrow.
    taken
        Names that tables have already.

    Raises
    ------
    QueryError
        When a name is taken, or something is no table.
    """
    known = {name.casefold(): name for name in taken}
    tables = {}
    for name, frame in frames.items():
        if (other := known.get(name.casefold())) is not None:
            raise QueryError(
                f"There is already a table {other!r}, here or among the frames, and SQL ignores case. "
                f"Give the frame another name: my_{name}=..."
            )
        known[name.casefold()] = name
        tables[name] = decoded_table(_as_arrow(frame, name))
        if alike := _alike_columns(tables[name].schema):
            raise QueryError(
                f"{name}= has the columns {alike[0]!r:.60} and {alike[1]!r:.60}, which are one name to SQL, since it "
                "ignores case: it would answer with the values of the other. Rename one of them, or leave it out."
            )
    return tables


def _alike_columns(fields: Iterable[pa.Field], around: str = "") -> tuple[str, str] | None:
    """Return two names that differ by case alone, of columns or of members of one structure; None if there are none."""
    seen: dict[str, str] = {}
    for field in fields:
        name = f"{around}{field.name}"
        if (other := seen.get(name.casefold())) is not None:
            return other, name
        seen[name.casefold()] = name
        if found := _alike_members(field.type, f"{name}."):
            return found
    return None


def _alike_members(kind: pa.DataType, around: str) -> tuple[str, str] | None:
    inside = [kind.field(place) for place in range(kind.num_fields)]
    if pa.types.is_struct(kind) or pa.types.is_union(kind):
        return _alike_columns(inside, around)
    # The items of a list and of a map have no names.
    return next(filter(None, (_alike_members(field.type, around) for field in inside)), None)


def _named_or_left_out(query: Any, tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables of the catalogue without columns that are one name to SQL: attributes of suppliers are open.

    Raises
    ------
    QueryError
        When the query names such a table.
    """
    words = set(re.findall(r"\w+", str(query).casefold()))
    found = dict(tables)
    for name, source in tables.items():
        if (alike := _alike_columns(source.schema)) is None:
            continue
        if name in words:
            wanted = f"mine=catalog.{name}[['product_id', {alike[0]!r:.60}]]"
            raise QueryError(
                f"{name} has the columns {alike[0]!r:.60} and {alike[1]!r:.60}, which are one name to SQL, since it "
                "ignores case: it would answer with the values of the other. Query the columns that you mean beside "
                f"it: catalog.sql(query, {wanted})."
            )
        # It is given because the query lists tables, or makes their names while it runs.
        counts = Counter(column.casefold() for column in source.schema.names)
        found[name] = source.select([one for one in source.schema.names if counts[one.casefold()] == 1])
    return found


def _as_arrow(frame: Any, name: str) -> pa.Table:
    if isinstance(frame, pd.DataFrame):
        return _from_pandas(frame, name)
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "__arrow_c_stream__") and not isinstance(frame, pd.Series | pd.Index | pa.ChunkedArray):
        try:
            return pa.table(frame)  # of Polars, DuckDB and others
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise QueryError(f"{name}= is a {type(frame).__name__} that is not a table: {error}.") from error
    hint = ""
    if isinstance(frame, pd.Series):
        hint = f" Write {name}=series.to_frame()."
    elif isinstance(frame, str | int | float | Decimal | date | list | tuple):
        hint = " Give a value as a parameter: catalog.sql('... where gtin = $gtin', {'gtin': ...})."
    raise QueryError(
        f"{name}= is a {type(frame).__name__}, and tables are pandas frames or tables of Arrow.{hint}"
    )


def _from_pandas(frame: pd.DataFrame, name: str) -> pa.Table:
    """Return a frame with its columns; an index is among them where it has a name, and else only counts rows."""
    if isinstance(frame.columns, pd.MultiIndex):
        raise QueryError(
            f"{name}= has columns on several levels. Give each column one name: frame.columns = [...]."
        )
    named = [level for level in frame.index.names if level is not None]
    if unnamed := [place for place, level in enumerate(frame.index.names) if level is None]:
        frame = frame.reset_index(level=unnamed, drop=True) if named else frame.reset_index(drop=True)
    columns = [*(str(column) for column in named), *(str(column) for column in frame.columns)]
    if twice := [column for column in columns if columns.count(column) > 1]:
        raise QueryError(
            f"{name}= has the column {twice[0]!r:.60} twice, the index included. Rename one of them."
        )
    if named:
        frame = frame.reset_index()
    frame = frame.set_axis(columns, axis="columns")
    arrays = []
    for column in columns:
        try:
            arrays.append(pa.Array.from_pandas(frame[column]))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise QueryError(
                f"Column {column!r:.60} of {name}= holds values of several kinds, or of one that no table has: "
                f"{error}. Write frame[{column!r:.60}].astype('str'), or leave the column out."
            ) from error
    arrays = [a if isinstance(a, pa.ChunkedArray) else pa.chunked_array([a]) for a in arrays]
    if not columns:
        raise QueryError(f"{name}= has no columns.")
    return pa.table(arrays, names=columns)


#: What is raised where a column, or a value in it, has no place in a frame: a union, the year 290000.
_NOT_FRAMED = (pa.ArrowException, ValueError, OverflowError)

Settings = dict[str, str | bool | int | float | list[str]]

#: Settings that confine a query to the tables that it was given: no files, addresses, databases or extensions.
_CONFINED: Settings = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


def ask(
    catalog: Catalog, query: str, parameters: Any, frames: Mapping[str, Any], *, allow_external: bool
) -> pd.DataFrame:
    """Answer a query over the tables of a catalogue and frames beside them; see `Catalog.sql`.

    Raises
    ------
    QueryError
        When DuckDB does not take the query; its own words are in the message.
    SnapshotDamaged
        When a file that the query needs is not as it was written.
    """
    values = parameters_of(parameters)
    own = tables_of(frames, TABLES)
    tables = {name: catalog._source(name) for name in _needed(query, catalog._held)}
    tables = _named_or_left_out(query, tables)
    try:
        import duckdb
    except ImportError as error:
        raise missing_extra("catalog.sql()", "DuckDB", "sql") from error
    with _scratch() as folder:
        # Names in the query mean tables only: DuckDB would otherwise look among Python's variables as well.
        settings: Settings = {"python_enable_replacements": "false", "temp_directory": folder}
        with duckdb.connect(config=settings | ({} if allow_external else _CONFINED)) as connection:
            for name, source in tables.items():
                connection.register(name, source)
            for name, frame in own.items():
                _register(connection, name, frame)
            if not allow_external:
                # Else the query itself could switch external access on again.
                connection.execute("SET lock_configuration = true")
            try:
                rows = _interruptible(connection, lambda: _result_table(connection.sql(query, params=values)))
            except (duckdb.Error, OSError, pa.ArrowException, UnicodeDecodeError) as error:
                # An error in the query itself reads no file; after any other, the files are checked.
                in_query = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
                if not isinstance(error, in_query) and (damage := _damage(catalog.parts)):
                    raise SnapshotDamaged(f"The query cannot be answered: {damage}") from error
                raise QueryError(
                    f"The query does not work: {error}{_advice(error, allow_external)}"
                ) from error
    if rows is None:
        raise QueryError(f"The query {query!r:.60} returns no rows. Begin it with SELECT.")
    return _framed(rows)


def _result_table(found: duckdb.DuckDBPyRelation | None) -> pa.Table | None:
    return None if found is None else found.to_arrow_table()


def _interruptible(connection: duckdb.DuckDBPyConnection, work: Callable[[], _Made]) -> _Made:
    """Do some work of DuckDB, and end it where this thread is interrupted.

    DuckDB itself sees Ctrl-C only between some of its steps, and raises an error of its own then. So it works in
    another thread, and this one waits in a way that Ctrl-C ends on any system.
    """
    with ThreadPoolExecutor(1) as thread:
        working = thread.submit(work)
        try:
            while wait([working], timeout=1).not_done:
                pass
        except BaseException:
            # In a loop: an interruption before the query begins has no effect.
            while not working.done():
                connection.interrupt()
                wait([working], timeout=0.05)
            raise
        return working.result()


def _register(connection: duckdb.DuckDBPyConnection, name: str, frame: pa.Table) -> None:
    """Give DuckDB a frame, or name the column that it does not take.

    Raises
    ------
    QueryError
        When it does not take one.
    """
    import duckdb

    try:
        connection.register(name, frame)
    except duckdb.Error as error:
        for field in frame.schema:
            if not _is_taken(connection, frame.select([field.name])):
                raise QueryError(
                    f"Column {field.name!r:.60} of {name}= is of a type that SQL does not take ({field.type!s:.100}). "
                    "Convert it first: float16 to float32, the members of a union to columns of their own, anything "
                    "else to text. Or leave the column out."
                ) from error
        raise QueryError(f"SQL does not take {name}=: {error}") from error


def _is_taken(connection: duckdb.DuckDBPyConnection, column: pa.Table) -> bool:
    import duckdb

    try:
        connection.register("column of a frame", column.slice(0, 0))
    except duckdb.Error:
        return False
    connection.unregister("column of a frame")
    return True


def _framed(rows: pa.Table) -> pd.DataFrame:
    """Return the answer to a query as a frame, or name the column that a frame cannot have.

    Raises
    ------
    QueryError
        When there is one.
    """
    try:
        return to_frame(rows)
    except _NOT_FRAMED:
        for number, field in enumerate(rows.schema):
            try:
                to_frame(rows.select([number]))
            except _NOT_FRAMED as error:
                member = ""
                if pa.types.is_union(field.type):
                    member = f", or take one member of the union: (...).{field.type.field(0).name:.60}"
                problem = str(error)[:200].rstrip(".")
                raise QueryError(
                    f"Column {field.name!r:.60} of the answer cannot be a column of a frame: {problem}. Convert it in "
                    f"the query: (...)::varchar{member}."
                ) from error
        raise


def _needed(query: Any, held: Sequence[str]) -> list[str]:
    """Return the tables that a query can mean: those whose name is in it, or all when it asks which there are.

    A table that is not given costs nothing, and to give one means to look at the files of all its parts.
    """
    text = str(query).casefold()
    words = set(re.findall(r"\w+", text))
    # What is nearly a name counts as well where a table is expected, so that DuckDB can propose the name.
    expected = re.findall(r"\b(?:from|join)\W+(\w+)", text)
    named = words | {nearest(word, held) for word in expected}
    is_listing = any(word.startswith(_LISTING) for word in words)
    return list(held) if is_listing or named.isdisjoint(held) else [name for name in held if name in named]


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
                return str(parquet.damaged(part.files[table], wrong))
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
