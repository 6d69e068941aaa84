"""The texts of a card, by attribute and language: each can be corrected in place; what is typed is only collected."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from prodex.errors import InputError, ProdexError
from prodex.exploration.card.texts import LanguageText, TextCell, TextRow, Texts
from prodex.locales import language_label, short_of
from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.blocks import listed, typed_text
from prodex.notebook.views.card_blocks import of, part
from prodex.notebook.views.card_contents import CardContents
from prodex.notebook.views.card_reading import contents_of, keeping_contents
from prodex.phrases import counted
from prodex.send.preflight import longest_text
from prodex.tables.fill_state import LACKING
from prodex.untrusted_text import cut, label, words
from prodex.worklists.text_corrections import TextCorrection

#: Bytes of a correction that a card shows; the list of corrections has the rest.
_MOST = 60_000
#: Characters that a sentence quotes.
_QUOTED = 300
#: Gaps at which a text may be added: of what was not requested nobody knows whether it is there.
_GAPS = frozenset(LACKING)

#: Notes beside a correction.
_UNSENT, _DELETED, _UNCONFIRMED = "not sent yet", "deletion not sent yet", "sent, not confirmed"

#: A correction by its place, with the note beside it.
_Changed: TypeAlias = Mapping[tuple[str, str, str, str | None], tuple[TextCorrection, str]]


@dataclass(frozen=True)
class Spot:
    """A text, or a place where one is missing.

    Attributes
    ----------
    name
        Its attribute and language in words.
    there
        The text, or None.
    blank
        A correction of it, still without a new text; None if it cannot be corrected.
    """

    name: str
    there: LanguageText | None
    blank: TextCorrection | None

    @property
    def place(self) -> str:
        """By which pages name it: its attribute, language and position. Empty if it cannot be corrected."""
        return "" if self.blank is None else json.dumps(self.blank.place[1:], ensure_ascii=False)

    @property
    def original(self) -> str | None:
        """The text as the catalogue has it."""
        return None if self.there is None else self.there.whole


@dataclass(frozen=True)
class Editing:
    """The text that is being corrected.

    Attributes
    ----------
    product_id, place
        Which one.
    before
        The text that was there when its editor was opened.
    turn
        How many editors were opened before: the page in which somebody asked for this one moves the focus into it.
    """

    product_id: str = ""
    place: str = ""
    before: str | None = None
    turn: int = 0


def texts_part(card: CardContents, session: Session | None = None) -> Block:
    """Return the texts of a product; in a session with what was corrected, and the editor that is open."""
    it = card.texts
    changed: _Changed = {} if session is None else _changed(session)
    rows = []
    for line in it.lines:
        cells = [
            _without_nothing(
                {
                    "lang": cell.lang,
                    "gap": cell.gap and str(cell.gap),
                    "items": [
                        _item(session, line, cell, spot, changed, card.product_id)
                        for spot in _spots(card, line, cell, changed)
                    ],
                    "problems": card.problems.get(_named(line, cell), []),
                }
            )
            for cell in line.cells
        ]
        made: Block = {"key": line.path, "attribute": typed_text(line.attribute), "cells": cells}
        # One cell for the whole line, where nothing can be added either.
        is_empty = session is None or not any(cell.get("items") for cell in cells)
        if line.gap is not None and is_empty and not any(cell.get("problems") for cell in cells):
            made |= {"gap": str(line.gap), "cells": []}
        rows.append(made)
    texts: Block = {
        "kind": "card_texts",
        "key": "texts",
        "product": card.product_id,
        "caption": _caption(it),
        "label": "Texts by language",
        "columns": [{"name": typed_text(name), "required": required} for _, name, required in it.languages],
        "rows": rows,
        "turn": 0 if session is None else session.part(Editing).turn,
    }
    others = listed(
        [f"Also {gap}: {', '.join(attributes)}." for gap, attributes in it.others], key="others", tone="plain"
    )
    return part("Texts by language", texts, others)


def _spots(card: CardContents, line: TextRow, cell: TextCell, changed: _Changed) -> list[Spot]:
    """Return the texts of a cell, or the place where one may be added: those where some were, in their language."""
    if cell.texts:
        return [_spot(card, line, cell, one) for one in cell.texts]
    if cell.language is None or not _may_be_added(line, cell):
        return []
    added = [
        language
        for product, attribute, language, position in changed
        if (product, attribute, position) == (card.product_id, line.path, None)
        and short_of(language) == cell.language
    ]
    return [_spot(card, line, cell, None, language) for language in added or [cell.language]]


def _every_spot(card: CardContents, session: Session) -> Iterator[tuple[TextRow, TextCell, Spot]]:
    changed = _changed(session)
    for line in card.texts.lines:
        for cell in line.cells:
            for spot in _spots(card, line, cell, changed):
                yield line, cell, spot


def spot_at(card: CardContents, place: str, session: Session) -> Spot | None:
    """Return the spot that a page means; None if the product has none there."""
    return next((one for *_, one in _every_spot(card, session) if one.place == place and place), None)


def first_to_correct(card: CardContents, session: Session) -> Spot | None:
    """Return the first text with a problem; without any, the first text, which is a name; else the first gap."""
    found: dict[int, Spot] = {}
    for line, cell, spot in _every_spot(card, session):
        if spot.blank is not None:
            found.setdefault(0 if _named(line, cell) in card.problems else 1 if spot.there else 2, spot)
    return found[min(found)] if found else None


@action("card.correct_first")
def correct_first(session: Session, product_id: str) -> Session:
    """Open a card, and the editor of the text that is most likely meant."""
    card = contents_of(session, product_id)
    session = keeping_contents(session.replaced(product_id=product_id), card)
    if (spot := first_to_correct(card, session)) is None:
        raise InputError("This product has no text that can be corrected here.")
    return _editing(session, product_id, spot)


@action("card.edit")
def edit_text(session: Session, product_id: str, place: str) -> Session:
    """Open the editor of a text."""
    if (spot := spot_at(contents_of(session, product_id), place, session)) is None:
        raise InputError("This text is not there any more. Nothing was opened.")
    return _editing(session, product_id, spot)


def _editing(session: Session, product_id: str, spot: Spot) -> Session:
    """Return the session with the editor of a text; what was typed in another one is collected first."""
    now = session.part(Editing)
    if now.place and (now.product_id, now.place) != (product_id, spot.place):
        session = _left(session, product_id, now)
    # The same again: the focus moves there.
    return session.with_part(
        Editing(product_id, spot.place, _shown_text(session, spot), session.part(Editing).turn + 1)
    )


@action("card.leave")
def leave_text(session: Session, product_id: str, place: str) -> Session:
    """Close the editor of a text, without what was typed there."""
    form = form_of(product_id)
    typed = {name: text for name, text in session.typed.get(form, {}).items() if name != place}
    errors = {at: error for at, error in session.errors.items() if at != f"{form}.{place}"}
    session = session.without_typed(form).replaced(errors=errors)
    if typed:
        session = session.with_typed(form, **typed)
    now = session.part(Editing)
    is_open = (now.product_id, now.place) == (product_id, place)
    return session.with_part(Editing(turn=now.turn)) if is_open else session


@action("card.correct")
def correct_text(
    session: Session,
    product_id: str,
    place: str,
    before: str | None,
    text: str | None,
    is_leaving: bool = False,
) -> Session:
    """Collect a correction of a text, or say beside its field why it was not.

    Parameters
    ----------
    session
        The session.
    product_id, place
        The product, and which of its texts.
    before
        The text that somebody saw there.
    text
        The new text; None deletes the text.
    is_leaving
        Whether somebody has gone on elsewhere: then nothing is collected where nothing was typed.
    """
    spot = spot_at(contents_of(session, product_id), place, session)
    if spot is None or spot.blank is None:
        typed = f" You typed: “{cut(text, _QUOTED)}”" if text else ""
        raise Refused(f"Nothing was kept: product {cut(product_id, 60)} has no such text any more.{typed}")
    now = _shown_text(session, spot)
    if _are_same(text, now) and not (text is None and spot.there is not None):
        session = leave_text(session, product_id, place)
        # The editor of a text that is to be deleted shows it: whoever saves that keeps the text.
        return _undone(session, spot) if _are_same(text, spot.original) and not is_leaving else session
    if text is not None and not text.strip():
        if is_leaving:
            return leave_text(session, product_id, place)
        other = "press Delete text" if spot.there is not None else "press Cancel"
        return _kept_open(session, product_id, spot, before, text, f"Write a text, or {other}.")
    if not _are_same(before, now):
        said = "is no longer there" if now is None else f"is now “{cut(now, _QUOTED)}”"
        again = f"This text {said}. Nothing was kept. Press Save again to replace it, or Escape to leave it."
        return _kept_open(session, product_id, spot, now, text, again)
    if text is not None and _are_same(text, spot.original):
        return _undone(leave_text(session, product_id, place), spot)
    try:
        correction = replace(spot.blank, text=text)
    except InputError as error:
        return _kept_open(session, product_id, spot, before, text, str(error))
    return leave_text(session, product_id, place).correcting(correction)


@action("card.undo")
def undo_text(session: Session, product_id: str, place: str) -> Session:
    """Take back the correction of a text, as long as it was not sent."""
    spot = spot_at(contents_of(session, product_id), place, session)
    return session if spot is None else _undone(session, spot)


def _undone(session: Session, spot: Spot) -> Session:
    place = None if spot.blank is None else spot.blank.place
    return session.replaced(corrections=tuple(one for one in session.corrections if one.place != place))


def _left(session: Session, product_id: str, now: Editing) -> Session:
    """Collect what was typed in an editor before another one is opened."""
    typed, at = _typed(session, now.product_id, now.place), f"{form_of(now.product_id)}.{now.place}"
    if typed is None:
        return session
    is_elsewhere = now.product_id != product_id
    try:
        after = correct_text(session, now.product_id, now.place, now.before, typed, is_leaving=True)
    except ProdexError:
        if is_elsewhere:
            return session
        raise
    if (error := after.errors.get(at)) is None:
        return after
    if is_elsewhere:
        # Its card is not shown, and neither would be the reason: what was typed stays, and is in its editor again.
        return session
    raise Refused(error, at=at)


def _kept_open(
    session: Session, product_id: str, spot: Spot, before: str | None, text: str | None, error: str
) -> Session:
    """Return the session in which an editor stays open, or is again, with why nothing was collected."""
    form = form_of(product_id)
    if text is not None:
        session = session.with_typed(form, **{spot.place: text})
    now = session.part(Editing)
    turn = now.turn if (now.product_id, now.place) == (product_id, spot.place) else now.turn + 1
    return session.with_part(Editing(product_id, spot.place, before, turn)).replaced(
        errors={**session.errors, f"{form}.{spot.place}": error}
    )


def _are_same(one: str | None, other: str | None) -> bool:
    """Whether texts are the same but for line ends, which browsers have of their own."""
    ends = [text and text.replace("\r\n", "\n").replace("\r", "\n") for text in (one, other)]
    return ends[0] == ends[1]


def _may_be_added(line: TextRow, cell: TextCell) -> bool:
    # In a nested attribute, the item to which another text would belong is not known.
    return cell.gap in _GAPS and cell.lang is not None and "." not in line.path


def _spot(
    card: CardContents,
    line: TextRow,
    cell: TextCell,
    there: LanguageText | None,
    language: str | None = None,
) -> Spot:
    spoken = language or cell.language
    name = f"{line.attribute.text}, {'' if spoken is None else language_label(spoken)}"
    if spoken is None:
        return Spot(name, there, None)  # a correction could not name its language
    updated_at = card.texts.updated_at
    blank = TextCorrection(card.product_id, line.path, spoken, None, updated_at=updated_at)
    if there is not None:
        blank = replace(
            blank,
            language=cell.language if there.language_code is None else None,
            language_code=there.language_code,
            before=there.whole,
            position=there.position or None,
        )
    return Spot(name, there, blank)


def _changed(session: Session) -> _Changed:
    sent = [(one, _UNCONFIRMED) for group in session.unconfirmed for one in group.corrections]
    # If a text has two corrections, the later one is shown; the list of corrections has both.
    return {one.place: (one, mark) for one, mark in [*sent, *((one, _UNSENT) for one in session.corrections)]}


def _shown_text(session: Session, spot: Spot) -> str | None:
    """Return the text that stands at a spot now: the corrected one, as far as there is one."""
    found = None if spot.blank is None else _changed(session).get(spot.blank.place)
    new = None if found is None else found[0].text
    return spot.original if new is None else new


def form_of(product_id: str) -> str:
    """Return the form in which what is typed on the card of a product is kept, with a field for each text."""
    return f"card {product_id}"


def _typed(session: Session, product_id: str, place: str) -> str | None:
    """Return what was typed for a text and not collected yet."""
    typed = session.typed.get(form_of(product_id), {}).get(place)
    return typed if isinstance(typed, str) else None


def _named(line: TextRow, cell: TextCell) -> tuple[str, str | None]:
    """Return how an audit names a text: by the title of its attribute, which it shortens."""
    return label(line.attribute.text).text, cell.language


def _caption(it: Texts) -> str:
    texts = of(it.shown, it.total, "text")
    if len(it.languages) == it.languages_total:
        return texts
    return f"{texts}, {len(it.languages)} of {counted(it.languages_total, 'language')}"


def _item(
    session: Session | None, line: TextRow, cell: TextCell, spot: Spot, changed: _Changed, product_id: str
) -> Block:
    correction, mark = (None, "") if spot.blank is None else changed.get(spot.blank.place, (None, ""))
    new = None if correction is None else correction.text
    there = spot.there
    return _without_nothing(
        {
            "key": spot.place if session is not None else "",
            "name": spot.name,
            "tag": None if there is None else there.tag,
            "was": None if there is None else typed_text(there.text),
            "now": None if new is None else typed_text(words(new, _MOST)),
            "mark": _DELETED if mark == _UNSENT and new is None else mark,
            "undo": mark == _UNSENT,
            "editor": None if session is None else _editor(session, line, cell, spot, product_id),
        }
    )


def _editor(session: Session, line: TextRow, cell: TextCell, spot: Spot, product_id: str) -> Block | None:
    """Return what the editor of a text shows; None while it is closed."""
    now = session.part(Editing)
    if not spot.place or (now.product_id, now.place) != (product_id, spot.place):
        return None
    typed = _typed(session, product_id, spot.place)
    current = _shown_text(session, spot)
    return {
        "value": (current or "") if typed is None else typed,
        "before": now.before,
        "limit": longest_text(line.path),
        "lang": cell.lang,
        "can_delete": spot.there is not None,
        "error": session.errors.get(f"{form_of(product_id)}.{spot.place}", ""),
    }


def _without_nothing(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return a view without what says nothing: a card has hundreds of cells."""
    return {name: value for name, value in view.items() if value not in (None, "", False, [])}
