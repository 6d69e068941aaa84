"""What is said of a product, or why it is not: a term, the words, and how values are written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from prodex.locales import language_label
from prodex.tables.values import number_text
from prodex.verbatim import Words, words

NOTHING = words(None)
#: Bytes that one value takes at most; texts have a room of their own.
MOST = 2_000

#: What people call the uses of a unit, of a product and of what is packed in it alike.
UNIT_FLAGS = {
    "is_consumer_unit": "consumer unit",
    "is_display_unit": "display unit",
    "is_despatch_unit": "despatch unit",
    "is_orderable_unit": "orderable",
    "is_invoice_unit": "invoice unit",
}


@dataclass(frozen=True)
class Fact:
    """A term and what is said.

    Attributes
    ----------
    term
        Our own words.
    value
        What is said.
    note
        What stands beside it in small letters: a code, say.
    missing
        Why nothing is said, where nothing is.
    """

    term: str
    value: Words
    note: Words = NOTHING
    missing: str = "none"


def said(value: Any, most: int = MOST) -> Words:
    """Return a value as people read it.

    >>> said(True).text, said(4000.0).text, said(datetime(2026, 11, 20, 8, 0)).text, said(None).is_missing
    ('yes', '4,000', '2026-11-20 08:00:00', True)
    """
    if isinstance(value, bool):
        return words("yes" if value else "no")
    if isinstance(value, int | float):
        return words(f"{value:,.15g}" if isinstance(value, float) else f"{value:,}")
    if isinstance(value, datetime):
        return words(f"{value:%Y-%m-%d %H:%M:%S}{' UTC' if value.tzinfo else ''}")
    return words(value, most)


def as_sent(value: Any) -> str:
    """Return a value as the wire had it, so that columns and scalars can be held against each other.

    >>> as_sent(True), as_sent(0.5), as_sent(datetime(2026, 11, 20, 8, 0))
    ('true', '0.5', '2026-11-20T08:00:00')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, datetime):
        return str(int(value.timestamp())) if value.tzinfo else value.isoformat()
    return str(value)


def item(position: str) -> str | None:
    """Say which item of a list a position means; the first, or only, needs no word.

    >>> item("0"), item("0.2"), item("")
    (None, 'item 1.3', None)
    """
    numbers = [int(one) + 1 for one in position.split(".") if one]
    return "item " + ".".join(map(str, numbers)) if any(one > 1 for one in numbers) else None


def tongue(code: str | None) -> Words:
    """Return the name of a language, or its code where there is no name.

    >>> tongue("fr").text, tongue("xx-Klingon").text, tongue(None).text
    ('French', 'xx-Klingon', 'no language')
    """
    return words("no language" if code is None else language_label(code), MOST)
