"""A snapshot of files is what flattening everything at once gives, whatever the files are like and whatever happens."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import wire
from tests.cases import each_row

import prodex
from prodex.catalog import Catalog
from prodex.errors import InputError, SnapshotLocked, SnapshotNotFound, UnexpectedReply
from prodex.files.lock import locked
from prodex.store import plan, records_in_files, snapshot_of_files
from prodex.store.long_lists import BrokenText, UnusualText, items_of
from prodex.tables.declaration import TABLES
from prodex.tables.envelope import split


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every text a long one, and let a few products take several pages and parts."""
    for module, name, value in (
        (records_in_files, "LONG", 40),
        (records_in_files, "_CHUNK", 23),
        (snapshot_of_files, "_RECORDS", 3),
        (plan, "PRODUCTS_PER_PART", 7),
    ):
        monkeypatch.setattr(module, name, value)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    make_small(monkeypatch)


def rows(catalog: Catalog, table: str) -> list[str]:
    """Return the rows of a table, in any order; records by what they say, and columns of nothing left out."""
    found = []
    for row in catalog.arrow(table).to_pylist():
        if table == "raw":
            row["json"] = json.loads(row["json"])
        kept = {name: value for name, value in row.items() if value not in (None, "absent")}
        found.append(json.dumps(kept, sort_keys=True, default=str))
    return sorted(found)


def places(catalog: Catalog) -> list[str]:
    """Return where something was set aside: of a text that is one line, the line need not be named."""
    return [reason.partition(": ")[0].replace(", line 1,", ",") for reason in catalog.origin.ledger.set_aside]


def check_same(one: Catalog, other: Catalog) -> None:
    """Check that catalogues are equal, in every table, in the order of their products and in their ledgers."""
    assert (
        one.arrow("products")["product_id"].to_pylist() == other.arrow("products")["product_id"].to_pylist()
    )
    assert [] == [name for name in TABLES if rows(one, name) != rows(other, name)]
    assert places(one) == places(other)
    mine, theirs = one.origin.ledger, other.origin.ledger
    assert (mine.announced, mine.received, mine.distinct) == (
        theirs.announced,
        theirs.received,
        theirs.distinct,
    )
    assert (one.origin.source, one.complete) == (other.origin.source, other.complete)


ITEMS = st.one_of(
    st.tuples(
        wire.products,
        st.fixed_dictionaries(
            {"id": st.sampled_from([1, 2, "3", 4, 5, 6, 7, 8, None])},
            optional={
                "updatedAt": st.sampled_from(["2026-01-01T00:00:00", "2026-02-01T00:00:00", "", None, 7]),
                "gtin": st.sampled_from(["03036811359935", 3036811359935, None]),
                "text": st.sampled_from(['}, {"id": 1', '"data":[', "\\", '\\"]}', "[[[", "é\n"]),
            },
        ),
    ).map(lambda pair: pair[0] | pair[1]),
    st.sampled_from([None, 7, "no product", {}, {"brand": "none"}, [], {"data": [1]}]),
)

