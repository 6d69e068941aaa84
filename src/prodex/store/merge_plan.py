"""What a merge by key does with each part, decided from keys alone: link it, write it again, or add it.

Pure: only keys are read, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from prodex.catalog import Catalog
from prodex.store.newest import Pages, Place, by_page
from prodex.store.plan import PRODUCTS_PER_PART


class PartMerge(NamedTuple):
    """What one part of the new snapshot is made of.

    Attributes
    ----------
    number
        Its number.
    old
        Number of the old part that it continues, or None for a part of new products only.
    leaving
        The products of the old part whose rows are removed: a newer version was received, or they have disappeared.
    pages
        The new products of the part: for each page of the journal the indexes.
    """

    number: int
    old: int | None
    leaving: frozenset[str]
    pages: Pages

    @property
    def linked(self) -> bool:
        """Whether the old part is used unchanged."""
        return self.old is not None and not self.leaving and not self.pages


class MergePlan(NamedTuple):
    """What a merge will do.

    Attributes
    ----------
    parts
        The parts of the new snapshot.
    added, changed, gone
        How many products are new, replaced by a received one, and removed.
    """

    parts: tuple[PartMerge, ...]
    added: int
    changed: int
    gone: int


def plan_merge(
    held: Iterable[Collection[str]],
    received: Mapping[str, Place],
    gone: Collection[str] = (),
    *,
    products_per_part: int = PRODUCTS_PER_PART,
) -> MergePlan:
    """Decide which parts are used unchanged, which are written again, and where new products go.

    A changed product stays in its part. New products fill parts that are written anyway, then the smallest ones, then
    new parts. A part that loses all its products is dropped, except the first one: it holds the labels of codes, and a
    catalogue has at least one part.

    Parameters
    ----------
    held
        The product ids of each old part.
    received
        The received products, each once: its id, and its place in the journal.
    gone
        The ids of products that are no longer there. A received product is there, even if it is named here.
    products_per_part
        How many products a part is filled up to.

    Examples
    --------
    >>> decided = plan_merge([["1", "2"], ["3"]], {"2": (0, 0), "4": (0, 1)}, products_per_part=2)
    >>> [(part.old, sorted(part.leaving), part.pages) for part in decided.parts]
    [(0, ['2'], ((0, (0,)),)), (1, [], ((0, (1,)),))]
    """
    gone = frozenset(gone)
    sizes: list[int] = []
    leaving: list[frozenset[str]] = []
    coming: list[list[Place]] = []
    replaced: set[str] = set()
    for products in held:
        left = frozenset(product for product in products if product in received or product in gone)
        back = [product for product in left if product in received and product not in replaced]
        replaced.update(back)
        leaving.append(left)
        coming.append([received[product] for product in back])
        sizes.append(len(products) - len(left) + len(back))
    # In the order of their receipt, so that the products of a page stay together and a page is unpacked once.
    added = sorted(place for product, place in received.items() if product not in replaced)
    # Parts that are written anyway are filled first, since that costs nothing more.
    rooms = sorted(range(len(sizes)), key=lambda old: (not leaving[old], sizes[old]))
    left_to_place = added
    for old in rooms:
        room = max(products_per_part - sizes[old], 0)
        coming[old] += left_to_place[:room]
        left_to_place = left_to_place[room:]
    merged = [
        PartMerge(0, old, leaving[old], by_page(coming[old]))
        for old in range(len(sizes))
        if old == 0 or sizes[old] or coming[old]
    ]
    merged += [
        PartMerge(0, None, frozenset(), by_page(left_to_place[start : start + products_per_part]))
        for start in range(0, len(left_to_place), products_per_part)
    ]
    numbered = tuple(part._replace(number=number) for number, part in enumerate(merged))
    went = sum(map(len, leaving)) - len(replaced)
    return MergePlan(numbered, len(added), len(replaced), went)


def held_products(catalog: Catalog) -> Iterator[list[str]]:
    """Yield the product ids of each part of a catalogue, one part in memory at a time."""
    for part in catalog.parts:
        yield part.read("products", ["product_id"])["product_id"].to_pylist()
