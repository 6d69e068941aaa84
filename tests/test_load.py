"""From the service to a catalogue: everything once, with where it comes from, or a clear word on what is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import filelock
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.errors import IncompleteLoad, QueryError, SnapshotLocked
from prodex.sandbox import Behaviour, Fault, Sandbox
from prodex.service import Client, RetryPolicy
from prodex.store.journal import LoadJournal
from prodex.store.plan import plan
from prodex.tables.envelope import split
from prodex.tables.records import identify
from prodex_sandbox.media.files import MEDIA
from prodex_sandbox.sample import shared_products
from tests.cases import each_row

#: Enough for several parts, for pages of several sizes, and for a list of GTINs that is cut into calls.
COUNT = 320


@pytest.fixture(scope="module")
def sample_exchange() -> Iterator[Sandbox]:
    """Serve these, which are loaded as a whole in most tests here."""
    with Sandbox(products=shared_products(COUNT)) as sandbox:
        yield sandbox


@pytest.mark.slow
def test_a_load_holds_every_product_the_service_has(service: Client) -> None:
    """Compared with the sample itself: each record once, as it is, but for where the sandbox has its files."""
    catalog = prodex.load_products(service, name="all", max_age=0)
    here = f"{service.base_url}/media/"
    expected = {str(shared.record["id"]): shared.record for shared in shared_products(COUNT)}

    assert catalog.complete
    assert expected == {
        i: json.loads(r.replace(here, f"{MEDIA}/"))
        for i, r in catalog.raw[["product_id", "json"]].itertuples(index=False)
    }


@pytest.mark.slow
def test_a_scroll_and_offset_pages_load_the_same(service: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the page size, and whichever way the pages come."""
    by_offset = prodex.load_products(service, name="offset", max_age=0, page_size=37)
    monkeypatch.setattr("prodex.service.paging.SCROLL_FROM", 1)
    by_scroll = prodex.load_products(service, name="scroll", max_age=0, page_size=211)

    for table in ("products", "texts", "hierarchies", "raw"):
        assert sorted(map(repr, by_offset.arrow(table).to_pylist())) == sorted(
            map(repr, by_scroll.arrow(table).to_pylist())
        )


def test_the_origin_tells_what_was_asked_and_when(service: Client) -> None:
    """By the service's clock, with the ledger."""
    query = prodex.ProductQuery(tags_in=["exportable"], source_include=["namePublicLong", "brand"])
    catalog = prodex.load_products(service, query, name="some", max_age=0)
    origin = prodex.open_snapshot("some").origin

    assert (service.base_url, query) == (origin.source, origin.query)
    assert abs(datetime.now(UTC) - (origin.server_time or datetime.min.replace(tzinfo=UTC))) < timedelta(
        minutes=1
    )
    assert len(catalog) == origin.ledger.announced == origin.ledger.distinct
    assert "secret" not in (catalog.folder / "manifest.json").read_text("utf-8")  # type: ignore[operator]


@pytest.mark.slow
def test_a_fresh_snapshot_of_the_same_question_is_used_again(
    service: Client, sample_exchange: Sandbox
) -> None:
    """Of another question, too old a one, or with max_age=0, it is not."""
    first = prodex.load_products(service, name="fresh", max_age=0)
    before = len(sample_exchange.requests)

    assert first.folder == prodex.load_products(service, name="fresh").folder
    assert before == len(sample_exchange.requests)
    for options in ({"max_age": 0}, {"max_age": timedelta(microseconds=1)}):
        assert first.folder != prodex.load_products(service, name="fresh", **options).folder  # type: ignore[arg-type]
    other = prodex.load_products(service, prodex.ProductQuery(tags_in=["exportable"]), name="fresh")
    assert len(other) < len(first)


@pytest.mark.slow
def test_gtins_that_did_not_come_are_reported(service: Client) -> None:
    """Asked for by name, they are named; a long list is cut into calls."""
    known = [str(shared.record["gtin"]) for shared in shared_products(300)]
    unknown = ["99999999999987", "99999999999994"]
    catalog = prodex.load_products(
        service, prodex.ProductQuery(gtins_in=[*known, *unknown]), name="gtins", max_age=0
    )

    assert set(unknown) == set(catalog.origin.ledger.missing_gtins)
    assert set(known) == set(catalog.products["gtin"])
    assert "2 GTINs asked for did not come" in repr(catalog)


@pytest.mark.slow
def test_labels_of_codes_come_in_several_languages(service: Client, sample_exchange: Sandbox) -> None:
    """With far fewer calls than a load for each language; a selection has those of its own codes."""
    catalog = prodex.load_products(service, name="labelled", max_age=0, labels=("fr-FR", "de-DE"))
    labels = catalog.code_labels

    kinds = set(catalog.products["kind_code"].dropna())
    for language in ("fr-FR", "de-DE"):
        found = labels[(labels["attribute"] == "kind") & (labels["label_language"] == language)]
        assert kinds == set(found["code"])
    unit = labels[(labels["attribute"] == "typePackaging") & (labels["label_language"] == "de-DE")]
    assert {"Karton", "Ladepalette"} <= set(unit["label"])
    last = catalog.products["kind_code"].dropna().iloc[-1]
    of_one = catalog.where(kind_code=last).code_labels
    assert of_one.equals(labels.merge(of_one).astype(labels.dtypes))
    assert {last} == set(of_one[of_one["attribute"] == "kind"]["code"])


