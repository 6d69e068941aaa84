"""What a spreadsheet makes of what somebody types: `0012` becomes 12, `1E2` 100, `MAR1` a date, `TRUE` a truth value.

The cell no longer holds what was typed, and its kind says so. Where a known value becomes this cell when it is typed,
that value may have been meant; somebody has to say so, since others become the same cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache

from prodex.errors import InputError
from prodex.formats.workbook_cells import Cell, CellKind
from prodex.languages import Message, Said
from prodex.phrases import unaccented
from prodex.written_dates import written_date

#: The kinds of cells that a program has made of something else.
RETYPED = frozenset[CellKind]({"number", "percentage", "date", "boolean"})

#: Languages of spreadsheets whose names of months and truth values are known: those that prodex detects, and Danish.
_LANGUAGES = ("en", "fr", "de", "es", "it", "nl", "pt", "nb", "da", "sv", "fi")
_TRUE = frozenset(["true", "vrai", "wahr", "verdadero", "vero", "waar", "verdadeiro", "sann", "sand", "tosi"])
_FALSE = frozenset(["false", "faux", "falsch", "falso", "onwaar", "falskt", "usann", "falsk", "epatosi"])

#: Digits as people type a number: a sign, groups, one decimal sign, an exponent. Longer ones are no number of a cell.
_NUMBER = re.compile(r"[-+]?(?:\d{1,20}|\d{1,3}(?:[ ,.'’]\d{3}){1,5})(?:[.,]\d{1,20})?(?:[eE][-+]?\d{1,3})?")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:[,.]\d{3})+")
_PIECES = re.compile(r"[^\W\d_]+|\d+")
_BETWEEN = re.compile(r"[\s./,-]*")


def is_made_of(typed: str, kind: CellKind, held: str) -> bool:
    """Return whether a spreadsheet makes this cell of a text that is typed into it.

    Parameters
    ----------
    typed
        The text.
    kind, held
        The kind of the cell, and its value as text, as in `prodex.formats.workbook_cells.Cell`.

    Examples
    --------
    >>> is_made_of("0012", "number", "12"), is_made_of("1E2", "number", "100"), is_made_of("12", "number", "120")
    (True, True, False)
    >>> is_made_of("MAR1", "date", "2026-03-01"), is_made_of("50%", "percentage", "50")
    (True, True)
    """
    text = typed.strip()
    match kind:
        case "number":
            return _reads_as_number(text, held)
        case "percentage":
            return text.endswith("%") and _reads_as_number(text[:-1].strip(), held)
        case "boolean":
            return unaccented(text) in (_TRUE if held == "true" else _FALSE)
        case "date":
            return _is_date(text, held)
    return False


def possible_values(known: Iterable[str], kind: CellKind, held: str) -> list[str]:
    """Return the known values of which a spreadsheet makes this cell.

    >>> possible_values(["12", "0012", "12A"], "number", "12")
    ['12', '0012']
    """
    return [one for one in known if is_made_of(one, kind, held)]


def _reads_as_number(text: str, held: str) -> bool:
    """Return whether a text can be read as the number of a cell: "1,234" as 1.234 and as 1234."""
    if _NUMBER.fullmatch(text) is None:
        return False
    mantissa, _, exponent = text.lower().partition("e")
    plain = re.sub("[ '’]", "", mantissa)
    spellings = {re.sub("[,.]", "", plain) if _GROUPED.fullmatch(plain) else plain}
    if marks := re.findall("[,.]", plain):
        whole, _, rest = plain.rpartition(marks[-1])
        spellings.add(f"{re.sub('[,.]', '', whole)}.{rest}")
    return any(_cell_number(f"{one}e{exponent or 0}") == _cell_number(held) for one in spellings)


def _cell_number(spelling: str) -> Decimal | None:
    try:
        value = Decimal(spelling)
    except InvalidOperation:
        return None
    # A cell holds a double.
    return value if value.is_finite() and abs(value.adjusted()) < 400 else None


def _is_date(text: str, held: str) -> bool:
    """Return whether a text reads as a date, as a day and a month, or as a month and a year."""
    try:
        day = date.fromisoformat(held[:10])
    except ValueError:
        return False
    pieces = _PIECES.findall(text)
    if not 2 <= len(pieces) <= 3 or any(rest for rest in _PIECES.split(text) if not _BETWEEN.fullmatch(rest)):
        return False
    if any(one.isdigit() and len(one) > 4 for one in pieces):
        return False
    words = [one for one in pieces if not one.isdigit()]
    numbers = sorted(int(one) for one in pieces if one.isdigit())
    if len(words) > 1 or any(unaccented(one) not in _months()[day.month] for one in words):
        return False
    years = (day.year, day.year % 100)
    if words:
        # "MAR1" is the first of March, or March of the year 1.
        return numbers in ([day.day], *([one] for one in years if day.day == 1), *_sorted(day.day, years))
    whole = [sorted([day.day, day.month]), *(sorted([day.month, one]) for one in years if day.day == 1)]
    return numbers in (*whole, *(sorted([day.day, day.month, one]) for one in years))


def _sorted(day: int, years: Iterable[int]) -> list[list[int]]:
    return [sorted([day, one]) for one in years]


@cache
def _months() -> dict[int, frozenset[str]]:
    """Return the names of each month, short and long, in all languages."""
    from babel.dates import get_month_names  # most files hold no dates, and importing it takes time

    names: dict[int, set[str]] = {number: set() for number in range(1, 13)}
    for language in _LANGUAGES:
        for width in ("abbreviated", "wide"):
            for context in ("format", "stand-alone"):
                for number, name in get_month_names(width, context, language).items():
                    plain = unaccented(name).rstrip(".")
                    # Excel takes the first three letters, and four of September.
                    names[number] |= {plain, plain[:3], plain[:4]}
    names[3].add("mrz")  # as Excel writes the German March
    return {number: frozenset(found) for number, found in names.items()}


#: Errors of spreadsheets, in the languages in which these show them, and what they show of a column that is too narrow.
_ERROR = re.compile(r"#(?:[A-ZÄÖÜ0-9/]{2,20}[!?]|N/?A|NV|NB|N/B|N/D)|#+", re.IGNORECASE)
#: What spreadsheets show of a number: with an exponent, or with a mark in it.
_SHOWN_NUMBER = re.compile(
    r"[-+]?\d+(?:[.,' \u00a0\u202f\u2019]\d+)+(?:E[-+]?\d+)?|[-+]?\d+(?:[.,]\d+)?E[-+]?\d+", re.IGNORECASE
)
#: What spreadsheets show of a day and a month, and of a month and a year: "1-Mar", "01. Mrz", "mars-26".
_SHOWN_DATE = re.compile(
    r"\d{1,2}\.?[- ./](?P<word>[^\W\d_]{3,10})\.?|(?P<first>[^\W\d_]{3,10})\.?[- ./]\d{2}"
)


def as_shown(cell: Cell) -> Cell:
    """Return a cell as a spreadsheet would have it that shows this: an error is shown as its name.

    >>> as_shown(Cell("#REF!", "text")).kind, as_shown(Cell("#foodie", "text")).kind
    ('error', 'text')
    """
    text = cell.text.strip()
    return cell._replace(kind="error") if cell.kind == "text" and _ERROR.fullmatch(text) else cell


def questions_of_spelling(text: str, path: str) -> tuple[Said, ...]:
    """Return what is asked of a text that a spreadsheet may have made of something else.

    >>> [str(one) for one in questions_of_spelling("Pain", "namePublicLong")]
    []
    """
    about = {"text": f"{text!r:.60}", "path": path}
    asked: list[Said] = []
    if _SHOWN_NUMBER.fullmatch(text):
        asked.append(
            Message(
                "{text} reads like a number, and a spreadsheet may have changed what was typed, such as zeros in "
                "front. Is it the value of {path}?",
                **about,
            )
        )
    elif _reads_like_a_date(text):
        asked.append(
            Message(
                "{text} reads like a date, and a spreadsheet may have made it of something else. Is it the value of "
                "{path}?",
                **about,
            )
        )
    if len(text) > 1 and text[0] == text[-1] == '"':
        asked.append(
            Message(
                "{text} is in quotes, which would be a part of the value of {path}. Are they meant?", **about
            )
        )
    return tuple(asked)


def _reads_like_a_date(text: str) -> bool:
    if len(text) > 40 or not any(letter.isdigit() for letter in text):
        return False
    if (shown := _SHOWN_DATE.fullmatch(text)) is not None:
        word = unaccented(shown["word"] or shown["first"])
        return any(word in names for names in _months().values())
    try:
        written_date(text)
    except InputError as error:
        # A day of March in one country, and of April in another, is a date all the same.
        return " may be " in str(error)
    return True
