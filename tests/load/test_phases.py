"""A load says which phase it is in and how far that is, and an interruption in any phase loses nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path

import pytest

import prodex

# It takes a constant that a fixture changes here, and would keep the changed one for all tests after these.
import prodex.store.reading
from prodex.progress import PhaseProgress, Reporter
from prodex.sandbox import Sandbox
from prodex.store.archive import snapshots_folder
from tests.cases import each_row
from tests.load.exchange import TOTAL, connected, contents, loaded, paged, pages_asked, records, renamed

EVERYTHING = list(range(1, TOTAL + 1))
LOAD = (
    "Counting products",
    "Receiving",
    "Receiving what changed meanwhile",
    "Counting products again",
    "Listing products to find missing ones",
    "Checking what was received",
    "Building tables",
    "Saving the snapshot",
)
REFRESH = (
    "Checking the files of the snapshot",
    "Reading the keys of the snapshot",
    *LOAD[:6],
    "Merging tables",
    "Saving the snapshot",
)
FILES = ("Reading files", "Checking what was read", "Building tables", "Saving the snapshot")


@pytest.fixture
def exchange() -> Iterator[Sandbox]:
    with Sandbox(records()) as sandbox:
        yield sandbox


@pytest.fixture(autouse=True)
def two_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a hundred products make two parts, on any machine."""
    monkeypatch.setattr("prodex.store.plan.PRODUCTS_PER_PART", 60)


@pytest.fixture
def four_parts(monkeypatch: pytest.MonkeyPatch, two_parts: None) -> None:
    """Let them make four."""
    monkeypatch.setattr("prodex.store.plan.PRODUCTS_PER_PART", 30)


class Heard:
    """Hears of phases, and interrupts a phase if it is to."""

    def __init__(self, interrupted: str = "", error: type[BaseException] = KeyboardInterrupt) -> None:
        self.steps: list[PhaseProgress] = []
        self._interrupted, self._error = interrupted, error
        self.observer = Reporter(self._hear)

    def _hear(self, progress: PhaseProgress) -> None:
        self.steps.append(progress)
        # At its second report where it has several: something has been done by then.
        if progress.phase == self._interrupted and (progress.done or not progress.total):
            raise self._error

    @property
    def phases(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.phase for step in self.steps))

    def of(self, phase: str) -> list[PhaseProgress]:
        return [step for step in self.steps if step.phase == phase]


def is_whole(catalog: prodex.Catalog) -> bool:
    return catalog.complete and contents(catalog) == EVERYTHING and prodex.verify("shop")["ok"].all()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["scroll", "windows"])
