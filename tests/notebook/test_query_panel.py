"""The panel that says what to load, against a real service and without a browser."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import ipywidgets as w
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.catalog.ledger import Ledger
from prodex.errors import QueryError
from prodex.notebook.query import options
from prodex.notebook.query.fields import FIELDS, FieldGroup, asked
from prodex.notebook.query.options import Suggestions
from prodex.notebook.query.panel import QueryPanel
from prodex.query import ProductQuery
from prodex.sandbox import Sandbox
from prodex.service import Client, RetryPolicy, pages
from prodex_sandbox.faults.kinds import Fault
from prodex_sandbox.sample import shared_products
from tests.cases import each_row

FRENCH = ProductQuery(target_market=250)
_EARLY = datetime(1970, 3, 1)  # noqa: DTZ001 - Hypothesis adds the zone


@pytest.fixture(scope="module")
def small_exchange() -> Iterator[Sandbox]:
    """Serve 120 products, in pages of 50."""
    with Sandbox(shared_products(120)) as sandbox:
        yield sandbox


def client(sandbox: Sandbox, **options: Any) -> Client:
    """Reach an exchange as the retailer that sees all, and give up at once."""
    key = sandbox.credentials[0]
    retry = RetryPolicy(attempts=1)
    return prodex.connect(
        sandbox.base_url,
        client_id=key["client_id"],
        client_secret=key["client_secret"],
        retry=retry,
        **options,
    )


@pytest.fixture
def small(small_exchange: Sandbox) -> Iterator[tuple[Sandbox, Client]]:
    """Give the small exchange without the faults of other tests."""
    small_exchange.requests.clear()
    yield small_exchange, client(small_exchange)
    small_exchange.clear_faults()


def counted(panel: QueryPanel) -> int | None:
    panel.wait()
    return panel.count


def until(is_so: Callable[[], object], seconds: float = 30) -> Any:
    async def wait() -> None:
        end = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < end, "it takes too long"
            await asyncio.sleep(0.02)

    return wait()


@pytest.mark.slow
@each_row(
    ("name", "value", "query"),
    [
        ("target_market", 250, FRENCH),
        ("has_packshot", "with", ProductQuery(has_packshot=True)),
        ("has_no_packshot", "without", ProductQuery(has_no_packshot=True)),
        ("updated_at_from", datetime(2026, 3, 1, 12), ProductQuery(updated_at_from=1_772_366_400)),  # noqa: DTZ001
        ("tags_in", "exportable, new", ProductQuery(tags_in=["exportable", "new"])),
        ("validation_status_in", (2,), ProductQuery(validation_status_in="ok")),
        ("status_shared_with", 4, ProductQuery(status_shared_with="accepted")),
        (
            "search",
            (("lait", ("namePublicLong.data",)),),
            ProductQuery(search=[("lait", "namePublicLong.data")]),
        ),
    ],
)
def test_what_a_control_says_is_asked_and_counted(
    service: Client, name: str, value: Any, query: ProductQuery
) -> None:
    """A change of a control is a new query, whose products are counted."""
    panel = QueryPanel(service)
    panel.control(name).value = value
    ledgers: list[Ledger] = []
    for _ in pages(service, query, progress=False, report=ledgers.append):
        pass
    expected = ledgers[0].distinct  # pages overlap
    assert (query, expected) == (panel.query, counted(panel))
    assert f"{expected:,} products match" in panel.matching.value


@pytest.mark.slow
def test_an_assigned_query_fills_the_controls(service: Client) -> None:
    """An assigned query is shown in all controls, also in closed folds, and replaces the former one."""
    panel = QueryPanel(service, ProductQuery(tags_in="exportable", gtins_in=["03036811359935"]))
    assert "exportable" == panel.control("tags_in").value
    assert panel.folds[FieldGroup.STATUS].title.endswith("(1 set)")
    assert panel.folds[FieldGroup.MORE].title.endswith("(1 set)")
    panel.query = FRENCH
    assert ("", "", 250) == (
        panel.control("tags_in").value,
        panel.control("gtins_in").value,
        panel.control("target_market").value,
    )
    assert "France (250)" == panel.control("target_market").list.label
    assert panel.folds[FieldGroup.MORE].title == FieldGroup.MORE.value
    assert "with or without" == panel.control("has_packshot").list.label
    assert "reuse it for an hour" == panel.loading.age_field.list.label
    assert counted(panel)


def test_a_period_is_one_press(small: tuple[Sandbox, Client]) -> None:
    """It fills both dates at once, keeps all other filters, and is taken back by "any time"."""
    panel = QueryPanel(small[1], FRENCH)
    panel.periods.buttons["last month"].value = True
    begin, end = panel.query.updated_at_from, panel.query.updated_at_to
    assert begin is not None
    assert end is not None
    assert (1, 0, 0) == (begin.day, begin.hour, begin.minute)
    assert 1 == (end + timedelta(seconds=1)).day
    assert begin.month == end.month
    assert 250 == panel.query.target_market
    assert begin.replace(tzinfo=None) == panel.control("updated_at_from").value
    assert ["last month"] == [label for label, one in panel.periods.buttons.items() if one.value]
    panel.periods.buttons["last month"].value = False  # a press on the one that is chosen changes nothing
    assert panel.periods.buttons["last month"].value
    panel.control("updated_at_from").value = begin.replace(tzinfo=None) + timedelta(hours=1)
    assert not any(one.value for one in panel.periods.buttons.values())
    panel.periods.buttons["any time"].value = True
    assert FRENCH == panel.query
    panel.wait()


def test_nothing_that_matches_is_explained(service: Client) -> None:
    """With no match, it is said how many there are without each filter, and Load does not invite any more."""
    panel = QueryPanel(service, ProductQuery(target_market=250, search=[("no-such-word", ["kind.label"])]))
    assert 0 == counted(panel)
    french = counted(QueryPanel(service, FRENCH))
    said = panel.no_match.sentence.value
    assert f"With one filter less: {french:,} without “no-such-word”, 0 without market." in said
    assert "primary" not in panel.loading.load_button._dom_classes
    panel.query = FRENCH
    assert "" == panel.no_match.sentence.value
    assert counted(panel)
    assert "primary" in panel.loading.load_button._dom_classes


def test_a_catalogue_suggests_its_markets_and_kinds(service: Client) -> None:
    """Its markets come first, fields complete its kinds, and a word without a match names kinds that are similar."""
    drink = {"kind": {"code": "OAT", "label": "Oat drink"}, "product_key": {"target_market_id": 752}}
    panel = QueryPanel(service, FRENCH, known=prodex.flatten([{"id": 7, **drink}, {"id": 8}]))
    panel.wait()
    assert ("any market", "Sweden (752)") == tuple(panel.control("target_market").list._options_labels[:2])
    assert FRENCH == panel.query
    assert 250 == panel.control("target_market").value
    (line,) = panel.control("search").rows
    assert ("Oat drink",) == line.text.options
    line.text.value = "drinks"
    panel.wait()
    (offered,) = [one for one in panel.no_match.words if one.layout.display != "none"]
    assert "\u2068drink\u2069 (\u2068Oat drink\u2069)" == offered.description
    offered.click()
    panel.wait()
    assert "drink" == line.text.value
    assert (("drink", line.fields.value),) == panel.query.search
    assert all(one.layout.display == "none" for one in panel.no_match.words)
    panel.control("search").add.click()
    assert ("Oat drink",) == panel.control("search").rows[1].text.options


@each_row("code", ["9" * 5_000, "²", "FR", "", "-1"])
def test_a_market_that_is_no_number_is_not_suggested(code: str) -> None:
    """A service may send any text as a market: the others are suggested all the same."""
    keys = [{"target_market_id": one} for one in (code, "250")]
    found = Suggestions.of(prodex.flatten([{"id": n, "product_key": key} for n, key in enumerate(keys)]))
    assert (250,) == found.markets


def test_it_says_beforehand_whether_the_service_is_asked(small: tuple[Sandbox, Client]) -> None:
    """Where a snapshot would be opened instead, its age is named; never for a name that cannot be one."""
    panel = QueryPanel(small[1], FRENCH, name="before")
    panel.wait()
    assert "" == panel.loading.plan.value
    panel.loading.load_button.click()
    panel.wait()
    assert "" == panel.loading.plan.value
    panel.loading.age_field.value = 86_400
    panel.wait()
    assert "without asking the service again" in panel.loading.plan.value
    panel.loading.age_field.value = 0
    panel.wait()
    assert "" == panel.loading.plan.value
    panel.loading.age_field.value = 86_400
    panel.loading.name_field.value = "a/../b"
    panel.wait()
    assert "" == panel.loading.plan.value


def test_the_service_is_named(service: Client) -> None:
    """The heading names where products are loaded from, without a secret."""
    panel = QueryPanel(service)
    host = service.base_url.partition("://")[2]
    assert any(
        f"Load products from {host}" in str(one.value) for one in panel.children if isinstance(one, w.HTML)
    )
    panel.wait()


@given(st.datetimes(timezones=st.just(UTC), min_value=_EARLY))
def test_periods_begin_and_end_where_their_words_say(now: datetime) -> None:
    """On every day of the calendar, the last of a month and of February included."""
    found = {label: limits for label, *limits in options.periods(now)}
    today, month = found["today"][0], found["last month"]
    assert today is not None
    assert today <= now < today + timedelta(days=1)
    assert month[0] is not None
    assert month[1] is not None
    assert month[1] + timedelta(seconds=1) == today.replace(day=1)
    assert 28 <= (month[1] - month[0]).days + 1 <= 31
    assert 1 == month[0].day


def test_a_contradiction_is_told_and_the_last_good_query_stays(service: Client) -> None:
    """Contradicting filters are neither counted nor loaded until one is taken back."""
    panel = QueryPanel(service, ProductQuery(tags_in="exportable"))
    good = counted(panel)
    panel.control("tags_not_in").value = "exportable"
    assert "tags_in and tags_not_in both hold" in panel.matching.value
    assert (ProductQuery(tags_in="exportable"), None) == (panel.query, counted(panel))
    assert panel.loading.load_button.disabled
    panel.control("tags_not_in").value = ""
    assert good == counted(panel)
    assert not panel.loading.load_button.disabled


def test_clear_takes_away_what_cannot_be_understood_too(service: Client) -> None:
    """The button empties every control, also those with an invalid value."""
    panel = QueryPanel(service)
    panel.control("extra").value = "{"
    assert panel.loading.load_button.disabled
    panel.clear_button.click()
    assert ("", ProductQuery(), 600) == (panel.control("extra").value, panel.query, counted(panel))


def test_the_last_good_query_can_be_assigned_again(service: Client) -> None:
    """Assigning the last valid query fills controls that contradict each other."""
    panel = QueryPanel(service, FRENCH)
    panel.control("tags_in").value = panel.control("tags_not_in").value = "new"
    assert panel.loading.load_button.disabled
    good = panel.query
    panel.query = good
    assert (good, "") == (panel.query, panel.control("tags_not_in").value)
    assert not panel.loading.load_button.disabled
    assert counted(panel) is not None


def test_a_long_list_of_gtins_is_counted_in_several_calls(small: tuple[Sandbox, Client]) -> None:
    """The count of 450 GTINs is the sum of three calls."""
    sandbox, service = small
    first = next(pages(service, page_size=50, progress=False))
    known = [one.filled_gtin for one in first.identities if one]
    panel = QueryPanel(service)
    panel.wait()
    sandbox.requests.clear()
    panel.control("gtins_in").value = "\n".join([*map(str, range(1, 401)), *map(str, known)])
    assert 50 == counted(panel)
    assert "50 products match (the sum of 3 calls, for 450 GTINs)" in panel.matching.value
    assert [1, 1, 1] == [body["limit"] for _, path, body in sandbox.requests if path.endswith("/list")]


@pytest.mark.slow
def test_a_late_answer_is_dropped(small: tuple[Sandbox, Client]) -> None:
    """A late count does not replace that of a newer query."""
    sandbox, service = small
    panel = QueryPanel(service)
    every = counted(panel)
    seen: list[int] = []
    panel.observe(lambda change: seen.append(change["new"]), "count")
    sandbox.order(Fault("latency", at=1, seconds=1.5))
    panel.control("has_packshot").value = "with"
    time.sleep(0.8)  # it has been asked, and waits
    panel.control("has_packshot").value = "without"
    without = counted(panel)
    assert 0 < without < every  # type: ignore[operator]
    assert [None, without] == seen


@pytest.mark.slow
def test_an_answer_to_what_was_taken_back_is_dropped(small: tuple[Sandbox, Client]) -> None:
    """While filters contradict each other, no count appears."""
    sandbox, service = small
    panel = QueryPanel(service)
    panel.wait()
    sandbox.order(Fault("latency", at=1, seconds=1.5))
    panel.control("tags_in").value = "exportable"
    time.sleep(0.8)  # it has been asked, and waits
    panel.control("tags_not_in").value = "exportable"
    assert counted(panel) is None
    assert "tags_in and tags_not_in both hold" in panel.matching.value


@pytest.mark.slow
def test_typing_does_not_wait_for_a_slow_service(small: tuple[Sandbox, Client]) -> None:
    """Twenty changes in a row take no time, and only the last is counted."""
    sandbox, service = small
    panel = QueryPanel(service)
    panel.wait()
    sandbox.requests.clear()
    sandbox.order(Fault("latency", seconds=1))
    began = time.monotonic()
    for length in range(1, 21):
        panel.control("tags_in").value = "exportable-or-so-long"[:length]
    assert time.monotonic() - began < 2
    panel.wait()
    assert 1 == sum("filter_tags_in" in body for _, _, body in sandbox.requests)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "words"),
    [("503", "could not be counted: POST /public/v1/products/list failed"), ("401", "rejected")],
)
def test_a_failing_service_is_told_in_words(small: tuple[Sandbox, Client], kind: str, words: str) -> None:
    """An error is shown in place of the count, and the next change counts again."""
    sandbox, service = small
    sandbox.order(Fault(kind))
    panel = QueryPanel(service)
    assert counted(panel) is None
    assert words in panel.matching.value
    sandbox.clear_faults()
    panel.control("target_market").value = 250
    assert counted(panel) is not None


@pytest.mark.slow
def test_load_gives_the_catalogue(small: tuple[Sandbox, Client]) -> None:
    """Load returns the products that were counted, and the next load reuses the snapshot."""
    _, service = small
    panel = QueryPanel(service, name="shop")
    panel.loading.load_button.click()
    panel.wait()
    assert panel.catalog is not None
    assert (120, True) == (len(panel.catalog), panel.catalog.complete)
    assert "120 of 120 products" in panel.loading.message
    assert len(prodex.open_snapshot("shop")) == 120
    panel.loading.load_button.click()
    panel.wait()
    assert re.search(r"Reused a snapshot from [-\d :]+ UTC, \d+ s old", panel.loading.message)


@pytest.mark.slow
def test_always_fetch_fetches_again(small: tuple[Sandbox, Client]) -> None:
    """The selected age is passed on to the load."""
    sandbox, service = small
    panel = QueryPanel(service, name="shop")
    panel.loading.load_button.click()
    panel.wait()
    sandbox.requests.clear()
    panel.loading.age_field.value = 0
    panel.loading.load_button.click()
    panel.wait()
    assert len([path for _, path, _ in sandbox.requests if path.endswith("/list")]) > 3
    assert "Loaded in" in panel.loading.message


@pytest.mark.slow
def test_progress_is_shown_and_cancel_keeps_what_came(
    small: tuple[Sandbox, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A load shows its progress, can be cancelled, and is continued by the next one."""
    monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", 50)
    sandbox, service = small

    async def story() -> None:
        panel = QueryPanel(service, name="shop")
        box = panel.loading
        await until(lambda: panel.count == 120)
        sandbox.order(Fault("latency", at=3, seconds=1.5))
        box.load_button.click()
        await until(lambda: "50 of 120 products" in box._work.shown.value)
        assert "max='120' value='50'" in box._work.shown.value
        assert panel.control("tags_in").disabled
        assert panel.control("search").rows[0].text.disabled
        box.cancel_button.click()
        assert "cancelling" in box._work.shown.value
        await until(lambda: not box.is_loading)
        assert (
            "Cancelled after 100 of 120 products. They are kept: “Load products” continues from there."
            in box.message
        )
        assert panel.catalog is None
        assert not panel.control("tags_in").disabled
        sandbox.requests.clear()
        box.load_button.click()
        await until(lambda: panel.catalog is not None)
        assert 120 == len(panel.catalog)  # type: ignore[arg-type]
        fetched = [body for _, path, body in sandbox.requests if path.endswith("/list") and body["limit"] > 1]
        assert fetched[0]["next_page"]  # the scroll goes on
        assert "and continued for" in box.message
        panel.control("tags_in").value = "new"  # another query, of which nothing has been loaded
        assert "" == box.message

    asyncio.run(story())


