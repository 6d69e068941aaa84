"""Rules of texts and languages."""

from __future__ import annotations

import numpy as np

from prodex.quality.products import Products
from prodex.quality.rulebook import Evidence, Verdict, rule


@rule(
    title="{attribute} is filled in {language}",
    fix="Write {attribute} in {language}.",
    severity="error",
    dimension="completeness",
    block="texts",
    needs="{attribute}.data",
)
def required_text(products: Products, *, attribute: str, language: str) -> Verdict:
    """Customers read their own language, and markets require it."""
    fails = ~products.filled(attribute, language)
    waiting = np.flatnonzero(fails & products.filled(f"lastRequest.{attribute}", language))
    reason = "waits under lastRequest: it is there as soon as the update is accepted"
    return Verdict(fails, evidence=Evidence(waiting, attribute, language, None, reason))
