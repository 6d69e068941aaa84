"""The payload of an upsert, JSON or XML: from a body to the members of each product (spec, endpoint 7).

XML is parsed as a stream, without DTD, entities or anything external; at most one product at a time is a tree of
elements. The contract describes it under "Products as XML".

XML has only text and elements. Whether a text is a number, and whether one element is a value or an array of one, is
decided by the type of the attribute. Where none is declared, text is text, and elements of one name are an array.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from xml.etree.ElementTree import ParseError

import msgspec
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from prodex_sandbox.raw_json import encode, items, members
from prodex_sandbox.records.referentials import language_code
from prodex_sandbox.records.schemas import (
    ATTRIBUTES,
    FLAG,
    INTEGER,
    NUMBER,
    TEXT,
    Array,
    Record,
    Scalar,
    Type,
)

JSON: Final = "application/json"
XML: Final = "application/xml"

#: The members of a product as they were sent, each value still as its JSON bytes.
Members = dict[str, msgspec.Raw]

ROOT: Final = "SupplierProducts"
PRODUCT: Final = "product"

#: Attributes in these namespaces, such as the location of a schema, are not about products; only `xsi:nil` is.
_IGNORED_NAMESPACES: Final = (
    "{http://www.w3.org/2001/XMLSchema-instance}",
    "{http://www.w3.org/XML/1998/namespace}",
)
_MAX_LEVELS: Final = 64
_MAX_ELEMENTS: Final = 200_000


class UnreadableProduct(dict[str, msgspec.Raw]):
    """A product with a value that is not what its attribute holds; its gtin is all that was read of it.

    Attributes
    ----------
    message
        Which value of which attribute it is.
    """

    def __init__(self, gtin: str, message: str) -> None:
        super().__init__(gtin=msgspec.Raw(encode(gtin)))
        self.message = message


def read_supplier_products(body: bytes, most: int) -> list[dict[str, Any] | UnreadableProduct]:
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
    # forbid_dtd refuses every entity that the body declares, and with them bombs and external files.
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


class _Reader:
    """Builds products from the events of the parser."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.products: list[dict[str, Any] | UnreadableProduct] = []
        self._namespace = ""
        self._open: list[Element] = []
        self._elements = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        level = len(self._open)
        if not level and tag.startswith("{"):
            self._namespace = tag[: tag.index("}") + 1]
        name = tag.removeprefix(self._namespace)
        name = name if level or name == ROOT else tag
        expected = (ROOT, PRODUCT)[level] if level < 2 else name
        if name != expected:
            raise ValueError(f"<{name[:80]}> was found where <{expected}> is expected")
        if name.startswith("{"):
            raise ValueError(f"<{name[:80]}> has another namespace than the root")
        known = {
            key: value
            for key, value in attributes.items()
            if key == NIL or not key.startswith(_IGNORED_NAMESPACES)
        }
        if level < 2 and known:
            raise ValueError(f"<{name}> has the attribute {next(iter(known))}; it has none")
        # `members_of` calls itself for each level.
        if level >= _MAX_LEVELS:
            raise ValueError(f"<{name[:80]}> is on level {level + 1}; at most {_MAX_LEVELS} are allowed")
        # A tree of elements takes many times the memory of its text.
        self._elements = 1 if level == 1 else self._elements + 1
        if self._elements > _MAX_ELEMENTS:
            raise ValueError(f"{self._where} has more than {_MAX_ELEMENTS:,} elements")
        self._open.append(Element(name, known))

    def data(self, text: str) -> None:
        self._open[-1].text.append(text)

    def end(self, _tag: str) -> None:
        element = self._open.pop()
        level = len(self._open)
        if level > 1:
            self._open[-1].children.setdefault(element.name, []).append(element)
            return
        if element.content.strip(BLANK):
            raise ValueError(f"<{element.name}> holds text; it has elements only")
        if level == 1:
            if len(self.products) == self._most:
                raise ValueError(f"The payload has more than {self._most:,} products")
            try:
                self.products.append(members_of(element, ATTRIBUTES))
            except ValueUnreadable as error:
                self.products.append(UnreadableProduct(_gtin_of(element), str(error)))
            except ValueError as error:
                raise ValueError(f"{self._where}{error}") from None

    @property
    def _where(self) -> str:
        return f"product {len(self.products) + 1}"


def _gtin_of(product: Element) -> str:
    gtins = product.children.get("gtin", ())
    return gtins[0].content if len(gtins) == 1 else ""


class PayloadUnreadable(Exception):
    """The payload breaks the format; the message says where."""