@pytest.mark.slow
def test_what_is_not_complete_can_be_kept(small: tuple[Sandbox, Client]) -> None:
    """A load that lacks products says so, and a button saves it as incomplete."""
    sandbox, service = small
    panel = QueryPanel(service, name="shop")
    panel.wait()
    sandbox.order(Fault("drops", at=range(2, 10**6), products=1))
    assert "none" == panel.loading.keep_button.layout.display
    panel.loading.load_button.click()
    panel.wait()
    assert panel.catalog is None
    assert "The load is not complete" in panel.loading.message
    assert "" == panel.loading.keep_button.layout.display
    panel.loading.keep_button.click()
    panel.wait()
    assert panel.catalog is not None
    assert not panel.catalog.complete
    assert "incomplete" in panel.loading.message
    assert "none" == panel.loading.keep_button.layout.display


def test_what_goes_wrong_with_a_load_is_told_in_words(small: tuple[Sandbox, Client]) -> None:
    """An invalid name and a missing service are reported."""
    sandbox, service = small
    panel = QueryPanel(service, name="a/b")
    panel.loading.load_button.click()
    panel.wait()
    assert "cannot be the name of a snapshot" in panel.loading.message
    sandbox.order(Fault("503"))
    panel.loading.name_field.value = "shop"
    panel.loading.load_button.click()
    panel.wait()
    assert "failed" in panel.loading.message
    assert not panel.loading.is_loading


