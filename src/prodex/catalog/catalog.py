"""The catalogue: product data as tables, whether just downloaded, opened from disk, filtered or made in memory.

All of these are a `Catalog`, so whatever comes after composes. Questions to a catalogue are methods; what makes
something of one is a function elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, Self

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.describe import describe, drift
from prodex.catalog.export import export_catalog
from prodex.catalog.hierarchies import contents
from prodex.catalog.joined import joined
from prodex.catalog.nutrition import nutrition_wide
from prodex.catalog.origin import Origin
from prodex.catalog.part import Part, union
from prodex.catalog.sql import ask
from prodex.catalog.table_properties import TableProperties
from prodex.catalog.where import drawn, first, selected
from prodex.catalog.wide import wide
from prodex.dispatch import call
from prodex.errors import QueryError
from prodex.files import parquet
from prodex.formats.registry import FormatName
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import distinct
from prodex.tables.presence import MEANING
from prodex.text import hint, nearest


@dataclass(frozen=True, eq=False, repr=False)
class Catalog(TableProperties):
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
        if hasattr(pd.DataFrame, name) and nearest(name, TABLES, cutoff=0.8) is None:
            raise AttributeError(
                f"A catalogue has no {name!r}: it is several tables, each of them a frame. catalog.products.{name} is "
                "that of products; catalog.export(folder) writes all tables, catalog.wide() puts them side by side."
            )
        tables = f"Its tables: {', '.join(TABLES)}."
        raise AttributeError(f"A catalogue has no {name!r}{hint(name, [*TABLES, *_METHODS], tables)}")

    def __getitem__(self, key: object) -> NoReturn:
        raise TypeError(
            "A catalogue is no frame. catalog.where(mask) or catalog.where(brand_code=...) chooses products, "
            "catalog.table(name) gives a table, catalog.products['gtin'] a column of one."
        )

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

    def table(
        self, name: str, columns: Sequence[str] | None = None, with_products: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Return a table, or some of its columns, with columns of its product beside it.

        A column of `products` whose name the table has as well is called `product_...`: `product_packaging_code` beside
        `packaging_code` of `hierarchies`. `product_id` and `gtin` are the same in every table.

        Whoever merges frames instead takes both keys: `catalog.texts.merge(catalog.products, on=["product_id",
        "gtin"])`. Beside these, only pictures, files and tags (`created_at`, `updated_at`) and hierarchies (packaging
        and flags of each unit) share names with `products`; `presence` has `product_id` alone.

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
        return joined(self, name, self._columns(_known(name)), columns, with_products)

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

        Files of `presence` have a column for each attribute under its own name (`brand`, not `brand_state`).

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

    def where(self, condition: Any = None, /, *, unmatched: str = "ignore", **equal: Any) -> Self:
        """Return the catalogue of only those products, with their children.

        Parameters
        ----------
        condition
            A mask over `catalog.products` (a pandas Series with its index, or with `product_id` for its index; an
            array or a list), a callable that makes one of `products`, or an expression over its columns, such as
            `pyarrow.compute.field("texts_count") > 10`.
        unmatched
            What to do with values that no product of this catalogue has: "ignore", "warn" (an `UnmatchedWarning`
            names them) or "raise".
        **equal
            Column of `products` = value, or several in anything that holds values: a list, Series, Index, array, set
            or generator means any of them, an empty one no product. None, alone or among others, is no value; among
            GTINs it is an empty cell, which is skipped. GTINs may be text or numbers, with or without leading zeros.
            Statuses and packaging go by name or code, markets by name or number ("Belgium", "BE", 56).

        Raises
        ------
        QueryError
            When `products` has no such column, a closed list no such value, or a mask belongs to other rows; the
            message names the nearest, or says what to write.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "isConsumerUnit": True, "gtin": "03036811359935"}, {"id": 8}])
        >>> len(catalog.where(is_consumer_unit=True)), len(catalog.where(is_consumer_unit=None))
        (1, 1)
        >>> len(catalog.where(gtin=[3036811359935.0, None])), len(catalog.where(sharing_status="DRAFT"))
        (1, 0)
        >>> len(catalog.where(lambda products: products["gtin"].str.startswith("030")))
        1
        """
        return replace(self, parts=selected(self, condition, unmatched, equal))

    def wide(
        self,
        language: str | Sequence[str] | None = None,
        attributes: str | Sequence[str] | None = None,
        *,
        columns: Sequence[str] | None = None,
        numbers: bool = False,
    ) -> pd.DataFrame:
        """Return one row per product: the columns of `products`, and what stands in all other tables beside them.

        A text is in the cell as it is, a code by its label, a quantity with its unit ("250 g"); labels, tags,
        identifiers and nutrients by name; pictures, documents and other files by their number; several values of one
        product are joined with " | ". A column of nothing but true and false is boolean. Where a name is one of
        `products` already, it is followed by " (value)".

        A cell is missing where the record has nothing there: no such attribute, null, an empty list, or "" in place of
        all of it; `presence` tells these apart. "" in a cell is a text, or a value inside an attribute, that came
        empty.

        Parameters
        ----------
        language
            Language of the texts, as a code or a name ("fr", "fra-FR", "French"): each text attribute has one column.
            Several languages give a column each (`namePublicLong.fr`, `namePublicLong.nl`), filled or not; None gives a
            column for every language that there is.
        attributes
            Wire paths of the attributes to show, with all below them ("netContent", "assets.pictures.url",
            "originCountry.code"). Each has a column, missing throughout where no product has it. By default all that
            describe the product itself: logistical hierarchies, sharing units and updates that wait (`lastRequest`) are
            left out.
        columns
            Which columns to return, in this order; an attribute stands for all its columns. Beside `attributes`, which
            columns of `products`.
        numbers
            Show a quantity as two columns, `netContent.value` (a number) and `netContent.unit`, and other numbers as
            numbers. A product with several quantities of one attribute has them as text, in `netContent`.

        Raises
        ------
        QueryError
            When there is no such language, attribute or column; the message names the nearest.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten(
        ...     [
        ...         {
        ...             "id": 7,
        ...             "namePublicLong": [
        ...                 {"expressedIn": {"code": "fra-FR"}, "data": "Riz"},
        ...                 {"expressedIn": {"code": "nld-NL"}, "data": "Rijst"},
        ...             ],
        ...             "netContent": [{"expressedIn": {"code": "GRM", "label": "g"}, "data": 250}],
        ...         }
        ...     ]
        ... )
        >>> catalog.wide(["fr", "nl"], columns=["namePublicLong", "netContent"]).values.tolist()
        [['Riz', 'Rijst', '250 g']]
        >>> catalog.wide("fr", columns=["netContent"], numbers=True).to_dict("list")
        {'netContent.unit': ['g'], 'netContent.value': [250.0]}
        """
        return wide(self, language, attributes, columns, numbers)

    def head(self, n: int = 5) -> Self:
        """Return the catalogue of the first products, with their children; `head().products` is a frame.

        Examples
        --------
        >>> import prodex
        >>> prodex.flatten([{"id": n} for n in range(9)]).head(2).products["product_id"].tolist()
        ['0', '1']
        """
        return self.where(first(self, n))

    def sample(self, n: int = 1, seed: int | None = None) -> Self:
        """Return the catalogue of some products drawn at random, with their children, in the order of the catalogue.

        Parameters
        ----------
        n
            How many; no product comes twice.
        seed
            Where chance starts: the same number draws the same products.

        Raises
        ------
        QueryError
            When there are fewer products.

        Examples
        --------
        >>> import prodex
        >>> len(prodex.flatten([{"id": n} for n in range(9)]).sample(3, seed=1))
        3
        """
        return self.where(drawn(self, n, seed))

    def describe(self) -> pd.DataFrame:
        """Describe each attribute, in each language: how often it is filled, how many values, how long, for example.

        Logistical hierarchies, sharing units and updates that wait are left out, as in `wide()`. `presence` says
        whether what is not filled is absent, null or empty.

        Returns
        -------
        DataFrame
            `attribute` (wire path); `language`, missing for what has none; `filled`, products with a value other than
            empty text, and their `share`, from 0 to 1; `values` and how many of them are `distinct` (0 for pictures and
            other files, which are only counted); `shortest`, `median` and `longest`, characters of texts and codes; the
            most frequent values as `examples`.

        Examples
        --------
        >>> import prodex
        >>> names = [{"expressedIn": {"code": "fra-FR"}, "data": name} for name in ("Riz", "Farine")]
        >>> catalog = prodex.flatten([{"id": n, "nameLegal": [name]} for n, name in enumerate(names)])
        >>> found = catalog.describe().query("attribute == 'nameLegal'")
        >>> found[["language", "filled", "share", "shortest", "longest"]].values.tolist()
        [['fr', 2, 1.0, 3, 6]]
        """
        return describe(self)

    def nutrition_wide(self, basis: str = "100 g", *, labels: bool = False) -> pd.DataFrame:
        """Return one row per product with its nutrients side by side, a column for each nutrient and unit.

        Columns are called by the nutrient's code and the unit: `ENER-.kJ`, `ENER-.kcal`, `FAT.g`, and `NA.g`, which is
        sodium. Updates that wait are left out. A product without nutrients of this basis has a row without figures.

        Parameters
        ----------
        basis
            What the figures refer to: an amount with its unit, by symbol, name or code ("100 g", "100 MLT"), or the
            name of a partition ("per portion").
        labels
            Call columns by the nutrient's label, as `Fat (g)`, where no other nutrient has it.

        Returns
        -------
        DataFrame
            `product_id`, `gtin`, the nutrients as numbers, and `duplicates`: nutrients that a product gives more than
            once in this basis, with all figures. Where these differ the cell is missing, and a warning says so.

        Raises
        ------
        QueryError
            When no nutrient refers to this basis; the message names those that there are.

        Examples
        --------
        >>> import prodex
        >>> gram = {"code": "GRM", "label": "g"}
        >>> fat = {"isConceptualizedBy": {"code": "FAT"}, "quantity": 5, "expressedIn": gram}
        >>> sodium = {"isConceptualizedBy": {"code": "NA"}, "quantity": 0.4, "expressedIn": gram}
        >>> partition = {"name": "100 g", "quantity": 100, "isMeasuredBy": gram, "contains": [fat, sodium]}
        >>> catalog = prodex.flatten([{"id": 7, "isPartitionedBy": [partition]}])
        >>> catalog.nutrition_wide()[["product_id", "FAT.g", "NA.g"]].values.tolist()
        [['7', 5.0, 0.4]]
        """
        return nutrition_wide(self, basis, labels)

    def contents(self, of: str = "PALLET", unit: str = "EACH") -> pd.DataFrame:
        """Return how many units stand in each pallet (or case ...): one row per root GTIN, each tree counted once.

        Every product of a hierarchy shows the whole tree, so a sum over `catalog.hierarchies` counts it once for each
        of them. Here each tree is added up once, branch by branch; updates that wait are left out.

        Parameters
        ----------
        of
            Type of packaging of the root, by code or label.
        unit
            Type of packaging to count, by code or label.

        Returns
        -------
        DataFrame
            `root_gtin`; `product_id` and `name` of the root where it is a product of this catalogue; `pieces`, missing
            where they are not `known`: a quantity on the way is missing, not a whole number of 1 or more, a unit is
            inside itself or stands twice in the same one, a branch ends above the unit, or products contradict each
            other; `levels` of the tree; `told_by`, the number of products that show it; `agrees`, whether they all show
            the same; `problem`, in words.

        Raises
        ------
        QueryError
            When there is no such type of packaging; the message names the nearest.

        Examples
        --------
        >>> import prodex
        >>> each = {"gtin": "03091033779527", "quantity": 20, "typePackaging": {"code": "EACH"}}
        >>> case = {"gtin": "13663836037981", "quantity": 10, "typePackaging": {"code": "CASE"}, "children": [each]}
        >>> pallet = {"gtin": "23663836037988", "typePackaging": {"code": "PALLET"}, "children": [case]}
        >>> catalog = prodex.flatten([{"id": n, "logisticalHierarchies": [pallet]} for n in (1, 2, 3)])
        >>> catalog.contents()[["root_gtin", "pieces", "levels", "told_by"]].values.tolist()
        [['23663836037988', 200, 3, 3]]
        """
        return contents(self, of, unit)

    @property
    def drift(self) -> pd.DataFrame:
        """Return the attributes that came in several forms, with how often each and an example.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> prodex.flatten([{"id": 7, "serves": 4}, {"id": 8, "serves": "four"}]).drift["attribute"].unique().tolist()
        ['serves']
        """
        return drift(self.arrow)

    @property
    def problems(self) -> pd.DataFrame:
        """Return what is not here and why: one row per product, page or stretch of the load that is missing.

        Examples
        --------
        >>> import prodex
        >>> prodex.flatten([{"id": 7}]).problems.empty
        True
        """
        return pd.DataFrame(self.origin.ledger.problems, columns=["what", "why"], dtype="str")

    @property
    def dictionary(self) -> pd.DataFrame:
        """Return the data dictionary: each column of each table with type, meaning and how many rows fill it.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> dictionary = catalog.dictionary.set_index(["table", "column"])
        >>> dictionary.loc[("products", "brand"), ["type", "meaning"]].tolist()
        ['string', 'brand: label in the language of the labels']
        """
        rows = []
        for name in self._held:
            data = self.arrow(name)
            for field in self._schema(name):
                filled = data.num_rows - data.column(field.name).null_count
                meaning = (field.metadata or {}).get(b"meaning", b"").decode()
                rows.append((name, field.name, str(field.type), meaning, filled, data.num_rows))
        return pd.DataFrame(rows, columns=["table", "column", "type", "meaning", "filled", "rows"])

    def sql(
        self,
        query: str,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        allow_external: bool = False,
        **frames: Any,
    ) -> pd.DataFrame:
        """Answer a question in SQL over the tables, with DuckDB (extra `sql`), which reads no more than it needs.

        Parameters
        ----------
        query
            In DuckDB's SQL; it names tables as `prodex tables` does.
        parameters
            Values for the query: a list for each `?` in it, or a dict for `$name`. They are values and never SQL.
        allow_external
            Let the query read and write files, open addresses and load extensions. By default it reaches this
            catalogue's tables and nothing else, so that a query from somebody else can do no harm.
        **frames
            Tables of your own, under the names that the query gives them: pandas frames or Arrow tables. An index that
            has a name is a column.

        Raises
        ------
        QueryError
            When the query does not work, or reaches for what it may not; when a parameter or a frame cannot be taken.

        Examples
        --------
        >>> import pandas as pd
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME"}}])
        >>> int(catalog.sql("select count(*) as n from products where brand_code = ?", ["ACME"])["n"][0])
        1
        >>> prices = pd.DataFrame({"gtin": ["03036811359935"], "price": [2.5]})
        >>> catalog.sql("select brand_code, price from products join prices using (gtin)", prices=prices)
          brand_code  price
        0       ACME    2.5
        """
        return ask(self, query, parameters, frames, allow_external=allow_external)

    def export(
        self,
        folder: str | Path,
        format: FormatName = "parquet",
        *,
        tables: Iterable[str] | None = None,
        escape_formulas: bool = False,
    ) -> list[Path]:
        """Write tables to a folder: one file for each, and what its columns mean beside it.

        `prodex.read_export(folder)` reads all of it back exactly. `pandas.read_parquet` gives what
        `catalog.products` gives; for CSV, which does not say types, `datapackage.json` holds what `pandas.read_csv`
        has to be told.

        Parameters
        ----------
        folder
            Where to; made if it does not exist.
        format
            "parquet", "csv" or "xlsx". A workbook cannot hold texts of more than 32,767 characters: it has their
            beginnings, and `datapackage.json` counts them as `altered_texts`.
        tables
            Which tables, by name; all by default.
        escape_formulas
            CSV that goes to a spreadsheet: text in it that would be run as a formula gets an apostrophe, which
            `read_export` takes away again.

        Returns
        -------
        list of Path
            The files written.

        Raises
        ------
        QueryError
            When a table or a format is not known, when an option is not of the format, and when `folder` is the name
            of a file.
        StorageError
            When the disk refuses; an earlier export is then as it was.

        Examples
        --------
        >>> import tempfile
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}])
        >>> paths = catalog.export(tempfile.mkdtemp(), "csv", tables=["products", "texts"])
        >>> [path.name for path in paths]
        ['products.csv', 'texts.csv', 'datapackage.json']
        """
        return export_catalog(self, folder, format, tables, escape_formulas=escape_formulas)

    def equals(self, other: Catalog) -> bool:
        """Whether both hold the same rows in the same order and come from the same origin.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> catalog.equals(catalog.where(brand_code="ACME")), catalog.equals(catalog.where(brand_code="ZEST"))
        (True, False)
        """
        if self.origin != other.origin or self._held != other._held:
            return False
        return all(self.arrow(name).equals(other.arrow(name)) for name in self._held)

    def __repr__(self) -> str:
        text: str = call("Catalog.text", self)
        return text

    def _repr_html_(self) -> str:
        html: str = call("Catalog.html", self)
        return html

    @property
    def _held(self) -> list[str]:
        """The tables that are here: all, unless it was read from an export of some."""
        return [name for name in TABLES if all(part.holds(name) for part in self.parts)]

    def _columns(self, table: str) -> list[str]:
        return list(dict.fromkeys(name for part in self.parts for name in part.columns(table))) or list(
            TABLES[table].schema.names
        )

    def _schema(self, table: str) -> pa.Schema:
        declared = TABLES[table].schema
        known = {field.name: field for field in declared}
        other = pa.field("", pa.string(), metadata={"meaning": MEANING})  # columns that nobody declared
        return pa.schema([known.get(name, other.with_name(name)) for name in self._columns(table)])

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
