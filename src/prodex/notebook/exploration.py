"""The state that panels share: the catalogue they show, the conditions that filter it, and what is selected."""

from __future__ import annotations

from typing import Self

from traitlets import HasTraits, Instance, TraitError, Tuple, Unicode, validate

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.notebook.conditions import Conditions
from prodex.notebook.history import History
from prodex.notebook.products.filtering import ProductFilter
from prodex.quality import Audit
from prodex.store.snapshot import catalog_given


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
    history
        The conditions before, to which one can go back.

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
        self._filter: ProductFilter | None = None
        super().__init__(catalog=catalog, audit=audit)
        self.history: History = History(self)

    @property
    def filter(self) -> ProductFilter:
        """Which products of the catalogue meet conditions; the same object until catalogue or audit change."""
        known = self._filter
        if (
            known is None
            or known.products.catalog is not self.catalog
            or known.products.audit is not self.audit
        ):
            known = self._filter = ProductFilter(self.catalog, self.audit)
        return known

    @property
    def chosen(self) -> Catalog:
        """The catalogue of the products that meet the conditions."""
        return self.filter.catalog(self.conditions)

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
