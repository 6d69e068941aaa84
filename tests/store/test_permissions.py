"""What prodex keeps for itself is readable by its owner only, whatever the umask; exports follow the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.load.exchange import connected, loaded, records

import prodex
from prodex.files.atomic import make_folder, open_private
from prodex.sandbox import Sandbox
from prodex.store.journal import LoadJournal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")

RECORDS = [{"id": 1, "isTaggedBy": ["a"]}]


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Work under an umask that hides nothing, under the usual one, and under a strict one."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def open_to_others(folder: Path) -> list[str]:
    """Return what below a folder somebody else could read, write or enter, or its owner could not."""
    expected = {True: 0o700, False: 0o600}
    return [
        f"{path.relative_to(folder)} {stat.S_IMODE(path.stat().st_mode):o}"
        for path in (folder, *folder.rglob("*"))
        if stat.S_IMODE(path.stat().st_mode) != expected[path.is_dir()]
    ]


@pytest.mark.slow
def test_snapshots_and_audits_are_private(umask: int, home: Path) -> None:
    """This holds for saved, merged and repaired ones, with everything beside them."""
    catalog = prodex.flatten(RECORDS).save("shop")
    prodex.audit(catalog, {"checks": {"valid_gtin": {}}}).save()
    catalog.save("shop")
    prodex.vacuum("shop", keep=1)

    assert [] == open_to_others(home)


@pytest.mark.slow
def test_loads_are_private_while_they_run_and_afterwards(umask: int, home: Path) -> None:
    """The journal with its pages, the parts that are being built, the lock and the snapshot."""
    seen: list[str] = []
    with Sandbox(products=records(12)) as sandbox:
        sandbox.at_call(2, lambda: seen.extend(open_to_others(home)))
        loaded(sandbox, "offset")
        prodex.refresh("shop", connected(sandbox))

    assert [] == seen == open_to_others(home)


def test_a_home_from_before_is_closed_when_it_is_written_to(tmp_path: Path, home: Path) -> None:
    """As far as it is ours: the folder that PRODEX_HOME names, and what others put there, stay as they are."""
    for folder in (home / "snapshots" / "shop", home / "mine"):
        folder.mkdir(parents=True)
    for folder in (home, home / "snapshots", home / "snapshots" / "shop", home / "mine"):
        folder.chmod(0o755)
    (home / "mine" / "notes.txt").write_text("")
    (home / "mine" / "notes.txt").chmod(0o644)
    prodex.flatten(RECORDS).save("shop")

    modes = {str(path.relative_to(home)): path.stat().st_mode & 0o777 for path in (home, *home.rglob("*"))}
    assert (0o755, 0o755, 0o644) == (modes["."], modes["mine"], modes["mine/notes.txt"])
    assert (0o700, 0o700) == (modes["snapshots"], modes["snapshots/shop"])


def test_a_file_that_is_private_is_so_from_its_first_byte(tmp_path: Path) -> None:
    """There is no moment in which it could be opened by somebody else; an old one is closed."""
    before = os.umask(0)
    try:
        with open_private(tmp_path / "new", "wb"):
            assert 0o600 == (tmp_path / "new").stat().st_mode & 0o777
        (tmp_path / "old").write_text("")
        (tmp_path / "old").chmod(0o666)
        with open_private(tmp_path / "old", "ab") as file:
            file.write(b"more")
        assert 0o600 == (tmp_path / "old").stat().st_mode & 0o777
        make_folder(tmp_path / "a" / "b", private=True)
        assert [0o700, 0o700] == [(tmp_path / p).stat().st_mode & 0o777 for p in ("a", "a/b")]
    finally:
        os.umask(before)


def test_a_link_is_not_followed_to_close_what_is_elsewhere(tmp_path: Path, home: Path) -> None:
    """Whoever keeps snapshots on another disk by way of a link decides about that folder."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    home.mkdir()
    (home / "snapshots").symlink_to(elsewhere)
    prodex.flatten(RECORDS).save("shop")

    assert 0o755 == elsewhere.stat().st_mode & 0o777
    assert [] == open_to_others(elsewhere / "shop")


@pytest.mark.slow
def test_exports_follow_the_umask(umask: int, tmp_path: Path) -> None:
    """Exports are for others, and the user decides for whom."""
    catalog = prodex.flatten(RECORDS)
    catalog.export(tmp_path / "out", "csv")
    catalog.export(tmp_path / "out", "parquet")
    audit = prodex.audit(catalog, {"checks": {"valid_gtin": {}}})
    audit.to_html(tmp_path / "report.html")
    audit.worklists(tmp_path / "lists")

    files = [tmp_path / "report.html", *(p for f in ("out", "lists") for p in (tmp_path / f).iterdir())]
    assert {0o666 & ~umask} == {path.stat().st_mode & 0o777 for path in files}
    folders = [tmp_path / name for name in ("out", "lists", "report_files")]
    assert {0o777 & ~umask} == {path.stat().st_mode & 0o777 for path in folders}


def test_a_journal_is_private(umask: int, tmp_path: Path) -> None:
    """It is private from its first file on."""
    LoadJournal.begin(tmp_path / "j", {"asked": 1}).note("judged", "complete")

    assert [] == open_to_others(tmp_path / "j")
