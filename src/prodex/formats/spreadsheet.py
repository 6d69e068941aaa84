r"""Text that stays text in a spreadsheet, and is read back unchanged.

A CSV file is opened with the list separator of whoever opens it: a comma, a semicolon or a tab. Where it is not the
comma, quotes inside a line no longer protect: `"a","b;=1+1"` is then a cell `a,"b` and a cell `=1+1"`, which runs. So
an apostrophe is put wherever a cell could begin, whatever the separator, when a sign follows that begins a formula.
The escape can be undone for every text: `unescape_formulas(escape_formulas(text)) == text`.

Sources: OWASP, CSV injection; RFC 4180; ECMA-376 part 1, 22.9.2.19 (`_xHHHH_` in workbooks).
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Any

import pandas as pd

from prodex.arguments import described
from prodex.errors import InputError

#: What begins a formula, also as full-width and other forms that Unicode takes for the same.
SIGNS = "=+\\-@⁺⁼₊₋₌−⩵⩶﬩﹢﹣﹦﹫＋－＝＠"

#: What spreadsheets drop before it, or show as nothing: white space, controls, and characters without a width.
_INVISIBLE = (
    "\x00-\x20\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680\u17b4\u17b5"
    "\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)

# A run of all that may be between the beginning of a cell and the sign: separators, quotes that another separator
# makes meaningless, and apostrophes, so that an escape changes neither where runs are nor where they end.
_BETWEEN = f"{_INVISIBLE};\"'"
_RUN = re.compile(f"(?<![{_BETWEEN}])[{_BETWEEN}]*+(?=[{SIGNS}])")
_FIRST = re.compile(f"[{_BETWEEN}]*+[{SIGNS}]")
_BEGINNING = re.compile(r"\r\n|[\r\n\t;]")
_ESCAPED_BEGINNING = re.compile(r"(\r\n|[\r\n\t;])'")

#: What readers of workbooks take for one character: _x0041_ for "A".
_CODE = re.compile("_(?=x[0-9a-fA-F]{4}_)")


def escape_formulas(text: str) -> str:
    r"""Return a text of which no spreadsheet runs anything, whatever separates its cells.

    >>> escape_formulas("=1+1"), escape_formulas("a;=1+1"), escape_formulas("a\n \uff0b1"), escape_formulas("a = b - c")
    ("'=1+1", "a;'=1+1", "a\n' ＋1", 'a = b - c')
    """
    if not _FIRST.match(text) and not _BEGINNING.search(text):
        return text  # most texts, at a tenth of the cost
    return _RUN.sub(_with_apostrophes, text)


def unescape_formulas(text: str) -> str:
    r"""Return the text of a cell as it was before it was made safe for spreadsheets.

    Parameters
    ----------
    text
        Text of a CSV file that was written with `escape_formulas=True`, which `datapackage.json` beside it
        says; `frame["text"].map(prodex.formats.unescape_formulas)` does a column. A missing value stays missing.

    Raises
    ------
    InputError
        When it is no text.

    Examples
    --------
    >>> unescape_formulas("'=1+1"), unescape_formulas(escape_formulas("'=1")), unescape_formulas("'tis")
    ('=1+1', "'=1", "'tis")
    """
    if not isinstance(text, str):
        if text is None or text is pd.NA or (isinstance(text, float) and math.isnan(text)):
            return text
        raise InputError(
            f"text is {described(text)}. Give a text; of a column, frame['text'].map(prodex.formats.unescape_formulas)."
        )
    return _RUN.sub(_without_apostrophes, text) if "'" in text else text


def without_codes(text: str) -> str:
    """Return a text as a workbook has to spell it, so that what looks like the code of a character stays what it is.

    >>> without_codes("_x0041_x0042_"), without_codes("snake_case")
    ('_x005F_x0041_x005F_x0042_', 'snake_case')
    """
    return _CODE.sub("_x005F_", text)


def spelled(value: Any) -> str:
    """Return a value as the text that files without types hold: numbers to their last digit, moments with their zone.

    >>> spelled(datetime.fromisoformat("2026-11-20T08:00:00+00:00")), spelled(0.1 + 0.2)
    ('2026-11-20T08:00:00Z', '0.30000000000000004')
    """
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else str(value)


def _with_apostrophes(run: re.Match[str]) -> str:
    first = "" if run.start() else "'"
    return first + _BEGINNING.sub(r"\g<0>'", run[0])


def _without_apostrophes(run: re.Match[str]) -> str:
    between = run[0] if run.start() else run[0].removeprefix("'")
    return _ESCAPED_BEGINNING.sub(r"\1", between)
