"""Faults on order, each seen over plain HTTP; and what a service does wrong all the time."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest
import requests
from small_exchange import MILL, SHOP, Caller
from tests.cases import each_row
from writer import Writer

from prodex.sandbox import FAULTS, Behaviour, Fault, Sandbox, ScrollEnd
from prodex_sandbox.command import main
from prodex_sandbox.faults.kinds import ENDPOINTS

SIZE = 12
LIMIT = 3
#: 2026-01-01T00:00:00Z; product n was updated n seconds later.
START = 1_767_225_600


def records(size: int = SIZE) -> list[dict[str, Any]]:
    return [
        {"id": number, "gtin": f"{number:014d}", "updatedAt": f"2026-01-01T00:00:{number:02d}"}
        for number in range(size)
    ]


@contextmanager
def exchange(behaviour: Behaviour | None = None, *faults: Fault, size: int = SIZE) -> Iterator[Sandbox]:
    """Serve products whose ids are 0, 1, 2 and so on."""
    with Sandbox(
        records(size), organizations=[SHOP, MILL], labels={}, behaviour=behaviour, faults=faults
    ) as sandbox:
        yield sandbox


@contextmanager
def caller_at(sandbox: Sandbox) -> Iterator[Caller]:
    caller = Caller(sandbox.base_url).log_in()
    with caller.session:
        yield caller


@pytest.fixture(scope="module")
def shared() -> Iterator[Sandbox]:
    """Serve one exchange to all tests that only order faults."""
    with exchange() as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(shared: Sandbox) -> Iterator[Sandbox]:
    """Take back what a test has ordered."""
    yield shared
    shared.clear_faults()


@pytest.fixture
def caller(sandbox: Sandbox) -> Iterator[Caller]:
    with caller_at(sandbox) as caller:
        yield caller


def ids(reply: requests.Response) -> list[int]:
    assert 200 == reply.status_code, reply.text
    return [product["id"] for product in reply.json()["data"]]


def page(caller: Caller, number: int) -> requests.Response:
    """Fetch a page by offset, counted from 0."""
    return caller.search(limit=LIMIT, offset=number * LIMIT)


def wanted(number: int) -> list[int]:
    return list(range(number * LIMIT, number * LIMIT + LIMIT))


def scrolled(caller: Caller, pages: int = 20) -> list[list[int]]:
    """Scroll until a page is empty or has no cursor, or so many pages have come."""
    cursor: str | None = ""
    found = []
    while cursor is not None and len(found) < pages:
        reply = caller.call("POST", limit=LIMIT, next_page=cursor)
        found.append([product["id"] for product in reply["data"]])
        cursor = reply.get("next_page") if reply["data"] else None
    return found


def hits(sandbox: Sandbox, since: int = 0) -> list[tuple[str, int]]:
    return [(hit.kind, hit.call) for hit in sandbox.faults_hit[since:]]


@contextmanager
def raw_reply(sandbox: Sandbox, caller: Caller) -> Iterator[http.client.HTTPResponse]:
    """Ask for the first page as bare as Python can."""
    connection = http.client.HTTPConnection(sandbox.base_url.removeprefix("http://"))
    headers = {name: str(value) for name, value in caller.session.headers.items()}
    try:
        connection.request("GET", f"/public/v1/products?limit={LIMIT}", headers=headers)
        with connection.getresponse() as reply:
            yield reply
    finally:
        connection.close()


def refused(status: int, **headers: str) -> Callable[[Sandbox, Caller], None]:
    """Return a check of a refusal that the next try gets over with."""

    def check(_sandbox: Sandbox, caller: Caller) -> None:
        reply = page(caller, 1)
        assert (status, headers) == (reply.status_code, {name: reply.headers.get(name) for name in headers})
        assert {"error", "message"} == reply.json().keys()
        assert wanted(1) == ids(page(caller, 1))

    return check


def late(_sandbox: Sandbox, caller: Caller) -> None:
    begin = time.monotonic()
    assert wanted(1) == ids(page(caller, 1))
    assert 0.2 <= time.monotonic() - begin


def html(_sandbox: Sandbox, caller: Caller) -> None:
    reply = page(caller, 1)
    assert (502, "text/html") == (reply.status_code, reply.headers["Content-Type"])
    assert reply.text.startswith("<html>")
    assert wanted(1) == ids(page(caller, 1))


def cut(sandbox: Sandbox, caller: Caller) -> None:
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)), raw_reply(sandbox, caller):
        pass
    with raw_reply(sandbox, caller) as reply:
        assert wanted(0) == [product["id"] for product in json.load(reply)["data"]]


def truncated(sandbox: Sandbox, caller: Caller) -> None:
    with raw_reply(sandbox, caller) as reply, pytest.raises(http.client.IncompleteRead) as caught:
        reply.read()
    announced = int(reply.headers["Content-Length"])
    came, lacking = len(caught.value.partial), caught.value.expected
    assert (200, announced // 2, announced - announced // 2) == (reply.status, came, lacking)
    assert wanted(1) == ids(page(caller, 1))


def garbage(_sandbox: Sandbox, caller: Caller) -> None:
    # This reply is not as the contract says; see contract_check.
    caller.session.hooks["response"].clear()
    reply = page(caller, 1)
    assert (200, "application/json") == (reply.status_code, reply.headers["Content-Type"])
    with pytest.raises(UnicodeDecodeError):
        json.loads(reply.content)
    assert wanted(1) == ids(page(caller, 1))


def stalled(sandbox: Sandbox, caller: Caller) -> None:
    begin = time.monotonic()
    with raw_reply(sandbox, caller) as reply:
        reply.read(int(reply.headers["Content-Length"]) // 2)
        assert time.monotonic() - begin < 0.3
        reply.read()
        assert 0.3 <= time.monotonic() - begin
    assert wanted(1) == ids(page(caller, 1))


def slow(sandbox: Sandbox, caller: Caller) -> None:
    begin = time.monotonic()
    came = []
    with raw_reply(sandbox, caller) as reply:
        while chunk := reply.read1():
            came.append((len(chunk), time.monotonic() - begin))
    assert 5 < len(came)
    assert 0.2 <= came[-1][1] - came[0][1]
    assert wanted(1) == ids(page(caller, 1))


def damaged(sandbox: Sandbox, caller: Caller) -> None:
    with raw_reply(sandbox, caller) as reply:
        came = reply.read()
    assert (len(came), False) == (int(reply.headers["Content-Length"]), came.endswith(b"}"))
    half = len(came) // 2
    meant = came[:half] + bytes(byte ^ 0xFF for byte in came[half:])
    assert wanted(0) == [product["id"] for product in json.loads(meant)["data"]]
    assert wanted(1) == ids(page(caller, 1))


def redirected(sandbox: Sandbox, caller: Caller) -> None:
    with raw_reply(sandbox, caller) as reply:
        assert (302, "http://10.0.0.1/x") == (reply.status, reply.headers["Location"])
    assert wanted(1) == ids(page(caller, 1))


def expired_token(_sandbox: Sandbox, caller: Caller) -> None:
    for _ in range(2):
        assert (401, "token_expired") == ((reply := page(caller, 1)).status_code, reply.json().get("error"))
    assert wanted(1) == ids(page(caller.log_in(), 1))


def lost_cursor(sandbox: Sandbox, caller: Caller) -> None:
    sandbox.clear_faults()
    sandbox.order(Fault("lost-cursor", at=2))
    cursor = caller.call("POST", limit=LIMIT, next_page="")["next_page"]
    for _ in range(2):
        reply = caller.search(limit=LIMIT, next_page=cursor)
        assert (410, "cursor_lost") == (reply.status_code, reply.json().get("error"))


def repeats(_sandbox: Sandbox, caller: Caller) -> None:
    assert [2, 3, 4] == ids(page(caller, 1))
    assert wanted(2) == ids(page(caller, 2))


def moves(_sandbox: Sandbox, caller: Caller) -> None:
    assert [4, 5, 6] == ids(page(caller, 1))
    assert wanted(2) == ids(page(caller, 2))


def drops(_sandbox: Sandbox, caller: Caller) -> None:
    reply = page(caller, 1)
    assert ([4, 5], SIZE) == (ids(reply), reply.json()["totalResults"])
    assert wanted(2) == ids(page(caller, 2))


RAN: list[str] = []


def called(_sandbox: Sandbox, caller: Caller) -> None:
    RAN.clear()
    assert wanted(1) == ids(page(caller, 1))
    assert [threading.main_thread().name] != RAN
    assert 1 == len(RAN)


#: fault -> the options to order it with, and a check of what its second call gets.
EFFECTS: dict[str, tuple[dict[str, Any], Callable[[Sandbox, Caller], None]]] = {
    "latency": ({"seconds": 0.2}, late),
    "401": ({}, refused(401, **{"WWW-Authenticate": "Bearer"})),
    "404": ({}, refused(404)),
    "429": ({"retry_after": 7}, refused(429, **{"Retry-After": "7"})),
    "500": ({}, refused(500)),
    "502": ({}, html),
    "503": ({"retry_after": 0}, refused(503, **{"Retry-After": "0"})),
    "cut": ({}, cut),
    "truncated": ({}, truncated),
    "stalled": ({"seconds": 0.3}, stalled),
    "slow": ({"seconds": 0.3}, slow),
    "damaged": ({}, damaged),
    "redirect": ({"to": "http://10.0.0.1/x"}, redirected),
    "garbage": ({}, garbage),
    "expired-token": ({}, expired_token),
    "lost-cursor": ({}, lost_cursor),
    "repeats": ({}, repeats),
    "moves": ({}, moves),
    "drops": ({}, drops),
    "call": ({"run": lambda: RAN.append(threading.current_thread().name)}, called),
}


def test_every_fault_has_a_test() -> None:
    """Each entry of FAULTS has its effect in this file, and says what it does in words."""
    assert FAULTS.keys() == EFFECTS.keys()
    assert all(kind.meaning.endswith(".") for kind in FAULTS.values())
    assert all((kind.on_call is None) != (kind.on_page is None) for kind in FAULTS.values())


@pytest.mark.slow
@each_row("kind", FAULTS)
def test_a_fault_happens_at_the_call_that_it_is_ordered_for(
    kind: str, sandbox: Sandbox, caller: Caller
) -> None:
    """The call before gets what it asks for, the call itself the fault, and the fault is noted."""
    options, check = EFFECTS[kind]
    before = len(sandbox.faults_hit)
    sandbox.order(Fault(kind, at=2, **options))
    assert wanted(0) == ids(page(caller, 0))
    check(sandbox, caller)
    assert [(kind, 2)] == hits(sandbox, before)
    (hit,) = sandbox.faults_hit[before:]
    assert any((hit.method, hit.path) == call[:2] for call in sandbox.requests)


@each_row("kind", FAULTS)
def test_a_fault_that_does_nothing_is_noticed(
    kind: str, sandbox: Sandbox, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check of each fault fails when the fault is switched off."""

    async def nothing(_fault: Fault, _call: object) -> None:
        pass

    monkeypatch.setitem(FAULTS, kind, replace(FAULTS[kind], on_call=nothing, on_page=None))
    options, check = EFFECTS[kind]
    sandbox.order(Fault(kind, at=1, **options))
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(sandbox, caller)


