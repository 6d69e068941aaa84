"""The layout of a worklist: its columns and its hidden sheet, on which those who write and read it agree."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from prodex.languages.recognized import recognized
from prodex.quality.failures import FAILURES

#: The number of the layout of what programs rely on: the hidden sheet, and the columns that it lists. In another one
#: other columns say what an answer is about, and an answer must not be half read.
FORMAT = 5

#: The hidden sheet: names and values as JSON.
KEYS_SHEET = "prodex"

#: The index of a folder of worklists, for programs and for people.
MANIFEST = "worklists.json"
INDEX = "index.csv"

#: The mail for a worklist, as a file that mail programs open as a draft.
MAIL = ".eml"
#: The files of a worklist.
ENDINGS = (".xlsx", MAIL)

#: Options of other formats, and why worklists have none.
OF_OTHER_FORMATS = frozenset({"format", "formats", "escape_formulas"})
ONLY_WORKBOOKS = (
    "what a supplier gets is the workbook, and the mail with it. Programs take the rows as a frame: "
    "audit.worklist_rows(owner=...)."
)

#: The sheets of a worklist in English. Their names are of letters that every program and disk keeps, in all languages.
TO_FIX_SHEET, SEVERAL_SHEET = "To fix", "Several at once"
READ_ME_SHEET, SUMMARY_SHEET, CODES_SHEET = "Read me", "Summary", "Codes"

#: The answer that deletes a text.
DELETE_WORD = "(delete)"

#: A row is a finding. `row` is its number within its worklist, `product` its product's place in the audit;
#: `language_code` and `position` say which text of the attribute is meant, where that is one and the catalogue is at
#: hand; `updated_at` is when the product was last changed; `update_waits` says whether an update of the attribute waits
#: for acceptance, so that no answer is asked for, and is null where that is not known; `new_value` is empty, to be
#: filled in, and `how` says how to answer, or why no answer is asked for. `row_key` says which question the row is, so
#: that it is recognized wherever it is, and rows that somebody added and cells that somebody typed over are told from
#: it. `asked_for` is the field in the words of people; `same_answer` is the same for rows that can be answered at once;
#: `scope` says which products the worklist is about where these were chosen, and is null where it is about all of
#: them; `accept_because` is empty, for a supplier who has a reason to leave the value as it is; `law` is the law that
#: asks for it, with its article.
_ROW = pa.schema(
    [
        ("row", pa.int64()),
        # Findings that are accepted are not in worklists, and suppliers need not know since when theirs are open.
        *((name, pa.string()) for name in FAILURES.names[: FAILURES.names.index("law")]),
        ("language_code", pa.string()),
        ("position", pa.string()),
        ("updated_at", pa.timestamp("us")),
        ("update_waits", pa.bool_()),
        ("new_value", pa.string()),
        ("how", pa.string()),
        ("row_key", pa.string()),
        ("asked_for", pa.string()),
        ("same_answer", pa.string()),
        ("scope", pa.string()),
        ("accept_because", pa.string()),
        ("law", pa.string()),
    ]
)


@dataclass(frozen=True)
class SheetColumn:
    """A column of the sheet "To fix": the column of the rows it shows, its heading, its width in characters."""

    name: str
    heading: str
    width: int
    is_hidden: bool = False


#: Programs rely on the names, which the hidden sheet lists in this order; headings and widths may change. The
#: first columns are those that are needed to answer, within the screen of a laptop (`VISIBLE_WIDTH`). Explanations
#: follow. The key of the row is hidden: it alone says which question the row is.
TO_FIX = (
    SheetColumn("gtin", "GTIN", 16),
    SheetColumn("name", "Name", 24),
    SheetColumn("language", "Language", 14),
    SheetColumn("problem", "Problem", 26),
    SheetColumn("value", "Value seen", 27),
    SheetColumn("new_value", "New value", 34),
    SheetColumn("how", "How to answer", 32),
    SheetColumn("asked_for", "Asked for", 21),
    SheetColumn("reason", "What is wrong", 28),
    SheetColumn("fix", "How to fix", 34),
    SheetColumn("accept_because", "Accept because", 26),
    SheetColumn("severity", "Severity", 13),
    SheetColumn("market", "Market", 14),
    SheetColumn("law", "Required by", 26),
    SheetColumn("title", "Expected", 28, is_hidden=True),
    SheetColumn("row_key", "Row key", 12, is_hidden=True),
)

#: The columns of the rows: what people read comes first, in their order.
_READ_FIRST = dict.fromkeys(["row", *(column.name for column in TO_FIX if not column.is_hidden), *_ROW.names])
WORKLIST = pa.schema([_ROW.field(name) for name in _READ_FIRST])

#: Columns of a worklist that only the key of a row says, with the headings of whoever makes a table of their own.
OF_THE_KEY = {
    "product_id": "Product",
    "attribute": "Field",
    "check": "Check",
    "language_code": "Language code",
    "position": "Position",
    "updated_at": "Last changed",
}

#: The sheet "Several at once": each row represents all rows of "To fix" with the same `same_answer`.
SEVERAL = (
    SheetColumn("problem", "Problem", 34),
    SheetColumn("asked_for", "Asked for", 30),
    SheetColumn("language", "Language", 14),
    SheetColumn("value", "Value seen", 28),
    SheetColumn("rows", "Rows", 7),
    SheetColumn("new_value", "New value", 34),
    SheetColumn("how", "How to answer", 36),
    SheetColumn("same_answer", "Same answer", 20, is_hidden=True),
)


#: Pixels within which a laptop shows all that is needed for an answer.
VISIBLE_WIDTH = 1_400


def pixels(width: float) -> int:
    """Return the width of a column in pixels, as spreadsheets draw it with their usual font.

    >>> sum(pixels(column.width) for column in TO_FIX[:8]) <= VISIBLE_WIDTH
    True
    """
    # ECMA-376 part 1, 18.3.1.13: digits of 7 pixels, and 5 pixels of padding.
    return int(width * 7 + 5)


def same_answer(attribute: str | None, check: str, language: str | None, value: str | None) -> str:
    """Return what rows have in common that one answer can be for.

    >>> same_answer("brand", "has_brand", None, None) == same_answer("brand", "has_brand", None, "ACME")
    False
    """
    return f"s{short_digest(attribute, check)}.{short_digest(language, value)}"


def short_digest(*values: str | None) -> str:
    """Return a short digest of values: it tells changes apart, and is no protection against forgery."""
    content = json.dumps(values, ensure_ascii=True)
    return blake2b(content.encode(), digest_size=4).hexdigest()


def seal_of(values: Mapping[str, Any]) -> str:
    """Return the seal of a hidden sheet: a digest of everything else that it says."""
    sealed = {name: value for name, value in values.items() if name != "seal"}
    return blake2b(json.dumps(sealed, sort_keys=True).encode(), digest_size=16).hexdigest()


def is_deletion(text: str) -> bool:
    """Whether an answer deletes what there is: the word for it in any language, in brackets.

    >>> [is_deletion(one) for one in ("(Delete)", "( supprimer )", "(loeschen)", "delete")]
    [True, True, True, False]
    """
    return _BRACKETED.fullmatch(text.strip()) is not None and recognized(text, (DELETE_WORD,)) is not None


_BRACKETED = re.compile(r"\(\s*\w+\s*\)")
