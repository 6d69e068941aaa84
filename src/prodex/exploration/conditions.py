"""The conditions that filter the products of an exploration; a change is a new value."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self, TypeAlias, TypeVar

import msgspec

from prodex.errors import InputError
from prodex.files.untrusted import converted

#: A value of a facet: a code as text, or None for the products without a value.
Code: TypeAlias = str | None
#: The values that are selected in each facet; a facet without a selection is not in it.
Chosen: TypeAlias = Mapping[str, tuple[Code, ...]]

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class FailingChecks:
    """Products that fail at least one of some checks.

    Attributes
    ----------
    title
        What is shown for it: the problem that a check reports, or "texts" for a block.
    checks
        Ids of the checks (`CheckFacts.id`).
    """

    title: str
    checks: tuple[str, ...]


@dataclass(frozen=True)
class ProductList:
    """Products that something else has found, such as those that changed between two snapshots.

    Attributes
    ----------
    title
        What is shown for it.
    ids
        Their ids.
    """

    title: str
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Range:
    """The least and the greatest value of a column of `products`, both included; None where the range is open.

    Dates are compared in UTC. A product without a value is in no range.
    """

    least: float | datetime | None = None
    greatest: float | datetime | None = None

    def __bool__(self) -> bool:
        return self.least is not None or self.greatest is not None


@dataclass(frozen=True)
class Conditions:
    """Which products are shown: those that meet every condition.

    Attributes
    ----------
    facets
        The values selected in each facet: a product has to have one of them.
    excluded
        The values excluded in each facet: a product must have none of them.
    ranges
        Ranges of columns of `products`: dates and numbers.
    words
        Words that the texts of a product have to contain, as `search` understands them.
    failing
        A product has to fail at least one check of each.
    listed
        A product has to be in each of these lists.

    Examples
    --------
    >>> conditions = Conditions().toggled("brand", "ACME").toggled("brand", None)
    >>> conditions.facets
    {'brand': ('ACME', None)}
    >>> conditions.toggled("brand", "ACME").toggled("brand", None) == Conditions()
    True
    >>> Conditions().excluding("brand", "ACME").toggled("brand", "ACME").facets
    {'brand': ('ACME',)}
    >>> tea = Conditions().toggled("kind", "TEA")
    >>> conditions.adding(tea).require(tea), conditions.adding(tea).removing(tea) == conditions
    (True, True)
    """

    facets: Chosen = field(default_factory=dict)
    excluded: Chosen = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    words: str = ""
    failing: tuple[FailingChecks, ...] = ()
    listed: tuple[ProductList, ...] = ()

    def toggled(self, facet: str, code: Code) -> Conditions:
        """Select a value of a facet, or clear it when it is selected; a value that was excluded is so no longer."""
        chosen = self.facets.get(facet, ())
        left = tuple(one for one in chosen if one != code) if code in chosen else (*chosen, code)
        return self.choosing(facet, left)

    def choosing(self, facet: str, codes: tuple[Code, ...]) -> Conditions:
        """Select these values of a facet, and no others."""
        excluded = tuple(one for one in self.excluded.get(facet, ()) if one not in codes)
        return replace(
            self,
            facets=_with_entry(self.facets, facet, codes),
            excluded=_with_entry(self.excluded, facet, excluded),
        )

    def excluding(self, facet: str, code: Code) -> Conditions:
        """Exclude a value of a facet, or include it again when it is excluded."""
        there = self.excluded.get(facet, ())
        codes = tuple(one for one in there if one != code) if code in there else (*there, code)
        chosen = tuple(one for one in self.facets.get(facet, ()) if one not in codes)
        return replace(
            self,
            facets=_with_entry(self.facets, facet, chosen),
            excluded=_with_entry(self.excluded, facet, codes),
        )

    def without_facet(self, facet: str) -> Conditions:
        """Keep products whichever value of a facet they have."""
        return replace(
            self, facets=_with_entry(self.facets, facet, ()), excluded=_with_entry(self.excluded, facet, ())
        )

    def within(self, column: str, limits: Range) -> Conditions:
        """Keep only products whose value of a column is in a range; an open range removes the condition."""
        return replace(self, ranges=_with_entry(self.ranges, column, limits))

    def searching(self, words: str) -> Conditions:
        """Search for words."""
        return replace(self, words=words.strip())

    def failing_any(self, title: str, checks: tuple[str, ...]) -> Conditions:
        """Keep only products that fail one of these checks as well, or no longer require it when they had to."""
        asked = FailingChecks(title, checks)
        if asked in self.failing:
            return replace(self, failing=tuple(one for one in self.failing if one != asked))
        return replace(self, failing=(*self.failing, asked))

    def without_failing(self) -> Conditions:
        """Keep products whichever checks they fail."""
        return replace(self, failing=())

    def listing(self, products: ProductList) -> Conditions:
        """Keep only products of a list as well, or no longer require it when they had to be in it."""
        if products in self.listed:
            return replace(self, listed=_others_than(self.listed, (products,)))
        return replace(self, listed=(*self.listed, products))

    def adding(self, others: Conditions) -> Conditions:
        """Return conditions that require what others require as well; of a facet in both, the values of the others."""
        facets = {**self.facets, **others.facets}
        excluded = {name: _others_than(codes, facets.get(name, ())) for name, codes in self.excluded.items()}
        excluded |= others.excluded
        return replace(
            self,
            facets=facets,
            excluded={name: codes for name, codes in excluded.items() if codes},
            ranges={**self.ranges, **others.ranges},
            words=others.words or self.words,
            failing=(*self.failing, *_others_than(others.failing, self.failing)),
            listed=(*self.listed, *_others_than(others.listed, self.listed)),
        )

    def removing(self, others: Conditions) -> Conditions:
        """Return conditions that do not require what others require, as far as they do."""
        return replace(
            self,
            facets=_other_entries(self.facets, others.facets),
            excluded=_other_entries(self.excluded, others.excluded),
            ranges=_other_entries(self.ranges, others.ranges),
            words="" if self.words == others.words else self.words,
            failing=_others_than(self.failing, others.failing),
            listed=_others_than(self.listed, others.listed),
        )

    def require(self, others: Conditions) -> bool:
        """Return whether these require what others require."""
        return self.adding(others) == self

    def to_json(self) -> dict[str, Any]:
        """Return them as values of JSON."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read what `to_json` returned.

        Raises
        ------
        InputError
            When it is anything else.
        """
        try:
            return converted(value, cls)
        except ValueError as error:
            raise InputError(f"These are not conditions of an explorer: {error}.") from error

    def __bool__(self) -> bool:
        return self != Conditions()


def _others_than(values: tuple[_Value, ...], others: Container[_Value]) -> tuple[_Value, ...]:
    return tuple(one for one in values if one not in others)


def _other_entries(entries: Mapping[str, _Value], others: Mapping[str, _Value]) -> dict[str, _Value]:
    return {name: one for name, one in entries.items() if name not in others or others[name] != one}


def _with_entry(there: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return a mapping with one entry changed; an empty one is left out, so that equal conditions compare equal."""
    others = {one: kept for one, kept in there.items() if one != name}
    return {**others, name: value} if value else others
