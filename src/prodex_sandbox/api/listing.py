"""The product list: from parameters to the bytes of a reply, page by page (spec, endpoints 4 to 6, Pagination).

A scroll that nobody continues ends with the life of its cursors, whether calls follow or not; and however many are
begun at the same time, the memory that they take is limited.
"""

from __future__ import annotations

import secrets
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from msgspec import Meta

from prodex_sandbox.api.filters import CURSORS, FIRST_PAGE, condition
from prodex_sandbox.api.projection import Projection
from prodex_sandbox.behaviour import Behaviour, ScrollEnd
from prodex_sandbox.faults.call import PageSlice
from prodex_sandbox.raw_json import encode
from prodex_sandbox.records.schemas import ABSENT, ClosedObject, Product
from prodex_sandbox.records.store import Store
from prodex_sandbox.refusals import Refusal

#: What labels are in when no language, an unknown one or an unreadable header is sent: US English.
DEFAULT_LANGUAGE: Final = "en"


def choose_language(header: str | None, languages: Collection[str]) -> str:
    """Choose one of `languages`, as two-letter tags, or the default.

    The header is a tag (fr), a tag with subtags (fr-FR) or a list of them with weights. The known
    language of the highest weight is chosen, the first of equals; parts that cannot be read are ignored.

    Examples
    --------
    >>> choose_language("de-CH, fr;q=0.8", {"fr", "nl"})
    'fr'
    """
    wanted: list[tuple[float, str]] = []
    for part in (header or "").split(","):
        tag, *parameters = (piece.strip().lower() for piece in part.split(";"))
        wanted.append((_weight(parameters), tag.split("-")[0]))
    for weight, language in sorted(wanted, key=lambda pair: -pair[0]):
        if weight > 0 and (language in languages or language == DEFAULT_LANGUAGE):
            return language
    return DEFAULT_LANGUAGE


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return min(float(value), 1.0)
            except ValueError:
                return 0.0
    return 1.0


@dataclass(frozen=True)
class ListCall:
    """A call for a product list: who calls, with which parameters and language, and what faults do to its page."""

    viewer: int
    values: Mapping[str, Any]
    accept_language: str | None
    page_effect: PageEffect


DEFAULT_LIMIT: Final = 20
#: Products that pages by offset reach.
OFFSET_CAP: Final = 10_000
#: Products that one query by GET reaches, by pages or by scroll.
GET_CAP: Final = 500
GET_CAP_WITH_INCLUDE: Final = 4_000


class ProductPage(ClosedObject):
    """The products of one page, and how many match (spec, Response envelope)."""

    totalResults: Annotated[int, Meta(ge=0, description="Number of products that match.")]
    data: list[Product]
    offset: Annotated[int, Meta(ge=0, description="Index of the first product of the page.")]
    next_page: Annotated[
        str | None,
        Meta(
            description="Cursor of the next page of a scroll. Where the last page has one, an empty page follows."
        ),
    ] = ABSENT


