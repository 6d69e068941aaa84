"""The loop: worklists go out, come back as people leave them, and are applied; nothing else moves."""

from __future__ import annotations

from pathlib import Path

import pytest

from .handling import WAYS
from .looping import looped, shown_as_fixed


@pytest.mark.slow
@pytest.mark.sample
def test_answers_come_back_in_every_way_that_people_have(tmp_path: Path) -> None:
    """Every good answer is applied, every bad one is listed with its cell, and no other leaf moves.

    `make soak` does it with a thousand of them, for the whole sample.
    """
    loop = looped(tmp_path, products=3_500)
    assert len(loop.answers.good) + len(loop.answers.bad) > 300
    assert {language for *_, language in loop.answers.good} == {"fr", "nl", "es"}
    assert len(loop.answers.texts) >= len(WAYS) >= 30

    assert loop.accepted == loop.answers.good
    assert loop.refused == loop.answers.bad
    assert loop.listed
    assert not loop.conflicts
    assert loop.status == "SUCCESS"
    assert loop.moved <= loop.may_move
    assert loop.texts == loop.expected_texts
    assert loop.answers.asked <= loop.fixed
    assert shown_as_fixed(loop) == loop.expected
