"""The card of a product: everything that is known of it, its texts to correct, its history and its pictures."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow.compute as pc

from prodex.notebook.session.actions import Block, Section, action
from prodex.notebook.session.session import Session
from prodex.notebook.views.blocks import button, fold, paragraph, row, typed_text, work
from prodex.notebook.views.card_blocks import details, part, plain_table
from prodex.notebook.views.card_contents import CardContents, shown_picture
from prodex.notebook.views.card_reading import (
    Cards,
    NotRead,
    card_pictures,
    card_wants,
    found_pictures,
    read_now,
)
from prodex.notebook.views.card_sections import raw_block, raw_part
from prodex.notebook.views.card_texts import Editing, texts_part
from prodex.notebook.views.compared import attribute_cell, in_language
from prodex.notebook.views.focus import focusing
from prodex.notebook.views.history import history_part, name_with_history
from prodex.notebook.views.products_left import is_left
from prodex.phrases import counted, moment_in_words
from prodex.untrusted_text import words

#: Changed values that are listed, and how many are shown unfolded.
_MOST_CHANGES, _UNFOLDED = 20, 2
_ROOM_OF_CHANGE = 2_000


def card_blocks(session: Session, product_id: str, *, is_alone: bool = False) -> list[Block]:
    """Return the card of a product, as it stands beside the list of products, or alone."""
    read = session.part(Cards).get("contents", session.catalog, session.audit, product_id)
    if read is None and session.part(Editing).product_id == product_id:
        # The products were renewed while somebody types: an editor that goes for a moment takes the focus with it.
        read = read_now(session, product_id)
    blocks = _body(session, read) if isinstance(read, CardContents) else _instead(session, read)
    block = {
        "kind": "card",
        "key": f"card {product_id}",
        "product": product_id,
        "alone": is_alone,
        "bar": _bar(session, product_id, read, is_alone=is_alone),
        "blocks": blocks,
    }
    return [block]


def _bar(session: Session, product_id: str, read: Any, *, is_alone: bool) -> list[Block]:
    """Return what stays in sight while a card is scrolled."""
    is_read, close = isinstance(read, CardContents), None
    edit = button(
        "✎ Correct a text",
        "card.correct_first",
        key="correct-first",
        look="quiet",
        title="Open the first text to correct (e)",
        off="" if is_read else "The product is not there yet.",
        product_id=product_id,
    )
    if not is_alone:
        close = button(
            "✕ Close",
            "card.close",
            key="close-card",
            look="quiet",
            title="Close the card (Escape)",
            product_id=product_id,
        )
    bar = [row(edit, close, key="card-keys", look="card-keys")]
    if is_read and not is_alone and not is_left(session, product_id):
        bar.append(paragraph("This product is not in the list beside it.", key="apart", tone="note"))
    return bar


def _instead(session: Session, read: Any) -> list[Block]:
    if isinstance(read, NotRead):
        again = button("Try again", "card.again", key="again")
        return [paragraph(typed_text(read.why), key="unreadable", tone="problem"), again]
    shown = work(session, "card")
    return [shown or paragraph("Reading the product …", key="reading", tone="muted")]


def _body(session: Session, card: CardContents) -> list[Block]:
    return [
        *_changed_since(session, card.product_id),
        *card.above,
        texts_part(card, session if session.can("card.edit") else None),
        *_history(session, card.product_id),
        _pictures_part(session, card),
        *card.below,
        raw_part(card.raw, lambda title: fold(session, "card-record", title, lambda: [raw_block(card.raw)])),
    ]


def _history(session: Session, product_id: str) -> list[Block]:
    if name_with_history(session.catalog) is None:
        return []
    found = session.part(Cards).get("history", session.catalog, product_id)
    if found is None:
        found = [paragraph("Reading earlier snapshots …", key="waiting", tone="muted")]
    elif isinstance(found, NotRead):
        said = ["The history cannot be read: ", typed_text(words(found.why, 2_000))]
        found = [paragraph(said, key="failed", tone="muted")]
    return [history_part(session, found)]


def _changed_since(session: Session, product_id: str) -> list[Block]:
    """Return what changed of a product since the older of two snapshots that were compared; nothing if nothing did."""
    if (difference := session.changed) is None:
        return []
    since = difference.old.origin.loaded_at
    when = "the older snapshot" if since is None else moment_in_words(since)
    outcomes = difference.outcomes
    is_added = pc.and_(pc.equal(outcomes["product_id"], product_id), pc.equal(outcomes["change"], "added"))
    if pc.any(is_added).as_py():
        return [paragraph(f"New since {when}.", key="new-since", tone="muted")]
    own = difference.changes[difference.changes["product_id"] == product_id]
    if own.empty:
        return []
    shown = own.head(_MOST_CHANGES)
    rows = [
        [attribute_cell(one, in_language(one)), *(_value_cell(one[name]) for name in ("old", "new"))]
        for one in shown.to_dict("records")
    ]
    count = None
    if len(shown) < len(own):
        does = "exports" if session.can("comparison.export") else "lists"
        said = f"{len(shown)} of {counted(len(own), 'changed value')}; the section Snapshots {does} all"
        count = paragraph(said, key="count", tone="muted")
    values = plain_table(
        ("Attribute", "Old", "New"), rows, key="changes", label=f"Values changed since {when}"
    )
    return [
        details(
            f"{counted(len(own), 'value')} changed since {when}",
            count,
            values,
            key="changed-since",
            # Folded where it would push the product itself out of sight.
            is_open=len(own) <= _UNFOLDED,
        )
    ]


def _value_cell(value: Any) -> dict[str, str]:
    return {"gap": "none"} if pd.isna(value) else typed_text(words(value, _ROOM_OF_CHANGE))


def _pictures_part(session: Session, card: CardContents) -> Block:
    loaded = session.part(Cards).get("pictures", session.catalog, card.product_id)
    found = found_pictures(session, card.product_id)
    images = {one.position: shown_picture(one) for one in found if one.position is not None}
    count, why = len(card.pictures.rows), loaded.why if isinstance(loaded, NotRead) else ""
    show = None
    if len(images) < count and not isinstance(loaded, list) and "card-pictures" not in session.works:
        label = "Try again to show pictures" if why else f"Show pictures ({count})"
        show = button(
            label, "card.pictures", key="show-pictures", to="part Pictures", product_id=card.product_id
        )
    return part(
        "Pictures",
        card.pictures.above,
        show,
        work(session, "card-pictures"),
        paragraph(typed_text(why), key="why-not", tone="problem") if why else None,
        *card.pictures.blocks(images),
        look="card-pictures",
    )


@action("card.close")
def close_card(session: Session, product_id: str) -> Session:
    """Close the card of a product, unless another one is open by now."""
    if session.product_id != product_id:
        return session
    return focusing(session.replaced(product_id=None), "table")


def _alone(session: Session) -> list[Block]:
    if session.product_id is None:
        return [paragraph("Select a product to show its card.", key="nothing", tone="muted")]
    return card_blocks(session, session.product_id, is_alone=True)


CARD = Section("card", lambda _: "Card", _alone, card_wants, lambda _: False, card_pictures)
