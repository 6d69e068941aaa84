"""`Catalog.wide`: one row per product, with the values of all other tables as columns.

The cells of each column (see `prodex.catalog.cells`) become one array, several values of one product joined. Whole
columns are computed at a time, and a column keeps the type of its values if they all have the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.advice import PythonCall, advice
from prodex.arguments import names_given
from prodex.catalog.catalog import Catalog
from prodex.catalog.cells import Cells, ValueKind, WantedAttributes, as_text, cells_of, grouped
from prodex.catalog.names import AttributeNames, languages_given, shown_languages
from prodex.catalog.part import Part
from prodex.errors import QueryError
from prodex.executors import side_by_side
from prodex.locales import is_same_language
from prodex.phrases import hint
from prodex.tables.attributes import TEXTS, is_within
from prodex.tables.columns import as_one_chunk
from prodex.tables.declaration import TABLES
from prodex.tables.frames import as_framed, to_frame

_PRODUCTS = TABLES["products"]


def wide(
    catalog: Catalog,
    language: str | Iterable[str] | None,
    attributes: str | Iterable[str] | None,
    columns: str | Iterable[str] | None,
    numbers: bool,
) -> pd.DataFrame:
    """Turn the rows of the child tables into columns beside the products; see `Catalog.wide`."""
    found = {}
    for name, values in wide_columns(catalog, language, attributes, columns, numbers).shown:
        # One after the other, so that no more than one is held both as it was read and as frames keep it.
        found[name] = as_framed(pa.table({name: values})).column(name)
    # A frame without columns still has one row for each product.
    return to_frame(pa.table(found)) if found else pd.DataFrame(index=range(len(catalog)))


class WideColumns(NamedTuple):
    """The columns of `Catalog.wide`.

    Attributes
    ----------
    shown
        Those that are shown, each with its name and a value for each product; once.
    languages
        Of their texts, as columns are named by them; None for all.
    in_all
        How many there would be if none was chosen.
    """

    shown: Iterator[tuple[str, pa.ChunkedArray]]
    languages: Sequence[str] | None
    in_all: int


def wide_columns(
    catalog: Catalog,
    language: str | Iterable[str] | None,
    attributes: str | Iterable[str] | None,
    columns: str | Iterable[str] | None,
    numbers: bool,
) -> WideColumns:
    """Return the columns of `Catalog.wide`."""
    # Names are checked before anything large is read.
    names = AttributeNames(catalog)
    languages = (
        None
        if language is None
        else languages_given(catalog, names_given(language, "wide", "language"), "wide")
    )
    asked = (
        None
        if attributes is None
        else [names.attribute(a) for a in names_given(attributes, "wide", "attributes")]
    )
    chosen = None if columns is None else names_given(columns, "wide", "columns")
    _warn_of_not_requested(catalog, languages, asked)
    products = catalog.arrow("products")
    wanted = WantedAttributes(None if asked is None else tuple(asked))
    side: dict[str, Any] = _side_columns(catalog, wanted, languages, numbers)
    for name, values in _of_products(catalog, products, asked or ()).items():
        # A value that does not fit its column of `products` is in `scalars`; other products have it in `products`.
        side[name] = (
            pc.coalesce(as_text(values), as_text(as_one_chunk(side[name]))) if name in side else values
        )
    spoken = _text_columns(catalog, wanted, languages)
    for name in [*spoken, *_unfilled(asked or (), side, languages)]:
        side.setdefault(name, pa.nulls(products.num_rows, pa.string()))
    own = products.column_names
    side = {_free_name(name, own, side): side[name] for name in sorted(side)}
    shown = own if chosen is None else _chosen(chosen, own, side, names, languages)
    if chosen is not None and asked is not None:
        shown = [*shown, *(name for name in (*_themselves(asked), *side) if name not in shown)]
    elif chosen is None:
        shown = [*shown, *side]
    # An attribute that nobody has filled is a column as well: a program that asks for it must find it.
    missing = pa.chunked_array([pa.nulls(products.num_rows, pa.string())])
    in_all = len({*own, *side, *shown})
    made = ((name, products[name] if name in own else side.pop(name, missing)) for name in shown)
    return WideColumns(made, languages, in_all)


def _free_name(name: str, own: Collection[str], side: Collection[str]) -> str:
    """Return what a column of values is called that has the name of a column of products."""
    if name not in own:
        return name
    # A supplier may have called an attribute so, too.
    while (name := f"{name} (value)") in own or name in side:
        continue
    return name


def _side_columns(
    catalog: Catalog, wanted: WantedAttributes, languages: Sequence[str] | None, numbers: bool
) -> dict[str, pa.ChunkedArray]:
    """Return the columns that the child tables make, made part by part: no more of these is held than what is shown."""
    shown = shown_languages(catalog) if languages is None else {}

    def columns(part: Part) -> dict[str, _PartColumn]:
        def read(table: str, columns: Sequence[str], _: pc.Expression | None) -> pa.Table:
            return part.encoded(table, columns)

        ids = part.read("products", ["product_id"])["product_id"].combine_chunks()
        return pivot(cells_of(read, ids, wanted, languages, numbers, shown), part.size)

    sizes = [part.size for part in catalog.parts]
    found: dict[str, dict[int, _PartColumn]] = {}
    for number, made in enumerate(side_by_side(columns, catalog.parts)):
        for name, column in made.items():
            found.setdefault(name, {})[number] = column
    return {name: _column(found.pop(name), sizes, numbers) for name in sorted(found)}


def _warn_of_not_requested(
    catalog: Catalog, languages: Sequence[str] | None, asked: Sequence[str] | None
) -> None:
    """Warn of columns that are empty because nobody requested them from the service."""
    origin = catalog.origin
    silent = [path for path in asked or () if not origin.asked(path)]
    if origin.query is not None and (spoken := origin.query.product_languages):
        silent += [
            f"texts in {one!r}"
            for one in languages or ()
            if not any(is_same_language(one, each) for each in spoken)
        ]
    if silent:
        warnings.warn(
            f"{', '.join(silent)}: not requested when this catalogue was loaded, so a missing value says nothing "
            "about the product.",
            stacklevel=5,
        )


def _of_products(catalog: Catalog, products: pa.Table, asked: Sequence[str]) -> dict[str, pa.Array]:
    """Return the leaves asked for that have columns in `products`, under their wire path."""
    found: dict[str, pa.Array] = {}
    # `product_id` is not always the id: it may be the uuid or the GTIN of a record without one.
    if "id" in asked and "id_state" in (presence := catalog.arrow("presence")).column_names:
        filled = pc.equal(presence["id_state"], "filled")
        found["id"] = pc.if_else(filled, products["product_id"], None).combine_chunks()
    for path in asked:
        for name, columns in grouped(_PRODUCTS.columns, path).items():
            several = [products[column] for column in columns]
            if name not in columns:
                found[name] = (pc.coalesce(*several) if len(several) > 1 else several[0]).combine_chunks()
            elif len(columns) > 1:  # `products` has the label under this name
                found[f"{name}.code"] = several[1].combine_chunks()
    return found


def _themselves(asked: Sequence[str]) -> list[str]:
    """Return the columns of `products` that are called as an attribute asked for, and are of it."""
    every = [(path, grouped(_PRODUCTS.columns, path)) for path in asked]
    named = [name for _, groups in every for name, columns in groups.items() if name in columns]
    return [*named, *(path for path in asked if path == "gtin")]


def _text_columns(catalog: Catalog, wanted: WantedAttributes, languages: Sequence[str] | None) -> list[str]:
    """Return the columns that every text attribute has in the languages asked for, filled or not."""
    if languages is None:
        return []
    every = (part.encoded("texts", ["attribute"])["attribute"].unify_dictionaries() for part in catalog.parts)
    seen = {name for attributes in every for name in pc.unique(attributes).to_pylist()}
    named = (path for path in wanted.asked or () if path in TEXTS)
    texts = dict.fromkeys([*filter(wanted.holds, seen), *named])
    return [column for name in texts for column in _column_names(name, languages)]


def _column_names(attribute: str, languages: Sequence[str] | None) -> list[str]:
    if languages is None or len(languages) == 1:
        return [attribute]
    return [f"{attribute}.{one}" for one in languages]


def _unfilled(asked: Sequence[str], side: Iterable[str], languages: Sequence[str] | None) -> list[str]:
    """Return the columns of attributes asked for of which no product has anything."""
    there = [*side, *_themselves(asked)]
    return [
        column
        for path in asked
        if not any(is_within(name, path) for name in there)
        for column in (_column_names(path, languages) if path in TEXTS else [path])
    ]


def _chosen(
    chosen: Sequence[str],
    own: Sequence[str],
    side: Iterable[str],
    names: AttributeNames,
    languages: Sequence[str] | None,
) -> list[str]:
    """Return the columns meant; an attribute means all its columns."""
    side = list(side)
    found: list[str] = []
    for name in chosen:
        below = [one for one in side if is_within(one, name)]
        if name in own:
            found.append(name)
        elif name in side or below:
            found += [name, *below] if name in side and name not in below else below
        # What lies deeper than a column that is shown is not missing, and must not look so.
        elif names.knows(name, languages) and not any(is_within(name, one) for one in side):
            found.append(name)
        else:
            every = [one for one in (*own, *side, *names.every) if one != name]
            near = hint(name, every)
            there = PythonCall(
                " catalog.wide().columns are its names; wide(attributes=...) shows what lies deeper."
            )
            raise QueryError(
                advice(
                    "{wide} has no column {name}{near}{there}",
                    wide=PythonCall("wide()"),
                    name=repr(name),
                    near=near,
                    there=there if near == "." else "",
                )
            )
    return list(dict.fromkeys(found))


JOINED_BY = " | "

#: Beyond this a double does not hold every whole number exactly.
_EXACT = 2**53


class _Run(NamedTuple):
    """The cells of one column that are from one place, by product, and where among some values theirs are."""

    products: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    values: pa.Array
    kind: ValueKind

    def own(self) -> pa.Array:
        return self.values.take(pa.array(self.places))


class _PartColumn(NamedTuple):
    """A column of one part.

    Attributes
    ----------
    values
        One for each product; as text where they are of several kinds, or several of one product.
    kinds
        What they are.
    several
        Whether a product has several.
    """

    values: pa.Array
    kinds: frozenset[ValueKind]
    several: bool


def pivot(cells: Iterable[Cells], size: int) -> dict[str, _PartColumn]:
    """Return a column for each name.

    Parameters
    ----------
    cells
        The cells of a part, whole tables at a time.
    size
        Number of its products.
    """
    runs: dict[str, list[_Run]] = {}
    for some in cells:
        if len(some.products):
            _split_into_runs(some, runs)
    return {name: _column_of_part(each, size) for name, each in runs.items()}


def _split_into_runs(cells: Cells, runs: dict[str, list[_Run]]) -> None:
    """Cut cells into runs of one column each, by product; within a product their order stays."""
    columns, products, places = cells.columns, cells.products, np.arange(len(cells.products))
    key = columns * (int(products.max(initial=0)) + 1) + products
    # Tables are stored by product, so that cells are often in order already; sorting is most of the work here.
    if np.any(key[1:] < key[:-1]):
        places = np.argsort(key, kind="stable")
        columns, products = columns[places], products[places]
    starts = np.flatnonzero(np.r_[True, columns[1:] != columns[:-1]])
    for start, end in zip(starts, [*starts[1:], len(columns)], strict=True):
        run = _Run(products[start:end], places[start:end], cells.values, cells.kind)
        runs.setdefault(cells.names[columns[start]], []).append(run)


def _column_of_part(runs: list[_Run], size: int) -> _PartColumn:
    kinds = frozenset(run.kind for run in runs)
    products = np.concatenate([run.products for run in runs])
    # Runs of one table follow each other; only those of several tables mingle.
    order = np.argsort(products, kind="stable") if np.any(products[1:] < products[:-1]) else None
    products = products if order is None else products[order]
    several = bool(np.any(products[1:] == products[:-1]))
    place = np.full(size, -1)
    if len(runs) == 1 and not several:
        # The values of most columns: they are copied once, to where they belong.
        place[products] = runs[0].places
        return _PartColumn(runs[0].values.take(pa.array(place, mask=place < 0)), kinds, several)
    # Several values of one product are joined as text, and so are columns with values of several kinds.
    arrays = [run.own() if len(kinds) == 1 and not several else as_text(run.own()) for run in runs]
    values = arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
    if order is not None:
        values = values.take(pa.array(order))
    if several:
        products, values = _values_by_product(products, values)
    place[products] = np.arange(len(products))
    return _PartColumn(values.take(pa.array(place, mask=place < 0)), kinds, several)


def _column(parts: Mapping[int, _PartColumn], sizes: Sequence[int], numbers: bool) -> pa.ChunkedArray:
    """Put the column of all parts together: it has one type, which the values of all parts decide."""
    kinds = frozenset().union(*(part.kinds for part in parts.values()))
    if len(kinds) > 1 or any(part.several for part in parts.values()):
        kind: ValueKind = "text"
        own = {number: as_text(part.values) for number, part in parts.items()}
    else:
        (kind,) = kinds
        own = {number: part.values for number, part in parts.items()}
    missing = next(iter(own.values())).type
    chunks = [own[number] if number in own else pa.nulls(size, missing) for number, size in enumerate(sizes)]
    return _typed(pa.chunked_array(chunks, missing), kind, numbers)


def _values_by_product(
    products: npt.NDArray[np.int64], values: pa.Array
) -> tuple[npt.NDArray[np.int64], pa.Array]:
    starts = np.flatnonzero(np.r_[True, products[1:] != products[:-1]])
    offsets = pa.array([*starts, len(products)], pa.int64())
    lists = pa.LargeListArray.from_arrays(offsets, values)
    return products[starts], pc.binary_join(lists, JOINED_BY)


def _typed(values: pa.ChunkedArray, kind: ValueKind, numbers: bool) -> pa.ChunkedArray:
    """Give values their type; numbers that no column of numbers holds exactly stay as they are written."""
    if not pa.types.is_string(values.type) or kind == "text" or (kind == "number" and not numbers):
        if kind != "number" or numbers:
            return values
        return pa.chunked_array([as_text(chunk) for chunk in values.chunks], pa.string())
    if kind == "boolean":
        return pc.equal(values, "true")
    return as_numbers(values)


def as_numbers(texts: pa.Array) -> pa.Array:
    """Return numbers written by value as whole numbers or doubles; as they are where neither holds them exactly.

    >>> as_numbers(pa.array(["1", "250"])).type, as_numbers(pa.array(["1", "0.5"])).type
    (DataType(int64), DataType(double))
    >>> as_numbers(pa.array(["0.5", "18446744073709551617"])).type
    DataType(string)
    """
    if pc.all(pc.match_substring_regex(texts, "^-?[0-9]{1,18}$")).as_py():
        return texts.cast(pa.int64())
    whole = pc.match_substring_regex(texts, "^-?[0-9]+$")
    doubles = texts.cast(pa.float64())
    large = pc.greater_equal(pc.abs(doubles), float(_EXACT))
    inexact = pc.or_(pc.and_(whole, large), pc.invert(pc.is_finite(doubles)))
    return texts if pc.any(inexact).as_py() else doubles
