"""The contents of a product's card: what a catalogue, and an audit, know about it, as what is shown of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prodex.catalog import Catalog
from prodex.exploration.card.record import CardRecord, read_raw, read_record, read_records
from prodex.exploration.card.texts import Texts, texts
from prodex.notebook.session.actions import Block
from prodex.notebook.views.blocks import typed_text
from prodex.notebook.views.card_quality import ProductAudit, ProductAudits, quality_part, read_product_audit
from prodex.notebook.views.card_sections import (
    CardPictures,
    blocks_below,
    header_blocks,
    pending_part,
    pictures,
)
from prodex.notebook.views.gallery_pictures import picture_name
from prodex.phrases import counted
from prodex.quality import Audit
from prodex.untrusted_text import Words, label, words

if TYPE_CHECKING:
    from prodex.pictures.thumbnails import Thumbnail


@dataclass(frozen=True, eq=False, repr=False)
class CardContents:
    """What a catalogue, and an audit if there is one, know about a product: made once, for all that show it.

    A notebook shows it as HTML without scripts and without anything to load: addresses are text, pictures are
    descriptions.

    Attributes
    ----------
    product_id, gtin, name
        The product.
    above
        What is above the texts: what it is, what waits, and its audit.
    texts
        Texts by language.
    problems
        What the audit found in texts, by the title of their attribute and their language.
    pictures
        Descriptions of its pictures.
    below
        What is below the pictures.
    raw
        The record as received.
    """

    product_id: str
    gtin: str | None
    name: Words
    above: list[Block]
    texts: Texts
    problems: Mapping[tuple[str, str | None], list[dict[str, str]]]
    pictures: CardPictures
    below: list[Block]
    raw: Words

    @property
    def html(self) -> str:
        """The card as HTML, without its style sheet."""
        from prodex.notebook.card_html import card_html

        return card_html(self)

    def _repr_html_(self) -> str:
        from prodex.notebook.card_html import shown_card

        return shown_card(self)

    def __repr__(self) -> str:
        name = "without a name" if self.name.is_missing else repr(self.name.text[:60])
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
    audited = None if audit is None else read_product_audit(audit, product_id)
    return _contents(read_record(catalog, product_id), audit, audited)


def read_cards(catalog: Catalog, audit: Audit | None = None) -> Iterator[CardContents]:
    """Yield the cards of all products, in the order of the catalogue: each costs a tenth of one by itself.

    >>> import prodex
    >>> [card.product_id for card in read_cards(prodex.flatten([{"id": 7}, {"id": 8}]))]
    ['7', '8']
    """
    audits = None if audit is None else ProductAudits(audit)
    for record in read_records(catalog):
        yield _contents(record, audit, None if audits is None else audits.of(record.product_id))


def _contents(record: CardRecord, audit: Audit | None, audited: ProductAudit | None) -> CardContents:
    name = label(record.named.name)
    above = [
        *header_blocks(record, name),
        pending_part(record),
        None if audit is None else quality_part(audited, audit.profile),
    ]
    return CardContents(
        record.product_id,
        record.product["gtin"],
        name,
        [one for one in above if one],
        texts(record, () if audited is None else audited.wanted),
        {} if audited is None else audited.problems(),
        pictures(record),
        blocks_below(record),
        read_raw(record.json),
    )


def shown_picture(one: Thumbnail) -> Block:
    """Return a picture as a view names it, or why it is not there."""
    if one.bytes is None:
        return {"problem": typed_text(words(one.problem or "the picture could not be loaded", 1_000))}
    return {"image": picture_name(one.bytes)}
