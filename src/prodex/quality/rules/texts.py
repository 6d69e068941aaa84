"""Rules of texts and their languages: which exist, in which languages, whether translated, and labelled correctly."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.languages import Message
from prodex.locales import known_language_tag
from prodex.quality.language_detection import (
    CHARACTERS,
    DetectedLanguages,
    TextWords,
    known_languages,
    place_of_language,
)
from prodex.quality.products import Products, once_per_part
from prodex.quality.remembered import has_match
from prodex.quality.rulebook import rule
from prodex.quality.text_columns import ANY_TEXT, TEXTS, TextColumns
from prodex.quality.verdict import Evidence, Verdict, compared_with, missing_data
from prodex.tables.columns import Mask, filled_values, is_true, occurrences

#: Names that often go across borders as they are.
_PUBLIC_NAMES = ("namePublicLong", "namePublicShort")

#: Parts of a text in several languages: sentences, lines, and what begins with the code of a language.
_PIECES = re.compile(
    r"(?<=[.!?;])\s+|\n+|\s[|/•–—]\s|\s*(?:^|\s)[(\[]?(?:FR|DE|EN|GB|UK|ES|IT|NL|PT|NO|DK|SE|SV|FI|BE|CH|AT)(?:[/-][A-Z]{2})*"
    r"[)\]]?\s*:?\s(?=[A-ZÀ-Þ])|(?i:(?=\b(?:ingr[ée]dients?|zutaten|ingredientes|ingredienti|ingredi[ëe]nten|ingredienser"
    r"|ainesosat|ainekset)\s*:))"
)
#: Characters at each end of a text that show whether it may be in several languages.
_AT_ENDS = 100
#: Letters: rules that need more of them than these share the words that they read.
_FEW = 25
#: Two headings of lists of ingredients, of which one is of another language.
_PARTS_NAMED = (
    r"(?is)\bingr[ée]dients\s*:.*\b(?:zutaten|ingredientes|ingredienti|ingredi[ëe]nten|ingredienser|ainesosat)\s*:"
    r"|\b(?:zutaten|ingredientes|ingredienti|ingredi[ëe]nten|ingredienser|ainesosat)\s*:.*\bingr[ée]dients\s*:"
    r"|\bzutaten\s*:.*\bingredien(?:ti|tes|ser)\s*:|\bingredien(?:ti|tes|ser)\s*:.*\bzutaten\s*:"
)

#: Declares a rule of all texts: one that is wrong is enough to fail, also where only some of them were asked for.
_rule = partial(rule, block="texts", needs=ANY_TEXT, certain="fails")


@rule(
    title="{attribute} is filled in {language}",
    problem="{attribute} missing in {language}",
    fix="Write the {attribute} in {language}.",
    severity="error",
    dimension="completeness",
    block="texts",
    needs="{attribute}.data",
    certain="passes",
)
def required_text(products: Products, *, attribute: str, language: str) -> Verdict:
    """Customers expect their own language, and markets require it."""
    return missing_data(products, attribute, language=language)


@rule(
    title="{attribute} is filled",
    problem="{attribute} missing",
    fix="Write the {attribute}.",
    severity="error",
    dimension="completeness",
    block="texts",
    needs="{attribute}.data",
    certain="passes",
)
def has_text(products: Products, *, attribute: str) -> Verdict:
    """A text that exists in no language cannot be translated either."""
    return missing_data(products, attribute)


@_rule(
    title="texts that exist in another language exist in {language}",
    problem="Not translated into {language}",
    fix="Translate the text into {language}.",
    severity="error",
    dimension="completeness",
)
def translated(products: Products, *, language: str, attributes: tuple[str, ...] = TEXTS) -> Verdict:
    """A product page in two languages, or with gaps, looks unfinished."""
    # One check for each language of a market: all of them share this table.
    names, filled = _filled_texts(products, attributes)
    languages = TextColumns.of(products).languages
    # Without the language, none is chosen, and `any` of none is False.
    filled_there = filled[:, :, [each == language for each in languages]].any(axis=2)
    missing, attribute = np.nonzero(filled.any(axis=2) & ~filled_there)
    there = _filled_languages(filled[missing, attribute], languages)
    said = pa.array([", ".join(codes) for codes in there.dictionary.to_pylist()], pa.string())
    return Verdict(
        products.any(missing),
        filled.any(axis=(1, 2)),
        Evidence(
            missing,
            pa.array(names, pa.string()).take(pa.array(attribute)),
            language,
            None,
            Message("filled in {language_codes} only", language_codes=there),
            said.take(there.indices),
        ),
    )


@once_per_part
def _filled_texts(products: Products, attributes: tuple[str, ...]) -> tuple[list[str], Mask]:
    """Return attributes by name, and for each product, attribute and language whether there is a text.

    In the order in which a part has them, findings would depend on other products.
    """
    texts = TextColumns.of(products)
    meant = np.flatnonzero(texts.within(attributes))
    places = sorted(np.unique(texts.attribute[meant]), key=texts.attributes.__getitem__)
    filled = np.zeros((len(products), len(places), len(texts.languages)), bool)
    place = np.zeros(len(texts.attributes), int)
    place[places] = np.arange(len(places))
    filled[texts.product[meant], place[texts.attribute[meant]], texts.language[meant]] = True
    # A text without a language is no translation of anything.
    filled[:, :, [not each for each in texts.languages]] = False
    return [texts.attributes[place] for place in places], filled


def _filled_languages(filled: Mask, languages: list[str]) -> pa.DictionaryArray:
    """Return for each row the languages that are filled, by their codes.

    In the order in which a part has them, the words would depend on other products.
    """
    # Few combinations of languages occur: each is sorted once, not for each text.
    packed = np.packbits(filled, axis=1)
    kind = pa.binary(packed.shape[1])
    rows = pa.Array.from_buffers(kind, len(packed), [None, pa.py_buffer(packed)]).dictionary_encode()
    codes = []
    for combination in rows.dictionary.to_pylist():
        there = np.unpackbits(np.frombuffer(combination, np.uint8), count=len(languages)).astype(bool)
        codes.append(sorted(np.array(languages)[there].tolist()))
    return pa.DictionaryArray.from_arrays(rows.indices, pa.array(codes, pa.list_(pa.string())))


@_rule(
    title="texts in different languages differ",
    problem="Same text in two languages",
    fix="Translate the text; one of the two is a copy in the wrong language.",
    severity="warning",
    dimension="accuracy",
    exact=False,
)
def translations_differ(
    products: Products, *, letters: int = 40, attributes: tuple[str, ...] = ()
) -> Verdict:
    """A copy in place of a translation fills the field, but customers cannot read it; short texts may be names."""
    texts = TextColumns.of(products)
    long, labelled = (texts.length >= letters)[texts.wording], _have_language(texts)
    judged = long & texts.within(attributes) & labelled
    # Public names often stay the same across borders, so they are compared only if a profile names them.
    judged &= ~texts.within(_PUBLIC_NAMES) | bool(attributes)
    rows = np.flatnonzero(judged)
    place = texts.product[rows] * len(texts.attributes) + texts.attribute[rows]
    # One number for product, attribute and wording: equal numbers are copies.
    same = place * max(1, len(texts.texts)) + texts.wording[rows]
    others: dict[int, set[int]] = defaultdict(set)
    shared = np.flatnonzero(occurrences(same) > 1)
    # Letters are counted in these few texts only: a list of numbers is the same in all languages.
    shared = shared[pc.count_substring_regex(texts.texts_of(rows[shared]), r"\pL").to_numpy() >= letters]
    for one, language in zip(same[shared].tolist(), texts.language[rows[shared]].tolist(), strict=True):
        others[one].add(language)
    wrong, alike = np.zeros(len(judged), bool), []
    for row, one in zip(rows[shared].tolist(), same[shared].tolist(), strict=True):
        if rest := others[one] - {int(texts.language[row])}:
            wrong[row] = True
            alike.append(tuple(sorted(texts.languages[each] for each in rest)))
    reason = Message("the same as in {language_codes}", language_codes=alike)
    return texts.verdict(wrong, reason, judged, [", ".join(codes) for codes in alike])


@_rule(
    title="every text states its language",
    problem="Text without a language",
    fix="State the language of the text.",
    severity="warning",
    dimension="completeness",
    source="ISO 639",
)
def texts_say_their_language(products: Products) -> Verdict:
    """A text without a language is shown to everybody or to nobody."""
    texts = TextColumns.of(products)
    # A code that no language has ("xx", "german") is as good as none.
    known = np.array([_is_language(one) for one in texts.languages], bool)
    found = np.flatnonzero(~known[texts.language])
    # Texts sent as plain strings are scalars, since nothing in them states a language.
    silent = _without_language(products)
    stated = pd.DataFrame(
        {
            "product": texts.product[found],
            "attribute": [texts.attributes[place] for place in texts.attribute[found]],
            "language": [texts.languages[place] or None for place in texts.language[found]],
            "value": texts.texts_of(found).to_pylist(),
        }
    )
    every = pd.concat([stated, silent], ignore_index=True)
    reason = Message("names no language that exists")
    return Verdict(
        products.any(every["product"]),
        products.any(np.concatenate([texts.product, silent["product"]])),
        Evidence(every["product"], every["attribute"], every["language"], every["value"], reason),
    )


def _without_language(products: Products) -> pd.DataFrame:
    """Return the texts without any language, which are kept as scalars."""
    rows = products.arrow("scalars", "attribute", "value")
    found = rows.filter(pc.is_in(rows["attribute"], pa.array([f"{name}.data" for name in TEXTS])))
    frame: pd.DataFrame = found.filter(pa.array(filled_values(found["value"].combine_chunks()))).to_pandas()
    return frame.assign(attribute=frame["attribute"].str.removesuffix(".data"))


def _is_language(code: str) -> bool:
    return known_language_tag(code) is not None


@_rule(
    title="a text occurs once in each language",
    problem="Several texts in one language",
    fix="Keep the right one; receivers use any of them.",
    severity="warning",
    dimension="uniqueness",
)
def one_text_per_language(products: Products, *, attributes: tuple[str, ...] = TEXTS) -> Verdict:
    """With two names in one language, each receiver shows a different one."""
    texts = TextColumns.of(products)
    judged = texts.within(attributes)
    # One number for product, attribute and language: counted once, whatever the number of texts.
    place = texts.product * len(texts.attributes) + texts.attribute
    place = place * max(1, len(texts.languages)) + texts.language
    several = judged & (occurrences(np.where(judged, place, -1)) > 1)
    every: dict[int, list[str]] = defaultdict(list)
    rows = np.flatnonzero(several)
    for one, text in zip(place[rows].tolist(), texts.texts_of(rows).to_pylist(), strict=True):
        every[one].append(text)
    # All of them: another text beside the one that was accepted is another question.
    compared = [compared_with(*sorted(every[one])) for one in place[rows].tolist()]
    return texts.verdict(several, Message("one of several in this language"), judged, compared)


def _texts_of(texts: TextColumns, attributes: tuple[str, ...]) -> Mask:
    """Say which texts are those of some attributes; by default all but public names: a brand makes them foreign."""
    return texts.within(attributes) if attributes else ~texts.within(_PUBLIC_NAMES)


def _have_language(texts: TextColumns) -> Mask:
    """Say which texts state a language, known or not."""
    return np.array([bool(one) for one in texts.languages], bool)[texts.language]


@_rule(
    title="a text is in the language that it says",
    problem="Text is not in the language that it says",
    fix="Put the text under its own language, and write the one that is missing.",
    severity="warning",
    dimension="accuracy",
    source="Open Food Facts, data quality: the largest class of errors",
    exact=False,
)
def in_stated_language(
    products: Products, *, confidence: float = 0.98, letters: int = 30, attributes: tuple[str, ...] = ()
) -> Verdict:
    """Customers who read French get German: worse than nothing, since it counts as filled.

    The language is detected from the words, where a text has enough letters. A text of which another language than the
    stated one is likelier, but not sure, is unknown; so is a text in a language that prodex does not know, whose
    label it can neither confirm nor deny. Public names are not judged unless they are asked for: a foreign brand
    makes them foreign.
    """
    texts = TextColumns.of(products)
    stated = np.array([place_of_language(one) for one in texts.languages], np.int64)[texts.language]
    asked = _texts_of(texts, attributes) & _have_language(texts)
    # 0.98 and 30 letters: of 56 such findings in real data, 53 were right.
    detected = _Detected.of(products, attributes, letters).whole
    judged = asked & (detected.letters >= letters)[texts.wording]
    spoken = detected.language[texts.wording]
    differs = judged & ((stated < 0) | ~detected.likely[texts.wording, stated])
    wrong = differs & (stated >= 0) & (detected.confidence >= confidence)[texts.wording]
    rows = np.flatnonzero(wrong)
    # Not how sure it is, which is a matter of the words that prodex knows.
    codes = [known_languages()[place] if place >= 0 else "" for place in spoken[rows]]
    sure = 100 * detected.confidence[texts.wording[rows]]
    reasons = [_read_as(code, percent) for code, percent in zip(codes, sure.tolist(), strict=True)]
    verdict = texts.verdict(wrong, reasons, judged, codes)
    # Doubts below the confidence are no pass: such a product is unknown.
    unclear = products.any(texts.product[differs]) & ~verdict.fails
    return replace(verdict, fails=pd.arrays.BooleanArray(verdict.fails, unclear))


@_rule(
    title="a text is in one language",
    problem="Several languages in one text",
    fix="Put each language into a text of its own.",
    severity="warning",
    dimension="accuracy",
    exact=False,
    source="GDSN: a text is repeated for each language, with its languageCode",
)
def text_in_one_language(
    products: Products, *, confidence: float = 0.99, letters: int = 40, attributes: tuple[str, ...] = ()
) -> Verdict:
    """A text for all customers is one that each reads to a part only, and its language is one of several.

    A text is cut into sentences and pieces of {letters} letters and more, and the language of each is detected. Public
    names are not judged unless they are asked for.
    """
    # 0.99 and 40 letters: 68 of 20,599 real products, of which 12 were read, and all had texts in several languages.
    texts = TextColumns.of(products)
    meant = _texts_of(texts, attributes) & (texts.length >= 2 * letters)[texts.wording]
    used = np.zeros(len(texts.texts), bool)
    used[texts.wording[meant]] = True
    # Few texts name their parts or have words of two languages: only these are cut up.
    suspects = np.flatnonzero(used & _Detected.of(products, attributes, letters).may_be_several)
    found = products.remember(
        ("spoken", letters, attributes),
        lambda: _language_confidences(texts.texts.take(pa.array(suspects)), letters),
    )
    several: dict[int, tuple[str, ...]] = {}
    for place, spoken in zip(suspects.tolist(), found, strict=True):
        sure = [name for name, its in spoken.items() if its >= confidence]
        if len(sure) > 1:
            several[place] = tuple(sure)
    marked = np.zeros(len(texts.texts), bool)
    marked[list(several)] = True
    wrong = meant & marked[texts.wording]
    read_as = [several[one] for one in texts.wording[wrong].tolist()]
    reason = Message("reads as {language_codes}", language_codes=read_as)
    return texts.verdict(wrong, reason, meant, [", ".join(codes) for codes in read_as])


def _language_confidences(wordings: pa.Array, letters: int) -> list[dict[str, float]]:
    """Return for each text the languages of its pieces, each with the confidence of its surest piece."""
    pieces, owner = [], []
    for place, text in enumerate(wordings.to_pylist()):
        for piece in _PIECES.split(text):
            # Short pieces are names, codes and amounts, which every language has.
            if sum(map(str.isalpha, piece)) >= letters:
                pieces.append(piece)
                owner.append(place)
    detected = DetectedLanguages.of(pa.array(pieces, pa.string()))
    found: list[dict[str, float]] = [{} for _ in range(len(wordings))]
    for place, language, confidence in zip(owner, detected.language, detected.confidence, strict=True):
        if language >= 0:
            name = known_languages()[language]
            found[place][name] = max(found[place].get(name, 0.0), float(confidence))
    return found


def _read_as(code: str, percent: float) -> Message:
    """Say in which language a text is by its words; without a code it is in none that is known."""
    if code:
        return Message("reads as {language_code}, {percent:.1f}% sure", language_code=code, percent=percent)
    known = known_languages()
    return Message(
        "reads as none of {language_codes}, {percent:.1f}% sure", language_codes=known, percent=percent
    )


@dataclass(frozen=True, eq=False)
class _Detected:
    """Detected languages of a part's texts: detection is expensive, so that checks share the words that were read.

    Attributes
    ----------
    texts
        The texts of the part.
    chosen
        Which wordings were read: those of the attributes that are meant, without very short ones.
    words
        Their words.
    """

    texts: TextColumns
    chosen: Mask
    words: TextWords

    @classmethod
    def of(cls, products: Products, attributes: tuple[str, ...], letters: int) -> Self:
        """Return those of the texts that are meant, for a rule that judges none with fewer letters."""
        fewest = min(letters, _FEW)
        key = ("languages", attributes, fewest)
        return products.remember(key, lambda: cls._read(products, attributes, fewest))

    @classmethod
    def _read(cls, products: Products, attributes: tuple[str, ...], fewest: int) -> Self:
        texts = TextColumns.of(products)
        chosen = np.zeros(len(texts.texts), bool)
        chosen[texts.wording[_texts_of(texts, attributes)]] = True
        chosen &= texts.length >= fewest
        return cls(texts, chosen, TextWords.of(texts.texts.filter(pa.array(chosen))))

    @cached_property
    def whole(self) -> DetectedLanguages:
        """What each wording is in; of those that were not read no letter is known."""
        found, chosen = self.words.detect(), self.chosen
        language, likely = np.full(len(chosen), -1), np.zeros((len(chosen), len(known_languages())), bool)
        confidence, letters = np.zeros((2, len(chosen)))
        language[chosen], confidence[chosen] = found.language, found.confidence
        letters[chosen], likely[chosen] = found.letters, found.likely
        return DetectedLanguages(language, confidence, letters, likely)

    @cached_property
    def may_be_several(self) -> Mask:
        """Which wordings may be in several languages: what begins and what ends them is not in the same."""
        several = np.zeros(len(self.chosen), bool)
        first, last = self.words.ends(_AT_ENDS)
        several[self.chosen] = first.language != last.language
        # Of long texts only the beginning was read.
        long = np.flatnonzero(self.chosen & (self.texts.length > CHARACTERS))
        wordings = self.texts.texts.take(pa.array(long))
        ends = DetectedLanguages.of(pc.utf8_slice_codeunits(wordings, -_AT_ENDS, None))
        several[long] = (
            ends.language != DetectedLanguages.of(pc.utf8_slice_codeunits(wordings, 0, _AT_ENDS)).language
        )
        return several | (self.chosen & is_true(has_match(self.texts.texts, _PARTS_NAMED)))
