"""Taking back what was sent: exactly what it wrote, nothing that was changed since, and by name what cannot be."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

import prodex
from prodex.cli import app
from prodex.corrections.undo import _answers, _Write
from prodex.errors import InputError, ServiceError
from prodex.ledger.earlier_records import EarlierRecord, forget_earlier_records, pack_records
from prodex.ledger.upsert_file import UPSERT_FILE, UpsertFile, ledger_folder
from prodex.sandbox import Behaviour, Fault
from prodex.worklists.fix import make_fix
from prodex.worklists.returned_files import Returned
from prodex.worklists.text_corrections import NO_RULES
from tests.corrections.machines import Machines, machines, names
from tests.corrections.undoing import said, undo_often
from tests.ledgered import contents, spoil, write
from tests.on_the_way import carried, ending_with, session_of
from tests.send.mill_exchange import KIOSK, MILL, client, gtin, small_exchange, text
from tests.worklists.interrupting import settle


@pytest.fixture
def mill() -> Iterator[Machines]:
    """Give a manufacturer at this machine and at another one."""
    with machines() as found:
        yield found


def record(mill: Machines, number: int = 1) -> dict[str, Any]:
    """Return what the service has of a product."""
    page = mill.service.search_products(prodex.ProductQuery(gtins_in=[gtin(number)]))
    (found,) = page.envelope.data
    return dict(json.loads(bytes(found)))


def value(mill: Machines, attribute: str, number: int = 1) -> Any:
    """Return an attribute as it compares."""
    return compared(record(mill, number).get(attribute))


def compared(found: Any) -> Any:
    """Return a value as it compares: null is no value, and the service notes a time itself."""
    made = None if found == [] else said(found)
    return (
        {name: one for name, one in made.items() if name != "lastUpdatedAt"}
        if isinstance(made, dict)
        else made
    )


def states(fix: prodex.worklists.Fix) -> dict[str, str]:
    """Return the state of each answer by its attribute and language."""
    return {
        f"{row.attribute} {row.language or ''}".strip(): str(row.state) for row in fix.answers.itertuples()
    }


def reasons(fix: prodex.worklists.Fix) -> str:
    """Return all reasons."""
    return " ".join(fix.answers["reason"])


CASES: dict[str, dict[str, Any]] = {
    "a text is changed": {"namePublicLong": names("Autre")},
    "a text is added": {
        "namePublicLong": [*names("Name 1 fr"), {"expressedIn": {"code": "ita-IT"}, "data": "N"}]
    },
    "texts are taken away": {"namePublicLong": [text("fra-FR", "Name 1 fr")]},
    "a second text of one language": {"description": [text("fra-FR", "Bon"), text("fra-FR", "Bien")]},
    "an attribute is added": {
        "brand": {"code": "ACME"},
        "netContent": [{"data": 1.5, "expressedIn": {"code": "KGM"}}],
    },
    "an attribute is deleted": {"description": None, "lifeCycle": None},
    "null and an empty list are filled": {
        "composition": [text("fra-FR", "riz")],
        "allergens": [text("fra-FR", "lait")],
    },
    "numbers and booleans": {"lifeCycle": 2, "isConsumerUnit": False},
    "a list in a list": {
        "productBenefits": [
            {"rank": 1, "text": [text("fra-FR", "lourd"), text("eng-GB", "light")]},
            {"rank": 2, "text": [text("fra-FR", "rond"), text("eng-GB", "round")]},
            {"rank": 3, "text": []},
        ]
    },
    "pictures": {
        "assets": {
            "pictures": [
                {"url": "https://example.com/1.jpg", "isPackshot": False},
                {"url": "https://example.com/2.jpg", "isPackshot": True},
            ],
            "documents": [],
        }
    },
    "what looks like the grammar of a cell": {
        "namePublicLong": names("delete"),
        "description": [text("fra-FR", "-")],
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_write_is_taken_back_to_what_was_before(mill: Machines, case: str) -> None:
    """Value by value; an undo of the undo restores what was sent."""
    before = record(mill)
    tracking = (
        mill.here(**CASES[case]) if None not in CASES[case].values() else _with_nulls(mill, CASES[case])
    )
    sent = {name: value(mill, name) for name in CASES[case]}
    undone = prodex.undo(tracking).apply(mill.service, progress=False).wait(progress=False)
    assert "SUCCESS" == undone.status
    assert {name: compared(before.get(name)) for name in sent} == {name: value(mill, name) for name in sent}
    assert {"unchanged"} == set(states(prodex.undo(tracking)).values())

    prodex.undo(undone).apply(mill.service, progress=False).wait(progress=False)
    assert sent == {name: value(mill, name) for name in sent}


def test_an_amount_that_was_a_text_is_restored_as_one(mill: Machines) -> None:
    """It looks like a text in a language, and is found by its unit, which changes as well."""
    there = [{"data": "500", "expressedIn": {"code": "GRM"}, "sort": 1}]
    mill.sandbox.change([{**record(mill), "netContent": there}])
    tracking = mill.here(netContent=[{"data": 0.5, "expressedIn": {"code": "KGM"}, "sort": 1}])
    fix = prodex.undo(tracking)
    assert "accepted" == states(fix)["netContent"], reasons(fix)
    assert [["0.5 KGM", "500"]] == fix.preview()[["before", "after"]].to_numpy().tolist()


@pytest.mark.slow
def test_the_order_of_a_list_is_restored(mill: Machines) -> None:
    """That of an item that was taken out of its middle, and that of items that were only moved; one row each.

    All of one product: an undo that leads back to the same list as an earlier one is not taken for that.
    """
    wrong = []
    codes = {one: [{"code": code} for code in one] for one in ("ABC", "AC", "CAB", "XABC")}
    mill.elsewhere(isDerivedFrom=codes["ABC"])
    for sent in ("AC", "CAB", "XABC"):
        fix = prodex.undo(mill.here(isDerivedFrom=codes[sent]))
        rows = fix.accepted["attribute"].tolist().count("isDerivedFrom")
        fix.apply(mill.service, progress=False).wait(progress=False)
        found = [one["code"] for one in record(mill)["isDerivedFrom"]]
        if (rows, found) != (1, [*"ABC"]):
            wrong.append((sent, rows, found))
    assert [] == wrong


def test_an_order_of_what_is_gone_is_a_conflict(mill: Machines) -> None:
    """There is no list any more; what it held is not put back."""
    mill.elsewhere(isDerivedFrom=[{"code": code} for code in "ABC"])
    tracking = mill.here(isDerivedFrom=[{"code": code} for code in "CAB"])
    mill.elsewhere(isDerivedFrom=None)
    fix = prodex.undo(tracking)
    assert {"conflict": 1} == dict(fix.counts)
    assert "there is now nothing in place of 'C; A; B'" in reasons(fix)


def test_an_order_is_restored_beside_what_others_have_added(mill: Machines) -> None:
    """What is there stays, and is not taken for what was moved."""
    mill.elsewhere(isDerivedFrom=[{"code": code} for code in "ABC"])
    tracking = mill.here(isDerivedFrom=[{"code": code} for code in "CAB"])
    mill.elsewhere(isDerivedFrom=[{"code": code} for code in "CABX"])
    fix = prodex.undo(tracking)
    assert [("C; A; B", "A; B; C")] == list(
        fix.preview()[["before", "after"]].itertuples(index=False, name=None)
    )
    fix.apply(mill.service, progress=False).wait(progress=False)
    assert [*"ABCX"] == [one["code"] for one in record(mill)["isDerivedFrom"]]


def _with_nulls(mill: Machines, attributes: dict[str, Any]) -> prodex.send.Tracking:
    product = {"gtin": gtin(1), "namePublicLong": names("Name 1 fr"), **attributes}
    return prodex.upsert(mill.service, [product], null_deletes=True, progress=False).wait(progress=False)


def test_what_somebody_has_changed_since_is_a_conflict_and_stays(mill: Machines) -> None:
    """The other leaves are restored, and what was added beside them stays."""
    tracking = mill.here(namePublicLong=names("Autre"), lifeCycle=2, brand={"code": "ACME"})
    others = [*names("Encore autre"), text("fra-FR", "x") | {"expressedIn": {"code": "ita-IT"}}]
    mill.elsewhere(namePublicLong=others, brand={"code": "OTHER"})
    fix = prodex.undo(tracking)
    assert {"namePublicLong fr": "conflict", "lifeCycle": "accepted", "brand": "conflict"} == states(fix)
    assert "'Encore autre' in place of 'Autre'" in reasons(fix)
    fix.apply(mill.service, progress=False).wait(progress=False)
    assert (said(others), "OTHER", 1) == (
        value(mill, "namePublicLong"),
        value(mill, "brand"),
        value(mill, "lifeCycle"),
    )


def test_what_changes_after_the_preview_is_not_overwritten(mill: Machines) -> None:
    """The products are requested once more before anything is sent."""
    tracking = mill.here(namePublicLong=names("Autre"), lifeCycle=2)
    fix = prodex.undo(tracking)
    mill.elsewhere(namePublicLong=names("Encore autre"))
    fix.apply(mill.service, progress=False).wait(progress=False)
    assert (said(names("Encore autre")), 1) == (value(mill, "namePublicLong"), value(mill, "lifeCycle"))


def test_an_undo_of_corrections_of_a_fix(mill: Machines) -> None:
    """It keeps the products that it was judged by, and its undo says whose it is."""
    correction = prodex.TextCorrection("1", "namePublicLong", "fr", "Autre", before="Name 1 fr")
    tracking = (
        prodex.correct_from([correction], mill.load())
        .apply(mill.service, progress=False)
        .wait(progress=False)
    )
    fix = prodex.undo(tracking)
    assert [("Autre", "Name 1 fr")] == list(
        fix.preview()[["before", "after"]].itertuples(index=False, name=None)
    )
    fix.apply(mill.service, progress=False).wait(progress=False)
    assert [f"undo of {tracking.name}", "corrections that were typed"] == prodex.list_upserts()[
        "why"
    ].tolist()
    assert said(names("Name 1 fr")) == value(mill, "namePublicLong")


def test_a_product_that_was_new_cannot_be_taken_back(mill: Machines) -> None:
    """It is named, and the others are restored."""
    products = [
        {"gtin": gtin(77), "namePublicLong": names("Neuf"), "kind": {"code": "70020"}},
        {"gtin": gtin(1), "namePublicLong": names("Autre")},
    ]
    tracking = prodex.upsert(mill.service, products, progress=False).wait(progress=False)
    fix = prodex.undo(tracking)
    assert {"accepted": 1, "refused": 1} == dict(fix.counts)
    assert (gtin(77), True) == (fix.refused["gtin"][0], "did not list the product before" in reasons(fix))


def test_a_name_that_the_service_requires_is_not_taken_away(mill: Machines) -> None:
    """What the service would refuse is refused here."""
    mill.elsewhere(2, namePublicLong=None, nameLegal=names("Loi"), namePublicShort=None)
    tracking = mill.here(2, namePublicLong=names("Autre"))
    mill.elsewhere(2, nameLegal=None, namePublicLong=names("Autre"))
    fix = prodex.undo(tracking)
    assert {"refused"} == set(states(fix).values()), reasons(fix)


def test_a_product_that_is_gone_is_a_conflict(mill: Machines) -> None:
    """By its id."""
    tracking = mill.here(lifeCycle=2)
    others = mill.load().where(product_id=["2"])
    fix = prodex.undo(tracking, catalog=others)
    assert {"conflict": 1} == dict(fix.counts)
    assert "product 1 is gone" in reasons(fix)


def test_an_update_that_waits_for_acceptance_is_not_called_undone(mill: Machines) -> None:
    """What was sent may still come, though the product has its earlier value."""
    tracking = mill.here(lifeCycle=2, brand={"code": "ACME"})
    mill.elsewhere(lifeCycle=1)
    waiting = prodex.flatten([{**record(mill), "brand": None, "lastRequest": {"lifeCycle": 2}}])
    fix = prodex.undo(tracking, catalog=waiting)
    assert {"lifeCycle": "refused", "brand": "unchanged"} == states(fix)
    assert "waits for acceptance" in reasons(fix)


def test_what_the_service_did_not_take_has_nothing_to_take_back(mill: Machines) -> None:
    """What it has there now is of somebody else, even if it is what was sent."""
    products = [
        {"gtin": gtin(1), "namePublicLong": names("Autre"), "allergens": [{"code": "MILK"}]},
        {"gtin": gtin(2), "namePublicLong": [text("fra-FR", "Autre")]},
    ]
    tracking = prodex.upsert(mill.service, products, progress=False).wait(progress=False)
    assert ["ERROR", "SUCCESS"] == tracking.products["status"].tolist()
    fix = prodex.undo(tracking)
    by_product = fix.answers.groupby("product_id")["state"].agg(set).to_dict()
    assert ({"unchanged"}, {"accepted"}) == (by_product["1"], by_product["2"])
    mill.elsewhere(namePublicLong=names("Autre"))
    fix = prodex.undo(tracking)
    assert "refused" in set(fix.answers.query("product_id == '1'")["state"])
    assert "did not write it (ERROR" in reasons(fix)


def test_a_lost_reply_is_unknown_and_only_what_is_seen_is_taken_back(mill: Machines) -> None:
    """One call arrived without a reply, the other one did not."""
    mill.sandbox.order(Fault("truncated", 1, endpoint="upsert"), Fault("cut", 2, endpoint="upsert"))
    products = [{"gtin": gtin(n), "namePublicLong": names(f"Name {n} fr"), "lifeCycle": 2} for n in (1, 2)]
    tracking = prodex.upsert(mill.service, products, batch_size=1, progress=False)
    assert ["unknown"] * 2 == tracking.products["status"].tolist()
    settle(mill.sandbox)
    fix = prodex.undo(tracking)
    found = fix.answers.query("attribute == 'lifeCycle'").set_index("product_id")
    assert ("accepted", "refused") == (found.loc["1", "state"], found.loc["2", "state"])
    assert "it is not known whether it arrived" in found.loc["2", "reason"]


def test_an_import_that_has_not_ended_is_said() -> None:
    """Nothing is taken back of what is not there yet."""
    with small_exchange(Behaviour(import_delay=30)) as sandbox:
        service = client(sandbox, MILL)
        tracking = prodex.upsert(
            service, [{"gtin": gtin(1), "namePublicLong": names("Autre")}], progress=False
        )
        fix = prodex.undo(tracking)
    assert {"refused"} == set(states(fix).values())
    assert "its import has not ended" in reasons(fix)


@pytest.mark.slow
@pytest.mark.parametrize("word", ["last", "1", 1, "name"])
def test_an_upsert_is_named_as_the_list_names_it(mill: Machines, word: Any) -> None:
    """By its name, by its number, or as the last one."""
    mill.here(lifeCycle=3)
    tracking = mill.here(lifeCycle=2)
    fix = prodex.undo(tracking.name if word == "name" else word, mill.service)
    assert ["3"] == fix.preview()["after"].tolist()
    assert f"undo of {tracking.name}" == fix.why


def test_a_tracking_by_identifiers_is_found_as_well(mill: Machines) -> None:
    """If it was sent from here."""
    tracking = mill.here(lifeCycle=2)
    assert {"accepted": 1} == dict(prodex.undo(prodex.track(mill.service, tracking.tracking_ids)).counts)
    mill.elsewhere(lifeCycle=4)
    with pytest.raises(InputError, match="not sent from this machine"):
        prodex.undo(prodex.track(mill.service, 2))


@pytest.mark.slow
@pytest.mark.parametrize("given", [None, 1.5, True, "x", 0, 3, "3", b"last", ["last"]])
def test_what_names_no_upsert_is_refused(mill: Machines, given: Any) -> None:
    """With what to give instead."""
    mill.here()
    with pytest.raises(InputError, match=r"list_upserts"):
        prodex.undo(given, mill.service)


@pytest.mark.slow
def test_an_interrupted_undo_is_not_mistaken_for_what_it_takes_back(mill: Machines) -> None:
    """The word "last" would redo what was undone."""
    tracking = mill.here(lifeCycle=2)

    def ends(*_: Any) -> Any:
        raise KeyboardInterrupt

    with carried("upsert", ends, session_of(mill.service)), pytest.raises(KeyboardInterrupt):
        prodex.undo(tracking).apply(mill.service, progress=False)
    for word in ("last", 1):
        with pytest.raises(InputError, match=f"{tracking.name} continues that undo"):
            prodex.undo(word, mill.service)
    fix = prodex.undo(tracking.name or "", mill.service)
    assert {"accepted": 1} == dict(fix.counts)
    # It was being sent when the process ended: nobody knows whether it arrived, and it is not sent again by itself.
    fix.apply(mill.service, progress=False).wait(progress=False)
    assert ({"unknown": 1}, "it may have been sent" in reasons(fix)) == (dict(fix.outcomes), True)
    assert 2 == value(mill, "lifeCycle")
    fix = prodex.undo(tracking.name or "", mill.service)
    fix.apply(mill.service, also="unknown", progress=False).wait(progress=False)
    assert 1 == value(mill, "lifeCycle")


def test_without_earlier_records_the_reason_is_said(mill: Machines) -> None:
    """They were removed, or never kept."""
    tracking = mill.here(lifeCycle=2)
    forget_earlier_records(tracking.name)
    with pytest.raises(InputError, match="they were removed"):
        prodex.undo(tracking)
    kept = {"gtin": gtin(1), "namePublicLong": names("Autre")}
    with pytest.raises(InputError, match="keep_before=False"):
        prodex.undo(prodex.upsert(mill.service, [kept], keep_before=False, progress=False))


def test_a_damaged_entry_is_named_and_the_others_are_taken_back(mill: Machines) -> None:
    """Its product stays as it is."""
    products = [{"gtin": gtin(n), "namePublicLong": names("Autre")} for n in (1, 2)]
    tracking = prodex.upsert(mill.service, products, progress=False).wait(progress=False)
    (path,) = ledger_folder().glob(f"*/{UPSERT_FILE}")
    spoil(path, "records", 1)
    fix = prodex.undo(tracking)
    found = fix.answers.groupby("product_id")["state"].agg(set).to_dict()
    assert ({"accepted"}, {"refused"}) == (found["1"], found["2"])
    assert "it is not known how the product was before" in reasons(fix)


#: What became of the rows with the products as they were, by what is wrong; and whether the first one is still there.
DESTROYED: dict[str, tuple[Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]], bool]] = {
    "the second product is not there": (lambda rows: rows[:1], True),
    "the second product is empty": (lambda rows: [rows[0], (gtin(2), b"")], True),
    "zeros": (lambda rows: [(name, bytes(len(content))) for name, content in rows], False),
    "garbage": (lambda rows: [(name, random.Random(1).randbytes(99)) for name, _ in rows], False),
    "other products": (
        lambda _: pack_records([{"gtin": gtin(5), "lifeCycle": 3}], [{"id": 5, "gtin": gtin(5)}]),
        False,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("is_correction", [True, False])
def test_each_product_whose_earlier_record_is_destroyed_is_refused_by_name(
    mill: Machines, monkeypatch: pytest.MonkeyPatch, is_correction: bool
) -> None:
    """Nobody knows how it was before, so "nothing to take back" would not be true; and the command exits with 1."""
    given = [
        prodex.TextCorrection(str(n), "namePublicLong", "fr", f"Autre {n}", before=f"Name {n} fr")
        for n in (1, 2)
    ]
    if is_correction:
        tracking = prodex.correct_from(given, mill.load()).apply(mill.service, progress=False)
    else:
        products = [{"gtin": gtin(n), "namePublicLong": names(f"Autre {n}")} for n in (1, 2)]
        tracking = prodex.upsert(mill.service, products, progress=False)
    tracking.wait(progress=False)
    (path,) = ledger_folder().glob(f"*/{UPSERT_FILE}")
    whole = path.read_bytes()
    rows = list(zip([gtin(1), gtin(2)], contents(path, "records"), strict=True))
    for name, value_ in mill.environment.items():
        monkeypatch.setenv(name, value_)
    for case, (destroyed, is_there) in DESTROYED.items():
        path.write_bytes(whole)
        write(path, "records", destroyed(rows))
        fix = prodex.undo(tracking)
        found = fix.answers[["gtin", "state"]].itertuples(index=False, name=None)
        first = "accepted" if is_there else "refused"
        assert [(gtin(1), first), (gtin(2), "refused")] == sorted(found), case
        assert "it is not known how the product was before" in fix.refused["reason"].iloc[-1]
        done = CliRunner().invoke(app, ["undo", str(tracking.name), "--show", "refused"])
        assert (1, True) == (done.exit_code, gtin(2) in done.stdout), case


def test_an_upsert_whose_file_is_destroyed_is_refused_by_its_name(mill: Machines) -> None:
    """Nobody knows what it was: "nothing to take back" would not be true."""
    tracking = prodex.upsert(
        mill.service, [{"gtin": gtin(1), "namePublicLong": names("Autre")}], progress=False
    ).wait(progress=False)
    (path,) = ledger_folder().glob(f"*/{UPSERT_FILE}")
    for left in (b"", path.read_bytes()[:5_000], bytes(40_000)):
        path.write_bytes(left)
        with pytest.raises(InputError, match=f"{tracking.name}.* cannot be read"):
            prodex.undo(tracking)


def test_a_product_that_is_gone_with_its_earlier_record_is_named_by_its_gtin(mill: Machines) -> None:
    """Its id is in no record any more."""
    tracking = prodex.upsert(
        mill.service, [{"gtin": gtin(1), "namePublicLong": names("Autre")}], progress=False
    )
    (path,) = ledger_folder().glob(f"*/{UPSERT_FILE}")
    spoil(path, "records", 0)
    fix = prodex.undo(tracking, catalog=mill.load().where(product_id=["2"]))
    assert [[gtin(1), "conflict"]] == fix.answers[["gtin", "state"]].to_numpy().tolist()


def _interrupted(mill: Machines, monkeypatch: pytest.MonkeyPatch) -> list[prodex.TextCorrection]:
    """Correct three products in three calls, and end during the second one."""
    given = [
        prodex.TextCorrection(str(n), "namePublicLong", "fr", f"Autre {n}", before=f"Name {n} fr")
        for n in (1, 2, 3)
    ]
    monkeypatch.setattr(sys.modules["prodex.send.upsert"], "LARGEST_BATCH", 1)
    catalog = mill.load()

    with ending_with(mill.service, gtin(2)), pytest.raises(KeyboardInterrupt):
        prodex.correct_from(given, catalog).apply(mill.service, progress=False)
    return given


@pytest.mark.slow
def test_upserts_that_continue_one_another_are_taken_back_together(
    mill: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of them is named."""
    given = _interrupted(mill, monkeypatch)
    again = prodex.correct_from(given, mill.load())
    again.apply(mill.service, also="unknown", progress=False).wait(progress=False)
    newest, oldest = prodex.list_upserts()["name"]
    assert [oldest] == list(UpsertFile(ledger_folder() / newest / UPSERT_FILE).plan.continues)
    for name in (newest, oldest):
        assert {"accepted": 3} == dict(prodex.undo(name, mill.service).counts)
    prodex.undo(oldest, mill.service).apply(mill.service, progress=False).wait(progress=False)
    for number in (1, 2, 3):
        assert f"Name {number} fr" in json.dumps(value(mill, "namePublicLong", number))


