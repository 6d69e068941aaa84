"""The table of products: pages, order, which product is open, and which are selected.

An action names products by id: a page may show other rows by now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import InputError, ProdexError
from prodex.exploration.product_columns import ProductRows, Rows
from prodex.exploration.table_page import NOT_ASKED, NOTHING, Order, Sorter, cells, is_number, title
from prodex.locales import language_label
from prodex.notebook.session.actions import Block, Want, action
from prodex.notebook.session.value import Refused, Session, error_text
from prodex.notebook.views.blocks import button, fold, paragraph, row, typed_text
from prodex.notebook.views.card import correct_first
from prodex.notebook.views.columns import column_picker, columns_of
from prodex.notebook.views.focus import focusing
from prodex.notebook.views.forms import FormField, form
from prodex.notebook.views.gallery_pictures import contents_in_rows, jpegs, picture_name, shelf_of
from prodex.notebook.views.pages_of_rows import first_on_page, pager
from prodex.notebook.views.products_left import left_of
from prodex.notebook.views.table_heads import AT_ONCE, SHOWN_FIRST, heads_of, heads_wants
from prodex.progress import Reporter

SIZES = (10, 25, 50, 100, 200)
#: The usual columns that go first when there is little room, and those that go next. All others stay: GTIN and name,
#: and those that somebody has added.
_GO_FIRST = frozenset(("brand", "updated_at", "texts_count", "pictures_count"))
_GO_NEXT = frozenset(("kind", "owner", "grade", "score"))
MISSING_CELLS = frozenset((NOTHING, NOT_ASKED))
_UNREAD = "These products cannot be read; the message above says why."


@dataclass(frozen=True)
class ProductTableState:
    """How the table is shown.

    Attributes
    ----------
    order
        How products are sorted.
    language
        Language of the names; "" for the best that each has.
    size
        Rows on a page.
    first, of
        Number of the first row of the page, and of which products: others are shown from the first page.
    is_dense
        Whether every product is one line.
    with_heads, with_pictures
        Whether distributions stand under the heads, and pictures beside the names.
    anchor
        The product that was selected last, from which a selection is extended.
    """

    order: Order = field(default_factory=Order)
    language: str = ""
    size: int = 50
    first: int = 0
    of: tuple[Any, ...] = ()
    is_dense: bool = True
    with_heads: bool = True
    with_pictures: bool = False
    anchor: str | None = None


class _Kept:
    """What was made last of one catalogue: a view is made at each change, of which most concern other parts."""

    def __init__(self, session: Session) -> None:
        self.sorter = Sorter(session.filter.products)
        self.languages: list[str] | None = None
        self.places: tuple[Any, ...] = (None, None, None, None)
        self.page: tuple[Any, Any] = (None, None)

    def read_languages(self, session: Session) -> None:
        """Read in which languages there are names."""
        if self.languages is None:
            self.languages = session.filter.products.languages()


def _what(session: Session) -> tuple[Any, ...]:
    """Return what says whether other products are shown than before."""
    return session.derived(_Kept), session.conditions


def _first(session: Session) -> int:
    state = session.part(ProductTableState)
    # Another page is gone back to only if it is one of the same products.
    is_same = (
        len(state.of) == 2 and state.of[0] is session.derived(_Kept) and state.of[1] == session.conditions
    )
    return first_on_page(state.first, state.size, len(left_of(session))) if is_same else 0


def ordered(session: Session) -> Rows:
    """Return the places of all products of the catalogue, in the order of the table."""
    state = session.part(ProductTableState)
    order = state.order if state.order.column in columns_of(session) else Order()
    return session.derived(_Kept).sorter.order(order, _language(session) or None)


def places(session: Session) -> Rows:
    """Return the places of the products that are shown on all pages, in their order."""
    kept, mask, all_ordered = session.derived(_Kept), left_of(session).mask, ordered(session)
    known = kept.places
    if known[0] is not mask or known[1] is not all_ordered:
        kept.places = known = (mask, all_ordered, all_ordered.compress(mask[all_ordered]))
    rows: Rows = known[2]
    return rows


def place_of(session: Session, product_id: str) -> int:
    """Return the place of a product in the catalogue; below zero where it has none."""
    found: int = pc.index(session.filter.products.ids, pa.scalar(product_id, pa.string())).as_py()
    return found


def known_product(session: Session, product_id: str) -> str:
    """Return the id of a product of the catalogue.

    Raises
    ------
    Refused
        When the catalogue has no such product: a page may show another one still.
    """
    if place_of(session, product_id) < 0:
        raise Refused("This product is not in the catalogue that is shown now.")
    return product_id


def is_listed(session: Session, product_id: str) -> bool:
    """Return whether a product is in the table, on this page or another.

    >>> import prodex
    >>> is_listed(Session(prodex.flatten([{"id": 7}])), "7")
    True
    """
    place = place_of(session, product_id)
    return place >= 0 and bool(left_of(session).mask[place])


def page_ids(session: Session) -> list[str]:
    """Return the ids of the products on the page."""
    first, size = _first(session), session.part(ProductTableState).size
    ids: list[str] = session.filter.products.ids.take(
        pa.array(places(session)[first : first + size])
    ).to_pylist()
    return ids


def table_blocks(session: Session) -> list[Block]:
    """Return the table, with its page and selection above it and what can be set about it below."""
    total, problem = len(left_of(session)), None
    try:
        rows = _rows(session)
    except ProdexError as error:
        # No rows are shown: those of another page would be taken for them.
        rows, problem = [], paragraph(typed_text(error_text(error)), key="table-problem", tone="problem")
    blocks = (
        row(
            _pager(session, "pager"),
            selection_box(session, [one["key"] for one in rows]),
            key="table-head",
            look="table-head",
        ),
        problem,
        _table(session, rows),
        # For whoever has read to its end.
        _pager(session, "pager-below") if total > session.part(ProductTableState).size else None,
    )
    return [one for one in blocks if one]


def columns_fold(session: Session) -> Block:
    """Return which columns there are and how rows look, folded."""
    return fold(session, "columns", "Columns and rows", lambda: (_settings(session), column_picker(session)))


def table_wants(session: Session) -> Iterator[Want]:
    """Yield what the table lacks: it is shown before."""
    kept, columns = session.derived(_Kept), columns_of(session)
    if session.part(ProductTableState).with_heads:
        yield from heads_wants(session, columns)
    if kept.languages is None and len(session.filter.products) > AT_ONCE:

        def read(_: Reporter) -> None:
            kept.read_languages(session)

        options = {"delay": SHOWN_FIRST, "is_patient": True}
        yield Want(
            "table.languages", ("languages", kept), read, lambda session, _: session.replaced(), options
        )


def selection_box(session: Session, ids: Sequence[str]) -> Block:
    """Return how many products are selected, and the buttons that select; `ids` are those on the page."""
    total, many = len(left_of(session)), len(session.selected)
    every = None
    if total > len(ids):
        every = button(f"Select all {total:,}", "table.select_all", key="select-all", count=total)
    return row(
        paragraph(f"{many:,} selected", key="selected", tone="muted" if many else "muted only-live"),
        button(
            "Select this page",
            "table.select_page",
            key="select-page",
            off="" if ids else "No products are shown.",
            product_ids=[*ids],
        ),
        every,
        button("Clear selection", "table.clear", key="clear", off="" if many else "No product is selected."),
        key="selection-buttons",
        look="selection-buttons",
    )


def _pager(session: Session, key: str) -> Block:
    total, every = len(left_of(session)), len(session.filter.products)
    more = "" if total == every else f" ({every:,} in all)"
    return pager(
        _first(session),
        session.part(ProductTableState).size,
        total,
        "product",
        "table.page",
        key=key,
        more=more,
    )


def _rows(session: Session) -> list[dict[str, Any]]:
    kept, state, products = session.derived(_Kept), session.part(ProductTableState), session.filter.products
    all_places, first, columns = places(session), _first(session), columns_of(session)
    of = (first, state.size, columns, _language(session))
    if kept.page[0] is None or kept.page[0][0] is not all_places or kept.page[0][1:] != of:
        page = ProductRows(products, all_places[first : first + state.size])
        texts = cells(page, columns, of[-1] or None).to_numpy().tolist()
        label = columns.index("name") if "name" in columns else 0
        rows = [
            {
                "key": one,
                "label": own[label],
                "cells": [{"gap": text} if text in MISSING_CELLS else text for text in own],
            }
            for one, own in zip(page.column("product_id").to_pylist(), texts, strict=True)
        ]
        kept.page = ((all_places, *of), rows)
    found: list[dict[str, Any]] = kept.page[1]
    return found


def _table(session: Session, rows: Sequence[dict[str, Any]]) -> Block:
    state, columns, total = session.part(ProductTableState), columns_of(session), len(left_of(session))
    heads = heads_of(session, columns) if state.with_heads else {}
    chosen = set(session.selected)
    ids = [one["key"] for one in rows]
    return {
        "kind": "product_table",
        "key": "table",
        "label": "Products",
        "look": "dense" if state.is_dense else "roomy",
        "columns": [column_block(name, state.order, heads.get(name)) for name in columns],
        "rows": [*rows],
        "selected": [one for one in ids if one in chosen],
        "open": session.product_id,
        "first": _first(session),
        "total": total,
        "pictures": {one: picture_name(content) for one, content in _contents(session, ids).items()}
        if _has_pictures(session)
        else None,
        "empty": "" if rows else _UNREAD if total else "No products to show.",
    }


def _has_pictures(session: Session) -> bool:
    return session.part(ProductTableState).with_pictures and bool(shelf_of(session))


def _contents(session: Session, ids: Sequence[str]) -> dict[str, bytes]:
    return contents_in_rows(session, ids) if _has_pictures(session) else {}


def table_pictures(session: Session) -> Iterator[tuple[str, str, bytes]]:
    """Yield the pictures that the table shows beside names."""
    if _has_pictures(session):
        yield from jpegs(_contents(session, page_ids(session)).values())


def column_block(name: str, order: Order, head: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a column of the table, with what stands under its head."""
    return {
        "key": name,
        "title": title(name),
        "align": "right" if is_number(name) else "left",
        "priority": 3 if name in _GO_FIRST else 2 if name in _GO_NEXT else 1,
        "sort": ("descending" if order.descending else "ascending") if order.column == name else "",
        "head": head,
    }


