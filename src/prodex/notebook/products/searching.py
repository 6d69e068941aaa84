"""How an explorer searches: at first where it is quick, then in all texts, which are read once and take a while."""

from __future__ import annotations

from typing import TypeAlias

from prodex.notebook.products.filtering import ProductFilter
from prodex.progress import PhaseObserver, Reporter

#: A filter that has searched, and what was typed.
Searched: TypeAlias = tuple[ProductFilter, str]

#: The texts of so many products are read in a second or two; of more, an answer from labels comes first.
_AT_ONCE = 5_000


def search_quickly(filter_: ProductFilter, words: str) -> Searched:
    """Search everywhere, or in labels alone where the texts have not been read and there are many of them."""
    if filter_.search.index.is_ready or len(filter_.products) <= _AT_ONCE:
        filter_.find(words)
    else:
        filter_.find_in_labels(words)
    return filter_, words


def search_everywhere(filter_: ProductFilter, words: str, progress: PhaseObserver) -> Searched:
    """Search everywhere, and say how far the texts are read.

    Examples
    --------
    >>> import prodex
    >>> filter_ = ProductFilter(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]))
    >>> heard = []
    >>> _ = search_everywhere(filter_, "3036811359935", PhaseObserver(lambda one: heard.append(str(one).split(",")[0])))
    >>> heard[-1], filter_.found.mask.tolist()
    ('Reading texts: 1 of 1 parts of the catalogue', [True])
    """
    with Reporter(progress.tell).phase("Reading texts", "parts of the catalogue") as show:
        filter_.find(words, show)
    return filter_, words
