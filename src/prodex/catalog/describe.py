"""What each attribute holds, in each language: how often it is filled, with how many values, how long, for example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.catalog import Catalog
from prodex.catalog.cells import NOT_ITSELF, Cells, Read, WantedAttributes, cells_of
from prodex.catalog.counted_units import counted_units
from prodex.catalog.names import shown_languages
from prodex.tables.attributes import attribute_of, child_path, is_within
from prodex.tables.columns import as_one_chunk, filled_values
from prodex.tables.declaration import TABLES
from prodex.tables.declared_paths import is_data_of
from prodex.tables.frames import to_frame

_EXAMPLES = 3
#: Characters of an example; of longer ones the beginning is shown.
_LONGEST = 60
_SCHEMA = pa.schema(
    {
        "attribute": pa.string(),
        "language": pa.string(),
        "filled": pa.int64(),
        "products": pa.int64(),
        "share": pa.float64(),
        "unreadable": pa.int64(),
        "values": pa.int64(),
        "distinct": pa.int64(),
        "shortest": pa.int64(),
        "median": pa.float64(),
        "longest": pa.int64(),
        "examples": pa.string(),
    }
)


class _CellCounts(NamedTuple):
    """Figures about columns, one entry for each; files, which are only counted, have no lengths and no examples."""

    filled: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64]
    distinct: npt.NDArray[np.int64]
    shortest: Sequence[float | None]
    median: Sequence[float | None]
    longest: Sequence[float | None]
    examples: Sequence[str]


def describe(every: Catalog, units: str) -> pd.DataFrame:
    """Describe every attribute; see `Catalog.describe`."""
    counted = counted_units(every, units)
    catalog = every if counted.mask.all() else every.where(counted.mask)
    products = catalog.arrow("products")
    size = products.num_rows
    ids = products["product_id"].combine_chunks()
    rows: list[dict[str, Any]] = []
    for place, cells in enumerate(
        [
            *cells_of(catalog.arrow, ids, WantedAttributes(None), None, False, shown_languages(catalog)),
            *_product_cells(products),
        ]
    ):
        facts = _count_cells(cells, size)
        for column, name in enumerate(cells.names):
            # The first cells are texts; their columns are called by attribute and language.
            attribute, _, language = name.rpartition(".") if place == 0 else (name, "", None)
            said = {field: values[column] for field, values in facts._asdict().items()}
            is_read = not cells.source or is_data_of(cells.source, attribute, attribute)
            said |= {"unreadable": 0} if is_read else {"unreadable": facts.filled[column], "filled": 0}
            if facts.values[column]:
                rows.append({"attribute": attribute, "language": language, **said})
    rows += _never_filled(every, [str(row["attribute"]) for row in rows])
    rows.sort(key=lambda row: (row["attribute"], row["language"] or ""))
    shares = [{"products": size, "share": row["filled"] / size if size else None} for row in rows]
    table = pa.Table.from_pylist([row | share for row, share in zip(rows, shares, strict=True)], _SCHEMA)
    frame = to_frame(table)
    frame.attrs["counted"] = str(counted.count())
    return frame


def _product_cells(products: pa.Table) -> Iterator[Cells]:
    """Yield the columns of `products`, each under its wire path."""
    every = np.arange(products.num_rows)
    for column in TABLES["products"].columns:
        # What fits a column of `products` is in no child table, so that it is read from there.
        path = ("gtin",) if column.name == "gtin" else next(iter(column.paths), None)
        if path is None:
            continue
        values = products[column.name].combine_chunks()
        kind = "text" if pa.types.is_string(values.type) else "number"
        cells = Cells(every, np.zeros_like(every), [".".join(path)], values.cast(pa.string()), kind)  # type: ignore[arg-type]
        yield cells.at(values.is_valid().to_numpy(zero_copy_only=False))


def _count_cells(cells: Cells, size: int) -> _CellCounts:
    """Count the cells of each column; texts that show nothing fill nothing."""
    is_count = cells.kind == "count"
    weights = cells.values.to_numpy() if is_count else None
    if not is_count:
        filled = filled_values(as_one_chunk(cells.values))
        cells = cells if filled.all() else cells.at(filled)
    columns, many = cells.columns, len(cells.names)
    # Rows are in the order of attribute and product, so that hardly anything is left to sort.
    places = np.sort(columns * size + cells.products, kind="stable")
    filled_by = _cells_per_column(places[np.diff(places, prepend=-1) != 0] // max(size, 1), many)
    values = np.bincount(columns, weights, many).astype(np.int64)
    nothing: list[float | None] = [None] * many
    if is_count:
        none = np.zeros(many, np.int64)
        return _CellCounts(filled_by, values, none, nothing, nothing, nothing, [""] * many)
    encoded = cells.values.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    width = max(len(encoded.dictionary), 1)
    pairs, often = np.unique(columns * width + codes, return_counts=True)
    owner, code = np.divmod(pairs, width)
    shortest = median = longest = nothing
    if cells.kind == "text":
        shortest, median, longest = _lengths(
            columns, pc.utf8_length(encoded.dictionary).to_numpy()[codes], many
        )
    examples = _examples(owner, code, often, encoded, many)
    return _CellCounts(filled_by, values, _cells_per_column(owner, many), shortest, median, longest, examples)


def _cells_per_column(columns: npt.NDArray[np.int64], many: int) -> npt.NDArray[np.int64]:
    return np.bincount(columns, minlength=many).astype(np.int64)


def _lengths(
    columns: npt.NDArray[np.int64], lengths: npt.NDArray[np.int32], many: int
) -> list[list[float | None]]:
    """Return the shortest, median and longest of each column."""
    counts = _cells_per_column(columns, many)
    ends = np.cumsum(counts)
    starts = ends - counts
    # A column without values is not shown; the 0 at the end is for its places, which may lie behind the last value.
    lengths = np.append(lengths[np.lexsort((lengths, columns))], 0)
    median = (lengths[starts + np.maximum(counts - 1, 0) // 2] + lengths[starts + counts // 2]) / 2
    return [lengths[starts].tolist(), median.tolist(), lengths[ends - 1].tolist()]


def _examples(
    owner: npt.NDArray[np.int64],
    code: npt.NDArray[np.int64],
    often: npt.NDArray[np.int64],
    encoded: pa.DictionaryArray,
    many: int,
) -> list[str]:
    """Return the most frequent values of each column."""
    order = np.lexsort((code, -often, owner))
    owner, code = owner[order], code[order]
    starts = np.searchsorted(owner, np.arange(many + 1))
    shown = []
    for start, end in pairwise(starts):
        texts = encoded.dictionary.take(pa.array(code[start : min(start + _EXAMPLES, end)])).to_pylist()
        shown.append(" | ".join(t if len(t) <= _LONGEST else f"{t[: _LONGEST - 1]}…" for t in texts))
    return shown


def _never_filled(catalog: Catalog, seen: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the attributes that products have, and that none of them fills."""
    # Null or empty in every record, an attribute has no row anywhere; only `presence` knows it. It has the attributes
    # of all products, also where some were chosen.
    states = catalog.arrow("presence")
    for name in states.column_names:
        if pc.all(pc.equal(states[name], "absent"), min_count=0).as_py():
            continue
        attribute = attribute_of(name)
        path = None if attribute is None else child_path("", attribute)
        if path in {None, "id", *NOT_ITSELF} or any(is_within(one, str(path)) for one in seen):
            continue
        yield {"attribute": path, "language": None, "filled": 0, "unreadable": 0, "values": 0, "distinct": 0}


