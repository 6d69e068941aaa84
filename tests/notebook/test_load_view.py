"""The section that loads products, against a real service and without a browser."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.catalog.load_ledger import Ledger
from prodex.errors import InputError, QueryError
from prodex.load.resume import unfinished_loads
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views import load
from prodex.notebook.views.load import asked_of, with_query
from prodex.notebook.widget import explore
from prodex.query import ProductQuery
from prodex.sandbox import Sandbox
from prodex.service import Client, RetryPolicy, pages
from prodex.store.archive import snapshots_folder
from prodex_sandbox.faults.kinds import Fault
from prodex_sandbox.sample import shared_products
from tests.cases import each_row

FRENCH = ProductQuery(target_market=250)
ONE = {"id": 7, "gtin": "03036811359935"}


@pytest.fixture(scope="module")
def small_exchange() -> Iterator[Sandbox]:
    """Serve 120 products, in pages of 50."""
    with Sandbox(shared_products(120)) as sandbox:
        yield sandbox


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is saved in a folder of the test."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the service be asked sooner after the last letter: nobody types in tests."""
    monkeypatch.setattr(load, "_PAUSE", 0.05)
    monkeypatch.setattr(load, "_NO_MATCH_PAUSE", 0.1)


@pytest.fixture
def small(small_exchange: Sandbox) -> Iterator[tuple[Sandbox, Client]]:
    """Give the small exchange without the faults of other tests, and a client that gives up at once."""
    small_exchange.requests.clear()
    key = small_exchange.credentials[0]
    access = {"client_id": key["client_id"], "client_secret": key["client_secret"]}
    yield small_exchange, prodex.connect(small_exchange.base_url, **access, retry=RetryPolicy(attempts=1))
    small_exchange.clear_faults()


def app_of(
    service: Client, query: ProductQuery | None = None, *records: dict[str, Any], alone: bool = False
) -> App:
    """Open the section over a catalogue of one product, with a query in its form; somebody looks at it."""
    session = Session(prodex.flatten(records or [ONE]), service=service, section="load")
    app = App(session if query is None else with_query(session, query), ["load"] if alone else [])
    app.view()
    app.wait()
    return app


def typed(app: App, **values: Any) -> None:
    """Type in fields of the form, one after another."""
    for field, value in values.items():
        app.act("form.set", form="load", field=field, value=value)


def words(app: App) -> str:
    """Return everything that the section shows, options left out."""
    view = app.view()
    return " ".join(_words([view["head"], view["blocks"]]))