@each_row(
    ("order", "struck"),
    [
        ({}, [1, 2, 3, 4, 5, 6]),
        ({"at": 3}, [3]),
        ({"at": 3, "times": 2}, [3, 4]),
        ({"times": 2}, [1, 2]),
        ({"at": [2, 5]}, [2, 5]),
        ({"at": {2, 5}, "times": 2}, [2, 3, 5, 6]),
        ({"at": range(4, 10**9)}, [4, 5, 6]),
        ({"at": range(4, 10**9, 2), "times": 1}, [4, 6]),
    ],
)
def test_a_fault_hits_the_calls_that_it_names(
    order: dict[str, Any], struck: list[int], sandbox: Sandbox, caller: Caller
) -> None:
    """`at` and `times` choose calls by their number since the order."""
    ids(page(caller, 0))
    sandbox.order(Fault("503", **order))
    assert struck == [call for call in range(1, 7) if page(caller, 0).status_code == 503]


def test_faults_count_from_their_own_order(sandbox: Sandbox, caller: Caller) -> None:
    """Each order counts from when it was given; where two meet, the one that was ordered first answers."""
    sandbox.order(Fault("503", at=2), Fault("500", at=range(2, 4)))
    assert 200 == page(caller, 0).status_code
    sandbox.order(Fault("429", at=[1, 3]))
    assert [503, 500, 429] == [page(caller, 0).status_code for _ in range(3)]


