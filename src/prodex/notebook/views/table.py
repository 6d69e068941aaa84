"""The table of products: pages, order, which product is open, and which are selected.

An action names products by id: a page may show other rows by now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from prodex.errors import InputError, ProdexError
from prodex.exploration.product_columns import ProductRows, Rows
from prodex.exploration.table_page import NOT_ASKED, NOTHING, Order, Sorter, cells, is_number, title
from prodex.locales import language_label
from prodex.notebook.session.actions import Block, Want, action
from prodex.notebook.session.session import Refused, Session, error_text
from prodex.notebook.views.blocks import button, fold, paragraph, row, typed_text
from prodex.notebook.views.card_texts import correct_first
from prodex.notebook.views.columns import column_picker, columns_of
from prodex.notebook.views.focus import focusing
from prodex.notebook.views.forms import FormField, Setting, form
from prodex.notebook.views.gallery_pictures import contents_in_rows, jpegs, picture_name, shelf_of
from prodex.notebook.views.pages_of_rows import RowList, products_shown
from prodex.notebook.views.products_left import left_of, place_of, shown_digest
from prodex.notebook.views.table_heads import AT_ONCE, SHOWN_FIRST, heads_of, heads_wants
from prodex.tables.columns import Mask

SIZES = (10, 25, 50, 100, 200)
#: The usual columns that go first when there is little room, and those that go next. All others stay: GTIN and name,
#: and those that somebody has added.
_GO_FIRST = frozenset(("brand", "updated_at", "texts_count", "pictures_count"))
_GO_NEXT = frozenset(("kind", "owner", "grade", "score"))
MISSING_CELLS = frozenset((NOTHING, NOT_ASKED))
_UNREAD = "These products cannot be read; the message above says why."


_FORM = "table-settings"
SIZE = Setting(
    _FORM, FormField("page_size", "Rows per page", "choice", 50, [(one, str(one)) for one in SIZES])
)
IS_DENSE = Setting(
    _FORM,
    FormField(
        "density", "Rows", "choice", value=True, options=[(True, "one line"), (False, "as high as needed")]
    ),
)
_HEADS = Setting(_FORM, FormField("heads", "Distributions under the heads", "tick", value=True))
_PICTURES = Setting(
    _FORM,
    FormField("pictures", "Pictures", "tick", value=False, hint="Pictures that the gallery has downloaded"),
)


@dataclass(frozen=True)
class ProductTableState:
    """How products are sorted and selected.

    Attributes
    ----------
    order
        How products are sorted.
    anchor
        The product that was selected last, from which a selection is extended.
    """

    order: Order = field(default_factory=Order)
    anchor: str | None = None


def _listed(session: Session) -> object:
    order = session.part(ProductTableState).order
    return *products_shown(session), order, SIZE.of(session), _language(session)


_LIST = RowList("products", SIZE.of, _listed)


class _NameLanguages:
    """In which languages there are names: read when somebody asks, and where there are many products before that."""

    def __init__(self, session: Session) -> None:
        self._products = session.filter.products
        self._codes: list[str] | None = None

    def read(self, _: object = None) -> None:
        """Read them."""
        self._codes = self._products.languages()

    @property
    def codes(self) -> list[str] | None:
        """Their codes; None as long as they are not read."""
        if self._codes is None and len(self._products) <= AT_ONCE:
            self.read()
        return self._codes


def _sorter(session: Session) -> Sorter:
    return Sorter(session.filter.products)


def ordered(session: Session) -> Rows:
    """Return the places of all products of the catalogue, in the order of the table."""
    order = session.part(ProductTableState).order
    known = order if order.column in columns_of(session) else Order()
    return session.derived(_sorter).order(known, name_language_of(session))


def places(session: Session) -> Rows:
    """Return the places of the products that are shown on all pages, in their order."""

    def shown(mask: Mask, every: Rows) -> Rows:
        return every.compress(mask[every])

    return session.latest("places", shown, left_of(session).mask, ordered(session))


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


def _page(session: Session) -> slice:
    first = _LIST.first(session, len(left_of(session)))
    return slice(first, first + SIZE.of(session))


def page_ids(session: Session) -> list[str]:
    """Return the ids of the products on the page."""
    ids: list[str] = session.filter.products.ids.take(pa.array(places(session)[_page(session)])).to_pylist()
    return ids


def table_blocks(session: Session) -> list[Block]:
    """Return the table, with its page and selection above it and what can be set about it below."""
    total, problem = len(left_of(session)), None
    try:
        rows = _rows(session)
    except ProdexError as error:
        # No rows are shown: those of another page would be taken for them.
        rows, problem = [], paragraph(typed_text(error_text(error)), key="table-problem", tone="problem")
    boxed = selection_box(session, [one["key"] for one in rows])
    # Once more below it, for whoever has read to its end.
    below = _pager(session, "pager-below") if total > SIZE.of(session) else None
    blocks = (
        row(_pager(session, "pager"), boxed, key="table-head", look="table-head"),
        problem,
        _table(session, rows),
        below,
    )
    return [one for one in blocks if one]


def columns_fold(session: Session) -> Block:
    """Return which columns there are and how rows look, folded."""
    return fold(session, "columns", "Columns and rows", lambda: (_settings(session), column_picker(session)))


def table_wants(session: Session) -> Iterator[Want]:
    """Yield what the table lacks: it is shown before."""
    if _HEADS.of(session):
        yield from heads_wants(session, columns_of(session))
    names = session.derived(_NameLanguages)
    if len(session.filter.products) > AT_ONCE and names.codes is None:
        options = {"delay": SHOWN_FIRST, "is_patient": True}
        yield Want("table.languages", ("languages", names), names.read, options=options)


def selection_box(session: Session, ids: Sequence[str]) -> Block:
    """Return how many products are selected, and the buttons that select; `ids` are those on the page."""
    total, many = len(left_of(session)), len(session.selected)
    every = None
    if total > len(ids):
        every = button(
            f"Select all {total:,}", "table.select_all", key="select-all", of=shown_digest(session)
        )
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
    return _LIST.page(session, total, "product", key=key, more=more)[1]


def _rows(session: Session) -> list[Block]:
    def rows(every: Rows, page: slice, columns: tuple[str, ...], language: str) -> list[Block]:
        shown = ProductRows(session.filter.products, every[page])
        texts = cells(shown, columns, language or None).to_numpy().tolist()
        label = columns.index("name") if "name" in columns else 0
        return [
            {
                "key": one,
                "label": own[label],
                "cells": [{"gap": text} if text in MISSING_CELLS else text for text in own],
            }
            for one, own in zip(shown.column("product_id").to_pylist(), texts, strict=True)
        ]

    of = (places(session), _page(session), columns_of(session), name_language_of(session) or "")
    return session.latest("rows", rows, *of)


def _table(session: Session, rows: Sequence[Block]) -> Block:
    columns, total = columns_of(session), len(left_of(session))
    order = session.part(ProductTableState).order
    heads = heads_of(session, columns) if _HEADS.of(session) else {}
    chosen, ids = set(session.selected), [one["key"] for one in rows]
    contents = _contents(session, ids)
    return {
        "kind": "product_table",
        "key": "table",
        "label": "Products",
        "look": "dense" if IS_DENSE.of(session) else "roomy",
        "columns": [column_block(name, order, heads.get(name)) for name in columns],
        "rows": [*rows],
        "selected": [one for one in ids if one in chosen],
        "open": session.product_id,
        "first": _page(session).start,
        "total": total,
        "pictures": contents and {one: picture_name(content) for one, content in contents.items()},
        "empty": "" if rows else _UNREAD if total else "No products to show.",
    }


def _contents(session: Session, ids: Sequence[str]) -> dict[str, bytes] | None:
    """Return the pictures beside the names of these products, as far as they are here; None where none are shown."""
    is_shown = _PICTURES.of(session) and shelf_of(session)
    return contents_in_rows(session, ids) if is_shown else None


def table_pictures(session: Session) -> Iterator[tuple[str, str, bytes]]:
    """Yield the pictures that the table shows beside names."""
    if _PICTURES.of(session):
        yield from jpegs((_contents(session, page_ids(session)) or {}).values())


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
    # In any other language the column would be empty.
    codes = session.derived(_NameLanguages).codes or ()
    languages = [("", "any language"), *((code, language_label(code)) for code in codes)]
    fields = (
        FormField("language", "Names in", "choice", "", languages),
        *(one.field for one in (SIZE, IS_DENSE, _HEADS)),
        _PICTURES.field if shelf_of(session) else None,
    )
    return form(session, _FORM, fields, look="line", label="Rows")


def _language(session: Session) -> str:
    return str(session.typed.get(_FORM, {}).get("language", ""))


def name_language_of(session: Session) -> str | None:
    """Return the language of the names, unless no product has a name in it; None for the best that each has."""
    if not (chosen := _language(session)):
        return None
    there = session.derived(_NameLanguages).codes
    return chosen if there is None or chosen in there else None


@action("table.sort")
def sort_by(session: Session, column: str) -> Session:
    """Sort by a column: ascending, then descending, then in the order of the catalogue."""
    if column not in columns_of(session):
        raise Refused("The table does not show this column any more.")
    now, order = session.part(ProductTableState).order, Order(column)
    if now.column == column:
        order = Order() if now.descending else Order(column, descending=True)
    return session.with_changed(ProductTableState, order=order)


@action("table.turn", is_quiet=True)
def turn_page(session: Session, by: Literal[-1, 1], follow: bool = False) -> Session:
    """Turn a page; with `follow`, go on to the card of its next product if one is open."""
    moved = _LIST.turned(session, by, len(left_of(session)))
    if moved is session or not follow or session.product_id is None:
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
        return correct_first(session, product_id)
    except InputError as error:
        return session.replaced(product_id=product_id).noting(str(error))


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
    return session.with_changed(ProductTableState, anchor=product_id)


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
def select_all(session: Session, of: str) -> Session:
    """Select all products that are shown, on this page and on others; `of` says which these were."""
    if of != shown_digest(session):
        raise Refused("Nothing was selected: other products are shown by now. Press again to select these.")
    ids = session.filter.products.ids.take(pa.array(places(session)))
    return _selecting_all(session, ids.to_pylist())


@action("table.clear", is_quiet=True)
def clear_selection(session: Session) -> Session:
    """Select no product."""
    return session.replaced(selected=()).with_changed(ProductTableState, anchor=None)
