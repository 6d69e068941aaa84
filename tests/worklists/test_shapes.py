"""Answers that are no single text: codes, numbers, quantities, nutrients, pictures, hierarchies."""

from __future__ import annotations

from typing import Any

import pytest

import prodex
from prodex.worklists.answer_parsing import AnswerRefused, Vocabulary, read_number

from .bakery import RECORDS, Answer

FIRST, THIRD = RECORDS[0]["gtin"], RECORDS[2]["gtin"]


def row(field: str, new: Any, gtin: str = FIRST, **keys: Any) -> dict[str, Any]:
    """Return a row of answers."""
    return {"GTIN": gtin, "Field": field, "New value": new, **keys}


def written(fix: Any) -> dict[str, Any]:
    """Return what would be written of the one product."""
    (record,) = fix._judged.changes.records
    return {name: value for name, value in record.items() if name != "gtin"}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("0,5", 0.5), ("12", 12), ("1 234,5", 1234.5), ("1.234,5", 1234.5), ("1,234.5", 1234.5), ("-3", -3),
        ("1'234", 1234), ("1.234.567", 1234567), ("0,500", 0.5), ("4.5 %", 4.5), ("\u22127,25", -7.25),
    ],
)  # fmt: skip
def test_numbers_are_read_as_they_are_written_in_europe_and_elsewhere(typed: str, meant: float) -> None:
    """The sign before the last digits is the decimal one, unless it groups them."""
    assert read_number(typed) == meant


@pytest.mark.parametrize("typed", ["1,234", "1.234", "12 34", "1,2,3", "five", "", "--2", "1.2.3"])
def test_numbers_that_may_mean_two_things_need_confirmation(typed: str) -> None:
    """1,234 is one and a bit, or twelve hundred: nobody guesses."""
    with pytest.raises(AnswerRefused):
        read_number(typed)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("500 g", (500, "GRM")),
        ("0,75 Liter", (0.75, "LTR")),
        ("33cl", (33, "CLT")),
        ("12 KGM", (12, "KGM")),
        ("6 Gram", (6, "GRM")),
    ],
)
def test_quantities_have_units_in_words_and_codes(typed: str, meant: tuple[float, str]) -> None:
    """With or without a space, in several languages."""
    assert Vocabulary().quantity(typed) == meant


@pytest.mark.parametrize("typed", ["500", "g", "500 bananas", "a lot of g"])
def test_quantities_without_a_known_unit_are_refused(typed: str) -> None:
    """A number alone says nothing."""
    with pytest.raises(AnswerRefused):
        Vocabulary().quantity(typed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "typed", "attribute", "value"),
    [
        ("isConsumerUnit", "nein", "isConsumerUnit", False),
        ("percentageOfAlcoholByVolume", "5,5 %", "percentageOfAlcoholByVolume", 5.5),
        ("netContent", "0,5 kg", "netContent", [{"data": 0.5, "expressedIn": {"code": "KGM"}}]),
        ("netContent", "2 x", None, "is not a known unit"),
        ("brand.code", "best & co", "brand", {"code": "BEST"}),
        ("brand.code", "BEST", "brand", {"code": "BEST"}),
        ("brand", "Best & Co∣BEST", "brand", {"code": "BEST"}),
        ("brand", "NEW-1", "brand", {"code": "NEW-1"}),
        ("brand", "some new brand", None, "is not a code"),
        ("isConsumerUnit", "perhaps", None, "neither yes nor no"),
        ("gtin", "03036811359936", None, "cannot be answered in a cell"),
        ("updatedAt", "2026-01-01", None, "cannot be answered in a cell"),
        ("nameless", "x", None, "cannot be answered in a cell"),
    ],
)  # fmt: skip
def test_values_are_read_by_what_their_attribute_holds(
    answer: Answer, field: str, typed: str, attribute: str | None, value: Any
) -> None:
    """A code by its label, a quantity with its unit; what cannot be read is refused with the reason."""
    fix = answer(row(field, typed))
    if attribute is None:
        assert value in fix.refused["reason"][0]
    else:
        assert written(fix.confirm()) == {attribute: value}


def test_nutrients_are_set_one_by_one_and_the_others_stay(answer: Answer) -> None:
    """Energy in kilojoules stays beside that in kilocalories; the table is not replaced."""
    fix = answer(row("isPartitionedBy.contains", "per 100 g: Fat 4,5 g; Salt 0.5 g; Energy 202 kcal"))
    (partition,) = written(fix)["isPartitionedBy"]
    found = [
        (one["isConceptualizedBy"]["code"], one["quantity"], one["expressedIn"]["code"])
        for one in partition["contains"]
    ]
    assert found == [
        ("FAT", 4.5, "GRM"),
        ("ENER-", 844, "KJO"),
        ("SALTEQ", 0.5, "GRM"),
        ("ENER-", 202, "E14"),
    ]


