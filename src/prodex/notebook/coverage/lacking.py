"""The products behind a cell or a head of a coverage grid, as conditions of an exploration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from prodex.facts.fill import FILL_STATES
from prodex.notebook.conditions import Code, Conditions, FailingChecks

#: The states of an attribute that a product lacks; what was not asked for may be there.
MISSING = tuple(state for state in FILL_STATES if state not in {"filled", "not asked for"})


@dataclass(frozen=True)
class Lacking:
    """Products that lack something, that are in a group, or both.

    Attributes
    ----------
    facets
        Facets with the codes of which a product has to have one.
    failing
        The checks of which a product has to fail one, or None.

    Examples
    --------
    >>> cell = lacks("namePublicLong", "fr", ("kind", "TEA"))
    >>> conditions = cell.added_to(Conditions().toggled("brand", "ACME"))
    >>> conditions.facets
    {'brand': ('ACME',), 'fill:namePublicLong:fr': ('empty', 'null', 'absent'), 'kind': ('TEA',)}
    >>> cell.is_in(conditions), cell.removed_from(conditions).facets
    (True, {'brand': ('ACME',)})
    """

    facets: tuple[tuple[str, tuple[Code, ...]], ...] = ()
    failing: FailingChecks | None = None

    def added_to(self, conditions: Conditions) -> Conditions:
        """Return conditions that require these products as well."""
        for facet, codes in self.facets:
            conditions = conditions.choosing(facet, codes)
        if self.failing is not None and self.failing not in conditions.failing:
            conditions = replace(conditions, failing=(*conditions.failing, self.failing))
        return conditions

    def removed_from(self, conditions: Conditions) -> Conditions:
        """Return conditions that no longer require them."""
        for facet, codes in self.facets:
            if conditions.facets.get(facet) == codes:
                conditions = conditions.choosing(facet, ())
        left = tuple(one for one in conditions.failing if one != self.failing)
        return replace(conditions, failing=left)

    def is_in(self, conditions: Conditions) -> bool:
        """Return whether conditions require these products."""
        return bool(self.facets or self.failing) and self.added_to(conditions) == conditions

    def toggled(self, conditions: Conditions) -> Conditions:
        """Return conditions that require these products as well, or no longer where they did."""
        return self.removed_from(conditions) if self.is_in(conditions) else self.added_to(conditions)


def lacks(attribute: str, language: str | None = None, group: tuple[str, Code] | None = None) -> Lacking:
    """Return the products that lack an attribute, in any language or in one: all, or those of a facet's code."""
    facet = f"fill:{attribute}" if language is None else f"fill:{attribute}:{language}"
    return Lacking(((facet, MISSING), *_of_group(group)))


def fails(title: str, checks: Sequence[str], group: tuple[str, Code] | None = None) -> Lacking:
    """Return the products that fail one of some checks; the title is shown for them."""
    return Lacking(_of_group(group), FailingChecks(title, tuple(checks)))


def in_group(facet: str, code: Code) -> Lacking:
    """Return the products of a group."""
    return Lacking(((facet, (code,)),))


def _of_group(group: tuple[str, Code] | None) -> tuple[tuple[str, tuple[Code, ...]], ...]:
    return () if group is None else ((group[0], (group[1],)),)
