"""Law 4: what is saved is what is opened; an interrupted save leaves the old one; damage is refused."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import each_row
from tests.wire import CORNERS, OTHER_CORNERS, products

import prodex
from prodex.catalog import Part
from prodex.catalog.part import union
from prodex.errors import OtherLayout, SettingsError, SnapshotDamaged, SnapshotNotFound, StorageError
from prodex.files.atomic import safe_name
from prodex.files.untrusted import refuse_links
from prodex.store.parts import StoredPart, write_part
from prodex.store.publish import publish_parts
from prodex.tables.declaration import TABLES
from prodex_sandbox.sample import shared_products


@pytest.mark.slow
@example([CORNERS, [], OTHER_CORNERS])
@given(st.lists(st.lists(products, max_size=3), min_size=1, max_size=3))
def test_a_saved_catalogue_opens_as_the_same(pages: list[list[dict[str, Any]]]) -> None:
    """This holds for any products in any number of parts."""
    catalogs = [prodex.flatten(page) for page in pages]
    parts = tuple(part for catalog in catalogs for part in catalog.parts)
    catalog = prodex.Catalog(parts, catalogs[0].origin)

    opened = catalog.save("law-4")
    assert catalog.equals(opened)
    assert opened.equals(prodex.open_snapshot("law-4"))


def test_a_filtered_catalogue_saves_only_its_products() -> None:
    """The origin goes with it, so that the selection shows as one."""
    catalog = prodex.flatten([{"id": 1, "isTaggedBy": ["a"]}, {"id": 2, "isTaggedBy": ["b"]}])
    opened = catalog.where(product_id="2").save("one")

    assert ["b"] == opened.tags["tag"].tolist()
    assert "Catalogue of 1 of 2 products" in repr(opened)


def test_names_choose_the_newest_and_times_an_earlier_one() -> None:
    """`shop` is the last, `shop@<time>` the last that begins so, and the folder itself is taken too."""
    first = prodex.flatten([{"id": 1}]).save("shop")
    second = prodex.flatten([{"id": 2}]).save("shop")
    assert first.folder is not None
    assert second.folder is not None

    assert ["2"] == prodex.open_snapshot("shop").products["product_id"].tolist()
    assert ["1"] == prodex.open_snapshot(f"shop@{first.folder.name}").products["product_id"].tolist()
    assert ["2"] == prodex.open_snapshot(f"shop@{second.folder.name[:10]}").products["product_id"].tolist()
    assert ["1"] == prodex.open_snapshot(str(first.folder)).products["product_id"].tolist()
    assert [1, 1] == prodex.list_snapshots("shop")["products"].tolist()


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    """The message names the snapshots that there are."""
    prodex.flatten([]).save("shop")

    with pytest.raises(SnapshotNotFound, match="The snapshots are: shop"):
        prodex.open_snapshot("shopp")
    with pytest.raises(SnapshotNotFound, match="'shop' has 20"):
        prodex.open_snapshot("shop@1999")


@each_row("name", ["", "..", "a/b", "a@b", "con", "a b"])
def test_names_that_are_no_folder_names_are_refused(name: str) -> None:
    """A name cannot lead out of the folder of snapshots."""
    with pytest.raises(SettingsError, match="cannot be the name"):
        prodex.flatten([]).save(name)


def test_an_interrupted_save_leaves_the_earlier_snapshot_and_nothing_else(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills up in the middle: a typed error, nothing half-written, the old one still opens."""
    prodex.flatten([{"id": 1}]).save("shop")

    def full(self: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", full)
        with pytest.raises(StorageError, match=r"No space left.*PRODEX_HOME.*Nothing half-written"):
            prodex.flatten([{"id": 2}]).save("shop")

    assert ["1"] == prodex.open_snapshot("shop").products["product_id"].tolist()
    assert 1 == len(list((home / "snapshots" / "shop").iterdir()))


def test_a_kill_in_the_middle_leaves_only_what_is_not_listed(home: Path) -> None:
    """A folder without the final rename is no snapshot."""
    prodex.flatten([{"id": 1}]).save("shop")
    (home / "snapshots" / "shop" / ".2030-01-01T000000.000000Z.123.part").mkdir()

    assert 1 == len(prodex.list_snapshots())


@each_row("harm", ["missing", "cut off", "changed"])
def test_a_damaged_file_is_refused_and_found(harm: str) -> None:
    """Reading it is a typed error that names the file, and verify says what is wrong with it."""
    folder = prodex.flatten([{"id": 1, "isTaggedBy": ["a"]}]).save("shop").folder
    assert folder is not None
    path = folder / "tags" / "part-00000.parquet"
    content = path.read_bytes()
    if harm == "missing":
        path.unlink()
        with pytest.raises(SnapshotDamaged, match="tags"):
            prodex.open_snapshot("shop")
        return
    path.write_bytes(
        content[: len(content) // 2] if harm == "cut off" else content[:60] + b"\0\0\0\0" + content[64:]
    )

    (problem,) = prodex.verify("shop").query("not ok")["problem"]
    assert ("bytes instead of" if harm == "cut off" else "digest") in problem
    if harm == "cut off":
        with pytest.raises(SnapshotDamaged, match=r"part-00000\.parquet cannot be read"):
            prodex.open_snapshot("shop").tags  # noqa: B018


def test_the_text_of_a_catalogue_counts_what_the_manifest_says() -> None:
    """A thousand files need not be looked at for it; damage shows when a table is read."""
    pages = [
        [{"id": 10 * page + n, "isTaggedBy": ["a"], "brand": {"code": "X"}} for n in range(3)]
        for page in range(3)
    ]
    parts = tuple(part for page in pages for part in prodex.flatten(page).parts)
    saved = prodex.Catalog(parts, prodex.flatten([]).origin).save("shop")
    expected = repr(saved)
    assert "products " in expected
    assert " 9 rows" in expected
    for table in ("products", "tags", "raw", "presence"):
        for path in saved.files(table):
            path.write_bytes(b"no Parquet")
    opened = prodex.open_snapshot("shop")

    assert expected == repr(opened)
    assert 9 == opened.row_count("tags")
    for table in ("products", "tags"):
        with pytest.raises(SnapshotDamaged, match=rf"{table}/part-00000\.parquet"):
            opened.arrow(table)


def test_entries_that_parts_share_are_read_once_and_the_others_all() -> None:
    """Files that are equal by their digest hold the same; one that is not has entries of its own."""
    code = {"code": "KG", "label": "kilogram"}
    units = [code, code, {**code, "label": "Kilogramm"}, code]
    pages = [[{"id": n, "netContent": [{"data": 1, "expressedIn": unit}]}] for n, unit in enumerate(units)]
    parts = tuple(part for page in pages for part in prodex.flatten(page).parts)
    catalog = prodex.Catalog(parts, prodex.flatten([]).origin)
    expected = catalog.arrow("descriptors")
    saved = catalog.save("shop")
    assert expected.num_rows > parts[0].rows("descriptors")
    assert expected.equals(saved.arrow("descriptors"))
    saved.files("descriptors")[1].write_bytes(b"no Parquet")

    assert expected.num_rows == prodex.open_snapshot("shop").row_count("descriptors")


@pytest.mark.slow
def test_a_selection_of_a_snapshot_is_that_of_the_catalogue_in_memory() -> None:
    """Table by table, whatever the part has of the products: all, some, none; in several row groups."""
    records = [shared.record for shared in shared_products(24)]
    blocks = [prodex.flatten(records[start : start + 6]) for start in range(0, 24, 6)]
    parts = [
        Part.in_memory(
            {t: union([b.arrow(t) for b in two], t) for t in TABLES if t != "presence"}
            | {"presence": union([b.parts[0].stored("presence") for b in two], "presence")}
        )
        for two in (blocks[:2], blocks[2:])
    ]
    catalog = prodex.Catalog(tuple(parts), blocks[0].origin)

    def write(folder: Path) -> Iterator[StoredPart]:
        for number, two in enumerate((blocks[:2], blocks[2:])):
            yield write_part([{t: b.parts[0].stored(t) for t in TABLES} for b in two], folder, number)

    saved = publish_parts("shop", catalog.origin, write)
    assert catalog.arrow("texts").equals(saved.arrow("texts"))
    every = catalog.products["product_id"].tolist()
    for chosen in ([], every[:1], every[3:9], every[13:], every, ["none"]):
        expected, found = catalog.where(product_id=chosen), saved.where(product_id=chosen)
        for table in TABLES:
            assert expected.arrow(table).equals(found.arrow(table)), (table, chosen)
            names = expected.arrow(table).column_names[:-3:-1]
            assert expected.arrow(table, names).equals(found.arrow(table, names)), (table, chosen)


@each_row("harm", ["link", "folder is a link", "folder", "pipe", "missing"])
def test_one_file_among_many_that_is_no_plain_file_is_refused(harm: str, tmp_path: Path) -> None:
    """Folders are listed once, and every file of them is looked at all the same."""
    folder = tmp_path / "shop"
    paths = [
        folder / table / f"part-{number:05d}.parquet" for table in ("tags", "texts") for number in range(4)
    ]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    refuse_links(folder, paths)
    last = paths[-1]
    if harm == "folder is a link":
        last.parent.rename(tmp_path / "elsewhere")
        last.parent.symlink_to(tmp_path / "elsewhere")
    else:
        last.unlink()
    if harm == "link":
        last.symlink_to(paths[0])
    if harm == "folder":
        last.mkdir()
    if harm == "pipe":
        os.mkfifo(last)
    reasons = {
        "link": "is a link, and links are not followed",
        "folder is a link": "is not a folder of its own",
        "folder": "is a folder, not a file",
        "pipe": "is not a plain file",
        "missing": "is missing",
    }
    named = last.parent if harm == "folder is a link" else last

    with pytest.raises(OSError, match=re.escape(f"{named} {reasons[harm]}")):
        refuse_links(folder, paths)


@pytest.mark.slow
@each_row("content", ["", "{", "[]", '{"format": 99}'])
def test_a_damaged_manifest_is_refused_and_listed_with_the_reason(content: str) -> None:
    """One bad snapshot does not hide the others."""
    prodex.flatten([{"id": 1}]).save("good")
    bad = prodex.flatten([{"id": 1}]).save("bad")
    assert bad.folder is not None
    (bad.folder / "manifest.json").write_text(content)

    with pytest.raises((SnapshotDamaged, OtherLayout), match=r"manifest.json"):
        prodex.open_snapshot("bad")
    notes = dict(zip(prodex.list_snapshots()["name"], prodex.list_snapshots()["note"], strict=True))
    assert "" == notes["good"]
    assert "manifest.json" in notes["bad"]


def test_the_manifest_tells_counts_digests_and_origin_and_no_secret() -> None:
    """It is plain JSON for anybody to read."""
    folder = prodex.flatten([{"id": 1}]).save("shop").folder
    assert folder is not None
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))

    told = {"format", "sequence", "name", "prodex", "pyarrow", "products", "origin", "parts"}
    assert told == set(manifest)
    assert "secret" not in json.dumps(manifest)


