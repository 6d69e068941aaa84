"""Products as XML (spec, endpoint 7): SupplierProducts, a `product` each, elements named after attributes.

The specification shows the root, `product`, `gtin`, `isConsumerUnit` and a text with `languages`. How everything else
is written is the sandbox's decision; it stands in its OpenAPI document, and this module follows it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from prodex.errors import InputError
from prodex.markup import Element, MarkupRefused, parsed

Product = dict[str, Any]

CONTENT_TYPE = "application/xml"

_HEAD = b"""<?xml version="1.0" encoding="UTF-8"?>
<SupplierProducts xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">"""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
# XML 1.0 has no way to write these, not even escaped.
_NOT_A_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DEEPEST = 64
_LARGEST = 500_000_000
_NIL = "xsi:nil"
_SHORT = ["expressedIn", "data"]
_RETURN = {"\r": "&#13;"}


def payload(products: Iterable[bytes]) -> bytes:
    """Put encoded products into one payload."""
    return b"\n".join([_HEAD, *products, b"</SupplierProducts>\n"])


def encoded(product: Product) -> bytes:
    """Write one product; `problems` must have found nothing.

    Examples
    --------
    >>> print(encoded({"gtin": "03036811359935", "isConsumerUnit": True, "namePublicLong": [
    ...     {"expressedIn": {"code": "fra-FR"}, "data": "Pain & beurre"}], "description": None}).decode())
    <product><gtin>03036811359935</gtin><isConsumerUnit>TRUE</isConsumerUnit><namePublicLong \
languages="fra-FR">Pain &amp; beurre</namePublicLong><description xsi:nil="true"/></product>
    """
    return f"<product>{''.join(_members(product))}</product>".encode()


def decoded(body: bytes) -> list[Product]:
    """Read products out of a SupplierProducts document.

    Raises
    ------
    InputError
        When it is none; the message says why.

    Examples
    --------
    >>> decoded(payload([encoded({"gtin": "03036811359935", "lifeCycle": 1, "allergens": []})]))
    [{'gtin': '03036811359935', 'lifeCycle': 1, 'allergens': []}]
    """
    try:
        root = parsed(body, largest=_LARGEST, deepest=_DEEPEST)
        if root.name != "SupplierProducts" or root.text.strip():
            raise InputError(f"The root of the XML is {root.name!r:.40}; products stand in SupplierProducts.")
        return [_product(element) for element in root.children]
    except MarkupRefused as error:
        raise InputError(f"The XML holds no products that can be read: {error}.") from error


def problems(product: Product) -> Iterator[tuple[str, str]]:
    """Yield (attribute, what XML cannot carry of it)."""
    for name, value in product.items():
        # A stack, not recursion: what is nested too deeply is one of the things to find.
        waiting: list[tuple[Any, int]] = [({name: value}, 2)]
        while waiting:
            at, level = waiting.pop()
            if problem := _problem(at, level):
                yield name, problem
                break
            if isinstance(at, Mapping):
                waiting += [(inner, level + 1) for inner in at.values()]
            elif isinstance(at, list):
                waiting += [(inner, level) for inner in at]


def _problem(value: Any, level: int) -> str | None:
    if level > _DEEPEST:
        return f"is nested more than {_DEEPEST} levels deep"
    if isinstance(value, Mapping):
        odd = next((key for key in value if not _NAME.fullmatch(key)), None)
        return None if odd is None else f"has the name {odd!r}, which no XML element can have"
    if isinstance(value, list) and any(isinstance(item, list) for item in value):
        return "has a list directly in a list"
    if isinstance(value, str) and (sign := _NOT_A_CHARACTER.search(value)):
        return f"holds the character U+{ord(sign[0]):04X}, which XML does not have"
    return None


def _members(value: Mapping[str, Any]) -> Iterator[str]:
    for name, member in value.items():
        if not isinstance(member, list):
            yield _element(name, member)
        elif not member:
            yield f'<{name} list="empty"/>'
        else:
            alone = ' list="true"' if len(member) == 1 else ""
            for item in member:
                yield _item(name, item, alone)


