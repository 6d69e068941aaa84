"""Dates as people write them: ISO 8601, and a day that can be read in one way only. There is one grammar for all.

A date is certain, or it is refused with what to write instead: `03/04/2026` is a day of March in one country and one of
April in another. Time zones are written by their names, such as Europe/London.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from prodex.advice import Argument, advice
from prodex.arguments import described, is_missing
from prodex.errors import InputError
from prodex.phrases import hint
from prodex.written_numbers import has_other_digits, narrow

#: As nearly all dates are written.
_USUAL = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}:[0-9]{2})?")
#: A day, and perhaps a time of day behind it.
_DATE = re.compile(r"([0-9][0-9W./-]*)(?:[T ] *([0-9].*))?")
_YEAR_FIRST = re.compile(r"([0-9]{4})([-./])([0-9]{1,2})\2([0-9]{1,2})")
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-./])([0-9]{1,2})\2([0-9]{4})")
#: The other forms of ISO 8601: without hyphens, and the day of a week.
_ISO = re.compile(r"[0-9]{8}|[0-9]{4}-?W[0-9]{2}-?[1-7]")
#: Characters of a text that may be a date, with some room.
_LONGEST = 60


def written_date(text: str) -> date:
    """Return the day that a text is certain to mean; the moment, where it has a time of day.

    Parameters
    ----------
    text
        As typed; spaces around it do not matter.

    Returns
    -------
    date
        A `datetime` only where a time of day is written, and with a zone only where that is written too.

    Raises
    ------
    InputError
        When it is not a date, or may be two; the message says what to write.

    Examples
    --------
    >>> str(written_date("25.1.2027")), str(written_date("2027-01-25 8:00")), str(written_date("2027-01-25T08:00Z"))
    ('2027-01-25', '2027-01-25 08:00:00', '2027-01-25 08:00:00+00:00')
    >>> written_date("03/04/2026")
    Traceback (most recent call last):
    ...
    prodex.errors.InputError: '03/04/2026' may be 2026-04-03 or 2026-03-04. Write it in this form, the year first.
    """
    if _USUAL.fullmatch(text):
        try:
            return (date if len(text) == len("2027-01-25") else datetime).fromisoformat(text)
        except ValueError:
            pass  # refused below in words
    typed = narrow(text.strip()).upper()
    found = _DATE.fullmatch(typed) if len(typed) <= _LONGEST else None
    if found is None:
        raise _no_date(text)
    day = _day(found[1], text)
    return day if found[2] is None else datetime.combine(day, _time(found[2], text))


def written_day(text: str) -> date:
    """Return the day that a text is certain to mean; midnight is what spreadsheets make of a day.

    Raises
    ------
    InputError
        When it is not a day, has a time of day, or may be two days; the message says what to write.

    Examples
    --------
    >>> written_day("2027-1-5"), written_day("25.01.2027"), written_day("2027-01-05 00:00:00")
    (datetime.date(2027, 1, 5), datetime.date(2027, 1, 25), datetime.date(2027, 1, 5))
    """
    found = written_date(text)
    if not isinstance(found, datetime):
        return found
    if found.timetz() != time.min:
        raise InputError(f"{text!r:.60} has a time of day. Write the day alone: {found.date()}.")
    return found.date()


def day_given(given: Any, what: str | Argument) -> date | None:
    """Return a day that somebody gave as a date or as text; None of None.

    Parameters
    ----------
    given
        A date, a `datetime` at midnight without a zone, or text as `written_day` reads it.
    what
        What it is given for, for the message; an argument is an option in a terminal.

    Raises
    ------
    InputError
        When it is no day, or may be two.

    Examples
    --------
    >>> day_given("2026-08-12", "as_of"), day_given(date(2026, 8, 12), "as_of")
    (datetime.date(2026, 8, 12), datetime.date(2026, 8, 12))
    """
    if given is None:
        return None
    if isinstance(given, str):
        try:
            return written_day(given)
        except InputError as error:
            raise InputError(advice("{what}: {why}", what=what, why=error)) from error
    if isinstance(given, date) and not is_missing(given):
        # A datetime is a date in Python, and its hours would be lost without a word.
        if not isinstance(given, datetime):
            return given
        if given.timetz() == time.min:
            return given.date()
    raise InputError(
        advice("{what} is {given}. Give a day, such as 2027-01-05.", what=what, given=f"{given!r:.60}")
    )


def _day(typed: str, text: str) -> date:
    if found := _YEAR_FIRST.fullmatch(typed):
        year, month, day = found[1], found[3], found[4]
    elif found := _YEAR_LAST.fullmatch(typed):
        day, month, year = found[1], found[3], found[4]
        if int(month) > 12 >= int(day):
            month, day = day, month
        elif 0 < int(day) <= 12 and 0 < int(month) != int(day):
            both = f"{_iso(year, month, day)} or {_iso(year, day, month)}"
            raise InputError(f"{text!r:.60} may be {both}. Write it in this form, the year first.")
    elif not _ISO.fullmatch(typed):
        raise _no_date(text)
    try:
        return date.fromisoformat(_iso(year, month, day) if found else typed)
    except ValueError as error:
        raise InputError(f"{text!r:.60} is no day of the calendar. Write 2027-01-05.") from error


def _iso(year: str, month: str, day: str) -> str:
    return f"{year}-{month:0>2}-{day:0>2}"


def _time(typed: str, text: str) -> time:
    padded = typed if typed[1:2].isdigit() else f"0{typed}"
    try:
        return time.fromisoformat(padded.replace("UTC", "Z").replace(" ", ""))
    except ValueError as error:
        raise InputError(
            f"{text!r:.60} has no time of day that is certain. Write 2027-01-05T08:00+01:00."
        ) from error


def _no_date(text: str) -> InputError:
    if len(text) > _LONGEST:
        return InputError(f"{text[:40]!r}... has {len(text):,} characters, which is no date.")
    if has_other_digits(text):
        return InputError(f"{text!r:.60} has other digits than 0 to 9. Write these.")
    return InputError(f"{text!r:.60} is no date. Write 2027-01-05.")


def zone_of(given: str | tzinfo | None) -> tzinfo | None:
    """Return a time zone by its name; None is the zone of this machine, as for `datetime.astimezone`.

    Raises
    ------
    InputError
        When there is no zone of this name; the message names the nearest.

    Examples
    --------
    >>> zone_of("Europe/London")
    zoneinfo.ZoneInfo(key='Europe/London')
    """
    if given is None or isinstance(given, tzinfo):
        return given
    if not isinstance(given, str):
        raise InputError(
            f"zone is {described(given)}. Give the name of a time zone, such as 'Europe/London'."
        )
    try:
        return ZoneInfo(given)
    # Names become paths below the folder of zones: "Europe" is a folder there, and "../zone" leads out of it.
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        if not available_timezones():  # as on Windows, where pandas brings the package
            raise InputError(
                f"There is no time zone {given!r:.60}, since this machine has none at all. Install the package tzdata: "
                "pip install tzdata."
            ) from error
        near = hint(given, sorted(available_timezones()), "Give a name such as 'Europe/London' or 'UTC'.")
        raise InputError(f"There is no time zone {given!r:.60}{near}") from error
