"""The name of a product: which of its texts people call it by.

A product can have a long public name, a short one and a legal one, each in several languages (localized text items of
the specification), and all of them again in an update that waits under `lastRequest`. One of them is its name, wherever
a name is shown:

1. Its own names count before those of an update that waits. A record that nobody has accepted yet has no others, and a
   list in which it had no name would be of no use; `Names.is_pending` distinguishes them.
2. Then the language decides: the languages of its market in their order, then English, then all others. People of a
   market look for the words on its packs; the reports themselves are in English.
3. Then the long public name is preferred to the short one, and that to the legal one: a legal name is often the same
   for many products ("Biscuits").
4. Then the text that was sent first.

A text that shows nothing is no name, and neither is a number or a text that does not say its language: these are
no localized texts. The market is the product's own, else the one that was asked for. The market that a profile takes
for granted does not count, so that a product has the same name in an audit as elsewhere.

A code never changes, and its label follows the language that was asked for (code value objects of the specification).
So everything is distinguished by its code and shown by its label: a blank label is none, and a code without one is
shown as itself. Codes that share a label are distinguished by the codes behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Origin, Part
from prodex.facts.market import languages_of, markets_of
from prodex.facts.pending import PENDING
from prodex.locales import short_of
from prodex.tables.columns import (
    Mask,
    Rows,
    as_one_chunk,
    by_combination,
    encoded,
    filled_values,
    places,
    unless_blank,
)
from prodex.tables.visible import is_visible

#: Attributes that hold names, the best first.
NAMES = ("namePublicLong", "namePublicShort", "nameLegal")
#: The wire paths of names, from the first choice to the last.
NAME_PATHS = (*NAMES, *(f"{PENDING}{name}" for name in NAMES))

#: What names are read from: columns of `texts`.
TEXT_COLUMNS = ("attribute", "language", "language_code", "text")
#: A language after those of the market.
_COMMON = "en"


@dataclass(frozen=True, eq=False)
class Names:
    """The names of some products; those of one product are together, the best first.

    Attributes
    ----------
    size
        Number of products, with names or without.
    place
        Place of the product of each name.
    language
        Short code of its language.
    text
        The name, verbatim.
    is_pending
        Whether it is of an update that waits.
    """

    size: int
    place: Rows
    language: pa.Array
    text: pa.Array
    is_pending: Mask

    @classmethod
    def of(cls, texts: pa.Table, place: Rows, markets: pa.Array) -> Self:
        """Find the names among texts.

        Parameters
        ----------
        texts
            Any texts, with `TEXT_COLUMNS`.
        place
            Place of the product of each; negative for a text that is of none of them.
        markets
            The market of each product, as `markets_of` gives it.

        Examples
        --------
        >>> texts = pa.table(
        ...     {
        ...         "attribute": ["nameLegal", "namePublicLong", "namePublicLong"],
        ...         "language": ["fr", "en", "fr"],
        ...         "language_code": ["fra-FR", "eng-GB", "fra-FR"],
        ...         "text": ["Riz", "Long rice", "Riz long"],
        ...     }
        ... )
        >>> [Names.of(texts, np.zeros(3, int), pa.array([market])).best()[0].as_py() for market in ("250", "826")]
        ['Riz long', 'Long rice']
        """
        rank = places(as_one_chunk(texts["attribute"]), pa.array(NAME_PATHS))
        # Of all texts of a product a few are names: what costs time is done for these alone.
        rows = np.flatnonzero((rank >= 0) & (place >= 0))
        rows = rows[filled_values(as_one_chunk(texts["text"]).take(pa.array(rows)))]
        language = text_languages(
            as_one_chunk(texts["language"]).take(rows), as_one_chunk(texts["language_code"]).take(rows)
        )
        is_pending, kind = np.divmod(rank[rows], len(NAMES))
        preference = _language_ranks(markets, language, place[rows])
        order = np.lexsort(
            (kind, preference, is_pending, place[rows])
        )  # stable: equal ones as they were sent
        taken = pa.array(rows[order])
        return cls(
            len(markets),
            place[rows][order],
            language.take(pa.array(order)),
            as_one_chunk(texts["text"]).take(taken),
            is_pending[order] > 0,
        )

    @classmethod
    def read(cls, part: Part, origin: Origin, chosen: pa.Array | None = None) -> Self:
        """Read the names of a part, or of those of its products that are chosen by key."""
        if chosen is not None:
            part = part.take(
                pc.is_in(as_one_chunk(part.read("products", ["product_id"])["product_id"]), chosen)
            )
        products = part.read("products", ["product_id", "target_market"])
        texts = part.encoded("texts", ["product_id", *TEXT_COLUMNS])
        place = places(as_one_chunk(texts["product_id"]), as_one_chunk(products["product_id"]))
        return cls.of(texts, place, markets_of(as_one_chunk(products["target_market"]), origin))

    def rows(self, language: str | None = None) -> Rows:
        """Return for each product which of these names is its best, in one language or in any; -1 where none is."""
        rows = np.arange(len(self.place))
        if language is not None:
            spoken = pc.equal(self.language, short_of(language))
            rows = np.flatnonzero(pc.fill_null(spoken, False).to_numpy(zero_copy_only=False))
        products, first = np.unique(self.place[rows], return_index=True)
        found = np.full(self.size, -1, np.int64)
        found[products] = rows[first]
        return found

    def best(self, language: str | None = None) -> pa.Array:
        """Return the name of each product, in one language or in any; null where it has none."""
        rows = self.rows(language)
        return self.text.take(pa.array(rows, mask=rows < 0))


def names_of(catalog: Catalog, product_ids: pa.Array | None = None) -> dict[str, str]:
    """Return the name of each product that has one, or of some of them, by product_id.

    Examples
    --------
    >>> import prodex
    >>> rice = [{"expressedIn": {"code": "eng-GB"}, "data": "Rice"}, {"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    >>> record = {"id": 7, "product_key": {"target_market_id": 250}, "namePublicLong": rice}
    >>> names_of(prodex.flatten([record, {"id": 8}]))
    {'7': 'Riz'}
    """
    found: dict[str, str] = {}
    wanted = None if product_ids is None else pc.field("product_id").isin(product_ids)
    for part in catalog.parts:
        keys = part.read("products", ["product_id"], wanted)["product_id"].to_pylist()
        names = Names.read(part, catalog.origin, product_ids).best().to_pylist() if keys else []
        found |= {key: name for key, name in zip(keys, names, strict=True) if name is not None}
    return found


def text_languages(short: pa.Array, code: pa.Array) -> pa.Array:
    """Return the short code of the language of each text, from both of its codes as sent.

    >>> text_languages(pa.array(["fr-FR", None]), pa.array(["fra-FR", "nld-BE"])).to_pylist()
    ['fr', 'nl']
    """
    return by_combination(_short_languages, short, code).dictionary_decode()


def _short_languages(short: pa.Array, code: pa.Array) -> pa.Array:
    sent = pc.coalesce(short, code).to_pylist()
    return pa.array([short_of(one) if one else None for one in sent], pa.string())


def _language_ranks(markets: pa.Array, language: pa.Array, place: Rows) -> Rows:
    """Return for each name the rank of its language among those that its product's market prefers."""
    known_markets, market = encoded(markets)
    known_languages, spoken = encoded(language)
    # Few markets and languages occur, so that a table of all pairs is small; its last row and column are for none.
    ranks = np.full((len(known_markets) + 1, len(known_languages) + 1), 99, np.int64)
    for row, one in enumerate([*known_markets.to_pylist(), None]):
        best = [*languages_of(one), _COMMON]
        for column, other in enumerate(known_languages.to_pylist()):
            if other in best:
                ranks[row, column] = best.index(other)
    return ranks[market[place], spoken]


#: Columns of `products` that hold labels, and the columns with their codes.
CODE_OF = {"brand": "brand_code", "kind": "kind_code", "packaging": "packaging_code", "gpc": "gpc_code"}


def shown_labels(labels: pa.Array, codes: pa.Array) -> pa.Array:
    """Return what is shown for each code; a blank label without a code stays, since blank is not missing.

    >>> shown_labels(pa.array(["Acme", " ", None, None, ""]), pa.array(["A", "B", "C", None, None])).to_pylist()
    ['Acme', 'B', 'C', None, '']
    """
    return pc.coalesce(unless_blank(labels), unless_blank(codes), labels, codes)


def shown_one(label: str | None, code: str | None) -> str | None:
    """Return the same for one code.

    >>> shown_one("Acme", "A"), shown_one(" ", "B"), shown_one(None, None), shown_one("", None)
    ('Acme', 'B', None, '')
    """
    filled = (one for one in (label, code) if one is not None and is_visible(one))
    return next(filled, code if label is None else label)


def distinct_labels(
    codes: Sequence[str | None], labels: Sequence[str | None], without: str = "without"
) -> list[str]:
    """Return how codes are listed: by label, and where several would read the same with the code behind it.

    Parameters
    ----------
    codes
        Codes, each once; None means that there is none.
    labels
        The label of each.
    without
        The text for None.

    Examples
    --------
    >>> distinct_labels(["4", "5", "6", None], ["Mill", "Mill", None, None], "without owner")
    ['Mill (4)', 'Mill (5)', '6', 'without owner']
    """
    plain = [
        without if code is None else _readable(shown_one(label, code) or "")
        for code, label in zip(codes, labels, strict=True)
    ]
    listed = plain
    for _ in range(2):  # once more for a label that reads like another with its code
        often = Counter(listed)
        listed = [
            f"{one} ({code})" if often[now] > 1 and code not in {None, one} else now
            for one, now, code in zip(plain, listed, codes, strict=True)
        ]
    return listed


def _readable(text: str) -> str:
    """Return a text as lists show it: one of nothing but spaces in quotes."""
    return text if text.strip() else f'"{text}"'
