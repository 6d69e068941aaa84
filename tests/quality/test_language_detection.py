"""Telling languages apart: sentences of our own, and texts of real products that were read and labelled by hand."""

from __future__ import annotations

import csv
import gzip
import json
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from prodex.facts.market import REQUIRED_LANGUAGES
from prodex.quality.language_detection import DetectedLanguages, known_languages, place_of_language
from tests.cases import each_row
from tests.quality.language_texts import SURE, Labelled, in_capitals, measure, written
from tests.test_real_products import REAL

NONE = "none of these"

SENTENCES = {
    "fr": "Nettoie en douceur et laisse les mains propres après chaque lavage.",
    "en": "Cleans gently and leaves your hands soft after every wash.",
    "de": "Reinigt sanft und lässt die Hände nach jedem Waschen weich.",
    "es": "Limpia con suavidad y deja las manos limpias después de cada lavado.",
    "it": "Pulisce delicatamente e lascia le mani morbide dopo ogni lavaggio.",
    "nl": "Reinigt zacht en laat de handen na elke wasbeurt schoon achter.",
    "pt": "Limpa com suavidade e não deixa a pele seca depois da lavagem.",
    "no": "Rengjør skånsomt og gjør hendene myke etter hver vask, også uten såpe.",
    "sv": "Rengör skonsamt och gör händerna mjuka efter varje tvätt, även utan tvål.",
    "fi": "Puhdistaa hellävaraisesti ja jättää kädet pehmeiksi jokaisen pesun jälkeen.",
}


def spoken(*texts: str) -> list[str | None]:
    """Return the language of each text, or None where it is not sure."""
    found = DetectedLanguages.of(pa.array(texts, pa.string()))
    return [
        (known_languages()[place] if place >= 0 else NONE) if sure >= SURE else None
        for place, sure in zip(found.language, found.confidence, strict=True)
    ]


def test_every_language_is_told_from_the_others() -> None:
    """Each is detected in a sentence that none of the word lists was made from."""
    assert list(SENTENCES) == spoken(*SENTENCES.values())
    assert set(SENTENCES) == set(known_languages())


def test_what_nobody_can_tell_is_not_told() -> None:
    """Nothing at all, no text, numbers, names, and half of each of two languages."""
    half = f"{SENTENCES['fr']} {SENTENCES['de']}"
    assert [None] * 5 == spoken("", "E330, E450", "Acme", "Coca-Cola", half)
    nothing = DetectedLanguages.of(pa.array([None, "", "E330"], pa.string()))
    assert [-1] * 3 == nothing.language.tolist()
    assert [0.5, 0.5] == nothing.confidence[:2].tolist()


def test_what_is_as_likely_as_anything_else_is_likely() -> None:
    """Grapes and sulphites are called alike in Spanish and Portuguese."""
    found = DetectedLanguages.of(pa.array(["Ingredientes: uvas tintas, conservador (sulfitos)"]))
    assert {"es", "pt"} == {known_languages()[place] for place in np.flatnonzero(found.likely[0])}
    assert (-1, 0.5) == (found.language[0], found.confidence[0])


@each_row(
    "text",
    [
        "شاي من حديقة الجبل",
        "Мука пшеничная, сахар, соль",
        "小麦粉、砂糖、食塩",
        "Mąka pszenna, cukier, sól, substancja zagęszczająca",
        "Farină de grâu, zahăr, ouă, sare, agenți de afânare",
        "Farina de blat, sucre, ous i sal, amb llet desnatada",
    ],
)
def test_a_language_that_is_not_known_is_none_of_these(text: str) -> None:
    """This holds for another script and for the same one, for neighbours and for others."""
    assert [NONE] == spoken(text)


def test_letters_and_their_accents_may_be_written_in_any_way() -> None:
    """Composed or not, in capitals, wide, joined to one sign, or without accents."""
    text = "Purée de pommes, crème fraîche, affinée, œufs, sucre"
    written_so = [
        unicodedata.normalize("NFD", text),
        unicodedata.normalize("NFKD", text),
        text.upper(),
        text.replace("ff", "\N{LATIN SMALL LIGATURE FF}"),
        "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text),
        *(each.text for each in in_capitals([Labelled("fr", text)])),
    ]
    assert ["fr"] * len(written_so) == spoken(*written_so)


