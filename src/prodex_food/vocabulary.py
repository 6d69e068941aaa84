"""What a word of a list of ingredients is: harmless, an allergen, mostly made of one, or a word that nobody knows.

All tables are folded (`folded`), and were written by hand for this purpose:

- `allergens.csv`: words of the 14 groups of Annex II of Regulation (EU) No 1169/2011, `*` for the rest of a compound;
- `kinds.tsv`: what always holds an allergen without its name (fish by species, cheese by name, breads, nuts, molluscs),
  and what mostly does (mayonnaise, pesto); words, or a phrase of several;
- `harmless_words.tsv`: ingredients that hold none, what describes them, and words between them;
- `harmless_phrases.tsv`: ingredients of several words of which one alone would be an allergen, or nothing;
- `compound_parts.tsv`: what harmless compounds of German and Dutch are made of.

A word that is in none of them is unknown: nobody can say that a list with it holds no allergen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, reduce
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from prodex.packs import Message, once_per_process
from prodex_food.words import TableWords, listed_words, rows_of

LANGUAGES = ("en", "fr", "de", "es", "it", "nl", "pt")
#: Languages that write compounds as one word.
COMPOUNDING = ("de", "nl")

#: What the groups of Annex II of Regulation (EU) No 1169/2011 are called.
ALLERGENS = (
    *(Message("gluten"), Message("crustaceans"), Message("eggs"), Message("fish"), Message("peanuts")),
    *(Message("soya"), Message("milk"), Message("nuts"), Message("celery"), Message("mustard")),
    *(Message("sesame"), Message("sulphites"), Message("lupin"), Message("molluscs")),
)
#: The groups as the tables name them.
GROUPS = tuple(allergen.id for allergen in ALLERGENS)


class Meaning(NamedTuple):
    """What a word or a phrase means in a list of ingredients.

    Attributes
    ----------
    named
        The bits of the groups of allergens that it names.
    kind
        The bits of those that it always holds without naming them: cod is fish.
    likely
        The bits of those of which it is mostly made.
    is_known
        Whether it is any word of an ingredient, or one between them.
    """

    named: int = 0
    kind: int = 0
    likely: int = 0
    is_known: bool = False

    def joined(self, other: Meaning) -> Meaning:
        """Return what both mean together: in two languages, or as parts of one word."""
        return Meaning(
            self.named | other.named,
            self.kind | other.kind,
            self.likely | other.likely,
            self.is_known or other.is_known,
        )


_UNKNOWN, _HARMLESS = Meaning(), Meaning(is_known=True)


def names_of(groups: int) -> list[str]:
    """Return the names of groups that are given as bits.

    >>> names_of(0b1000001)
    ['gluten', 'milk']
    """
    return [name for bit, name in enumerate(GROUPS) if groups >> bit & 1]


def bit_of(group: str) -> int:
    """Return the bit of a group by its name."""
    return 1 << GROUPS.index(group)


#: Letters of the longest word that is looked at: nobody writes a longer one.
LONGEST = 80


@lru_cache(maxsize=2**18)
def meaning_of(word: str, languages: tuple[str, ...]) -> Meaning:
    """Return what a folded word means in a list of ingredients in one of some languages; see also `knows`.

    Examples
    --------
    >>> names_of(meaning_of("cabillaud", ("fr",)).kind), meaning_of("tomates", ("fr",)).is_known
    (['fish'], True)
    >>> meaning_of("abracadabra", ("fr",))
    Meaning(named=0, kind=0, likely=0, is_known=False)
    """
    return _all_of([_in_language(word, language) for language in languages])


@lru_cache(maxsize=2**18)
def knows(word: str, languages: tuple[str, ...]) -> bool:
    """Say whether a folded word is one of an ingredient, or between them, also where one of its letters is wrong.

    >>> knows("champignons", ("fr",)), knows("champigmons", ("fr",)), knows("abracadabra", ("fr",))
    (True, True, False)
    """
    return meaning_of(word, languages).is_known or any(_knows(word, language) for language in languages)


def _knows(word: str, language: str) -> bool:
    meaning = _in_language(word, language)
    return meaning.is_known or (meaning == _UNKNOWN and _is_misspelt(word, language))


def _all_of(meanings: Iterable[Meaning]) -> Meaning:
    """Return what several meanings are together; most words have one or none, and share it with the table."""
    told = [one for one in meanings if one is not _UNKNOWN]
    if not told or all(one is told[0] for one in told):
        return told[0] if told else _UNKNOWN
    return reduce(Meaning.joined, told)


#: Last parts of English words that say what something is like, and not what is in it: "gingerbread-spiced".
_LIKE = frozenset(
    {
        *("spiced", "style", "flavour", "flavoured", "flavor", "flavored", "free", "like", "type", "shaped"),
        *("inspired", "coloured", "colored", "alternative"),
    }
)


def _in_language(word: str, language: str) -> Meaning:
    words = _vocabulary(language)
    # Signs of a hyphenation that begin or end a word, and single letters, are none.
    bare = word.strip("-")
    if len(bare) < 2 or bare in words.harmless:
        return _HARMLESS
    found = words.whole.get(bare, _UNKNOWN)
    if len(bare) > LONGEST and (language in COMPOUNDING or "-" not in bare):
        return found
    if language in COMPOUNDING:
        found = _all_of([found, _compound(bare, language)])
    elif "-" in bare:
        # A hyphen parts words here; German and Dutch join them with it.
        words_of_phrase = tuple(bare.split("-"))
        if meaning := _phrases_in(language).get(" ".join(words_of_phrase)):
            return meaning
        if words_of_phrase[-1] in _LIKE:
            return _HARMLESS
        parts = [_in_language(part, language) for part in words_of_phrase]
        together = reduce(Meaning.joined, parts)
        found = found.joined(
            together._replace(is_known=all(_knows(part, language) for part in words_of_phrase))
        )
    return found


#: Letters from which a word is known with one letter wrong, missing or too many.
_LONG = 7


def _is_misspelt(word: str, language: str) -> bool:
    """Whether a word is a harmless one with one letter wrong: only harmless words are so near."""
    bare = word.strip("-")
    if not _LONG <= len(bare) <= LONGEST:
        return False
    harmless, others = _spellings(language)
    spelled = _spellings_of(bare)
    return _have_one(spelled, harmless) and not _have_one(spelled, others)


@once_per_process
def _spellings(language: str) -> tuple[Codes, Codes]:
    """Return the spellings of long words in order: of harmless ones, and of all others."""
    words = _vocabulary(language)
    return (
        _ordered_codes(word for word in words.harmless if len(word) >= _LONG),
        _ordered_codes(word for word in words.whole if len(word) >= _LONG - 1),
    )


def _ordered_codes(words: Iterable[str]) -> Codes:
    # One length after another: among the longest, short words would take as much room as they.
    alike = groupby(sorted(words, key=len), len)
    return np.sort(np.concatenate([_codes(list(some)) for _, some in alike]))


@lru_cache(maxsize=2**10)
def _spellings_of(word: str) -> Codes:
    return _codes([word])


def _have_one(some: Codes, ordered: Codes) -> bool:
    places = np.searchsorted(ordered, some)
    return bool((ordered[np.minimum(places, len(ordered) - 1)] == some).any())


#: Numbers of 64 bits, which stand for words: as texts, half a million of them would take 70 MB.
Codes: TypeAlias = npt.NDArray[np.uint64]
#: What a letter counts more than the one before it, and the inverse of that modulo 2 ** 64.
_STEP = 0x9E3779B97F4A7C15
_STEP_BACK = np.uint64(pow(_STEP, -1, 2**64))


def _codes(words: Sequence[str]) -> Codes:
    """Return the codes of words, and of what they are without one of their letters (`without_letter`).

    >>> len(set(_codes(["lait"]).tolist()) & set(_codes(["lant"]).tolist()))
    1
    """
    longest = max(map(len, words))
    letters = np.array(words, f"U{longest}").view(np.uint32).reshape(len(words), longest)
    counted = letters * np.cumprod(np.full(longest, _STEP, np.uint64))
    before = np.cumsum(counted, axis=1)
    whole = before[:, -1:]
    # What is behind the missing letter moves to the place before.
    without = before - counted + (whole - before) * _STEP_BACK
    return np.concatenate([whole[:, 0], without[letters > 0]])


def without_letter(word: str) -> set[str]:
    """Return a word and what it is without one of its letters: words alike in one of these differ by a letter."""
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}


def _compound(word: str, language: str) -> Meaning:
    """Return what a compound means: by the words that the table has with an asterisk, else by all of its parts."""
    words = _vocabulary(language)
    after = named_after(word, language)
    found = words.whole.get(after, _UNKNOWN)
    if after in words.compounds:
        found = _all_of([found, *(each for each, some in words.meant_by_compounds if after in some)])
    return found if found.is_known else _made_of(word, language)


@lru_cache(maxsize=2**16)
def _made_of(word: str, language: str, is_first: bool = True) -> Meaning:
    """Return what the parts of a compound mean; the longest part that fits comes first."""
    parts = _vocabulary(language).parts
    for size in range(len(word), 1, -1):
        part = parts.get(word[:size])
        if part is None:
            continue
        if size == len(word):
            if part.may_end:
                return part.meaning
            continue
        if part.may_begin if is_first else part.may_join:
            rest = _made_of(word[size:].lstrip("-"), language, False)
            if rest.is_known:
                return part.meaning.joined(rest)
    return _UNKNOWN


def named_after(word: str, language: str) -> str:
    """Return what a compound word that sounds like an allergen is really named after."""
    for pattern, left in _sounding(language):
        word = pattern.sub(left, word)
    return word


@once_per_process
def _sounding(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = rows_of("allergen_phrases.tsv", use="word")
    return tuple(
        (re.compile(row["pattern"]), row["left"]) for row in rows if row["language"] in (language, "*")
    )


class _Part(NamedTuple):
    """A part of compounds: what it means, and where it may stand."""

    meaning: Meaning
    may_begin: bool
    may_join: bool
    may_end: bool


@cache
def _part(meaning: Meaning, may_begin: bool = True, may_join: bool = True, may_end: bool = True) -> _Part:
    """Return a part, the same for the thousands of words that are alike."""
    return _Part(meaning, may_begin, may_join, may_end)


@dataclass(frozen=True)
class _Vocabulary:
    """The words of one language.

    Attributes
    ----------
    harmless, food
        Words that hold no allergen, and those of them that are an ingredient by themselves.
    whole
        What words mean.
    compounds, meant_by_compounds
        The words with an asterisk, and those of each meaning.
    parts
        What compounds are made of.
    """

    harmless: frozenset[str]
    food: frozenset[str]
    whole: Mapping[str, Meaning]
    compounds: TableWords
    meant_by_compounds: Sequence[tuple[Meaning, TableWords]]
    parts: Mapping[str, _Part]


@once_per_process
def words_of(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return the words that name allergens in a language by group, as the table has them."""
    rows = rows_of("allergens.csv", ";", language=language)
    return {row["group"]: tuple(row["words"].split()) for row in rows}


