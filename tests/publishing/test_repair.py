"""A damaged table of publications is repaired by the next publisher, from what is at the place and never by a guess."""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Barrier, Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

import prodex
from prodex.errors import PublicationConflict, PublicationRefused, SnapshotDamaged, SnapshotNotFound
from tests.publishing.s3 import URI, Store
from tests.publishing.snapshots import published_to, same, shop
from tests.publishing.test_publish import files_of
from tests.publishing.test_refusals import DAMAGES

LOG = "_snapshots/_delta_log"

_PUBLISHED = tempfile.TemporaryDirectory(prefix="prodex-published-")


def log(place: Path, version: int) -> Path:
    """Return a version of the pointer's log."""
    return place / LOG / f"{version:020d}.json"


def rows(place: Path) -> dict[int, Path]:
    """Return the files of the rows by their numbers."""
    return {
        pq.read_table(path)["publication"][0].as_py(): path
        for path in (place / "_snapshots").glob("*.parquet")
    }


def readable(place: str | Path, options: dict[str, str] | None = None) -> dict[int, str]:
    """Return the text that tells the snapshots apart, of each publication that opens."""
    found = {}
    for number in range(1, 5):
        try:
            opened = prodex.open_published(place, number, storage_options=options)
        except (SnapshotNotFound, SnapshotDamaged):
            continue
        found[number] = str(opened.texts.set_index("product_id").loc["3", "text"])
    return found


def twice_published(place: Path) -> tuple[prodex.Catalog, prodex.Catalog, prodex.Catalog]:
    """Publish two snapshots, and return a third one that is newer."""
    catalogs = shop(), shop("Riz long"), shop("Riz rond")
    shutil.copytree(_published(), place, dirs_exist_ok=True)
    return catalogs


@cache
def _published() -> Path:
    """Publish once for all tests."""
    place = Path(_PUBLISHED.name)
    for catalog in (shop(), shop("Riz long")):
        prodex.publish(catalog, place)
    return place


def overwritten(version: int, content: bytes | None) -> Callable[[Path], object]:
    """Have a version of the log lost, or with another content; "half" is what it has to its middle."""

    def damage(place: Path) -> None:
        path = log(place, version)
        if content is None:
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[:200] if content == b"half" else content)

    return damage


def checkpointed(*, garbage: bool) -> Callable[[Path], object]:
    """Have a checkpoint of the log that is damaged, or gone."""

    def damage(place: Path) -> None:
        DeltaTable(place / "_snapshots").create_checkpoint()
        for path in (place / LOG).glob("*.checkpoint.parquet"):
            if garbage:
                path.write_bytes(b"PAR1")
            else:
                path.unlink()

    return damage


