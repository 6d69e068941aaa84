"""On a full disk nothing is lost, every error is ours, and what frees space works."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.errors import StorageError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and mounts are those of Linux")

#: No file may grow by a single byte: it stands for a full disk where no small file system can be mounted.
_FULL = """
import hashlib, json, resource, sys
from pathlib import Path
import prodex
from prodex.errors import ProdexError
catalog = prodex.open_snapshot("shop")
audit = prodex.audit(catalog, {"checks": {"required_text": {"attribute": "namePublicLong", "language": "fr"}}})
from prodex.display import report
from prodex.worklists import folder
import xlsxwriter

def files_of(folder):
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

# A limit may only become smaller.
for largest in json.loads(sys.argv[1]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest,) * 2)
    told = {}
    for work, out in json.loads(sys.argv[2]).items():
        try:
            match work:
                case "vacuum":
                    said = str(prodex.vacuum("shop", keep=1)["reason"].tolist())
                case "worklists":
                    said = audit.worklists(out, replace=True)
                case "report":
                    said = audit.to_html(out + "/report.html")
                case "save":
                    said = catalog.save("shop")
                case _:
                    said = catalog.export(out, work)
            told[work] = str(said)
        except ProdexError as error:
            told[work] = f"{type(error).__name__} {error}"
    print(json.dumps([told, files_of(sys.argv[3])]))
"""


def on_a_full_disk(works: dict[str, Path], folder: Path, *largest: int) -> list[tuple[dict[str, str], Any]]:
    """Do all of it in a process whose disk is full, the largest file first; return what is said and what is there."""
    done = subprocess.run(
        [sys.executable, "-c", _FULL, json.dumps(largest), json.dumps(works, default=str), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "" == done.stderr
    return [(said, files) for said, files in map(json.loads, done.stdout.splitlines())]


def files_of(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.slow
def test_vacuum_frees_space_on_a_full_disk(home: Path) -> None:
    """Vacuum writes nothing that it could do without."""
    for number in range(3):
        prodex.flatten([{"id": number}]).save("shop")

    ((said, _),) = on_a_full_disk({"vacuum": home}, home, 0)

    assert {"vacuum": "['older than the newest 1', 'older than the newest 1']"} == said
    assert 1 == len(prodex.list_snapshots("shop"))
    assert [] == [path.name for path in (home / "snapshots" / "shop").glob(".*")]


@pytest.mark.slow
def test_exports_and_saves_say_that_the_disk_is_full_and_leave_the_old_one(
    home: Path, tmp_path: Path
) -> None:
    """Whether it is full from the first byte or later on; nothing is said beside our error, and no half is left."""
    names = [{"expressedIn": {"code": "eng-GB"}, "data": f"name {n} {n * 7919 % 1009}"} for n in range(900)]
    catalog = prodex.flatten([{"id": 1, "namePublicLong": names}, {"id": 2}]).save("shop")
    works = {name: tmp_path / name for name in ("save", "parquet", "csv", "xlsx", "worklists", "report")}
    for name in ("parquet", "csv", "xlsx"):
        catalog.export(works[name], name)
    checks = {"checks": {"required_text": {"attribute": "namePublicLong", "language": "fr"}}}
    prodex.audit(catalog, checks).worklists(works["worklists"])
    works["report"].mkdir()
    before = files_of(tmp_path)

    told = on_a_full_disk(works, tmp_path, 3_000, 0)

    assert 2 == len(told)
    for said, there in told:
        assert works.keys() == said.keys()
        assert [] == [one for one in said.values() if not one.startswith("StorageError Could not write")]
        assert before == there
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
