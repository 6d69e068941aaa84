"""Frames that bring several tables of a catalogue together: one row per product, attribute, hierarchy or problem."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd

from prodex.catalog.data import CatalogData
from prodex.catalog.describe import describe, drift
from prodex.catalog.hierarchies import contents
from prodex.catalog.nutrition import nutrition_wide
from prodex.catalog.wide import wide
from prodex.dispatch import call


class CatalogViews(CatalogData):
    """The part of a catalogue that answers with frames about its products or attributes as a whole."""

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
        tells these apart. "" in a cell is an empty text, or an empty value inside an attribute.

        Parameters
        ----------
        language
            Language of the texts, as a code or a name ("fr", "fra-FR", "French"): each text attribute has one column.
            With several languages it has a column for each (`namePublicLong.fr`, `namePublicLong.nl`), filled or not;
            with None, one for every language in the catalogue.
        attributes
            Wire paths of the attributes to show, with everything below them ("netContent", "assets.pictures.url",
            "originCountry.code"). Each has a column, even if no product has a value. By default all that describe the
            product itself: logistical hierarchies, sharing units and pending updates (`lastRequest`) are left out.
        columns
            The columns to return, in this order; an attribute stands for all its columns. Together with `attributes`,
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
        return wide(self, language, attributes, columns, numbers)

    def describe(self) -> pd.DataFrame:
        """Describe every attribute by language: how often it is filled, by how many values, how long; with examples.

        Logistical hierarchies, sharing units and pending updates are left out, as in `wide()`. `presence` tells whether
        an attribute that is not filled is absent, null or empty.

        Returns
        -------
        DataFrame
            `attribute` (wire path); `language`, missing where there is none; `filled`, the number of products with a
            value other than empty text, and their `share`, from 0 to 1; the number of `values` and of `distinct` ones
            (0 for pictures and other files, which are only counted); `shortest`, `median` and `longest`, the length of
            texts and codes in characters; the most frequent values as `examples`.

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
        """Return one row per product with a column for each nutrient and unit.

        Columns have the nutrient's code and the unit as their name: `ENER-.kJ`, `ENER-.kcal`, `FAT.g`, and `NA.g`,
        which is sodium. Pending updates are left out. A product without nutrients of this basis has a row without
        figures.

        Parameters
        ----------
        basis
            What the figures refer to: an amount with its unit, by symbol, name or code ("100 g", "100 MLT"), or the
            name of a partition ("per portion").
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
        # What a product is called is decided in `facts`, above catalogues, and reached by name.
        return contents(self, of, unit, partial(call, "CatalogViews.names", self))

    @property
    def drift(self) -> pd.DataFrame:
        """The attributes that came in several forms (as text and as number, for example): how often each, an example.

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
        """What is missing and why: one row per product, page or window of the load.

        Examples
        --------
        >>> import prodex
        >>> prodex.flatten([{"id": 7}]).problems.empty
        True
        """
        # Text also where there are no rows: an empty column would otherwise be of objects.
        return pd.DataFrame(self.origin.ledger.problems, columns=["what", "why"], dtype="str")

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
