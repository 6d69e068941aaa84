"""What is kept is dated by one clock, which a simulation sets to the time of its service."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import prodex
from prodex import clock
from prodex.sandbox import Sandbox
from prodex_sandbox.sample import shared_products

EVENING = datetime(2026, 11, 10, 20, tzinfo=UTC)


def is_evening(moment: datetime) -> bool:
    return timedelta(0) <= moment - EVENING < timedelta(minutes=1)


def time_of(folder: Path | None) -> datetime:
    assert folder is not None
    return datetime.strptime(folder.name, "%Y-%m-%dT%H%M%S.%fZ").replace(tzinfo=UTC)


def test_it_runs_from_the_moment_that_it_was_set_to() -> None:
    """It goes on from there, and is the machine's again afterwards, also after an error."""
    with clock.at(EVENING):
        first = clock.now()
        with suppress(ZeroDivisionError), clock.at(EVENING - timedelta(days=1)):
            assert clock.now() < EVENING
            1 / 0  # noqa: B018 - an error
        assert first < clock.now()
        assert is_evening(first)
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=10)


def test_other_threads_keep_the_time_of_the_machine() -> None:
    """What is loaded beside a simulation is not dated by it."""
    seen = []
    with clock.at(EVENING):
        thread = threading.Thread(target=lambda: seen.append(clock.now()))
        thread.start()
        thread.join()
    assert not is_evening(seen[0])


@pytest.fixture
def exchange() -> Iterator[Sandbox]:
    """Serve a small sample, the time of which can be set."""
    with Sandbox(shared_products(60)) as sandbox:
        yield sandbox


@pytest.mark.slow
def test_what_is_loaded_and_audited_is_of_that_time(exchange: Sandbox) -> None:
    """Snapshot, audit and figures have its date, and the clocks of service and client agree."""
    key = exchange.credentials[0]
    client = prodex.connect(
        base_url=exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )
    exchange.set_time(EVENING)
    with clock.at(EVENING):
        first = prodex.load_products(client, name="shop", max_age=0, progress=False)
        audit = prodex.audit(first, "core", progress=False).save()
        assert prodex.load_products(client, name="shop", progress=False).folder == first.folder
    exchange.set_time(EVENING + timedelta(days=1))
    with clock.at(EVENING + timedelta(days=1)):
        second = prodex.refresh("shop", client, progress=False)

    assert is_evening(time_of(first.folder))
    assert is_evening(time_of(second.folder) - timedelta(days=1))
    for moment in (first.origin.server_time, first.origin.loaded_at):
        assert moment is not None
        assert timedelta(seconds=-1) < moment - EVENING < timedelta(minutes=1)
    assert is_evening(audit.audited_at)
    assert is_evening(audit.now.replace(tzinfo=UTC))
    assert is_evening(time_of(prodex.open_audit("shop").folder))
    assert is_evening(prodex.watch("shop", now=EVENING).moment or datetime.now(UTC))
    assert [] == [*first.origin.ledger.notes, *second.origin.ledger.notes]
    assert second.folder == prodex.open_snapshot("shop").folder
    assert first.folder == prodex.open_snapshot("shop@2026-11-10").folder
