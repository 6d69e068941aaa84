"""Law: a snapshot merged with what changed holds what a build of all current products holds; the old one stays."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import each_row
from tests.soak.merge import measure
from tests.wire import CORNERS, OTHER_CORNERS, encode, products

import prodex
from prodex.catalog import Part
from prodex.errors import SnapshotDamaged
from prodex.load.refresh import repaired
from prodex.store.journal import LoadJournal
from prodex.store.merge import merge_parts
from prodex.store.merge_plan import held_products, plan_merge
from prodex.store.newest import Place
from prodex.store.parts import StoredPart, rewrite_table
from prodex.store.publish import publish_parts
from prodex.store.snapshot import stored_parts
from prodex.tables.declaration import TABLES
from prodex.tables.envelope import split
from prodex.tables.records import identify
from prodex_sandbox.sample import shared_products

Product = dict[str, Any]


def journal_of(pages: Sequence[Sequence[bytes]], folder: Path) -> tuple[Path, dict[str, Place]]:
    """Write a journal, and return where the newest version of each product stands in it."""
    journal = LoadJournal.begin(folder, {})
    came: dict[str, Place] = {}
    for number, page in enumerate(pages):
        body = page_of(page)
        envelope = split(body)
        keys = [identify(product) for product in envelope.data]
        journal.add("all", body, envelope, keys, received_at=datetime.now(UTC))
        came |= {key.product_id: (number, index) for index, key in enumerate(keys) if key}
    return folder, came


def merged(
    old: prodex.Catalog,
    changes: Sequence[Sequence[bytes]],
    folder: Path,
    *,
    gone: Iterable[str] = (),
    products_per_part: int = 10_000,
    executor: Any = None,
) -> prodex.Catalog:
    """Merge changes into a snapshot, as a new one of the same name."""
    assert old.folder is not None
    journal, came = journal_of(changes, folder)
    decided = plan_merge(held_products(old), came, set(gone), products_per_part=products_per_part)
    olds, old_folder = stored_parts(old.folder), old.folder

    def write(beside: Path) -> Iterable[StoredPart]:
        return merge_parts(olds, old_folder, journal, decided.parts, beside, executor)

    return publish_parts(old.folder.parent.name, old.origin, write)


def snapshot_of(parts: Sequence[Sequence[bytes]], name: str = "shop") -> prodex.Catalog:
    """Save products as a snapshot of just these parts."""
    catalogs = [prodex.flatten([json.loads(product) for product in part]) for part in parts]
    return prodex.Catalog(tuple(part for one in catalogs for part in one.parts), catalogs[0].origin).save(
        name
    )


def content(catalog: prodex.Catalog, *, descriptors: bool = True) -> dict[str, Any]:
    """Return all rows of all tables, in no order."""
    found: dict[str, Any] = {}
    for name in TABLES:
        if descriptors or name != "descriptors":
            rows = catalog.arrow(name).to_pylist()
            found[name] = Counter(repr(sorted(row.items())) for row in rows)
    return found


def digests(folder: Path) -> dict[str, str]:
    """Return every file of a snapshot with its digest."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def keyed(records: Sequence[bytes]) -> dict[str, bytes]:
    """Return products by their key, the last one of each."""
    data = split(page_of(records)).data
    return {key.product_id: bytes(record) for record in data if (key := identify(record))}


def page_of(records: Sequence[bytes]) -> bytes:
    return b'{"totalResults":%d,"data":[%b]}' % (len(records), b",".join(records))


def simple(number: int, name: str = "Riz", **more: Any) -> bytes:
    described = {"code": "fra-FR", "normalizedCode": "fr"}
    return encode({"id": number, "namePublicLong": [{"expressedIn": described, "data": name}], **more})


def renamed(record: bytes, number: int) -> bytes:
    """Change a product a little here and there."""
    product = json.loads(record)
    product["namePublicLong"] = [{"expressedIn": {"code": "eng-GB"}, "data": f"Other {number}"}]
    product["gtin"] = f"{number:014d}"
    product.pop("assets", None)
    return encode(product | {f"only{number}": number})


