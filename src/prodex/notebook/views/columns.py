"""Which columns the table of products shows: added by name, removed and moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from prodex.exploration.table_page import AUDIT_COLUMNS, COLUMNS, title
from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.blocks import box, button, row, typed_text
from prodex.notebook.views.forms import FormField, form
from prodex.quality.completeness import SHARE, is_of_channel
from prodex.tables.declaration import TABLES

#: Channels whose completeness is shown without being asked for.
_CHANNELS = 3


class _OfferedColumns:
    """The columns that a catalogue has with its audit, and those of the audit that are shown at first."""

    def __init__(self, session: Session) -> None:
        products = session.filter.products
        of_channels = products.channel_columns()
        shares = [name for name in of_channels if name.startswith(SHARE)][:_CHANNELS]
        is_audited = session.audit is not None
        self.judged: tuple[str, ...] = (*AUDIT_COLUMNS, *shares) if is_audited else ()
        of_audit = (*AUDIT_COLUMNS, *of_channels) if is_audited else ()
        self.known: tuple[str, ...] = ("name", *TABLES["products"].schema.names, *of_audit)


@dataclass(frozen=True)
class ColumnChoice:
    """The columns that were chosen.

    Attributes
    ----------
    columns
        Their names.
    of
        The catalogue and the audit for which they were; another audit adds its own.
    """

    columns: tuple[str, ...] = COLUMNS
    of: object = None


def columns_of(session: Session) -> tuple[str, ...]:
    """Return the columns that are shown.

    >>> import prodex
    >>> columns_of(Session(prodex.flatten([{"id": 7}])))[:3]
    ('gtin', 'name', 'brand')
    """
    choice, offered = session.part(ColumnChoice), session.derived(_OfferedColumns)
    if choice.of is offered:
        return choice.columns
    kept = (name for name in choice.columns if name not in AUDIT_COLUMNS and not is_of_channel(name))
    return tuple(dict.fromkeys((*kept, *offered.judged)))


def with_columns(session: Session, columns: Sequence[str]) -> Session:
    """Return the session in which the table shows these columns, as far as the catalogue has them."""
    offered = session.derived(_OfferedColumns)
    known = tuple(dict.fromkeys(name for name in columns if name in offered.known))
    return session.with_part(ColumnChoice(known, offered)) if known else session


def column_picker(session: Session) -> Block:
    """Return the columns that are shown, with buttons that move and remove them, and a list of those to add."""
    shown, offered = columns_of(session), session.derived(_OfferedColumns)
    left = sorted(
        (name for name in offered.known if name not in shown), key=lambda name: title(name).casefold()
    )
    options = [("", "column …"), *((name, title(name)) for name in left)]
    only = "A table without columns could not show which products there are." if len(shown) == 1 else ""
    chips = [
        row(
            button(
                "◂",
                "columns.move",
                key=f"left {name}",
                title=f"Move {title(name)} to the left",
                look="quiet",
                column=name,
                by=-1,
            )
            if place
            else None,
            button(
                [typed_text(title(name)), " ✕"],
                "columns.remove",
                key=f"remove {name}",
                title="Remove this column",
                look="chip",
                off=only,
                to="column-chips",
                column=name,
            ),
            key=f"column {name}",
            look="chip-group",
        )
        for place, name in enumerate(shown)
    ]
    add = form(session, "columns", [FormField("add", "Add", "choice", "", options, do="columns.add")])
    return box(add, row(*chips, key="column-chips", look="line"), key="column-picker", label="Columns")


@action("columns.add", is_quiet=True)
def add_column(session: Session, value: str) -> Session:
    """Show a column at the end."""
    if value not in session.derived(_OfferedColumns).known:
        raise Refused("This catalogue has no such column.")
    return with_columns(session, (*columns_of(session), value))


@action("columns.remove", is_quiet=True)
def remove_column(session: Session, column: str) -> Session:
    """Show a column no longer; a table sorted by it is in the order of the catalogue again."""
    left = [name for name in columns_of(session) if name != column]
    if not left:
        raise Refused("A table without columns could not show which products there are.")
    return with_columns(session, left)


@action("columns.move", is_quiet=True)
def move_column(session: Session, column: str, by: Literal[-1, 1]) -> Session:
    """Move a column to the left or to the right."""
    shown = [*columns_of(session)]
    if column not in shown:
        raise Refused("The table does not show this column any more.")
    place = shown.index(column)
    shown.insert(max(0, place + by), shown.pop(place))
    return with_columns(session, shown)
