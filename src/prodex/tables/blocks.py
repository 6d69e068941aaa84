"""Flattening block by block: however many products there are, no more than a block of them is held as JSON.

Every way into a catalogue cuts its records into the same blocks, so that the same records give rows in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator

from prodex.tables.flatten import Tables, flatten_products
from prodex.tables.parse import ShapeCache

#: JSON flattened at a time, in bytes: large enough for columns to pay (of half as many bytes each product takes a tenth
#: longer, and of more it takes no less), small enough for any laptop: a block takes about twelve times its size.
BLOCK_BYTES = 20_000_000

#: What this process learnt of products so far; see `prodex.tables.shape`.
_SHAPES = ShapeCache()


def blocks_of(products: Iterator[bytes]) -> Iterator[Tables]:
    """Flatten products block by block.

    Parameters
    ----------
    products
        The records, one JSON object each. Of no products there is a block without rows.

    Examples
    --------
    >>> [block["products"].num_rows for block in blocks_of(iter([b'{"id": 7}', b'{"id": 8}']))]
    [2]
    """
    block: list[bytes] = []
    size = 0
    empty = True
    for product in products:
        block.append(product)
        size += len(product)
        if size >= BLOCK_BYTES:
            made = [flatten_products(block, _SHAPES)]
            # Whoever writes the tables has no use for what they were made of, and neither for them afterwards.
            block, size, empty = [], 0, False
            del product
            yield made.pop()
    if block or empty:
        made = [flatten_products(block, _SHAPES)]
        del block
        yield made.pop()
