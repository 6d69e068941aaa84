"""Another person on the machine: every function that reads or writes PRODEX_HOME, where that is not theirs.

`python -m tests.others` prints what each call raises, as JSON. As root it makes the folders, and gives up its rights by
becoming `nobody` in a process of its own; as anybody else it takes the permissions from its own folders. Everything is
called once before, with other folders, so that nothing has to be imported afterwards: `nobody` may not read the source.
"""

# ruff: noqa: T201 - it prints what it found

from __future__ import annotations

import json
import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import prodex
from prodex import TextCorrection
from prodex.errors import ProdexError, StorageError
from prodex.exploration.drafts import CorrectionDraft, change_draft
from prodex.exploration.saved_views import SavedView, open_view, save_view, saved_views
from prodex.load.resume import unfinished_loads
from prodex.sandbox import Sandbox
from prodex.store.archive import snapshots_folder
from prodex_sandbox.sample import shared_products
from tests.job.exchange import SERVICE, variables
from tests.load.exchange import connected

#: The user that owns nothing.
NOBODY = 65_534

RECORDS = [{"id": 7, "gtin": "03036811359935", "updatedAt": "2026-11-20T08:00:00"}]
PRODUCT = {"gtin": "03036811359935", "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "lait"}]}

_READ = ("list_snapshots", "list all", "open_snapshot", "verify", "diff", "audit", "refresh", "panel")
_AUDITS = ("audit.save", "open_audit", "list_audits", "watch")
_ACCEPTED = ("accepted", "accept")
_NAME = (
    *_READ,
    *_AUDITS,
    *_ACCEPTED,
    "save",
    "vacuum",
    "load",
    "reuse",
    "rich content",
    "recover",
    "read_products",
)
_JOB = ("run_job", "dry run")
_SENT = ("list_upserts", "track", "upsert")
_PANELS = ("views", "a view", "save a view", "a correction")
_FILES = (
    "accepted in a file",
    "accept in a file",
    "a recipe",
    "write a recipe",
    "its requirements",
    "its job",
)
_WRITTEN = (*_FILES, "read_export", "export", "export into it", "worklists", "to_html", "gallery", "pictures")

#: What belongs to somebody else -> its folders, and the calls that have to say so.
CLOSED: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "everything": (["home"], (*_NAME, *_JOB, *_SENT, "open a folder")),
    "the snapshots": (["home/snapshots"], (*_NAME, *_JOB, "open a folder")),
    "a name": (["home/snapshots/shop"], (*_NAME, *_JOB, "open a folder")),
    "a snapshot": (["home/snapshots/shop/2*"], (*_READ, "open a folder")),
    "its tables": (["home/snapshots/shop/2*/products"], ("open_snapshot", "diff", "panel")),
    "its audits": (["home/snapshots/shop/audits"], (*_AUDITS, *_JOB)),
    "what was sent": (["home/tracking"], _SENT),
    "one upsert": (["home/tracking/2*"], ("list_upserts",)),
    "jobs": (["home/jobs"], ("run_job",)),
    "views and corrections": (["home/views", "home/corrections"], _PANELS),
    "a folder elsewhere": (["closed"], _WRITTEN),
}

Call = Callable[[], object]


def calls(sandbox: Sandbox, place: Path) -> Mapping[str, Call]:
    """Return every call."""
    service = connected(sandbox)
    catalog = prodex.flatten(RECORDS)
    audit = prodex.audit(catalog, "core", progress=False)
    job, closed = place / "shop.toml", place / "closed"
    quiet: dict[str, Any] = {"progress": False}
    return {
        "list_snapshots": lambda: noted(prodex.list_snapshots("shop")),
        "list all": lambda: noted(prodex.list_snapshots()),
        "open_snapshot": lambda: prodex.open_snapshot("shop"),
        "open a folder": lambda: prodex.open_snapshot(first(place)),
        "verify": lambda: prodex.verify("shop", **quiet),
        "diff": lambda: prodex.diff("shop", "shop", **quiet),
        "audit": lambda: prodex.audit("shop", "core", **quiet),
        "panel": lambda: shown(prodex.explore(show="snapshots")),
        "list_audits": lambda: noted(prodex.list_audits("shop")),
        "open_audit": lambda: prodex.open_audit("shop"),
        "watch": lambda: prodex.watch("shop"),
        "accepted": lambda: prodex.accepted("shop"),
        "accept": lambda: prodex.accept(prodex.audit("shop", "core", **quiet), reason="agreed"),
        "accepted in a file": lambda: prodex.accepted(closed / "accepted.jsonl"),
        "accept in a file": lambda: prodex.accept(audit, reason="agreed", to=closed / "accepted.jsonl"),
        "a recipe": lambda: prodex.Recipe.read(closed / "recipe.toml"),
        "write a recipe": lambda: prodex.Recipe([]).save(closed / "recipe.toml"),
        "its requirements": lambda: prodex.Requirements.read(closed / "requirements.toml"),
        "its job": lambda: prodex.run_job(closed / "job.toml"),
        "audit.save": lambda: audit.save("shop"),
        "save": lambda: catalog.save("shop"),
        "reuse": lambda: prodex.load_products(service, name="shop", **quiet),
        "load": lambda: prodex.load_products(service, name="shop", max_age=0, **quiet),
        "rich content": lambda: prodex.load.load_rich_content(service, name="shop", **quiet),
        "refresh": lambda: prodex.refresh("shop", service, **quiet),
        "recover": lambda: prodex.recover("shop"),
        "read_products": lambda: prodex.read_products(place / "records.jsonl", name="shop", **quiet),
        "vacuum": lambda: prodex.vacuum("shop"),
        "run_job": lambda: done(prodex.run_job(job)),
        "dry run": lambda: done(prodex.run_job(job, dry_run=True)),
        "list_upserts": lambda: noted(prodex.list_upserts()),
        "track": lambda: prodex.track(service),
        "upsert": lambda: prodex.upsert(service, [PRODUCT], dry_run=False, **quiet),
        "read_export": lambda: prodex.read_export(closed),
        "export": lambda: catalog.export(closed / "out", "csv", tables=["products"], **quiet),
        "export into it": lambda: catalog.export(closed, "csv", tables=["products"], **quiet),
        "worklists": lambda: audit.worklists(closed / "lists", **quiet),
        "to_html": lambda: audit.to_html(closed / "report.html", **quiet),
        "gallery": lambda: catalog.gallery(**quiet).to_html(closed / "sheet.html"),
        "views": saved_views,
        "a view": lambda: open_view("mine"),
        "save a view": lambda: save_view(SavedView("mine")),
        "a correction": lambda: change_draft(
            "shop", CorrectionDraft(), CorrectionDraft((TextCorrection("7", "namePublicLong", "fr", "lait"),))
        ),
        "pictures": lambda: prodex.download_pictures(catalog, closed / "pictures", **quiet),
    }


