"""Rules of the language that a text is in."""

from __future__ import annotations

import numpy as np
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

    The language is told by the words, where the text has enough letters and speaks clearly for one of the languages
    that prodex can tell apart; texts in other languages are not judged, nor are public names, unless they are asked
    for: a foreign brand makes them foreign.
    """
    texts = Wordings.of(products)
    stated = np.array([place_of(one) for one in texts.languages], np.int64)[texts.language]
    asked = texts.translatable(attributes) & (stated >= 0)
    key = ("languages", letters, attributes)
    detected = products.remember(key, lambda: _detected(texts, asked, letters))
    spoken = detected.language[texts.wording]
    judged = asked & (spoken >= 0)
    wrong = judged & (stated != spoken) & (detected.confidence >= confidence)[texts.wording]
    rows = np.flatnonzero(wrong)
    reasons = [
        f"reads as {languages()[place]}, {sure:.1%} sure"
        for place, sure in zip(spoken[rows], detected.confidence[texts.wording[rows]], strict=True)
    ]
    return texts.verdict(wrong, reasons, judged)


def _detected(texts: Wordings, asked: Mask, letters: int) -> Detected:
    """Detect the language of the wordings that are asked for and are long enough; the others get -1."""
    long = pc.greater_equal(pc.utf8_length(texts.texts), letters).to_numpy(zero_copy_only=False)
    chosen = np.zeros(len(texts.texts), bool)
    chosen[texts.wording[asked]] = True
    chosen &= long
    found = detect(texts.texts.filter(pa.array(chosen)))
    language, confidence, read = np.full(len(chosen), -1), np.zeros(len(chosen)), np.zeros(len(chosen))
    language[chosen] = np.where(found.letters >= letters, found.language, -1)
    confidence[chosen], read[chosen] = found.confidence, found.letters
    return Detected(language, confidence, read)
