"""Corrections in a copied table: headings are confirmed, cells are answers, and nothing else moves."""

from __future__ import annotations

import copy
import json
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.errors import InputError
from prodex.sandbox import Sandbox
from prodex.worklists import pasted
from tests.cases import each_row

from .bakery import RECORDS, record, stored, text

FIRST, SECOND, THIRD = "03036811359935", "08784900123459", "05410228142027"
NAME = "namePublicLong.fr"
HEADINGS = {"EAN": "gtin", "Nom": NAME}
SEEN = "PAIN DE CAMPAGNE AUX GRAINES"


def paste(*rows: str, catalog: prodex.Catalog, headings: Any = None, **options: Any) -> prodex.worklists.Fix:
    """Return what becomes of rows below EAN and Nom."""
    copied = "\r\n".join(["EAN\tNom", *rows, ""])
    return prodex.correct_from(copied, catalog, HEADINGS if headings is None else headings, **options)


def outcomes(fix: prodex.worklists.Fix) -> list[tuple[str, str]]:
    return list(fix.answers[["answer", "state"]].itertuples(index=False, name=None))


# Headings.


@pytest.mark.parametrize(
    ("heading", "meaning"),
    [
        ("EAN", "gtin"),
        ("Code-barres", "gtin"),
        ("Strichcode", "gtin"),
        ("streepjescode", "gtin"),
        ("GTIN", "gtin"),
        ("namePublicLong.fr", NAME),
        ("namePublicLong_FR", NAME),
        ("Long name FR", NAME),
        ("Long name (French)", NAME),
        ("Nom long - français", NAME),
        ("FR: nom long", NAME),
        ("Langer Name [nl-BE]", "namePublicLong.nl-BE"),
        ("lange naam NL", "namePublicLong.nl"),
        ("Dénomination légale FR", "nameLegal.fr"),
        ("net content", "netContent"),
        ("Nettofüllmenge", "netContent"),
        ("NETTOFUELLMENGE", "netContent"),
        ("nettohoeveelheid", "netContent"),
        ("Quantité nette", "netContent"),
        ("brand_code", "brand"),
        ("Marque", "brand"),
        ("isConsumerUnit", "isConsumerUnit"),
        ("is_consumer_unit", "isConsumerUnit"),
    ],
)
def test_a_heading_that_says_it_is_proposed(catalog: prodex.Catalog, heading: str, meaning: str) -> None:
    """A path, a column, a title in one of four languages, with the language of its texts in any spelling."""
    other = "namePublicShort.de" if meaning == "gtin" else "gtin"
    made = prodex.worklists.propose_headings(f"{heading}\t{other}\nx\t{FIRST}\n", catalog)

    assert [(heading, meaning, "")] == list(made[["heading", "meaning", "question"]].itertuples(False, None))[
        :1
    ]


@pytest.mark.parametrize(
    ("heading", "may_be", "asked"),
    [
        ("Nom du produit", "namePublicLong, namePublicShort, nameLegal", "Which of them is meant?"),
        ("Name FR", "namePublicLong.fr, namePublicShort.fr, nameLegal.fr", "Which of them is meant?"),
        ("Gewicht", "netContent, netWeight, grossWeight", "Which of them is meant?"),
        ("long name", "namePublicLong.fr, namePublicLong.nl", "In which one are its texts?"),
        ("Remarque", None, "Nobody knows 'Remarque'"),
        ("net content FR", None, "Nobody knows"),
        ("gtin_case", None, "Nobody knows"),
        ("x" * 5_000, None, "Nobody knows"),
        ("<b>=1+1</b>", None, "Nobody knows"),
        ("", "", "The column has no heading"),
    ],
)
def test_what_is_not_certain_is_asked(
    catalog: prodex.Catalog, heading: str, may_be: str | None, asked: str
) -> None:
    """Several attributes, no language, or nobody knows it: what it may be is listed, and nothing is chosen."""
    made = prodex.worklists.propose_headings(f"EAN\t{heading}\n{FIRST}\tx\n", catalog).iloc[1]

    assert made["meaning"] is None
    assert asked in made["question"]
    assert may_be is None or made["may_be"] == may_be
    with pytest.raises(InputError, match="Nobody has said what"):
        prodex.correct_from(
            f"EAN\t{heading}\n{FIRST}\tx\n",
            catalog,
            prodex.worklists.propose_headings(f"EAN\t{heading}\n{FIRST}\tx\n", catalog),
        )