def test_orders_can_be_taken_back(sandbox: Sandbox, caller: Caller) -> None:
    """After clear_faults every call is answered; the faults that have hit stay listed."""
    before = len(sandbox.faults_hit)
    sandbox.order(Fault("503"))
    assert 503 == page(caller, 0).status_code
    sandbox.clear_faults()
    assert wanted(0) == ids(page(caller, 0))
    assert [("503", 1)] == hits(sandbox, before)


def test_faults_can_be_ordered_from_the_start() -> None:
    """The first call of a sandbox can fail already."""
    with exchange(None, Fault("503", at=1, endpoint="token")) as sandbox:
        caller = Caller(sandbox.base_url)
        with caller.session:
            assert 503 == caller.token().status_code
            assert wanted(0) == ids(page(caller.log_in(), 0))


@each_row("endpoint", ENDPOINTS)
def test_a_fault_hits_its_endpoint_and_no_other(endpoint: str, sandbox: Sandbox, caller: Caller) -> None:
    """Each endpoint of the service can be made to fail while the others answer."""
    calls = {
        "token": caller.token,
        "list": lambda: caller.get(limit=1),
        "upsert": lambda: caller.session.post(f"{sandbox.base_url}/public/v1/products", json={"data": []}),
        "track": lambda: caller.session.get(f"{sandbox.base_url}/public/v1/products/track/1"),
        "organizations": lambda: caller.session.get(f"{sandbox.base_url}/auth/v2/organization"),
        "segments": lambda: caller.session.get(f"{sandbox.base_url}/core/v3/productsegments/hierarchy"),
        "media": lambda: requests.get(f"{sandbox.base_url}/media/1.jpg"),
        "scenarios": lambda: caller.session.post(
            f"{sandbox.base_url}/public/v1/validation/rulesets/require", json={}
        ),
    }
    assert {*ENDPOINTS} == {*calls, "all"}
    sandbox.order(Fault("503", endpoint=endpoint))
    struck = {name for name, call in calls.items() if call().status_code == 503}
    assert ({endpoint} if endpoint != "all" else {*calls} - {"media"}) == struck
    assert 200 == requests.get(f"{sandbox.base_url}/health").status_code