def _settings(session: Session) -> Block:
    state = session.part(ProductTableState)
    fields = (
        FormField(
            "language", "Names in", "choice", _language(session), _languages(session), do="table.language"
        ),
        FormField(
            "size",
            "Rows per page",
            "choice",
            state.size,
            [(one, str(one)) for one in SIZES],
            do="table.page_size",
        ),
        FormField(
            "density",
            "Rows",
            "choice",
            state.is_dense,
            [(True, "one line"), (False, "as high as needed")],
            do="table.density",
        ),
        FormField("heads", "Distributions under the heads", "tick", state.with_heads, do="table.heads"),
        FormField(
            "pictures",
            "Pictures",
            "tick",
            state.with_pictures,
            hint="Pictures that the gallery has downloaded",
            do="table.pictures",
        )
        if shelf_of(session)
        else None,
    )
    return form(session, "table-settings", fields, look="line", label="Rows")


def _languages(session: Session) -> list[tuple[str, str]]:
    """Return the languages that names have: in any other one the column would be empty."""
    kept = session.derived(_Kept)
    if len(session.filter.products) <= AT_ONCE:
        kept.read_languages(session)
    named = [(code, language_label(code)) for code in kept.languages or ()]
    return [("", "any language"), *named]


def _language(session: Session) -> str:
    """Return the language of the names, unless no product has a name in it."""
    chosen, kept = session.part(ProductTableState).language, session.derived(_Kept)
    if chosen and len(session.filter.products) <= AT_ONCE:
        kept.read_languages(session)
    return chosen if kept.languages is None or chosen in kept.languages else ""


