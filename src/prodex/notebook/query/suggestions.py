"""What a catalogue suggests for a query: its markets and the names of its kinds, the most frequent first."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Self

import pyarrow.compute as pc

from prodex.catalog import Catalog

#: Names of kinds that a field completes; a list of thousands is of no help.
_MOST = 300
#: Words that are offered for one that matches nothing.
SIMILAR = 3
#: Characters of a name that somebody may want to search for.
_LONGEST = 60


@dataclass(frozen=True)
class Suggestions:
    """Values to suggest for a query.

    Attributes
    ----------
    markets
        Numbers of ISO 3166-1.
    kinds
        Names of kinds, as the service labels them.

    Examples
    --------
    >>> import prodex
    >>> tea = {"kind": {"code": "TEA", "label": "Tea"}}
    >>> key = {"target_market_id": 250}
    >>> Suggestions.of(prodex.flatten([{"id": 7, **tea, "product_key": key}, {"id": 8}]))
    Suggestions(markets=(250,), kinds=('Tea',))
    >>> Suggestions(kinds=("Oat drink", "Tea", "Soya drink")).similar("drinks")
    {'drink': ['Oat drink', 'Soya drink']}
    """

    markets: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()

    @classmethod
    def of(cls, catalog: Catalog) -> Self:
        """Return those of a catalogue; it is read for that."""
        markets: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        for part in catalog.parts:
            read = part.read("products", ["target_market", "kind"])
            for counter, column in ((markets, "target_market"), (kinds, "kind")):
                found = pc.value_counts(read[column])
                counter.update(dict(zip(found.field(0).to_pylist(), found.field(1).to_pylist(), strict=True)))
        codes = (code for code, _ in markets.most_common() if code is not None)
        numbers = [int(code) for code in codes if re.fullmatch("[0-9]{1,3}", code)]
        names = [name for name, _ in kinds.most_common(_MOST) if name is not None]
        return cls(tuple(numbers), tuple(name for name in names if 0 < len(name) <= _LONGEST))

    def similar(self, word: str) -> dict[str, list[str]]:
        """Return words that begin as this one does, each with the kinds that have it: services look for whole words.

        Those of most kinds come first.
        """
        # All but two letters: enough for most plurals.
        begin = word.casefold()[: max(len(word) - 2, 3)]
        if len(begin) < 3:
            return {}
        found: dict[str, list[str]] = {}
        for kind in self.kinds:
            for one in dict.fromkeys(kind.casefold().split()):
                if one.startswith(begin) and one != word.casefold():
                    found.setdefault(one, []).append(kind)
        most = sorted(found.items(), key=lambda pair: -len(pair[1]))
        return dict(most[:SIMILAR])
