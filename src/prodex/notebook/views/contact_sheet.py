"""A contact sheet of what a gallery shows, as one HTML file that opens offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from prodex.catalog import Catalog
from prodex.exploration.gallery import TileGroup, sheet_rows
from prodex.messages import counted
from prodex.notebook.session.actions import Block, Panel, task
from prodex.notebook.session.value import Refused, Session, error_text
from prodex.notebook.views.blocks import box, button, paragraph, typed_text, work
from prodex.notebook.views.export import CANCELLED
from prodex.notebook.views.forms import FormField, form, form_values, required
from prodex.notebook.views.gallery_pages import GalleryState, every_group, page_groups
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
    write = button(
        "Export contact sheet",
        "gallery.sheet",
        key="sheet",
        off="A contact sheet is being written." if _SLOT in session.works else "",
    )
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
    session = app.session
    app.change(lambda session: session.with_part(SheetState()))
    values, at = form_values(session, _FORM, _fields()), f"{_FORM}.file"
    page = path_of(
        required(values, _FORM, "file", "Enter a file for the contact sheet, such as sheet.html."), at=at
    )
    if page.exists() and not values["replace"]:
        raise Refused(f"{page} already exists. Give another name, or tick '{_REPLACE}'.", at=at)
    shelf = shelf_of(session)
    if not shelf.has_consent:
        raise Refused(
            "The sheet is made of pictures. Press 'Show pictures' first, which allows to download them.",
            at=at,
        )
    groups = page_groups(session) if values["what"] == _PAGE else every_group(session)
    count = sum(len(group.rows) for group in groups)
    if count > MOST:
        raise Refused(
            f"{count:,} products are too many for one sheet of {MOST}. Export this page, or filter more.",
            at=f"{_FORM}.what",
        )
    rows = [sheet_rows(session.filter.products, group.rows) for group in groups]
    only, total = session.part(GalleryState).packshots_only, len(left_of(session))
    write = partial(write_sheet, session.catalog, groups, rows, only, total, session.chosen_words, page)
    app.run(
        _SLOT,
        write,
        lambda session, said: session.with_part(SheetState(said, of=shelf)),
        title=f"Exporting a contact sheet of {counted(count, 'product')}",
        failed=lambda session, error: session.with_part(
            SheetState(error_text(error), is_problem=True, of=shelf)
        ),
        cancelled=lambda session: session.with_part(SheetState(CANCELLED, of=shelf)),
    )


def write_sheet(
    catalog: Catalog,
    groups: Sequence[TileGroup],
    rows: Sequence[Sequence[dict[str, Any]]],
    packshots_only: bool,
    total: int,
    chosen: str,
    page: Path,
    reporter: Reporter,
) -> str:
    """Write a contact sheet, and return where it is.

    Parameters
    ----------
    catalog
        The catalogue of the products.
    groups, rows
        The groups, and of each what a contact sheet needs to know of its products.
    packshots_only
        Whether only packshots are shown.
    total
        How many products there are, on this sheet or not.
    chosen
        By what they were chosen.
    page
        The file.
    reporter
        Hears of how many pictures are there.
    """
    from prodex.pictures.contact_sheet import Gallery, SheetGroup, sheet_cells

    every = [row for of in rows for row in of]
    cells = sheet_cells(catalog, every, SIDE, packshots_only, reporter=reporter)
    with reporter.phase("Writing the contact sheet"):
        named = tuple(
            SheetGroup(group.label, len(group.rows), group.total) for group in groups if group.label
        )
        sheet = Gallery(cells, 1, 1, 1, total, catalog.origin.source, SIDE, named, chosen, len(catalog))
        written = sheet.to_html(page)
    # The message explains missing pictures, since a sheet is written even if it has none.
    return f"Exported {counted(len(cells), 'product')} to {written}: {sheet.summary}."
