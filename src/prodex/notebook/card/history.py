"""The section "History" of a card: which values were changed since the first snapshot, when, and which we sent.

It is read in the background, since a card must not wait for earlier snapshots. Only a catalogue that is one of the
snapshots of this machine has earlier ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prodex.catalog import Catalog
from prodex.changes import NoValue, absence_of
from prodex.changes.trails import shown_value
from prodex.corrections.history import Event, ProductHistory, Sent, ValueEvent, ValueHistory, histories_of
from prodex.display.html_tables import template
from prodex.errors import ProdexError
from prodex.exploration.card.contents import CardContents
from prodex.languages.labels import attribute_title
from prodex.messages import counted, moment_in_words
from prodex.service.replies import canonical
from prodex.store.archive import snapshots_folder
from prodex.untrusted_text import Words, even_limit, label, weight, words

#: Places that the section lists, and bytes of all their values together.
_MOST = 200
_ROOM = 400_000

#: What a cell shows where there is no value.
_FACES = {
    NoValue.ABSENT: "absent",
    NoValue.NULL: "null",
    NoValue.EMPTY: "empty",
    NoValue.NOT_ASKED: "not known",
}


@dataclass(frozen=True)
class HistoryRow:
    """One step in the history of a value, as it is shown.

    Attributes
    ----------
    event
        What happened.
    value, gap
        The value, and what is shown if there is none.
    since
        Since when, and in which snapshot it came.
    is_sent, by
        Whether it was sent from here, and by whom, why and how; else what is known of that.
    note
        What else there is to know.
    """

    event: str
    value: Words
    gap: str
    since: str
    is_sent: bool
    by: Words
    note: str


@dataclass(frozen=True)
class HistoryOfPlace:
    """The steps of one place: its attribute, its language or item, and whether it was sent from here at any time."""

    attribute: Words
    place: Words
    rows: tuple[HistoryRow, ...]


@dataclass(frozen=True)
class CardHistory:
    """The section as values.

    Attributes
    ----------
    snapshots
        How many were looked at, in words.
    places, total
        What is listed, and how many places were changed or sent.
    sent
        How many of these were sent from here at any time.
    unchanged
        Number of values that have been there since the first snapshot.
    notes
        What could not be read, what was not there, and what was not asked for.
    """

    snapshots: str
    places: tuple[HistoryOfPlace, ...]
    total: int
    sent: int
    unchanged: int
    notes: tuple[Words, ...]


def name_with_history(catalog: Catalog) -> str | None:
    """Return the name of the snapshots that a catalogue is one of; None if it is none of this machine."""
    folder = catalog.folder
    if folder is None or Path(folder).absolute().parent.parent != snapshots_folder().absolute():
        return None
    return folder.parent.name


class HistoryReader:
    """Reads one history after the other: whoever looks through products waits for the last one only."""

    def __init__(self, is_wanted: Callable[[str], bool]) -> None:
        self._is_wanted = is_wanted
        self._turn = threading.Lock()

    def __call__(self, name: str, product_id: str, gtin: str | None) -> str:
        """Return the section of a product as HTML; "" if nobody wants it any more."""
        with self._turn:
            if not self._is_wanted(product_id):
                return ""
            (found, *_) = histories_of({"product_id": product_id, "gtin": gtin}, name)
            return history_markup(card_history(found))


def card_history(found: ProductHistory) -> CardHistory:
    """Return the history of a product as its card shows it."""
    changed = [one for one in found.values if not _is_unchanged(one)]
    shown = changed[:_MOST]
    sizes = [weight(shown_value(event.change.after) or "") for one in shown for event in one.events]
    most = even_limit(sizes, _ROOM)
    looked, *notes = found.notes
    return CardHistory(
        looked,
        tuple(_place(one, most) for one in shown),
        len(changed),
        sum(any(event.sent is Sent.YES for event in one.events) for one in changed),
        len(found.values) - len(changed),
        tuple(words(one, 2_000) for one in notes),
    )


def _is_unchanged(value: ValueHistory) -> bool:
    (first, *others) = value.events
    return not others and first.event in {Event.FIRST, Event.ASKED} and first.sent is Sent.NO


def _place(value: ValueHistory, most: int) -> HistoryOfPlace:
    place = value.place
    where = " · ".join(filter(None, [place.language, place.item]))
    return HistoryOfPlace(
        label(attribute_title(place.attribute) if place.attribute else "The product as a whole"),
        label(where or None),
        tuple(_row(event, most) for event in value.events),
    )


def _row(event: ValueEvent, most: int) -> HistoryRow:
    return HistoryRow(
        str(event.event),
        words(shown_value(event.change.after), most),
        _gap(event.change.after),
        _since(event),
        event.sent is Sent.YES,
        label(_sender(event)) if event.sent is not Sent.YES else words(_sender(event), 2_000),
        event.note,
    )


def _gap(held: Any) -> str:
    missing = absence_of(held)
    return "" if missing is None else _FACES[missing]


def _since(event: ValueEvent) -> str:
    if event.seen_at is None:
        return "in no snapshot"
    snapshot = f"the snapshot of {moment_in_words(event.seen_at)}"
    if event.event in {Event.FIRST, Event.ASKED}:
        return f"at or before {snapshot}"
    if event.since is None:
        return f"date not known; first in {snapshot}"
    return f"{event.since:%Y-%m-%d %H:%M} (local time of the service); first in {snapshot}"


def _sender(event: ValueEvent) -> str:
    if event.event in {Event.GONE, Event.BACK, Event.RENAMED}:
        return ""
    write = event.write
    if write is None:
        return "not known" if event.sent is Sent.UNKNOWN else "not sent from here"
    parts = [f"by {write.by}" if write.by else "", f"on {moment_in_words(write.at)}"]
    told = " ".join(filter(None, parts))
    details = [write.why, f"upsert {write.upsert}"]
    details += [] if write.tracking is None else [f"tracking {canonical(write.tracking)}"]
    return f"{told}: {', '.join(filter(None, details))}"


def history_markup(it: CardHistory) -> str:
    """Return the section as HTML."""
    return _on_card(_template().history(it))


def waiting_markup() -> str:
    """Return what stands in its place until it is there: as high, so that nothing moves."""
    return _on_card(_template().history_waiting())


def failed_markup(error: BaseException) -> str:
    """Return what stands in its place if it cannot be read."""
    why = str(error) if isinstance(error, ProdexError) else f"{type(error).__name__}: {error}"
    return _on_card(_template().history_failed(words(why, 2_000)))


def gtin_of(card: CardContents) -> str | None:
    """Return the GTIN of a card, as its record has it."""
    return None if card.header.gtin.is_missing else card.header.gtin.text


def _template() -> Any:
    return template("prodex.notebook", "card", "history.html").make_module({"counted": counted})


def _on_card(inside: str) -> str:
    return f'<div class="prodex card mathjax_ignore">{inside}</div>'