def _words(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield from [part.strip()] if part.strip() else []
    elif isinstance(part, dict):
        for name, value in part.items():
            if name not in ("kind", "key", "look", "do", "args", "options", "tone", "to"):
                yield from _words(value)
    elif isinstance(part, list):
        for one in part:
            yield from _words(one)


def found(app: App, key: str) -> Any:
    """Return the first part of the view with a key; None if there is none."""

    def search(part: Any) -> Iterator[Any]:
        if isinstance(part, dict):
            if part.get("key") == key:
                yield part
            part = [*part.values()]
        if isinstance(part, list):
            for one in part:
                yield from search(one)

    return next(search(app.view()["blocks"]), None)


def field(app: App, name: str) -> Any:
    return found(app, name)


def matching(app: App) -> str:
    """Return what stands where the count does, once nothing is counted any more."""
    app.wait()
    return " ".join(_words(found(app, "matching")))


def press(app: App, key: str) -> None:
    """Press a button that is shown and can be pressed."""
    button = found(app, key)
    assert button is not None, key
    assert "off" not in button, button["off"]
    app.act(button["do"], **button["args"])


def test_the_section_is_there_with_a_service_only(service: Client) -> None:
    """Without one there is nothing to load from, and whoever asks for it is told what to give."""
    catalog = prodex.flatten([ONE])
    assert "load" not in {one.name for one in App(Session(catalog)).sections}
    assert "load" in {one.name for one in App(Session(catalog, service=service)).sections}
    for given in ({"show": "load"}, {"query": FRENCH}):
        with pytest.raises(InputError, match="a service"):
            explore(catalog, **given)
    assert "give explore a service" in words(App(Session(catalog, section="load"), ["load"]))


@pytest.mark.slow
@each_row(
    ("values", "query"),
    [
        ({"target_market": 250}, FRENCH),
        ({"has_packshot": "with"}, ProductQuery(has_packshot=True)),
        ({"has_packshot": "without"}, ProductQuery(has_no_packshot=True)),
        ({"updated_at_from": "2026-03-01T12:00"}, ProductQuery(updated_at_from=1_772_366_400)),
        ({"tags_in": "exportable, new"}, ProductQuery(tags_in=["exportable", "new"])),
        ({"validation_status_in": [2]}, ProductQuery(validation_status_in="ok")),
        ({"status_shared_with": 4}, ProductQuery(status_shared_with="accepted")),
        (
            {"word_0": "lait", "word_0_in": ["namePublicLong.data"]},
            ProductQuery(search=[("lait", "namePublicLong.data")]),
        ),
    ],
)
def test_what_is_typed_is_asked_and_counted(
    service: Client, values: dict[str, Any], query: ProductQuery
) -> None:
    """A change of a field is a new query, whose products are counted."""
    app = app_of(service)
    typed(app, **values)
    ledgers: list[Ledger] = []
    for _ in pages(service, query, progress=False, report=ledgers.append):
        pass
    expected = ledgers[0].distinct  # pages overlap
    assert query == asked_of(app.session).query
    assert f"{expected:,} products match" == matching(app)


def test_a_panel_begins_with_a_query_and_says_which_is_typed(service: Client) -> None:
    """What Python gives stands in the fields, also in closed folds; what is typed can be had; another replaces it."""
    query = ProductQuery(
        tags_in="exportable", gtins_in=["03036811359935"], search=[("lait", ["brand.label"])]
    )
    explored = explore(prodex.flatten([ONE]), service=service, query=query, show="load")
    app = explored.app
    assert query == explored.query
    assert "Status, sharing and tags (1 set)" == found(app, "load STATUS")["title"]
    assert "GTINs, owners, pictures, active range (1 set)" == found(app, "load MORE")["title"]
    assert ("lait", ["brand.label"]) == (field(app, "word_0")["value"], field(app, "word_0_in")["value"])
    typed(app, target_market=250, tags_in="")
    assert ProductQuery(target_market=250, gtins_in=query.gtins_in, search=[("lait", ["brand.label"])]) == (
        explored.query
    )
    explored.query = FRENCH
    assert FRENCH == explored.query
    assert ("", 250) == (field(app, "word_0")["value"], field(app, "target_market")["value"])
    assert "GTINs, owners, pictures, active range" == found(app, "load MORE")["title"]
    with pytest.raises(InputError, match=r"prodex\.ProductQuery, not str"):
        explored.query = "all"  # type: ignore[assignment]
    typed(app, owners_in="Acme")
    with pytest.raises(QueryError, match="“Acme” is no whole number"):
        _ = explored.query
    app.wait()


def test_a_period_is_one_press(small: tuple[Sandbox, Client]) -> None:
    """It fills both dates at once, keeps all other filters, and is taken back by "any time"."""
    app = app_of(small[1], FRENCH)
    assert "any time" == found(app, "periods")["value"]
    app.act("load.period", name="last month")
    query = asked_of(app.session).query
    assert query is not None
    begin, end = query.updated_at_from, query.updated_at_to
    assert begin is not None
    assert end is not None
    assert (1, 0, 0) == (begin.day, begin.hour, begin.minute)
    assert 1 == (end + timedelta(seconds=1)).day
    assert 250 == query.target_market
    assert begin.isoformat()[:16] == field(app, "updated_at_from")["value"]
    assert "last month" == found(app, "periods")["value"]
    typed(app, updated_at_from=(begin + timedelta(hours=1)).isoformat()[:16])
    assert "" == found(app, "periods")["value"]
    app.act("load.period", name="of a page of another version")
    app.act("load.period", name="any time")
    assert FRENCH == asked_of(app.session).query
    app.wait()


def test_rows_of_words_come_and_go(small: tuple[Sandbox, Client]) -> None:
    """A row is added and removed; one without a word is no filter; what another page removes twice is removed once."""
    app = app_of(small[1])
    assert found(app, "word 0") is not None
    assert "Remove" not in words(app)
    typed(app, word_0="lait")
    app.act("load.add_word")
    first = field(app, "word_0_in")["value"]
    typed(app, word_1="bio", word_1_in=["brand.label"])
    assert ["Word 1", "Word 2"] == [field(app, name)["label"] for name in ("word_0", "word_1")]
    query = asked_of(app.session).query
    assert query is not None
    assert (("lait", tuple(first)), ("bio", ("brand.label",))) == query.search
    app.act("load.remove_word", row=0)
    app.act("load.remove_word", row=0)  # pressed in a second tab as well
    assert ("Word 1", "bio") == (field(app, "word_1")["label"], field(app, "word_1")["value"])
    app.act("load.remove_word", row=1)
    assert asked_of(app.session).query == ProductQuery()
    assert ("Word 1", "", first) == (
        field(app, "word_2")["label"],
        field(app, "word_2")["value"],
        field(app, "word_2_in")["value"],
    )
    app.wait()


def test_what_is_wrong_is_said_beside_its_field(service: Client) -> None:
    """Nothing is counted or loaded until it is corrected, and it is named where the count would be."""
    app = app_of(service, ProductQuery(tags_in="exportable"))
    good = matching(app)
    app.act("fold.set", key="load STATUS", is_open=True)
    typed(app, tags_not_in="exportable")
    assert "“exportable”: also under “Tag is on”" in field(app, "tags_not_in")["error"]
    assert "error" not in field(app, "tags_in")
    assert "until this is corrected: “Tag is off”." in matching(app)
    assert "Status, sharing and tags (1 to correct)" == found(app, "load STATUS")["title"]
    assert "Correct" in found(app, "load.start")["off"]
    app.act("load.start")  # by a page that has not heard of it
    app.wait()
    assert "Nothing is loaded: correct what is marked first." in words(app)
    typed(app, tags_not_in="")
    assert "error" not in field(app, "tags_not_in")
    assert "off" not in found(app, "load.start")
    assert good == matching(app)


def test_clear_takes_away_what_cannot_be_understood_too(service: Client) -> None:
    """The button empties every field, also those with an invalid value, and keeps the name of the snapshot."""
    app = app_of(service, FRENCH)
    typed(app, extra="{", word_0="x", name="shop")
    press(app, "load.clear {}")
    assert asked_of(app.session).query == ProductQuery()
    assert "600 products match" == matching(app)
    assert ("", "shop") == (field(app, "word_0")["value"], field(app, "name")["value"])


def test_nothing_that_matches_is_explained(service: Client) -> None:
    """With no match, it is said how many there are without each filter, and Load does not invite any more."""
    french = matching(app_of(service, FRENCH)).partition(" ")[0]
    app = app_of(service, ProductQuery(target_market=250, search=[("no-such-word", ["kind.label"])]))
    assert "0 products match" == matching(app)
    assert f"With one filter less: {french} without “no-such-word”, 0 without market." in words(app)
    assert "look" not in found(app, "load.start")
    typed(app, word_0="")
    assert f"{french} products match" == matching(app)
    assert "With one filter less" not in words(app)
    assert "main" == found(app, "load.start")["look"]


def test_a_catalogue_suggests_its_markets_and_kinds(service: Client) -> None:
    """Its markets come first, fields complete its kinds, and a word without a match names kinds that are similar."""
    hostile = "Oat drink \u202e<b>"
    record = {"kind": {"code": "OAT", "label": hostile}, "product_key": {"target_market_id": 752}}
    app = app_of(service, FRENCH, {"id": 7, **record}, {"id": 8})
    options = [one["label"] for one in field(app, "target_market")["options"]]
    assert ["any market", "Sweden (752)"] == options[:2]
    assert 250 == field(app, "target_market")["value"]
    assert [hostile] == field(app, "word_0")["suggestions"]
    typed(app, word_0="drinks")
    assert "0 products match" == matching(app)
    (offered,) = (one for one in found(app, "instead")["blocks"] if one["kind"] == "button")
    # Each keeps its direction to itself: it is a text of somebody else.
    assert ["drink", hostile] == [one["text"] for one in offered["label"] if isinstance(one, dict)]
    app.act(offered["do"], **offered["args"])
    app.wait()
    assert "drink" == field(app, "word_0")["value"]
    assert found(app, "instead") is None


def test_a_long_list_of_gtins_is_counted_in_several_calls(small: tuple[Sandbox, Client]) -> None:
    """The count of 450 GTINs is the sum of three calls."""
    sandbox, service = small
    first = next(pages(service, page_size=50, progress=False))
    known = [one.filled_gtin for one in first.identities if one]
    app = app_of(service)
    sandbox.requests.clear()
    typed(app, gtins_in="\n".join([*map(str, range(1, 401)), *map(str, known)]))
    assert "50 products match (the sum of 3 calls, for 450 GTINs)" == matching(app)
    assert [1, 1, 1] == [body["limit"] for _, path, body in sandbox.requests if path.endswith("/list")]


@pytest.mark.slow
def test_a_late_answer_is_dropped(small: tuple[Sandbox, Client]) -> None:
    """A late count does not replace that of a newer query, nor the sentence about a contradiction."""
    sandbox, service = small
    app = app_of(service)
    sandbox.order(Fault("latency", at=1, seconds=1.5))
    typed(app, tags_in="exportable")
    time.sleep(0.8)  # it has been asked, and waits
    typed(app, tags_not_in="exportable")
    assert "until this is corrected" in matching(app)
    typed(app, tags_in="", tags_not_in="")
    assert "120 products match" == matching(app)


@pytest.mark.slow
def test_typing_does_not_wait_for_a_slow_service(small: tuple[Sandbox, Client]) -> None:
    """Twenty changes in a row take no time, and only the last is counted."""
    sandbox, service = small
    app = app_of(service)
    sandbox.requests.clear()
    sandbox.order(Fault("latency", seconds=1))
    began = time.monotonic()
    for length in range(1, 21):
        typed(app, tags_in="exportable-or-so-long"[:length])
    assert time.monotonic() - began < 2
    app.wait()
    asked = [body["filter_tags_in"] for _, _, body in sandbox.requests if "filter_tags_in" in body]
    assert {"exportable-or-so-lon"} == set(asked)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "said"),
    [("503", "could not be counted: POST /public/v1/products/list failed"), ("401", "rejected")],
)
def test_a_failing_service_is_told_in_words(small: tuple[Sandbox, Client], kind: str, said: str) -> None:
    """An error is shown in place of the count, is not asked for again by itself, but by a press."""
    sandbox, service = small
    sandbox.order(Fault(kind))
    app = app_of(service)
    assert said in matching(app)
    sandbox.requests.clear()
    app.view()
    app.wait()
    assert [] == [path for _, path, _ in sandbox.requests if path.endswith("/list")]
    sandbox.clear_faults()
    press(app, "load.count_again {}")
    assert "120 products match" == matching(app)


