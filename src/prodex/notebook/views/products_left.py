"""Which products the conditions leave, and what is counted of them: once for all that a section shows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import ProdexError
from prodex.exploration.facet_values import Counts, FacetValues
from prodex.exploration.facets import FilterResult
from prodex.exploration.ranges import Histograms
from prodex.notebook.session.session import Session
from prodex.selection import Selection

T = TypeVar("T")


class ShownProducts:
    """Stands for a catalogue and its audit: what a part keeps is of these products, and does not keep them itself.

    >>> import prodex
    >>> session = Session(prodex.flatten([{"id": 7}]))
    >>> other = session.looking_at(prodex.flatten([{"id": 7}]))
    >>> session.derived(ShownProducts) is session.replaced(product_id="7").derived(ShownProducts)
    True
    >>> session.derived(ShownProducts) is other.derived(ShownProducts)
    False
    """

    def __init__(self, _: Session) -> None:
        pass


class _Left:
    """The last result, what it is of, and what was counted of it."""

    def __init__(self, _: Session) -> None:
        self.conditions: Selection | None = None
        self.found: object = None
        self.result: FilterResult | None = None
        self.error: str = ""
        self.counted: dict[Any, Any] = {}

    def narrow(self, session: Session) -> FilterResult:
        filter_, conditions = session.filter, session.conditions
        if not filter_.has_found(conditions.words):
            # Until its words are found, the words before count, so that all other presses are answered at once.
            words = "" if self.conditions is None else self.conditions.words
            conditions = conditions.searching(words if filter_.has_found(words) else "")
        # A search goes on in the texts after it has searched the labels: then the same words have another result.
        found = filter_.found if conditions.words else None
        if self.result is None or self.found is not found or self.conditions != conditions:
            self.conditions, self.found, self.counted, self.error = conditions, found, {}, ""
            try:
                self.result = filter_.narrow(conditions)
            except ProdexError as error:
                # Of conditions that nobody can answer no product is shown. All else stays, so that they can be removed.
                size = len(filter_.products)
                self.result = FilterResult(np.zeros(size, bool), {}, np.ones(size, np.int16), {})
                self.error = str(error)
        return self.result


def left_of(session: Session) -> FilterResult:
    """Return which products meet the conditions, with the words that were searched for last.

    >>> import prodex
    >>> len(left_of(Session(prodex.flatten([{"id": 7}, {"id": 8}]))))
    2
    """
    return session.derived(_Left).narrow(session)


def shown_digest(session: Session) -> str:
    """Return what names the products that are shown. What a button is to be done with carries it, beside their number.

    As many other products may be shown by the time that a press arrives.

    >>> import prodex
    >>> session = Session(prodex.flatten([{"id": 7}, {"id": 8}]))
    >>> shown_digest(session) == ids_digest(["7", "8"]), shown_digest(session) == ids_digest(["7", "9"])
    (True, False)
    """

    def digest(left: FilterResult) -> str:
        return ids_digest(session.filter.products.ids.filter(pa.array(left.mask)))

    return counted_once(session, shown_digest, digest)


def ids_digest(ids: pa.Array | pa.ChunkedArray | Sequence[str]) -> str:
    """Return what names products, by their ids in their order.

    >>> both = ids_digest(["7", "8"])
    >>> both == ids_digest(pa.chunked_array([["7"], ["8"]])), both == ids_digest(["78"]), both == ids_digest(["8", "7"])
    (True, False, False)
    """
    given = ids if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(ids, pa.string())
    batch = pa.table({"ids": given.cast(pa.large_string())}).combine_chunks().to_batches()
    digest = hashlib.blake2b(digest_size=12)
    for one in batch:
        digest.update(one.serialize())
    return digest.hexdigest()


def place_of(session: Session, product_id: str) -> int:
    """Return the place of a product in the catalogue; below zero where it has none."""
    found: int = pc.index(session.filter.products.ids, pa.scalar(product_id, pa.string())).as_py()
    return found


def is_left(session: Session, product_id: str) -> bool:
    """Return whether a product meets the conditions.

    >>> import prodex
    >>> session = Session(prodex.flatten([{"id": 7}]))
    >>> is_left(session, "7"), is_left(session, "8")
    (True, False)
    """
    place = place_of(session, product_id)
    return place >= 0 and bool(left_of(session).mask[place])


def left_error(session: Session) -> str:
    """Return why the conditions cannot be answered, in words; empty where they can.

    >>> import prodex
    >>> session = Session(prodex.flatten([{"id": 7}]))
    >>> left_error(session), left_error(session.filtered(session.conditions.toggled("colour", "red")))[:27]
    ('', "There is no facet 'colour';")
    """
    left_of(session)
    return session.derived(_Left).error


def histograms_of(session: Session) -> Histograms:
    """Return the histograms of a catalogue's dates and numbers, for `Session.derived`."""
    return Histograms(session.filter.products)


def counted_once(session: Session, key: Any, count: Callable[[FilterResult], T]) -> T:
    """Return what a function counts of the products that are left: once, until other products are."""
    left, kept = left_of(session), session.derived(_Left)
    if key not in kept.counted:
        kept.counted[key] = count(left)
    return cast("T", kept.counted[key])


def counted_values(session: Session, facet: str) -> tuple[FacetValues, Counts]:
    """Return the values of a facet, and how many products each of them has, or would add.

    Raises
    ------
    ProdexError
        When it cannot be read.
    """

    def count(left: FilterResult) -> tuple[FacetValues, Counts]:
        facets = session.filter.facets
        # Whoever has asked for other products since may have asked in another language.
        facets.look_at(session.derived(_Left).conditions or session.conditions)
        values = facets[facet]
        return values, values.count(left.without(facet))

    return counted_once(session, ("facet", facet), count)
