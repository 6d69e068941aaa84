"""`download_pictures` against a real server: what comes, what is checked, and what is told of the rest."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.errors import InputError, SnapshotLocked, StorageError
from prodex.files.lock import locked
from prodex.pictures import Pictures, download_pictures
from tests.cases import each_row

from . import drawn
from .file_server import FileServer, serving

RED, BLUE = drawn.picture(colour="red"), drawn.picture(60, 90, colour="blue", form="PNG")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "images"


def files(folder: Path) -> list[str]:
    """Return the names of everything in a folder but its index and lock."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if name not in {"pictures.csv", "pictures.parquet", ".lock"})


def shop(server: FileServer, *products: dict[str, Any]) -> prodex.Catalog:
    return drawn.catalog(server.base_url, products)


def states(pictures: Pictures) -> list[str]:
    return list(pictures.files["state"])


def test_good_pictures_stand_in_the_folder(server: FileServer, folder: Path) -> None:
    """Good files are stored byte for byte, by GTIN, with the suffix of their format."""
    catalog = shop(
        server,
        drawn.product(
            1, drawn.told(server.serve("/a.php?x=1", RED), RED), drawn.told(server.serve("/b", BLUE), BLUE)
        ),
    )
    pictures = download_pictures(catalog, folder)

    assert ["00000000000001_0_1.jpg", "00000000000001_1_1.png"] == files(folder)
    assert [RED, BLUE] == [(folder / name).read_bytes() for name in files(folder)]
    assert [str(folder / name) for name in files(folder)] == list(pictures.files["path"])
    assert [
        ["downloaded", 120, 80, len(RED), "crc32, pixels"],
        ["downloaded", 60, 90, len(BLUE), "crc32, pixels"],
    ] == (pictures.files[["state", "width", "height", "bytes", "checked"]].values.tolist())
    assert pictures.complete


@each_row("form", ["{:d}", "{:x}", "{:08X}", "0x{:x}", "0X{:08x}", "000{:d}"])
def test_checksums_are_compared_in_every_form(form: str, server: FileServer, folder: Path) -> None:
    """Checksums of records are decimal or hexadecimal."""
    url = server.serve("/a.jpg", RED)
    right, wrong = form.format(zlib.crc32(RED)), form.format(zlib.crc32(RED) ^ 1)
    catalog = shop(
        server,
        drawn.product(1, drawn.told(url, RED) | {"crc32": right}, drawn.told(url, RED) | {"crc32": wrong}),
    )
    pictures = download_pictures(catalog, folder)

    assert ["downloaded", "broken"] == states(pictures)
    assert f"CRC does not match: {wrong} in the record" in pictures.broken["reason"][0]


BROKEN: dict[str, tuple[bytes, dict[str, Any], str, str]] = {
    "another picture": (BLUE, drawn.told(None, RED), "CRC does not match", "png"),
    "a web page": (b"<html>sorry</html>", {}, "a web page", "unknown"),
    "a drawing that runs": (b"<svg onload='alert(1)'/>", {}, "SVG", "unknown"),
    "half of it": (drawn.picture(900, 900)[:3000], {}, "cut off or damaged", "unknown"),
    "fewer pixels": (
        RED,
        {"width": 3000, "height": 2000},
        "120 x 80 pixels, and 3000 x 2000 in the record",
        "jpg",
    ),
    "nothing": (b"", {}, "an empty file", "unknown"),
}


@each_row("case", BROKEN)
def test_what_does_not_pass_lies_aside_and_says_why(case: str, server: FileServer, folder: Path) -> None:
    """A failed file goes to a separate folder, without a suffix that a browser or a shell would run."""
    content, told, reason, ending = BROKEN[case]
    catalog = shop(server, drawn.product(1, {**told, "url": server.serve("/a.jpg", content)}))
    pictures = download_pictures(catalog, folder)

    assert [f"broken/00000000000001_0_1.{ending}"] == files(folder)
    assert content == (folder / files(folder)[0]).read_bytes()
    assert ["broken"] == states(pictures)
    assert reason in pictures.broken["reason"][0]
    assert "supplier" in pictures.broken["what_to_do"][0]


