"""What the workbook of requirements calls its sheets, and the groups of its attributes."""

from __future__ import annotations

from prodex.tables.fill_state import FillState

#: Version of the layout, in the hidden sheet.
FORMAT = 2
#: The sheet that explains the others, the one that is filled in, and the hidden one.
READ_ME, REQUIREMENTS, KEYS_SHEET = "Read me", "Requirements", "prodex requirements"
#: What the matrix calls the column of all families.
ALL_FAMILIES = "All families"
#: What the matrix shows of what was not asked for when the catalogue was loaded, and of no products.
NOT_ASKED, NO_PRODUCTS = str(FillState.NOT_ASKED), "no products"
#: What divides the level from the share in a cell of the matrix.
BEHIND = " · "

#: Groups of attributes, in their order.
TEXT, CODE, QUANTITY, SINGLE = "Names and texts", "Codes", "Quantities", "Dates and other single values"
PICTURE, NUTRIENT, HIERARCHY = "Pictures by face", "Nutrition and nutrients", "Hierarchies and units"
LABEL, OTHER = "Labels and documents", "Other attributes"
GROUPS = (TEXT, CODE, QUANTITY, SINGLE, PICTURE, NUTRIENT, HIERARCHY, LABEL, OTHER)

#: The matrix, counted from 1: rows of what is above its attributes, and the first row below.
PARENT_ROW, CODE_ROW, PRODUCTS_ROW, HEADING_ROW, FIRST_ROW = 3, 4, 5, 6, 7
#: Its columns, counted from 0.
LANGUAGE_COLUMN, PATH_COLUMN, FILLED_COLUMN, FIRST_COLUMN = 1, 2, 3, 4