def first(place: Path) -> Path:
    """Return the folder of a snapshot, which was written down before."""
    return Path((place / "first.txt").read_text("utf-8"))


def noted(frame: Any) -> Any:
    """Raise what a list says of an entry that cannot be read."""
    for note in filter(None, frame["note"]):
        raise StorageError(note)
    return frame


def done(result: prodex.job.JobResult) -> Any:
    """Raise what a job says of a step that failed."""
    for step in result.steps:
        if step.state == "failed":
            raise StorageError(step.error)
    return result


def shown(panel: prodex.notebook.Explore) -> Any:
    """Look at the snapshots, and raise what the panel shows as an error."""
    panel.app.view()
    panel.wait()
    panel.app.view()
    if "snapshots" in panel.app.session.notices:
        raise StorageError(panel.app.session.notices["snapshots"].sentence)
    unfinished_loads(snapshots_folder())
    return panel


def filled(place: Path, sandbox: Sandbox) -> None:
    """Make everything that prodex keeps, as somebody who has run it once."""
    (place / "closed").mkdir(parents=True)
    (place / "records.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in RECORDS), "utf-8")
    (place / "shop.toml").write_text(f'name = "shop"\nresults = "results"\n{SERVICE}', "utf-8")
    os.environ["PRODEX_HOME"] = str(place / "home")
    (place / "first.txt").write_text(str(prodex.flatten(RECORDS).save("shop").folder), "utf-8")
    for call in calls(sandbox, place).values():
        with suppress(ProdexError):  # nothing was interrupted, and so on: it is called for what it imports
            call()
    # The newest is one that can be refreshed.
    newest = prodex.load_products(connected(sandbox), name="shop", max_age=0, progress=False)
    (place / "first.txt").write_text(str(newest.folder), "utf-8")


@contextmanager
def closed(place: Path, patterns: Sequence[str]) -> Iterator[None]:
    """Close folders to others; as anybody but root, to oneself."""
    for path in (place, *place.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    found = [path for pattern in patterns for path in place.glob(pattern) if path.is_dir()]
    assert found, patterns
    for path in found:
        path.chmod(0o700 if os.geteuid() == 0 else 0)
    try:
        yield
    finally:
        for path in filter(Path.exists, found):
            path.chmod(0o700)


def raised(sandbox: Sandbox, place: Path, names: Sequence[str]) -> dict[str, list[str]]:
    """Return what calls raise: the name of the class, "" for nothing, and the message; of a strange one the trace."""
    found = {}
    every = calls(sandbox, place)
    for name in names:
        try:
            every[name]()
            found[name] = ["", ""]
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is asked for
            trace = "" if isinstance(error, ProdexError) else traceback.format_exc()
            found[name] = [type(error).__name__, f"{error}{trace}"]
    return found


def as_somebody_else(work: Callable[[], Any]) -> Any:
    """Do some work as `nobody` where we are root, and return what it returns."""
    if os.geteuid():
        return work()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.chdir("/")
            with os.fdopen(writing, "w", encoding="utf-8") as file:
                json.dump(work(), file)
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the process ends here
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as file:
        answer = file.read()
    assert os.waitpid(child, 0)[1] == 0
    return json.loads(answer)


def main() -> None:
    """Print what is raised, for each folder that is closed."""
    base = Path(tempfile.mkdtemp(prefix="prodex-others-"))
    base.chmod(0o755)
    try:
        with Sandbox(shared_products(20)) as sandbox:
            os.environ.update(variables(sandbox))
            filled(base / "first", sandbox)
            found = {}
            for number, (what, (patterns, names)) in enumerate(CLOSED.items()):
                place = base / str(number)
                shutil.copytree(base / "first", place)
                text = (place / "first.txt").read_text("utf-8")
                (place / "first.txt").write_text(text.replace(str(base / "first"), str(place)), "utf-8")
                os.environ["PRODEX_HOME"] = str(place / "home")
                with closed(place, patterns):
                    found[what] = as_somebody_else(lambda at=place, which=names: raised(sandbox, at, which))
        print(json.dumps(found))
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
