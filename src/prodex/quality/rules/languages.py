"""Rules of the language that a text is in."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.quality.detection import Detected, detect, languages, place_of
from prodex.quality.products import Products
from prodex.quality.rulebook import Verdict, rule
from prodex.quality.wordings import ANY_TEXT, Wordings

#: At most so many of the characters of a text are counted: enough to say that it is not short.
_CONSIDERED = 1_000


@rule(
    title="a text is in the language that it says",
    fix="Put the text under its own language, and write the one that is missing.",
    severity="warning",
    dimension="accuracy",
    block="texts",
    needs=ANY_TEXT,
    source="Open Food Facts, data quality: the largest class of errors",
    exact=False,
)
def in_stated_language(
    products: Products, *, confidence: float = 0.98, letters: int = 30, attributes: tuple[str, ...] = ()
) -> Verdict:
    """Customers who read French get German: worse than nothing, since it counts as filled.

    The language is told by the words, where the text has enough letters and speaks clearly for one of the languages
    that prodex can tell apart; texts in other languages are not judged.
    """
    texts = Wordings.of(products)
    detected = products.remember(("detected", letters), lambda: _detected(texts.texts, letters))
    stated = np.array([place_of(one) for one in texts.languages], np.int64)[texts.language]
    sure = (detected.confidence >= confidence)[texts.wording]
    spoken = detected.language[texts.wording]
    long = (detected.language >= 0)[texts.wording]
    judged = long & (stated >= 0) & texts.within(attributes)
    wrong = judged & sure & (stated != spoken)
    rows = np.flatnonzero(wrong)
    names = [f"reads as {languages()[place]}" for place in spoken[rows]]
    said = [f", {share:.1%} sure" for share in detected.confidence[texts.wording[rows]]]
    return texts.verdict(wrong, [name + sure_ for name, sure_ in zip(names, said, strict=True)], judged)


def _detected(texts: pa.Array, letters: int) -> Detected:
    """Detect the language of the long texts alone; the others have none."""
    beginnings = pc.utf8_slice_codeunits(texts, 0, _CONSIDERED)
    without = pc.replace_substring_regex(beginnings, r"[^\pL]+", "")
    long = np.flatnonzero(pc.greater_equal(pc.utf8_length(without), letters).to_numpy(zero_copy_only=False))
    found = detect(texts.take(pa.array(long)))
    language, confidence = np.full(len(texts), -1), np.zeros(len(texts))
    language[long], confidence[long] = found.language, found.confidence
    return Detected(language, confidence)