def test_nothing_is_read_before_it_is_confirmed(catalog: prodex.Catalog) -> None:
    """Not even where each heading is certain; the message has what to give."""
    copied = f"EAN\tNom long FR\n{FIRST}\tPain\n"
    with pytest.raises(InputError, match=r"headings=\{'EAN': 'gtin', 'Nom long FR': 'namePublicLong.fr'\}"):
        prodex.correct_from(copied, catalog)
    assert 1 == len(
        prodex.correct_from(copied, catalog, prodex.worklists.propose_headings(copied, catalog)).preview()
    )


def test_two_columns_that_may_be_one_are_both_asked(catalog: prodex.Catalog) -> None:
    """One of them may be last year's."""
    made = prodex.worklists.propose_headings(f"EAN\tNom long FR\tlong name fr\n{FIRST}\ta\tb\n", catalog)

    assert ["gtin", None, None] == made["meaning"].tolist()
    with pytest.raises(InputError, match=r"2 columns are namePublicLong\.fr"):
        prodex.correct_from(f"EAN\tA\tB\n{FIRST}\ta\tb\n", catalog, ["gtin", NAME, NAME])


def test_a_table_without_headings_is_asked_about(catalog: prodex.Catalog) -> None:
    """Its first row is one of values; the column of GTINs is known by its cells, and has to be confirmed as well."""
    copied = f"Pain\t{FIRST[1:]}\nRiz\t{THIRD}\n"
    made = prodex.worklists.propose_headings(copied, catalog)

    assert [("A", "", None), ("B", "", "gtin")] == list(
        made[["column", "heading", "meaning"]].itertuples(index=False, name=None)
    )
    assert "most of its cells are GTINs" in made["question"][1]
    fix = prodex.correct_from(copied, catalog, [NAME, "gtin"])
    assert [("Pain", "accepted"), ("Riz", "accepted")] == outcomes(fix)
    assert ["A1", "A2"] == fix.answers["cell"].tolist()


@pytest.mark.parametrize("broken", ["3036811359936", "3.03681E+12", "3,03681E+12", "3 036811 359936"])
def test_a_first_row_with_a_broken_gtin_is_no_row_of_headings(catalog: prodex.Catalog, broken: str) -> None:
    """A wrong check digit, or one of a spreadsheet: its correction is refused, and not lost."""
    copied = f"{broken}\tPain bis\n{THIRD}\tRiz\n"

    assert ["", ""] == prodex.worklists.propose_headings(copied, catalog)["heading"].tolist()
    fix = prodex.correct_from(copied, catalog, ["gtin", NAME])
    assert ["Pain bis", "Riz"] == fix.answers["answer"].tolist()
    assert "accepted" != fix.answers["state"][0]
    assert "accepted" == fix.answers["state"][1]


def test_a_heading_of_eight_digits_is_one(catalog: prodex.Catalog) -> None:
    """The day of a list is no GTIN, if what is below it is none."""
    fix = prodex.correct_from(
        f"EAN\t20261130\n{FIRST}\tPain bis\n", catalog, {"EAN": "gtin", "20261130": NAME}
    )

    assert [("Pain bis", "accepted")] == outcomes(fix)


def test_columns_of_spaces_are_no_columns(catalog: prodex.Catalog) -> None:
    """Nobody sees them: nothing is asked about them, and the example of a column is its first value."""
    made = prodex.worklists.propose_headings(
        f"EAN\tNom\t \t\u00a0\n{FIRST}\t \t\u00a0\t\u200b\n{THIRD}\tRiz\t \t\n", catalog
    )

    assert [("EAN", FIRST), ("Nom", "Riz")] == list(
        made[["heading", "example"]].itertuples(index=False, name=None)
    )


