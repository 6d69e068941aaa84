"""The options of the controls of a query: markets, languages, statuses, fields and owners, each with its value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta  # noqa: F401 - UTC is for the example
from enum import Enum
from typing import Self

import pandas as pd
import pyarrow.compute as pc

from prodex import locales
from prodex.catalog import Catalog
from prodex.locales import spelled_short
from prodex.notebook.query.controls import comma_separated
from prodex.query import SEARCH_FIELDS, ProductStatus, SharingStatus, ValidationStatus

# By hand: the names in the specification are abbreviations.
_VALIDATION = {
    ValidationStatus.NA: "No status (NA)",
    ValidationStatus.NOT_OK: "Not OK",
    ValidationStatus.OK: "OK",
    ValidationStatus.CORRECTION: "To be corrected",
}

# What the specification calls "assignation" is assignment in English.
_PRODUCT_STATUS = {ProductStatus.ASSIGNATION_PENDING: "Assignment pending"}

#: The fields that are searched at first: a word in a list of ingredients says little of what a product is.
FIRST_SEARCHED = ("namePublicLong.data", "brand.label", "kind.label")

_SEARCHED = {
    "namePublicLong.data": "Name",
    "composition.data": "Ingredients",
    "allergens.data": "Allergens",
    "brand.label": "Brand",
    "kind.label": "Kind",
    "description.data": "Description",
}

#: Presets for the fields of a product that are returned: a label, and their wire paths as text.
INCLUDED = (
    ("everything", ""),
    ("names, brand and kind", "namePublicLong, namePublicShort, nameLegal, brand, kind"),
    ("pictures only", "assets.pictures"),
    ("pictures, documents and videos", "assets"),
    ("keys and dates only", "updatedAt"),
)

#: Presets for the fields that are left out.
EXCLUDED = (
    ("nothing", ""),
    ("pictures, documents and videos", "assets"),
    ("logistical hierarchies", "logisticalHierarchies"),
)


def markets(first: Iterable[int] = ()) -> list[tuple[str, int | str]]:
    """Return every market by name, after some that are offered first.

    >>> [one for one in markets() if one[1] in ("", 56)]
    [('any market', ''), ('Belgium (056)', 56)]
    >>> markets(first=[250])[:3]
    [('any market', ''), ('France (250)', 250), ('Afghanistan (004)', 4)]
    """
    known = locales.markets()
    codes = dict.fromkeys([*(code for code in first if code in known), *known])
    return [("any market", ""), *((f"{known[code]} ({code:03d})", code) for code in codes)]


def language_options() -> list[tuple[str, str]]:
    """Return every language that has a code of two letters."""
    return [(f"{name} ({tag})", tag) for tag, name in locales.languages().items()]


def language_names(text: str) -> str:
    """Return the names of the languages in a comma-separated text, as far as they are known.

    >>> language_names("fr, nld, x")
    'French, Dutch'
    """
    return _names_in(map(spelled_short, comma_separated(text)), locales.languages())


def periods(now: datetime) -> list[tuple[str, datetime | None, datetime | None]]:
    """Return periods of change that people ask for: a label, and the beginning and the end; None is open.

    Parameters
    ----------
    now
        The present, in UTC. Days and months are those of UTC, in which the service keeps its dates.

    Examples
    --------
    >>> [(label, f"{begin:%m-%d}") for label, begin, _ in periods(datetime(2026, 11, 23, 12, tzinfo=UTC)) if begin]
    [('today', '11-23'), ('last 7 days', '11-16'), ('last 30 days', '10-24'), ('last month', '10-01')]
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    month = midnight.replace(day=1)
    before = (month - timedelta(days=1)).replace(day=1)
    return [
        ("any time", None, None),
        ("today", midnight, None),
        ("last 7 days", midnight - timedelta(days=7), None),
        ("last 30 days", midnight - timedelta(days=30), None),
        ("last month", before, month - timedelta(seconds=1)),
    ]


def validation_statuses() -> list[tuple[str, ValidationStatus]]:
    """Return every validation status."""
    return [(_VALIDATION[one], one) for one in ValidationStatus]


