"""`prodex diff` as a user runs it."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import prodex
from prodex.cli import app


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["diff", *words])


@pytest.fixture
def two_states(home: Path) -> None:
    """Keep two snapshots of a shop: one product changed, one went, one came."""
    owner = {"name": "Acme"}
    prodex.flatten([{"id": 1, "serves": 4, "owner": owner}, {"id": 2}]).save("before")
    prodex.flatten([{"id": 1, "serves": 6, "owner": owner}, {"id": 3}]).save("after")


SUMMARY = [
    ["added", 1],
    ["removed", 1],
    ["changed", 1],
    ["touched only", 0],
    ["unchanged", 0],
    ["not comparable", 0],
]


@pytest.mark.slow
@pytest.mark.usefixtures("two_states")
@pytest.mark.parametrize(
    ("words", "columns", "expected"),
    [
        ((), ["change", "products"], SUMMARY),
        (("--show", "summary"), ["change", "products"], SUMMARY),
        (("--show", "products"), ["product_id", "change"], [[1, "changed"], [2, "removed"], [3, "added"]]),
        (("--show", "changes"), ["product_id", "attribute"], [[1, "serves"]]),
        (("--show", "attributes"), ["attribute", "changed"], [["serves", 1]]),
        (("--show", "not-comparable"), ["attribute"], []),
    ],
)
def test_each_part_of_the_difference_can_be_shown(
    words: tuple[str, ...], columns: list[str], expected: list[list[object]]
) -> None:
    """The summary by default, or products, changes, attributes, and what cannot be compared."""
    shown = run("before", "after", *words, "--format", "csv")

    assert 0 == shown.exit_code, shown.output
    assert expected == pd.read_csv(io.StringIO(shown.stdout))[columns].values.tolist()


@pytest.mark.usefixtures("two_states")
def test_counts_for_each_owner() -> None:
    """One row per group, the same words as the summary."""
    shown = run("before", "after", "--by", "owner")

    assert "Acme   0      0        1" in shown.stdout
    assert 1 == run("before", "after", "--by", "owner", "--show", "changes").exit_code


@pytest.mark.usefixtures("two_states")
def test_a_file_holds_the_changes(tmp_path: Path) -> None:
    """As Parquet, old beside new."""
    out = tmp_path / "changes.parquet"
    shown = run("before", "after", "--show", "changes", "--format", "parquet", "--out", str(out))

    assert 0 == shown.exit_code, shown.output
    assert [["4", "6"]] == pd.read_parquet(out)[["old", "new"]].values.tolist()


@pytest.mark.slow
@pytest.mark.usefixtures("two_states")
def test_the_exit_code_says_whether_they_differ_when_asked() -> None:
    """0 in any case otherwise."""
    codes = [
        run("before", new, *words).exit_code
        for new in ("before", "after")
        for words in ((), ("--exit-code",))
    ]

    assert [0, 0, 0, 1] == codes


def test_what_cannot_be_compared_is_told(home: Path) -> None:
    """The notes stand beside the result, not in it; the reasons are a part of their own."""
    asked = prodex.catalog.Origin("service", prodex.ProductQuery(source_include=["brand"]))
    parts = prodex.flatten([{"id": 1, "brand": {"code": "B"}}]).parts
    prodex.flatten([{"id": 1, "brand": {"code": "B"}, "serves": 4}]).save("all")
    prodex.Catalog(parts, asked).save("some")
    shown = run("all", "some", "--show", "not-comparable", "--format", "json")

    assert "The queries differ" in shown.stderr
    assert '"attribute":"serves"' in shown.stdout
    assert '"why":"not requested in new"' in shown.stdout


def test_help_gives_an_example() -> None:
    """As with every command."""
    assert "Example: prodex diff shop@2026-11-13 shop" in run("--help").stdout


def test_a_snapshot_that_is_not_there_is_said(home: Path) -> None:
    """With its name."""
    assert "No snapshot 'nothing'" in str(run("nothing", "nothing").exception)