def test_a_cut_upsert_is_not_taken_in_and_a_truncated_one_is() -> None:
    """A call that is cut has no effect; a call whose reply is truncated has its effect."""
    with exchange(
        None, Fault("cut", at=1, endpoint="upsert"), Fault("truncated", at=2, endpoint="upsert")
    ) as it:
        mill = Writer(it.base_url, MILL)
        with mill.session:
            mill.log_in()
            new = {"gtin": "03036811359935", "namePublicLong": [{"data": "Pain"}]}
            for tracked in (404, 200):
                with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
                    mill.post_products({"data": [new]})
                assert tracked == mill.track(1).status_code
        assert [("cut", 1), ("truncated", 2)] == hits(it)


def test_a_scroll_goes_on_from_where_a_page_repeated(sandbox: Sandbox, caller: Caller) -> None:
    """In a scroll, products come twice and none is missing."""
    sandbox.order(Fault("repeats", at=3, products=2))
    assert [[0, 1, 2], [3, 4, 5], [4, 5, 6], [7, 8, 9], [10, 11], []] == scrolled(caller)


@each_row("kind", ["repeats", "moves", "lost-cursor"])
def test_what_cannot_happen_to_a_first_page_is_not_noted(kind: str, sandbox: Sandbox, caller: Caller) -> None:
    """A first page has no cursor to lose and no page before; nothing happens then, and nothing is noted."""
    before = len(sandbox.faults_hit)
    sandbox.order(Fault(kind))
    assert wanted(0) == ids(page(caller, 0))
    assert wanted(0) == ids(caller.search(limit=LIMIT, next_page=""))
    assert [] == hits(sandbox, before)


