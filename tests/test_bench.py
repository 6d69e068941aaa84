"""Whether `make bench` works and judges rightly; how fast anything is, no test says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prodex.gtin import are_valid
from prodex.tables.flatten import decoded, flatten_products
from tests.bench import operations, pinned, results
from tests.bench.__main__ import _SECTIONS, agree
from tests.bench.figures import leaves_of_tables
from tests.bench.products import count_leaves, odd, products


@pytest.mark.slow
def test_the_bench_runs_and_its_contestants_agree(tmp_path: Path) -> None:
    """A quick run ends well, shows every figure with its target, and says what it could not measure.

    The explorer needs a browser: tests/notebook/test_bench_in_browser.py has it.
    """
    environment = {**os.environ, "PRODEX_REAL_PRODUCTS": str(tmp_path / "none.gz")}
    command = [sys.executable, "-m", "tests.bench", "--quick", "--only", *_SECTIONS.keys() - {"explorer"}]

    ended = subprocess.run(
        command,
        cwd=Path(__file__).parents[1],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )

    assert (0, "") == (ended.returncode, ended.stderr)
    assert "shared lists agree" in ended.stdout
    assert "\n0 of " in ended.stdout
    assert "the real products are not here" in ended.stdout
    assert (find_spec("dlt") is None) == ("dlt is not installed" in ended.stdout)
    for figure in ("load / download", "times json_normalize", "one odd product", "import over pandas"):
        assert any(figure in line and "reached" in line for line in ended.stdout.splitlines())
    for name in ("duckdb", "open and repr", "refresh, 1 % changed", "wide(", "Dask", "publish"):
        assert any(line.startswith(name) for line in ended.stdout.splitlines())


def test_rows_that_disagree_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """One row more or fewer with one contestant is a disagreement, named with all their counts."""
    rows = {"prodex": {"products": 2, "hasTags": 3}, "dlt": {"products": 2, "hasTags": 4}}

    assert not agree(rows)
    assert "hasTags: {'prodex': 3, 'dlt': 4}" in capsys.readouterr().out
    assert agree({"prodex": rows["prodex"], "dlt": rows["prodex"]})


def test_products_are_as_large_and_varied_as_promised() -> None:
    """Each has 200 leaves, 20 texts in 3 languages and 5 pictures with 5 exportables, in about 10 kB."""
    for product in products(50):
        texts = [item for name in product for item in _items(product[name]) if "expressedIn" in item]
        languages = {item["expressedIn"]["code"] for item in texts if isinstance(item["data"], str)}

        assert count_leaves(product) >= 200
        assert len(texts) >= 20
        assert 3 == len(languages)
        assert [5] * 5 == [len(picture["exportables"]) for picture in product["assets"]["pictures"]]
        assert 8_000 < len(msgspec.json.encode(product)) < 13_000


def test_a_leaf_that_is_missing_from_the_tables_shows() -> None:
    """The leaves of the tables are those of the walk, odd products included, and one row fewer is noticed."""
    records = [*products(20), *(odd(product, number) for number, product in enumerate(products(5, seed=3)))]
    records = [{**record, "id": number} for number, record in enumerate(records, 1)]
    tables = decoded(flatten_products([msgspec.json.encode(record) for record in records]))

    found = leaves_of_tables(tables)

    assert {str(record["id"]): count_leaves(record) for record in records} == dict(found)
    assert found.total() > leaves_of_tables(tables | {"texts": tables["texts"].slice(1)}).total()


def _items(value: Any) -> list[dict[str, Any]]:
    nested = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    return [inner for item in nested for inner in item.get("text", [item])]


@pytest.mark.slow
def test_every_operation_is_one(tmp_path: Path) -> None:
    """Each does what users do, on a snapshot of few products, without an error."""
    operations.keep(pinned.write_lines(tmp_path / "products.jsonl", pinned.products(100)))

    assert all(operation() is not None for operation in operations.OPERATIONS.values())


@pytest.mark.slow
def test_copies_of_the_pinned_products_are_other_products() -> None:
    """Ids and GTINs of a copy are its own, and its check digits are as right and as wrong as those of the original."""
    size = len(pinned.originals())
    made = [json.loads(line) for line in pinned.products(2 * size)]

    assert len({record["id"] for record in made}) == 2 * size
    gtins = [record["gtin"] for record in made]
    assert are_valid(gtins[:size]).tolist() == are_valid(gtins[size:]).tolist()
    same = {one for one, other in zip(gtins, gtins[size:], strict=False) if one == other}
    assert {"00000000000000"} == same


def test_results_that_were_not_measured_again_are_kept(tmp_path: Path) -> None:
    """A run of one section replaces that section of the page, and no other."""
    page = tmp_path / "RESULTS.md"
    one, other = (results.table_of(name, [results.Figure("s", 1.0)]) for name in ("one", "other"))
    results.write_page(page, "2026-11-22", [one, other])
    results.write_page(page, "2026-12-24", [results.table_of("one", [results.Figure("s", 2.0)])])

    text = page.read_text("utf-8")
    assert ["## one", "## other"] == [line for line in text.splitlines() if line.startswith("## ")]
    assert "Measured 2026-12-24" in text.partition("## other")[0]
    assert "Measured 2026-11-22" in text.partition("## other")[2]


@pytest.mark.slow
def test_results_are_drawn(tmp_path: Path) -> None:
    """The picture shows who was measured, and every operation."""
    results.draw(tmp_path / "b.svg", {"prodex": 5_000.0, "dlt": 400.0}, {"audit": {100: 1.0, 1_000: 9.0}})

    assert "<svg" in (tmp_path / "b.svg").read_text("utf-8")