@once_per_process
def _vocabulary(language: str) -> _Vocabulary:
    whole: dict[str, Meaning] = {}
    compounds: dict[Meaning, set[str]] = {}
    named = ((Meaning(bit_of(group), is_known=True), words) for group, words in words_of(language).items())
    kinds = (row for row in rows_of("kinds.tsv", language=language) if row["words"])
    for meaning, words in (*named, *((_meaning_of_kind(row), row["words"].split()) for row in kinds)):
        for word in words:
            if "*" in word:
                compounds.setdefault(meaning, set()).add(word)
            # Of an allergen, its bare stem is a word that a misspelt one may be.
            if ("*" not in word or meaning.named) and whole.setdefault(word, meaning) is not meaning:
                whole[word] = _all_of([whole[word], meaning])
    return _Vocabulary(
        frozenset(listed_words("harmless_words.tsv", language=language)),
        frozenset(
            word
            for use in ("food", "additive_class")
            for word in listed_words("harmless_words.tsv", language=language, use=use)
        ),
        whole,
        TableWords(set().union(*compounds.values())),
        [(meaning, TableWords(some)) for meaning, some in compounds.items()],
        _parts(language, whole) if language in COMPOUNDING else {},
    )


def _meaning_of_kind(row: Mapping[str, str]) -> Meaning:
    return _kind(row["group"], row["certainty"])


