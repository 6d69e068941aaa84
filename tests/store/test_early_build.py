"""Parts that are built while pages still come are those that the plan at the end decides, or are built again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.load.exchange import PAGE, TOTAL, WAYS, contents, loaded, paged, records, renamed

import prodex

# It takes a constant that a fixture changes here, and would keep the changed one for all tests after these.
import prodex.store.reading
from prodex.errors import StorageError
from prodex.files.atomic import home
from prodex.progress import reporting
from prodex.sandbox import Sandbox
from prodex.store import build_while_fetching
from prodex.store.build import build_folder
from prodex.store.build_while_fetching import EarlyBuild
from prodex.store.journal import LoadJournal
from prodex.store.parts import StoredPart
from prodex.store.plan import EARLY, early_parts, early_plan, plan
from prodex.tables.declaration import TABLES
from prodex.tables.envelope import split
from prodex.tables.records import identify

EVERYTHING = list(range(1, TOTAL + 1))


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a hundred products make several parts, on any machine."""
    monkeypatch.setattr("prodex.store.plan.PRODUCTS_PER_PART", 30)
    monkeypatch.setattr(build_while_fetching, "cpu_count", lambda: 2)


@pytest.fixture
def exchange() -> Iterator[Sandbox]:
    with Sandbox(records()) as sandbox:
        yield sandbox


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Collect the parts whose receipts come to the disk, each as its number and its products."""
    parts: list[tuple[int, int]] = []
    replace = os.replace

    def noted(beside: Any, place: Any) -> None:
        if found := re.fullmatch(r"built-(\d+)\.json", Path(place).name):
            size = json.loads(Path(beside).read_bytes())["part"]["products"]
            parts.append((int(found[1]), size))
        replace(beside, place)

    monkeypatch.setattr(os, "replace", noted)
    return parts


def building() -> Path:
    """Return the folder in which the parts of the load that runs are built."""
    (journal,) = (home() / "snapshots" / "shop").glob(".journal-*")
    return build_folder(journal)


def add_page(journal: LoadJournal, products: list[dict[str, Any]], window: str = "pull/0") -> None:
    """Store a page as a load does."""
    body = json.dumps({"totalResults": 9, "data": products}).encode()
    envelope = split(body)
    keys = [identify(product) for product in envelope.data]
    journal.add(window, body, envelope, keys, received_at=datetime.now(UTC))


@given(
    pages=st.lists(
        st.lists(st.tuples(st.integers(0, 60), st.integers(0, 2)), min_size=1, max_size=9), max_size=14
    ),
    cut=st.tuples(st.integers(1, 20), st.integers(0, 90)),
)
def test_every_product_is_in_one_part_however_parts_were_begun(
    pages: list[list[tuple[int, int]]], cut: tuple[int, int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Parts that are whole stay as they are, but for products of which a newer copy comes on a later page."""
    journal = LoadJournal.begin(tmp_path_factory.mktemp("journal") / "j", {})
    journal.note(EARLY, cut)
    begun: dict[int, Any] = {}
    newest: dict[str, tuple[int, int]] = {}
    for number, page in enumerate(pages):
        add_page(journal, [{"id": i, "updatedAt": f"2026-01-0{day + 1}T00:00:00"} for i, day in page])
        for i, day in page:
            newest[str(i)] = max(newest.get(str(i), (-1, 0)), (day, number))
        for part, entries in enumerate(early_parts(journal)):
            if part in begun:
                assert begun[part] == early_plan(part, entries)
            begun[part] = early_plan(part, entries)

    decided = plan(journal).parts

    assert list(range(len(decided))) == [part.number for part in decided]
    places = [(page, index) for part in decided for page, indexes in part.pages for index in indexes]
    assert len(places) == len(set(places)) == len(newest)
    came = {entry.page: entry.keys for entry in journal.entries()}
    assert {key: page for key, (_, page) in newest.items()} == {
        came[page][index].product_id: page for page, index in places
    }
    for number, early in begun.items():
        left = dict(decided[number].pages)
        assert left.keys() <= dict(early.pages).keys()
        if all(newest[came[page][index].product_id][1] == page for page, ix in early.pages for index in ix):
            assert early == decided[number]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_load_that_builds_early_is_the_same_as_one_that_does_not(
    exchange: Sandbox, way: str, monkeypatch: pytest.MonkeyPatch, built: list[tuple[int, int]]
) -> None:
    """Every table holds the same rows, and no part is built twice for nothing."""
    paged(way, monkeypatch)
    early = loaded(exchange, way)
    # The newest product comes again with what changed meanwhile, so that its part is built again.
    again = [number for number, _ in built if [one for one, _ in built].count(number) > 1]
    assert set(again) <= {0}
    assert 4 <= len(early.parts) == len({number for number, _ in built})

    with ThreadPoolExecutor(1) as threads:
        late = loaded(exchange, way, executor=threads)

    for table in TABLES:
        assert rows(late, table) == rows(early, table), table
    assert prodex.verify("shop")["ok"].all()