def test_a_scroll_is_not_moved(sandbox: Sandbox, caller: Caller) -> None:
    """Products do not move in a scroll, whose order is fixed."""
    sandbox.order(Fault("moves"))
    assert [*map(wanted, range(4)), []] == scrolled(caller)


def test_products_can_change_at_a_call(sandbox: Sandbox, caller: Caller) -> None:
    """A function that is run at a call can change the catalogue before the call is answered."""
    sandbox.at_call(2, lambda: sandbox.change([{"id": 0, "gtin": "0", "lifeCycle": 1}]))
    shown = [page(caller, 0).json()["data"][0].get("lifeCycle") for _ in range(2)]
    assert [None, 1] == shown


def test_what_a_function_raises_is_not_lost() -> None:
    """Where a function that is run at a call raises, the call gets a 500, and the context its error."""

    def broken() -> None:
        raise KeyError("mine")

    sandbox = Sandbox([], organizations=[SHOP], labels={}).__enter__()
    sandbox.at_call(1, broken)
    with caller_at(sandbox) as caller:
        reply = page(caller, 0)
    assert (500, "internal_error") == (reply.status_code, reply.json().get("error"))
    with pytest.raises(KeyError, match="mine"):
        sandbox.__exit__(None, None, None)


@each_row(
    ("wrong", "words"),
    [
        (
            lambda: Fault("clock-skew"),
            "'clock-skew' is not a fault; give one of latency, 401,.*setting of Behaviour",
        ),
        (lambda: Fault(503), "503 is not a fault"),  # type: ignore[arg-type]
        (lambda: Fault("503", at=0), "at is 0, not the number of a call"),
        (lambda: Fault("503", at=[]), r"at is \(\), not the number"),
        (lambda: Fault("503", at="3"), r"at is \('3',\), not the number"),  # type: ignore[arg-type]
        (lambda: Fault("503", at=1.5), "at is 1.5, not the number"),  # type: ignore[arg-type]
        (lambda: Fault("503", at=True), "at is True, not the number"),
        (lambda: Fault("503", at=range(3)), r"at is range\(0, 3\), not the number"),
        (lambda: Fault("503", times=0), "times is 0, not a whole number from 1"),
        (lambda: Fault("503", endpoint="uploads"), "endpoint is 'uploads', not one of list, token"),
        (lambda: Fault("drops", endpoint="token"), "drops happens to pages of products"),
        (lambda: Fault("503", seconds=1), "503 has no seconds; it takes retry_after"),
        (lambda: Fault("cut", products=1), "cut has no products; it takes no option"),
        (lambda: Fault("latency", seconds=-1), "seconds is -1, not a number of seconds"),
        (lambda: Fault("latency", seconds="1"), "seconds is '1', not a number"),  # type: ignore[arg-type]
        (lambda: Fault("429", retry_after=1.5), "retry_after is 1.5, not a whole"),  # type: ignore[arg-type]
        (lambda: Fault("drops", products=0), "products is 0, not a whole number from 1"),
        (lambda: Fault("redirect", to="http://a\r\nb"), "to is .*, not an address"),
        (lambda: Fault("call"), "run is None; call takes a function"),
        (lambda: Fault.from_text("503@x"), "at is 'x', not a number"),
        (lambda: Fault.from_text("503,color=red"), "'color' is not an option of a fault"),
        (lambda: Behaviour(latency=-1), "latency is -1; it cannot be below 0"),
        (lambda: Behaviour(total_shrinks=-1), "total_shrinks is -1; it cannot be below 0"),
        (lambda: Behaviour(import_delay=-1), "import_delay is -1; it cannot be below 0"),
        (lambda: Behaviour(latency=float("nan")), "latency is nan; it cannot be over"),
        (lambda: Behaviour(token_lifetime=float("inf")), "token_lifetime is inf; it cannot be over"),
        (lambda: Behaviour(clock_skew=-1e30), "clock_skew is -1e.30; it cannot be over"),
    ],
)
def test_a_wrong_order_is_refused_in_words(wrong: Callable[[], object], words: str) -> None:
    """Unknown kinds, options and values are named, with what there is instead."""
    with pytest.raises(ValueError, match=words):
        wrong()