@cache
def _kind(group: str, certainty: str) -> Meaning:
    bit = bit_of(group)
    if certainty == "always":
        return Meaning(kind=bit, is_known=True)
    return Meaning(likely=bit, is_known=True)


#: Letters of the shortest allergen that is looked for in compounds: "ei" begins many words.
_SHORTEST_PART = 4


def _parts(language: str, whole: Mapping[str, Meaning]) -> dict[str, _Part]:
    parts = {
        word: _part(meaning)
        for word, meaning in whole.items()
        if len(word) >= _SHORTEST_PART and "*" not in word and "-" not in word
    }
    for row in rows_of("compound_parts.tsv", language=language):
        for word in row["words"].split():
            before = parts.get(word)
            if before is not None and before.meaning != _HARMLESS:
                continue
            place = row["place"]
            parts[word] = _part(
                _HARMLESS,
                place != "last" or (before is not None and before.may_begin),
                place == "any" or (before is not None and before.may_join),
                place != "first" or (before is not None and before.may_end),
            )
    return parts


#: What parts a list into words, and into items.
_TOKEN = re.compile(r"[a-zß-῿-]*[a-zß-῿][a-zß-῿-]*|[.,;:()\[\]{}/+&]")
_SIGNS = frozenset(".,;:()[]{}/+&")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
#: Items that name a food, from which what stands in brackets is the list of what something is made of.
_LIST = 2
#: Words before a colon with which a text begins, so that they are the name of what is listed behind it.
_HEADING = 8
#: Breads, biscuits and pasta are of whatever cereal their own list names.
_OF_ANY_CEREAL = bit_of("gluten")


