"""What macOS and Windows lack or do otherwise, as simulations on Linux: modules, locks, letters, zones and signals."""

from __future__ import annotations

import ast
import errno
import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
import zoneinfo
from collections.abc import Iterator
from pathlib import Path
from urllib.request import url2pathname

import pytest

import prodex
from prodex.errors import InputError, SettingsError, SnapshotLocked, StorageError
from prodex.files import atomic
from prodex.files.lock import locked, publishing_lock
from prodex.publishing import destination
from prodex.publishing.destination import place_of
from prodex.store.archive import new_name
from prodex.written_dates import zone_of
from tests.cases import each_row

SOURCES = sorted(
    path
    for package in ("prodex", "prodex_sandbox")
    for path in (Path(prodex.__file__).parents[1] / package).rglob("*.py")
)

#: Modules of Python that Windows does not have.
OF_UNIX = ("fcntl", "grp", "posix_ipc", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")

RECORD = {
    "id": 1,
    "gtin": "03036811359935",
    "namePublicLong": [{"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}, "data": "Käse"}],
    "owner": {"id": 4, "name": "Käse & Söhne"},
}


def trees(words: str) -> Iterator[tuple[Path, ast.Module]]:
    """Yield the modules in which some words are."""
    for path in SOURCES:
        if re.search(words, text := path.read_text("utf-8")):
            yield path, ast.parse(text)


def inside(words: str) -> Iterator[tuple[Path, ast.AST]]:
    """Yield everything in these modules."""
    return ((path, node) for path, tree in trees(words) for node in ast.walk(tree))


def text_without_encoding(call: ast.Call) -> bool:
    """Whether a call opens a text in the encoding of the machine: that of Windows is not UTF-8."""
    name = ast.unparse(call.func)
    given = {one.arg for one in call.keywords}
    last = name.rpartition(".")[2]
    if last == "read_text" and not name.startswith("own."):  # `own` is a distribution, which has UTF-8
        return not call.args and "encoding" not in given and "resources" not in name
    if last == "write_text":
        return len(call.args) < 2 and "encoding" not in given
    if name in {"open", "io.open"} or (last == "open" and _is_path(name)):
        mode = _mode(call, 1 if name in {"open", "io.open"} else 0)
        return "b" not in mode and "encoding" not in given
    is_process = last in {"run", "Popen", "check_output", "check_call"} and name.startswith("subprocess")
    return is_process and bool(given & {"text", "universal_newlines"}) and "encoding" not in given


def _is_path(name: str) -> bool:
    return name.rpartition(".")[0].rpartition(".")[2] in {"path", "file", "beside", "source", "target", "log"}


def _mode(call: ast.Call, destination: int) -> str:
    named = [one.value for one in call.keywords if one.arg == "mode"]
    found = (
        named[0] if named else call.args[destination] if len(call.args) > destination else ast.Constant("r")
    )
    return str(found.value) if isinstance(found, ast.Constant) else "b"


@pytest.mark.slow
def test_every_text_has_its_encoding() -> None:
    """Windows would read and write cp1252, and UTF-8 of another machine would be other letters."""
    found = [
        f"{path}:{node.lineno}"
        for path, node in inside(r"\bopen\(|_text\(|text=True")
        if isinstance(node, ast.Call) and text_without_encoding(node)
    ]
    assert [] == found


@pytest.mark.slow
def test_no_signal_is_named_that_windows_lacks() -> None:
    """SIGKILL, SIGHUP and others are missing in its `signal`."""
    of_windows = {"SIGABRT", "SIGBREAK", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM"}
    named = {
        node.attr
        for _, node in inside("SIG")
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) == "signal"
        and node.attr.startswith("SIG")
    }
    assert named - {"SIG_DFL", "SIG_IGN"} <= of_windows


def test_no_module_needs_one_that_windows_lacks() -> None:
    """It is imported where its absence is expected, or inside a function."""
    found = [
        f"{path}: {ast.unparse(node)}"
        for path, tree in trees(rf"\b(import|from) ({'|'.join(OF_UNIX)})\b")
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and {getattr(node, "module", None), *(one.name for one in node.names)} & set(OF_UNIX)
    ]
    assert [] == found


WITHOUT = """
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules}:
            raise ImportError(f"no module {{name}}")
for name in {modules}:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Nothing())
import prodex
catalog = prodex.flatten([{{"id": 1}}]).save("shop")
from prodex.files.lock import locked
from prodex.errors import SnapshotLocked
from prodex.store.archive import snapshots_folder
with locked(snapshots_folder() / "shop", "testing"):
    try:
        prodex.vacuum("shop")
    except SnapshotLocked as error:
        print("locked" if "testing" in str(error) else error)
print(len(prodex.open_snapshot("shop")))
"""


@pytest.mark.slow
def test_a_snapshot_is_saved_and_locked_without_the_modules_of_unix(tmp_path: Path) -> None:
    """Without `fcntl`, filelock has a lock of another kind, and nobody enters twice."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT.format(modules=OF_UNIX)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PRODEX_HOME": str(tmp_path)},
        check=False,
    )
    assert "locked\n1\n" == done.stdout, done.stderr[-2000:]


@each_row("number", [errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP])
@pytest.mark.filterwarnings("ignore:.*soft:UserWarning", "ignore:.*Soft:UserWarning")
def test_a_disk_without_locks_is_an_error_of_ours_or_has_one_of_another_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Disks of a network; in any case nobody enters twice, and nothing else than our errors comes out."""
    fcntl = pytest.importorskip("fcntl")

    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refused)
    for lock in (lambda: locked(tmp_path / "a", "testing"), lambda: publishing_lock(tmp_path / "b")):
        try:
            with lock():
                with pytest.raises(SnapshotLocked), locked(tmp_path / "a", "again"):
                    pass
                break
        except StorageError as error:
            assert "choose a folder on another one" in str(error)  # noqa: PT017


@each_row("number", [errno.EINVAL, errno.ENOTSUP, errno.EBADF])
def test_a_disk_that_cannot_flush_a_folder_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Disks of a network and of virtual machines; that a file cannot be flushed is still an error."""
    real = os.fsync

    def synced(handle: int) -> None:
        if Path(f"/proc/self/fd/{handle}").is_dir():
            raise OSError(number, os.strerror(number))
        real(handle)

    monkeypatch.setattr(os, "fsync", synced)
    prodex.flatten([RECORD]).save("shop")
    assert 1 == len(prodex.open_snapshot("shop"))

    def nothing(handle: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", nothing)
    with pytest.raises(OSError, match="error"):
        atomic.flush(tmp_path)


@pytest.mark.slow
def test_folders_of_a_mac_have_names_in_another_form(tmp_path: Path) -> None:
    """Disks and archives of macOS take letters apart (NFD): its worklists are ours, are read, and are replaced."""
    catalog = prodex.flatten([RECORD])
    audit = prodex.audit(catalog, "core")
    audit.worklists(tmp_path / "sent")
    came = tmp_path / "came"
    came.mkdir()
    for path in (tmp_path / "sent").iterdir():
        shutil.copy(path, came / unicodedata.normalize("NFD", path.name))
    assert any(not unicodedata.is_normalized("NFC", path.name) for path in came.iterdir())

    sent, returned = (prodex.read_worklist(folder, catalog=catalog) for folder in (tmp_path / "sent", came))
    assert sent.rows == returned.rows

    audit.worklists(came, replace=True)
    names = [path.name for path in came.iterdir()]
    assert len(names) == len({unicodedata.normalize("NFC", name) for name in names})


@pytest.mark.slow
def test_what_the_finder_and_the_explorer_leave_in_a_folder_is_nobodys(home: Path, tmp_path: Path) -> None:
    """Listings, replacement and clean-up pass over it, and leave it where it is."""
    catalog = prodex.flatten([RECORD]).save("shop")
    audit = prodex.audit(catalog, "core").save("shop")
    to_fix, pictures = tmp_path / "to_fix", tmp_path / "pictures"
    audit.worklists(to_fix)
    audit.to_html(tmp_path / "report" / "report.html")
    catalog.export(tmp_path / "out", "csv")
    prodex.download_pictures(catalog, pictures, progress=False)
    assert catalog.folder is not None
    folders = [home, *(path for path in (*home.rglob("*"), *tmp_path.rglob("*")) if path.is_dir())]
    left = [
        folder / name for folder in folders for name in (".DS_Store", "Thumbs.db", "desktop.ini", "._shop")
    ]
    for path in left:
        path.write_bytes(b"\0\1")

    assert [("shop", "")] == list(
        prodex.list_snapshots()[["name", "note"]].itertuples(index=False, name=None)
    )
    assert ["shop"] == prodex.list_audits()["name"].tolist()
    assert 1 == len(prodex.open_snapshot("shop"))
    assert prodex.verify("shop")["ok"].all()
    assert 1 == len(prodex.read_export(tmp_path / "out"))
    audit.worklists(to_fix, replace=True)
    assert 0 == len(prodex.read_worklist(to_fix, catalog=catalog).refused)
    audit.to_html(tmp_path / "report" / "report.html")
    catalog.export(tmp_path / "out", "csv")
    prodex.download_pictures(catalog, pictures, progress=False)
    prodex.flatten([RECORD]).save("shop")
    prodex.vacuum("shop", keep=1)
    assert ["shop"] == prodex.list_snapshots()["name"].tolist()


def test_an_export_whose_names_a_mac_took_apart_is_read(tmp_path: Path) -> None:
    """Whatever the form of the folder's own name."""
    folder = tmp_path / unicodedata.normalize("NFD", "Käse")
    prodex.flatten([RECORD]).export(folder, "csv")
    assert 1 == len(prodex.read_export(folder))


@pytest.mark.slow
@pytest.mark.parametrize("other", ["Shop", "SHOP", "KÄSE", unicodedata.normalize("NFD", "KÄSE")])
def test_a_name_that_a_disk_takes_for_another_is_refused(tmp_path: Path, other: str) -> None:
    """Two names of snapshots that macOS and Windows do not tell apart would mix two catalogues."""
    file = tmp_path / "one.json"
    file.write_text(json.dumps(RECORD), "utf-8")
    for name in ("shop", "Käse"):
        prodex.flatten([RECORD]).save(name)
    for save in (
        lambda: prodex.flatten([RECORD]).save(other),
        lambda: prodex.read_products(file, name=other),
        lambda: prodex.audit(prodex.flatten([RECORD]), "core").save(other),
    ):
        with pytest.raises(SettingsError, match="do not tell"):
            save()
    prodex.flatten([RECORD]).save("shop")
    assert {"shop", "Käse"} == set(prodex.list_snapshots()["name"])


def test_a_name_from_the_finder_is_the_name_that_it_looks_like() -> None:
    """Copied from macOS, its letters are taken apart: the same snapshot is saved, opened, listed and cleaned up."""
    apart = unicodedata.normalize("NFD", "Käse")
    catalog = prodex.flatten([RECORD]).save(apart)
    prodex.flatten([RECORD]).save("Käse")
    prodex.audit(catalog, "core").save(apart)
    assert ["Käse"] * 2 == prodex.list_snapshots(apart)["name"].tolist()
    assert len(prodex.open_snapshot(apart)) == len(prodex.open_snapshot("Käse"))
    assert prodex.open_audit(apart).profile == "core"
    prodex.vacuum(apart, keep=1)
    assert ["Käse"] == prodex.list_snapshots()["name"].tolist()


def test_a_disk_that_takes_names_apart_has_the_same_snapshots(home: Path) -> None:
    """As older disks of macOS do, whatever was written."""
    prodex.flatten([RECORD]).save("Käse")
    folder = home / "snapshots"
    (folder / "Käse").rename(folder / unicodedata.normalize("NFD", "Käse"))
    listed = prodex.list_snapshots()["name"].map(lambda name: unicodedata.normalize("NFC", name))
    assert ["Käse"] == listed.tolist()
    assert "Käse" == new_name("Käse")  # there, it is the folder that is listed


def test_a_zone_is_found_without_the_files_of_the_system() -> None:
    """Windows has none: the package `tzdata` does, which pandas brings; without it, the message names it."""
    before = zoneinfo.TZPATH
    zoneinfo.reset_tzpath(to=[])
    zoneinfo.ZoneInfo.clear_cache()
    try:
        assert "Europe/London" == str(zone_of("Europe/London"))
        hidden = {
            name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "tzdata"
        }
        sys.modules["tzdata"] = None  # type: ignore[assignment]
        zoneinfo.ZoneInfo.clear_cache()
        try:
            with pytest.raises(InputError, match="tzdata"):
                zone_of("Europe/London")
        finally:
            del sys.modules["tzdata"]
            sys.modules.update(hidden)
    finally:
        zoneinfo.reset_tzpath(to=before)


def test_places_on_a_drive_are_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    r"""C:\data is no address of an object store, and file: addresses have their blanks and drives."""
    for text in (r"C:\data\published", "C:/data/published", r"\\server\share\published", "a b"):
        assert place_of(text).folder is not None
    assert Path("/a b/c") == place_of("file:///a%20b/c").folder
    nt = pytest.importorskip("nturl2path")
    monkeypatch.setattr(destination, "url2pathname", nt.url2pathname)
    assert str(place_of("file:///C:/data%20of/x").folder).endswith(r"C:\data of\x")
    assert url2pathname("/a") == "/a"