def test_load_gives_the_catalogue(small: tuple[Sandbox, Client]) -> None:
    """All sections show what was loaded, the one before is a press away, and the next load reuses the snapshot."""
    app = app_of(small[1])
    before = app.session.catalog
    typed(app, name="shop")
    app.session = app.session.replaced(selected=("7",))
    press(app, "load.start")
    app.wait()
    assert (120, True) == (len(app.session.catalog), app.session.catalog.complete)
    assert ((), "load") == (app.session.selected, app.session.section)
    said = words(app)
    assert "120 of 120 products, complete. Loaded in" in said
    assert "All sections show these products now. “ Back to 1 product ” at the top returns." in said
    assert 120 == len(prodex.open_snapshot("shop"))
    press(app, "load.start")
    app.wait()
    assert re.search(r"Reused a snapshot from [-\d :]+ UTC, \d+ s old", words(app))
    app.act("frame.back")
    app.act("frame.back")
    app.act("frame.back")
    assert before is not app.session.catalog
    typed(app, tags_in="new")  # another query, of which nothing has been loaded
    assert "Reused" not in words(app)
    app.wait()


def test_a_panel_of_its_own_speaks_of_no_others(small: tuple[Sandbox, Client]) -> None:
    """Where there are no other sections and no head, nothing is said of them."""
    app = app_of(small[1], alone=True)
    press(app, "load.start")
    app.wait()
    assert 120 == len(app.session.catalog)
    assert "All sections" not in words(app)