FORMS = {
    "list": json.dumps,
    "pretty list": lambda items: json.dumps(items, indent=1),
    "list by lines": lambda items: "[\n" + ",\n".join(map(json.dumps, items)) + "\n]\n",
    "reply": lambda items: json.dumps({"totalResults": 3, "data": items, "offset": 0}),
    "pretty reply": lambda items: json.dumps({"data": items, "totalResults": "7"}, indent=2),
    "lines": lambda items: "\n\n" + "\r\n\n".join(map(json.dumps, items)),
    "lines of replies": lambda items: "\n".join(json.dumps({"data": [item, item]}) for item in items),
    "lines with a number that is none": lambda items: "\n".join(
        json.dumps({**item, "netWeight": float("nan")} if isinstance(item, dict) else item) for item in items
    ),
    "lines of which one is cut off": lambda items: (
        "\n".join(map(json.dumps, items))[:-9] + "\n" + '{"id": 9}'
    ),
    "list that is cut off": lambda items: json.dumps(items)[:-1],
    "list with more behind it": lambda items: json.dumps(items, indent=0) + '\n{"id": 10}\n',
    "nothing": lambda _: " \n",
    "text": lambda _: "<html>\nno\n</html>",
}


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from(sorted(FORMS)), st.lists(ITEMS, max_size=8)), min_size=1, max_size=2)
)
def test_a_snapshot_of_files_is_what_reading_them_at_once_gives(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[str, list[Any]]]
) -> None:
    """Duplicates across files and parts, odd records, empty files and null items included."""
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for number, (form, items) in enumerate(files):
        paths.append(folder / f"{number}.json{'.gz' if number == 1 else ''}")
        content = FORMS[form](items).encode()
        paths[-1].write_bytes(gzip.compress(content) if number == 1 else content)
    try:
        expected = prodex.read_products(paths)
    except InputError as error:
        expected = error  # type: ignore[assignment]
    with pytest.MonkeyPatch.context() as patch:
        make_small(patch)
        if isinstance(expected, InputError):
            with pytest.raises(InputError, match="No product could be read"):
                prodex.read_products(paths, name="tried")
            return
        found = prodex.read_products(paths, name="tried")
    check_same(expected, found)
    assert prodex.verify(found)["ok"].all()
    assert set() == {path.name for path in found.folder.parent.glob(".journal*")}  # type: ignore[union-attr]


@pytest.mark.slow
@given(
    st.lists(st.one_of(wire.anything, ITEMS), max_size=6),
    st.sampled_from([None, 0, 3]),
    st.booleans(),
    st.integers(1, 30),
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([*',[]{}"\\ :', ""])), max_size=1),
)
def test_a_long_list_has_the_items_of_the_whole_text(
    items: list[Any], indent: int | None, is_reply: bool, size: int, changes: list[tuple[float, str]]
) -> None:
    """However it is written and cut into pieces; a text that is no JSON is refused, wherever it is damaged."""
    text = json.dumps(
        {"a": [1, {"data": []}], "data": items, "offset": 0} if is_reply else items, indent=indent
    )
    for share, sign in changes:
        at = int(share * (len(text) - 1))
        text = text[:at] + sign + text[at + 1 :]
    body = text.encode()
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    try:
        whole = split(body if body.lstrip()[:1] == b"{" else b'{"data":' + body + b"}").data
    except UnexpectedReply:
        with pytest.raises((BrokenText, UnusualText)):
            list(items_of(pieces, 10_000))
        return
    try:
        assert list(map(bytes, whole)) == list(items_of(pieces, 10_000))
    except UnusualText:
        assert changes


@each_row(
    "text",
    [
        b'[{"id":1},,{"id":2}]',
        b'[{"id":1},]',
        b"[,]",
        b'[,{"id":1}]',
        b'[{"id":1}] {"id":2}',
        b'[{"id":1]]',
        b'[{"id":1}}',
        b'[{"id":1},{"id":2',
        b'{"data":[{"id":1},{"id":2}]',
        b'{"data":[{"id":1}]}]',
    ],
)
@each_row("size", [1, 7, 100])
def test_a_long_text_that_is_no_json_is_no_list(text: bytes, size: int) -> None:
    """An item that is missing, brackets that do not match, an end that is missing or comes twice."""
    with pytest.raises((BrokenText, UnusualText)):
        list(items_of([text[i : i + size] for i in range(0, len(text), size)], 1000))


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"data": [{"id": 1}, {"id": 2}], "data": [{"id": 3}, {"id": 4}]}', ["3", "4"]),
        ('{"id": 5, "data": [{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}]}', ["5"]),
        ('[{"id": 1, "w": NaN}, {"id": 2, "w": 1}, {"id": 3, "w": Infinity}]', ["1", "2", "3"]),
        ('{"id": 6,\n "text": "' + "x" * 200 + '"}', ["6"]),
        ('[{"id": 1, "a": "\\ud83d"}, {"id": 2, "b": 12345678901234567890.5}]', ["1", "2"]),
        ('{broken and longer than a text may be \n{"id": 1}\n[{"id": 2}, null]\n', ["1", "2"]),
        ('{"id": 1, "text": "longer than a text may be at once"}\n{"id": 2}', ["1", "2"]),
        (
            '[{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}, {"id": 5}]\n[{"id": 6}]',
            ["1", "2", "3", "4", "5", "6"],
        ),
    ],
)
def test_odd_long_texts_are_read_as_short_ones(tmp_path: Path, text: str, expected: list[str]) -> None:
    """A list twice, a product with a list `data`, numbers that are none, and lines of every length."""
    path = tmp_path / "odd.json"
    path.write_text(text, encoding="utf-8")

    assert expected == prodex.read_products(path, name="odd").products["product_id"].tolist()


