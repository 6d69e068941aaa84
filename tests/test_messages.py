"""Sentences that users meet are whole: punctuation, and one sentence for one thing and for several."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from prodex.phrases import duration_in_words, moment_in_words
from tests.cases import each_row

from .messages import Message, messages


@pytest.fixture(scope="module")
def sentences() -> list[Message]:
    """Return all of them."""
    return list(messages())


@pytest.mark.slow
def test_every_sentence_is_found(sentences: list[Message]) -> None:
    """Of errors, commands, panels, options and rules."""
    found = [one.text for one in sentences]
    for words in (
        "No snapshot yet.",
        "Do not send",
        "GTIN missing or wrong",
        "JupyterLab does not run as root",
    ):
        assert [text for text in found if words in text], words


@pytest.mark.slow
def test_no_sentence_is_spelled_carelessly(sentences: list[Message]) -> None:
    """No two spaces in a row, no space before a full stop or a comma, no two full stops that are not three."""
    careless = re.compile(r"[^ \n]  +[^ \n{]| [,;](?: |$)|(?<=\w) \.(?: |$)|(?<!\.)\.\.(?![./\w'\"])")
    assert [] == [one for one in sentences if careless.search(one.text)]


@each_row(
    ("duration", "words"),
    [
        (0, "0 s"), (timedelta(seconds=-5), "0 s"), (0.4, "0 s"), (timedelta(seconds=89), "89 s"), (100, "2 min"),
        (timedelta(minutes=59), "59 min"), (timedelta(minutes=121), "2 h"), (timedelta(days=3), "3 days"),
    ],
)  # fmt: skip
def test_how_long_and_how_old_are_said_alike(duration: float | timedelta, words: str) -> None:
    """In the unit that a person would take; a clock that was set back makes nothing younger than now."""
    assert words == duration_in_words(duration)


@each_row(
    ("zone", "words"),
    [(UTC, "2026-11-20 23:30 UTC"), (ZoneInfo("Europe/Paris"), "2026-11-21 00:30 CET"),
     (timezone(timedelta(hours=-3)), "2026-11-20 20:30 UTC-03:00")],
)  # fmt: skip
def test_a_moment_is_said_with_its_zone(zone: tzinfo, words: str) -> None:
    """The day is that of the zone."""
    assert words == moment_in_words(datetime(2026, 11, 20, 23, 30, tzinfo=UTC), zone=zone)
