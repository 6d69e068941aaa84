"""Texts whose language is known, and how well it is told.

`written_texts.tsv` holds product texts that were written for this: names, compositions, advice and descriptions, as
suppliers write them, in languages that are known to the detector and in others. A text is in one of two parts for
good: `building` may be read when the lists of words are made better, `held` must not; figures are of the held ones.
"""

from __future__ import annotations

import csv
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from prodex.quality.language_detection import DetectedLanguages, known_languages, place_of_language

WRITTEN = Path(__file__).with_name("written_texts.tsv")
#: As the rule asks by default: how sure, and of how many letters.
SURE, LETTERS = 0.98, 30


@dataclass(frozen=True)
class Labelled:
    """A text and the short code of the language that it is in."""

    language: str
    text: str


@dataclass(frozen=True)
class Measured:
    """The results of language detection.

    Attributes
    ----------
    texts, right
        By language, and of which the likeliest answer was right: "none of these" where the language is not known.
    alarms
        Rightly labelled texts in a known language of which the rule would say that they are in another.
    mistaken
        Texts in a language that is not known which are surely called one that is.
    """

    texts: Counter[str]
    right: Counter[str]
    alarms: list[Labelled]
    mistaken: list[Labelled]

    @property
    def known(self) -> list[str]:
        """The languages among them that are known."""
        return [language for language in self.texts if place_of_language(language) >= 0]

    @property
    def others(self) -> list[str]:
        """The languages among them that are not."""
        return [language for language in self.texts if place_of_language(language) < 0]

    def share(self, languages: Iterable[str]) -> float:
        """Return the share of right answers among the texts in these languages."""
        chosen = list(languages)
        return sum(self.right[one] for one in chosen) / max(self.count(chosen), 1)

    def count(self, languages: Iterable[str]) -> int:
        """Return how many texts are in these languages."""
        return sum(self.texts[one] for one in languages)


def written(part: str) -> list[Labelled]:
    """Return the texts of a part: "held" or "building"."""
    with WRITTEN.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Labelled(row["language"], row["text"]) for row in rows if row["part"] == part]


def in_capitals(texts: Iterable[Labelled]) -> list[Labelled]:
    """Return texts as many systems keep them: in capitals, without accents."""
    return [
        Labelled(
            each.language, "".join(sign for sign in decomposed if not unicodedata.combining(sign)).upper()
        )
        for each in texts
        for decomposed in [unicodedata.normalize("NFD", each.text)]
    ]


def measure(texts: Sequence[Labelled]) -> Measured:
    """Detect the language of each text, and compare it with the label."""
    found = DetectedLanguages.of(pa.array([each.text for each in texts], pa.string()))
    meant = np.array([place_of_language(each.language) for each in texts], np.int64)
    sure = (found.confidence >= SURE) & (found.letters >= LETTERS) & (found.language != meant)
    names = [
        known_languages()[place] if place >= 0 else each.language
        for place, each in zip(meant, texts, strict=True)
    ]
    return Measured(
        Counter(names),
        Counter(name for name, right in zip(names, found.language == meant, strict=True) if right),
        [texts[row] for row in np.flatnonzero(sure & (meant >= 0))],
        [texts[row] for row in np.flatnonzero(sure & (meant < 0))],
    )
