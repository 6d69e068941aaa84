"""Whether a text has something that somebody can see: the one question behind "is it filled".

Spaces of any kind, characters without a picture of their own (zero-width and soft hyphen, the blank of Braille, the
fillers of Hangul), comments in markup, and the markup of an empty paragraph show nothing. A picture in the markup is
something to see.
"""

from __future__ import annotations

import html
import re
import unicodedata

import pyarrow as pa
import pyarrow.compute as pc

#: Categories of spaces, and of characters that only control how others are shown.
_INVISIBLE_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})

#: Characters of other categories that show nothing: fillers, variation selectors, and the blank of Braille.
_BLANK_RANGES = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2065, 0x2065),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xE0000, 0xE0FFF),
)
_BLANKS = frozenset(chr(one) for first, last in _BLANK_RANGES for one in range(first, last + 1))
#: Signs that are drawn although they control others: numbers in Arabic and Kaithi are written below them.
_DRAWN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")

#: A tag: whether it closes an element, the name of that, and whether it is empty by itself.
_TAG = re.compile(r"<(/?)([a-z][a-z0-9:]*)(?:\s[^<>]*?)?(/?)>", re.IGNORECASE)
#: Elements that show something without any text.
_SHOWN = frozenset(
    "img image picture source video audio svg canvas object embed iframe input button math hr".split()  # noqa: SIM905
)
#: Elements that nothing closes, and those whose end may be left out.
_EMPTY, _LEFT_OPEN = frozenset({"br", "wbr"}), frozenset({"p", "li", "dt", "dd", "tr", "td", "th"})

#: Only what is made of these may show nothing; nearly every text is recognized by its first character.
_MAYBE_BLANK = (
    r"^(?:[\s\pZ\p{Cc}\p{Cf}"
    + "".join(rf"\x{{{first:X}}}-\x{{{last:X}}}" for first, last in _BLANK_RANGES)
    + r"]|<[/a-zA-Z][^<>]*>|<!--(?s:.)*?-->|&#?[0-9A-Za-z]+;?)*$"
)


def is_visible(text: str) -> bool:
    r"""Whether somebody who looks at a text sees anything.

    >>> [is_visible(one) for one in ("Riz", "0", "<p>Riz</p>", '<img src="riz.jpg">', "< 5 g")]
    [True, True, True, True, True]
    >>> [is_visible(one) for one in ("", " \n", "\u200b", "\u00ad", "\u2800")]
    [False, False, False, False, False]
    >>> [is_visible(one) for one in ("<p><br></p>", "<p>&nbsp;</p>", "<!-- -->")]
    [False, False, False]
    """
    if text[:1].isalnum() and text[0] not in _BLANKS:  # nearly always
        return True
    left = _without_comments(text)
    if "<" in left:
        if not _is_empty_markup(left):
            return True
        left = _TAG.sub("", left)
    return not all(map(_is_invisible, html.unescape(left) if "&" in left else left))


def _without_comments(text: str) -> str:
    kept, begin = [], 0
    # A regular expression would look for the end of each comment anew where none has one.
    while (at := text.find("<!--", begin)) >= 0 and (end := text.find("-->", at + 4)) >= 0:
        kept.append(text[begin:at])
        begin = end + 3
    return "".join([*kept, text[begin:]])


def _is_empty_markup(text: str) -> bool:
    """Whether all tags of a text belong to elements that show nothing by themselves; half of an element is a text."""
    opened: list[str] = []
    for tag in _TAG.finditer(text):
        closes, name, is_empty = tag[1], tag[2].lower(), tag[3]
        if name in _SHOWN:
            return False
        if closes:
            while opened and opened[-1] != name and opened[-1] in _LEFT_OPEN:
                opened.pop()
            if not opened or opened.pop() != name:
                return False
        elif not is_empty and name not in _EMPTY:
            opened.append(name)
    return _LEFT_OPEN.issuperset(opened)


def _is_invisible(character: str) -> bool:
    if character in _BLANKS:
        return True
    return unicodedata.category(character) in _INVISIBLE_CATEGORIES and character not in _DRAWN


def visible_texts(texts: pa.Array) -> pa.Array:
    """Return for each text of a column whether it is visible; a missing one is not.

    >>> visible_texts(pa.array(["Riz", "<p>&nbsp;</p>", None])).to_pylist()
    [True, False, False]
    """
    doubtful = pc.fill_null(pc.match_substring_regex(texts, _MAYBE_BLANK), True)
    if not pc.any(doubtful).as_py():
        return pc.invert(doubtful)
    encoded = texts.filter(doubtful).dictionary_encode()
    seen = pa.array(
        [one is not None and is_visible(one) for one in encoded.dictionary.to_pylist()], pa.bool_()
    )
    return pc.replace_with_mask(
        pc.invert(doubtful), doubtful, pc.fill_null(seen.take(encoded.indices), False)
    )
