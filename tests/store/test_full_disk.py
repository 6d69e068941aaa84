"""On a full disk nothing is lost, every error is ours, and what frees space works."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import prodex
from prodex.errors import StorageError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and mounts are those of Linux")

#: No file may grow by a single byte: it stands for a full disk where no small file system can be mounted.
_FULL = """
import resource, sys
import prodex
from prodex.errors import ProdexError
catalog = prodex.open_snapshot("shop")
audit = prodex.audit(catalog, {"checks": {"required_text": {"attribute": "namePublicLong", "language": "fr"}}})
work = sys.argv[1]
from prodex.display import report
from prodex.worklists import folder
import xlsxwriter
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
out = sys.argv[2]
try:
    match work:
        case "vacuum":
            print(prodex.vacuum("shop", keep=1)["reason"].tolist())
        case "worklists":
            audit.worklists(out, replace=True)
        case "report":
            audit.to_html(out + "/report.html")
        case "save":
            catalog.save("shop")
        case _:
            catalog.export(out, work)
    print("done")
except ProdexError as error:
    print(type(error).__name__, error)
"""


def on_a_full_disk(work: str, out: Path, largest: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _FULL, work, str(out), str(largest)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "" == done.stderr
    return done.stdout


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_vacuum_frees_space_on_a_full_disk(home: Path) -> None:
    """Vacuum writes nothing that it could do without."""
    for number in range(3):
        prodex.flatten([{"id": number}]).save("shop")

    assert "['older than the newest 1', 'older than the newest 1']\ndone\n" == on_a_full_disk("vacuum", home)
    assert 1 == len(prodex.list_snapshots("shop"))
    assert {".lock"} == {path.name for path in (home / "snapshots" / "shop").glob(".*")}


@pytest.mark.slow
@pytest.mark.parametrize("largest", [0, 3_000])
@pytest.mark.parametrize("work", ["parquet", "csv", "xlsx", "worklists", "report"])
def test_exports_say_that_the_disk_is_full_and_leave_the_old_one(
    work: str, largest: int, tmp_path: Path
) -> None:
    """Whether it is full from the first byte or later on; nothing is said beside our error."""
    names = [{"expressedIn": {"code": "eng-GB"}, "data": f"name {n} {n * 7919 % 1009}"} for n in range(900)]
    catalog = prodex.flatten([{"id": 1, "namePublicLong": names}, {"id": 2}]).save("shop")
    out = tmp_path / "out"
    if work == "worklists":
        checks = {"checks": {"required_text": {"attribute": "namePublicLong", "language": "fr"}}}
        prodex.audit(catalog, checks).worklists(out)
    elif work != "report":
        catalog.export(out, work)
    else:
        out.mkdir()
    before = files_of(out)

    said = on_a_full_disk(work, out, largest)

    assert said.startswith("StorageError Could not write"), said
    assert before == files_of(out)


@pytest.mark.slow
def test_a_save_on_a_full_disk_leaves_nothing(home: Path) -> None:
    """Neither a new snapshot nor a half-written one."""
    prodex.flatten([{"id": 1}]).save("shop")

    assert on_a_full_disk("save", home).startswith("StorageError Could not write")
    assert 1 == len(list((home / "snapshots" / "shop").iterdir()))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 2 MB, where that is allowed."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m,nr_inodes=400", "tmpfs", str(place)]
    try:
        mounted = os.geteuid() == 0 and not subprocess.run(mount, capture_output=True, check=False).returncode
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("only root may mount a small file system")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> None:
    """Leave not a single byte, and no room for another file."""
    with suppress(OSError), (place / "filler").open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass
    with suppress(OSError):
        for number in range(1000):
            (place / f"empty-{number}").touch()
    with pytest.raises(OSError, match="No space left"):
        (place / "more").touch()


def test_vacuum_frees_space_on_a_real_disk_that_is_full(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100 %, with no room for another name; then there is room again for a save, which failed before."""
    monkeypatch.setenv("PRODEX_HOME", str(small_disk / "home"))
    catalogs = [prodex.flatten([{"id": number}]).save("shop") for number in range(3)]
    fill(small_disk)
    with pytest.raises(StorageError, match="No space left"):
        prodex.flatten([{"id": 9}]).save("shop")

    assert 2 == len(prodex.vacuum("shop", keep=1))

    assert catalogs[2].equals(prodex.open_snapshot("shop"))
    prodex.flatten([{"id": 9}]).save("shop")
    assert ["9"] == prodex.open_snapshot("shop").products["product_id"].tolist()
