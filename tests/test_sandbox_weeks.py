"""Three simulated weeks: what is kept of them, what can be found in them, and how they are made again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

import prodex
from prodex import sandbox_weeks
from prodex.errors import InputError
from prodex.sandbox import Sandbox
from prodex.sandbox_weeks import PlannedLoad, WeeksRecord
from prodex_sandbox.sample import shared_products
from tests.lived import UNTIL, exchange_in, three_weeks

DAYS = [date(2026, 11, day) for day in (2, 9, 16, 18, 19, 20)]


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Sandbox]]:
    """Let the weeks pass, once for all tests that only look."""
    home = tmp_path_factory.mktemp("lived")
    with three_weeks(home) as exchange:
        yield home, exchange


@pytest.fixture
def weeks(
    lived: tuple[Path, Sandbox], monkeypatch: pytest.MonkeyPatch
) -> prodex.sandbox_weeks.SimulatedWeeks:
    """Return the weeks."""
    monkeypatch.setenv("PRODEX_HOME", str(lived[0]))
    return prodex.simulated_weeks(until=UNTIL)


def days_of(times: list[str]) -> list[date]:
    return [date.fromisoformat(time[:10]) for time in times]


@pytest.mark.slow
def test_snapshots_and_audits_are_of_their_days(weeks: prodex.sandbox_weeks.SimulatedWeeks) -> None:
    """By their names, by the service's clock and by ours, which agree; an audit is of its snapshot and of its day."""
    listed = prodex.list_snapshots("french-shop")
    assert (
        DAYS
        == days_of(listed["time"].tolist())
        == days_of(prodex.list_audits("french-shop")["time"].tolist())
    )
    assert [f"french-shop@{time}" for time in listed["time"]] == list(weeks.snapshots)
    assert date(2026, 11, 16) == date.fromisoformat(weeks.monday.partition("@")[2][:10])
    for day, name, audit in zip(DAYS, weeks.snapshots, weeks.audits, strict=True):
        catalog = prodex.open_snapshot(name)
        assert audit.catalog_folder == catalog.folder
        for moment in (catalog.origin.server_time, catalog.origin.loaded_at, audit.audited_at, audit.now):
            assert moment is not None
            assert day == moment.date()
        assert catalog.origin.complete
        assert () == catalog.origin.ledger.notes


@pytest.mark.slow
def test_the_trend_has_a_story(weeks: prodex.sandbox_weeks.SimulatedWeeks) -> None:
    """After suppliers were asked, more is ready; after the incident, less."""
    trend = weeks.audits[-1].trend(weeks.audits[:-1])
    ready = trend["ready"].tolist()

    assert trend["comparable"].all()
    assert ready[-2] > ready[1] + 0.02
    assert ready[-1] < ready[-2]


@pytest.mark.slow
def test_the_incident_is_found(weeks: prodex.sandbox_weeks.SimulatedWeeks) -> None:
    """By a watch, and by a comparison with Monday or with the night before."""
    supplier = weeks.incident.partition(":")[0]
    found = prodex.watch("french-shop", now=UNTIL)
    assert ("pictures", supplier) in set(zip(found.new["measure"], found.new["label"], strict=True))
    assert found.new["label"].eq(supplier).all()
    for before in (weeks.monday, weeks.snapshots[-2]):
        counts = prodex.diff(before, weeks.catalog).counts("owner")
        assert supplier == counts.nlargest(1, "changed")["owner"].iloc[0]


@pytest.mark.slow
def test_suppliers_differ(weeks: prodex.sandbox_weeks.SimulatedWeeks) -> None:
    """Some correct all that they were asked for, some little."""
    assert date(2026, 11, 9) == weeks.asked
    before, after = (
        weeks.audits[place].failures(severity=["blocker", "error"]).groupby("owner").size()
        for place in (1, -2)
    )
    left = after.reindex(before.index).fillna(0) / before
    assert left.max() >= 0.9
    assert left.min() <= 0.3


@pytest.mark.slow
def test_worklists_came_back(weeks: prodex.sandbox_weeks.SimulatedWeeks) -> None:
    """Each is one that was sent; what suppliers know can be used, and what they forgot or typed in haste cannot."""
    assert len(list(weeks.sent.glob("*.xlsx"))) > 10
    files = sorted(path.stem for path in weeks.returned.iterdir())
    assert 3 == len(files)
    assert set(files) <= {path.stem for path in weeks.sent.glob("*.xlsx")}
    fix = prodex.read_worklist(weeks.returned, weeks.catalog, profile="online-listing", now=UNTIL)
    assert len(fix.accepted) > 2
    assert {"?"} <= set(fix.refused["answer"])


@pytest.mark.slow
def test_they_are_made_once(weeks: prodex.sandbox_weeks.SimulatedWeeks, lived: tuple[Path, Sandbox]) -> None:
    """A second call looks whether they are there, asks the service nothing, and says the same."""
    asked = len(lived[1].requests)
    again = prodex.simulated_weeks(until=UNTIL + timedelta(days=3))

    assert weeks == again
    assert asked + 1 == len(lived[1].requests)  # whether the sandbox runs
    assert 6 == len(prodex.list_snapshots("french-shop"))
    for words in ("02 November to 20 November 2026", "6 snapshots of 'french-shop'", "3 worklists came back"):
        assert words in repr(again)


