"""The table of conformance: every row of the specification names a test of the client and one of the sandbox."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

from prodex_sandbox.api.filters import FILTERS
from prodex_sandbox.app import openapi
from prodex_sandbox.records.imports import ImportStatus

ROOT = Path(__file__).parent.parent
ROWS = tomllib.loads((ROOT / "tests/conformance.toml").read_text("utf-8"))["row"]
AREAS = ["endpoint", "parameter", "header", "fields", "state", "transition", "error", "limit", "version"]

#: Extras of the sandbox, which the specification does not know.
EXTRAS = {"/health", "/media/{path}", "/sandbox/scenarios", "allow_not_consumer_units"}


@cache
def names_in(path: Path) -> set[str]:
    """Return the names of a module's test functions."""
    tree = ast.parse(path.read_text("utf-8"))
    return {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_every_row_has_every_cell() -> None:
    """No cell is missing or empty."""
    wanted = {"area", "item", "client", "sandbox"}
    assert [] == [row for row in ROWS if row.keys() != wanted or not all(row.values())]


@pytest.mark.parametrize("side", ["client", "sandbox"])
def test_every_named_test_is_there(side: str) -> None:
    """Each cell names a test function that its file has, and the two sides name tests of their own."""
    named = {row[side] for row in ROWS if row[side]}
    for node in sorted(named):
        path, _, name = node.partition("::")
        assert (ROOT / path).is_file(), node
        assert name in names_in(ROOT / path), node
        assert (side == "sandbox") == path.startswith("tests/sandbox/"), node


def test_rows_stand_once_and_by_area() -> None:
    """Areas come in the order of the specification, and no row comes twice."""
    assert AREAS == list(dict.fromkeys(row["area"] for row in ROWS))
    places = [(row["area"], row["item"]) for row in ROWS]
    assert len(set(places)) == len(places)


def test_nothing_that_the_sandbox_declares_is_left_out() -> None:
    """Every path, every parameter of the product list and every state of an import has its row."""
    items = " ".join(row["item"] for row in ROWS)
    declared = {*openapi()["paths"], *FILTERS, *ImportStatus} - EXTRAS
    assert [] == sorted(name for name in declared if name not in items)