@pytest.mark.usefixtures("small")
def test_a_long_text_that_is_nothing_is_set_aside_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that was cut off and written over many lines does not fill the memory with its lines."""
    monkeypatch.setattr(records_in_files, "_MOST_TRIED", 10)
    for name, text in (
        ("one.json", json.dumps([{"id": number} for number in range(50)])[:-3]),
        (
            "many.json",
            json.dumps([{"brand": {"code": "A"}, "id": number} for number in range(50)], indent=1)[:-3],
        ),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=rf"No product could be read\. {name}: not JSON"):
            prodex.read_products(tmp_path / name, name="cut")
    (tmp_path / "good.json").write_text('{"id": 7}')
    both = prodex.read_products([tmp_path / "good.json", tmp_path / "many.json"], name="cut")

    assert 1 == len(both.origin.ledger.set_aside)
    assert not both.complete


@pytest.mark.slow
def test_a_long_file_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists, replies and lines of 12 MB are read in less than 5."""
    monkeypatch.setattr(records_in_files, "LONG", 400_000)
    monkeypatch.setattr(records_in_files, "_CHUNK", 100_000)
    records = [{"id": number, "text": "x" * 4_000} for number in range(3_000)]
    for form in ("list", "pretty reply", "lines"):
        path = tmp_path / form
        path.write_text(FORMS[form](records))
        tracemalloc.start()
        number = sum(1 for _ in records_in_files.records_in(path, records_in_files.ReadingNotes(), None))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

        assert (3_000, True) == (number, most < 5_000_000), form


def write(path: Path, numbers: range, size: int = 1) -> Path:
    path.write_text("\n".join(json.dumps({"id": number, "text": "x" * size}) for number in numbers))
    return path


@pytest.mark.usefixtures("small")
def test_an_interrupted_call_leaves_what_was_there_and_continues(tmp_path: Path, home: Path) -> None:
    """Ctrl-C while files are read, and while parts are built: the parts that are there are not built again."""
    path = write(tmp_path / "a.jsonl", range(40))
    before = prodex.flatten([{"id": 1}]).save("delivery")
    folder = home / "snapshots" / "delivery"

    def stop(when: str) -> Any:
        def show(done: int, total: int) -> None:
            if done and when == ("build" if total else "read"):
                raise KeyboardInterrupt

        return show

    for when, journals in (("read", 0), ("build", 1)):
        with pytest.raises(KeyboardInterrupt):
            prodex.read_products(path, name="delivery", progress=stop(when))
        assert [before.folder] == [one for one in folder.iterdir() if one.name[0] != "."]
        assert journals == len(list(folder.glob(".journal-*")))
    with pytest.raises(SnapshotNotFound, match=r"read_products\(files, name='delivery'\) continues"):
        prodex.recover("delivery")
    kept = next(folder.glob(".journal-*/build/products/part-00000.parquet")).stat().st_ino
    after = prodex.read_products(path, name="delivery")

    assert kept == after.parts[0].files["products"].stat().st_ino
    assert [str(number) for number in range(40)] == after.products["product_id"].tolist()
    assert after.complete
    assert [] == list(folder.glob(".journal-*"))


@pytest.mark.usefixtures("small")
def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    """What an interrupted call has built of the old one is of no use."""
    path = write(tmp_path / "a.jsonl", range(9))

    def stop(done: int, total: int) -> None:
        if total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prodex.read_products(path, name="delivery", progress=stop)
    write(path, range(9, 19))

    assert "9" == prodex.read_products(path, name="delivery").products["product_id"][0]


