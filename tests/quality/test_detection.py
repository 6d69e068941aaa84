"""Telling languages apart: sentences of our own, and texts of real products that were read and labelled by hand."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from prodex.quality.detection import detect, languages, place_of
from tests.test_real_products import REAL

SURE = 0.98

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
}


def spoken(*texts: str) -> list[str | None]:
    """Return the language of each text, or None where it is not sure."""
    found = detect(pa.array(texts, pa.string()))
    return [
        languages()[place] if sure >= SURE else None
        for place, sure in zip(found.language, found.confidence, strict=True)
    ]


def test_every_language_is_told_from_the_others() -> None:
    """A sentence that none of the word lists was made from."""
    assert list(SENTENCES) == spoken(*SENTENCES.values())
    assert set(SENTENCES) == set(languages())


def test_what_nobody_can_tell_is_not_told() -> None:
    """Nothing, numbers, another script, names, and half of each of two languages."""
    half = f"{SENTENCES['fr']} {SENTENCES['de']}"
    assert [None] * 6 == spoken("", "E330, E450", "شاي من حديقة الجبل", "Acme", "Coca-Cola", half)


def test_only_the_beginning_of_a_text_counts() -> None:
    """A text of 40,000 characters takes no longer than one of 500, and reads the same."""
    long = " ".join([SENTENCES["nl"]] * 700)
    assert ["nl", "nl"] == spoken(long, long[:500])


def test_a_text_reads_the_same_in_any_company() -> None:
    """Alone, among others, or far behind in a long column."""
    many = ["sel", *SENTENCES.values()] * 4_000
    alone, together = detect(pa.array(list(SENTENCES.values()))), detect(pa.array(many))
    assert np.array_equal(alone.confidence, together.confidence[-len(SENTENCES) :])
    assert np.array_equal(alone.language, together.language[-len(SENTENCES) :])


def test_languages_that_cannot_be_told_apart_have_no_place() -> None:
    """Long and short codes are the same, and Danish counts as Norwegian."""
    assert (-1, -1) == (place_of("fi"), place_of("xx"))
    assert place_of("fr") == place_of("fra-FR") != place_of("nl")
    assert place_of("nb") == place_of("da") == place_of("no")


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
    answered = [(row["language"], said) for row, said in zip(labelled, answers, strict=True) if said]
    right = sum(by_hand == said for by_hand, said in answered)

    assert len(labelled) >= 200
    assert len(answered) > 0.8 * len(labelled)
    assert right > 0.95 * len(answered)
