"""The payload of an upsert, JSON or XML: from a body to the members of each product (spec, endpoint 7).

XML is parsed as a stream, without DTD, entities or anything external; at most one product at a time is a tree of
elements. The contract describes it under "Products as XML".
"""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import Any, Final
from xml.etree.ElementTree import ParseError

import msgspec
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from prodex_sandbox.raw_json import encode, items, members
from prodex_sandbox.records.attribute_types import ATTRIBUTES
from prodex_sandbox.records.xml_values import BLANK, NIL, Element, ValueUnreadable, members_of

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
