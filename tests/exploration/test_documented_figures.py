"""Figures of the pages about exploring are those of the sample."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prodex import Selection
from prodex.store.reading import flatten
from prodex_sandbox.sample import shared_products

_PAGE = Path(__file__).parents[2] / "docs/howto/six-tasks.md"


@pytest.mark.slow
def test_chocolate_without_allergens_is_what_the_page_says() -> None:
    """The page names how many products lack them, how many of these are cases and pallets, and what is listed."""
    said = re.search(
        r"the first ([\d,]+) products of the sample, (\d+) are .* (\d+) of them are cases .* lists (\d+)\.",
        " ".join(_PAGE.read_text("utf-8").split()),
    )
    assert said is not None
    size, lacking, others, listed = (int(one.replace(",", "")) for one in said.groups())
    chocolate = flatten([dict(one.record) for one in shared_products(size)]).where(
        Selection(words="chocolate")
    )
    lacks = set(chocolate.products["product_id"]) - set(
        chocolate.texts.query("attribute == 'allergens'")["product_id"]
    )
    others_there = set(chocolate.where(is_consumer_unit=False).products["product_id"])

    assert (lacking, others) == (len(lacks), len(lacks & others_there))
    assert listed == lacking - others
    assert listed == len(chocolate.where(Selection(groups={"missing": ("allergens",)})))
