"""A product's card: everything that is known of one product, as values."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import jinja2

from prodex.catalog import Catalog
from prodex.display.audit import counted
from prodex.display_text import Words, ends, words
from prodex.notebook.card.audit import ProductAudit, judgement
from prodex.notebook.card.header import CardHeader, head
from prodex.notebook.card.hierarchies import HierarchyTrees, packing
from prodex.notebook.card.labelled_values import CardTable, LabelledValue
from prodex.notebook.card.pending_update import PendingUpdate, pending
from prodex.notebook.card.pictures import CardPictures, pictures
from prodex.notebook.card.record import raw, read_record
from prodex.notebook.card.sections import Nutrients, codes, numbers_and_dates, nutrients, quantities, sections
from prodex.notebook.card.texts import Texts, texts
from prodex.notebook.panel import style
from prodex.quality import Audit


@dataclass(frozen=True, eq=False, repr=False)
class CardContents:
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
    head: CardHeader
    pending: PendingUpdate | None
    judgement: ProductAudit | None
    profile: str | None
    texts: Texts
    pictures: CardPictures
    packing: tuple[HierarchyTrees, ...]
    codes: CardTable
    quantities: CardTable
    nutrients: Nutrients
    sections: tuple[CardTable, ...]
    facts: tuple[LabelledValue, ...]
    raw: Words

    @property
    def without(self) -> tuple[CardTable, ...]:
        """The tables in which nothing stands."""
        return tuple(one for one in (self.codes, self.quantities, *self.sections) if not one.total)

    @property
    def html(self) -> str:
        """The card as a part of a page, without its style."""

        return rendered(self)

    def _repr_html_(self) -> str:

        return styled(self.html)

    def __repr__(self) -> str:
        name = "without a name" if self.head.name.is_missing else repr(self.head.name.text[:60])
        counts = f"{counted(self.texts.total, 'text')}, {counted(self.pictures.total, 'picture')}"
        return f"CardContents(product {self.product_id!r}, {name}, {counts})"


def card(catalog: Catalog, product_id: str, audit: Audit | None = None) -> CardContents:
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
    CardContents(product '7', without a name, 0 texts, 0 pictures)
    """
    record = read_record(catalog, product_id)
    judged = None if audit is None else judgement(audit, product_id)
    return CardContents(
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


@dataclass(frozen=True)
class PictureImage:
    """A picture as it is shown: its bytes, or in words why there are none.

    Attributes
    ----------
    image
        A JPEG or PNG file, or None.
    problem
        What went wrong, where something did.
    """

    image: bytes | None
    problem: str | None = None

    @property
    def address(self) -> str:
        """The bytes as a data address."""
        image = self.image or b""
        kind = "png" if image.startswith(b"\x89PNG") else "jpeg"
        return f"data:image/{kind};base64,{base64.b64encode(image).decode()}"

    @property
    def words(self) -> Words:
        return words(self.problem, 1_000)


def rendered(card: CardContents, images: Mapping[str, PictureImage] | None = None) -> str:
    """Return the card.

    Parameters
    ----------
    card
        What it shows.
    images
        Pictures by position, where somebody asked for them.
    """
    return "".join(parts(card, images))


def parts(card: CardContents, images: Mapping[str, PictureImage] | None = None) -> tuple[str, str, str]:
    """Return the card in three pieces: before the pictures, the pictures, and what comes after them."""
    page = _template().module
    return tuple(  # type: ignore[return-value]
        f'<div class="prodex card mathjax_ignore">{piece}</div>'
        for piece in (page.before(card), page.pictures(card.pictures, images or {}), page.after(card))  # type: ignore[attr-defined]
    )


def styled(html: str) -> str:
    """Return a page part with the style of all panels."""
    return f"<div><style>{style()}</style>{html}</div>"


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("prodex.notebook", "card"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"n": lambda value: f"{value:,}", "closed": lambda text: text + ends(text)}
    return environment.get_template("card.html")