def read_payload(body: bytes, media_type: str, most: int) -> list[Members]:
    """Return the products of a payload, `most` of them at most; some may be `UnreadableProduct`.

    Raises
    ------
    PayloadUnreadable
        When it breaks the format, or has more products.
    """
    try:
        return _read_xml(body, most) if media_type == XML else _read_json(body, most)
    except RecursionError:
        raise PayloadUnreadable("The payload is nested too deeply.") from None


def _read_json(body: bytes, most: int) -> list[Members]:
    body = body.removeprefix(BOM_UTF8)
    try:
        if not _is_object(body):
            raise PayloadUnreadable('The payload is JSON, but not an object; send {"data": [...]}.')
        outer = members(body)
        if outer.keys() != {"data"}:
            raise PayloadUnreadable(
                f'The payload has the members {", ".join(outer) or "(none)"}; send {{"data": [...]}} alone.'
            )
        if not bytes(outer["data"]).startswith(b"["):
            raise PayloadUnreadable("data is not an array of products.")
        products = items(outer["data"])
        if len(products) > most:
            raise PayloadUnreadable(f"The payload has more than {most:,} products.")
        for index, product in enumerate(products):
            if not _is_object(product):
                raise PayloadUnreadable(f"data[{index}] is not an object.")
        return [members(product) for product in products]
    except ValueError as error:
        raise PayloadUnreadable(f"The payload is not JSON: {error}.") from None


def _read_xml(body: bytes, most: int) -> list[Members]:
    try:
        return [
            product
            if isinstance(product, UnreadableProduct)
            else {name: msgspec.Raw(encode(value)) for name, value in product.items()}
            for product in read_supplier_products(body, most)
        ]
    except ValueError as error:
        raise PayloadUnreadable(f"{error}.") from None


def _is_object(body: bytes) -> bool:
    if not body.strip():
        raise PayloadUnreadable("The payload is empty.")
    return body.lstrip().startswith(b"{")


NIL: Final = "{http://www.w3.org/2001/XMLSchema-instance}nil"
BLANK: Final = " \t\r\n"

_ATTRIBUTES: Final = frozenset({"languages", "unit", "type", "list", NIL})
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_FLAGS: Final = {"true": True, "false": False, "1": True, "0": False}
#: The types that an element may name itself; `object` is the empty one.
_NAMED_TYPES: Final[Mapping[str, Type]] = {
    "string": TEXT,
    "number": NUMBER,
    "boolean": FLAG,
    "object": Record(),
}


class ValueUnreadable(Exception):
    """A value is not what its attribute holds; the message names both."""


