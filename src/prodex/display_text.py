"""What somebody typed, as it is shown: verbatim, and where it is cut, said with "n of N".

Of a page nothing runs since it is escaped; of a terminal, `printable` shows what it would obey.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

#: Characters that a browser would drop, or read as another one; their pictures are shown in their place.
_DROPPED = re.compile("[\x00-\x08\x0b-\x1f\x7f]")

#: Categories of Unicode that a terminal obeys, or that make two texts look alike: controls, characters that turn the
#: direction of writing or have no width, halves of surrogate pairs (which no stream can encode), and line separators.
_OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

#: Isolates of the bidirectional algorithm (Unicode UAX #9), and the end of one.
_ISOLATE = re.compile("[\u2066-\u2069]")
_END = "\u2069"

#: Characters of a label, such as a name or an owner; the files beside the page have all.
LABEL = 160


@dataclass(frozen=True)
class Words:
    """A text that somebody typed, or its beginning.

    Attributes
    ----------
    text
        What is shown, verbatim but for control characters, which stand as their pictures.
    length
        Number of characters of the whole.
    is_missing
        Whether there is no text at all, which is not the same as an empty one.
    """

    text: str
    length: int
    is_missing: bool = False

    @property
    def is_cut(self) -> bool:
        return len(self.text) < self.length

    @property
    def ends(self) -> str:
        """What ends every change of direction that the text leaves open; it belongs behind the text's element."""
        return ends(self.text)

    @property
    def is_long(self) -> bool:
        """Whether it is folded until somebody opens it."""
        return len(self.text) > 400


def words(text: object, most: int | None = None) -> Words:
    """Return a text as it is shown.

    Parameters
    ----------
    text
        What was typed; None where there is none.
    most
        Bytes that it may take on the page.

    Examples
    --------
    >>> words("<b>Crème</b>"), words("x" * 40_000, 3), words(None).is_missing
    (Words(text='<b>Crème</b>', length=12, is_missing=False), Words(text='xxx', length=40000, is_missing=False), True)
    """
    if text is None:
        return Words("", 0, is_missing=True)
    whole = _DROPPED.sub(lambda found: _picture(found[0]), str(text))
    shown = whole if most is None else whole[:most]
    while most is not None and (size := weight(shown)) > most:
        shown = shown[: len(shown) * most // size]
    return Words(shown, len(whole))


def label(text: object) -> Words:
    """Return the beginning of a text that names something."""
    if text is None:
        return words(None)
    whole = str(text)
    return Words(words(whole[:LABEL]).text, len(whole))


def ends(text: str) -> str:
    r"""Return an end for every change of direction that a text leaves open.

    A mark that isolates what follows takes the end of the element for its own, and would turn our words around too.

    >>> ends("Citron"), ends("a\u2067b"), ends("\u2066\u2067\u2069")
    ('', '\u2069', '\u2069')
    """
    depth = 0
    for mark in _ISOLATE.findall(text):
        depth = max(depth - 1, 0) if mark == _END else depth + 1
    return _END * depth


def weight(text: str) -> int:
    """Return how many bytes a text takes on the page.

    >>> weight("a"), weight("é"), weight("<")
    (1, 2, 4)
    """
    return len(escape(text).encode())


def printable(text: object) -> str:
    r"""Return a text as a terminal, a log or an error may have it: what would be obeyed there is shown instead.

    Line feeds stay, since our own messages have them; `on_one_line` shows those too.

    >>> printable("\x1b[2Jgone\r\u202e"), printable("Crème 5\u202f% \U0001f9c0"), printable("a\nb")
    ('\\x1b[2Jgone\\r\\u202e', 'Crème 5\u202f% 🧀', 'a\nb')
    """
    return "\n".join(map(on_one_line, str(text).split("\n")))


def on_one_line(text: object) -> str:
    r"""Return the same of a text that has to stay on its line.

    >>> on_one_line("a\nprodex: all is well")
    'a\\nprodex: all is well'
    """
    whole = str(text)
    if whole.isprintable():
        return whole
    return "".join(_spelled(c) if unicodedata.category(c) in _OBEYED else c for c in whole)


def printable_record(record: logging.LogRecord) -> bool:
    """Make what a line of a log quotes printable, for every handler; a filter of a logger that passes all records."""
    told = record.getMessage()
    if told != (shown := printable(told)):
        record.msg, record.args = shown, ()
    return True


def printable_json(text: str) -> str:
    r"""Return JSON that says the same, and that a terminal may have.

    >>> printable_json('{"name": "\x9b2J\u202e"}')
    '{"name": "\\u009b2J\\u202e"}'
    """
    if (
        text.isascii()
    ):  # controls below U+0020 are escapes in any JSON; what lays it out is line feeds and spaces
        return text.replace("\x7f", "\\u007f")
    return "".join(_json_escape(c) if c != "\n" and unicodedata.category(c) in _OBEYED else c for c in text)


def even_limit(sizes: Sequence[int], room: int) -> int:
    """Return the largest limit for each of several things with which all of them fit.

    >>> even_limit([10, 200, 3_000], 500), even_limit([10, 20], 500)
    (290, 500)
    """
    left = room
    for place, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - place)
        if size > share:
            return share
        left -= size
    return room


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _picture(character: str) -> str:
    return chr(0x2421 if character == "\x7f" else 0x2400 + ord(character))
