"""The allergens that a list of ingredients names, in seven languages: words of the 14 groups, and what only sounds so.

The words are in `allergens.csv`: lower case, without accents (œ is oe, ß is ss), `*` for the rest of a compound
word. `allergen_phrases.tsv` holds regular expressions for folded texts (`text_normalization.py`), `*` for those of
every language, `-` for those of other languages than these:

- `begins`: where a list of ingredients begins, whatever is before it; `joins`: a word that a line parts;
- `sounds`: named like an allergen, with what is left of it ("lait de coco" is coco); `word`: the same inside a word;
- `shortens`: an abbreviation, whose dot ends no sentence;
- `perhaps`: may be in it by chance ("traces of ..."); `free`: is not in it ("sans ...");
- `claimed`: a list of what products claim to be free from;
- a group: a name of several words;
- `cereal`: made of a cereal with gluten that is not named ("semolina", "malt");
- `maybe` with a group: mostly made of it, which is not named there ("starch", "lecithin", "mayonnaise");
- `listing`: words that a list of allergens consists of besides their names;
- `starchy`: what breads and biscuits without gluten are made of;
- `plant`, `harmless`, `link`, `adjective`: parts of other expressions: what flour is made of, what else syrups are made
  of, "from", "dried".

In them, `{rest}` is the rest of the sentence or, within brackets, of what they enclose; `{item}` the rest up to the
next comma; `{clause}` the same and also what is before it; `{sentence}` the whole sentence; `{without}` that or a whole
list of allergens ("free from milk, egg and nuts"); `{plant}` the row `plant` of the language.

`no_ingredients.tsv` holds expressions of what is no list of ingredients: a reference to the pack, preparation,
nutrients, an address, praise. Those for `finding` are sure enough for a rule of their own; those for `list` say that
nobody can conclude from the words around them what is in the product.

`allergen_exemptions.tsv` holds what Annex II exempts, by the number that it has there: a product and the allergen that
it is made of. They are found in either order, with words between them or brackets ("glucose syrup (wheat, maize)",
"Weizenglukosesirup", "sirop de glucose de blé"), and only whole: "malt extract (barley)" is no glucose syrup.

A nutrition table, an address, a way of cooking, or "see packaging" may be given in place of the ingredients, and so may
a list that a machine could not read. A rule that concludes from the absence of a word has to know that the text is a
list.

`ingredient_words.tsv` holds what food is made of in seven languages, folded (`text_normalization.py`), with `*` for the
beginning or end of other words. It need not be whole: a list is known by most of its items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial, reduce
from types import MappingProxyType
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.packs import (
    MARK,
    Mask,
    Remembered,
    Rows,
    encoded,
    folded,
    has_match,
    is_familiar,
    is_true,
    once_per_process,
)
from prodex_food.vocabulary import (
    COMPOUNDING,
    GROUPS,
    LANGUAGES,
    LONGEST,
    ListReading,
    begins_phrase,
    knows,
    meaning_of,
    named_after,
    read_list,
    without_letter,
    words_of,
)
from prodex_food.words import rows_of, table_words

#: Languages in which a noun before another one describes it: "wheat starch".
_NOUNS_BEFORE = ("en", *COMPOUNDING)
_EVERY_LANGUAGE = "*"
#: Languages without words here: their warnings are known, since words of others are looked for in their texts.
_OTHER_LANGUAGES = "-"

#: Between words: a number parts them as well ("lait2%").
_NO_WORD = r"[^a-z\x{DF}-\x{1FFF}-]+"
#: A sentence and the brackets in it, up to its dot or up to the bracket that encloses it. A bracket may lack its end.
_REST = r"(?:[^.;()\[\]{}]|\([^()]*(?:\)|$)|\[[^\[\]]*(?:\]|$))*"
#: A list whose commas were written as semicolons: after a colon all of the sentence, else a last word or two.
_REST_AND_LISTS = rf"(?:(?:[a-z' ]{{0,20}}:| ?;)(?:{_REST};?)*|{_REST}(?:; ?[a-z-]+(?: [a-z-]+)?(?:\.|$))*)"
#: What the tables call {item}, {clause} and {sentence}: up to the next comma, bracket or dot.
_ITEM = r"[^.,;:()\[\]{}]*"
_CLAUSE = r"[^.,;:()\[\]]*"
_SENTENCE = r"[^.;\[\]{}]*"
_WORD_AND = r"(?:and|or|nor|et|ou|ni|und|oder|noch|en|of|y|o|ed?|ne|nem)"
_AND = rf"(?:,|,? {_WORD_AND})"


@dataclass(frozen=True)
class NamedAllergens:
    """The allergens that texts name.

    Attributes
    ----------
    groups
        For each text, bit n is set if it names group n of `GROUPS`.
    doubtful
        The same of the groups that it may name beside those: starch whose source is not named, and
        words of a text that is no list of ingredients ("add the milk and stir").
    unknown
        For each text the words that nobody knows.
    share
        Which share of the items of texts name an ingredient (`ingredient_shares`); 1 with what may be in it.
    text, word, meaning, indirect
        Every word that names an allergen: the place of its text, the word as it was looked for (folded), the bits of
        its groups, and whether it means a cereal that it does not name ("flour").
    """

    groups: npt.NDArray[np.int32]
    doubtful: npt.NDArray[np.int32]
    unknown: list[tuple[str, ...]]
    share: npt.NDArray[np.float64]
    text: Rows
    word: pa.Array
    meaning: npt.NDArray[np.int32]
    indirect: Mask

    def without(self, texts: Mask) -> NamedAllergens:
        """Return the same where what some texts name is only doubtful."""
        kept = np.flatnonzero(~texts[self.text])
        return replace(
            self,
            groups=np.where(texts, 0, self.groups),
            doubtful=np.where(texts, self.doubtful | self.groups, self.doubtful),
            text=self.text[kept],
            word=self.word.take(pa.array(kept)),
            meaning=self.meaning[kept],
            indirect=self.indirect[kept],
        )


@dataclass(frozen=True)
class _Found:
    """Words that were found in some texts: the places of these, the words, and what each means."""

    text: Rows
    word: pa.Array
    meaning: npt.NDArray[np.int32]
    indirect: bool = False

    def without(self, texts: Collection[int]) -> _Found:
        """Return what was found in other texts than these."""
        kept = np.flatnonzero(~np.isin(self.text, list(texts)))
        return _Found(self.text[kept], self.word.take(pa.array(kept)), self.meaning[kept], self.indirect)


@dataclass(frozen=True)
class _Phrase:
    """An expression, shorter ones that are found in the same texts, and what is left of what it finds."""

    pattern: str
    sign: str
    left: str
    other_sign: str = ""


def named_allergens(
    texts: pa.Array,
    languages: pa.Array | None = None,
    *,
    perhaps: bool = False,
    fold: Callable[[pa.Array], pa.Array] = folded,
    own_words: Mapping[str, int] = MappingProxyType({}),
) -> NamedAllergens:
    """Find the allergens that texts name.

    Parameters
    ----------
    texts
        One text each.
    languages
        The short code of each text's language, whose words count; the words of all languages, where it is missing or
        none of `LANGUAGES`.
    perhaps
        Whether what "may contain" tells counts as well.
    fold
        Folds texts; another function may remember what it folded.
    own_words
        What words mean that nobody else knows, folded: the bits of groups, 0 of what is harmless.

    Examples
    --------
    >>> from prodex_food.vocabulary import names_of
    >>> texts = pa.array(["Farine de blé, lait de coco, noix de muscade.", "sans lait. Peut contenir du soja."])
    >>> [names_of(groups) for groups in named_allergens(texts, pa.array(["fr", "fr"])).groups]
    [['gluten'], []]
    """
    ready = fold(texts)
    groups, doubtful = np.zeros((2, len(texts)), np.int32)
    share = np.ones(len(texts))
    unknown: list[tuple[str, ...]] = [()] * len(texts)
    found = [_Found(np.zeros(0, np.int64), pa.array([], pa.string()), np.zeros(0, np.int32))]
    for spoken, rows in _by_language(languages, len(texts)):
        whole = ready.take(pa.array(rows))
        some, rest = _ingredients(whole, spoken, perhaps)
        words = _Words.of(rest)
        readings = _readings(words, rest, _free_from(whole, spoken), spoken)
        for each in (
            # Of flour that does not say of which cereal it is, this is said first.
            *(() if perhaps else _cereals(rest, spoken)),
            words.that_mean(_named, spoken).without(readings),
            _as_read(readings),
            *_expressions(rest, _by_group("{}", spoken)),
        ):
            np.bitwise_or.at(groups, rows[each.text], each.meaning)
            found.append(replace(each, text=rows[each.text]))
        if not perhaps:
            for each in (
                *_doubtful_names(some, rest, spoken),
                *_dishes(rest, spoken),
                words.that_mean(_resembled, spoken),
            ):
                np.bitwise_or.at(doubtful, rows[each.text], each.meaning)
            for place, reading in readings.items():
                doubtful[rows[place]] |= reading.likely
                unknown[rows[place]] = tuple(one for one in reading.unknown if one not in own_words)
                meant = [(one, own_words[one]) for one in reading.unknown if own_words.get(one)]
                if meant:
                    found.append(_own_found(rows[place], meant))
                    groups[rows[place]] |= _union(bits for _, bits in meant)
            share[rows] = ingredient_shares(rest, spoken, partial(_names_one, languages=spoken))
    return NamedAllergens(
        groups,
        doubtful & ~groups,
        unknown,
        share,
        np.concatenate([each.text for each in found]),
        pa.concat_arrays([each.word for each in found]),
        np.concatenate([each.meaning for each in found]),
        np.concatenate([np.full(len(each.text), each.indirect) for each in found]),
    )


def knows_all_words(
    texts: pa.Array, languages: pa.Array, *, fold: Callable[[pa.Array], pa.Array] = folded
) -> Mask:
    """Say in which texts every word of the ingredients is known in the language of the text.

    >>> knows_all_words(pa.array(["Tomaten, Salz", "tomates, sel"]), pa.array(["de", "de"]))
    array([ True, False])
    """
    ready = fold(texts)
    known = np.ones(len(texts), bool)
    for spoken, rows in _by_language(languages, len(texts)):
        whole = ready.take(pa.array(rows))
        _, rest = _ingredients(whole, spoken, perhaps=False)
        read = _readings(_Words.of(rest), rest, _free_from(whole, spoken), spoken)
        known[rows[np.array([place for place, one in read.items() if one.unknown], np.int64)]] = False
    return known


def only_lists_allergens(texts: pa.Array) -> Mask:
    """Say of which texts every word is known: the name of an allergen, or a word that lists of them consist of.

    Of another list nobody can say what it does not name: "gluten, mleko" names milk.

    >>> only_lists_allergens(pa.array(["Contains: milk, soybeans.", "gluten, mleko", "Voir les ingrédients en gras"]))
    array([ True, False,  True])
    """
    # Words of two letters are "de", "of" and "et", unless they are of another script.
    lists = (set(re.findall(r"[a-z]{3,}|[^\W\d_a-z]+", text)) for text in folded(texts).to_pylist())
    known = [[word in _listing_words() or _named(word, LANGUAGES) for word in words] for words in lists]
    return np.array([bool(words) and all(words) for words in known], bool)


def named_in_any_language(word: str) -> bool:
    """Say whether a folded word names an allergen in any language.

    >>> named_in_any_language("lait"), named_in_any_language("laitue")
    (True, False)
    """
    return bool(_named(word, LANGUAGES))


def as_written(word: str, text: str) -> str:
    """Return a word as the text spells it, or the folded word where the text has it in two parts.

    >>> as_written("oeufs", "Sucre, ŒUFS frais"), as_written("ble", "farine de blé")
    ('ŒUFS', 'blé')
    """
    if len(word) > LONGEST:
        return word
    plain = f" {_even(text)}"
    places: Sequence[int] = range(-1, len(text) + 1)
    if _UNEVEN_WORD.search(word) or "\u0301" in plain:
        plain, places = _plain(plain[1:])
    place = plain.find(word, 1)
    while place >= 0:
        last = place + len(word)
        start, end = places[place], places[last]
        # A letter that is written for two is not parted.
        is_parted = places[place - 1] == start or places[last - 1] == end
        if not is_parted and not _is_letter(text[start - 1 : start]) and not _is_letter(text[end : end + 1]):
            return text[start:end]
        place = plain.find(word, place + 1)
    return word


def _by_language(languages: pa.Array | None, size: int) -> Iterator[tuple[tuple[str, ...], Rows]]:
    """Yield the languages whose words count, each with the texts in it."""
    if languages is None:
        yield LANGUAGES, np.arange(size)
        return
    spoken, language = encoded(languages)
    known = [each in LANGUAGES for each in spoken.to_pylist()]
    language = np.where(np.array([*known, False], bool)[language], language, -1)
    for place in np.unique(language):
        yield (LANGUAGES if place < 0 else (spoken[place].as_py(),)), np.flatnonzero(language == place)


def _ingredients(texts: pa.Array, languages: tuple[str, ...], perhaps: bool) -> tuple[pa.Array, pa.Array]:
    """Return folded texts without what is not in the product, and the same without what is no list of ingredients."""
    texts = _unmarked(texts, languages)
    for use in (
        "shortens",
        "begins",
        "joins",
        "sounds",
        "exempt",
        *(() if perhaps else ("perhaps",)),
        "free",
    ):
        texts = _without_phrases(texts, use, languages)
    return texts, (texts if perhaps else _without_phrases(texts, "other", languages))


@dataclass(frozen=True)
class _Words:
    """The words of folded texts: the place of the text of each, the distinct words, and which of these it is."""

    text: Rows
    distinct: pa.Array
    code: Rows

    @classmethod
    def of(cls, texts: pa.Array) -> Self:
        """Part texts into words."""
        # `utf8_split_whitespace` reads beyond a text that ends in a space, and then now and then keeps this space.
        words = pc.split_pattern(pc.replace_substring_regex(texts, _NO_WORD, " "), " ")
        text = pc.list_parent_indices(words).to_numpy().astype(np.int64)
        return cls(text, *encoded(pc.list_flatten(words)))

    def that_mean(self, meaning: Callable[[str, tuple[str, ...]], int], languages: tuple[str, ...]) -> _Found:
        """Return the words that mean something."""
        meanings = [meaning(word, languages) for word in self.distinct.to_pylist()]
        meant = np.array([*meanings, 0], np.int32)[self.code]
        rows = np.flatnonzero(meant)
        return _Found(self.text[rows], self.distinct.take(pa.array(self.code[rows])), meant[rows])


def _readings(
    words: _Words, texts: pa.Array, free_from: Mapping[int, int], languages: tuple[str, ...]
) -> dict[int, ListReading]:
    """Return what texts say, word by word: of those that have more than names of allergens and harmless words."""
    is_more = [_is_more(word, languages) for word in words.distinct.to_pylist()]
    rows = np.unique(words.text[np.array([*is_more, False], bool)[words.code]]).tolist()
    return {
        row: read_list(text, languages, free_from.get(row, 0), is_certain=languages != LANGUAGES)
        for row, text in zip(rows, texts.take(pa.array(rows, pa.int64())).to_pylist(), strict=True)
    }


def _is_more(word: str, languages: tuple[str, ...]) -> bool:
    """Whether one has to look at the words around a word: a kind, a word of a phrase, or one that nobody knows."""
    meaning = meaning_of(word, languages)
    if meaning.kind or meaning.likely or begins_phrase(word, languages):
        return True
    return not (meaning.is_known or not word or knows(word, languages))


def _free_from(texts: pa.Array, languages: tuple[str, ...]) -> dict[int, int]:
    """Return the bits of the groups from which texts say that the product is free, by their row."""
    free = _phrases("free", languages)
    rows = np.flatnonzero(is_true(has_match(texts, "|".join(one.sign for one in free))))
    found: dict[int, int] = {}
    for row, text in zip(rows.tolist(), texts.take(pa.array(rows)).to_pylist(), strict=True):
        said = " ".join(match[0] for one in free for match in re.finditer(one.pattern, text))
        names = (meaning_of(_FREE.sub("", word), languages) for word in re.findall(r"[^\W\d_-]+", said))
        found[row] = reduce(int.__or__, (one.named for one in names), 0)
    return found


#: What German and Dutch join with the name of what is not in a product.
_FREE = re.compile("(?:frei|vrij)(?:e[rsnm]?)?$")


def _own_found(text: int, meant: Sequence[tuple[str, int]]) -> _Found:
    words, meaning = zip(*meant, strict=True)
    return _Found(np.full(len(words), text), pa.array(words, pa.string()), np.array(meaning, np.int32))


def _as_read(readings: Mapping[int, ListReading]) -> _Found:
    """Return the words and phrases that name an allergen in the texts that were read."""
    found = [(row, words, bits) for row, one in readings.items() for words, bits in one.named]
    rows, words, meaning = zip(*found, strict=True) if found else ((), (), ())
    return _Found(np.array(rows, np.int64), pa.array(words, pa.string()), np.array(meaning, np.int32))


def _named_allergens(words: _Words, texts: pa.Array, languages: tuple[str, ...]) -> Iterator[_Found]:
    """Yield what names an allergen in texts and their words: words first, then phrases."""
    yield words.that_mean(_named, languages)
    yield from _expressions(texts, _by_group("{}", languages))


def _cereals(texts: pa.Array, languages: tuple[str, ...]) -> Iterator[_Found]:
    """Yield what is made of a cereal that is not named there."""
    gluten = 1 << GROUPS.index("gluten")
    for each in _expressions(texts, [(gluten, phrase) for phrase in _phrases("cereal", languages)]):
        yield replace(each, indirect=True)


def _dishes(texts: pa.Array, languages: tuple[str, ...]) -> Iterator[_Found]:
    """Yield what is mostly made of an allergen that is not named there; which words they are is not asked."""
    by_bit: dict[int, list[str]] = {}
    for bit, phrase in _by_group("maybe {}", languages):
        by_bit.setdefault(bit, []).append(phrase.pattern)
    any_of_them = "|".join(pattern for patterns in by_bit.values() for pattern in patterns)
    few = np.flatnonzero(is_true(has_match(texts, any_of_them)))
    read = texts.take(pa.array(few))
    for bit, patterns in by_bit.items():
        rows = few[is_true(has_match(read, "|".join(patterns)))]
        yield _Found(rows, pa.nulls(len(rows), pa.string()), np.full(len(rows), bit, np.int32))


def _by_group(use: str, languages: tuple[str, ...]) -> list[tuple[int, _Phrase]]:
    """Return the expressions of each group, with its bit."""
    return [
        (1 << bit, phrase)
        for bit, group in enumerate(GROUPS)
        for phrase in _phrases(use.format(group), languages)
    ]


def _doubtful_names(texts: pa.Array, ingredients: pa.Array, languages: tuple[str, ...]) -> Iterator[_Found]:
    """Yield what texts name where they list no ingredients: nobody knows whether it is in the product."""
    rows = np.flatnonzero(is_true(pc.not_equal(texts, ingredients)))
    few = texts.take(pa.array(rows))
    for each in _named_allergens(_Words.of(few), few, languages) if len(rows) else ():
        yield replace(each, text=rows[each.text])


def _expressions(texts: pa.Array, named: Sequence[tuple[int, _Phrase]]) -> Iterator[_Found]:
    """Yield where expressions are found, each with what it means."""
    if not named:
        return
    any_of_them = "|".join(phrase.pattern for _, phrase in named)
    few = np.flatnonzero(is_true(has_match(texts, any_of_them)))
    read = list(zip(few.tolist(), texts.take(pa.array(few)).to_pylist(), strict=True))
    for bit, phrase in named if read else ():
        seen = [(place, _first_match(phrase.pattern, each)) for place, each in read]
        rows = np.array([place for place, word in seen if word], np.int64)
        words = pa.array([word for _, word in seen if word], pa.string())
        yield _Found(rows, words, np.full(len(rows), bit, np.int32))


def _unmarked(texts: pa.Array, languages: tuple[str, ...]) -> pa.Array:
    """Resolve marks of emphasis within words: "Voll_milch_" is one word, "de_soja_" are two.

    What is a word without the mark stays one; of all else the mark parts two words.
    """
    rows = is_true(pc.match_substring(texts, MARK))
    if not rows.any():
        return texts
    plain = [
        _MARKED.sub(lambda found: _joined_or_apart(found[0], languages), text)
        for text in texts.filter(pa.array(rows)).to_pylist()
    ]
    return pc.replace_with_mask(texts, pa.array(rows), pa.array(plain, texts.type))


_MARKED = re.compile(rf"[^\W\d_-]*(?:{MARK}+[^\W\d_-]*)+")


@lru_cache(maxsize=2**14)
def _joined_or_apart(marked: str, languages: tuple[str, ...]) -> str:
    joined, apart = marked.replace(MARK, ""), re.sub(f"{MARK}+", " ", marked)
    if _named(joined, languages) or any(named_after(joined, one) != joined for one in languages):
        return joined
    names = any(_named(part, languages) for part in apart.split())
    return apart if names or not is_ingredient(joined, languages) else joined


def _without_phrases(texts: pa.Array, use: str, languages: tuple[str, ...]) -> pa.Array:
    """Replace the phrases of one use."""
    return _replacing(use, languages)(texts) if _phrases(use, languages) else texts


@once_per_process
def _replacing(use: str, languages: tuple[str, ...]) -> Remembered:
    return Remembered(lambda texts: _replaced(texts, _phrases(use, languages)), pa.string())


def _replaced(texts: pa.Array, phrases: Sequence[_Phrase]) -> pa.Array:
    """Replace phrases in those texts alone that have one of them."""

    # Whoever asks remembers what is left of a text, so that nobody asks again whether it has a sign.
    def has(some: pa.Array, sign: str) -> pa.Array:
        return pc.match_substring_regex(some, sign)

    rows = has(texts, "|".join(one.sign for one in phrases))
    few = texts.filter(rows)
    for one in phrases if len(few) else ():
        # Finding out is far quicker than replacing.
        own = has(few, one.sign)
        if one.other_sign and pc.any(own).as_py():
            own = pc.and_(own, has(few, one.other_sign))
        if pc.any(own).as_py():
            replaced = pc.replace_substring_regex(few.filter(own), one.pattern, one.left)
            # Other expressions look for one space between words.
            few = pc.replace_with_mask(few, own, pc.replace_substring_regex(replaced, "  +", " "))
    return pc.replace_with_mask(texts, rows, few)


def _first_match(phrase: str, text: str) -> str:
    match = re.search(phrase, text)
    return match[0].strip(" ,;:.()[]*&/+-") if match else ""


@once_per_process
def _phrases(use: str, languages: tuple[str, ...]) -> tuple[_Phrase, ...]:
    """Return the expressions of one use in some languages."""
    if use == "exempt":
        return tuple(one for language in languages for one in _exemptions(language))
    found = []
    spoken = (*languages, _EVERY_LANGUAGE, *((_OTHER_LANGUAGES,) if languages == LANGUAGES else ()))
    for row in _no_lists() if use == "other" else rows_of("allergen_phrases.tsv", use=use):
        if row["language"] in spoken:
            pattern = sign = row["pattern"]
            for name, meant in (
                ("{rest}", _REST_AND_LISTS),
                ("{item}", _ITEM),
                ("{clause}", _CLAUSE),
                ("{sentence}", _SENTENCE),
            ):
                pattern, sign = pattern.replace(name, meant), sign.replace(name, "")
            if "{without}" in pattern:
                pattern = pattern.replace("{without}", _free_from_pattern(row["language"]))
                sign = sign.replace("{without}", "")
            if "{plant}" in pattern:
                plant = "|".join(each.pattern for each in _phrases("plant", (row["language"],)))
                pattern, sign = pattern.replace("{plant}", plant), sign.replace("{plant}", "")
            # Bounds make a sign no better, and slow to prepare.
            sign = re.sub(r"\{0,\d\d\}\??", "*", sign)
            # What is taken out leaves a gap between words; between sentences, where it was no list.
            left = f" {row['left']} " if use in ("shortens", "sounds", "perhaps", "free") else row["left"]
            found.append(_Phrase(pattern, sign, ". " if use == "other" else left))
    return tuple(found)


def _no_lists() -> list[dict[str, str]]:
    """Return the expressions of what is no list of ingredients, as the other table has its own."""
    return [
        {"use": "other", "language": row["language"], "pattern": row["expression"], "left": ""}
        for row in rows_of("no_ingredients.tsv", use="list")
    ]


def _exemptions(language: str) -> Iterator[_Phrase]:
    """Yield expressions of what Annex II exempts: a product and its allergen, in either order and bracketing."""
    links, adjectives, harmless = (
        "|".join(each.pattern for each in _phrases(use, (language,)))
        for use in ("link", "adjective", "harmless")
    )
    # An apostrophe ends a link as a space does: "sirop de glucose d'orge".
    link, adjective = rf"(?:(?:{links})(?:(?:d')?[ :]+|\b)?)", rf"(?:(?:{adjectives}) )"
    share = r"(?: ?<? ?\d[\d ]*%)?"
    for row in rows_of("allergen_exemptions.tsv", language=language):
        product, source = rf"(?:{row['product']})", rf"(?:{row['source']})(?:-?basis)?"
        described = rf"{product}(?: (?:{adjectives}))*"
        one = rf"{link}?(?:{source}|{harmless}){share}"
        several = rf"{one}(?:(?:{_AND}|,? ?[/&+:]|,? (?:and/or|et/ou|und/oder|y/o|e/o|en/of|e/ou)) ?{one})*"
        named = "contient|contiene|contem|enthalt|bevat|contains"
        of_which = rf"(?: ?[(\[] ?{several} ?[)\]]|,[. ]*(?:{named}) {source}\b)?"
        patterns = [
            # Two sources without brackets: "de maïs et de blé"; after a comma, the next ingredient follows.
            rf"\b{described}{share}(?: ?[:-])? {link}*(?:{harmless}) {_WORD_AND} {link}*{source}\b",
            # And of which of them: "alcool de céréales (blé, orge)".
            rf"\b{described}{share}(?: ?[:-])? {link}*{source}\b{of_which}",
            # "Cereals" before brackets is taken out as a cereal that is named there.
            rf"\b{described}{share}(?: {link})? ?[(\[] ?(?:\. )?(?:{link}? ?: ?)?{several} ?(?:[)\]]|$)",
            rf"\b{source}{share} ?[(\[] ?{link}*{adjective}*{described} ?(?:[)\]]|$)",
            rf"\b{source},? {link}+{described}\b",
        ]
        if language in _NOUNS_BEFORE or row["number"] == "6a":
            patterns.append(rf"\b{source}(?:[- ]?(?:based|basis))?[- ]?{adjective}*{described}\b")
        yield _Phrase("|".join(patterns), product, " ", source)


def _free_from_pattern(language: str) -> str:
    """Return a pattern of what is not in a product: a list of allergens, or else everything up to the next comma."""
    # Were any list taken, "without preservatives, milk and egg" would hide both.
    names = "|".join(each.pattern for each in _phrases("claimed", (language,)))
    one = rf"(?:[a-z']+ )?(?:{names})(?: (?:{_MADE_OF_IT}))?"
    return rf"(?: ?:)?(?: {one}(?:{_AND} {one})*{_AND} {one}\b|{_ITEM})"


#: What follows the name of an allergen in such a list: "fish sauce", "Milchprodukte" is one word.
_MADE_OF_IT = (
    "sauce|products?|produits?|produkte|producten|prodotti|productos|produtos|proteins?|proteines?|proteine|"
    "proteinas?|powder|oil|derivatives?|derives|derivati|derivados"
)


@once_per_process
def _listing_words() -> frozenset[str]:
    return frozenset(word for words in _phrases("listing", LANGUAGES) for word in words.pattern.split())


def _named(word: str, languages: tuple[str, ...]) -> int:
    meaning = meaning_of(word, languages)
    return meaning.named | (meaning.kind if languages != LANGUAGES else 0)


def _names_one(word: str, languages: tuple[str, ...]) -> bool:
    return bool(_named(word, languages))


#: Words that are compared with others letter by letter: among shorter ones, a letter makes another word.
_LONG = 5
#: Letters that machines confuse when they read a label.
_CONFUSED = str.maketrans({"l": "i", "1": "i", "0": "o", "5": "s"})


@lru_cache(maxsize=2**17)
def _resembled(word: str, languages: tuple[str, ...]) -> int:
    """Return the bits of the groups whose words an unknown word resembles: "mustgard", "sulfities", "Iait"."""
    if (
        not 3 <= len(word) <= LONGEST
        or meaning_of(word, languages).named
        or is_ingredient(word, languages)
        or is_familiar(word)
    ):
        return 0
    seen = {word.translate(_CONFUSED), *(without_letter(word) if len(word) >= _LONG else ())}
    return _union(_near(language).get(each, 0) for language in languages for each in seen)


@once_per_process
def _near(language: str) -> Mapping[str, int]:
    """Return the bits of words as machines misread them, and of long ones that lack a letter."""
    near: dict[str, int] = {}
    for group, words in words_of(language).items():
        for word in (each.replace("*", "") for each in words):
            seen = {word.translate(_CONFUSED)} if len(word) > 2 else set()
            for each in seen | (without_letter(word) if len(word) >= _LONG else set()):
                near[each] = near.get(each, 0) | 1 << GROUPS.index(group)
    return near


def _union(groups: Iterable[int]) -> int:
    return reduce(int.__or__, groups, 0)


#: Letters as folded texts have them, one for one.
_ALIKE = str.maketrans("àâäáãåéèêëîïíìôöóòõøûüúùçñÿſ’‘`´", "aaaaaaeeeeiiiioooooouuuucnys''''")
#: What folded texts have more letters for, or fewer: an accent that is a sign of its own, several spaces.
_UNEVEN = re.compile(r"[œæß\u0301]|[\s*_]{2,}|[^\S ]|[*_]")
_LETTERS = {"œ": "oe", "æ": "ae", "ß": "ss", "\u0301": ""}
#: Words that texts may have with such a letter.
_UNEVEN_WORD = re.compile("oe|ae|ss| ")


@lru_cache(maxsize=2**8)
def _even(text: str) -> str:
    """Return a text as words are looked for in it, letter by letter."""
    # This capital alone has two letters in lower case.
    even = text.replace("İ", "I").lower()
    return even.replace("`", "'") if text.isascii() else even.translate(_ALIKE)


@lru_cache(maxsize=2**8)
def _plain(even: str) -> tuple[str, Sequence[int]]:
    """Return such a text with all letters of folded ones, behind a space, and where in it each of its letters is."""
    plain, places, start = [" "], [-1], 0
    for found in _UNEVEN.finditer(even):
        plain += even[start : found.start()], _LETTERS.get(found[0], " ")
        places += [*range(start, found.start()), *[found.start()] * len(plain[-1])]
        start = found.end()
    return "".join([*plain, even[start:]]), [*places, *range(start, len(even) + 1)]


def _is_letter(sign: str) -> bool:
    return sign.isalnum() and not sign.isdecimal()


#: From which share of items that name an ingredient a text is a list, and how many words its items have on average.
LIST, _WORDS = 0.6, 5.0
#: What parts items, and what parts words.
_ITEMS = r"[,;:.()\[\]{}+/]|\s-\s"
_WORD = re.compile(r"[^\W\d_][^\W\d_'-]*|e ?-?\d{3,4}")
_NUMBERED = re.compile(r"e ?-?\d{3,4}")
#: What says nothing of an item: headings, where it is from, how it was grown.
_NEUTRAL = re.compile(
    r"ingredients?|ingredient[ei]s?|ingredienten|zutaten|contains?|contient|enthalt|contiene|bevat|contem|organic|bio"
    r"|biologi\w+|ecologic\w+|natur\w+|artificial|origi\w+|herkunft|herkomst|procedencia|provenance|agriculture|france|eu|ue|non"
    r"|issus?|issues?|de|la|le|l|aus|from|of|or|and|et|und|e|y|en|o|less|following|each|certifi\w+|pur|pure|puro|pura|frais"
    r"|fresh|for|color|colour|as|a|an|max|min|minimum|variable|proportions?"
)
#: An amount that a nutrition table has: lists of ingredients have shares.
_AMOUNT = re.compile(r"\d ?(?:g|mg|ug|mcg|kj|kcal)\b")
#: Signs in place of letters that a machine could not read; folded texts have few other letters.
_LETTER = r"[a-z\x{DF}-\x{1FFF}\x{3040}-\x{9FFF}]"
_UNREAD = rf"[?\x{{FFFD}}¿|~^@${{}}\\=]{_LETTER}|{_LETTER}[@${{}}\\=]|{_LETTER}{_LETTER}\d+{_LETTER}{_LETTER}"


def ingredient_shares(
    texts: pa.Array, languages: tuple[str, ...], names: Callable[[str], bool]
) -> npt.NDArray[np.float64]:
    """Return which share of the items of texts name an ingredient: 0 where they are no items, nan where there are none.

    Parameters
    ----------
    texts
        Folded.
    languages
        The short codes of those whose words count.
    names
        Whether a word names an ingredient all the same: an allergen.

    Examples
    --------
    >>> texts = pa.array(["tomates, eau, sel", "voir sur l'emballage", ""])
    >>> ingredient_shares(texts, ("fr",), lambda word: False)
    array([ 1.,  0., nan])
    """
    split = pc.split_pattern_regex(texts, _ITEMS)
    # Few items are new: "salt" is read once.
    distinct, code = encoded(split.flatten())
    read = np.array(
        [_words_of_item(item, languages, names) for item in distinct.to_pylist()], np.int64
    ).reshape(-1, 2)
    own = pc.list_parent_indices(split).to_numpy()
    words, known = read[code].T
    size = len(texts)
    items, named = np.bincount(own[words > 0], minlength=size), np.bincount(own[known > 0], minlength=size)
    shares = np.full(size, np.nan)
    np.divide(named, items, out=shares, where=items > 0)
    # Where letters were not read, or items are sentences, nobody knows what is missing.
    unread = is_true(has_match(texts, _UNREAD))
    shares[(items > 0) & (unread | (np.bincount(own, words, size) > _WORDS * items))] = 0
    return shares


def _words_of_item(item: str, languages: tuple[str, ...], names: Callable[[str], bool]) -> tuple[int, bool]:
    """Return how many words of an item say something, and whether one of them names an ingredient."""
    words = [word for word in _WORD.findall(item) if not _NEUTRAL.fullmatch(word)]
    named = any(is_ingredient(word, languages) or names(word) for word in words)
    return len(words), named and not _AMOUNT.search(item)


@lru_cache(maxsize=2**17)
def is_ingredient(word: str, languages: tuple[str, ...]) -> bool:
    """Say whether a folded word names something that food is made of.

    >>> is_ingredient("tomaten", ("de",)), is_ingredient("e330", ()), is_ingredient("verpackung", ("de",))
    (True, True, False)
    """
    return bool(_NUMBERED.fullmatch(word)) or any(
        word in table_words("ingredient_words.tsv", language=language) for language in languages
    )


def is_whole_ingredient(word: str, languages: tuple[str, ...]) -> bool:
    """Say the same of words in full: a brand may begin as an ingredient does.

    >>> is_whole_ingredient("rum", ("en",)), is_whole_ingredient("nutella", ("en",))
    (True, False)
    """
    return any(word in table_words("ingredient_words.tsv", language=language).whole for language in languages)