def test_the_size_in_bytes_of_a_rendition_is_checked(server: FileServer, folder: Path) -> None:
    """The bytes of a rendition are checked like its pixels and its checksum."""
    small = drawn.picture(64, 64)
    good = drawn.rendition(server.serve("/64.jpg", small), small)
    bad = {**good, "fileSize": 5, "crc32": None}
    picture = {"url": server.serve("/a.jpg", RED)}
    catalog = shop(
        server, *(drawn.product(n, {**picture, "exportables": [one]}) for n, one in enumerate([good, bad]))
    )
    pictures = download_pictures(catalog, folder, size=64)

    assert ["downloaded", "broken"] == states(pictures)
    assert ["crc32, bytes, pixels", "bytes, pixels"] == list(pictures.files["checked"])
    assert f"it has {len(small):,} bytes, and 5 in the record" == pictures.broken["reason"][0]
    assert "/a.jpg" not in server.paths


def test_every_picture_of_the_catalogue_has_a_row_and_a_state(server: FileServer, folder: Path) -> None:
    """Every picture has a row; each missing one has a reason and what to do about it."""
    good = drawn.told(server.serve("/a.jpg", RED), RED, isPackshot=True)
    waits = drawn.product(2)
    waits["lastRequest"] = {
        "assets": {"pictures": [{"url": server.base_url + "/waits.jpg", "isPackshot": True}]}
    }
    catalog = shop(
        server,
        drawn.product(
            1,
            good,
            {"url": server.serve("/b.jpg", BLUE), "isPackshot": True, "crc32": "1"},
            {"url": server.base_url + "/missing.jpg", "isPackshot": True},
            {"url": "http://169.254.169.254/latest", "isPackshot": True},
            {"isPackshot": True},
            {"url": server.base_url + "/back.jpg", "isPackshot": False},
        ),
        waits,
        {"id": 3},
    )
    pictures = download_pictures(catalog, folder, packshots_only=True)

    assert ["downloaded", "broken", "failed", "failed", "no address", "not asked", "not asked"] == states(
        pictures
    )
    assert len(pictures.files) == catalog.row_count("pictures") == sum(pictures.counts.values())
    assert (1, 5, False) == (pictures.good, pictures.wanted, pictures.complete)
    assert 4 == len(pictures.broken)
    assert pictures.broken[["reason", "what_to_do"]].notna().all(axis=None)
    assert "1 of 5 pictures; 1 broken; 2 not downloaded; 1 without an address, see .broken" in repr(pictures)
    assert "2 more pictures of the catalogue were not requested" in repr(pictures)
    assert {"/a.jpg", "/b.jpg", "/missing.jpg"} == set(server.paths)


_WORD = st.none() | st.booleans() | st.integers(-5, 2**40) | st.text("0123456789abcdefx-", max_size=9)
_TOLD = dict.fromkeys(("crc32", "width", "height", "isPackshot", "updatedAt", "fileSize"), _WORD)
_URLS = st.sampled_from(["/a.jpg", "/b.png", "/page", "/missing"])
_RENDITION = st.fixed_dictionaries({"uniformResourceIdentifier": _URLS}, optional=_TOLD)
_PICTURE = st.fixed_dictionaries(
    {"url": _URLS | st.sampled_from([None, "", "file:///etc/passwd", "http://10.0.0.1/", "http://[", "\0"])},
    optional={**_TOLD, "exportables": st.lists(st.none() | _RENDITION, max_size=3)},
)
_ASSETS = st.fixed_dictionaries({"pictures": st.lists(st.none() | _PICTURE, min_size=1, max_size=4)})
_RECORD = st.fixed_dictionaries(
    {"id": st.integers(1, 4), "assets": _ASSETS},
    optional={"gtin": _WORD, "lastRequest": st.fixed_dictionaries({"assets": _ASSETS})},
)