def product_statuses() -> list[tuple[str, ProductStatus]]:
    """Return every status on the retailer's side."""
    return [(_PRODUCT_STATUS.get(one) or _enum_label(one), one) for one in ProductStatus]


def sharing_statuses() -> list[tuple[str, SharingStatus | str]]:
    """Return every sharing status."""
    return [("any", ""), *((_enum_label(one), one) for one in SharingStatus)]


def searched_fields() -> list[tuple[str, str]]:
    """Return every field that can be searched."""
    return [(_SEARCHED[field], field) for field in SEARCH_FIELDS]


def owners(organizations: pd.DataFrame) -> list[tuple[str, int]]:
    """Return the organisations that a service lists, by name, without those that have no number to filter by.

    >>> owners(pd.DataFrame({"id": [12, 11], "nameLegal": ["Zest", "Acme"]}))
    [('Acme (11)', 11), ('Zest (12)', 12)]
    """
    # The specification calls the name of an organisation `nameLegal`; one service sends `name`.
    column = next((name for name in ("nameLegal", "name") if name in organizations), None)
    if column is None or "id" not in organizations:
        return []
    found = [
        (f"{name} ({number})", int(number))
        for name, number in zip(organizations[column], organizations["id"], strict=True)
        if str(number).isdecimal()
    ]
    return sorted(found, key=lambda one: one[0].casefold())


def owner_names(text: str, known: Sequence[tuple[str, int]]) -> str:
    """Return the names of the owners in a comma-separated text, as far as they are known."""
    return _names_in(comma_separated(text), {str(number): name for name, number in known})


def _names_in(codes: Iterable[str], known: Mapping[str, str]) -> str:
    return ", ".join(dict.fromkeys(known[code] for code in codes if code in known))


def _enum_label(one: Enum) -> str:
    return one.name.replace("_", " ").capitalize()


#: Names of kinds that a field completes; a list of thousands is of no help.
_MOST = 300
#: Words that are offered for one that matches nothing.
SIMILAR = 3
#: Characters of a name that somebody may want to search for.
_LONGEST = 60


@dataclass(frozen=True)
class Suggestions:
    """Values to suggest for a query.

    Attributes
    ----------
    markets
        Numbers of ISO 3166-1.
    kinds
        Names of kinds, as the service labels them.

    Examples
    --------
    >>> import prodex
    >>> tea = {"kind": {"code": "TEA", "label": "Tea"}}
    >>> key = {"target_market_id": 250}
    >>> Suggestions.of(prodex.flatten([{"id": 7, **tea, "product_key": key}, {"id": 8}]))
    Suggestions(markets=(250,), kinds=('Tea',))
    >>> Suggestions(kinds=("Oat drink", "Tea", "Soya drink")).similar("drinks")
    {'drink': ['Oat drink', 'Soya drink']}
    """

    markets: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()

    @classmethod
    def of(cls, catalog: Catalog) -> Self:
        """Return those of a catalogue; it is read for that."""
        markets: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        for part in catalog.parts:
            read = part.read("products", ["target_market", "kind"])
            for counter, column in ((markets, "target_market"), (kinds, "kind")):
                found = pc.value_counts(read[column])
                counter.update(dict(zip(found.field(0).to_pylist(), found.field(1).to_pylist(), strict=True)))
        codes = (code for code, _ in markets.most_common() if code is not None)
        numbers = [int(code) for code in codes if re.fullmatch("[0-9]{1,3}", code)]
        names = [name for name, _ in kinds.most_common(_MOST) if name is not None]
        return cls(tuple(numbers), tuple(name for name in names if 0 < len(name) <= _LONGEST))

    def similar(self, word: str) -> dict[str, list[str]]:
        """Return words that begin as this one does, each with the kinds that have it: services look for whole words.

        Those of most kinds are first.
        """
        # All but two letters: enough for most plurals.
        begin = word.casefold()[: max(len(word) - 2, 3)]
        if len(begin) < 3:
            return {}
        found: dict[str, list[str]] = {}
        for kind in self.kinds:
            for one in dict.fromkeys(kind.casefold().split()):
                if one.startswith(begin) and one != word.casefold():
                    found.setdefault(one, []).append(kind)
        most = sorted(found.items(), key=lambda pair: -len(pair[1]))
        return dict(most[:SIMILAR])