def rows(catalog: prodex.Catalog, table: str) -> list[str]:
    """Return the rows of a table, in any order."""
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in catalog.arrow(table).to_pylist())


@pytest.mark.slow
def test_a_product_that_changes_meanwhile_is_built_again(
    exchange: Sandbox, built: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its part was built from the older copy; the snapshot holds the newer one, once."""
    monkeypatch.setattr("prodex.service.paging.SCROLL_FROM", 30)
    known = records()
    exchange.at_call(7, lambda: exchange.change([renamed(known[0], "nouveau")]))

    catalog = loaded(exchange, "scroll")

    assert EVERYTHING == contents(catalog)
    assert ["1"] == catalog.texts[catalog.texts["text"] == "nouveau"]["product_id"].tolist()
    assert [(0, 40), (0, 39)] == [part for part in built if part[0] == 0]
    assert len(catalog) == sum(part.size for part in catalog.parts)
    assert prodex.verify("shop")["ok"].all()


#: Made once: their dates count from the moment when they are made, and what is compared has to be the same.
every_record = cache(records)


def built_by(journal: Path, make_own: Callable[[], Executor]) -> list[StoredPart]:
    """Build a hundred products, with all parts begun while pages still come."""
    found = LoadJournal.begin(journal, {})
    every = every_record()
    for first in range(0, TOTAL, PAGE):
        add_page(found, every[first : first + PAGE])
    with EarlyBuild(found, make_own=make_own) as early, reporting(False, "Products") as reporter:
        early.begin(TOTAL)
        early.begin_rest()
        return list(early.parts(plan(found).parts, reporter))


def table_of(journal: Path, parts: list[StoredPart], table: str) -> pa.Table:
    """Return a table of the parts of a journal."""
    return pa.concat_tables(
        pq.read_table(part.open(build_folder(journal)).files[table], partitioning=None) for part in parts
    )


def test_what_failed_early_is_tried_again_at_the_end(tmp_path: Path) -> None:
    """A disk that was full for a moment costs no load."""
    failed: list[int] = []

    class Failing(ThreadPoolExecutor):
        def submit(self, _: Any, /, *args: Any, **__: Any) -> Future[Any]:
            failed.append(args[1].number)
            future: Future[Any] = Future()
            future.set_exception(StorageError("no space left"))
            return future

    parts = built_by(tmp_path / "j", lambda: Failing(1))

    texts = table_of(tmp_path / "j", parts, "raw")["json"].to_pylist()
    assert EVERYTHING == sorted(json.loads(text)["id"] for text in texts)
    assert len(failed) >= 4


def test_what_cannot_be_built_is_an_error_of_the_load(exchange: Sandbox) -> None:
    """It is raised as it would be without building early, and the next call continues."""

    def put_in_the_way() -> None:
        building().mkdir()
        (building() / "texts").write_text("no folder", "utf-8")

    exchange.at_call(1, put_in_the_way)
    with pytest.raises(StorageError, match="a file where a folder should be"):
        loaded(exchange, "scroll")
    (building() / "texts").unlink()
    before = len(exchange.requests)
    assert EVERYTHING == contents(loaded(exchange, "scroll"))
    assert before == len(exchange.requests)


@pytest.mark.slow
def test_files_of_another_plan_are_no_part_of_a_snapshot(exchange: Sandbox) -> None:
    """What an interrupted build left of parts that no plan has any more would be read by other programs."""

    def leave_a_stray() -> None:
        (building() / "texts").mkdir(parents=True)
        (building() / "texts" / "part-00077.parquet").write_bytes(b"stray")

    exchange.at_call(1, leave_a_stray)

    catalog = loaded(exchange, "scroll")

    assert catalog.folder is not None
    assert len(catalog.parts) == len(list((catalog.folder / "texts").iterdir()))