@pytest.mark.slow
@given(st.lists(_RECORD, max_size=4), st.sampled_from([None, 64]), st.booleans())
def test_n_of_n_adds_up_whatever_records_say(
    records: list[dict[str, Any]], size: int | None, packshots_only: bool
) -> None:
    """Each picture has one row, and each file that a row names exists."""
    with serving() as server, tempfile.TemporaryDirectory() as folder:
        for path, content in (("/a.jpg", RED), ("/b.png", BLUE), ("/page", b"<html>")):
            server.serve(path, content)
        told = json.dumps(records).replace(': "/', f': "{server.base_url}/')
        catalog = shop(server, *json.loads(told))
        pictures = download_pictures(catalog, folder, size=size, packshots_only=packshots_only)

        assert len(catalog.pictures) == len(pictures.files) == sum(pictures.counts.values())
        assert pictures.wanted == pictures.good + len(pictures.broken)
        assert all(Path(path).is_file() for path in pictures.files["path"].dropna())
        assert pictures.good + pictures.counts["broken"] == pictures.files["path"].notna().sum()


def test_a_second_time_nothing_is_fetched(server: FileServer, folder: Path) -> None:
    """Existing files are checked again, and only missing or broken ones are downloaded."""
    catalog = shop(
        server,
        drawn.product(1, drawn.told(server.serve("/a.jpg", RED), RED), {"url": server.serve("/b.png", BLUE)}),
        drawn.product(2, {"url": server.serve("/c.jpg", BLUE), "crc32": "1"}),
    )
    download_pictures(catalog, folder)
    server.asked.clear()
    again = download_pictures(catalog, folder)

    assert ["already there", "already there", "broken"] == states(again)
    assert ["/c.jpg"] == server.paths


def test_an_interruption_makes_the_index_forget_nothing(server: FileServer, folder: Path) -> None:
    """The index keeps the address and date of files that have no checksum."""
    urls = [server.serve(f"/{n}.jpg", RED) for n in range(4)]
    catalog = shop(server, *(drawn.product(n, {"url": url}) for n, url in enumerate(urls)))
    download_pictures(catalog, folder)

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download_pictures(catalog, folder, workers=1, progress=stop)
    server.asked.clear()

    assert {"already there"} == set(states(download_pictures(catalog, folder)))
    assert [] == server.paths


def test_a_file_that_was_changed_is_fetched_again(server: FileServer, folder: Path) -> None:
    """A file is downloaded again when its checksum, or without one its address or date, has changed."""
    url = server.serve("/a.jpg", RED)
    first = {"url": server.serve("/b.jpg", RED), "updatedAt": "2026-11-01T00:00:00"}
    download_pictures(shop(server, drawn.product(1, drawn.told(url, RED), first)), folder)
    (folder / "00000000000001_0_1.jpg").write_bytes(BLUE)
    server.asked.clear()
    for changes, asked in (({}, ["/a.jpg"]), ({"updatedAt": "2026-11-02T00:00:00"}, ["/b.jpg"])):
        second = shop(server, drawn.product(1, drawn.told(url, RED), {**first, **changes}))
        assert download_pictures(second, folder).complete
        assert asked == server.paths
        server.asked.clear()
    moved = {**first, "url": server.serve("/c.png", BLUE)}
    assert download_pictures(shop(server, drawn.product(1, drawn.told(url, RED), moved)), folder).complete

    assert ["00000000000001_0_1.jpg", "00000000000001_1_1.png"] == files(folder)


def test_what_was_broken_and_is_mended_leaves_nothing_aside(server: FileServer, folder: Path) -> None:
    """A repaired file leaves nothing in the folder of failed files, and a broken one nothing among the good."""
    url = server.serve("/a.jpg", BLUE)
    catalog = shop(server, drawn.product(1, drawn.told(url, RED)))
    download_pictures(catalog, folder)
    server.serve("/a.jpg", RED)
    download_pictures(catalog, folder)
    assert ["00000000000001_0_1.jpg"] == files(folder)

    other = shop(server, drawn.product(1, drawn.told(url, BLUE)))
    download_pictures(other, folder)
    assert ["broken/00000000000001_0_1.jpg"] == files(folder)


