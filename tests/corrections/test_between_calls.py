"""What somebody changes while an upsert of several calls is on its way is not sent: by corrections nor by an undo."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import requests

import prodex
from prodex import operations as do
from prodex.sandbox import Fault
from tests.corrections.machines import Machines, machines, names
from tests.on_the_way import carried, session_of
from tests.send.mill_exchange import gtin
from tests.worklists.interrupting import settle

#: Products, in calls of two.
ALL = (1, 2, 3, 4, 5)

#: What is done to product 4 while the first call is posted: the service has it in the end.
MEANWHILE: dict[str, Callable[[Machines], object]] = {
    "the same text": lambda mill: changed(mill, 4, namePublicLong=names("Encore autre")),
    "the same text, within the second": lambda mill: changed(
        mill, 4, moves=False, namePublicLong=names("Encore autre")
    ),
    "another attribute": lambda mill: changed(
        mill, 4, moves=False, lifeCycle=7, updatedAt="2032-01-01T12:00:00"
    ),
    "an update that waits, within the second": lambda mill: changed(
        mill, 4, moves=False, lastRequest={"namePublicLong": names("En attente")}
    ),
    "it is gone": lambda mill: mill.sandbox.remove([4]),
}


@pytest.fixture
def mill(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    """Give a manufacturer who sends two products in a call."""
    monkeypatch.setattr(sys.modules["prodex.send.upsert"], "LARGEST_BATCH", 2)
    with machines() as found:
        yield found


def changed(mill: Machines, number: int, *, moves: bool = True, **attributes: Any) -> None:
    """Change a product as somebody does who has another machine."""
    mill.sandbox.change([stored(mill)[number] | attributes], moves_updated_at=moves)


def stored(mill: Machines) -> dict[int, dict[str, Any]]:
    """Return what the service has."""
    page = mill.service.search_products(prodex.ProductQuery(gtins_in=[gtin(n) for n in ALL]), limit=50)
    return {one["id"]: one for one in map(json.loads, map(bytes, page.envelope.data))}


def french(mill: Machines) -> dict[int, str]:
    """Return the French names that the service has."""
    return {
        number: next(t["data"] for t in one["namePublicLong"] if t["expressedIn"]["code"] == "fra-FR")
        for number, one in stored(mill).items()
    }


def received(mill: Machines) -> Counter[str]:
    """Return how often the service received each product."""
    bodies = [body for _, path, body in mill.sandbox.requests if path.endswith("/products")]
    return Counter(gtin(n) for n in ALL for one in bodies if gtin(n) in str(one))


@contextmanager
def while_posted(mill: Machines, what: Callable[[Machines], object], call: int = 1) -> Iterator[None]:
    """Do something while a call is posted: after it has arrived, and before its reply."""
    calls = []

    def carry(_: requests.PreparedRequest, send: Callable[[], requests.Response]) -> requests.Response:
        reply = send()
        calls.append(reply)
        if len(calls) == call:
            what(mill)
        return reply

    with carried("upsert", carry, session_of(mill.service)):
        yield


def corrected(mill: Machines) -> prodex.worklists.Fix:
    """Correct the French name of all products."""
    return prodex.correct(mill.load(), "namePublicLong", do.ReplaceText("Name", "Nom"), language="fr")


def by_fix(mill: Machines) -> prodex.send.Tracking:
    """Send corrections of many products."""
    return corrected(mill).apply(mill.service, progress=False)


def by_undo(mill: Machines) -> prodex.send.Tracking:
    """Take back what was written before; the products are then what they are after `by_fix`."""
    with while_posted(mill, lambda _: None):
        records = [{"gtin": gtin(n), "namePublicLong": names(f"Name {n} fr")} for n in ALL]
        prodex.upsert(mill.service, records, progress=False).wait(progress=False)
    return prodex.undo("last", mill.service).apply(mill.service, progress=False)


def by_changes(mill: Machines, **options: Any) -> prodex.send.Tracking:
    """Send corrections of a frame."""
    catalog = mill.load()
    frame = catalog.texts.query("attribute == 'namePublicLong' and language == 'fr'")
    changes = catalog.changes_from(frame.assign(text=frame["text"].str.replace("Name", "Nom")), language="fr")
    return prodex.upsert(mill.service, changes, progress=False, batch_size=2, **options)


WAYS: dict[str, Callable[[Machines], prodex.send.Tracking]] = {
    "corrections": by_fix,
    "undo": by_undo,
    "changes": by_changes,
    "changes as XML": lambda mill: by_changes(mill, format="xml"),
}


# What is sent is chosen before it is written, as JSON or as XML: one change is enough for XML.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "meanwhile"),
    [
        (way, meanwhile)
        for way in WAYS
        for meanwhile in MEANWHILE
        if "XML" not in way or meanwhile == "the same text"
    ],
)
def test_what_changes_while_the_first_call_is_posted_is_not_sent(
    mill: Machines, way: str, meanwhile: str
) -> None:
    """It is named, the others arrive, and the service has what somebody else has made of it."""
    if way == "undo":
        for number in ALL:
            mill.elsewhere(number, namePublicLong=names(f"Nom {number} fr"))
        records = [{"gtin": gtin(n), "namePublicLong": names(f"Name {n} fr")} for n in ALL]
        prodex.upsert(mill.service, records, progress=False).wait(progress=False)
    before = received(mill)
    with while_posted(mill, MEANWHILE[meanwhile]):
        if way == "undo":
            tracking = prodex.undo("last", mill.service).apply(mill.service, progress=False)
        else:
            tracking = WAYS[way](mill)
    theirs = stored(mill).get(4)
    tracking.wait(progress=False)

    expected = {gtin(n): "not sent" if n == 4 else "SUCCESS" for n in ALL}
    told = tracking.products.set_index("gtin")
    assert expected == told["status"].to_dict()
    assert ("no longer" if meanwhile == "it is gone" else "somebody has changed") in told["message"][gtin(4)]
    assert {gtin(n): 0 if n == 4 else 1 for n in ALL} == {
        gtin(n): received(mill)[gtin(n)] - before[gtin(n)] for n in ALL
    }
    assert theirs == stored(mill).get(4)
    assert {n: f"Nom {n} fr" for n in (1, 2, 3, 5)} == {n: t for n, t in french(mill).items() if n != 4}
    assert "not sent" == tracking.status
    # A later process knows the same, and never sends it: nobody would look again.
    again = prodex.track(mill.service, upsert=tracking.name)
    assert expected == again.products.set_index("gtin")["status"].to_dict()
    assert {"sent": 4, "not_sent": 1} == {
        name: int(prodex.list_upserts()[name][0]) for name in ("sent", "not_sent")
    }
    again.send_rest(progress=False)
    assert before[gtin(4)] == received(mill)[gtin(4)]


@pytest.mark.slow
def test_the_same_answers_again_judge_what_was_left_out(mill: Machines) -> None:
    """What still stands is sent, merged with what is there now; what somebody has overwritten is a conflict."""
    fix = corrected(mill)

    def meanwhile(_: Machines) -> None:
        changed(mill, 4, lifeCycle=7)
        changed(mill, 5, namePublicLong=names("Encore autre"))

    with while_posted(mill, meanwhile):
        first = fix.apply(mill.service, progress=False)
    assert (2, 5) == (first.statuses["not sent"], first.statuses.total())
    assert "5 answers: 3 sent, 2 not sent yet" in repr(fix)
    settle(mill.sandbox)
    second = fix.apply(mill.service, progress=False).wait(progress=False)
    assert [first.name] == second.continues
    assert {"accepted": 4, "conflict": 1} == dict(fix.counts)
    assert {1: "Nom 1 fr", 2: "Nom 2 fr", 3: "Nom 3 fr", 4: "Nom 4 fr", 5: "Encore autre"} == french(mill)
    assert ({"SUCCESS"}, 7) == (set(second.statuses), stored(mill)[4]["lifeCycle"])
    assert {gtin(n): 1 for n in (1, 2, 3, 4)} == dict(received(mill))
    # Both are taken back together, and each product is what it was before the one that wrote it.
    prodex.undo(second).apply(mill.service, progress=False).wait(progress=False)
    assert {n: f"Name {n} fr" for n in (1, 2, 3, 4)} | {5: "Encore autre"} == french(mill)


def test_a_call_whose_products_have_all_changed_is_not_made(mill: Machines) -> None:
    """The calls behind it are."""

    def meanwhile(_: Machines) -> None:
        for number in (3, 4):
            changed(mill, number, lifeCycle=7)

    with while_posted(mill, meanwhile):
        tracking = by_fix(mill).wait(progress=False)
    assert {"SUCCESS": 3, "not sent": 2} == dict(tracking.statuses)
    assert 2 == len([path for _, path, _ in mill.sandbox.requests if path.endswith("/products")])
    assert not prodex.list_upserts()["keeps_products"][0]
    assert (
        "since it was requested for this upsert. What was changed meanwhile is not sent" in tracking.message
    )
    assert "apply the answers again" in tracking.message
    assert "send_rest() sends" not in tracking.message


@pytest.mark.slow
def test_one_search_more_for_each_call(mill: Machines) -> None:
    """Nothing is looked at twice that is sent in one call."""
    catalog = mill.load()

    def looks(chosen: prodex.Catalog) -> list[int]:
        before = len(mill.sandbox.requests)
        fix = prodex.correct(chosen, "namePublicLong", do.ReplaceText("Name", "Nom"))
        fix.apply(mill.service, progress=False).wait(progress=False)
        bodies = [body for _, path, body in mill.sandbox.requests[before:] if path.endswith("/list")]
        asked = [one for one in bodies if "namePublicLong" in (one.get("filter_source_include") or ())]
        return [one["limit"] for one in asked]

    rest = catalog.where(gtin=[gtin(n) for n in (3, 4, 5)])
    assert [[], [2, 1]] == [looks(catalog.head(2)), looks(rest)]


@pytest.mark.slow
def test_if_they_cannot_be_looked_at_the_rest_is_not_sent(mill: Machines) -> None:
    """What was sent is known, and the same answers send the rest."""
    fix = corrected(mill)

    def away(_: Machines) -> None:
        mill.sandbox.order(Fault("404", endpoint="list"))

    with while_posted(mill, away):
        tracking = fix.apply(mill.service, progress=False)
    settle(mill.sandbox)
    assert {"SUCCESS": 2, "not sent": 3} == dict(tracking.refresh().statuses)
    mill.sandbox.clear_faults()
    assert {"SUCCESS": 5} == dict(fix.apply(mill.service, progress=False).wait(progress=False).statuses)
    assert {gtin(n): 1 for n in ALL} == dict(received(mill))


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_end_in_the_call_behind_what_was_left_out_is_accounted_for(mill: Machines, moment: str) -> None:
    """What was left out stays "not sent", what was on its way is unknown."""

    def ends(_: Machines) -> None:
        raise KeyboardInterrupt

    fix = corrected(mill)

    def carry(request: requests.PreparedRequest, send: Callable[[], requests.Response]) -> requests.Response:
        assert isinstance(request.body, bytes)
        is_second = gtin(3).encode() in request.body
        if is_second and moment == "before":
            raise KeyboardInterrupt
        made = send()
        if is_second:
            raise KeyboardInterrupt
        changed(mill, 4, namePublicLong=names("Encore autre"))
        return made

    with carried("upsert", carry, session_of(mill.service)), pytest.raises(KeyboardInterrupt):
        fix.apply(mill.service, progress=False)
    settle(mill.sandbox)
    found = prodex.track(mill.service).products.set_index("gtin")["status"].to_dict()
    assert {1: "SUCCESS", 2: "SUCCESS", 3: "unknown", 4: "not sent", 5: "not sent"} == {
        n: found[gtin(n)] for n in ALL
    }
    again = fix.apply(mill.service, progress=False).wait(progress=False)
    statuses = again.products.set_index("gtin")["status"].to_dict()
    assert ("SUCCESS" if moment == "after" else "unknown") == statuses[gtin(3)]
    assert (gtin(4), "conflict") in set(fix.answers[["gtin", "state"]].itertuples(index=False, name=None))
    assert "Encore autre" == french(mill)[4]
    assert 1 >= max(received(mill).values())
