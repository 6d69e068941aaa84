"""How tests are shared out between workers, and which of them `make check` runs."""

from __future__ import annotations

import os

import pytest

from tests import quick


@pytest.mark.xdist_group("together")
@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="there are no workers")
def test_groups_are_kept_together(request: pytest.FixtureRequest) -> None:
    """A worker knows the group of a test; without groups every worker would start a browser, and build the pages."""
    assert request.node.nodeid.endswith("@together")


@pytest.mark.parametrize(
    ("cases", "slow", "kept"),
    [
        (1, True, 0),
        (9, True, 0),
        (10, True, 1),
        (35, True, 3),
        (1, False, 1),
        (10, False, 10),
        (35, False, 12),
    ],
)
def test_a_quick_run_has_a_tenth_of_the_cases_of_slow_tests(cases: int, slow: bool, kept: int) -> None:
    """A third of many that are not marked, and all of few, wherever other tests stand between them."""
    tests = [f"test_one[{number}]@group" for number in range(cases)]
    others = [f"test_other[{number}]" for number in range(cases)]
    mixed = [one for pair in zip(tests, others, strict=True) for one in pair]
    found = quick.chosen(mixed, set(tests) if slow else set())
    assert kept == len(found & set(tests))
    assert (cases if cases <= quick.MANY else len(range(0, cases, quick.ONE_OF_MANY))) == len(
        found & set(others)
    )
