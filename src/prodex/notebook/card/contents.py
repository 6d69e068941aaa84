"""A product's card: everything that is known of one product, as values."""

from __future__ import annotations

from dataclasses import dataclass

from prodex.catalog import Catalog
from prodex.notebook.card.codes import codes
from prodex.notebook.card.facts import Fact
from prodex.notebook.card.grids import Grid
from prodex.notebook.card.head import Head, head
from prodex.notebook.card.judgement import Judgement, judgement
from prodex.notebook.card.measures import Nutrients, nutrients, quantities
from prodex.notebook.card.packing import Packing, packing
from prodex.notebook.card.pending import Pending, pending
from prodex.notebook.card.pictures import Pictures, pictures
from prodex.notebook.card.raw import raw
from prodex.notebook.card.record import read_record
from prodex.notebook.card.sections import numbers_and_dates, sections
from prodex.notebook.card.texts import Texts, texts
from prodex.quality import Audit
from prodex.quality.display import counted
from prodex.verbatim import Words


@dataclass(frozen=True, eq=False, repr=False)
class Card:
    """What a catalogue, and an audit where there is one, say of a product.

    A notebook shows it as a page part without script, in which nothing is asked for from elsewhere: addresses are
    text, pictures are facts.

    Attributes
    ----------
    product_id
        Which product.
    head
        What it is and where it stands.
    pending
        What an update that waits would change, or None.
    judgement
        What an audit says of it, or None where it was not judged.
    profile
        Name of the profile of the audit, or None where none was given.
    texts
        Texts by language.
    pictures
        Pictures as facts.
    packing
        Logistical hierarchies and sharing units.
    codes, quantities
        Codes with labels; numbers with units.
    nutrients
        One table for each partition.
    sections
        Labels, tags, files and whatever else there is.
    facts
        Numbers and dates.
    raw
        The record as received.
    """

    product_id: str
    head: Head
    pending: Pending | None
    judgement: Judgement | None
    profile: str | None
    texts: Texts
    pictures: Pictures
    packing: tuple[Packing, ...]
    codes: Grid
    quantities: Grid
    nutrients: Nutrients
    sections: tuple[Grid, ...]
    facts: tuple[Fact, ...]
    raw: Words

    @property
    def without(self) -> tuple[Grid, ...]:
        """The tables in which nothing stands."""
        return tuple(one for one in (self.codes, self.quantities, *self.sections) if not one.total)

    @property
    def html(self) -> str:
        """The card as a part of a page, without its style."""
        from prodex.notebook.card.rendered import rendered

        return rendered(self)

    def _repr_html_(self) -> str:
        from prodex.notebook.card.rendered import styled

        return styled(self.html)

    def __repr__(self) -> str:
        name = "without a name" if self.head.name.is_missing else repr(self.head.name.text[:60])
        counts = f"{counted(self.texts.total, 'text')}, {counted(self.pictures.total, 'picture')}"
        return f"Card(product {self.product_id!r}, {name}, {counts})"


def card(catalog: Catalog, product_id: str, audit: Audit | None = None) -> Card:
    """Return the card of a product.

    Parameters
    ----------
    catalog
        Where it is; of a snapshot only the part with this product is read.
    product_id
        Its key.
    audit
        What is known of its quality.

    Raises
    ------
    InputError
        When the catalogue does not have it; the message names the ids that come near.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME"}}])
    >>> card(catalog, "7")
    Card(product '7', without a name, 0 texts, 0 pictures)
    """
    record = read_record(catalog, product_id)
    judged = None if audit is None else judgement(audit, product_id)
    return Card(
        product_id=product_id,
        head=head(record),
        pending=pending(record),
        judgement=judged,
        profile=None if audit is None else audit.profile,
        texts=texts(record, () if judged is None else judged.wanted),
        pictures=pictures(record),
        packing=packing(record),
        codes=codes(record),
        quantities=quantities(record),
        nutrients=nutrients(record),
        sections=sections(record),
        facts=numbers_and_dates(record),
        raw=raw(record.json),
    )