def test_the_same_file_is_fetched_once(server: FileServer, folder: Path) -> None:
    """Products with the same address, or with the same content in their records, share a download."""
    url, copy = server.serve("/a.jpg", RED), server.serve("/copy.jpg", RED)
    catalog = shop(
        server,
        drawn.product(1, drawn.told(url, RED)),
        drawn.product(2, drawn.told(url, RED)),
        drawn.product(3, drawn.told(copy, RED)),
    )
    pictures = download_pictures(catalog, folder, workers=1)

    assert 3 == pictures.good == len(files(folder))
    assert {RED} == {(folder / name).read_bytes() for name in files(folder)}
    assert 1 == len(server.paths)


def test_a_file_that_does_not_pass_serves_nobody_else(server: FileServer, folder: Path) -> None:
    """Products with the same content at other addresses are tried there when a file fails."""
    wrong, right = server.serve("/wrong.jpg", BLUE), server.serve("/right.jpg", RED)
    missing = server.base_url + "/missing.jpg"
    catalog = shop(
        server, *(drawn.product(n, drawn.told(url, RED)) for n, url in enumerate([wrong, missing, right]))
    )

    assert ["downloaded"] * 3 == states(download_pictures(catalog, folder))
    assert {"/wrong.jpg", "/missing.jpg", "/right.jpg"} == set(server.paths)

    del server.files["/right.jpg"]
    assert ["broken", "failed", "failed"] == states(download_pictures(catalog, folder / "other"))


def test_a_checksum_alone_makes_no_two_files_the_same(server: FileServer, folder: Path) -> None:
    """A CRC-32 alone is too short: among a hundred thousand pictures some would be mixed up."""
    crc32 = f"{zlib.crc32(RED)}"
    urls = [server.serve(f"/{name}.jpg", RED) for name in "ab"]
    catalog = shop(server, *(drawn.product(n, {"url": url, "crc32": crc32}) for n, url in enumerate(urls)))
    download_pictures(catalog, folder)

    assert {"/a.jpg": 1, "/b.jpg": 1} == Counter(server.paths)


@pytest.mark.slow
def test_parts_that_nobody_waits_for_are_cleared_away(server: FileServer, folder: Path) -> None:
    """Partial files are removed once every picture is there."""
    content = drawn.picture(400, 300)
    lost = server.serve("/lost.jpg", content, version='"1"', cuts=[100] * 3, ranges=False)
    good = drawn.product(1, {"url": server.serve("/a.jpg", RED)})
    assert not download_pictures(shop(server, good, drawn.product(2, {"url": lost})), folder).complete
    assert [".part", ".version"] == [Path(name).suffix for name in files(folder)[:2]]
    assert download_pictures(shop(server, good), folder).complete

    assert ["00000000000001_0_1.jpg"] == files(folder)


def test_a_catalogue_without_pictures_is_fine(folder: Path) -> None:
    """A catalogue without pictures downloads nothing and has an empty index."""
    for records in ([], [{"id": 1}], [drawn.product(1)]):
        pictures = download_pictures(prodex.flatten(records), folder)
        assert (0, True, []) == (len(pictures.files), pictures.complete, files(folder))
        assert "0 of 0 pictures" in repr(pictures)


@each_row(
    ("query", "options"),
    [
        ({"source_include": ["brand"]}, {}),
        ({"source_exclude": ["assets"]}, {}),
        ({"source_include": ["assets.pictures.isPackshot"]}, {}),
        ({"source_include": ["assets.pictures.url"]}, {"packshots_only": True}),
        ({"source_exclude": ["assets.pictures.exportables"]}, {"size": 512}),
    ],
)
def test_what_was_not_asked_for_is_not_taken_for_missing(
    query: dict[str, Any], options: dict[str, Any], folder: Path
) -> None:
    """A catalogue that was loaded without pictures is refused."""
    catalog = prodex.flatten([{"id": 1}])
    asked = replace(
        catalog, origin=prodex.catalog.Origin("https://api.example.com", prodex.ProductQuery(**query))
    )
    with pytest.raises(InputError, match="loaded without assets"):
        download_pictures(asked, folder, **options)

    assert not folder.exists()


