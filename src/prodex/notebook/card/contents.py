"""The contents of a product's card, and their HTML from a template that escapes everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from prodex.catalog import Catalog
from prodex.display.html_tables import Html, table, template
from prodex.explore.card.record import CardTable, LabelledValue, read_raw, read_record
from prodex.explore.card.sections import (
    CardHeader,
    CardPictures,
    HierarchyTrees,
    Nutrients,
    PendingUpdate,
    ProductAudit,
    codes,
    numbers_and_dates,
    nutrients,
    pictures,
    quantities,
    read_header,
    read_hierarchies,
    read_pending_update,
    read_product_audit,
    sections,
)
from prodex.explore.card.texts import Texts, texts
from prodex.messages import counted
from prodex.notebook.shared.panel import style
from prodex.quality import Audit
from prodex.untrusted_text import Words

if TYPE_CHECKING:
    from prodex.pictures import Thumbnail


@dataclass(frozen=True, eq=False, repr=False)
class CardContents:
    """What a catalogue, and an audit if there is one, know about a product.

    A notebook shows it as HTML without scripts and without anything to load: addresses are text, pictures are
    descriptions.

    Attributes
    ----------
    product_id
        The product.
    header
        What it is, and its status.
    pending
        What a pending update would change, or None.
    audit
        The result of its audit, or None if the audit does not cover it.
    profile
        Name of the profile of the audit, or None without an audit.
    texts
        Texts by language.
    pictures
        Descriptions of its pictures.
    hierarchies
        Logistical hierarchies and sharing units.
    codes, quantities
        Codes with labels; numbers with units.
    nutrients
        A table for each partition.
    sections
        Labels, tags, files and all other tables.
    facts
        Numbers and dates.
    raw
        The record as received.
    """

    product_id: str
    header: CardHeader
    pending: PendingUpdate | None
    audit: ProductAudit | None
    profile: str | None
    texts: Texts
    pictures: CardPictures
    hierarchies: tuple[HierarchyTrees, ...]
    codes: CardTable
    quantities: CardTable
    nutrients: Nutrients
    sections: tuple[CardTable, ...]
    facts: tuple[LabelledValue, ...]
    raw: Words

    @property
    def without(self) -> tuple[CardTable, ...]:
        """The tables that are empty."""
        return tuple(one for one in (self.codes, self.quantities, *self.sections) if not one.total)

    @property
    def html(self) -> str:
        """The card as HTML, without its style sheet."""
        return "".join(parts(self))

    def _repr_html_(self) -> str:
        return f"<div><style>{style()}</style>{self.html}</div>"

    def __repr__(self) -> str:
        name = "without a name" if self.header.name.is_missing else repr(self.header.name.text[:60])
        counts = f"{counted(self.texts.total, 'text')}, {counted(self.pictures.total, 'picture')}"
        return f"CardContents(product {self.product_id!r}, {name}, {counts})"


def read_card(catalog: Catalog, product_id: str, audit: Audit | None = None) -> CardContents:
    """Return the card of a product.

    Parameters
    ----------
    catalog
        The catalogue; of a snapshot only the part with this product is read.
    product_id
        The key of the product.
    audit
        The audit of its quality.

    Raises
    ------
    InputError
        When the catalogue does not have it; the message names similar ids.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME"}}])
    >>> read_card(catalog, "7")
    CardContents(product '7', without a name, 0 texts, 0 pictures)
    """
    record = read_record(catalog, product_id)
    audited = None if audit is None else read_product_audit(audit, product_id)
    return CardContents(
        product_id=product_id,
        header=read_header(record),
        pending=read_pending_update(record),
        audit=audited,
        profile=None if audit is None else audit.profile,
        texts=texts(record, () if audited is None else audited.wanted),
        pictures=pictures(record),
        hierarchies=read_hierarchies(record),
        codes=codes(record),
        quantities=quantities(record),
        nutrients=nutrients(record),
        sections=sections(record),
        facts=numbers_and_dates(record),
        raw=read_raw(record.json),
    )


class CardParts(NamedTuple):
    """The HTML of a card in pieces, each of which is shown by a widget of its own.

    Only one of them is sent again when images have arrived, and the long texts that somebody has opened in the others
    stay open. The texts are shown by a table in which they can be corrected, and as HTML only on a page without one.
    """

    before: str
    texts: str
    above_pictures: str
    pictures: str
    after: str


def parts(card: CardContents, images: Mapping[str, Thumbnail] | None = None) -> CardParts:
    """Return the HTML of a card.

    Parameters
    ----------
    card
        The contents.
    images
        Thumbnails by the position of their picture, once somebody has asked for them.
    """
    page: Any = template("prodex.notebook", "card", "card.html").make_module({"table_html": _table_html})
    pieces = (
        page.before(card),
        page.texts_by_language(card.texts),
        page.pictures_above(card.pictures),
        page.pictures(card.pictures, images or {}),
        page.after(card),
    )
    return CardParts(*(f'<div class="prodex card mathjax_ignore">{piece}</div>' for piece in pieces))


def _table_html(grid: CardTable, caption: str, cell: Callable[[Words, str], Html]) -> Html:
    """Return a table of a card; `cell` is the macro of the template that shows a value, or a dash for none."""
    headings = [f"{one[0].upper()}{one[1:]}" for one in grid.headings]
    rows = ([cell(value, "–") for value in values] for values in grid.rows)
    return Html(table(caption, headings, rows, numbers=[headings[place] for place in grid.numeric]))