def written(old: prodex.Catalog, new: prodex.Catalog) -> dict[str, list[str]]:
    """Return the files of the new snapshot that are not files of the old one, tables by file name."""
    found: dict[str, list[str]] = {}
    known = {path.stat().st_ino for table in TABLES for path in old.files(table)}
    for table in sorted(TABLES):
        for path in new.files(table):
            if path.stat().st_ino not in known:
                found.setdefault(path.name, []).append(table)
    return found


wire = st.lists(products.map(encode), max_size=6)
#: Of which stored products something is done.
PLACES = st.lists(st.integers(0, 6), max_size=4, unique=True)
ONE, OTHER = ([encode(product) for product in some] for some in (CORNERS, OTHER_CORNERS))


@pytest.mark.slow
@example(ONE, [1, 4], [0, 3, 5], [{}, {"uuid": "a"}, {"uuid": ""}], OTHER, [2, 4], 2, 3)
@example(ONE, [7], [], [], OTHER[:1], [0], 5, 0)
@given(
    wire,
    PLACES,
    PLACES,
    st.lists(st.dictionaries(st.just("uuid"), st.text("ab"), max_size=1), max_size=3),
    wire,
    PLACES,
    st.integers(1, 5),
    st.integers(0, 7),
)
def test_a_merge_equals_a_build_of_all_current_products(
    tmp_path_factory: pytest.TempPathFactory,
    stored: list[bytes],
    cuts: list[int],
    changed: list[int],
    versions: list[dict[str, str]],
    other: list[bytes],
    removed: list[int],
    size: int,
    middle: int,
) -> None:
    """Row for row; whatever the products, which of them changed, came, went, and how the parts are cut."""
    held = keyed(stored)
    ids = list(held)
    cut = cuts[0] if cuts else 0
    old = snapshot_of([[held[i] for i in ids[:cut]], [held[i] for i in ids[cut:]]])
    assert old.folder is not None
    before = digests(old.folder)
    changes = {
        i: json.dumps(json.loads(version) | {"id": json.loads(held[i]).get("id", i)}).encode()
        for i, version in zip(
            [ids[place] for place in changed if place < len(ids)],
            map(encode, versions),
            strict=False,
        )
    }
    came = [*changes.values(), *other]
    gone = {ids[place] for place in removed if place < len(ids)}
    pages = [came[:middle], came[middle:]]
    new = merged(old, pages, tmp_path_factory.mktemp("journal") / "j", gone=gone, products_per_part=size)

    arrived = keyed(came)
    current = {i: record for i, record in held.items() if i not in gone} | arrived
    expected = prodex.flatten([json.loads(product) for product in current.values()])
    assert content(expected, descriptors=False) == content(new, descriptors=False)
    assert content(expected)["descriptors"].keys() <= content(new)["descriptors"].keys()
    assert before == digests(old.folder)
    assert bool(prodex.verify("shop")["ok"].all())


ids = st.integers(0, 30).map(str)


@given(
    st.lists(st.sets(ids, max_size=8), max_size=5),
    st.dictionaries(ids, st.tuples(st.integers(0, 3), st.integers(0, 99)), max_size=12),
    st.sets(ids, max_size=8),
    st.integers(1, 9),
)
def test_the_decision_loses_and_doubles_nothing(
    parts: list[set[str]], came: dict[str, Place], gone: set[str], size: int
) -> None:
    """Each product that is there now stands in one part, once, as what came of it or as it was."""
    before: set[str] = set()
    held: list[set[str]] = []
    for part in parts:
        held.append(part - before)
        before |= part
    came = dict(zip(came, sorted(set(came.values())), strict=False))  # each place holds one product
    decided = plan_merge(held, came, gone, products_per_part=size)

    staying = [p for part in decided.parts if part.old is not None for p in held[part.old] - part.leaving]
    coming = [(page, index) for part in decided.parts for page, indexes in part.pages for index in indexes]
    assert sorted(before - came.keys() - gone) == sorted(staying)
    assert sorted(came.values()) == sorted(coming)
    assert (len(came.keys() - before), len(came.keys() & before), len((before & gone) - came.keys())) == (
        decided.added,
        decided.changed,
        decided.gone,
    )
    assert [*range(len(decided.parts))] == [part.number for part in decided.parts]


