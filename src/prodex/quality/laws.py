"""Laws that ask for product data, and the days on which they begin and end.

A rule that a law asks for names it with its article. Before its first day the rule warns of what will be asked, after
its last day it is asked of no product; `prodex.audit(catalog, as_of=...)` says which day is meant.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from prodex.written_dates import day_given

#: How a check stands to the law behind it on a day; "" where no day decides.
Standing = Literal["", "in force", "announced", "ended"]
IN_FORCE: Standing = "in force"
ANNOUNCED: Standing = "announced"
ENDED: Standing = "ended"


@dataclass(frozen=True)
class Law:
    """A law that asks for product data.

    Attributes
    ----------
    id
        A short name of it.
    number
        As it is cited: "Regulation (EU) No 1169/2011".
    name
        What it is about, in a few words.
    in_force
        The first day on which it applies to products.
    source
        Address of its text.
    read_in
        Where its articles and days were checked, if not at its source.
    checked
        When.
    """

    id: str
    number: str
    name: str
    in_force: date
    source: str
    checked: date
    read_in: str = ""

    def __post_init__(self) -> None:
        # A day as text is one as well, as in profiles; compared with a day it would end every audit.
        for name in ("in_force", "checked"):
            object.__setattr__(self, name, day_given(getattr(self, name), name))

    def cited(self, article: str) -> str:
        """Return an article of it as it is cited.

        >>> FOOD_INFORMATION.cited("Art. 9(1)(b)")
        'Regulation (EU) No 1169/2011, Art. 9(1)(b)'
        """
        return f"{self.number}, {article}" if article else self.number


#: What food has to be declared with; the measures of a pack are among it.
FOOD_INFORMATION = Law(
    id="food-information",
    number="Regulation (EU) No 1169/2011",
    name="Food information to consumers",
    in_force=date(2014, 12, 13),
    source="https://eur-lex.europa.eu/eli/reg/2011/1169",
    checked=date(2026, 11, 27),
    read_in="copies of Annexes III and IX and of Art. 55 in retained law; Art. 17(4) and 28 in pages about them",
)


def standing(in_force: date | None, until: date | None, day: date) -> Standing:
    """Say how something that is asked from one day until another stands on a day.

    Parameters
    ----------
    in_force
        The first day; None where it has been asked for ever.
    until
        The last day; None where no end is known.
    day
        The day that is meant.

    Examples
    --------
    >>> [standing(date(2026, 8, 12), None, date(2026, month, 12)) for month in (7, 8)]
    ['announced', 'in force']
    >>> standing(None, date(2027, 3, 15), date(2027, 3, 16)), standing(None, None, date(2026, 1, 1))
    ('ended', '')
    """
    if in_force is None and until is None:
        return ""
    if in_force is not None and day < in_force:
        return ANNOUNCED
    return ENDED if until is not None and day > until else IN_FORCE
