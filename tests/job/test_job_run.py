"""Runs of a job: what they do, what a failure costs, and what a run that was interrupted does again."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex import clock
from prodex.errors import InputError, SnapshotLocked, StorageError
from prodex.files.lock import locked
from prodex.formats.exporting import PACKAGE
from prodex.job import run_journal
from prodex.job.result import escaped_markdown
from prodex.sandbox import Sandbox
from prodex_sandbox.sample import shared_products
from tests.job.exchange import job_file, reached

PRODUCTS = 30

EVERYTHING = """\
[worklists]
folder = "worklists"

[[exports]]
format = "csv"
folder = "out"
tables = ["products"]

[publish]
uri = "team"

[keep]
snapshots = 2
audits = 2
"""


EXPORT = """\
[[exports]]
format = "csv"
folder = "out"
tables = ["products"]
"""


@pytest.fixture(scope="module")
def exchange() -> Iterator[Sandbox]:
    """Serve a few products of the sample."""
    with Sandbox(products=shared_products(PRODUCTS)) as sandbox:
        yield sandbox


@pytest.fixture(autouse=True)
def _service(exchange: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    reached(exchange, monkeypatch)


def states(result: prodex.job.JobResult) -> dict[str, str]:
    """Return the state of each step."""
    return {step.name: step.state for step in result.steps}


def log_of(home: Path) -> list[dict[str, Any]]:
    """Return the lines of the log."""
    lines = (home / "jobs" / "shop" / "log.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def everything_below(*folders: Path) -> dict[str, bytes]:
    """Return the content of every file."""
    return {
        str(path): path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.slow
def test_a_limit_is_broken_by_new_findings_only(tmp_path: Path) -> None:
    """The run fails by it and does everything else; after a baseline, it passes."""
    path = job_file(tmp_path, 'profile = "core"\nfail_on = "error"\nnew_only = true\ncompare = false')

    first = prodex.run_job(path)
    prodex.accept(prodex.open_audit("shop"), reason="baseline")
    second = prodex.run_job(path)

    assert ("failed", 1) == (states(first)["limits"], first.exit_code)
    assert "new failing checks of severity blocker or error" in first.markdown
    assert ("done", 0) == (states(second)["limits"], second.exit_code)
    assert "accepted by" in second.markdown
    assert (
        "Would fail on a failing check of severity error or worse"
        in prodex.run_job(path, dry_run=True).markdown
    )


@pytest.mark.slow
def test_the_first_run_loads_and_later_ones_refresh(tmp_path: Path, home: Path) -> None:
    """Every step is done, with figures, and all that a job can write is there."""
    path = job_file(tmp_path, 'profile = "core"', EVERYTHING)

    first, second, third = (prodex.run_job(path) for _ in range(3))

    assert {"done"} == {state for run in (first, second, third) for state in states(run).values()}
    assert ["loaded", "refreshed", "refreshed"] == [
        run.steps[0].figures["how"] for run in (first, second, third)
    ]
    assert (0, PRODUCTS) == (third.exit_code, third.steps[0].figures["products"])
    assert (2, 2) == (len(prodex.list_snapshots("shop")), len(prodex.list_audits("shop")))
    assert 3 == len(list((tmp_path / "worklists").iterdir()))
    assert PRODUCTS == len(pd.read_csv(tmp_path / "out" / "products.csv"))
    assert PRODUCTS == len(prodex.open_published(tmp_path / "team"))
    assert third.path is not None
    assert third.markdown == third.path.read_text("utf-8")
    assert 3 == len(list((home / "jobs" / "shop").glob("*.md")))
    assert {"start", "done"} == {line["event"] for line in log_of(home)}
    assert 3 * 2 * len(third.steps) == len(log_of(home))


@pytest.mark.slow
def test_another_question_is_loaded_anew(tmp_path: Path) -> None:
    """A snapshot that has the answer to another query is not refreshed."""
    prodex.run_job(job_file(tmp_path, "profile = []"))

    result = prodex.run_job(job_file(tmp_path, "profile = []", '[query]\ntarget_market = "France"'))

    assert "loaded" == result.steps[0].figures["how"]
    assert 0 < len(prodex.open_snapshot("shop")) < PRODUCTS


def test_a_new_access_key_or_service_is_loaded_anew(
    tmp_path: Path, exchange: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service does not know what changed in a snapshot of another key; a dry run says the same before."""
    path = job_file(tmp_path, "profile = []")
    prodex.run_job(path)
    other = exchange.credentials[1]
    monkeypatch.setenv("PRODEX_SHOP_ID", other["client_id"])
    monkeypatch.setenv("PRODEX_SHOP_SECRET", other["client_secret"])

    planned, run, later = prodex.run_job(path, dry_run=True), prodex.run_job(path), prodex.run_job(path)

    assert (
        planned.steps[0]
        .lines[0]
        .startswith("The last snapshot was loaded with another access key. Would load ")
    )
    assert ("done", "loaded") == (run.steps[0].state, run.steps[0].figures["how"])
    assert run.steps[0].lines[0].startswith("The last snapshot was loaded with another access key.")
    assert ("refreshed", ()) == (later.steps[0].figures["how"], later.steps[0].lines)