@pytest.mark.slow
@pytest.mark.parametrize("trait", ["query", "count", "catalog"])
def test_an_observer_that_fails_is_told_of_and_breaks_nothing(
    small: tuple[Sandbox, Client], trait: str
) -> None:
    """An observer that raises is reported, and the panel still counts and loads."""
    _, service = small
    panel = QueryPanel(service, name="shop")
    panel.wait()

    def fail(_: object) -> None:
        raise LookupError("of my own")

    panel.observe(fail, trait)
    panel.control("target_market").value = 250
    told = [panel.message]
    panel.wait()
    told.append(panel.message)
    panel.loading.load_button.click()
    panel.wait()
    told.append(panel.message)
    assert any("LookupError: of my own" in said for said in told)
    assert panel.count is not None
    assert panel.catalog is not None
    assert panel.count == len(panel.catalog)


@pytest.mark.slow
def test_cancel_ends_a_load_whose_service_went_away(
    small: tuple[Sandbox, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancelled load is reported as cancelled, also if the service fails meanwhile."""
    monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", 50)
    sandbox, service = small

    async def story() -> None:
        panel = QueryPanel(service, name="shop")
        box = panel.loading
        await until(lambda: panel.count == 120)
        sandbox.order(Fault("latency", at=3, seconds=1.5), Fault("503", at=range(3, 9)))
        box.load_button.click()
        await until(lambda: "50 of 120 products" in box._work.shown.value)
        box.cancel_button.click()
        await until(lambda: not box.is_loading)
        assert "Cancelled after 50 of 120 products" in box.message

    asyncio.run(story())


def test_owners_can_be_chosen_by_name(small: tuple[Sandbox, Client]) -> None:
    """Opening the fold lists the owners of the service, and a name adds its number."""
    sandbox, service = small
    panel = QueryPanel(service)
    panel.wait()
    assert not [path for _, path, _ in sandbox.requests if "organization" in path]
    panel.folds[FieldGroup.MORE].is_open = True
    panel.wait()
    owners = panel.control("owners_in")
    assert "select …" == owners._names.list.label
    name, number = owners._names.list.options[1]
    owners._names.value = number
    assert str(number) == owners.value
    assert (number,) == panel.query.owners_in
    assert name.partition(" (")[0] in owners._note_line.value
    assert counted(panel) is not None


def test_owners_go_by_number_where_nobody_lists_names(small: tuple[Sandbox, Client]) -> None:
    """A service without a list of owners is reported, and numbers still work."""
    sandbox, service = small
    sandbox.order(Fault("500", endpoint="organizations"))
    panel = QueryPanel(service)
    panel.folds[FieldGroup.MORE].is_open = True
    panel.wait()
    owners = panel.control("owners_in")
    assert "Names of owners could not be loaded" in owners._note_line.value
    owners.value = "11"
    assert (11,) == panel.query.owners_in
    panel.wait()


def test_names_of_owners_are_shown_as_they_were_typed(small: tuple[Sandbox, Client]) -> None:
    """The name of an organisation is text in the list, and escaped in the note."""
    _, service = small
    panel = QueryPanel(service)
    hostile = "<img src=x onerror=alert(1)> $5 or $6"
    panel._listed(pd.DataFrame({"id": [11], "name": [hostile]}))
    owners = panel.control("owners_in")
    owners.value = "11"
    assert (f"{hostile} (11)", 11) == owners._names.list.options[1]
    assert "&lt;img" in owners._note_line.value
    assert "<img" not in owners._note_line.value
    panel.wait()


def test_the_code_that_is_shown_makes_the_same_query(service: Client) -> None:
    """The Python code runs, and the JSON is the body of the request."""
    query = ProductQuery(
        updated_at_from=datetime(2026, 3, 1, 12, tzinfo=UTC),
        validation_status_in="ok",
        search=[("<img src=x onerror=alert(1)> $5", ["brand.label"])],
        extra={"x": {"y": [1, None]}},
    )
    panel = QueryPanel(service, query, name="shop")
    assert "" == panel.code.python.value
    panel.code.python_fold.is_open = panel.code.wire_fold.is_open = True
    assert "<img" not in panel.code.python.value + panel.code.wire.value
    code, wire = (_text_of(one.value) for one in (panel.code.python, panel.code.wire))
    namespace: dict[str, Any] = {}
    exec(code.replace("px.connect()", "None").split("catalog =")[0], namespace)
    assert query == namespace["query"]
    assert "px.load_products(service, query, name='shop')" in code
    assert query.to_body() == json.loads(wire)
    panel.control("tags_in").value = "new"
    assert "tags_in=(&#x27;new&#x27;,)" in panel.code.python.value
    panel.wait()


def _text_of(markup: str) -> str:
    from html import unescape

    return unescape(markup.partition(">")[2].rpartition("<")[0])


@pytest.mark.slow
def test_no_secret_is_in_a_panel(small: tuple[Sandbox, Client]) -> None:
    """Neither the repr of a panel nor the state in the browser has the secret or a token."""
    sandbox, service = small
    panel = QueryPanel(service)
    panel.code.python_fold.is_open = panel.code.wire_fold.is_open = True
    panel.loading.load_button.click()
    panel.wait()
    state = repr(panel) + json.dumps(w.Widget.get_manager_state(), default=str)
    assert panel.model_id in state
    assert sandbox.credentials[0]["client_secret"] not in state
    assert "eyJ" not in state


def test_an_unknown_keyword_is_refused(service: Client) -> None:
    """What a panel does not know is a TypeError, not an option that is ignored."""
    with pytest.raises(TypeError, match="market"):
        QueryPanel(service, market=250)  # type: ignore[call-arg]


@pytest.mark.slow
def test_many_gtins_are_read_while_somebody_types(service: Client) -> None:
    """40,000 GTINs do not hold up the panel; nothing is asked before the typing ends."""
    panel = QueryPanel(service)
    panel.wait()
    text = "\n".join(f"{number:014d}" for number in range(1, 40_001))
    began = time.monotonic()
    panel._is_filling = True
    panel.control("gtins_in").value = text
    panel._is_filling = False
    query = asked([control.value for control in panel.controls])
    assert time.monotonic() - began < 5
    assert 40_000 == len(query.gtins_in)


@pytest.mark.slow
@given(st.data())
def test_whatever_is_typed_is_a_query_or_an_error_of_ours(data: st.DataObject) -> None:
    """No text in a control breaks the panel: it can be asked for, or is refused in words."""
    values = []
    for field in FIELDS:
        empty = field.shown(ProductQuery())
        values.append(data.draw(st.text(max_size=12) | st.just(empty)) if empty == "" else empty)
    choices = {"target_market", "has_packshot", "status_shared_from", "status_shared_with", "active_range"}
    values = [
        "" if choices & set(field.names) else value for field, value in zip(FIELDS, values, strict=True)
    ]
    with contextlib.suppress(QueryError):
        query = asked(values)
        assert query == ProductQuery.from_body(query.to_body())
