"""Refresh: what changed is fetched and merged; the result is what a full load would be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import prodex
from prodex.errors import (
    IncompleteLoad,
    ProdexError,
    QueryError,
    ServiceError,
    SnapshotDamaged,
    SnapshotNotFound,
)
from prodex.files import parquet
from prodex.sandbox import Behaviour, Fault, Sandbox
from prodex.store.snapshot import SNAPSHOTS
from prodex.tables.declaration import TABLES
from tests.cases import each_row
from tests.load.exchange import TOTAL, asked, connected, contents, loaded, named, paged, records, renamed
from tests.load.strange import connected as reach
from tests.stranger import Stranger, products

KNOWN = records()
NEW = renamed({**KNOWN[0], "id": 900, "gtin": "00000000009000"}, "neu")


@pytest.fixture
def exchange() -> Iterator[Sandbox]:
    """Serve the catalogue."""
    with Sandbox(records()) as sandbox:
        yield sandbox


def refreshed(sandbox: Sandbox, **options: Any) -> prodex.Catalog:
    """Refresh the snapshot."""
    return prodex.refresh("shop", connected(sandbox), **options)


def in_order(catalog: prodex.Catalog) -> dict[str, list[str]]:
    """Return the rows of all tables about products, in an order of their own."""
    tables = [name for name, table in TABLES.items() if table.per_product]
    return {
        name: sorted(json.dumps(row, sort_keys=True, default=str) for row in catalog.arrow(name).to_pylist())
        for name in tables
    }


@pytest.mark.slow
def test_what_was_added_changed_and_removed_is_in_it(exchange: Sandbox) -> None:
    """Every table equals that of a full load."""
    loaded(exchange, "offset")
    exchange.change([renamed(KNOWN[5], "autre"), NEW])
    exchange.remove([KNOWN[7], KNOWN[60]])
    catalog = refreshed(exchange)
    whole = loaded(exchange, "offset", name="whole")

    assert (True, True) == (catalog.complete, whole.complete)
    assert ("autre", "neu") == (named(catalog)[6], named(catalog)[900])
    assert not {8, 61} & named(catalog).keys()
    assert in_order(whole) == in_order(catalog)


@pytest.mark.slow
@pytest.mark.parametrize(("sweep", "calls"), [(False, 3), (None, 5)])
def test_nothing_changed_costs_few_calls_and_no_file(
    exchange: Sandbox, sweep: bool | None, calls: int
) -> None:
    """One asks how much changed, one for it, one how much there is, two list all keys; every file is linked."""
    with Sandbox(records()) as sandbox:
        sandbox.change([{**KNOWN[0], "updatedAt": "2020-01-01T00:00:00"}], moves_updated_at=False)
        old = loaded(sandbox, "offset")
        begin = len(sandbox.requests)
        new = refreshed(sandbox, sweep=sweep)

        assert calls == len(asked(sandbox, begin))
    assert old.folder != new.folder
    assert named(old) == named(new)
    assert inodes(old) == inodes(new)


@pytest.mark.slow
def test_of_a_snapshot_of_somebody_else_the_records_alone_are_taken(exchange: Sandbox) -> None:
    """Its tables may say other things than its records; links would carry them into our own snapshots."""
    folder = loaded(exchange, "offset").folder
    assert folder is not None
    path = folder / "texts" / "part-00000.parquet"
    table = parquet.read(path)
    forged = pa.array(["forged"] * len(table), pa.string())
    parquet.write(table.set_column(table.schema.get_field_index("text"), "text", forged), path)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["parts"][0]["files"]["texts"] = dict(parquet.facts_of(path))
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert {"forged"} == set(prodex.open_snapshot("shop").texts["text"])

    new = refreshed(exchange)

    assert in_order(loaded(exchange, "offset", name="whole")) == in_order(new)
    assert new.folder is not None
    assert (False, True) == (SNAPSHOTS.is_own(folder), SNAPSHOTS.is_own(new.folder))
    again = refreshed(exchange)
    assert inodes(new) == inodes(again)


def inodes(catalog: prodex.Catalog) -> dict[str, int]:
    """Return the inode of each file of a snapshot, by table and part."""
    assert catalog.folder is not None
    return {
        str(path.relative_to(catalog.folder)): path.stat().st_ino
        for path in catalog.folder.rglob("*.parquet")
    }


@pytest.mark.slow
@pytest.mark.parametrize("skew", [-7200, -300, 300, 7200])
def test_clocks_that_differ_cost_no_change(skew: float) -> None:
    """The service's clock is the watermark, in whichever direction it is off."""
    with Sandbox(records(), behaviour=Behaviour(clock_skew=skew)) as sandbox:
        loaded(sandbox, "offset")
        sandbox.change([renamed(KNOWN[5], "autre"), NEW])
        catalog = refreshed(sandbox)
    assert ("autre", "neu", True) == (named(catalog)[6], named(catalog)[900], catalog.complete)


