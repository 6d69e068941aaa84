"""The layout of a worklist: its columns and its hidden sheet, on which those who write and read it agree."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from prodex.languages import LANGUAGES, Translation
from prodex.messages import unaccented
from prodex.quality.failures import FAILURES

#: The number of the layout of what programs rely on: the hidden sheet, and the columns that it lists. In another one
#: other columns say what an answer is about, and an answer must not be half read.
FORMAT = 4

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
#: filled in, and `how` says how to answer, or why no answer is asked for. `row_mark` says what the row was when it was
#: written, so that rows that somebody added, and cells that somebody typed over, can be recognized. `asked_for` is the
#: field in the words of people; `same_answer` is the same for rows that can be answered at once; `scope` says which
#: products the worklist is about where these were chosen, and is null where it is about all of them;
#: `accept_because` is empty, for a supplier who has a reason to leave the value as it is; `law` is the law that
#: asks for it, with its article.
WORKLIST = pa.schema(
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
        ("row_mark", pa.string()),
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
#: follow, and the terms of the service are hidden.
TO_FIX = (
    SheetColumn("gtin", "GTIN", 16),
    SheetColumn("name", "Name", 26),
    SheetColumn("language", "Language", 10),
    SheetColumn("problem", "Problem", 26),
    SheetColumn("value", "Value seen", 28),
    SheetColumn("new_value", "New value", 34),
    SheetColumn("how", "How to answer", 32),
    SheetColumn("asked_for", "Asked for", 21),
    SheetColumn("reason", "What is wrong", 28),
    SheetColumn("fix", "How to fix", 34),
    SheetColumn("accept_because", "Accept because", 26),
    SheetColumn("severity", "Severity", 9),
    SheetColumn("market", "Market", 14),
    SheetColumn("title", "Expected", 28, is_hidden=True),
    SheetColumn("product_id", "Product", 12, is_hidden=True),
    SheetColumn("attribute", "Field", 20, is_hidden=True),
    SheetColumn("check", "Check", 24, is_hidden=True),
    SheetColumn("row", "Row", 8, is_hidden=True),
    SheetColumn("language_code", "Language code", 12, is_hidden=True),
    SheetColumn("position", "Position", 10, is_hidden=True),
    SheetColumn("updated_at", "Last changed", 20, is_hidden=True),
    SheetColumn("same_answer", "Same answer", 12, is_hidden=True),
    SheetColumn("row_mark", "Row mark", 12, is_hidden=True),
    # The last one: files that were written before it was there have all others at the same places.
    SheetColumn("law", "Required by", 26),
)

#: The sheet "Several at once": each row represents all rows of "To fix" with the same `same_answer`.
SEVERAL = (
    SheetColumn("problem", "Problem", 34),
    SheetColumn("asked_for", "Asked for", 30),
    SheetColumn("language", "Language", 10),
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
    """Return what rows have in common that one answer can be for; its first part says what is asked.

    >>> same_answer("brand", "has_brand", None, None).partition(".")[0] == asked_at_once("brand", "has_brand")
    True
    """
    return f"{asked_at_once(attribute, check)}.{digest(language, value)}"


def asked_at_once(attribute: str | None, check: str | None) -> str:
    """Return the first part of `same_answer`: a row that is about something else is not one of those."""
    return f"s{digest(attribute, check)}"


#: Keys that a spreadsheet could take for a number or a date. Where a file is made for people, they are in brackets,
#: which no spreadsheet changes; product ids that people know by heart stay as they are.
GUARDED = ("product_id", "position")
_SAFE_ID = re.compile(r"0|[1-9][0-9]{0,10}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def guarded(name: str, key: str) -> str:
    """Return a key as it is written for people: in brackets where a spreadsheet could change it.

    Up to eleven digits are shown as they are; more of them, zeros at the beginning, a date (3-4) and an exponent (1E5)
    are not.

    >>> guarded("position", "0.2"), guarded("product_id", "7"), guarded("product_id", "0012")
    ('[0.2]', '7', '[0012]')
    """
    return key if name == "product_id" and _SAFE_ID.fullmatch(key) else f"[{key}]"


def unguarded(key: str) -> str | None:
    """Return a key without its brackets; None for one without brackets, which a spreadsheet may have changed.

    >>> unguarded("[0.2]"), unguarded("[]"), unguarded("0.2")
    ('0.2', '', None)
    """
    return key[1:-1] if len(key) > 1 and key[0] == "[" and key[-1] == "]" else None


def digest(*values: str | None) -> str:
    """Return a short digest of values: it tells changes apart, and is no protection against forgery."""
    content = json.dumps(values, ensure_ascii=True)
    return blake2b(content.encode(), digest_size=4).hexdigest()


def seal_of(values: Mapping[str, Any]) -> str:
    """Return the seal of a hidden sheet: a digest of everything else that it says."""
    sealed = {name: value for name, value in values.items() if name != "seal"}
    return blake2b(json.dumps(sealed, sort_keys=True).encode(), digest_size=16).hexdigest()


def in_all_languages(message: str) -> frozenset[str]:
    """Return how a message of worklists reads in each of their languages.

    >>> sorted(in_all_languages(DELETE_WORD))
    ['(delete)', '(löschen)', '(supprimer)', '(verwijderen)']
    """
    return frozenset(Translation(language).gettext(message) for language in LANGUAGES)


def is_deletion(text: str) -> bool:
    """Whether an answer deletes what there is: the word for it in any language, in brackets.

    >>> [is_deletion(one) for one in ("(Delete)", "( supprimer )", "(loeschen)", "delete")]
    [True, True, True, False]
    """
    found = _BRACKETED.fullmatch(text.strip())
    return found is not None and _plain(found[1]) in _deletions()


_BRACKETED = re.compile(r"\(\s*(\w+)\s*\)")


def _plain(word: str) -> str:
    return unaccented(word.casefold().replace("ö", "o").replace("oe", "o"))


@cache
def _deletions() -> frozenset[str]:
    return frozenset(_plain(word[1:-1]) for word in in_all_languages(DELETE_WORD))
