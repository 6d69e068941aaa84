"""The search for words above the products: labels first where there are many texts to read, then everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from prodex.exploration.filtering import ProductFilter
from prodex.exploration.search import HELP
from prodex.notebook.session.actions import Block, Want, action
from prodex.notebook.session.session import Session, error_text
from prodex.notebook.views.blocks import box, button, paragraph, row, work
from prodex.notebook.views.facets import FacetsState
from prodex.notebook.views.forms import FormField, form
from prodex.notebook.views.products_left import ShownProducts
from prodex.progress import PATIENCE, Reporter

#: The texts of so many products are read in a second or two; of more, the labels are searched first.
_AT_ONCE = 5_000
#: The key of the field, to which the focus goes when the last condition was removed.
SEARCH_FIELD = "search/words"


@dataclass(frozen=True)
class SearchState:
    """How the search is.

    Attributes
    ----------
    has_help
        Whether it is shown how to search.
    failed
        Words that could not be searched for.
    left
        Words that were searched for in labels alone, since somebody did not want to wait for more.
    failures
        How often a search has failed: what is typed again is tried again.
    of
        In which products they were searched for.
    """

    has_help: bool = False
    failed: str = ""
    left: str = ""
    failures: int = 0
    of: ShownProducts | None = None


def _state(session: Session) -> SearchState:
    """Return how the search in these products is."""
    state, now = session.part(SearchState), session.derived(ShownProducts)
    return state if state.of is now else replace(state, failed="", left="", of=now)


def search_row(session: Session, *beside: Block | None) -> Block:
    """Return the search field, and what stands beside it: the button of the filters, help, and how far it is."""
    state, conditions = _state(session), session.conditions
    is_drawn = session.part(FacetsState).is_drawn
    field = FormField(
        "words",
        "Search",
        "search",
        conditions.words,
        placeholder="words in texts, brand or owner, or a GTIN",
        do="search.set",
    )
    hint = _hint(session)
    return box(
        row(
            button(
                "Filters",
                "facets.drawer",
                key="drawer",
                look="drawer",
                pressed=is_drawn,
                is_open=not is_drawn,
            ),
            form(session, "search", [field]),
            button(
                "?",
                "search.help",
                key="help",
                title="How to search",
                pressed=state.has_help,
                is_open=not state.has_help,
            ),
            paragraph(hint, key="hint", tone="status"),
            *beside,
            key="row",
            look="search",
        ),
        paragraph(HELP, key="help-text", tone="muted") if state.has_help else None,
        work(session, "search.texts"),
        key="search",
    )


def search_wants(session: Session) -> Iterator[Want]:
    """Yield the search for words, and when it was made in labels alone, the one in all texts."""
    state, filter_, words = _state(session), session.filter, session.conditions.words
    found = filter_.found
    # What was found last is part of the key: somebody else may have searched for something else meanwhile.
    key = (filter_, words, found, state.failures)
    options: dict[str, Any] = {"failed": partial(_failing, words)}
    if not filter_.has_found(words):
        if state.failed != words:
            yield Want("search", key, lambda _: _search_quickly(filter_, words), options=options)
    elif words and found is not None and not found.is_complete and state.left != words:
        options |= {"title": "Reading texts", "after": PATIENCE, "is_dropped": True}
        options |= {"cancelled": partial(_leaving, words)}
        yield Want("search.texts", key, partial(_search_everywhere, filter_, words), options=options)


@action("search.set")
def search_for(session: Session, value: str) -> Session:
    """Search for words."""
    state = replace(_state(session), failed="", left="")
    return session.with_part(state).filtered(session.conditions.searching(value))


@action("search.help", is_quiet=True)
def show_help(session: Session, is_open: bool) -> Session:
    """Show what can be typed, or hide it."""
    return session.with_changed(SearchState, has_help=is_open)


def _hint(session: Session) -> str:
    state, filter_, words = _state(session), session.filter, session.conditions.words
    found = filter_.found
    if not filter_.has_found(words):
        return "" if state.failed == words else "Searching …"
    if not words or found is None or found.is_complete:
        return ""
    if state.left == words:
        return f"Searched in {found.searched} only."
    return f"Searched in {found.searched} only: the texts are still read …"


def _search_quickly(filter_: ProductFilter, words: str) -> None:
    """Search everywhere, or in labels alone where the texts have not been read and there are many of them."""
    if filter_.search.index.is_ready or len(filter_.products) <= _AT_ONCE:
        filter_.find(words)
    else:
        filter_.find_in_labels(words)


def _search_everywhere(filter_: ProductFilter, words: str, reporter: Reporter) -> None:
    """Search everywhere, and say how far the texts are read."""
    with reporter.phase("Reading texts", "parts of the catalogue") as show:
        filter_.find(words, show)


def _leaving(words: str, session: Session) -> Session:
    """Show what was found in labels, and no longer search in texts."""
    return session.with_part(replace(_state(session), left=words))


def _failing(words: str, session: Session, error: BaseException) -> Session:
    state = _state(session)
    state = replace(state, failed=words, left=words, failures=state.failures + 1)
    return session.with_part(state).noting(error_text(error), is_problem=True, section="products")
