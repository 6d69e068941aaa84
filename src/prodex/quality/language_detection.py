"""The language that a text is in, by its words: for millions of product texts, of which most words are known ones.

A word in the list of a language is evidence for this language. Other words are judged by the trigrams of their letters,
as they occur in the lists. `language_words.csv` holds the lists: the words that every sentence needs, and those of
ingredients, households and shelves, of which a product's texts are made. All of them were written for prodex.

Latin names of plants, fish and cultures occur in texts of every language and count for none: `latin_names.csv`.

Ten languages are known. The file has shorter lists of their neighbours as well, so that a text in Catalan is not taken
for Spanish. Unfamiliar words are evidence for a language without any list. Texts of both kinds are in "none of these".
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.locales import short_of
from prodex.once_per_process import once_per_process
from prodex.phrases import unaccented
from prodex.quality.remembered import has_match
from prodex.tables.columns import Rows, is_true

Numbers = npt.NDArray[np.float64]

#: The languages that are detected; the other lists are of neighbours from which they have to be distinguished.
_KNOWN = ("fr", "en", "de", "es", "it", "nl", "pt", "no", "sv", "fi")
#: Norwegian and Danish write most words of a label alike: one language here.
_TAKEN_FOR = {"nb": "no", "nn": "no", "da": "no"}

#: How much a listed word says, how much a trigram does, and the most that all trigrams of a word do (natural logs).
_LISTED, _TRIGRAM, _MOST = 3.0, 0.35, 2.0
#: How much a word without a list says for a language without a list: less than what good trigrams say against it.
_STRANGE = 1.2
_SMOOTHING = 0.3
#: How much likelier a text is in a known language than in one of the others, before it is read.
_RATHER_KNOWN = 0.1
#: Letters from which a word counts as the same without its accents, as in capitals.
_PLAIN = 4
#: A text is as sure as so many words that agree as much, however long it is: half of each of two languages is neither.
_WORDS = 12
#: Where a text may go on in another language: a heading, the code of a language, the end of a sentence or line.
_HEADING = (
    r"(?:[Ii]ngr[eé]dients?|INGR[EÉ]DIENTS?|[Zz]utaten|ZUTATEN|[Ii]ngredient[ei]s?|INGREDIENT[EI]S?"
    r"|[Ii]ngredi[eë]nten|INGREDI[EË]NTEN)\b"
)
_CODE = r"\b[A-Z]{2}\s?[:)]"
_MAY_PART = rf"\S\s*{_HEADING}|[.!?]\s+\p{{L}}|\n|{_CODE}"
_PARTING = re.compile(rf"(?=\b{_HEADING})|(?<=[.!?])\s+(?=[^\W\d_])|(?<=\n)|(?={_CODE})")
#: Confidence and letters from which the language of a section is certain, and the mark of all other sections.
_SURE, _LETTERS, _UNSURE = 0.98, 16, -2
#: What may be written in several ways: all but Latin letters with their usual accents, and the signs around words.
_NOT_COMPOSED = (
    r"[\x{AA}\x{B5}\x{BA}\x{132}\x{133}\x{13F}\x{140}\x{149}"
    r"\x{17F}-\x{1FFF}\x{2070}-\x{20CF}\x{2100}-\x{10FFFF}]"
)
#: Only the beginning of a text is read.
CHARACTERS = 500
#: Texts whose words are looked up together, and those whose scores are summed together, which takes more memory.
_AT_ONCE, _SUMMED = 20_000, 1_000


@dataclass(frozen=True, eq=False)
class DetectedLanguages:
    """What texts are in.

    Attributes
    ----------
    language
        Place in `languages()`, or -1: none of these.
    confidence
        From 0.5, when two languages (or one and none of these) are as likely, to 1.
    letters
        How many letters of the text were read.
    likely
        One column for each of `languages()`: whether nothing else is likelier. A short text can be as good Spanish as
        it is Portuguese; `language` is -1 then.
    """

    language: npt.NDArray[np.int64]
    confidence: Numbers
    letters: Numbers
    likely: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, texts: pa.Array) -> Self:
        """Say for each text which language its words are of.

        >>> texts = pa.array(["Zutaten: Weizenmehl, Zucker, Salz", "Mąka pszenna, cukier, sól", "E330"])
        >>> found = DetectedLanguages.of(texts)
        >>> found.language.tolist(), (found.confidence > 0.98).tolist()
        ([2, -1, -1], [True, True, False])
        """
        starts = range(0, len(texts), _AT_ONCE)
        chunks = [TextWords.of(texts.slice(start, _AT_ONCE)).scores() for start in starts]
        scores = np.concatenate([np.zeros((0, len(_KNOWN) + 1)), *(scores for scores, _ in chunks)])
        letters = np.concatenate([np.zeros(0), *(letters for _, letters in chunks)])
        return cls.by_scores(scores, letters)

    @classmethod
    def by_scores(cls, scores: Numbers, letters: Numbers) -> Self:
        """Return what the words of texts say, of each language and of none, and how many letters they have."""
        ordered = np.partition(scores, -2, axis=1)
        ahead = ordered[:, -1] - ordered[:, -2]
        language = scores.argmax(axis=1)
        language[(language == len(_KNOWN)) | (ahead == 0)] = -1
        likely = scores[:, : len(_KNOWN)] >= ordered[:, -1:]
        return cls(language, 1 / (1 + np.exp(-ahead)), letters, likely)

    @classmethod
    def of_sections(cls, texts: pa.Array) -> tuple[Rows, pa.Array, Self]:
        """Part texts that are in several languages, one after another; all others stay whole.

        Returns
        -------
        places, sections, languages
            Of each section the place of its text, in their order, its own text, and what it is in.

        Examples
        --------
        >>> both = "Zutaten: Weizengrieß, Speisesalz. Ingrédients : semoule de blé, sel de cuisine"
        >>> places, sections, _ = DetectedLanguages.of_sections(pa.array([both, "Zucker"]))
        >>> places.tolist(), sections.to_pylist()[1:]
        ([0, 0, 1], ['Ingrédients : semoule de blé, sel de cuisine', 'Zucker'])
        """
        rows = np.flatnonzero(is_true(has_match(texts, _MAY_PART)))
        parted = {
            row: _pieces(text) for row, text in zip(rows.tolist(), texts.take(rows).to_pylist(), strict=True)
        }
        parted = {row: pieces for row, pieces in parted.items() if len(pieces) > 1}
        found = cls.of(pa.array([piece for pieces in parted.values() for piece in pieces], pa.string()))
        spoken = np.where((found.confidence >= _SURE) & (found.letters >= _LETTERS), found.language, _UNSURE)
        # A language without a list can be distinguished from names and Latin only in longer texts.
        spoken[(spoken == -1) & (found.letters < 2 * _LETTERS)] = _UNSURE
        start, several = 0, {}
        for row, pieces in parted.items():
            own = spoken[start : start + len(pieces)].tolist()
            start += len(pieces)
            if len(set(own) - {_UNSURE}) > 1:
                several[row] = _language_runs(pieces, own)
        whole = texts.to_pylist() if several else []
        if not several:
            return np.arange(len(texts)), texts, cls.of(texts)
        listed = [several.get(row, [text]) for row, text in enumerate(whole)]
        places = np.repeat(np.arange(len(texts)), [len(one) for one in listed])
        parts = pa.array([each for one in listed for each in one], pa.string())
        return places, parts, cls.of(parts)

    def certain(self, confidence: float, letters: int) -> pa.Array:
        """Return the short code of the language of each text of which it is certain, and null of the others.

        Examples
        --------
        >>> texts = pa.array(["Zutaten: Weizenmehl, Zucker, Salz", "E330"])
        >>> DetectedLanguages.of(texts).certain(confidence=0.98, letters=12).to_pylist()
        ['de', None]
        """
        is_sure = (self.confidence >= confidence) & (self.letters >= letters)
        place = np.where(is_sure & (self.language >= 0), self.language, len(_KNOWN))
        return pa.array([*_KNOWN, None], pa.string()).take(pa.array(place))


def known_languages() -> tuple[str, ...]:
    """Return the languages that are known, as short codes; "no" includes Danish."""
    return _KNOWN


def place_of_language(language: str) -> int:
    """Return the place of a language among those that are known, or -1.

    >>> codes = known_languages()
    >>> codes[place_of_language("fra-FR")], codes[place_of_language("da")], place_of_language("ca")
    ('fr', 'no', -1)
    """
    short = short_of(language)
    short = _TAKEN_FOR.get(short, short)
    return known_languages().index(short) if short in known_languages() else -1


def is_familiar(word: str) -> bool:
    """Say whether a word, in small letters and without accents, is in the list of any language.

    >>> is_familiar("farine"), is_familiar("mustgard")
    (True, False)
    """
    return word in _listed_words()


@once_per_process
def _listed_words() -> frozenset[str]:
    return frozenset(unaccented(word) for words in _word_lists().values() for word in words)


def _pieces(text: str) -> list[str]:
    """Return the sentences and lists of a text; what is too short to have a language belongs to the piece before it."""
    pieces = [""]
    for piece in _PARTING.split(text):
        if sum(map(str.isalpha, pieces[-1])) < _LETTERS:
            pieces[-1] += piece
        else:
            pieces.append(piece)
    if len(pieces) > 1 and sum(map(str.isalpha, pieces[-1])) < _LETTERS:
        pieces[-2:] = ["".join(pieces[-2:])]
    return pieces


def _language_runs(pieces: list[str], spoken: list[int]) -> list[str]:
    """Return runs of pieces in one language; uncertain ones belong to the piece before them."""
    runs, last = [""], _UNSURE
    for piece, language in zip(pieces, spoken, strict=True):
        if _UNSURE not in (language, last) and language != last:
            runs.append("")
        runs[-1] += piece
        last = last if language == _UNSURE else language
    return runs


@dataclass(frozen=True, eq=False)
class TextWords:
    """The words with which texts begin: read once, they say what whole texts are in and what their ends are in.

    Attributes
    ----------
    size
        Number of texts.
    own, used, length
        Of each word, in the order of the texts: its text, its place among the distinct words, its number of letters.
    speaks
        One row for each distinct word: how much it speaks for the language of each list.
    """

    size: int
    own: npt.NDArray[np.int64]
    used: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]
    speaks: npt.NDArray[np.float32]

    @classmethod
    def of(cls, texts: pa.Array) -> Self:
        """Read the words of texts: of their first characters, of which there may be 500."""
        beginnings = pc.utf8_lower(_composed(pc.utf8_slice_codeunits(texts, 0, CHARACTERS)))
        split = pc.split_pattern_regex(beginnings, r"[^\pL]+")
        encoded = split.flatten().dictionary_encode()
        own = pc.list_parent_indices(split).to_numpy()
        words = encoded.dictionary.to_pylist()
        used = encoded.indices.to_numpy()
        length = np.array([len(word) for word in words], np.int64)[used]
        has_language = (length > 0) & ~_in_latin(words, used, own)
        speaks = np.array([_score(word) for word in words], np.float32)
        return cls(
            len(texts),
            own[has_language],
            used[has_language],
            length[has_language],
            speaks.reshape(len(words), len(_word_lists()) + 1),
        )

    def detect(self) -> DetectedLanguages:
        """Say for each text which language its words are of."""
        return DetectedLanguages.by_scores(*self.scores())

    def ends(self, letters: int) -> tuple[DetectedLanguages, DetectedLanguages]:
        """Say the same of the words at the beginning and at the end, up to so many letters of each half."""
        every = np.bincount(self.own, self.length, self.size)
        # Letters of the same text before a word, and behind it.
        summed = np.cumsum(self.length)
        first = np.searchsorted(self.own, np.arange(self.size))
        before = summed - self.length - np.append(summed - self.length, 0)[first][self.own]
        half = np.minimum(every / 2, letters)[self.own]
        behind = every[self.own] - before - self.length
        return self._only(before < half).detect(), self._only(behind < half).detect()

    def _only(self, words: npt.NDArray[np.bool_]) -> Self:
        return replace(self, own=self.own[words], used=self.used[words], length=self.length[words])

    def scores(self) -> tuple[Numbers, Numbers]:
        """Return a row for each text, with a column for each known language and one for all others; and its letters."""
        count = np.bincount(self.own, minlength=self.size)
        sums = np.zeros((self.size, self.speaks.shape[1]))
        filled, first = np.unique(self.own, return_index=True)
        for start in range(0, len(filled), _SUMMED):
            some = slice(start, start + _SUMMED)
            begin, end = first[start], np.append(first, len(self.own))[min(start + _SUMMED, len(filled))]
            sums[filled[some]] = np.add.reduceat(
                self.speaks[self.used[begin:end]], first[some] - begin, axis=0
            )
        sums *= (np.minimum(count, _WORDS) / np.maximum(count, 1))[:, None]
        known, others = sums[:, : len(_KNOWN)], sums[:, len(_KNOWN) :].max(axis=1) - _RATHER_KNOWN
        letters = np.bincount(self.own, self.length, self.size).astype(float)
        return np.column_stack([known, others]), letters


def _composed(texts: pa.Array) -> pa.Array:
    """Return texts whose letters are written in one way: "é" as one character, and "ﬁ" as two letters."""
    rows = pa.array(is_true(has_match(texts, _NOT_COMPOSED)))
    if not pc.any(rows).as_py():
        return texts
    return pc.replace_with_mask(texts, rows, pc.utf8_normalize(texts.filter(rows), "NFKC"))


def _in_latin(
    words: list[str], used: npt.NDArray[np.int64], own: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Say which words are Latin names: of a genus and a species, or of a genus that is no word of a language."""
    genera, epithets = _latin()
    # The last value is for what follows the last word.
    genus = np.array([*(word in genera for word in words), False])[used]
    if not genus.any():
        return genus
    epithet = np.array([*(word in epithets for word in words), False])[used]
    foreign = np.array([*(word not in _languages_by_word() for word in words), False])[used]
    follows = np.zeros(len(used), bool)
    follows[1:] = genus[:-1] & epithet[1:] & (own[1:] == own[:-1])
    named = np.zeros(len(used), bool)
    named[:-1] = follows[1:]
    return np.asarray(named | follows | (genus & foreign))


