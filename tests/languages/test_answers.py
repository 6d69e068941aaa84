"""Answers in French, German and Dutch: written by hand, in worklists of any language, under headings of any."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest
from openpyxl import load_workbook

import prodex
from prodex.languages import LANGUAGES, Translation
from prodex.languages.recognized import letters
from prodex.phrases import unaccented
from prodex.worklists import hierarchy_answers, nutrition_answers
from prodex.worklists.answer_parsing import Vocabulary
from prodex.worklists.hierarchy_answers import read_hierarchy_answer
from prodex.worklists.layout import SEVERAL, TO_FIX
from prodex.worklists.nutrition_answers import read_nutrient_answer
from prodex.worklists.text_corrections import NO_RULES
from tests.cases import each_row
from tests.worklists.bakery import RECORDS

GTIN, CASE = "03036811359935", "13036811359932"
CATALOG = prodex.flatten(RECORDS)

#: Field, answer, and what there is to be afterwards.
ANSWERS = [
    ("isConsumerUnit", "non", "false"),
    ("isConsumerUnit", "nein", "false"),
    ("isConsumerUnit", "nee", "false"),
    ("isConsumerUnit", "FALSCH", "false"),
    ("isConsumerUnit", "onwaar", "false"),
    ("isConsumerUnit", "no", "false"),
    ("percentageOfAlcoholByVolume", "5,5", "5.5"),
    ("percentageOfAlcoholByVolume", "5,5\u00a0%", "5.5"),
    ("netContent", "600\u202fg", "600 GRM"),
    ("netContent", "0,6 kg", "0.6 KGM"),
    ("netContent", "500 g -> 600 Gramm", "600 GRM"),
    ("brand", "(löschen)", None),
    ("brand", "( supprimer )", None),
    ("brand", "(Verwijderen)", None),
    ("brand", "(LOESCHEN)", None),
    ("brand", "(delete)", None),
    ("isPartitionedBy", "pour 100 g : Matières grasses 3,5 g", "FAT 3.5 GRM per 100 GRM"),
    ("isPartitionedBy", "pour 100\u00a0g\u00a0: Matières grasses\u00a03,5\u00a0g", "FAT 3.5 GRM per 100 GRM"),
    ("isPartitionedBy", "je 100 g: Fett 3,5 g", "FAT 3.5 GRM per 100 GRM"),
    ("isPartitionedBy", "pro 100 g: Fett 3,5 g", "FAT 3.5 GRM per 100 GRM"),
    ("isPartitionedBy", "per 100 g: Vetten 3,5 g", "FAT 3.5 GRM per 100 GRM"),
    ("isPartitionedBy", "pour 100 g : lipides (supprimer)", None),
    ("logisticalHierarchies", f"{CASE} : poids brut 1,4 kg", f"{CASE}: grossWeight 1.4 KGM"),
    ("logisticalHierarchies", f"{CASE}: Bruttogewicht 1,4 kg", f"{CASE}: grossWeight 1.4 KGM"),
    ("logisticalHierarchies", f"{CASE}: brutogewicht: 1,4 kg", f"{CASE}: grossWeight 1.4 KGM"),
    ("logisticalHierarchies", f"{CASE} : unité commandable oui", f"{CASE}: isOrderableUnit true"),
    ("logisticalHierarchies", f"{CASE} : UNITE COMMANDABLE : OUI", f"{CASE}: isOrderableUnit true"),
    ("logisticalHierarchies", f"{CASE}: Bestelleinheit ja", f"{CASE}: isOrderableUnit true"),
    ("logisticalHierarchies", f"{CASE}: besteleenheid = ja", f"{CASE}: isOrderableUnit true"),
    ("logisticalHierarchies", f"{CASE}: orderable unit yes", f"{CASE}: isOrderableUnit true"),
    ("logisticalHierarchies", f"{CASE}: Breite 300 mm", f"{CASE}: width 300 MMT"),
    ("logisticalHierarchies", f"{CASE}: hoogte 20 cm", f"{CASE}: height 20 CMT"),
    ("assets.pictures", "a.jpg -> (supprimer)", None),
]


def fix_of(path: Path, headings: str, *rows: str) -> prodex.worklists.Fix:
    """Read rows of a CSV file."""
    path.write_text("\n".join([headings, *rows]) + "\n", encoding="utf-8")
    return prodex.read_worklist(path, CATALOG, profile=NO_RULES)


@pytest.mark.slow
@each_row(("attribute", "answer", "after"), ANSWERS)
def test_answers_are_understood_in_each_language_under_headings_of_any(
    attribute: str, answer: str, after: str | None, tmp_path: Path
) -> None:
    """A supplier who answers in French, German, Dutch or English is understood, whatever the headings."""
    headings = ("GTIN;Champ;Nouvelle valeur", "GTIN;Feld;Neuer Wert", "GTIN;Veld;Nieuwe waarde")[
        len(answer) % 3
    ]
    fix = fix_of(tmp_path / "a.csv", headings, f"{GTIN};{attribute};{answer}")
    assert ("", [after]) == (" ".join(fix.refused["reason"]), fix.preview()["after"].tolist())


@each_row("answer", ["(effacer)", "(entfernen)", "(wissen)", "löschen", "supprimer", "verwijderen"])
def test_other_words_for_deleting_need_confirmation(answer: str, tmp_path: Path) -> None:
    """A text that only says to delete is no text, and nothing is deleted before somebody confirms it."""
    fix = fix_of(
        tmp_path / "a.csv", "GTIN;Veld;Taal;Nieuwe waarde", f"{GTIN};namePublicLong;Nederlands;{answer}"
    )
    assert (0, 1) == (len(fix.accepted), len(fix.needs_confirmation))


@each_row("answer", ["o", "ni oui ni non", "jein", "1.234", "peut-être", "misschien"])
def test_what_may_mean_two_things_is_not_taken(answer: str, tmp_path: Path) -> None:
    """Neither a letter that is yes in one language and zero in another, nor 1.234, is guessed at."""
    fix = fix_of(tmp_path / "a.csv", "GTIN;Feld;Neuer Wert", f"{GTIN};isConsumerUnit;{answer}")
    assert (0, 1) == (len(fix.accepted), len(fix.refused))


def test_no_heading_means_two_columns_in_two_languages() -> None:
    """Headings of all languages are one list, so none of them may be ambiguous."""
    found: dict[str, set[str]] = {}
    for language in LANGUAGES:
        for column in (*TO_FIX, *SEVERAL):
            heading = letters(Translation(language).gettext(column.heading))
            found.setdefault(heading, set()).add(column.name)
    assert {} == {heading: names for heading, names in found.items() if len(names) > 1}


@each_row(
    ("headings", "asked", "language"),
    [
        (
            "gtin;donnee demandee;LANGUE;nouvelle valeur",
            "Nom long : le nom complet que lisent les clients",
            "français",
        ),
        ("GTIN;Gefragt;Sprache;Antwort", "Langer Name: der volle Name, den Kunden lesen", "Französisch"),
        ("Streepjescode;Gevraagd;Taal;Antwoord", "Lange naam: de volledige naam die klanten lezen", "Frans"),
        ("EAN;Asked for;Language;Réponse", "Nom long\u00a0: le nom complet que lisent les clients", "fra-FR"),
    ],
)
def test_a_table_in_words_of_people_is_read_in_each_language(
    headings: str, asked: str, language: str, tmp_path: Path
) -> None:
    """The field may be named as the worklist asks for it, and the language by its name, in any language."""
    fix = fix_of(tmp_path / "a.csv", headings, f"{GTIN};{asked};{language};Pain de campagne aux graines")
    assert [("namePublicLong", "fr")] == [(row.attribute, row.language) for row in fix.preview().itertuples()]


PROFILE = {"checks": {"names_not_in_capitals": {}, "has_brand": {}, "has_net_content": {}}}
#: A name that the checks have nothing against.
NAME = "Pain de campagne aux graines"
#: Headings that somebody had translated by a program, in the order of the sheet.
SPANISH = (
    *("GTIN", "Nombre", "Idioma", "Problema", "Valor visto", "Valor nuevo", "Cómo responder", "Solicitado"),
    *(
        "Qué está mal",
        "Cómo corregir",
        "Aceptar porque",
        "Gravedad",
        "Mercado",
        "Exigido por",
        "Esperado",
        "Clave",
    ),
)


@cache
def worklists_in(language: str) -> tuple[str, dict[str, bytes]]:
    """Return the stem of the first worklist of the bakery in a language, and every file that was written."""
    with TemporaryDirectory() as parent:
        folder = Path(parent) / "to_fix"
        index = prodex.audit(CATALOG, PROFILE).worklists(folder, language=language)
        return str(index["file"][0]).removesuffix(".xlsx"), {
            path.name: path.read_bytes() for path in folder.iterdir()
        }


def written(folder: Path, language: str) -> Path:
    """Have the worklists of the bakery in a language, and return the stem of the first."""
    stem, files = worklists_in(language)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder / stem


def answered(book: Path, headings: tuple[str, ...] | None = None, *, hidden: bool = True) -> Path:
    """Answer the row about capitals in a workbook, with other headings, or without its hidden sheet."""
    opened = load_workbook(book)
    sheet = opened.worksheets[2]
    for row in sheet.iter_rows(min_row=2):
        if "names_not_in_capitals" in row[-1].value:
            row[5].value = NAME
    for cell, heading in zip(sheet[1], headings or (), strict=False):
        cell.value = heading
    if not hidden:
        del opened["prodex"]
    opened.save(book)
    return book


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("headings", [None, SPANISH])
def test_a_workbook_of_each_language_comes_back(
    language: str, hidden: bool, headings: tuple[str, ...] | None, tmp_path: Path
) -> None:
    """It is read by its hidden sheet, else by headings of any language, else by the keys of its rows."""
    book = answered(written(tmp_path / "to_fix", language).with_suffix(".xlsx"), headings, hidden=hidden)
    fix = prodex.read_worklist(book, CATALOG, profile=PROFILE)
    assert [("namePublicLong", "fr", NAME)] == [
        (row.attribute, row.language, row.after) for row in fix.preview().itertuples()
    ]
    assert (0, 0) == (len(fix.refused), len(fix.notes))


@pytest.mark.slow
@each_row("language", LANGUAGES)
@each_row("is_translated", [True, False])
def test_a_csv_file_of_each_language_comes_back(language: str, is_translated: bool, tmp_path: Path) -> None:
    """A sheet that was saved as CSV has no hidden one: its headings name the columns, else their places do."""
    book = answered(written(tmp_path / "to_fix", language).with_suffix(".xlsx"))
    headings, *rows = [[cell.value for cell in row] for row in load_workbook(book).worksheets[2].iter_rows()]
    if is_translated:
        headings = [f"columna {number}" for number in range(len(headings))]
    other = tmp_path / "vuelta.csv"
    with other.open("w", encoding="utf-8-sig", newline="") as opened:
        csv.writer(opened, delimiter=";").writerows([headings, *rows])
    fix = prodex.read_worklist(other, CATALOG, profile=PROFILE)
    assert ([NAME], 0) == (fix.preview()["after"].tolist(), len(fix.refused))


@pytest.mark.slow
@each_row("language", LANGUAGES)
def test_the_rows_of_each_language_come_back(language: str, tmp_path: Path) -> None:
    """A program fills in the frame, whose words are in the language, and writes what it likes."""
    rows = prodex.audit(CATALOG, PROFILE).worklist_rows(language=language)
    rows.loc[rows["check"] == "names_not_in_capitals", "new_value"] = NAME
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    for answers in (rows, tmp_path / "rows.csv", pd.read_parquet(tmp_path / "rows.parquet")):
        fix = prodex.read_worklist(answers, CATALOG, profile=PROFILE)
        assert ([NAME], 0, 0) == (fix.preview()["after"].tolist(), len(fix.refused), len(fix.notes))
    fix = prodex.read_worklist(tmp_path / "rows.parquet", CATALOG, profile=PROFILE)
    assert "it is a Parquet file. Read it with pandas, and give the frame." in fix.refused["reason"][0]


def test_columns_of_a_fifth_language_that_were_moved_are_not_guessed(tmp_path: Path) -> None:
    """Where the rows do not show that the columns are at their places, the headings have to be put back."""
    book = written(tmp_path / "to_fix", "fr").with_suffix(".xlsx")
    opened = load_workbook(book)
    sheet = opened.worksheets[2]
    del opened["prodex"]
    for row in sheet.iter_rows():
        row[4].value, row[5].value = row[5].value, row[4].value
    for cell, heading in zip(sheet[1], SPANISH, strict=True):
        cell.value = heading
    opened.save(book)
    fix = prodex.read_worklist(book, CATALOG, profile=PROFILE)
    assert (0, 0, 1) == (len(fix.preview()), len(fix.accepted), len(fix.refused))


@pytest.mark.slow
def test_one_answer_for_several_rows_is_read_under_headings_of_any_language(tmp_path: Path) -> None:
    """The sheet for several rows at once has its own headings, and its keys prove their places."""
    records = [one | ({"brand": None} if one["id"] > 1 else {}) for one in RECORDS]
    catalog = prodex.flatten(records)
    for number, headings in enumerate(
        (None, ("Problema", "Solicitado", "Idioma", "Visto", "Filas", "Nuevo", "Cómo"))
    ):
        folder = tmp_path / str(number)
        index = prodex.audit(catalog, PROFILE).worklists(folder, language="nl")
        book = folder / index["file"][0]
        opened = load_workbook(book)
        sheet = opened["Meerdere tegelijk"]
        for row in sheet.iter_rows(min_row=2):
            row[5].value = "ACME"
        for cell, heading in zip(sheet[1], headings or (), strict=False):
            cell.value = heading
        if headings:
            sheet["H1"].value = "Misma respuesta"
        opened.save(book)
        fix = prodex.read_worklist(book, catalog, profile=PROFILE)
        assert {"ACME"} == set(fix.preview()["after"])


@pytest.mark.slow
def test_what_could_not_be_used_goes_back_in_the_language_of_the_worklist(tmp_path: Path) -> None:
    """A supplier who was asked in French reads in French why the answer was not taken."""
    stem = written(tmp_path / "to_fix", "fr")
    book = stem.with_suffix(".xlsx")
    opened = load_workbook(book)
    for row in opened["Corrections"].iter_rows(min_row=2):
        if "names_not_in_capitals" in row[-1].value:
            row[5].value = "n/a"
    opened.save(book)
    fix = prodex.read_worklist(book, CATALOG, profile=PROFILE)
    index = fix.worklist(tmp_path / "back")
    sheet = load_workbook(tmp_path / "back" / index["file"][0])["Corrections"]
    assert (
        "« n/a » n'a pas été repris : 'n/a' n'est pas une valeur. Laissez la cellule vide, ou écrivez la valeur."
        in {str(row[8].value).replace("\u00a0", " ") for row in sheet.iter_rows(min_row=2)}
    )


#: Field and answer of which none can be used as it is.
BAD = [
    *(
        ("netContent", one)
        for one in ("600", "5-6 g", "1,234 g", "½ g", "about 5 g", "12E3 g", "5 blubs", "5 cal", "2 x 5 g")
    ),
    *(("percentageOfAlcoholByVolume", one) for one in ("a lot", "4,5 / 5", "12..5", "1.234")),
    *(("isConsumerUnit", one) for one in ("maybe", "n/a", "-")),
    *(
        ("isPartitionedBy", one)
        for one in ("Fat", "per 100 g: Fatt 3 g", "per 3 cal: Fat 3 g", "per 100 g: Fat much")
    ),
    *(
        ("logisticalHierarchies", one)
        for one in ("6 cases", f"{CASE}: colour red", "00000000000000: width 3 mm")
    ),
    *(("assets.pictures", one) for one in ("c.jpg -> https://cdn.example/c.jpg", "(delete)", "a picture")),
    *(
        ("namePublicLong", one)
        for one in ("klingon: Qapla", "Fertig!", "see attachment", "?", "fr: CrÃ¨me", "fr: Cr\ufffdme")
    ),
    *(("brand", one) for one in ("BRANDNEW", "erledigt", "no such brand label")),
    ("gtin", "03036811359935"),
    ("nonsense", "x"),
]


def reasons_back(fix: prodex.worklists.Fix, language: str, folder: Path) -> set[str]:
    """Return what is said to be wrong in the worklists that go back in a language."""
    index = fix.worklist(folder / language, language=language)
    books = [load_workbook(folder / language / name) for name in index["file"]]
    return {row[8] for book in books for row in book.worksheets[2].iter_rows(min_row=2, values_only=True)}


@each_row("language", LANGUAGES[1:])
def test_every_reason_why_an_answer_is_not_taken_is_translated(language: str, tmp_path: Path) -> None:
    """The supplier who gave the answer reads it, so that it is in the language of the supplier."""
    rows = [f'{GTIN};{attribute};;"{answer}"' for attribute, answer in BAD]
    rows += [";brand;;ACME", "03036811359936;brand;;ACME", "12345;brand;;ACME", f"{GTIN};;;ACME"]
    fix = fix_of(tmp_path / "a.csv", "GTIN;Field;Language;New value", *rows)
    english = reasons_back(fix, "en", tmp_path)
    assert len(english) > len(BAD) * 2 // 3
    assert [] == sorted(english & reasons_back(fix, language, tmp_path))


@each_row("language", LANGUAGES)
def test_nutrients_are_read_as_the_worklist_calls_them(language: str) -> None:
    """In the terms of the regulation in each language, also in capitals without accents."""
    called = {"fat": "FAT", "saturates": "FASAT", "carbohydrate": "CHOAVL", "sugars": "SUGAR-"}
    for message, code in {**called, "protein": "PRO-", "salt": "SALTEQ"}.items():
        word = Translation(language).gettext(message)
        for spelled in (word, word.upper(), unaccented(word)):
            said = read_nutrient_answer("7", None, f"per 100 g: {spelled} 3,5 g", Vocabulary())
            nutrient = said.changes[-1].after
            assert (code, 3.5) == (nutrient["isConceptualizedBy"]["code"], nutrient["quantity"])


@each_row("language", LANGUAGES)
def test_the_examples_of_how_to_answer_can_be_copied(language: str) -> None:
    """What a worklist shows as an example is an answer that is read."""
    basis, line = map(Translation(language).say, (nutrition_answers.HOW, hierarchy_answers.HOW))
    nutrition = re.search(r"(?:per|pour|pro) 100.*?kcal", basis)
    units = re.search(r"34142363314282.*?(?:true|oui|ja)(?=\.)", line)
    assert nutrition is not None
    assert units is not None
    tree = [
        {"gtin": "34142363314282", "children": [{"gtin": "04142363314281", "quantity": 6, "children": []}]}
    ]
    figures = read_nutrient_answer("7", None, nutrition[0], Vocabulary())
    assert 4 == len([one for one in figures if one.after])
    assert 3 == len(read_hierarchy_answer("7", tree, units[0], "04142363314281", Vocabulary()))
