"""Answers that may not be meant: each has its question, and is sent only once somebody confirms it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.errors import InputError
from prodex.worklists.remarks import remark_in
from tests.quality.workbooks import questions

from .bakery import RECORDS, Answer, stored

FIRST, SECOND, THIRD = (one["gtin"] for one in RECORDS)
TEXTS = {"checks": {"texts_without_placeholders": {}, "names_not_in_capitals": {}}}

#: Words that answer the person who asked: by language, written as people do.
REMARKS = {
    "any": ["ok", "OK", "Ok.", "ok!", "(ok)", "O.K.", "okay", "✔", "✓", "☑", "👍",
            '"', "''", "”", "〃", '-"-', "↑", "^"],
    "en": ["done", "Done!", "same as above", "not applicable", "see attachment", "See attached file", "don't know",
           "no change", "please delete", "not possible", "please check", "yes", "thanks", "will follow",
           "discontinued"],
    "fr": ["fait", "idem", "sans objet", "voir pièce jointe", "voir PJ p. 3", "je ne sais pas", "inchangé",
           "à supprimer", "impossible", "à vérifier", "oui", "merci", "en cours", "CORRIGE", "fait le 3/4"],
    "de": ["erledigt", "dito", "entfällt", "entfaellt", "siehe Anhang", "s. Mail", "s. oben", "weiß nicht",
           "unverändert", "bitte löschen", "nicht möglich", "bitte prüfen", "ja", "danke", "folgt", "Erledigt, danke"],
    "es": ["hecho", "igual que arriba", "no aplica", "ver adjunto", "no sé", "sin cambios", "eliminar", "imposible",
           "favor de verificar", "sí", "gracias", "pendiente", "corregido"],
    "it": ["fatto", "come sopra", "non applicabile", "vedi allegato", "non so", "invariato", "da eliminare",
           "impossibile", "prego verificare", "sì", "grazie", "in corso", "corretto"],
    "nl": ["gedaan", "zie boven", "nvt", "n.v.t.", "zie bijlage", "weet niet", "ongewijzigd", "verwijderen",
           "niet mogelijk", "graag controleren", "ja", "bedankt", "volgt nog", "aangepast"],
    "pt": ["feito", "igual acima", "não aplicável", "ver anexo", "não sei", "sem alteração", "eliminar", "impossível",
           "favor verificar", "sim", "obrigado", "pendente", "corrigido"],
    "no": ["gjort", "samme som over", "ikke aktuelt", "se vedlegg", "vet ikke", "uendret", "slettes", "umulig",
           "vennligst sjekk", "ja", "takk", "kommer senere", "rettet"],
    "sv": ["gjort", "samma som ovan", "ej tillämpligt", "se bilaga", "vet ej", "oförändrad", "tas bort", "ej möjligt",
           "vänligen kontrollera", "ja", "tack", "kommer senare", "rättat"],
    "fi": ["tehty", "sama kuin yllä", "ei sovellu", "katso liite", "en tiedä", "ei muutosta", "poistetaan",
           "ei mahdollista", "tarkista", "kyllä", "kiitos", "tulossa", "korjattu"],
}  # fmt: skip

#: Texts that look a little like remarks, and are values.
VALUES = [
    "Pain fait maison", "Fait maison", "Bio", "Sel", "Ei aus Bodenhaltung", "Sans sucre", "Ohne Zucker",
    "Done-good bread", "1664", "Okra", "Idéal pour le goûter", "Sama sama chips", "Nada Surf", "100 %", "米",
    "Nichtraucher-Tee",
    "See our website for recipes with this flour, its origin and the mill that grinds it since 1780.",
    "Vide-pommes", "Test de grossesse", "Ja-Natürlich Brot", "No. 5", "Klare Suppe", "Same Day Bread",
]  # fmt: skip


def row(
    new: str, gtin: str = FIRST, field: str = "namePublicLong", language: str = "fr", **keys: Any
) -> dict[str, Any]:
    """Return a row of answers."""
    return {"GTIN": gtin, "Field": field, "Language": language, "New value": new, **keys}


@pytest.mark.parametrize("language", REMARKS)
def test_remarks_of_every_language_are_known(language: str) -> None:
    """Done, ditto, not applicable, elsewhere, unknown, unchanged, to delete, refused, asked."""
    assert [] == [words for words in REMARKS[language] if remark_in(words) is None]


def test_values_are_no_remarks() -> None:
    """A word of a remark inside a text makes none of it."""
    assert [] == [words for words in VALUES if remark_in(words) is not None]


def test_a_remark_needs_confirmation_wherever_text_is_taken(answer: Answer) -> None:
    """As a name, as a text with its language before it, as a code: none of it is sent."""
    fix = answer(
        row("erledigt"),
        row("fr: ok", THIRD, "description", ""),
        row("idem", THIRD, "brand", ""),
        row("nvt", THIRD, "kind.code", ""),
    )
    assert {"needs confirmation": 4} == fix.counts
    assert "reads like a remark that something is done" in fix.needs_confirmation["reason"][0]
    assert fix.preview().empty
    with pytest.raises(InputError, match="to be confirmed"):
        fix.apply(prodex.connect("sandbox"))


def test_a_code_that_is_in_use_is_no_remark(answer: Answer) -> None:
    """A brand may be called OK, where products say so."""
    brand = {"code": "OK", "label": "Idem"}
    catalog = prodex.flatten([*RECORDS[:2], RECORDS[2] | {"brand": brand}])
    fix = answer(row("ok", FIRST, "brand", ""), row("idem", SECOND, "brand", ""), catalog=catalog)
    assert {"accepted": 2} == fix.counts


def test_a_code_that_nobody_knows_needs_confirmation_with_the_nearest(answer: Answer) -> None:
    """One letter too many is another brand; a code of the specification's own list is known."""
    fix = answer(
        row("ACMEE", THIRD, "brand", ""),
        row("PALLET", THIRD, "typePackaging", ""),
        row("PALETTE", FIRST, "typePackaging", ""),
    )
    assert {"needs confirmation": 2, "accepted": 1} == fix.counts
    assert "the nearest: ACME" in fix.needs_confirmation["reason"][0]


