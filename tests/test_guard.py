"""The guard finds what can be written wrongly, plants it where it was, and says whether a test saw it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.guard import Trial, cheapest_first, comparison, draw, found_again, mutants_of, noting

_SOURCE = '''\
"""A module."""
LIMIT = 3


def is_small(size: int = 1) -> bool:
    """Say so."""
    if not size:
        raise ValueError(f"é {size + 1}")
    return "é" != size < 7 and True
'''


def _answers(source: bytes) -> list[bool | None]:
    names: dict[str, Any] = {}
    exec(source, names)
    return [names["is_small"](size) for size in (6, 7, 8)]


def test_what_can_be_wrong_is_found_inside_functions() -> None:
    """Neither a module's own names, defaults, docstrings and messages are, nor what is inside of an f-string."""
    found = [
        (one.line, one.kind, one.original, one.replacement) for one in mutants_of("m.py", _SOURCE.encode())
    ]

    assert found == [
        (7, "not", "not size", "(size)"),
        (9, "comparison", '"é" != size < 7', "('é' != size <= 7)"),
        (9, "comparison", '"é" != size < 7', "('é' == size < 7)"),
        (9, "and, or", '"é" != size < 7 and True', "('é' != size < 7 or True)"),
        (9, "return", '"é" != size < 7 and True', "(None)"),
        (9, "number", "7", "(8)"),
        (9, "truth", "True", "(False)"),
    ]


def test_a_mutant_is_in_the_place_of_its_expression() -> None:
    """Places count bytes, so that letters of two bytes before one do not move it."""
    planted = {
        one.replacement: _answers(one.planted(_SOURCE.encode(), one.replacement))
        for one in mutants_of("m.py", _SOURCE.encode())
        if one.line == 9
    }

    assert planted == {
        "('é' != size <= 7)": [True, True, False],
        "('é' == size < 7)": [False, False, False],
        "('é' != size < 7 or True)": [True, True, True],
        "(None)": [None, None, None],
        "(8)": [True, True, False],
        "(False)": [False, False, False],
    }


def test_a_noting_module_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each expression notes that it was reached, also where one is inside of another, and is what it was."""
    found = dict(enumerate(mutants_of("m.py", _SOURCE.encode())))
    reached: set[int] = set()
    monkeypatch.setitem(sys.modules, "guard_probe", SimpleNamespace(hit=reached.add))

    assert _answers(noting(_SOURCE.encode(), found)) == _answers(_SOURCE.encode()) == [True, False, False]
    assert reached == set(found)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Make a checkout with one module, and a test that looks at what is far below its limit only."""
    for name, text in {
        "src/prodex/__init__.py": "",
        "src/prodex/small.py": _SOURCE,
        "src/prodex/cli/options.py": _SOURCE,
        "tests/test_small.py": "from prodex.small import is_small\ndef test_it(): assert is_small(2)\n",
    }.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "checkout"


def test_a_seed_draws_the_same_again(checkout: Path) -> None:
    """At most one mutant is on a line, and none in a module that is left out."""
    drawn = [draw(checkout / "src", 1, 5) for _ in range(2)]

    assert drawn[0] == drawn[1]
    assert [(one.path, one.line) for one in drawn[0]] == [("prodex/small.py", 7), ("prodex/small.py", 9)]


def test_mutants_are_found_again_where_lines_have_moved(checkout: Path) -> None:
    """An expression is known by its function and its line; one whose line has changed is gone."""
    mutants = mutants_of("prodex/small.py", _SOURCE.encode())
    moved = _SOURCE.replace("LIMIT", "\nLIMIT").replace("if not size", "if not (size)")
    (checkout / "src/prodex/small.py").write_text(moved, "utf-8")

    found = found_again(mutants, checkout / "src")

    assert {number: one.line for number, one in found.items()} == dict.fromkeys(range(1, 7), 10)


@pytest.mark.slow
def test_one_is_killed_and_one_survives(checkout: Path, tmp_path: Path) -> None:
    """A test sees that the answer is gone, and does not see that the limit is another."""
    mutants = [
        one for one in mutants_of("prodex/small.py", _SOURCE.encode()) if one.kind in {"return", "number"}
    ]
    trial = Trial(checkout, tmp_path)

    trial.probe(mutants)
    trial.judge(mutants)

    verdicts = json.loads((tmp_path / "verdicts.json").read_text("utf-8"))
    assert [(one["kind"], one["verdict"], one.get("by")) for one in verdicts] == [
        ("return", "killed", "tests/test_small.py::test_it"),
        ("number", "survived", None),
    ]


def test_cheap_tests_run_first() -> None:
    """What reaches a mutant runs before what is beside it, the cheaper before the dearer, and what failed never."""
    costs = {
        "a::dear": 3.0,
        "a::cheap": 0.01,
        "b::cheap": 0.02,
        "a::beside": 0.0,
        "c::elsewhere": 0.0,
        "b::vast": 30.0,
    }

    found = cheapest_first({"a::dear", "a::cheap", "b::cheap", "b::vast", "a::failed"}, costs)

    assert found == ["a::cheap", "b::cheap", "a::dear"]


def test_a_comparison_names_what_is_no_longer_killed() -> None:
    """It counts the verdicts of both sides, and shows each mutant that has another one now."""
    name = ["m.py", "f", "return a < b", "a < b", "(a <= b)"]
    before = {"name": name, "line": 3, "verdict": "killed", "by": "tests/test_m.py::test_f"}

    assert comparison([before], [before | {"verdict": "survived"}]).splitlines() == [
        "killed          1    0",
        "survived        0    1",
        "killed -> survived: m.py:3 a < b -> (a <= b), before by tests/test_m.py::test_f",
    ]
