"""The catalogue: product data as tables, whether just downloaded, opened from disk, filtered or made in memory.

All of these are a `Catalog`, so whatever comes after composes. Questions to a catalogue are methods; what makes
something of one is a function elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any, NoReturn, Self

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex import formats, parquet
from prodex.catalog.display import html_of, text_of
from prodex.catalog.origin import Origin
from prodex.catalog.part import Part, union
from prodex.catalog.selection import equal_to
from prodex.catalog.sql import answer
from prodex.catalog.tables import Tables
from prodex.catalog.views import drift, wide
from prodex.errors import QueryError
from prodex.nearest import hint
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import distinct
from prodex.tables.languages import short_of


@dataclass(frozen=True, eq=False, repr=False)
class Catalog(Tables):
    """Product data as tables that belong together.

    `catalog.products`, `catalog.texts` and so on are pandas frames, read when asked for; `prodex tables` lists them.

    Attributes
    ----------
    parts
        The tables, cut into parts of about 10,000 products each.
    origin
        What was asked for, what came, and whether that is all of it.
    folder
        The snapshot's folder, or None for a catalogue in memory.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8, "brand": {"code": "ZEST"}}])
    >>> len(catalog), catalog.where(brand_code="ZEST").products["product_id"].tolist()
    (2, ['8'])
    """

    parts: tuple[Part, ...]
    origin: Origin
    folder: Path | None = None

    def __len__(self) -> int:
        return sum(part.size for part in self.parts)

    def __getattr__(self, name: str) -> NoReturn:
        tables = f"Its tables: {', '.join(TABLES)}."
        raise AttributeError(f"A catalogue has no {name!r}{hint(name, [*TABLES, *_METHODS], tables)}")

    @property
    def complete(self) -> bool:
        """Whether everything came that the service announced."""
        return self.origin.complete

    @property
    def tables(self) -> pd.DataFrame:
        """The tables with what a row is, their rows and columns."""
        rows = [(t.name, t.row, self.rows(t.name), len(self._columns(t.name))) for t in TABLES.values()]
        return pd.DataFrame(rows, columns=["table", "one row per", "rows", "columns"]).set_index("table")

    def rows(self, table: str) -> int:
        """Count the rows of a table.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> catalog.rows("products"), catalog.rows("texts")
        (1, 0)
        """
        if not TABLES[_known(table)].per_product:
            return int(self.arrow(table).num_rows)
        return sum(part.rows(table) for part in self.parts)

    def arrow(
        self,
        table: str,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,
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
        wanted = self._checked(_known(table), columns)
        if not TABLES[table].per_product:
            lexicon = distinct(union((part.read(table) for part in self.parts), table).combine_chunks())
            return _some(lexicon if len(self.parts) > 1 else self.parts[0].read(table), wanted, filter)
        read = union((part.read(table, wanted, filter) for part in self.parts), table)
        return read if columns is None else read.select(wanted)

    def batches(
        self,
        table: str,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a table piece by piece, one part in memory at a time; every batch has the same columns.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> [batch.num_rows for batch in catalog.batches("products", ["gtin"])]
        [1]
        """
        wanted = self._checked(_known(table), columns)
        if not TABLES[table].per_product:
            yield from self.arrow(table, columns, filter).to_batches()
            return
        for part in self.parts:
            piece = part.read(table, wanted, filter)
            if table == "presence":
                piece = union(
                    [piece, pa.table({name: pa.array([], pa.string()) for name in wanted})], table
                ).select(wanted)
            yield from piece.to_batches()

    def files(self, table: str) -> list[Path]:
        """Return the Parquet files of a table, for DuckDB, Dask, Spark or anything else.

        Raises
        ------
        QueryError
            When the catalogue is in memory or filtered: then no file holds just this.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> [path.name for path in prodex.save(catalog, "shop").files("products")]
        ['part-00000.parquet']
        """
        if any(part.chosen is not None or _known(table) not in part.files for part in self.parts):
            raise QueryError(
                "Only a whole snapshot has files. Save this catalogue first: prodex.save(catalog, name)."
            )
        return [part.files[table] for part in self.parts]

    def where(self, condition: pc.Expression | None = None, /, **equal: Any) -> Self:
        """Return the catalogue of only those products, with their children.

        Parameters
        ----------
        condition
            An expression over the columns of `products`, such as `pyarrow.compute.field("texts_count") > 10`.
        **equal
            Column of `products` = value; a list means any of its values, None means no value.

        Raises
        ------
        QueryError
            When `products` has no such column; the message names the nearest.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "isConsumerUnit": True}, {"id": 8}])
        >>> len(catalog.where(is_consumer_unit=True)), len(catalog.where(is_consumer_unit=None))
        (1, 1)
        """
        if not isinstance(condition, pc.Expression | None):
            raise QueryError(
                f"where() takes column=value, or an expression such as pyarrow.compute.field('texts_count') > 10, "
                f"not {condition!r:.60}."
            )
        conditions = [equal_to(column, value) for column, value in equal.items()]
        if condition is not None:
            conditions.append(condition)
        if not conditions:
            return self
        chosen = reduce(and_, conditions)
        # Parts without any product stay: the lexicons of codes and descriptors are spread over all of them.
        return replace(self, parts=tuple(part.choose(chosen) for part in self.parts))

    def wide(self, language: str | None = None, attributes: Iterable[str] | None = None) -> pd.DataFrame:
        """Return one row per product with its texts, codes, quantities and other values side by side.

        Parameters
        ----------
        language
            Language of the texts ("fr", "fra-FR"); with None each language has a column of its own
            (`namePublicLong.fr`).
        attributes
            Wire paths of the attributes to show, with all below them. By default all that describe the product
            itself: logistical hierarchies, sharing units and updates that wait (`lastRequest`) are left out.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> catalog.wide()[["gtin", "brand_code"]].values.tolist()
        [['03036811359935', 'ACME']]
        """
        paths = (attributes,) if isinstance(attributes, str) else attributes
        short = None if language is None else short_of(language)
        return wide(self.arrow, short, None if paths is None else tuple(paths))

    def drift(self) -> pd.DataFrame:
        """Return the attributes that came in several forms, with how often each and an example.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> prodex.flatten([{"id": 7, "serves": 4}, {"id": 8, "serves": "four"}]).drift()["attribute"].unique().tolist()
        ['serves']
        """
        return drift(self.arrow)

    def problems(self) -> pd.DataFrame:
        """Return what is not here and why: one row per product, page or stretch of the load that is missing.

        Examples
        --------
        >>> import prodex
        >>> prodex.flatten([{"id": 7}]).problems().empty
        True
        """
        return pd.DataFrame(self.origin.ledger.problems(), columns=["what", "why"], dtype="str")

    def dictionary(self) -> pd.DataFrame:
        """Return the data dictionary: each column of each table with type, meaning and how many rows fill it.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> dictionary = catalog.dictionary().set_index(["table", "column"])
        >>> dictionary.loc[("products", "brand"), ["type", "meaning"]].tolist()
        ['string', 'brand: label in the language of the labels']
        """
        rows = []
        for name, table in TABLES.items():
            data = self.arrow(name)
            for field in table.schema:
                filled = data.num_rows - data.column(field.name).null_count
                meaning = (field.metadata or {}).get(b"meaning", b"").decode()
                rows.append((name, field.name, str(field.type), meaning, filled, data.num_rows))
        return pd.DataFrame(rows, columns=["table", "column", "type", "meaning", "filled", "rows"])

    def sql(self, query: str, *, allow_external: bool = False) -> pd.DataFrame:
        """Answer a question in SQL over the tables, with DuckDB (extra `sql`), which reads no more than it needs.

        Parameters
        ----------
        query
            In DuckDB's SQL; it names tables as `prodex tables` does.
        allow_external
            Let the query read and write files, open addresses and load extensions. By default it reaches this
            catalogue's tables and nothing else, so that a query from somebody else can do no harm.

        Raises
        ------
        QueryError
            When the query does not work, or reaches for what it may not.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}])
        >>> int(catalog.sql("select count(*) as n from products where brand_code = 'ACME'")["n"][0])
        1
        """
        tables = {name: self._source(name) for name in TABLES}
        return answer(query, tables, self.parts, allow_external=allow_external)

    def export(self, folder: str | Path, format: str = "parquet", **options: Any) -> list[Path]:
        """Write every table to a folder: one file for each, and what its columns mean beside it.

        Parameters
        ----------
        folder
            Where to; made if it does not exist.
        format
            "parquet", "csv" or "xlsx". A workbook cannot hold texts of more than 32,767 characters: it has their
            beginnings, and `datapackage.json` counts them as `altered_texts`.
        **options
            Of the format: `escape_formulas=True` for CSV that goes to a spreadsheet.

        Returns
        -------
        list of Path
            The files written.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> import tempfile
        >>> written = catalog.export(tempfile.mkdtemp(), "csv")
        >>> "products.csv" in {path.name for path in written}
        True
        """
        tables = {
            name: (self.batches(name), self._schema(name)) for name in TABLES if TABLES[name].per_product
        }
        for name in TABLES:
            if not TABLES[name].per_product:
                lexicon = self.arrow(name)
                tables[name] = (iter(lexicon.to_batches()), lexicon.schema)
        return formats.export(tables, Path(folder), format, self.origin.to_json(), **options)

    def equals(self, other: Catalog) -> bool:
        """Whether both hold the same rows in the same order and come from the same origin.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> catalog.equals(catalog.where(brand_code="ACME")), catalog.equals(catalog.where(brand_code="ZEST"))
        (True, False)
        """
        same = (self.arrow(name).equals(other.arrow(name)) for name in TABLES)
        return self.origin == other.origin and all(same)

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def _columns(self, table: str) -> list[str]:
        return list(dict.fromkeys(name for part in self.parts for name in part.columns(table))) or list(
            TABLES[table].schema.names
        )

    def _schema(self, table: str) -> pa.Schema:
        declared = TABLES[table].schema
        known = {field.name: field for field in declared}
        return pa.schema([known.get(name, pa.field(name, pa.string())) for name in self._columns(table)])

    def _source(self, table: str) -> Any:
        """Return a table for SQL: from files piece by piece where they hold just this, else from memory."""
        whole = all(part.chosen is None and table in part.files for part in self.parts)
        if not whole or table in _MERGED:
            return self.arrow(table)
        files = {part.files[table]: part.facts.get(table) for part in self.parts}
        return parquet.dataset(files, TABLES[table].schema)

    def _checked(self, table: str, columns: Sequence[str] | None) -> list[str]:
        """Return the columns meant, all by default; one that is not there is said with the nearest."""
        known = self._columns(table)
        for name in columns or ():
            if name not in known:
                columns_there = f"It has {', '.join(known[:12])} ..."
                raise QueryError(f"{table} has no column {name!r}{hint(name, known, columns_there)}")
        return known if columns is None else list(columns)


#: Tables whose parts do not simply follow each other.
_MERGED = ("descriptors", "presence")
_METHODS = [name for name in vars(Catalog) if not name.startswith("_")]


def _some(rows: pa.Table, columns: list[str], condition: pc.Expression | None) -> pa.Table:
    return (rows if condition is None else rows.filter(condition)).select(columns)


def _known(table: str) -> str:
    if table not in TABLES:
        tables = f"There are {', '.join(TABLES)}."
        raise QueryError(f"There is no table {table!r}{hint(table, TABLES, tables)}")
    return table
