"""The market of a product, and the languages that are read there.

A product is one version of an article, made for one market (ISO 3166-1 numeric). A market is the same with and
without zeros in front (056 is 56). Where a product does not say its market, it is of the one that its catalogue was
asked for (`filter_target_market`): the service gave no other. An audit's profile can name a market for the rest, which
then counts in that audit alone.

Food information has to be in a language that consumers of the market easily understand (Regulation (EU) No 1169/2011,
Art. 15); the list follows the official languages in which member states ask for it.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Origin
from prodex.locales import market_name
from prodex.tables.columns import unless_blank

#: Short language codes by ISO 3166-1 number of the market, the one that most people there read first.
REQUIRED_LANGUAGES: Mapping[int, tuple[str, ...]] = {
    250: ("fr",),
    56: ("nl", "fr"),
    276: ("de",),
    724: ("es",),
    380: ("it",),
    528: ("nl",),
    826: ("en",),
    40: ("de",),
    756: ("de", "fr", "it"),
    442: ("fr", "de"),
    620: ("pt",),
    246: ("fi", "sv"),
    372: ("en",),
}


def markets_of(own: pa.Array, origin: Origin, assumed: int | None = None) -> pa.Array:
    """Return the market that counts for each product, as text without zeros in front; null where none is known.

    Parameters
    ----------
    own
        What the products say: `target_market`.
    origin
        What their catalogue was asked for.
    assumed
        The market of products of which neither says one.

    Examples
    --------
    >>> from prodex import ProductQuery
    >>> markets_of(pa.array(["056", "", None]), Origin("sandbox", ProductQuery(target_market=250))).to_pylist()
    ['56', '250', '250']
    """
    own = unless_blank(pc.utf8_ltrim(own, "0"))
    asked = origin.query.target_market if origin.query is not None else None
    other = assumed if asked is None else asked
    return own if other is None else pc.fill_null(own, str(other))


def languages_of(market: str | None) -> tuple[str, ...]:
    """Return the short codes of the languages that are read in a market; none where nobody has listed them.

    >>> languages_of("56"), languages_of("392"), languages_of(None)
    (('nl', 'fr'), (), ())
    """
    return REQUIRED_LANGUAGES.get(int(market), ()) if market is not None and _is_iso_number(market) else ()


def market_label(market: str | None, language: str = "en") -> str | None:
    """Return what people call a market in a language; what is no number is called what it is.

    >>> market_label("56"), market_label("XX"), market_label(None)
    ('Belgium', 'XX', None)
    """
    return market_name(market, language) if market is not None and _is_iso_number(market) else market


def _is_iso_number(market: str) -> bool:
    """Whether a market can be a number of ISO 3166-1, which has three digits; Python refuses to read thousands."""
    return market.isascii() and market.isdecimal() and len(market) <= 3
