"""The archive of a workbook: its parts, found by their relationships, within limits of bytes and elements.

openpyxl reads archives as well, but not all that programs write, and not within limits. So it gets the parts from here,
and a caller that only looks into an archive does not import openpyxl:

- Parts are found whatever they are called: names are compared without regard to case, with either slash, with `%20` for
  a blank, and where the relationships of a part are missing, by its type or by its usual name.
- Nothing in a workbook is trusted. Declarations of entities are refused before anything is read, unpacked bytes and
  elements of XML are counted, and what a part takes is proportional to its size: no element, row or mark is collected
  without end.
- A part may be in UTF-16, in the namespaces of strict workbooks, or in none: readers see elements in the usual one.

Sources: ECMA-376 part 1, 12.3 (parts of a workbook); part 2, 8 and 9 (parts, relationships and their names).
"""

from __future__ import annotations

import codecs
import posixpath
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element, XMLPullParser, fromstring

from prodex.formats.safe_xml import MarkupRefused, parser_of
from prodex.limits import Meter

#: The namespace in which readers see every element, in the form of ElementTree.
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"

#: Bytes in which the first element of a part begins.
_BEGINNING = 1 << 18
#: Bytes that are parsed at a time: few, so that elements die young, and are no work for the garbage collector. Where
#: nothing ends in them, more are parsed: expat begins a mark anew with each piece.
_UNPACKED_AT_ONCE, _LARGEST_STEP = 1 << 13, 1 << 28
#: Bytes of a part that is read as a whole.
_MOST_OF_A_PART = 100_000_000
#: Elements between two rows, or two texts: a row has 16,384 cells, each of a few elements.
_MOST_PENDING = 500_000

_UTF_16 = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"<\0": "utf-16-le", b"\0<": "utf-16-be"}
#: A declaration of UTF-16. It is not true once the bytes are UTF-8, and some programs write it where it never was.
_DECLARATION = re.compile(rb"^\s*<\?xml[^>]*utf-?16[^>]*\?>", re.IGNORECASE)


class Relationship(NamedTuple):
    """A relationship of a part: its identifier, the last word of its type, and the part that it leads to."""

    id: str
    kind: str
    target: str