@pytest.mark.parametrize(
    ("gtin", "typed", "reason"),
    [
        (FIRST, "Fat", "is not a nutrient with its quantity"),
        (FIRST, "Fat 3", "not a number with its unit"),
        (FIRST, "Happiness 3 g", "not a known nutrient"),
        (THIRD, "Fat 3 g", "basis is needed"),
    ],
)
def test_nutrients_that_are_not_certain_are_refused(
    answer: Answer, gtin: str, typed: str, reason: str
) -> None:
    """Which nutrient, how much of it, of how much food."""
    assert reason in answer(row("isPartitionedBy", typed, gtin)).refused["reason"][0]


def test_a_picture_is_added_or_takes_the_place_of_another(answer: Answer) -> None:
    """The other pictures and the documents stay; which one is replaced is said, or certain by what was seen."""
    new = "https://cdn.example/new.jpg"
    added = written(answer(row("assets.pictures.url", new)))["assets"]
    assert [one["url"][-7:] for one in added["pictures"]] == ["e/a.jpg", "e/b.jpg", "new.jpg"]
    assert added["documents"] == RECORDS[0]["assets"]["documents"]
    for typed, keys in ((f"a.jpg -> {new}", {}), (new, {"Value seen": "480 x 360"})):
        replaced = written(answer(row("assets.pictures.width", typed, **keys)))["assets"]
        assert [one["url"][-7:] for one in replaced["pictures"]] == ["new.jpg", "e/b.jpg"]
    removed = written(answer(row("assets.pictures.crc32", "b.jpg -> (delete)")))["assets"]
    assert [one["url"][-5:] for one in removed["pictures"]] == ["a.jpg"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed", ["foo.jpg", "javascript:alert(1)", "https://", "c.jpg -> https://cdn.example/x.jpg", "a b"]
)
def test_what_is_no_address_of_a_picture_is_refused(answer: Answer, typed: str) -> None:
    """And so is the name of a picture that the product does not have."""
    assert len(answer(row("assets.pictures.url", typed)).refused) == 1


def test_units_of_a_hierarchy_are_corrected_by_their_gtin(answer: Answer) -> None:
    """How many a case holds, what it weighs, whether it can be ordered."""
    case = "13036811359932"
    typed = f"{case}: 8 x 03036811359935; {case}: grossWeight 4,2 kg\n{case}: isOrderableUnit yes"
    (tree,) = written(answer(row("logisticalHierarchies", typed)))["logisticalHierarchies"]
    assert tree["children"][0]["quantity"] == 8
    assert tree["version"]["grossWeight"] == [{"data": 4.2, "expressedIn": {"code": "KGM"}}]
    assert tree["version"]["isOrderableUnit"] is True


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed",
    [
        "8 x 03036811359935",
        "05410228142027: 8 x 03036811359935",
        "13036811359932: colour red",
        "13036811359932: height",
        "13036811359932: grossWeight heavy",
        "13036811359932: 8 x 03036811359935; 13036811359932: 0 x 03036811359935",
    ],
)
def test_corrections_of_a_hierarchy_that_are_not_certain_are_refused(answer: Answer, typed: str) -> None:
    """Every line names a unit that is there, a field, and its value."""
    assert len(answer(row("logisticalHierarchies", typed)).refused) == 1


def test_a_text_says_its_language_when_its_row_does_not(answer: Answer) -> None:
    """Before the text, since nobody knows in which language a missing name is meant."""
    fix = answer(row("namePublicLong", "Farmhouse bread"), row("namePublicLong", "de-DE: Bauernbrot", THIRD))
    assert "no language" in fix.refused["reason"][0]
    assert fix.preview()[["language", "after"]].values.tolist() == [["de", "Bauernbrot"]]


def test_a_text_is_removed_by_a_word(answer: Answer) -> None:
    """And the others of the attribute stay."""
    fix = answer(row("namePublicLong", "(delete)", Language="nl"))
    assert [one["expressedIn"]["code"] for one in written(fix)["namePublicLong"]] == ["fra-FR"]


@pytest.mark.parametrize(
    "typed", ["Best & Co | ACME", "Acme∣BEST", "ACME | Best & Co", "Another | ACME", "ACME | BEST"]
)
def test_a_code_beside_the_label_of_another_is_refused(answer: Answer, typed: str) -> None:
    """Somebody overwrote one of both, and nobody knows which one is meant: "unchanged" would lose the answer."""
    fix = answer(row("brand", typed))
    assert {"refused": 1} == fix.counts
    assert "the code of one thing and the label of another" in fix.refused["reason"][0]


def test_a_code_has_the_labels_of_all_products(answer: Answer) -> None:
    """Two products may have it with different ones, in other letters; a code without a label has any."""
    catalog = prodex.flatten(
        [
            RECORDS[0] | {"brand": {"code": "BEST", "label": "Best"}},
            RECORDS[1],
            RECORDS[2] | {"brand": {"code": "ZZ"}},
        ]
    )
    for typed in ("Best | BEST", "best &  co∣BEST", "BEST | BEST", "Zig Zag | ZZ"):
        assert not {"refused", "conflict"} & set(answer(row("brand", typed), catalog=catalog).counts), typed