@dataclass(frozen=True)
class _Phrases:
    """Phrases of several words: what each means, and how many words those have that begin with a word, as bits."""

    meaning: Mapping[str, Meaning]
    sizes: Mapping[str, int]

    def at(self, tokens: Sequence[str], place: int) -> tuple[int, Meaning]:
        """Return how many words the longest phrase at a place has, and what it means; 0 where there is none."""
        sizes = self.sizes.get(tokens[place], 0)
        while sizes:
            words = tokens[place : place + sizes.bit_length() - 1]
            if (meaning := self.meaning.get(" ".join(words))) is not None:
                return len(words), meaning
            sizes ^= 1 << sizes.bit_length() - 1
        return 0, _UNKNOWN


@once_per_process
def _phrases(languages: tuple[str, ...]) -> _Phrases:
    """Return the phrases of some languages; what is one in several means what it means in any of them."""
    found: dict[str, Meaning] = {}
    for language in languages:
        for phrase, meaning in _phrases_in(language).items():
            if found.setdefault(phrase, meaning) is not meaning:  # hardly any is one in two languages
                found[phrase] = _all_of([found[phrase], meaning])
    sizes: dict[str, int] = {}
    for phrase in found:
        first = phrase.partition(" ")[0]
        sizes[first] = sizes.get(first, 0) | 1 << phrase.count(" ") + 1
    return _Phrases(found, sizes)


@once_per_process
def _phrases_in(language: str) -> Mapping[str, Meaning]:
    harmless = (row["phrase"] for row in rows_of("harmless_phrases.tsv", language=language))
    found = dict.fromkeys(harmless, _HARMLESS)
    kinds: dict[str, Meaning] = {}
    for row in rows_of("kinds.tsv", language=language):
        if phrase := row["phrases"]:
            kinds[phrase] = _all_of([kinds.get(phrase, _UNKNOWN), _meaning_of_kind(row)])
    return found | kinds


def begins_phrase(word: str, languages: tuple[str, ...]) -> bool:
    """Whether a phrase begins with a word."""
    return word in _phrases(languages).sizes


@dataclass(frozen=True)
class ListReading:
    """What a list of ingredients says, word by word.

    Attributes
    ----------
    named
        Words and phrases that name an allergen, with the bits of their groups.
    likely
        The bits of groups of which something is mostly made that does not say of what it is made.
    unknown
        The words that nobody knows.
    """

    named: tuple[tuple[str, int], ...]
    likely: int
    unknown: tuple[str, ...]


@lru_cache(maxsize=2**14)
def read_list(
    text: str, languages: tuple[str, ...], free_from: int = 0, *, is_certain: bool = True
) -> ListReading:
    """Read a folded list of ingredients in one of some languages.

    What is followed by a list of its own is made of what that list names, whatever it is called: "wafers (rice, salt)".
    So is the name before a list, and a kind of which the text says that it is free from it: "gluten-free bread".

    Parameters
    ----------
    text, languages
        The list, and the languages whose words count.
    free_from
        The bits of groups from which the text says that the product is free.
    is_certain
        Whether it is in one of these languages: else a kind is only likely, since another language may mean another
        thing by the word.

    Examples
    --------
    >>> read_list("beurre de cacao, filets de sebaste, pesto (basilic, huile, pignons), zlork", ("fr",))
    ListReading(named=(('sebaste', 8),), likely=0, unknown=('zlork',))
    """
    tokens = _TOKEN.findall(text)
    lists, phrases = _OwnLists(tokens, languages), _phrases(languages)
    named, unknown, likely = [], [], 0
    place = 0
    while place < len(tokens):
        if tokens[place] in _SIGNS:
            place += 1
            continue
        size, meaning = phrases.at(tokens, place)
        is_known = bool(size)
        if not size:
            size, meaning = 1, meaning_of(tokens[place], languages)
            is_known = meaning.is_known or knows(tokens[place], languages)
        elif meaning.kind or meaning.likely:
            # What a phrase holds is named where one of its words says so: "soya protein", and not "sea almonds".
            inside = (meaning_of(one, languages).named for one in tokens[place : place + size])
            meaning = meaning._replace(named=meaning.kind & reduce(int.__or__, inside, 0))
        words = tokens[place] if size == 1 else " ".join(tokens[place : place + size])
        place += size
        kind = meaning.kind & ~free_from
        # What names an allergen, or is harmless, is what it is whatever follows.
        own = _NO_LIST if is_known and not kind and not meaning.likely else lists.of(place)
        if not is_certain:
            likely |= kind | meaning.likely
            kind = 0
        elif own.is_list:
            likely |= kind & ~(_OF_ANY_CEREAL if own.is_of_other_cereal else 0)
            kind = 0
        else:
            likely |= meaning.likely & ~free_from
        if bits := meaning.named | kind:
            named.append((words, bits))
        if not is_known and not own.is_list:
            unknown.append(words)
    return ListReading(tuple(named), likely, tuple(dict.fromkeys(unknown)))


