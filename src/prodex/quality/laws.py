"""Laws that ask for product data, and the days on which they begin and end.

A rule that a law asks for names it with its article. Before its first day the rule warns of what will be asked, after
its last day it is asked of no product; `prodex.audit(catalog, as_of=...)` says which day is meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

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
        Name by which rules refer to it.
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

    def cited(self, article: str) -> str:
        """Return an article of it as it is cited.

        >>> LAWS["food-information"].cited("Art. 9(1)(b)")
        'Regulation (EU) No 1169/2011, Art. 9(1)(b)'
        """
        return f"{self.number}, {article}" if article else self.number


def _by_id(*laws: Law) -> dict[str, Law]:
    return {law.id: law for law in laws}


#: All laws that rules name.
LAWS: Mapping[str, Law] = _by_id(
    Law(
        id="food-information",
        number="Regulation (EU) No 1169/2011",
        name="Food information to consumers",
        in_force=date(2014, 12, 13),
        source="https://eur-lex.europa.eu/eli/reg/2011/1169",
        checked=date(2026, 11, 27),
        read_in="copies of Annexes III and IX and of Art. 55 in retained law; Art. 17(4) and 28 in pages about them",
    ),
    Law(
        id="health-claims",
        number="Regulation (EC) No 1924/2006",
        name="Nutrition and health claims made on foods",
        in_force=date(2007, 7, 1),
        source="https://eur-lex.europa.eu/eli/reg/2006/1924",
        checked=date(2026, 11, 27),
        read_in="https://www.legislation.gov.uk/eur/2006/1924 and copies of the consolidated text",
    ),
    Law(
        id="product-safety",
        number="Regulation (EU) 2023/988",
        name="General product safety",
        in_force=date(2024, 12, 13),
        source="https://eur-lex.europa.eu/eli/reg/2023/988",
        checked=date(2026, 11, 27),
        read_in="a copy of Art. 2 at eurlexa.com, and Art. 19 and its day in three summaries",
    ),
    Law(
        id="honey",
        number="Directive (EU) 2024/1438",
        name="Origin of honey",
        in_force=date(2026, 6, 14),
        source="https://eur-lex.europa.eu/eli/dir/2024/1438",
        checked=date(2026, 11, 27),
        read_in="summaries of the food authority of Ireland, of eumonitor.eu (its days) and of the press",
    ),
    Law(
        id="packaging",
        number="Regulation (EU) 2025/40",
        name="Packaging and packaging waste",
        in_force=date(2026, 8, 12),
        source="https://eur-lex.europa.eu/eli/reg/2025/40",
        checked=date(2026, 11, 27),
        read_in="three summaries of Art. 12, which agree on its days",
    ),
    Law(
        id="deforestation",
        number="Regulation (EU) 2023/1115",
        name="Deforestation-free products",
        in_force=date(2026, 12, 30),
        source="https://eur-lex.europa.eu/eli/reg/2023/1115",
        checked=date(2026, 11, 27),
        read_in="summaries of Regulation (EU) 2025/2650, which moved its days for the second time",
    ),
    Law(
        id="unit-price",
        number="Directive 98/6/EC",
        name="Prices per unit",
        in_force=date(2000, 3, 18),
        source="https://eur-lex.europa.eu/eli/dir/1998/6",
        checked=date(2026, 11, 27),
        read_in="a copy of Art. 3 at legislation.gov.uk, and its day at eumonitor.eu",
    ),
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
