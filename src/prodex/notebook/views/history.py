"""The history on a card: which values were changed since the first snapshot, when, by whom, and which we sent.

It is read in the background, since a card must not wait for earlier snapshots. Only a catalogue that is one of the
snapshots of this machine has earlier ones. All times are in the zone of this machine: a snapshot has the moment of its
load, and what was sent that of its upsert. The service says when a product was last changed without a zone, so that is
not put beside them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prodex.catalog import Catalog
from prodex.changes import NoValue, absence_of
from prodex.changes.trails import shown_value
from prodex.corrections.history import (
    Event,
    ProductHistory,
    Sent,
    ValueEvent,
    ValueHistory,
    histories_of,
)
from prodex.languages.labels import attribute_title
from prodex.notebook.session.actions import Block
from prodex.notebook.session.session import Session
from prodex.notebook.views.blocks import fold, listed, paragraph, typed_text
from prodex.notebook.views.card_blocks import part
from prodex.phrases import counted, moment_in_words
from prodex.service.replies import canonical
from prodex.store.archive import snapshots_folder
from prodex.untrusted_text import even_limit, label, weight, words

#: Places that are listed, and bytes of all their values together.
_MOST = 200
_ROOM = 400_000

#: What is shown where there is no value.
_FACES = {
    NoValue.ABSENT: "absent",
    NoValue.NULL: "null",
    NoValue.EMPTY: "empty",
    NoValue.NOT_ASKED: "not known",
}
#: Events about which nobody asks who sent them.
_OF_NOBODY = frozenset({Event.GONE, Event.BACK, Event.RENAMED})
_SO_FAR = frozenset({Event.FIRST, Event.ASKED})


def name_with_history(catalog: Catalog) -> str | None:
    """Return the name of the snapshots that a catalogue is one of; None if it is none of this machine."""
    folder = catalog.folder
    if folder is None or Path(folder).absolute().parent.parent != snapshots_folder().absolute():
        return None
    return folder.parent.name


def read_history(name: str, product_id: str, gtin: str | None, _: object = None) -> list[Block]:
    """Read the history of a product in the snapshots of a name: first what is said of it at once, then its timeline."""
    (found, *_) = histories_of({"product_id": product_id, "gtin": gtin}, name)
    return history_blocks(found)


def history_blocks(found: ProductHistory) -> list[Block]:
    """Return a history as blocks: what is said of it at once, and its timeline, if anything was changed."""
    changed = [one for one in found.values if not _is_unchanged(one)]
    unchanged = len(found.values) - len(changed)
    looked, *notes = found.notes
    listed_notes = listed([typed_text(words(one, 2_000)) for one in notes], key="notes", tone="muted")
    if not changed:
        are = "is" if unchanged == 1 else "are"
        same = f"; {counted(unchanged, 'value')} {are} as in the first one" if unchanged else ""
        nothing = paragraph(f"{looked} No value was changed{same}.", key="nothing", tone="muted")
        return [one for one in (nothing, listed_notes) if one]
    sent = sum(any(event.sent is Sent.YES for event in one.events) for one in changed)
    them = "it" if len(changed) == 1 else "them"
    others = f" {counted(unchanged, 'other value')} as in the first snapshot." if unchanged else ""
    said = f"{counted(len(changed), 'value')} changed, {sent:,} of {them} sent from here. {looked}{others}"
    shown = changed[:_MOST]
    sizes = [weight(shown_value(event.change.after) or "") for one in shown for event in one.events]
    most = even_limit(sizes, _ROOM)
    timeline: Block = {
        "kind": "timeline",
        "key": "timeline",
        "label": "History of the values, the newest first",
        "places": [_place(number, one, most) for number, one in enumerate(shown)],
    }
    cut = (
        paragraph(f"{len(shown):,} of {counted(len(changed), 'changed value')}.", key="cut", tone="muted")
        if len(shown) < len(changed)
        else None
    )
    zone = paragraph(
        f"All times are in the time zone of this machine{_zone(shown)}.", key="zone", tone="muted"
    )
    summary = paragraph(said, key="summary")
    return [one for one in (summary, listed_notes, zone, cut, timeline) if one]


def history_part(session: Session, blocks: list[Block]) -> Block:
    """Return what is said of a history as it stands on a card: its timeline is folded, since it is long."""
    if blocks[-1]["kind"] == "timeline":
        *said, zone, timeline = blocks
        inside = [zone, timeline]
        blocks = [*said, fold(session, "card-history", "What was changed, the newest first", lambda: inside)]
    return part("History", *blocks, look="history")


def _is_unchanged(value: ValueHistory) -> bool:
    (first, *others) = value.events
    return not others and first.event in _SO_FAR and first.sent is Sent.NO


def _zone(shown: list[ValueHistory]) -> str:
    """Return the name of the zone, as long as it is the same for all: in summer it has another one."""
    moments = [_moment(event) for one in shown for event in one.events]
    names = {one.astimezone().tzname() for one in moments if one is not None}
    return f" ({names.pop()})" if len(names) == 1 else ""


def _place(number: int, value: ValueHistory, most: int) -> dict[str, Any]:
    place = value.place
    where = " · ".join(filter(None, [place.language, place.item]))
    attribute = attribute_title(place.attribute) if place.attribute else "The product as a whole"
    return {
        "key": str(number),
        "attribute": typed_text(label(attribute)),
        **({"place": typed_text(label(where))} if where else {}),
        "steps": [_step(event, most) for event in value.events],
    }


def _moment(event: ValueEvent) -> Any:
    return event.write.at if event.write is not None else event.seen_at


def _step(event: ValueEvent, most: int) -> dict[str, Any]:
    """Return one step of the history of a value: when, what happened, who did it, and the value."""
    absence = absence_of(event.change.after)
    value = (
        typed_text(words(shown_value(event.change.after), most))
        if absence is None
        else {"gap": _FACES[absence]}
    )
    made = {
        "when": _when(event),
        "event": str(event.event),
        "value": value,
        "sent": event.sent is Sent.YES,
        "by": _sender(event),
        "how": typed_text(words(how, 2_000)) if (how := _how(event)) else None,
        "note": event.note,
    }
    return {name: one for name, one in made.items() if one not in (None, "", False)}


def _when(event: ValueEvent) -> str:
    """Return when a value came, as exactly as it is known: when it was sent, or in which snapshot it was seen first."""
    if event.write is not None:
        return moment_in_words(event.write.at)
    if event.seen_at is None:
        return "in no snapshot"
    seen = moment_in_words(event.seen_at)
    return f"{seen} or before" if event.event in _SO_FAR else f"first seen {seen}"


def _sender(event: ValueEvent) -> Any:
    if event.event in _OF_NOBODY:
        return ""
    if event.write is None:
        if event.sent is Sent.UNKNOWN:
            return "not known whether it was sent from here"
        return "" if event.event in _SO_FAR else "not sent from here"
    return typed_text(label(event.write.by)) if event.write.by else ""


def _how(event: ValueEvent) -> str:
    """Return why a value was sent, by which call, and in which snapshot it has been seen since."""
    write = event.write
    if write is None or event.event in _OF_NOBODY:
        return ""
    details = [write.why, f"upsert {write.upsert}"]
    details += [] if write.tracking is None else [f"tracking {canonical(write.tracking)}"]
    details += [f"first seen {moment_in_words(event.seen_at)}"] if event.seen_at is not None else []
    return ", ".join(filter(None, details))