@dataclass
class WorkbookArchive:
    """The parts of a workbook, by their names.

    Attributes
    ----------
    file
        The archive.
    meter
        Counts what is unpacked.
    """

    file: zipfile.ZipFile = field(repr=False)
    meter: Meter = field(repr=False)
    _parts: dict[str, zipfile.ZipInfo] = field(init=False, repr=False)
    #: Bytes and elements of each part that was read: what is read twice counts once.
    _counts: dict[str, tuple[int, int]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        # Of several parts of one name the last one counts, as for other readers of archives.
        self._parts = {_comparable_part_name(info.filename): info for info in self.file.infolist()}

    def __contains__(self, name: str) -> bool:
        return _comparable_part_name(name) in self._parts

    @contextmanager
    def open(self, name: str) -> Iterator[WorkbookPart]:
        """Open a part, whose bytes are then read within the limits.

        Raises
        ------
        LimitExceeded
            At the limits.
        MarkupRefused
            When it declares a document type or an entity, or an encoding in which no mark can be counted.
        """
        with self.file.open(self._parts[_comparable_part_name(name)]) as file:
            yield WorkbookPart(self, _comparable_part_name(name), file)

    def tree(self, name: str) -> Element:
        """Return a part as a tree of elements and attributes, their names without namespaces."""
        content = bytearray()
        with self.open(name) as part:
            while piece := part.read(_BEGINNING):
                content += piece
                if len(content) > _MOST_OF_A_PART:
                    raise ValueError(f"its part {name!r:.60} has more than {_MOST_OF_A_PART:,} bytes")
        root = fromstring(content)  # noqa: S314 - it declares no document type, as `WorkbookPart` has seen
        for one in root.iter():
            one.tag = _local(one.tag)
            if any(key.startswith("{") for key in one.attrib):
                one.attrib = {_local(key): value for key, value in one.attrib.items()}
        return root

    def each(self, name: str, tag: str, *, until: str = "") -> Iterator[Element]:
        """Yield each element of a tag in a part; it is empty once the next one is asked for.

        Parameters
        ----------
        until
            The tag of the element around them, with whose end it ends.
        """
        with self.open(name) as part:
            yield from _elements(part, tag, until)

    def related(self, name: str = "") -> list[Relationship]:
        """Return the relationships of a part, or of the whole archive, to parts that are in it."""
        folder, _, base = name.replace("\\", "/").rpartition("/")
        beside = posixpath.join(folder, "_rels", f"{base}.rels")
        if beside not in self:
            return []
        found = []
        for one in self.tree(beside).iter("Relationship"):
            target = one.get("Target", "").partition("#")[0].replace("\\", "/")
            if one.get("TargetMode") == "External":
                continue
            path = posixpath.normpath(posixpath.join("/", folder, target))
            kind = one.get("Type", "").rpartition("/")[2]
            found += [
                Relationship(one.get("Id", ""), kind, option)
                for option in dict.fromkeys((path, unquote(path)))
                if option in self
            ][:1]
        return found

    def workbook(self) -> str | None:
        """Return the part that lists the sheets, by its relationship, its type or its usual name; None without one."""
        named = [one.target for one in self.related() if one.kind == "officeDocument"]
        options = [*named, *self.of_type("sheet.main+xml"), *self.of_type("sheet.macroEnabled.main+xml")]
        return next((one for one in [*options, "xl/workbook.xml"] if one in self), None)

    def of_type(self, words: str) -> list[str]:
        """Return the parts whose type has certain words, as the archive lists them."""
        listed = "[Content_Types].xml"
        if listed not in self:
            return []
        overrides = self.tree(listed).iter("Override")
        named = [one.get("PartName", "") for one in overrides if words in one.get("ContentType", "")]
        return [name for name in named if name in self]


class WorkbookPart:
    """A part that is open.

    Attributes
    ----------
    space
        The namespace of its first element, in the form of ElementTree: "{...}", or nothing.
    """

    def __init__(self, archive: WorkbookArchive, name: str, file: IO[bytes]) -> None:
        self._archive = archive
        self._name = name
        others = [counts for part, counts in archive._counts.items() if part != name]
        self._before = tuple(sum(counts[place] for counts in others) for place in (0, 1))
        self._size = self._elements = 0
        self._file = file
        self._decoder: codecs.IncrementalDecoder | None = None
        first = self._counted(_BEGINNING)
        if (encoding := _UTF_16.get(first[:2])) is not None:
            self._decoder = codecs.getincrementaldecoder(encoding)()
            first = self._decoder.decode(first).encode()
        self._first = first = _DECLARATION.sub(b"", first)
        self.space = _space_of(first)

    def read(self, size: int) -> bytes:
        """Return some of the bytes that follow, as UTF-8 or as declared; none at the end."""
        if self._first:
            piece, self._first = self._first[:size], self._first[size:]
            return piece
        piece = self._counted(size)
        return piece if self._decoder is None else self._decoder.decode(piece, final=not piece).encode()

    def _counted(self, size: int) -> bytes:
        piece = self._file.read(size)
        self._size += len(piece)
        self._elements += piece.count(b"<")
        meter = self._archive.meter
        meter.count_received(0)  # looks at the clock
        meter.count_unpacked(self._before[0] + self._size)
        meter.held(self._before[1] + self._elements)
        known = self._archive._counts.get(self._name, (0, 0))
        self._archive._counts[self._name] = max(known, (self._size, self._elements))
        return piece


def _elements(part: WorkbookPart, tag: str, until: str) -> Iterator[Element]:
    wanted, last = part.space + tag, part.space + until
    parser: Any = XMLPullParser(("end",))  # typeshed knows events of every kind, and here is one
    pending, step = 0, _UNPACKED_AT_ONCE
    is_at_end = False
    while not is_at_end:
        if piece := part.read(step):
            parser.feed(piece)
        else:
            # Since version 2.6, expat keeps what follows a long mark until it gets more, or until the end.
            parser.close()
            is_at_end = True
        before = pending
        for _, element in parser.read_events():
            pending += 1
            if element.tag == wanted:
                if part.space != MAIN:
                    for one in element.iter():
                        one.tag = MAIN + _local(one.tag)
                yield element
                element.clear()
                pending = 0
            elif element.tag == last:
                return
        if pending > _MOST_PENDING:
            raise ValueError(f"it has more than {_MOST_PENDING:,} elements in one row")
        step = _UNPACKED_AT_ONCE if pending != before else min(2 * step, _LARGEST_STEP)


class _Begun(Exception):
    """The first element has begun."""


def _space_of(beginning: bytes) -> str:
    """Return the namespace of the first element, after everything that may not be before it."""
    found: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        prefix, colon, _ = name.rpartition(":")
        found.append(attributes.get(f"xmlns:{prefix}" if colon else "xmlns", ""))
        raise _Begun

    def declared(version: str, encoding: str | None, standalone: int) -> None:
        del version, standalone
        # Marks are counted as bytes.
        if encoding is not None and not _has_plain_marks(encoding):
            raise MarkupRefused(f"the XML is in the encoding {encoding!r:.40}, which no workbook may be in")

    parser = parser_of(start, _nothing, _nothing)
    parser.XmlDeclHandler = declared
    try:
        parser.Parse(beginning, False)
    except _Begun:
        return f"{{{found[0]}}}" if found[0] else ""
    raise MarkupRefused(f"no element begins in its first {_BEGINNING:,} bytes")


def _has_plain_marks(encoding: str) -> bool:
    try:
        return "<".encode(encoding) == b"<"
    except LookupError:
        return False


def _nothing(_: str) -> None:
    pass


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _comparable_part_name(name: str) -> str:
    """Return the name of a part as names are compared.

    >>> _comparable_part_name("/xl/Worksheets/Sheet1.XML")
    'xl/worksheets/sheet1.xml'
    """
    return name.replace("\\", "/").lstrip("/").casefold()
