"""The main job on 5,000 real food products, which nobody made up; skipped where the file is not at hand."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import prodex
from prodex.sandbox import Sandbox
from prodex.tables.declaration import TABLES
from prodex_sandbox.records.reading import read_records
from tests.tables.test_laws import plain, rows
from tests.wire import leaves

#: Open Food Facts in the service's shape; its licence differs from ours, so it is not part of the project.
REAL = Path(
    os.environ.get("PRODEX_REAL_PRODUCTS", Path(__file__).parents[2] / "shared/data/real-products.jsonl.gz")
)

pytestmark = pytest.mark.skipif(not REAL.is_file(), reason=f"the real products are not at {REAL.name}")


@pytest.fixture(scope="module")
def real_exchange() -> Iterator[Sandbox]:
    """Serve them."""
    with Sandbox(products=[json.loads(body) for body, _ in read_records([REAL], pytest.fail)]) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    """Return each record as it stands in the file."""
    with gzip.open(REAL) as file:
        return [line.strip() for line in file]


@pytest.mark.slow
def test_every_real_product_is_pulled_through_the_service(
    real_exchange: Sandbox, lines: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By scroll, once each, with the record as it was."""
    monkeypatch.setattr("prodex.service.paging.SCROLL_FROM", 1)
    key = real_exchange.credentials[0]
    client = prodex.connect(
        base_url=real_exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )
    catalog = prodex.load_products(client, name="real", max_age=0)

    expected = {str(record["id"]): record for record in map(json.loads, lines)}
    found = {i: json.loads(r) for i, r in catalog.raw[["product_id", "json"]].itertuples(index=False)}
    assert expected.keys() == found.keys()
    views = {"manufacturerSharingStatus", "targetProductStatus", "validation", "hasTags", "isTaggedBy"}
    assert [] == [
        i
        for i in expected
        if {k: v for k, v in found[i].items() if k not in views}
        != {k: v for k, v in expected[i].items() if k not in views}
    ]
    assert catalog.complete


@pytest.mark.slow
def test_the_tables_of_real_products_are_those_of_the_plain_walk(lines: list[bytes]) -> None:
    """Every row of every table, on records as messy as real data is."""
    catalog = prodex.read_products(REAL)
    expected = plain(lines)
    expected["descriptors"] = Counter(set(expected["descriptors"]))

    assert expected == {name: rows({name: catalog.arrow(name)}, name) for name in expected}
    assert set(TABLES) - set(expected) == {"presence", "raw", "code_labels"}


@pytest.mark.slow
def test_no_leaf_of_real_products_is_lost(lines: list[bytes]) -> None:
    """As many cells as the records have values, descriptors and copies left out."""
    catalog = prodex.read_products(REAL)
    own = {"texts": ["text"], "quantities": ["value"], "codes": ["code", "label", "description"]}
    own["scalars"] = ["value"]
    cells = 0
    for name, table in TABLES.items():
        if name in {"presence", "raw", "descriptors", "code_labels"}:
            continue
        columns = own.get(name) or [column.name for column in table.columns if column.paths]
        frame = catalog.arrow(name, columns)
        cells += sum(len(frame) - frame[column].null_count for column in columns)
    described = {"namePublicLong", "nameLegal", "composition", "allergens", "description", "netContent"}
    naive = sum(
        not (path[0] in described and path[1:2] == ("expressedIn",) and len(path) == 3)
        for line in lines
        for path, _, _ in leaves(json.loads(line))
    )
    keys = 2 * len(lines)

    assert naive == cells + keys