def test_what_does_not_change_is_linked_and_new_products_fill_up() -> None:
    """Parts that are written anyway first, then the smallest, then new ones."""
    held = [["a1", "a2", "a3", "a4"], ["b1", "b2", "b3"], ["c1", "c2"], ["d1", "d2", "d3"]]
    came = {"b2": (0, 0)} | {f"n{number}": (1, number) for number in range(8)}

    decided = plan_merge(held, came, products_per_part=4)

    assert (8, 1, 0) == (decided.added, decided.changed, decided.gone)
    assert [
        (0, set(), ()),
        (1, {"b2"}, ((0, (0,)), (1, (0,)))),
        (2, set(), ((1, (1, 2)),)),
        (3, set(), ((1, (3,)),)),
        (None, set(), ((1, (4, 5, 6, 7)),)),
    ] == [(part.old, set(part.leaving), part.pages) for part in decided.parts]
    assert [True, False, False, False, False] == [part.linked for part in decided.parts]


def test_a_part_that_loses_all_is_dropped_but_the_first() -> None:
    """The first holds the labels of codes, and a catalogue has one part at least."""
    decided = plan_merge([["a"], ["b"], ["c"]], {}, {"a", "b", "z"})

    assert [(0, 0), (1, 2)] == [(part.number, part.old) for part in decided.parts]
    assert 2 == decided.gone


def test_what_came_is_there_whatever_was_said_to_be_gone() -> None:
    """A product that a listing missed and that came is no lost product."""
    decided = plan_merge([["a"]], {"a": (0, 0)}, {"a"})

    assert (0, 1, 0) == (decided.added, decided.changed, decided.gone)


def test_a_product_that_two_parts_hold_comes_once() -> None:
    """Such a snapshot is made by hand; merging mends it."""
    decided = plan_merge([["a"], ["a", "b"]], {"a": (0, 0)})

    assert [({"a"}, ((0, (0,)),)), ({"a"}, ())] == [(part.leaving, part.pages) for part in decided.parts]


@pytest.fixture(scope="module")
def sample() -> list[bytes]:
    """As much of the sample as its owner sees, as the service would send it."""
    return [encode(shared.record) for shared in shared_products(90)]


@pytest.mark.slow
def test_the_sample_merges_to_what_a_build_of_it_holds(sample: list[bytes], tmp_path: Path) -> None:
    """Changed, new and gone, in three parts; what changed keeps its place, and new products follow."""
    old = snapshot_of([sample[:20], sample[20:40], sample[40:60]])
    held = list(keyed(sample[:60]))
    changed = [renamed(record, number) for number, record in enumerate(sample[22:30])]
    gone = held[5:8]

    new = merged(old, [changed, sample[60:]], tmp_path / "j", gone=gone, products_per_part=30)

    current = {i: r for i, r in keyed(sample[:60]).items() if i not in gone} | keyed([*changed, *sample[60:]])
    expected = prodex.flatten([json.loads(record) for record in current.values()])
    assert content(expected, descriptors=False) == content(new, descriptors=False)
    assert 87 == len(new)
    for number, part in enumerate(new.parts):
        orders = [part.read(name)["product_id"].to_pylist() for name in ("products", "presence", "raw")]
        staying = [one for one in held[number * 20 : number * 20 + 20] if one not in gone]
        assert [orders[0]] * 2 == orders[1:]
        assert staying == orders[0][: len(staying)]


def test_parts_and_tables_that_stay_the_same_are_the_same_files(tmp_path: Path) -> None:
    """Of a part in which one name changed, only the texts and the records are written."""
    old = snapshot_of([[simple(1), simple(2)], [simple(3), simple(4)]])

    new = merged(old, [[simple(3, "Blé")]], tmp_path / "j")

    assert {"part-00001.parquet": ["raw", "texts"]} == written(old, new)
    assert ["Riz", "Riz", "Riz", "Blé"] == new.texts["text"].tolist()


def test_a_product_that_comes_again_as_it_was_changes_no_file(tmp_path: Path) -> None:
    """A refresh asks for a little more than what changed since, so this is what mostly comes."""
    old = snapshot_of([[simple(1), simple(2)]])

    new = merged(old, [[simple(2)]], tmp_path / "j")

    assert {} == written(old, new)
    assert content(old) == content(new)