@once_per_process
def _latin() -> tuple[frozenset[str], frozenset[str]]:
    """Return the genera and the epithets of Latin names."""
    text = resources.files("prodex.quality").joinpath("latin_names.csv").read_text("utf-8")
    words: dict[str, set[str]] = {"genus": set(), "epithet": set()}
    for row in csv.DictReader(text.splitlines(), delimiter=";"):
        words[row["of"]] |= set(row["words"].split())
    return frozenset(words["genus"]), frozenset(words["epithet"])


@lru_cache(maxsize=2**18)
def _score(word: str) -> Numbers:
    """Say how much a word speaks for the language of each list, and for one without a list."""
    score = np.zeros(len(_word_lists()) + 1)
    listed = _languages_by_word().get(word)
    if listed is not None:
        score[listed] = _LISTED
    elif not _is_latin(word):
        score[-1] = _LISTED
    else:
        places, likely = _trigrams()
        found = [places[one] for one in _trigrams_of(word) if one in places]
        score[:-1] = np.clip(_TRIGRAM * likely[found].sum(axis=0), -_MOST, _MOST)
        score[-1] = _STRANGE
    return score


def _is_latin(word: str) -> bool:
    """Say whether a word is in the script of all the lists."""
    return all(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in word)


@once_per_process
def _word_lists() -> dict[str, frozenset[str]]:
    """Return the words of each language, the known ones first."""
    text = resources.files("prodex.quality").joinpath("language_words.csv").read_text("utf-8")
    words: dict[str, frozenset[str]] = dict.fromkeys(_KNOWN, frozenset())
    for row in csv.DictReader(text.splitlines(), delimiter=";"):
        words[row["language"]] = words.get(row["language"], frozenset()) | set(row["words"].split())
    return words


