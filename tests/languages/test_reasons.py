"""Reasons of rules as messages, in the languages of those who read them."""

from __future__ import annotations

from prodex.languages import LANGUAGES, Message, Translation
from tests.cases import each_row

NBSP, THIN = "\u00a0", "\u202f"

_FACES = {
    "face": Message("{face} ({said})", face="1", said=Message("front")),
    "other_face": Message("{face} ({said})", face="9", said=Message("bottom")),
}
_BRANDS = tuple(
    Message.of_number("{name} ({number} product)", "{name} ({number} products)", number, name=name)
    for name, number in (("Acme", 1), ("ACME & Co", 1_200))
)

#: What rules make, and what it is in English, French, German and Dutch.
REASONS = [
    (
        Message("{characters} characters, {allowed} allowed", characters=40_000, allowed=20_000),
        "40,000 characters, 20,000 allowed",
        f"40{THIN}000 caractères, 20{THIN}000 permis",
        "40.000 Zeichen, 20.000 erlaubt",
        "40.000 tekens, 20.000 toegestaan",
    ),
    (
        Message("reads as {language_code}, {percent:.1f}% sure", language_code="de", percent=99.5),
        "reads as de, 99.5% sure",
        f"se lit comme étant en allemand, sûr à 99,5{NBSP}%",
        f"liest sich wie Deutsch, zu 99,5{NBSP}% sicher",
        f"leest als Duits, 99,5{NBSP}% zeker",
    ),
    (
        Message("filled in {language_codes} only", language_codes=("fr", "nl")),
        "filled in fr, nl only",
        f"rempli uniquement en{NBSP}: français, néerlandais",
        "nur ausgefüllt in: Französisch, Niederländisch",
        "alleen ingevuld in het Frans, Nederlands",
    ),
    (
        Message("also {counts}", counts=_BRANDS),
        "also Acme (1 product), ACME & Co (1,200 products)",
        f"également Acme (1 produit), ACME & Co (1{THIN}200 produits)",
        "auch Acme (1 Produkt), ACME & Co (1.200 Produkte)",
        "ook Acme (1 product), ACME & Co (1.200 producten)",
    ),
    (
        Message(
            "picture {number:d}: {said}",
            number=2,
            said=Message("face {face} is stated, and face {other_face} is in the file name", **_FACES),
        ),
        "picture 2: face 1 (front) is stated, and face 9 (bottom) is in the file name",
        f"image 2{NBSP}: face 1 (avant) indiquée, et face 9 (dessous) dans le nom du fichier",
        "Bild 2: angegeben ist Seite 1 (vorn), im Dateinamen steht Seite 9 (unten)",
        "foto 2: zijde 1 (voorkant) is opgegeven, en zijde 9 (onder) staat in de bestandsnaam",
    ),
    (
        Message("no picture touched for {days:d} days", days=1_095),
        "no picture touched for 1095 days",
        f"aucune image modifiée depuis 1{THIN}095 jours",
        "seit 1.095 Tagen kein Bild geändert",
        "al 1.095 dagen geen foto gewijzigd",
    ),
    (
        Message("more than the gross weight of {figure:g} g", figure=1080.5),
        "more than the gross weight of 1080.5 g",
        f"plus que le poids brut de 1{THIN}080,5 g",
        "mehr als das Bruttogewicht von 1.080,5 g",
        "meer dan het brutogewicht van 1.080,5 g",
    ),
]


@each_row(("reason", "english", "french", "german", "dutch"), REASONS)
def test_a_reason_has_the_words_and_signs_of_its_reader(
    reason: Message, english: str, french: str, german: str, dutch: str
) -> None:
    """Languages are codes in English, as columns have them; numbers have their signs, and plural forms are right."""
    assert [english, french, german, dutch] == [Translation(language).say(reason) for language in LANGUAGES]