@pytest.mark.slow
def test_the_clock_of_the_service_is_set_back(weeks: prodex.sandbox_weeks.SimulatedWeeks) -> None:
    """What is loaded afterwards is of today."""
    now = datetime.now(UTC)
    catalog = prodex.load_products(
        prodex.connect("sandbox"), prodex.ProductQuery(target_market=250), name="today", progress=False
    )
    assert catalog.origin.server_time is not None
    assert abs(catalog.origin.server_time - now) < timedelta(minutes=5)
    assert not prodex.diff(weeks.catalog, catalog)


@pytest.mark.slow
def test_a_refresh_goes_on(weeks: prodex.sandbox_weeks.SimulatedWeeks) -> None:
    """The next snapshot follows those of the weeks, under another name here."""
    copy = weeks.catalog.save("copy")
    assert not prodex.diff(copy, prodex.refresh("copy", prodex.connect("sandbox"), progress=False))


@pytest.fixture
def few_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep three loads of the six: the first, the one after which suppliers are asked, and the last, on its day.

    They are audited by the short profile: what is found is looked at where there are six.
    """
    monkeypatch.setattr(sandbox_weeks, "PROFILE", "core")
    plan = sandbox_weeks.loads_until

    def shorter(end: datetime) -> tuple[PlannedLoad, ...]:
        first, asking, *others = plan(end)
        return first, asking, replace(others[-1], days=sum(one.days for one in others))

    monkeypatch.setattr(sandbox_weeks, "loads_until", shorter)


@pytest.fixture
def small(home: Path) -> Iterator[Sandbox]:
    """Serve a sandbox of few products, which a test may change."""
    home.mkdir(parents=True)
    with exchange_in(home, shared_products(90)) as exchange:
        yield exchange


@pytest.mark.slow
@pytest.mark.usefixtures("few_loads")
def test_after_a_reset_they_are_made_anew(small: Sandbox) -> None:
    """What was kept under their name is removed, and worklists that somebody filled in stay."""
    first = prodex.simulated_weeks(until=UNTIL)
    client = prodex.connect("sandbox")
    assert prodex.refresh("french-shop", client, progress=False).folder is not None
    other = prodex.load_products(client, name="shop", max_age=0, progress=False)
    (first.sent / "index.csv").write_text("filled in", "utf-8")
    small.reset()
    second = prodex.simulated_weeks(until=UNTIL - timedelta(days=1))

    times = prodex.list_snapshots("french-shop")["time"]
    assert list(second.snapshots) == [f"french-shop@{time}" for time in times]
    assert not set(first.snapshots) & set(second.snapshots)
    assert len(times) == len(prodex.list_audits("french-shop"))
    assert len(times) == prodex.watch("french-shop", now=UNTIL).audits
    assert [str(other.folder)] == prodex.list_snapshots("shop")["folder"].tolist()
    assert "filled in" == (first.sent / "index.csv").read_text("utf-8")
    assert second.sent != first.sent
    assert [second.incident] == small.journal.incidents


@pytest.mark.slow
@pytest.mark.usefixtures("few_loads")
def test_what_was_interrupted_is_made_anew(small: Sandbox) -> None:
    """Nothing of it stays, and the clock of the service is not left in the past."""

    def stop(done: int, _total: int) -> None:
        if done >= 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prodex.simulated_weeks(until=UNTIL, progress=stop)
    catalog = prodex.load_products(prodex.connect("sandbox"), name="now", progress=False)
    assert catalog.origin.server_time is not None
    assert abs(catalog.origin.server_time - datetime.now(UTC)) < timedelta(minutes=5)
    weeks = prodex.simulated_weeks(until=UNTIL)
    assert [f"french-shop@{time}" for time in prodex.list_snapshots("french-shop")["time"]] == list(
        weeks.snapshots
    )
    assert [weeks.incident] == small.journal.incidents


@pytest.mark.slow
@pytest.mark.usefixtures("few_loads")
def test_the_first_audit_is_given_before_the_days_pass(small: Sandbox) -> None:
    """So that somebody can read it meanwhile; and at once where the weeks are there already."""
    seen: list[tuple[str, int, int]] = []

    def note(audit: prodex.quality.Audit) -> None:
        seen.append((repr(audit), len(prodex.list_snapshots("french-shop")), len(small.journal.days)))

    weeks = prodex.simulated_weeks(until=UNTIL, on_first_audit=note)
    assert [(repr(weeks.audits[0]), 1, 0)] == seen
    prodex.simulated_weeks(until=UNTIL, on_first_audit=note)
    assert (repr(weeks.audits[0]), len(weeks.snapshots)) == seen[1][:2]


@pytest.mark.slow
@pytest.mark.usefixtures("few_loads")
def test_a_sandbox_that_was_used_before_begins_anew(
    small: Sandbox, capfd: pytest.CaptureFixture[str]
) -> None:
    """What was simulated and sent before is taken back, and it says so; snapshots of other names stay."""
    small.simulate(40)
    small.change([{"id": 5, "gtin": "00000000000055"}])
    client = prodex.connect("sandbox")
    other = prodex.load_products(client, name="shop", max_age=0, progress=False)
    weeks = prodex.simulated_weeks(until=UNTIL, progress=True)

    assert DAYS[0] + timedelta(days=1) == small.journal.days[0]
    assert [weeks.incident] == small.journal.incidents
    assert other.folder == prodex.open_snapshot("shop").folder
    told = capfd.readouterr().err
    assert "from 02 November to 20 November 2026: their time is simulated" in told
    assert "What happened in it before is taken back first" in told
    for name in weeks.snapshots:
        assert () == prodex.open_snapshot(name).origin.ledger.notes


@pytest.mark.slow
@pytest.mark.usefixtures("few_loads")
def test_a_name_that_is_in_use_is_refused(small: Sandbox) -> None:
    """With another one; nothing is removed, and nothing has happened in the sandbox."""
    folder = prodex.flatten([{"id": 7}], source="https://api.example.com").save("shop").folder
    small.simulate(1)
    with pytest.raises(
        InputError, match=r"'shop' has snapshots already.*simulated_weeks\('simulated-shop'\)"
    ):
        prodex.simulated_weeks("shop", until=UNTIL)
    assert [str(folder)] == prodex.list_snapshots("shop")["folder"].tolist()
    assert 1 == len(small.journal.days)
    weeks = prodex.simulated_weeks("simulated-shop", until=UNTIL)
    assert len(weeks.snapshots) == len(prodex.list_snapshots("simulated-shop")) == 3


@pytest.mark.slow
@pytest.mark.usefixtures("few_loads")
def test_products_of_ones_own_live_too(home: Path) -> None:
    """A sandbox that serves other products has weeks as well; nobody knows what to answer."""
    home.mkdir(parents=True)
    records = [{"id": n, "gtin": f"{n:014d}", "owner": {"id": 4, "name": "Mill"}} for n in range(1, 40)]
    with exchange_in(home, records):
        weeks = prodex.simulated_weeks(until=UNTIL)
    assert 39 == len(weeks.catalog)
    assert not list(weeks.returned.glob("*"))


@pytest.mark.slow
@pytest.mark.usefixtures("few_loads")
@pytest.mark.parametrize("owner", ["all", " Mill ", "A\nB@2:c", "Grand Panier Sandbox", "mill \ud800", None])
def test_the_owner_of_the_incident_may_have_any_name(home: Path, owner: str | None) -> None:
    """What a stranger's records name their owner is no command: the incident happens, and the weeks end."""
    home.mkdir(parents=True)
    pictures = {"assets": {"pictures": [{"url": "https://pictures.example/1.png"}]}}
    records = [
        {"id": n, "gtin": f"{n:014d}", "owner": {"id": 4, "name": owner}, **pictures} for n in range(1, 9)
    ]
    with exchange_in(home, records):
        weeks = prodex.simulated_weeks(until=UNTIL)
    assert "all pictures were removed. 8 products" in weeks.incident
    assert weeks.catalog.pictures.empty