def test_an_order_takes_faults(sandbox: Sandbox) -> None:
    """Ordering a text instead of a Fault is a TypeError."""
    with pytest.raises(TypeError, match="'503' is not a Fault"):
        sandbox.order("503")  # type: ignore[arg-type]


def test_a_fault_is_a_value() -> None:
    """Equal faults compare equal, can be keys, and have a repr that makes them again."""
    fault = Fault("429", at=[2, 5], endpoint="upsert", retry_after=1)
    assert fault == Fault.from_text("429@2,5,endpoint=upsert,retry_after=1")
    assert 1 == len({fault, Fault("429", at=(2, 5), endpoint="upsert", retry_after=1)})
    assert fault == eval(repr(fault))
    assert Fault("drops") == Fault("drops", products=1)
    assert Fault("latency", seconds=0.5, times=3) == Fault.from_text("latency,times=3,seconds=0.5")


def test_calls_wait_side_by_side() -> None:
    """Ten slow calls at once take hardly longer than one."""
    with exchange(Behaviour(latency=1)) as sandbox:
        begin = time.monotonic()
        with ThreadPoolExecutor(10) as pool:
            list(pool.map(lambda _: requests.get(f"{sandbox.base_url}/health"), range(10)))
        assert 1 <= time.monotonic() - begin < 5  # one after the other they take 10


@pytest.mark.parametrize("skew", [7200, -86_400])
def test_the_clock_can_be_off(skew: int) -> None:
    """With clock_skew, Date and new updatedAt are ahead or behind, and a reply has exactly one Date."""
    with exchange(Behaviour(clock_skew=skew)) as sandbox, caller_at(sandbox) as caller:
        sandbox.change([{"id": 99, "gtin": "99"}])
        reply = caller.search(limit=1, offset=SIZE)
        (date,) = reply.raw.headers.getlist("Date")
        now = datetime.now(UTC).timestamp() + skew
        stamped = datetime.fromisoformat(reply.json()["data"][0]["updatedAt"]).replace(tzinfo=UTC)
        assert abs(now - parsedate_to_datetime(date).timestamp()) < 10
        assert abs(now - stamped.timestamp()) < 10


@each_row(
    ("behaviour", "found"),
    [
        (Behaviour(), [4, 5, 6]),
        (Behaviour(exclusive_from=True), [5, 6]),
        (Behaviour(exclusive_to=True), [4, 5]),
        (Behaviour(exclusive_from=True, exclusive_to=True), [5]),
    ],
)
def test_bounds_of_updates_can_be_exclusive(behaviour: Behaviour, found: list[int]) -> None:
    """Either bound can leave its own second out; totals agree, by GET, by POST and in a scroll."""
    bounds = {"updated_at_from": START + 4, "updated_at_to": START + 6}
    with exchange(behaviour) as sandbox, caller_at(sandbox) as caller:
        for reply in (caller.get(**bounds), caller.search(**bounds), caller.search(next_page="", **bounds)):
            assert (found, len(found)) == (ids(reply), reply.json()["totalResults"])


@each_row("end", ScrollEnd)
def test_a_scroll_can_be_endless(end: ScrollEnd) -> None:
    """After the last page comes the first again, however scrolls end otherwise."""
    with (
        exchange(Behaviour(endless_scroll=True, scroll_end=end), size=4) as sandbox,
        caller_at(sandbox) as caller,
    ):
        assert [[0, 1, 2], [3], [0, 1, 2], [3], [0, 1, 2]] == scrolled(caller, pages=5)


