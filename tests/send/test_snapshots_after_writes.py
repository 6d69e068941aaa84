"""A snapshot is reused only if nothing was written to its service since, and the terminal says so."""

from __future__ import annotations

import io
import subprocess
import sys
from concurrent.futures import Executor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from mill_exchange import MILL, client, gtin, small_exchange, text
from tests.ledgered import rewrite
from typer.testing import CliRunner

import prodex
from prodex.cli import app
from prodex.ledger.batch import Planned
from prodex.ledger.upsert_file import LONGEST, SETTLES, UpsertFile
from prodex.ledger.upserts import last_write, note_ended
from prodex.sandbox import Behaviour

REMOTE = "https://api.example.com"

WRITE = """
import sys, prodex
service = prodex.connect(sys.argv[1], client_id="mill", client_secret="mill-secret")
name = {"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}, "data": "Riz"}
record = {"gtin": sys.argv[2], "lifeCycle": 3, "namePublicLong": [name]}
prodex.upsert(service, [record], progress=False)
if sys.argv[3] == "wait":
    prodex.track(service).wait(progress=False)
"""


def life_cycle(catalog, number=1):
    """Return the value that the tests write."""
    return int(catalog.products.set_index("gtin")["life_cycle"][gtin(number)])


def written(service, value, number=1):
    """Write it."""
    record = {"gtin": gtin(number), "lifeCycle": value, "namePublicLong": [text("fra-FR", "Riz")]}
    return prodex.upsert(service, [record], progress=False)


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self):
        return True


