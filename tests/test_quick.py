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


def test_a_quick_run_has_a_part_of_every_slow_test_with_cases() -> None:
    """The list names tests that there are, each with its seconds."""
    lines = [line.split() for line in quick.LIST.read_text("utf-8").splitlines()]

    assert len(lines) == len({test for _, test in lines})
    assert all(float(seconds) >= quick.SLOW_FROM for seconds, _ in lines)