@each_row("options", [{"size": 0}, {"size": "big"}, {"workers": 0}, {"workers": "8"}, {"workers": True}])
def test_parameters_that_make_no_sense_are_said(options: dict[str, Any], folder: Path) -> None:
    """Invalid parameters are refused before anything is done."""
    with pytest.raises(InputError, match=next(iter(options))):
        download_pictures(prodex.flatten([]), folder, **options)

    assert not folder.exists()


def test_a_folder_that_is_a_file_is_said(folder: Path, server: FileServer) -> None:
    """A file in place of the folder is reported, and so is a folder that cannot be made."""
    folder.write_text("here")
    for place in (folder, folder / "below", Path("/proc/pictures")):
        with pytest.raises(StorageError, match=str(place)):
            download_pictures(shop(server), place)

    assert "here" == folder.read_text()


def test_a_full_disk_ends_it(server: FileServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is an error that names the place; finished files stay, and the next call continues."""
    catalog = shop(server, drawn.product(1, drawn.told(server.serve("/a.jpg", RED), RED)))
    copy: Callable[..., Any] = shutil.copyfile

    def full(source: Path, target: Path) -> None:
        copy("/dev/null", target)
        with Path("/dev/full").open("wb", buffering=0) as disk:
            disk.write(b"x")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(StorageError, match="No space left"):
        download_pictures(catalog, folder)
    assert [] == files(folder)
    monkeypatch.setattr(shutil, "copyfile", copy)
    assert download_pictures(catalog, folder).complete


def test_two_at_a_time_do_not_meet_in_a_folder(server: FileServer, folder: Path) -> None:
    """A second download into the folder is refused, and names the first."""
    with locked(folder, "downloading pictures"), pytest.raises(SnapshotLocked, match="downloading pictures"):
        download_pictures(shop(server), folder)


def test_the_index_explains_the_folder(server: FileServer, folder: Path) -> None:
    """The index is CSV that is safe in spreadsheets and verbatim Parquet, with paths relative to the folder."""
    url = server.serve("/a.jpg", RED)
    evil = [{"expressedIn": {"code": "fra-FR"}, "data": '=HYPERLINK("https://evil.example")'}]
    catalog = shop(
        server,
        {**drawn.product(1, drawn.told(url, RED)), "namePublicLong": evil},
        drawn.product(2, {"url": "=1+1"}),
    )
    pictures = download_pictures(catalog, folder)
    index = pd.read_parquet(folder / "pictures.parquet")
    table = pd.read_csv(folder / "pictures.csv", dtype=str)

    assert ["00000000000001_0_1.jpg"] == index["file"].dropna().tolist() == table["file"].dropna().tolist()
    assert evil[0]["data"] == index["name"][0] == pictures.files["name"][0]
    assert f"'{evil[0]['data']}" == table["name"][0]
    assert "'=1+1" == table["url"][1]
    assert list(pictures.files["state"]) == list(index["state"]) == list(table["state"])
    assert ["00000000000001", "00000000000002"] == list(table["gtin"])


def test_texts_of_suppliers_are_shown_verbatim(server: FileServer, folder: Path) -> None:
    """Texts are verbatim in a notebook and in a terminal, where they do not move the cursor."""
    gtin = "<script>alert(1)</script> $5 or $6 \x1b[2J \u202eabc"
    catalog = shop(server, {"id": 1, "gtin": gtin, "assets": {"pictures": [{"url": "<img src=x>"}]}})
    pictures = download_pictures(catalog, folder)
    html = pictures._repr_html_()

    assert "<script" not in html
    assert "<img" not in html
    assert "mathjax_ignore" in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; $5 or $6" in html
    assert "\x1b" not in repr(pictures)
    assert "\u202e" not in repr(pictures)


def test_only_some_of_many_that_are_missing_are_listed(server: FileServer, folder: Path) -> None:
    """The summary lists some missing pictures and counts all."""
    catalog = shop(server, *(drawn.product(n, {"url": f"{server.base_url}/{n}.jpg"}) for n in range(9)))
    pictures = download_pictures(catalog, folder)

    assert "the first 5 of 9 missing pictures:" in repr(pictures)
    assert 5 == repr(pictures).count("HTTP 404")


def test_progress_is_told_by_pictures(server: FileServer, folder: Path) -> None:
    """Progress counts the pictures that are wanted."""
    catalog = shop(server, *(drawn.product(n, {"url": server.serve(f"/{n}.jpg", RED)}, {}) for n in range(5)))
    told: list[tuple[int, int]] = []
    download_pictures(catalog, folder, progress=lambda done, total: told.append((done, total)))

    assert [(n, 5) for n in range(1, 6)] == told


def test_several_are_fetched_at_a_time(server: FileServer, folder: Path) -> None:
    """Several files are downloaded at a time, within the limit of each host."""
    barrier = threading.Barrier(4, timeout=5)
    catalog = shop(
        server,
        *(
            drawn.product(n, {"url": server.serve(f"/{n}.jpg", RED, before=lambda: barrier.wait() and None)})
            for n in range(8)
        ),
    )

    assert download_pictures(catalog, folder, workers=8).complete


_SCRIPT = """
import signal
import sys
from pathlib import Path
from prodex.pictures import download_pictures
from tests.pictures import drawn

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have switched off for what it runs
source, folder, count = sys.argv[1:]
products = [drawn.product(n, {"url": f"{source}/{n}.jpg", "crc32": sys.stdin.readline()}) for n in range(int(count))]
print(download_pictures(drawn.catalog(source, products), folder))
"""


def _started(server: FileServer, folder: Path, contents: list[bytes]) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _SCRIPT, server.base_url, str(folder), str(len(contents))]
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    process.stdin.write("".join(f"{zlib.crc32(content)}\n" for content in contents))
    process.stdin.flush()
    return process


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)


@pytest.mark.slow
def test_what_is_tried_again_makes_no_noise(server: FileServer, folder: Path) -> None:
    """Repeated attempts write no line to a terminal or a notebook."""
    contents = [drawn.picture(40, 30 + n) for n in range(3)]
    for n, content in enumerate(contents):
        server.serve(f"/{n}.jpg", content, cuts=[10])
    out, err = _started(server, folder, contents).communicate(timeout=30)

    assert "3 of 3 pictures" in out
    assert "" == err


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interruption_loses_nothing(how: signal.Signals, server: FileServer, folder: Path) -> None:
    """After Ctrl-C and after a kill, the next call continues with the next file, and within a file."""
    contents = [drawn.picture(400, 300 + n) for n in range(6)]
    for n, content in enumerate(contents):
        server.serve(f"/{n}.jpg", content, version=f'"{n}"', drip=0 if n < 3 else 0.01)
    process = _started(server, folder, contents)
    _wait_for(
        lambda: (
            len(list(folder.glob("*.jpg"))) == 3 and any(p.stat().st_size for p in folder.glob(".f*.part"))
        )
    )
    begin = time.monotonic()
    os.kill(process.pid, how)
    process.wait(timeout=10)
    took = time.monotonic() - begin
    said = process.communicate()[1]
    for file in server.files.values():
        file.drip = 0
    server.asked.clear()
    catalog = shop(
        server,
        *(
            drawn.product(n, {"url": f"{server.base_url}/{n}.jpg", "crc32": f"{zlib.crc32(content)}"})
            for n, content in enumerate(contents)
        ),
    )
    pictures = download_pictures(catalog, folder)

    assert took < 5
    assert (how is signal.SIGKILL) or "KeyboardInterrupt" in said
    assert ["already there"] * 3 + ["downloaded"] * 3 == states(pictures)
    assert ["/3.jpg", "/4.jpg", "/5.jpg"] == sorted(server.paths)
    assert any("range" in headers for _, headers in server.asked)
    assert [f"{n:014d}_0_{n}.jpg" for n in range(6)] == files(folder)