@pytest.mark.parametrize(
    ("headings", "said"),
    [
        ({"EAN": "gtin"}, "Nobody has said what 'Nom' is"),
        ({"EAN": "gtin", "Nom": None}, "No column has values"),
        ({"Nom": NAME, "EAN": None}, "No column says which product"),
        ({"EAN": "gtin", "Nom": "gtin"}, "2 columns are gtin"),
        ({"EAN": "gtin", "Nom": "updatedAt"}, "cannot be corrected in a cell"),
        ({"EAN": "gtin", "Nom": "namePublicLon"}, "did you mean 'namePublicLong'"),
        ({"EAN": "gtin", "Nom": "namePublicLong.klingon"}, "has no known language"),
        ({"EAN": "gtin", "Nom": "Long name FR"}, "Write 'namePublicLong.fr'"),
        ({"EAN": "gtin", "Nom": 7}, "What 'Nom' means is"),
        ({"EAN": "gtin", "Nim": NAME}, "did you mean 'Nom'"),
        (["gtin"], "has 1 entries, and the table has 2 columns"),
        ("gtin", "headings is the text 'gtin'"),
        (7, "headings is"),
        (pd.DataFrame({"heading": ["EAN"]}), "without the columns"),
        (pd.DataFrame({"column": ["Z"], "meaning": ["gtin"]}), "has no column 'Z'"),
    ],
)
def test_what_is_confirmed_has_to_be_possible(catalog: prodex.Catalog, headings: Any, said: str) -> None:
    """Each mistake is named, with what to give instead."""
    with pytest.raises(InputError, match=said):
        paste(f"{FIRST}\tPain", catalog=catalog, headings=headings)


# Tables.


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("EAN\tNom\n", "no row below its headings"),
        (7, "corrections has"),
        (b"EAN", "corrections has"),
        (pd.DataFrame({"EAN": [], "Nom": []}), "no row below its headings"),
        ("EAN\tNom\n" + f"{FIRST}\tx\n" * 1_001, "has 1,001 rows, and 1,000 are read"),
        ("EAN\t" + "\t".join("x" * 45) + f"\n{FIRST}\t" + "\t".join("y" * 45), "has 46 columns, and 40"),
    ],
)
def test_what_is_no_table_is_refused(catalog: prodex.Catalog, table: Any, said: str) -> None:
    """Nothing is cut: the message counts, and says what to copy."""
    with pytest.raises(InputError, match=said):
        prodex.correct_from(table, catalog, HEADINGS)


def test_more_columns_than_five_are_refused(catalog: prodex.Catalog) -> None:
    """Those that are ignored do not count."""
    languages = ["fr", "nl", "de", "en", "es", "it"]
    headings = ["gtin", *(f"namePublicLong.{one}" for one in languages)]
    copied = "\t".join(headings) + f"\n{FIRST}" + "\tx y" * 6

    with pytest.raises(InputError, match="6 columns have values, and 5"):
        prodex.correct_from(copied, catalog, headings)
    assert 5 == len(prodex.correct_from(copied, catalog, [*headings[:-1], None]).answers)


def test_a_frame_is_read_as_well(catalog: prodex.Catalog) -> None:
    """GTINs that pandas made numbers of, missing cells, yes and no."""
    frame = pd.DataFrame(
        {"EAN": [3036811359935.0, float("nan")], "Nom": ["Pain bis", None], "unit": [False, True]}
    )
    fix = prodex.correct_from(frame, catalog, {"EAN": "gtin", "Nom": NAME, "unit": "isConsumerUnit"})

    assert [("Pain bis", "accepted"), ("false", "accepted"), ("true", "refused")] == outcomes(fix)
    assert "neither a product nor a GTIN" in fix.refused["reason"][0]


@pytest.mark.parametrize(
    ("copied", "headings"),
    [
        ('EAN\tNote\tNom\n{0}\t"\tPain bis\n{1}\t"\tRiz\n', ["gtin", None, NAME]),
        ('EAN\tNom\n{0}\t"\n{1}\t"\n', ["gtin", NAME]),
        ('EAN\tNom\r\n{0}\t"Bio" Pain\r\n{1}\t"Riz\r\n{2}\tLin 12"\r\n', ["gtin", NAME]),
        ('Note\tEAN\tNom\n"\t{0}\tPain\n"\t{1}\tRiz\n', [None, "gtin", NAME]),
    ],
)
def test_rows_between_two_quotation_marks_are_no_cell(
    catalog: prodex.Catalog, copied: str, headings: list[str | None]
) -> None:
    """Of `"` for "the same", or inches: the value of the last row would be that of the first, and others be lost."""
    with pytest.raises(InputError, match=r"It is not certain where the cell [A-C]\d ends"):
        prodex.correct_from(copied.format(FIRST, THIRD, SECOND), catalog, headings)


def test_a_cell_of_several_lines_and_tabs_is_one(catalog: prodex.Catalog) -> None:
    """As spreadsheets copy it, in quotes; so is a mark for "the same" that stands alone."""
    copied = f'EAN\tTexte\tNote\n{THIRD}\t"Farine\t80 g\nEau\t20 g"\t"\n'
    fix = prodex.correct_from(copied, catalog, ["gtin", "description.fr-FR", None])

    assert [("Farine\t80 g\nEau\t20 g", "accepted")] == outcomes(fix)