def test_parts_are_aligned(home: Path) -> None:
    """Part 1 of every table is about the products of part 1."""
    parts: tuple[Part, ...] = ()
    for start in (0, 10):
        records = [{"id": start + i, "isTaggedBy": ["x"], "netContent": [{"data": 1}]} for i in range(10)]
        parts += prodex.flatten(records).parts
    opened = prodex.Catalog(parts, prodex.flatten([]).origin).save("two")

    for number, part in enumerate(opened.parts):
        expected = {str(number * 10 + i) for i in range(10)}
        for table in ("products", "tags", "scalars", "presence", "raw"):
            assert expected == set(part.read(table)["product_id"].to_pylist())


def test_safe_names_hold_on_every_system() -> None:
    """No path, no device, no trailing dot, not too long, and never empty."""
    names = [safe_name(text) for text in ("../..", "NUL.txt", "com¹", "a" * 300, "", "x.", "schön & gut")]

    assert ["_", "NUL_.txt", "com¹_", "a" * 100, "_", "x", "schön_gut"] == names


@each_row("name", ["", "/nowhere/at/all", "h*", "x" * 300, "a/b"])
def test_names_are_taken_literally(name: str) -> None:
    """A pattern, a path or a very long name is not found; nothing else opens instead."""
    prodex.flatten([]).save("host")

    with pytest.raises(SnapshotNotFound):
        prodex.open_snapshot(name)


def test_what_a_killed_save_left_is_swept_away(home: Path) -> None:
    """The next save removes it; files of a running process stay."""
    folder = home / "snapshots" / "shop"
    dead, alive = (folder / f".2030-01-01T000000.000000Z.{pid}.part" for pid in (2**22 + 1, os.getppid()))
    dead.mkdir(parents=True)
    alive.mkdir()
    prodex.flatten([]).save("shop")

    assert (False, True) == (dead.exists(), alive.exists())


def test_a_home_that_is_a_file_is_a_typed_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to do."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "file"))

    with pytest.raises(StorageError, match="PRODEX_HOME"):
        prodex.flatten([]).save("shop")
