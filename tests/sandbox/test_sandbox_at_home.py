"""Days that pass, and are taken back, in the home of a sandbox that may be running in another process."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from filled import fill
from tests.cases import each_row
from writer import Writer

import prodex
from prodex import sandbox
from prodex.sandbox import Sandbox
from prodex_sandbox import sample
from prodex_sandbox.command import main
from prodex_sandbox.home import lock_changes
from prodex_sandbox.records.store import StoreUnusable

COUNT = 150
SHOPKEEPER = sample.organizations()[0]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the user a home with a small sample."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    return fill(tmp_path / "sandbox", COUNT)


@contextmanager
def served(home: Path) -> Iterator[str]:
    """Serve a home in another process."""
    ready = home / "ready.json"
    command = [sys.executable, "-m", "prodex", "sandbox", "--home", str(home), "--ready", str(ready)]
    with subprocess.Popen([*command, "--stop-with", str(os.getpid())], stdout=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 60
            while not ready.exists():
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.02)
            yield json.loads(ready.read_bytes())["base_url"]
        finally:
            process.terminate()


def products(writer: Writer) -> dict[str, Any]:
    page = writer.call("POST", limit=500)["data"]
    return {str(one["id"]): one for one in page}


@pytest.mark.slow
def test_a_service_that_runs_sees_the_days_and_the_reset(home: Path) -> None:
    """What is simulated, upserted and taken back beside a running service is what its next reply says."""
    with served(home) as base_url, Writer(base_url, SHOPKEEPER).log_in().session as session:
        writer = Writer(base_url, SHOPKEEPER, session)
        before = products(writer)
        journal = sandbox.simulate(5, incidents=["bulk_overwrite"])
        after = products(writer)
        touched = {entry.product_id for entry in journal}
        assert {id_ for id_, one in after.items() if before.get(id_) != one} <= touched
        assert {entry.product_id for entry in journal if entry.incident and entry.gtin} <= {
            id_ for id_, one in after.items() if before.get(id_) != one
        }
        assert list(journal) == list(sandbox.journal())
        # The service still writes: its own connection has seen what happened.
        gtin = next(one["gtin"] for one in after.values() if one["gtin"].startswith("03"))
        text = [{"expressedIn": {"code": "fra-FR"}, "data": "Neu"}]
        writer.write({"gtin": gtin, "nameLegal": text})
        assert sandbox.reset() > 10
        assert before == products(writer)
        assert 0 == len(sandbox.journal())


@pytest.mark.slow
def test_a_user_follows_seven_nights(home: Path) -> None:
    """A client of the home's service refreshes after each night, and ends with what a fresh load has."""
    with served(home) as base_url:
        key = SHOPKEEPER
        service = prodex.connect(base_url, client_id=key.client_id, client_secret=key.client_secret)
        prodex.load_products(service, name="nights", progress=False)
        for _ in range(7):
            sandbox.simulate(1)
            new = prodex.refresh("nights", service, sweep=False, progress=False)
        fresh = prodex.load_products(service, name="fresh", progress=False)
        assert not prodex.diff(new, fresh)
        assert 7 == len(sandbox.journal().days)
        # A single product that is taken back is found like any other update.
        changed = [entry for entry in sandbox.journal() if entry.attribute and entry.action != "withdrawn"]
        sandbox.reset([changed[-1].gtin])
        newest = prodex.refresh("nights", service, sweep=False, progress=False)
        assert changed[-1].product_id in set(prodex.diff(new, newest).products["product_id"])