@pytest.mark.slow
def test_what_was_not_continued_is_named_as_well(mill: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody has changed the product whose call was lost, so that only the third one was left to send."""
    given = _interrupted(mill, monkeypatch)
    mill.elsewhere(2, namePublicLong=names("Encore autre"))
    again = prodex.correct_from(given, mill.load())
    again.apply(mill.service, also="unknown", progress=False).wait(progress=False)
    found = prodex.undo("last", mill.service).answers.set_index("product_id")["state"].to_dict()
    assert {"1": "accepted", "2": "conflict", "3": "accepted"} == found


def test_another_service_and_another_organisation_take_nothing_back(mill: Machines) -> None:
    """A service has to be the one that it was sent to; what the other one may not write, the service says."""
    tracking = mill.here(lifeCycle=2)
    elsewhere = prodex.connect("http://localhost:1", client_id="a", client_secret="b")
    with pytest.raises(InputError, match=r"was sent to 127\.0\.0\.1"):
        prodex.undo(tracking.name or "", elsewhere)
    with pytest.raises((InputError, ServiceError)):
        prodex.undo("last", elsewhere)
    assert KIOSK.name


def test_an_earlier_record_shows_nothing_of_the_product() -> None:
    """Products are confidential until they are published, and end in logs."""
    assert "secret" not in repr(EarlierRecord("7", gtin(1), {"brand": "secret"}, {"brand": "secret"}))


@pytest.mark.slow
def test_products_are_as_before_whenever_a_process_is_killed(tmp_path: Any, home: Any) -> None:
    """Nothing of somebody else is touched, and after each kill every product is undone, not undone or unknown."""
    # Corrections and plain upserts, of which two of three are brought to their end.
    found = undo_often(tmp_path, home, 6)
    assert ([], [], []) == (found.unequal, found.touched, found.unaccounted)
    assert found.kills >= 6


CHAINS: dict[str, tuple[list[tuple[int, int, str]], int, tuple[str, str | None]]] = {
    "written twice": ([(1, 2, "SUCCESS"), (2, 3, "SUCCESS")], 3, ("accepted", "1")),
    "changed between by somebody else": ([(1, 2, "SUCCESS"), (5, 3, "SUCCESS")], 3, ("accepted", "5")),
    "the same once more": ([(1, 2, "unknown"), (1, 2, "SUCCESS")], 2, ("accepted", "1")),
    "the second one was refused": ([(1, 2, "SUCCESS"), (2, 3, "ERROR")], 2, ("accepted", "1")),
    "the first one was refused": ([(1, 2, "ERROR"), (1, 3, "SUCCESS")], 3, ("accepted", "1")),
    "both were refused": ([(1, 2, "ERROR"), (1, 3, "not sent")], 1, ("unchanged", None)),
    "the second one may still come": ([(1, 2, "SUCCESS"), (2, 3, "IN_PROGRESS")], 1, ("refused", None)),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_writes_of_one_leaf_are_one_change(chain: str) -> None:
    """Those that arrived, or may have."""
    writes, now, (state, after) = CHAINS[chain]
    made = [
        _Write(
            EarlierRecord("1", gtin(1), {"id": 1, "lifeCycle": old}, {"lifeCycle": new}), str(n), status, ""
        )
        for n, (old, new, status) in enumerate(writes)
    ]
    product = {"id": 1, "gtin": gtin(1), "lifeCycle": now, "nameLegal": names("x")}
    answers = list(_answers(made, {"1": product}))
    fix = make_fix(
        Returned(answers), prodex.flatten([product]), NO_RULES, datetime(2026, 11, 26, 12, tzinfo=UTC)
    )
    assert [state] == fix.answers["state"].tolist(), reasons(fix)
    assert ([] if after is None else [after]) == fix.preview()["after"].tolist()
