"""What headers of replies say of times. Whatever stands in them, reading them never fails."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def http_date(text: str | None) -> datetime | None:
    """Read a date of HTTP (RFC 9110, 5.6.7), in UTC; None for what is none.

    >>> http_date("Sun, 06 Nov 1994 08:49:37 GMT")
    datetime.datetime(1994, 11, 6, 8, 49, 37, tzinfo=datetime.timezone.utc)
    >>> http_date("Fri, 31 Dec 9999 23:59:59 -1200"), http_date("soon"), http_date(None)
    (None, None, None)
    """
    try:
        date = parsedate_to_datetime(text or "")
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    # The library's own words for what is no date are many, and a date may lie outside of what a datetime holds.
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return None


def retry_after(text: str | None, *, now: datetime | None = None) -> float | None:
    """Read Retry-After, which is a number of seconds or a date; None for what is neither.

    >>> retry_after("120"), retry_after("9" * 400), retry_after("Fri, 31 Dec 9999 23:59:59 -1200"), retry_after("soon")
    (120.0, None, None, None)
    """
    word = (text or "").strip()
    if re.fullmatch(r"[0-9]{1,9}", word):
        return float(word)
    moment = http_date(word)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds()) if moment else None