def name_language_of(session: Session) -> str | None:
    """Return the language of the names, or None for the best that each product has."""
    return _language(session) or None


def _with(session: Session, **changes: Any) -> Session:
    return session.with_part(replace(session.part(ProductTableState), **changes))


def _from_start(session: Session, **changes: Any) -> Session:
    return _with(session, first=0, **changes)


@action("table.sort")
def sort_by(session: Session, column: str) -> Session:
    """Sort by a column: ascending, then descending, then in the order of the catalogue."""
    if column not in columns_of(session):
        raise Refused("The table does not show this column any more.")
    now = session.part(ProductTableState).order
    if now.column != column:
        return _from_start(session, order=Order(column))
    return _from_start(session, order=Order() if now.descending else Order(column, descending=True))


@action("table.page", is_quiet=True)
def show_page(session: Session, first: int) -> Session:
    """Show the page that begins with a row."""
    size = session.part(ProductTableState).size
    return _with(session, first=max(0, first) // size * size, of=_what(session))


@action("table.turn", is_quiet=True)
def turn_page(session: Session, by: Literal[-1, 1], follow: bool = False) -> Session:
    """Turn a page; with `follow`, go on to the card of its next product if one is open."""
    size, first = session.part(ProductTableState).size, _first(session)
    turned = first + by * size
    if not 0 <= turned < len(left_of(session)):
        return session
    moved = _with(session, first=turned, of=_what(session))
    if not follow or session.product_id is None:
        return moved
    return moved.replaced(product_id=page_ids(moved)[0 if by > 0 else -1])


@action("table.open", is_quiet=True)
def open_product(session: Session, product_id: str) -> Session:
    """Open the card of a product."""
    return session.replaced(product_id=known_product(session, product_id))


@action("table.close", is_quiet=True)
def close_card(session: Session) -> Session:
    """Close the card; the focus goes to the row of its product."""
    return session if session.product_id is None else focusing(session.replaced(product_id=None), "table")


@action("table.edit", is_quiet=True)
def edit_product(session: Session, product_id: str) -> Session:
    """Open the card of a product at the text that is most likely meant."""
    known_product(session, product_id)
    if not session.can("card.edit"):
        return session.replaced(product_id=product_id)
    try:
        edited: Session = correct_first(session, product_id)
    except InputError as error:
        return session.replaced(product_id=product_id).noting(str(error))
    return edited


@action("table.select", is_quiet=True)
def select_product(session: Session, product_id: str, through: bool = False) -> Session:
    """Select a product or clear it; `through` selects all of the page from the last one that was pressed."""
    return selecting(session, known_product(session, product_id), page_ids(session) if through else ())


def selecting(session: Session, product_id: str, page: Sequence[str]) -> Session:
    """Return the session in which a product is selected or cleared, or all of a page from the one before."""
    anchor, selected = session.part(ProductTableState).anchor, session.selected
    if anchor in page and product_id in page:
        first, last = sorted((page.index(anchor), page.index(product_id)))
        session = _selecting_all(session, page[first : last + 1])
    elif product_id in selected:
        session = session.replaced(selected=tuple(one for one in selected if one != product_id))
    else:
        session = _selecting_all(session, [product_id])
    return _with(session, anchor=product_id)


def _selecting_all(session: Session, ids: Iterable[str]) -> Session:
    # One that is selected already keeps its place in the order.
    return session.replaced(selected=tuple(dict.fromkeys([*session.selected, *ids])))


@action("table.select_page", is_quiet=True)
def select_page(session: Session, product_ids: list[str]) -> Session:
    """Select the products on the page, as it was when somebody pressed."""
    for one in product_ids:
        known_product(session, one)
    return _selecting_all(session, product_ids)


@action("table.select_all", is_quiet=True)
def select_all(session: Session, count: int) -> Session:
    """Select all products that are shown, on this page and on others; `count` says how many these were."""
    if count != len(left_of(session)):
        raise Refused("Nothing was selected: other products are shown by now. Press again to select these.")
    ids = session.filter.products.ids.take(pa.array(places(session)))
    return _selecting_all(session, ids.to_pylist())


@action("table.clear", is_quiet=True)
def clear_selection(session: Session) -> Session:
    """Select no product."""
    return _with(session.replaced(selected=()), anchor=None)


@action("table.language")
def name_language(session: Session, value: str) -> Session:
    """Show names in a language; "" in the best that each product has."""
    return _from_start(session, language=value)


@action("table.page_size")
def page_size(session: Session, value: int) -> Session:
    """Show so many rows on a page."""
    if value not in SIZES:
        raise Refused(f"A page has {', '.join(map(str, SIZES))} rows.")
    return _from_start(session, size=value)


@action("table.density")
def set_density(session: Session, value: bool) -> Session:
    """Show each product on one line, or as high as its texts need."""
    return _with(session, is_dense=value)


@action("table.heads")
def show_heads(session: Session, value: bool) -> Session:
    """Show distributions under the heads, or not."""
    return _with(session, with_heads=value)


@action("table.pictures")
def show_pictures(session: Session, value: bool) -> Session:
    """Show pictures beside the names, or not."""
    return _with(session, with_pictures=value)
