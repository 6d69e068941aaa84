"""First looks at a catalogue: its first products, some of them, and what every attribute holds."""

from __future__ import annotations

import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.errors import QueryError
from prodex_sandbox.sample import shared_products
from tests.cases import each_row


def text(data: str, code: str = "fra-FR") -> dict[str, Any]:
    return {"expressedIn": {"code": code}, "data": data}


RECORDS: list[dict[str, Any]] = [
    {
        "id": number,
        "nameLegal": [text("Riz" * (number % 3)), text("Rijst", "nld-NL")][: 1 + number % 2],
        "originCountry": [{"code": "250", "label": "France"}],
        "serves": number,
        "isLabeledBy": [],
        "assets": {"pictures": [{"url": "a"}, {"url": "b"}]} if number % 2 else {},
        "owner": {"name": "Mill"},
    }
    for number in range(1, 8)
]


@pytest.fixture(params=["in memory", "on disk", "several parts"])
def catalog(request: pytest.FixtureRequest) -> prodex.Catalog:
    """The same seven products in each form a catalogue has."""
    whole = prodex.flatten(RECORDS)
    if request.param == "on disk":
        return whole.save("seven")
    if request.param == "several parts":
        return prodex.Catalog(
            prodex.flatten(RECORDS[:3]).parts + prodex.flatten(RECORDS[3:]).parts, whole.origin
        )
    return whole


def test_head_is_the_catalogue_of_the_first_products(catalog: prodex.Catalog) -> None:
    """With their children, across parts; of fewer products it is all."""
    some = catalog.head(4)

    assert ["1", "2", "3", "4"] == some.products["product_id"].tolist()
    assert {"1", "2", "3", "4"} == set(some.texts["product_id"])
    assert [5, 0, 7] == [len(catalog.head()), len(catalog.head(0)), len(catalog.head(99))]


@pytest.mark.slow
def test_a_sample_is_drawn_by_its_seed(catalog: prodex.Catalog) -> None:
    """The same seed the same products, each once, in the order of the catalogue."""
    drawn = [tuple(catalog.sample(3, seed=seed).products["product_id"]) for seed in range(20)]

    assert drawn == [tuple(catalog.sample(3, seed=seed).products["product_id"]) for seed in range(20)]
    assert all(sorted(set(one)) == list(one) and len(one) == 3 for one in drawn)
    assert len(set(drawn)) > 5
    assert 1 == len(catalog.sample())


@each_row("wrong", [-1, 2.5, "3", True])
def test_a_number_of_products_is_a_number(catalog: prodex.Catalog, wrong: Any) -> None:
    """Anything else is refused, and so is a number larger than that of the products."""
    with pytest.raises(QueryError, match="takes a number of products"):
        catalog.head(wrong)
    with pytest.raises(QueryError, match="takes a number of products"):
        catalog.sample(wrong)
    with pytest.raises(QueryError, match="more products than the 7"):
        catalog.sample(8)


def test_describe_says_what_each_attribute_holds(catalog: prodex.Catalog) -> None:
    """Texts by language, codes by label, files by number, and what nobody fills."""
    found = catalog.describe().set_index(["attribute", "language"])
    said = found.astype(object).where(found.notna(), None)

    french = said.loc[("nameLegal", "fr")]
    assert [5, 7, 5 / 7, 0, 5, 2, 3, 3.0, 6] == french.drop("examples").tolist()
    assert "Riz | RizRiz" == french["examples"]
    assert [4, 7, 4 / 7, 0, 4, 1, 5, 5.0, 5, "Rijst"] == said.loc[("nameLegal", "nl")].tolist()
    by_attribute = said.reset_index("language", drop=True)
    assert [7, 7, 1.0, 0, 7, 1, 6, 6.0, 6, "France"] == by_attribute.loc["originCountry"].tolist()
    assert [7, 7, 1.0, 0, 7, 7, None, None, None] == by_attribute.loc["serves"].drop("examples").tolist()
    assert [4, 7, 4 / 7, 0, 8, 0] == by_attribute.loc["assets.pictures"].tolist()[:6]
    assert [0, 7, 0.0, 0, 0, 0] == by_attribute.loc["isLabeledBy"].tolist()[:6]
    assert [7, "Mill"] == by_attribute.loc["owner.name", ["filled", "examples"]].tolist()


def test_describe_counts_what_cannot_be_read_apart() -> None:
    """A bare value where an object, a text or a flag is declared fills nothing, and is shown all the same."""
    odd = {"id": 8, "brand": "Acme", "nameLegal": "Riz", "isConsumerUnit": "yes", "own": "Riz"}
    found = prodex.flatten([*RECORDS[:1], odd]).describe().set_index("attribute")
    counts = found[found["language"].isna()][["filled", "unreadable", "values", "examples"]]

    assert [0, 1, 1, "Acme"] == counts.loc["brand"].tolist()
    assert [0, 1, 1, "Riz"] == counts.loc["nameLegal"].tolist()
    assert [0, 1, 1, "yes"] == counts.loc["isConsumerUnit"].tolist()
    assert [1, 0, 1, "Riz"] == counts.loc["own"].tolist()


def test_describe_of_nothing_is_empty() -> None:
    """It has the same columns and types as any other."""
    empty, some = prodex.flatten([]).describe(), prodex.flatten(RECORDS).describe()

    assert (0, some.dtypes.to_dict()) == (len(empty), empty.dtypes.to_dict())


def test_describe_agrees_with_the_raw_records_of_the_sample() -> None:
    """The figures of every localized text agree with plain Python, of what is not known to be no consumer unit."""
    records = [product.record for product in shared_products(200)]
    texts: dict[tuple[str, str], list[tuple[Any, str]]] = defaultdict(list)
    for record in records:
        if record.get("isConsumerUnit") is False:
            continue
        for name in ("nameLegal", "namePublicLong", "composition", "description"):
            for item in record.get(name) or []:
                if item and item["data"].strip():
                    texts[name, item["expressedIn"]["normalizedCode"]].append((record["id"], item["data"]))
    frame = prodex.flatten(records).describe()
    found = frame[frame["attribute"].isin(["nameLegal", "namePublicLong", "composition", "description"])]

    expected = {
        key: [
            len({product for product, _ in some}),
            len(some),
            len({data for _, data in some}),
            min(len(data) for _, data in some),
            statistics.median(len(data) for _, data in some),
            max(len(data) for _, data in some),
        ]
        for key, some in texts.items()
    }
    columns = ["filled", "values", "distinct", "shortest", "median", "longest"]
    spoken = found[found["language"].notna()]
    assert expected == {
        (row["attribute"], row["language"]): [row[column] for column in columns]
        for row in spoken.to_dict("records")
    }


def test_long_examples_are_cut(tmp_path: Path) -> None:
    """A text of 40,000 characters is no example to read."""
    frame = prodex.flatten([{"id": 1, "nameLegal": [text("x" * 40_000)]}]).describe()

    (example,) = frame.loc[frame["attribute"] == "nameLegal", "examples"]
    assert (60, "…") == (len(example), example[-1])
    assert pd.Series([40_000]).equals(
        frame.loc[frame["attribute"] == "nameLegal", "longest"].astype(int).reset_index(drop=True)
    )
