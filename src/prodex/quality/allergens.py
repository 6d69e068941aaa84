"""The allergens that a text names, in six languages: words of the 14 groups, and phrases that only sound like them.

The words stand in `allergens.csv`: lower case, without accents (œ is oe, ß is ss), `*` for the rest of a compound
word; a word after `=` counts only as it is written, accents included. `allergen_phrases.tsv` holds regular expressions:

- `free`: what follows is not in it ("sans ..."); `perhaps`: may be in it by chance ("traces of ...");
- `sounds`: named like an allergen, with what is left of it ("lait de coco" is coco); `word`: the same inside a word;
- a group: a name of several words.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.quality.accents import without_accents
from prodex.quality.columns import Rows, encoded, is_true

LANGUAGES = ("en", "fr", "de", "es", "it", "nl")

_COMPOUNDING = ("de", "nl")

#: Annex II of Regulation (EU) No 1169/2011.
GROUPS = (
    *("gluten", "crustaceans", "eggs", "fish", "peanuts", "soya", "milk"),
    *("nuts", "celery", "mustard", "sesame", "sulphites", "lupin", "molluscs"),
)

#: A word of it, as it counts: letters, digits and hyphens inside.
_NO_WORD = r"[^\pL\pN-]+"


@dataclass(frozen=True)
class Named:
    """The allergens that texts name.

    Attributes
    ----------
    groups
        For each text, bit n stands for group n of `GROUPS`.
    text, word, meaning
        Every word that names an allergen: the place of its text, the word, and the bits of its groups.
    """

    groups: npt.NDArray[np.int32]
    text: Rows
    word: pa.Array
    meaning: npt.NDArray[np.int32]


def names_of(groups: int) -> list[str]:
    """Return the names of groups that are given as bits.

    >>> names_of(0b1000001)
    ['gluten', 'milk']
    """
    return [name for bit, name in enumerate(GROUPS) if groups >> bit & 1]


def named_allergens(texts: pa.Array, languages: pa.Array | None = None, *, perhaps: bool = False) -> Named:
    """Find the allergens that texts name.

    Parameters
    ----------
    texts
        One text each.
    languages
        The short code of each text's language, whose words count; the words of all, where this is left out.
    perhaps
        Whether what "may contain" tells counts as well.

    Examples
    --------
    >>> texts = pa.array(["Farine de blé, lait de coco, noix de muscade.", "sans lait. Peut contenir du soja."])
    >>> [names_of(groups) for groups in named_allergens(texts, pa.array(["fr", "fr"])).groups]
    [['gluten'], []]
    """
    lowered = pc.fill_null(pc.utf8_lower(texts), "")
    for use in ("free", "sounds") if perhaps else ("free", "perhaps", "sounds"):
        for pattern, left in _phrases(use):
            lowered = _replaced(lowered, pattern, f" {left} ")
    words = pc.utf8_split_whitespace(pc.replace_substring_regex(lowered, _NO_WORD, " "))
    text = pc.list_parent_indices(words).to_numpy().astype(np.int64)
    distinct, code = encoded(pc.list_flatten(words))
    if languages is None:
        meanings = np.array([*(_meaning(word, LANGUAGES) for word in distinct.to_pylist()), 0], np.int32)
        meaning = meanings[code]
    else:
        spoken, language = encoded(languages)
        pairs, pair = np.unique(code * len(spoken) + language[text], return_inverse=True)
        heard = zip(
            distinct.take(pa.array(pairs // max(len(spoken), 1))).to_pylist(),
            spoken.take(pa.array(pairs % max(len(spoken), 1))).to_pylist(),
            strict=True,
        )
        meaning = np.array([*(_meaning(word, (tongue,)) for word, tongue in heard), 0], np.int32)[pair]
    rows = np.flatnonzero(meaning)
    groups = np.zeros(len(texts), np.int32)
    np.bitwise_or.at(groups, text[rows], meaning[rows])
    found = [(text[rows], distinct.take(pa.array(code[rows])), meaning[rows])]
    for group in GROUPS:
        for phrase, _ in _phrases(group):
            places = np.flatnonzero(is_true(pc.match_substring_regex(lowered, phrase)))
            bits = np.full(len(places), 1 << GROUPS.index(group), np.int32)
            groups[places] |= bits
            said = [_said(phrase, each) for each in lowered.take(pa.array(places)).to_pylist()]
            found.append((places, pa.array(said, pa.string()), bits))
    columns = list(zip(*found, strict=True))
    return Named(groups, np.concatenate(columns[0]), pa.concat_arrays(columns[1]), np.concatenate(columns[2]))


def _said(phrase: str, text: str) -> str:
    match = re.search(phrase, text)
    return match[0] if match else ""


def _replaced(texts: pa.Array, pattern: str, left: str) -> pa.Array:
    """Replace in those texts alone that need it: finding out is far quicker than replacing."""
    rows = pa.array(is_true(pc.match_substring_regex(texts, pattern)))
    if not pc.any(rows).as_py():
        return texts
    return pc.replace_with_mask(texts, rows, pc.replace_substring_regex(texts.filter(rows), pattern, left))


@cache
def _phrases(use: str) -> tuple[tuple[str, str], ...]:
    """Return the expressions of one use, each with what is left of what it finds."""
    return tuple(
        (row["pattern"], row["left"]) for row in _rows("allergen_phrases.tsv", "\t") if row["use"] == use
    )


def _rows(table: str, delimiter: str) -> list[dict[str, str]]:
    text = resources.files("prodex.quality").joinpath(table).read_text("utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter=delimiter, quoting=csv.QUOTE_NONE))


@cache
def words_of(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return the words of a language by group, as they stand in the table."""
    rows = _rows("allergens.csv", ";")
    return {row["group"]: tuple(row["words"].split()) for row in rows if row["language"] == language}


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], tuple[tuple[int, re.Pattern[str]], ...]]:
    """Return a pattern of all words of a language, and one for each group with its bit."""
    groups = {group: "|".join(map(_pattern, words)) for group, words in words_of(language).items()}
    each = tuple((1 << GROUPS.index(group), re.compile(pattern)) for group, pattern in groups.items())
    return re.compile("|".join(groups.values())), each


def _pattern(word: str) -> str:
    # A word after "=" is looked for between the word with and the one without accents: "moules=moules".
    if word.startswith("="):
        return re.escape(word[1:]) + "=" + re.escape(word[1:])
    return re.escape(word).replace(r"\*", "[^=]*") + "=.*"


@cache
def _meaning(word: str, languages: tuple[str, ...]) -> int:
    """Return the bits of the groups that a word names."""
    meaning = 0
    plain = without_accents(word)
    for language in languages:
        # German and Dutch join words with a hyphen or without; elsewhere a hyphen parts them.
        parts = {_heard(plain)} if language in _COMPOUNDING else {plain, *plain.split("-")}
        every, groups = _patterns(language)
        for part in parts:
            looked_at = f"{part}={word}"
            if part and every.fullmatch(looked_at):
                meaning |= sum(bit for bit, pattern in groups if pattern.fullmatch(looked_at))
    return meaning


def _heard(word: str) -> str:
    """Return what a compound word that sounds like an allergen is really named after."""
    for pattern, left in _phrases("word"):
        word = re.sub(pattern, left, word)
    return word
