"""CSV that people saved with a spreadsheet: its letters, its separator and its rows.

A CSV file says neither its encoding nor its separator. UTF-8 and UTF-16 are recognized by themselves. Of all other
encodings, nearly every file can be read in nearly every one, and only the letters are others: so the encoding is that
in which the cells agree with texts that are known, such as those of the catalogue. A cell is read if all encodings that
agree as well as each other read the same in it; else it is a cell with a problem, and nothing is guessed or replaced.

Sources: RFC 4180; the code pages of Windows, of its console and of the Mac, as Python has them.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Self

from prodex.formats.spreadsheet import unescape_formulas
from prodex.formats.workbook_cells import Cell, Row, unreadable
from prodex.limits import Meter

#: Returns, for texts whose letters beyond ASCII were replaced by question marks (`skeleton`), the known texts that are
#: so written: a catalogue is asked for what a file has, and not read as a whole.
Known = Callable[[Collection[str]], Collection[str]]

#: Returns how many columns a row of headings names, by the number of the row and its cells; 0 for any other row.
Headings = Callable[[int, Row], int]

#: What a file may begin with, the longest first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Bytes of a character, or of its half.
_WIDTHS = {"utf-32-le": 4, "utf-32-be": 4, "utf-16-le": 2, "utf-16-be": 2}

#: What spreadsheets write where they do not write Unicode: on Windows, in its console, on the Mac, and elsewhere. Those
#: that are more usual come first: they are what a message proposes.
_ENCODINGS = (
    *("utf-8", "cp1252", "cp1250", "mac_roman", "cp850", "cp437"),
    *("cp1251", "cp1253", "cp1254", "cp1257", "cp852", "cp737", "cp775", "cp857", "cp866"),
    *("mac_latin2", "mac_greek", "mac_cyrillic", "mac_turkish"),
    *("iso8859_15", "iso8859_2", "cp932", "gb18030", "cp949"),
)
#: Cells that are compared with what is known.
_MOST_COMPARED = 20_000

_SEPARATORS = ",;\t|"
_DECLARED = re.compile(r'"?sep=([^\r\n])"?(?:\r\n|\r|\n|$)', re.IGNORECASE)
#: Rows and characters in which the headings are searched for, and lines whose widths are compared where there are none.
_MOST_ROWS, _MOST_CHARACTERS, _LINES = 1_000, 1_000_000, 20

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
#: Half of a character; so bytes are kept that are none in the encoding of the file.
_HALF = re.compile("[\ud800-\udfff]")
#: Of a code page that has more letters, these are controls that no text has.
_CONTROLS = re.compile("[\x80-\x9f]")

#: Rows after which the clock is looked at.
_SO_MANY = 10_000

_SAVE = "Save the file as CSV in UTF-8, or as a workbook (.xlsx), and read that"


class NoText(ValueError):
    """A file that is no text."""


def skeleton(text: str) -> str:
    """Return a text with a question mark for each letter beyond ASCII: so it looks in any encoding of one byte each.

    >>> skeleton("Crème")
    'Cr?me'
    """
    return _BEYOND_ASCII.sub("?", text)


def csv_rows(
    content: bytes, meter: Meter, *, headings: Headings | None = None, known: Known | None = None
) -> Callable[[], Iterator[tuple[int, Row]]]:
    """Return what yields the rows of a CSV file, each with its number.

    Parameters
    ----------
    content
        The file.
    meter
        Looks at the clock.
    headings
        Recognizes the row of headings, for the separator.
    known
        Knows texts that the file may have, for the encoding.

    Raises
    ------
    NoText
        When it is no text.
    """
    text, is_certain = _text(content)
    if "\0" in text:
        raise NoText("it is neither a workbook nor text")
    # Quoted cells may be as long as the file.
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    declared = _DECLARED.match(text)
    text = text[declared.end() :] if declared is not None else text
    separator = _separator(text, declared[1] if declared is not None else "", headings)
    letters = None if is_certain else _Letters.of(_records(text, separator), known)

    def rows() -> Iterator[tuple[int, Row]]:
        for number, cells in enumerate(_records(text, separator), 1):
            if number % _SO_MANY == 0:
                meter.came(0)
            if row := {place: _cell(one, letters) for place, one in enumerate(cells) if one}:
                yield number, row

    return rows


def _text(content: bytes) -> tuple[str, bool]:
    """Return the text of a file, and whether its letters are certain; if not, each of them is still a byte."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _unicode(content[len(mark) :], encoding), True
    if b"\0" in content:
        # Without a mark: in the wrong order of its bytes, it has no line.
        found = [_unicode(content, encoding) for encoding in ("utf-16-le", "utf-16-be")]
        lines = [text for text in found if re.search("[\r\n]", text) and "\0" not in text]
        return (lines[0], True) if len(lines) == 1 else ("\0", True)
    try:
        return content.decode("utf-8"), True
    except UnicodeDecodeError:
        return content.decode("latin-1"), False