@pytest.mark.slow
def test_the_command_says_what_it_did(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints a line for each day and for each incident, then takes everything back."""
    assert 0 == main(["--simulate", "3", "--seed", "2", "--incident", "attribute_emptied@2"])
    said = capsys.readouterr().out
    assert ["Mon 2026-11-02", "Tue 2026-11-03", "  attribute_empt", "Wed 2026-11-04"] == [
        line[:16].rstrip() if line[0] == " " else line[:14] for line in said.splitlines()
    ]
    assert said == f"{sandbox.journal()!r}\n"
    assert list(sandbox.journal()) != list(_again(home, 1))
    assert list(sandbox.journal()) == list(_again(home, 2))
    gtin = next(entry.gtin for entry in sandbox.journal() if entry.attribute)
    assert 0 == main(["--reset", gtin])
    assert f"taken back in {home}: as they were at the beginning, dated to now" in capsys.readouterr().out
    assert 0 == main(["--reset"])
    assert "load snapshots of it again" in capsys.readouterr().out
    assert 0 == len(sandbox.journal())
    assert 0 == main(["--reset", "--simulate", "1"])
    assert "0 products taken back" in capsys.readouterr().out


def _again(home: Path, seed: int) -> sandbox.Journal:
    other = home.parent / f"again {seed}"
    fill(other, COUNT)
    return sandbox.simulate(3, seed, ["attribute_emptied@2"], home=other)


@pytest.mark.slow
@each_row(
    ("options", "message"),
    [
        (
            ["--incident", "volume_halves"],
            "--incident happens in simulated days: give --simulate DAYS with it",
        ),
        (["--simulate", "1", "--incident", "volume_half"], "Did you mean volume_halves?"),
        (["--simulate", "1", "--port", "8080"], "--port would have no effect"),
        (["--reset", "--latency", "1"], "--latency would have no effect"),
        (["--reset", "--seed", "2"], "--seed would have no effect"),
        (["--reset", "--fault", "503", "--import", "x.json"], "--import, --fault would have no effect"),
    ],
)
def test_options_without_effect_are_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a change of the store does not read is named, and nothing is done."""
    with pytest.raises(SystemExit):
        main(options)
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
@each_row(
    ("options", "message"),
    [
        (["--simulate", "0"], "days is 0"),
        (["--simulate", "1", "--incident", "volume_halves@2"], "is planned for day 2, and 1 are simulated"),
        (["--reset", "7"], "No product of the sandbox has, or had, the GTIN '7'"),
        (["--port", "99999"], "port is 99999; it is a number from 0 to 65535"),
        (["--sample", "-5"], "sample is -5; it cannot be below 0"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    home: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong value ends the command with 2 and one line."""
    assert 2 == main(options)
    said = capsys.readouterr()
    assert ("", 1) == (said.out, len(said.err.splitlines()))
    assert message in said.err


def test_one_change_at_a_time(home: Path) -> None:
    """While one simulation works, another one in the same home is refused; the service is not."""
    with (
        lock_changes(home),
        pytest.raises(StoreUnusable, match="is being changed already; try again in a minute"),
    ):
        sandbox.simulate(1)
    with Sandbox(home=home) as running:
        assert 1 == len(running.simulate(1).days)
        assert 2 == len(sandbox.simulate(2).days)
        assert 3 == len(running.journal.days)
        with lock_changes(home), pytest.raises(StoreUnusable, match="is being changed already"):
            running.reset()


def test_a_copy_that_broke_off_is_made_again(home: Path) -> None:
    """What a killed process left of the copy is no baseline; the copy is private, and made before the first change."""
    broken = home / "store.sqlite.baseline.copying"
    broken.write_bytes(b"half of a")
    with Sandbox(home=home) as running:
        before = running.organizations
        (gtin, *_) = gtins_of(home)
        assert not (home / "store.sqlite.baseline").exists()
        running.change([{"gtin": gtin}])
        assert not broken.exists()
        assert 1 == running.reset()
        assert before == running.organizations


def gtins_of(home: Path) -> list[str]:
    """Return the GTINs of a store that no two products have."""
    with closing(sqlite3.connect(home / "store.sqlite")) as connection:
        sql = "SELECT gtin FROM products GROUP BY gtin HAVING count(*) = 1 ORDER BY min(key)"
        return [gtin for (gtin,) in connection.execute(sql)]


def test_a_damaged_copy_is_named_and_writes_go_on(home: Path) -> None:
    """Nothing can be taken back then; products are still written and served."""
    first, second, *_ = gtins_of(home)
    with Sandbox(home=home) as running:
        running.change([{"gtin": first}])
        copy = home / "store.sqlite.baseline"
        copy.write_bytes(b"\0" * 4096 + copy.read_bytes()[4096:])
        with pytest.raises(StoreUnusable, match=r"store\.sqlite\.baseline is damaged .* give another home"):
            running.reset()
        running.change([{"gtin": second}])
        with pytest.raises(StoreUnusable, match="is damaged"):
            running.reset([second])


@pytest.mark.slow
def test_a_store_that_was_deleted_by_hand_takes_its_copy_with_it(home: Path) -> None:
    """The copy of a store of before is not taken for the one of the store that is made anew."""
    first, *_ = gtins_of(home)
    with Sandbox(home=home) as running:
        running.change([{"gtin": first}])
    (home / "store.sqlite").unlink()
    with Sandbox([{"id": 1, "gtin": first}], home=home) as running:
        running.change([{"id": 1, "gtin": first, "lifeCycle": 1}])
        assert 1 == running.reset()
        assert 0 == running.reset()


def test_a_reset_makes_a_store_of_another_version_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store of another version is removed and filled again, unless a sandbox serves its home."""
    monkeypatch.setattr("prodex_sandbox.home.SAMPLE_SIZE", 5)
    home = fill(tmp_path / "home", 5)
    with Sandbox(home=home):
        with sqlite3.connect(home / "store.sqlite") as connection:
            connection.execute("UPDATE settings SET value = '0' WHERE name = 'version'")
        connection.close()
        with pytest.raises(StoreUnusable, match="prodex sandbox --reset"):
            sandbox.journal(home=home)
        with pytest.raises(StoreUnusable, match="Another sandbox runs in"):
            sandbox.reset(home=home)
    assert 0 == sandbox.reset(home=home)
    with Sandbox(home=home) as running:
        assert 1 == len(running.simulate(1).days)


def test_a_home_without_a_store_gets_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Days can pass before the sandbox was ever started."""
    monkeypatch.setattr("prodex_sandbox.home.SAMPLE_SIZE", 5)
    assert 1 == len(sandbox.simulate(1, home=tmp_path / "new").days)
    assert 0 <= sandbox.reset(home=tmp_path / "new")


def products_seen(running: Sandbox) -> dict[str, bytes]:
    """Return the products that the retailer sees."""
    key = running.credentials[0]
    client = prodex.connect(
        base_url=running.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )
    query = prodex.ProductQuery(extra={"allow_not_consumer_units": True})
    data = client.search_products(query, limit=100).envelope.data
    return {str(json.loads(bytes(one))["id"]): bytes(one) for one in data}
