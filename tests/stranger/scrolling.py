"""Scroll pagination: a snapshot of the found records and the cursors that lead through it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .catalogue import Record
from .settings import Settings

ABSENT = object()
"""The envelope has no ``next_page`` at all."""


class Refused(Exception):
    """The service answers with an error status instead of products."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Scroll:
    """One search that is being read: its records, the page reached and the time of the last call."""

    records: list[Record]
    used: float
    pages: int = 0
    repeated: bool = False


class Scrolls:
    """All scrolls of one stranger; each cursor names a scroll and a position in it."""

    def __init__(self, settings: Settings, now: Callable[[], float]) -> None:
        self._settings = settings
        self._now = now
        self._cursors: dict[str, tuple[Scroll, int]] = {}
        first = 2**53 + 1 if settings.cursor_form == "large" else 70001
        # Odd numbers above 2**53 cannot be held by a float, so a careless reader loses them.
        self._numbers = itertools.count(first, 2)

    def forget(self) -> None:
        """Drop all cursors, as a restart does."""
        self._cursors.clear()

    def begin(self, records: list[Record], limit: int) -> tuple[list[Record], int, Any]:
        """Open a scroll: its first page, the page's offset and the next cursor."""
        return self._page(Scroll(records, self._now()), 0, limit, None)

    def go_on(self, cursor: str, limit: int) -> tuple[Scroll, list[Record], int, Any]:
        """The page that a cursor names, with its scroll, its offset and the next cursor."""
        settings = self._settings
        if cursor not in self._cursors:
            raise Refused(400, f"the scroll cursor {cursor!r} is unknown or has expired")
        scroll, position = self._cursors[cursor]
        if self._now() - scroll.used > settings.cursor_lifetime:
            del self._cursors[cursor]
            raise Refused(400, f"the scroll cursor {cursor!r} has expired")
        if settings.cursor_dies_after is not None and scroll.pages >= settings.cursor_dies_after:
            position = self._die(scroll, position)
        return scroll, *self._page(scroll, position, limit, cursor)

    def _die(self, scroll: Scroll, position: int) -> int:
        death = self._settings.cursor_death
        if death == "restarts":
            scroll.pages = 0
            return 0
        if death == "empty":
            return max(position, len(scroll.records))
        raise Refused(int(death), "the scroll cursor is no longer valid")

    def _page(self, scroll: Scroll, position: int, limit: int, cursor: str | None) -> tuple[Any, ...]:
        settings = self._settings
        scroll.used = self._now()
        scroll.pages += 1
        if scroll.pages == settings.scroll_skips:
            position += limit
        if scroll.pages == settings.scroll_pauses:
            limit = 0
        if settings.scroll_loops and scroll.records:
            position %= len(scroll.records)
        records = scroll.records[position : position + limit]
        after = position + len(records)
        if settings.scroll_loops and after >= len(scroll.records):
            after = 0
        if scroll.pages == settings.scroll_repeats and not scroll.repeated:
            scroll.repeated = True
            after = position
        return records, position, self._next(scroll, after, cursor, bool(records))

    def _next(self, scroll: Scroll, after: int, cursor: str | None, has_records: bool) -> Any:
        end = self._settings.scroll_end
        at_end = after >= len(scroll.records)
        if end == "last" and at_end:
            return ABSENT
        if not has_records and at_end and end != "cursor":
            return {"absent": ABSENT, "null": None, "empty": ""}[end]
        keeps = self._settings.cursors_equal and cursor is not None
        name = cursor if keeps and cursor is not None else str(next(self._numbers))
        self._cursors[name] = (scroll, after)
        return name if self._settings.cursor_form == "text" else int(name)
