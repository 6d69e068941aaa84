"""This machine's clock is wrong for a while: it ends no wait for an import, so that nothing is sent twice."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
import requests
from tests.corrections.machines import Machines
from tests.on_the_way import carried, reply, session_of
from tests.send.mill_exchange import small_exchange
from tests.worklists.interrupting import settle

import prodex
from prodex.errors import InputError
from prodex.ledger.upsert_file import UpsertFile
from prodex.ledger.upserts import recent_entries
from prodex.sandbox import Fault
from prodex_sandbox.records import imports


@contextmanager
def ahead(days: float) -> Iterator[None]:
    """Let the clock of this machine be ahead, in all of the client and not in the service; less than none is behind."""

    class Alike(type):
        def __instancecheck__(cls, one: object) -> bool:
            return isinstance(one, datetime)

    class Wrong(datetime, metaclass=Alike):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.now(tz) + timedelta(days=days)

    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("prodex.") and getattr(module, "datetime", None) is datetime:
                patch.setattr(module, "datetime", Wrong)
        yield


@contextmanager
def dated(
    service: prodex.service.Client, date: Callable[[datetime], datetime | str | None]
) -> Iterator[None]:
    """Let the replies of a service have another date."""
    session = session_of(service)
    send = session.send

    def sent(*arguments: Any, **options: Any) -> requests.Response:
        reply = send(*arguments, **options)
        reply.headers.pop("Date", None)
        made = date(datetime.now(UTC))
        if made is not None:
            reply.headers["Date"] = made if isinstance(made, str) else format_datetime(made, usegmt=True)
        return reply

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "send", sent)
        yield


#: What the replies have as their date.
DATES: dict[str, Callable[[datetime], datetime | str | None]] = {
    "its own clock": lambda now: now,
    "a clock that is hours off": lambda now: now - timedelta(hours=9),
    "none": lambda _: None,
    "no date": lambda _: "soon",
}


@pytest.fixture
def mill() -> Iterator[Machines]:
    """Give a manufacturer."""
    with small_exchange() as sandbox:
        yield Machines(sandbox)


@contextmanager
def held(mill: Machines) -> Iterator[None]:
    """Let the service import nothing for a while."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imports, "next_import", lambda _: None)
        yield
    settle(mill.sandbox)


def corrected(catalog: prodex.Catalog) -> prodex.worklists.Fix:
    """Correct one text."""
    return prodex.correct_from(
        [prodex.TextCorrection("1", "namePublicLong", "fr", "Nom 1", before="Name 1 fr")], catalog
    )


def received(mill: Machines) -> int:
    """Return how many calls wrote something."""
    return sum(path.endswith("/products") for _, path, _ in mill.sandbox.requests)


#: A call that was answered is tracked by its number, and the dates of replies only say how long it takes. A date that
#: cannot be read is none.
AHEAD, BEHIND = (0, 3), (-3, 0)
ANSWERS = [
    *(
        ("lost", dates, when)
        for dates in ("its own clock", "none", "a clock that is hours off")
        for when in (AHEAD, BEHIND)
    ),
    ("lost", "no date", AHEAD),
    ("came", "its own clock", AHEAD),
    ("came", "none", BEHIND),
]


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "dates", "when"), ANSWERS)
def test_a_clock_that_was_wrong_once_sends_nothing_twice(
    mill: Machines, dates: str, when: tuple[float, float], answer: str
) -> None:
    """While the service still imports: with the same `Fix`, and by a later process that knows the journals only."""
    then, now = when
    catalog = mill.load()
    first = corrected(catalog)
    with held(mill), dated(mill.service, DATES[dates]):
        if answer == "lost":
            mill.sandbox.order(Fault("truncated", endpoint="upsert"))
        with ahead(then):
            first.apply(mill.service, progress=False)
        for fix in (first, corrected(catalog)):
            with ahead(now):
                tracking = fix.apply(mill.service, progress=False)
            assert {"lost": {"unknown": 1}, "came": {"IN_PROGRESS": 1}}[answer] == dict(tracking.statuses)
        # Something else is not written over it either.
        other = prodex.correct_from(
            [prodex.TextCorrection("1", "namePublicLong", "fr", "Autre", before="Name 1 fr")], catalog
        )
        with ahead(now), pytest.raises(InputError, match="no answer is left to send"):
            other.apply(mill.service, progress=False)
        assert {"conflict": 1} == dict(other.counts)
        assert 1 == received(mill)
        if answer == "lost":
            with ahead(now):
                fix.apply(mill.service, also="unknown", progress=False)
            assert 2 == received(mill)


@pytest.mark.slow
@pytest.mark.parametrize("days", [0, 3, -3])
def test_after_a_day_of_the_service_a_lost_call_is_over(mill: Machines, days: float) -> None:
    """Whatever the clock here says; a day that is not over by its clock is waited for."""
    catalog = mill.load()
    mill.sandbox.order(Fault("cut", endpoint="upsert"))
    corrected(catalog).apply(mill.service, progress=False)
    before = received(mill)
    for hours, sent in ((23, 0), (25, 1)):
        with dated(mill.service, lambda now, after=hours: now + timedelta(hours=after)), ahead(days):
            corrected(catalog).apply(mill.service, progress=False)
        assert sent == received(mill) - before


@pytest.mark.slow
@pytest.mark.parametrize("dates", DATES)
def test_an_import_that_ended_a_moment_ago_is_waited_for_to_be_seen(mill: Machines, dates: str) -> None:
    """A clock that is ahead does not make the moment shorter."""
    catalog = mill.load()
    with dated(mill.service, DATES[dates]), held(mill):
        tracking = corrected(catalog).apply(mill.service, progress=False)

        def ended(request: requests.PreparedRequest, _: object) -> requests.Response:
            return reply(request, {"status": "SUCCESS", "count": 1})

        with carried("track", ended, session_of(mill.service)):
            tracking.wait(progress=False)
            for days in (0, 3):
                with ahead(days):
                    again = corrected(catalog).apply(mill.service, progress=False)
                assert {"SUCCESS": 1} == dict(again.statuses)
        assert 1 == received(mill)


def test_a_load_after_a_lost_reply_is_not_reused_because_of_a_clock(mill: Machines, home: Path) -> None:
    """A snapshot that was begun while the import may run holds old values, whatever its date is."""
    mill.sandbox.order(Fault("truncated", endpoint="upsert"))
    with held(mill):
        mill.here(lifeCycle=7, wait=False)
        with ahead(1.05):
            first = prodex.load_products(mill.service, name="mine", max_age=3600, progress=False)
            again = prodex.load_products(mill.service, name="mine", max_age=3600, progress=False)
    assert first.folder != again.folder


def test_what_is_over_is_not_read_again_and_again(mill: Machines, home: Path) -> None:
    """An upsert that ended long ago by the clock of the service is passed over, until something is sent of it again."""
    catalog = mill.load()
    corrected(catalog).apply(mill.service, progress=False).wait(progress=False)
    assert 1 == len(list(recent_entries(datetime.now(UTC) + timedelta(days=30))))
    with dated(mill.service, lambda now: now + timedelta(days=2)):
        corrected(catalog).apply(mill.service, progress=False)
    assert 1 == len(list(recent_entries(datetime.now(UTC))))
    assert [] == list(recent_entries(datetime.now(UTC) + timedelta(days=30)))
    (path,) = home.glob("tracking/*/upsert.sqlite")
    UpsertFile(path).begin_sending(0)
    assert 1 == len(list(recent_entries(datetime.now(UTC) + timedelta(days=30))))
