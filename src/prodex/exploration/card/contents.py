"""The contents of a product's card: everything that a catalogue, and an audit, know about it, as values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prodex.catalog import Catalog
from prodex.exploration.card.record import (
    CardRecord,
    CardTable,
    LabelledValue,
    read_raw,
    read_record,
    read_records,
)
from prodex.exploration.card.sections import (
    CardHeader,
    CardPictures,
    HierarchyTrees,
    NutrientTables,
    PendingUpdate,
    ProductAudit,
    ProductAudits,
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
from prodex.exploration.card.texts import Texts, texts
from prodex.messages import counted
from prodex.quality import Audit
from prodex.untrusted_text import Words


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
    nutrients: NutrientTables
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
        from prodex.notebook.card_html import card_html

        return card_html(self)

    def _repr_html_(self) -> str:
        from prodex.notebook.card_html import shown_card

        return shown_card(self)

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
    return CardContents(
        product_id=record.product_id,
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
