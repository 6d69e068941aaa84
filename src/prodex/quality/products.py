"""The input of a rule: the products of a part, every column read once, with positions instead of keys.

A rule works on whole columns. `products["brand_code"]` has one value for each product; `products.rows("texts", "text")`
has one row for each text, with the position of its product, from 0, in the column `product`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from types import MappingProxyType
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.advice import PythonCall, advice
from prodex.catalog import Origin, Part
from prodex.errors import SnapshotDamaged
from prodex.facts.attribute_states import AttributeStates
from prodex.facts.market import markets_of
from prodex.facts.name import NAME_PATHS, TEXT_COLUMNS, Names
from prodex.facts.pending import are_pending
from prodex.facts.requested_data import EVERY_TEXT, EVERYTHING, Asked, asked_for
from prodex.quality.part_columns import PartColumns, written_out
from prodex.quality.text_normalization import FoldedTexts
from prodex.selection.paths import wire_paths
from prodex.tables.attributes import is_within
from prodex.tables.columns import Mask, Rows, as_one_chunk, by_value, encoded, filled_values, is_true, places
from prodex.tables.declaration import TABLES
from prodex.tables.fill_state import FillStates
from prodex.tables.filled import Filled
from prodex.tables.frames import to_frame, to_series
from prodex.tables.unreadable import Unreadable

_Made = TypeVar("_Made")
_Given = ParamSpec("_Given")
_UNMADE: Any = object()
_VALUES = pa.schema(
    [("product", pa.int64()), *((name, pa.string()) for name in ("attribute", "position", "value"))]
)
#: Of one chunk: Arrow computes nothing of none.
_NO_VALUES = pa.table([pa.array([], one.type) for one in _VALUES], schema=_VALUES)


class Products:
    """The products of a part; small parts are judged together, and are one to a rule.

    Attributes
    ----------
    parts
        The parts of the catalogue that they are.
    origin
        The query and load; rules hardly need it, since the engine handles data that were not requested.
    now
        The moment to which "older than" refers: local time without zone, as the service's dates.
    assume
        What is taken for granted of products of which it is not known: "food", or a column of `products`.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        origin: Origin,
        now: datetime,
        market: int | None = None,
        assume: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.origin = origin
        self.now = now
        self.assume = assume
        self.parts = tuple(parts)
        self._market = market
        self._tables = PartColumns(parts)
        self._made: dict[Hashable, Any] = {}
        self._paths: set[str] = set()

    def __len__(self) -> int:
        return self._tables.size

    def __getitem__(self, column: str) -> pd.Series:
        """Return a column of `products`, in their order; `market` is the market that counts for each."""
        # Noted, since a user's rule may not declare what it needs.
        self._paths.update(wire_paths(column))
        series = self._once(("column", column), lambda: to_series(column, self.column(column)))
        return series.copy()  # what one rule does to it must not reach another

    def column(self, column: str) -> pa.Array:
        """Return the same as an Arrow array."""
        self._paths.update(wire_paths(column))
        if column == "market":
            return self._once(
                column, lambda: markets_of(self.column("target_market"), self.origin, self._market)
            )
        return self._tables.plain("products", column)

    def assumed(self, column: str) -> pa.Array:
        """Return a column with what is taken for granted in place of missing values."""
        values = self.column(column)
        return pc.fill_null(values, self.assume[column]) if column in self.assume else values

    def rows(self, table: str, *columns: str) -> pd.DataFrame:
        """Return rows of a child table with `product`, the position of their product.

        Rows of an update that waits (`lastRequest`) are left out: they are not the product's own yet.

        Parameters
        ----------
        table
            Its name.
        *columns
            Which columns.
        """
        return to_frame(self.arrow(table, *columns))

    def arrow(self, table: str, *columns: str) -> pa.Table:
        """Return the same as an Arrow table; what was read once is not read again."""
        self._note(table)
        self._tables.arrays(table, columns)  # in one go
        own = self._once(("own", table), lambda: self._own_rows(table))
        positions = self._once(("product", table), lambda: self._positions(table, own))
        return pa.table(
            [positions, *(self._own(table, name, own) for name in columns)], names=["product", *columns]
        )

    def _own(self, table: str, column: str, own: pa.Array | None) -> pa.Array:
        if own is None:
            return self._tables.plain(table, column)
        (held,) = self._tables.arrays(table, (column,))
        return self._once((table, column), lambda: written_out(held.filter(own)))

    def rows_with(
        self, table: str, column: str, is_meant: Callable[[pa.Array], pa.Array], *columns: str
    ) -> pd.DataFrame:
        """Return the same of the rows whose value in one column is meant; if there are none, nothing else is read.

        Parameters
        ----------
        table
            The name of a table with a column `attribute`.
        column
            The column that is looked at.
        is_meant
            Returns for its values whether they are meant.
        *columns
            Which columns to return.
        """
        self._note(table)
        rows = pa.array(np.flatnonzero(is_true(is_meant(self._tables.plain(table, column)))))
        if not len(rows):
            empty = TABLES[table].schema_of(columns).empty_table()
            return to_frame(empty.add_column(0, "product", pa.array([], pa.int64())))
        keys, attribute, *read = (
            one.take(rows) for one in self._tables.arrays(table, ("product_id", "attribute", *columns))
        )
        own = pa.array(~are_pending(attribute))
        found = [self._places(table, keys), *map(written_out, read)]
        return to_frame(pa.table([one.filter(own) for one in found], names=["product", *columns]))

    def values_at(self, paths: Collection[str], *columns: str) -> pa.Table:
        """Return what stands at or below wire paths, as texts, whichever table it is in; nothing that is no data.

        Parameters
        ----------
        paths
            Wire paths.
        columns
            Where values are looked for, as "codes.code"; rows are in this order.

        Returns
        -------
        pyarrow.Table
            `product`, the position of the product, `attribute`, `position` and `value`.

        Examples
        --------
        >>> import prodex
        >>> from prodex.quality.run import moment_of
        >>> catalog = prodex.flatten([{"id": 7, "origin": {"country": {"code": "FR"}}}, {"id": 8}])
        >>> products = Products(catalog.parts, catalog.origin, moment_of(None))
        >>> products.values_at(["origin"], "codes.code", "scalars.value").to_pylist()
        [{'product': 0, 'attribute': 'origin.country', 'position': '', 'value': 'FR'}]
        """
        found = [_NO_VALUES]
        for one in columns:
            table, _, column = one.partition(".")
            rows = self.arrow(table, "attribute", "position", column)
            # Most parts have none: then no value is looked at.
            meant = by_value(
                rows["attribute"], lambda name: any(is_within(name, path) for path in paths), False
            )
            if meant.any():
                rows = rows.filter(pa.array(meant.astype(bool)))
                rows = rows.filter(pa.array(filled_values(as_one_chunk(rows[column]))))
                found.append(rows.rename_columns(_VALUES.names).cast(_VALUES))
        return pa.concat_tables(found)

    def by_folded(self, texts: Any, make: Callable[[str], Any], missing: Any) -> npt.NDArray[Any]:
        """Return what is made of each text, folded as words are looked for in it; each different one is asked once."""
        distinct, code = encoded(texts)
        # The last value is for rows without a text, whose code is -1.
        return np.array([*map(make, self.folded(distinct).to_pylist()), missing])[code]

    def folded(self, texts: pa.Array) -> pa.Array:
        """Return texts as words are looked for in them, missing ones empty; each is folded once, whoever asks.

        See `prodex.packs.folded`.
        """
        return self.folded_texts.take(texts)

    @property
    def folded_texts(self) -> FoldedTexts:
        """The texts that were folded so far."""
        return self.remember("folded", FoldedTexts)

    def are_asked_for(self, attributes: Iterable[str]) -> bool:
        """Say whether all data at some wire paths were requested: what was not may say anything.

        Parameters
        ----------
        attributes
            Wire paths, as a rule declares what it needs.
        """
        return asked_for(self.origin, attributes) is Asked.ALL

    def any(self, positions: Any) -> Mask:
        """Say for each product whether its position is among these."""
        found = np.zeros(len(self), bool)
        found[np.asarray(positions, np.int64)] = True
        return found

    def count(self, positions: Any) -> Rows:
        """Count for each product how often its position is among these."""
        return np.bincount(np.asarray(positions, np.int64), minlength=len(self)).astype(np.int64)

    def filled(self, attribute: str, language: str | None = None) -> Mask:
        """Say for each product whether it has data at a wire path, or anywhere below it.

        No data is absent, null, empty, or text that shows nothing. Neither is what cannot be read (`unreadable`).

        Parameters
        ----------
        attribute
            Wire path, such as "namePublicLong", "assets.pictures" or "lastRequest.composition".
        language
            Short language code: only texts in this language count.
        """
        self._paths.add(attribute)
        return self._filled.products(attribute, language)

    def states(self, attribute: str, language: str | None = None) -> FillStates:
        """Return the state of an attribute of each product, as tables show it: what is missing is absent.

        Parameters
        ----------
        attribute
            Wire path.
        language
            Short language code: only texts in this language count.
        """
        self._paths.add(attribute)
        return AttributeStates(self._filled, self._unreadable, self.origin).of(attribute, language)

    def any_filled(self, attributes: Sequence[str], before: str = "", language: str | None = None) -> Mask:
        """Say for each product whether it has data at one of several wire paths, each with a path before it."""
        each = [self.filled(f"{before}{name}", language) for name in attributes]
        return np.asarray(np.logical_or.reduce(each))

    def unreadable(self, attributes: Iterable[str], language: str | None = None) -> Mask:
        """Say for each product whether it has something at these wire paths that cannot be read.

        It is neither data nor missing: a time such as "yesterday", or "about 500" beside a unit.

        Parameters
        ----------
        attributes
            Wire paths.
        language
            Short language code: what says that it is in another language does not count.
        """
        return self._unreadable.products(attributes, language)

    def remember(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """Return what was made under this key, and make it the first time: for work that several rules share."""
        made, paths = self._once(("remembered", key), lambda: self.read_by(make))
        # Read for another rule first, perhaps; it counts as read by each that asks.
        self._paths |= paths
        return made

    def read_by(self, rule: Callable[[], _Made]) -> tuple[_Made, set[str]]:
        """Return what a rule returns, and the wire paths that it looked at."""
        before, self._paths = self._paths, set()
        try:
            return rule(), self._paths
        finally:
            self._paths = before | self._paths

    @property
    def name(self) -> pa.Array:
        """What people call each product; see `prodex.facts.name`."""
        query = self.origin.query
        is_market_asked = query is not None and query.target_market is not None
        self._paths.update(NAME_PATHS if is_market_asked else (*NAME_PATHS, *wire_paths("market")))
        return self._once("name", self._named)

    def forget(self) -> None:
        """Give the memory back of what was read and made, once nobody asks any more."""
        # What was made often refers to the products it is of, and Python would find such a circle only much later: the
        # columns of hundreds of parts would wait in memory for that.
        self._tables.forget()
        self._made.clear()

    def _named(self) -> pa.Array:
        texts = self._tables.encoded("texts", TEXT_COLUMNS)
        positions = self._positions("texts", None).to_numpy()
        markets = markets_of(self._tables.plain("products", "target_market"), self.origin)
        return Names.of(texts, positions, markets).best()

    def _note(self, table: str) -> None:
        self._paths.update(TABLES[table].anchors or ([EVERY_TEXT] if table == "texts" else [EVERYTHING]))

    def _once(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        # One look: to hash a scope takes longer than many an answer by it.
        made: _Made = self._made.get(key, _UNMADE)
        if made is _UNMADE:
            made = self._made[key] = make()
        return made

    @property
    def _filled(self) -> Filled:
        def positions(table: str) -> Rows:
            return np.asarray(self._positions(table, None).to_numpy())

        return self._once("filled", lambda: Filled(len(self), self._tables.arrays, positions))

    @property
    def _unreadable(self) -> Unreadable:
        return self._once("unreadable", lambda: Unreadable.of(self._tables))

    def _own_rows(self, table: str) -> pa.Array | None:
        """Say which rows of a child table are the product's own, or None when all are."""
        if "attribute" not in TABLES[table].schema.names:
            return None
        (attribute,) = self._tables.arrays(table, ("attribute",))
        # Most parts have no rows of updates: then nothing is filtered and copied.
        pending = are_pending(attribute)
        return pa.array(~pending) if pending.any() else None

    def _positions(self, table: str, own: pa.Array | None) -> pa.Array:
        every = self._once(("position", table), lambda: self._every_position(table))
        return every if own is None else every.filter(own)

    def _every_position(self, table: str) -> pa.Array:
        (keys,) = self._tables.arrays(table, ("product_id",))
        return pa.array(np.arange(len(self))) if table == "products" else self._places(table, keys)

    def _places(self, table: str, keys: pa.Array) -> pa.Array:
        """Return the positions of the products with these keys."""
        # Positions instead of keys: comparing numbers is far cheaper than comparing texts.
        found = places(keys, self._tables.plain("products", "product_id"))
        if lost := np.count_nonzero(found < 0):
            raise SnapshotDamaged(
                advice(
                    "{rows} rows of {table} are of products that the catalogue does not have. Run {verify} to see what "
                    "is damaged, and open an earlier snapshot or load again.",
                    rows=f"{lost:,}",
                    table=table,
                    verify=PythonCall("verify()"),
                )
            )
        return pa.array(found)


def once_per_part(
    make: Callable[Concatenate[Products, _Given], _Made],
) -> Callable[Concatenate[Products, _Given], _Made]:
    """Let a function make something of the products of a part once, however many rules ask for it.

    What else it is given can be hashed: for another value it makes another thing.

    Examples
    --------
    >>> @once_per_part
    ... def is_long(products, characters=40):
    ...     return products["name"].str.len() > characters
    """
    signature = inspect.signature(make)

    @wraps(make)
    def made(products: Products, /, *args: _Given.args, **named: _Given.kwargs) -> _Made:
        given = signature.bind(products, *args, **named)
        # With or without its defaults, it is the same call.
        given.apply_defaults()
        _, *others = given.arguments.values()
        # 1 and True are equal, and need not be the same question.
        key = (make, *others, *map(type, others))
        return products.remember(key, lambda: make(products, *args, **named))

    return made


@dataclass(frozen=True)
class ChildRows:
    """The rows of a child table as rules compute with them: whole columns, each read and made once.

    Attributes
    ----------
    products
        Whose they are.
    product
        For each row the position of its product.
    table
        Name of the table.
    """

    products: Products
    product: Rows
    table: ClassVar[str]

    @classmethod
    def of(cls, products: Products) -> Self:
        """Return the rows of a part, made once however many rules ask."""
        return products.remember(("rows", cls.table), lambda: cls._made(products))

    @classmethod
    def _made(cls, products: Products) -> Self:
        return cls(products, as_one_chunk(products.arrow(cls.table)["product"]).to_numpy())

    def __getitem__(self, column: str) -> pa.Array:
        """Return a column of the table."""
        return as_one_chunk(self.products.arrow(self.table, column)[column])

    def any(self, rows: Any) -> Mask:
        """Say of which products one of these rows is, given by place or as booleans."""
        return self.products.any(self.product[rows])

    def in_order(self, chosen: Mask) -> Rows:
        """Return the places of chosen rows, product by product, as findings are listed."""
        places = np.flatnonzero(chosen)
        return places[np.argsort(self.product[places], kind="stable")]
