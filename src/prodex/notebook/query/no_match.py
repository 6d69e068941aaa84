"""A query that matches nothing: how many products there are without each of its filters, and which words are meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import ipywidgets as w

from prodex.notebook.query.counting import count_products
from prodex.notebook.query.options import SIMILAR, Suggestions
from prodex.notebook.shared.background import LatestTask
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.panel import Panel, button, html, row, show_if, text_html
from prodex.query import FILTERS, GTINS_PER_CALL, ProductQuery
from prodex.service import Client

#: Seconds before the filters are tried: whoever types a word has no match until it is whole.
_PAUSE = 0.6

#: Filters that are tried: each is a call to the service.
_MOST = 6
#: Characters of a word that are quoted, and kinds that are named for one.
_LONGEST, _KINDS = 40, 5
#: What says which data is returned, and not of which products.
_NOT_FILTERS = frozenset({"product_languages", "source_include", "source_exclude", "search"})


class NoMatch(VBox):
    """What is said where nothing matches.

    Parameters
    ----------
    panel
        The panel around it.
    service
        Where products are counted.
    asked
        Returns the query of now: another one is not worth counting for.
    take
        Called with a word of the query and one to search for in its place.

    Attributes
    ----------
    known
        The kinds whose words are offered.
    sentence
        What is said, as HTML.
    words
        A button for each word that is offered.
    """

    def __init__(
        self,
        panel: Panel,
        service: Client,
        asked: Callable[[], ProductQuery],
        take: Callable[[str, str], object],
    ) -> None:
        self._service, self._asked, self._take = service, asked, take
        self._offered: list[tuple[str, str]] = []
        self.known: Suggestions = Suggestions()
        self.sentence: Any = html("", "muted")
        self.words: tuple[w.Button, ...] = tuple(button("", "link") for _ in range(SIMILAR))
        self._line: Any = row(html("Similar words of kinds:", "muted"), *self.words, look="line")
        super().__init__([self._line, self.sentence])
        for place, one in enumerate(self.words):
            panel.on(one, partial(self._press, place))
        self._offer([])
        # Without the numbers it is still known that nothing matches.
        self._counting: LatestTask[list[str]] = LatestTask(
            self._without_each, self._show, lambda _: None, delay=_PAUSE
        )

    def explain(self, query: ProductQuery) -> None:
        """Offer similar words, and say what there is without each filter of a query that matches nothing."""
        # At once: what the catalogue knows needs no answer of the service.
        words = [word.strip() for word, _ in query.search or ()]
        self._offer([(word, one, kinds) for word in words for one, kinds in self.known.similar(word).items()])
        self._counting(query)

    def clear(self) -> None:
        """Say nothing."""
        self._counting.forget()
        self.sentence.value = ""
        self._offer([])

    def wait(self, seconds: float) -> None:
        """Wait until nothing is counted; for scripts and tests."""
        self._counting.wait(seconds)

    def _offer(self, found: list[tuple[str, str, list[str]]]) -> None:
        found = found[:SIMILAR]
        self._offered = [(word, one) for word, one, _ in found]
        show_if(self._line, bool(found))
        for place, one in enumerate(self.words):
            show_if(one, place < len(found))
            if place < len(found):
                _, word, kinds = found[place]
                more = f" and {len(kinds) - _KINDS} more" if kinds[_KINDS:] else ""
                # Each is what suppliers typed, and keeps its direction to itself.
                named = ", ".join(f"\u2068{kind}\u2069" for kind in kinds[:_KINDS])
                one.description = f"\u2068{word}\u2069 ({named}{more})"

    def _press(self, place: int, _: object) -> None:
        self._take(*self._offered[place])

    def _without_each(self, query: ProductQuery) -> list[str]:
        counts = []
        for left_out, wider in relaxed(query):
            count = count_products(self._service, wider, lambda: self._asked() == query)
            if count is None:
                return []
            counts.append(f"{count:,} without {left_out}")
        return [f"With one filter less: {', '.join(counts)}."] if counts else []

    def _show(self, sentences: list[str]) -> None:
        if sentences:
            self.sentence.value = f"<div role='status'>{text_html(' '.join(sentences))}</div>"


def relaxed(query: ProductQuery) -> list[tuple[str, ProductQuery]]:
    """Return a query without each of its filters, and what was left out, in words.

    Examples
    --------
    >>> query = ProductQuery(target_market="France", search=[("drinks", ["kind.label"])])
    >>> for left_out, wider in relaxed(query):
    ...     print(left_out, "->", wider)
    “drinks” -> ProductQuery(target_market=250)
    market -> ProductQuery(search=(('drinks', ('kind.label',)),))
    """
    # A longer list of GTINs is counted in several calls, which would be made again for each filter.
    if len(query.gtins_in or ()) > GTINS_PER_CALL:
        return []
    return list(_wider(query))[:_MOST]


def _wider(query: ProductQuery) -> Iterator[tuple[str, ProductQuery]]:
    words = query.search or ()
    for place, (word, _) in enumerate(words):
        others = (*words[:place], *words[place + 1 :])
        shown = word if len(word) <= _LONGEST else f"{word[:_LONGEST]}…"
        yield f"“{shown}”", replace(query, search=others or None)
    dates: dict[str, Any] = {"updated_at_from": None, "updated_at_to": None}
    if any(getattr(query, name) is not None for name in dates):
        yield "dates", replace(query, **dates)
    for name, one in FILTERS.items():
        if name not in {*_NOT_FILTERS, *dates} and getattr(query, name):
            none: dict[str, Any] = {name: None}
            yield one.option.replace("-", " "), replace(query, **none)
    if query.extra:
        yield "other filters", replace(query, extra={})
