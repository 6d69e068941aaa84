"""The law of the card: nothing that the tables have of a product is lost on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given

import prodex
from prodex.errors import InputError
from prodex.exploration.card.record import PATHS
from prodex.notebook.views.card_contents import read_card
from prodex.tables.declaration import TABLES
from tests import laws
from tests.notebook.card_products import rich
from tests.quality.reading_html import Node, parsed
from tests.wire import CORNERS, products

#: Keys, and what is derived from other leaves or copied from them.
_NOT_SHOWN = {
    "product_id", "gtin", "attribute", "position", "language", "language_code", "type", "source", "level", "root_gtin",
    "parent_gtin", "units_per_root", "partition", "basis_quantity", "basis_unit_code", "unit_code",
}  # fmt: skip
_TIME = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}")


def shown(html: str) -> str:
    """Return the text of a card without the record as received, which has everything anyway."""
    return "".join(_texts(parsed(html)))


def _texts(node: Node) -> Iterator[str]:
    for one in node.inside:
        if isinstance(one, str):
            yield one
        elif one.name != "pre":
            yield from _texts(one)
            yield " "


def marked(value: Any, numbers: Iterator[int]) -> Any:
    """Return a record in which every leaf can be told from all others."""
    if isinstance(value, dict):
        return {key: marked(one, numbers) for key, one in value.items()}
    if isinstance(value, list):
        return [marked(one, numbers) for one in value]
    if isinstance(value, str) and not _TIME.fullmatch(value):
        return f"{value}‹{next(numbers)}›"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 10_000 + next(numbers)
    return value


def leaves(catalog: prodex.Catalog) -> Iterator[tuple[str, str, Any]]:
    """Yield table, column and value of every leaf that a card has to show."""
    (product,) = catalog.arrow("products").to_pylist()
    repeated = {
        (f"lastRequest.{path}", str(product[column]).lower())
        for column, path in PATHS.items()
        if isinstance(product[column], bool)
    }
    for name, table in TABLES.items():
        if not table.per_product or name in {"presence", "raw"}:
            continue
        for row in catalog.arrow(name).to_pylist():
            # Of what an update repeats unchanged the card counts the values, and shows a yes or no of its own in words.
            if (row.get("attribute"), row.get("value")) in repeated:
                continue
            for column, value in row.items():
                if column in _NOT_SHOWN or column.endswith("_count") or isinstance(value, bool):
                    continue
                if isinstance(value, str | int | float):
                    yield name, column, value


def is_in(value: Any, text: str) -> bool:
    if isinstance(value, str):
        if mark := re.search("‹[0-9]+›", value):
            return mark[0] in text
        return value.strip() in text or bool(_TIME.fullmatch(value))
    return any(re.search(rf"(?<![0-9,]){one}(?![0-9,])", text) for one in (f"{value:.0f}", f"{value:,.0f}"))


@pytest.mark.slow
@example({"isConsumerUnit": True, "lastRequest": {"isConsumerUnit": True}})
@laws.planted(*CORNERS)
@given(products)
def test_a_card_shows_every_leaf(product: dict[str, Any]) -> None:
    """Every leaf of the tables of any record is on its card."""
    try:
        catalog = prodex.flatten([marked(product, count())])
    except InputError:
        return
    text = shown(read_card(catalog, catalog.products["product_id"][0]).html)

    assert [] == [leaf for leaf in leaves(catalog) if not is_in(leaf[2], text)]


@pytest.mark.slow
def test_a_rich_card_shows_every_leaf() -> None:
    """Every leaf of a product with rows in every table is on its card."""
    record = marked(rich(), count())
    catalog = prodex.flatten([{**record, "id": 7}])
    found = list(leaves(catalog))

    assert {"texts", "codes", "nutrients", "pictures", "hierarchies", "labels"} <= {
        table for table, _, _ in found
    }
    assert [] == [leaf for leaf in found if not is_in(leaf[2], shown(read_card(catalog, "7").html))]


def test_the_law_can_be_broken() -> None:
    """The law notices a leaf that is not on the card."""
    catalog = prodex.flatten([marked({"id": 7, "brand": {"code": "ACME"}}, count())])
    text = shown(read_card(catalog, "10000").html)

    assert is_in("ACME‹1›", text)
    assert not is_in("ACME‹2›", text)
    assert not is_in(10_001, "10,0011 and 110,001")


@pytest.mark.slow
@laws.planted(*CORNERS)
@given(products)
def test_a_card_of_anything_is_a_page_part(product: dict[str, Any]) -> None:
    """Records with empty texts, nulls and lone surrogates give HTML whose elements are closed."""
    try:
        catalog = prodex.flatten([product])
    except InputError:
        return
    made = read_card(
        catalog, catalog.products["product_id"][0], prodex.audit(catalog, "core", progress=False)
    )

    assert not parsed(made.html).all("script")
    made.html.encode()
