"""Texts as words are looked for in them: lower case, without accents and markup, one sign for each kind of separator.

Patterns can then be written in plain letters, `\\b` finds the ends of words, and "ŒUFS" is "oeufs". Where a mark of
emphasis is between two letters, it may part one word ("Voll_milch_") or two ("lécithine de_soja_"), which only a
vocabulary can decide: there, `MARK` is left.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.phrases import LETTERS
from prodex.quality.remembered import Remembered
from prodex.tables.columns import as_one_chunk, is_true

#: Replaces marks of emphasis, and all else that may part a word or two words, between two letters.
MARK = "\x1f"

#: What becomes of marks of emphasis, in this order. Patterns are those of RE2.
_EMPHASIS = (
    (r"\x{AD}|\x{1F}", ""),
    # Tags that emphasise part of a word leave no gap; others end the text before them.
    (r"(?i)</?(?:b|strong|em|i|u|span|font|mark|sup|sub|a)(?:\s[^<>]*)?>", MARK),
    (r"(?i)</?[a-z][^<>]*>", ", "),
    (r"[\x{200B}-\x{200D}\x{2060}\x{FEFF}_]|\*\*", MARK),
    # Capitals emphasise as well: "VollMILCHpulver", "de SOJAentier"; and the end of a line parts words.
    (r"(\p{Ll})(\p{Lu}{2})", rf"\1{MARK}\2"),
    (r"(\p{Lu}{3})(\p{Ll}{2})", rf"\1{MARK}\2"),
    (r"(\pL)[-\x{2010}\x{2011}][ \t]*\r?\n\s*(\p{Ll})", rf"\1{MARK}\2"),
    # Only a mark between two letters can part words or join them.
    (rf"(^|[^\pL\pM{MARK}]){MARK}+", r"\1"),
    (rf"{MARK}+($|[^\pL{MARK}])", r"\1"),
)
#: Without one of these signs a text has no emphasis: most texts are looked at once instead of nine times.
_EMPHASISED = (
    r"[\x{AD}\x{1F}<_\x{200B}-\x{200D}\x{2060}\x{FEFF}]|\*\*|\p{Ll}\p{Lu}{2}|\p{Lu}{3}\p{Ll}{2}"
    r"|[-\x{2010}\x{2011}][ \t]*\r?\n"
)
_BEFORE_LOWERING = (
    (r"[’‘`´]", "'"),
    # A list does not end where a dot was read for its comma: "soja. céleri. moutarde".
    (r"\.(\s+\p{Ll})", r",\1"),
)
_AT_LAST = (
    # Not the shellfish: "pain moulé", which without its accent would be "moules" in the plural.
    (r"\bmoule\x{301}e?s?\b", " "),
    (r"\pM", ""),
    (r"\n\s*\n", ". "),
    # The comma of a number separates nothing.
    (r"(\d)[.,](\d)", r"\1 \2"),
    (r"\s[-–—/|]\s|[•·●▪]", ", "),
    (r"[*\s]{2,}|[*\t-\r\x{A0}]", " "),
)


def folded(texts: pa.Array) -> pa.Array:
    """Return texts in the form in which words are looked for.

    Parameters
    ----------
    texts
        As the service gives them; missing ones become empty.

    Examples
    --------
    >>> folded(pa.array(["_Milch_ 3,5&nbsp;%, <b>WEIZEN</b>", "Œufs – crème"])).to_pylist()
    ['milch 3 5 %, weizen', 'oeufs, creme']
    """
    return _folded(as_one_chunk(pc.fill_null(texts, "")))


def _fold(texts: pa.Array) -> pa.Array:
    texts = _unescaped(texts)
    emphasised = pa.array(is_true(pc.match_substring_regex(texts, _EMPHASISED)))
    if pc.any(emphasised).as_py():
        texts = pc.replace_with_mask(texts, emphasised, _unemphasised(texts.filter(emphasised)))
    # As in `prodex.phrases.unaccented`; accents go further below, since accents distinguish words.
    texts = pc.utf8_lower(pc.utf8_normalize(_replace_patterns(texts, _BEFORE_LOWERING), form="NFKD"))
    for letter, letters in LETTERS.items():
        texts = pc.replace_substring(texts, letter, letters)
    return _replace_patterns(texts, _AT_LAST)


_folded = Remembered(_fold, pa.string())
#: Few texts have any emphasis, and the nine expressions take longer to compile than to look for in a thousand texts.
_unemphasised = Remembered(lambda texts: _replace_patterns(texts, _EMPHASIS), pa.string())


def _replace_patterns(texts: pa.Array, patterns: Iterable[tuple[str, str]]) -> pa.Array:
    """Replace patterns one after another, each in those texts alone that have it: to find out is far quicker."""
    for pattern, left in patterns:
        rows = pa.array(is_true(pc.match_substring_regex(texts, pattern)))
        if pc.any(rows).as_py():
            replaced = pc.replace_substring_regex(texts.filter(rows), pattern, left)
            texts = pc.replace_with_mask(texts, rows, replaced)
    return texts


def _unescaped(texts: pa.Array) -> pa.Array:
    """Return texts whose characters are not written as entities of HTML any more."""
    rows = np.flatnonzero(is_true(pc.match_substring_regex(texts, r"&#?\w+;")))
    if not len(rows):
        return texts
    mask = np.zeros(len(texts), bool)
    mask[rows] = True
    plain = [html.unescape(each) for each in texts.take(pa.array(rows)).to_pylist()]
    return pc.replace_with_mask(texts, pa.array(mask), pa.array(plain, texts.type))


class FoldedTexts:
    """Texts as words are looked for in them (`folded`), each folded once whoever asks for it."""

    def __init__(self) -> None:
        self._known = self._folded = pa.array([], pa.string())

    def take(self, texts: pa.Array) -> pa.Array:
        """Return texts folded; missing ones become empty."""
        return self.at(self.places(texts))

    def places(self, texts: pa.Array) -> pa.Array:
        """Return the places by which `at` finds these texts folded, also when it knows more texts."""
        texts = as_one_chunk(pc.fill_null(texts, ""))
        places = pc.index_in(texts, self._known)
        if not places.null_count:
            return places
        new = pc.unique(texts.filter(places.is_null()))
        self._known = pa.concat_arrays([self._known, new])
        self._folded = pa.concat_arrays([self._folded, folded(new)])
        return pc.index_in(texts, self._known)

    def at(self, places: pa.Array) -> pa.Array:
        """Return the folded texts at some places."""
        return self._folded.take(places)
