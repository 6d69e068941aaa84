"""One grammar of dates for all that people type: ISO 8601, and a day that can be read in one way only."""

# ruff: noqa: DTZ001 - a time without a zone is one of the cases

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.errors import InputError
from prodex.phrases import moment_in_words
from prodex.written_dates import written_date, written_day
from tests.cases import each_row

_AN_HOUR = timezone(timedelta(hours=1))

#: As typed, and the one day or moment that it can be.
CERTAIN = [
    ("2026-11-23", date(2026, 11, 23)), ("20261123", date(2026, 11, 23)), ("2026-W48-1", date(2026, 11, 23)),
    ("2026-1-5", date(2026, 1, 5)), ("2026/11/23", date(2026, 11, 23)), ("2026.11.23", date(2026, 11, 23)),
    ("23.11.2026", date(2026, 11, 23)), ("23/11/2026", date(2026, 11, 23)), ("11/23/2026", date(2026, 11, 23)),
    ("23-11-2026", date(2026, 11, 23)), ("5.5.2026", date(2026, 5, 5)), ("0001-01-01", date(1, 1, 1)),
    ("9999-12-31", date(9999, 12, 31)), ("2028-02-29", date(2028, 2, 29)), (" 2026-11-23 ", date(2026, 11, 23)),
    ("\u00a02026-11-23\n", date(2026, 11, 23)),
    ("\uff12\uff10\uff12\uff16\uff0d\uff11\uff11\uff0d\uff12\uff13", date(2026, 11, 23)),
    ("2026-11-23T08:05", datetime(2026, 11, 23, 8, 5)), ("2026-11-23 08:05", datetime(2026, 11, 23, 8, 5)),
    ("2026-11-23 8:05", datetime(2026, 11, 23, 8, 5)), ("2026-11-23t08:05:01", datetime(2026, 11, 23, 8, 5, 1)),
    ("23.11.2026 00:00", datetime(2026, 11, 23)), ("2026-11-23T08:05:01,5", datetime(2026, 11, 23, 8, 5, 1, 500_000)),
    ("2026-11-23T08:05:01.123456789", datetime(2026, 11, 23, 8, 5, 1, 123_456)),
    ("2026-11-23T08:05Z", datetime(2026, 11, 23, 8, 5, tzinfo=UTC)),
    ("2026-11-23T08:05z", datetime(2026, 11, 23, 8, 5, tzinfo=UTC)),
    ("2026-11-23 08:05 UTC", datetime(2026, 11, 23, 8, 5, tzinfo=UTC)),
    ("2026-11-23T08:05:00+01:00", datetime(2026, 11, 23, 8, 5, tzinfo=_AN_HOUR)),
    ("2026-11-23 08:05 +0100", datetime(2026, 11, 23, 8, 5, tzinfo=_AN_HOUR)),
    ("20261123T080500Z", datetime(2026, 11, 23, 8, 5, tzinfo=UTC)),
]  # fmt: skip

#: Why it is no certain date, and what was typed.
UNCERTAIN = {
    "2026-04-03 or 2026-03-04": ["03/04/2026", "3.4.2026", "03-04-2026", "03/04/2026 08:00"],
    "no day of the calendar": [
        "31/02/2026", "2026-02-30", "2026-13-01", "2026-00-10", "0000-01-01", "00.01.2026", "2027-02-29", "13/13/2026",
        "99999999", "2026-W60-1",
    ],
    "no time of day": ["2026-11-23 25:00", "2026-11-23T08:61", "2026-11-23 08:00 CET", "2026-11-23T08:00+99:00"],
    "no date": [
        "", " ", "soon", "next year", "12:30", "T12:30", "2026", "2026-11", "23.11.26", "10000-01-01", "-2026-11-23",
        "2026-11/23", "2026--11-23", "2026-11-23 and later", "2026-11-23x08:00", "11 2026", "1e3", "1234567", "5-6",
        "2026-11-23-24", "23. November 2026", "2026\n11\n23", "2026 - 11 - 23", "2\u200b026-11-23",
    ],
    "other digits": ["\u0662\u0660\u0662\u0666-\u0661\u0661-\u0662\u0663", "\u0968\u0966\u0968\u096c-11-23"],
    "characters": ["1" * 40_000, "2026-11-23" + " " * 40_000 + "x"],
}  # fmt: skip


@each_row(("typed", "meant"), CERTAIN)
def test_a_date_that_is_certain_is_understood(typed: str, meant: date) -> None:
    """A day without a time of day stays a day, and a time without a zone stays without one."""
    found = written_date(typed)

    assert (type(meant), meant) == (type(found), found)
    if isinstance(meant, datetime):
        assert meant.utcoffset() == found.utcoffset()  # type: ignore[attr-defined]


@each_row(("typed", "why"), [(one, why) for why, all_ in UNCERTAIN.items() for one in all_])
def test_what_is_not_certain_is_refused_with_what_to_write(typed: str, why: str) -> None:
    """Two days, none, or a day that no calendar has."""
    with pytest.raises(InputError, match=why) as refused:
        written_date(typed)

    assert len(str(refused.value)) < 200


@each_row("typed", ["2026-11-23", "23.11.2026", "2026-11-23T00:00:00", "23.11.2026 00:00"])
def test_midnight_is_what_spreadsheets_make_of_a_day(typed: str) -> None:
    """It is read as the day that was typed."""
    assert date(2026, 11, 23) == written_day(typed)


@each_row("typed", ["2026-11-23T08:00", "2026-11-23T00:00Z", "2026-11-23T00:00:01"])
def test_where_a_day_is_asked_a_time_of_day_is_refused(typed: str) -> None:
    """Its hours, or its zone, would be lost without a word."""
    with pytest.raises(InputError, match="2026-11-23"):
        written_day(typed)


@given(st.dates())
def test_every_day_is_read_back(day: date) -> None:
    """As ISO 8601 writes it, and as Europe writes it wherever the month cannot be the day."""
    assert day == written_date(day.isoformat())
    if day.day > 12:
        assert day == written_date(f"{day.day}.{day.month}.{day.year:04}")


@given(st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1), timezones=st.timezones() | st.none()))
def test_every_moment_is_read_back(moment: datetime) -> None:
    """As ISO 8601 writes it, and as prodex writes it for people."""
    if moment.utcoffset() is None or not moment.utcoffset().total_seconds() % 60:  # type: ignore[union-attr]
        assert moment == written_date(moment.isoformat()).replace(tzinfo=moment.tzinfo)  # type: ignore[call-arg]
    if moment.tzinfo is not None:
        words = moment_in_words(moment, "%Y-%m-%d %H:%M:%S.%f", UTC)
        # As moments: clocks that are put back show an hour twice, and Python calls no two of its times equal.
        found = written_date(words)
        assert isinstance(found, datetime)
        assert moment.astimezone(UTC) == found


@given(st.text(st.sampled_from("0123456789-./:TZW +\u0661\uff11"), max_size=24))
def test_whatever_is_typed_is_a_date_or_is_refused(typed: str) -> None:
    """Nothing crashes."""
    try:
        found = written_date(typed)
    except InputError:
        return
    assert isinstance(found, date)
