"""Tables as tests: `@each_row(names, rows)` is one test that goes through all rows and lists those that are wrong.

It is written as `pytest.mark.parametrize` is, which makes a test of each row, with its fixtures and its line in every
list of tests. Rows that take a tenth of a second or more stay tests, so that all workers have some of them.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from prodex.quality.rulebook import all_rules
from tests.quick import ONE_IN

#: How many letters of a value and of an error are shown for each row that is wrong.
_VALUE, _ERROR = 100, 1500
#: A test fails by raising one of these. A skipped row is not among them: it would skip all others.
_FAILURES = (Exception, pytest.fail.Exception)


@contextmanager
def own_rules() -> Iterator[None]:
    """Forget the rules that are defined meanwhile."""
    before = dict(all_rules())
    try:
        yield
    finally:
        all_rules().clear()
        all_rules().update(before)


@contextmanager
def own_home(path: Path) -> Iterator[None]:
    """Let a folder, which need not be there, be the home."""
    before = os.environ.get("PRODEX_HOME")
    os.environ["PRODEX_HOME"] = str(path)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PRODEX_HOME", None)
        else:
            os.environ["PRODEX_HOME"] = before


def each_row(
    names: str | Sequence[str],
    rows: Iterable[Any],
    ids: Iterable[str | None] | Callable[[Any], object] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make one test of a function that is called with each row, and that lists all rows for which it fails.

    Each row has its fixtures anew, as a test of its own would have them. A fixture that has parameters is made once for
    all rows. Tables above each other are one table of all combinations. Where a test has the mark `slow`, a quick run
    takes every tenth row.

    Parameters
    ----------
    names
        The parameters that a row gives, as in `pytest.mark.parametrize`.
    rows
        A value for each, or a tuple where there are several parameters.
    ids
        What to call each row in a failure, or how to call a value. A row is its values otherwise.

    Examples
    --------
    >>> @each_row("text, number", [("1", 1), ("2", 3), ("x", 0)])
    ... def test_numbers(text: str, number: int) -> None:
    ...     if int(text) != number:
    ...         raise AssertionError(f"{int(text)} is not {number}")
    >>> test_numbers()
    Traceback (most recent call last):
    AssertionError: 2 of 3 rows are wrong:
    - '2', 3: AssertionError: 2 is not 3
    - 'x', 0: ValueError: invalid literal for int() with base 10: 'x'
    """
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    is_value = isinstance(names, str) and len(given) == 1
    values = [(row,) if is_value else tuple(row) for row in rows]
    if not values:
        raise ValueError("a table without rows proves nothing")
    if any(len(row) != len(given) for row in values):
        raise ValueError(f"a row has not as many values as {given}")
    own = [
        (label, dict(zip(given, row, strict=True)))
        for label, row in zip(_labels(values, ids), values, strict=True)
    ]

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        proof, inner = getattr(function, "table", (function, [("", {})]))
        cases = [
            (f"{label}, {more}" if more else label, row | others)
            for label, row in own
            for more, others in inner
        ]
        signature = inspect.signature(proof)
        fixtures_asked = [one for name, one in signature.parameters.items() if name not in cases[0][1]]
        asks = any(one.name == "request" for one in fixtures_asked)

        @functools.wraps(function)
        def test(*itself: Any, request: pytest.FixtureRequest | None = None, **fixtures: Any) -> None:
            wrong = []
            chosen = cases[ONE_IN - 1 :: ONE_IN] if _takes_a_tenth(request) else cases
            for number, (label, row) in enumerate(chosen):
                try:
                    with ExitStack() as stack:
                        anew = _Fixtures(request, number, stack).renewed(fixtures) if request else fixtures
                        proof(*itself, **anew, **row, **({"request": request} if asks else {}))
                except _FAILURES as error:
                    wrong.append(f"- {label}: {type(error).__name__}: {str(error)[:_ERROR]}")
            if wrong:
                raise AssertionError(f"{len(wrong)} of {len(chosen)} rows are wrong:\n" + "\n".join(wrong))

        if not asks:
            fixtures_asked.append(inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY))
        test.__signature__ = signature.replace(parameters=fixtures_asked)  # type: ignore[attr-defined]
        test.table = proof, cases  # type: ignore[attr-defined]
        return test

    return decorate


def number_of_rows(test: object) -> int:
    """Return how many rows the table of a test has, or 0 for any other test."""
    return len(getattr(test, "table", (None, ()))[1])


def _takes_a_tenth(request: pytest.FixtureRequest | None) -> bool:
    if request is None or request.node.get_closest_marker("slow") is None:
        return False
    return bool(request.config.getoption("quick"))


def _labels(
    values: list[tuple[Any, ...]], ids: Iterable[str | None] | Callable[[Any], object] | None
) -> list[str]:
    if ids is None:
        return [", ".join(repr(value)[:_VALUE] for value in row) for row in values]
    if callable(ids):
        return [", ".join(str(ids(value))[:_VALUE] for value in row) for row in values]
    return [str(one) for one in ids]


class _Fixtures:
    """The fixtures of one row: those of a single test are made anew and ended with the row."""

    def __init__(self, request: pytest.FixtureRequest, number: int, stack: ExitStack) -> None:
        self.request, self.number, self.stack = request, number, stack
        self.known = request.node._fixtureinfo.name2fixturedefs
        self.made: dict[str, Any] = {}

    def renewed(self, fixtures: dict[str, Any]) -> dict[str, Any]:
        """Return the fixtures that a test asks for, and make those that every test has beside them."""
        for name in self.request.fixturenames:
            if name != "request" and name in self.known:
                self._value(name)
        # What a row of an outer table gives is no fixture.
        return {name: self.made.get(name, value) for name, value in fixtures.items()}

    def _value(self, name: str) -> Any:
        if name not in self.made:
            self.made[name] = self._make(name)
        return self.made[name]

    def _make(self, name: str) -> Any:
        definition = self.known[name][-1]
        if name == "home" and "_homes" in definition.argnames:
            home = next(self.request.getfixturevalue("_homes"))
            self.stack.enter_context(own_home(home))
            return home
        if name == "monkeypatch":
            return self.stack.enter_context(pytest.MonkeyPatch.context())
        if definition.scope != "function" or definition.params or "request" in definition.argnames:
            return self._known_to_pytest(name)
        made = definition.func(**{one: self._value(one) for one in definition.argnames})
        if not inspect.isgenerator(made):
            return made
        self.stack.callback(next, made, None)
        return next(made)

    def _known_to_pytest(self, name: str) -> Any:
        value = self.request.getfixturevalue(name)
        if name == "tmp_path":
            value = value / f"row-{self.number}"
            value.mkdir()
        elif name in {"capsys", "capfd"}:
            value.readouterr()
        elif name in {"caplog", "recwarn"}:
            value.clear()
        return value
