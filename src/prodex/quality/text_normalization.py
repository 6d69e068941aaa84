"""Texts as words are looked for in them: lower case, without accents and markup, one sign for each kind of separator.

Patterns can then be written in plain letters, `\\b` finds the ends of words, and "ŒUFS" is "oeufs". Where a mark of
emphasis stands between two letters, it may part one word ("Voll_milch_") or two ("lécithine de_soja_"), which only a
vocabulary can tell: there, `MARK` is left.
"""

from __future__ import annotations

import html

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.columns import is_true
from prodex.text import LETTERS

#: What stands for marks of emphasis, and all else that may part a word or two words, between two letters.
MARK = "\x1f"

#: What becomes of what, in this order. Patterns are those of RE2.
_BEFORE_LOWERING = (
    (r"\x{AD}|\x{1F}", ""),
    # Tags that emphasise part of a word leave no gap; others end what stands before them.
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
    texts = pc.fill_null(texts, "")
    texts = _unescaped(texts)
    for pattern, left in _BEFORE_LOWERING:
        texts = _replaced(texts, pattern, left)
    # As in `prodex.text.unaccented`; accents go further below, since one word is told from another by its own.
    texts = pc.utf8_lower(pc.utf8_normalize(texts, form="NFKD"))
    for letter, letters in LETTERS.items():
        texts = pc.replace_substring(texts, letter, letters)
    for pattern, left in _AT_LAST:
        texts = _replaced(texts, pattern, left)
    return texts


def _replaced(texts: pa.Array, pattern: str, left: str) -> pa.Array:
    """Replace in those texts alone that need it: finding out is far quicker than replacing."""
    rows = pa.array(is_true(pc.match_substring_regex(texts, pattern)))
    if not pc.any(rows).as_py():
        return texts
    return pc.replace_with_mask(texts, rows, pc.replace_substring_regex(texts.filter(rows), pattern, left))


def _unescaped(texts: pa.Array) -> pa.Array:
    """Return texts whose characters are not written as entities of HTML any more."""
    rows = np.flatnonzero(is_true(pc.match_substring_regex(texts, r"&#?\w+;")))
    if not len(rows):
        return texts
    mask = np.zeros(len(texts), bool)
    mask[rows] = True
    plain = [html.unescape(each) for each in texts.take(pa.array(rows)).to_pylist()]
    return pc.replace_with_mask(texts, pa.array(mask), pa.array(plain, texts.type))
