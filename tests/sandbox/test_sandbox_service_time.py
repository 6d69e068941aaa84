"""The time of the service can be set: replies, writes and simulated days are dated by it, until it is set back."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from filled import fill
from small_exchange import SHOP, Caller
from test_sandbox_at_home import served
from writer import Writer

from prodex import sandbox as at_home
from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox import sample
from prodex_sandbox.records.store import StoreUnusable

SHOPKEEPER = sample.organizations()[0]
EVENING = datetime(2026, 11, 10, 20, tzinfo=UTC)
PRODUCT = {"id": 1, "gtin": "03036811359935"}


def date_of(caller: Caller) -> datetime:
    """Return the date of a reply, of which there is one."""
    (found,) = caller.search(limit=1).raw.headers.getlist("Date")
    return parsedate_to_datetime(found)


def updated(caller: Caller) -> datetime:
    (product,) = caller.call("POST", limit=1)["data"]
    return datetime.fromisoformat(product["updatedAt"]).replace(tzinfo=UTC)


@pytest.mark.parametrize("behaviour", [Behaviour(), Behaviour(clock_skew=7200)])
def test_replies_and_writes_have_the_time_that_was_set(behaviour: Behaviour) -> None:
    """Also where the clock was off before; and set back, it is what it was."""
    with Sandbox([PRODUCT], organizations=[SHOP], labels={}, behaviour=behaviour) as sandbox:
        caller = Caller(sandbox.base_url).log_in()
        with caller.session:
            sandbox.set_time(EVENING)
            sandbox.change([PRODUCT | {"lifeCycle": 1}])
            assert timedelta(0) <= date_of(caller) - EVENING < timedelta(seconds=30)
            assert timedelta(0) <= updated(caller) - EVENING < timedelta(seconds=30)
            sandbox.set_time()
            sandbox.change([PRODUCT | {"lifeCycle": 2}])
            for moment in (date_of(caller), updated(caller)):
                assert abs(moment - behaviour.now()) < timedelta(seconds=30)


def test_an_upsert_has_the_time_that_was_set() -> None:
    """Imports are dated by the same clock."""
    with Sandbox([PRODUCT], organizations=[SHOP], labels={}) as sandbox:
        sandbox.set_time(EVENING)
        writer = Writer(sandbox.base_url, SHOP)
        with writer.session:
            writer.log_in()
            assert "SUCCESS" == writer.wait(writer.send({"data": [PRODUCT | {"lifeCycle": 1}]}))["status"]
            assert timedelta(0) <= updated(writer) - EVENING < timedelta(seconds=30)


@pytest.mark.slow
def test_simulated_days_are_those_of_the_service() -> None:
    """The last day is the service's own, and what happened on a day is dated to it."""
    with Sandbox(sample.shared_products(150)) as sandbox:
        sandbox.set_time(EVENING)
        journal = sandbox.simulate(7, incidents=["bulk_overwrite@3:all"])

        assert [date(2026, 11, day) for day in range(4, 11)] == list(journal.days)
        assert list(sandbox.journal.days) == list(journal.days)
        last = {
            entry.product_id: entry.day for entry in journal if entry.action not in {"withdrawn", "incident"}
        }
        caller = Caller(sandbox.base_url, SHOPKEEPER).log_in()
        with caller.session:
            seen = {str(one["id"]): one["updatedAt"][:10] for one in caller.call("POST", limit=500)["data"]}
        assert len(last) > 100
        assert {seen[one] for one in last if one in seen} > {"2026-11-06"}
        assert [] == [one for one, day in last.items() if one in seen and seen[one] != day.isoformat()]


def test_a_day_is_simulated_once() -> None:
    """Days that were simulated cannot come again; later ones can, also with the machine's own clock."""
    with Sandbox(sample.shared_products(60)) as sandbox:
        sandbox.set_time(EVENING)
        sandbox.simulate(2)
        with pytest.raises(ValueError, match="2 days begin on 2026-11-10; days until 2026-11-10"):
            sandbox.set_time(EVENING + timedelta(days=1)) or sandbox.simulate(2)
        assert [date(2026, 11, 11)] == list(sandbox.simulate(1).days)
        sandbox.set_time()
        assert [date(2026, 11, 12)] == list(sandbox.simulate(1).days)
        assert [date(2026, 11, day) for day in (9, 10, 11, 12)] == list(sandbox.journal.days)


def test_a_gap_between_days_is_in_the_journal() -> None:
    """On these days nothing happened."""
    with Sandbox(sample.shared_products(60)) as sandbox:
        sandbox.set_time(EVENING)
        sandbox.simulate(1)
        sandbox.set_time(EVENING + timedelta(days=3))
        sandbox.simulate(1)
        days = sandbox.journal.counts
        assert [date(2026, 11, day) for day in (10, 11, 12, 13)] == list(days)
        assert {} == days[date(2026, 11, 12)]


def test_a_reset_sets_the_clock_back() -> None:
    """Everything is as at the beginning, and days follow the newest update again."""
    with Sandbox(sample.shared_products(60)) as sandbox:
        sandbox.set_time(EVENING)
        sandbox.simulate(1)
        sandbox.reset()
        with Caller(sandbox.base_url, SHOPKEEPER).log_in().session as session:
            caller = Caller(sandbox.base_url, SHOPKEEPER, session)
            assert abs(date_of(caller) - datetime.now(UTC)) < timedelta(seconds=30)
        assert [] == list(sandbox.journal.days)
        assert [sample.AS_OF.date() + timedelta(days=1)] == list(sandbox.simulate(1).days)


@pytest.mark.slow
def test_a_service_that_runs_follows(tmp_path: Path) -> None:
    """Another process sets the time of a service that is running, and it outlasts the service."""
    home = fill(tmp_path / "sandbox", 30)
    at_home.set_time(EVENING, home=home)
    with served(home) as base_url:
        caller = Caller(base_url, SHOPKEEPER).log_in()
        with caller.session:
            assert date_of(caller) - EVENING < timedelta(seconds=60)
            at_home.set_time(home=home)
            assert abs(date_of(caller) - datetime.now(UTC)) < timedelta(seconds=30)


@pytest.mark.parametrize("moment", [datetime(2026, 11, 10, 20), "2026-11-10"])  # noqa: DTZ001 - that is the case
def test_a_moment_has_a_zone(moment: object, tmp_path: Path) -> None:
    """A moment without a zone could be any of 26 hours."""
    home = fill(tmp_path / "sandbox", 30)
    with pytest.raises(ValueError, match="give a datetime with a time zone"):
        at_home.set_time(moment, home=home)  # type: ignore[arg-type] # that is the case


def test_the_time_is_not_set_while_days_pass(tmp_path: Path) -> None:
    """One change at a time."""
    from prodex_sandbox.home import lock_changes

    home = fill(tmp_path / "sandbox", 30)
    with lock_changes(home), pytest.raises(StoreUnusable, match="being changed already"):
        at_home.set_time(EVENING, home=home)