@pytest.mark.parametrize("value", [["Pain"], {"fr": "Pain"}, b"Pain", ("Pain", "Riz"), []])
def test_what_is_no_single_value_is_no_text_of_a_frame(catalog: prodex.Catalog, value: Any) -> None:
    """How Python shows a list or bytes is written into no product, by a copied table or by an answer."""
    frame = pd.DataFrame({"gtin": [FIRST], "new_value": [value], "Field": [NAME.partition(".")[0]]})
    pasted_fix = prodex.correct_from(
        frame[["gtin", "new_value"]], catalog, {"gtin": "gtin", "new_value": NAME}
    )
    answered = prodex.read_worklist(frame.assign(Language="fr"), catalog, profile=prodex.Profile("none"))

    for fix in (pasted_fix, answered):
        assert ["refused"] == fix.answers["state"].tolist()
        assert "neither a text nor a number" in fix.refused["reason"][0]


# Cells.


@pytest.mark.parametrize(
    ("cell", "state", "said"),
    [
        ("Pain bis", "accepted", ""),
        (SEEN, "unchanged", "has this value already"),
        ("  Pain bis \u00a0", "accepted", ""),
        ("1,234", "needs confirmation", "reads like a number"),
        ("4.00638E+12", "needs confirmation", "reads like a number"),
        ("12/03/2026", "needs confirmation", "reads like a date"),
        ("2026-03-12", "needs confirmation", "reads like a date"),
        ("VRAI", "needs confirmation", "done or agreed"),
        ("WAHR", "needs confirmation", "done or agreed"),
        ("ONWAAR", "needs confirmation", "a refusal"),
        ("see label", "needs confirmation", "a hint to look somewhere else"),
        ("voir étiquette", "needs confirmation", "a hint to look somewhere else"),
        ("delete", "needs confirmation", "a request to delete"),
        ("n/a", "refused", "is not a value"),
        ("#REF!", "refused", "shows the error"),
        ("#NV", "refused", "shows the error"),
        ("#WERT!", "refused", "shows the error"),
        ("#####", "refused", "shows the error"),
        ('"Pain bis"', "needs confirmation", "is in quotes"),
        ("x" * 201, "refused", "200"),
        ('"Pain\nbis"', "refused", "line break"),
        ("=1+1", "accepted", ""),
        ("<script>alert(1)</script>", "accepted", ""),
    ],
)
def test_a_cell_is_read_by_the_rules_for_answers(
    catalog: prodex.Catalog, cell: str, state: str, said: str
) -> None:
    """What a spreadsheet or a person may not have meant is asked; an answer that cannot be is refused."""
    fix = paste(f"{FIRST}\t{cell}", catalog=catalog)

    (found,) = fix.answers.itertuples()
    assert (state, True) == (found.state, said in found.reason), found.reason
    if state == "needs confirmation":
        assert 1 == len(fix.confirm().accepted)


@pytest.mark.parametrize(
    ("meaning", "cell", "state", "after"),
    [
        ("netContent", "600 g", "accepted", "600 GRM"),
        ("netContent", "0,6 kg", "accepted", "0.6 KGM"),
        ("netContent", "1,234 g", "refused", None),
        ("netContent", "600", "refused", None),
        ("netContent", "4.00638E+12 g", "refused", None),
        ("percentageOfAlcoholByVolume", "5,5", "accepted", "5.5"),
        ("percentageOfAlcoholByVolume", "1.234", "refused", None),
        ("percentageOfAlcoholByVolume", "12/03/2026", "refused", None),
        ("isConsumerUnit", "nein", "accepted", "false"),
        ("isConsumerUnit", "maybe", "refused", None),
        ("brand", "Best & Co", "accepted", "BEST"),
        ("brand", "NEW", "needs confirmation", "NEW"),
    ],
)
def test_values_have_the_same_grammar(
    catalog: prodex.Catalog, meaning: str, cell: str, state: str, after: str | None
) -> None:
    """Numbers, units, codes, yes and no, in the spellings that are certain; the others are refused with both."""
    fix = paste(f"{FIRST}\t{cell}", catalog=catalog, headings={"EAN": "gtin", "Nom": meaning})
    frame = pd.DataFrame([{"gtin": FIRST, "Field": meaning, "new_value": cell}])
    as_answer = prodex.read_worklist(frame, catalog, profile=prodex.Profile("none"))

    assert (state, state) == (fix.answers["state"][0], as_answer.answers["state"][0])
    assert fix.answers["reason"][0] == as_answer.answers["reason"][0]
    if state != "refused":
        assert [after] == fix.confirm().preview()["after"].tolist()


