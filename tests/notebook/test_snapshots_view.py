"""The section Snapshots without a browser: what it lists, opens, verifies and draws, and says of damage."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.errors import ServiceError
from prodex.files.atomic import discard
from prodex.notebook.app import App
from prodex.notebook.session.readings import KeptReading, Readings, last_read
from prodex.notebook.session.session import Session
from prodex.notebook.views.saved_snapshots import SnapshotEntry, snapshot_entries, snapshots_to_compare
from prodex.notebook.views.trend import read_trend
from prodex.sandbox import Fault, Sandbox
from prodex.store.archive import snapshots_folder
from prodex.store.journal import LoadJournal
from tests.cases import each_row
from tests.load.exchange import TOTAL, connected, records

PROFILE = {"checks": {"valid_gtin": {"severity": "blocker"}}}


def record(number: int, gtin: str = "03036811359935", name: str = "Milk") -> dict[str, object]:
    french = {"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}, "data": name}
    brand = {"code": f"B{number % 2}", "label": "Ace"}
    return {"id": number, "gtin": gtin, "brand": brand, "namePublicLong": [french]}


@pytest.fixture
def shop() -> tuple[prodex.Catalog, prodex.Catalog]:
    """Keep two snapshots of a shop, both audited: one GTIN was mended, one name changed, one product came, one went."""
    old = prodex.flatten([record(1, "1"), record(2), record(3)]).save("shop")
    new = prodex.flatten([record(1), record(2, name="=1+1"), record(4)]).save("shop")
    for catalog in (old, new):
        prodex.audit(catalog, PROFILE, progress=False).save()
    prodex.flatten([record(9)]).save("other")
    return old, new


def app_of(catalog: prodex.Catalog | None = None) -> App:
    """Return a panel whose section Snapshots is open, and has read everything."""
    app = App(Session(prodex.flatten([]) if catalog is None else catalog, section="snapshots"))
    app.view()
    app.wait()
    return app


def blocks(shown: Any) -> Iterator[dict[str, Any]]:
    """Yield all blocks of a view, also those in others."""
    for one in shown:
        yield one
        yield from blocks([*one.get("blocks", []), *one.get("buttons", [])])


def block(app: App, key: str) -> dict[str, Any]:
    view = app.view()
    return next((one for one in blocks([*view["head"], *view["blocks"]]) if one["key"] == key), {})


def texts(shown: Any) -> Iterator[str]:
    """Yield what a view says, in its order."""
    if isinstance(shown, str):
        yield shown
    elif isinstance(shown, dict):
        for name, value in shown.items():
            if name not in {"kind", "key", "do", "args", "look", "tone", "name", "align"}:
                yield from texts(value)
    elif isinstance(shown, list):
        for value in shown:
            yield from texts(value)


def words(app: App, key: str = "") -> str:
    """Return what the section says, or one of its blocks."""
    shown = block(app, key) if key else app.view()
    return re.sub(r"\s+", " ", " ".join(texts(shown)))


def column(app: App, title: str) -> list[str]:
    """Return the texts of a column of the list."""
    table = block(app, "snapshots")
    place = [one["title"] for one in table["columns"]].index(title)
    return [" ".join(texts(row["cells"][place])) for row in table["rows"]]


def chosen(app: App, folder: Path | None) -> None:
    """Press the row of a snapshot."""
    row = next(one for one in block(app, "snapshots")["rows"] if one["args"]["folder"] == str(folder))
    app.act(row["do"], **row["args"])
    app.wait()


def refresh(app: App) -> None:
    app.act("snapshots.refresh")
    app.wait()


def test_snapshots_are_listed_the_newest_first(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """Each with its products, its size and whether it is complete; the one that is explored is selected."""
    app = app_of(shop[1])
    assert ["other", "shop", "shop"] == column(app, "Name")
    assert ["1", "3", "3"] == column(app, "Products")
    assert {"complete"} == set(column(app, "State"))
    created = column(app, "Created (UTC)")[1:]
    assert sorted(created, reverse=True) == created
    assert [False, True, False] == [row["selected"] for row in block(app, "snapshots")["rows"]]
    assert "Selected: shop, " in words(app, "selected")


@pytest.mark.slow
def test_what_is_chosen_is_opened_and_looked_at(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """All sections look at it, the catalogue before can be gone back to, and only what is listed is opened."""
    app = app_of()
    before = app.session.catalog
    assert not words(app, "selected")
    chosen(app, shop[0].folder)
    assert shop[0].folder == app.session.catalog.folder
    assert "Selected" in words(app, "selected")
    opened = app.session.catalog
    chosen(app, shop[0].folder)
    assert opened is app.session.catalog, "it is open already"
    app.act("snapshots.open", folder="/etc")
    app.wait()
    assert opened is app.session.catalog
    assert "not in the list" in words(app, "notice")
    app.act("frame.back")
    assert before is app.session.catalog


@pytest.mark.slow
def test_a_refreshed_list_shows_what_came_since(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """What was chosen stays chosen, wherever it stands now; what another section has opened is listed by itself."""
    app = app_of()
    chosen(app, shop[1].folder)
    before = app.session.catalog
    third = shop[1].save("third")
    refresh(app)
    assert "third" == column(app, "Name")[0]
    assert [False, False, True, False] == [row["selected"] for row in block(app, "snapshots")["rows"]]
    assert before is app.session.catalog
    fourth = third.save("fourth")
    app.change(lambda session: session.looking_at(fourth))
    app.wait()
    assert "fourth" == column(app, "Name")[0]
    assert "Selected: fourth" in words(app, "selected")


def test_the_line_that_is_said_of_an_interrupted_load_does_what_it_says() -> None:
    """A load that ended after some pages becomes a snapshot of the products that came, and is listed no longer."""
    with Sandbox(records()) as sandbox:
        sandbox.order(Fault("404", at=range(5, 10**6)))
        with pytest.raises(ServiceError):
            prodex.load_products(connected(sandbox), name="cut", page_size=20, progress=False)
    app = app_of()
    (line,) = re.findall(r"prodex\.recover\(.*?\)", words(app))
    recovered = eval(line, {"prodex": prodex})
    assert 0 < len(recovered) < TOTAL
    assert not recovered.complete
    refresh(app)
    assert "not finished" not in words(app)
    assert ["incomplete"] == column(app, "State")


@pytest.mark.slow
def test_loads_that_were_cut_short_are_listed(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """With what continues them; what is no load, or cannot be read, is not called one; nothing is changed on disk."""
    now = datetime.now(UTC)
    asked = {"asked": shop[0].origin.to_json(), "began": (now - timedelta(hours=1)).isoformat()}
    journals = {
        "shop/.journal-1": asked,
        "old/.journal-1": {**asked, "began": (now - timedelta(days=3)).isoformat()},
        "refreshed/.journal-1": {**asked, "snapshot": "shop"},
        "files/.journal-1": {"files": []},
        "odd/.journal-1": {**asked, "began": 7},
        "odd/.journal-2": {**asked, "began": "2026-11-25T08:00:00"},
    }
    folder = snapshots_folder()
    for name, question in journals.items():
        LoadJournal.begin(folder / name, question)
    (folder / "shop" / ".journal-cut").mkdir()
    before = sorted(folder.rglob("*"))

    app = app_of()
    said = words(app)
    assert "2 loads are not finished (times in UTC): shop, begun" in said
    how = r"prodex.recover\('shop', allow_incomplete=True\)"
    assert re.search(rf"shop, begun \S+ \S+: the same load continues it until \S+ \S+; {how}", said)
    assert re.search(
        r"old, begun \S+ \S+: prodex.recover\('old', allow_incomplete=True\) makes a snapshot", said
    )
    assert before == sorted(folder.rglob("*"))
    app.act("section.open", name="products")
    discard(folder / "old" / ".journal-1")  # a load was cancelled
    app.act("section.open", name="snapshots")
    app.wait()
    assert "1 load is not finished" in words(app)


def test_no_snapshot_is_a_sentence(home: Path) -> None:
    """Where there is none, the section says how to make one, and offers nothing that needs one."""
    app = app_of()
    said = words(app, "none")
    assert "No snapshots in" in said
    assert str(home) in said
    assert "catalog.save('shop')" in said
    assert {} == block(app, "compare")
    assert {} == block(app, "charts")


@pytest.mark.slow
def test_damage_is_said(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """A changed file is named, a manifest that cannot be read too, and the section goes on."""
    old, new = (catalog.folder for catalog in shop)
    assert old is not None and new is not None  # noqa: PT018
    app = app_of()

    def verify() -> str:
        button = next(one for one in blocks(app.view()["blocks"]) if one.get("do") == "snapshots.verify")
        app.act(button["do"], **button["args"])
        app.wait()
        return words(app, "verified")

    chosen(app, old)
    assert "are intact" in verify()
    (old / "products" / "part-00000.parquet").write_bytes(b"no")
    said = verify()
    assert re.search(r"1 of \d+ files of shop.* is damaged", said)
    assert "products/part-00000.parquet" in said
    (new / "manifest.json").write_text("{", "utf-8")
    refresh(app)
    assert "cannot be read" in column(app, "State")
    chosen(app, new)
    assert "cannot be read" in words(app, "notice")
    assert old == app.session.catalog.folder
    offered = [one["value"] for one in block(app, "compare")["fields"][0]["options"]]
    assert str(new) not in offered
    assert str(old) in offered


@pytest.mark.slow
def test_the_trend_is_that_of_the_name(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """Counts come from the list, grades from the audits that were saved, both drawn and also as a table."""
    trend = read_trend("shop", snapshot_entries())
    assert [3, 3] == trend.products.tolist()
    assert trend.grades is not None
    assert [2, 3] == trend.grades["grade_A"].tolist()
    assert read_trend("other", snapshot_entries()).grades is None
    app = app_of(shop[1])
    charts = {
        one["kind"]: one for one in blocks(app.view()["blocks"]) if one["key"] == "chart" and "title" in one
    }
    assert {"steps", "stacks"} == set(charts)
    points = charts["steps"]["points"]
    assert [0.0, 1.0] == [one["x"] for one in points]
    assert ["3", "3"] == [one["words"] for one in points]
    assert [["A 67 %", "", "", "", "E 33 %"], ["A 100 %", "", "", "", ""]] == [
        [part["words"] for part in row["parts"]] for row in charts["stacks"]["rows"]
    ]
    assert "100 % of 3 products have grade A or B" in words(app)
    for key in ("trend products", "trend grades"):
        app.act("fold.set", key=key, is_open=True)
        table = block(app, key)["blocks"][0]
        assert ("table", 2) == (table["kind"], len(table["rows"]))
    json.dumps(app.view(), allow_nan=False)


@pytest.mark.slow
def test_a_trend_of_one_point_is_a_sentence() -> None:
    """One snapshot and one audit are no chart, and a name without any audit says how to come by one."""
    catalog = prodex.flatten([record(1), record(2)]).save("alone")
    app = app_of(catalog)
    assert "2 products in the only snapshot, made 20" in words(app)
    assert "No audit of these snapshots is saved" in words(app)
    prodex.audit(catalog, PROFILE, progress=False).save()
    app = app_of(catalog)
    assert "100 % of 2 products have grade A or B in the only comparable audit, by profile" in words(app)
    assert not [one for one in blocks(app.view()["blocks"]) if one["kind"] in {"steps", "stacks"}]


@pytest.mark.slow
def test_a_trend_belongs_to_the_name_that_is_shown(shop: tuple[prodex.Catalog, prodex.Catalog]) -> None:
    """While the trend of another name is read, that of the one before is not shown under its title."""
    app = app_of(shop[1])
    assert "3 products in the newest of 2 snapshots" in words(app, "charts")
    other = next(one for one in snapshot_entries() if one.name == "other")
    chosen(app, Path(other.folder))
    assert "1 product in the only snapshot" in words(app, "charts")
    assert last_read(app.session, "snapshots.trend").value is not None
    again = {"snapshots.trend": KeptReading(value=read_trend("shop", snapshot_entries()))}
    app.change(lambda session: session.with_part(Readings({**session.part(Readings).last, **again})))
    assert "3 products" not in words(app, "charts")


def made(*times: str, name: str = "shop") -> list[SnapshotEntry]:
    """Return snapshots made at these times of November 2026, newest first."""
    days = [(f"2026-11-{time[:2]}T{time[3:] or '050000'}.000000Z") for time in times]
    return [SnapshotEntry(name, day, f"/{name}/{day}", 9, 9, True, "") for day in days]


def offered(kept: list[SnapshotEntry], newest: int = 0) -> list[tuple[str, str]]:
    return [(label, one.time[8:13]) for label, one in snapshots_to_compare(kept, kept[newest])]


@each_row(
    ("times", "expected"),
    [
        # The 16th is a Monday. A snapshot of that day is the one that the week began with.
        (["19", "18", "16", "15"], [("Since 18 November", "18T05"), ("Since Monday (16 November)", "16T05")]),
        # Without one, the last before it.
        (["19", "18", "15"], [("Since 18 November", "18T05"), ("Since Monday (15 November)", "15T05")]),
        # On a Monday, the Monday before.
        (["16", "13", "09"], [("Since 13 November", "13T05"), ("Since Monday (9 November)", "09T05")]),
        # Two of one day are told apart by their time.
        (["19 120000", "19 080000"], [("Since 08:00", "19T08")]),
        (["19"], []),
    ],
)
def test_days_are_counted_from_the_newest_snapshot(times: list[str], expected: list[tuple[str, str]]) -> None:
    """The words say which snapshot is meant, and each is offered once."""
    assert expected == offered(made(*times))


def test_a_month_ago_is_the_last_snapshot_of_that_time() -> None:
    """Of several in between none is taken."""
    kept = made("30", "29", "20")
    month = SnapshotEntry("shop", "2026-10-28T050000.000000Z", "/month", 9, 9, True, "")
    labels = [label for label, _ in snapshots_to_compare([*kept, month], kept[0])]
    assert "Since a month ago (28 October)" == labels[-1]


def test_snapshots_of_other_names_and_later_ones_are_not_offered() -> None:
    """A shop is compared with itself, and with its past."""
    kept = made("19", "18", "17")
    assert [("Since 17 November", "17T05")] == offered([*kept, *made("16", name="other")], newest=1)


def test_a_folder_with_a_name_of_its_own_is_left_alone() -> None:
    """Somebody renamed it, and nobody knows when it was made."""
    kept = [SnapshotEntry("shop", "mine", "/mine", 9, 9, True, ""), *made("18")]
    assert [] == snapshots_to_compare(kept, kept[0])
