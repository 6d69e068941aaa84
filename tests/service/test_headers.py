"""Times in headers: whatever a server writes there is read, or passed over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import each_row

from prodex.network.retry import http_date, retry_after

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)

# Texts that look enough like a date to get deep into whatever reads them.
_NUMBERS = st.integers(-(10**9), 10**9).map(str) | st.integers(1, 450).map("9".__mul__) | st.just("²")
_MONTHS = st.sampled_from(["Dec", "dec", "XYZ", "", "12"])
_ZONES = st.sampled_from(["GMT", "-1200", "+1200", "+9999", "-99999999", "EST", "", "Z", "+" + "9" * 400])
NEARLY_DATES = st.builds(
    "{}, {} {} {} {}:{}:{} {}".format,
    *(st.sampled_from(["Fri", "", "x"]), _NUMBERS, _MONTHS, _NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS, _ZONES),
)


@given(st.text() | NEARLY_DATES | st.text("0123456789 ,:-+GMTDec", max_size=40) | st.none())
@example("Fri, 31 Dec 9999 23:59:59 -1200")
@example("Mon, 01 Jan 0001 00:00:00 +1200")
@example("9" * 400)
@example("9" * 5000)
@example("0, 0 Dec 0 0:0:0 +" + "9" * 400)
def test_no_header_of_time_ever_fails(text: str | None) -> None:
    """Each is a moment in UTC or None, and a pause of at least nothing or None."""
    date, pause = http_date(text), retry_after(text, now=NOW)

    assert date is None or timedelta(0) == date.utcoffset()
    assert pause is None or 0 <= pause < 1e12


@given(st.integers(-30_000_000_000, 250_000_000_000))
def test_a_date_of_http_is_read_to_the_second(seconds: int) -> None:
    """And as Retry-After it is the time from now on."""
    moment = datetime.fromtimestamp(seconds, UTC)
    text = format_datetime(moment, usegmt=True)

    assert moment == http_date(text)
    assert max(0.0, (moment - NOW).total_seconds()) == retry_after(text, now=NOW)


@each_row(
    ("text", "pause"), [("0", 0), (" 120 ", 120), ("1" * 10, None), ("1.5", None), ("-1", None), ("١", None)]
)
def test_retry_after_in_seconds(text: str, pause: float | None) -> None:
    """Only digits are a number of seconds, and not more than anybody would wait."""
    assert pause == retry_after(text)
