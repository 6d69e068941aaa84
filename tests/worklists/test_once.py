"""Answers are sent once: whoever interrupts, or applies the same answers again, continues what was begun."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
from typer.testing import CliRunner

import prodex
from prodex.cli import app
from prodex.errors import InputError, OtherLayout, RequestRefused, ServiceUnreachable, SnapshotLocked
from prodex.ledger import calls
from prodex.ledger.upsert_file import UpsertFile
from prodex.quality.products import Products
from prodex.sandbox import Fault
from prodex.service import RetryPolicy
from tests.ledgered import spoil, write
from tests.on_the_way import carried, reply, session_of

from .bakery import record, text
from .interrupting import (
    BATCH,
    PRODUCTS,
    AnsweredExchange,
    Interrupted,
    check,
    interrupt_often,
    interrupted_at,
)


@pytest.fixture(autouse=True)
def _small_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let several calls write few products."""
    monkeypatch.setattr(sys.modules["prodex.send.upsert"], "LARGEST_BATCH", BATCH)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnsweredExchange]:
    """Serve products for many worklists."""
    folder = tmp_path_factory.mktemp("answers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRODEX_HOME", str(folder))
        with AnsweredExchange.serving(folder, 80, 0.0) as exchange:
            yield exchange


@pytest.fixture
def exchange(served: AnsweredExchange) -> AnsweredExchange:
    """Return them; each test takes worklists of its own."""
    served.sandbox.clear_faults()
    return served


def applied(fix: prodex.worklists.Fix, exchange: AnsweredExchange) -> prodex.send.Tracking:
    """Apply answers, and wait for the imports."""
    return fix.apply(exchange.service, progress=False).wait(progress=False)


def interrupt(fix: prodex.worklists.Fix, exchange: AnsweredExchange, moment: str, number: int) -> None:
    """Apply answers, and interrupt it."""
    with (
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(KeyboardInterrupt),
        interrupted_at(patch, exchange.service, moment, number),
    ):
        fix.apply(exchange.service, progress=False)


