"""Scrolls: a list of products fixed by the first call, and the cursors that continue it.

A scroll that nobody continues ends with the life of its cursors, whether calls follow or not; and however many are
begun at the same time, the memory that they take is limited.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from prodex_sandbox.api.projection import Projection
from prodex_sandbox.api.value_types import CURSORS
from prodex_sandbox.behaviour import Behaviour, ScrollEnd
from prodex_sandbox.faults.call import PageSlice
from prodex_sandbox.refusals import Refusal


@dataclass(frozen=True)
class Scroll:
    """What the first call of a scroll fixed.

    Attributes
    ----------
    viewer
        Id of the organisation that scrolls.
    keys
        Its products. Later changes neither add to them nor reorder them; each is served as it
        is when its page is fetched.
    total
        Number of products that match, which is more than `keys` where the cap of GET cuts them.
    shape
        What is done to every record.
    """

    viewer: int
    keys: Sequence[int]
    total: int
    shape: Projection


@dataclass(frozen=True)
class Page:
    """A part of a scroll, or of an offset query.

    Attributes
    ----------
    total
        Number of products that match, as this page announces it.
    next_page
        The next page in the reply: an empty mapping, or one with the member `next_page`.
    """

    scroll: Scroll
    keys: Sequence[int]
    offset: int
    total: int
    next_page: dict[str, str | None]


#: Cursors, and products in the lists that they lead to, that are kept at the same time: under 600 MB in all. Clients
#: that follow their scrolls are far below.
_MOST_CURSORS: Final = 100_000
_MOST_KEYS: Final = 2**26

#: What faults do to a page.
PageEffect = Callable[[PageSlice], PageSlice]


@dataclass(frozen=True)
class _Place:
    scroll: Scroll
    position: int
    pages: int
    deadline: float


class Cursors:
    """The cursors of scrolls, each with its place, for a limited time.

    Parameters
    ----------
    clock
        Seconds from any start, never going back.
    """

    def __init__(self, behaviour: Behaviour, clock: Callable[[], float]) -> None:
        self._behaviour = behaviour
        self._clock = clock
        self._places: dict[str, _Place] = {}
        # How many cursors lead to each list, by its identity, and how many products the lists have together.
        self._leading: Counter[int] = Counter()
        self._keys = 0
        self._lock = threading.Lock()

    @property
    def remembered(self) -> tuple[int, int]:
        """How many cursors are kept, and how many products the lists have that they lead to."""
        with self._lock:
            return len(self._places), self._keys

    def forget_expired(self) -> None:
        """Forget the cursors whose time is over, and the lists to which none leads any more."""
        with self._lock:
            self._forget_expired()

    def open(self, scroll: Scroll, position: int, limit: int, page_effect: PageEffect) -> Page:
        """Return the first page of a new scroll."""
        # Endpoints run in threads, and two calls may use one cursor at the same time.
        with self._lock:
            self._forget_expired()
            return self._page(scroll, page_effect(PageSlice(position, None)), limit, pages=position // limit)

    def follow(self, cursor: str, viewer: int, limit: int, page_effect: PageEffect) -> Page:
        """Return the page of a cursor.

        Where cursors change, the old one keeps leading to the same page until it expires, so that a call can be
        repeated. Where they stay equal, the cursor moves to the next page.
        """
        with self._lock:
            self._forget_expired()
            place = self._places.get(cursor)
            if place is not None and place.scroll.viewer == viewer:
                part = page_effect(PageSlice(place.position, cursor))
                if part.cursor_lost:
                    self._forget(cursor)
                    place = None
            if place is None or place.scroll.viewer != viewer:
                raise Refusal(
                    "cursor_lost",
                    f"next_page={cursor} is not, or no longer, a scroll cursor. One is kept for "
                    f"{self._behaviour.cursor_lifetime:g} seconds; start the scroll again.",
                )
            return self._page(place.scroll, part, limit, place.pages)

    def _page(self, scroll: Scroll, part: PageSlice, limit: int, pages: int) -> Page:
        """Return a page after so many others, and remember where the next one begins."""
        cursor = part.cursor
        gone = min(self._behaviour.total_shrinks * pages, len(scroll.keys))
        end_of_keys = len(scroll.keys) - gone
        position = part.position
        if self._behaviour.endless_scroll and position >= end_of_keys:
            position = 0
        # The limit may differ from call to call: each page begins where the one before ended.
        keys = scroll.keys[position : min(position + limit, end_of_keys)]
        following = position + len(keys)
        end = self._behaviour.scroll_end
        next_page: dict[str, str | None]
        if following < end_of_keys or end is ScrollEnd.EMPTY_PAGE or self._behaviour.endless_scroll:
            if cursor is None or self._behaviour.cursor_changes:
                cursor = str(secrets.randbelow(CURSORS.stop))
            deadline = self._clock() + self._behaviour.cursor_lifetime
            self._remember(cursor, _Place(scroll, following, pages + 1, deadline))
            next_page = {"next_page": cursor}
        else:
            if cursor is not None and not self._behaviour.cursor_changes:
                self._forget(cursor)
            next_page = {"next_page": None} if end is ScrollEnd.NULL_CURSOR else {}
        return Page(scroll, keys[part.without :], position, scroll.total - gone, next_page)

    def _forget_expired(self) -> None:
        now = self._clock()
        # All have the same lifetime, so those that expire first were put in first.
        while self._places and self._places[oldest := next(iter(self._places))].deadline < now:
            self._forget(oldest)

    def _remember(self, cursor: str, place: _Place) -> None:
        # Put in again at the end: the order of the dict is the order of expiry.
        if cursor in self._places:
            self._forget(cursor)
        self._places[cursor] = place
        if not self._leading[id(place.scroll)]:
            self._keys += len(place.scroll.keys)
        self._leading[id(place.scroll)] += 1
        while len(self._places) > 1 and (len(self._places) > _MOST_CURSORS or self._keys > _MOST_KEYS):
            self._forget(next(iter(self._places)))

    def _forget(self, cursor: str) -> None:
        scroll = self._places.pop(cursor).scroll
        self._leading[id(scroll)] -= 1
        if not self._leading[id(scroll)]:
            del self._leading[id(scroll)]
            self._keys -= len(scroll.keys)