@once_per_process
def _languages_by_word() -> dict[str, list[int]]:
    """Return for each word the places of its lists; longer words are listed without their accents as well."""
    places: dict[str, list[int]] = {}
    plain: dict[str, list[int]] = {}
    for place, words in enumerate(_word_lists().values()):
        for word in words:
            places.setdefault(word, []).append(place)
            if len(word) >= _PLAIN and (bare := unaccented(word)) != word:
                plain.setdefault(bare, []).append(place)
    return plain | places


@once_per_process
def _trigrams() -> tuple[dict[str, int], Numbers]:
    """Return for each trigram its row, and how much more likely it is in each list than in all, as natural logs."""
    counts = [
        Counter(one for word in words for one in _trigrams_of(word)) for words in _word_lists().values()
    ]
    places = {one: row for row, one in enumerate(sorted(set().union(*counts)))}
    seen = np.full((len(counts), len(places)), float(_SMOOTHING))
    for language, count in enumerate(counts):
        seen[language, [places[one] for one in count]] += list(count.values())
    likely = np.log(seen / seen.sum(axis=1, keepdims=True))
    return places, (likely - likely.mean(axis=0)).T


def _trigrams_of(word: str) -> list[str]:
    marked = f"^{word}$"
    return [marked[start : start + 3] for start in range(len(marked) - 2)]