def test_a_selection_under_the_name_of_a_job_is_loaded_anew(tmp_path: Path) -> None:
    """No query describes it, so that it cannot be refreshed; the job has one."""
    path = job_file(tmp_path, "profile = []")
    prodex.run_job(path)
    prodex.open_snapshot("shop").head(2).save("shop")

    result = prodex.run_job(path)

    assert ("loaded", PRODUCTS) == (
        result.steps[0].figures["how"],
        result.steps[0].figures["products"],
    )


@pytest.mark.slow
def test_a_dry_run_writes_nothing(tmp_path: Path, home: Path) -> None:
    """Before the first run and after it; the service is asked for a count alone."""
    path = job_file(tmp_path, "", EVERYTHING)

    before = everything_below(tmp_path, home)
    planned = prodex.run_job(path, dry_run=True)
    assert before == everything_below(tmp_path, home)
    prodex.run_job(path)
    before = everything_below(tmp_path, home)
    again = prodex.run_job(path, dry_run=True)

    assert before == everything_below(tmp_path, home)
    assert {"planned"} == set(states(planned).values()) | set(states(again).values())
    assert (f"Would load {PRODUCTS} products.",) == planned.steps[0].lines
    assert "Would fetch what has changed since the snapshot" in again.markdown
    assert "nothing was loaded, written, sent or removed" in again.markdown


