"""The one state that widgets observe: what is looked at, what narrows it down, what is chosen."""

from __future__ import annotations

from traitlets import HasTraits, Instance, TraitError, Tuple, Unicode, validate

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.notebook.conditions import Conditions
from prodex.quality import Audit


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
