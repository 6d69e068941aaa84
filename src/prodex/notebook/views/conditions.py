"""What is chosen, in one line: the conditions as chips, back and forward, and views that were saved by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from prodex.errors import OtherLayout
from prodex.exploration.saved_views import (
    SavedView,
    applicable,
    open_view,
    remove_view,
    save_view,
    saved_views,
)
from prodex.exploration.table_page import Order, title
from prodex.notebook.session.actions import Block, Panel, action, task
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.blocks import box, button, fold, paragraph, row
from prodex.notebook.views.columns import columns_of, with_columns
from prodex.notebook.views.forms import FormField, form, form_values, required
from prodex.notebook.views.products_left import left_error
from prodex.notebook.views.search import SEARCH_FIELD
from prodex.notebook.views.table import ProductTableState
from prodex.phrases import counted
from prodex.selection import ProductList, Selection
from prodex.selection.sentences import labels

_EMPTY = "This catalogue has no products. Load with another query, or open another snapshot."
_NONE = ("", "a saved view …")


@dataclass(frozen=True)
class OpenedView:
    """The saved view that was opened or saved last.

    Attributes
    ----------
    name
        Its name.
    conditions
        What it chose here: once something else is chosen, it is no longer shown as open.
    """

    name: str = ""
    conditions: Selection | None = None


def conditions_bar(session: Session) -> Block:
    """Return what is chosen, and what can be done with it; the same in every section."""
    history, first, error = session.history, session.alternative, left_error(session)
    either = None
    if first is not None:
        words = "; ".join(session.filter.labels(first))
        either = paragraph(f"either {words}, or", key="either", tone="muted")
    before = "" if history.before else "There are no filters before these."
    after = "" if history.after else "There are no filters after these."
    return box(
        row(
            _quiet("← Back", "back", "Back to the filters before", off=before),
            _quiet("Forward →", "forward", "Forward again", off=after),
            either,
            row(*_chips(session), key="chips", look="chips"),
            *_widening(session),
            fold(session, "views", "Views", lambda: _views(session)) if session.can("views.open") else None,
            key="bar",
            look="selection",
        ),
        paragraph(error, key="error", tone="problem") if error else None,
        None if len(session.catalog) else paragraph(_EMPTY, key="empty", tone="note"),
        key="conditions",
    )


def _quiet(label: str, what: str, title: str = "", *, key: str = "", off: str = "", to: str = "") -> Block:
    return button(label, f"conditions.{what}", key=key or what, look="quiet", title=title, off=off, to=to)


def _widening(session: Session) -> Iterator[Block]:
    """Yield what begins an "either ..., or ...", or ends it, and what shows other products instead."""
    conditions = session.conditions
    if session.alternative is not None:
        label = "Join both" if conditions else "Take back"
        yield _quiet(label, "join", key="alternative", to="back")
    elif conditions:
        yield _quiet("Or …", "either", "Show other products beside these", key="alternative", to="back")
    if conditions:
        yield _quiet("All others", "others", "Show what is not shown now, and nothing else")
    if session.selected and conditions != _only_selected(session):
        label = f"Show only the {counted(len(session.selected), 'selected product')}"
        yield _quiet(label, "only", "Filter by what is selected; Back returns", to="back")


def _said(session: Session) -> dict[tuple[str, int], Selection]:
    """Return what is left without each condition, by its words and how many before it have the same.

    Long values may be the same as far as they are shown.
    """
    found: dict[tuple[str, int], Selection] = {}
    alike: Counter[str] = Counter()
    for label, without in labels(session.conditions, session.filter.facets.called, title):
        said = str(label)
        found[said, alike[said]] = without
        alike[said] += 1
    return found


def _chips(session: Session) -> Iterator[Block]:
    said = [*_said(session)]
    keys = [f"chip/{label}{f' {before}' if before else ''}" for label, before in said]
    for place, (label, before) in enumerate(said):
        # The focus goes on to the chip that takes its place.
        near = keys[place + 1] if place + 1 < len(said) else keys[place - 1] if place else ""
        yield button(
            f"{label} ✕",
            "conditions.remove",
            key=keys[place],
            look="chip",
            title="Remove this filter",
            to=near or SEARCH_FIELD,
            said=label,
            before=before,
        )
    if len(said) > 1:
        yield button("Clear all", "conditions.clear", key="clear", look="chip", to=SEARCH_FIELD)


def _only_selected(session: Session) -> Selection:
    """Return the conditions that only the selected products meet."""
    ids = session.selected
    return Selection(listed=(ProductList(counted(len(ids), "selected product"), ids),))


@action("conditions.remove")
def remove_condition(session: Session, said: str, before: int = 0) -> Session:
    """Remove a condition, named by its words and how many of the same are before it; one that is gone stays gone."""
    return session.filtered(_said(session).get((said, before), session.conditions))


@action("conditions.clear")
def clear_conditions(session: Session) -> Session:
    """Show all products."""
    return session.filtered(Selection())


@action("conditions.back")
def go_back(session: Session) -> Session:
    """Show the products of the conditions before."""
    return session.went(back=True)


@action("conditions.forward")
def go_forward(session: Session) -> Session:
    """Show the products of the conditions that `conditions.back` left."""
    return session.went(back=False)


@action("conditions.either")
def begin_alternative(session: Session) -> Session:
    """Keep the conditions as the first half of an "either ..., or ..."."""
    if session.alternative is not None or not session.conditions:
        return session
    return session.replaced(alternative=session.conditions).filtered(Selection())


@action("conditions.join")
def join_alternative(session: Session) -> Session:
    """Show the products of both halves; without a second one, those of the first."""
    first, now = session.alternative, session.conditions
    if first is None:
        return session
    return session.replaced(alternative=None).filtered(first | now if now else first)


@action("conditions.others")
def show_others(session: Session) -> Session:
    """Show all other products; all others than these are those that were shown."""
    conditions, excepted = session.conditions, session.conditions.excepted
    if not conditions:
        return session
    is_all_others = len(excepted) == 1 and conditions == Selection(excepted=excepted)
    return session.filtered(excepted[0] if is_all_others else ~conditions)


@action("conditions.only")
def show_selected(session: Session) -> Session:
    """Show the selected products and no others, so that they can be exported, audited or compared by themselves."""
    return session.filtered(_only_selected(session)) if session.selected else session


def _view_fields(session: Session, names: list[str]) -> tuple[FormField, FormField]:
    opened = session.part(OpenedView)
    # A view that was changed since is no longer shown as open, so that it can be opened again.
    is_shown = opened.name in names and opened.conditions == session.conditions
    # The label is what somebody typed, between marks that isolate its direction.
    options = [_NONE, *((name, f"\u2068{name}\u2069") for name in names)]
    return (
        FormField("open", "Open", "choice", opened.name if is_shown else "", options, do="views.open"),
        FormField("name", "Name", placeholder="Without pictures"),
    )


def _views(session: Session) -> Iterator[Block | None]:
    problem = ""
    try:
        # Another notebook may have saved some.
        names = [view.name for view in saved_views()]
    except OtherLayout as error:
        names, problem = [], str(error)
    choice, name = _view_fields(session, names)
    gone = "" if choice.value else "Open the view first."
    remove = button("Remove view", "views.remove", key="remove", off=gone, name=choice.value)
    yield form(session, "views", [choice, name], remove, button("Save view", "views.save", key="save"))
    yield paragraph(problem, key="problem", tone="problem") if problem else None


@task("views.open")
def open_saved(app: Panel, value: str) -> None:
    """Show what a saved view shows, as far as this catalogue has it; say what it has not."""
    if not value:
        return
    view = open_view(value)
    conditions, note = applicable(view.conditions, app.session.filter)

    def shown(session: Session) -> Session:
        chosen = _arranged(session.filtered(conditions), view).with_part(OpenedView(view.name, conditions))
        return chosen.noting(note, is_problem=True) if note else chosen

    app.change(shown)


def _arranged(session: Session, view: SavedView) -> Session:
    """Show the columns and the order of a view, as far as this catalogue has them."""
    shown = with_columns(session, view.columns)
    if view.sorted_by not in ("", *columns_of(shown)):
        return shown
    table = replace(shown.part(ProductTableState), order=Order(view.sorted_by, view.descending))
    return shown.with_part(table)


@task("views.save")
def save_shown(app: Panel) -> None:
    """Save what is shown as a view."""
    session = app.session
    values = form_values(session, "views", _view_fields(session, []))
    opened = session.part(OpenedView)
    if (
        not str(values["name"] or "").strip()
        and opened.name
        and _as_shown(session, opened.name) in saved_views()
    ):
        # The second click of a double click: what is shown is saved.
        return
    name = required(values, "views", "name", "Enter a name for the view first, such as Without pictures.")
    # Whoever has opened a view saves it anew; a name that only happens to be taken is that of somebody's work.
    if name != opened.name and name in {view.name for view in saved_views()}:
        raise Refused(
            "There is a view of this name. Open it first to replace it, or give another name.", "views.name"
        )
    save_view(_as_shown(session, name))
    opened = OpenedView(name, session.conditions)
    app.change(lambda session: session.without_typed("views").with_part(opened))


def _as_shown(session: Session, name: str) -> SavedView:
    """Return what is shown, as a view of this name."""
    order = session.part(ProductTableState).order
    return SavedView(name, session.conditions, columns_of(session), order.column, order.descending)


@task("views.remove")
def remove_saved(app: Panel, name: str) -> None:
    """Remove a saved view."""
    remove_view(name)
    app.change(lambda session: session.with_part(OpenedView()))
