"""The sample catalogue: families one after the other, the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from prodex.sandbox.model import SharedProduct
from prodex.sandbox.sample.families import draw_family
from prodex.sandbox.sample.product import draft
from prodex.sandbox.sample.views import other_views


def shared_products(count: int = 12_000, seed: int = 1) -> Iterator[SharedProduct]:
    """Generate the sample catalogue.

    Parameters
    ----------
    count
        Number of products. A smaller catalogue is the beginning of a larger one, but for its last four products.
    seed
        Where chance starts; the same number gives the same catalogue on any machine.
    """
    number = 0
    index = 0
    while number < count:
        rng = Random(f"{seed}/{index}")
        index += 1
        family = draw_family(rng, number, count - number)
        for unit in family.units:
            made = draft(rng, family, unit)
            views = (made.view, *other_views(rng, family, made.dates, made.view))
            yield SharedProduct(made.record, family.supplier.id, views)
        number += len(family.units)