def test_a_load_reports_every_phase(exchange: Sandbox, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, counted up to all products where products are counted."""
    paged(way, monkeypatch)
    heard = Heard()

    loaded(exchange, way, progress=heard.observer)

    assert set(heard.phases) <= set(LOAD)
    assert heard.phases == tuple(phase for phase in LOAD if phase in heard.phases)
    assert {"Receiving", "Building tables", "Saving the snapshot"} <= set(heard.phases)
    for phase in ("Receiving", "Building tables"):
        steps = heard.of(phase)
        assert (TOTAL, TOTAL) == (steps[-1].done, steps[-1].total)
        assert [step.done for step in steps] == sorted(step.done for step in steps)
        assert {("products", TOTAL)} == {(step.unit, step.total) for step in steps}
        assert steps[-1].has_ended


@pytest.mark.slow
def test_a_refresh_and_files_report_every_phase(exchange: Sandbox, tmp_path: Path) -> None:
    """What is merged counts all products of the new snapshot, and what is read counts bytes."""
    loaded(exchange, "scroll")
    exchange.change([renamed(records()[3], "nouveau")])
    exchange.remove([9])
    refreshed, read = Heard(), Heard()
    prodex.refresh("shop", connected(exchange), progress=refreshed.observer)
    path = tmp_path / "large.jsonl"
    path.write_text("\n".join(json.dumps({"id": n, "text": "x" * 300_000}) for n in range(20)))
    prodex.read_products(path, name="delivery", progress=read.observer)

    # One has gone, which is requested before it is believed.
    assert (*REFRESH[:7], "Requesting missing products", *REFRESH[7:]) == refreshed.phases
    assert read.phases == FILES
    last = refreshed.of("Merging tables")[-1]
    assert (TOTAL - 1, TOTAL - 1) == (last.done, last.total)
    assert (6, 6, "MB") == (read.steps[1].done, read.steps[1].total, read.steps[1].unit)


@pytest.mark.usefixtures("four_parts")
def test_an_executor_of_the_user_is_reported_too(exchange: Sandbox) -> None:
    """Its parts are counted as they come."""
    heard = Heard()
    with ThreadPoolExecutor(1) as threads:
        loaded(exchange, "scroll", progress=heard.observer, executor=threads)
    steps = heard.of("Building tables")

    assert len(steps) > 3
    assert steps[-1].has_ended


def test_a_function_of_the_user_hears_of_what_is_received_only(exchange: Sandbox) -> None:
    """With the number received and the number announced, as documented, whatever other phases there are."""
    told: list[tuple[int, int]] = []
    loaded(exchange, "scroll", progress=lambda *both: told.append(both))

    assert [(done, TOTAL) for done in (0, 20, 40, 60, 80, 100, 110)] == sorted(set(told))
    assert told == sorted(told)


#: Of what else may end a load than an interrupt, where many calls and many parts are waited for.
ENDED: list[tuple[str, type[BaseException]]] = [
    *((phase, KeyboardInterrupt) for phase in LOAD),
    *((phase, CancelledError) for phase in ("Receiving", "Building tables")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("phase", "error"), ENDED)
def test_an_interruption_in_any_phase_loses_nothing(
    exchange: Sandbox, phase: str, error: type[BaseException]
) -> None:
    """No page that came is fetched again, and no half of a snapshot is visible."""
    begin = len(exchange.requests)
    with pytest.raises(error):
        loaded(exchange, "scroll", progress=Heard(phase, error).observer)
    received = pages_asked(exchange, begin)
    assert prodex.list_snapshots("shop").empty
    again = Heard()
    begin = len(exchange.requests)
    catalog = loaded(exchange, "scroll", progress=again.observer)

    assert is_whole(catalog)
    assert not set(received) & set(pages_asked(exchange, begin))
    if phase in LOAD[6:]:
        assert LOAD[5:] == again.phases
        assert 0 == len(exchange.requests) - begin


def journal_of(name: str) -> Path:
    return next((snapshots_folder() / name).glob(".journal-*"))


@pytest.mark.slow
@pytest.mark.usefixtures("four_parts")
@pytest.mark.parametrize("phase", ["Building tables", "Saving the snapshot"])
def test_what_was_built_before_an_interruption_stays(exchange: Sandbox, phase: str) -> None:
    """The files of the finished parts are those of the interrupted call."""
    with pytest.raises(KeyboardInterrupt):
        loaded(exchange, "scroll", progress=Heard(phase).observer)
    folder = journal_of("shop")
    # Part 0 holds the newest product, which comes again with what changed meanwhile: it may be waiting to be rebuilt.
    made = {int(path.stem[6:]) for path in folder.glob("built-*.json")} - {0}
    kept = {n: (folder / "build" / "raw" / f"part-{n:05d}.parquet").stat().st_ino for n in made}

    catalog = loaded(exchange, "scroll")

    assert kept
    assert (
        kept.items() <= {n: part.files["raw"].stat().st_ino for n, part in enumerate(catalog.parts)}.items()
    )


@pytest.mark.slow
@pytest.mark.parametrize("phase", REFRESH)
def test_an_interrupted_refresh_loses_nothing(exchange: Sandbox, phase: str) -> None:
    """The old snapshot stays, and the next call has what came."""
    old = loaded(exchange, "scroll")
    exchange.change([renamed(records()[3], "nouveau")])
    with pytest.raises(KeyboardInterrupt):
        prodex.refresh("shop", connected(exchange), progress=Heard(phase).observer)
    assert old.folder == prodex.open_snapshot("shop").folder

    begin = len(exchange.requests)
    new = prodex.refresh("shop", connected(exchange))

    assert is_whole(new)
    assert ["4"] == new.texts[new.texts["text"] == "nouveau"]["product_id"].tolist()
    if phase in REFRESH[-2:]:
        assert not pages_asked(exchange, begin)


@each_row("phase", FILES)
def test_interrupted_reading_leaves_the_files_to_be_read(tmp_path: Path, phase: str) -> None:
    """Nothing half-made is visible, and the same call makes the snapshot."""
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({"id": number}) for number in EVERYTHING))
    with pytest.raises(KeyboardInterrupt):
        prodex.read_products(path, name="shop", progress=Heard(phase).observer)

    assert prodex.list_snapshots("shop").empty
    assert EVERYTHING == contents(prodex.read_products(path, name="shop"))


@pytest.mark.slow
def test_recover_reports_what_is_built(exchange: Sandbox) -> None:
    """To an observer and to a function."""
    told: list[tuple[int, int]] = []
    heard = Heard()
    for progress in (heard.observer, lambda *both: told.append(both)):
        with pytest.raises(KeyboardInterrupt):
            loaded(exchange, "scroll", progress=Heard("Building tables").observer)
        prodex.recover("shop", progress=progress)

    assert LOAD[5:] == heard.phases
    assert (TOTAL, TOTAL) == told[-1]
