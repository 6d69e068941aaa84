"""SECURITY.md promises nothing without a test."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
_LINK = re.compile(r"\[`(test_\w+)`\]\(([\w/.]+)\)")


@cache
def names_in(path: str) -> frozenset[str]:
    """Return the test functions of a file."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_promise_names_a_test() -> None:
    """Each row under Promises has one at least, and sections have rows."""
    promises = PAGE.split("\n## Promises\n")[1].split("\n## ")[0]
    rows = [line for line in promises.splitlines() if line.startswith("| ") and "proved by" not in line]

    assert rows
    assert [] == [row for row in rows if not _LINK.search(row)]


def test_every_test_that_is_named_exists() -> None:
    """By its name, in the file that the link leads to."""
    named = _LINK.findall(PAGE)

    assert named
    assert [] == [
        (name, path) for name, path in named if not (ROOT / path).is_file() or name not in names_in(path)
    ]
    assert PAGE.count("](tests/") == len(named)
