"""What a supplier could type to harm whoever reads a report, in every place that a report shows."""

from __future__ import annotations

from typing import Any

import prodex
from prodex.quality.products import Products

STRINGS = (
    "<img src=x onerror=\"document.title='taken'\">",
    "</script><script>document.title='taken'</script>",
    "\"><svg onload=document.title='taken'>",
    "' onmouseover='document.title=1' x='",
    "</title></style><base href=https://evil.example/>",
    "{{ 7 * 7 }}{% raw %}${7*7}",
    "costs $5 or $6, $$\\sum$$ \\(x\\)",
    '=HYPERLINK("https://evil.example","click")',
    "مرحبا \u202egnp.exe \u2066x",
    "&amp;&lt;b&gt; &#60;b&#62;",
    "javascript:alert(1)",
    "a\tb\nc  d",
    "🧨 e\u0301 \ufeff\u200b",
)
#: With control characters, which no browser shows: the page has their pictures.
CONTROLS = ("nul \x00 bell \x07 return \r delete \x7f", "nul ␀ bell ␇ return ␍ delete ␡")
LONG = "<b>" + "ab" * 20_000


def catalog() -> prodex.Catalog:
    """A product for each string, with that string in every place that can hold text."""
    return prodex.flatten(
        _record(number, text) for number, text in enumerate([*STRINGS, CONTROLS[0], LONG], 1)
    )


def _record(number: int, text: str) -> dict[str, Any]:
    french = {"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}, "data": text}
    return {
        "id": number,
        "gtin": text if number % 2 else "03036811359936",
        "updatedAt": "2026-01-07T08:57:36",
        "owner": {"uuid": text, "name": text},
        "brand": {"code": f"{number} {text}", "label": text},
        "kind": {"code": f"{number} {text}", "label": text},
        "isConsumerUnit": True,
        "product_key": {"target_market_id": 250},
        "namePublicLong": [french],
        "productBenefits": [{"text": [french]}],
        text: [french],
        "assets": {
            "pictures": [
                {
                    "url": "https://evil.example/pixel.png",
                    "gdsnFileName": text,
                    "format": text,
                    "isPackshot": True,
                }
            ]
        },
    }


def fails(products: Products) -> prodex.packs.Verdict:
    """Fail everything, with the name as the value seen, the attribute and the reason."""
    everything = list(range(len(products)))
    name = products.name
    return prodex.packs.Verdict(
        [True] * len(products),
        evidence=prodex.packs.Evidence(everything, attribute=name, value=name, reason=name),
    )


def raises(products: Products) -> prodex.packs.Verdict:
    """Raise with a product's text in the message."""
    raise ValueError(products.name[0].as_py())


def audit() -> prodex.quality.Audit:
    """Judge it by rules that hand all of it on."""
    prodex.packs.rule(
        title=f"title {STRINGS[0]}",
        problem=f"Problem {STRINGS[0]}",
        fix=f"fix {STRINGS[1]}",
        severity="blocker",
        source=STRINGS[2],
    )(fails)
    prodex.packs.rule(title="it raises")(raises)
    profile = {"checks": {"fails": {}, "raises": {}, "valid_gtin": {}, "has_front_packshot": {}}}
    return prodex.audit(catalog(), profile)
