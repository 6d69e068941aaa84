"""Writing what a panel shows as a file for colleagues: as many products as fit, and what was left out is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from prodex.errors import InputError
from prodex.files.html_file import HtmlFile
from prodex.notebook.html_file.packing import PackedParts
from prodex.notebook.html_file.page import (
    MOST_BYTES,
    MOST_PRODUCTS,
    file_part,
    page_head,
    page_path,
    size_around,
    write_page,
)
from prodex.notebook.html_file.products import products_data, without_texts
from prodex.notebook.session.session import Session
from prodex.notebook.views.card_contents import read_cards
from prodex.notebook.views.card_parts import card_parts
from prodex.notebook.views.columns import columns_of, with_columns
from prodex.notebook.views.frame import catalog_title
from prodex.notebook.views.table import places
from prodex.phrases import counted
from prodex.progress import PATIENCE, Progress, reporting

#: Cards that are packed together, and those by which is found what most cards have in common.
EACH, _SAMPLE = 50, 100
#: Bytes that stay free for the shapes of cards, which are known once all are made.
_SHAPES = 100_000


def write_products(session: Session, path: str | Path, progress: Progress = None) -> HtmlFile:
    """Write the products that a session shows as one file: table, filters, search, cards, and what an audit found.

    Parameters
    ----------
    session
        Its catalogue, audit, conditions, columns and order.
    path
        The file; an existing one is replaced.
    progress
        As for `prodex.verify`, in cards.

    Returns
    -------
    HtmlFile
        Where it is, and what it does not have.

    Raises
    ------
    InputError
        When the path is that of a folder, or the products do not fit into a file.
    StorageError
        When the disk refuses.

    Examples
    --------
    >>> import prodex, tempfile
    >>> session = Session(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]))
    >>> write_products(session, f"{tempfile.mkdtemp()}/shop.html").notes
    ()
    """
    page = page_path(path)
    with reporting(progress, "File", "cards", after=PATIENCE) as reporter:
        with reporter.phase("Reading products"):
            title = catalog_title(session.filter.catalog(session.conditions))
            shown, notes = _within_limit(session)
            head = page_head(title, notes)
            data = products_data(shown, head)
        room = MOST_BYTES - size_around(title) - _SHAPES
        data["cards"] = {"each": EACH, "count": len(data["ids"]), "why": ""}
        if len(first := file_part("data", data)) > room:
            data = without_texts(data, shown)
            notes.append(data["search"]["hint"])
            if len(first := file_part("data", data)) > room:
                raise InputError(
                    f"{counted(len(data['ids']), 'product')} take {len(first) / 1e6:.1f} MB without their cards, and a "
                    f"file has at most {MOST_BYTES / 1e6:.0f} MB. {_HOW}"
                )
        room -= len(first)
        with reporter.phase("Making cards", "cards", len(data["ids"]), counts=True) as phase:
            made = (card_parts(one) for one in read_cards(shown.catalog, shown.audit))
            cards = PackedParts("cards", made, EACH, _SAMPLE)
            parts, count = cards.within(room, phase)
        if count < len(data["ids"]):
            why = (
                f"Cards of the first {count:,} of {counted(len(data['ids']), 'product')}: a file has at most "
                f"{MOST_BYTES / 1e6:.0f} MB. {_HOW}"
            )
            notes.append(why)
            data["cards"] |= {"count": count, "why": why}
        data["head"] = page_head(title, notes)
        size = write_page(page, title, file_part("data", data), [cards.common(), *parts])
    return HtmlFile(page, size, tuple(notes))


_HOW = (
    "Filter the products, and write the file of those that are left: "
    'px.explore(catalog.where(brand_code="ACME")).to_html("acme.html"), or --select in a terminal.'
)


def _within_limit(session: Session) -> tuple[Session, list[str]]:
    """Return a session of the products that are shown, and what is to be said about the others."""
    listed = places(session)
    size, notes = len(session.filter.products), []
    kept = np.zeros(size, bool)
    kept[listed[:MOST_PRODUCTS]] = True
    if len(listed) > MOST_PRODUCTS:
        notes.append(f"{MOST_PRODUCTS:,} of {len(listed):,} products, the first of the table. {_HOW}")
    if kept.all():
        return _alike(session, session.catalog, session.audit), notes
    catalog = session.catalog.where(pd.Series(kept))
    audit = session.audit
    if audit is not None:
        audit = audit.only(
            session.filter.products.ids.filter(pa.array(kept)).to_pylist(), session.chosen_words
        )
    return _alike(session, catalog, audit), notes


def _alike(session: Session, catalog: object, audit: object) -> Session:
    """Return a session of other products that shows them in the same way, and all of them."""
    alike = Session(catalog, audit, typed=session.typed, parts=session.parts)  # type: ignore[arg-type]
    return with_columns(alike, columns_of(session))
