"""Languages in which a market wants to read what stands on a product.

Food information has to be in a language that consumers of the market easily understand (Regulation (EU) No 1169/2011,
Art. 15); the list follows the official languages in which member states ask for it.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Short language codes by ISO 3166-1 number of the market.
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