def test_cursors_can_stay_equal() -> None:
    """With cursor_changes off, one cursor leads through the whole scroll."""
    with exchange(Behaviour(cursor_changes=False)) as sandbox, caller_at(sandbox) as caller:
        first = caller.call("POST", limit=LIMIT, next_page="")
        pages = [caller.call("POST", limit=LIMIT, next_page=first["next_page"]) for _ in range(3)]
        assert {first["next_page"]} == {page["next_page"] for page in pages}
        assert wanted(3) == [product["id"] for product in pages[-1]["data"]]


@each_row(("method", "scrolling"), [("GET", False), ("POST", False), ("POST", True)])
def test_totals_can_shrink(method: str, scrolling: bool) -> None:
    """Each page after the first announces two fewer, and as many are missing at the end."""
    with exchange(Behaviour(total_shrinks=2)) as sandbox, caller_at(sandbox) as caller:
        totals, found, cursor = [], [], ""
        for number in range(4):
            asked: dict[str, Any] = {"next_page": cursor} if scrolling else {"offset": number * LIMIT}
            reply = caller.call(method, limit=LIMIT, **asked)
            totals.append(reply["totalResults"])
            found += [product["id"] for product in reply["data"]]
            cursor = reply.get("next_page", "")
        assert ([12, 10, 8, 6], [0, 1, 2, 3, 4, 5, 6, 7]) == (totals, found)


@pytest.mark.slow
def test_the_command_takes_faults(tmp_path: Path) -> None:
    """`--fault`, given twice, and `--latency` hold for the process."""
    products = tmp_path / "products.json"
    products.write_text(json.dumps(records()))
    options = ["--home", str(tmp_path / "home"), "--products", str(products), "--latency", "0.1"]
    orders = ["--fault", "503@1,retry_after=2,endpoint=token", "--fault", "500@1"]
    with subprocess.Popen(
        [sys.executable, "-m", "prodex_sandbox", *options, *orders], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            word = json.loads(process.stdout.readline())
            key = word["credentials"][0]
            login = {name: key[name] for name in ("client_id", "client_secret")}
            login["grant_type"] = "client_credentials"
            with requests.Session() as session:
                begin = time.monotonic()
                reply = session.post(f"{word['base_url']}/auth/v2/token", json=login)
                assert (503, "2") == (reply.status_code, reply.headers["Retry-After"])
                assert 0.1 <= time.monotonic() - begin
                token = session.post(f"{word['base_url']}/auth/v2/token", json=login).json()["access_token"]
                session.headers["Authorization"] = f"Bearer {token}"
                statuses = [
                    session.get(f"{word['base_url']}/public/v1/products").status_code for _ in range(2)
                ]
                assert [500, 200] == statuses
        finally:
            process.kill()


@each_row(
    ("options", "words"),
    [
        (["--fault", "lost"], "'lost' is not a fault; give one of latency"),
        (["--fault", "call@3"], "call takes a function"),
        (["--latency", "-1"], "latency is -1.0; it cannot be below 0"),
        (["--latency", "nan"], "latency is nan; it cannot be over"),
    ],
)
def test_the_command_refuses_wrong_faults_in_words(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A fault that cannot be ordered ends the command with 2 and a sentence."""
    with pytest.raises(SystemExit) as ended:
        main(options)
    assert 2 == ended.value.code
    assert words in " ".join(capsys.readouterr().err.split())


def test_the_help_and_the_page_list_every_fault(
    sandbox: Sandbox, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--help` and /docs say what each fault does; the help leaves out what needs a function."""
    monkeypatch.setenv("COLUMNS", "300")
    with pytest.raises(SystemExit):
        main(["--help", "faults"])
    help_text = " ".join(capsys.readouterr().out.split())
    docs = requests.get(f"{sandbox.base_url}/docs").text
    for name, kind in FAULTS.items():
        assert ("run" in kind.options) != (kind.meaning.replace("`", "").split(".")[0] in help_text)
        assert f"<code>{name}</code>" in docs