def test_a_record_that_is_only_spelled_otherwise_is_kept_as_received(tmp_path: Path) -> None:
    """`raw` is what came last, even where no value changed."""
    old = snapshot_of([[simple(1), simple(2)]])
    spaced = json.dumps(json.loads(simple(2)), indent=1).encode()

    new = merged(old, [[spaced]], tmp_path / "j")

    assert {"part-00000.parquet": ["raw"]} == written(old, new)
    assert [simple(1).decode(), spaced.decode()] == new.raw["json"].tolist()


def test_a_file_system_without_links_gets_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same content, in files of their own."""
    old = snapshot_of([[simple(1)], [simple(2)]])

    def refuse(source: Path, target: Path) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    new = merged(old, [[simple(3)]], tmp_path / "j", products_per_part=1)

    assert 3 * len(TABLES) == sum(len(tables) for tables in written(old, new).values())
    assert [1, 2, 3] == sorted(map(int, new.products["product_id"]))
    assert bool(prodex.verify("shop")["ok"].all())


def test_nothing_is_ever_written_through_a_link(tmp_path: Path) -> None:
    """A table that is replaced while the new snapshot is made leaves the old one alone."""
    old = snapshot_of([[simple(1)]])
    assert old.folder is not None
    before, stored, folder = digests(old.folder), stored_parts(old.folder), old.folder
    labels = pa.Table.from_pylist([{"attribute": "kind", "code": "1"}], TABLES["code_labels"].schema)

    def write(beside: Path) -> list[StoredPart]:
        decided = plan_merge([["1"]], {}).parts
        for _ in range(2):  # what is there already, from an interrupted try, makes no difference
            (part,) = merge_parts(stored, folder, tmp_path, decided, beside)
        return [rewrite_table(part, beside, "code_labels", labels)]

    new = publish_parts("shop", old.origin, write)

    assert 1 == new.row_count("code_labels")
    assert before == digests(folder)


def test_labels_of_codes_outlive_all_products(tmp_path: Path) -> None:
    """A catalogue that lost all its products is still one, and can be filled again."""
    labels = pa.Table.from_pylist([{"attribute": "kind", "code": "1"}], TABLES["code_labels"].schema)
    tables = {**prodex.flatten([{"id": 1}]).parts[0].tables, "code_labels": labels}
    old = prodex.Catalog((Part.in_memory(tables),), prodex.flatten([]).origin).save("shop")

    empty = merged(old, [], tmp_path / "j", gone=["1"])
    filled = merged(empty, [[simple(2)]], tmp_path / "k")

    assert (0, 1, 1) == (len(empty), len(filled), filled.row_count("code_labels"))
    assert ["product_id"] == list(empty.presence)


def test_presence_forgets_attributes_that_no_product_has(tmp_path: Path) -> None:
    """As if the part had been built of what it holds now."""
    old = snapshot_of([[simple(1, brand=None), simple(2)]])

    new = merged(old, [[simple(1, kind=[])]], tmp_path / "j")

    assert ["product_id", "id_state", "namePublicLong_state", "kind_state"] == list(new.presence)
    assert ["empty", "absent"] == new.presence["kind_state"].tolist()


@pytest.mark.slow
def test_many_merges_leave_no_crumbs(tmp_path: Path) -> None:
    """Each adds a row group to the large tables; they are put together again."""
    catalog = snapshot_of([[simple(number) for number in range(10)]])
    for number in range(8):
        catalog = merged(catalog, [[simple(number, "Blé")]], tmp_path / f"j{number}")

    assert all(pq.read_metadata(catalog.files(name)[0]).num_row_groups <= 2 for name in ("raw", "texts"))
    assert 8 == catalog.texts["text"].tolist().count("Blé")


@pytest.mark.slow
def test_large_changes_come_block_by_block(
    sample: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many blocks they are, the outcome is the same."""
    monkeypatch.setattr("prodex.tables.flatten.BLOCK_BYTES", 20_000)
    old = snapshot_of([sample[:15]])

    new = merged(old, [sample[5:40]], tmp_path / "j")

    expected = prodex.flatten([json.loads(record) for record in sample[:40]])
    assert content(expected, descriptors=False) == content(new, descriptors=False)


