"""How text that somebody else typed is displayed: unchanged, and where it is shortened, with its full length.

Pages escape it, so that no markup in it runs. For terminals and logs `printable` and `on_one_line` escape the control
characters in it; both are in `prodex.errors`, since error messages need them too.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from prodex.errors import CONTROL_CATEGORIES
from prodex.errors import on_one_line as on_one_line  # noqa: PLC0414 - offered here as well
from prodex.errors import printable as printable  # noqa: PLC0414 - the same

#: Control characters that a browser drops or changes; their Unicode pictures (U+2400 ...) are shown instead.
_DROPPED = re.compile("[\x00-\x08\x0b-\x1f\x7f]")

#: Bytes of the character that takes most of them on a page: `&quot;`.
_HEAVIEST = 6

#: Characters that begin an isolate of the bidirectional algorithm (Unicode UAX #9), and the one that ends it.
_ISOLATE = re.compile("[\u2066-\u2069]")
_END = "\u2069"

#: Characters shown of a label, such as a name or an owner; the files beside the page have the whole text.
LABEL = 160


@dataclass(frozen=True)
class Words:
    """A text to display, or its beginning.

    Attributes
    ----------
    text
        What is shown: unchanged, except that control characters are replaced by their Unicode pictures.
    length
        Number of characters of the whole text.
    is_missing
        Whether there is no text at all, as opposed to an empty one.
    """

    text: str
    length: int
    is_missing: bool = False

    @property
    def is_cut(self) -> bool:
        return len(self.text) < self.length

    @property
    def ends(self) -> str:
        """What closes every isolate that the text leaves open; it belongs behind the text's element."""
        return ends(self.text)

    @property
    def is_long(self) -> bool:
        """Whether a page shows it folded, with a button to open it."""
        return len(self.text) > 400


def words(text: object, most: int | None = None) -> Words:
    """Return a text as it is displayed.

    Parameters
    ----------
    text
        The text; None where there is none.
    most
        Bytes that it may take on the page; a longer text is cut.

    Examples
    --------
    >>> words("<b>Crème</b>"), words("x" * 40_000, 3), words(None).is_missing
    (Words(text='<b>Crème</b>', length=12, is_missing=False), Words(text='xxx', length=40000, is_missing=False), True)
    """
    if text is None:
        return Words("", 0, is_missing=True)
    whole = _DROPPED.sub(lambda found: _control_picture(found[0]), str(text))
    shown = whole if most is None else whole[:most]
    # Most texts are far shorter, whatever they hold.
    while most is not None and len(shown) * _HEAVIEST > most and (size := weight(shown)) > most:
        shown = shown[: len(shown) * most // size]
    return Words(shown, len(whole))


def cut(text: str, most: int) -> str:
    """Return a text; of a long one the beginning, and how much that is of the whole.

    >>> cut("x" * 40_000, 3)
    'xxx …(3 of 40,000 characters)'
    """
    # Cut before it is escaped: a text of a million characters is not worth the work.
    spelled = words(text[: most + 1]).text
    return spelled if len(text) <= most else f"{spelled[:most]} …({most:,} of {len(text):,} characters)"


def label(text: object) -> Words:
    """Return the beginning of a text that names something."""
    if text is None:
        return words(None)
    whole = str(text)
    return Words(words(whole[:LABEL]).text, len(whole))


def ends(text: str) -> str:
    r"""Return one end mark for each isolate that a text leaves open.

    Without it, a right-to-left isolate in a supplier's text would also reverse the words of ours that follow it.

    >>> ends("Citron"), ends("a\u2067b"), ends("\u2066\u2067\u2069")
    ('', '\u2069', '\u2069')
    """
    if text.isascii():
        return ""
    depth = 0
    for mark in _ISOLATE.findall(text):
        # An end without a beginning closes nothing (UAX #9, rule X6a).
        depth = max(depth - 1, 0) if mark == _END else depth + 1
    return _END * depth


def weight(text: str) -> int:
    """Return how many bytes a text takes on an HTML page.

    >>> weight("a"), weight("é"), weight("<")
    (1, 2, 4)
    """
    return len(escape(text).encode())


def printable_record(record: logging.LogRecord) -> bool:
    """Make the message of a log record printable for every handler; a filter of a logger, which lets all pass."""
    message = record.getMessage()
    if message != (shown := printable(message)):
        record.msg, record.args = shown, ()
    return True


def printable_json(text: str) -> str:
    r"""Return JSON with the same values in which control characters are escaped, for a terminal.

    >>> printable_json('{"name": "\x9b2J\u202e"}')
    '{"name": "\\u009b2J\\u202e"}'
    """
    if text.isascii():
        # JSON escapes the controls below U+0020 itself; only DEL is left.
        return text.replace("\x7f", "\\u007f")
    return "".join(
        _json_escape(c) if c != "\n" and unicodedata.category(c) in CONTROL_CATEGORIES else c for c in text
    )


def even_limit(sizes: Sequence[int], room: int) -> int:
    """Return the largest limit that, applied to each of several sizes, keeps their sum within the room.

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


def _json_escape(character: str) -> str:
    # JSON escapes UTF-16 units, so a character beyond U+FFFF becomes two of them.
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _control_picture(character: str) -> str:
    return chr(0x2421 if character == "\x7f" else 0x2400 + ord(character))