def test_every_language_that_a_market_asks_for_is_known() -> None:
    """Finland reads Finnish and Swedish."""
    asked = {language for needed in REQUIRED_LANGUAGES.values() for language in needed}
    assert set() == {language for language in asked if place_of_language(language) < 0}


def test_held_texts_are_told() -> None:
    """Top-1 97 of 100, Portuguese 95, each 90; false alarms 1 of 200; four of five others are none of these."""
    found = measure(written("held"))
    assert set(known_languages()) == set(found.known)
    assert {} == {one: share for one in found.known if (share := found.share([one])) < 0.9}
    assert found.share(["pt"]) >= 0.95
    assert found.share(found.known) >= 0.97
    assert len(found.alarms) <= 0.005 * found.count(found.known)
    assert len(found.others) >= 12
    assert found.share(found.others) >= 0.8
    assert len(found.mistaken) <= 0.005 * found.count(found.others)


def test_held_texts_in_capitals_without_accents_are_told() -> None:
    """Many systems keep texts in this form, and they are detected nearly as well."""
    found = measure(in_capitals(written("held")))
    assert found.share(found.known) >= 0.95
    assert found.share(["pt"]) >= 0.9
    assert len(found.alarms) <= 0.005 * found.count(found.known)
    assert found.share(found.others) >= 0.8


def test_every_language_has_held_texts_and_others_for_building() -> None:
    """At least 30 of each known language, seven of each other, and no text in both."""
    held, building = written("held"), written("building")
    for part in (held, building):
        counts = measure(part).texts
        assert all(counts[one] >= 30 for one in known_languages())
        assert all(count >= 7 for count in counts.values())
    assert set() == {each.text for each in held} & {each.text for each in building}


def test_only_the_beginning_of_a_text_counts() -> None:
    """A text of 40,000 characters takes no longer than one of 500, and reads the same."""
    long = " ".join([SENTENCES["nl"]] * 700)
    assert ["nl", "nl"] == spoken(long, long[:500])


def test_a_text_reads_the_same_in_any_company() -> None:
    """The result does not depend on whether a text is alone, among others, or far down in a long column."""
    many = ["sel", *SENTENCES.values()] * 4_000
    alone, together = (
        DetectedLanguages.of(pa.array(list(SENTENCES.values()))),
        DetectedLanguages.of(pa.array(many)),
    )
    assert np.array_equal(alone.confidence, together.confidence[-len(SENTENCES) :])
    assert np.array_equal(alone.language, together.language[-len(SENTENCES) :])


def test_languages_that_cannot_be_told_apart_have_no_place() -> None:
    """Long and short codes are the same, and Danish counts as Norwegian."""
    assert (-1, -1) == (place_of_language("pl"), place_of_language("xx"))
    assert place_of_language("fr") == place_of_language("fra-FR") != place_of_language("nl")
    assert place_of_language("nb") == place_of_language("da") == place_of_language("no")


@pytest.mark.skipif(not REAL.is_file(), reason=f"the real products are not at {REAL.name}")
def test_real_texts_are_read_as_people_read_them() -> None:
    """Of 276 texts of at least 30 letters, read by hand: more than 95 of 100 answers right, four of five answered."""
    lines = (Path(__file__).parent / "labelled_texts.csv").read_text("utf-8").splitlines()
    labelled = list(csv.DictReader(lines, delimiter=";"))
    with gzip.open(REAL) as file:
        records = {str(record["id"]): record for record in map(json.loads, file)}
    texts = [records[row["product_id"]][row["attribute"]][int(row["position"])]["data"] for row in labelled]
    assert [int(row["length"]) for row in labelled] == [len(text) for text in texts]

    answers = spoken(*texts)
    answered = [(row["language"], answer) for row, answer in zip(labelled, answers, strict=True) if answer]
    right = sum(by_hand == answer for by_hand, answer in answered)

    assert len(labelled) >= 200
    assert len(answered) > 0.8 * len(labelled)
    assert right > 0.95 * len(answered)
