"""Facets of columns: a column of texts or flags is filtered by its values, also where no facet is listed for it."""

from __future__ import annotations

import pyarrow as pa

from prodex.notebook.products.facets import FACETS, CatalogFacet, by_group
from prodex.notebook.products.product_columns import DISTINCT
from prodex.notebook.products.ranges import measure_of
from prodex.notebook.products.table_page import title
from prodex.tables.declaration import TABLES

#: Before the name of a column; the columns of facets that are listed have their names.
PREFIX = "column:"

_OF_PRODUCTS = TABLES["products"].schema
_LISTED = {facet.column: facet.name for facet in FACETS if facet.column}
_FLAGS = {"true": "yes", "false": "no"}


def facet_name(column: str) -> str | None:
    """Return the name of the facet with the values of a column of the table.

    None for numbers and dates, which have ranges, and for what hardly any product shares with another, such as names.

    >>> facet_name("brand"), facet_name("unit_type"), facet_name("texts_count"), facet_name("gtin")
    ('brand', 'column:unit_type', None, None)
    """
    if column in _LISTED:
        return _LISTED[column]
    has_facet = column in _OF_PRODUCTS.names and column not in DISTINCT and not measure_of(column)
    return f"{PREFIX}{column}" if has_facet else None


def column_facet(name: str) -> CatalogFacet | None:
    """Return the facet of a column that is not listed, by the name that `facet_name` gave it; None for other names.

    >>> column_facet("column:unit_type").title, column_facet("column:colour"), column_facet("brand")
    ('unit_type', None, None)
    """
    column = name.removeprefix(PREFIX)
    if column == name or facet_name(column) != name:
        return None
    is_flag = pa.types.is_boolean(_OF_PRODUCTS.field(column).type)
    return CatalogFacet(
        name, title(column), f"without {title(column)}", _FLAGS if is_flag else {}, read=by_group(column)
    )
