"""The session: everything that a panel shows, as one frozen value; each action makes the next one of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar, cast

from prodex.catalog import Catalog
from prodex.compare import Difference
from prodex.errors import InputError, ProdexError
from prodex.exploration.drafts import SentCorrections
from prodex.exploration.filtering import ProductFilter
from prodex.notebook.session.jobs import are_same_arguments
from prodex.notebook.session.rights import Right, right_needed
from prodex.progress import PhaseProgress
from prodex.quality import Audit
from prodex.selection import Selection
from prodex.service import Client
from prodex.worklists.text_corrections import TextCorrection

T = TypeVar("T")
_LOG = logging.getLogger("prodex")

#: Selections that are kept to go back to; nobody undoes more, and a long day of work has thousands.
_MOST = 200


class Refused(ProdexError):
    """An action that was not done, in words for whoever pressed.

    Parameters
    ----------
    sentence
        Why, and what to do.
    at
        The form and the field that it is about ("load.market"): the sentence is shown beside it. Empty: at the section.
    """

    def __init__(self, sentence: str, at: str = "") -> None:
        super().__init__(sentence)
        self.at: str = at


@dataclass(frozen=True)
class Notice:
    """A sentence at the top of a section.

    Attributes
    ----------
    sentence
        What it says.
    is_problem
        Whether screen readers interrupt for it.
    """

    sentence: str
    is_problem: bool = False


@dataclass(frozen=True)
class ShownWork:
    """Work that runs, as far as it is shown.

    Attributes
    ----------
    progress
        How far it is.
    is_cancelled
        Whether it ends with its next step.
    done, total
        The numbers that it counts: for a load the products received, and those that the service has announced.
    """

    progress: PhaseProgress
    is_cancelled: bool = False
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class History:
    """Selections before and after the one of now, the nearest last.

    Examples
    --------
    >>> history = History().followed(Selection())
    >>> len(history.before), history.after
    (1, ())
    """

    before: tuple[Selection, ...] = ()
    after: tuple[Selection, ...] = ()

    def followed(self, left: Selection) -> History:
        """Return the history after a selection was left for another; as in a browser, what was undone is gone."""
        return History((*self.before, left)[-_MOST:])


class _Derived:
    """What was computed of a catalogue and an audit: once, whichever thread asks first."""

    def __init__(self, kept: Mapping[Any, Any] | None = None) -> None:
        self._lock = threading.RLock()
        self._known: dict[Any, Any] = dict(kept or {})

    def get(self, function: Callable[[Session], T], session: Session) -> T:
        with self._lock:
            if function not in self._known:
                self._known[function] = function(session)
            return cast("T", self._known[function])

    def peek(self, function: Callable[[Session], T]) -> T | None:
        with self._lock:
            return self._known.get(function)


class _Latest:
    """What was made last under each name of a catalogue and its audit: most changes of a view are elsewhere."""

    def __init__(self, _: Session) -> None:
        self.kept: dict[str, tuple[tuple[Any, ...], Any]] = {}


@dataclass(frozen=True)
class Session:
    """What a panel shows.

    Attributes
    ----------
    catalog
        All products that are explored.
    audit
        The audit of their quality, or None.
    service
        The service that can be asked and sent to, or None.
    conditions
        Which of them are shown.
    alternative
        Other conditions, of which products are to be shown as well, while somebody builds the second half of an "either
        ..., or ..."; None otherwise.
    selected
        Ids of the selected products, in the order of selection.
    product_id
        The product whose card is open, or None.
    section
        Name of the open section.
    may
        What can be done with it.
    history
        The conditions before and after.
    corrections
        Corrections of texts that were collected and not sent.
    unconfirmed
        Those that may have been sent: of which it is not known whether they arrived.
    draft_note
        A note about the corrections on disk: that they were loaded, or cannot be read.
    difference
        What changed between two snapshots, as it was compared last.
    former
        The catalogue that was explored before this one, and its audit; None if this is the first.
    notices
        For each section the sentence at its top.
    errors
        What is wrong with a field of a form, by "form.field".
    typed
        What was typed, by form and field.
    works
        What runs, by its slot.
    parts
        What single sections keep, by class.

    Examples
    --------
    >>> import prodex
    >>> session = Session(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}]))
    >>> narrow = session.filtered(session.conditions.toggled("brand", "ACME"))
    >>> narrow.chosen.products["product_id"].tolist(), len(narrow.history.before)
    (['7'], 1)
    """

    catalog: Catalog
    audit: Audit | None = None
    service: Client | None = None
    conditions: Selection = field(default_factory=Selection)
    alternative: Selection | None = None
    selected: tuple[str, ...] = ()
    product_id: str | None = None
    section: str = "products"
    may: Right = Right.EVERYTHING
    history: History = History()
    corrections: tuple[TextCorrection, ...] = ()
    unconfirmed: tuple[SentCorrections, ...] = ()
    draft_note: str = ""
    difference: Difference | None = None
    former: tuple[Catalog, Audit | None] | None = None
    notices: Mapping[str, Notice] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    typed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    works: Mapping[str, ShownWork] = field(default_factory=dict)
    parts: Mapping[type, Any] = field(default_factory=dict)
    _derived: _Derived = field(default_factory=_Derived, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.catalog, Catalog):
            raise InputError(
                f"catalog must be a catalogue, not {type(self.catalog).__name__}. prodex.open_snapshot(name) and "
                "prodex.flatten(records) return one."
            )
        if not isinstance(self.audit, Audit | None):
            raise InputError(
                f"audit must be an audit, not {type(self.audit).__name__}. prodex.audit(catalog) and "
                "prodex.open_audit(name) return one."
            )
        # An analyst who passes integers would see nothing selected, and no error.
        if wrong := [one for one in self.selected if not isinstance(one, str)]:
            raise InputError(f"selected holds {wrong[0]!r:.80}. Give product ids, which are text.")

    def replaced(self, **changes: Any) -> Self:
        """Return the session with other values; what was computed is kept with its catalogue and audit only."""
        now = replace(self, **changes)
        if now.catalog is not self.catalog or now.audit is not self.audit:
            known = self._derived.peek(_filter_of) if now.catalog is self.catalog else None
            # An audit changes nothing about which attributes are filled, which takes long to read.
            filled = {} if known is None else {_filled_before: known.facets.filled}
            return replace(now, _derived=_Derived(filled))
        return now

    def derived(self, function: Callable[[Session], T]) -> T:
        """Return what a function makes of the catalogue and the audit: computed once for them."""
        return self._derived.get(function, self)

    def part(self, kind: type[T]) -> T:
        """Return what a section keeps; the defaults of its class, as long as it has kept nothing."""
        known = self.parts.get(kind)
        return kind() if known is None else cast("T", known)

    def with_part(self, part: object) -> Self:
        """Return the session with what a section keeps."""
        return self.replaced(parts={**self.parts, type(part): part})

    def with_changed(self, kind: type[Any], **changes: Any) -> Self:
        """Return the session in which some of what a section keeps is another: `with_part`, field by field."""
        return self.with_part(replace(self.part(kind), **changes))

    def latest(self, name: str, make: Callable[..., T], *of: Any) -> T:
        """Return what a function makes of some values: anew only if it was made of others the last time.

        >>> import prodex
        >>> session = Session(prodex.flatten([{"id": 7}]))
        >>> session.latest("words", list, "ab") is session.latest("words", list, "ab")
        True
        >>> session.latest("words", list, "c"), session.latest("words", list, "ab")
        (['c'], ['a', 'b'])
        """
        kept = self.derived(_Latest).kept
        known = kept.get(name)
        if known is None or not are_same_arguments(known[0], of):
            # Returned as it was made here: a thread may ask for something older meanwhile.
            kept[name] = known = (of, make(*of))
        return cast("T", known[1])

    def noting(self, sentence: str, *, is_problem: bool = False, section: str = "") -> Self:
        """Return the session with a sentence at the top of the open section, or of another; empty: without one."""
        others = {name: one for name, one in self.notices.items() if name != (section or self.section)}
        if sentence:
            others[section or self.section] = Notice(sentence, is_problem)
        return self.replaced(notices=others)

    def with_typed(self, form: str, **values: Any) -> Self:
        """Return the session in which a form has these values; an error beside one of its fields is gone."""
        errors = {
            at: error for at, error in self.errors.items() if at not in {f"{form}.{name}" for name in values}
        }
        return self.replaced(
            typed={**self.typed, form: {**self.typed.get(form, {}), **values}}, errors=errors
        )

    def without_typed(self, form: str) -> Self:
        """Return the session in which a form has its first values."""
        return self.replaced(typed={name: values for name, values in self.typed.items() if name != form})

    def filtered(self, conditions: Selection) -> Self:
        """Return the session that shows the products of other conditions; those of now can be gone back to."""
        if conditions == self.conditions:
            return self
        return self.replaced(conditions=conditions, history=self.history.followed(self.conditions))

    def went(self, *, back: bool) -> Self:
        """Return the session with the conditions before, or after; itself at the end of either."""
        history = self.history
        if back and history.before:
            moved = History(history.before[:-1], (*history.after, self.conditions))
            return self.replaced(conditions=history.before[-1], history=moved)
        if not back and history.after:
            moved = History((*history.before, self.conditions), history.after[:-1])
            return self.replaced(conditions=history.after[-1], history=moved)
        return self

    def looking_at(self, catalog: Catalog, audit: Audit | None = None) -> Self:
        """Return the session of another catalogue: what was chosen in the one before is forgotten."""
        former = self.former if catalog is self.catalog else (self.catalog, self.audit)
        return self.replaced(
            catalog=catalog,
            audit=audit,
            former=former,
            conditions=Selection(),
            alternative=None,
            selected=(),
            product_id=None,
            history=History(),
            notices={},
        )

    def renewed(self, old: Catalog, catalog: Catalog, audit: Audit | None) -> Self:
        """Return the session with the products of now in place of an older state of them, if it shows that."""
        return self.replaced(catalog=catalog, audit=audit) if self.catalog is old else self

    def correcting(self, correction: TextCorrection) -> Self:
        """Return the session with a correction, in place of one of the same text; without it, if nothing changes."""
        others = tuple(one for one in self.corrections if one.place != correction.place)
        return self.replaced(
            corrections=(*others, correction) if correction.text != correction.before else others
        )

    def can(self, name: str) -> bool:
        """Return whether an action, a task or a section is allowed."""
        return right_needed(name) <= self.may

    @property
    def filter(self) -> ProductFilter:
        """Which products of the catalogue meet conditions: one object for this catalogue and this audit."""
        return self.derived(_filter_of)

    @property
    def chosen(self) -> Catalog:
        """The catalogue of the products that meet the conditions."""
        return self.filter.catalog(self.conditions)

    @property
    def chosen_words(self) -> str:
        """What the conditions are, in words; empty where there are none."""
        return "; ".join(self.filter.labels(self.conditions))

    @property
    def changed(self) -> Difference | None:
        """What changed until this catalogue, if it is the newer one of those that were compared last."""
        found = self.difference
        if found is None:
            return None
        newer = found.new
        is_same = newer is self.catalog or (newer.folder is not None and newer.folder == self.catalog.folder)
        return found if is_same else None


def _filled_before(_: Session) -> Any:
    return None


def _filter_of(session: Session) -> ProductFilter:
    return ProductFilter(session.catalog, session.audit, session.derived(_filled_before))


def error_text(error: BaseException) -> str:
    """Return an error as sentences; one that is not ours is named and logged with its traceback.

    >>> from prodex.errors import QueryError
    >>> error_text(QueryError("limit is 'x'. Give a number."))
    "limit is 'x'. Give a number."
    """
    if isinstance(error, ProdexError):
        return " ".join([str(error), *getattr(error, "__notes__", ())])
    _LOG.error("a panel failed", exc_info=error)
    return f"Unexpected {type(error).__name__}: {error}. The traceback is in the log of 'prodex'."
