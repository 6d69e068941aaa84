"""The one state that widgets observe: what is looked at, what narrows it down, what is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from traitlets import HasTraits, Instance, TraitError, Tuple, Unicode, validate

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.quality import Audit

#: A value of a facet: a code as text, or None for the products without.
Code: TypeAlias = str | None


@dataclass(frozen=True)
class FailingChecks:
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
    failing: FailingChecks | None = None

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
        return replace(self, failing=FailingChecks(title, checks))

    def without_failing(self) -> Conditions:
        """Take products whatever they fail."""
        return replace(self, failing=None)

    def __bool__(self) -> bool:
        return self != Conditions()


class Exploration(HasTraits):
    """What a group of widgets is about. Each observes it and may change it; none knows another.

    Attributes
    ----------
    catalog
        All products that are looked at.
    audit
        What is known of their quality, or None.
    conditions
        What narrows them down.
    selected
        Ids of the products that were chosen, in the order of the choice.
    product_id
        The product whose card is open, or None.

    Examples
    --------
    >>> import prodex
    >>> exploration = Exploration(catalog=prodex.flatten([{"id": 7}, {"id": 8}]))
    >>> exploration.observe(lambda change: print(change["new"]), "selected")
    >>> exploration.selected = ("8",)
    ('8',)
    """

    catalog: Instance[Catalog] = Instance(Catalog)
    audit: Instance[Audit | None] = Instance(Audit, allow_none=True)
    conditions: Instance[Conditions] = Instance(Conditions, ())
    selected: Instance[tuple[str, ...]] = Tuple()
    product_id: Unicode[str | None, str | bytes | None] = Unicode(None, allow_none=True)

    def __init__(self, *, catalog: Catalog, audit: Audit | None = None) -> None:
        if not isinstance(catalog, Catalog):
            raise InputError(
                f"A catalogue is looked at, not {type(catalog).__name__}. prodex.open_snapshot(name) and "
                "prodex.flatten(records) give one."
            )
        if not isinstance(audit, Audit | None):
            raise InputError(
                f"An audit is wanted, not {type(audit).__name__}. prodex.audit(catalog) and prodex.open_audit(folder) "
                "give one."
            )
        super().__init__(catalog=catalog, audit=audit)

    def look_at(self, catalog: Catalog, audit: Audit | None = None) -> None:
        """Look at another catalogue: what was chosen of the former one is forgotten."""
        with self.hold_trait_notifications():
            self.conditions = Conditions()
            self.selected = ()
            self.product_id = None
            self.audit = audit
            self.catalog = catalog

    @validate("selected")
    def _only_ids(self, proposal: dict[str, tuple[object, ...]]) -> tuple[object, ...]:
        if wrong := [one for one in proposal["value"] if not isinstance(one, str)]:
            raise TraitError(f"selected holds {wrong[0]!r}. Give product ids, which are text.")
        return proposal["value"]
