"""Each kind of answer once or twice: the good ones are applied as they are meant, and the bad ones change nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from .every_kind import KINDS, given


@pytest.mark.slow
def test_every_kind_of_answer_becomes_what_it_means(tmp_path: Path) -> None:
    """`python -m tests.soak answers` gives a thousand of them."""
    found = given(tmp_path / "answers", 2 * len(KINDS))
    assert ([], []) == (found.wrong, found.others)
    assert (found.good, found.bad) == (found.applied, found.held)
    assert found.rows == found.accounted == 2 * len(KINDS)
