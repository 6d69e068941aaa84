"""Jobs under SIGKILL: a run goes on at the step where it was, and nothing is done twice or half."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import prodex
from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.sample import shared_products
from tests.forks import Forks, forking
from tests.job.exchange import job_file, variables

#: With all that a run imports when it needs it, which would take each process as long as a step.
_IMPORTED = """
import os, signal
import prodex, prodex.job.steps, prodex.job.run, prodex.worklists.folder, prodex.worklists.workbook
import prodex.catalog.export, prodex.formats.workbook_writing, requests, xlsxwriter
"""

#: Ends itself in the middle of an audit, when it was told to: judged, and not saved.
_RUN = """
if dies:
    whole = prodex.job.steps.audit
    def audit(*given):
        whole(*given)
        os.kill(os.getpid(), signal.SIGKILL)
    prodex.job.steps.audit = audit
os._exit(prodex.run_job(path).exit_code)
"""

WRITTEN = """\
[worklists]
folder = "worklists"
by = "market"

[[exports]]
format = "csv"
folder = "out"
tables = ["products"]
"""


@contextmanager
def jobs(tmp_path: Path) -> Iterator[Forks]:
    """Give a Python from which jobs are run in processes of their own."""
    with forking(_IMPORTED, _RUN, tmp_path / "complaints.txt") as forks:
        yield forks


def results(home: Path) -> list[str]:
    """Return the pages of the results, in order."""
    return [path.read_text("utf-8") for path in sorted((home / "jobs" / "shop").glob("*.md"))]


def log_of(home: Path) -> list[dict[str, Any]]:
    """Return the lines of the log."""
    return [
        json.loads(line) for line in (home / "jobs" / "shop" / "log.jsonl").read_text("utf-8").splitlines()
    ]


def test_seven_nights_with_two_incidents_and_a_kill(home: Path, tmp_path: Path) -> None:
    """Each night has its result; incidents are news in it, quiet nights are not, and no work is lost or done twice."""
    behaviour = Behaviour(clock_skew=1.0)
    planted = {6: "supplier_loses_pictures", 7: "volume_halves"}
    path = job_file(tmp_path, 'profile = "core"', WRITTEN)
    codes: dict[int, list[int]] = {}
    with Sandbox(shared_products(200), behaviour=behaviour) as sandbox, jobs(tmp_path) as forks:
        environment = {"PRODEX_HOME": str(home), **variables(sandbox)}
        for night in range(1, 8):
            # The clock of the service, which moves by a day each night.
            object.__setattr__(behaviour, "clock_skew", 86_400.0 * night)
            sandbox.simulate(1, 1, [planted[night]] if night in planted else [])
            for dies in (True, False) if night == 4 else (False,):
                process = forks.start(environment, path=str(path), dies=dies)
                codes.setdefault(night, []).append(process.wait())
    pages, log = results(home), log_of(home)

    assert {night: [-9, 0] if night == 4 else [0] for night in range(1, 8)} == codes
    assert [7, 7, 7] == [len(pages), len(prodex.list_snapshots("shop")), len(prodex.list_audits("shop"))]
    assert all(prodex.verify(folder)["ok"].all() for folder in prodex.list_snapshots("shop")["folder"])
    assert ["unusual" in page.splitlines()[0] for page in pages] == [False] * 5 + [True] * 2
    assert "Not enough is known yet: 4 of the 5 saved audits that it takes." in pages[3].replace("\\", "")
    assert "Pictures of" in pages[5]
    assert "Products: " in pages[6]
    # What the killed run had done was not done again, and the step in its middle was.
    runs = sorted({line["run"] for line in log})
    started = [line["step"] for line in log if line["run"] == runs[3] and line["event"] == "start"]
    assert [
        "load",
        "audit core",
        "audit core",
        "compare",
        "watch",
        "worklists",
        "export 1 (csv to out)",
    ] == started
    assert 7 == len(list((tmp_path / "worklists").iterdir()))


def test_kills_at_any_moment_leave_one_snapshot_audit_and_worklist_each_run(
    home: Path, tmp_path: Path
) -> None:
    """However often: as many of each as there are runs that came to their end, and all of them whole."""
    path = job_file(tmp_path, 'profile = "core"', WRITTEN)
    with Sandbox(shared_products(60)) as sandbox, jobs(tmp_path) as forks:
        environment = {"PRODEX_HOME": str(home), **variables(sandbox)}
        # As many moments as two runs have steps, all over the time that a run takes.
        for moment in range(8):
            process = forks.start(environment, path=str(path), dies=False)
            time.sleep(0.03 + 0.06 * moment)
            if process.is_running():
                process.kill()
        assert 0 == forks.start(environment, path=str(path), dies=False).wait()
    runs = len(results(home))

    assert [runs] * 3 == [
        len(prodex.list_snapshots("shop")),
        len(prodex.list_audits("shop")),
        len(list((tmp_path / "worklists").iterdir())),
    ]
    assert all(prodex.verify(folder)["ok"].all() for folder in prodex.list_snapshots("shop")["folder"])
    assert len(prodex.open_audit("shop")) == len(prodex.open_snapshot("shop"))
    assert [] == [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]
