"""The products behind a cell or a head of a coverage grid, as conditions of an exploration."""

from __future__ import annotations

from collections.abc import Sequence

from prodex.facts.fill import FILL_STATES
from prodex.notebook.conditions import Code, Conditions, FailingChecks
from prodex.notebook.products.attribute_facets import fill_facet

#: The states of an attribute that a product lacks; what was not asked for may be there.
MISSING = tuple(state for state in FILL_STATES if state not in {"filled", "not asked for"})


def lacks(attribute: str, language: str | None = None, group: tuple[str, Code] | None = None) -> Conditions:
    """Return the conditions of products that lack an attribute, in any language or in one.

    Parameters
    ----------
    attribute, language
        What they lack.
    group
        A facet and its code, if only the products of a group are meant.

    Examples
    --------
    >>> lacks("namePublicLong", "fr", ("kind", "TEA")).facets
    {'fill:namePublicLong:fr': ('empty', 'null', 'absent'), 'kind': ('TEA',)}
    """
    return Conditions({fill_facet(attribute, language): MISSING, **_in(group)})


def fails(title: str, checks: Sequence[str], group: tuple[str, Code] | None = None) -> Conditions:
    """Return the conditions of products, or of those of a group, that fail one of some checks; the title is shown."""
    return Conditions(_in(group), failing=(FailingChecks(title, tuple(checks)),))


def in_group(facet: str, code: Code) -> Conditions:
    """Return the conditions of the products of a group."""
    return Conditions(_in((facet, code)))


def _in(group: tuple[str, Code] | None) -> dict[str, tuple[Code, ...]]:
    return {} if group is None else {group[0]: (group[1],)}