@pytest.mark.slow
def test_a_service_that_is_down_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs a new snapshot is skipped, the last one stays, and the result says what happened."""
    path = job_file(tmp_path, "", EVERYTHING)
    prodex.run_job(path)
    kept = prodex.open_snapshot("shop").folder
    monkeypatch.setenv("PRODEX_SHOP_URL", "http://127.0.0.1:9")

    result = prodex.run_job(path)

    assert ("failed", {"skipped"}) == (result.steps[0].state, {step.state for step in result.steps[1:]})
    assert 1 == result.exit_code
    assert kept == prodex.open_snapshot("shop").folder
    assert "no connection to 127.0.0.1" in result.markdown
    assert "## What went wrong" in result.markdown


@pytest.mark.slow
def test_a_step_that_fails_stops_only_those_that_need_it(tmp_path: Path) -> None:
    """An export that cannot be written is said, and everything else is done."""
    (tmp_path / "out").write_text("in the way", "utf-8")

    result = prodex.run_job(job_file(tmp_path, "", EVERYTHING))

    failed = [step for step in result.steps if step.state != "done"]
    assert [("export 1 (csv to out)", "failed")] == [(step.name, step.state) for step in failed]
    assert 1 == result.exit_code
    assert "in the way" == (tmp_path / "out").read_text("utf-8")
    assert "export 1" in result.headline


@pytest.mark.slow
def test_a_run_that_was_interrupted_goes_on_at_its_step(tmp_path: Path, home: Path) -> None:
    """Finished steps are not repeated, and the step in whose middle it ended is done as a whole."""
    path = job_file(tmp_path, "", EVERYTHING)
    interrupted(path, "publish")
    begun = log_of(home)

    result = prodex.run_job(path)

    went_on = log_of(home)[len(begun) :]
    assert "publish" == begun[-1]["step"] == went_on[0]["step"]
    assert ["publish", "keep"] == [line["step"] for line in went_on if line["event"] == "start"]
    assert {begun[0]["run"]} == {line["run"] for line in went_on}
    assert {"done"} == set(states(result).values())
    assert (1, 1) == (len(prodex.list_snapshots("shop")), len(prodex.list_audits("shop")))
    assert 1 == len(list((home / "jobs" / "shop").glob("*.md")))


def interrupted(path: Path, step: str) -> None:
    """Run a job, and interrupt it when a step has begun."""

    def interrupt(line: str) -> None:
        facts = json.loads(line)
        if (facts["step"], facts["event"]) == (step, "start"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prodex.run_job(path, on_line=interrupt)


@contextmanager
def dying(file: str, text: str) -> Iterator[None]:
    """End the process where a file is about to get a text; it writes that file no more."""
    replace, has_died = os.replace, False

    def replaced(beside: Any, place: Any) -> None:
        nonlocal has_died
        if Path(place).name == file and (has_died or text in Path(beside).read_text("utf-8")):
            has_died = True
            raise KeyboardInterrupt
        replace(beside, place)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", replaced)
        yield


@pytest.mark.slow
def test_what_a_killed_run_made_is_found(tmp_path: Path) -> None:
    """Between the end of a step and its line in the journal: neither load, audit nor worklists are made twice."""
    path = job_file(tmp_path, "", EVERYTHING)
    for step in ("load", "audit core", "worklists"):
        with dying("run.json", f'"{step}": {{'), pytest.raises(KeyboardInterrupt):
            prodex.run_job(path)

    result = prodex.run_job(path)

    assert {"done"} == set(states(result).values())
    assert (1, 1) == (len(prodex.list_snapshots("shop")), len(prodex.list_audits("shop")))
    assert 1 == len(list((tmp_path / "worklists").iterdir()))


@pytest.mark.slow
def test_a_night_with_a_clock_that_was_ahead_makes_no_later_one_stale(tmp_path: Path) -> None:
    """The next night fetches what has changed, compares it with that night, and keeps what it has made."""
    path = job_file(tmp_path, "", EVERYTHING.replace("= 2", "= 1"))
    prodex.run_job(path)
    with clock.at(datetime.now(UTC) + timedelta(days=3)):
        ahead = prodex.run_job(path)
    later = prodex.run_job(path)

    assert {"done"} == set(states(later).values())
    assert "refreshed" == later.steps[0].figures["how"]
    assert [later.steps[0].figures["snapshot"]] == prodex.list_snapshots("shop")["time"].tolist()
    assert [later.steps[1].figures["audit"]] == prodex.list_audits("shop")["time"].tolist()
    assert later.steps[0].figures["snapshot"] < ahead.steps[0].figures["snapshot"]
    assert f"Compared with the snapshot {ahead.steps[0].figures['snapshot']}." in later.steps[2].lines


@pytest.mark.slow
def test_a_run_that_was_killed_finds_what_it_made_beside_a_snapshot_of_the_future(tmp_path: Path) -> None:
    """By the number that was the last when it began: nothing is made twice or left out."""
    path = job_file(tmp_path, "")
    with clock.at(datetime.now(UTC) + timedelta(days=3)):
        prodex.run_job(path)
    interrupted(path, "load")
    result = prodex.run_job(path)

    assert "refreshed" == result.steps[0].figures["how"]
    assert 2 == len(prodex.list_snapshots("shop"))


@pytest.mark.slow
def test_another_job_file_does_not_continue_a_run(tmp_path: Path) -> None:
    """What was done for another file may not be what this one wants; a journal that is damaged says nothing."""
    interrupted(job_file(tmp_path, "", EVERYTHING), "publish")

    result = prodex.run_job(job_file(tmp_path, 'profile = "pictures"', EVERYTHING))
    (run_journal.job_folder("shop") / "run.json").write_text("{", "utf-8")
    after_damage = prodex.run_job(job_file(tmp_path, 'profile = "pictures"', EVERYTHING))

    assert "audit pictures" in states(result)
    assert {"done"} == {*states(result).values(), *states(after_damage).values()}
    assert result.began < after_damage.began


def test_two_runs_of_a_job_exclude_each_other(tmp_path: Path) -> None:
    """The second says who runs the first, and nothing is written."""
    path = job_file(tmp_path)

    with (
        locked(run_journal.job_folder("shop"), "running the job 'shop'"),
        pytest.raises(SnapshotLocked, match=f"in use by process {os.getpid()} .*running the job 'shop'"),
    ):
        prodex.run_job(path)

    assert prodex.list_snapshots("shop").empty


@pytest.mark.slow
def test_a_name_that_is_locked_is_said_in_words(tmp_path: Path, home: Path) -> None:
    """Somebody loads under the name: the load fails with who it is, and nothing is lost."""
    path = job_file(tmp_path)
    prodex.run_job(path)

    with locked(home / "snapshots" / "shop", "refreshing 'shop'"):
        result = prodex.run_job(path)

    assert ("failed", 1) == (result.steps[0].state, result.exit_code)
    assert "refreshing 'shop'" in result.steps[0].error
    assert 1 == len(prodex.list_snapshots("shop"))


def test_a_folder_of_results_that_cannot_be_written_is_refused_at_the_beginning(tmp_path: Path) -> None:
    """Before anything was asked of the service."""
    (tmp_path / "results").write_text("in the way", "utf-8")

    with pytest.raises(StorageError, match="results"):
        prodex.run_job(job_file(tmp_path, 'results = "results"'))

    assert prodex.list_snapshots("shop").empty


def test_a_log_is_not_written_through_a_link(tmp_path: Path) -> None:
    """A link in its place could lead to any file of the user."""
    (tmp_path / "results" / "shop").mkdir(parents=True)
    (tmp_path / "mine").write_text("mine", "utf-8")
    (tmp_path / "results" / "shop" / "log.jsonl").symlink_to(tmp_path / "mine")

    with pytest.raises(StorageError, match="not written through links"):
        prodex.run_job(job_file(tmp_path, 'results = "results"'))

    assert "mine" == (tmp_path / "mine").read_text("utf-8")


def foreign(folder: Path) -> dict[str, bytes]:
    """Put files of other programs where a job exports to, and return what is there."""
    folder.mkdir()
    (folder / "products.csv").write_text("id;name\n1;mine\n", "utf-8")
    (folder / "datapackage.json").write_text('{"name": "mine", "resources": []}', "utf-8")
    (folder / "notes.txt").write_text("mine", "utf-8")
    return everything_below(folder)


@pytest.mark.slow
def test_an_export_replaces_no_file_of_another_program(tmp_path: Path) -> None:
    """Neither at the first run nor when one was changed since the last; the error says what to do."""
    path = job_file(tmp_path, "compare = false\nwatch = false\nprofile = []", EXPORT)
    there = foreign(tmp_path / "out")

    first = prodex.run_job(path)
    assert there == everything_below(tmp_path / "out")
    assert "failed" == states(first)["export 1 (csv to out)"]
    assert "products.csv" in first.steps[-1].error
    assert "datapackage.json" in first.steps[-1].error
    assert "Move that away, or give the export a folder of its own." in first.steps[-1].error

    for name in ("products.csv", "datapackage.json"):
        (tmp_path / "out" / name).unlink()
    assert {"done"} == set(states(prodex.run_job(path)).values())
    assert {"done"} == set(states(prodex.run_job(path)).values())
    table = tmp_path / "out" / "products.csv"
    table.write_bytes(table.read_bytes() + b"7,edited\r\n")
    edited = everything_below(tmp_path / "out")

    last = prodex.run_job(path)

    assert "failed" == states(last)["export 1 (csv to out)"]
    assert edited == everything_below(tmp_path / "out")
    assert "mine" == (tmp_path / "out" / "notes.txt").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["no record", "no package", "a damaged record"])
def test_an_export_of_an_earlier_run_is_the_jobs_by_its_record_or_by_what_it_says_of_itself(
    tmp_path: Path, home: Path, harm: str
) -> None:
    """Somebody may have deleted either of them."""
    path = job_file(tmp_path, "compare = false\nwatch = false\nprofile = []", EXPORT)
    prodex.run_job(path)
    record = home / "jobs" / "shop" / "exports.json"
    if harm == "no package":
        (tmp_path / "out" / "datapackage.json").unlink()
    elif harm == "no record":
        record.unlink()
    else:
        record.write_text('{"format": 1, "exports": {"', "utf-8")

    assert {"done"} == set(states(prodex.run_job(path)).values())
    assert PRODUCTS == len(prodex.read_export(tmp_path / "out"))


@pytest.mark.slow
@pytest.mark.parametrize("place", ["a link", "a folder"])
def test_an_export_replaces_no_link_and_no_folder(tmp_path: Path, place: str) -> None:
    """They are of somebody else, whatever they lead to or contain."""
    path = job_file(tmp_path, "compare = false\nwatch = false\nprofile = []", EXPORT)
    prodex.run_job(path)
    table = tmp_path / "out" / "products.csv"
    aside = table.rename(tmp_path / "aside.csv")
    if place == "a link":
        table.symlink_to(aside)
    else:
        table.mkdir()

    result = prodex.run_job(path)

    assert "failed" == states(result)["export 1 (csv to out)"]
    assert (place == "a link") == table.is_symlink()
    assert (place == "a folder") == table.is_dir()


def test_an_export_that_was_killed_in_its_middle_is_taken_up_again(tmp_path: Path) -> None:
    """Beside other files it is exchanged file by file: what was there then is no file of another program."""
    path = job_file(tmp_path, "compare = false\nwatch = false\nprofile = []", EXPORT)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine", "utf-8")
    # By then it has the digest of what was written.
    with dying("exports.json", f'"{PACKAGE}": "'), pytest.raises(KeyboardInterrupt):
        prodex.run_job(path)
    (tmp_path / "out" / "datapackage.json").unlink()  # a power cut in that moment leaves no head

    result = prodex.run_job(path)

    assert {"done"} == set(states(result).values())
    assert "mine" == (tmp_path / "out" / "notes.txt").read_text("utf-8")


def half_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the disk take a part of what is written to a log, and then nothing: as a disk does that fills up."""
    write = os.write
    taken: list[int] = []

    def partly(handle: int, data: Any) -> int:
        if b'"event"' not in bytes(data) and not taken:
            return write(handle, data)
        if taken:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken.append(write(handle, bytes(data)[: len(data) // 2]))
        return taken[0]

    monkeypatch.setattr(os, "write", partly)


def test_a_full_disk_leaves_no_half_line_in_the_log(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What did not fit is not there, and the next run goes on with a line of its own."""
    path = job_file(tmp_path, "profile = []")
    prodex.run_job(path)
    lines = log_of(home)
    with monkeypatch.context() as patch:
        half_full(patch)
        with pytest.raises(StorageError, match="No space left"):
            prodex.run_job(path)
    assert lines == log_of(home)

    prodex.run_job(path)

    assert len(lines) < len(log_of(home))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("left", "kept"), [('{"time": "2026-11-20T04', 0), ('{"step": "load"}', 1), ("\xff\xfe", 0)]
)
def test_half_a_line_that_was_left_in_the_log_spoils_no_other(
    tmp_path: Path, home: Path, left: str, kept: int
) -> None:
    """It is removed; if only the end of the line was missing, it gets that."""
    path = job_file(tmp_path, "profile = []")
    prodex.run_job(path)
    before = len(log_of(home))
    with (home / "jobs" / "shop" / "log.jsonl").open("a", encoding="utf-8") as file:
        file.write(left)

    prodex.run_job(path)

    assert 2 * before + kept == len(log_of(home))


@pytest.mark.slow
def test_a_full_disk_ends_a_run_that_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of the result does not fit: an error of storage, and the next run writes it without doing anything."""
    path = job_file(tmp_path, 'results = "results"')
    with monkeypatch.context() as patch:
        write = Path.write_text

        def full(file: Path, *given: Any, **more: Any) -> int:
            if ".md" in file.name:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(file, *given, **more)

        patch.setattr(Path, "write_text", full)
        with pytest.raises(StorageError, match="No space left"):
            prodex.run_job(path)

    result = prodex.run_job(path)

    assert result.path is not None
    assert result.path.is_file()
    assert 1 == len(prodex.list_snapshots("shop"))


@pytest.mark.slow
def test_two_profiles_and_two_exports_are_steps_of_their_own(tmp_path: Path) -> None:
    """Whatever their folders are called; what is unusual of the catalogue is said once, scores for each profile."""
    exports = "".join(
        f'[[exports]]\nformat = "csv"\nfolder = "{one}/out"\ntables = ["tags"]\n' for one in "ab"
    )
    path = job_file(tmp_path, 'profile = ["core", "pictures"]', f"{exports}[keep]\naudits = 1\n")

    first, second = prodex.run_job(path), prodex.run_job(path)
    planned = prodex.run_job(path, dry_run=True)

    assert [*states(first)][:5] == ["load", "audit core", "audit pictures", "compare", "watch"]
    assert ["export 1 (csv to out)", "export 2 (csv to out)"] == [*states(first)][5:7]
    assert (tmp_path / "a" / "out" / "tags.csv").is_file()
    assert (tmp_path / "b" / "out" / "tags.csv").is_file()
    assert {"core", "pictures"} == set(prodex.list_audits("shop")["profile"])
    assert 1 == second.markdown.count("Not enough is known yet: 2 of the 5 saved audits that it takes")
    assert "Would remove 2 audits of 4." in planned.markdown


@pytest.mark.slow
def test_what_is_unusual_is_in_the_language_of_the_job(tmp_path: Path) -> None:
    """On the page of the result, and in what the command prints, which cron sends as a mail."""
    result = prodex.run_job(job_file(tmp_path, 'language = "French"\ncompare = false', ""))

    said = "On n'en sait pas encore assez\u00a0: 1 des 5 audits enregistrés qu'il faut."
    assert said in result.markdown
    assert said in repr(result)


@pytest.mark.slow
def test_no_secret_is_in_what_a_run_leaves(tmp_path: Path, home: Path, exchange: Sandbox) -> None:
    """Neither in state, log, result nor anything else below the folders that it writes to."""
    path = job_file(tmp_path, "", EVERYTHING)

    prodex.run_job(path)
    left = everything_below(tmp_path, home)

    secret = exchange.credentials[0]["client_secret"].encode()
    assert left
    assert [] == [name for name, content in left.items() if secret in content]


def test_a_variable_that_is_not_set_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The load fails with the variable and the key that names it."""
    monkeypatch.delenv("PRODEX_SHOP_SECRET")

    result = prodex.run_job(job_file(tmp_path))

    assert "PRODEX_SHOP_SECRET, which the job names as client_secret, is not set" in result.steps[0].error


def test_what_suppliers_typed_is_no_markup_in_the_result() -> None:
    """Neither HTML, links, pictures nor tables."""
    text = escaped_markdown("a|b <script>alert(1)</script> ![x](https://x.example) `c`\n# d www.example.com")

    assert "<script" not in text.replace("\\<", "")
    assert r"\!\[x\](https\://x.example)" in text
    assert r"\n\# d www\.example.com" in text


def test_the_command_exits_as_the_result_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0 if all was done, 1 otherwise; --log writes the lines to standard error."""
    from prodex.cli import app

    path = job_file(tmp_path, "profile = []")
    app(["run", str(path), "--log"], standalone_mode=False)
    printed = capsys.readouterr()
    (tmp_path / "wrong.toml").write_text("nmae = 'shop'", "utf-8")

    with pytest.raises(InputError, match="did you mean 'name'"):
        app(["run", str(tmp_path / "wrong.toml")], standalone_mode=False)
    assert "load: done" in printed.out
    assert "start" == json.loads(printed.err.splitlines()[0])["event"]
