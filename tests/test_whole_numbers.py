"""Whole numbers that somebody gives: every place takes the same, and refuses the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import prodex
from prodex.errors import ProdexError
from prodex.load.products import checked_windows
from prodex.pictures.thumbnails import thumbnails
from prodex.query import ProductQuery
from prodex.service.pull import checked_page_size
from tests.cases import each_row

CATALOG = prodex.flatten([{"id": 7}, {"id": 8}])
#: What is asked, with a number that it takes.
PLACES: dict[str, tuple[Callable[[Any, Path], object], int]] = {
    "head": (lambda number, _: CATALOG.head(number), 1),
    "sample": (lambda number, _: CATALOG.sample(number), 1),
    "gallery(per_page)": (lambda number, _: CATALOG.gallery(per_page=number), 1),
    "gallery(page)": (lambda number, _: CATALOG.gallery(per_page=1, page=number), 2),
    "thumbnails(size)": (lambda number, _: thumbnails(CATALOG, ["7"], number), 64),
    "download_pictures(workers)": (
        lambda number, folder: prodex.download_pictures(CATALOG, folder, workers=number, progress=False),
        2,
    ),
    "download_pictures(size)": (
        lambda number, folder: prodex.download_pictures(CATALOG, folder, size=number, progress=False),
        64,
    ),
    "windows": (lambda number, _: checked_windows(number), 2),
    "page_size": (lambda number, _: checked_page_size(number), 2),
    "vacuum(keep)": (lambda number, _: prodex.vacuum("kept", keep=number), 1),
    "ProductQuery(owners_in)": (lambda number, _: ProductQuery(owners_in=[number]), 1),
    "RetryPolicy(attempts)": (lambda number, _: prodex.service.RetryPolicy(attempts=number), 1),
}


@pytest.fixture(autouse=True)
def kept() -> None:
    """Keep a snapshot, for the places that look for one."""
    CATALOG.save("kept")


@pytest.mark.slow
@each_row("place", PLACES)
def test_numbers_of_numpy_are_whole_numbers(place: str, tmp_path: Path) -> None:
    """Counting with pandas returns such numbers."""
    ask, number = PLACES[place]

    for kind in (int, np.int64, np.uint16):
        ask(kind(number), tmp_path / kind.__name__)


NO_NUMBERS = [True, np.True_, 1.5, float("nan"), "one", -1, b"1", [1]]
#: An id may be below zero.
REFUSED = [
    (place, given)
    for place in PLACES
    for given in NO_NUMBERS
    if (place, given) != ("ProductQuery(owners_in)", -1)
]


@pytest.mark.slow
@each_row(("place", "given"), REFUSED, ids=repr)
def test_what_is_no_whole_number_is_refused(place: str, given: Any, tmp_path: Path) -> None:
    """True is an answer and no number; the message shows what was given."""
    with pytest.raises(ProdexError):
        PLACES[place][0](given, tmp_path)
