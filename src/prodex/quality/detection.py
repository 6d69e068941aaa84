"""The language that a text is in, by its words: for millions of product texts, of which most words are known ones.

A word that stands in the list of a language speaks for it; of other words, the trigrams of their letters do, as they
occur in the lists. `language_words.csv` holds the lists: the words that no sentence does without, and those of
ingredients, households and shelves, of which a product's texts are made.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.languages import short_of

Numbers = npt.NDArray[np.float64]

#: Norwegian and Danish write most words of a label alike: one language here.
_TAKEN_FOR = {"nb": "no", "nn": "no", "da": "no"}

#: How much a listed word says, how much a trigram does, and the most that all trigrams of a word do (natural logs).
_LISTED, _TRIGRAM, _MOST = 3.0, 0.35, 2.0
_SMOOTHING = 0.3
#: A text is as sure as so many words that agree as much, however long it is: half of each of two languages is neither.
_WORDS = 12
#: Only the beginning of a text is read.
_CHARACTERS = 500
_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False)
class Detected:
    """What texts are in.

    Attributes
    ----------
    language
        Place in `languages()`.
    confidence
        From 0.5, when two languages are as likely, to 1.
    letters
        How many letters of the text were read.
    """

    language: npt.NDArray[np.int64]
    confidence: Numbers
    letters: Numbers


@cache
def languages() -> tuple[str, ...]:
    """Return the languages that can be told apart, as short codes; "no" stands for Danish as well."""
    return tuple(_words())


def place_of(language: str) -> int:
    """Return the place of a language among those that can be told apart, or -1.

    >>> languages()[place_of("fra-FR")], languages()[place_of("da")], place_of("ca")
    ('fr', 'no', -1)
    """
    short = short_of(language)
    short = _TAKEN_FOR.get(short, short)
    return languages().index(short) if short in languages() else -1


def detect(texts: pa.Array) -> Detected:
    """Say for each text which language its words are of.

    >>> found = detect(pa.array(["Zutaten: Weizenmehl, Zucker, Salz", "Farine de blé, sucre, sel", "E330"]))
    >>> [languages()[place] for place in found.language[:2]], (found.confidence > 0.98).tolist()
    (['de', 'fr'], [True, True, False])
    """
    starts = range(0, len(texts), _AT_ONCE)
    chunks = [_scores(texts.slice(start, _AT_ONCE)) for start in starts]
    scores = np.concatenate([np.zeros((0, len(languages()))), *(scores for scores, _ in chunks)])
    letters = np.concatenate([np.zeros(0), *(letters for _, letters in chunks)])
    ordered = np.partition(scores, -2, axis=1)
    ahead = ordered[:, -1] - ordered[:, -2]
    return Detected(scores.argmax(axis=1), 1 / (1 + np.exp(-ahead)), letters)


def _scores(texts: pa.Array) -> tuple[Numbers, Numbers]:
    """Return one row for each text with one column for each language, and the letters of each text."""
    beginnings = pc.utf8_lower(pc.utf8_slice_codeunits(texts, 0, _CHARACTERS))
    split = pc.split_pattern_regex(beginnings, r"[^\pL]+")
    encoded = split.flatten().dictionary_encode()
    own = pc.list_parent_indices(split).to_numpy()
    words = encoded.dictionary.to_pylist()
    used = encoded.indices.to_numpy()
    length = np.array([len(word) for word in words], np.int64)[used]
    used, own, length = used[length > 0], own[length > 0], length[length > 0]
    each = np.array([_score(word) for word in words]).reshape(-1, len(languages()))
    count = np.bincount(own, minlength=len(texts))
    sums = [np.bincount(own, each[used, place], len(texts)) for place in range(len(languages()))]
    scores = np.stack(sums, axis=1) * (np.minimum(count, _WORDS) / np.maximum(count, 1))[:, None]
    return scores, np.bincount(own, length, len(texts)).astype(float)


@lru_cache(maxsize=2**18)
def _score(word: str) -> tuple[float, ...]:
    """Say how much a word speaks for each language, more than for all of them."""
    listed = np.array([word in words for words in _words().values()], float)
    if listed.any():
        return tuple(_LISTED * (listed - listed.mean()))
    spoken = np.zeros(len(listed))
    for one in _cut(word):
        spoken = spoken + _TRIGRAM * _trigrams().get(one, 0.0)
    return tuple(np.clip(spoken - spoken.mean(), -_MOST, _MOST))


@cache
def _words() -> dict[str, frozenset[str]]:
    """Return the words of each language."""
    text = resources.files("prodex.quality").joinpath("language_words.csv").read_text("utf-8")
    words: dict[str, frozenset[str]] = {}
    for row in csv.DictReader(text.splitlines(), delimiter=";"):
        words[row["language"]] = words.get(row["language"], frozenset()) | set(row["words"].split())
    return words


@cache
def _trigrams() -> dict[str, Numbers]:
    """Return for each trigram how much more likely it is in each language than in all, as natural logs."""
    counts = [Counter(one for word in words for one in _cut(word)) for words in _words().values()]
    every = sorted(set().union(*counts))
    seen = np.array([[count[one] for one in every] for count in counts]) + _SMOOTHING
    likely = np.log(seen / seen.sum(axis=1, keepdims=True))
    return dict(zip(every, (likely - likely.mean(axis=0)).T, strict=True))


def _cut(word: str) -> list[str]:
    marked = f"^{word}$"
    return [marked[start : start + 3] for start in range(len(marked) - 2)]
