"""The data of a catalogue: its parts, where they come from, and how its tables are read.

What answers questions about a catalogue (`where`, `wide`, `sql` ...) works on this class and returns parts or frames;
`prodex.catalog.catalog.Catalog` stands on top and offers the answers as methods. So no module imports itself by way of
the class that it works for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.arguments import names_given
from prodex.catalog.origin import Chosen, Origin
from prodex.catalog.part import Part, union, with_absent
from prodex.catalog.table_properties import TableProperties
from prodex.errors import QueryError
from prodex.executors import side_by_side
from prodex.files import parquet
from prodex.messages import hint
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import distinct
from prodex.tables.frames import as_framed, to_frame

#: The same in every table, so that no prefix tells them apart where two tables are joined.
_KEYS = ("product_id", "gtin")

#: Tables whose parts cannot simply be put one behind the other: entries repeat, or columns differ.
_MERGED = ("descriptors", "presence")


@dataclass(frozen=True, eq=False, repr=False)
class CatalogData(TableProperties):
    """The tables of some products, in parts, with their origin; see `prodex.Catalog` for the attributes."""

    parts: tuple[Part, ...]
    origin: Origin
    folder: Path | None = None
    published: str | None = None
    as_received: CatalogData | None = None
    chosen: Chosen | None = None

    def __len__(self) -> int:
        return sum(part.size for part in self.parts)

    @property
    def complete(self) -> bool:
        """Whether everything came that the service announced."""
        return self.origin.complete

    @property
    def tables(self) -> pd.DataFrame:
        """The tables with what a row is, their rows and columns; the index is the name of the table."""
        held = [TABLES[name] for name in self._held]
        rows = [(t.name, t.row, self.row_count(t.name), len(self._columns(t.name))) for t in held]
        return pd.DataFrame(rows, columns=["table", "one row per", "rows", "columns"]).set_index("table")

    def row_count(self, table: str) -> int:
        """Count the rows of a table.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> catalog.row_count("products"), catalog.row_count("texts")
        (1, 0)
        """
        if not TABLES[known_table(table)].per_product:
            return int(self.arrow(table).num_rows)
        return sum(part.rows(table) for part in self.parts)

    def arrow(
        self, table: str, columns: Sequence[str] | None = None, filter: pc.Expression | None = None
    ) -> pa.Table:
        """Return a table, or some columns and rows of it, as an Arrow table.

        Parameters
        ----------
        table
            Its name.
        columns
            Which columns; all by default.
        filter
            Which rows, as an expression such as `pyarrow.compute.field("language") == "fr"`.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> catalog.arrow("products", ["gtin", "brand"]).to_pylist()
        [{'gtin': '03036811359935', 'brand': 'Acme'}]
        """
        wanted = self._checked(known_table(table), columns)
        if not TABLES[table].per_product:
            # Every part has the entries that it uses, so that the same entry may come from several parts.
            parts = self._unlike(table)
            rows = union((part.read(table) for part in parts), table)
            rows = distinct(rows.combine_chunks()) if len(parts) > 1 else rows
            return (rows if filter is None else rows.filter(filter)).select(wanted)
        read = union(side_by_side(lambda part: part.read(table, wanted, filter), self.parts), table)
        return read if columns is None else read.select(wanted)

    def table(
        self, name: str, columns: Sequence[str] | None = None, with_products: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Return a table, or some of its columns, with columns of its product beside it.

        A column of `products` whose name the table also has gets the prefix `product_`: `product_packaging_code` beside
        `packaging_code` of `hierarchies`. `product_id` and `gtin` are the same in every table.

        To merge frames instead, use both keys: `catalog.texts.merge(catalog.products, on=["product_id", "gtin"])`.
        Besides these, only pictures, files and tags (`created_at`, `updated_at`) and hierarchies (packaging and flags
        of each unit) share names with `products`; `presence` has `product_id` alone.

        Parameters
        ----------
        name
            Of the table.
        columns
            Which of its columns, in this order; all by default.
        with_products
            Columns of `products` to add.

        Raises
        ------
        QueryError
            When there is no such table or column; the message names the nearest.

        Examples
        --------
        >>> import prodex
        >>> name = {"expressedIn": {"code": "fra-FR"}, "data": "Riz"}
        >>> catalog = prodex.flatten([{"id": 7, "brand": {"label": "Acme"}, "namePublicLong": [name]}])
        >>> catalog.table("texts", ["attribute", "text"], with_products=["brand"]).values.tolist()
        [['namePublicLong', 'Riz', 'Acme']]
        """
        return joined(self, name, self._columns(known_table(name)), columns, with_products)

    def batches(
        self, table: str, columns: Sequence[str] | None = None, filter: pc.Expression | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield a table piece by piece, one part in memory at a time; every batch has the same columns.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> [batch.num_rows for batch in catalog.batches("products", ["gtin"])]
        [1]
        """
        wanted = self._checked(known_table(table), columns)
        if not TABLES[table].per_product:
            yield from self.arrow(table, columns, filter).to_batches()
            return
        for part in self.parts:
            piece = part.read(table, wanted, filter)
            if table == "presence":  # a part lacks the columns of attributes that only other parts have
                piece = with_absent(piece, wanted)
            yield from piece.to_batches()

    def files(self, table: str) -> list[Path]:
        """Return the Parquet files of a table, for DuckDB, Dask, Spark or anything else.

        Files of `presence` have a column for each attribute under its own name (`brand`, not `brand_state`).

        Raises
        ------
        QueryError
            When the catalogue is in memory or filtered: then no file holds just this.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> [path.name for path in catalog.save("shop").files("products")]
        ['part-00000.parquet']
        """
        if any(part.chosen is not None or known_table(table) not in part.files for part in self.parts):
            raise QueryError(
                "Only a whole snapshot has files. Save this catalogue first: catalog.save(name)."
            )
        return [part.files[table] for part in self.parts]

    def _frame(self, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a table as a frame; text that repeats is read as such, and copied once."""
        if not TABLES[known_table(table)].per_product or table == "presence" or len(self.parts) < 2:
            return to_frame(self.arrow(table, columns))
        wanted = self._checked(table, columns)
        read = side_by_side(lambda part: as_framed(part.encoded(table, wanted)).select(wanted), self.parts)
        return to_frame(pa.concat_tables(read))

    @property
    def _held(self) -> list[str]:
        """The tables that are here: all, unless it was read from an export of some."""
        return [name for name in TABLES if all(part.holds(name) for part in self.parts)]

    def _unlike(self, table: str) -> list[Part]:
        """Return the parts without those whose file of a table is the same, byte for byte, as that of another."""
        digests = [part.facts.get(table, {}).get("sha256", number) for number, part in enumerate(self.parts)]
        return list(dict(zip(reversed(digests), reversed(self.parts), strict=True)).values())[::-1]

    def _columns(self, table: str) -> list[str]:
        # A catalogue without parts still has the declared columns.
        return list(dict.fromkeys(name for part in self.parts for name in part.columns(table))) or list(
            TABLES[table].schema.names
        )

    def _schema(self, table: str) -> pa.Schema:
        return TABLES[table].schema_of(self._columns(table))

    def _source(self, table: str) -> Any:
        """Return a table for SQL: files that are read piece by piece if they hold exactly its rows, else in memory."""
        whole = all(part.chosen is None and table in part.files for part in self.parts)
        if not whole or table in _MERGED:
            return self.arrow(table)
        files = {part.files[table]: part.facts.get(table) for part in self.parts}
        return parquet.dataset(files, self._schema(table))

    def _checked(self, table: str, columns: Sequence[str] | None) -> list[str]:
        """Return the columns asked for, all by default; refuse one that does not exist."""
        for part in self.parts:
            part.require(table, columns or ())
        known = self._columns(table)
        for name in columns or ():
            if name not in known:
                columns_there = f"It has {', '.join(known[:12])} ..."
                raise QueryError(f"{table} has no column {name!r}{hint(name, known, columns_there)}")
        return known if columns is None else list(columns)


def known_table(name: Any) -> str:
    """Return the name of a table, or refuse it with the nearest."""
    if not isinstance(name, str) or name not in TABLES:
        tables = f"Give one of {', '.join(TABLES)}."
        raise QueryError(f"There is no table {name!r:.60}{hint(str(name), TABLES, tables)}")
    return name


def joined(
    catalog: CatalogData,
    name: str,
    own: Collection[str],
    columns: str | Iterable[str] | None,
    with_products: str | Iterable[str],
) -> pd.DataFrame:
    """Return a table, whose columns are `own`, with columns of `products` beside it; see `Catalog.table`."""
    beside = names_given(with_products, "table", "with_products")
    chosen = list(own) if columns is None else names_given(columns, "table", "columns")
    if name == "products" or not beside:
        return catalog._frame(name, list(dict.fromkeys([*chosen, *beside])))
    if not TABLES[name].per_product:
        raise QueryError(
            f"{name} belongs to no product, so it has no columns of one. Leave out with_products."
        )
    rows = catalog.arrow(name, list(dict.fromkeys([*chosen, "product_id"])))
    products = catalog.arrow("products", list(dict.fromkeys(["product_id", *beside])))
    # By id, since child tables are sorted by attribute and `products` is not.
    places = pc.index_in(rows["product_id"].combine_chunks(), products["product_id"].combine_chunks())
    found = {column: rows[column] for column in chosen}
    for column in beside:
        label = f"product_{column}" if column in own and column not in _KEYS else column
        found[label] = products[column].take(places)
    return to_frame(pa.table(found))