@pytest.mark.parametrize(
    ("before", "cell", "is_asked"),
    [
        ("2026-03-12", "45000", True),
        ("2026-03-12", "mars 2026", True),
        ("2026-03-12", "13/03/2026", True),
        ("2026-03-12", "2026-03-13T00:00:00", True),
        ("2026-03-12T00:00:00", "2026-03-13", True),
        ("2026-03-12", "2026-03-13", False),
        ("B-12", "45000", False),
    ],
)
def test_what_is_no_date_in_place_of_one_is_asked_about(before: str, cell: str, is_asked: bool) -> None:
    """A day as a country writes it, or the number by which a spreadsheet counts it, in whatever kind of table."""
    dated = prodex.flatten([record(1, FIRST, availableFrom=before)])
    own = pd.DataFrame([{"gtin": FIRST, "Field": "availableFrom", "New value": cell}])

    for fix in (
        paste(f"{FIRST}\t{cell}", catalog=dated, headings={"EAN": "gtin", "Nom": "availableFrom"}),
        prodex.read_worklist(own, dated, profile=prodex.Profile("none")),
    ):
        reason = fix.answers["reason"][0]
        assert is_asked == (f"is not written as the date that is there ({before})" in reason)
        assert [[before, cell]] == fix.confirm().preview()[["before", "after"]].to_numpy().tolist()


@pytest.mark.slow
def test_an_empty_cell_changes_nothing(catalog: prodex.Catalog, mill: prodex.service.Client) -> None:
    """Also one of spaces; its row is accounted for."""
    fix = paste(f"{FIRST}\t", f"{THIRD}\t \u00a0", f"{SECOND}", catalog=catalog)

    assert (0, 3) == (len(fix.answers), fix.unanswered)
    with pytest.raises(InputError, match="nothing to change"):
        fix.apply(mill)


def test_the_same_product_twice_is_refused(catalog: prodex.Catalog) -> None:
    """However its GTIN is written; both rows are named, also where they agree."""
    fix = paste(f"{FIRST}\tPain", f"{THIRD}\tRiz long", f"{FIRST[1:]}\tPain", catalog=catalog)

    assert ["refused", "accepted", "refused"] == fix.answers["state"].tolist()
    assert ["the rows 2, 4 are about the same product. Keep one of them."] * 2 == fix.refused[
        "reason"
    ].tolist()


@pytest.mark.parametrize(("cell", "said"), [("#REF!", "the error #REF!"), ("n/a", "the rows 2, 3")])
def test_a_row_that_cannot_be_used_makes_the_other_one_uncertain(
    catalog: prodex.Catalog, cell: str, said: str
) -> None:
    """The same product twice is refused, also where one of its values is an error."""
    fix = paste(f"{FIRST}\tPain", f"{FIRST}\t{cell}", catalog=catalog)

    assert ["refused", "refused"] == fix.answers["state"].tolist()
    assert "the rows 2, 3 are about the same product" in fix.refused["reason"][0]
    assert said in fix.refused["reason"][1]


@pytest.mark.parametrize(
    ("code", "state", "said"),
    [
        ("3036811359935", "accepted", ""),
        ("3 036811 359935", "accepted", ""),
        ("'3036811359935", "accepted", ""),
        ("4006381333931", "conflict", "no product of the catalogue has the GTIN 4006381333931"),
        ("3.03681E+12", "refused", "in scientific notation, which has lost its last digits"),
        ("abc", "refused", ""),
        ("", "refused", "neither a product nor a GTIN"),
    ],
)
def test_a_gtin_says_whose_the_row_is(catalog: prodex.Catalog, code: str, state: str, said: str) -> None:
    """In any certain spelling; an unknown one is named."""
    fix = paste(f"{code}\tPain bis", f"{THIRD}\tRiz long", catalog=catalog)

    assert (state, "accepted") == tuple(fix.answers["state"])
    assert said in fix.answers["reason"][0]


