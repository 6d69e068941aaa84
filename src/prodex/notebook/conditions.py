"""What narrows a catalogue down while somebody looks at it, as one value; a change is a new value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

#: A value of a facet: a code as text, or None for the products without.
Code: TypeAlias = str | None


@dataclass(frozen=True)
class Failing:
    """Products that fail at least one of some checks.

    Attributes
    ----------
    title
        What is said of it: the problem that a check found, or "texts" for a block.
    checks
        Ids of the checks (`CheckFacts.id`).
    """

    title: str
    checks: tuple[str, ...]


@dataclass(frozen=True)
class Conditions:
    """Which products are looked at: those that meet every condition.

    Attributes
    ----------
    facets
        Of each facet the values chosen: a product has to have one of them. A facet without a choice is not here.
    words
        What has to stand in one of its texts, as `searching` understands it.
    failing
        What it has to fail.

    Examples
    --------
    >>> conditions = Conditions().toggled("brand", "ACME").toggled("brand", None)
    >>> conditions.facets
    {'brand': ('ACME', None)}
    >>> conditions.toggled("brand", "ACME").toggled("brand", None) == Conditions()
    True
    """

    facets: Mapping[str, tuple[Code, ...]] = field(default_factory=dict)
    words: str = ""
    failing: Failing | None = None

    def toggled(self, facet: str, code: Code) -> Conditions:
        """Choose a value of a facet, or take the choice back."""
        chosen = self.facets.get(facet, ())
        left = tuple(one for one in chosen if one != code) if code in chosen else (*chosen, code)
        return self.choosing(facet, left)

    def choosing(self, facet: str, codes: tuple[Code, ...]) -> Conditions:
        """Choose these values of a facet, and no others."""
        others = {name: values for name, values in self.facets.items() if name != facet}
        return replace(self, facets={**others, facet: codes} if codes else others)

    def searching(self, words: str) -> Conditions:
        """Look for words."""
        return replace(self, words=words.strip())

    def failing_any(self, title: str, checks: tuple[str, ...]) -> Conditions:
        """Take only products that fail one of these checks."""
        return replace(self, failing=Failing(title, checks))

    def without_failing(self) -> Conditions:
        """Take products whatever they fail."""
        return replace(self, failing=None)

    def __bool__(self) -> bool:
        return self != Conditions()
