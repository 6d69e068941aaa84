"""Which products the conditions leave: counted once for all that a section shows of them."""

from __future__ import annotations

from prodex.exploration.facets import FilterResult
from prodex.notebook.session.value import Session


class _Left:
    """The last result, and what it is of."""

    def __init__(self, _: Session) -> None:
        self.of: object = None
        self.result: FilterResult | None = None


def left_of(session: Session) -> FilterResult:
    """Return which products meet the conditions, once their words were searched for; until then, those of before.

    >>> import prodex
    >>> len(left_of(Session(prodex.flatten([{"id": 7}, {"id": 8}]))))
    2
    """
    kept, filter_ = session.derived(_Left), session.filter
    conditions = session.conditions
    if not filter_.has_found(conditions.words):
        if kept.result is not None:
            return kept.result
        conditions = conditions.searching("")
    # A search goes on in the texts after it has searched the labels: then the same words have another result.
    of = (conditions, id(filter_.found))
    if kept.result is None or kept.of != of:
        kept.of, kept.result = of, filter_.narrow(conditions)
    return kept.result
