"""Products as XML, read into what JSON would say (contract, "Products as XML").

The body is parsed as it streams by, without DTD, entities or anything external; no tree of elements is built.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from xml.etree.ElementTree import ParseError

import msgspec
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

ROOT: Final = "SupplierProducts"
PRODUCT: Final = "product"

_NIL: Final = "{http://www.w3.org/2001/XMLSchema-instance}nil"
_ATTRIBUTES: Final = frozenset({"languages", "unit", "type", "list", _NIL})
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_BOOLEANS: Final = {"TRUE": True, "FALSE": False}
_MOST_LEVELS: Final = 64
_MOST_ELEMENTS: Final = 200_000
_BLANK: Final = " \t\r\n"


def read_supplier_products(body: bytes, most: int) -> list[dict[str, Any]]:
    """Return the products of an XML body, `most` of them at most.

    Raises
    ------
    ValueError
        When it is not well-formed, breaks a rule of the contract, or has more products.

    Examples
    --------
    >>> read_supplier_products(b"<SupplierProducts><product><gtin>1</gtin></product></SupplierProducts>", 1)
    [{'gtin': '1'}]
    """
    reader = _Reader(most)
    parser = DefusedXMLParser(target=reader, forbid_dtd=True)
    try:
        parser.feed(body)
        parser.close()
    except ParseError as error:
        raise ValueError(f"The payload is not XML: {error}") from None
    except DefusedXmlException:
        raise ValueError("The payload holds a DTD or an entity; neither is read") from None
    except LookupError as error:
        raise ValueError(f"The payload's encoding is not known: {error}") from None
    return reader.products


class _EmptyList:
    """The empty list, as an element that says so."""


@dataclass(slots=True)
class _Element:
    name: str
    attributes: Mapping[str, str]
    text: list[str] = field(default_factory=list)
    children: dict[str, list[_Element]] = field(default_factory=dict)
    value: Any = None

    @property
    def stands_in_list(self) -> bool:
        return not {"languages", "unit", "list"}.isdisjoint(self.attributes)


class _Reader:
    """Takes the parser's events; has the products in the end."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.products: list[dict[str, Any]] = []
        self._open: list[_Element] = []
        self._elements = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        level = len(self._open)
        expected = (ROOT, PRODUCT)[level] if level < 2 else tag
        if tag != expected:
            raise ValueError(f"<{tag[:80]}> stands where <{expected}> is expected")
        if tag.startswith("{"):
            raise ValueError(f"<{tag[:80]}> has a namespace; products have none")
        if level < 2 and attributes:
            raise ValueError(f"<{tag}> has the attribute {next(iter(attributes))}; it has none")
        if level >= _MOST_LEVELS:
            raise ValueError(f"<{tag[:80]}> stands on level {level + 1}; {_MOST_LEVELS} are the most")
        self._elements = 1 if level == 1 else self._elements + 1
        if self._elements > _MOST_ELEMENTS:
            raise ValueError(f"{self._where} has more than {_MOST_ELEMENTS:,} elements")
        self._open.append(_Element(tag, attributes))

    def data(self, text: str) -> None:
        self._open[-1].text.append(text)

    def end(self, _tag: str) -> None:
        element = self._open.pop()
        level = len(self._open)
        if level > 1:
            try:
                element.value = _value(element)
            except ValueError as error:
                raise ValueError(f"{self._where}, <{element.name[:80]}>: {error}") from None
            element.children = {}
            self._open[-1].children.setdefault(element.name, []).append(element)
            return
        if "".join(element.text).strip(_BLANK):
            raise ValueError(f"<{element.name}> holds text; it has elements only")
        if level == 1:
            if len(self.products) == self._most:
                raise ValueError(f"The payload has more than {self._most:,} products")
            try:
                self.products.append(_members(element))
            except ValueError as error:
                raise ValueError(f"{self._where}: {error}") from None

    @property
    def _where(self) -> str:
        return f"product {len(self.products) + 1}"


def _members(element: _Element) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, elements in element.children.items():
        first = elements[0]
        if len(elements) == 1 and not first.stands_in_list:
            members[name] = first.value
        elif any(isinstance(one.value, _EmptyList) for one in elements):
            if len(elements) > 1:
                raise ValueError(f'<{name}> is list="empty", but repeated')
            members[name] = []
        else:
            members[name] = [one.value for one in elements]
    return members


def _value(element: _Element) -> Any:
    attributes, text = element.attributes, "".join(element.text)
    if unknown := attributes.keys() - _ATTRIBUTES:
        raise ValueError(f"the attribute {min(unknown)[:80]} is not known")
    shapes = attributes.keys() & {"languages", "unit", "type"}
    if len(shapes) > 1:
        raise ValueError(f"{' and '.join(sorted(shapes))} exclude each other")
    empty = not element.children and not text
    if _listed(attributes) == "empty":
        if not empty or len(attributes) > 1:
            raise ValueError('list="empty" stands alone, on an empty element')
        return _EmptyList()
    nil = _nil(attributes)
    if nil and (not empty or "type" in attributes):
        raise ValueError("xsi:nil stands on an empty element without a type")
    if "languages" in attributes or "unit" in attributes:
        if element.children:
            raise ValueError("an item with languages or unit has no elements; write it as an object")
        return _item(attributes, text, nil=nil)
    if nil:
        return None
    if element.children:
        if text.strip(_BLANK):
            raise ValueError("text stands between its elements")
        if attributes.get("type", "object") != "object":
            raise ValueError(f"it has elements, but type={attributes['type']!r}")
        return _members(element)
    return _scalar(attributes.get("type"), text)


def _item(attributes: Mapping[str, str], text: str, *, nil: bool) -> dict[str, Any]:
    code = attributes.get("languages", attributes.get("unit"))
    data = None if nil else text if "languages" in attributes else _number(text)
    return {"expressedIn": {"code": code}, "data": data}


def _scalar(type_: str | None, text: str) -> Any:
    if type_ is None:
        return _BOOLEANS.get(text, text)
    if type_ == "string":
        return text
    if type_ == "number":
        return _number(text)
    if type_ == "object" and not text.strip(_BLANK):
        return {}
    raise ValueError(f"type={type_!r} does not fit; it is string, number or object")


def _number(text: str) -> msgspec.Raw:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is not a number as JSON writes it")
    return msgspec.Raw(text.encode())


def _listed(attributes: Mapping[str, str]) -> str | None:
    listed = attributes.get("list")
    if listed not in (None, "true", "empty"):
        raise ValueError(f"list={listed!r} is neither true nor empty")
    return listed


def _nil(attributes: Mapping[str, str]) -> bool:
    nil = attributes.get(_NIL, "false")
    if nil not in ("true", "false", "1", "0"):
        raise ValueError(f"xsi:nil={nil!r} is neither true nor false")
    return nil in ("true", "1")
