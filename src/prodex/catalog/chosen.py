"""Which products of a larger catalogue these are: a figure of some products is never taken for one of all."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from prodex.text import counted

#: Characters of the words: a list that was pasted has very many.
_LONGEST = 500
#: Values of a list that are named one by one.
_FEW = 3


@dataclass(frozen=True)
class Chosen:
    """That products were chosen from more of them.

    Attributes
    ----------
    of
        How many there were.
    words
        By what they were chosen; empty where that is not known.

    Examples
    --------
    >>> Chosen(5_000, "kind: Tofu").sentence(12)
    '12 of 5,000 products, chosen by: kind: Tofu.'
    >>> Chosen(5_000).sentence(12)
    '12 of 5,000 products.'
    """

    of: int
    words: str = ""

    @classmethod
    def again(cls, before: Chosen | None, of: int, words: Iterable[str]) -> Chosen:
        """Return that some were chosen from those that were chosen before, or from all."""
        every = [before.words] if before is not None else []
        return cls(of if before is None else before.of, "; ".join(filter(None, [*every, *words])))

    def sentence(self, products: int) -> str:
        """Say how many there are, of how many, and by what they were chosen."""
        words = self.words if len(self.words) <= _LONGEST else f"{self.words[:_LONGEST]} …"
        by = f", chosen by: {words}" if words else ""
        return f"{products:,} of {counted(self.of, 'product')}{by}."


def scope_of(chosen: Chosen | None, products: int) -> str | None:
    """Return of which products something is, in a sentence; None where these are all.

    >>> scope_of(Chosen(9), 2), scope_of(Chosen(9), 9), scope_of(None, 9)
    ('2 of 9 products.', None, None)
    """
    return None if chosen is None or chosen.of <= products else chosen.sentence(products)


def where_in_words(condition: object, equal: Mapping[str, Any]) -> list[str]:
    """Return the conditions of `Catalog.where` in words.

    >>> where_in_words(None, {"brand_code": "ACME"}), where_in_words(len, {})
    (["brand_code = 'ACME'"], ['a condition in Python'])
    >>> where_in_words(None, {"product_id": ["1", "2", "3", "4", "5"]})
    ['5 values of product_id']
    """
    words = [_in_words(name, value) for name, value in equal.items()]
    return words if condition is None else [*words, "a condition in Python"]


def _in_words(name: str, value: Any) -> str:
    # A long list of ids tells nobody anything, in whichever container it came.
    try:
        is_long = not isinstance(value, str) and len(value) > _FEW
    except TypeError:  # an array without dimensions, as a single value is, has no length
        is_long = False
    if is_long:
        return f"{counted(len(value), 'value')} of {name}"
    return f"{name} = {reprlib.repr(value)}"
