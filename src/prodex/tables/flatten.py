"""Products in, tables out: the fast path, equal to the plain walk.

Pure: no network, no disk, no clock. The rows of a product depend on that product alone, so that two pages give the
rows of the first and the rows of the second, whatever was flattened before.

Every way into a catalogue cuts its records into the same blocks, so that the same records give rows in the same order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.encodings import not_utf8
from prodex.errors import InputError
from prodex.phrases import counted
from prodex.tables.attributes import child_path
from prodex.tables.declaration import COUNTED, TABLES, Table
from prodex.tables.explode import Indices, Places, constant, explode, renumber
from prodex.tables.fill_state import FillState
from prodex.tables.parse import ONE_BY_ONE, OneByOne, ShapeCache, quoted_codes
from prodex.tables.plain_walk import Rows, rows_of
from prodex.tables.records import Records, presence_columns, read_records
from prodex.tables.values import storable

Tables = dict[str, pa.Table]

#: Columns in which few values are shared by many rows: encoded in memory, plain text in every file and frame.
REPEATING = frozenset({"product_id", "gtin", "attribute", "position", "source", "type"})
ENCODED = pa.dictionary(pa.int32(), pa.string())


class _Run(NamedTuple):
    """Rows of one table that are under one wire path."""

    path: str
    places: Places
    columns: dict[str, pa.Array]


def flatten_products(products: Sequence[bytes], shapes: ShapeCache | None = None) -> Tables:
    """Flatten products to all tables of the declaration.

    Parameters
    ----------
    products
        One JSON object each, UTF-8, as received.
    shapes
        What is known of the products' types, to use and to teach; nothing when none is given.

    Raises
    ------
    InputError
        When one is not in UTF-8.

    Returns
    -------
    dict
        Every declared table by name. Keys and other repeating columns are dictionary-encoded. `products`,
        `presence` and `raw` are in the order of the products; rows of other tables are not.

    Examples
    --------
    >>> riz = b'{"id": 7, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]}'
    >>> tables = flatten_products([riz])
    >>> tables["texts"].select(["product_id", "attribute", "language", "text"]).to_pylist()
    [{'product_id': '7', 'attribute': 'namePublicLong', 'language': 'fr', 'text': 'Riz'}]
    """
    return _flattened(_as_text(products), shapes or ShapeCache())


def _flattened(texts: pa.StringArray, shapes: ShapeCache | OneByOne) -> Tables:
    """Flatten products that are one text after the other in memory."""
    _, offsets, content = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[: len(texts) + 1].tolist()
    whole = memoryview(content or b"")
    products = [whole[start:end] for start, end in pairwise(ends)]
    is_quoted = shapes.codes_are_numbers
    records = read_records(products, quoted_codes if is_quoted else None)
    fields, odd = shapes.parse(records.tops, codes_are_quoted=is_quoted)
    for index, attributes in records.not_strict.items():
        odd[index] = odd.get(index, {}) | attributes
    runs: dict[str, list[_Run]] = defaultdict(list)

    def emit(table: str, path: str, places: Places, columns: dict[str, pa.Array]) -> None:
        runs[table].append(_Run(path, places, columns))

    everybody = np.arange(len(products), dtype=np.int32)
    explode(fields, Places.of_products(everybody), emit)
    # They were taken out before parsing, with null and []; unlike these, they are values and have a row.
    for attribute, empty in records.empty_texts.items():
        places = Places.of_products(np.array(empty, np.int32))
        blank = {"type": constant("string", len(empty)), "value": constant("", len(empty))}
        emit("scalars", child_path("", storable(attribute)), places, blank)
    plain = [(index, rows_of(attributes)) for index, attributes in odd.items()]
    keys = _Keys(records)
    tables = {
        name: _assemble(table, runs[name], plain, keys)
        for name, table in TABLES.items()
        if table.per_product and name not in {"products", "presence", "raw"}
    }
    tables["code_labels"] = TABLES["code_labels"].schema.empty_table()
    tables["descriptors"] = _descriptors(runs["descriptors"], plain)
    tables["products"] = _products_table(runs["products"], plain, keys, tables)
    own = keys.of(everybody)
    tables["presence"] = pa.table({**own, **presence_columns(records, tables)})
    tables["raw"] = pa.table({**own, "json": texts})
    return {name: tables[name] for name in TABLES}


def declared(name: str, columns: Mapping[str, Any], size: int) -> pa.Table:
    """Return a table with exactly the declared columns, nulls where there is nothing.

    `REPEATING` columns are dictionary-encoded, every other column has its declared type.
    """
    arrays = []
    for field in TABLES[name].schema:
        kind = ENCODED if field.name in REPEATING else field.type
        array = columns.get(field.name)
        if array is None:
            array = pa.nulls(size, kind)
        arrays.append(array if array.type == kind else array.cast(kind))
    return pa.table(arrays, names=TABLES[name].schema.names)


def decoded(tables: Mapping[str, pa.Table]) -> Tables:
    """Return the tables with the declared types, nothing dictionary-encoded."""
    return {
        name: decoded_table(table) if table.num_rows or name == "presence" else _empty(name)[1]
        for name, table in tables.items()
    }


def decoded_table(table: pa.Table) -> pa.Table:
    """Return a table in which encoded columns hold their values, without metadata."""
    # A cast to the same type is quick, but not for thousands of columns of `presence`.
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


@cache
def _empty(name: str) -> tuple[pa.Table, pa.Table]:
    """Return a table without rows, encoded and decoded: of a few products most tables are empty."""
    encoded = declared(name, {}, 0)
    return encoded, decoded_table(encoded)


class _Keys:
    """The keys of all products as dictionaries, so that child rows hold numbers and no text is copied."""

    def __init__(self, records: Records) -> None:
        self._product_ids = pa.array(records.product_ids, pa.string())
        # Parquet refuses a dictionary that holds null, so that a missing GTIN is a null among the indexes.
        self._gtins = pa.array([gtin or "" for gtin in records.gtins], pa.string())
        self._without = np.array([gtin is None for gtin in records.gtins], np.bool_)
        self.records = records

    def of(self, products: Indices) -> dict[str, pa.DictionaryArray]:
        with_gtin = pa.array(products, mask=self._without[products])
        return {
            "product_id": pa.DictionaryArray.from_arrays(pa.array(products), self._product_ids),
            "gtin": pa.DictionaryArray.from_arrays(with_gtin, self._gtins),
        }


def _assemble(table: Table, runs: list[_Run], plain: list[tuple[int, Rows]], keys: _Keys) -> pa.Table:
    """Put the rows of all runs, and of the products that were walked alone (`plain_walk`), into one table.

    Rows are sorted by attribute, then product, then position, so that the same products always give the same file.
    """
    rows = [(index, row) for index, flat in plain for row in flat[table.name]]
    if not runs and not rows:
        return _empty(table.name)[0]
    runs = sorted(runs, key=lambda run: run.path)
    products = np.concatenate(
        [*(run.places.products for run in runs), np.array([i for i, _ in rows], np.int32)]
    )
    columns: dict[str, Any] = dict(keys.of(products.astype(np.int32)))
    for name in (column.name for column in table.columns if column.name not in columns):
        if name == "attribute":
            columns[name] = _paths(runs, rows)
            continue
        arrays = [
            run.places.positions() if name == "position" else run.columns.get(name, len(run.places.products))
            for run in runs
        ]
        columns[name] = _joined_column(table, name, arrays, [row.get(name) for _, row in rows])
    assembled = declared(table.name, columns, len(products))
    # Runs are in order of path already, and each in order of products, so that there is mostly nothing to sort.
    if not rows and len({run.path for run in runs}) == len(runs):
        return assembled
    paths = columns["attribute"]
    ranks = pc.rank(paths.dictionary, tiebreaker="dense").to_numpy()[paths.indices.to_numpy()]
    return assembled.take(pa.array(np.lexsort((products, ranks))))


def _paths(runs: list[_Run], rows: list[tuple[int, dict[str, Any]]]) -> pa.Array:
    numbers: dict[str, int] = {}
    lengths = [len(run.places.products) for run in runs]
    codes = np.repeat([numbers.setdefault(run.path, len(numbers)) for run in runs], lengths)
    more = [numbers.setdefault(row["attribute"], len(numbers)) for _, row in rows]
    every = np.concatenate([codes, more]).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(every), pa.array(list(numbers), pa.string()))


def _joined_column(table: Table, name: str, arrays: list[Any], more: list[Any]) -> pa.Array | None:
    """Join the chunks of a column; a number instead of a chunk means so many nulls."""
    kind = table.schema.field(name).type
    if not any(value is not None for value in more):
        if all(isinstance(array, int) for array in arrays):
            return None
        arrays = [*arrays, len(more)]
    else:
        arrays = [*arrays, pa.array(more, kind)]
    if any(not isinstance(a, int) and pa.types.is_dictionary(a.type) for a in arrays):
        encoded = pa.dictionary(pa.int32(), kind)
        chunks = [_with_dictionary(a, kind, encoded) for a in arrays]
        return pa.chunked_array(chunks, encoded).unify_dictionaries().combine_chunks()
    chunks = [pa.nulls(a, kind) if isinstance(a, int) else a.cast(kind) for a in arrays]
    return pa.chunked_array(chunks, kind).combine_chunks()


def _with_dictionary(array: Any, kind: pa.DataType, encoded: pa.DataType) -> pa.Array:
    if isinstance(array, int):
        return pa.nulls(array, encoded)
    if pa.types.is_dictionary(array.type):
        return array if array.type == encoded else array.cast(encoded)
    return array.cast(kind).dictionary_encode()


def _descriptors(runs: list[_Run], plain: list[tuple[int, Rows]]) -> pa.Table:
    """Return each descriptor once: every text repeats one of a few."""
    names = TABLES["descriptors"].schema.names
    chunks = [pa.table({name: run.columns[name] for name in names}) for run in runs]
    chunks.append(
        pa.Table.from_pylist(
            [r for _, flat in plain for r in flat["descriptors"]], TABLES["descriptors"].schema
        )
    )
    return distinct(pa.concat_tables(chunks).combine_chunks())


def distinct(lexicon: pa.Table) -> pa.Table:
    """Return each row of a lexicon once, in order."""
    names = lexicon.column_names
    numbers, distinct_so_far = np.zeros(lexicon.num_rows, np.int64), 1
    for name in names:
        # The codes of all columns are combined into one number for each row, and counted anew to keep it small.
        encoded = lexicon.column(name).combine_chunks().dictionary_encode(null_encoding="encode")
        size = len(encoded.dictionary)
        used, codes = renumber(numbers * size + encoded.indices.to_numpy(), distinct_so_far * size)
        numbers, distinct_so_far = codes.astype(np.int64), len(used)
    first = np.zeros(distinct_so_far if lexicon.num_rows else 0, np.int64)
    first[numbers[::-1]] = np.arange(lexicon.num_rows)[::-1]
    return lexicon.take(pa.array(first)).sort_by([(name, "ascending") for name in names])


def _products_table(runs: list[_Run], plain: list[tuple[int, Rows]], keys: _Keys, tables: Tables) -> pa.Table:
    """One row for each product, in order, with the counts of its children."""
    table = TABLES["products"]
    size = len(keys.records.product_ids)
    columns: dict[str, Any] = dict(keys.of(np.arange(size, dtype=np.int32)))
    for column in table.columns:
        if column.paths:
            column_type = table.schema.field(column.name).type
            found = next((run.columns[column.name] for run in runs if column.name in run.columns), None)
            # A value that the parser could not take was walked alone, and replaces the null in its place.
            by_arrow = pa.nulls(size, column_type) if found is None else found.cast(column_type)
            by_walk = {i: v for i, flat in plain if (v := flat["products"][0].get(column.name)) is not None}
            columns[column.name] = _overlaid(by_arrow, by_walk)
    for name in COUNTED:
        rows = (
            tables[name].column("product_id").combine_chunks().indices.to_numpy()
            if tables[name].num_rows
            else []
        )
        columns[f"{name}_count"] = pa.array(np.bincount(np.asarray(rows, np.int64), minlength=size))
    pending = keys.records.presence.get("lastRequest")
    is_filled = np.zeros(size, bool)
    if pending is not None:
        is_filled = np.frombuffer(pending, np.int8) == FillState.FILLED.number
    columns["has_pending_update"] = pa.array(is_filled)
    return declared("products", columns, size)


def _overlaid(column: pa.Array, values: dict[int, Any]) -> pa.Array:
    """Overwrite a column with the values from the plain walk."""
    if not values:
        return column
    mask = np.zeros(len(column), np.bool_)
    mask[list(values)] = True
    return pc.replace_with_mask(
        column, pa.array(mask), pa.array([values[i] for i in sorted(values)], column.type)
    )


#: An array of Arrow holds no more bytes of text.
_MOST_BYTES = 2**31 - 1


def _as_text(products: Sequence[bytes | msgspec.Raw]) -> pa.StringArray:
    """Return the records as received, as text.

    Whoever receives records keeps those apart that are no UTF-8: here it is too late to list them, and a letter that
    was replaced could not be distinguished from the one that the supplier sent.
    """
    ends = np.cumsum([0, *map(len, products)])
    if ends[-1] > _MOST_BYTES:
        raise InputError(
            f"{counted(len(products), 'record')} of {ends[-1]:,} bytes cannot be held together: {_MOST_BYTES:,} are "
            "the most. Split the largest record."
        )
    content, offsets = pa.py_buffer(b"".join(products)), pa.py_buffer(ends.astype(np.int32))
    texts = pa.StringArray.from_buffers(len(products), offsets, content)
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        odd, reason = next((i, why) for i, one in enumerate(products) if (why := not_utf8(bytes(one))))
        raise InputError(
            f"Record {odd} of {len(products):,} is {reason}. Load again, or give read_products(encoding=...)."
        ) from error
    return texts


#: JSON flattened at a time, in bytes: large enough for columns to pay (of two thirds as many each product takes 5 %
#: longer, and of twice as many it takes no less), small enough for any laptop: a block takes about five times its size.
BLOCK_BYTES = 11_000_000


def _taken_as_text(block: list[bytes | msgspec.Raw]) -> pa.StringArray:
    """Return the records of a block as text, and empty it: only the text holds them while they are flattened."""
    text = _as_text(block)
    block.clear()
    return text


#: Fewer bytes of so few products are walked one by one: columns pay only where each holds many values. Small products
#: have as few columns as they have bytes, and pay from that number on.
FEW_BYTES, FEW_PRODUCTS = 400_000, 40

#: What this process learnt of products so far; see `prodex.tables.parse`.
_SHAPES = ShapeCache()


def blocks_of(products: Iterator[bytes | msgspec.Raw]) -> Iterator[Tables]:
    """Flatten products block by block.

    Parameters
    ----------
    products
        The records, one JSON object each. Of no products there is a block without rows.

    Examples
    --------
    >>> [block["products"].num_rows for block in blocks_of(iter([b'{"id": 7}', b'{"id": 8}']))]
    [2]
    """
    block: list[bytes | msgspec.Raw] = []
    size = 0
    empty = True
    for product in products:
        block.append(product)
        size += len(product)
        if size >= BLOCK_BYTES:
            size, empty = 0, False
            yield _flattened(_taken_as_text(block), _SHAPES)
    if block or empty:
        are_few = size < FEW_BYTES and len(block) < FEW_PRODUCTS
        yield _flattened(_taken_as_text(block), ONE_BY_ONE if are_few else _SHAPES)
