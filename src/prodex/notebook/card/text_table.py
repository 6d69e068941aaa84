"""The texts of a product as a table in which each can be corrected in place; what is typed is only collected."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from prodex.exploration.card.contents import CardContents
from prodex.exploration.card.texts import LanguageText, TextCell, TextRow, Texts
from prodex.locales import language_label, short_of
from prodex.messages import counted
from prodex.notebook.shared.live import LiveWidget, shown
from prodex.notebook.shared.panel import Panel
from prodex.notebook.shared.state import Exploration
from prodex.send.preflight import longest_text
from prodex.tables.fill_state import LACKING
from prodex.untrusted_text import words
from prodex.worklists.text_corrections import TextCorrection

#: Bytes of a correction that a card shows; the list of corrections has the rest.
_MOST = 60_000
#: Gaps at which a text may be added: of what was not requested nobody knows whether it is there.
_GAPS = frozenset(LACKING)

#: Notes beside a correction.
_UNSENT, _DELETED, _UNCONFIRMED = "not sent yet", "deletion not sent yet", "sent, not confirmed"


@dataclass(frozen=True)
class Spot:
    """A text, or a place where one is missing.

    Attributes
    ----------
    key
        By which the script names it; it names the product as well. Empty if it cannot be corrected.
    there
        The text, or None.
    blank
        A correction of it, still without a new text; None if it cannot be corrected.
    """

    key: str
    there: LanguageText | None
    blank: TextCorrection | None


#: A correction by its place, with the note beside it.
_Changed: TypeAlias = Mapping[tuple[str, str, str, str | None], tuple[TextCorrection, str]]


class TextTable:
    """The table of texts of a card.

    Parameters
    ----------
    panel
        The panel around it.
    exploration
        Where corrections are collected.

    Attributes
    ----------
    widget
        The table.
    """

    def __init__(self, panel: Panel, exploration: Exploration) -> None:
        self._exploration = exploration
        self._card: CardContents | None = None
        self._spots: dict[tuple[int, int], Sequence[Spot]] = {}
        self._blanks: dict[str, Spot] = {}
        self._opened: dict[str, str] | None = None
        self._edit: dict[str, Any] | None = None
        self._times_opened = 0
        self.widget: LiveWidget = LiveWidget(
            panel,
            "texts",
            {
                "save": self._save,
                "delete": self._delete,
                "undo": self._undo,
                "open": self._open,
                "done": self._done,
            },
        )
        panel.on(exploration, lambda _: self._draw(), "corrections", "unconfirmed")
        panel.on(exploration, lambda _: self._take_focus(), "focus_on")

    def show(self, card: CardContents | None) -> None:
        """Show the texts of a product; without one, nothing."""
        # What was typed for the product before may arrive when the next one is shown already.
        before = {one.key: one for spots in self._spots.values() for one in spots}
        self._card, self._opened, self._edit = card, None, None
        self._spots = {} if card is None else dict(_spots(card))
        now = {one.key: one for spots in self._spots.values() for one in spots}
        self._blanks = before | now
        self._draw()
        # It may have been asked for before the card was there.
        self._take_focus()

    def _draw(self) -> None:
        if self._card is None:
            self.widget.view = {}
            return
        state = self._exploration
        sent = [(one, _UNCONFIRMED) for group in state.unconfirmed for one in group.corrections]
        # If a text has two corrections, the later one is shown; the list of corrections has both.
        changed = {
            one.place: (one, mark) for one, mark in [*sent, *((one, _UNSENT) for one in state.corrections)]
        }
        shown_view = _view(self._card, self._spots, changed, _problems(self._card))
        self.widget.view = {**shown_view, "opened": self._opened, "edit": self._edit}

    def _take_focus(self) -> None:
        """Open the editor of the text that is most likely meant, when another panel asks for it."""
        if self._exploration.focus_on != "text" or self._card is None:
            return
        self._exploration.focus_on = ""
        key = _to_correct(self._card, self._spots)
        self._times_opened += 1
        self._edit = None if key is None else {"key": key, "turn": self._times_opened}
        self._draw()

    def _done(self) -> None:
        """Give the focus back to the panel that asked for a correction."""
        self._exploration.focus_on = "table"

    def _correction(self, key: str, text: str | None) -> TextCorrection | None:
        blank = self._blanks[key].blank if key in self._blanks else None
        return None if blank is None else replace(blank, text=text)

    def _save(self, key: str, text: str | None) -> None:
        if (correction := self._correction(key, text)) is not None:
            self._exploration.correct(correction)

    def _delete(self, key: str) -> None:
        self._save(key, None)

    def _undo(self, key: str) -> None:
        if (correction := self._correction(key, None)) is not None:
            state = self._exploration
            state.withdraw([one for one in state.corrections if one.place == correction.place])

    def _open(self, key: str) -> None:
        """Give the script a text that it does not show letter by letter."""
        if (spot := self._blanks.get(key)) is not None and spot.there is not None:
            self._opened = {"key": key, "text": spot.there.whole}
            self._draw()


def _spots(card: CardContents) -> Iterator[tuple[tuple[int, int], Sequence[Spot]]]:
    """Yield the spots of each cell."""
    for row, line in enumerate(card.texts.lines):
        for column, cell in enumerate(line.cells):
            there: Sequence[LanguageText | None] = cell.texts or [None] * _may_be_added(line, cell)
            yield (row, column), [_spot(card, line, cell, one) for one in there]


def _may_be_added(line: TextRow, cell: TextCell) -> bool:
    # In a nested attribute, the item to which another text would belong is not known.
    return cell.gap in _GAPS and cell.lang is not None and "." not in line.path


def _spot(card: CardContents, line: TextRow, cell: TextCell, there: LanguageText | None) -> Spot:
    if cell.language is None:
        return Spot("", there, None)  # a correction could not name its language
    updated_at = card.texts.updated_at
    blank = TextCorrection(card.product_id, line.path, cell.language, None, updated_at=updated_at)
    if there is not None:
        blank = replace(
            blank,
            language=cell.language if there.language_code is None else None,
            language_code=there.language_code,
            before=there.whole,
            position=there.position or None,
        )
    return Spot(json.dumps(blank.place), there, blank)


def _problems(card: CardContents) -> dict[tuple[str, str | None], list[dict[str, str]]]:
    """Return what the audit found in texts, by attribute and language."""
    found: dict[tuple[str, str | None], list[dict[str, str]]] = {}
    for check in () if card.audit is None else card.audit.failed:
        problem = {"severity": check.facts.severity, "title": str(check.facts.problem)}
        for one in check.findings:
            if not one.attribute.is_missing and not one.language.is_missing:
                listed = found.setdefault((one.attribute.text, short_of(one.language.text)), [])
                if problem not in listed:
                    listed.append(problem)
    return found


def _to_correct(card: CardContents, spots: Mapping[tuple[int, int], Sequence[Spot]]) -> str | None:
    """Return the first text with a problem; without any, the first text, which is a name; else the first gap."""
    problems = _problems(card)
    found: dict[int, str] = {}
    for row, line in enumerate(card.texts.lines):
        for column, cell in enumerate(line.cells):
            for spot in spots[row, column]:
                if spot.blank is not None:
                    rank = 0 if (line.path, cell.language) in problems else 1 if spot.there else 2
                    found.setdefault(rank, spot.key)
    return found[min(found)] if found else None


def _view(
    card: CardContents,
    spots: Mapping[tuple[int, int], Sequence[Spot]],
    changed: _Changed,
    problems: Mapping[tuple[str, str | None], Sequence[Mapping[str, str]]],
) -> dict[str, Any]:
    it = card.texts
    rows = []
    for row, line in enumerate(it.lines):
        cells = [
            {
                "lang": cell.lang,
                "gap": cell.gap and str(cell.gap),
                "items": [_cell_view(line, cell, spot, changed) for spot in spots[row, column]],
                "problems": list(problems.get((line.path, cell.language), ())),
            }
            for column, cell in enumerate(line.cells)
        ]
        # One cell for the whole line, where nothing can be added either.
        gap = str(line.gap) if line.gap is not None and not any(cell["items"] for cell in cells) else None
        rows.append({"attribute": shown(line.attribute), "path": line.path, "gap": gap, "cells": cells})
    return {
        "product": card.product_id,
        "caption": _caption(it),
        "languages": [{"name": shown(name), "required": required} for _, name, required in it.languages],
        "rows": rows,
        "others": [f"Also {gap}: {', '.join(attributes)}." for gap, attributes in it.others],
    }


def _caption(it: Texts) -> str:
    texts = (
        counted(it.total, "text") if it.shown == it.total else f"{it.shown:,} of {counted(it.total, 'text')}"
    )
    if len(it.languages) == it.languages_total:
        return texts
    return f"{texts}, {len(it.languages)} of {counted(it.languages_total, 'language')}"


def _cell_view(line: TextRow, cell: TextCell, spot: Spot, changed: _Changed) -> dict[str, Any]:
    correction, mark = (None, None) if spot.blank is None else changed.get(spot.blank.place, (None, None))
    new = None if correction is None else correction.text
    there = spot.there
    # A text that is shown otherwise than it is has to be asked for before it can be corrected.
    old = "" if there is None else there.whole if there.text.text == there.whole else None
    language = "" if cell.language is None else language_label(cell.language)
    return {
        "key": spot.key,
        "name": f"{line.attribute.text}, {language}",
        "lang": cell.lang,
        "tag": None if there is None else there.tag,
        "was": None if there is None else shown(there.text),
        "now": None if new is None else shown(words(new, _MOST)),
        "mark": _DELETED if mark == _UNSENT and new is None else mark,
        "undo": mark == _UNSENT,
        "text": old if new is None else new,
        "limit": longest_text(line.path),
    }