def drift(read: Read) -> pd.DataFrame:
    """List each attribute that was sent in more than one form; what fits a declared column is a form of its own."""
    forms = []
    for table, value in (("texts", "text"), ("codes", "code"), ("quantities", "value"), ("scalars", "value")):
        columns = ["attribute", "product_id", value, *(["type"] if table == "scalars" else [])]
        frame = to_frame(read(table, columns)).rename(columns={value: "example"})
        frame["form"] = frame["type"] if table == "scalars" else table
        forms.append(frame)
    seen = set(pd.concat([frame["attribute"] for frame in forms]))
    forms += [
        _values_of_column(read, table, column, path)
        for table, column, path in _declared_leaves()
        if path in seen
    ]
    every = pd.concat(
        [frame.assign(example=frame["example"].astype(str)) for frame in forms], ignore_index=True
    )
    # An empty text is shown as such: nothing at all would look like a missing example.
    every["example"] = every["example"].str.slice(0, 80).replace("", "''")
    summary = (
        every.groupby(["attribute", "form"], sort=True)
        .agg(values=("product_id", "size"), products=("product_id", "nunique"), example=("example", "first"))
        .reset_index()
    )
    several = summary.groupby("attribute")["form"].transform("size") > 1
    return summary[several].reset_index(drop=True)


def _declared_leaves() -> Iterator[tuple[str, str, str]]:
    """Yield table, column and whole wire path of every declared leaf."""
    for table in TABLES.values():
        for column in table.columns:
            for path in column.paths:
                yield table.name, column.name, ".".join(filter(None, [table.anchors[0], *path]))


def _values_of_column(read: Read, table: str, column: str, path: str) -> pd.DataFrame:
    filled = to_frame(read(table, ["product_id", column], pc.field(column).is_valid()))
    kind = str(TABLES[table].schema.field(column).type)
    return filled.rename(columns={column: "example"}).assign(
        attribute=path, form=f"{table}.{column} ({kind})"
    )