def test_an_answer_that_breaks_another_check_needs_confirmation(answer: Answer) -> None:
    """The check that asked is satisfied, and another one finds what it did not find before."""
    checks = {"names_not_in_capitals": {}, "texts_without_markup": {}}
    rows = row("Pain <b>bis</b>", Check="names_not_in_capitals"), row("Roggebrood", language="nl")
    fix = answer(*rows, profile={"checks": checks})
    assert {"needs confirmation": 1, "accepted": 1} == fix.counts
    assert "Markup in a text (holds HTML). Is it meant?" in fix.needs_confirmation["reason"][0]
    assert ["Roggebrood"] == fix.preview()["after"].tolist()
    assert fix.effect().changes("newly failing").empty


def test_what_failed_before_and_still_fails_is_not_asked(answer: Answer) -> None:
    """Another answer of the product is no reason to ask about what has long been wrong."""
    fix = answer(row("Roggebrood", language="nl"), profile=TEXTS)
    assert {"accepted": 1} == fix.counts


def test_a_text_that_asks_for_its_translation_breaks_nothing(answer: Answer) -> None:
    """The first description of a product has no Dutch one beside it: that is the next finding, and no fault."""
    checks = {"translated": {"language": "nl"}}
    fix = answer(row("Un pain bis au levain", THIRD, "description"), profile={"checks": checks})
    assert {"accepted": 1} == fix.counts


@pytest.mark.slow
def test_confirming_sends_exactly_what_was_confirmed(answer: Answer, mill: prodex.service.Client) -> None:
    """One row of two: the other still needs confirmation, and its text stays as it is at the service."""
    catalog = prodex.load_products(mill, name="mill", progress=False)
    fix = answer(row("idem"), row("ok", language="nl"), catalog=catalog)
    fix.confirm(fix.needs_confirmation.query("language == 'fr'"))
    assert {"needs confirmation": 1, "accepted": 1} == fix.counts
    fix.apply(mill, progress=False).wait(progress=False)
    assert ["idem", "Boerenbrood"] == [one["data"] for one in stored(mill, FIRST)["namePublicLong"]]
    with pytest.raises(InputError, match="sent already"):
        fix.confirm()


def test_all_questions_of_an_answer_are_asked_at_once(answer: Answer) -> None:
    """What it says, and what a check finds in it: whoever confirms has seen both."""
    fix = answer(row("folgt", THIRD), profile=TEXTS)
    (reason,) = fix.needs_confirmation["reason"]
    assert "reads like a remark that the value is not known yet" in reason
    assert "Placeholder" in reason
    assert {"accepted": 1} == fix.confirm().counts


