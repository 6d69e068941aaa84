"""XML, read without DTD, entities and external access, within bounds of size and depth.

Only the standard library's expat is used, and everything that it would do beyond elements and text is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat


class MarkupRefused(ValueError):
    """The input is no XML, or XML that is refused here. Callers turn this into one of the errors in `prodex.errors`."""


@dataclass(slots=True)
class XmlElement:
    """An element: name and attributes as written (prefixes included), the text directly in it, and its children."""

    name: str
    attributes: dict[str, str]
    text: str = ""
    children: list[XmlElement] = field(default_factory=list)


def parser_of(
    start: Callable[[str, dict[str, str]], object],
    end: Callable[[str], object],
    text: Callable[[str], object],
) -> expat.XMLParserType:
    """Return a parser that calls these functions for elements and text, and refuses everything else that acts.

    Raises
    ------
    MarkupRefused
        While it parses, at the declaration of a document type or an entity.
    """

    def refuse(*_: object) -> NoReturn:
        raise MarkupRefused("the XML declares a document type or an entity, which is not read")

    parser = expat.ParserCreate()
    parser.buffer_text = True  # one call for each text, however many pieces expat reads it in
    # Entities that expand without end ("billion laughs") need a document type, so that none is accepted.
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    return parser


def parsed(body: bytes, *, largest: int, deepest: int) -> XmlElement:
    """Return the root element.

    Parameters
    ----------
    largest
        Most bytes.
    deepest
        Most levels of elements, the root included.

    Raises
    ------
    MarkupRefused
        When it cannot be read, or breaks a bound.

    Examples
    --------
    >>> parsed(b"<tracking>12</tracking>", largest=1000, deepest=4).text
    '12'
    """
    if len(body) > largest:
        raise MarkupRefused(f"the XML has {len(body):,} bytes, and {largest:,} are read at most")
    top = XmlElement("", {})
    open_elements = [top]
    pieces: list[list[str]] = [[]]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > deepest:
            raise MarkupRefused(f"the XML is nested more than {deepest} levels deep")
        element = XmlElement(name, attributes)
        open_elements[-1].children.append(element)
        open_elements.append(element)
        pieces.append([])

    def end(_: str) -> None:
        open_elements.pop().text = "".join(pieces.pop())

    def text(data: str) -> None:
        pieces[-1].append(data)

    try:
        parser_of(start, end, text).Parse(body, True)
    except expat.ExpatError as error:
        raise MarkupRefused(f"it is not XML that can be read ({error})") from error
    return top.children[0]