@pytest.mark.slow
def test_any_executor_makes_the_same(sample: list[bytes], tmp_path: Path) -> None:
    """Threads or processes: the same rows in the same order."""
    old = snapshot_of([sample[:10], sample[10:20]])
    by_threads = merged(old, [sample[5:30]], tmp_path / "j", products_per_part=12)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        by_processes = merged(old, [sample[5:30]], tmp_path / "k", products_per_part=12, executor=processes)

    assert by_threads.equals(by_processes)


@each_row("table", ["texts", "raw", "videos"])
def test_damage_is_not_copied_into_a_new_file(table: str, tmp_path: Path) -> None:
    """It would get a digest of its own there, and nobody could tell any more."""
    old = snapshot_of([[simple(1), simple(2)]])
    path = old.files(table)[0]
    content = path.read_bytes()
    path.write_bytes(content[:20] + b"\0\0" + content[22:])

    with pytest.raises(SnapshotDamaged, match=rf"{table}.+digest differs"):
        merged(old, [[simple(1, "Blé")]], tmp_path / "j")


@pytest.mark.slow
@each_row("table", ["products", "raw", "videos"])
def test_nothing_damaged_is_linked(table: str, tmp_path: Path) -> None:
    """A part in which nothing changed is verified as well before it goes on in the new snapshot."""
    old = snapshot_of([[simple(1)], [simple(2)]])
    flip(old.files(table)[1])

    with pytest.raises(SnapshotDamaged, match=rf"{table}.part-00001.+digest .*differs"):
        merged(old, [[simple(1, "Blé")]], tmp_path / "j")


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 16
    path.write_bytes(content)


def test_damaged_tables_are_built_again_from_the_records() -> None:
    """As a new snapshot, row for row what the old one was; good parts and the records are linked."""
    old = snapshot_of([[simple(1), simple(2)], [simple(3)]])
    expected = content(old)
    for table in ("products", "texts", "presence", "descriptors"):
        flip(old.files(table)[0])

    new = repaired(old)

    assert expected == content(new)
    assert new.folder != old.folder
    assert "raw" not in written(old, new).get("part-00000.parquet", [])
    assert "part-00001.parquet" not in written(old, new)
    assert bool(prodex.verify("shop")["ok"].all())
    assert repaired(new) is new


def test_damaged_records_are_named() -> None:
    """Whoever refreshes learns which products have to be fetched again; nothing new is written."""
    old = snapshot_of([[simple(1, gtin="00000000000017"), simple(2)], [simple(3)]])
    flip(old.files("raw")[0])

    with pytest.raises(SnapshotDamaged, match=r"2 products .* fetched again: .*00000000000017") as raised:
        repaired(old)

    assert {"00000000000017", "2"} == set(raised.value.products)
    assert 1 == len(prodex.list_snapshots("shop"))


@pytest.mark.slow
@pytest.mark.parametrize("links", [0, 1, len(TABLES) - 1, len(TABLES)])
def test_an_interrupted_merge_leaves_the_old_snapshot(
    links: int, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else is there, the old one is as it was, and the next merge succeeds."""
    old = snapshot_of([[simple(1)], [simple(2)]])
    assert old.folder is not None
    before = digests(old.folder)
    link, left = os.link, iter(range(links))

    def interrupted(source: Path, target: Path) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        link(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", interrupted)
        with pytest.raises(KeyboardInterrupt):
            merged(old, [[simple(1, "Blé")]], tmp_path / "j")

    assert [old.folder] == list((home / "snapshots" / "shop").iterdir())
    assert before == digests(old.folder)
    assert 2 == len(merged(old, [[simple(1, "Blé")]], tmp_path / "k"))


@pytest.mark.slow
def test_the_measurement_of_merges_works(capsys: pytest.CaptureFixture[str]) -> None:
    """It shows every case with its share; how fast anything is, no test says."""
    measure(400, per_part=100, rounds=1)

    lines = capsys.readouterr().out.splitlines()
    assert "400 products in 4 parts, 4 changed" in lines[0]
    assert 4 == len(lines[1:])
    assert all("of a build" in line for line in lines[1:])
