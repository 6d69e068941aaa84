"""What the workbook of requirements calls its sheets and columns, and the groups of its attributes."""

from __future__ import annotations

import re

from prodex.tables.fill_state import FillState

#: Version of the layout, in the hidden sheet.
FORMAT = 2
#: The sheet that explains the others, the one that is filled in, and the hidden one.
READ_ME, REQUIREMENTS, KEYS_SHEET = "Read me", "Requirements", "prodex requirements"
#: What a workbook shows of what was not asked for when the catalogue was loaded, and of no products.
NOT_ASKED, NO_PRODUCTS = str(FillState.NOT_ASKED), "no products"
#: Columns that only show, beside those of rows: what an attribute is called, and the share of products that have it.
SHOWN = ("attribute_name", "filled")
COLUMN_OF_SHARES = SHOWN[1]

#: Groups of attributes, in their order.
TEXT, CODE, QUANTITY, SINGLE = "Names and texts", "Codes", "Quantities", "Dates and other single values"
PICTURE, NUTRIENT, HIERARCHY = "Pictures by face", "Nutrition and nutrients", "Hierarchies and units"
LABEL, OTHER = "Labels and documents", "Other attributes"
GROUPS = (TEXT, CODE, QUANTITY, SINGLE, PICTURE, NUTRIENT, HIERARCHY, LABEL, OTHER)


def heading_of(column: str) -> str:
    """Return the heading of a column in a workbook.

    >>> heading_of("consumer_units")
    'Consumer units'
    """
    return column.replace("_", " ").capitalize()


def column_named(heading: str) -> str:
    """Return what a heading names, of a workbook or of CSV.

    >>> column_named(" Consumer  units"), column_named("family_label")
    ('consumer_units', 'family_label')
    """
    return re.sub(r"[\s_]+", "_", heading.strip().casefold())
