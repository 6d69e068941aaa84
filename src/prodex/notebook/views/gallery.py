"""Products by their pictures: a page of tiles, or a row of them for each value of a facet.

Pictures are downloaded by Python, those of the page that is shown, and only after "Show pictures" was pressed once,
unless they are of a sandbox on this machine; the browser itself loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from prodex.exploration.gallery import sheet_rows, tiles
from prodex.notebook.session.actions import Block, Panel, Want, action, task
from prodex.notebook.session.value import Refused, Session
from prodex.notebook.views.blocks import button, paragraph, row, switch, work
from prodex.notebook.views.contact_sheet import contact_sheet_block
from prodex.notebook.views.forms import FormField, form
from prodex.notebook.views.gallery_pages import (
    GalleryState,
    first_of_page,
    missing_pictures,
    page_groups,
    page_ids,
    shown_of,
    size_of_page,
    total_shown,
)
from prodex.notebook.views.gallery_pictures import CONSENT, jpegs, picture_name, shelf_of
from prodex.notebook.views.pages_of_rows import pager
from prodex.notebook.views.products_left import left_of
from prodex.notebook.views.table import known_product, selecting, selection_box
from prodex.progress import Reporter

TABLE, GALLERY_LOOK = "table", "gallery"
_DOWNLOAD = "gallery.pictures"
_SIZES = (12, 24, 48, 96)
_SIDES = {96: "small", 144: "medium", 220: "large"}
_FLAT = ("", "no groups")
#: The addresses are those of the products' records, and as old as these.
_ALL_BROKEN = (
    " No picture of this page could be shown. If pictures have moved since these products were loaded, load the "
    "products again."
)


def is_gallery(session: Session) -> bool:
    """Return whether products are shown by their pictures."""
    return session.part(GalleryState).is_shown or session.section == "gallery"


def look_switch(session: Session) -> Block:
    """Return the buttons that show the table or the gallery."""
    looks = {TABLE: "Table", GALLERY_LOOK: "Gallery"}
    return switch(
        "Show as", GALLERY_LOOK if is_gallery(session) else TABLE, looks, "products.look", key="look"
    )


def gallery_blocks(session: Session) -> list[Block]:
    """Return the page of pictures with what can be chosen above it."""
    state, shelf = session.part(GalleryState), shelf_of(session)
    ids = page_ids(session)
    again = None
    if shelf.has_consent and _DOWNLOAD not in session.works:
        left = len(shelf.broken(ids, packshots_only=state.packshots_only)) + len(missing_pictures(session))
        again = button(f"Try again ({left:,})", "gallery.again", key="again") if left else None
    show = button(
        "Show pictures",
        "gallery.show",
        key="show",
        look="main",
        to="table",
        title="Python downloads them from the addresses in the products' records; the browser loads nothing",
    )
    blocks = (
        row(
            _pager(session),
            paragraph(_summary(session, ids), key="summary", tone="status"),
            None if shelf.has_consent else show,
            again,
            selection_box(session, ids),
            key="gallery-head",
            look="table-head",
        ),
        _controls(session),
        contact_sheet_block(session),
        work(session, _DOWNLOAD),
        _grid(session),
    )
    return [one for one in blocks if one]


def gallery_wants(session: Session) -> Iterator[Want]:
    """Yield what the page lacks: which products have a picture, and pictures, if they may be downloaded."""
    shelf, state = shelf_of(session), session.part(GalleryState)
    if shelf.pictured is None:
        yield Want("gallery.read", ("pictured", shelf), shelf.read, lambda session, _: session.replaced())
        return
    missing, products, packshots_only = (
        missing_pictures(session),
        session.filter.products,
        state.packshots_only,
    )
    if not shelf.has_consent or not missing:
        return

    def download(reporter: Reporter) -> None:
        shelf.download(sheet_rows(products, missing), reporter, packshots_only=packshots_only)

    # The key is of the page and not of what is missing of it, which is less with each picture that comes.
    key = (shelf, tuple(page_ids(session)), packshots_only, state.attempt)
    options = {"title": "Downloading pictures", "after": 0.0}
    yield Want(_DOWNLOAD, key, download, lambda session, _: session.replaced(), options)


def gallery_pictures(session: Session) -> Iterator[tuple[str, str, bytes]]:
    """Yield the pictures that the page shows."""
    cells = shelf_of(session).cells(
        page_ids(session), packshots_only=session.part(GalleryState).packshots_only
    )
    yield from jpegs(cell.thumbnail.bytes for cell in cells.values() if cell.thumbnail.bytes is not None)


def _summary(session: Session, ids: Sequence[str]) -> str:
    shelf, only = shelf_of(session), session.part(GalleryState).packshots_only
    if shelf.pictured is None:
        return "Counting pictures …"
    cells = shelf.cells(ids, packshots_only=only)
    pictured = [cell.thumbnail for cell in cells.values() if cell.thumbnail.position is not None]
    is_broken = bool(pictured) and not any(one.bytes is not None for one in pictured)
    return shelf.pictured.summary(left_of(session).mask, packshots_only=only) + _ALL_BROKEN * is_broken


def _pager(session: Session) -> Block:
    total, every = total_shown(session), len(session.filter.products)
    is_flat = not session.part(GalleryState).facet
    more = "" if total == every or not is_flat else f" ({every:,} in all)"
    noun = "product" if is_flat else "value"
    return pager(
        first_of_page(session), size_of_page(session), total, noun, "gallery.page", key="pager", more=more
    )


def _controls(session: Session) -> Block:
    state, facets = session.part(GalleryState), session.filter.facets
    titles = {name: declared.title for name, declared in facets.declared.items()}
    if state.facet and state.facet not in titles:
        titles[state.facet] = facets[state.facet].facet.title
    fields = (
        FormField(
            "group_by", "Group by", "choice", state.facet, [_FLAT, *titles.items()], do="gallery.group_by"
        ),
        FormField(
            "kind",
            "Show",
            "choice",
            state.packshots_only,
            [(False, "packshot, else another"), (True, "packshots only")],
            do="gallery.kind",
        ),
        None
        if state.facet
        else FormField(
            "size",
            "Pictures per page",
            "choice",
            state.size,
            [(one, str(one)) for one in _SIZES],
            do="gallery.page_size",
        ),
        FormField("side", "Size", "choice", state.side, [*_SIDES.items()], do="gallery.side"),
    )
    return form(session, "gallery-controls", fields, look="bar", label="Pictures")


def _grid(session: Session) -> Block:
    state, shelf = session.part(GalleryState), shelf_of(session)
    groups = []
    chosen, ids = set(session.selected), page_ids(session)
    cells = shelf.cells(ids, packshots_only=state.packshots_only)
    for number, group in enumerate(page_groups(session)):
        assert shelf.pictured is not None  # noqa: S101 - otherwise there are no groups
        made = tiles(
            session.filter.products,
            group.rows,
            cells,
            is_loading=_DOWNLOAD in session.works,
            pictured=shelf.pictured,
            packshots_only=state.packshots_only,
            address=picture_name,
        )
        groups.append(
            {
                "key": str(number),
                "label": group.label,
                "facet": state.facet,
                "code": group.code,
                "total": group.total,
                "tiles": [{"key": one.pop("id"), **one} for one in made],
            }
        )
    return {
        "kind": "product_gallery",
        # As of the table, in whose place it is: the focus goes to either.
        "key": "table",
        "groups": groups,
        "selected": [one for one in ids if one in chosen],
        "open": session.product_id,
        "side": state.side,
        "first": first_of_page(session),
        "empty": "" if ids or shelf.pictured is None else "No products to show.",
    }


def _with(session: Session, **changes: Any) -> Session:
    return session.with_part(replace(session.part(GalleryState), **changes))


@action("products.look")
def show_as(session: Session, name: Literal["table", "gallery"]) -> Session:
    """Show the products as a table or by their pictures: the same products, selection, card and order."""
    return _with(session, is_shown=name == GALLERY_LOOK)


@action("gallery.by")
def show_by(session: Session, facet: str) -> Session:
    """Show the first products of each value of a facet, by their pictures."""
    return _with(_grouped_by(session, facet), is_shown=True)


@action("gallery.group_by")
def group_by(session: Session, value: str) -> Session:
    """Show the first products of each value of a facet, or all in one list."""
    return _grouped_by(session, value)


def _grouped_by(session: Session, facet: str) -> Session:
    facets = session.filter.facets
    if facet and facet not in facets:
        raise Refused(f"There is no facet {facet!r:.80}. Give one of {', '.join(facets.declared)}.")
    return _with(session, facet=facet, first=0)


@action("gallery.kind")
def set_kind(session: Session, value: bool) -> Session:
    """Show packshots only, or other pictures as well."""
    return _with(session, packshots_only=value, first=0)


@action("gallery.page_size")
def set_page_size(session: Session, value: int) -> Session:
    """Show so many pictures on a page."""
    if value not in _SIZES:
        raise Refused(f"A page has {', '.join(map(str, _SIZES))} pictures.")
    return _with(session, size=value, first=0)


@action("gallery.side", is_quiet=True)
def set_side(session: Session, value: int) -> Session:
    """Show pictures smaller or larger."""
    if value not in _SIDES:
        raise Refused(f"A picture is {', '.join(_SIDES.values())}.")
    return _with(session, side=value)


@action("gallery.page", is_quiet=True)
def show_page(session: Session, first: int) -> Session:
    """Show the page that begins with a product or a value."""
    size = size_of_page(session)
    return _with(session, first=max(0, first) // size * size, of=shown_of(session))


@action("gallery.turn", is_quiet=True)
def turn_page(session: Session, by: Literal[-1, 1]) -> Session:
    """Turn a page."""
    turned = first_of_page(session) + by * size_of_page(session)
    return show_page(session, turned) if 0 <= turned < total_shown(session) else session


@action("gallery.select", is_quiet=True)
def select_product(session: Session, product_id: str, through: bool = False) -> Session:
    """Select a product or clear it; `through` selects all of the page from the last one that was pressed."""
    return selecting(session, known_product(session, product_id), page_ids(session) if through else ())


@action("gallery.keep")
def keep_value(session: Session, facet: str, code: str | None) -> Session:
    """Keep only the products of a value, and show them one by one."""
    session = _grouped_by(session, facet)
    return _with(session.filtered(session.conditions.choosing(facet, (code,))), facet="", first=0)


@task("gallery.show")
def show_pictures(app: Panel) -> None:
    """Agree that pictures are downloaded."""
    CONSENT.is_given = True
    app.change(lambda session: session.replaced())


@task("gallery.again")
def try_again(app: Panel) -> None:
    """Download again what is missing on this page."""
    session = app.session
    shelf, only = shelf_of(session), session.part(GalleryState).packshots_only
    shelf.forget(shelf.broken(page_ids(session), packshots_only=only), packshots_only=only)
    app.change(lambda session: _with(session, attempt=session.part(GalleryState).attempt + 1))
