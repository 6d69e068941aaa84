"""Clocks that were set: a load with a wrong one costs the next refresh nothing, and nothing is reused for its sake."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import prodex
from prodex import clock
from prodex.load.clocks import Clocks, was_set
from prodex.load.resume import reusable_snapshot, unfinished_loads
from prodex.sandbox import Behaviour, Sandbox
from prodex.store.archive import snapshots_folder
from tests.cases import each_row
from tests.load.exchange import asked, connected, loaded, named, records, renamed

KNOWN = records(60)
A_DAY = timedelta(days=1)


class Exchange(Sandbox):
    """A catalogue whose service is some days ahead of this machine."""

    def __init__(self) -> None:
        self.behaviour_ = Behaviour(clock_skew=0.001)
        super().__init__(records(60), behaviour=self.behaviour_)

    def turn(self, days: float) -> None:
        """Set the clock of the service, which is no setting that changes otherwise."""
        object.__setattr__(self.behaviour_, "clock_skew", 86_400 * days)


@pytest.fixture
def exchange() -> Iterator[Exchange]:
    """Serve a catalogue."""
    with Exchange() as sandbox:
        yield sandbox


def clocks_of_the_load(folder: Path | None, ours: float, service: float | None) -> None:
    """Have a snapshot say that the clocks were so many days ahead when it was loaded; the service may send no Date."""
    assert folder is not None
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    origin = manifest["origin"]
    now = datetime.fromisoformat(origin["loaded_at"])
    origin["loaded_at"] = (now + ours * A_DAY).isoformat()
    origin["server_time"] = None if service is None else (now + service * A_DAY).isoformat()
    path.write_text(json.dumps(manifest), "utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ours", "service", "days"),
    [
        # On the next day, before the moment that a clock showed.
        *[(3, 0, 1), (3, None, 1), (0, 3, 1), (0, None, 1), (0, 1.2, 1), (3, 3, 1), (-9000, None, 1)],
        # And after it, when nothing is in the future any more.
        *[(3, 0, 4), (0, 3, 4), (0, 2.5, 2.6), (-3, 0, 1), (0, -3, 1), (-9000, 0, 1)],
    ],
)
def test_a_refresh_after_a_load_with_a_wrong_clock_misses_nothing(
    exchange: Exchange, ours: float, service: float | None, days: float
) -> None:
    """Whose clock it was, and whether the refresh comes before that wrong moment or after it.

    Nothing is listed, as from 10,000 products on, so that only the bound of the request decides.
    """
    old = loaded(exchange, "scroll")
    clocks_of_the_load(old.folder, ours, service)
    exchange.turn(0.5)
    exchange.change([renamed(KNOWN[5], "autre")])

    exchange.turn(days)
    with clock.at(datetime.now(UTC) + days * A_DAY):
        new = prodex.refresh("shop", connected(exchange), sweep=False)

    assert "autre" == named(new)[6]
    assert new.folder == prodex.open_snapshot("shop").folder


def test_a_newest_update_in_the_future_hides_nothing(exchange: Exchange) -> None:
    """The service's clock was ahead and dated products of that time; those of today are asked for all the same."""
    ahead = f"{datetime.now(UTC) + 3 * A_DAY:%Y-%m-%dT%H:%M:%S}"
    exchange.change([{**KNOWN[7], "updatedAt": ahead}], moves_updated_at=False)
    old = loaded(exchange, "scroll")
    clocks_of_the_load(old.folder, 0, 3)
    exchange.change([renamed(KNOWN[5], "autre")])

    new = prodex.refresh("shop", connected(exchange), sweep=False)

    assert "autre" == named(new)[6]
    assert any("a clock was set since" in note for note in new.origin.ledger.notes)


def test_clocks_that_run_on_cost_no_call(exchange: Exchange) -> None:
    """Whatever their difference is: it is the same in both loads."""
    loaded(exchange, "scroll")
    begin = len(exchange.requests)
    first = prodex.refresh("shop", connected(exchange), sweep=False)
    calls = len(asked(exchange, begin))

    clocks_of_the_load(first.folder, -5, -5)
    begin = len(exchange.requests)
    with clock.at(datetime.now(UTC)):
        again = prodex.refresh("shop", connected(exchange), sweep=False)

    assert calls == len(asked(exchange, begin))
    assert () == again.origin.ledger.notes


@each_row(
    ("ours", "theirs", "expected"),
    [
        (24, 24, False),
        (24.1, 24, False),
        (24, 25, True),
        (-24, 24, True),
        (24, None, False),
        (-1, None, True),
    ],
)
def test_a_clock_was_set_if_the_hours_between_two_loads_differ(
    ours: float, theirs: float | None, expected: bool
) -> None:
    """By more than ten minutes; without a Date only a step back is seen."""
    monday = datetime(2026, 11, 23, 4, tzinfo=UTC)
    before = Clocks(None if theirs is None else monday + 9 * A_DAY, monday)
    after = Clocks(
        None if theirs is None else monday + 9 * A_DAY + theirs * A_DAY / 24, monday + ours * A_DAY / 24
    )

    assert expected == was_set(before, after)


@pytest.mark.slow
@each_row(("ours", "service"), [(3, 0), (3, 3), (0, -3), (-2, 0)])
def test_a_snapshot_with_a_wrong_clock_is_never_reused(
    exchange: Exchange, ours: float, service: float
) -> None:
    """Neither now nor when our clock comes to the moment that it shows, when it would seem to be just made."""
    query = prodex.ProductQuery()
    old = loaded(exchange, "scroll")
    clocks_of_the_load(old.folder, ours, service)
    service_ = connected(exchange)
    moments = [
        datetime.now(UTC),
        datetime.now(UTC) + (ours if ours > 0 else 0) * A_DAY + timedelta(minutes=5),
    ]
    if ours == service:
        moments.pop()  # both clocks agree: then it is young

    for moment in moments:
        with clock.at(moment):
            assert reusable_snapshot(service_, query, "shop", None) is None


def test_a_load_that_was_interrupted_under_a_wrong_clock_starts_again(exchange: Exchange) -> None:
    """Its pages may be of any day: they are not continued with, and are removed."""
    with clock.at(datetime.now(UTC) + 3 * A_DAY), pytest.raises(prodex.errors.ProdexError):
        loaded(exchange, "scroll", budget=prodex.limits.LoadBudget(calls=3))
    (left,) = unfinished_loads(snapshots_folder())
    begin = len(exchange.requests)

    catalog = loaded(exchange, "scroll")

    assert not left.is_resumable
    assert 60 == len(catalog)
    assert len(asked(exchange, begin)) > 3
    assert [] == unfinished_loads(snapshots_folder())
