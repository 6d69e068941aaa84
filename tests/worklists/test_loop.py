"""The loop: worklists go out, come back as people leave them, and are applied; nothing else moves."""

from __future__ import annotations

from pathlib import Path

import pytest

from .handling import WAYS
from .looping import looped, shown_as_fixed
from .test_rows import law


@pytest.mark.slow
@pytest.mark.sample
def test_answers_come_back_in_every_way_that_people_have(tmp_path: Path) -> None:
    """Every row is accounted for, every good answer applied, every bad one listed; and no other leaf moves.

    `make soak` does it with a thousand of them, for the whole sample.
    """
    loop = looped(tmp_path, products=3_500)
    assert len(loop.answers.good) + len(loop.answers.bad) > 150
    assert {language for *_, language in loop.answers.good} == {"fr", "nl", "es"}
    assert len(loop.answers.texts) >= len(WAYS) >= 30

    # Sorted, filtered, split, merged, copied, saved by other programs: rows = all states together.
    assert loop.fix is not None
    law(loop.fix)
    rows = loop.fix.row_counts.groupby("file")["rows"].sum()
    assert loop.filled_rows == {Path(file).name: count for file, count in rows.items()}
    # Confirmed answers are among the accepted ones below; of no other file anything had to be.
    assert loop.to_confirm == loop.needs_confirmation
    assert not len(loop.fix.needs_confirmation), loop.fix.needs_confirmation["reason"].tolist()
    assert ["asked Ben"] * 3 == loop.fix.notes["text"].tolist()

    assert loop.accepted == loop.answers.good
    assert loop.refused == loop.answers.bad
    assert loop.listed
    assert not loop.conflicts
    assert loop.status == "SUCCESS"
    assert loop.moved <= loop.may_move
    assert loop.texts == loop.expected_texts
    assert loop.answers.asked <= loop.fixed
    assert shown_as_fixed(loop) == loop.expected