def watched(monkeypatch):
    """Let somebody look at the terminal, from here on: pytest captures each phase of a test anew."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


def test_after_an_upsert_the_new_value_is_loaded(mill):
    """Without max_age=0; afterwards that snapshot is used again."""
    first = prodex.load_products(mill, name="mine", progress=False)
    written(mill, 7).wait(progress=False)
    second = prodex.load_products(mill, name="mine", progress=False)

    assert (1, 7) == (life_cycle(first), life_cycle(second))
    assert second.folder == prodex.load_products(mill, name="mine", progress=False).folder


def test_rich_content_follows_the_same_rule(mill):
    """It is a load like others."""
    first = prodex.load.load_rich_content(mill, name="pictures", progress=False)
    assert first.folder == prodex.load.load_rich_content(mill, name="pictures", progress=False).folder
    written(mill, 7).wait(progress=False)

    assert first.folder != prodex.load.load_rich_content(mill, name="pictures", progress=False).folder


@pytest.mark.slow
def test_a_snapshot_made_while_an_import_runs_is_not_used_again():
    """It may have the old value; only what is loaded after the import is known to have ended is."""
    with small_exchange(Behaviour(import_delay=1.0)) as exchange:
        mill = client(exchange, MILL)
        tracking = written(mill, 7)
        during = prodex.load_products(mill, name="mine", progress=False)
        assert during.folder != prodex.load_products(mill, name="mine", progress=False).folder
        tracking.wait(progress=False)
        after = prodex.load_products(mill, name="mine", progress=False)

        assert (1, 7) == (life_cycle(during), life_cycle(after))
        assert after.folder == prodex.load_products(mill, name="mine", progress=False).folder


@pytest.mark.slow
@pytest.mark.parametrize("waits", ["wait", "leave"])
def test_what_another_process_wrote_counts_too(mill, waits):
    """Whether it waited for the end or not: what it sent is on disk."""
    first = prodex.load_products(mill, name="mine", progress=False)
    words = [sys.executable, "-W", "error", "-c", WRITE, mill.base_url, gtin(1), waits]
    subprocess.run(words, check=True, timeout=60)
    prodex.track(mill).wait(progress=False)
    second = prodex.load_products(mill, name="mine", progress=False)

    assert (1, 3) == (life_cycle(first), life_cycle(second))
    assert second.folder == prodex.load_products(mill, name="mine", progress=False).folder


def test_an_import_that_is_followed_by_its_number_ends_as_well(mill):
    """An import that is tracked by its identifier is noted as ended as well."""
    identifiers = written(mill, 7).tracking_ids
    prodex.track(mill, identifiers).wait(progress=False)
    first = prodex.load_products(mill, name="mine", progress=False)

    assert first.folder == prodex.load_products(mill, name="mine", progress=False).folder


class Interrupted(Executor):
    """Somebody presses Ctrl-C when everything has come and the parts are built."""

    def submit(self, _do, /, *_args, **_kwargs):
        raise KeyboardInterrupt


def again(mill, way, **options):
    """Load or refresh."""
    if way == "load":
        return prodex.load_products(mill, name="mine", progress=False, **options)
    return prodex.refresh("mine", mill, progress=False, **options)


@pytest.mark.parametrize("way", ["load", "refresh"])
def test_what_came_before_an_upsert_is_not_continued(mill, way):
    """An interrupted load has all pages, from before the correction: the same call asks anew."""
    if way == "refresh":
        prodex.load_products(mill, name="mine", progress=False)
        written(mill, 5).wait(progress=False)
    with pytest.raises(KeyboardInterrupt):
        again(mill, way, executor=Interrupted())
    written(mill, 7).wait(progress=False)
    catalog = again(mill, way)

    assert (True, 7) == (catalog.complete, life_cycle(catalog))


def test_what_was_written_to_another_service_does_not_matter(mill):
    """Even on the same host."""
    first = prodex.load_products(mill, name="mine", progress=False)
    with small_exchange() as other:
        written(client(other, MILL), 7)

    assert first.folder == prodex.load_products(mill, name="mine", progress=False).folder


def test_a_write_whose_answer_was_lost_may_have_arrived(mill):
    """So no snapshot is used again until it cannot be running any more."""
    first = prodex.load_products(mill, name="mine", progress=False)
    journal = UpsertFile.begin(mill.base_url, mill.fingerprint, "application/json", [planned()])
    journal.begin_sending(0)

    second = prodex.load_products(mill, name="mine", progress=False)
    assert first.folder != second.folder
    assert second.folder != prodex.load_products(mill, name="mine", progress=False).folder


def test_a_write_that_was_refused_or_never_sent_changes_nothing(mill):
    """A plan alone, and a refusal, leave the service as it was."""
    first = prodex.load_products(mill, name="mine", progress=False)
    journal = UpsertFile.begin(mill.base_url, mill.fingerprint, "application/json", [planned(), planned()])
    journal.begin_sending(0)
    journal.end_sending(0, replace(journal.batches()[0], sent="refused", message="no"))

    assert first.folder == prodex.load_products(mill, name="mine", progress=False).folder


def planned():
    """Plan a batch of one product."""
    return Planned(b"[]", (gtin(1),), ())


def sent(base_url=REMOTE, tracking="12"):
    """Write down a batch that was sent and got its identifier, and return the journal."""
    journal = UpsertFile.begin(base_url, "key", "application/json", [planned()])
    journal.begin_sending(0)
    journal.end_sending(0, replace(journal.batches()[0], sent="sent", tracking=tracking))
    return journal


def test_a_write_nobody_followed_counts_as_running_for_a_day(home):
    """Its end is not known; a snapshot of the day after is used again."""
    sent()
    write = last_write(REMOTE)

    assert write is not None
    assert not write.has_ended
    assert LONGEST + write.at == write.through
    assert abs(write.at - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_service_gets_a_moment_to_show_what_it_imported(home):
    """Searches find what was written a little later than its import ends, but for a service on this machine."""
    here = "http://127.0.0.1:9"
    for base_url in (REMOTE, here):
        sent(base_url)
        note_ended(base_url, ["12"])
    there, local = last_write(REMOTE), last_write(here)

    assert there is not None
    assert local is not None
    assert (True, True) == (there.has_ended, local.has_ended)
    assert there.through - datetime.now(UTC) > SETTLES - timedelta(minutes=1)
    assert local.through <= datetime.now(UTC)


def test_a_first_attempt_whose_answer_was_lost_is_not_forgotten(home):
    """Though the second was refused."""
    journal = sent()
    note_ended(REMOTE, ["12"])
    journal.begin_sending(0)
    journal.end_sending(0, replace(journal.batches()[0], sent="unknown", tracking=None))
    journal.begin_sending(0)
    journal.end_sending(0, replace(journal.batches()[0], sent="refused", tracking=None))
    write = last_write(REMOTE)

    assert write is not None
    assert not write.has_ended


def test_a_journal_that_cannot_be_read_may_be_of_any_service(home):
    """Nobody knows what it wrote."""
    journal = sent("https://other.example.com")
    assert last_write(REMOTE) is None
    journal.path.write_bytes(b"\0" * 50)
    write = last_write(REMOTE)

    assert write is not None
    assert not write.has_ended


def test_a_damaged_note_of_the_end_is_none(home):
    """Then the import counts as running, which costs a load and no truth."""
    journal = sent()
    note_ended(REMOTE, ["12"])
    for damaged in (b'{"at": "yesterday"}', b'{"at": "9999-12-31T23:59:59Z"}', b"[]", b""):
        rewrite(journal.path, "imports", 0, damaged)
        write = last_write(REMOTE)
        assert write is not None
        assert not write.has_ended


def test_a_snapshot_of_the_future_is_not_used(mill):
    """Its clock was wrong, so nobody knows what it is older than."""
    first = prodex.load_products(mill, name="mine", progress=False)
    assert first.folder is not None
    manifest = first.folder / "manifest.json"
    year = f"{first.origin.loaded_at:%Y}"
    told = manifest.read_text("utf-8").replace(f'"loaded_at": "{year}', f'"loaded_at": "{int(year) + 1}')
    manifest.write_text(told, "utf-8")

    assert first.folder != prodex.load_products(mill, name="mine", progress=False).folder


def test_who_watches_is_told_that_a_snapshot_is_used_again_and_how_old_it_is(mill, monkeypatch):
    """One line, with what to write to load again."""
    prodex.load_products(mill, name="mine", progress=False)
    terminal = watched(monkeypatch)
    prodex.load_products(mill, name="mine", progress=None)
    told = terminal.getvalue()

    assert "Reusing the snapshot 'mine' of " in told
    assert " s old" in told
    assert "max_age=0 loads again" in told
    assert 1 == told.count("\n")


def test_who_watches_is_told_why_it_is_not_used(mill, monkeypatch):
    """With the upsert that came between."""
    prodex.load_products(mill, name="mine", progress=False)
    name = written(mill, 7).wait(progress=False).name
    terminal = watched(monkeypatch)
    prodex.load_products(mill, name="mine")

    assert f"Loading 'mine' again: the upsert {name} was sent" in terminal.getvalue()


def test_whoever_wants_no_progress_is_not_told(mill, monkeypatch):
    """progress=False is quiet."""
    terminal = watched(monkeypatch)
    prodex.load_products(mill, name="mine", progress=False)
    prodex.load_products(mill, name="mine", progress=False)

    assert "" == terminal.getvalue()


def test_with_progress_it_is_told_although_nobody_watches(mill, capsys):
    """As the bar is."""
    prodex.load_products(mill, name="mine", progress=False)
    prodex.load_products(mill, name="mine", progress=True)

    assert "Reusing the snapshot 'mine'" in capsys.readouterr().err


def test_the_command_tells_it_even_in_the_log_of_a_job(mill, monkeypatch):
    """A nightly job has no terminal."""
    monkeypatch.setenv("PRODEX_BASE_URL", mill.base_url)
    monkeypatch.setenv("PRODEX_CLIENT_ID", "mill")
    monkeypatch.setenv("PRODEX_CLIENT_SECRET", "mill-secret")
    words = ["load", "--name", "mine", "--max-age", "3600"]
    assert "Reusing the snapshot" not in CliRunner().invoke(app, words).stderr
    again = CliRunner().invoke(app, words)

    assert 0 == again.exit_code
    assert 1 == again.stderr.count("Reusing the snapshot 'mine'")
