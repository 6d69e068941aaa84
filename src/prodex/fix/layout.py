"""The layout of a worklist: its columns and its hidden sheet, on which those who write and read it agree."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from prodex.quality.failures import FAILURES

#: Version of what programs rely on: the hidden sheet, and the columns that it lists. 2 names the snapshot, and says how
#: to answer.
FORMAT = 2

#: The hidden sheet: names and values as JSON.
KEYS_SHEET = "prodex"

#: The index of a folder of worklists, for programs and for people.
MANIFEST = "worklists.json"
INDEX = "index.csv"

#: The answer that deletes a text.
DELETE_WORD = "(delete)"

#: A row is a finding. `row` is its number within its worklist, `product` its product's place in the audit;
#: `language_code` and `position` say which text of the attribute is meant, where that is one and the catalogue is at
#: hand; `updated_at` is when the product was last changed; `update_waits` says whether an update of the attribute waits
#: for acceptance, so that no answer is asked for, and is null where that is not known; `new_value` is empty, to be
#: filled in, and `how` says how to answer, or why no answer is asked for.
WORKLIST = pa.schema(
    [
        ("row", pa.int64()),
        *((field.name, pa.string()) for field in FAILURES),
        ("language_code", pa.string()),
        ("position", pa.string()),
        ("updated_at", pa.timestamp("us")),
        ("update_waits", pa.bool_()),
        ("new_value", pa.string()),
        ("how", pa.string()),
    ]
)


@dataclass(frozen=True)
class SheetColumn:
    """A column of the sheet "To fix": the column of the rows it shows, its heading, its width in characters."""

    name: str
    heading: str
    width: int
    is_hidden: bool = False


#: Programs rely on the names, which the hidden sheet lists in this order; headings and widths may change.
TO_FIX = (
    SheetColumn("gtin", "GTIN", 16),
    SheetColumn("product_id", "Product", 12),
    SheetColumn("name", "Name", 30),
    SheetColumn("attribute", "Field", 20),
    SheetColumn("language", "Language", 9),
    SheetColumn("market", "Market", 14),
    SheetColumn("severity", "Severity", 9),
    SheetColumn("value", "Value seen", 34),
    SheetColumn("problem", "Problem", 28),
    SheetColumn("reason", "What is wrong", 28),
    SheetColumn("fix", "How to fix", 34),
    SheetColumn("new_value", "New value", 36),
    SheetColumn("how", "How to answer", 30),
    SheetColumn("title", "Expected", 28),
    SheetColumn("check", "Check", 24),
    SheetColumn("row", "Row", 8, is_hidden=True),
    SheetColumn("language_code", "Language code", 12, is_hidden=True),
    SheetColumn("position", "Position", 10, is_hidden=True),
    SheetColumn("updated_at", "Last changed", 20, is_hidden=True),
)
