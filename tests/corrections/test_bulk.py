"""Corrections of many products: what is set, moved, copied and converted, what is refused, and what is counted."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import prodex
from prodex import operations as do
from prodex.corrections.products_in_work import ProductsInWork
from prodex.corrections.stepping import do_step
from prodex.errors import InputError

GTINS = ("03036811359935", "04006381333931", "08784900123459", "05410126006018")


def text(code: str, data: str) -> dict[str, Any]:
    """Return a localized text as the service has it."""
    return {"expressedIn": {"code": code}, "data": data}


def amount(value: float, unit: str) -> dict[str, Any]:
    """Return a quantity as the service has it."""
    return {"data": value, "expressedIn": {"code": unit, "label": unit.lower()}}


def product(number: int, **attributes: Any) -> dict[str, Any]:
    """Return a product with a GTIN, and the texts that the service requires."""
    needed = {name: [text("fra-FR", "x")] for name in ("nameLegal", "namePublicShort")}
    return {"id": number, "gtin": GTINS[number], "kind": {"code": "FOOD"}, **needed, **attributes}


@cache
def catalog() -> prodex.Catalog:
    """Return products with everything that is odd."""
    return prodex.flatten(
        [
            product(
                0,
                brand={"code": "ACME", "label": "Acme", "pictureUrl": "http://x"},
                namePublicLong=[text("fra-FR", "ACME  Riz"), text("nld-NL", "ACME Rijst")],
                netContent=[amount(500, "GRM") | {"qualifier": "drained"}, amount(12, "H87")],
                originCountry=[{"code": "FR"}, {"code": "DE"}],
                productBenefits=[{"text": [text("fra-FR", " bon ")]}, {"text": [text("fra-FR", "bon")]}],
                isConsumerUnit=True,
            ),
            product(
                1,
                brand={"code": "ZEST"},
                namePublicLong=[text("fra-FR", "Thé")],
                description=[text("fra-FR", "autre")],
                netContent=[amount(0.5, "KGM")],
            ),
            product(2, namePublicLong=[text("fra-FR", "a"), text("fra-FR", "b")]),
            {"id": 3, "namePublicLong": [text("fra-FR", "ACME sans code")]},
        ]
    )


def after(fix: prodex.worklists.Fix) -> list[tuple[str, str, str]]:
    """Return what is sent: attribute, before, after."""
    return [tuple(row) for row in fix.preview()[["attribute", "before", "after"]].to_numpy()]


def counts(fix: prodex.worklists.Fix, step: int = 0) -> dict[str, int]:
    """Return what a step counts, but zeros."""
    row = fix.steps.iloc[step]
    names = ("changed", "already_so", "refused", "needs_confirmation", "conflict", "no_value")
    return {name: int(row[name]) for name in names if row[name]}


def test_a_text_is_replaced_in_every_language_of_the_chosen_products() -> None:
    """The counts of the step are those of what is judged: without a GTIN nothing can be sent."""
    fix = prodex.correct(catalog(), "namePublicLong", do.ReplaceText("ACME", "Acme"))
    assert [
        ("namePublicLong", "ACME  Riz", "Acme  Riz"),
        ("namePublicLong", "ACME Rijst", "Acme Rijst"),
    ] == after(fix)
    assert {"changed": 2, "already_so": 3, "refused": 1} == counts(fix)
    assert "no GTIN" in fix.steps["reason"][0]


@pytest.mark.parametrize("language", ["fr", "French", "fra-FR", "fr-FR", "FRE"])
def test_a_language_is_meant_in_any_spelling(language: str) -> None:
    """Only texts of the language are touched, whichever way it is written."""
    fix = prodex.correct(catalog(), "namePublicLong", do.ReplaceText("ACME", "A"), language=language)
    assert [("namePublicLong", "ACME  Riz", "A  Riz")] == after(fix)


@pytest.mark.slow
@pytest.mark.parametrize("value", ["fr: Riz", "Yes we can", "=1+1", "<b>Riz</b>", "a -> b", "شاي", "x" * 200])
def test_a_text_is_set_letter_by_letter(value: str) -> None:
    """No grammar of cells is applied to what is set."""
    fix = prodex.correct(catalog().where(product_id="1"), "namePublicLong", value, language="fr")
    assert [("namePublicLong", "Thé", value)] == after(fix)


@pytest.mark.slow
@pytest.mark.parametrize("value", ["-", "n/a", "TBD", "delete", "(delete)", "Supprimer", "ok", "Erledigt"])
def test_a_text_that_says_nothing_is_no_deletion(value: str) -> None:
    """What reads like a remark, or takes values away elsewhere, is a text all the same, and to be confirmed."""
    fix = prodex.correct(catalog().where(product_id="1"), "namePublicLong", value, language="fr")
    assert not fix.counts["refused"]
    assert 1 == fix.counts["needs confirmation"]
    fix.confirm()
    assert [("namePublicLong", "Thé", value)] == after(fix)
    series = pd.Series({"1": value})
    assert (
        1 == prodex.correct(catalog(), "namePublicLong", series, language="fr").counts["needs confirmation"]
    )
    # What a function makes was typed by nobody.
    made = prodex.correct(catalog().where(product_id="1"), "namePublicLong", lambda _: value, language="fr")
    assert [("namePublicLong", "Thé", value)] == after(made)


def test_a_text_is_set_where_it_is_certain_which_one_is_meant() -> None:
    """Without a language a product needs one text; with one, a product without a text gets it."""
    fix = prodex.correct(catalog(), "namePublicLong", "Riz")
    assert {"changed": 1, "refused": 3} == counts(fix)
    assert {
        "it has texts in fr, nl. Give the language that is meant.",
        "it has 2 texts there, and it is not known which is meant.",
    } < set(fix.refused["reason"])
    added = prodex.correct(catalog(), "namePublicLong", "Rijst", language="nl")
    assert [("ACME Rijst", "Rijst"), (None, "Rijst"), (None, "Rijst")] == [row[1:] for row in after(added)]


def test_codes_are_set_by_code_or_label_and_unknown_ones_need_confirmation() -> None:
    """Codes in use are those of the whole catalogue, also where products were chosen."""
    chosen = catalog().where(product_id="0")
    assert [("brand", "ACME", "ZEST")] == after(prodex.correct(chosen, "brand_code", "ZEST"))
    assert [("brand", "ZEST", "ACME")] == after(
        prodex.correct(catalog().where(product_id="1"), "brand", "Acme")
    )
    unknown = prodex.correct(chosen, "brand", do.SetCode("ZESTY"))
    assert {"needs_confirmation": 1} == counts(unknown)
    assert "nearest: ZEST" in unknown.needs_confirmation["reason"][0]
    assert [("brand", "ACME", "ZESTY")] == after(unknown.confirm())
    assert {"changed": 1} == counts(unknown)


def test_codes_of_a_list() -> None:
    """A code that the list has is there already; of several others it is not known which one is meant."""
    fix = prodex.correct(catalog().where(product_id=["0", "1"]), "originCountry", do.SetCode("DE"))
    assert {"changed": 1, "already_so": 1} == counts(fix)
    other = prodex.correct(catalog().where(product_id="0"), "originCountry", do.SetCode("BE"))
    assert {"refused": 1} == counts(other)


def test_units_are_converted_and_what_else_the_item_says_stays() -> None:
    """Twelve pieces are no weight; half a kilogram is one already."""
    fix = prodex.correct(catalog(), "netContent", do.ConvertUnit("kg"))
    assert [("netContent", "500 GRM", "0.5 KGM")] == after(fix)
    assert {"changed": 1, "already_so": 1, "refused": 1, "no_value": 2} == counts(fix)
    (record,) = fix._known().changes.records  # what is sent is nowhere else
    assert [
        {"data": 0.5, "expressedIn": {"code": "KGM"}, "qualifier": "drained"},
        amount(12, "H87"),
    ] == record["netContent"]
    only = prodex.correct(catalog(), "netContent", do.ConvertUnit("kg", only="g"))
    assert {"changed": 1, "already_so": 2, "no_value": 2} == counts(only)


def test_a_quantity_is_set_where_its_dimension_says_which_one_is_meant() -> None:
    """The weight is set beside the number of pieces."""
    fix = prodex.correct(catalog().where(product_id=["0", "1"]), "netContent", "0,6 kg")
    assert [("netContent", "500 GRM", "0.6 KGM"), ("netContent", "0.5 KGM", "0.6 KGM")] == after(fix)


def test_a_text_is_moved_as_a_whole_or_not_at_all() -> None:
    """Where another text is, and where several would go to one place, nothing is taken away."""
    fix = prodex.correct(catalog(), "namePublicLong", do.MoveText("description"), language="fr")
    assert [("namePublicLong", "ACME  Riz", None), ("description", None, "ACME  Riz")] == [
        (attribute, before, new or None) for attribute, before, new in after(fix)
    ]
    assert {"changed": 1, "refused": 3} == counts(fix)
    reasons = " ".join(fix.refused["reason"])
    assert "holds another text already: 'autre'" in reasons
    assert "has several texts to move" in reasons


def test_a_text_that_cannot_arrive_is_not_taken_away() -> None:
    """The country of a language that nobody uses is not known, so that the text stays where it is."""
    fix = prodex.correct(catalog().where(product_id="1"), "namePublicLong", do.MoveText(to_language="en"))
    assert [] == after(fix)
    assert {"refused": 1} == counts(fix)
    there = prodex.correct(
        catalog().where(product_id="1"), "namePublicLong", do.MoveText(to_language="en-GB")
    )
    assert 2 == len(there.preview())


def test_a_text_that_cannot_be_taken_away_does_not_arrive() -> None:
    """A text that is in no list cannot be deleted alone, so that it is not copied either."""
    odd = prodex.flatten([product(0, serves={"hint": text("fra-FR", "deux")})])
    fix = prodex.correct(odd, "serves.hint", do.MoveText("description"))
    assert [] == after(fix)
    assert {"refused": 1} == counts(fix)


def test_a_moved_text_keeps_the_country_of_its_language() -> None:
    """Belgian French stays Belgian; a text in no language is left where it is, with the reason."""
    odd = prodex.flatten(
        [product(0, namePublicLong=[text("fra-BE", "Belge"), text("zz-??", "?")]), product(1)]
    )
    fix = prodex.correct(odd, "namePublicLong", do.MoveText("description"))
    (record,) = fix._known().changes.records
    assert [text("fra-BE", "Belge")] == record["description"]
    assert {"changed": 1, "refused": 1, "no_value": 1} == counts(fix)
    assert "its language is not known" in fix.refused["reason"][0]
    for same in (do.MoveText("namePublicLong"), do.MoveText(to_language="fr")):
        with pytest.raises(InputError, match="moved to where it is"):
            prodex.correct(odd, "namePublicLong", same, language="fr")


def test_what_a_record_has_in_another_form_is_not_added_to() -> None:
    """No table shows the amount that is a text, so that nothing is set beside it."""
    fix = prodex.correct(prodex.flatten([product(0, netContent=["500 g"])]), "netContent", "1 kg")
    assert "another form" in fix.refused["reason"][0]


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("namePublicLong", do.TrimSpaces()),
        ("brand", "ACME"),
        ("netContent", do.ConvertUnit("kg")),
        ("namePublicLong", do.MoveText("description")),
        ("description", do.CopyFrom("namePublicLong")),
        ("namePublicLong", str.upper),
        ("description", pd.Series(dtype=object)),
    ],
)
def test_no_products_are_nothing_to_do(attribute: str, value: Any) -> None:
    """An empty catalogue, and one of which nothing was chosen, give an empty fix."""
    for empty in (prodex.flatten([]), catalog().where(brand_code="NONE")):
        fix = prodex.correct(empty, attribute, value)
        assert (0, 0, {}) == (len(fix.answers), len(fix.step_rows), counts(fix))


@pytest.mark.slow
def test_values_are_copied_where_there_is_none_or_it_may_be_replaced() -> None:
    """Another value is not overwritten unless that is said."""
    fix = prodex.correct(catalog(), "description", do.CopyFrom("namePublicLong"), language="fr")
    assert [("description", None, "ACME  Riz")] == after(fix)
    replaced = prodex.correct(
        catalog(), "description", do.CopyFrom("namePublicLong", replace=True), language="fr"
    )
    assert {("description", None, "ACME  Riz"), ("description", "autre", "Thé")} == set(after(replaced))
    language = prodex.correct(catalog(), "namePublicLong", do.CopyFrom(from_language="fr"), language="nl")
    assert ("namePublicLong", None, "Thé") in after(language)
    weight = prodex.correct(catalog().where(product_id="1"), "netWeight", do.CopyFrom("netContent"))
    assert [("netWeight", None, "0.5 KGM")] == after(weight)


@pytest.mark.parametrize("replace", [False, True])
def test_a_code_of_another_list_is_copied_only_if_it_is_meant(replace: bool) -> None:
    """A country is no brand; a code that the attribute has already needs no question."""
    brand = {"code": "ZEST"} if replace else None
    own = product(1, originCountry=[{"code": "FR"}], brand=brand, namePublicLong=[text("fra-FR", "Riz")])
    copy = do.CopyFrom("originCountry", replace=replace)
    fix = prodex.correct(prodex.flatten([own]), "brand", copy)
    assert ({"needs confirmation": 1}, []) == (fix.counts, after(fix))
    question = "'FR' is a code of brand that no product of the catalogue and no list has"
    assert fix.needs_confirmation["reason"][0].startswith(question)
    assert {"accepted": 1} == fix.confirm().counts
    known = prodex.flatten([own, product(2, brand={"code": "FR"})]).where(product_id="1")
    assert {"accepted": 1} == prodex.correct(known, "brand", copy).counts


def test_nested_texts_are_corrected_each_in_its_place() -> None:
    """Two items have a text in one language; one is changed, and no text is added to an item that is not known."""
    fix = prodex.correct(catalog(), "productBenefits.text", do.TrimSpaces())
    assert [("productBenefits.text", " bon ", "bon")] == after(fix)
    added = prodex.correct(catalog().where(product_id="1"), "productBenefits.text", "bon", language="fr")
    assert "not known which item" in added.refused["reason"][0]


def test_values_are_removed() -> None:
    """Every value that is there is taken away: a text, a code of a list, a flag."""
    assert 1 == len(prodex.correct(catalog(), "description", prodex.DELETE).preview())
    assert {"changed": 2, "no_value": 3} == counts(
        prodex.correct(catalog(), "originCountry", do.RemoveValue())
    )
    assert [("isConsumerUnit", "true", "")] == [
        (attribute, before, new or "")
        for attribute, before, new in after(prodex.correct(catalog(), "isConsumerUnit", do.RemoveValue()))
    ]


def test_yes_and_no_and_numbers() -> None:
    """They are given as Python has them, or as people write them."""
    for no in (False, np.False_, "no", "Nein"):
        value = no.item() if isinstance(no, np.generic) else no
        fix = prodex.correct(catalog().where(product_id="0"), "isConsumerUnit", value)
        assert [("isConsumerUnit", "true", "false")] == after(fix)
    with pytest.raises(InputError, match="neither yes nor no"):
        prodex.correct(catalog(), "isConsumerUnit", "maybe")


def test_a_function_gets_each_value_and_its_errors_stop_nobody_else() -> None:
    """None leaves a value, DELETE takes it away, and an error is that of its product."""

    def cut(value: str | None) -> Any:
        return {"b": prodex.DELETE, "a": None}[value] if value in {"a", "b"} else str(value)[8]

    fix = prodex.correct(catalog(), "namePublicLong", cut)
    assert {"changed": 3, "already_so": 1, "refused": 2} == counts(fix)
    assert "the function raised IndexError: string index out of range" in set(fix.refused["reason"])


def test_a_function_can_give_a_value_to_products_without_one() -> None:
    """It gets None for them, where it is known where the value would be."""
    fix = prodex.correct(
        catalog().where(product_id=["0", "1"]), "description", lambda one: one or "Neu", language="fr"
    )
    assert [("description", None, "Neu")] == after(fix)


def test_a_series_has_values_by_id_or_gtin() -> None:
    """GTINs may have lost their zeros; what is for no product here is named, and a missing value says nothing."""
    fix = prodex.correct(
        catalog(),
        "description",
        pd.Series({3036811359935: "neu", 4006381333931: None, 99: "x"}),
        language="fr",
    )
    assert [("description", None, "neu")] == after(fix)
    assert 1 == counts(fix)["conflict"]
    by_id = prodex.correct(
        catalog(), "description", pd.Series(["neuf"], pd.Index(["1"], name="product_id")), language="fr"
    )
    assert [("description", "autre", "neuf")] == after(by_id)
    with pytest.raises(InputError, match="None of the 1 entries"):
        prodex.correct(catalog(), "description", pd.Series({"77": "x"}), language="fr")


def test_a_word_that_says_nothing_needs_confirmation_also_where_there_was_no_text() -> None:
    """Whoever lists values is asked about each of them, wherever it goes."""
    fix = prodex.correct(catalog(), "description", pd.Series({"0": "TBD", "1": "neu"}), language="fr")
    assert [("description", "autre", "neu")] == after(fix)
    assert ["TBD"] == fix.needs_confirmation["answer"].tolist()
    assert 2 == len(fix.confirm().preview())


@pytest.mark.parametrize(
    ("attribute", "value", "options", "words"),
    [
        ("namePublicLon", "x", {}, "did you mean 'namePublicLong'"),
        ("gtin", "x", {}, "of another product"),
        ("updatedAt", "x", {}, "cannot be written"),
        ("namePublicLong", do.ConvertUnit("kg"), {}, "is for quantity"),
        ("brand", do.TrimSpaces(), {}, "holds a code"),
        ("netContent", "5", {}, "unit"),
        ("brand", "ZEST", {"language": "fr"}, "no language"),
        ("namePublicLong", do.MoveText("brand"), {}, "takes no text"),
        ("namePublicLong", do.CopyFrom("brand"), {}, "one is no other"),
        ("namePublicLong", do.CopyFrom(from_language="fr"), {}, "copied from where it is"),
        ("namePublicLong", "", {}, "RemoveValue"),
        ("namePublicLong", None, {}, "RemoveValue"),
        ("", "x", {}, "wire path"),
        ("isPartitionedBy.x", "x", {}, "cannot be corrected|no attribute"),
    ],
)
def test_what_cannot_be_done_at_all_is_an_error(
    attribute: str, value: Any, options: dict[str, Any], words: str
) -> None:
    """It is raised at once, and says what to do."""
    with pytest.raises(InputError, match=words):
        prodex.correct(catalog(), attribute, value, **options)


@pytest.mark.slow
def test_texts_of_very_many_products_are_changed_side_by_side() -> None:
    """Parts are put together in their order, and a text that is refused is that of its own product."""
    names = [f"n {number}" for number in range(20_005)]
    names[20_003] = "n"
    found = prodex.flatten(
        {"id": number, "nameLegal": [text("fra-FR", name)]} for number, name in enumerate(names)
    )
    step = prodex.RecipeStep(do.RemovePrefix("n"), "nameLegal")
    done = do_step(ProductsInWork(found, found), step)
    assert [20_003] == [one.product for one in done.refused]
    assert [name.removeprefix("n ") for name in names if name != "n"] == done.after.to_pylist()


def test_the_wrong_order_and_unknown_languages_are_named() -> None:
    """The catalogue comes first, and a language is checked."""
    with pytest.raises(InputError, match="wrong place"):
        prodex.correct("namePublicLong", catalog(), "x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="French"):
        prodex.correct(catalog(), "namePublicLong", "x", language="Frensh")


def test_a_catalogue_that_lacks_a_part_is_not_written() -> None:
    """Languages that were not loaded would be deleted by a write, which is refused as elsewhere."""
    from dataclasses import replace

    whole = catalog()
    part = replace(whole, origin=replace(whole.origin, query=prodex.ProductQuery(product_languages=["fr"])))
    fix = prodex.correct(part, "namePublicLong", do.ReplaceText("ACME", "Acme"), language="fr")
    assert [] == after(fix)
    assert 2 == counts(fix)["refused"]


def test_the_rows_of_steps_say_it_value_by_value() -> None:
    """Each value that was looked at has one row, with what was there and why it was not changed."""
    fix = prodex.correct(catalog(), "namePublicLong", do.ReplaceText("ACME", "Acme"))
    rows = fix.step_rows
    steps = fix.steps.iloc[0]
    assert {name: int(steps[name]) for name in ("changed", "already_so", "refused")} == dict(
        rows["state"].value_counts()
    )
    assert ["ACME sans code"] == rows.query("state == 'refused'")["before"].tolist()
    assert {"3"} == set(rows.query("state == 'refused'")["product_id"])


def test_why_and_by_go_with_it() -> None:
    """They are for the history of what is sent."""
    fix = prodex.correct(catalog(), "description", "neu", language="fr", by="Ada", why="spring")
    assert ("Ada", "spring") == (fix.by, fix.why)


@pytest.mark.parametrize(
    "operation", [do.CopyFrom("namePublicLong"), do.MoveText("namePublicLong"), do.MoveText(to_language="nl")]
)
def test_texts_that_differ_in_composition_are_no_other_texts(operation: object) -> None:
    """A copy has nothing to do, and a move takes away what stands there already, letter by letter as it stands."""
    there = [text("fra-FR", "Thé"), text("nld-NL", "Thé")]
    record = product(
        0, description=[text("fra-FR", "The\u0301"), text("nld-NL", "Thé")], namePublicLong=there
    )
    fix = prodex.correct(prodex.flatten([record]), "description", operation, language="fr")  # type: ignore[arg-type]
    moved = [] if isinstance(operation, do.CopyFrom) else [("description", "The\u0301", None)]
    assert moved == after(fix)
    assert 0 == fix.counts["refused"]


#: Letters of Western and Central Europe; a code page that has no such letters cannot misread them.
_ENCODINGS = ("cp1252", "cp1250", "mac_roman")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", _ENCODINGS)
@pytest.mark.parametrize(
    "name", ["Crème brûlée", "Thé à l’orge", "Größe", "España", "Żółty ser", "Příští měsíc"]
)
def test_letters_that_were_read_in_another_encoding_need_confirmation(name: str, encoding: str) -> None:
    """Whoever gives a text that a program has misread is asked, whichever way it is given, and what it was is shown."""
    misread = "".join(
        bytes([one]).decode(encoding)
        if one not in (0x81, 0x83, 0x88, 0x8D, 0x8F, 0x90, 0x98, 0x9D)
        else chr(one)
        for one in name.encode()
    )
    given = (
        prodex.correct(catalog().where(product_id="1"), "namePublicLong", misread, language="fr"),
        prodex.correct(catalog().where(product_id="1"), "namePublicLong", lambda _: misread, language="fr"),
        prodex.correct_from(
            [prodex.TextCorrection("1", "namePublicLong", "fr", misread, before="Thé")], catalog()
        ),
    )
    for fix in given:
        assert 1 == fix.counts["needs confirmation"], misread
        assert f"reads like '{name}', written in UTF-8" in fix.needs_confirmation["reason"].iloc[0]
    plain = prodex.correct(catalog().where(product_id="1"), "namePublicLong", name, language="fr")
    assert 1 == plain.counts["accepted"]


def test_misread_letters_that_are_there_already_are_not_asked_about_again() -> None:
    """A text that is only trimmed is as readable as it was; one that is mended needs no question."""
    record = product(0, namePublicLong=[text("fra-FR", " CrÃ¨me ")])
    for operation in (do.TrimSpaces(), do.ReplaceText("Ã¨", "è")):
        assert 1 == prodex.correct(prodex.flatten([record]), "namePublicLong", operation).counts["accepted"]


def test_a_whole_number_that_is_too_long_is_refused_and_not_rounded() -> None:
    """As if somebody had typed it; of a number with zeros at its end no digit is lost."""
    whole = prodex.flatten([product(0, lifeCycle=1)])
    for given in (12345678901234567, 12345678901234567.0, "12345678901234567", np.int64(12345678901234567)):
        with pytest.raises(InputError, match="has 17 digits; a number has at most 15"):
            prodex.correct(whole, "lifeCycle", given)
    listed = pd.Series([12345678901234567], index=[GTINS[0]])
    assert {"refused": 1} == dict(prodex.correct(whole, "lifeCycle", listed).counts)
    assert [str(10**20)] == prodex.correct(whole, "lifeCycle", 10**20).preview()["after"].tolist()
