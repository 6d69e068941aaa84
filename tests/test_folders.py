"""Law: whenever a process is killed, an export is the old one, the new one or none, and never a mixture."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.errors import InputError, StorageError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are forked and killed")

#: Write the old, have a copy of it over and over, and begin to write the new in a process that is killed before its
#: n-th change of a name in the file system, for every n; print what was there then, and what the next one made of it.
_KILLING = """
import json, os, shutil, signal, sys
from itertools import count
from pathlib import Path
import prodex
import pyarrow as pa
from prodex.files.folders import replacing
from prodex.formats.exporting import ExportedTable, write_export

def outcomes_of(place, kind, notes):
    calls = ["rename"] if kind in ("report", "worklists") else ["rename", "unlink", "mkdir", "rmdir"]
    exact = kind in ("csv", "page")  # the others hold the time at which they were written
    tables = ["one", "two"]

    def audit(number):
        return prodex.audit(prodex.flatten([{"id": i} for i in range(number + 1)]), {"checks": {"valid_gtin": {}}})

    def write(number):
        if kind == "report":
            audits[number].to_html(place / "report.html")
        elif kind == "worklists":
            audits[number].worklists(place / "out", replace=True)
        elif kind == "page":
            with replacing(place / "report_files", ["a.csv", "b.csv"], place / "report.html") as beside:
                for name in ("a.csv", "b.csv", "report.html"):
                    (beside / name).write_text(f"{name} {number}")
        else:
            rows = [pa.table({"a": [number] * 9}) for _ in tables]
            made = {name: ExportedTable(iter(t.to_batches()), t.schema) for name, t in zip(tables, rows)}
            write_export(made, place / "out", kind, {})

    audits = [audit(0), audit(1)] if kind in ("report", "worklists") else []

    def seen():
        return {str(path.relative_to(place)): path.read_bytes().hex() for path in sorted(place.rglob("*"))
                if path.is_file() and path.name != "notes.txt"}

    def visible():
        return {name: content for name, content in seen().items() if "/." not in f"/{name}"}

    def fresh():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()

    heads = {"report": "report.html", "page": "report.html", "worklists": "out/worklists.json"}
    head = heads.get(kind, "out/datapackage.json")
    fresh(); write(1); new = visible()
    fresh(); write(0)
    before = place.with_name(place.name + "-before")
    place.rename(before)
    outcomes = []
    for moment in count():
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(before, place)
        if notes:
            (place / ("report_files" if kind in ("report", "page") else "out") / "notes.txt").write_text("mine")
        old = visible()
        child = os.fork()
        if not child:
            left = iter(range(moment))
            def dying(call):
                def changed(*arguments, **options):
                    if next(left, None) is None:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return call(*arguments, **options)
                return changed
            for name in calls:
                setattr(os, name, dying(getattr(os, name)))
            write(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        found = visible()
        kept = list(place.rglob("notes.txt"))
        state = ("old" if found == old else "none" if head not in found else
                 "new" if set(found) == set(new) and (not exact or found == new) else "MIXTURE " + str(sorted(found)))
        if len(kept) != notes:
            state = "NOTES LOST"
        write(1)
        after = seen()
        mended = set(after) == set(new) and (not exact or after == new)
        outcomes.append([state, mended, len(list(place.rglob("notes.txt"))) == notes])
        if os.WIFEXITED(status):
            break
    return outcomes

folder, cases = Path(sys.argv[1]), json.loads(sys.argv[2])
print(json.dumps([outcomes_of(folder / str(number), *case) for number, case in enumerate(cases)]))
"""


#: What is exported, and whether somebody has put notes beside it.
KILLED = [
    ("csv", False),
    ("csv", True),
    ("page", False),
    ("page", True),
    ("report", False),
    ("worklists", False),
]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, bool], list[Any]]:
    """Return of each moment what was there after a kill, whether the next export is whole, and the notes there."""
    folder = tmp_path_factory.mktemp("killed")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _KILLING, str(folder), json.dumps(KILLED)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert 0 == done.returncode, done.stderr[-3000:]
    return dict(zip(KILLED, json.loads(done.stdout), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "notes"), KILLED)
def test_a_kill_at_any_moment_leaves_no_mixture(
    kind: str, notes: bool, killed: dict[tuple[str, bool], list[Any]]
) -> None:
    """Before each change of a name; the next export is whole, nothing hidden is left, and somebody's notes stay."""
    outcomes = killed[kind, notes]

    assert {"old", "none", "new"} >= {state for state, _, _ in outcomes}
    assert "old" == outcomes[0][0]
    assert "new" == outcomes[-1][0]
    assert all(mended for _, mended, _ in outcomes)
    assert all(kept for _, _, kept in outcomes)
    assert len(outcomes) > 2


RECORDS = [{"id": 1, "isTaggedBy": ["a"]}]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    """Notes, a folder, an export in another format: only files of the same names are replaced."""
    folder = tmp_path / "out"
    prodex.flatten(RECORDS).export(folder, "parquet")
    (folder / "notes.txt").write_text("mine")
    (folder / "pictures").mkdir()
    (folder / "pictures" / "a.jpg").write_text("picture")
    before = contents(folder)

    prodex.flatten([{"id": 2}]).export(folder, "csv")
    prodex.flatten([{"id": 3}]).export(folder, "csv")

    after = contents(folder)
    assert {
        name: content for name, content in before.items() if name != "datapackage.json"
    }.items() <= after.items()
    assert b'"3"' in after["products.csv"]
    assert not [name for name in after if name.startswith(".")]


@pytest.mark.slow
def test_the_folder_one_works_in_and_a_link_are_filled_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not exchanged for others of the same name."""
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    inode = real.stat().st_ino
    monkeypatch.chdir(real)
    for number in (1, 2):
        prodex.flatten([{"id": number}]).export(".", "csv")
        prodex.flatten([{"id": number}]).export(tmp_path / "link", "csv")

    assert (tmp_path / "link").is_symlink()
    assert inode == Path.cwd().stat().st_ino == real.stat().st_ino
    assert b'"2"' in (real / "products.csv").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("notes", [True, False])
def test_an_export_that_fails_leaves_the_old_one(
    notes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it fails while it is written or while it is exchanged."""
    folder, old = tmp_path / "out", prodex.flatten(RECORDS)
    old.export(folder, "csv")
    if notes:
        (folder / "notes.txt").write_text("mine")
    before = contents(tmp_path)
    rename = Path.rename

    for failing in range(1 if notes is False else 3):
        left = iter(range(failing))

        def full(self: Path, target: Path, left: Any = left) -> Path:
            if next(left, None) is None and ".old." not in self.name:
                raise OSError(28, "No space left on device")
            return rename(self, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", full)
            with pytest.raises(StorageError, match="No space left"):
                prodex.flatten([{"id": 2}]).export(folder, "csv")
        assert before == contents(tmp_path)
        old.export(folder, "csv")
        assert before == contents(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_not_replaced(tmp_path: Path) -> None:
    """The file may belong to the user, so that it is never replaced."""
    (tmp_path / "out").write_text("mine")

    with pytest.raises(StorageError, match="There is a file where a folder should be"):
        prodex.flatten(RECORDS).export(tmp_path / "out")
    assert "mine" == (tmp_path / "out").read_text()


def test_a_folder_keeps_its_permissions(tmp_path: Path) -> None:
    """A new one follows the umask: who exports into a folder of his own decides who may read it."""
    catalog = prodex.flatten(RECORDS)
    before = os.umask(0o027)
    try:
        catalog.export(tmp_path / "out", "csv")
        assert (0o750, 0o640) == tuple(
            path.stat().st_mode & 0o777 for path in (tmp_path / "out", tmp_path / "out" / "tags.csv")
        )
        (tmp_path / "out").chmod(0o2775)
        catalog.export(tmp_path / "out", "csv")
        assert 0o2775 == (tmp_path / "out").stat().st_mode & 0o7777
    finally:
        os.umask(before)


def test_worklists_among_other_files_are_still_refused(tmp_path: Path) -> None:
    """They are never mixed with what somebody else put there."""
    audit = prodex.audit(prodex.flatten(RECORDS), {"checks": {"valid_gtin": {}}})
    audit.worklists(tmp_path / "lists")
    (tmp_path / "lists" / "notes.txt").write_text("mine")

    with pytest.raises(InputError, match=r"notes\.txt"):
        audit.worklists(tmp_path / "lists", replace=True)