#: What happens to the table, and which publications open after the next one, which is number 3 unless nothing is left.
CASES: dict[str, tuple[Callable[[Path], object], dict[int, str]]] = {
    "the newest row is cut": (
        lambda place: rows(place)[2].write_bytes(b"PAR1 no"),
        {1: "Riz", 3: "Riz rond"},
    ),
    "the newest row is empty": (lambda place: rows(place)[2].write_bytes(b""), {1: "Riz", 3: "Riz rond"}),
    "the newest row is gone": (lambda place: rows(place)[2].unlink(), {1: "Riz", 3: "Riz rond"}),
    "the first row is gone": (lambda place: rows(place)[1].unlink(), {2: "Riz long", 3: "Riz rond"}),
    "all rows are gone": (lambda place: [path.unlink() for path in rows(place).values()], {3: "Riz rond"}),
    "the newest log is cut": (overwritten(1, b"half"), {1: "Riz", 2: "Riz long", 3: "Riz rond"}),
    "the newest log is empty": (overwritten(1, b""), {1: "Riz", 2: "Riz long", 3: "Riz rond"}),
    "the newest log is zeros": (overwritten(1, b"\0" * 500), {1: "Riz", 2: "Riz long", 3: "Riz rond"}),
    "the first log is cut": (overwritten(0, b"half"), {1: "Riz", 2: "Riz long", 3: "Riz rond"}),
    "the first log is empty": (overwritten(0, b""), {1: "Riz", 2: "Riz long", 3: "Riz rond"}),
    "the first log is gone": (overwritten(0, None), {1: "Riz", 2: "Riz long", 3: "Riz rond"}),
    "both logs are cut": (
        lambda place: [overwritten(version, b"{")(place) for version in (0, 1)],
        {1: "Riz", 2: "Riz long", 3: "Riz rond"},
    ),
    "the log is gone": (
        lambda place: shutil.rmtree(place / LOG),
        {1: "Riz", 2: "Riz long", 3: "Riz rond"},
    ),
    "the table is gone": (lambda place: shutil.rmtree(place / "_snapshots"), {1: "Riz rond"}),
    "a checkpoint is damaged": (checkpointed(garbage=True), {1: "Riz", 2: "Riz long", 3: "Riz rond"}),
    "a checkpoint is gone": (checkpointed(garbage=False), {1: "Riz", 2: "Riz long", 3: "Riz rond"}),
}


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "expected"), CASES.values(), ids=CASES)
def test_the_next_publisher_repairs_the_pointer(
    damage: Callable[[Path], object], expected: dict[int, str], tmp_path: Path
) -> None:
    """What can be read is kept under its number, what cannot is left out, and it can be published to again."""
    catalogs = twice_published(tmp_path)
    damage(tmp_path)

    published = prodex.publish(catalogs[2], tmp_path)
    assert max(expected) == published.number
    assert expected == readable(tmp_path)
    assert same(catalogs[2], prodex.open_published(tmp_path))
    before = files_of(tmp_path)
    assert published.number == prodex.publish(catalogs[2], tmp_path).number
    assert before == files_of(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_publishing_the_same_again_repairs_it(damage: Callable[[Path], object], tmp_path: Path) -> None:
    """Whatever somebody else did to the only row."""
    catalog = published_to(tmp_path)
    damage(tmp_path)

    prodex.publish(catalog, tmp_path)
    assert same(catalog, prodex.open_published(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("what", ["the newest log is cut", "the log is gone", "the newest row is cut"])
def test_of_two_that_repair_at_once_one_wins(what: str, tmp_path: Path) -> None:
    """The other is told what was published, or has published after it."""
    catalogs = twice_published(tmp_path)
    more = (catalogs[2], shop("Riz noir"))
    CASES[what][0](tmp_path)
    barrier = Barrier(2)
    answers: list[object] = []

    def publish(catalog: prodex.Catalog) -> None:
        barrier.wait()
        try:
            answers.append(prodex.publish(catalog, tmp_path).number)
        except (PublicationConflict, PublicationRefused) as error:
            answers.append(str(error))

    threads = [Thread(target=publish, args=(catalog,)) for catalog in more]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = sorted(answer for answer in answers if isinstance(answer, int))
    assert won, answers
    assert set(won) <= readable(tmp_path).keys()
    texts = set(readable(tmp_path).values())
    assert set(CASES[what][1].values()) - {"Riz rond"} < texts
    assert len(won) == len(texts & {"Riz rond", "Riz noir"})


@pytest.mark.slow
@pytest.mark.parametrize("version", [0, 1])
def test_a_repair_that_is_interrupted_is_continued(version: int, tmp_path: Path) -> None:
    """Until then readers are told that something is lost, rather than given an older publication as the newest."""
    catalogs = twice_published(tmp_path)
    log(tmp_path, version).write_text("{")

    def stop(_: int, __: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prodex.publish(catalogs[2], tmp_path, progress=stop)
    with pytest.raises(SnapshotDamaged, match="a part of its log is lost"):
        prodex.open_published(tmp_path)
    assert 3 == prodex.publish(catalogs[2], tmp_path).number
    assert {1: "Riz", 2: "Riz long", 3: "Riz rond"} == readable(tmp_path)


@pytest.mark.slow
def test_what_is_lost_for_good_is_not_looked_for_again(tmp_path: Path) -> None:
    """The last log holds nothing, and no row is left of it: the publication before is the newest, as somebody says."""
    prodex.publish(shop(), tmp_path)
    log(tmp_path, 1).write_text("{")
    with pytest.raises(SnapshotDamaged):
        prodex.open_published(tmp_path)

    assert 1 == prodex.publish(shop(), tmp_path).number
    assert {1: "Riz"} == readable(tmp_path)
    before = files_of(tmp_path)
    assert 1 == prodex.publish(shop(), tmp_path).number
    assert before == files_of(tmp_path)
    assert 2 == prodex.publish(shop("Riz long"), tmp_path).number
    assert {1: "Riz", 2: "Riz long"} == readable(tmp_path)


def test_a_row_that_was_never_published_stays_unpublished(tmp_path: Path) -> None:
    """A publisher that is killed leaves its row: it is no publication, and its number is given again."""
    catalogs = twice_published(tmp_path)
    path = rows(tmp_path)[2]
    log(tmp_path, 1).unlink()  # as if the second had been killed before it

    assert {1: "Riz"} == readable(tmp_path)
    assert 2 == prodex.publish(catalogs[2], tmp_path).number
    assert {1: "Riz", 2: "Riz rond"} == readable(tmp_path)
    assert path.exists()


def test_of_two_rows_with_one_number_none_is_guessed(tmp_path: Path) -> None:
    """One of them was published, and the log that said which is lost."""
    catalogs = twice_published(tmp_path)
    other = pq.read_table(rows(tmp_path)[2])
    place = other.column_names.index("snapshot")
    other = other.set_column(place, "snapshot", pa.array(["2026-11-20T080000.000000Z"]))
    pq.write_table(other, tmp_path / "_snapshots" / "part-of-another.parquet")
    log(tmp_path, 1).write_text("")

    assert 3 == prodex.publish(catalogs[2], tmp_path).number
    assert {1: "Riz", 3: "Riz rond"} == readable(tmp_path)


@pytest.mark.slow
def test_what_is_not_whole_is_not_taken_for_a_publication(tmp_path: Path) -> None:
    """The log is gone; of the second publication a file is missing, and a version of the third is of other files."""
    catalogs = twice_published(tmp_path)
    prodex.publish(catalogs[2], tmp_path)
    (gone,) = set(prodex.open_published(tmp_path, at=2).files("texts")) - {
        path for at in (1, 3) for path in prodex.open_published(tmp_path, at=at).files("texts")
    }
    gone.unlink()
    path = rows(tmp_path)[3]
    table = pq.read_table(path)
    versions = json.loads(table["versions"][0].as_py()) | {"texts": 0}
    place = table.column_names.index("versions")
    pq.write_table(table.set_column(place, "versions", pa.array([json.dumps(versions)])), path)
    shutil.rmtree(tmp_path / LOG)

    assert 4 == prodex.publish(shop("Riz noir"), tmp_path).number
    assert {1: "Riz", 4: "Riz noir"} == readable(tmp_path)


@pytest.mark.parametrize("beside", ["of another program", "nothing"])
def test_what_may_be_of_another_program_is_not_repaired(beside: str, tmp_path: Path) -> None:
    """A log of which nothing can be read is ours only if the tables beside it are."""
    catalogs = twice_published(tmp_path)
    for version in (0, 1):
        log(tmp_path, version).write_text("{")
    for path in [path for path in tmp_path.iterdir() if path.name != "_snapshots"]:
        shutil.rmtree(path)
    if beside == "of another program":
        DeltaTable.create(tmp_path / "texts", schema=pa.schema([("a", pa.int64())]))
        shutil.copytree(tmp_path / "texts", tmp_path / "products")
    before = files_of(tmp_path)

    with pytest.raises((PublicationRefused, SnapshotDamaged), match=r"another program|new place"):
        prodex.publish(catalogs[2], tmp_path)
    assert before == files_of(tmp_path)


def unpacked(folder: Path) -> None:
    """Unpack a place where two publishers had the same number."""
    with tarfile.open(Path(__file__).parent / "published-twice.tar.xz") as archive:
        archive.extractall(folder, filter="data")


@pytest.mark.slow
def test_two_that_were_published_under_one_number_are_repaired(tmp_path: Path) -> None:
    """Two publishers had both been told that theirs was number 1, after one that died before its last step."""
    unpacked(tmp_path)
    place = tmp_path / "twice"

    with pytest.raises(
        SnapshotDamaged, match=r"the same number.*Publish the snapshot again, which repairs it"
    ):
        prodex.open_published(place)
    assert 2 == prodex.publish(shop("Riz rond"), place).number
    assert {1: "one", 2: "Riz rond"} == readable(place)


def test_two_snapshots_under_one_number_are_numbered_in_order_of_the_log(tmp_path: Path) -> None:
    """Both are whole, so both are kept."""
    catalogs = twice_published(tmp_path)
    path = rows(tmp_path)[2]
    table = pq.read_table(path)
    pq.write_table(table.set_column(0, "publication", pa.array([1])), path)
    written = log(tmp_path, 1)
    written.write_text(
        written.read_text()
        .replace('\\"publication\\": 2', '\\"publication\\": 1')
        .replace('\\"publication\\":2', '\\"publication\\":1')
    )
    with pytest.raises(SnapshotDamaged, match="the same number"):
        prodex.open_published(tmp_path)

    assert 3 == prodex.publish(catalogs[2], tmp_path).number
    assert {1: "Riz", 2: "Riz long", 3: "Riz rond"} == readable(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["log", "row"])
def test_a_pointer_in_an_object_store_is_repaired(lost: str, s3: Store) -> None:
    """As in a folder."""
    old, new = shop(), shop("Riz long")
    (row,) = (key for key in s3.names() if "/_snapshots/" in key and key.endswith(".parquet"))
    key = f"team/shop/{LOG}/{0:020d}.json" if lost == "log" else row
    s3.write(key, s3.objects()[key][:100])
    with pytest.raises(SnapshotDamaged, match="cannot be read"):
        prodex.open_published(URI, storage_options=s3.options)

    assert 2 == prodex.publish(new, URI, storage_options=s3.options).number
    assert same(new, prodex.open_published(URI, storage_options=s3.options))
    if lost == "log":
        assert same(old, prodex.open_published(URI, at=1, storage_options=s3.options))