@pytest.mark.slow
def test_the_incident_is_found_on_a_day_on_which_it_was_not(home: Path) -> None:
    """It concerned a supplier with few pictures then, of whom nobody could say that it was unusual."""
    home.mkdir(parents=True)
    day = datetime(2026, 11, 25, 12, 20, tzinfo=UTC)
    with exchange_in(home):
        weeks = prodex.simulated_weeks(until=day)
    found = prodex.watch("french-shop", now=day).new
    supplier = weeks.incident.partition(":")[0]
    assert ("pictures", supplier) in set(zip(found["measure"], found["label"], strict=True))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("until", ["2026-11-20", datetime(2026, 11, 20)])  # noqa: DTZ001 - that is the case
def test_a_moment_without_zone_is_refused(until: object) -> None:
    """The message says what to give."""
    with pytest.raises(InputError, match=r"until is .*; give a datetime with a time zone"):
        prodex.simulated_weeks(until=until)  # type: ignore[arg-type] # that is the case


def test_a_record_that_cannot_be_read_is_none(home: Path) -> None:
    """Damaged, or naming what is no time of a snapshot, it names nothing."""
    record = WeeksRecord("french-shop", "2026-11-20T090000", ("2026-11-20T090000.000000Z",))
    record.write()
    assert record == WeeksRecord.read("french-shop")
    path = home / "weeks" / "french-shop" / "weeks.json"
    written = json.loads(path.read_text("utf-8"))
    for content in (
        "{",
        json.dumps(written | {"snapshots": ["../../other"]}),
        json.dumps(written | {"ended": 1}),
    ):
        path.write_text(content, "utf-8")
        assert WeeksRecord("french-shop") == WeeksRecord.read("french-shop")
