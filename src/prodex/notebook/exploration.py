"""The state that panels share: the catalogue they show, the conditions that filter it, and what is selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

from traitlets import HasTraits, Instance, TraitError, Tuple, Unicode, validate

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.quality import Audit
from prodex.store.snapshot import catalog_given

#: A value of a facet: a code as text, or None for the products without a value.
Code: TypeAlias = str | None


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
class Conditions:
    """Which products are shown: those that meet every condition. A change is a new value.

    Attributes
    ----------
    facets
        The values selected in each facet: a product has to have one of them. A facet without a selection is not here.
    words
        Words that the texts of a product have to contain, as `search` understands them.
    failing
        Checks of which a product has to fail at least one.

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
        """Select a value of a facet, or clear it when it is selected."""
        chosen = self.facets.get(facet, ())
        left = tuple(one for one in chosen if one != code) if code in chosen else (*chosen, code)
        return self.choosing(facet, left)

    def choosing(self, facet: str, codes: tuple[Code, ...]) -> Conditions:
        """Select these values of a facet, and no others."""
        others = {name: values for name, values in self.facets.items() if name != facet}
        # A facet without a selection is left out, so that equal conditions compare equal.
        return replace(self, facets={**others, facet: codes} if codes else others)

    def searching(self, words: str) -> Conditions:
        """Search for words."""
        return replace(self, words=words.strip())

    def failing_any(self, title: str, checks: tuple[str, ...]) -> Conditions:
        """Keep only products that fail one of these checks."""
        return replace(self, failing=FailingChecks(title, checks))

    def without_failing(self) -> Conditions:
        """Keep products whichever checks they fail."""
        return replace(self, failing=None)

    def __bool__(self) -> bool:
        return self != Conditions()


class Exploration(HasTraits):
    """The state of a group of panels. Each panel observes it and may change it; no panel knows another.

    Attributes
    ----------
    catalog
        All products that are explored.
    audit
        The audit of their quality, or None.
    conditions
        What filters them.
    selected
        Ids of the selected products, in the order of selection.
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
                f"catalog must be a catalogue, not {type(catalog).__name__}. prodex.open_snapshot(name) and "
                "prodex.flatten(records) return one."
            )
        if not isinstance(audit, Audit | None):
            raise InputError(
                f"audit must be an audit, not {type(audit).__name__}. prodex.audit(catalog) and "
                "prodex.open_audit(name) return one."
            )
        super().__init__(catalog=catalog, audit=audit)

    @classmethod
    def of(cls, catalog: Catalog | None, audit: Audit | None, panel: str) -> Self:
        """Return a new state for a panel that was given none.

        Raises
        ------
        InputError
            When there is no catalogue either; the message names the panel.
        """
        if catalog is None:
            raise InputError(f"{panel} needs a catalogue, or an exploration that has one.")
        return cls(catalog=catalog_given(catalog, f"{panel}(catalog)"), audit=audit)

    def look_at(self, catalog: Catalog, audit: Audit | None = None) -> None:
        """Explore another catalogue, and forget what was selected in the one before."""
        # Observers hear of all five only when all are set: no panel draws the new catalogue under the old conditions.
        with self.hold_trait_notifications():
            self.conditions = Conditions()
            self.selected = ()
            self.product_id = None
            self.audit = audit
            self.catalog = catalog

    @validate("selected")
    def _only_ids(self, proposal: dict[str, tuple[object, ...]]) -> tuple[object, ...]:
        # An analyst who passes integers would see nothing selected, and no error.
        if wrong := [one for one in proposal["value"] if not isinstance(one, str)]:
            raise TraitError(f"selected holds {wrong[0]!r}. Give product ids, which are text.")
        return proposal["value"]