def test_a_service_without_a_clock_is_asked_from_longer_ago(exchange: Sandbox) -> None:
    """Our clock has to do, and may be ahead of the service's by minutes."""
    with Sandbox(records(), behaviour=Behaviour(clock_skew=-300)) as sandbox:
        folder = loaded(sandbox, "offset").folder
        assert folder is not None
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        manifest["origin"]["server_time"] = None
        (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        sandbox.change([renamed(KNOWN[5], "autre")])
        assert "autre" == named(refreshed(sandbox))[6]


def test_two_changes_of_one_second_are_told_apart(exchange: Sandbox) -> None:
    """The second has the same updatedAt as what is held; only the whole record shows it."""
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}"
    exchange.change([{**renamed(KNOWN[5], "first"), "updatedAt": now}], moves_updated_at=False)
    loaded(exchange, "offset")
    exchange.change([{**renamed(KNOWN[5], "second"), "updatedAt": now}], moves_updated_at=False)
    assert "second" == named(refreshed(exchange))[6]
    assert "second" == named(refreshed(exchange))[6]


@pytest.mark.slow
def test_a_time_of_update_that_goes_back_is_no_reason_to_keep_what_is_old(exchange: Sandbox) -> None:
    """It has no zone: an hour repeats itself in autumn."""
    now = datetime.now(UTC)
    written = [f"{now + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%S}" for minutes in (50, 5)]
    exchange.change([{**renamed(KNOWN[5], "first"), "updatedAt": written[0]}], moves_updated_at=False)
    loaded(exchange, "offset")
    exchange.change([{**renamed(KNOWN[5], "second"), "updatedAt": written[1]}], moves_updated_at=False)
    assert "second" == named(refreshed(exchange))[6]


@pytest.mark.slow
def test_as_many_gone_as_came_unseen_is_found_by_a_sweep(exchange: Sandbox) -> None:
    """Without one the numbers agree, and what has gone stays, as `refresh` says."""
    loaded(exchange, "offset")
    exchange.change([{**NEW, "updatedAt": "2020-01-01T00:00:00"}], moves_updated_at=False)
    exchange.remove([KNOWN[5]])
    assert list(range(1, TOTAL + 1)) == contents(refreshed(exchange, sweep=False))
    catalog = refreshed(exchange)
    assert (True, TOTAL) == (catalog.complete, len(catalog))
    assert (6 in named(catalog), 900 in named(catalog)) == (False, True)


def test_as_many_removed_as_added_is_found_without_one(exchange: Sandbox) -> None:
    """What was added is among what changed, so that the numbers do not agree."""
    loaded(exchange, "offset")
    exchange.change([NEW])
    exchange.remove([KNOWN[5]])
    catalog = refreshed(exchange)
    assert (True, [n for n in range(1, TOTAL + 1) if n != 6] + [900]) == (catalog.complete, contents(catalog))


