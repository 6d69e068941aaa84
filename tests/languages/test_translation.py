"""Figures, dates and sentences in the languages of worklists and reports."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from prodex.catalog import Ledger
from prodex.errors import InputError
from prodex.languages import LANGUAGES, Message, Translation
from prodex.languages.message import read_message
from prodex.quality.scores import readiness
from tests.cases import each_row

NBSP, THIN = "\u00a0", "\u202f"

#: Messages, and what they are in English, French, German and Dutch.
SENTENCES = [
    (Message.sentence("{attribute} missing in {language}", attribute="namePublicLong", language="fr"), "Long name missing in French", f"Texte manquant en français{NBSP}: nom long", "Text auf Französisch fehlt: langer Name", "Tekst ontbreekt in het Frans: lange naam"),
    (Message.sentence("{attribute} missing", attribute="grossWeight"), "Gross weight missing", f"Donnée manquante{NBSP}: poids brut", "Angabe fehlt: Bruttogewicht", "Gegeven ontbreekt: brutogewicht"),
    (Message("Write the {attribute} in {language}.", attribute="namePublicShort", language="fr-BE"), "Write the short name in French (Belgium).", f"Écrivez ce texte en français (Belgique){NBSP}: nom court.", "Schreiben Sie diesen Text auf Französisch (Belgien): kurzer Name.", "Schrijf deze tekst in het Frans (België): korte naam."),
    (readiness({"ready_products": 61, "not_ready_products": 1030, "undecided_products": 9, "products": 1100}), "ready 61, not ready 1,030, undecided 9 of 1,100", f"prêts 61, pas prêts 1{THIN}030, indécis 9 sur 1{THIN}100", "bereit 61, nicht bereit 1.030, unentschieden 9 von 1.100", "klaar 61, niet klaar 1.030, onbeslist 9 van 1.100"),
    (Message.of_number("{number} product", "{number} products", 1), "1 product", "1 produit", "1 Produkt", "1 product"),
    (Message.of_number("{number} product", "{number} products", 0), "0 products", "0 produit", "0 Produkte", "0 producten"),
    ("the brand is no private label", *["the brand is no private label"] * 4),
    ("not given", *["not given"] * 4),
]  # fmt: skip


@each_row(("said", "english", "french", "german", "dutch"), SENTENCES)
def test_a_sentence_is_said_with_its_figures_and_labels(
    said: Message | str, english: str, french: str, german: str, dutch: str
) -> None:
    """A message is in the language; a text of somebody else stays as it is, also where prodex says the same."""
    made = [Translation(language).say(said) for language in LANGUAGES]
    assert [english, french, german, dutch] == made


#: Reasons as rules make them, and what they are in the languages.
REASONS = [
    (Message("{count} of {of} words look misread", count=12, of=1_234), "12 of 1,234 words look misread", f"12 sur 1{THIN}234 mots semblent mal lus", "12 von 1.234 Wörtern sehen falsch gelesen aus", "12 van 1.234 woorden lijken verkeerd gelezen"),
    (Message("not declared: {labels}", labels=(Message("fat"), Message("energy in kJ"))), "not declared: fat, energy in kJ", f"non déclaré{NBSP}: matières grasses, énergie en kJ", "nicht angegeben: Fett, Brennwert in kJ", "niet vermeld: vetten, energie in kJ"),
    (Message("{label}: {said}, not listed", label=Message("milk"), said=Message("named in the ingredients")), "milk: named in the ingredients, not listed", f"lait{NBSP}: nommé dans les ingrédients, non déclaré", "Milch: in den Zutaten genannt, nicht angegeben", "melk: genoemd in de ingrediënten, niet vermeld"),
    (Message("filled in {language_codes} only", language_codes=("fr", "nl")), "filled in fr, nl only", f"rempli uniquement en{NBSP}: français, néerlandais", "nur ausgefüllt in: Französisch, Niederländisch", "alleen ingevuld in het Frans, Nederlands"),
    (Message("holds {parts}", parts=(Message('{part} ("{words}")', part=Message("a nutrition table"), words="5 kJ"), Message('{part} ("{words}")', part=Message("an address"), words="a@b.fr"))), 'holds a nutrition table ("5 kJ"), an address ("a@b.fr")', f"contient un tableau nutritionnel («{NBSP}5 kJ{NBSP}»), une adresse («{NBSP}a@b.fr{NBSP}»)", "enthält eine Nährwerttabelle („5 kJ“), eine Anschrift („a@b.fr“)", "bevat een voedingswaardetabel (“5 kJ”), een adres (“a@b.fr”)"),
    (Message("not declared: {labels}", labels="my own nutrient"), "not declared: my own nutrient", f"non déclaré{NBSP}: my own nutrient", "nicht angegeben: my own nutrient", "niet vermeld: my own nutrient"),
]  # fmt: skip


@each_row(("reason", "english", "french", "german", "dutch"), REASONS)
def test_a_reason_is_said_with_its_figures_and_labels(
    reason: Message, english: str, french: str, german: str, dutch: str
) -> None:
    """The words of prodex are in the language; what suppliers typed stays as it is."""
    assert [english, french, german, dutch] == [Translation(language).say(reason) for language in LANGUAGES]


def test_a_value_that_is_no_number_is_shown_all_the_same() -> None:
    """A rule may compute what is no number, or give a text where one belongs: it is kept, and no report fails."""
    reason = Message("{none:g}, {endless:.1f}, {text:d}", none=float("nan"), endless=float("inf"), text="ten")
    kept = read_message(reason.id, reason.json)
    assert ["nan, inf, ten"] * 4 == [Translation("de").say(one) for one in (reason, kept)] + [
        str(reason),
        str(kept),
    ]


def test_figures_and_dates_are_those_of_the_language() -> None:
    """A decimal comma, signs between thousands, and the month in words."""
    day, moment = date(2026, 3, 1), datetime(2026, 3, 1, 8, 5)  # noqa: DTZ001 - shown as it is
    made = [
        (one.number(1234.5), one.percent(0.9999), one.percent(0.9999, 0), one.day(day), one.moment(moment))
        for one in map(Translation, LANGUAGES)
    ]
    assert [
        ("1,234.5", "99.9 %", ">99 %", "2026-03-01", "2026-03-01 08:05"),
        (f"1{THIN}234,5", f"99,9{NBSP}%", f">99{NBSP}%", "1er mars 2026", "1er mars 2026, 08:05"),
        ("1.234,5", f"99,9{NBSP}%", f">99{NBSP}%", "1. März 2026", "1. März 2026, 08:05"),
        ("1.234,5", f"99,9{NBSP}%", f">99{NBSP}%", "1 maart 2026", "1 maart 2026, 08:05"),
    ] == made


@each_row("language", ["fr", "FR", "fra-FR", "fr-BE", "French", "français", "Französisch"])
def test_a_language_is_named_in_any_way(language: str) -> None:
    """By code or name, with a country or without."""
    assert Translation("fr") == Translation.of(language)


@each_row("language", ["it", "Italian", "klingon", "", "frnch", 250, None])
def test_a_language_without_messages_is_refused_with_those_that_there_are(language: str) -> None:
    """The message names all of them."""
    with pytest.raises(InputError, match="English, French, German, Dutch"):
        Translation.of(language)


def test_hostile_values_are_no_places() -> None:
    """Braces, signs of regular expressions and megabytes in what suppliers typed change nothing, and take no time."""
    for text in (
        "{",
        "{language}",
        "{text}",
        "(a+)+$",
        "{0}" + "(" * 1_000,
        "missing in " * 20_000,
        "\x00",
        "%(x)s",
    ):
        assert f"jamais fermée{NBSP}: {text}" == Translation("fr").say(
            Message("never closed: {text}", text=text)
        )
        assert text == Translation("fr").say(text)


def test_of_one_product_a_ledger_agrees_in_french() -> None:
    """One was "1 reçus" and "1 disparus"."""
    said = Ledger(announced=5, distinct=1, received=3, gone=1, missing_gtins=("03036811359935",)).said
    words = [Translation("fr").say(one) for one in said]
    assert ["1 reçu plus d'une fois", "1 disparu", "1 GTIN demandé non reçu"] == words[1:4]
    many = Ledger(announced=5, distinct=1, received=5, gone=2).said
    assert ["2 reçus plus d'une fois", "2 disparus"] == [Translation("fr").say(one) for one in many[1:]]
