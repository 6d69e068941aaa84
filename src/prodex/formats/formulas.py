r"""Formulas in texts: a text of a CSV file stays text in any spreadsheet, and is read back unchanged.

A CSV file is opened with the list separator of whoever opens it: a comma, a semicolon or a tab. Where it is not the
comma, quotes inside a line no longer protect: `"a","b;=1+1"` is then a cell `a,"b` and a cell `=1+1"`, which runs. So
an apostrophe is put wherever a cell could begin, whatever the separator, when a sign follows that begins a formula.
The escape can be undone for every text: `unescape_formulas(escape_formulas(text)) == text`.

Sources: OWASP, CSV injection; RFC 4180.
"""

from __future__ import annotations

import math
import re

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


def _with_apostrophes(run: re.Match[str]) -> str:
    first = "" if run.start() else "'"
    return first + _BEGINNING.sub(r"\g<0>'", run[0])


def _without_apostrophes(run: re.Match[str]) -> str:
    between = run[0] if run.start() else run[0].removeprefix("'")
    return _ESCAPED_BEGINNING.sub(r"\1", between)
