"""A contact sheet of what a gallery shows, as one HTML file that opens offline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from prodex.exploration.gallery import TileGroup, sheet_rows
from prodex.notebook.session.actions import Block, Panel, task
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.blocks import box, button
from prodex.notebook.views.forms import FormField, form, form_values
from prodex.notebook.views.gallery_pages import PACKSHOTS_ONLY, every_group, page_of
from prodex.notebook.views.gallery_pictures import SIDE, shelf_of
from prodex.notebook.views.products_left import left_of
from prodex.notebook.views.written_files import CANCELLED, new_file, write_files, written_blocks
from prodex.phrases import counted
from prodex.progress import Reporter

_FORM, _SLOT = "contact-sheet", "gallery.sheet"
_PAGE, _EVERY = "this page", "all pages"
#: Products on one sheet; more would make a page that browsers scroll with difficulty.
MOST = 500
_REPLACE = "Replace an existing file"


def contact_sheet_block(session: Session) -> Block:
    """Return the form in one line: what it proposes is what most want, so a press writes the sheet."""
    off = "A contact sheet is being written." if _SLOT in session.works else ""
    write = button("Export contact sheet", "gallery.sheet", key="sheet", off=off)
    return box(
        form(session, _FORM, _fields(), write, look="bar", label="Contact sheet"),
        *written_blocks(session, _SLOT, key="sheet-said"),
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
    session = app.session
    app.change(lambda session: session.noting("", section=_SLOT))
    values, at = form_values(session, _FORM, _fields()), f"{_FORM}.file"
    page = new_file(values, at, "Enter a file for the contact sheet, such as sheet.html.", _REPLACE)
    if not shelf_of(session).has_consent:
        wait = "The sheet is made of pictures. Press 'Show pictures' first, which allows to download them."
        raise Refused(wait, at=at)
    groups = page_of(session).groups if values["what"] == _PAGE else every_group(session)
    count = sum(len(group.rows) for group in groups)
    if count > MOST:
        raise Refused(
            f"{count:,} products are too many for one sheet of {MOST}. Export this page, or filter more.",
            at=f"{_FORM}.what",
        )
    write = partial(_write, session, groups, page, len(left_of(session)), session.chosen_words)
    title = f"Exporting a contact sheet of {counted(count, 'product')}"
    write_files(app, _SLOT, write, title, cancelled=CANCELLED)


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
