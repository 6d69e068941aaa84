"""Whether something is told at all, and whether it waits to be accepted."""

from __future__ import annotations

import numpy as np

from prodex.quality.columns import Answer, Mask
from prodex.quality.products import Products
from prodex.quality.rulebook import Evidence, Verdict

#: The reason of a failure that needs no work, only somebody's acceptance.
WAITS = "waits under lastRequest: it is there as soon as the update is accepted"


def told(products: Products, attribute: str, applies: Answer | Mask) -> Verdict:
    """Say of which products an attribute has no data, and of which of them it waits to be accepted."""
    fails = ~products.filled(attribute)
    waiting = np.flatnonzero(fails & products.filled(f"lastRequest.{attribute}"))
    return Verdict(fails, applies, Evidence(waiting, attribute, None, None, WAITS))