def _unicode(content: bytes, encoding: str) -> str:
    """Return a text in which what cannot be read is half of a character."""
    if encoding == "utf-8":
        return content.decode("utf-8", "surrogateescape")
    # A file that was cut ends within a character.
    rest = len(content) % _WIDTHS[encoding]
    whole = content[: len(content) - rest].decode(encoding, "surrogatepass")
    return whole + ("\udc80" if rest else "")


def _records(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _cell(stored: str, letters: _Letters | None) -> Cell:
    if stored.isascii():
        return Cell(stored, "text")
    if letters is not None:
        return letters.cell(stored)
    if _HALF.search(stored):
        return unreadable(_HALF.sub(_escaped, stored), f"it has half a character. {_SAVE}")
    return Cell(stored, "text")


def _escaped(half: re.Match[str]) -> str:
    code = ord(half[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code < 0xDD00 else f"\\u{code:04x}"


@dataclass
class _Letters:
    """The letters of a file that is not in Unicode. Its cells are given with a character for each byte.

    Attributes
    ----------
    encodings
        Those in which as many cells agree with what is known as in any other; none if no cell agrees, or some agree in
        one encoding and others in another.
    """

    encodings: Sequence[str]
    _found: dict[str, Cell] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, records: Iterable[Sequence[str]], known: Known | None) -> Self:
        """Compare the cells of a file with what is known."""
        if known is None:
            return cls(())
        beyond = (one for cells in records for one in cells if not one.isascii())
        cells = list(islice(dict.fromkeys(beyond), _MOST_COMPARED))
        readings = {
            encoding: {one: _plain(text) for one in cells if (text := _read(one, encoding)) is not None}
            for encoding in _ENCODINGS
        }
        there = set(known({skeleton(text) for read in readings.values() for text in read.values()}))
        agree = {
            encoding: {one for one, text in read.items() if text in there}
            for encoding, read in readings.items()
        }
        every = set().union(*agree.values())
        return cls([encoding for encoding, some in agree.items() if every and some == every])

    def cell(self, stored: str) -> Cell:
        """Return a cell, if all encodings read the same in it."""
        if (found := self._found.get(stored)) is None:
            found = self._found[stored] = self._cell(stored)
        return found

    def _cell(self, stored: str) -> Cell:
        options = [_read(stored, encoding) for encoding in self.encodings or _ENCODINGS]
        texts = list(dict.fromkeys(text for text in options if text is not None))
        if self.encodings and len(texts) == 1:
            return Cell(texts[0], "text")
        shown = stored.encode("latin-1").decode("ascii", "backslashreplace")
        if not texts:
            return unreadable(shown, f"its letters are none in the encoding of the file. {_SAVE}")
        said = " or ".join(f"{text!r:.60}" for text in texts[:3])
        return unreadable(
            shown, f"its letters may be {said}: nothing in the file says in which encoding it is. {_SAVE}"
        )


def _read(stored: str, encoding: str) -> str | None:
    """Return what bytes are in an encoding; None if they are nothing."""
    try:
        text = stored.encode("latin-1").decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if _CONTROLS.search(text) else text


def _plain(text: str) -> str:
    """Return a text as it is known: with line ends of one kind, and without the apostrophe before a formula."""
    return unescape_formulas(text.replace("\r\n", "\n"))


def _separator(text: str, declared: str, headings: Headings | None) -> str:
    """Return the separator with which the headings are found, else what cuts most of the first lines into most cells.

    >>> _separator("My list\\ngtin;name\\n1;a, b\\n2;c", "", None), _separator("gtin,name\\n", "", None)
    (';', ',')
    """
    sample = text[:_MOST_CHARACTERS]
    options = dict.fromkeys([*declared, *_SEPARATORS])
    named = {one: _named(sample, one, headings) for one in options}
    best = [one for one in options if named[one] == max(named.values())]
    if len(best) == 1 or declared:
        return str(best[0])
    lines = re.split(r"\r\n|\r|\n", sample)[:_LINES]
    # The middle one of the widths: a title has one cell, and texts have commas of their own.
    widths = {one: sorted(map(len, csv.reader(lines, delimiter=one)))[len(lines) // 2 :] for one in best}
    return str(max(best, key=lambda one: widths[one][:1] or [0]))


def _named(sample: str, separator: str, headings: Headings | None) -> int:
    """Return how many columns the row of headings names, if cells are separated so."""
    if headings is None:
        return 0
    found = 0
    with suppress(csv.Error):  # of another separator: text in quotes may end anywhere
        for number, cells in enumerate(islice(_records(sample, separator), _MOST_ROWS), 1):
            found = max(
                found, headings(number, {place: Cell(one, "text") for place, one in enumerate(cells) if one})
            )
    return found
