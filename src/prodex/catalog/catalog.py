"""The catalogue: product data as tables, whether just downloaded, opened from disk, filtered or made in memory.

All of these are a `Catalog`, so that everything works on each of them. Questions to a catalogue are methods; what makes
something else of it (an audit, a difference) is a function elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, Self

import pandas as pd

from prodex.catalog.export import export_catalog
from prodex.catalog.origin import Chosen, where_in_words
from prodex.catalog.sql import ask
from prodex.catalog.views import CatalogViews
from prodex.catalog.where import drawn, first, selected
from prodex.dispatch import call
from prodex.formats.exporting import ExportedFiles
from prodex.formats.registry import FormatName
from prodex.messages import hint, nearest
from prodex.progress import Progress
from prodex.tables.declaration import TABLES


class Catalog(CatalogViews):
    """Product data as tables that belong together.

    `catalog.products`, `catalog.texts` and so on are pandas frames, read when asked for; `prodex tables` lists them.

    Attributes
    ----------
    parts
        The tables, cut into parts of about 10,000 products each.
    origin
        What was requested, what came, and whether that is everything.
    folder
        The snapshot's folder, or None for a catalogue in memory.
    published
        The address that it was published at, if it was opened from there; else None.
    as_received
        The catalogue that this one was made of by `prodex.with_pending_updates`, which still has the updates; else
        None.
    chosen
        Of which larger catalogue these products were chosen, and by what, for what is written about them; None for all.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8, "brand": {"code": "ZEST"}}])
    >>> len(catalog), catalog.where(brand_code="ZEST").products["product_id"].tolist()
    (2, ['8'])
    """

    def __getattr__(self, name: str) -> NoReturn:
        # Only for names that do not exist: people who take the catalogue for a frame are told how to get one.
        if hasattr(pd.DataFrame, name) and nearest(name, TABLES, cutoff=0.8) is None:
            raise AttributeError(
                f"A catalogue has no {name!r}: it is several tables, each of them a frame. catalog.products.{name} is "
                "that of products; catalog.export(folder) writes all tables, catalog.wide() puts them side by side."
            )
        # Methods are proposed with the tables: nobody should have to know which of both a name is.
        tables = f"Its tables: {', '.join(TABLES)}."
        raise AttributeError(f"A catalogue has no {name!r}{hint(name, [*TABLES, *_METHODS], tables)}")

    def __getitem__(self, key: object) -> NoReturn:
        raise TypeError(
            "A catalogue is not a frame. catalog.where(mask) or catalog.where(brand_code=...) chooses products, "
            "catalog.table(name) gives a table, catalog.products['gtin'] a column of one."
        )

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
            names them) or "raise". If no product at all is found, and the word that was given is part of other values,
            the warning comes in any case, with these.
        **equal
            Column of `products` = value. Several values in a list, Series, Index, array, set or generator mean any of
            them; an empty one matches no product. None, alone or among others, means that the product has no value;
            among GTINs it is an empty cell, which is skipped. GTINs may be text or numbers, with or without leading
            zeros. Statuses and packaging are given by name or code, markets by name or number ("Belgium", "BE", 56).
            Letters with accents may be in either normal form of Unicode, here and in the data.

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
        chosen = self._chosen_by(where_in_words(condition, equal))
        return replace(self, parts=selected(self, condition, unmatched, equal), chosen=chosen)

    def _chosen_by(self, words: Iterable[str]) -> Chosen:
        return Chosen.again(self.chosen, len(self), words)

    def head(self, n: int = 5) -> Self:
        """Return the catalogue of the first products, with their children; `head().products` is a frame.

        Examples
        --------
        >>> import prodex
        >>> prodex.flatten([{"id": n} for n in range(9)]).head(2).products["product_id"].tolist()
        ['0', '1']
        """
        return replace(self, parts=first(self, n), chosen=self._chosen_by([f"the first {n}"]))

    def sample(self, n: int = 1, seed: int | None = None) -> Self:
        """Return the catalogue of some products chosen at random, with their children, in the order of the catalogue.

        Parameters
        ----------
        n
            How many; no product is chosen twice.
        seed
            Start of the random numbers: the same seed chooses the same products.

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
        return replace(self, parts=drawn(self, n, seed), chosen=self._chosen_by([f"{n} at random"]))

    def sql(
        self,
        query: str,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        allow_external: bool = False,
        **frames: Any,
    ) -> pd.DataFrame:
        """Run a query in SQL over the tables, with DuckDB (extra `sql`), which reads only the columns it needs.

        Parameters
        ----------
        query
            In DuckDB's SQL; tables have the names that `prodex tables` lists.
        parameters
            Values for the query: a list with one for each `?`, or a dict for `$name`. They are never run as SQL.
        allow_external
            Let the query read and write files, open addresses and load extensions. By default it can read only this
            catalogue's tables, so that a query from somebody else can do no harm.
        **frames
            Tables of your own, by the names that the query uses: pandas frames or Arrow tables. A named index becomes
            a column.

        Raises
        ------
        QueryError
            When the query fails or accesses something else; when a parameter or a frame cannot be used.

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
        columns: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
        languages: Iterable[str] | None = None,
        escape_formulas: bool = False,
        progress: Progress = None,
    ) -> ExportedFiles:
        """Export tables to a folder: one file for each, and `datapackage.json` with the meaning of their columns.

        `prodex.read_export(folder)` reads everything back exactly. `pandas.read_parquet` returns the same frames as
        `catalog.products`. CSV has no types: `datapackage.json` holds the arguments for `pandas.read_csv`.

        Parameters
        ----------
        folder
            Where to write; made if it does not exist.
        format
            "parquet", "csv", "xlsx" or "jsonl". A workbook cannot hold texts of more than 32,767 characters: longer
            ones are cut, and `datapackage.json` counts them as `altered_texts`. "jsonl" holds the records as they were
            received, one a line, in `products.jsonl`, which `read_products` reads as well.
        tables
            Names of the tables; all by default, but for CSV without `raw`.
        columns
            Names of the columns to keep, for all tables, or for some of them: `{"products": ["brand", "kind"]}`. Keys
            (`product_id`, `gtin`, `attribute`, `position`) are always kept. Of names for all tables, tables that have
            none of these columns are left out, except `products` and those that `tables` names.
        languages
            Codes or names ("fr", "fra-FR", "French"): only rows of `texts` and `code_labels` in these languages are
            exported, and no `raw`, which has them all.
        escape_formulas
            For CSV that will be opened in a spreadsheet: text that would be run as a formula gets an apostrophe, which
            `read_export` removes again.
        progress
            A progress bar in notebooks and terminals (None), always (True), never (False), or a function of (done,
            total), both in rows.

        Returns
        -------
        ExportedFiles
            A list of the files written. Its `left_out` says what was left out: "3 of 57 columns of products".
            `datapackage.json` says the same, so that a catalogue that is read back takes none of it for missing: asking
            for it is a `NotExported`, and the checks of an audit that need it are unknown.

        Raises
        ------
        QueryError
            When a table, a column, a language or a format is not known, when an option is not of the format, and when
            `folder` is the name of a file.
        SnapshotDamaged
            When a record is to be exported that is not as it was received.
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
        >>> catalog.export(tempfile.mkdtemp(), columns=["brand"], tables="products").left_out[-1]
        '3 of 57 columns of products'
        """
        return export_catalog(
            self,
            folder,
            format,
            tables=tables,
            columns=columns,
            languages=languages,
            escape_formulas=escape_formulas,
            progress=progress,
        )

    def save(self, name: str, *, progress: Progress = None) -> Catalog:
        """Store the catalogue as a new snapshot, and return it opened from there.

        Earlier snapshots of the name are not changed. Of a filtered catalogue only its products are stored. An
        interrupted save leaves nothing behind.

        Parameters
        ----------
        name
            Name of the snapshot: letters, digits, "-", "_" and ".".
        progress
            As for `prodex.verify`.

        Raises
        ------
        SettingsError
            When this cannot be a name.
        StorageError
            When the disk refuses.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}])
        >>> len(catalog.where(brand_code="ACME").save("acme"))
        1
        """
        saved: Catalog = call("Catalog.save", self, name, progress)
        return saved

    def equals(self, other: Catalog) -> bool:
        """Whether both hold the same rows in the same order and come from the same origin.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> catalog.equals(catalog.where(brand_code="ACME")), catalog.equals(catalog.where(brand_code="ZEST"))
        (True, False)
        """
        # An export may hold some of the tables, and a table that is not there is not an empty one.
        if self.origin != other.origin or self._held != other._held:
            return False
        return all(self.arrow(name).equals(other.arrow(name)) for name in self._held)

    def __repr__(self) -> str:
        return str(call("Catalog.text", self))

    def _repr_html_(self) -> str:
        return str(call("Catalog.html", self))


_METHODS = [name for name in dir(Catalog) if not name.startswith("_")]
