"""The state that panels share: the catalogue, the conditions that filter it, what is selected, what was corrected."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol, Self

from traitlets import Bool, HasTraits, Instance, TraitError, Tuple, Unicode, observe, validate

from prodex.catalog import Catalog
from prodex.compare import Difference
from prodex.errors import InputError, ProdexError
from prodex.exploration.drafts import CollectedDraft, SentCorrections
from prodex.exploration.filtering import ProductFilter
from prodex.notebook.shared.panel import OwnChange
from prodex.quality import Audit
from prodex.selection import Selection
from prodex.store.snapshot import catalog_given
from prodex.worklists.text_corrections import TextCorrection


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
    alternative
        Other conditions, of which products are to be shown as well: set while somebody builds the second half of an
        "either ..., or ..."; None otherwise.
    selected
        Ids of the selected products, in the order of selection.
    product_id
        The product whose card is open, or None.
    corrections
        The corrections of texts that were collected and not sent, in their order (`prodex.TextCorrection`).
    unconfirmed
        Those that may have been sent: of which it is not known whether they arrived.
    focus_on
        What gets the focus next: "text", to the text of the open card that is to be corrected; "table", back to its
        product; empty otherwise.
    draft_note
        A note about the corrections on disk: that they were loaded, or cannot be read.
    difference
        What changed between two snapshots, as it was compared last; None if nothing was.
    history
        The conditions before, to which one can go back.
    former
        The catalogue that was explored before this one, and its audit; None if this is the first.
    refining
        True while a panel changes the conditions of what it shows itself: it stays open then, while a press on a figure
        opens the products behind it.

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
    conditions: Instance[Selection] = Instance(Selection, ())
    alternative: Instance[Selection | None] = Instance(Selection, allow_none=True)
    selected: Instance[tuple[str, ...]] = Tuple()
    product_id: Unicode[str | None, str | bytes | None] = Unicode(None, allow_none=True)
    corrections: Instance[tuple[TextCorrection, ...]] = Tuple()
    unconfirmed: Instance[tuple[SentCorrections, ...]] = Tuple()
    focus_on: Unicode[str, str | bytes] = Unicode()
    draft_note: Unicode[str, str | bytes] = Unicode()
    difference: Instance[Difference | None] = Instance(Difference, allow_none=True)

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
        self._draft = CollectedDraft()
        self._not_kept: ProdexError | None = None
        self.refining: OwnChange = OwnChange()
        self.former: tuple[Catalog, Audit | None] | None = None
        super().__init__(catalog=catalog, audit=audit)
        self.history: History = History(self)

    @property
    def filter(self) -> ProductFilter:
        """Which products of the catalogue meet conditions; the same object until catalogue or audit change."""
        known = self._filter
        if known is None or known.products.catalog is not self.catalog:
            known = self._filter = ProductFilter(self.catalog, self.audit)
        elif known.products.audit is not self.audit:
            known = self._filter = ProductFilter(self.catalog, self.audit, known.facets.filled)
        return known

    @property
    def changed(self) -> Difference | None:
        """What changed until this catalogue, if it is the newer one of those that were compared last."""
        found = self.difference
        if found is None:
            return None
        newer = found.new
        is_same = newer is self.catalog or (newer.folder is not None and newer.folder == self.catalog.folder)
        return found if is_same else None

    @property
    def chosen(self) -> Catalog:
        """The catalogue of the products that meet the conditions."""
        return self.filter.catalog(self.conditions)

    @property
    def chosen_words(self) -> str:
        """What the conditions are, in words; empty where there are none."""
        return "; ".join(self.filter.labels(self.conditions))

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

    @classmethod
    def shared(
        cls, catalog: Catalog | None, audit: Audit | None, exploration: Self | None, panel: str
    ) -> Self:
        """Return the state that a panel was given, with the catalogue and the audit given beside it, else a new one.

        Raises
        ------
        InputError
            As by `of`.
        """
        if exploration is None:
            return cls.of(catalog, audit, panel)
        if catalog is not None and catalog is not exploration.catalog:
            exploration.look_at(catalog, audit)
        elif audit is not None:
            exploration.audit = audit
        return exploration

    def look_at(self, catalog: Catalog, audit: Audit | None = None) -> None:
        """Explore another catalogue, and forget what was selected in the one before."""
        if catalog is not self.catalog:
            self.former = (self.catalog, self.audit)
        # Observers hear of all of it only when all are set: no panel draws the new catalogue under the old conditions.
        with self.hold_trait_notifications():
            self.conditions = Selection()
            self.alternative = None
            self.selected = ()
            self.product_id = None
            self.audit = audit
            self.catalog = catalog

    def renew(self, old: Catalog, catalog: Catalog, audit: Audit | None) -> None:
        """Show the products of now in place of an older state of the same catalogue, if that is still shown."""
        if self.catalog is old:
            with self.hold_trait_notifications():
                self.catalog = catalog
                self.audit = audit

    def correct(self, correction: TextCorrection) -> None:
        """Collect a correction; an earlier one of the same text is replaced, and left out if nothing changes.

        Raises
        ------
        ProdexError
            When it cannot be kept on disk; it is collected nevertheless.
        """
        others = tuple(one for one in self.corrections if one.place != correction.place)
        self.collect((*others, correction) if correction.text != correction.before else others)

    def withdraw(self, corrections: Collection[TextCorrection]) -> None:
        """Take corrections back; errors are those of `correct`."""
        self.collect(tuple(one for one in self.corrections if one not in corrections))

    def collect(
        self,
        corrections: tuple[TextCorrection, ...],
        unconfirmed: tuple[SentCorrections, ...] | None = None,
    ) -> None:
        """Set what is collected, and what may have been sent, at once: none of it is ever in neither of both.

        Raises
        ------
        ProdexError
            When it cannot be kept on disk.
        """
        with self.hold_trait_notifications():
            self.corrections = corrections
            if unconfirmed is not None:
                self.unconfirmed = unconfirmed
        if self._not_kept is not None:
            raise self._not_kept

    @observe("catalog")
    def _take_up(self, _: object) -> None:
        """Take up what was collected for this catalogue before."""
        draft, note = self._draft.of(self.catalog)
        with self.hold_trait_notifications():
            self.corrections, self.unconfirmed, self.draft_note = draft.corrections, draft.unconfirmed, note

    @observe("corrections", "unconfirmed")
    def _keep(self, _: object) -> None:
        try:
            kept = self._draft.keep(self.corrections, self.unconfirmed)
        except ProdexError as error:
            # Not raised: the panels that observe the same traits would not be notified of the change.
            self._not_kept, self.draft_note = error, str(error)
            return
        if self._not_kept is not None:
            self._not_kept, self.draft_note = None, ""
        # With what another kernel has collected for the same snapshot.
        self.corrections, self.unconfirmed = kept.corrections, kept.unconfirmed

    @validate("corrections")
    def _only_corrections(self, proposal: dict[str, tuple[object, ...]]) -> tuple[object, ...]:
        if wrong := [one for one in proposal["value"] if not isinstance(one, TextCorrection)]:
            raise TraitError(f"corrections holds {wrong[0]!r:.80}. Give prodex.TextCorrection values.")
        return proposal["value"]

    @validate("selected")
    def _only_ids(self, proposal: dict[str, tuple[object, ...]]) -> tuple[object, ...]:
        # An analyst who passes integers would see nothing selected, and no error.
        if wrong := [one for one in proposal["value"] if not isinstance(one, str)]:
            raise TraitError(f"selected holds {wrong[0]!r}. Give product ids, which are text.")
        return proposal["value"]


#: Selection that are kept; nobody undoes more, and a long day of work has thousands.
_MOST = 200


class HasConditions(Protocol):
    """What has conditions that can be followed: an `Exploration`."""

    conditions: Any

    def observe(self, handler: Callable[[Any], object], names: str) -> None:
        """Call the handler whenever one of its traits changes."""


class History(HasTraits):
    """The conditions that an exploration had, and a place among them.

    Parameters
    ----------
    exploration
        The exploration that it follows.

    Attributes
    ----------
    can_go_back, can_go_forward
        Whether there are earlier, and later ones.

    Examples
    --------
    >>> import prodex
    >>> from prodex.notebook.shared.state import Exploration
    >>> exploration = Exploration(catalog=prodex.flatten([{"id": 7}]))
    >>> history = exploration.history
    >>> exploration.conditions = exploration.conditions.toggled("brand", "ACME")
    >>> history.back()
    >>> exploration.conditions.groups, history.can_go_forward
    ({}, True)
    >>> history.forward()
    >>> exploration.conditions.groups
    {'brand': ('ACME',)}
    """

    can_go_back: Bool[bool, bool | int] = Bool(default_value=False)
    can_go_forward: Bool[bool, bool | int] = Bool(default_value=False)

    def __init__(self, exploration: HasConditions) -> None:
        super().__init__()
        self._exploration = exploration
        self._kept: list[Selection] = [exploration.conditions]
        self._place = 0
        exploration.observe(lambda _: self._follow(), "conditions")
        exploration.observe(lambda _: self._begin(), "catalog")

    def back(self) -> None:
        """Restore the conditions before; nothing happens at the first."""
        self._go(-1)

    def forward(self) -> None:
        """Restore the conditions that `back` left; nothing happens at the last."""
        self._go(1)

    def _go(self, step: int) -> None:
        place = self._place + step
        if 0 <= place < len(self._kept):
            self._place = place
            self._exploration.conditions = self._kept[place]
            self._show()

    def _follow(self) -> None:
        now = self._exploration.conditions
        if now == self._kept[self._place]:
            return
        # As in a browser, a change after an undo removes the conditions that were undone.
        self._kept = [*self._kept[: self._place + 1], now][-_MOST:]
        self._place = len(self._kept) - 1
        self._show()

    def _begin(self) -> None:
        """Forget all: values of another catalogue may not exist in this one."""
        self._kept, self._place = [self._exploration.conditions], 0
        self._show()

    def _show(self) -> None:
        self.can_go_back = self._place > 0
        self.can_go_forward = self._place < len(self._kept) - 1