#: The products are requested by three calls, and looked at again by three; from the seventh on each of the three calls
#: that write them follows one that looks at its products once more.
MOMENTS = [
    *(("after", number, True) for number in (5, 7, 8, 9, 12)),
    ("after", 10, False),
    *(("before", number, number == 10) for number in (8, 10)),
    *(("disk", number, number % 4 < 2) for number in range(2, 19, 3)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("moment", "number", "is_slow"), MOMENTS)
def test_an_interrupt_at_any_call_sends_nothing_twice(
    exchange: AnsweredExchange, moment: str, number: int, is_slow: bool
) -> None:
    """The same cell continues, with the same `Fix` or with the same file read again."""
    path, gtins = exchange.worklist()
    fix = exchange.read(path)
    with exchange.holding() if is_slow else nullcontext():
        interrupt(fix, exchange, moment, number)
        assert fix.tracking is not None or not any(counts(exchange, gtins))
        again = fix if number % 2 else exchange.read(path)
        again.apply(exchange.service, progress=False)
    again.apply(exchange.service, progress=False).wait(progress=False)
    last = exchange.read(path)
    applied(last, exchange)
    for one in (again, last):
        found = Interrupted()
        check(exchange, one, gtins, found, f"{moment} {number}")
        assert ([], []) == (found.twice, found.unaccounted)
        assert found.unknown == 0 or moment != "after"


def counts(exchange: AnsweredExchange, gtins: list[str]) -> list[int]:
    """Return how often each product was received."""
    received = exchange.received
    return [received[one] for one in gtins]


@pytest.mark.slow
def test_after_an_interrupt_it_is_known_what_was_sent(exchange: AnsweredExchange) -> None:
    """In another cell: the tracking is there, and the answers say which of them were sent."""
    path, gtins = exchange.worklist()
    fix = exchange.read(path)
    with exchange.holding():
        interrupt(fix, exchange, "after", 10)
        assert fix.tracking is not None
        assert {"IN_PROGRESS": 3, "unknown": 3, "not sent": 1} == fix.tracking.statuses
        assert "7 answers: 3 sent, 3 may have been sent, 1 not sent yet" in repr(fix)
        reasons = fix.accepted["reason"].tolist()
        assert "" == reasons[0]
        assert reasons[3].startswith("it may have been sent: the process ended before the reply was received")
        assert reasons[6].startswith("not sent yet: the process ended before it was sent")
        with pytest.raises(InputError, match="have been sent already"):
            fix.confirm()
        assert {"IN_PROGRESS": 4, "unknown": 3} == fix.apply(exchange.service, progress=False).statuses
    assert {"SUCCESS": 4, "unknown": 3} == fix.tracking.wait(progress=False).statuses
    again = applied(fix, exchange)  # by now the products show what was lost
    assert {"SUCCESS": 7} == again.statuses
    assert [1] * 7 == counts(exchange, gtins)
    assert "7 answers: 7 sent" in repr(fix)
    assert len(again.continues) == 1


@pytest.mark.slow
def test_what_was_lost_is_sent_when_nothing_can_be_under_way(
    exchange: AnsweredExchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that was never made looks like a lost reply: for a day it is not made, then it is."""
    path, gtins = exchange.worklist()
    interrupt(exchange.read(path), exchange, "before", 10)
    fix = exchange.read(path)
    assert {"SUCCESS": 4, "unknown": 3} == applied(fix, exchange).statuses
    assert [1, 1, 1, 0, 0, 0, 1] == counts(exchange, gtins)
    assert "it may have been sent" in fix.accepted["reason"][3]

    monkeypatch.setattr(calls, "LONGEST", timedelta(0))
    assert {"SUCCESS": 7} == applied(exchange.read(path), exchange).statuses
    assert [1] * 7 == counts(exchange, gtins)


@pytest.mark.slow
def test_what_was_lost_can_be_sent_by_somebody_who_knows(exchange: AnsweredExchange) -> None:
    """As for any upsert: also="unknown" sends it, whichever of the continued upserts it belongs to."""
    path, gtins = exchange.worklist()
    fix = exchange.read(path)
    interrupt(fix, exchange, "before", 10)
    tracking = applied(fix, exchange)
    tracking.send_rest(progress=False)
    assert [1, 1, 1, 0, 0, 0, 1] == counts(exchange, gtins)
    tracking.send_rest(also="unknown", progress=False).wait(progress=False)
    assert [1] * 7 == counts(exchange, gtins)
    assert {"SUCCESS": 7} == applied(fix, exchange).statuses

    path, gtins = exchange.worklist()
    interrupt(exchange.read(path), exchange, "before", 10)
    fix = exchange.read(path)
    with pytest.raises(InputError, match="also is 'refused'; give 'unknown'"):
        fix.apply(exchange.service, also="refused")
    fix.apply(exchange.service, also="unknown", progress=False).wait(progress=False)
    assert [1] * 7 == counts(exchange, gtins)
    assert {"SUCCESS": 7} == applied(fix, exchange).statuses


@pytest.mark.slow
def test_a_lost_reply_is_looked_up_at_the_service(exchange: AnsweredExchange) -> None:
    """The products show that it has arrived; this is kept for later processes."""
    path, gtins = exchange.worklist()
    exchange.sandbox.order(Fault("truncated", endpoint="upsert", at=2))
    fix = exchange.read(path)
    assert {"IN_PROGRESS": 4, "unknown": 3} == fix.apply(exchange.service, progress=False).statuses
    while exchange.stored(gtins[3]).isupper():
        pass
    tracking = applied(fix, exchange)

    assert {"SUCCESS": 7} == tracking.statuses
    assert "the product has what was sent" in tracking.message
    assert tracking.name is not None
    assert "SUCCESS" == prodex.track(exchange.service, upsert=tracking.name).wait(progress=False).status
    assert [1] * 7 == counts(exchange, gtins)


@pytest.mark.slow
def test_the_first_upsert_cannot_send_what_another_has_sent(exchange: AnsweredExchange) -> None:
    """Its rest belongs to the upsert that continues it; both stay together, whichever is named."""
    path, gtins = exchange.worklist()
    fix = exchange.read(path)
    interrupt(fix, exchange, "after", 8)
    first = fix.tracking
    assert first is not None
    assert first.name is not None
    second = applied(exchange.read(path), exchange)
    first.send_rest(progress=False)
    again = prodex.track(exchange.service, upsert=first.name)
    again.send_rest(progress=False)

    assert [1] * 7 == counts(exchange, gtins)
    assert [first.name] == second.continues
    assert f"The upsert {second.name} continues it" in first.message
    assert (second.name, [first.name]) == (again.name, again.continues)
    listed = prodex.list_upserts().set_index("name")
    assert [4, 3] == [listed["products"][second.name], listed["products"][first.name]]
    assert f"continued by {second.name}" == listed["note"][first.name]
    latest = prodex.track(exchange.service)
    assert (gtins, [first.name]) == (sorted(latest.products["gtin"]), latest.continues)


@pytest.mark.slow
def test_the_same_answers_once_more_send_nothing(exchange: AnsweredExchange) -> None:
    """While the import runs, and after it; whoever reads them."""
    path, gtins = exchange.worklist()
    fix = exchange.read(path)
    with exchange.holding():
        tracking = fix.apply(exchange.service, progress=False)
        for other in (fix, exchange.read(path)):
            again = other.apply(exchange.service, progress=False)
            assert (tracking.name, {"accepted": 7}) == (again.name, dict(other.counts))
    tracking.wait(progress=False)
    for other in (fix, exchange.read(path)):
        assert {"SUCCESS": 7} == other.apply(exchange.service, progress=False).statuses
        assert {"accepted": 7} == other.counts
    assert [1] * 7 == counts(exchange, gtins)


@pytest.mark.slow
def test_what_was_changed_back_is_a_correction_again(exchange: AnsweredExchange) -> None:
    """The product does not have it any more, and nothing is under way."""
    path, gtins = exchange.worklist(2)
    applied(exchange.read(path), exchange)
    back = record(int(gtins[0][:-1]), gtins[0], namePublicLong=[text("fra-FR", f"PAIN {int(gtins[0][:-1])}")])
    exchange.sandbox.change([back])
    fix = exchange.read(path)
    assert {"SUCCESS": 3} == applied(fix, exchange).statuses
    assert {"accepted": 2} == fix.counts
    assert ["", "it has arrived."] == fix.accepted["reason"].tolist()
    assert [2, 1] == counts(exchange, gtins)


def added(path: Path, *rows: str) -> Path:
    """Return a copy of a worklist with more rows."""
    longer = path.with_name(f"longer-{path.name}")
    longer.write_text("\n".join([path.read_text("utf-8"), *rows]), "utf-8")
    return longer


@pytest.mark.slow
def test_a_worklist_may_grow(exchange: AnsweredExchange) -> None:
    """What was sent is followed, other products are sent; a field with an import under way waits for its end."""
    path, gtins = exchange.worklist(3)
    other, more = exchange.worklist(1)
    longer = added(
        path,
        other.read_text("utf-8").splitlines()[1],
        f"{gtins[0]};namePublicLong;nl;Brood met zaden;Brood {int(gtins[0][:-1])}",
        f"{gtins[1]};description;fr;Un bon pain;",
    )
    with exchange.holding():
        exchange.read(path).apply(exchange.service, progress=False)
        fix = exchange.read(longer)
        tracking = fix.apply(exchange.service, progress=False)
    assert {"accepted": 5, "conflict": 1} == fix.counts
    reason = fix.conflicts["reason"][0]
    assert reason.startswith("namePublicLong of this product was written at ")
    assert "another write now could undo it" in reason
    assert "Brood met zaden" == fix.conflicts["answer"][0]
    assert [1, 2, 1, 1] == counts(exchange, [*gtins, *more])
    assert {"SUCCESS"} == set(tracking.wait(progress=False).statuses)
    assert {"SUCCESS"} == set(applied(fix, exchange).statuses)
    assert {"accepted": 6} == fix.counts
    assert [2, 2, 1, 1] == counts(exchange, [*gtins, *more])
    names = [one["data"] for one in exchange.records(gtins)[gtins[0]]["namePublicLong"]]
    assert [f"Pain aux graines {gtins[0]}", "Brood met zaden"] == names


@pytest.mark.slow
def test_another_answer_waits_for_the_first_one(exchange: AnsweredExchange) -> None:
    """What is under way could overwrite it; what was only planned is given up."""
    path, gtins = exchange.worklist()
    changed = path.with_name(f"changed-{path.name}")
    changed.write_text(path.read_text("utf-8").replace("Pain aux graines", "Pain de seigle"), "utf-8")
    fix = exchange.read(changed)
    with exchange.holding():
        interrupt(exchange.read(path), exchange, "after", 8)
        tracking = fix.apply(exchange.service, progress=False)
    assert {"conflict": 3, "accepted": 4} == fix.counts
    first = prodex.track(exchange.service, upsert=tracking.continues[0])
    first.send_rest(progress=False)
    tracking.wait(progress=False)

    assert [1] * 7 == counts(exchange, gtins)
    assert [f"Pain de seigle {one}" for one in gtins[3:]] == [exchange.stored(one) for one in gtins[3:]]


@pytest.mark.slow
def test_two_worklists_may_have_the_same_answer(exchange: AnsweredExchange) -> None:
    """Whichever was applied first has sent it, and the tracking has both."""
    one, gtins = exchange.worklist(3)
    two, more = exchange.worklist(3)
    exchange.read(one).apply(exchange.service, progress=False)
    exchange.read(two).apply(exchange.service, progress=False)
    both = exchange.read(added(one, *two.read_text("utf-8").splitlines()[1:]))
    assert {"SUCCESS": 6} == applied(both, exchange).statuses
    assert [1] * 6 == counts(exchange, [*gtins, *more])
    assert {"accepted": 6} == both.counts


@pytest.mark.slow
def test_two_processes_send_it_once(exchange: AnsweredExchange) -> None:
    """The one that plans later is told so, also if both have looked before."""
    path, gtins = exchange.worklist(2)
    late, early = exchange.read(path), exchange.read(path)

    def overtake() -> None:
        early.apply(exchange.service, progress=False)

    with exchange.holding():
        exchange.sandbox.at_call(5, overtake)
        with pytest.raises(SnapshotLocked, match="Another process has begun to send some of these products"):
            late.apply(exchange.service, progress=False)
    assert late.tracking is None
    assert {"SUCCESS": 2} == applied(late, exchange).statuses
    assert [1, 1] == counts(exchange, gtins)


@pytest.mark.slow
def test_what_another_process_is_sending_is_left_to_it(exchange: AnsweredExchange) -> None:
    """Nothing of it is taken over before that process has ended."""
    path, gtins = exchange.worklist(2)
    fix = exchange.read(path)
    interrupt(fix, exchange, "disk", 10)
    assert fix.tracking is not None
    assert fix.tracking.path is not None
    upsert = UpsertFile(fix.tracking.path)
    with upsert.exclusive(), pytest.raises(SnapshotLocked, match=f"sending the upsert {upsert.name}"):
        exchange.read(path).apply(exchange.service, progress=False)
    applied(exchange.read(path), exchange)
    assert [1, 1] == counts(exchange, gtins)


@pytest.mark.slow
def test_a_service_that_needs_time_to_show_an_import_gets_it_once(exchange: AnsweredExchange) -> None:
    """Its import has ended, and the product is still the old one."""
    path, gtins = exchange.worklist(2)
    exchange.read(path).apply(exchange.service, progress=False)

    def ended(request: requests.PreparedRequest, _: object) -> requests.Response:
        return reply(request, {"status": "SUCCESS", "count": 2})

    with carried("track", ended, session_of(exchange.service)):
        fix = exchange.read(path)
        assert {"SUCCESS": 2} == fix.apply(exchange.service, progress=False).statuses
    assert {"accepted": 2} == fix.counts
    assert [1, 1] == counts(exchange, gtins)
    applied(fix, exchange)


@pytest.mark.slow
def test_what_the_service_refused_is_sent_again_only_by_somebody_who_asks(exchange: AnsweredExchange) -> None:
    """While the upsert is continued, its refusals stay; answers that are read again are another attempt."""
    path, gtins = exchange.worklist(6)
    longer = added(path, f"{gtins[0]};kind.code;;NO-SUCH-KIND;BREAD")
    fix = exchange.read(longer).confirm()
    interrupt(fix, exchange, "after", 10)
    prodex.track(exchange.service).wait(progress=False)
    applied(fix, exchange)
    assert "the service says ERROR" in fix.refused["reason"][0]
    applied(fix, exchange)
    assert [1] * 6 == counts(exchange, gtins)
    applied(exchange.read(longer).confirm(), exchange)
    assert [2, 1, 1, 1, 1, 1] == counts(exchange, gtins)


@pytest.mark.slow
def test_a_service_that_is_away_gets_nothing_twice(exchange: AnsweredExchange) -> None:
    """Neither where its imports cannot be requested, nor where it refuses what is left."""
    path, gtins = exchange.worklist()
    fix = exchange.read(path)
    key = exchange.sandbox.credentials[0]
    impatient = prodex.connect(
        base_url=exchange.sandbox.base_url,
        client_id=key["client_id"],
        client_secret=key["client_secret"],
        retry=RetryPolicy(seconds=1),
    )

    def away(*_: object) -> Any:
        raise requests.ConnectionError("It is away.")

    with exchange.holding():
        interrupt(fix, exchange, "after", 10)
        with (
            carried("track", away, session_of(impatient)),
            pytest.raises(ServiceUnreachable),
        ):
            fix.apply(impatient, progress=False)
        assert "3 sent, 3 may have been sent, 1 not sent yet" in repr(fix)
        exchange.sandbox.order(Fault("404", endpoint="upsert"))
        with pytest.raises(RequestRefused):
            fix.apply(exchange.service, progress=False)
        assert "3 sent, 3 may have been sent, 1 not sent yet" in repr(fix)
    exchange.sandbox.clear_faults()
    applied(fix, exchange)
    assert {"SUCCESS": 7} == applied(fix, exchange).statuses
    assert [1] * 6 == counts(exchange, gtins)[:6]


@pytest.mark.slow
def test_a_journal_that_cannot_be_read_makes_its_products_wait(exchange: AnsweredExchange) -> None:
    """Damaged: what it has sent is not known; other products are sent."""
    path, gtins = exchange.worklist(3)
    other, more = exchange.worklist(2)
    fix = exchange.read(added(path, *other.read_text("utf-8").splitlines()[1:]))
    with exchange.holding():
        tracking = exchange.read(path).apply(exchange.service, progress=False)
        assert tracking.path is not None
        whole = tracking.path.read_bytes()
        spoil(tracking.path, "plan", 0)
        fix.apply(exchange.service, progress=False)
    assert {"conflict": 3, "accepted": 2} == fix.counts
    tracking.path.write_bytes(whole)
    assert [1] * 5 == counts(exchange, [*gtins, *more])
    applied(exchange.read(path), exchange)


#: What is left of the file of an upsert, and whether the index of upserts is still there.
UNREADABLE: dict[str, tuple[Callable[[bytes], bytes], bool]] = {
    "nothing is left, and the index names its products": (lambda _: b"", True),
    "zeros, and the index names its products": (lambda whole: bytes(len(whole)), True),
    "its bytes name its products": (lambda whole: b"x" + whole[1:], False),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", UNREADABLE)
def test_what_is_unreadable_makes_the_products_wait_that_it_had(
    exchange: AnsweredExchange, case: str
) -> None:
    """It is never taken for empty; other products are sent."""
    spoilt, keeps_index = UNREADABLE[case]
    path, gtins = exchange.worklist(3)
    other, more = exchange.worklist(2)
    fix = exchange.read(added(path, *other.read_text("utf-8").splitlines()[1:]))
    with exchange.holding():
        tracking = exchange.read(path).apply(exchange.service, progress=False)
        prodex.list_upserts()
        assert tracking.path is not None
        whole = tracking.path.read_bytes()
        tracking.path.write_bytes(spoilt(whole))
        if not keeps_index:
            (tracking.path.parents[1] / "index.sqlite").unlink()
        fix.apply(exchange.service, progress=False)
    assert {"conflict": 3, "accepted": 2} == fix.counts
    tracking.path.write_bytes(whole)
    assert [1] * 5 == counts(exchange, [*gtins, *more])
    applied(exchange.read(path), exchange)


@pytest.mark.slow
@pytest.mark.parametrize("left", [b"", bytes(40_000)])
def test_what_names_no_product_may_have_all_of_them(exchange: AnsweredExchange, left: bytes) -> None:
    """Nobody knows what it sent, so everything waits for the day."""
    path, _ = exchange.worklist(2)
    other, more = exchange.worklist(2)
    with exchange.holding():
        tracking = exchange.read(path).apply(exchange.service, progress=False)
        assert tracking.path is not None
        whole = tracking.path.read_bytes()
        tracking.path.write_bytes(left)
        (tracking.path.parents[1] / "index.sqlite").unlink(missing_ok=True)
        fix = exchange.read(other)
        with pytest.raises(InputError, match="no answer is left to send"):
            fix.apply(exchange.service, progress=False)
        assert {"conflict": 2} == fix.counts
        assert [0, 0] == counts(exchange, more)
    tracking.path.write_bytes(whole)
    applied(exchange.read(path), exchange)


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["gone", "empty", "zeros", "of nobody", "it says another product"])
def test_an_index_that_is_wrong_is_made_anew(exchange: AnsweredExchange, damage: str) -> None:
    """The files decide: nothing is sent twice because of what the index says."""
    path, gtins = exchange.worklist(2)
    with exchange.holding():
        tracking = exchange.read(path).apply(exchange.service, progress=False)
        assert tracking.path is not None
        index = tracking.path.parents[1] / "index.sqlite"
        prodex.list_upserts()
        whole = index.read_bytes()
        match damage:
            case "gone":
                index.unlink()
            case "empty":
                index.write_bytes(b"")
            case "zeros":
                index.write_bytes(bytes(len(whole)))
            case "of nobody":
                write(index, "upserts", [])
            case _:
                index.write_bytes(whole.replace(gtins[0].encode(), b"00000000000000"))
        again = exchange.read(path).apply(exchange.service, progress=False)
        assert {"IN_PROGRESS": 2} == dict(again.statuses)
    applied(exchange.read(path), exchange)
    assert [1, 1] == counts(exchange, gtins)


def _of_layout(path: Path, number: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {number}")


@pytest.mark.slow
@pytest.mark.parametrize("version", [3, 9])
def test_a_journal_of_another_layout_stops_what_may_rest_on_it(
    exchange: AnsweredExchange, version: int
) -> None:
    """Nobody knows what is under way: nothing is sent until it is moved away, and then all that was not."""
    path, _ = exchange.worklist(3)
    other, more = exchange.worklist(2)
    tracking = applied(exchange.read(path), exchange)
    assert tracking.path is not None
    whole = tracking.path.read_bytes()
    _of_layout(tracking.path, version)
    with pytest.raises(OtherLayout, match="may still arrive"):
        exchange.read(other).apply(exchange.service, progress=False)
    assert [0] * 2 == counts(exchange, more)
    tracking.path.write_bytes(whole)
    applied(exchange.read(other), exchange)
    assert [1] * 2 == counts(exchange, more)


@pytest.mark.slow
def test_records_that_are_under_way_are_waited_for(exchange: AnsweredExchange) -> None:
    """An answer is merged with what the product has: a write of the same attribute is to be seen first."""
    path, gtins = exchange.worklist(2)
    names = [text("fra-FR", f"PAIN {int(gtins[0][:-1])}"), text("nld-NL", "Boerenbrood")]
    sent = [
        {"gtin": gtins[0], "namePublicLong": names},
        {"gtin": gtins[1], "namePublicShort": [text("fra-FR", "Pain")]},
    ]
    fix = exchange.read(path)
    with exchange.holding():
        records = [prodex.upsert(exchange.service, [one], progress=False) for one in sent]
        fix.apply(exchange.service, progress=False)
    assert [gtins[0]] == fix.conflicts["gtin"].tolist()
    records[0].wait(progress=False)
    applied(fix, exchange)
    assert {"accepted": 2} == fix.counts
    stored = exchange.records(gtins)[gtins[0]]["namePublicLong"]
    assert [f"Pain aux graines {gtins[0]}", "Boerenbrood"] == [one["data"] for one in stored]


@pytest.mark.slow
def test_a_deletion_that_has_arrived_is_not_taken_for_a_conflict(exchange: AnsweredExchange) -> None:
    """Positions move: at the place of the deleted text there is another one."""
    _, (first,) = exchange.worklist(1)
    key = str(int(first[:-1]))
    texts = [text("fra-FR", "Un pain"), text("fra-FR", "Un autre pain")]
    exchange.sandbox.change([record(int(key), first, description=texts)])
    catalog = prodex.load_products(exchange.service, progress=False)
    deleted = prodex.TextCorrection(key, "description", None, None, "Un pain", "0", "fra-FR")
    applied(prodex.correct_from([deleted], catalog), exchange)
    fix = prodex.correct_from([deleted], catalog)
    assert {"SUCCESS": 1} == applied(fix, exchange).statuses
    assert ({"accepted": 1}, [1]) == (dict(fix.counts), counts(exchange, [first]))


@pytest.mark.slow
def test_what_was_changed_after_it_had_arrived_is_a_conflict(exchange: AnsweredExchange) -> None:
    """Neither sent again, nor taken for arrived; and it is known that it was sent."""
    path, (one,) = exchange.worklist(1)
    applied(exchange.read(path), exchange)
    exchange.sandbox.change([record(int(one[:-1]), one, namePublicLong=[text("fra-FR", "Pain noir")])])
    fix = exchange.read(path)
    with pytest.raises(InputError, match="no answer is left to send"):
        fix.apply(exchange.service)
    (reason,) = fix.conflicts["reason"]
    assert "there is now 'Pain noir'" in reason
    assert "has sent this answer, or may have." in reason
    assert [1] == counts(exchange, [one])


def test_an_import_that_the_service_does_not_know_can_be_given_up(exchange: AnsweredExchange) -> None:
    """It may appear later, as after a 404; only somebody who knows better sends it again."""
    path, gtins = exchange.worklist(2)
    with exchange.holding():
        exchange.read(path).apply(exchange.service, progress=False)
        exchange.sandbox.order(Fault("404", endpoint="track"))
        fix = exchange.read(path)
        assert {"unknown": 2} == fix.apply(exchange.service, progress=False).statuses
        assert [1, 1] == counts(exchange, gtins)
        fix.apply(exchange.service, also="unknown", progress=False)
    assert [2, 2] == counts(exchange, gtins)


def test_another_access_key_sends_its_own(exchange: AnsweredExchange) -> None:
    """What another organisation has sent is not followed with a key that cannot see it."""
    path, gtins = exchange.worklist(2)
    with exchange.holding():
        exchange.read(path).apply(exchange.service, progress=False)
        key = exchange.sandbox.credentials[1]
        other = prodex.connect(
            base_url=exchange.sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        assert [] == exchange.read(path).apply(other, progress=False).continues
    assert [2, 2] == counts(exchange, gtins)


@pytest.mark.slow
def test_the_command_continues_and_says_so(
    exchange: AnsweredExchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice the same: the second run names what it continues, and sends nothing."""
    path, gtins = exchange.worklist()
    interrupt(exchange.read(path), exchange, "after", 10)
    for name, value in exchange.environment.items():
        monkeypatch.setenv(name, value)
    exchange.catalog.save("shop")
    profile = path.with_name("own.toml")
    profile.write_text('title = "Own"\n[checks.valid_gtin]\n', "utf-8")
    words = ["fix", str(path), "--snapshot", "shop", "--profile", str(profile), "--send", "--wait"]
    words += ["--service", exchange.sandbox.base_url]
    first, second = (CliRunner().invoke(app, words) for _ in range(2))
    assert (0, 0) == (first.exit_code, second.exit_code), first.output + second.output
    assert "what was sent before was not sent again" in first.stderr
    assert "Nothing is left to send: the upsert" in second.stderr
    assert "7 SUCCESS" in first.stderr
    assert "7 SUCCESS" in second.stderr
    assert [1] * 7 == counts(exchange, gtins)


@pytest.mark.slow
def test_what_was_judged_is_not_judged_again(exchange: AnsweredExchange) -> None:
    """One request in full, a last look, one before each call; rules run once more only where a product has changed."""
    judged = []

    @prodex.packs.rule(title="counted")
    def counted_here(products: Products) -> prodex.packs.Verdict:
        judged.append(len(products))
        return prodex.packs.Verdict([False] * len(products))

    def read(path: Path) -> prodex.worklists.Fix:
        fix = prodex.read_worklist(path, exchange.catalog, profile={"checks": {"counted_here": {}}})
        judged.clear()
        return fix

    path, gtins = exchange.worklist()
    fix = read(path)
    before = len(exchange.sandbox.requests)
    applied(fix, exchange)
    lists = [body for _, path, body in exchange.sandbox.requests[before:] if path.endswith("/list")]
    full = [one for one in lists if not one.get("filter_source_include") and one["limit"] > 1]
    assert (2, 9, []) == (len(full), len(lists), judged)

    path, gtins = exchange.worklist()
    fix = read(path)
    key = int(gtins[0][:-1])
    exchange.sandbox.change(
        [record(key, gtins[0], namePublicLong=[text("fra-FR", f"PAIN {key}")], lifeCycle=2)]
    )
    applied(fix, exchange)
    assert 2 * PRODUCTS == sum(judged)  # as they are, and as they would be


@pytest.mark.slow
def test_kills_and_interrupts_of_the_command_send_nothing_twice(tmp_path: Path, home: Path) -> None:
    """A few of them; `python -m tests.soak answers` does sixty."""
    found = interrupt_often(tmp_path, home, 4)
    assert found.kills
    assert ([], [], 4) == (found.twice, found.unaccounted, found.kills + found.interrupts)
