"""What unusual products cost: as ratios to clean ones of the same block, and seconds for very many attributes."""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import msgspec

from prodex.tables.flatten import flatten_products
from prodex.tables.parse import ShapeCache
from tests.bench import pinned
from tests.bench.products import odd, products

#: About as many products as are flattened at a time.
_BLOCK = 1_500


def one_in_a_block(rounds: int, part: int = 1) -> float:
    """Return how many times as long a block takes in which one product has an integer beyond 2**53."""
    clean = list(pinned.clean_products()[: _BLOCK // part])
    one = clean.copy()
    middle = json.loads(one[len(one) // 2])
    one[len(one) // 2] = json.dumps(middle | {"xLegacyReference": {"row": 2**53 + 1}}).encode()
    return _ratio(clean, one, rounds)


def sample(rounds: int, part: int = 1) -> float:
    """Return how many times as long the pinned sample takes as its clean products, product by product."""
    clean, whole = pinned.clean_products(), list(pinned.originals())
    return _ratio(clean[: len(clean) // part], whole[: len(whole) // part], rounds)


def every(rounds: int, part: int = 1) -> float:
    """Return how many times as long a page takes on which nothing can be learnt from any product."""
    clean = list(products(500 // part))
    unlike = [msgspec.json.encode(odd(product, number)) for number, product in enumerate(clean)]
    return _ratio([msgspec.json.encode(product) for product in clean], unlike, rounds)


def attributes(rounds: int, part: int = 1) -> float:
    """Return the seconds for products with so many distinct top-level attributes in all, ten on each."""
    made = [
        json.dumps({"id": number} | {f"x{number * 10 + place}": place for place in range(10)}).encode()
        for number in range(2_000 // part)
    ]
    return median(_seconds(made, ShapeCache()) for _ in range(rounds))


#: Each of a number of rounds, and of one of so many parts of the products.
FIGURES: dict[str, Callable[[int, int], float]] = {
    "one_in_a_block": one_in_a_block,
    "sample": sample,
    "every": every,
    "attributes": attributes,
}


def _ratio(clean: Sequence[bytes], unlike: Sequence[bytes], rounds: int) -> float:
    """Return the median ratio of both, for each product, after a first look at both."""
    shapes = ShapeCache()
    for lines in (clean, unlike):
        _seconds(lines, shapes)
    ratios = []
    for _ in range(rounds):
        usual = _seconds(clean, shapes) / len(clean)
        ratios.append(_seconds(unlike, shapes) / len(unlike) / usual)
    return median(ratios)


def _seconds(lines: Sequence[bytes], shapes: ShapeCache) -> float:
    began = perf_counter()
    for first in range(0, len(lines), _BLOCK):
        flatten_products(lines[first : first + _BLOCK], shapes)
    return perf_counter() - began


def main(name: str, rounds: str, part: str) -> Any:
    return FIGURES[name](int(rounds), int(part))


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
