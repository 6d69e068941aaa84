"""The rule of allergens: those named in the ingredients are listed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.packs import (
    CONSUMER_UNITS,
    FOOD_INFORMATION,
    AttributeTexts,
    CutLengths,
    DetectedLanguages,
    Evidence,
    Mask,
    Message,
    Products,
    Rows,
    Verdict,
    compared_with,
    encoded,
    folded,
    has_match,
    is_true,
    rule,
)
from prodex_food.allergen_detection import (
    as_written,
    knows_all_words,
    named_allergens,
    only_lists_allergens,
)
from prodex_food.cut_lists import are_cut
from prodex_food.food_products import TAKEN_FOR_FOOD_BY, FoodEvidence, food_evidence, is_food
from prodex_food.vocabulary import ALLERGENS, GROUPS, LANGUAGES, bit_of

#: Confidence and letters from which the language of a composition is certain.
_SURE, _LETTERS = 0.98, 12
#: Which share of the items of a list name an ingredient where every word of it is known: the others describe it.
_FEW_ITEMS = 0.3
#: Words of one text that are named: a text with more of them is no list.
_MOST_WORDS = 50
#: Confidence from which it is certain if the label is the same language: two independent signs agree.
_AGREED = 0.9
#: How a list ends that is whole.
_FINISHED = r"[.!]\s*$"
_GLUTEN = 1 << GROUPS.index("gluten")


@rule(
    title="allergens named in the ingredients are listed",
    problem="Allergen of the ingredients not listed",
    fix="Add it to the {listed}, or correct the ingredients if it is not in the product.",
    severity="error",
    dimension="consistency",
    block="food",
    needs=("{composition}.data", "{listed}.data", "GPC.code"),
    scope=CONSUMER_UNITS,
    law=FOOD_INFORMATION,
    article="Art. 9(1)(c), 21 and Annex II",
    cannot_see="Allergens that the list of ingredients does not name.",
    gather=CutLengths.gather,
    prepare=CutLengths.of,
    exact=False,
)
def composition_allergens_listed(
    products: Products, *, composition: str = "composition", listed: str = "allergens", whole: Any
) -> Verdict:
    """People with an allergy filter by the list: an allergen missing from it can kill.

    Words of 14 groups are looked for in English, French, German, Spanish, Italian, Dutch and Portuguese: in the
    language that a text is in, whatever its label says, and in each where a text is in several. What is "free from" or
    "may contain" an allergen does not count, nor what only sounds like one (coconut milk), nor what Annex II exempts
    (wheat glucose syrup). Flour, semolina and malt without their cereal are of one with gluten: where gluten is listed,
    but no cereal, the check is unknown, since the law asks for its name.

    The check is unknown where no allergen that is missing was found, but may be there: the language is uncertain (the
    words of all languages count then), the text was cut or is no list of ingredients, starch does not say of what it is
    made or lecithin of what, something is mostly made of an allergen (mayonnaise), or the list cannot be read.
    """
    # Products that are certainly no food are not read.
    may_be_food = is_food(products)
    made_of = AttributeTexts.of(products, composition).of_products(may_be_food.fillna(True))
    lists = _allergen_lists(products, AttributeTexts.of(products, listed))
    own_words = _own_words(products)
    read = _read_compositions(made_of.texts, products.folded, own_words)
    mentions, is_whole = read.mentions, read.is_whole
    missing = mentions.meaning & ~lists.groups[mentions.product]
    unlisted = products.any(mentions.product[missing > 0])
    fails = unlisted & lists.readable
    perhaps = read.doubtful & ~lists.groups[made_of.product]
    is_whole = is_whole & ~_are_cut(products, composition, made_of.texts, whole) & (perhaps == 0)
    # What cannot be read may name anything.
    is_read = ~products.any(made_of.product[~is_whole]) & ~made_of.otherwise
    # A list of "gluten" does not say of which cereal the flour is.
    is_read &= ~products.any(mentions.product[mentions.indirect & ~lists.names_cereal[mentions.product]])
    # Without the owners nobody knows whose columns are too short.
    is_read &= CutLengths.are_known(products)
    missing[~fails[mentions.product]] = 0
    evidence = _first_mentions(products, made_of.texts, mentions, missing, listed)
    applies = may_be_food & (products.any(made_of.product) | made_of.otherwise)
    unknown = ~fails & (unlisted | ~is_read)
    doubts = _doubts(made_of, read, perhaps, composition)
    return Verdict(pd.arrays.BooleanArray(fails, unknown), applies, evidence, doubts)


def _own_words(products: Products) -> dict[str, int]:
    """Return the words that the profile knows (`[ingredients]`), folded, with the bits of what they name.

    Raises
    ------
    ValueError
        When there is no such group.
    """
    given = json.loads(products.assume.get("ingredients", "{}"))
    if unknown := sorted(given.keys() - {"harmless", *GROUPS}):
        raise ValueError(
            f"[ingredients] has {unknown[0]!r:.40}. Give harmless, or one of {', '.join(GROUPS)}."
        )
    return {
        word: 0 if name == "harmless" else bit_of(name)
        for name, words in given.items()
        for word in folded(pa.array(words, pa.string())).to_pylist()
    }


_UNKNOWN_WORD = Message("nobody knows this word")
_OTHER_LANGUAGE = Message("in a language whose words are not known here")


@cache
def _may_hold(groups: int) -> Message:
    named = [one for bit, one in enumerate(ALLERGENS) if groups >> bit & 1]
    return Message("may hold {allergens}, which it does not name", allergens=named)


def _doubts(
    made_of: AttributeTexts, read: _Compositions, perhaps: npt.NDArray[np.int32], composition: str
) -> Evidence:
    """Return the words of each composition that nobody knows, and what it may hold without naming it."""
    texts, languages = made_of.texts["text"], made_of.texts["language"]
    product, seen, stated, reasons = [], [], [], []
    has_unknown = np.array([bool(words) for words in read.unknown], bool)
    for row in np.flatnonzero((perhaps > 0) | has_unknown | read.is_foreign).tolist():
        text = texts[row].as_py()
        unknown = read.unknown[row]
        said: list[tuple[str | None, Message]] = [
            (as_written(word, text), _UNKNOWN_WORD) for word in unknown[:_MOST_WORDS]
        ]
        if more := len(unknown[_MOST_WORDS:]):
            said.append(
                (
                    None,
                    Message.of_number(
                        "{number} more word is unknown", "{number} more words are unknown", more
                    ),
                )
            )
        if read.is_foreign[row]:
            said.append((None, _OTHER_LANGUAGE))
        elif perhaps[row]:
            said.append((None, _may_hold(int(perhaps[row]))))
        product += [int(made_of.product[row])] * len(said)
        stated += [languages[row].as_py()] * len(said)
        seen += [word for word, _ in said]
        reasons += [reason for _, reason in said]
    return Evidence(np.array(product, np.int64), composition, stated, seen, reasons)


@dataclass(frozen=True)
class _Lists:
    """The allergens that are listed.

    Attributes
    ----------
    groups
        For each product the bits of the groups that its lists name, in whatever language.
    readable
        For which products the lists name nothing else; an absent list names nothing.
    names_cereal
        Of which products the lists name a cereal with gluten, not gluten alone.
    """

    groups: npt.NDArray[np.int32]
    readable: Mask
    names_cereal: Mask


@dataclass(frozen=True)
class _Mentions:
    """Every word of an allergen in the compositions.

    Attributes
    ----------
    product, row, word, meaning, indirect, spoken
        For each the position of its product, the row of its composition, the word, the bits of its groups, whether it
        means a cereal that is not named, and the language in which it was read, or None.
    """

    product: Rows
    row: Rows
    word: pa.Array
    meaning: npt.NDArray[np.int32]
    indirect: Mask
    spoken: pa.Array


def _allergen_lists(products: Products, listed_texts: AttributeTexts) -> _Lists:
    # A dash lists nothing.
    lists = listed_texts.texts.filter(has_match(listed_texts.texts["text"], r"\pL"))
    distinct, code = encoded(lists["text"])
    product = lists["product"].to_numpy()
    groups = np.zeros(len(products), np.int32)
    # "May contain" counts here: the list says it.
    named = named_allergens(distinct, perhaps=True)
    np.bitwise_or.at(groups, product, named.groups[code])
    read = _is_understood(distinct, _readable_languages(DetectedLanguages.of(distinct)))
    is_cereal = is_true(pc.invert(pc.starts_with(named.word, "glut")))
    names_cereal = np.zeros(len(distinct), bool)
    names_cereal[named.text[is_cereal & (named.meaning & _GLUTEN > 0)]] = True
    return _Lists(
        groups,
        ~listed_texts.otherwise & ~products.any(product[~read[code]]),
        products.any(product[names_cereal[code]]),
    )


def _readable_languages(found: DetectedLanguages) -> pa.Array:
    """Return the language of each text, or none where it is uncertain or one whose words are not known."""
    # A wrong language means wrong words: "pan" is bread in Spanish and a pot in English.
    spoken = found.certain(_SURE, _LETTERS)
    return pc.if_else(pc.is_in(spoken, pa.array(LANGUAGES)), spoken, pa.scalar(None, pa.string()))


def _is_in_other_language(found: DetectedLanguages) -> Mask:
    """Say which texts are certainly in a language whose words are not known here."""
    place = found.certain(_SURE, _LETTERS)
    is_none = (found.language < 0) & (found.confidence >= _SURE) & (found.letters >= _LETTERS)
    return is_none | is_true(pc.invert(pc.is_in(pc.fill_null(place, "en"), pa.array(LANGUAGES))))


def _is_understood(texts: pa.Array, spoken: pa.Array) -> Mask:
    """Say which texts name nothing but what was found in them: their language is certain, or every word is known."""
    understood = is_true(spoken.is_valid())
    rows = np.flatnonzero(~understood)
    understood[rows] = only_lists_allergens(texts.take(pa.array(rows)))
    return understood


@dataclass(frozen=True)
class _Compositions:
    """What compositions say.

    Attributes
    ----------
    mentions
        The allergens that they name.
    doubtful
        For each the bits of the groups that it may hold beside those.
    is_whole
        Which are lists in a certain language, of which every word is known.
    unknown
        For each the words that nobody knows.
    is_foreign
        Which are in a language whose words are not known here.
    """

    mentions: _Mentions
    doubtful: npt.NDArray[np.int32]
    is_whole: Mask
    unknown: list[tuple[str, ...]]
    is_foreign: Mask


def _read_compositions(
    compositions: pa.Table, fold: Callable[[pa.Array], pa.Array], own_words: Mapping[str, int]
) -> _Compositions:
    # The same text is looked at once.
    texts, text = encoded(compositions["text"])
    place, parts, detected = DetectedLanguages.of_sections(texts)
    first = np.searchsorted(place, np.arange(len(texts)))
    is_one = np.bincount(place, minlength=len(texts)) == 1
    stated = _stated_languages(compositions["language"], text, place, is_one)
    spoken = _read_in(parts, _readable_languages(detected), stated, fold)
    found = named_allergens(parts, spoken, fold=fold, own_words=own_words)
    # In a language without words here, a word may look like one of another language and mean something else.
    in_other = _is_in_other_language(detected)
    found = found.without(in_other)
    own = place[found.text]
    order = np.argsort(own, kind="stable")
    starts = np.searchsorted(own[order], np.arange(len(texts) + 1))
    counts = starts[text + 1] - starts[text]
    # The words of the first composition, then those of the second ...
    inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    which = order[np.repeat(starts[text], counts) + inside]
    row = np.repeat(np.arange(len(compositions)), counts)
    mentions = _Mentions(
        compositions["product"].to_numpy()[row],
        row,
        found.word.take(pa.array(which)),
        found.meaning[which],
        found.indirect[which],
        spoken.take(pa.array(found.text[which])),
    )
    doubtful, understood, share = (
        np.zeros(len(texts), np.int32),
        np.ones(len(texts), bool),
        np.full(len(texts), np.nan),
    )
    np.bitwise_or.at(doubtful, place, found.doubtful)
    np.logical_and.at(understood, place, _is_understood(parts, spoken))
    unknown: list[tuple[str, ...]] = [()] * len(texts)
    for one, words, is_other in zip(place.tolist(), found.unknown, in_other.tolist(), strict=True):
        unknown[one] += () if is_other else words
    is_foreign = np.zeros(len(texts), bool)
    is_foreign[place[in_other]] = True
    recognised = np.array([not words for words in unknown], bool) & ~is_foreign
    # A section that only warns has no items, so it must not lower the share of the list before it.
    np.fmin.at(share, place, found.share)
    agreed = _is_agreed(detected, first[text], compositions["language"]) & is_one[text]
    is_list = recognised & (share >= _FEW_ITEMS)
    is_whole = (understood[text] | agreed) & is_list[text]
    words_of_rows = [unknown[one] for one in text.tolist()]
    return _Compositions(mentions, doubtful[text], is_whole, words_of_rows, is_foreign[text])


def _stated_languages(stated: pa.ChunkedArray, text: Rows, place: Rows, is_one: Mask) -> pa.Array:
    """Return for each section the language that labels state of its text; none where they state several.

    A section that is one of several says itself in which language it is.
    """
    codes, code = encoded(stated)
    lowest, highest = np.full(len(is_one), len(codes)), np.full(len(is_one), -1)
    np.minimum.at(lowest, text, code)
    np.maximum.at(highest, text, code)
    known = np.array([*(one in LANGUAGES for one in codes.to_pylist()), False], bool)
    of_text = np.where(is_one & (lowest == highest) & known[highest], highest, len(codes))
    return pa.concat_arrays([codes.cast(pa.string()), pa.nulls(1, pa.string())]).take(
        pa.array(of_text[place])
    )


def _read_in(
    texts: pa.Array, certain: pa.Array, stated: pa.Array, fold: Callable[[pa.Array], pa.Array]
) -> pa.Array:
    """Return in which language texts are read: the certain one, else the stated one where it has all of their words."""
    rows = np.flatnonzero(is_true(pc.and_(certain.is_null(), stated.is_valid())))
    if not len(rows):
        return certain
    taken = pa.array(rows)
    has_all = np.zeros(len(texts), bool)
    has_all[rows] = knows_all_words(texts.take(taken), stated.take(taken), fold=fold)
    return pc.if_else(pa.array(has_all), stated, certain)


def _are_cut(products: Products, attribute: str, compositions: pa.Table, lengths: CutLengths) -> Mask:
    """Say which compositions were cut: what is left names less than the product has.

    By how they end; or, seen across products, by their length: a column was too short.
    """
    texts, text = encoded(compositions["text"])
    cut = are_cut(texts, fold=products.folded)[text]
    product = np.asarray(compositions["product"].to_numpy(), np.int64)
    place = np.zeros(len(product), np.int64)
    at_the_length = np.zeros(len(product), bool)
    at_the_length[list(lengths.rows(products, product, [attribute], place, texts, text))] = True
    # A list that is finished has that length by chance.
    return cut | (at_the_length & ~is_true(has_match(texts, _FINISHED))[text])


def _is_agreed(detected: DetectedLanguages, text: Rows, stated: pa.ChunkedArray) -> Mask:
    """Say which compositions are, as far as their few words tell, in the language that their label says.

    The words of all languages were looked for in them all the same.
    """
    read = detected.certain(_AGREED, _LETTERS).take(pa.array(text))
    return is_true(pc.and_(pc.is_in(read, pa.array(LANGUAGES)), pc.equal(stated, read)))


def _first_mentions(
    products: Products,
    compositions: pa.Table,
    mentions: _Mentions,
    missing: npt.NDArray[np.int32],
    listed: str,
) -> Evidence:
    """Return of each product and missing group the first mention, product by product."""
    found = []
    for group in range(len(GROUPS)):
        rows = np.flatnonzero(missing >> group & 1)
        _, first = np.unique(mentions.product[rows], return_index=True)
        found += [(int(mentions.product[row]), int(row), group) for row in rows[first]]
    # The findings of a product follow each other, so that its worklist reads in order.
    found.sort(key=itemgetter(0))
    rows = np.array([row for _, row, _ in found], np.int64)
    product, seen = mentions.product[rows], pa.array(rows)
    stated = compositions["language"].take(pa.array(mentions.row[rows])).to_pylist()
    texts = compositions["text"].take(pa.array(mentions.row[rows])).to_pylist()
    words = [as_written(*both) for both in zip(mentions.word.take(seen).to_pylist(), texts, strict=True)]
    groups = [group for *_, group in found]
    about = (
        groups,
        mentions.indirect[rows].tolist(),
        mentions.spoken.take(seen).to_pylist(),
        stated,
        products.filled(f"lastRequest.{listed}")[product].tolist(),
        food_evidence(products)[product].tolist(),
    )
    reasons = [_reason(*one) for one in zip(*about, strict=True)]
    # Who has accepted a finding has read the ingredients and the list: both have to be read again when they change.
    lists: dict[int, list[str]] = {}
    for row in AttributeTexts.of(products, listed).texts.to_pylist():
        lists.setdefault(row["product"], []).append(row["text"])
    compared = [
        compared_with(GROUPS[group], text, sorted(lists.get(one, ())))
        for (one, _, group), text in zip(found, texts, strict=True)
    ]
    return Evidence(product, listed, stated, words, reasons, compared)


@lru_cache(maxsize=2**12)
def _reason(
    group: int,
    indirect: bool,
    spoken: str | None,
    label: str | None,
    waiting: bool,
    evidence: FoodEvidence,
) -> Message:
    """Say what is not listed and where it is named, and whatever makes that less certain."""
    source = (
        Message("a cereal that the ingredients do not name")
        if indirect
        else Message("named in the ingredients")
    )
    reason = Message("{label}: {said}, not listed", label=ALLERGENS[group], said=source)
    if spoken is None:
        reason = Message("{said} (the language of the text is uncertain)", said=reason)
    elif not label or label.partition("-")[0] != spoken:
        reason = Message("{said} (the text reads as {language_code})", said=reason, language_code=spoken)
    if waiting:
        reason = Message("{said}; a list waits for acceptance", said=reason)
    if evidence in TAKEN_FOR_FOOD_BY:
        food = TAKEN_FOR_FOOD_BY[evidence]
        reason = Message("{said}; taken for food by {evidence}", said=reason, evidence=food)
    return reason
