"""Answers that are meant letter by letter: no grammar of cells, and a conflict where something else is there by now."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import prodex
from prodex.changes import ABSENT, Change, Item, diff, inverse, with_orders
from prodex.worklists.exact_answers import exact_change, exact_refusal
from prodex.worklists.fix import Fix, make_fix
from prodex.worklists.returned_files import Answer, Returned
from prodex.worklists.text_corrections import NO_RULES

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)


def text(code: str, data: str) -> dict[str, Any]:
    """Return a localized text."""
    return {"expressedIn": {"code": code}, "data": data}


PRODUCT: dict[str, Any] = {
    "id": 7,
    "gtin": "03036811359935",
    "updatedAt": "2026-11-01T06:00:00",
    "namePublicLong": [text("fra-FR", "Pain"), text("eng-GB", "Bread")],
    "description": [text("fra-FR", "un"), text("fra-FR", "deux")],
    "brand": {"code": "ACME", "label": "Acme"},
    "isDerivedFrom": [{"code": "WHEAT", "label": "Wheat"}, {"code": "RYE"}],
    "netWeight": [{"data": 1.4, "expressedIn": {"code": "KGM"}}],
    "isConsumerUnit": True,
}


def changes_of_value(root: str, before: Any, after: Any) -> list[Change]:
    """Return what tells one value of an attribute from another."""
    sides = ({} if one is ABSENT else {root: one} for one in (before, after))
    return [one for one, _ in with_orders(diff(*sides, product="7"))]


def judged(*answers: Answer, product: dict[str, Any] | None = None) -> Fix:
    """Return answers as they are judged."""
    catalog = prodex.flatten([PRODUCT if product is None else product])
    return make_fix(Returned(list(answers)), catalog, NO_RULES, NOW)


def of_text(after: Any, before: Any = "Pain", code: str = "fra-FR") -> Change:
    """Return the change of the letters of the long name."""
    return Change("7", ("namePublicLong", Item("language", code), "data"), before, after)


@pytest.mark.slow
@pytest.mark.parametrize(
    "after", ["delete", "-", "n/a", "fr: Pain", "Löschen", "a; b", "old -> new", "=1+1", "<b>x</b>", "٣"]
)
def test_no_grammar_of_cells_is_applied(after: str) -> None:
    """What deletes, names a language or says nothing in a cell is a text here."""
    fix = judged(exact_change(of_text(after), number=1))
    assert [after] == fix.answers["answer"].tolist()
    fix.confirm()
    assert [("Pain", after)] == list(fix.preview()[["before", "after"]].itertuples(index=False, name=None))


def test_a_text_is_taken_away_and_the_others_are_left() -> None:
    """The others of its attribute are written with it."""
    french, english = PRODUCT["namePublicLong"]
    (change,) = changes_of_value("namePublicLong", [french, english], [english])
    fix = judged(exact_change(change, number=1))
    assert [("Pain", None)] == list(fix.preview()[["before", "after"]].itertuples(index=False, name=None))
    (sent,) = fix._judged.changes.records  # type: ignore[union-attr]
    assert [english] == sent["namePublicLong"]


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        ("Pain", "Pain bis", "accepted"),
        ("Brioche", "Pain", "unchanged"),
        ("Brioche", "Tarte", "conflict"),
        ("pain", "Pain bis", "conflict"),
        (" Pain", "Pain bis", "conflict"),
        (None, "Pain bis", "conflict"),
    ],
)
def test_a_text_is_replaced_if_it_is_the_one_that_was_seen(
    before: str | None, after: str, state: str
) -> None:
    """Letter by letter: spaces and case are what such corrections are about."""
    fix = judged(exact_change(of_text(after, before), number=1))
    assert {state: 1} == dict(fix.counts)


def test_of_several_texts_of_a_language_the_one_that_was_seen_is_replaced() -> None:
    """It is known by its number among them, and where it says something else, nothing is replaced."""
    path = ("description", Item("language", "fra-FR", 1, 2), "data")
    fix = judged(exact_change(Change("7", path, "deux", "trois"), number=1))
    assert ["deux"] == fix.preview()["before"].tolist()
    (sent,) = fix._judged.changes.records  # type: ignore[union-attr]
    assert [text("fra-FR", "un"), text("fra-FR", "trois")] == sent["description"]
    unknown = judged(exact_change(Change("7", path, "quatre", "trois"), number=1))
    assert {"conflict": 1} == dict(unknown.counts)


def test_a_new_text_needs_that_none_is_there() -> None:
    """It is added beside the others, and where one is there by now, that is a conflict."""
    dutch = text("nld-BE", "Brood")
    change = Change("7", ("namePublicLong", Item("language", "nld-BE")), ABSENT, dutch)
    fix = judged(exact_change(change, number=1))
    assert [(None, "Brood")] == list(fix.preview()[["before", "after"]].itertuples(index=False, name=None))
    names = [*PRODUCT["namePublicLong"], text("nld-BE", "Boterham")]
    taken = judged(exact_change(change, number=1), product=PRODUCT | {"namePublicLong": names})
    assert {"conflict": 1} == dict(taken.counts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("root", "before", "after", "shown"),
    [
        ("brand", {"code": "ACME"}, {"code": "APEX"}, ("ACME", "APEX")),
        (
            "isDerivedFrom",
            [{"code": "WHEAT"}, {"code": "RYE"}],
            [{"code": "OATS"}, {"code": "RYE"}],
            ("WHEAT", "OATS"),
        ),
        (
            "netWeight",
            PRODUCT["netWeight"],
            [{"data": 1400, "expressedIn": {"code": "GRM"}}],
            ("1.4 KGM", "1400 GRM"),
        ),
        ("isConsumerUnit", True, False, ("true", "false")),
        ("brand", {"code": "ACME"}, ABSENT, ("ACME", None)),
        ("shape", ABSENT, {"code": "ROUND"}, (None, "ROUND")),
    ],
)
def test_any_leaf_is_changed_and_shown(
    root: str, before: Any, after: Any, shown: tuple[str | None, str | None]
) -> None:
    """Codes, amounts, plain values; one of a list; and what is not there."""
    (change,) = changes_of_value(root, before, after)
    fix = judged(exact_change(change, number=1))
    assert [shown] == list(fix.preview()[["before", "after"]].itertuples(index=False, name=None))
    assert {"accepted": 1} == dict(fix.counts)
    back = judged(exact_change(inverse([change])[0], number=1))
    assert {"unchanged": 1} == dict(back.counts)


def test_a_leaf_that_somebody_changed_is_a_conflict() -> None:
    """It is named, and never overwritten."""
    (change,) = changes_of_value("brand", {"code": "APEX"}, {"code": "ZENITH"})
    fix = judged(exact_change(change, number=1))
    (reason,) = fix.conflicts["reason"]
    assert "there is now 'ACME' in place of 'APEX'" in reason


def test_questions_need_confirmation_and_refusals_are_refused() -> None:
    """Whoever computes them may know more than the judging."""
    (change,) = changes_of_value("brand", {"code": "ACME"}, {"code": "APEX"})
    fix = judged(
        exact_change(change, number=1, questions=["Is APEX meant?"]),
        exact_refusal("7", "netWeight", None, "KGM cannot be converted to LTR.", number=2),
    )
    assert ["Is APEX meant?"] == fix.needs_confirmation["reason"].tolist()
    assert ["KGM cannot be converted to LTR."] == fix.refused["reason"].tolist()
    assert ["APEX"] == fix.confirm().preview()["after"].tolist()


def test_two_leaves_of_one_attribute_are_merged_and_two_values_of_one_leaf_are_not() -> None:
    """The first is one write; the second somebody has to decide."""
    both = changes_of_value(
        "assets",
        {"pictures": [{"url": "a"}, {"url": "b"}]},
        {"pictures": [{"url": "a", "isPackshot": True}, {"url": "b", "isPackshot": False}]},
    )
    product = PRODUCT | {"assets": {"pictures": [{"url": "a"}, {"url": "b"}]}}
    fix = judged(*(exact_change(one, number=n) for n, one in enumerate(both, 1)), product=product)
    assert {"accepted": 2} == dict(fix.counts)
    codes = [changes_of_value("brand", {"code": "ACME"}, {"code": code})[0] for code in ("B", "C")]
    fix = judged(*(exact_change(one, number=n) for n, one in enumerate(codes, 1)))
    assert {"conflict": 2} == dict(fix.counts)


@pytest.mark.parametrize("root", ["updatedAt", "id", "validationRules", "gtin"])
def test_what_the_service_maintains_is_refused(root: str) -> None:
    """Whatever value it has."""
    (change,) = changes_of_value(root, PRODUCT.get(root, ABSENT), "x")
    fix = judged(exact_change(change, number=1))
    assert {"refused": 1} == dict(fix.counts)
    # Who has written the checks that are switched off is not the service.
    why = {
        "validationRules": "is written in records alone (upsert), by no correction and no undo.",
        "gtin": "would be that of another product and cannot be written.",
    }
    said = why.get(root, "is maintained by the service and cannot be written.")
    assert [f"{root} {said}"] == fix.refused["reason"].tolist()