def test_a_gtin_of_several_products_is_asked_about() -> None:
    """Of two markets or owners: nothing is sent to either, and the column that says which is named."""
    both = [record(1, FIRST, targetMarket={"code": "250"}), record(2, FIRST, targetMarket={"code": "056"})]
    fix = paste(f"{FIRST}\tPain bis", catalog=prodex.flatten([*both, record(3, THIRD)]))

    assert 0 == fix.counts["accepted"]
    assert f"2 products have the GTIN {FIRST}" in fix.refused["reason"][0]


def test_advice_can_be_followed_in_a_copied_table() -> None:
    """It has neither hidden columns nor a sheet of codes: a heading names the country of a language."""
    names = [text("fra-FR", "Pain"), text("fra-BE", "Pain belge")]
    catalog = prodex.flatten([record(1, FIRST, namePublicLong=names, brand={"code": "ACME"})])
    alone = paste(f"{FIRST}\tPain bis", catalog=catalog)
    assert "Give the language with its country, such as fr-" in alone.refused["reason"][0]
    named = paste(f"{FIRST}\tPain bis", catalog=catalog, headings={"EAN": "gtin", "Nom": f"{NAME}-BE"})
    assert [["Pain belge", "Pain bis"]] == named.preview()[["before", "after"]].to_numpy().tolist()

    code = paste(
        f"{FIRST}\tsome other maker of bread", catalog=catalog, headings={"EAN": "gtin", "Nom": "brand"}
    )
    assert "The sheet Codes of a worklist" in code.refused["reason"][0]


def test_all_mistakes_are_told_at_once(catalog: prodex.Catalog) -> None:
    """Each with its cell, and the good ones beside them are as they would be alone."""
    headings = {"EAN": "gtin", "Nom": NAME, "Inhalt": "netContent"}
    copied = f"EAN\tNom\tInhalt\n{FIRST}\tPain bis\t600\n4006381333931\tx y\t\n{THIRD}\tsee label\t500 g\n"
    fix = prodex.correct_from(copied, catalog, headings)

    assert {
        "B2": "accepted",
        "C2": "refused",
        "B3": "conflict",
        "B4": "needs confirmation",
        "C4": "accepted",
    } == dict(zip(fix.answers["cell"], fix.answers["state"], strict=True))
    assert [3] == fix.row_counts["rows"].tolist()
    assert {"before", "after", "gtin", "attribute"} <= set(fix.preview())


def test_a_thousand_rows_of_five_columns_are_read(catalog: prodex.Catalog) -> None:
    """That is the size for which it is made."""
    gtins = [f"{number:013d}" for number in range(1_000)]
    gtins = [one + prodex.gtin.check_digit(one) for one in gtins]
    many = prodex.flatten([record(number, one, namePublicLong=[]) for number, one in enumerate(gtins, 1)])
    languages = ["fr-FR", "nl-NL", "de-DE", "en-GB", "es-ES"]
    rows = [
        "\t".join([one, *(f"Name {number} {language}" for language in languages)])
        for number, one in enumerate(gtins)
    ]
    headings = ["gtin", *(f"namePublicLong.{language}" for language in languages)]
    fix = prodex.correct_from("\n".join(["\t".join(headings), *rows]), many, headings)

    assert {"accepted": 5_000} == fix.counts


# Sending.


def whole(client: prodex.service.Client) -> dict[str, dict[str, Any]]:
    """Return every record of the service, over HTTP, as it is."""
    return {one["gtin"]: stored(client, one["gtin"]) for one in RECORDS}


def served(mill: prodex.service.Client) -> prodex.Catalog:
    query = prodex.ProductQuery(extra={"allow_not_consumer_units": True})
    return prodex.load_products(mill, query, name="mill", progress=False)


def as_expected(record: dict[str, Any], **becomes: Any) -> dict[str, Any]:
    """Return a record with other attributes, without what the service itself writes at an import."""
    return {
        name: value for name, value in (record | becomes).items() if name not in {"updatedAt", "lastRequest"}
    }