def test_an_empty_answer_is_a_catalogue_without_products() -> None:
    """A service without products is loaded as a catalogue without products; what was explored is one press away."""
    with Sandbox([]) as sandbox:
        key = sandbox.credentials[0]
        access = {"client_id": key["client_id"], "client_secret": key["client_secret"]}
        app = app_of(prodex.connect(base_url=sandbox.base_url, **access))
        assert "0 products match" == matching(app)
        press(app, "load.start")
        app.wait()
        assert "0 products" in " ".join(_words(found(app, "report")))
        assert "“ Back to 1 product ” at the top returns." in words(app)
        assert 0 == len(app.session.catalog)


def test_it_says_beforehand_whether_the_service_is_asked(small: tuple[Sandbox, Client]) -> None:
    """Where a snapshot would be opened instead, its age is named; never for a name that cannot be one."""
    app = app_of(small[1], FRENCH)
    typed(app, name="before")
    app.wait()
    assert found(app, "plan") is None
    press(app, "load.start")
    app.wait()
    assert found(app, "plan") is None  # the report of the load says it
    for values, is_there in (
        ({"age": 86_400}, True),
        ({"age": 0}, False),
        ({"age": 86_400, "name": "a/../b"}, False),
    ):
        typed(app, **values)
        app.wait()
        assert is_there == (found(app, "plan") is not None)
    typed(app, name="before", age="")
    typed(app, tags_in="new")
    typed(app, tags_in="")
    app.wait()
    assert "120" not in words(app)


