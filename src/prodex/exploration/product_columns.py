"""The products of a catalogue as columns: each is read once, in the order of the catalogue.

A catalogue may have a million products. So text that repeats is kept as codes with one list of distinct values, and
what hardly any product shares with another, such as its name, is read for the products of a page (`ProductRows`).

A weight is given in kilograms by one supplier and in grams by the next, and a net content in grams and in pieces. So
weights, volumes and lengths each become one column in one unit, and every other unit has a column of its own.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.advice import PythonCall, advice
from prodex.catalog import Catalog, Part
from prodex.catalog.cells import NOT_ITSELF
from prodex.catalog.counted_units import counted_units
from prodex.errors import QueryError
from prodex.executors import side_by_side
from prodex.facts.groups import Groups, grouped
from prodex.facts.market import markets_of
from prodex.facts.name import CODE_OF, NAME_PATHS, Names, shown_labels, text_languages
from prodex.facts.owner import OWNER_COLUMNS, owner_codes, owners_shown
from prodex.facts.pending import own
from prodex.languages.labels import attribute_label
from prodex.quality import Audit
from prodex.quality.completeness import (
    Completeness,
    channel_column,
    channel_column_names,
    is_of_channel,
)
from prodex.quality.states import State
from prodex.quality.units import FACTORS
from prodex.selection.units import CountedUnits
from prodex.tables.attributes import is_within
from prodex.tables.columns import (
    Mask,
    as_one_chunk,
    by_combination,
    combinations,
    encoded,
    filled_values,
    is_true,
    numbers,
    places,
)
from prodex.tables.declaration import TABLES

Rows: TypeAlias = npt.NDArray[np.int64]
_Made = TypeVar("_Made")

_OF_PRODUCTS = TABLES["products"].schema
_OF_AUDIT = ("grade", "score")
#: Numbers with units of so many products are read in the time of a click.
_AT_ONCE = 20_000
#: Text that no two products share: a list of its distinct values would be as long as the column.
DISTINCT = frozenset({"product_id", "gtin", "uuid"})
_CODED = pa.dictionary(pa.int32(), pa.string())


class ProductColumns:
    """The products of a catalogue. A product is identified by its place in the catalogue, from 0.

    Parameters
    ----------
    catalog
        The catalogue.
    audit
        The audit of its quality; it may cover more products, or fewer.

    Examples
    --------
    >>> import prodex
    >>> products = ProductColumns(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}]))
    >>> products.shown("brand").to_pylist()
    ['ACME', None]
    """

    def __init__(self, catalog: Catalog, audit: Audit | None = None) -> None:
        self.catalog = catalog
        self.audit = audit
        self.sizes: tuple[int, ...] = tuple(part.size for part in catalog.parts)
        self._columns: dict[str, pa.Array] = {}
        self._names: dict[str | None, pa.Array] = {}
        # A search in the background reads columns while the page reads others; a column may need others first.
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return sum(self.sizes)

    @property
    def ids(self) -> pa.Array:
        """The ids of the products."""
        return self.column("product_id")

    def column(self, name: str) -> pa.Array:
        """Return a column: of `products`, a grade or score of the audit, or numbers with a unit (`quantity_columns`).

        Text that repeats is dictionary-encoded.
        """
        self.read(name)
        return self._columns[name]

    def read(self, *names: str) -> None:
        """Read several columns at once: the file of a part is opened once for all of them."""
        with self._lock:
            missing = [name for name in dict.fromkeys(names) if name not in self._columns]
            for name in missing:
                if quantity := quantity_of(name):
                    self._columns[name] = self._quantities(*quantity)
            missing = [name for name in missing if name not in self._columns]
            stored = [name for name in missing if name not in _OF_AUDIT and not is_of_channel(name)]
            channels = [name for name in missing if is_of_channel(name)]
            if stored:
                pieces = list(self.each_part(lambda part, _: part.encoded("products", stored)))
                self._columns |= {name: _joined_column(pieces, name) for name in stored}
            if len(stored) + len(channels) < len(missing):
                self._columns |= self._grades_and_scores()
            self._columns |= {name: self._of_channel(name) for name in channels}

    def is_read(self, name: str) -> bool:
        """Return whether a column is in memory."""
        return name in self._columns

    def has_at_once(self, name: str) -> bool:
        """Return whether a column is there in the time of a click."""
        return quantity_of(name) is None or self.is_read(name) or len(self) <= _AT_ONCE

    def shown(self, name: str) -> pa.Array:
        """Return a column as it is shown: a code if it has no label, an owner by id if it has no name.

        Raises
        ------
        QueryError
            When there is no such column.
        """
        if name == "name":
            return self.names(None)
        make, needed = shown_by(name)
        self.read(*needed)
        if len(needed) == 1:
            return self.column(name)
        return by_combination(make, *map(self.column, needed))

    @cached_property
    def units(self) -> CountedUnits:
        """Which products count where something is missing."""
        return counted_units(self.catalog)

    @property
    def owner(self) -> pa.Array:
        """What identifies owners; see `prodex.facts.owner`."""
        self.read(*OWNER_COLUMNS)
        return by_combination(
            lambda *values: owner_codes(_column_lookup(OWNER_COLUMNS, values)),
            *map(self.column, OWNER_COLUMNS),
        )

    @property
    def market(self) -> pa.Array:
        """The market of each product, as in an audit: its own, else that of the query, else that of the profile."""
        known = by_combination(partial(markets_of, origin=self.catalog.origin), self.column("target_market"))
        if self.audit is None:
            return known
        assumed = self._audited(self._of_audit("market"))
        return by_combination(pc.coalesce, known, assumed)

    def groups(self, by: str) -> Groups:
        """Return the products by group, as everywhere; see `prodex.facts.groups`."""
        facts = {"market": lambda: self.market, "owner_id": lambda: self.owner}

        def column(name: str) -> pa.Array:
            return facts[name]() if name in facts else self.column(name)

        return grouped(by, len(self), column, self.own)

    def names(self, language: str | None) -> pa.Array:
        """Return the name of each product in a language; with None, in the best language that it has.

        All texts are read for it; a page has its names from `ProductRows`.
        """
        with self._lock:
            if language not in self._names:
                best = self.each_part(lambda part, _: Names.read(part, self.catalog.origin).best(language))
                self._names[language] = pa.concat_arrays([pa.array([], pa.string()), *best])
            return self._names[language]

    def languages(self) -> list[str]:
        """Return the languages in which products have names, most frequent first; also where all of them are blank."""

        def spoken(part: Part, _: int) -> pa.Array:
            texts = part.encoded("texts", ["attribute", "language", "language_code"])
            are_names = pa.array(places(as_one_chunk(texts["attribute"]), pa.array(NAME_PATHS)) >= 0)
            of_names = texts.filter(are_names)
            return text_languages(
                as_one_chunk(of_names["language"]), as_one_chunk(of_names["language_code"])
            ).drop_null()

        counted = pc.value_counts(pa.chunked_array(self.each_part(spoken), pa.string())).to_pylist()
        return [one["values"] for one in sorted(counted, key=lambda one: (-one["counts"], one["values"]))]

    def children(self, table: str, *columns: str) -> Iterator[tuple[Rows, pa.Table]]:
        """Yield, part by part, rows of a child table with the place of the product of each."""

        def read(part: Part, before: int) -> tuple[Rows, pa.Table]:
            ids = as_one_chunk(part.read("products", ["product_id"])["product_id"])
            rows = part.encoded(table, ["product_id", *columns])
            # Children name their product by id; everything here works with places, which numpy can index by.
            return places(as_one_chunk(rows["product_id"]), ids) + before, rows.drop_columns("product_id")

        yield from self.each_part(read)

    def each_part(self, work: Callable[[Part, int], _Made]) -> Iterator[_Made]:
        """Work on all parts in threads, and yield the results in order.

        Parameters
        ----------
        work
            Gets a part and the number of products in the parts before it.
        """
        before = accumulate(self.sizes[:-1], initial=0)
        parts = [(part, first) for part, first in zip(self.catalog.parts, before, strict=False) if part.size]
        # pyarrow reads and decodes without the lock of the interpreter, so threads do work side by side.
        return side_by_side(lambda one: work(*one), parts)

    def own(self, table: str, *columns: str, filled: str = "") -> pa.Table:
        """Return rows of a child table, with the place of their product as `product`, without pending updates.

        Rows of a product that are equal in these columns are returned once: a product has many texts and few languages.

        Parameters
        ----------
        table, columns
            The child table, and which of its columns.
        filled
            Only rows that have data in this column.
        """
        empty = TABLES[table].schema.empty_table().select(columns)
        pieces = [pa.table([pa.array([], pa.int64()), *empty.columns], names=["product", *columns])]
        for piece in self.each_part(partial(self._own, table, columns, filled)):
            pieces.append(piece.cast(pieces[0].schema))
        return pa.concat_tables(pieces)

    def _own(self, table: str, columns: Sequence[str], filled: str, part: Part, before: int) -> pa.Table:
        ids = as_one_chunk(part.read("products", ["product_id"])["product_id"])
        needed = ["product_id", "attribute", *columns, *filter(None, [filled])]
        rows = own(part.encoded(table, list(dict.fromkeys(needed))))
        if filled:
            there = filled_values(as_one_chunk(rows[filled]))
            rows = rows.select(["product_id", *columns]).filter(pa.array(there))
        place = places(as_one_chunk(rows["product_id"]), ids)
        _, values = combinations(pa.array(place), *(as_one_chunk(rows[name]) for name in columns))
        return pa.table([pc.add(values[0], before), *values[1:]], names=["product", *columns])

    def having(self, ids: tuple[str, ...]) -> Mask:
        """Return which products have one of some ids."""
        return is_true(pc.is_in(self.ids, value_set=pa.array(ids, pa.string())))

    def failing(self, checks: tuple[str, ...]) -> Mask:
        """Return which products fail at least one of some checks.

        Raises
        ------
        QueryError
            When there is no audit, or it has no such check.
        """
        if self.audit is None:
            raise QueryError(
                advice(
                    "The conditions ask for products that fail a check, and there is no audit.{give}",
                    give=PythonCall(" Give one: audit=..."),
                )
            )
        known = [check.id for check in self.audit.checks]
        # The conditions may be about an audit that has been replaced by another since.
        if unknown := [check for check in checks if check not in known]:
            raise QueryError(
                f"The audit has no check {unknown[0]!r}. audit.by_check lists those that it has."
            )
        columns = [known.index(check) for check in checks]
        # Part by part: the states of a million products under all checks take more memory than all else here.
        fails = [(part.states[:, columns] == State.FAIL).any(axis=1) for part in self.audit.parts]
        return is_true(self._audited(pa.array(np.concatenate([np.zeros(0, bool), *fails]))))

    def _quantities(self, attribute: str, unit: str) -> pa.Array:
        each = self.each_part(lambda part, _: quantity_values(part, attribute, unit))
        return pa.concat_arrays([pa.array([], pa.float64()), *each])

    def _grades_and_scores(self) -> Mapping[str, pa.Array]:
        if self.audit is None:
            raise QueryError(
                advice(
                    "Grades and scores come from an audit, and there is no audit.{give}",
                    give=PythonCall(" Give one: audit=..."),
                )
            )
        graded = pa.array(self.audit.grades, pa.string(), from_pandas=True).dictionary_encode()
        score = pa.array(self.audit.tally["score"], pa.float64(), from_pandas=True)
        return {"grade": self._audited(graded), "score": self._audited(score)}

    def channel_columns(self) -> tuple[str, ...]:
        """The columns that the requirements of the audit add, as `Audit.products` has them; none without any."""
        return () if self.audit is None else channel_column_names(self.audit)

    def by_channel(self) -> Completeness | None:
        """The completeness of the audit's products; None where it was made without requirements."""
        return None if self.audit is None or self.audit.families is None else Completeness.of(self.audit)

    def in_order(self, values: npt.NDArray[Any], otherwise: Any) -> npt.NDArray[Any]:
        """Return values of the products of the audit for those of the catalogue; `otherwise` where it has none."""
        judged = places(self.ids, as_one_chunk(self._of_audit("product_id")))
        return np.append(values, np.array([otherwise], values.dtype))[judged]

    def _of_channel(self, name: str) -> pa.Array:
        if self.audit is None or name not in self.channel_columns():
            raise QueryError(
                f"The column {name!r} comes from an audit by requirements that have this channel, and there is none."
            )
        return self._audited(channel_column(self.audit, name))

    def _of_audit(self, name: str) -> pa.ChunkedArray:
        assert self.audit is not None  # noqa: S101 - callers have checked it
        return pa.chunked_array([as_one_chunk(part.column(name)) for part in self.audit.parts], pa.string())

    def _audited(self, values: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Return values of the audit in the order of the catalogue; null for products that it does not cover."""
        judged = as_one_chunk(self._of_audit("product_id"))
        values = as_one_chunk(values)
        # An audit of the catalogue itself has its products in the same order, and nothing has to be looked up.
        return values if judged.equals(self.ids) else values.take(pc.index_in(self.ids, judged))


def shown_by(name: str) -> tuple[Callable[..., pa.Array], tuple[str, ...]]:
    """Return what makes a column as it is shown, and the columns that it is made of.

    Raises
    ------
    QueryError
        When there is no such column.
    """
    if name not in _OF_PRODUCTS.names and name not in _OF_AUDIT and not is_of_channel(name):
        raise QueryError(
            f"There is no column {name!r}. Give 'name', a column of products, 'grade' or 'score'."
        )
    if name == "owner":
        return lambda *values: owners_shown(_column_lookup(OWNER_COLUMNS, values)), OWNER_COLUMNS
    if name in CODE_OF:
        return shown_labels, (name, CODE_OF[name])
    return lambda values: values, (name,)


def _column_lookup(names: Sequence[str], values: Sequence[pa.Array]) -> Callable[[str], pa.Array]:
    return dict(zip(names, values, strict=True)).__getitem__


def _joined_column(pieces: Sequence[pa.Table], name: str) -> pa.Array:
    """Return a column of all parts; the lists of distinct values of the parts become one."""
    kind = _OF_PRODUCTS.field(name).type
    chunks = [chunk for piece in pieces for chunk in piece[name].chunks]
    if not pa.types.is_string(kind):
        return as_one_chunk(pa.chunked_array(chunks, kind))
    if name in DISTINCT:
        return as_one_chunk(pa.chunked_array([chunk.cast(kind) for chunk in chunks], kind))
    encoded = [chunk.dictionary_encode().cast(_CODED) for chunk in chunks]
    return as_one_chunk(pa.chunked_array(encoded, _CODED).unify_dictionaries())


_NAME = re.compile(r"(?P<attribute>.+) \[(?P<unit>[^\[\]]*)\]", re.DOTALL)
_SYMBOLS = {"GRM": "g", "MMT": "mm", "MLT": "ml", "H87": "pieces", "CEL": "°C", "P1": "%"}
#: The unit that a unit is converted to, and how much of it one is.
_BASE = {
    unit: (next(base for base, one in factors.items() if one == 1), factor)
    for factors in FACTORS.values()
    for unit, factor in factors.items()
}


def quantity_column(attribute: str, unit: str | None) -> str:
    """Return the name of the column of an attribute that is given in a unit (UN/CEFACT Recommendation 20).

    >>> quantity_column("netWeight", "KGM"), quantity_column("storageTemperature", "CEL"), quantity_column("x", None)
    ('netWeight [GRM]', 'storageTemperature [CEL]', 'x []')
    """
    return f"{attribute} [{_base(unit)[0]}]"


def quantity_of(column: str) -> tuple[str, str] | None:
    """Return the attribute and the unit of such a column; None for any other column.

    >>> quantity_of("netWeight [GRM]"), quantity_of("updated_at")
    (('netWeight', 'GRM'), None)
    """
    found = _NAME.fullmatch(column)
    return None if found is None else (found["attribute"], found["unit"])


def quantity_title(attribute: str, unit: str) -> str:
    """Return such a column as people call it.

    >>> quantity_title("netWeight", "GRM"), quantity_title("netWeight", "")
    ('Net weight in g', 'Net weight without unit')
    """
    label = attribute_label(attribute)
    unit = f"in {_SYMBOLS.get(unit, unit)}" if unit else "without unit"
    return f"{label[:1].upper()}{label[1:]} {unit}"


def quantity_names(catalog: Catalog) -> list[str]:
    """Return the names of all such columns of a catalogue: of the products themselves, not of the units they are in."""
    keys = ["attribute", "unit_code"]
    given = catalog.arrow("quantities", keys).group_by(keys).aggregate([]).to_pylist()
    pairs = ((row["attribute"], row["unit_code"]) for row in given)
    return sorted(
        {quantity_column(*one) for one in pairs if not any(is_within(one[0], path) for path in NOT_ITSELF)}
    )


def quantity_values(part: Part, attribute: str, unit: str) -> pa.Array:
    """Return the number of each product of a part: the first that can be had in the unit, or null.

    Examples
    --------
    >>> import prodex
    >>> weights = ([{"data": 1.5, "expressedIn": {"code": "KGM"}}], [{"data": 7, "expressedIn": {"code": "GRM"}}], [])
    >>> catalog = prodex.flatten([{"id": n, "netWeight": weight} for n, weight in enumerate(weights)])
    >>> quantity_values(catalog.parts[0], "netWeight", "GRM").to_pylist()
    [1500.0, 7.0, None]
    """
    rows = part.encoded("quantities", ["product_id", "attribute", "value", "unit_code"])
    rows = rows.filter(pc.equal(rows["attribute"], attribute))
    distinct, code = encoded(rows["unit_code"])
    bases = [*map(_base, distinct.to_pylist()), _base(None)]
    # The last value is for rows without a unit, whose code is -1.
    factors = np.array([factor if base == unit else np.nan for base, factor in bases])
    found = numbers(rows["value"]) * factors[code]
    ids = as_one_chunk(part.read("products", ["product_id"])["product_id"])
    product = places(as_one_chunk(rows["product_id"]), ids)
    # Reversed, so that the first of several numbers is written last and stays.
    known = np.flatnonzero(np.isfinite(found) & (product >= 0))[::-1]
    of_product = np.full(part.size, np.nan)
    of_product[product[known]] = found[known]
    return pa.array(of_product, mask=np.isnan(of_product))


def _base(unit: str | None) -> tuple[str, float]:
    return _BASE.get(unit or "", (unit or "", 1.0))


class ProductRows:
    """The values of some products.

    Parameters
    ----------
    products
        All products.
    rows
        The places of those that are meant, in any order.

    Attributes
    ----------
    products
        All products.

    Examples
    --------
    >>> import prodex
    >>> products = ProductColumns(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}]))
    >>> ProductRows(products, np.array([1, 0])).shown("brand").to_pylist()
    [None, 'ACME']
    """

    def __init__(self, products: ProductColumns, rows: Rows) -> None:
        self.products: ProductColumns = products
        self._rows = rows
        self._columns: dict[str, pa.Array] = {}

    def read(self, *names: str) -> None:
        """Read several columns at once: the file of a part is opened once for all of them."""
        missing = [name for name in dict.fromkeys(names) if name not in self._columns]
        there = [
            name
            for name in missing
            if self.products.is_read(name) or name in _OF_AUDIT or is_of_channel(name)
        ]
        for name in there:
            self._columns[name] = _without_dictionary(self.products.column(name).take(pa.array(self._rows)))
        if stored := [name for name in missing if name not in there]:
            schema = TABLES["products"].schema_of(stored)
            table = self._from_parts(lambda part, rows: part.encoded("products", stored).take(rows), schema)
            self._columns |= {name: as_one_chunk(table[name]) for name in stored}

    def column(self, name: str) -> pa.Array:
        """Return a column of `products`, or grade and score of the audit."""
        self.read(name)
        return self._columns[name]

    def shown(self, name: str, language: str | None = None) -> pa.Array:
        """Return a column as it is shown; see `ProductColumns.shown`. Names are in a language, or in the best."""
        if name == "name":
            return self.names(language)
        make, needed = shown_by(name)
        self.read(*needed)
        return make(*map(self.column, needed))

    def names(self, language: str | None = None) -> pa.Array:
        """Return the name of each product in a language; with None, in the best language that it has."""
        origin = self.products.catalog.origin

        def best(part: Part, rows: pa.Array) -> pa.Table:
            # In the order of the part, each once; a page that is sorted has another order.
            chosen = np.zeros(part.size, bool)
            chosen[rows.to_numpy()] = True
            place = np.cumsum(chosen) - 1
            names = Names.read(part.take(pa.array(chosen)), origin).best(language)
            return pa.table({"name": names}).take(pa.array(place[rows.to_numpy()]))

        return as_one_chunk(self._from_parts(best, pa.schema({"name": pa.string()}))["name"])

    def _from_parts(self, read: Callable[[Part, pa.Array], pa.Table], schema: pa.Schema) -> pa.Table:
        """Return what is read of each part for its rows, in the order of all rows."""
        ends = np.cumsum(self.products.sizes)
        part = np.searchsorted(ends, self._rows, side="right")
        parts = self.products.catalog.parts
        order = np.argsort(part, kind="stable")

        def of_part(number: int) -> pa.Table:
            mine = self._rows[order][part[order] == number]
            return read(parts[number], pa.array(mine - (ends[number] - parts[number].size))).cast(schema)

        pieces = side_by_side(of_part, np.unique(part).tolist())
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.concat_tables([schema.empty_table(), *pieces]).take(pa.array(back))


def _without_dictionary(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
