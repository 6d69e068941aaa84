"""Rules of the language that a text is in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.quality.detection import Detected, detect, languages, place_of
from prodex.quality.products import Products
from prodex.quality.rulebook import Verdict, rule
from prodex.quality.wordings import ANY_TEXT, Mask, Wordings


@rule(
    title="a text is in the language that it says",
    problem="Text is not in the language that it says",
    fix="Put the text under its own language, and write the one that is missing.",
    severity="warning",
    dimension="accuracy",
    block="texts",
    needs=ANY_TEXT,
    certain="fails",
    source="Open Food Facts, data quality: the largest class of errors",
    exact=False,
)
def in_stated_language(
    products: Products, *, confidence: float = 0.98, letters: int = 30, attributes: tuple[str, ...] = ()
) -> Verdict:
    """Customers who read French get German: worse than nothing, since it counts as filled.

    The language is told by the words, where a text has enough letters. A text of which another language than the
    stated one is likelier, but not sure, is unknown; so is a text in a language that prodex does not know, whose
    label it can neither confirm nor deny. Public names are not judged unless they are asked for: a foreign brand makes
    them foreign.
    """
    texts = Wordings.of(products)
    stated = np.array([place_of(one) for one in texts.languages], np.int64)[texts.language]
    labelled = np.array([bool(one) for one in texts.languages], bool)[texts.language]
    asked = texts.translatable(attributes) & labelled
    key = ("languages", letters, attributes)
    detected = products.remember(key, lambda: _detected(texts, asked, letters))
    judged = asked & (detected.letters >= letters)[texts.wording]
    spoken = detected.language[texts.wording]
    differs = judged & ((stated < 0) | ~detected.likely[texts.wording, stated])
    wrong = differs & (stated >= 0) & (detected.confidence >= confidence)[texts.wording]
    rows = np.flatnonzero(wrong)
    reasons = [
        f"reads as {_named(place)}, {sure:.1%} sure"
        for place, sure in zip(spoken[rows], detected.confidence[texts.wording[rows]], strict=True)
    ]
    verdict = texts.verdict(wrong, reasons, judged)
    fails = pd.array(verdict.fails, dtype="boolean")
    unclear = np.zeros(len(fails), bool)
    unclear[texts.product[differs]] = True
    fails[unclear & ~verdict.fails] = pd.NA
    return replace(verdict, fails=fails)


def _named(place: int) -> str:
    """Return the code of a language by its place, or words for all others."""
    return languages()[place] if place >= 0 else f"none of {', '.join(languages())}"


def _detected(texts: Wordings, asked: Mask, letters: int) -> Detected:
    """Detect the language of the wordings that are asked for and are long enough; of the others no letter is read."""
    long = pc.greater_equal(pc.utf8_length(texts.texts), letters).to_numpy(zero_copy_only=False)
    chosen = np.zeros(len(texts.texts), bool)
    chosen[texts.wording[asked]] = True
    chosen &= long
    found = detect(texts.texts.filter(pa.array(chosen)))
    language, confidence, read = np.full(len(chosen), -1), np.zeros(len(chosen)), np.zeros(len(chosen))
    language[chosen], confidence[chosen], read[chosen] = found.language, found.confidence, found.letters
    likely = np.zeros((len(chosen), len(languages())), bool)
    likely[chosen] = found.likely
    return Detected(language, confidence, read, likely)
