"""What an audit requires: the state of each required attribute, product by product, in the order of a catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prodex.facts.fill import Attribute
from prodex.notebook.coverage.filled import CellState, FilledCount
from prodex.notebook.products.facet_values import FacetValues
from prodex.quality import Audit
from prodex.quality.check import CheckFacts
from prodex.quality.states import State
from prodex.tables.columns import Mask, places, whole

#: The checks that ask for data, by attribute and language.
Checks: TypeAlias = Mapping[Attribute, tuple[CheckFacts, ...]]


@dataclass(frozen=True, eq=False)
class RequiredColumns:
    """The attributes that an audit requires, and of which products.

    Attributes
    ----------
    audit
        The audit.
    checks
        The checks that ask for data of an attribute, in one language or in any.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    >>> catalog = prodex.flatten([{"id": 7, "nameLegal": name}, {"id": 8}])
    >>> checks = {"required_text": {"attribute": "nameLegal", "language": "fr"}}
    >>> required = RequiredColumns.of(prodex.audit(catalog, {"checks": checks}), pa.array(["8", "7"]))
    >>> required.counted(("nameLegal", "fr"), np.array([True, True]))
    FilledCount(filled=1, products=2, unknown=0)
    """

    audit: Audit
    checks: Checks
    _states: Mapping[Attribute, npt.NDArray[np.int8]]

    @classmethod
    def of(cls, audit: Audit, product_ids: pa.Array) -> Self:
        """Read the states of these products; what the audit does not cover is unknown."""
        checks = required_checks(audit)
        numbers = {check.id: place for place, check in enumerate(audit.checks)}
        judged = places(product_ids, whole(audit.identity["product_id"]))
        found: dict[Attribute, npt.NDArray[np.int8]] = {}
        columns = [[numbers[check.id] for check in some] for some in checks.values()]
        # Part by part: the states of all checks of a large audit at once would take much memory.
        read: list[list[npt.NDArray[np.int8]]] = [[] for _ in columns]
        for part in audit.parts:
            states = part.states
            for own, kept in zip(columns, read, strict=True):
                kept.append(_together(states[:, own]))
        for attribute, kept in zip(checks, read, strict=True):
            # The last one stands for products that the audit does not cover, whose place is -1.
            joined = np.concatenate([*kept, np.array([State.UNKNOWN], np.int8)])
            found[attribute] = joined[judged]
        return cls(audit, checks, found)

    def state(self, attribute: Attribute) -> CellState:
        """Return what the figures of an attribute, in any language or in one, mean."""
        return CellState.KNOWN if attribute in self.checks else CellState.NOT_REQUIRED

    def counted(self, attribute: Attribute, among: Mask) -> FilledCount:
        """Return how many of some products have what is required, of how many it is, and of how many it is unknown."""
        passed, failed, unknown = (int(one.sum()) for one in self._masks(attribute, among))
        return FilledCount(passed, passed + failed, unknown)

    def counted_by(self, groups: FacetValues, attribute: Attribute, among: Mask) -> FilledCount:
        """Return the same for each group."""
        passed, failed, unknown = (groups.count(one) for one in self._masks(attribute, among))
        return FilledCount(passed, passed + failed, unknown)

    def _masks(self, attribute: Attribute, among: Mask) -> Iterator[Mask]:
        states = self._states.get(attribute)
        for state in (State.PASS, State.FAIL, State.UNKNOWN):
            yield np.zeros(len(among), bool) if states is None else (states == state) & among


def required_checks(audit: Audit) -> Checks:
    """Return the checks of an audit that ask for data, by attribute and language."""
    found: dict[Attribute, tuple[CheckFacts, ...]] = {}
    for check in audit.checks:
        if check.is_presence and check.attribute is not None:
            key = (check.attribute, check.language)
            found[key] = (*found.get(key, ()), check)
    return found


def _together(states: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Return the state of several checks as one: a product lacks what any of them misses."""
    found = np.full(len(states), State.NOT_APPLICABLE, np.int8)
    for state in (State.PASS, State.UNKNOWN, State.FAIL):
        found[(states == state).any(axis=1)] = state
    return found