def test_what_is_to_be_loaded_again_is_loaded_again(small: tuple[Sandbox, Client]) -> None:
    """The age that was chosen is passed on to the load."""
    sandbox, service = small
    app = app_of(service)
    press(app, "load.start")
    app.wait()
    sandbox.requests.clear()
    typed(app, age=0)
    press(app, "load.start")
    app.wait()
    assert len([path for _, path, _ in sandbox.requests if path.endswith("/list")]) > 1
    assert "Loaded in" in words(app)


def until(is_so: Callable[[], object], seconds: float = 30) -> Any:
    async def wait() -> None:
        end = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < end, "it takes too long"
            await asyncio.sleep(0.02)

    return wait()


def progress(app: App) -> str:
    """Return how far the load is; empty while none is shown."""
    return " ".join(_words(found(app, "work load")))


@pytest.mark.slow
def test_progress_is_shown_and_cancel_keeps_what_came(
    small: tuple[Sandbox, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A load shows its progress, can be cancelled, and is continued by the next one, or from the list of unfinished."""
    monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", 50)
    sandbox, service = small

    async def story() -> None:
        app = App(Session(prodex.flatten([ONE]), service=service, section="load"))
        app.view()
        typed(app, name="shop")
        await until(lambda: "120 products match" in words(app))
        sandbox.order(Fault("latency", at=3, seconds=1.5))
        press(app, "load.start")
        await until(lambda: "50 of 120 products" in progress(app))
        assert (50, 120) == tuple(found(app, "work load")[name] for name in ("done", "total"))
        assert "It is loading." == found(app, "load.start")["off"]
        app.act("load.start")  # pressed in a second tab as well
        app.act("load.resume", name="shop", began="of another page")
        assert "Other products are loading." in words(app)
        app.act("work.cancel", slot="load")
        assert "cancelling" in progress(app)
        await until(lambda: not app.is_running("load"))
        await until(lambda: found(app, "unfinished") is not None)
        said = "Cancelled after 100 of 120 products. They are kept: “Load products” continues from there."
        assert said in words(app)
        assert 1 == len(app.session.catalog)
        assert "1 load is not finished (times in UTC):" in words(app)
        assert "shop : all products" in words(app)
        app.act("load.clear")
        typed(app, tags_in="new", name="another")
        sandbox.requests.clear()
        (kept,) = unfinished_loads(snapshots_folder())
        go_on = found(app, "unfinished")["blocks"][1]["blocks"][1]
        assert "Continue this load" == go_on["label"]
        app.act(go_on["do"], **go_on["args"])
        await until(lambda: 120 == len(app.session.catalog))
        fetched = [body for _, path, body in sandbox.requests if path.endswith("/list") and body["limit"] > 1]
        assert fetched[0]["next_page"]  # the scroll goes on
        assert "shop" == field(app, "name")["value"]
        assert "and continued for" in words(app)
        await until(lambda: found(app, "unfinished") is None)
        app.act(
            "load.resume", name="shop", began=kept.began.isoformat()
        )  # by a page that has not heard of it
        assert "This load cannot be continued any more" in words(app)
        assert asked_of(app.session).query == ProductQuery()

    asyncio.run(story())


@pytest.mark.slow
def test_cancel_ends_a_load_whose_service_went_away(
    small: tuple[Sandbox, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancelled load is reported as cancelled, also if the service fails meanwhile."""
    monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", 50)
    sandbox, service = small

    async def story() -> None:
        app = App(Session(prodex.flatten([ONE]), service=service, section="load"))
        app.view()
        await until(lambda: "120 products match" in words(app))
        sandbox.order(Fault("latency", at=3, seconds=1.5), Fault("503", at=range(3, 9)))
        press(app, "load.start")
        await until(lambda: "50 of 120 products" in progress(app))
        app.act("work.cancel", slot="load")
        await until(lambda: not app.is_running("load"))
        assert "Cancelled after 50 of 120 products" in words(app)

    asyncio.run(story())


def test_loads_of_others_are_not_offered(small: tuple[Sandbox, Client]) -> None:
    """Only what the same call to this service would continue can be gone on with; and one that can be read."""
    _, service = small
    with Sandbox(shared_products(60)) as other:
        key = other.credentials[0]
        access = {"client_id": key["client_id"], "client_secret": key["client_secret"]}
        elsewhere = prodex.connect(other.base_url, **access, retry=RetryPolicy(attempts=1))
        other.order(Fault("drops", at=range(2, 10**6), products=1))
        with pytest.raises(prodex.errors.IncompleteLoad):
            prodex.load_products(elsewhere, name="theirs", progress=False)
        assert ["theirs"] == [one.name for one in unfinished_loads(snapshots_folder())]
        assert found(app_of(service), "unfinished") is None
        assert found(app_of(elsewhere), "unfinished") is not None


@pytest.mark.slow
def test_what_is_not_complete_can_be_kept(small: tuple[Sandbox, Client]) -> None:
    """A load that lacks products says so, and a button saves it as incomplete, with what is missing."""
    sandbox, service = small
    app = app_of(service)
    sandbox.order(Fault("drops", at=range(2, 10**6), products=1))
    assert found(app, "keep") is None
    press(app, "load.start")
    app.wait()
    assert 1 == len(app.session.catalog)
    assert "The load is not complete" in words(app)
    press(app, "keep")
    app.wait()
    assert not app.session.catalog.complete
    assert "incomplete. " in words(app)
    assert found(app, "problems")["rows"]
    assert found(app, "keep") is None


def test_what_became_of_a_load_is_not_taken_for_what_the_form_asks_by_now(
    small: tuple[Sandbox, Client],
) -> None:
    """Whoever changes the form meanwhile is told, and is not offered to keep half of what was never asked for."""
    sandbox, service = small
    app = app_of(service)
    said = "a load that was begun before the form was changed"
    for is_changed in (True, False):
        sandbox.clear_faults()
        app.act("load.clear")
        typed(app, name=f"shop-{is_changed}")
        app.wait()
        sandbox.order(Fault("latency", seconds=0.5, times=1), Fault("drops", at=range(2, 10**6), products=1))
        press(app, "load.start")
        if is_changed:
            typed(app, tags_in="new")
        app.wait()
        assert "The load is not complete" in words(app)
        assert is_changed == (said in words(app))
        assert is_changed == (found(app, "keep") is None)


def test_what_goes_wrong_with_a_load_is_told_in_words(small: tuple[Sandbox, Client]) -> None:
    """A name that cannot be one is told of beside it, before anything is asked; a missing service below the button."""
    sandbox, service = small
    app = app_of(service)
    typed(app, name="a/b")
    sandbox.requests.clear()
    press(app, "load.start")
    app.wait()
    assert "cannot be the name of a snapshot" in field(app, "name")["error"]
    assert [] == sandbox.requests
    sandbox.order(Fault("503"))
    typed(app, name="shop")
    assert "error" not in field(app, "name")
    press(app, "load.start")
    app.wait()
    assert "failed" in " ".join(_words(found(app, "report")))
    assert "off" not in found(app, "load.start")


def test_owners_can_be_chosen_by_name(small: tuple[Sandbox, Client]) -> None:
    """Opening the fold lists the owners of the service, and a name adds its number once."""
    sandbox, service = small
    app = app_of(service)
    assert not [path for _, path, _ in sandbox.requests if "organization" in path]
    app.act("fold.set", key="load MORE", is_open=True)
    app.wait()
    chooser = field(app, "owners_in_choice")
    none, first, *_ = chooser["options"]
    assert ("", "select …") == (none["value"], none["label"])
    typed(app, owners_in="7, ")
    for _ in range(2):
        app.act(chooser["do"], **chooser["args"], value=first["value"])
    assert f"7, {first['value']}" == field(app, "owners_in")["value"]
    assert first["label"]["text"] in field(app, "owners_in")["hint"]["text"]
    query = asked_of(app.session).query
    assert query is not None
    assert (7, first["value"]) == query.owners_in
    app.wait()


def test_owners_go_by_number_where_nobody_lists_names(small: tuple[Sandbox, Client]) -> None:
    """A service without a list of owners is reported, and numbers still work."""
    sandbox, service = small
    sandbox.order(Fault("500", endpoint="organizations"))
    app = app_of(service)
    app.act("fold.set", key="load MORE", is_open=True)
    app.wait()
    assert "Names of owners could not be loaded" in field(app, "owners_in")["hint"]
    typed(app, owners_in="11")
    assert asked_of(app.session).query == ProductQuery(owners_in=[11])
    app.wait()


def test_the_code_that_is_shown_makes_the_same_query(service: Client) -> None:
    """The Python code runs, and the JSON is the body of the request; closed folds hold neither."""
    query = ProductQuery(
        updated_at_from=datetime(2026, 3, 1, 12, tzinfo=UTC),
        validation_status_in="ok",
        search=[("<img src=x onerror=alert(1)> $5", ["brand.label"])],
        extra={"x": {"y": [1, None]}},
    )
    app = app_of(service, query)
    typed(app, name="shop")
    assert found(app, "python") is None
    for key in ("load python", "load wire"):
        app.act("fold.set", key=key, is_open=True)
    code, wire = (found(app, key)["text"] for key in ("python", "wire"))
    namespace: dict[str, Any] = {}
    exec(code.replace("px.connect()", "None").split("catalog =")[0], namespace)
    assert query == namespace["query"]
    assert "px.load_products(service, query, name='shop')" in code
    assert query.to_body() == json.loads(wire)
    typed(app, tags_in="new")
    assert "tags_in=('new',)" in found(app, "python")["text"]
    app.wait()


def test_no_secret_is_in_a_view(small: tuple[Sandbox, Client]) -> None:
    """Neither a view nor a repr has the secret or a token, whatever is open; the service is named."""
    sandbox, service = small
    app = app_of(service)
    for key in ("load python", "load wire", "load MORE", "load EXPERT"):
        app.act("fold.set", key=key, is_open=True)
    press(app, "load.start")
    app.wait()
    state = json.dumps(app.view()) + repr(app) + repr(app.session)
    assert f"Load products from {service.base_url.partition('://')[2]}" in state
    assert sandbox.credentials[0]["client_secret"] not in state
    assert "eyJ" not in state


def test_a_press_is_quick_with_forty_thousand_gtins(service: Client) -> None:
    """What is typed in one field does not have the others read again."""
    app = app_of(service)
    typed(app, gtins_in="\n".join(f"{number:014d}" for number in range(1, 40_001)))
    app.view()
    began = time.monotonic()
    app.act("fold.set", key="load EXPERT", is_open=True)
    app.view()
    assert time.monotonic() - began < 0.5
    app.act("load.clear")
    app.wait()
