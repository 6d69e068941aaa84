"""SupplierProducts from a file, as records: plain XML by the types of the attributes, from any writer.

Two XML attributes have a meaning: `languages`, which the specification shows on localized texts, and `xsi:nil`, with
which XML says that there is no value. An element with any other is refused, since its value would be half read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prodex.errors import InputError
from prodex.safe_xml import Element, MarkupRefused, parsed
from prodex.send.attribute_types import PRODUCT, Type
from prodex.send.xml_writing import DEEPEST, Product

# Bytes. The document is read into memory as a whole.
_LARGEST = 500_000_000
_NIL, _LANGUAGES = "xsi:nil", "languages"
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def decoded(body: bytes) -> list[Product]:
    """Read the products of a SupplierProducts document.

    Raises
    ------
    InputError
        When it is not one; the message says why.

    Examples
    --------
    >>> decoded(b"<SupplierProducts><product><lifeCycle>1</lifeCycle><isTaggedBy>new</isTaggedBy></product>"
    ...         b"</SupplierProducts>")
    [{'lifeCycle': 1, 'isTaggedBy': ['new']}]
    """
    try:
        root = parsed(body, largest=_LARGEST, deepest=DEEPEST)
        # With any prefix: the specification names no namespace.
        if root.name.rpartition(":")[2] != "SupplierProducts" or root.text.strip():
            raise InputError(f"The root of the XML is {root.name!r:.40}, not SupplierProducts.")
        return [_product(element) for element in root.children]
    except MarkupRefused as error:
        raise InputError(f"The products in the XML cannot be read: {error}.") from error


def _product(element: Element) -> Product:
    if element.name.rpartition(":")[2] != "product" or element.attributes or element.text.strip():
        raise MarkupRefused(
            f"SupplierProducts contains {element.name!r:.40}, and only product is allowed there"
        )
    return _members(element, PRODUCT)


def _members(element: Element, types: Mapping[str, Type]) -> dict[str, Any]:
    groups: dict[str, list[Element]] = {}
    for child in element.children:
        groups.setdefault(child.name.rpartition(":")[2], []).append(child)
    return {name: _member(several, types.get(name, "unknown")) for name, several in groups.items()}


def _member(several: list[Element], type_: Type) -> Any:
    first = several[0]
    is_nil = first.attributes.get(_NIL) in {"true", "1"}
    is_list = type_ in ("localized", "array") or isinstance(type_, list)
    if len(several) == 1 and _LANGUAGES not in first.attributes and (is_nil or not is_list):
        return _value(first, type_)
    inner: Type = type_[0] if isinstance(type_, list) else "unknown"
    return [_value(item, inner) for item in several]


def _value(element: Element, type_: Type) -> Any:
    marks = dict(element.attributes)
    nil = marks.pop(_NIL, None) in {"true", "1"}
    bare = not element.children and not (nil and element.text)
    match marks:
        case {"languages": code, **others} if bare and not others:
            return {"expressedIn": {"code": code}, "data": None if nil else element.text}
        case {} if not marks and nil and bare:
            return None
        case {} if not marks and not nil and element.children and not element.text.strip():
            return _members(element, type_ if isinstance(type_, Mapping) else {})
        case {} if not marks and not nil and not element.children:
            return _scalar(element.text, type_)
    if unknown := sorted(marks.keys() - {_LANGUAGES}):
        raise MarkupRefused(
            f"element {element.name!r:.40} has the XML attribute {unknown[0]!r:.40}, and only languages and xsi:nil "
            "are known. Write its value as plain elements"
        )
    raise MarkupRefused(f"element {element.name!r:.40} has an invalid combination of XML attributes and text")


def _scalar(text: str, type_: Type) -> Any:
    """Return a value of this type; a text that does not fit remains text, for preflight or the service to refuse."""
    if type_ == "text":
        return text
    if type_ == "boolean":
        return _BOOLEANS.get(text.strip().lower(), text)
    # int() takes quadratic time, and refuses more than 4,300 digits.
    if type_ == "integer" and text.strip().removeprefix("-").isdecimal() and len(text) < 40:
        return int(text)
    return {"TRUE": True, "FALSE": False}.get(text, text) if type_ == "unknown" else text