@pytest.mark.slow
def test_nothing_else_changes(mill: prodex.service.Client) -> None:
    """Whole records before and after: the leaves of the preview differ, and no other of any product."""
    catalog, before = served(mill), whole(mill)
    copied = (
        "EAN\tNom\tContenu\tMarque\r\n"
        f"{FIRST[1:]}\tPain bis\t0,6 kg\t\r\n{SECOND}\t\t\tacme\r\n"
        f"{THIRD}\tRiz\tn/a\tsee label\r\n4006381333931\tx y\t\t\r\n"
    )
    headings = {"EAN": "gtin", "Nom": NAME, "Contenu": "netContent", "Marque": "brand"}
    fix = prodex.correct_from(copied, catalog, headings, by="eva", why="list of the mill")
    assert 4 == len(fix.preview())

    tracking = fix.apply(mill, progress=False).wait(progress=False)
    assert {"SUCCESS": 3} == tracking.statuses
    after, expected = whole(mill), copy.deepcopy(before)
    expected[FIRST]["namePublicLong"][0]["data"] = "Pain bis"
    content = expected[FIRST]["netContent"][0]
    content["data"] = 0.6
    content["expressedIn"] = after[FIRST]["netContent"][0]["expressedIn"]
    assert "KGM" == content["expressedIn"]["code"]
    expected[SECOND]["brand"] = after[SECOND]["brand"]
    assert "ACME" == expected[SECOND]["brand"]["code"]
    expected[THIRD]["namePublicLong"] = after[THIRD].get("namePublicLong")
    assert [("fra-FR", "Riz")] == [
        (one["expressedIn"]["code"], one["data"]) for one in expected[THIRD]["namePublicLong"]
    ]
    assert {code: as_expected(one) for code, one in expected.items()} == {
        code: as_expected(one) for code, one in after.items()
    }
    assert [("eva", "list of the mill")] == list(
        prodex.list_upserts()[["by", "why"]].itertuples(index=False, name=None)
    )

    undone = prodex.undo(tracking, mill)
    assert 4 == len(undone.preview())
    undone.apply(mill, progress=False).wait(progress=False)
    assert json.dumps(before[FIRST]["namePublicLong"]) == json.dumps(whole(mill)[FIRST]["namePublicLong"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("meaning", "cell", "attribute", "theirs"),
    [
        (
            NAME,
            "Pain bis",
            "namePublicLong",
            [text("fra-FR", "Pain de la ferme"), text("nld-NL", "Boerenbrood")],
        ),
        (
            "namePublicLong.de-DE",
            "Brot",
            "namePublicLong",
            [text("fra-FR", SEEN), text("deu-DE", "Bauernbrot")],
        ),
        ("netContent", "600 g", "netContent", [{"data": 550, "expressedIn": {"code": "GRM"}}]),
        ("percentageOfAlcoholByVolume", "5,5", "percentageOfAlcoholByVolume", 5),
        ("brand", "BEST", "brand", {"code": "MILL"}),
        ("isConsumerUnit", "no", "isConsumerUnit", None),
    ],
)
def test_a_value_that_changed_since_is_a_conflict(
    exchange: Sandbox, mill: prodex.service.Client, meaning: str, cell: str, attribute: str, theirs: Any
) -> None:
    """Against the record that the service has when it is sent; what somebody else has written stays."""
    fix = paste(f"{FIRST}\t{cell}", catalog=served(mill), headings={"EAN": "gtin", "Nom": meaning})
    assert 1 == fix.counts["accepted"]
    exchange.change([{**stored(mill, FIRST), attribute: theirs}])
    before = whole(mill)

    with pytest.raises(InputError, match="no answer is left to send"):
        fix.apply(mill, progress=False)
    again = fix.recheck(mill)
    assert ["conflict"] == again.answers["state"].tolist()
    assert "the product was changed since" in again.conflicts["reason"][0]
    assert before == whole(mill)


def amount(data: float, unit: str) -> dict[str, Any]:
    return {"data": data, "expressedIn": {"code": unit}}


@pytest.mark.slow
@each_row(
    ("attribute", "seen", "cell", "now", "there"),
    [
        (
            NAME,
            [text("fra-FR", "Riz")],
            "(delete)",
            [text("fra-BE", "Riz belge")],
            "'Riz belge' in French (Belgium) in place of 'Riz' in French (France)",
        ),
        (
            NAME,
            [text("fra-FR", "Riz")],
            "(delete)",
            [text("fra-BE", "Riz")],
            "'Riz' in French (Belgium) in place of 'Riz' in French (France)",
        ),
        (
            "namePublicLong.nl",
            None,
            "Rijst",
            [text("nld-BE", "Belgische rijst")],
            "'Belgische rijst' in Dutch (Belgium) in place of noth",
        ),
        (
            "netContent",
            [amount(500, "GRM")],
            "(delete)",
            [amount(0.5, "LTR")],
            "'0.5 LTR' in place of '500 GRM'",
        ),
        ("netContent", None, "600 g", [amount(0.5, "LTR")], "'0.5 LTR' in place of nothing"),
    ],
)
def test_what_nobody_had_seen_is_neither_deleted_nor_replaced(
    exchange: Sandbox, mill: prodex.service.Client, attribute: str, seen: Any, cell: str, now: Any, there: str
) -> None:
    """A text of another country, or an amount in another unit, that is there by now: by any kind of table."""
    path, _, language = attribute.partition(".")
    legal = {"nameLegal": [text("fra-FR", "Riz")]}
    exchange.change([{**stored(mill, THIRD), **legal, path: seen}])
    catalog = served(mill)
    own = pd.DataFrame([{"gtin": THIRD, "Field": path, "Language": language or None, "New value": cell}])
    fixes = [
        prodex.correct_from(f"EAN\tv\n{THIRD}\t{cell}\n", catalog, ["gtin", attribute]),
        prodex.read_worklist(own, catalog, profile=prodex.Profile("none")),
    ]
    assert [1, 1] == [fix.counts["accepted"] for fix in fixes]
    exchange.change([{**stored(mill, THIRD), path: now}])
    before = whole(mill)

    for fix in fixes:
        with pytest.raises(InputError, match="no answer is left to send"):
            fix.apply(mill, progress=False)
    assert there in fixes[0].recheck(mill).conflicts["reason"][0]
    assert before == whole(mill)


@pytest.mark.slow
@each_row(
    ("attribute", "cell", "now"),
    [("brand", "(delete)", {"code": "BEST"}), ("percentageOfAlcoholByVolume", "5,5", 5)],
)
def test_what_the_preview_has_not_shown_is_not_changed_by_a_table_of_ones_own(
    exchange: Sandbox, mill: prodex.service.Client, attribute: str, cell: str, now: Any
) -> None:
    """Its rows say nothing of what was seen; the preview does."""
    own = pd.DataFrame([{"gtin": FIRST, "Field": attribute, "New value": cell}])
    fix = prodex.read_worklist(own, served(mill), profile=prodex.Profile("none"))
    exchange.change([{**stored(mill, FIRST), attribute: now}])
    before = whole(mill)

    with pytest.raises(InputError, match="no answer is left to send"):
        fix.apply(mill, progress=False)
    assert before == whole(mill)
    again = fix.recheck(mill)
    assert 1 == again.counts["accepted"]
    again.apply(mill, progress=False).wait(progress=False)
    assert before != whole(mill)


@pytest.mark.slow
def test_what_changed_beside_it_is_kept(exchange: Sandbox, mill: prodex.service.Client) -> None:
    """Another attribute, and another text of the same one, are no conflict, and stay as they are now."""
    fix = paste(f"{FIRST}\tPain bis", catalog=served(mill))
    theirs = [text("nld-NL", "Boerenbrood met zaden"), text("fra-FR", SEEN), text("eng-GB", "Farm bread")]
    exchange.change([{**stored(mill, FIRST), "namePublicLong": theirs, "percentageOfAlcoholByVolume": 9}])

    fix.apply(mill, progress=False).wait(progress=False)
    now = stored(mill, FIRST)
    assert [("nld-NL", "Boerenbrood met zaden"), ("fra-FR", "Pain bis"), ("eng-GB", "Farm bread")] == [
        (one["expressedIn"]["code"], one["data"]) for one in now["namePublicLong"]
    ]
    assert 9 == now["percentageOfAlcoholByVolume"]


@pytest.mark.slow
def test_what_somebody_else_has_written_already_is_unchanged(
    exchange: Sandbox, mill: prodex.service.Client
) -> None:
    """The same correction by two people is made once."""
    fix = paste(f"{FIRST}\tPain bis", catalog=served(mill))
    exchange.change([{**stored(mill, FIRST), "namePublicLong": [text("fra-FR", "Pain bis")]}])

    assert ["unchanged"] == fix.recheck(mill).answers["state"].tolist()
    with pytest.raises(InputError):
        fix.apply(mill, progress=False)


@pytest.mark.slow
def test_a_table_is_sent_once(mill: prodex.service.Client) -> None:
    """Whoever pastes it again finds that the products have it."""
    first = paste(f"{FIRST}\tPain bis", catalog=served(mill))
    first.apply(mill, progress=False).wait(progress=False)

    assert ["unchanged"] == paste(f"{FIRST}\tPain bis", catalog=served(mill)).answers["state"].tolist()
    assert pasted.PASTE in first.answers["file"][0]