@pytest.mark.slow
def test_rich_content_is_loaded_alone(service: Client) -> None:
    """Pictures are there, and names were not requested, which is not the same as missing."""
    catalog = prodex.load.load_rich_content(service, name="rich", max_age=0)

    assert len(catalog.pictures) > 0
    assert [False, True] == [catalog.origin.asked("namePublicLong"), catalog.origin.asked("assets.pictures")]
    assert {"absent"} == set(catalog.presence.get("namePublicLong_state", ["absent"]))


@pytest.mark.slow
def test_parts_built_on_processes_are_those_built_on_threads(
    service: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The executor changes nothing but the time."""
    monkeypatch.setattr("prodex.store.plan.PRODUCTS_PER_PART", 80)
    threads = prodex.load_products(service, name="threads", max_age=0, page_size=50)
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        spawned = prodex.load_products(service, name="processes", max_age=0, page_size=50, executor=processes)

    assert 4 <= len(threads.parts) == len(spawned.parts)
    for table in ("products", "texts", "presence", "descriptors"):
        assert threads.arrow(table).equals(spawned.arrow(table))


@pytest.mark.slow
def test_what_the_service_does_not_give_is_told(home: Path) -> None:
    """Silent truncation is the worst bug; with allow_incomplete the catalogue says so everywhere."""
    with Sandbox(shared_products(120), faults=[Fault("drops", at=range(2, 10**6), products=1)]) as sandbox:
        client = connected(sandbox)
        with pytest.raises(IncompleteLoad, match=r"of 120 products.*allow_incomplete=True") as raised:
            prodex.load_products(client, name="short", max_age=0)
        assert not list((home / "snapshots" / "short").glob("[0-9]*"))
        before = len(sandbox.requests)
        catalog = prodex.load_products(client, name="short", max_age=0, allow_incomplete=True)
        assert before == len(sandbox.requests)  # what came the first time is what is kept
    assert raised.value.ledger == catalog.origin.ledger
    assert len(catalog) < 120
    assert not catalog.complete
    assert f"incomplete: {len(catalog)} of 120 products" in repr(prodex.open_snapshot("short"))
    assert [False] == prodex.list_snapshots("short")["complete"].tolist()


def connected(sandbox: Sandbox) -> Client:
    """Reach a sandbox as the retailer that sees all, without pauses between retries."""
    key = sandbox.credentials[0]
    return prodex.connect(
        base_url=sandbox.base_url,
        client_id=key["client_id"],
        client_secret=key["client_secret"],
        retry=RetryPolicy(attempts=6, first_wait=0.001, jitter=0, retries_per_second=1_000),
    )


@pytest.mark.slow
def test_a_full_disk_is_told_and_leaves_nothing_half_written(sample_exchange: Sandbox, home: Path) -> None:
    """Whether it fills while pages come or while tables are built; the limit stands for a disk that refuses.

    With space again, the same call goes on.
    """
    key = sample_exchange.credentials[0]
    sizes = [2_000, 60_000, 200_000]
    code = f"""
import resource, prodex
client = prodex.connect(base_url={sample_exchange.base_url!r}, client_id={key["client_id"]!r},
                        client_secret={key["client_secret"]!r})
for size in {sizes}:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        prodex.load_products(client, name=f"full-{{size}}", max_age=0, page_size=500)
    except prodex.ProdexError as error:
        print(type(error).__name__, " ".join(str(error).split()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    said = done.stdout.splitlines()
    assert len(sizes) == len(said), done.stdout + done.stderr
    for size, words in zip(sizes, said, strict=True):
        assert words.startswith("StorageError Could not write"), (size, words)
        assert "PRODEX_HOME" in words, (size, words)
        folder = home / "snapshots" / f"full-{size}"
        assert not list(folder.glob("[0-9]*")), size

        prodex.load_products(connected(sample_exchange), name=folder.name, max_age=0, page_size=500)
        assert COUNT == len(prodex.open_snapshot(folder.name)), size
        assert [] == [path.name for path in folder.glob(".*")], size


@pytest.mark.slow
def test_what_a_killed_load_left_is_cleared_away(service: Client, home: Path) -> None:
    """Nobody has to clean up by hand."""
    left = home / "snapshots" / "killed" / ".journal-99"
    left.mkdir(parents=True)
    (left / "ledger.jsonl").write_text("{")
    prodex.load_products(service, name="killed", max_age=0)

    assert not left.exists()


@pytest.mark.slow
def test_two_loads_of_one_name_exclude_each_other(service: Client, home: Path) -> None:
    """The second one gets an error, and nothing of the first one is changed."""
    folder = home / "snapshots" / "busy"
    folder.mkdir(parents=True)
    with (
        filelock.FileLock(folder / ".lock"),
        pytest.raises(SnapshotLocked, match="in use by another process"),
    ):
        prodex.load_products(service, name="busy", max_age=0)
    assert len(prodex.load_products(service, name="busy", max_age=0)) == COUNT


@given(
    st.lists(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 5)), max_size=8), max_size=8),
    st.integers(1, 12),
)
def test_the_plan_gives_each_product_once_and_the_newest(
    tmp_path_factory: pytest.TempPathFactory, pages: list[list[tuple[int, int]]], per_part: int
) -> None:
    """However often and in whatever order a product came."""
    journal = LoadJournal.begin(tmp_path_factory.mktemp("journal") / "j", {})
    newest: dict[str, tuple[int, int, int]] = {}
    for number, page in enumerate(pages):
        products = [
            {"id": i, "updatedAt": f"2026-01-0{day + 1}T00:00:00", "n": [number, n]}
            for n, (i, day) in enumerate(page)
        ]
        body = json.dumps({"totalResults": 9, "data": products}).encode()
        envelope = split(body)
        keys = [identify(product) for product in envelope.data]
        journal.add("pull/0", body, envelope, keys, received_at=datetime.now(UTC))
        for n, (i, day) in enumerate(page):
            newest[str(i)] = max(newest.get(str(i), (-1, 0, 0)), (day, number, n))
    decided = plan(journal, products_per_part=per_part)

    chosen = [
        json.loads(p)
        for part in decided.parts
        for page, indexes in part.pages
        for p in journal.products(page, indexes)
    ]
    assert {key: [place[1], place[2]] for key, place in newest.items()} == {
        str(p["id"]): p["n"] for p in chosen
    }
    assert len(newest) == len(chosen) == decided.ledger.distinct
    assert sum(map(len, pages)) == decided.ledger.received


