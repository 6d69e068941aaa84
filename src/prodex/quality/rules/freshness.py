"""Rules of freshness and status."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from prodex.quality.products import Products
from prodex.quality.rulebook import Evidence, Verdict, rule


@rule(
    title="somebody updated the product within {days} days",
    fix="Check the product against the one on the shelf, and confirm or correct it.",
    severity="warning",
    dimension="timeliness",
    block="freshness",
    needs="updatedAt",
)
def updated_within(products: Products, *, days: int = 730) -> Verdict:
    """Recipes, pictures and laws change; what nobody has looked at for years is probably wrong."""
    updated = products["updated_at"]
    old = (updated < products.now - timedelta(days=days)).to_numpy()
    fails = old | updated.isna().to_numpy()
    stale = np.flatnonzero(old)
    seen = updated.iloc[stale].dt.strftime("%Y-%m-%dT%H:%M:%S")
    return Verdict(fails, evidence=Evidence(stale, "updatedAt", None, seen, f"older than {days} days"))