class Listing:
    """Answers product lists from a store.

    Parameters
    ----------
    clock
        Measures the life of cursors, in seconds.
    """

    def __init__(
        self, store: Store, behaviour: Behaviour, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._behaviour = behaviour
        self._cursors = Cursors(behaviour, clock)
        self._labels = store.labels()

    def forget_expired(self) -> None:
        """Forget the scrolls that nobody has continued in time."""
        self._cursors.forget_expired()

    def get(self, call: ListCall) -> bytes:
        """Answer a GET. Each reply has a cursor, since a first scroll call looks like any other."""
        limit, offset = _window(call.values)
        if "next_page" in call.values:
            return self._reply(
                self._cursors.follow(call.values["next_page"], call.viewer, limit, call.page_effect)
            )
        # The specification allows more products where a call asks for fewer fields.
        cap = GET_CAP_WITH_INCLUDE if "filter_source_include" in call.values else GET_CAP
        if offset + limit > cap:
            raise Refusal(
                "result_cap",
                f"offset {offset} + limit {limit} is over {cap}, the cap of GET "
                f"({GET_CAP} products, {GET_CAP_WITH_INCLUDE} with filter_source_include); "
                "use POST /public/v1/products/list.",
            )
        scroll = self._scroll(call, cap)
        return self._reply(self._cursors.open(scroll, offset, limit, call.page_effect))

    def search(self, call: ListCall) -> bytes:
        """Answer a POST: a scroll when it holds next_page, a page by offset when not."""
        limit, offset = _window(call.values)
        cursor = call.values.get("next_page")
        if cursor == FIRST_PAGE:
            scroll = self._scroll(call)
            return self._reply(self._cursors.open(scroll, 0, limit, call.page_effect))
        if cursor is not None:
            return self._reply(self._cursors.follow(cursor, call.viewer, limit, call.page_effect))
        if offset + limit > OFFSET_CAP:
            raise Refusal(
                "result_cap",
                f"offset {offset} + limit {limit} is over {OFFSET_CAP}, the end of offset pages; scroll instead: "
                'send "next_page": "", then the next_page of each reply.',
            )
        return self._reply(self._page(call))

    def _page(self, call: ListCall) -> Page:
        limit, offset = _window(call.values)
        part = call.page_effect(PageSlice(offset, None))
        where, bound = self._condition(call.values)
        total = self._store.count(call.viewer, where, bound)
        total -= min(self._behaviour.total_shrinks * (offset // limit), total)
        most = max(0, min(limit, total - part.position))
        keys = self._store.keys(call.viewer, where, bound, most, part.position)[part.without :]
        scroll = Scroll(call.viewer, keys, total, self._shape(call))
        return Page(scroll, keys, offset, total, {})

    def _scroll(self, call: ListCall, cap: int = -1) -> Scroll:
        where, bound = self._condition(call.values)
        keys = self._store.keys(call.viewer, where, bound, cap)
        # Counting costs as much as listing, and is needed only where the cap may have cut the list.
        total = self._store.count(call.viewer, where, bound) if len(keys) == cap else len(keys)
        # An array of numbers takes a quarter of the memory of a list, for as long as the cursor lives.
        return Scroll(call.viewer, array("q", keys), total, self._shape(call))

    def _condition(self, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        behaviour = self._behaviour
        where, bound = condition(values)
        if "advanced_search" in bound:
            self._store.index_texts()
        # Dates have whole seconds, so a bound that is exclusive is one a second further.
        if behaviour.exclusive_from and "updated_at_from" in bound:
            bound["updated_at_from"] += 1
        if behaviour.exclusive_to and "updated_at_to" in bound:
            bound["updated_at_to"] -= 1
        if behaviour.only_consumer_units and not values.get("allow_not_consumer_units"):
            where += " AND products.consumer_unit"
        return where, bound

    def _shape(self, call: ListCall) -> Projection:
        values = call.values
        return Projection(
            values.get("filter_source_include", ()),
            values.get("filter_source_exclude", ()),
            values.get("filter_product_languages", ()),
            self._labels.get(choose_language(call.accept_language, self._labels)),
            self._behaviour.documents_key,
            integer_codes=self._behaviour.integer_codes,
            odd_blanks=self._behaviour.odd_blanks,
        )

    def _reply(self, page: Page) -> bytes:
        scroll = page.scroll
        rows = self._store.bodies(scroll.viewer, page.keys)
        # Bytes are joined, not objects encoded: nothing of a record is decoded that the call does not change.
        data = b",".join(scroll.shape.serve(body, overlay) for body, overlay in rows)
        rest = encode({"offset": page.offset, **page.next_page})
        return b'{"totalResults":%d,"data":[%b],%b' % (page.total, data, rest[1:])


def _window(values: Mapping[str, Any]) -> tuple[int, int]:
    limit, offset = values.get("limit", DEFAULT_LIMIT), values.get("offset", 0)
    if offset and values.get("next_page") is not None:
        raise Refusal(
            "invalid_value",
            f"offset is {offset}, but a scroll is continued by next_page alone; leave offset out.",
        )
    return limit, offset


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
    most_cursors, most_keys
        How many cursors are kept at the same time, and how many products in the lists that they lead to.
    """

    def __init__(
        self,
        behaviour: Behaviour,
        clock: Callable[[], float],
        *,
        most_cursors: int = _MOST_CURSORS,
        most_keys: int = _MOST_KEYS,
    ) -> None:
        self._behaviour = behaviour
        self._clock = clock
        self._most_cursors, self._most_keys = most_cursors, most_keys
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
        while len(self._places) > 1 and (
            len(self._places) > self._most_cursors or self._keys > self._most_keys
        ):
            self._forget(next(iter(self._places)))

    def _forget(self, cursor: str) -> None:
        scroll = self._places.pop(cursor).scroll
        self._leading[id(scroll)] -= 1
        if not self._leading[id(scroll)]:
            del self._leading[id(scroll)]
            self._keys -= len(scroll.keys)
