"""Products by their pictures: a page of tiles, or a row of them for each value of a facet.

Pictures are downloaded by Python, those of the page that is shown, and only after "Show pictures" was pressed once,
unless they are of a sandbox on this machine; the browser itself loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from prodex.exploration.gallery import sheet_rows, tiles
from prodex.notebook.session.actions import Block, Panel, Want, action, task
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.blocks import button, paragraph, row, switch, work
from prodex.notebook.views.contact_sheet import contact_sheet_block
from prodex.notebook.views.forms import FormField, Setting, form
from prodex.notebook.views.gallery_pages import (
    CONTROLS,
    GALLERY_LIST,
    PACKSHOTS_ONLY,
    PER_PAGE,
    GalleryPage,
    GalleryState,
    page_of,
)
from prodex.notebook.views.gallery_pictures import CONSENT, jpegs, picture_name, shelf_of
from prodex.notebook.views.products_left import left_of
from prodex.notebook.views.table import known_product, selecting, selection_box
from prodex.progress import Reporter

TABLE, GALLERY_LOOK = "table", "gallery"
_DOWNLOAD = "gallery.pictures"
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
    page, has_consent = page_of(session), shelf_of(session).has_consent
    again = len(page.broken) + len(page.missing) if has_consent and _DOWNLOAD not in session.works else 0
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
            _pager(session, page),
            paragraph(_summary(session, page), key="summary", tone="status"),
            None if has_consent else show,
            button(f"Try again ({again:,})", "gallery.again", key="again") if again else None,
            selection_box(session, page.ids),
            key="gallery-head",
            look="table-head",
        ),
        _controls(session),
        contact_sheet_block(session),
        work(session, _DOWNLOAD),
        _grid(session, page),
    )
    return [one for one in blocks if one]


def gallery_wants(session: Session) -> Iterator[Want]:
    """Yield what the page lacks: which products have a picture, and pictures, if they may be downloaded."""
    shelf, state = shelf_of(session), session.part(GalleryState)
    if shelf.pictured is None:
        yield Want("gallery.read", ("pictured", shelf), shelf.read)
        return
    page, products, only = page_of(session), session.filter.products, PACKSHOTS_ONLY.of(session)
    if not shelf.has_consent or not page.missing or not session.can("gallery.show"):
        return

    def download(reporter: Reporter) -> None:
        shelf.download(sheet_rows(products, page.missing), reporter, packshots_only=only)

    # The key is of the page and not of what is missing of it, which is less with each picture that comes.
    key = (shelf, tuple(page.ids), only, state.attempt)
    options = {"title": "Downloading pictures", "after": 0.0}
    yield Want(_DOWNLOAD, key, download, options=options)


def gallery_pictures(session: Session) -> Iterator[tuple[str, str, bytes]]:
    """Yield the pictures that the page shows."""
    yield from jpegs(cell.thumbnail.bytes for cell in page_of(session).pictures.values())


def _summary(session: Session, page: GalleryPage) -> str:
    if (known := shelf_of(session).pictured) is None:
        return "Counting pictures …"
    pictured = [cell.thumbnail for cell in page.pictures.values() if cell.thumbnail.position is not None]
    is_broken = bool(pictured) and not any(one.bytes is not None for one in pictured)
    only = PACKSHOTS_ONLY.of(session)
    return known.summary(left_of(session).mask, packshots_only=only) + _ALL_BROKEN * is_broken


def _pager(session: Session, page: GalleryPage) -> Block:
    every, is_flat = len(session.filter.products), not session.part(GalleryState).facet
    more = "" if page.total == every or not is_flat else f" ({every:,} in all)"
    noun = "product" if is_flat else "value"
    return GALLERY_LIST.page(session, page.total, noun, key="pager", more=more)[1]


_SIDES = [(96, "small"), (144, "medium"), (220, "large")]
_SIDE = Setting(CONTROLS, FormField("side", "Size", "choice", 144, _SIDES))


def _controls(session: Session) -> Block:
    facet, facets = session.part(GalleryState).facet, session.filter.facets
    titles = {"": "no groups", **{name: declared.title for name, declared in facets.declared.items()}}
    if facet not in titles:
        titles[facet] = facets[facet].facet.title
    fields = (
        FormField("group_by", "Group by", "choice", facet, [*titles.items()], do="gallery.group_by"),
        PACKSHOTS_ONLY.field,
        None if facet else PER_PAGE.field,
        _SIDE.field,
    )
    return form(session, CONTROLS, fields, look="bar", label="Pictures")


def _grid(session: Session, page: GalleryPage) -> Block:
    state, pictured, chosen = session.part(GalleryState), shelf_of(session).pictured, set(session.selected)
    groups = []
    for number, group in enumerate(page.groups):
        assert pictured is not None  # noqa: S101 - otherwise there are no groups
        made = tiles(
            session.filter.products,
            group.rows,
            page.pictures,
            is_loading=_DOWNLOAD in session.works,
            pictured=pictured,
            packshots_only=PACKSHOTS_ONLY.of(session),
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
        "selected": [one for one in page.ids if one in chosen],
        "open": session.product_id,
        "side": _SIDE.of(session),
        "first": page.first,
        "empty": "" if page.ids or pictured is None else "No products to show.",
    }


@action("products.look")
def show_as(session: Session, name: Literal["table", "gallery"]) -> Session:
    """Show the products as a table or by their pictures: the same products, selection, card and order."""
    return session.with_changed(GalleryState, is_shown=name == GALLERY_LOOK)


@action("gallery.by")
def show_by(session: Session, facet: str) -> Session:
    """Show the first products of each value of a facet, by their pictures."""
    return group_by(session, facet).with_changed(GalleryState, is_shown=True)


@action("gallery.group_by")
def group_by(session: Session, value: str) -> Session:
    """Show the first products of each value of a facet, or all in one list."""
    facets = session.filter.facets
    if value and value not in facets:
        raise Refused(f"There is no facet {value!r:.80}. Give one of {', '.join(facets.declared)}.")
    return session.with_changed(GalleryState, facet=value)


@action("gallery.turn", is_quiet=True)
def turn_page(session: Session, by: Literal[-1, 1]) -> Session:
    """Turn a page."""
    return GALLERY_LIST.turned(session, by, page_of(session).total)


@action("gallery.select", is_quiet=True)
def select_product(session: Session, product_id: str, through: bool = False) -> Session:
    """Select a product or clear it; `through` selects all of the page from the last one that was pressed."""
    return selecting(session, known_product(session, product_id), page_of(session).ids if through else ())


@action("gallery.keep")
def keep_value(session: Session, facet: str, code: str | None) -> Session:
    """Keep only the products of a value, and show them one by one."""
    group_by(session, facet)  # refused if there is no such facet
    return group_by(session.filtered(session.conditions.choosing(facet, (code,))), "")


@task("gallery.show")
def show_pictures(app: Panel) -> None:
    """Agree that pictures are downloaded."""
    CONSENT.is_given = True
    app.change(lambda session: session.replaced())


@task("gallery.again")
def try_again(app: Panel) -> None:
    """Download again what is missing on this page."""
    broken, only = page_of(app.session).broken, PACKSHOTS_ONLY.of(app.session)
    shelf_of(app.session).forget(broken, packshots_only=only)
    app.change(
        lambda session: session.with_changed(GalleryState, attempt=session.part(GalleryState).attempt + 1)
    )
