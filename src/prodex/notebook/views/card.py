"""The card of a product: everything that is known of it, its texts to correct, its history and its pictures.

It is read in the background, and a few are kept, so that going back and forth between products reads nothing again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.compare import Difference
from prodex.errors import InputError, ProdexError
from prodex.exploration.card.contents import CardContents, read_card
from prodex.exploration.card.record import is_prepared, place_of
from prodex.languages.labels import attribute_title
from prodex.locales import language_label
from prodex.messages import counted, moment_in_words
from prodex.notebook.session.actions import Block, Panel, Section, Want, action, task
from prodex.notebook.session.jobs import are_same_arguments
from prodex.notebook.session.value import Session, error_text
from prodex.notebook.views.blocks import button, fold, paragraph, row, table, typed_text, work
from prodex.notebook.views.card_contents import (
    after_pictures,
    before_texts,
    details,
    part,
    pictures_above,
    pictures_block,
    raw_block,
    raw_title,
)
from prodex.notebook.views.card_texts import (
    Editing,
    closed,
    corrected,
    editing,
    first_to_correct,
    spot_at,
    texts_part,
    undone,
)
from prodex.notebook.views.focus import focusing
from prodex.notebook.views.history import (
    failed_part,
    history_part,
    name_with_history,
    read_history,
    waiting_part,
)
from prodex.notebook.views.products_left import left_of
from prodex.progress import PATIENCE, Reporter
from prodex.quality import Audit
from prodex.untrusted_text import words

if TYPE_CHECKING:
    from prodex.pictures import Thumbnail

#: Pixels of the longer side of a picture.
_SIDE = 256
#: Seconds that a card is looked at before its history is read: whoever looks through products has none of them read.
_PAUSE = 0.2
#: What is kept of cards: contents, histories and pictures of the last few.
_MOST = 24
#: Changed values that are listed, and how many are shown unfolded.
_MOST_CHANGES, _UNFOLDED = 20, 2
_ROOM_OF_CHANGE = 2_000


@dataclass(frozen=True)
class ReadCard:
    """A card that was read, with the blocks that nothing changes any more."""

    contents: CardContents
    before: list[Block]
    after: list[Block]

    @classmethod
    def of(cls, contents: CardContents) -> ReadCard:
        """Make the blocks of some contents."""
        return cls(contents, before_texts(contents), after_pictures(contents))


@dataclass(frozen=True)
class NotRead:
    """Why something could not be read."""

    why: str


@dataclass(frozen=True)
class Cards:
    """What was read for cards, the newest last.

    Attributes
    ----------
    kept
        What it is of (first its kind and the catalogue), and what was read.
    turn
        How often somebody has asked to try again.
    """

    kept: tuple[tuple[tuple[Any, ...], Any], ...] = ()
    turn: int = 0

    def get(self, *of: Any) -> Any:
        """Return what was read of something, or None."""
        return next((read for one, read in self.kept if are_same_arguments(one, of)), None)

    def keeping(self, read: Any, *of: Any) -> Cards:
        """Return the same with something more; what is of another catalogue is forgotten."""
        others = [
            (one, kept) for one, kept in self.kept if one[1] is of[1] and not are_same_arguments(one, of)
        ]
        return Cards((*others, (of, read))[-_MOST:], self.turn)


def card_wants(session: Session, beside: Callable[[Session], Sequence[str]] = lambda _: ()) -> Iterable[Want]:
    """Yield what is still to be read for the card that is open, and for the one that somebody will open next.

    Parameters
    ----------
    session
        The session.
    beside
        The products of the list beside it, in its order: the neighbours are read once the card is there.
    """
    catalog, audit, product_id = session.catalog, session.audit, session.product_id
    if product_id is None:
        if len(catalog) and not is_prepared(catalog):
            # The first card would take twice as long.
            prepare = partial(_prepare, catalog)
            nothing = {"is_patient": True, "failed": lambda session, _: session}
            yield Want("card-prepared", (catalog,), prepare, options=nothing)
        return
    cards = session.part(Cards)
    of: tuple[Any, ...] = ("contents", catalog, audit, product_id)
    read = cards.get(*of)
    if read is None:
        yield _want("card", cards, of, partial(_read, catalog, audit, product_id))
    if not isinstance(read, ReadCard):
        return
    name = name_with_history(catalog)
    of = ("history", catalog, product_id)
    if name is not None and cards.get(*of) is None:
        gtin = None if read.contents.header.gtin.is_missing else read.contents.header.gtin.text
        later = {"delay": _PAUSE, "is_patient": True}
        yield _want("card-history", cards, of, lambda _: read_history(name, product_id, gtin), later)
    of = ("on disk", catalog, product_id)
    if read.contents.pictures.rows and cards.get(*of) is None:
        kept = partial(_thumbnails_on_disk, catalog, product_id)
        yield _want("card-pictures-on-disk", cards, of, kept, {"is_patient": True})
    listed = beside(session)
    place = listed.index(product_id) if product_id in listed else len(listed)
    for slot, neighbours in (("card-next", listed[place + 1 :][:1]), ("card-before", listed[:place][-1:])):
        for one in neighbours if place < len(listed) else ():
            yield from _neighbour(slot, cards, ("contents", catalog, audit, one))


def _neighbour(slot: str, cards: Cards, of: tuple[Any, ...]) -> Iterable[Want]:
    _, catalog, audit, product_id = of
    if cards.get(*of) is None:
        yield _want(slot, cards, of, partial(_read, catalog, audit, product_id), {"is_patient": True})


def _want(
    slot: str,
    cards: Cards,
    of: tuple[Any, ...],
    do: Any,
    options: Mapping[str, Any] | None = None,
) -> Want:
    def then(session: Session, read: Any) -> Session:
        return session.with_part(session.part(Cards).keeping(read, *of))

    def failed(session: Session, error: BaseException) -> Session:
        return then(session, NotRead(error_text(error)))

    return Want(slot, (*of, cards.turn), do, then, {"failed": failed, **(options or {})})


def _read(catalog: Catalog, audit: Audit | None, product_id: str, _: object = None) -> ReadCard:
    return ReadCard.of(read_card(catalog, product_id, audit))


def _prepare(catalog: Catalog, _: Reporter) -> None:
    read_card(catalog, catalog.arrow("products", ["product_id"])["product_id"][0].as_py())


def card_blocks(session: Session, product_id: str, *, is_alone: bool = False) -> list[Block]:
    """Return the card of a product, as it stands beside the list of products, or alone."""
    read = session.part(Cards).get("contents", session.catalog, session.audit, product_id)
    if read is None and session.part(Editing).product_id == product_id:
        # The products were renewed while somebody types: an editor that goes for a moment takes the focus with it.
        read = _read_now(session, product_id)
    blocks = _body(session, read) if isinstance(read, ReadCard) else _instead(session, read)
    block = {
        "kind": "card",
        "key": f"card {product_id}",
        "product": product_id,
        "alone": is_alone,
        "bar": _bar(session, product_id, read, is_alone=is_alone),
        "blocks": blocks,
    }
    return [block]


def _read_now(session: Session, product_id: str) -> ReadCard | NotRead:
    try:
        return _read(session.catalog, session.audit, product_id)
    except ProdexError as error:
        return NotRead(error_text(error))


def _bar(session: Session, product_id: str, read: Any, *, is_alone: bool) -> list[Block]:
    """Return what stays in sight while a card is scrolled."""
    no_text = "" if isinstance(read, ReadCard) else "The product is not there yet."
    edit = button(
        "✎ Correct a text",
        "card.correct_first",
        key="correct-first",
        look="quiet",
        title="Open the first text to correct (e)",
        off=no_text,
        product_id=product_id,
    )
    close = button(
        "✕ Close",
        "card.close",
        key="close-card",
        look="quiet",
        title="Close the card (Escape)",
        product_id=product_id,
    )
    apart = "This product is not in the list beside it."
    is_apart = isinstance(read, ReadCard) and not is_alone and not _is_listed(session, product_id)
    return [
        row(edit, None if is_alone else close, key="card-keys", look="card-keys"),
        *([paragraph(apart, key="apart", tone="note")] if is_apart else []),
    ]


def _is_listed(session: Session, product_id: str) -> bool:
    place = place_of(session.catalog, product_id)
    return place >= 0 and bool(left_of(session).mask[place])


def _instead(session: Session, read: Any) -> list[Block]:
    if isinstance(read, NotRead):
        again = button("Try again", "card.again", key="again")
        return [paragraph(typed_text(read.why), key="unreadable", tone="problem"), again]
    shown = work(session, "card")
    return [shown or paragraph("Reading the product …", key="reading", tone="muted")]


def _body(session: Session, read: ReadCard) -> list[Block]:
    card = read.contents
    history = session.part(Cards).get("history", session.catalog, card.product_id)
    return [
        *_changed_since(session.changed, card.product_id),
        *read.before,
        texts_part(card, session if session.can("card.edit") else None),
        *_history(session.catalog, session, history),
        _pictures_part(session, card),
        *read.after,
        _raw(session, card),
    ]


def _history(catalog: Catalog, session: Session, history: Any) -> list[Block]:
    if name_with_history(catalog) is None:
        return []
    if history is None:
        return [waiting_part()]
    return [failed_part(history.why) if isinstance(history, NotRead) else history_part(session, history)]


def _raw(session: Session, card: CardContents) -> Block:
    if card.raw.is_missing:
        none = paragraph("The catalogue does not have the record.", key="none", tone="muted")
        return part("Record as received", none)
    return part(
        "Record as received", fold(session, "card-record", raw_title(card), lambda: [raw_block(card)])
    )


def _changed_since(difference: Difference | None, product_id: str) -> list[Block]:
    """Return what changed of a product since the older of two snapshots that were compared; nothing if nothing did."""
    if difference is None:
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
    rows = [
        {
            "key": str(number),
            "cells": [
                _place_in_words(one["attribute"], one["language"]),
                _value_cell(one["old"]),
                _value_cell(one["new"]),
            ],
        }
        for number, one in enumerate(own.head(_MOST_CHANGES).to_dict("records"))
    ]
    rest = "; the section Snapshots exports all" if len(own) > len(rows) else ""
    shown = f"{len(rows)} of {counted(len(own), 'changed value')}{rest}"
    columns = [{"name": one, "title": one, "head": one == "Attribute"} for one in ("Attribute", "Old", "New")]
    return [
        details(
            f"{counted(len(own), 'value')} changed since {when}",
            paragraph(shown, key="count", tone="muted") if rest else None,
            table(columns, rows, key="changes", label=f"Values changed since {when}"),
            key="changed-since",
            # Folded where it would push the product itself out of sight.
            is_open=len(own) <= _UNFOLDED,
        )
    ]


def _place_in_words(attribute: str, language: Any) -> dict[str, Any]:
    in_language = "" if pd.isna(language) else f" in {language_label(language)}"
    return {"words": typed_text(attribute_title(attribute) + in_language), "title": attribute}


def _value_cell(value: Any) -> dict[str, str]:
    return {"gap": "none"} if pd.isna(value) else typed_text(words(value, _ROOM_OF_CHANGE))


# Pictures.


def _pictures_part(session: Session, card: CardContents) -> Block:
    loaded = session.part(Cards).get("pictures", session.catalog, card.product_id)
    found = _found(session, card.product_id)
    images = {one.position: _image(one) for one in found if one.position is not None}
    count = len(card.pictures.rows)
    is_all = isinstance(loaded, list) or len(images) == count
    label = "Try again to show pictures" if isinstance(loaded, NotRead) else f"Show pictures ({count})"
    is_running = "card-pictures" in session.works
    show = button(
        label,
        "card.pictures",
        key="show-pictures",
        to="part Pictures",
        product_id=card.product_id,
    )
    return part(
        "Pictures",
        pictures_above(card.pictures),
        show if count and not is_all and not is_running else None,
        work(session, "card-pictures"),
        paragraph(typed_text(loaded.why), key="why-not", tone="problem")
        if isinstance(loaded, NotRead)
        else None,
        *pictures_block(card.pictures, images),
        look="card-pictures",
    )


def _image(one: Thumbnail) -> dict[str, Any]:
    """Return a picture as the view names it, or why it is not there."""
    if one.bytes is None:
        return {"problem": typed_text(words(one.problem, 1_000))}
    return {"image": _name(one.bytes)}


def _name(content: bytes) -> str:
    """Return the name of a picture in the page: the same picture is sent once, whatever it is of."""
    return f"card {sha256(content).hexdigest()[:32]}"


def _found(session: Session, product_id: str) -> list[Thumbnail]:
    """Return the pictures of a product that were loaded, else those that are on disk anyway."""
    cards, of = session.part(Cards), (session.catalog, product_id)
    found = (cards.get(kind, *of) for kind in ("pictures", "on disk"))
    return next((one for one in found if isinstance(one, list)), [])


def card_pictures(session: Session) -> Iterable[tuple[str, str, bytes]]:
    """Return the pictures that the card that is open names."""
    for one in [] if session.product_id is None else _found(session, session.product_id):
        if one.bytes is not None:
            yield _name(one.bytes), "image/jpeg", one.bytes


def _thumbnails_on_disk(catalog: Catalog, product_id: str, _: Reporter) -> list[Thumbnail]:
    # Imported on request: many products have no pictures, and Pillow takes a while.
    from prodex.pictures.thumbnails import thumbnails_on_disk

    return thumbnails_on_disk(catalog, product_id, _SIDE)


def _thumbnails(catalog: Catalog, product_id: str, reporter: Reporter) -> list[Thumbnail]:
    from prodex.pictures import thumbnails

    return thumbnails(catalog, [product_id], _SIDE, reporter=reporter)


@task("card.pictures")
def show_pictures(app: Panel, product_id: str) -> None:
    """Download the pictures of a product, and show them."""
    catalog = app.session.catalog
    fetch = partial(_thumbnails, catalog, product_id)
    want = _want("card-pictures", Cards(), ("pictures", catalog, product_id), fetch)
    options = {"after": PATIENCE, "is_dropped": True, **want.options}
    app.run(want.slot, want.do, want.then, title="Downloading pictures", key=want.key, **options)


# What is pressed.


@action("card.open")
def open_card(session: Session, product_id: str) -> Session:
    """Open the card of a product."""
    return session.replaced(product_id=product_id)


@action("card.close")
def close_card(session: Session, product_id: str) -> Session:
    """Close the card of a product, unless another one is open by now."""
    if session.product_id != product_id:
        return session
    return focusing(session.replaced(product_id=None), "table")


@action("card.again")
def try_again(session: Session) -> Session:
    """Read again what could not be read."""
    cards = session.part(Cards)
    kept = tuple(one for one in cards.kept if not isinstance(one[1], NotRead))
    return session.with_part(Cards(kept, cards.turn + 1))


@action("card.correct_first")
def correct_first(session: Session, product_id: str) -> Session:
    """Open a card, and the editor of the text that is most likely meant."""
    card = _contents(session, product_id)
    session = _keeping(session.replaced(product_id=product_id), card)
    spot = first_to_correct(card)
    if spot is None:
        raise InputError("This product has no text that can be corrected here.")
    return editing(session, card, spot)


@action("card.edit")
def edit_text(session: Session, product_id: str, place: str) -> Session:
    """Open the editor of a text."""
    card = _contents(session, product_id)
    spot = spot_at(card, place)
    if spot is None:
        raise InputError("This text is not there any more. Nothing was opened.")
    return editing(session, card, spot)


@action("card.leave")
def leave_text(session: Session, place: str) -> Session:
    """Close the editor of a text, without what was typed there."""
    return closed(session, place)


@action("card.correct")
def correct_text(
    session: Session,
    product_id: str,
    place: str,
    before: str | None,
    text: str | None,
    is_leaving: bool = False,
) -> Session:
    """Collect a correction of a text; None deletes it."""
    card = _contents(session, product_id)
    return corrected(session, card, place, before, text, is_leaving=is_leaving)


@action("card.undo")
def undo_text(session: Session, product_id: str, place: str) -> Session:
    """Take back the correction of a text, as long as it was not sent."""
    spot = spot_at(_contents(session, product_id), place)
    return session if spot is None else undone(session, spot)


def _contents(session: Session, product_id: str) -> CardContents:
    """Return what is known of a product: read before, or now."""
    read = session.part(Cards).get("contents", session.catalog, session.audit, product_id)
    if isinstance(read, ReadCard):
        return read.contents
    return read_card(session.catalog, product_id, session.audit)


def _keeping(session: Session, card: CardContents) -> Session:
    of = ("contents", session.catalog, session.audit, card.product_id)
    cards = session.part(Cards)
    if isinstance(cards.get(*of), ReadCard):
        return session
    return session.with_part(cards.keeping(ReadCard.of(card), *of))


def _alone(session: Session) -> list[Block]:
    if session.product_id is None:
        return [paragraph("Select a product to show its card.", key="nothing", tone="muted")]
    return card_blocks(session, session.product_id, is_alone=True)


CARD = Section("card", lambda _: "Card", _alone, card_wants, lambda _: False, card_pictures)