@dataclass(slots=True)
class Element:
    """One element, with the elements in it by name."""

    name: str
    attributes: Mapping[str, str]
    text: list[str] = field(default_factory=list)
    children: dict[str, list[Element]] = field(default_factory=dict)

    @property
    def content(self) -> str:
        """Its text, exactly as it is written."""
        return "".join(self.text)

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing at all."""
        return not self.children and not self.content

    @property
    def is_list_item(self) -> bool:
        """Whether its attributes make it an item of an array."""
        return not {"languages", "unit", "list"}.isdisjoint(self.attributes)


def members_of(element: Element, types: Mapping[str, Type], path: str = "") -> dict[str, Any]:
    """Return the members of an object.

    Raises
    ------
    ValueError
        When the XML breaks a rule of the contract.
    ValueUnreadable
        When a value is not of its attribute's type.
    """
    return {
        name: _member(elements, types.get(name), f"{path}.{name}" if path else name)
        for name, elements in element.children.items()
    }


def _member(elements: list[Element], type_: Type | None, path: str) -> Any:
    first = elements[0]
    if any(_listed(one) == "empty" for one in elements):
        if len(elements) > 1:
            raise ValueError(f': <{first.name}> is list="empty", but repeated')
        return []
    if isinstance(type_, Array):
        if len(elements) == 1 and _is_nil(first) and not first.is_list_item:
            return None
        return _array(elements, type_.items, path)
    if len(elements) == 1 and not first.is_list_item:
        return _value(first, type_, path)
    if type_ is not None and len(elements) > 1:
        raise ValueUnreadable(f"{path} was sent {len(elements)} times; it is {_words(type_)}")
    return [_value(one, type_, f"{path}[{index}]") for index, one in enumerate(elements)]


def _array(elements: list[Element], type_: Type | None, path: str) -> list[Any]:
    items: list[Element] = []
    for one in elements:
        if one.is_empty and not one.attributes:
            raise ValueUnreadable(
                f"{path} is an empty element, which names no item; send JSON for an array without items"
            )
        items += _wrapped(one, type_)
    return [_value(one, type_, f"{path}[{index}]") for index, one in enumerate(items)]


def _wrapped(element: Element, type_: Type | None) -> list[Element]:
    """Return the items in an element around the array, as a deployed service writes it; else the element itself."""
    if not element.attributes and len(element.children) == 1 and not element.content.strip(BLANK):
        ((name, items),) = element.children.items()
        if name in _singulars(element.name) and not (isinstance(type_, Record) and name in type_.members):
            return items
    return [element]


def _singulars(name: str) -> set[str]:
    forms = {name.removesuffix("List"), name.removesuffix("s"), name.removesuffix("ren")}
    if name.endswith("ies"):
        forms.add(f"{name[:-3]}y")
    return forms - {name}


def _value(element: Element, type_: Type | None, path: str) -> Any:
    attributes, text = element.attributes, element.content
    if unknown := attributes.keys() - _ATTRIBUTES:
        raise _broken(element, f"the attribute {min(unknown)[:80]} is not known")
    shapes = attributes.keys() & {"languages", "unit", "type"}
    if len(shapes) > 1:
        raise _broken(element, f"{' and '.join(sorted(shapes))} exclude each other")
    nil = _is_nil(element)
    if nil and (not element.is_empty or "type" in attributes):
        raise _broken(element, "xsi:nil belongs on an empty element without a type")
    if "languages" in attributes or "unit" in attributes:
        return _item(element, nil=nil)
    if nil:
        return None
    if element.children:
        if text.strip(BLANK):
            raise _broken(element, "there is text between its elements")
        if attributes.get("type", "object") != "object":
            raise _broken(element, f"it has elements, but type={attributes['type']!r}")
        if isinstance(type_, Scalar):
            raise ValueUnreadable(f"{path} holds elements; it is {type_.words}")
        return members_of(element, type_.members if isinstance(type_, Record) else {}, path)
    if "type" in attributes:
        return _of_named_type(element)
    return _of_text(text, type_, path)


def _item(element: Element, *, nil: bool) -> dict[str, Any]:
    """Return an item that has its language, or its unit, as an attribute."""
    if element.children:
        raise _broken(element, "an item with languages or unit has no elements; write it as an object")
    text, attributes = element.content, element.attributes
    if "languages" in attributes:
        return {
            "expressedIn": {"code": language_code(attributes["languages"])},
            "data": None if nil else text,
        }
    if not nil and not _NUMBER.fullmatch(text):
        raise _broken(element, f"{text[:40]!r} is not a number as JSON writes it")
    return {"expressedIn": {"code": attributes["unit"]}, "data": None if nil else msgspec.Raw(text.encode())}


def _of_named_type(element: Element) -> Any:
    text, name = element.content, element.attributes["type"]
    type_ = _NAMED_TYPES.get(name)
    if type_ is None or (isinstance(type_, Record) and text.strip(BLANK)):
        raise _broken(element, f"type={name!r} does not fit; it is {', '.join(_NAMED_TYPES)}")
    if type_ is NUMBER:
        if not _NUMBER.fullmatch(text):
            raise _broken(element, f"{text[:40]!r} is not a number as JSON writes it")
        return msgspec.Raw(text.encode())
    return _of_text(text, type_, element.name)


def _of_text(text: str, type_: Type | None, path: str) -> Any:
    """Return the value of an element that has no elements."""
    # Blanks around a number or a flag come from the program that indented the XML.
    word = text.strip(BLANK)
    if type_ is None or type_ is TEXT:
        return text
    if isinstance(type_, Record) and not word:
        return {}
    if type_ is FLAG and word.lower() in _FLAGS:
        return _FLAGS[word.lower()]
    pattern = {INTEGER: _INTEGER, NUMBER: _NUMBER}.get(type_) if isinstance(type_, Scalar) else None
    if pattern and pattern.fullmatch(word):
        return msgspec.Raw(word.encode())
    raise ValueUnreadable(f"{path} is {text[:60]!r}, not {_words(type_)}")


def _words(type_: Type) -> str:
    return type_.words if isinstance(type_, Scalar) else "an object, whose members are elements"


def _listed(element: Element) -> str | None:
    listed = element.attributes.get("list")
    if listed not in (None, "true", "empty"):
        raise _broken(element, f"list={listed!r} is neither true nor empty")
    if listed == "empty" and (not element.is_empty or len(element.attributes) > 1):
        raise _broken(element, 'list="empty" belongs alone on an empty element')
    return listed


def _is_nil(element: Element) -> bool:
    nil = element.attributes.get(NIL, "false")
    if nil not in ("true", "false", "1", "0"):
        raise _broken(element, f"xsi:nil={nil!r} is neither true nor false")
    return nil in ("true", "1")


def _broken(element: Element, message: str) -> ValueError:
    return ValueError(f", <{element.name[:80]}>: {message}")