class _OwnList(NamedTuple):
    """What follows a name: whether it is a list of what that is made of, and of a flour without gluten."""

    is_list: bool
    is_of_other_cereal: bool


_NO_LIST = _OwnList(False, False)


class _OwnLists:
    """The lists within a list: behind the name at its beginning, and in brackets behind an item.

    Each is looked at once, however many words stand before it.
    """

    def __init__(self, tokens: Sequence[str], languages: tuple[str, ...]) -> None:
        self._tokens, self._languages = tokens, languages
        self._seen: dict[int, _OwnList] = {}

    @cached_property
    def _heading(self) -> int:
        first = self._next[0]
        return first if first <= _HEADING and self._tokens[first : first + 1] == [":"] else 0

    @cached_property
    def _next(self) -> list[int]:
        """The place of the next sign of each place."""
        return self._next_of(_SIGNS)

    @cached_property
    def _closing(self) -> Mapping[str, list[int]]:
        return {sign: self._next_of(sign) for sign in _CLOSING.values()}

    def _next_of(self, signs: Collection[str]) -> list[int]:
        places = [place for place, one in enumerate(self._tokens) if one in signs]
        return _next_of(places, len(self._tokens))

    def of(self, place: int) -> _OwnList:
        """Return what follows on the words before a place."""
        start = place - 1 if place <= self._heading else self._next[place]
        if start not in self._seen:
            self._seen[start] = self._looked_at(place, start)
        return self._seen[start]

    def _looked_at(self, place: int, start: int) -> _OwnList:
        if place <= self._heading:
            inside = self._tokens[place:]
        else:
            closing = _CLOSING.get(self._tokens[start]) if start < len(self._tokens) else None
            inside = self._tokens[start + 1 : self._closing[closing][start]] if closing else []
        if not inside:
            return _NO_LIST
        # Where it only describes, as in "hoki (raw, frozen, salt)", it is no list.
        items = re.split("[,;]", " ".join(inside))
        is_list = sum(any(map(self._is_food, _TOKEN.findall(item))) for item in items) >= _LIST
        return _OwnList(is_list, is_list and _has_other_cereal(inside, self._languages))

    def _is_food(self, word: str) -> bool:
        if word in _SIGNS:
            return False
        if word in _foods(self._languages):
            return True
        meaning = meaning_of(word, self._languages)
        return bool(meaning.named | meaning.kind | meaning.likely)


@once_per_process
def _foods(languages: tuple[str, ...]) -> frozenset[str]:
    return frozenset().union(*(_vocabulary(language).food for language in languages))


def _next_of(places: Sequence[int], size: int) -> list[int]:
    """Return for each place the next of some others that is not before it; the size where there is none."""
    found, before = [size] * (size + 1), 0
    for place in places:
        found[before : place + 1] = [place] * (place + 1 - before)
        before = place + 1
    return found


def _has_other_cereal(tokens: Sequence[str], languages: Sequence[str]) -> bool:
    """Whether a list names what flour without gluten is made of."""
    text = " ".join(tokens)
    return any(_other_cereals(language).search(text) for language in languages)


@once_per_process
def _other_cereals(language: str) -> re.Pattern[str]:
    found = rows_of("allergen_phrases.tsv", use="starchy", language=language)
    return re.compile(rf"\b(?:{'|'.join(one['pattern'] for one in found)})\b")
