"""The product list: from parameters to the bytes of a reply (spec, endpoints 4 to 6, Pagination, Language rule)."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from prodex_sandbox.api.filters import condition
from prodex_sandbox.api.paging import Cursors, Page, PageEffect, Scroll
from prodex_sandbox.api.projection import Projection
from prodex_sandbox.api.value_types import FIRST_PAGE
from prodex_sandbox.behaviour import Behaviour
from prodex_sandbox.faults.call import PageSlice
from prodex_sandbox.raw_json import encode
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