@pytest.mark.slow
def test_parts_without_a_change_are_linked(exchange: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """One product changed: the files of the other parts are those of the old snapshot."""
    monkeypatch.setattr("prodex.store.plan.PRODUCTS_PER_PART", 30)
    old = loaded(exchange, "offset")
    exchange.change([renamed(KNOWN[50], "autre")])
    new = refreshed(exchange)
    before, after = inodes(old), inodes(new)
    (changed,) = {path.name for path in map(Path, after) if before.get(str(path)) != after[str(path)]}
    assert len({Path(path).name for path in after}) > 2
    assert f"raw/{changed}" in after
    assert "autre" == named(new)[51]
    assert "produit 50" == named(prodex.open_snapshot(old.folder))[51]


@pytest.mark.slow
def test_very_many_changes_are_cut_into_windows(exchange: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Like a load."""
    loaded(exchange, "offset")
    paged("windows", monkeypatch)
    now = datetime.now(UTC)
    times = [f"{now + timedelta(minutes=number):%Y-%m-%dT%H:%M:%S}" for number in range(TOTAL)]
    exchange.change(
        ({**renamed(one, "autre"), "updatedAt": time} for one, time in zip(KNOWN, times, strict=True)),
        moves_updated_at=False,
    )
    begin = len(exchange.requests)
    catalog = refreshed(exchange)
    assert any("updated_at_to" in body for body in asked(exchange, begin))
    assert (True, {"autre"}, TOTAL) == (catalog.complete, set(named(catalog).values()), len(catalog))


def test_rich_content_is_refreshed(exchange: Sandbox) -> None:
    """With what was asked for, and nothing else."""
    prodex.load.load_rich_content(connected(exchange), name="shop")
    exchange.change([{**KNOWN[5], "assets": {"pictures": [{"url": "https://example.com/1.jpg"}]}}])
    catalog = refreshed(exchange)
    assert ["6"] == catalog.pictures["product_id"].tolist()
    assert not len(catalog.texts)


def test_a_sweep_finds_what_changed_unseen(exchange: Sandbox) -> None:
    """A change that the service dates before the last load is not among what changed since; its date tells."""
    loaded(exchange, "offset")
    dated = f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:%M:%S}"
    exchange.change([{**renamed(KNOWN[50], "autre"), "updatedAt": dated}], moves_updated_at=False)
    assert "produit 50" == named(refreshed(exchange, sweep=False))[51]
    assert "autre" == named(refreshed(exchange))[51]


def test_what_a_sweep_cannot_fetch_is_told(exchange: Sandbox) -> None:
    """The listing names a newer state of a product that has no GTIN to ask for it by."""
    nameless = {key: value for key, value in KNOWN[50].items() if key != "gtin"}
    exchange.change([nameless], moves_updated_at=False)
    loaded(exchange, "offset")
    dated = f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:%M:%S}"
    exchange.change([{**renamed(nameless, "autre"), "updatedAt": dated}], moves_updated_at=False)
    with pytest.raises(IncompleteLoad, match="product 51"):
        refreshed(exchange, sweep=True)


@pytest.mark.parametrize("moment", ["2020-01-01T00:00:00", "1999-12-31T23:59:59"])
def test_a_product_that_was_put_back_is_found_by_its_earlier_date(exchange: Sandbox, moment: str) -> None:
    """The list of all keys has another date than the snapshot; that it is no later one does not matter."""
    loaded(exchange, "offset")
    exchange.change([{**renamed(KNOWN[50], "autre"), "updatedAt": moment}], moves_updated_at=False)
    catalog = refreshed(exchange)
    assert (True, "autre") == (catalog.complete, named(catalog)[51])


def test_an_earlier_state_that_cannot_be_fetched_is_told(exchange: Sandbox) -> None:
    """The listing names a product in a state that is not held, and it has no GTIN to ask for it by."""
    nameless = {key: value for key, value in KNOWN[50].items() if key != "gtin"}
    exchange.change([nameless], moves_updated_at=False)
    loaded(exchange, "offset")
    before = {**renamed(nameless, "autre"), "updatedAt": "2020-01-01T00:00:00"}
    exchange.change([before], moves_updated_at=False)
    with pytest.raises(IncompleteLoad, match=r"product 51.*in another state, and has no GTIN"):
        refreshed(exchange)


@pytest.mark.slow
def test_an_incomplete_snapshot_is_mended(exchange: Sandbox) -> None:
    """Although the numbers agree by chance: what is missing and what has gone are found."""
    exchange.order(Fault("drops", at=3), Fault("garbage", at=range(9, 10**9)))
    old = loaded(exchange, "offset", allow_incomplete=True)
    exchange.clear_faults()
    assert not old.complete
    (missing,) = set(range(1, TOTAL + 1)) - named(old).keys() or (None,)
    gone = next(one for one in KNOWN if one["id"] in named(old))
    exchange.remove([gone])
    catalog = refreshed(exchange)
    assert catalog.complete
    assert sorted(one["id"] for one in KNOWN if one is not gone) == contents(catalog)
    assert missing in named(catalog)


@pytest.mark.slow
def test_a_refresh_that_was_incomplete_is_not_taken_up_again(exchange: Sandbox) -> None:
    """Like a load: the same call asks the service anew, once it is well."""
    loaded(exchange, "offset")
    exchange.change([NEW])
    exchange.order(Fault("drops", at=range(2, 10**9)))
    with pytest.raises(IncompleteLoad):
        refreshed(exchange)
    exchange.clear_faults()
    catalog = refreshed(exchange)
    assert (True, [*range(1, TOTAL + 1), 900]) == (catalog.complete, contents(catalog))


@pytest.mark.slow
def test_products_that_change_meanwhile_are_in_it(exchange: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changed, added or removed at any call of the refresh."""
    monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", 5)
    loaded(exchange, "offset")
    exchange.change(renamed(one, "autre") for one in KNOWN[:12])
    for call in range(1, 8):
        fresh = {**NEW, "id": 900 + call, "gtin": f"{9000 + call:014d}"}
        exchange.at_call(
            call, lambda call=call, fresh=fresh: exchange.change([renamed(KNOWN[call], "neu"), fresh])
        )
    exchange.at_call(3, lambda: exchange.remove([KNOWN[20], KNOWN[11]]))
    catalog = refreshed(exchange)
    exchange.clear_faults()
    catalog = refreshed(exchange)
    expected = [n for n in range(1, TOTAL + 1) if n not in {21, 12}] + [901, 902, 903, 904, 905, 906, 907]
    assert (True, expected) == (catalog.complete, contents(catalog))
    assert {"neu"} == {named(catalog)[number + 1] for number in range(1, 8)}


def test_another_question_is_refused_in_words(exchange: Sandbox) -> None:
    """A selection, records, another service or key, an earlier snapshot, none at all."""
    old = loaded(exchange, "offset")
    assert old.folder is not None
    with pytest.raises(QueryError, match="another access key"):
        prodex.refresh("shop", connected(exchange, 1))
    with pytest.raises(QueryError, match="is an earlier snapshot"):
        prodex.refresh(f"shop@{old.folder.name}", connected(exchange))
    with pytest.raises(SnapshotNotFound, match="No snapshot 'nothing'"):
        prodex.refresh("nothing", connected(exchange))
    old.where(product_id="7").save("one")
    with pytest.raises(QueryError, match=f"saved with 1 of {TOTAL} products"):
        prodex.refresh("one", connected(exchange))
    prodex.flatten([{"id": 7}]).save("own")
    with pytest.raises(QueryError, match="'own' comes from records"):
        prodex.refresh("own", connected(exchange))
    with Sandbox(records()) as other, pytest.raises(QueryError, match="does not know what changed in it"):
        refreshed(other)
    assert old.folder == prodex.open_snapshot("shop").folder


@pytest.mark.slow
def test_labels_of_new_codes_come_in_the_languages_of_the_snapshot() -> None:
    """Those that were there stay."""
    from prodex_sandbox.sample import shared_products

    sample = list(shared_products(120))
    with Sandbox(sample[:40]) as sandbox:
        old = loaded(sandbox, "offset", labels=["fr-FR"])
        sandbox.change(sample[40:])
        new = refreshed(sandbox)
        whole = loaded(sandbox, "offset", labels=["fr-FR"], name="whole")
    labels = [
        {tuple(row.values())[:3] for row in catalog.arrow("code_labels").to_pylist()}
        for catalog in (old, new, whole)
    ]
    assert labels[0] < labels[1]
    assert labels[2] == labels[1]


def test_labels_that_did_not_come_are_told_and_asked_for_again() -> None:
    """The service answers a list of GTINs with two products; all products came, and most labels did not."""
    kinds = [
        {**one, "kind": {"code": f"K{number}", "label": f"kind {number}"}}
        for number, one in enumerate(products(40))
    ]
    with Stranger(kinds, {"gtins_cut": 2}) as stranger:
        client = reach(stranger)
        old = prodex.load_products(client, name="shop", labels=["fr-FR"], progress=False)
        stranger.switches = type(stranger.switches)({})
        new = prodex.refresh("shop", client, progress=False)
    (note,) = (note for note in old.origin.ledger.notes if "labels" in note)
    assert re.match(r"labels in fr-FR did not come for \d+ codes: of 40 products .*, 38 did not come", note)
    assert not any("labels" in note for note in new.origin.ledger.notes)
    found = [{row["code"] for row in one.arrow("code_labels").to_pylist()} for one in (old, new)]
    every = {f"K{number}" for number in range(40)}
    assert (38, every) == (len(every - found[0]), every & found[1])


@pytest.mark.slow
def test_a_query_of_gtins_is_refreshed(exchange: Sandbox) -> None:
    """What is missing stays missing by name, what comes is no longer."""
    query = prodex.ProductQuery(gtins_in=[*range(1, 60), 9000, 9001])
    old = loaded(exchange, "offset", query=query)
    assert ("00000000009000", "00000000009001") == old.origin.ledger.missing_gtins
    exchange.change([NEW, renamed(KNOWN[5], "autre"), renamed(KNOWN[80], "not asked for")])
    new = refreshed(exchange)
    assert ("00000000009001",) == new.origin.ledger.missing_gtins
    assert [*range(2, 61), 900] == contents(new)
    assert "autre" == named(new)[6]
    exchange.remove([KNOWN[5]])
    gone = refreshed(exchange)
    assert ("00000000000005", "00000000009001") == tuple(sorted(gone.origin.ledger.missing_gtins))


@pytest.mark.slow
@pytest.mark.parametrize(("first", "last"), [(None, 100), (500, 100), (500, None), (None, -1), (0, None)])
def test_a_query_with_bounds_of_its_own_is_refreshed(
    exchange: Sandbox, first: int | None, last: int | None
) -> None:
    """In days ago. What was updated since is in it or has left it, as the query says."""
    now = datetime.now(UTC)
    query = prodex.ProductQuery(
        updated_at_from=None if first is None else now - timedelta(days=first),
        updated_at_to=None if last is None else now - timedelta(days=last),
    )
    loaded(exchange, "offset", query=query)
    exchange.change([renamed(KNOWN[20], "autre"), NEW])
    new = refreshed(exchange)
    whole = loaded(exchange, "offset", query=query, name="whole")
    assert new.complete
    assert named(whole) == named(new)


@pytest.mark.slow
@pytest.mark.parametrize("without", ["all", "some", "null"])
def test_products_without_a_time_of_update_are_kept(without: str) -> None:
    """Absent or null, on some or on all; that they changed cannot be seen, that they came or went can."""
    known = records()
    for one in known if without == "all" else known[::9]:
        if without == "null":
            one["updatedAt"] = None
        else:
            del one["updatedAt"]
    with Sandbox(known) as sandbox:
        loaded(sandbox, "offset")
        sandbox.change([renamed(known[1], "autre")])
        fresh = {key: value for key, value in NEW.items() if key != "updatedAt"}
        sandbox.change([fresh], moves_updated_at=False)
        sandbox.remove([known[0]])
        catalog = refreshed(sandbox, sweep=True)
    assert (True, [*range(2, TOTAL + 1), 900]) == (catalog.complete, contents(catalog))
    assert "autre" == named(catalog)[2]


@pytest.mark.slow
def test_an_interrupted_refresh_goes_on(exchange: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """No page comes twice."""
    monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", 5)
    loaded(exchange, "offset")
    exchange.change(renamed(one, "autre") for one in KNOWN[:30])
    begin = len(exchange.requests)
    exchange.order(Fault("500", at=4, times=6))
    with pytest.raises(ServiceError):
        refreshed(exchange)
    exchange.clear_faults()
    catalog = refreshed(exchange)
    bodies = [json.dumps(body, sort_keys=True) for body in asked(exchange, begin) if body.get("next_page")]
    assert 6 == len(bodies) - len(set(bodies))
    assert {"autre"} == {named(catalog)[number] for number in range(1, 31)}


@pytest.mark.slow
def test_one_percent_costs_at_most_five_percent_of_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """By scroll, with pages of ten products, as many as a large catalogue has pages of 500."""
    monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", 10)
    monkeypatch.setattr("prodex.service.paging.SCROLL_FROM", 1_000)
    old = [{**one, "updatedAt": "2020-01-01T00:00:00"} for one in records(2_000)]
    with Sandbox(old) as sandbox:
        loaded(sandbox, "scroll", page_size=10)
        whole = len(asked(sandbox))
        sandbox.change(renamed(one, "autre") for one in old[::100])
        begin = len(sandbox.requests)
        catalog = refreshed(sandbox)
        assert len(asked(sandbox, begin)) <= 0.05 * whole
    assert 20 == sum(name == "autre" for name in named(catalog).values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["500", "truncated", "lost-cursor", "drops", "repeats"])
def test_a_fault_at_any_call_of_a_refresh_costs_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once or for good; then it is an error of ours, after which the same call goes on."""
    monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", 5)
    with Sandbox(records(40)) as exchange:
        _strike_each_call_of_a_refresh(exchange, kind)


def _strike_each_call_of_a_refresh(exchange: Sandbox, kind: str) -> None:
    loaded(exchange, "offset")
    expected = set(range(1, 41))
    # One of them for good at each call; how a fault ends that lasts does not depend on its kind.
    lasting = {"drops": (1, 2, 4, 5), "truncated": (2,)}.get(kind, ())
    # A call that is cut off is tried again as one that fails is: at one of them.
    for call in (2,) if kind == "truncated" else (1, 2, 4, 5):
        for at in (call, range(call, 10**9)) if call in lasting else (call,):
            fresh = {**NEW, "id": 900 + call, "gtin": f"{9000 + call:014d}"}
            exchange.change([*(renamed(one, f"autre {call} {at}") for one in KNOWN[:8]), fresh])
            expected.add(900 + call)
            exchange.order(Fault(kind, at=at))
            try:
                catalog = refreshed(exchange)
            except ProdexError:
                exchange.clear_faults()
                catalog = refreshed(exchange)
            exchange.clear_faults()
            assert (True, sorted(expected)) == (catalog.complete, contents(catalog)), f"{kind} at {at}"
            assert {f"autre {call} {at}"} == {named(catalog)[number] for number in range(1, 9)}


@pytest.mark.slow
@each_row("table", ["products", "texts", "presence", "raw"])
def test_a_refresh_carries_no_damage_on(table: str) -> None:
    """It builds what is damaged again from the records; where these are damaged, it says which products they are of."""
    with Sandbox(products=records(12)) as sandbox:
        old = loaded(sandbox, "offset")
        expected = contents(old)
        path = old.files(table)[0]
        content = bytearray(path.read_bytes())
        content[len(content) // 3] ^= 16
        path.write_bytes(content)

        if table == "raw":
            with pytest.raises(SnapshotDamaged, match=r"12 products .* fetched again") as raised:
                prodex.refresh("shop", connected(sandbox))
            assert {f"{number:014d}" for number in range(12)} == set(raised.value.products)
            assert 1 == len(prodex.list_snapshots("shop"))
            return
        new = prodex.refresh("shop", connected(sandbox))

    assert expected == contents(new)
    assert bool(prodex.verify("shop")["ok"].all())
    assert all(name.startswith("produit") for name in new.texts["text"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("minutes", "lag", "is_found"),
    [
        (1, None, True),
        (14, None, True),
        (40, None, False),
        (40, timedelta(hours=1), True),
        (40, 3_000, True),
        (14, timedelta(0), False),
        (60 * 24 * 365, timedelta(days=366), True),
        (60 * 24 * 365, timedelta(days=10**6), True),
    ],
)
def test_a_change_that_is_shown_late_is_found_within_the_lag(
    minutes: float, lag: timedelta | float | None, is_found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is dated before the last load and shown after it, and no listing of all keys is made of so many products."""
    monkeypatch.setattr("prodex.service.paging.SCROLL_FROM", TOTAL // 2)
    now = datetime.now(UTC)
    recent = {**KNOWN[9], "updatedAt": f"{now:%Y-%m-%dT%H:%M:%S}"}
    late = {**renamed(KNOWN[5], "late"), "updatedAt": f"{now - timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%S}"}
    with Sandbox([*KNOWN[:9], recent, *KNOWN[10:]]) as sandbox:
        loaded(sandbox, "scroll")
        sandbox.change([late], moves_updated_at=False)
        catalog = refreshed(sandbox, windows=0, **({} if lag is None else {"lag": lag}))
        assert (True, is_found) == (catalog.complete, "late" == named(catalog)[6])
        assert "late" == named(refreshed(sandbox, sweep=True))[6]


@pytest.mark.slow
@each_row("lag", [-1, timedelta(seconds=-1), "5 minutes", float("nan"), float("inf"), [60]])
def test_a_lag_that_is_no_time_is_refused(exchange: Sandbox, lag: object) -> None:
    """With the value, before anything is requested."""
    loaded(exchange, "offset")
    begin = len(exchange.requests)
    with pytest.raises(QueryError, match=r"lag is .*Give a timedelta, or a number of seconds"):
        refreshed(exchange, lag=lag)
    assert begin == len(exchange.requests)
