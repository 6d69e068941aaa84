"""Corrections of single texts: judged, sent and proved as the answers of a worklist are, and by the same `Fix`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex import TextCorrection
from prodex.errors import InputError, ServiceError
from prodex.sandbox import Fault, Sandbox

from .bakery import RECORDS, Answer, stored, text

FIRST, SECOND, THIRD = (one["gtin"] for one in RECORDS)
CAPITALS = "PAIN DE CAMPAGNE AUX GRAINES"
PROFILE = {"checks": {"names_not_in_capitals": {}, "texts_without_placeholders": {}}}
FILLED = "Pain de campagne"


def name(new: str | None = FILLED, product: str = "1", **others: Any) -> TextCorrection:
    """Correct the French name of a product."""
    others.setdefault("before", CAPITALS)
    return TextCorrection(product, "namePublicLong", "fr", new, **others)


#: Corrections, each with the row of a worklist that says the same.
SAME = (
    (name(), {"GTIN": FIRST, "Field": "namePublicLong", "New value": FILLED}),
    (name(None), {"GTIN": FIRST, "Field": "namePublicLong", "New value": "(delete)"}),
    (name("(Delete)"), {"GTIN": FIRST, "Field": "namePublicLong", "New value": "(delete)"}),
    (name(CAPITALS), {"GTIN": FIRST, "Field": "namePublicLong", "New value": CAPITALS}),
    (name("x" * 201), {"GTIN": FIRST, "Field": "namePublicLong", "New value": "x" * 201}),
    (name("n/a"), {"GTIN": FIRST, "Field": "namePublicLong", "New value": "n/a"}),
    (name("En attente", "2", before=None), {"GTIN": SECOND, "Field": "namePublicLong", "New value": "Nom"}),
    (name("Nom", "3", before=None), {"GTIN": THIRD, "Field": "namePublicLong", "New value": "Nom"}),
    (
        TextCorrection("1", "productBenefits.text", "fr", "Bon"),
        {"GTIN": FIRST, "Field": "productBenefits.text", "New value": "Bon"},
    ),
    (TextCorrection("1", "brand", "fr", "Acme"), {"GTIN": FIRST, "Field": "brand", "New value": "Acme"}),
    (TextCorrection("1", "gtin", "fr", "1"), {"GTIN": FIRST, "Field": "gtin", "New value": "1"}),
)


@pytest.mark.slow
@pytest.mark.parametrize(("correction", "row"), SAME)
def test_a_correction_is_judged_as_an_answer(
    correction: TextCorrection, row: dict[str, str], catalog: prodex.Catalog, answer: Answer
) -> None:
    """State and reason are those of the same answer in a worklist."""
    typed = prodex.correct_from([correction], catalog, profile=PROFILE).answers
    said = answer({"Language": "fr", **row}, profile=PROFILE).answers
    columns = ["product_id", "attribute", "language", "before", "state", "reason"]

    assert said[columns].values.tolist() == typed[columns].values.tolist()


def test_the_effect_is_what_the_rules_then_say(catalog: prodex.Catalog) -> None:
    """By the profile that is given: what is fixed, and what is new."""
    fix = prodex.correct_from([name(), name("TEST DE PAIN", "3", before=None)], catalog, profile=PROFILE)
    assert {"accepted": 1, "needs confirmation": 1} == fix.counts
    fix.confirm()
    found = {change: fix.effect().changes(change)["check"].tolist() for change in ("fixed", "newly failing")}

    assert {"fixed": ["names_not_in_capitals"], "newly failing": ["names_not_in_capitals"]} == found


def test_without_rules_only_refusals_of_the_service_are_found(catalog: prodex.Catalog) -> None:
    """And the representation says so."""
    fix = prodex.correct_from([name(), name("x" * 201, "3", before=None)], catalog)

    assert ["accepted", "refused"] == fix.answers["state"].tolist()
    assert "without rules: only what would be refused" in repr(fix)
    assert "Typed beside the products" in fix._repr_html_()
    assert "correction 2: 201 characters" in repr(fix)
    assert [] == fix.effect().by_check["check"].tolist()


def test_what_has_changed_since_is_a_conflict(catalog: prodex.Catalog) -> None:
    """Another text, one where nothing was, a product that is gone; each says what to do."""
    fix = prodex.correct_from(
        [
            name(before="Pain bis"),
            TextCorrection("3", "nameLegal", "fr", "Pain complet", updated_at="2026-11-01T06:00:00"),
            name(product="9"),
        ],
        catalog,
    )
    (other, filled, gone) = fix.conflicts["reason"]

    assert {"conflict": 3} == fix.counts
    assert "after it was corrected here: there is now 'PAIN DE CAMPAGNE" in other
    assert other.endswith("in place of 'Pain bis'. Look at it, and correct it again.")
    assert "there is now 'Pain'. Look at it" in filled
    assert "is gone" in gone


def test_two_corrections_of_one_text_both_need_confirmation(catalog: prodex.Catalog) -> None:
    """Each names the other by its number."""
    fix = prodex.correct_from([name("Pain bis"), name("Pain noir")], catalog)

    assert {"conflict": 2} == fix.counts
    assert "correction 2 says 'Pain noir'" in fix.conflicts["reason"][0]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: name("  \n "), "new text is empty"),
        (lambda: name("half \ud83d"), "character 6 is half of a character (U+D83D)"),
        (lambda: name(7), "text of a correction is the number 7"),  # type: ignore[arg-type]
        (lambda: name(product=7), "product_id of a correction is"),  # type: ignore[arg-type]
        (lambda: TextCorrection("1", "nameLegal", None, "Pain"), "has no language"),
        (
            lambda: prodex.correct_from([{"gtin": FIRST}], prodex.flatten(RECORDS)),
            "Give prodex.TextCorrection",
        ),  # type: ignore[list-item]
        (lambda: prodex.correct_from(7, prodex.flatten(RECORDS)), "Give prodex.TextCorrection"),  # type: ignore[arg-type]
        (lambda: prodex.correct_from([name()], 7), "takes a catalogue"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_a_correction_is_refused_in_words(made: Any, words: str) -> None:
    """Where it is made, before anybody sends it."""
    with pytest.raises(InputError) as refused:
        made()
    assert words in str(refused.value)


@pytest.mark.slow
def test_what_is_sent_can_be_judged_again(mill: prodex.service.Client) -> None:
    """What has arrived changes nothing any more; other texts stay, and the catalogue has the products of now."""
    catalog = prodex.load_products(mill, progress=False)
    corrections = [
        name(),
        TextCorrection("1", "description", None, None, "Un pain", "0", "fra-FR"),
        TextCorrection("1", "description", None, "Bon pain", "Un autre pain", "1", "fra-FR"),
        TextCorrection("3", "namePublicLong", "nl", "Boerenbrood"),
        name("x" * 201, "3", before=None),
    ]
    fix = prodex.correct_from(corrections, catalog, profile=PROFILE)
    assert {"accepted": 4, "refused": 1} == fix.recheck(mill).counts
    assert "SUCCESS" == fix.apply(mill, progress=False).wait(progress=False).status
    newest = fix.recheck(mill)

    assert {"unchanged": 4, "refused": 1} == newest.counts
    assert ["names_not_in_capitals"] == prodex.diff(fix.before, newest.before).changes("fixed")[
        "check"
    ].tolist()
    assert [["1", FIRST, "SUCCESS"], ["3", THIRD, "SUCCESS"]] == fix.sent[
        ["product_id", "gtin", "status"]
    ].values.tolist()
    record = stored(mill, FIRST)
    assert [FILLED, "Boerenbrood"] == [one["data"] for one in record["namePublicLong"]]
    assert ["Bon pain"] == [one["data"] for one in record["description"]]
    shown = newest.catalog.texts.query("product_id == '1' and attribute == 'namePublicLong'")["text"]
    assert (3, {FILLED, "Boerenbrood"}) == (len(newest.catalog), set(shown))
    assert catalog.origin == newest.catalog.origin


@pytest.mark.slow
def test_what_another_has_changed_is_not_taken_for_arrived(
    mill: prodex.service.Client, exchange: Sandbox
) -> None:
    """A text that somebody else wrote is a conflict, and a product that was removed is gone."""
    catalog = prodex.load_products(mill, progress=False)
    fix = prodex.correct_from([name(), name("Nom", "3", before=None)], catalog)
    exchange.change([RECORDS[0] | {"namePublicLong": [text("fra-FR", "Pain bis")]}], moves_updated_at=True)
    exchange.remove([3])
    newest = fix.recheck(mill)

    assert {"conflict": 2} == newest.counts
    assert "there is now 'Pain bis'" in newest.conflicts["reason"][0]
    assert "gone" in newest.conflicts["reason"][1]
    with pytest.raises(InputError, match="no answer is left to send"):
        fix.apply(mill)
    assert 0 == len(fix.sent)


@pytest.mark.slow
def test_a_lost_reply_leaves_them_unknown(mill: prodex.service.Client, exchange: Sandbox) -> None:
    """They may have arrived: nothing is sent a second time, and looking again says what has."""
    catalog = prodex.load_products(mill, progress=False)
    exchange.order(Fault("truncated", endpoint="upsert"))
    fix = prodex.correct_from([name()], catalog)
    fix.apply(mill, progress=False)

    assert ["unknown"] == fix.sent["status"].tolist()
    fix.apply(mill)
    assert [1] == prodex.list_upserts()["products"].tolist()
    while fix.recheck(mill).counts != {"unchanged": 1}:
        pass
    again = prodex.correct_from([name()], prodex.load_products(mill, progress=False))
    assert {"unchanged": 1} == again.counts
    fix.apply(mill)
    assert ["SUCCESS"] == fix.sent["status"].tolist()
    assert [1] == prodex.list_upserts()["products"].tolist()


def test_a_service_that_is_down_gets_nothing(mill: prodex.service.Client, exchange: Sandbox) -> None:
    """The corrections stay as they are, and can be sent when it is back."""
    catalog = prodex.load_products(mill, progress=False)
    fix = prodex.correct_from([name()], catalog)
    exchange.order(Fault("404", endpoint="upsert"))
    with pytest.raises(ServiceError):
        fix.apply(mill, progress=False)

    assert (None, 0) == (fix.tracking, len(fix.sent))
    exchange.clear_faults()
    assert "SUCCESS" == fix.apply(mill, progress=False).wait(progress=False).status


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "=HYPERLINK('https://evil.example')",
    "nul \x00 bell \x07 delete \x7f",
    "مرحبا \u202egnp.exe \u2066x",
    "\ufeff🧨 e\u0301",
    "ab" * 9_999,
)


@pytest.mark.slow
@pytest.mark.parametrize("typed", HOSTILE)
def test_whatever_is_typed_arrives_as_it_is(typed: str, mill: prodex.service.Client) -> None:
    """Markup, formulas, control characters, marks of direction and long texts, but for outer spaces."""
    catalog = prodex.load_products(mill, progress=False)
    correction = TextCorrection("3", "description", "fr", typed)
    fix = prodex.correct_from([correction], catalog)
    assert [correction.text] == fix.preview()["after"].tolist()
    assert "<img" not in fix._repr_html_()
    fix.apply(mill, progress=False).wait(progress=False)

    assert [correction.text] == [one["data"] for one in stored(mill, THIRD)["description"]]


@pytest.mark.slow
def test_corrections_can_be_handed_to_somebody_else(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """As a worklist with the new values filled in; what was refused has its reason instead."""
    corrections = [
        name(),
        TextCorrection("1", "description", None, "Bon pain", "Un autre pain", "1", "fra-FR"),
        TextCorrection("3", "namePublicLong", "nl", "Boerenbrood"),
        TextCorrection("3", "description", "fr", "x" * 20_001),
    ]
    fix = prodex.correct_from(corrections, catalog, profile=PROFILE)
    listed = fix.worklist(tmp_path / "out", accepted=True)
    assert [4] == listed["findings"].tolist()

    back = prodex.read_worklist(tmp_path / "out" / listed["file"][0], catalog, profile=PROFILE)
    columns = ["gtin", "attribute", "language", "before", "after"]
    expected = sorted(map(str, fix.preview()[columns].values.tolist()))
    assert expected == sorted(map(str, back.preview()[columns].values.tolist()))
    assert [1] == fix.worklist(tmp_path / "refused")["findings"].tolist()

    # The text that was added there meanwhile is not written over.
    taken = RECORDS[2] | {"namePublicLong": [text("nld-NL", "Brood")], "updatedAt": "2026-11-02T06:00:00"}
    later = prodex.flatten([*RECORDS[:2], taken])
    late = prodex.read_worklist(tmp_path / "out" / listed["file"][0], later, profile=PROFILE)
    assert ["Boerenbrood"] == late.conflicts["answer"].tolist()


def test_a_correction_is_a_value() -> None:
    """Two of one place are known by it, and its text is as it is sent."""
    one = name(" Pain\r\nbis ")
    assert ("Pain\nbis", one.place) == (one.text, replace(one, text="Pain noir", before=None).place)
    assert one.place != replace(one, position="1").place
