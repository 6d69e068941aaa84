"""A contact sheet of what a gallery shows, as one HTML file that opens offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prodex.exploration.gallery import TileGroup, sheet_rows
from prodex.messages import counted
from prodex.notebook.session.actions import Block, Panel, task
from prodex.notebook.session.value import Refused, Session, error_text
from prodex.notebook.views.blocks import box, button, paragraph, typed_text, work
from prodex.notebook.views.export import CANCELLED
from prodex.notebook.views.forms import FormField, form, form_values, required
from prodex.notebook.views.gallery_pages import PACKSHOTS_ONLY, every_group, page_of
from prodex.notebook.views.gallery_pictures import SIDE, shelf_of
from prodex.notebook.views.paths import path_of
from prodex.notebook.views.products_left import left_of
from prodex.progress import Reporter

_FORM, _SLOT = "contact-sheet", "gallery.sheet"
_PAGE, _EVERY = "this page", "all pages"
#: Products on one sheet; more would make a page that browsers scroll with difficulty.
MOST = 500
_REPLACE = "Replace an existing file"


@dataclass(frozen=True)
class SheetState:
    """What became of the last contact sheet, and of which catalogue it is."""

    said: str = ""
    is_problem: bool = False
    of: object = None


def contact_sheet_block(session: Session) -> Block:
    """Return the form in one line: what it proposes is what most want, so a press writes the sheet."""
    state = session.part(SheetState)
    # What was reported of other products than these would be taken for a report of these.
    said = state.said if state.of is shelf_of(session) else ""
    off = "A contact sheet is being written." if _SLOT in session.works else ""
    write = button("Export contact sheet", "gallery.sheet", key="sheet", off=off)
    return box(
        form(session, _FORM, _fields(), write, look="bar", label="Contact sheet"),
        work(session, _SLOT),
        paragraph(typed_text(said), key="sheet-said", tone="problem" if state.is_problem else "note")
        if said
        else None,
        key="contact-sheet",
    )


def _fields() -> list[FormField]:
    return [
        FormField("what", "Contact sheet of", "choice", _EVERY, [(one, one) for one in (_EVERY, _PAGE)]),
        FormField("file", "File", "folder", "contact-sheet.html"),
        FormField("replace", _REPLACE, "tick", value=False),
    ]


@task("gallery.sheet")
def start_sheet(app: Panel) -> None:
    """Write a contact sheet."""
    session, shelf = app.session, shelf_of(app.session)
    app.change(lambda session: session.with_part(SheetState()))
    values, at = form_values(session, _FORM, _fields()), f"{_FORM}.file"
    wanted = "Enter a file for the contact sheet, such as sheet.html."
    page = path_of(required(values, _FORM, "file", wanted), at=at)
    if page.exists() and not values["replace"]:
        raise Refused(f"{page} already exists. Give another name, or tick '{_REPLACE}'.", at=at)
    if not shelf.has_consent:
        wait = "The sheet is made of pictures. Press 'Show pictures' first, which allows to download them."
        raise Refused(wait, at=at)
    groups = page_of(session).groups if values["what"] == _PAGE else every_group(session)
    count = sum(len(group.rows) for group in groups)
    if count > MOST:
        raise Refused(
            f"{count:,} products are too many for one sheet of {MOST}. Export this page, or filter more.",
            at=f"{_FORM}.what",
        )

    def say(session: Session, said: str, *, is_problem: bool = False) -> Session:
        return session.with_part(SheetState(said, is_problem, shelf))

    app.run(
        _SLOT,
        partial(_write, session, groups, page, len(left_of(session)), session.chosen_words),
        say,
        title=f"Exporting a contact sheet of {counted(count, 'product')}",
        failed=lambda session, error: say(session, error_text(error), is_problem=True),
        cancelled=lambda session: say(session, CANCELLED),
    )


def _write(
    session: Session, groups: Sequence[TileGroup], page: Path, total: int, chosen: str, reporter: Reporter
) -> str:
    """Write a contact sheet, and return where it is."""
    from prodex.pictures.contact_sheet import Gallery, SheetGroup, sheet_cells

    catalog, only = session.catalog, PACKSHOTS_ONLY.of(session)
    rows = [row for group in groups for row in sheet_rows(session.filter.products, group.rows)]
    cells = sheet_cells(catalog, rows, SIDE, only, reporter=reporter)
    with reporter.phase("Writing the contact sheet"):
        named = tuple(SheetGroup(one.label, len(one.rows), one.total) for one in groups if one.label)
        sheet = Gallery(cells, 1, 1, 1, total, catalog.origin.source, SIDE, named, chosen, len(catalog))
        written = sheet.to_html(page)
    # The message explains missing pictures, since a sheet is written even if it has none.
    return f"Exported {counted(len(cells), 'product')} to {written}: {sheet.summary}."