def _item(name: str, item: Any, alone: str) -> str:
    """Write an item of a list; an item that is only a text and its language, or a number and its unit, is short."""
    match item:
        case {"expressedIn": {"code": str(code), **more}, "data": data} if list(item) == _SHORT and not more:
            if isinstance(data, str):
                return f"<{name} languages={_quoted(code)}>{_escaped(data)}</{name}>"
            if data is None:
                return f'<{name} languages={_quoted(code)} xsi:nil="true"/>'
            if isinstance(data, int | float) and not isinstance(data, bool):
                return f"<{name} unit={_quoted(code)}>{json.dumps(data)}</{name}>"
    return _element(name, item, alone)


def _element(name: str, value: Any, attributes: str = "") -> str:
    match value:
        case None:
            return f'<{name}{attributes} xsi:nil="true"/>'
        case bool():
            return f"<{name}{attributes}>{str(value).upper()}</{name}>"
        case str():
            kind = ' type="string"' if value in {"TRUE", "FALSE"} else ""
            return f"<{name}{attributes}{kind}>{_escaped(value)}</{name}>"
        case Mapping() if value:
            return f"<{name}{attributes}>{''.join(_members(value))}</{name}>"
        case Mapping():
            return f'<{name}{attributes} type="object"/>'
    return f'<{name}{attributes} type="number">{json.dumps(value)}</{name}>'


def _escaped(text: str) -> str:
    return escape(text, _RETURN)


def _quoted(text: str) -> str:
    return quoteattr(text)


def _product(element: Element) -> Product:
    if element.name != "product" or element.attributes or element.text.strip():
        raise MarkupRefused(f"SupplierProducts holds {element.name!r:.40}, and only product belongs there")
    return _read_members(element)


def _read_members(element: Element) -> dict[str, Any]:
    groups: dict[str, list[Element]] = {}
    for child in element.children:
        groups.setdefault(child.name, []).append(child)
    return {name: _read_member(several) for name, several in groups.items()}


def _read_member(several: list[Element]) -> Any:
    first = several[0]
    if first.attributes.get("list") == "empty":
        if len(several) > 1 or first.children or first.text:
            raise MarkupRefused(f"{first.name!r:.40} is said to be an empty list and is not empty")
        return []
    alone = len(several) == 1 and not first.attributes.keys() & {"list", "languages", "unit"}
    return _read(first) if alone else [_read(item) for item in several]


def _read(element: Element) -> Any:
    said = {name: value for name, value in element.attributes.items() if (name, value) != ("list", "true")}
    nil = said.pop(_NIL, None) in {"true", "1"}
    bare = not element.children and not (nil and element.text)
    match said:
        case {"languages": code, **others} if bare and not others:
            return {"expressedIn": {"code": code}, "data": None if nil else element.text}
        case {"unit": code, **others} if bare and not nil and not others:
            return {"expressedIn": {"code": code}, "data": _number(element)}
        case {"type": "number"} if bare and not nil and len(said) == 1:
            return _number(element)
        case {"type": "string"} if bare and not nil and len(said) == 1:
            return element.text
        case {"type": "object"} if bare and not nil and len(said) == 1 and not element.text.strip():
            return {}
        case {} if not said and nil and bare:
            return None
        case {} if not said and not nil and element.children and not element.text.strip():
            return _read_members(element)
        case {} if not said and not nil and not element.children:
            return {"TRUE": True, "FALSE": False}.get(element.text, element.text)
    raise MarkupRefused(f"element {element.name!r:.40} has attributes or text that cannot be meant so")


def _number(element: Element) -> int | float:
    try:
        number = json.loads(element.text)
    except (ValueError, RecursionError):
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise MarkupRefused(f"element {element.name!r:.40} holds {element.text!r:.40}, which is no number")
    return number
