"""Which units a figure counts: consumer units, unless somebody says otherwise.

Whoever asks what is missing means what shops sell: a case needs no ingredients. So what is missing, coverage,
completeness and requirements count every product that is not known to be another unit. A product whose flag is absent
or cannot be read counts, and its kind is unknown. Whoever names a kind of unit means that kind, and nothing is left
out beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import InputError
from prodex.languages import ENGLISH, Message, Translation
from prodex.selection.paths import COLUMN, MISSING, MISSING_OF_ALL
from prodex.selection.selection import Selection
from prodex.tables.columns import Mask, as_one_chunk

#: What can be counted.
CONSUMER, ALL_UNITS = "consumer", "all"
UNITS: Final = (CONSUMER, ALL_UNITS)
#: What figures call it where a condition has named the units already.
NAMED = "named"
#: The column of `products` that tells consumer units, and those that name kinds of units.
FLAG = "is_consumer_unit"
_COLUMNS = frozenset({FLAG, "packaging_code", "packaging"})
_GROUPS = frozenset({"unit", "packaging", *(f"{COLUMN}{name}" for name in _COLUMNS)})
#: The products that count, as a condition: all but those that are known to be other units.
CONSUMER_UNITS = Selection(excepted=(Selection(groups={"unit": ("false",)}),))
#: The groups whose values are kinds of units.
UNIT_GROUPS: Final = ("unit", "packaging")


def units_given(units: object) -> str:
    """Return which units a caller wants to be counted.

    Raises
    ------
    InputError
        When they are neither "consumer" nor "all".
    """
    if isinstance(units, str) and units in UNITS:
        return units
    raise InputError(f"units is {units!r:.40}; give 'consumer' or 'all'.")


def names_units(*selections: Selection) -> bool:
    """Return whether a selection says of which units it speaks: by the flag of consumer units, or by the packaging.

    The condition of all that counts in any case, `CONSUMER_UNITS`, says nothing new.

    >>> names_units(Selection.of(packaging_code="CASE")), names_units(~Selection.of(brand_code="ACME"))
    (True, False)
    """
    return any(
        not _COLUMNS.isdisjoint(one.columns)
        or not _GROUPS.isdisjoint(one.groups)
        or names_units(*one.inner())
        for selection in selections
        for one in selection.single()
        if one != CONSUMER_UNITS
    )


def names_units_by(column: str) -> bool:
    """Return whether the values of a column are kinds of units.

    >>> names_units_by("packaging_code"), names_units_by("kind_code")
    (True, False)
    """
    return column in _COLUMNS or column in _GROUPS


def with_units_named(selection: Selection, is_named: bool = False, otherwise: str = MISSING) -> Selection:
    """Return a selection that says of each condition by itself in which units it looks for what is missing.

    What is missing is looked for in consumer units. Where a condition beside it names kinds of units, at the same level
    or above, it is looked for in all of these.

    Parameters
    ----------
    selection
        The selection.
    is_named
        Whether units are named already beside the selection.
    otherwise
        The group of what consumer units lack.

    Examples
    --------
    >>> missing = Selection(groups={"missing": ("brand",)})
    >>> with_units_named(missing) == missing
    True
    >>> with_units_named(missing & Selection.of(packaging_code="CASE")).groups
    {'missing:all': ('brand',)}
    >>> with_units_named(missing | Selection.of(packaging_code="CASE")).either[0][0].groups
    {'missing': ('brand',)}
    """
    if not any(MISSING in one.groups for one in selection.every()):
        return selection
    single = list(selection.single())
    named = [names_units(one) for one in single]
    made = Selection()
    for place, one in enumerate(single):
        beside = is_named or any(named[:place]) or any(named[place + 1 :])
        inside = [[with_units_named(each, beside, otherwise) for each in several] for several in one.either]
        excepted = [with_units_named(each, beside, otherwise) for each in one.excepted]
        groups = {
            (MISSING_OF_ALL if beside else otherwise) if name == MISSING else name: codes
            for name, codes in one.groups.items()
        }
        made = made & replace(one, groups=groups, either=tuple(map(tuple, inside)), excepted=tuple(excepted))
    return made


@dataclass(frozen=True)
class UnitCount:
    """How many products a figure counts.

    Attributes
    ----------
    products
        How many are counted.
    unknown
        Of how many of them nobody knows whether they are consumer units.
    others
        How many are not counted, since they are known to be other units.
    units
        Which are counted: "consumer" or "all".
    is_asked
        Whether the catalogue was asked for what tells consumer units.

    Examples
    --------
    >>> print(UnitCount(4210, 12, 1790)), print(UnitCount(300, 0, 0, "all")), print(UnitCount(0, 0, 300))
    4,210 consumer units, 12 of unknown kind
    300 products
    no consumer unit, only 300 other units
    (None, None, None)
    """

    products: int
    unknown: int = 0
    others: int = 0
    units: str = CONSUMER
    is_asked: bool = True

    def words(self, words: Translation = ENGLISH) -> str:
        """Return in words what is counted, in a language.

        >>> UnitCount(2, 1).words(Translation("de")), UnitCount(8, 8, is_asked=False).words(Translation("fr"))
        ('2 Verbrauchereinheiten, davon 1 unbekannter Art', '8 produits (unités consommateur non demandées)')
        """
        return words.say(self.said)

    @property
    def said(self) -> Message:
        """What is counted, as a message."""
        if self.units == ALL_UNITS:
            return Message.of_number("{number} product", "{number} products", self.products)
        if not self.is_asked:
            return Message.of_number(
                "{number} product (consumer units were not asked for)",
                "{number} products (consumer units were not asked for)",
                self.products,
            )
        if not self.products and self.others:
            return Message.of_number(
                "no consumer unit, only {number} other unit",
                "no consumer unit, only {number} other units",
                self.others,
            )
        counted = Message.of_number("{number} consumer unit", "{number} consumer units", self.products)
        if not self.unknown:
            return counted
        return Message("{said}, {count} of unknown kind", said=counted, count=self.unknown)

    def __str__(self) -> str:
        return self.words()


@dataclass(frozen=True, eq=False)
class CountedUnits:
    """Which products a figure counts.

    Attributes
    ----------
    consumer
        Which products are not known to be other units than consumer units.
    unknown
        Those of which nobody knows whether they are consumer units.
    units, is_asked
        See `UnitCount`.

    Examples
    --------
    >>> counted = CountedUnits.of(pa.array([True, False, None]))
    >>> counted.mask.tolist(), str(counted.count())
    ([True, False, True], '2 consumer units, 1 of unknown kind')
    """

    consumer: Mask
    unknown: Mask
    units: str = CONSUMER
    is_asked: bool = True

    @classmethod
    def of(cls, flags: pa.Array | pa.ChunkedArray, units: str = CONSUMER, is_asked: bool = True) -> Self:
        """Return which products count, by the flags of consumer units; a flag is missing where it cannot be read."""
        known = pc.fill_null(as_one_chunk(flags), fill_value=True).to_numpy(zero_copy_only=False)
        return cls(known, as_one_chunk(flags).is_null().to_numpy(zero_copy_only=False), units, is_asked)

    def counting(self, units: str) -> Self:
        """Return the same where these units count."""
        return replace(self, units=units)

    @property
    def mask(self) -> Mask:
        """Which products count."""
        return np.ones(len(self.consumer), bool) if self.units == ALL_UNITS else self.consumer

    def count(self, among: Mask | None = None) -> UnitCount:
        """Count the products, or some of them."""
        meant = np.ones(len(self.consumer), bool) if among is None else among
        counted = self.mask & meant
        products, every = int(counted.sum()), int(meant.sum())
        unknown = int((self.unknown & counted).sum())
        return UnitCount(products, unknown, every - products, self.units, self.is_asked or unknown < products)


def unit_words(counts: Iterable[UnitCount], words: Translation = ENGLISH) -> str:
    """Return in words what several figures count, each once."""
    return "; ".join(dict.fromkeys(one.words(words) for one in counts))
