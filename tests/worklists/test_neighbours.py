"""An answer changes the item that it means, and nothing beside it, whatever the attribute holds."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

import prodex
from prodex.sandbox import Sandbox

from .bakery import Answer, record, stored, text
from .interrupting import gtin

GTIN = "03036811359935"
Read = Callable[..., prodex.worklists.Fix]


def quantity(data: Any, code: str, **more: Any) -> dict[str, Any]:
    """Return a quantity with everything that services send beside it."""
    return {"data": data, "expressedIn": {"code": code, "label": f"Label of {code}"}, **more}


def code(value: str, **more: Any) -> dict[str, Any]:
    """Return a code with its label."""
    return {"code": value, "label": value.capitalize(), **more}


GRAMS, PIECES, LITRES = quantity(500, "GRM", sort=1), quantity(12, "H87", sort=2), quantity(0.5, "LTR")
NEW_GRAMS = {"data": 600, "expressedIn": {"code": "GRM"}}
NEW_PIECES = {"data": 12, "expressedIn": {"code": "H87"}}
NEW_LITRES = {"data": 0.5, "expressedIn": {"code": "LTR"}, "sort": 1}
COLD, DARK, DRY = code("COLD", sort=1), code("DARK", sort=2), code("DRY")

#: Of `netContent`: what is there, what the row says, the answer, and what is there afterwards, None, or why not.
QUANTITIES = [
    # By what it measures.
    ([GRAMS, PIECES], {}, "600 g", [GRAMS | {"data": 600}, PIECES]),
    ([GRAMS, PIECES], {}, "0,6 kg", [{"data": 0.6, "expressedIn": {"code": "KGM"}, "sort": 1}, PIECES]),
    ([PIECES, GRAMS], {}, "10 pcs", [PIECES | {"data": 10}, GRAMS]),
    ([GRAMS, PIECES], {}, "12 pcs", None),
    # By what was seen, in the spelling of any rule.
    ([GRAMS, PIECES], {"Value seen": "500 GRM"}, "600 g", [GRAMS | {"data": 600}, PIECES]),
    ([GRAMS, PIECES], {"Value seen": "500 g"}, "600 g", [GRAMS | {"data": 600}, PIECES]),
    ([GRAMS, PIECES], {"Value seen": "500.0"}, "600 g", [GRAMS | {"data": 600}, PIECES]),
    ([GRAMS, PIECES], {"Value seen": "500 Label of GRM"}, "0.5 l", [NEW_LITRES, PIECES]),
    ([GRAMS, quantity(450, "GRM")], {"Value seen": "450 GRM"}, "400 g", [GRAMS, quantity(400, "GRM")]),
    ([GRAMS, PIECES], {"Value seen": "12 H87"}, "(delete)", [GRAMS]),
    ([GRAMS, PIECES], {"Value seen": "12 H87"}, "600 g", "not certain"),
    ([GRAMS, PIECES], {"Value seen": "400 GRM"}, "600 g", "conflict: none of them is '400 GRM'"),
    ([quantity(1.234, "KGM"), PIECES], {"Value seen": "1.234 KGM"}, "2 kg", [quantity(2, "KGM"), PIECES]),
    ([quantity(1.234, "KGM"), PIECES], {"Value seen": "1234 g"}, "2 kg", [quantity(2, "KGM"), PIECES]),
    ([quantity(2500000, "GRM"), PIECES], {"Value seen": "2.5e+06 g"}, "(delete)", [PIECES]),
    # By position, or by an arrow.
    ([GRAMS, quantity(450, "GRM")], {"Position": "1"}, "400 g", [GRAMS, quantity(400, "GRM")]),
    ([GRAMS, PIECES], {}, "12 pcs -> 10 pcs", [GRAMS, PIECES | {"data": 10}]),
    ([GRAMS, PIECES], {}, "0.5 kg -> (delete)", [PIECES]),
    ([GRAMS, PIECES], {}, "13 pcs -> 10 pcs", "none of them is 13 H87"),
    # All of them, in any order, or one more.
    ([GRAMS, PIECES], {}, "10 pcs; 600 g", [GRAMS | {"data": 600}, PIECES | {"data": 10}]),
    ([GRAMS, PIECES], {}, "600 g\n12 pcs", [GRAMS | {"data": 600}, PIECES]),
    ([GRAMS], {}, "600 g; 12 pcs", [GRAMS | {"data": 600}, {"data": 12, "expressedIn": {"code": "H87"}}]),
    ([GRAMS, quantity(450, "GRM")], {}, "600 g; 400 g", [GRAMS | {"data": 600}, quantity(400, "GRM")]),
    ([GRAMS, PIECES, LITRES], {}, "600 g; 10 pcs", [GRAMS | {"data": 600}, PIECES | {"data": 10}, LITRES]),
    ([GRAMS, PIECES], {}, "600 g; 0.5 l", "not have all"),
    # One alone is meant, whatever it measures, and an empty attribute is filled.
    ([GRAMS], {}, "0.5 l", [NEW_LITRES]),
    ([GRAMS], {}, "(delete)", []),
    ([GRAMS], {"Value seen": "12 H87"}, "(delete)", None),
    (None, {}, "600 g; 12 pcs", [NEW_GRAMS, NEW_PIECES]),
    ([], {}, "600 g", [{"data": 600, "expressedIn": {"code": "GRM"}}]),
    (GRAMS, {}, "600 g", GRAMS | {"data": 600}),
    (GRAMS, {}, "(delete)", None),
    # A number that is text, and what is no quantity at all.
    ([quantity("500", "GRM", sort=1), PIECES], {}, "600 g", [GRAMS | {"data": 600}, PIECES]),
    ([None, GRAMS], {}, "600 g", [None, GRAMS | {"data": 600}]),
    ([GRAMS, "odd", {"other": 1}], {}, "600 g", [GRAMS | {"data": 600}, "odd", {"other": 1}]),
    ([{"other": 1}], {}, "600 g", "of another form"),
    # Not certain.
    ([GRAMS, PIECES], {}, "0.5 l", "500 GRM; 12 H87"),
    ([GRAMS, PIECES], {}, "(delete)", "not certain"),
    ([GRAMS, quantity(450, "GRM")], {}, "600 g", "500 GRM; 450 GRM"),
    ([GRAMS, PIECES], {}, "600", "not a number with its unit"),
]  # fmt: skip

#: The same of the attribute `conservations`.
CODES = [
    ([COLD], {}, "FREEZE", [{"code": "FREEZE", "sort": 1}]),
    ([COLD, DARK], {}, "FREEZE", "COLD; DARK"),
    ([COLD, DARK], {"Value seen": "COLD"}, "FREEZE", [{"code": "FREEZE", "sort": 1}, DARK]),
    ([COLD, DARK], {"Value seen": "Dark"}, "FREEZE", [COLD, {"code": "FREEZE", "sort": 2}]),
    ([COLD, DARK], {"Value seen": "Dark∣DARK"}, "FREEZE", [COLD, {"code": "FREEZE", "sort": 2}]),
    ([COLD, DARK], {"Position": "1"}, "FREEZE", [COLD, {"code": "FREEZE", "sort": 2}]),
    ([COLD, DARK], {}, "DARK -> FREEZE", [COLD, {"code": "FREEZE", "sort": 2}]),
    ([COLD, DARK], {}, "DARK -> (delete)", [COLD]),
    ([COLD, DARK], {"Value seen": "COLD"}, "(delete)", [DARK]),
    ([COLD, DARK], {}, "(delete)", "not certain"),
    ([COLD, DARK], {"Value seen": "COLD"}, "DARK", "the product has DARK already"),
    ([COLD, DARK], {"Value seen": "WET"}, "FREEZE", "conflict: none of them is 'WET'"),
    ([COLD, DARK], {}, "FREEZE; DARK", [{"code": "FREEZE", "sort": 1}, DARK]),
    ([COLD, DARK], {}, "DARK; COLD", None),
    ([COLD, DARK], {}, "COLD; DARK; FREEZE", [COLD, DARK, {"code": "FREEZE"}]),
    ([COLD, DARK], {}, "FREEZE; DRY; WET", "not certain"),
    ([COLD, DARK, DRY], {}, "COLD; DARK", "not certain"),
    ([COLD], {}, "FREEZE; DARK", [{"code": "FREEZE", "sort": 1}, {"code": "DARK"}]),
    (None, {}, "FREEZE", [{"code": "FREEZE"}]),
    (COLD, {}, "FREEZE", {"code": "FREEZE", "sort": 1}),
    (COLD, {}, "COLD", None),
    ([COLD], {}, "(delete)", []),
    ([DARK], {"Value seen": "COLD"}, "(delete)", None),
]  # fmt: skip


def read(
    answer: Answer, field: str, value: Any, keys: dict[str, Any], typed: str, **more: Any
) -> prodex.worklists.Fix:
    """Return the answer to one attribute of a product, beside one of the same catalogue that has it as well."""
    products = [
        record(1, GTIN, **({} if value is None else {field: value}), **more),
        record(2, "05410228142027", netContent=[GRAMS], conservations=[COLD]),
    ]
    row = {"GTIN": GTIN, "Field": field, "New value": typed, **keys}
    return answer(row, catalog=prodex.flatten(copy.deepcopy(products)))


def check(fix: prodex.worklists.Fix, field: str, value: Any, expected: Any) -> None:
    """Compare what would be written, or why it would not."""
    fix.confirm()  # codes that no product has are meant here
    (told,) = fix.answers.to_dict("records")
    sent = [] if fix._judged is None else fix._judged.changes.records
    check_answer(told, sent, field, value, expected)


def check_answer(told: dict[str, Any], sent: list[Any], field: str, value: Any, expected: Any) -> None:
    """Compare what would be written of one answer, or why it would not."""
    state, reason = told["state"], told["reason"]
    if isinstance(expected, str):
        # What was seen and is not there any more is a conflict.
        gone, words = expected.startswith("conflict: "), expected.removeprefix("conflict: ")
        assert state == ("conflict" if gone else "refused")
        assert words in reason
    elif expected is None and not (isinstance(value, dict) and told["answer"] == "(delete)"):
        assert state == "unchanged", reason
    else:
        assert state == "accepted", reason
        (one,) = sent
        assert {field: expected if expected != [] else None} == {k: v for k, v in one.items() if k != "gtin"}
        assert json.dumps(one[field]) == json.dumps(expected if expected != [] else None)  # 600, not 600.0


Case = tuple[Any, dict[str, Any], str, Any]


def wrong(answer: Answer, field: str, cases: list[Case]) -> list[str]:
    """Return the answers of which something else is made.

    Where nothing is there, it has the form that other products have: values that are no list are tried apart.
    """
    lists = [case for case in cases if not isinstance(case[0], dict)]
    others = [case for case in cases if isinstance(case[0], dict)]
    return [one for some in (lists, others) if some for one in wrong_among(answer, field, some)]


def wrong_among(answer: Answer, field: str, cases: list[Case]) -> list[str]:
    """Return them of a worklist in which each answer is about a product of its own."""
    numbered = [(gtin(number), *case) for number, case in enumerate(cases, 1)]
    products = [
        record(number, one, **({} if value is None else {field: value}))
        for number, (one, value, *_) in enumerate(numbered, 1)
    ]
    beside = record(1_000, "05410228142027", netContent=[GRAMS], conservations=[COLD])
    rows = [{"GTIN": one, "Field": field, "New value": typed, **keys} for one, _, keys, typed, _ in numbered]
    fix = answer(*rows, catalog=prodex.flatten(copy.deepcopy([*products, beside]))).confirm()
    told = {one["gtin"]: one for one in fix.answers.to_dict("records")}
    assert len(told) == len(fix.answers) == len(cases)
    sent = [] if fix._judged is None else fix._judged.changes.records
    found = []
    for one, value, _, typed, expected in numbered:
        try:
            check_answer(told[one], [each for each in sent if each["gtin"] == one], field, value, expected)
        except AssertionError as error:
            found.append(f"{value!r:.80}, {typed!r}: {error}")
    return found


def test_the_quantity_that_is_meant_changes(answer: Answer) -> None:
    """The others are sent as they are, with all that they hold."""
    assert [] == wrong(answer, "netContent", QUANTITIES)


def test_the_code_that_is_meant_changes(answer: Answer) -> None:
    """Its label belongs to the old code and goes with it; the other codes keep theirs."""
    assert [] == wrong(answer, "conservations", CODES)


FAT = {
    "isConceptualizedBy": {"code": "FAT", "label": "Fat"},
    "quantity": 3.2,
    "expressedIn": {"code": "GRM", "label": "Gram"},
    "percentageOfDailyValueIntake": 5,
    "measurementPrecision": "APPROXIMATELY",
}
SALT = {"isConceptualizedBy": {"code": "SALTEQ"}, "quantity": "<0.5", "expressedIn": {"code": "GRM"}}
KJ = {"isConceptualizedBy": {"code": "ENER-"}, "quantity": 844, "expressedIn": {"code": "KJO"}}


def table(quantity_: Any, unit: str | None, *contains: Any, **more: Any) -> dict[str, Any]:
    """Return a table of nutrients."""
    basis = {} if unit is None else {"isMeasuredBy": {"code": unit, "label": "Unit"}}
    return {"name": f"{quantity_} {unit}", "quantity": quantity_, **basis, "contains": list(contains), **more}


HUNDRED = table(100, "GRM", FAT, SALT, KJ, preparationState="UNPREPARED")
SERVING = table(30, "GRM", FAT, name="portion")
DRINK = table(100, "MLT", FAT)
KCAL = KJ | {"quantity": 202, "expressedIn": {"code": "E14"}}
MILLIGRAMS = FAT | {"quantity": 4000, "expressedIn": {"code": "MGM"}}
NEW_FAT = {"isConceptualizedBy": {"code": "FAT"}, "quantity": 4, "expressedIn": {"code": "GRM"}}

NEW_TABLE = {"quantity": 100, "isMeasuredBy": {"code": "MLT"}, "contains": [NEW_FAT]}

#: What is there, the answer, and what is there afterwards, None, or why not.
NUTRITION = [
    ([HUNDRED, SERVING], "per 100 g: Fat 4 g", [HUNDRED | {"contains": [FAT | {"quantity": 4}, SALT, KJ]}, SERVING]),
    ([HUNDRED, SERVING], "per 0.1 kg: Fat 4 g", [HUNDRED | {"contains": [FAT | {"quantity": 4}, SALT, KJ]}, SERVING]),
    ([HUNDRED, SERVING], "je Portion: Fett 4 g", [HUNDRED, SERVING | {"contains": [FAT | {"quantity": 4}]}]),
    ([HUNDRED, SERVING], "per 30 g: Fat (delete)", [HUNDRED, SERVING | {"contains": []}]),
    ([HUNDRED, DRINK], "per 100 ml: Fat 4 g", [HUNDRED, DRINK | {"contains": [FAT | {"quantity": 4}]}]),
    ([HUNDRED], "per 100 ml: Fat 4 g", [HUNDRED, NEW_TABLE]),
    ([HUNDRED], "Fat 4 g", [HUNDRED | {"contains": [FAT | {"quantity": 4}, SALT, KJ]}]),
    ([HUNDRED], "of which Salt 0,4 g", [HUNDRED | {"contains": [FAT, SALT | {"quantity": 0.4}, KJ]}]),
    ([HUNDRED], "Energy 202 kcal", [HUNDRED | {"contains": [FAT, SALT, KJ, KCAL]}]),
    ([HUNDRED], "Fat 4000 mg", [HUNDRED | {"contains": [MILLIGRAMS, SALT, KJ]}]),
    ([table(100, "GRM") | {"contains": None}], "Fat 4 g", [table(100, "GRM", NEW_FAT)]),
    ([None, HUNDRED], "Salt (delete)", [None, HUNDRED | {"contains": [FAT, KJ]}]),
    ([HUNDRED], "Fat 3.2 g", None),
    ([HUNDRED], "Sugars (delete)", None),
    (None, "per 100 g: Sugars (delete)", None),
    # Another basis is another table.
    ([SERVING], "Fat 4 g", "the basis is needed"),
    ([table(30, "GRM", FAT)], "Fat 4 g", "the only table is per 30 GRM"),
    ([table(None, None, FAT)], "Fat 4 g", "the basis is needed"),
    ([HUNDRED, SERVING], "Fat 4 g", "per 100 GRM, per 30 GRM"),
    ([HUNDRED, HUNDRED | {"preparationState": "PREPARED"}], "per 100 g: Fat 4 g", "2 tables per 100 GRM"),
    (None, "Fat 4 g", "there is no table"),
    # Not certain.
    ([HUNDRED], "per serving: Fat 4 g", "not a number with its unit"),
    ([HUNDRED], "per 100: Fat 4 g", "not a number with its unit"),
    ([HUNDRED], "Fat 4", "not a number with its unit"),
    ([HUNDRED], "Fat < 0,5 g", "not exact"),
    ([HUNDRED], "Energy 200 cal", "kcal (E14) or cal (D70)"),
    ([HUNDRED], "Fat 1,234 g", "1.234 or 1234"),
    ([HUNDRED], "Fat 12E3 g", "exponent"),
    ([HUNDRED], "Fat 4 g; Fat 5 g", "Write one of them"),
    ([HUNDRED], "Fat 4 g/100 g", "Write one of them"),
    ([HUNDRED], "Fat 4 g, Salt 1 g", "more than one number"),
    ([HUNDRED], "(delete)", "not a nutrient with its quantity"),
    ([table(100, "GRM", FAT, FAT)], "Fat 4 g", "FAT 2 times"),
    ([table(100, "GRM") | {"contains": {"odd": 1}}], "Fat 4 g", "of another form"),
]  # fmt: skip


def test_the_nutrient_that_is_meant_changes(answer: Answer) -> None:
    """In the table of its basis, and with all that stands beside the figure."""
    cases = [(value, {}, typed, expected) for value, typed, expected in NUTRITION]
    assert [] == wrong(answer, "isPartitionedBy", cases)


FRONT = {
    "url": "https://cdn.example/a.jpg",
    "gdsnFileName": "a.jpg",
    "isPackshot": True,
    "productFace": 1,
    "typeOfInformation": "PRODUCT_IMAGE",
    "tags": ["new"],
    "sequenceNumber": 4,
    "scope": "web",
    "width": 480,
    "height": 360,
    "crc32": "0a",
    "exportables": [{"uniformResourceIdentifier": "https://cdn.example/a-64.jpg", "width": 64}],
    "createdAt": "2026-01-01T00:00:00",
}
BACK = {"url": "https://cdn.example/b.jpg", "gdsnFileName": "b.jpg", "width": 2000, "height": 1000, "sort": 2}
NEW = "https://cdn.example/new.jpg"
SHOWS = ("isPackshot", "productFace", "typeOfInformation", "tags", "sequenceNumber", "scope")
REPLACED = {"url": NEW, **{name: FRONT[name] for name in SHOWS}}
ADDED = {"url": NEW, "isPackshot": False}

#: What is there, what the row says, the answer, and what is there afterwards, None, or why not.
PICTURES = [
    ([FRONT, BACK], {"Value seen": "480 x 360"}, NEW, [REPLACED, BACK]),
    ([FRONT, BACK], {"Value seen": "a.jpg"}, NEW, [REPLACED, BACK]),
    ([FRONT, BACK], {}, f"a.jpg -> {NEW}", [REPLACED, BACK]),
    ([FRONT, BACK], {}, "b.jpg -> (delete)", [FRONT]),
    ([FRONT, BACK], {"Value seen": "480 x 360"}, "(delete)", [BACK]),
    ([FRONT, BACK], {}, f"{NEW}\nb.jpg -> (delete)", [FRONT, ADDED]),
    ([FRONT, None], {}, NEW, [FRONT, None, ADDED]),
    ([FRONT], {}, FRONT["url"], None),
    ([FRONT, FRONT | {"url": "https://cdn.example/c.jpg"}], {"Value seen": "480 x 360"}, NEW, "2 p"),
    ([FRONT, BACK], {}, "(delete)", "does not say which"),
    ([FRONT, BACK], {"Value seen": "9 x 9"}, NEW, "conflict: https://cdn.example/a.jpg"),
    ([FRONT, BACK], {}, f"a.jpg -> {NEW}\na.jpg -> (delete)", "no pictures"),
    ([FRONT], {}, "https://[::1", "not an address"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("value", "keys", "typed", "expected"), PICTURES)
def test_the_picture_that_is_meant_changes(
    answer: Answer, value: Any, keys: dict[str, Any], typed: str, expected: Any
) -> None:
    """A new file keeps what it shows and what it is for; size, renditions and dates are those of the old file."""
    others = {
        "documents": [{"url": "d"}],
        "videos": [{"url": "v"}],
        "enriched_contents": [{"id": 1}],
        "own": {"a": 1},
    }
    assets = {"pictures": value, **others}
    made = record(1, GTIN, assets=assets)
    row = {"GTIN": GTIN, "Field": "assets.pictures.width", "New value": typed, **keys}
    fix = answer(row, catalog=prodex.flatten([made]))
    check(
        fix,
        "assets",
        assets,
        expected if expected is None or isinstance(expected, str) else {"pictures": expected, **others},
    )


def test_a_picture_that_is_there_becomes_the_front_packshot(answer: Answer) -> None:
    """Whoever answers "No front packshot" with its address does not want it twice."""
    assets = {"pictures": [FRONT | {"isPackshot": False}, BACK]}
    row = {"GTIN": GTIN, "Field": "assets.pictures", "New value": FRONT["url"], "Check": "has_front_packshot"}
    catalog = prodex.flatten([record(1, GTIN, assets=assets, isConsumerUnit=True)])
    fix = answer(row, catalog=catalog, profile={"checks": {"has_front_packshot": {}}})
    (sent,) = fix._judged.changes.records  # type: ignore[union-attr]
    assert sent["assets"] == {"pictures": [FRONT | {"isPackshot": True}, BACK]}
    assert fix.preview()["after"].tolist() == [f"{FRONT['url']} (front packshot)"]


CASE, EACH = "13036811359932", GTIN


def unit(gtin: str, *children: Any, **more: Any) -> dict[str, Any]:
    """Return a unit of a hierarchy."""
    return {"gtin": gtin, "quantity": 6, **more, "children": list(children)}


WEIGHT = [quantity(4, "KGM", sort=1), quantity(9, "LBR")]
TREE = unit(
    CASE,
    unit(EACH, uuid="e"),
    version={"grossWeight": WEIGHT, "isOrderableUnit": False, "own": {"a": 1}},
    activeListing=True,
)
OTHER = unit("05410228142027", unit(EACH), product_key_id=7)
ORDERABLE = TREE["version"] | {"isOrderableUnit": True}
JAM = {"gtin": "04006381333931", "quantity": 8, "children": []}
FLAT = unit(CASE, unit(EACH), grossWeight=quantity(4, "KGM"), typePackaging=code("CASE", sort=3))
HIERARCHIES = [
    ([TREE, OTHER], f"{CASE}: 8 x {EACH}", [TREE | {"children": [unit(EACH, uuid="e") | {"quantity": 8}]}, OTHER]),
    ([TREE, OTHER], f"{CASE}: 0 x {EACH}", [TREE | {"children": []}, OTHER]),
    ([TREE, OTHER], f"{CASE}: 8 x 4006381333931", [TREE | {"children": [unit(EACH, uuid="e"), JAM]}, OTHER]),
    ([TREE, OTHER], f"{CASE}: isOrderableUnit yes", [TREE | {"version": ORDERABLE}, OTHER]),
    ([FLAT, None], f"{CASE}: grossWeight 4,2 kg", [FLAT | {"grossWeight": quantity(4.2, "KGM")}, None]),
    ([FLAT], f"{CASE}: typePackaging BOX", [FLAT | {"typePackaging": {"code": "BOX", "sort": 3}}]),
    ([FLAT], f"{CASE}: isOrderableUnit yes", [FLAT | {"isOrderableUnit": True}]),
    ([TREE], f"{CASE}: grossWeight 10 lb", "4 KGM; 9 LBR"),
    ([TREE], f"{CASE}: 6 x {EACH}", None),
    ([TREE], f"{CASE}: 1,234 x {EACH}", "1.234 or 1234"),
    ([TREE], f"{CASE}: 1.5 x {EACH}", "not a whole number"),
    ([TREE], f"{CASE}: 6 x {EACH}; {CASE}: 7 x {EACH}", "Write one of them"),
    ([unit(CASE, unit(EACH), unit(EACH))], f"{CASE}: 8 x {EACH}", "2 times"),
    ([FLAT | {"version": {"grossWeight": WEIGHT}}], f"{CASE}: grossWeight 4,2 kg", "in two places"),
    ([unit(CASE, version="odd")], f"{CASE}: grossWeight 4,2 kg", "of another form"),
    ([unit(CASE, {"gtin": 1.5}, {"gtin": True})], f"{CASE}: 8 x 4006381333930", "check digit"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("value", "typed", "expected"), HIERARCHIES)
def test_the_unit_that_is_meant_changes(answer: Answer, value: Any, typed: str, expected: Any) -> None:
    """The other trees and units stay, and each attribute stands where its service has it."""
    check(read(answer, "logisticalHierarchies", value, {}, typed), "logisticalHierarchies", value, expected)


def several(answer: Answer, *rows: dict[str, Any], **attributes: Any) -> prodex.worklists.Fix:
    """Return several answers to one product."""
    product = record(1, GTIN, **attributes)
    catalog = prodex.flatten([copy.deepcopy(product), record(2, CASE, brand=code("BEST"))])
    return answer(*({"GTIN": GTIN, **row} for row in rows), catalog=catalog)


def row(field: str, typed: str, **keys: str) -> dict[str, Any]:
    """Return a row of answers."""
    return {"Field": field, "New value": typed, **keys}


def test_answers_to_several_items_of_one_list_are_merged(answer: Answer) -> None:
    """Each changes its own; what one removes moves the others to another place."""
    seen = "Value seen"
    fix = several(
        answer,
        row("netContent", "(delete)", **{seen: "500 GRM"}),
        row("netContent", "10 pcs", **{seen: "12 H87"}),
        row("netContent", "0.7 l", **{seen: "0.5 LTR"}),
        row("isPartitionedBy.contains", "per 100 g: Fat 4 g"),
        row("isPartitionedBy", "per 100 g: Salt 1 g; per 100 g", Check="nutrition_complete"),
        row("isPartitionedBy", "per 100 g: Salt 1 g"),
        netContent=[GRAMS, PIECES, LITRES],
        isPartitionedBy=[HUNDRED],
    )
    assert fix.answers["state"].tolist() == ["accepted"] * 4 + ["refused", "accepted"]
    (sent,) = fix._judged.changes.records  # type: ignore[union-attr]
    assert sent["netContent"] == [PIECES | {"data": 10}, LITRES | {"data": 0.7}]
    assert sent["isPartitionedBy"] == [
        HUNDRED | {"contains": [FAT | {"quantity": 4}, SALT | {"quantity": 1}, KJ]}
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (row("netContent", "600 g"), row("netContent", "700 g", **{"Value seen": "500 GRM"})),
        (row("netContent", "600 g"), row("netContent", "500 g -> (delete)")),
        (row("netContent", "500 g"), row("netContent", "700 g")),
        (row("netContent", "600 g; 12 pcs; 1 l"), row("netContent", "600 g; 12 pcs; 2 l")),
        (row("brand.code", "BEST"), row("brand.label", "NEXT")),
        (row("isPartitionedBy", "per 100 g: Fat 4 g"), row("isPartitionedBy.contains", "per 100 g: Salt 1 g; Fat 5 g")),
        (row("assets.pictures", f"a.jpg -> {NEW}"), row("assets.pictures.width", "a.jpg -> (delete)")),
        (row("assets.pictures", NEW), row("assets.pictures", f"{NEW}?2")),
        (row("logisticalHierarchies", f"{CASE}: 7 x {EACH}"), row("logisticalHierarchies.gtin", f"{CASE}: 8 x {EACH}")),
        (row("isConsumerUnit", "yes"), row("isConsumerUnit", "no")),
        # Taken away and counted; two codes become one; what one calls 0.1 l, the other one calls 100 ml.
        (row("logisticalHierarchies", f"{CASE}: 0 x {EACH}"), row("logisticalHierarchies", f"{CASE}: 8 x {EACH}")),
        (row("conservations", "COLD -> FREEZE"), row("conservations", "DARK -> FREEZE")),
        (row("isPartitionedBy", "per 0.1 l: Fat 4 g"), row("isPartitionedBy", "per 100 ml: Fat 5 g")),
    ],
)  # fmt: skip
def test_two_answers_to_one_item_have_to_agree(
    answer: Answer, first: dict[str, Any], second: dict[str, Any]
) -> None:
    """Whatever their rows call the attribute, and whatever else they say."""
    fix = several(
        answer,
        first,
        second,
        netContent=[GRAMS, PIECES],
        conservations=[COLD, DARK],
        brand=code("ACME"),
        isPartitionedBy=[HUNDRED],
        assets={"pictures": [FRONT, BACK]},
        logisticalHierarchies=[TREE],
        isConsumerUnit=None,
    )
    assert dict(fix.counts) == {"conflict": 2}, fix.answers["reason"].tolist()


@pytest.mark.parametrize("is_turned", [False, True])
def test_an_answer_means_the_same_whichever_comes_first(answer: Answer, is_turned: bool) -> None:
    """Each is read by what its product has, and not by what another one adds to it."""
    rows = [
        row("isPartitionedBy", "Fat 4 g"),
        row("isPartitionedBy", "per 30 g: Salt 1 g"),
        row("assets.pictures.isPackshot", NEW),
        row("assets.pictures", NEW),
    ]
    rows = rows[::-1] if is_turned else rows
    fix = several(answer, *rows, isPartitionedBy=[HUNDRED], assets={"pictures": [BACK]})
    assert {"accepted", "unchanged"} >= fix.counts.keys(), fix.answers["reason"].tolist()
    (sent,) = fix._judged.changes.records  # type: ignore[union-attr]
    salt = {"isConceptualizedBy": {"code": "SALTEQ"}, "quantity": 1, "expressedIn": {"code": "GRM"}}
    assert sent["isPartitionedBy"] == [
        HUNDRED | {"contains": [FAT | {"quantity": 4}, SALT, KJ]},
        {"quantity": 30, "isMeasuredBy": {"code": "GRM"}, "contains": [salt]},
    ]
    assert sent["assets"]["pictures"] == [BACK, {"url": NEW, "isPackshot": True, "productFace": 1}]


def test_the_same_answer_twice_is_one(answer: Answer) -> None:
    """However it is spelled."""
    fix = several(
        answer,
        row("netContent", "600 g"),
        row("netContent", "600 Gramm", **{"Value seen": "500 GRM"}),
        row("netContent", "600 GRM; 12 Stück"),
        netContent=[GRAMS, PIECES],
    )
    assert fix.answers["state"].tolist() == ["accepted", "unchanged", "accepted"]
    (sent,) = fix._judged.changes.records  # type: ignore[union-attr]
    assert sent["netContent"] == [GRAMS | {"data": 600}, PIECES]


@pytest.mark.slow
def test_what_arrived_is_unchanged_and_nothing_beside_it_moved(answer: Answer) -> None:
    """From the file to a service and back: the same answers again change nothing."""
    product = record(
        1,
        GTIN,
        netContent=[GRAMS, PIECES, LITRES],
        conservations=[COLD, DARK],
        isPartitionedBy=[HUNDRED, SERVING],
        assets={"pictures": [FRONT, BACK], "documents": [{"url": "https://cdn.example/d.pdf"}]},
        logisticalHierarchies=[TREE, OTHER],
    )
    rows = (
        row("netContent", "0,6 kg", **{"Value seen": "500 GRM"}),
        row("netContent", "(delete)", **{"Value seen": "12 H87"}),
        row("conservations", "FREEZE", **{"Value seen": "COLD"}),
        row("isPartitionedBy", "per 100 g: Fat 4 g; Salt (delete)"),
        row("assets.pictures", f"b.jpg -> {NEW}"),
        row("logisticalHierarchies", f"{CASE}: isOrderableUnit yes"),
    )
    with Sandbox([product]) as sandbox:
        key = sandbox.credentials[0]
        mill = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        catalog = prodex.load_products(mill, name="neighbours", progress=False)
        before = stored(mill, GTIN)
        fix = answer(*({"GTIN": GTIN, **one} for one in rows), catalog=catalog)
        fix.confirm().apply(mill, progress=False).wait(progress=False)
        after = stored(mill, GTIN)
        again = fix.recheck(mill)

    expected = before | {
        "netContent": [{"data": 0.6, "expressedIn": {"code": "KGM", "label": "Kilogram"}, "sort": 1}, LITRES],
        "conservations": [{"code": "FREEZE", "sort": 1}, DARK],
        "isPartitionedBy": [HUNDRED | {"contains": [FAT | {"quantity": 4}, KJ]}, SERVING],
        "assets": before["assets"]
        | {"pictures": [FRONT, {"url": NEW, "sort": 2}], "lastUpdatedAt": after["assets"]["lastUpdatedAt"]},
        "logisticalHierarchies": [TREE | {"version": ORDERABLE}, OTHER],
    }
    own = {"updatedAt", "netContent", "isPartitionedBy"}  # the service describes units in its own words
    assert {k: v for k, v in expected.items() if k not in own} == {
        k: v for k, v in after.items() if k not in own
    }
    assert [(one["data"], one["expressedIn"]["code"], one.get("sort")) for one in after["netContent"]] == [
        (0.6, "KGM", 1),
        (0.5, "LTR", None),
    ]
    assert dict(again.counts) == {"unchanged": len(rows)}, again.answers["reason"].tolist()


def test_labels_are_not_answered_and_a_text_below_them_leaves_them(answer: Answer) -> None:
    """Neither the label, nor its dates, nor its picture; only the text that is meant."""
    label = {
        "startDate": "2026-01-01",
        "endDate": "2027-01-01",
        "detail": [text("fra-FR", "Issu de"), text("eng-GB", "From")],
        "isConceptualizedBy": code("BIO", pictureUrl="https://cdn.example/bio.png"),
    }
    other = label | {"isConceptualizedBy": code("FAIR")}
    keys = {"Language": "en", "Language code": "eng-GB", "Position": "0.1", "Value seen": "From"}
    fix = several(
        answer,
        row("isLabeledBy.detail", "Made from", **keys),
        row("isLabeledBy.endDate", "2028-01-01"),
        row("isLabeledBy.isConceptualizedBy", "FAIR"),
        row("isLabeledBy", "FAIR"),
        isLabeledBy=[label, other],
    )
    assert fix.answers["state"].tolist() == ["accepted", *["refused"] * 3]
    (sent,) = fix._judged.changes.records  # type: ignore[union-attr]
    made = label | {"detail": [text("fra-FR", "Issu de"), text("eng-GB", "Made from")]}
    assert sent["isLabeledBy"] == [made, other]


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ("Un autre pain", ["Un pain", "Pain bis"]),
        (" Un pain ", ["Pain bis", "Un autre pain"]),
        ("Du pain", None),
    ],
)
def test_what_was_seen_says_which_text_is_meant(
    answer: Answer, seen: str, expected: list[str] | None
) -> None:
    """As it says of items of other shapes; without it, and where it says another text, the answer is refused."""
    two = [text("fra-FR", "Un pain"), text("fra-FR", "Un autre pain")]
    typed = row("description", "Pain bis", Language="fr", **{"Value seen": seen})
    fix = several(answer, typed, description=two)
    if expected is None:
        assert dict(fix.counts) == {"refused": 1}
        return
    (sent,) = fix._judged.changes.records  # type: ignore[union-attr]
    assert [one["data"] for one in sent["description"]] == expected
