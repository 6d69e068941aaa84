"""A table as one test lists every row that is wrong, and a row shares nothing with the rows before it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from prodex.quality.rulebook import all_rules
from tests.cases import each_row, number_of_rows


@pytest.fixture
def letters(tmp_path: Path) -> Iterator[list[str]]:
    """Give a list that has to be empty again in the next row."""
    made: list[str] = []
    yield made
    made.append("ended")


@pytest.fixture
def kept(letters: list[str], home: Path) -> SimpleNamespace:
    """Depend on what is made anew."""
    return SimpleNamespace(letters=letters, home=home)


SEEN: list[tuple[list[str], Path, Path]] = []


@each_row("number", range(3))
def test_a_row_has_its_fixtures_anew(
    number: int,
    kept: SimpleNamespace,
    letters: list[str],
    tmp_path: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a row writes, defines, patches or fills is not there in the next one, and its fixtures have ended."""
    assert kept.letters is letters
    assert kept.home == home == Path(os.environ["PRODEX_HOME"])
    assert not [*letters, *tmp_path.iterdir(), *home.glob("*")]
    assert "ROW" not in os.environ
    assert "row" not in all_rules()
    assert all(made[-1] == "ended" for made, _, _ in SEEN)
    assert (tmp_path, home) not in {(path, house) for _, path, house in SEEN}
    assert number == len(SEEN)

    letters.append("row")
    home.mkdir()
    (home / "row").touch()
    (tmp_path / "row").touch()
    monkeypatch.setenv("ROW", "1")
    all_rules()["row"] = next(iter(all_rules().values()))
    SEEN.append((letters, tmp_path, home))


def test_every_wrong_row_is_listed_however_it_fails() -> None:
    """A wrong assertion, an error, and an error that does not come are listed, each with its row; what holds is not."""

    @each_row("divisor, result", [(1, 1), (2, 1), (0, 1), (4, None)])
    def divides(divisor: int, result: int | None) -> None:
        if result is None:
            with pytest.raises(ZeroDivisionError):
                assert 1 / divisor
        else:
            assert result == 1 / divisor

    with pytest.raises(AssertionError) as caught:
        divides()

    first, *rows = str(caught.value).split("\n- ")
    assert "3 of 4 rows are wrong:" == first
    assert ["2, 1: AssertionError", "0, 1: ZeroDivisionError", "4, None: Failed"] == [
        ": ".join(row.split(": ")[:2]) for row in rows
    ]


def test_tables_above_each_other_are_all_combinations() -> None:
    """Each row of one is called with each row of the other, and a failure names both."""
    called = []

    @each_row("upper", "ab", ids=["first", "second"])
    @each_row("lower", [1, 2, 3])
    def combines(upper: str, lower: int) -> None:
        called.append((upper, lower))
        assert (upper, lower) != ("b", 2)

    with pytest.raises(AssertionError, match=r"^1 of 6 rows are wrong:\n- second, 2: AssertionError"):
        combines()

    assert sorted(called) == [(upper, lower) for upper in "ab" for lower in (1, 2, 3)]
    assert (6, 0) == (number_of_rows(combines), number_of_rows(len))


def test_a_table_that_proves_nothing_is_refused() -> None:
    """One without rows, or with a row of another length."""
    with pytest.raises(ValueError, match="without rows proves nothing"):
        each_row("one", [])
    with pytest.raises(ValueError, match="not as many values"):
        each_row("one, two", [(1, 2), (1, 2, 3)])


def test_an_interrupt_ends_a_table() -> None:
    """Whoever stops a run does not wait for the other rows."""
    called = []

    @each_row("number", range(3))
    def stops(number: int) -> None:
        called.append(number)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stops()

    assert [0] == called