_FULL = """
import resource, sys
import prodex, prodex.store.build
from prodex.errors import StorageError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    prodex.read_products(sys.argv[1], name="delivery")
except StorageError as error:
    print("full:", error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of file sizes are those of Linux")
@pytest.mark.parametrize("largest", [0, 60_000])
def test_on_a_full_disk_the_old_snapshot_stays(tmp_path: Path, largest: int) -> None:
    """Whether it is full at once, while records are written, or while parts are; with space the call succeeds."""
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({"id": n, "text": os.urandom(300).hex()}) for n in range(300)))
    prodex.flatten([{"id": 1}]).save("delivery")
    command = [sys.executable, "-c", _FULL, str(path), str(largest)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout.startswith("full: Could not write")
    assert 1 == len(prodex.open_snapshot("delivery"))
    assert 1 == len(prodex.list_snapshots("delivery"))
    assert 300 == len(prodex.read_products(path, name="delivery"))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with a name are those of POSIX")
@pytest.mark.usefixtures("small")
def test_a_pipe_can_be_read_although_only_once(tmp_path: Path) -> None:
    """Even where a text has to be looked through before it is read."""
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    text = json.dumps([{"id": number} for number in range(30)], indent=1)
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    catalog = prodex.read_products(pipe, name="delivery")
    writer.join()

    assert 30 == len(catalog)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with a name are those of POSIX")
@pytest.mark.usefixtures("small")
def test_a_writer_may_come_late_and_write_slowly(tmp_path: Path) -> None:
    """Nothing is lost of what somebody writes who is there before he has anything to write."""
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)

    def write() -> None:
        time.sleep(0.1)
        with pipe.open("w") as file:
            for number in range(3):
                time.sleep(0.1)
                file.write(json.dumps({"id": number}) + "\n")
                file.flush()

    writer = threading.Thread(target=write)
    writer.start()
    catalog = prodex.read_products(pipe, name="delivery")
    writer.join()

    assert 3 == len(catalog)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with a name are those of POSIX")
def test_a_pipe_into_which_nobody_writes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To open one would wait for ever."""
    monkeypatch.setattr("prodex.files.unpacking.A_WRITER_COMES", 0.1)
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="nobody writes into it"):
        prodex.read_products(pipe)


def test_two_cannot_make_the_same_snapshot_at_once(tmp_path: Path, home: Path) -> None:
    """The second is told who is at it, and nothing of the first is touched."""
    path = write(tmp_path / "a.jsonl", range(3))
    with locked(home / "snapshots" / "delivery", "loading"), pytest.raises(SnapshotLocked):
        prodex.read_products(path, name="delivery")


def test_wrong_arguments_are_refused_before_anything_is_read(tmp_path: Path, home: Path) -> None:
    """A name that cannot be one, a query that is none, and a file that is missing."""
    path = write(tmp_path / "a.jsonl", range(3))
    with pytest.raises(prodex.ProdexError, match="cannot be the name"):
        prodex.read_products(path, name="a/b")
    with pytest.raises(InputError, match=r"give a prodex\.ProductQuery"):
        prodex.read_products(path, name="a", query="all")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"none\.json cannot be read"):
        prodex.read_products([path, tmp_path / "none.json"], name="a")

    assert [] == [
        one for one in (home / "snapshots").rglob("*") if not one.name.startswith(".") and one.is_file()
    ]


def test_the_origin_says_what_it_is_of(tmp_path: Path) -> None:
    """Files, query and time, as without a name."""
    query = prodex.ProductQuery(source_include=["brand"])
    files = [write(tmp_path / "a.jsonl", range(3)), write(tmp_path / "b.jsonl", range(3, 5))]
    steps: list[tuple[int, int]] = []
    catalog = prodex.read_products(
        files, name="delivery", query=query, progress=lambda *step: steps.append(step)
    )

    assert ("a.jsonl, b.jsonl", query) == (catalog.origin.source, catalog.origin.query)
    assert catalog.origin.loaded_at is not None
    assert [(5, 0), (5, 5)] == steps
    assert "5 products" in repr(prodex.open_snapshot("delivery"))
