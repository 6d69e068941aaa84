"""The numbers of examples of laws: in one module, and those that are drawn."""

from __future__ import annotations

import ast
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests import laws
from tests.laws import FULL, QUICK, Law

HERE = Path(__file__).parent


def test_every_law_of_the_list_is_there_with_a_reason_and_its_corners() -> None:
    """A law that got another name would have the number of all others."""
    missing = [
        name
        for name, law in laws.LISTED.items()
        if name.partition("::")[2].removesuffix("::runTest") not in names_of(name.partition("::")[0])
        or not law.why
        or not law.corners
    ]
    assert not missing


def names_of(file: str) -> set[str]:
    """Return what a module of tests defines."""
    path = HERE.parent / file
    body = ast.parse(path.read_text("utf-8")).body if path.is_file() else []
    assigned = {ast.unparse(name) for one in body if isinstance(one, ast.Assign) for name in one.targets}
    return assigned | {one.name for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef)}


@pytest.mark.slow
def test_no_test_says_how_many() -> None:
    """Nor anything else that the profile says: no test takes the settings of Hypothesis."""
    saying = [str(path) for path in HERE.rglob("test_*.py") if "settings" in taken_from_hypothesis(path)]
    assert not saying


def taken_from_hypothesis(path: Path) -> set[str]:
    """Return the names that a module imports from Hypothesis, or asks it for."""
    found: set[str] = set()
    source = path.read_text("utf-8")
    if "hypothesis" not in source:  # to parse all modules takes seconds
        return found
    for one in ast.walk(ast.parse(source)):
        if isinstance(one, ast.ImportFrom) and one.module == "hypothesis":
            found |= {name.name for name in one.names}
        elif isinstance(one, ast.Attribute) and ast.unparse(one.value) == "hypothesis":
            found.add(one.attr)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "times", "expected"),
    [
        (Law(20, "", "", steps=2), 1, 20),
        (Law(20, "", "", steps=2), QUICK, 2),
        (Law(4, "", "", steps=2), QUICK, 1),
        (Law(20, "", "", steps=2), FULL, 200),
        (Law(20, "", "", steps=2, full=30), FULL, 30),
        (Law(20, "", "", steps=2, full=30), 1, 20),
        (Law(0, "", "", steps=2, full=30), FULL, 30),
    ],
)
def test_a_law_of_the_list_draws_its_number(
    law: Law, times: float, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of examples or of stories; in a quick run a tenth, in a full one ten times as many or another number."""
    examples, stories = count(), count()

    @given(st.integers())
    def all_hold(_: int) -> None:
        next(examples)

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            next(stories)

        @rule(_=st.integers())
        def step(self, _: int) -> None: ...

    test_case: Any = Machine.TestCase
    monkeypatch.setattr(laws, "LISTED", {"here::law": law, "here::machine": law})
    laws.apply(
        [
            SimpleNamespace(nodeid="here::law[1]@group", obj=all_hold, function=all_hold, cls=None),
            SimpleNamespace(nodeid="here::law[2]@group", obj=all_hold, function=all_hold, cls=None),
            SimpleNamespace(nodeid="here::machine", obj=test_case.runTest, cls=test_case),
        ],  # type: ignore[list-item]
        times,
    )
    all_hold()
    test_case("runTest").runTest()

    assert expected == next(examples)
    assert expected == next(stories)


@pytest.mark.parametrize(("times", "drawn"), [(QUICK, 0), (1, 0), (FULL, 30)])
def test_a_law_that_draws_none_meets_what_is_planted(
    times: float, drawn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quick and an ordinary run have that alone; a full one draws as many as the law says."""
    met: list[int] = []

    @example(7)
    @given(st.integers())
    def law(number: int) -> None:
        met.append(number)

    monkeypatch.setattr(laws, "LISTED", {"here::law": Law(0, "", "", full=30)})
    laws.apply([SimpleNamespace(nodeid="here::law", obj=law, function=law, cls=None)], times)  # type: ignore[list-item]
    law()

    assert 7 == met[0]
    assert 1 + drawn == len(met)
