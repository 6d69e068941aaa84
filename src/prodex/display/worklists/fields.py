"""Fields: which of them can be corrected in a cell, and which values are allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
import pyarrow as pa

from prodex.display.worklists.sheets import TO_FIX
from prodex.tables.declaration import TABLES

#: Codes with their labels, by attribute.
Codes = Mapping[str, Sequence[tuple[str, str | None]]]

#: What no cell can correct.
_ELSEWHERE = frozenset(
    {
        # Keys: with another one it would be another product.
        *("id", "uuid", "gtin", "owner", "product_key"),
        # What the service keeps by itself.
        *("createdAt", "updatedAt", "validation", "manufacturerSharingStatus", "targetProductStatus"),
        *("lastRequest", "hasTags", "isTaggedBy"),
        # What is more than a value.
        *("assets", "logisticalHierarchies", "sharingUnits", "isPartitionedBy"),
        "certificationInformationList",
    }
)

#: Longest texts that the service takes; other localized texts have up to `_LONGEST_TEXT` characters.
_LONGEST = {"namePublicLong": 200, "namePublicShort": 35}
_LONGEST_TEXT = 20_000

_COLUMNS = [(column.kind, ".".join(path)) for column in TABLES["products"].columns for path in column.paths]
_BOOLEANS = frozenset(path for kind, path in _COLUMNS if kind == "boolean")
_CODES = {
    path.removesuffix(".code"): column.name
    for column in TABLES["products"].columns
    for path in map(".".join, column.paths)
    if column.kind == "code" and path.endswith(".code")
}


@dataclass(frozen=True)
class Allowed:
    """The values that are allowed as "New value" of a row.

    Attributes
    ----------
    title, message
        The text that is shown while the cell is selected.
    longest
        Most characters of a text.
    choices
        The possible values.
    codes_of
        The attribute whose codes are offered.
    strict
        Whether other values are refused; otherwise the spreadsheet only warns.
    """

    title: str
    message: str
    longest: int | None = None
    choices: tuple[str, ...] = ()
    codes_of: str | None = None
    strict: bool = True


def is_correctable(attribute: str | None) -> bool:
    """Return whether an attribute can be corrected in a cell.

    >>> is_correctable("namePublicLong"), is_correctable("assets.pictures"), is_correctable("gtin")
    (True, False, False)
    """
    return attribute is not None and attribute.split(".")[0] not in _ELSEWHERE


def code_column(attribute: str) -> str | None:
    """Return the column of `products` that holds the codes of an attribute.

    >>> code_column("kind"), code_column("kind.code"), code_column("namePublicLong")
    ('kind_code', 'kind_code', None)
    """
    return _CODES.get(attribute.removesuffix(".code"))


def allowed(attribute: str, language: str | None, codes: Mapping[str, int]) -> Allowed | None:
    """Return the allowed values, or None if they are unknown.

    Parameters
    ----------
    attribute
        Wire path.
    language
        Language of the text, for localized texts.
    codes
        Number of known codes, by attribute.
    """
    if attribute in _BOOLEANS:
        return Allowed("Yes or no", "Choose true or false.", choices=("true", "false"))
    if codes.get(attribute):
        message = f"A code: {codes[attribute]:,} are in use, see the sheet Codes. Others are possible."
        # Only asked about: the codes in use are known here, and the service knows others.
        return Allowed("Code", message, codes_of=attribute, strict=False)
    if attribute in _LONGEST:
        longest = _LONGEST[attribute]
        message = f"A text{_in(language)} of up to {longest:,} characters, on one line."
        # A spreadsheet refuses a longer title.
        return Allowed(attribute[:32], message, longest)
    if language is not None:
        return Allowed("Text", f"A text{_in(language)} of up to {_LONGEST_TEXT:,} characters.", _LONGEST_TEXT)
    return None


def _in(language: str | None) -> str:
    return "" if language is None else f" in the language {language[:20]}"


#: Ranges of cells in one validation; spreadsheets refuse very long lists of them.
_RANGES = 500


def validate(
    sheet: Any, columns: Mapping[str, pa.Array], can: Mapping[str | None, bool], codes: Codes
) -> None:
    """Declare the allowed values of the cells of "New value", as far as they are known."""
    place = next(i for i, column in enumerate(TO_FIX) if column.name == "new_value")
    counts = {name: len(known) for name, known in codes.items()}
    pairs = pa.table([columns["attribute"], columns["language"]], names=["attribute", "language"])
    pairs = pairs.append_column("row", pa.array(np.arange(1, len(pairs) + 1)))
    # Cells with the same rule share one validation: sheets with one for each row open slowly.
    grouped = pairs.group_by(["attribute", "language"], use_threads=False).aggregate([("row", "list")])
    for pair in grouped.to_pylist():
        attribute = pair["attribute"]
        rule = allowed(attribute, pair["language"], counts) if can[attribute] else None
        if rule is None:
            continue
        ranges = [[first, place, last, place] for first, last in _runs(pair["row_list"])]
        for start in range(0, len(ranges), _RANGES):
            first, *others = ranges[start : start + _RANGES]
            sheet.data_validation(*first, {**_criteria(rule, codes), "other_cells": others})


def _criteria(rule: Allowed, codes: Codes) -> dict[str, Any]:
    about = {
        "input_title": rule.title,
        "input_message": rule.message,
        "error_title": rule.title,
        "error_message": rule.message,
        "error_type": "stop" if rule.strict else "warning",
    }
    if rule.choices:
        return {"validate": "list", "source": list(rule.choices), **about}
    if rule.codes_of is not None:
        # The sheet Codes lists the codes of one attribute after those of the other, below a row of headings.
        above = takewhile(lambda name: name != rule.codes_of, codes)
        first = 2 + sum(len(codes[name]) for name in above)
        last = first + len(codes[rule.codes_of]) - 1
        return {"validate": "list", "source": f"=Codes!$B${first}:$B${last}", **about}
    return {"validate": "length", "criteria": "<=", "value": rule.longest, **about}


def _runs(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and the last row of each block of consecutive rows.

    >>> _runs([1, 2, 3, 7, 9, 10])
    [(1, 3), (7, 7), (9, 10)]
    """
    numbers = np.sort(np.asarray(rows))
    cuts = np.flatnonzero(np.diff(numbers) != 1)
    firsts, lasts = numbers[np.r_[0, cuts + 1]], numbers[np.r_[cuts, len(numbers) - 1]]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