def test_rows_that_need_no_confirmation_cannot_be_confirmed(answer: Answer) -> None:
    """A frame of something else, or a row that is refused, is an error that says what to give."""
    fix = answer(row("ok"), row("?", THIRD))
    with pytest.raises(InputError, match=r"fix\.needs_confirmation"):
        fix.confirm(pd.DataFrame({"gtin": [FIRST]}))
    with pytest.raises(InputError, match="does not need confirmation"):
        fix.confirm(fix.refused)
    assert {"needs confirmation": 1, "refused": 1} == fix.counts


def test_what_needs_confirmation_is_in_the_worklist_that_goes_out_again(
    answer: Answer, tmp_path: Path
) -> None:
    """With what was written and the question, and an empty cell for the value."""
    fix = answer(row("erledigt", Check="names_not_in_capitals"), profile=TEXTS)
    index = fix.worklist(tmp_path / "again")
    again = questions(tmp_path / "again" / index["file"][0])
    assert ["“erledigt” needs confirmation: " in one for one in again["reason"]] == [True]
    assert again["new_value"].isna().all()


def test_a_remark_outweighs_nothing_that_speaks_against_the_answer(answer: Answer) -> None:
    """An answer to a product that waits is a conflict, whatever it says; the value that is there changes nothing."""
    fix = answer(row("ok", SECOND), row("ok", "00000000000017"))
    assert {"conflict": 2} == fix.counts
    assert ["", ""] != fix.conflicts["reason"].tolist()


@pytest.mark.parametrize("blank", ["\u3164", "\u2060", "<p>&nbsp;</p>"])
def test_what_nobody_sees_is_no_text(answer: Answer, blank: str) -> None:
    """A filler or an empty paragraph would replace a name by what is not filled."""
    fix = answer(row(blank))
    assert {"needs confirmation": 1} == fix.counts
    assert "reads like a mark, and no text" in fix.needs_confirmation["reason"][0]


@pytest.mark.parametrize(
    ("typed", "language", "marks"),
    [
        ("nl: Boerenbrood met zaden", "fr", "nl:"),
        ("fr: Pain aux graines", "fr", "fr:"),
        ("FR : Pain aux graines / NL : Boerenbrood", "fr", "FR:, NL:"),
        ("Pain aux graines\u00a0; [nl-BE]: Boerenbrood", "fr", "nl-BE:"),
        ("Français: Pain aux graines", "nl", "Français:"),
        ("fr: (delete)", "fr", "fr:"),
        ("fr: Pain aux graines; nl: Boerenbrood", "", "nl:"),
    ],
)
def test_a_language_inside_a_text_needs_confirmation(
    answer: Answer, typed: str, language: str, marks: str
) -> None:
    """Rows without a language ask for it before the text: in other rows it would be a part of the name."""
    fix = answer(row(typed, language=language))
    assert {"needs confirmation": 1} == fix.counts, fix.answers["reason"].tolist()
    assert f"has a language before a text ({marks})" in fix.needs_confirmation["reason"][0]
    assert {"accepted": 1} == fix.confirm().counts


def test_a_language_that_is_a_part_of_the_text_is_not_asked_about(answer: Answer) -> None:
    """The text that is there has it as well; other words before a colon are no languages."""
    both = [{"expressedIn": {"code": "fra-FR"}, "data": "FR: farine / NL: bloem"}]
    catalog = prodex.flatten([RECORDS[0] | {"composition": both}, *RECORDS[1:]])
    fix = answer(
        row("FR: farine, sel / NL: bloem, zout", field="composition"),
        row("Sel: 1 %; min: 3", field="description", gtin=THIRD),
        row("Note: frais", gtin=THIRD),
        catalog=catalog,
    )
    assert {"accepted": 3} == fix.counts, fix.answers["reason"].tolist()


def test_a_language_in_a_pasted_text_needs_confirmation() -> None:
    """The heading says the language, and the cell another one."""
    copied = f"EAN\tNom\n{FIRST}\tnl: Brood\n"
    fix = prodex.correct_from(copied, prodex.flatten(RECORDS), ["gtin", "namePublicLong.fr"])
    assert {"needs confirmation": 1} == fix.counts
