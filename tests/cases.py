"""Tables as tests: `@table(names, rows)` is one test that goes through all rows and lists those that are wrong.

It is written as `pytest.mark.parametrize` is, which makes a test of each row. What pytest does around a test takes
longer than most rows. Rows that take a tenth of a second or more, or that need a fixture which this module does not
make anew, stay tests of their own.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from prodex.quality.rulebook import RULES

#: How many letters of a value and of an error are shown for each row that is wrong.
_VALUE, _ERROR = 100, 1500
#: A test fails by raising one of these. A skipped row is not among them: it would skip all others.
_FAILURES = (Exception, pytest.fail.Exception)
#: Fixtures of a single test that each row gets anew.
RENEWED = frozenset({"capsys", "home", "monkeypatch", "tmp_path"})

_HOMES = count(1)


@contextmanager
def own_rules() -> Iterator[None]:
    """Forget the rules that are defined meanwhile."""
    before = dict(RULES)
    try:
        yield
    finally:
        RULES.clear()
        RULES.update(before)


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


def table(
    names: str | Sequence[str],
    rows: Iterable[Any],
    ids: Iterable[str | None] | Callable[[Any], object] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make one test of a function that is called with each row, and that lists all rows for which it fails.

    Each row has a home, rules, `tmp_path`, `monkeypatch` and `capsys` of its own.

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
    >>> @table("text, number", [("1", 1), ("2", 3), ("x", 0)])
    ... def test_numbers(text: str, number: int) -> None:
    ...     if int(text) != number:
    ...         raise AssertionError(f"{int(text)} is not {number}")
    >>> test_numbers()
    Traceback (most recent call last):
    AssertionError: 2 of 3 rows are wrong:
    - '2', 3: AssertionError: 2 is not 3
    - 'x', 0: ValueError: invalid literal for int() with base 10: 'x'
    """
    given = (
        [name.strip() for name in names.split(",") if name.strip()] if isinstance(names, str) else list(names)
    )
    is_value = isinstance(names, str) and len(given) == 1
    values = [(row,) if is_value else tuple(row) for row in rows]
    labels = _labels(values, ids)
    if not values:
        raise ValueError("a table without rows proves nothing")
    if any(len(row) != len(given) for row in values):
        raise ValueError(f"a row has not as many values as {given}")

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def test(*args: Any, **fixtures: Any) -> None:
            __tracebackhide__ = True
            wrong = []
            for number, (label, row) in enumerate(zip(labels, values, strict=True)):
                with ExitStack() as stack:
                    renewed = _renewed(fixtures, number, stack)
                    try:
                        function(*args, **renewed, **dict(zip(given, row, strict=True)))
                    except _FAILURES as error:
                        wrong.append(f"- {label}: {type(error).__name__}: {str(error)[:_ERROR]}")
            if wrong:
                message = f"{len(wrong)} of {len(values)} rows are wrong:\n"
                raise AssertionError(message + "\n".join(wrong))

        others = [one for name, one in signature.parameters.items() if name not in given]
        test.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        test.is_table = True  # type: ignore[attr-defined]
        return test

    return decorate


def _labels(
    values: list[tuple[Any, ...]], ids: Iterable[str | None] | Callable[[Any], object] | None
) -> list[str]:
    if ids is None:
        return [", ".join(repr(value)[:_VALUE] for value in row) for row in values]
    if callable(ids):
        return [", ".join(str(ids(value))[:_VALUE] for value in row) for row in values]
    return [str(one) for one in ids]


def _renewed(fixtures: dict[str, Any], number: int, stack: ExitStack) -> dict[str, Any]:
    """Return the fixtures of a row, of which those of a single test are made anew."""
    renewed = dict(fixtures)
    stack.enter_context(own_rules())
    if "PRODEX_HOME" in os.environ:
        home = Path(os.environ["PRODEX_HOME"])
        renewed_home = home.with_name(f"{home.name}-row-{next(_HOMES)}")
        stack.enter_context(own_home(renewed_home))
        if "home" in renewed:
            renewed["home"] = renewed_home
    if "tmp_path" in renewed:
        renewed["tmp_path"] = renewed["tmp_path"] / f"row-{number}"
        renewed["tmp_path"].mkdir()
    if "monkeypatch" in renewed:
        renewed["monkeypatch"] = stack.enter_context(pytest.MonkeyPatch.context())
    if "capsys" in renewed:
        renewed["capsys"].readouterr()
    return renewed