@pytest.mark.slow
@pytest.mark.parametrize(
    "behaviour", [{"documents_key": "document"}, {"token_type_key": "type"}, {"scroll_end": "no-cursor"}]
)
def test_the_variants_of_the_contract_make_no_difference(
    behaviour: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the specification leaves open is taken as it comes."""
    monkeypatch.setattr("prodex.service.paging.SCROLL_FROM", 1)
    with Sandbox(products=shared_products(60), behaviour=Behaviour(**behaviour)) as sandbox:
        key = sandbox.credentials[0]
        client = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        catalog = prodex.load_products(client, max_age=0, page_size=20)

    documents = sum(len(s.record.get("assets", {}).get("documents") or ()) for s in shared_products(60))
    assert (60, documents) == (len(catalog), len(catalog.documents))


def test_a_product_without_gtin_is_loaded_like_others() -> None:
    """It stands in every table, with no GTIN."""
    records = [{"id": 1, "gtin": "00000000000017", "isTaggedBy": ["a"]}, {"id": 2, "isTaggedBy": ["b"]}]
    with Sandbox(products=records) as sandbox:
        key = sandbox.credentials[0]
        client = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        catalog = prodex.load_products(client, max_age=0)

    assert [("1", "filled"), ("2", "absent")] == sorted(
        (row["product_id"], row["gtin_state"]) for row in catalog.arrow("presence").to_pylist()
    )
    for table in ("products", "tags", "raw"):
        found = catalog.arrow(table).to_pylist()
        assert [("1", "00000000000017"), ("2", None)] == sorted((r["product_id"], r["gtin"]) for r in found)


@pytest.mark.slow
def test_a_snapshot_is_used_again_only_by_whom_it_was_loaded_for(sample_exchange: Sandbox) -> None:
    """What a service shows depends on who asks; and a part that was saved is not the whole."""
    one, other = (
        prodex.connect(
            base_url=sample_exchange.base_url, client_id=k["client_id"], client_secret=k["client_secret"]
        )
        for k in sample_exchange.credentials[:2]
    )
    first = prodex.load_products(one, name="mine", max_age=0)

    assert len(first) != len(prodex.load_products(other, name="mine"))
    again = prodex.load_products(one, name="mine")
    again.where(brand_code=again.products["brand_code"][0]).save("mine")
    assert len(first) == len(prodex.load_products(one, name="mine"))
    assert str(sample_exchange.credentials[0]["client_id"]) not in json.dumps(again.origin.to_json())


@each_row("max_age", [float("nan"), "1h", float("inf")])
def test_an_age_that_is_none_is_refused(service: Client, max_age: Any) -> None:
    """Before anything is fetched."""
    with pytest.raises(QueryError, match="max_age"):
        prodex.load_products(service, max_age=max_age)


@each_row("page_size", [0, 501, "5", 2.5])
def test_a_page_size_that_the_service_does_not_take_is_refused(service: Client, page_size: Any) -> None:
    """Before anything is fetched, whatever its type."""
    with pytest.raises(QueryError, match="page_size is"):
        prodex.load_products(service, max_age=0, page_size=page_size)


def test_filters_that_are_no_mapping_are_refused() -> None:
    """With what to give instead."""
    with pytest.raises(QueryError, match="extra is None"):
        prodex.ProductQuery(extra=None)  # type: ignore[arg-type]
