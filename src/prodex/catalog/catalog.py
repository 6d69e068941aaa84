"""The catalogue: product data as tables, whether just downloaded, opened from disk, filtered or made in memory.

All of these are a `Catalog`, so that everything works on each of them. Questions to a catalogue are methods; what makes
something else of it (an audit, a difference) is a function elsewhere. What answers a question (`where`, `wide`, `sql`
...) or shows a catalogue takes one as its argument, so each method imports what carries it out inside itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
import numpy.typing as npt
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
from prodex.formats.exporting import ExportedFiles
from prodex.formats.registry import FormatName
from prodex.languages import Message
from prodex.limits import Limits
from prodex.phrases import hint, nearest
from prodex.progress import Progress
from prodex.selection import Selection
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import distinct
from prodex.tables.frames import as_framed, to_frame

if TYPE_CHECKING:
    from prodex.pictures.contact_sheet import Gallery
    from prodex.send.product_writes import Changes

#: The same in every table, so that they get no prefix where two tables are joined.
_KEYS = ("product_id", "gtin")

#: Tables whose parts cannot simply be put one behind the other: entries repeat, or columns differ.
_MERGED = ("descriptors", "presence")


@dataclass(frozen=True, eq=False, repr=False)
class Catalog(TableProperties):
    """Product data as tables that belong together.

    `catalog.products`, `catalog.texts` and so on are pandas frames, read when asked for; `prodex tables` lists them.

    Attributes
    ----------
    parts
        The tables, cut into parts of about 10,000 products each.
    origin
        What was requested, what was received, and whether that is everything.
    folder
        The snapshot's folder, or None for a catalogue in memory.
    published
        The address that it was published at, if it was opened from there; else None.
    as_received
        The catalogue that this one was made of by `with_pending_updates`, which still has the updates; else
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

    parts: tuple[Part, ...]
    origin: Origin
    folder: Path | None = None
    published: str | None = None
    as_received: Catalog | None = None
    chosen: Chosen | None = None

    def __len__(self) -> int:
        return sum(part.size for part in self.parts)

    def __getattr__(self, name: str) -> NoReturn:
        # Only for names that do not exist: the error shows people who take the catalogue for a frame how to get one.
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

    def __repr__(self) -> str:
        from prodex.display.catalog import text_of

        return str(text_of(self))

    def _repr_html_(self) -> str:
        from prodex.display.catalog import html_of

        return html_of(self)

    @property
    def complete(self) -> bool:
        """Whether everything was received that the service announced."""
        return self.origin.complete

    @property
    def tables(self) -> pd.DataFrame:
        """The tables with what a row is, their rows and columns; the index is the name of the table."""
        held = [TABLES[name] for name in self._held]
        rows = [(t.name, t.row, self.row_count(t.name), len(self._columns(t.name))) for t in held]
        return pd.DataFrame(rows, columns=["table", "one row per", "rows", "columns"]).set_index("table")

    def where(
        self, condition: Any = None, /, *, unmatched: str = "ignore", audit: Any = None, **equal: Any
    ) -> Self:
        """Return the catalogue of only those products, with their children.

        Parameters
        ----------
        condition
            A `prodex.Selection`, which can say what keywords cannot: groups, states of attributes, words, lists, either
            and not. Or a mask over `catalog.products` (a pandas Series with its index, or with `product_id` for its
            index; an array or a list), a callable that makes one of `products`, or an expression over its columns, such
            as `pyarrow.compute.field("texts_count") > 10`.
        unmatched
            What to do with values that no product of this catalogue has: "ignore", "warn" (an `UnmatchedWarning`
            names them) or "raise". If no product at all is found, and the word that was given is part of other values,
            a warning with these is given in any case.
        audit
            The audit, where a selection is about checks that fail, scores or grades.
        **equal
            Column of `products`, or the `market` that counts = value. Several values in a list, Series, Index, array,
            set or generator mean any of them; an empty one matches no product. None, alone or among others, means that
            the product has no value; among GTINs it is an empty cell, which is skipped. GTINs may be text or numbers,
            with or without leading zeros. Statuses and packaging are given by name or code, markets by name or number
            ("Belgium", "BE", 56). Letters with accents may be in either normal form of Unicode, here and in the data.

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
        >>> len(catalog.where(prodex.Selection.of(gtin="03036811359935") | prodex.Selection(words="rice")))
        1
        """
        from prodex.catalog.where import selected

        # What can be read once only is read here: it chooses products, and is kept.
        equal = {name: list(one) if isinstance(one, Iterator) else one for name, one in equal.items()}
        parts = selected(self, condition, unmatched, equal, audit)
        chosen = Chosen.by(self.chosen, len(self), equal, condition)
        return replace(self, parts=parts, chosen=chosen)

    def mask(self, selection: Selection, *, audit: Any = None) -> npt.NDArray[np.bool_]:
        """Return which products a selection means, in the order of the catalogue.

        Parameters
        ----------
        selection
            The selection.
        audit
            The audit, where it is about checks that fail, scores or grades.

        Raises
        ------
        QueryError
            When there is no such column, value, group or check; the message names the nearest.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}])
        >>> catalog.mask(~prodex.Selection.of(brand_code="ACME")).tolist()
        [False, True]
        """
        from prodex.exploration.filtering import ProductFilter

        return ProductFilter(self, audit).mask(selection)

    def _chosen_by(self, said: Message) -> Chosen:
        return Chosen.again(self.chosen, len(self), [said])

    def head(self, n: int = 5) -> Self:
        """Return the catalogue of the first products, with their children; `head().products` is a frame.

        Examples
        --------
        >>> import prodex
        >>> prodex.flatten([{"id": n} for n in range(9)]).head(2).products["product_id"].tolist()
        ['0', '1']
        """
        from prodex.catalog.where import first

        return replace(
            self, parts=first(self, n), chosen=self._chosen_by(Message("the first {count:d}", count=n))
        )

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
        from prodex.catalog.where import drawn

        return replace(
            self, parts=drawn(self, n, seed), chosen=self._chosen_by(Message("{count:d} at random", count=n))
        )

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
            from prodex.catalog.code_labels import of_codes_in_use

            # Every part has the entries that it uses, so that the same entry may be in several parts.
            parts = self._unlike(table)
            rows = union((part.read(table) for part in parts), table)
            rows = distinct(rows.combine_chunks()) if len(parts) > 1 else rows
            rows = of_codes_in_use(rows, self) if table == "code_labels" else rows
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

    def wide(
        self,
        language: str | Sequence[str] | None = None,
        attributes: str | Sequence[str] | None = None,
        *,
        columns: Sequence[str] | None = None,
        numbers: bool = False,
    ) -> pd.DataFrame:
        """Return one row per product: the columns of `products`, and the values of all other tables beside them.

        Texts are shown as they are, codes by their label, quantities with their unit ("250 g"); labels, tags,
        identifiers and nutrients by name; pictures, documents and other files by their number. Several values of one
        product are joined with " | ". A column that holds only true and false is boolean. A name that `products` has
        already is followed by " (value)".

        A cell is missing if the record has no such attribute, or null, an empty list or "" in its place; `presence`
        distinguishes these. "" in a cell is an empty text, or an empty value inside an attribute.

        Parameters
        ----------
        language
            Language of the texts, as a code or a name ("fr", "fra", "French"): each text attribute has one column, with
            the texts of all countries. "fr-BE" (or "fra-BE") is that variant alone.
            With several languages it has a column for each (`namePublicLong.fr`, `namePublicLong.nl`), filled or not;
            with None, one for every language in the catalogue.
        attributes
            Wire paths of the attributes to show, with everything below them ("netContent", "assets.pictures.url",
            "originCountry.code"). Each has a column, even if no product has a value. By default all that describe the
            product itself: logistical hierarchies, sharing units and pending updates (`lastRequest`) are left out.
        columns
            The columns to return, in this order; an attribute means all its columns. Together with `attributes`,
            the columns of `products`.
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
        from prodex.catalog.wide import wide

        return wide(self, language, attributes, columns, numbers)

    def describe(self, *, units: str = "consumer") -> pd.DataFrame:
        """Describe every attribute by language: how often it is filled, by how many values, how long; with examples.

        Logistical hierarchies, sharing units and pending updates are left out, as in `wide()`. `presence` shows whether
        an attribute that is not filled is absent, null, empty or unreadable.

        Parameters
        ----------
        units
            "consumer" describes the products that are not known to be other units than consumer units; "all" every
            product. Of a catalogue that was chosen by `is_consumer_unit` or by packaging, every product is described.

        Returns
        -------
        DataFrame
            `attribute` (wire path); `language`, missing where there is none; `filled`, the number of products with a
            value other than empty text, of how many `products`, and their `share`, from 0 to 1; `unreadable`, the
            number of products with something there that is not as declared, such as the bare code of a brand; the
            number of `values` and of `distinct` ones (0 for pictures and other files, which are only counted);
            `shortest`, `median` and `longest`, the length of texts and codes in characters; the most frequent values as
            `examples`. `attrs["counted"]` says in words which products are described.

        Raises
        ------
        InputError
            When `units` is neither.

        Examples
        --------
        >>> import prodex
        >>> names = [{"expressedIn": {"code": "fra-FR"}, "data": name} for name in ("Riz", "Farine")]
        >>> catalog = prodex.flatten([{"id": n, "nameLegal": [name]} for n, name in enumerate(names)])
        >>> found = catalog.describe().query("attribute == 'nameLegal'")
        >>> found[["language", "filled", "share", "shortest", "longest"]].values.tolist()
        [['fr', 2, 1.0, 3, 6]]
        >>> found.attrs["counted"]
        '2 consumer units, 2 of unknown kind'
        """
        from prodex.catalog.describe import describe

        return describe(self, units)

    def nutrition_wide(self, basis: str = "100 g", *, labels: bool = False) -> pd.DataFrame:
        """Return one row per product with a column for each nutrient and unit.

        Columns have the nutrient's code and the unit as their name: `ENER-.kJ`, `ENER-.kcal`, `FAT.g`, and `NA.g`,
        which is sodium. Pending updates are left out. A product without nutrients of this basis has a row without
        figures.

        Words beyond the amount, in the name of a partition or as its `preparationState`, make another basis: "100 g"
        has nothing of "100 g as prepared". Figures of which nothing is said are as sold.

        Parameters
        ----------
        basis
            What the figures refer to: an amount with its unit, by symbol, name or code ("100 g", "100 MLT",
            "100 g as prepared"), or the name of a partition ("per portion").
        labels
            Name columns by the nutrient's label, as in `Fat (g)`, unless another nutrient has the same label.

        Returns
        -------
        DataFrame
            `product_id`, `gtin`, the nutrients as numbers, and `duplicates`: nutrients that a product has more than
            once in this basis, with all figures. Where these differ, the cell is missing and there is a warning.

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
        from prodex.catalog.nutrition import nutrition_wide

        return nutrition_wide(self, basis, labels)

    def contents(self, of: str = "PALLET", unit: str = "EACH") -> pd.DataFrame:
        """Return how many units each pallet (or case ...) contains: one row per root GTIN, each tree counted once.

        Every product of a hierarchy repeats the whole tree, so a sum over `catalog.hierarchies` counts it once for each
        of them. Here each tree is added up once, branch by branch; pending updates are left out.

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
            inside itself or is twice in the same one, a branch ends above the unit, or products contradict each
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
        from prodex.catalog.hierarchies import contents
        from prodex.facts.name import names_of

        return contents(self, of, unit, partial(names_of, self))

    @property
    def drift(self) -> pd.DataFrame:
        """The attributes that were sent in several forms (as text and as number, say): how often each, an example.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
        >>> prodex.flatten([{"id": 7, "serves": 4}, {"id": 8, "serves": "four"}]).drift["attribute"].unique().tolist()
        ['serves']
        """
        from prodex.catalog.describe import drift

        return drift(self.arrow)

    @property
    def problems(self) -> pd.DataFrame:
        """What is missing and why, and what cannot be read.

        One row per product, page or window of the load that is missing; and one per attribute that some products have
        in another container, type or spelling than the declared one, so that nobody knows what it means.

        Examples
        --------
        >>> import prodex
        >>> prodex.flatten([{"id": 7}]).problems.empty
        True
        >>> prodex.flatten([{"id": 7, "brand": "ACME"}]).problems["what"].tolist()
        ['brand']
        """
        from prodex.facts.unreadable import unreadable_places

        # Of a workbook each cell that could not be read is a row already.
        extent = self.origin.extent
        rows = [
            *self.origin.ledger.problems,
            *(one for one in unreadable_places(self) if extent is None or not extent.is_in_part(one[0])),
        ]
        # Text also where there are no rows: an empty column would otherwise be of objects.
        return pd.DataFrame(rows, columns=["what", "why"], dtype="str")

    @property
    def dictionary(self) -> pd.DataFrame:
        """The data dictionary: each column of each table with its type, its meaning and the number of filled rows.

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
            # The schema of the data, and not the declaration: `presence` has the attributes of these suppliers.
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
        from prodex.catalog.sql import ask

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
            Codes or names ("fr", "fra", "French"): only rows of `texts` and `code_labels` in these languages are
            exported, and no `raw`, which has them all. "fr-BE" is that variant alone, with the labels in French that
            name no country.
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
        from prodex.catalog.export import export_catalog

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

    def export_wide(
        self,
        path: str | Path,
        language: str | Sequence[str] | None = None,
        attributes: str | Sequence[str] | None = None,
        *,
        columns: Sequence[str] | None = None,
        numbers: bool = False,
        escape_formulas: bool = False,
        progress: Progress = None,
    ) -> ExportedFiles:
        """Export one table in one file, for Excel and Power BI: a row for each product, with the columns of `wide()`.

        A workbook holds 1,048,575 products on a sheet (the others are on further sheets), 16,384 columns, and 32,767
        characters in a cell: longer texts are cut, and the cell says how long they are. No text in it is calculated.

        Parameters
        ----------
        path
            The file, which is replaced if it is there. Its ending says in which format it is written: .xlsx, .csv or
            .parquet.
        language, attributes, columns, numbers
            As for `wide()`.
        escape_formulas
            For CSV that will be opened in a spreadsheet; see `export`.
        progress
            A progress bar in notebooks and terminals (None), always (True), never (False), or a function of (done,
            total), both in rows.

        Returns
        -------
        ExportedFiles
            The file. Its `left_out` says what the catalogue has and the file has not ("120 of 300 texts, in fr"), and
            which columns have another name, since programs take "Brand" and "brand" for one.

        Raises
        ------
        QueryError
            When the ending is none of these, there is no such language, attribute or column, or there are more columns
            than a sheet holds.
        StorageError
            When the disk refuses; an earlier file is then as it was.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import pandas as pd
        >>> import prodex
        >>> names = [("fra-FR", "Riz"), ("nld-NL", "Rijst")]
        >>> texts = [{"expressedIn": {"code": code}, "data": name} for code, name in names]
        >>> brand = {"code": "ACME", "label": "Acme"}
        >>> catalog = prodex.flatten([{"gtin": "03036811359935", "brand": brand, "namePublicLong": texts}])
        >>> file = Path(tempfile.mkdtemp(), "shop.xlsx")
        >>> catalog.export_wide(file, ["fr"], columns=["gtin", "brand_code", "brand", "namePublicLong"]).left_out
        ['4 of 58 columns', '1 of 2 texts, in fr']
        >>> pd.read_excel(file, dtype=str, engine="openpyxl").values.tolist()
        [['03036811359935', 'ACME', 'Acme', 'Riz']]
        """
        from prodex.catalog.wide_file import export_wide

        return export_wide(
            self,
            path,
            language,
            attributes,
            columns,
            numbers,
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
        from prodex.store.publish import save

        return save(self, name, progress)

    def with_pending_updates(self, *, progress: Progress = None) -> Catalog:
        """Return the catalogue as it will be once every pending update is accepted.

        A product that is shared and not accepted yet has its data under `lastRequest`, and so have accepted products
        with a pending change (`products.has_pending_update`). Here the pending attributes replace the product's own.
        Without this, an audit takes a pending product for an empty one.

        Parameters
        ----------
        progress
            A progress bar in notebooks and terminals (None), always (True), never (False), or a function of (done,
            total), both in products.

        Returns
        -------
        Catalog
            In memory; its origin says so.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "lifeCycle": 1, "lastRequest": {"brand": {"code": "ACME"}}}])
        >>> accepted = catalog.with_pending_updates().products
        >>> accepted[["life_cycle", "brand_code", "has_pending_update"]].values.tolist()
        [[1, 'ACME', False]]
        """
        from prodex.store.reading import with_pending_updates

        return with_pending_updates(self, progress)

    def changes_from(
        self, frame: pd.DataFrame, *, language: str | None = None, service: Any = None
    ) -> Changes:
        """Return what an edited frame corrects, merged with the products of the catalogue: for `prodex.upsert`.

        The service replaces an array as a whole. So each corrected attribute is taken from the catalogue with every
        language and every item, and only what the frame corrects is changed in it.

        Parameters
        ----------
        frame
            Either the long form, one row for each text: `product_id` or `gtin`, `attribute`, `language` or
            `language_code`, `text`, and `position` where an attribute has several; `catalog.texts` is such a frame. Or
            the wide form, one row for each product, as `catalog.wide()` gives it: columns such as `namePublicLong.fr`,
            `is_consumer_unit`, `brand_code`. Cells that are unchanged, NaN or None change nothing, and an empty one
            ("") adds nothing and is refused where a value is; `prodex.DELETE` deletes. A code with a country means that
            one in any spelling, and nothing else; a language alone means the only text in it, or an item of it that has
            no text yet.
        language
            For a wide frame made with `catalog.wide(language)`: the language of its texts.
        service
            From `prodex.connect`: check now that no product has changed since it was loaded. `upsert` checks that again
            in any case.

        Raises
        ------
        ChangesRefused
            When the catalogue does not have the rest of a corrected attribute (it was not requested), or a correction
            is ambiguous. The message contains which and why.
        ChangesStale
            When a product has changed since it was loaded.

        Examples
        --------
        >>> import prodex
        >>> names = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"},
        ...          {"expressedIn": {"code": "eng-GB"}, "data": "Bred"}]
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": names}])
        >>> texts = catalog.texts
        >>> texts.loc[texts["language"] == "en", "text"] = "Bread"
        >>> changes = catalog.changes_from(texts)
        >>> changes.preview()[["attribute", "language", "before", "after"]].values.tolist()
        [['namePublicLong', 'en', 'Bred', 'Bread']]
        >>> [item["data"] for item in changes.records[0]["namePublicLong"]]
        ['Pain', 'Bread']
        """
        from prodex.send.frame_changes import changes_from

        return changes_from(frame, self, language, service)

    def overridden(self) -> pd.DataFrame:
        """List the values that were sent from this machine, arrived, and are something else now.

        What was sent anew or taken back from here since is not overridden, and neither is what is not visible yet: its
        import has not ended, it waits for acceptance, or the catalogue was loaded before. Of what is not kept any more
        (`prodex.list_upserts`) nobody knows. Earlier snapshots of the name of the catalogue say since when.

        Returns
        -------
        pandas.DataFrame
            One row for each value, the last sent first: product_id, gtin, attribute, language, item, sent (what was
            sent, as text; missing if it was taken away), now (what is there; missing if nothing is), sent_at, upsert,
            tracking, by, why, since_snapshot (the first one that shows something else), shown_in (the last one that
            shows what was sent; missing if the service confirmed it and no snapshot shows it, as where it stored
            something else at once).

        Examples
        --------
        >>> import prodex
        >>> prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}]).overridden().empty
        True
        """
        from prodex.corrections.overridden import overridden

        return overridden(self)

    def gallery(
        self,
        *,
        size: int = 256,
        packshots_only: bool = True,
        page: int = 1,
        per_page: int = 24,
        folder: str | Path | None = None,
        limits: Limits | None = None,
        progress: Progress = None,
    ) -> Gallery:
        """Show the products by their pictures, a page at a time.

        Pictures are downloaded as by `prodex.download_pictures`, made small, and cached. The browser gets these small
        pictures and never an address of a supplier.

        Parameters
        ----------
        size
            Pixels of the longest side of a picture.
        packshots_only
            Show packshots only; otherwise the first picture of a product without a packshot.
        page, per_page
            Number of the page, from 1, and of products on a page.
        folder
            Take the files from this folder of `prodex.download_pictures`, and download nothing.
        limits
            Limits of a file, as for `prodex.download_pictures`.
        progress
            A progress bar in notebooks and terminals once it takes over a second (None), or from the start (True), none
            (False), or a function of (done, total), both in pictures.

        Raises
        ------
        InputError
            When there is no such page, or a parameter is not valid.
        StorageError
            When the disk refuses.

        Examples
        --------
        >>> import prodex
        >>> prodex.flatten([{"id": 7, "gtin": "03036811359935"}]).gallery()
        Gallery: products 1-1 of 1, page 1 of 1; 0 of 1 with a picture, 1 without a packshot
        """
        from prodex.pictures.contact_sheet import gallery

        return gallery(
            self,
            size=size,
            packshots_only=packshots_only,
            page=page,
            per_page=per_page,
            folder=folder,
            limits=limits,
            progress=progress,
        )

    def equals(self, other: Catalog) -> bool:
        """Whether both hold the same rows in the same order and have the same origin.

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


_METHODS = [name for name in dir(Catalog) if not name.startswith("_")]


def known_table(name: Any) -> str:
    """Return the name of a table, or refuse it with the nearest."""
    if not isinstance(name, str) or name not in TABLES:
        tables = f"Give one of {', '.join(TABLES)}."
        raise QueryError(f"There is no table {name!r:.60}{hint(str(name), TABLES, tables)}")
    return name


def joined(
    catalog: Catalog,
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
