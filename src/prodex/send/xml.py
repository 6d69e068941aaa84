"""Products as XML (spec, endpoint 7), written and read: SupplierProducts with a `product` each.

The specification shows plain elements, and one XML attribute: `languages` on a localized text. So an object is an
element with child elements, a list is a repeated element, and a reader needs the type of the attribute to distinguish
them. `find_problems` finds the values that could not be read back unchanged, which have to be sent as JSON.

A value can be sent as XML if a reader that knows only the type of the attribute would read the same value. If the type
is not known, only values that are the same under any type can be sent: a text that looks like no number and no boolean,
an object, and a list of two items or more.

Two XML attributes have a meaning: `languages`, which the specification shows on localized texts, and `xsi:nil`, with
which XML says that there is no value. An element with any other is refused, since its value would be half read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from prodex.errors import InputError
from prodex.formats.safe_xml import MarkupRefused, XmlElement, parsed
from prodex.send.attribute_types import LANGUAGE, PRODUCT, Type
from prodex.tables.descriptors import Expressed, expressed

Product = dict[str, Any]

CONTENT_TYPE = "application/xml"

_HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n<SupplierProducts>'
#: A reader replaces a carriage return by a line feed unless it is escaped (XML 1.0, 2.11).
_RETURN = {"\r": "&#13;"}


#: The bytes before the first product of a payload, and between two.
BEGINS, BETWEEN = len(_HEAD) + 1, 1


def join_products(products: Iterable[bytes]) -> bytes:
    """Join encoded products to one payload."""
    return b"\n".join([_HEAD, *products, b"</SupplierProducts>\n"])


def encode_product(product: Product) -> bytes:
    """Encode one product, for which `find_problems` must have found nothing.

    Examples
    --------
    >>> print(encode_product({"gtin": "03036811359935", "isConsumerUnit": True, "lifeCycle": 1, "namePublicLong": [
    ...     {"expressedIn": {"code": "fra-FR"}, "data": "Pain & beurre"}]}).decode())
    <product><gtin>03036811359935</gtin><isConsumerUnit>true</isConsumerUnit><lifeCycle>1</lifeCycle>\
<namePublicLong languages="fra-FR">Pain &amp; beurre</namePublicLong></product>
    """
    return f"<product>{''.join(_members_written(product))}</product>".encode()


def language_of(item: Any) -> str | None:
    """Return the language code of a localized text without further members, or None."""
    match item:
        case {"expressedIn": {"code": str(code), **more}, "data": str(), **others} if not more and not others:
            # An amount may be a text, too, and its unit is no language.
            return None if expressed(code) is Expressed.UNIT else code
    return None


def _members_written(value: Mapping[str, Any]) -> Iterator[str]:
    for name, member in value.items():
        for item in member if isinstance(member, list) else [member]:
            yield _element(name, item)


def _element(name: str, value: Any) -> str:
    if (language := language_of(value)) is not None:
        return f"<{name} languages={quoteattr(language)}>{escape(value['data'], _RETURN)}</{name}>"
    match value:
        case bool():
            return f"<{name}>{str(value).lower()}</{name}>"
        case Mapping():
            return f"<{name}>{''.join(_members_written(value))}</{name}>"
    return f"<{name}>{escape(str(value), _RETURN)}</{name}>"


#: Levels of elements, root and product included.
DEEPEST = 64

# Without a colon, which would make the beginning of the name a namespace prefix.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
# XML 1.0 cannot represent these characters, not even escaped.
_NOT_A_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# int() takes quadratic time, and refuses more than 4,300 digits.
_INTEGER = re.compile(r"\s*-?[0-9]{1,39}\s*")
_LIKE_A_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)
_LIKE_A_BOOLEAN = frozenset({"true", "false"})
_LIKE_NOTHING = frozenset({"null", "nil", "none"})

_LOCALIZED = '{"expressedIn": {"code": ...}, "data": text}'
_LOCALIZED_ITEM: Mapping[str, Type] = {"expressedIn": LANGUAGE, "data": "text"}

#: Whether a value has the type of its attribute.
_IS: Mapping[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
}


class _Member(NamedTuple):
    """A value with its path, the type of its attribute, its level of elements, and whether it is in a list."""

    path: str
    value: Any
    type: Type
    level: int
    in_list: bool = False


def find_problems(product: Product) -> Iterator[tuple[str, str]]:
    """Yield (path, what XML cannot represent there), one for each attribute with a problem.

    Examples
    --------
    >>> list(find_problems({"gtin": "03036811359935", "brand": None, "assets": {"pictures": [{"url": ""}]}}))
    [('brand', 'is null, which XML does not have'), ('assets.pictures[0].url', 'is an empty text, which looks \
like no value')]
    """
    for name, value in product.items():
        if (problem := _name_problem(name)) is not None:
            yield name, problem
            continue
        # A stack, not recursion: too deep nesting is one of the problems to find.
        stack = [_Member(name, value, PRODUCT.get(name, "unknown"), 3)]
        while stack:
            place = stack.pop()
            if (problem := _problem(place)) is not None:
                yield place.path, problem
                break
            stack += reversed(list(_members_of(place)))


def _problem(place: _Member) -> str | None:
    """Return the problem of a value itself; its members are checked separately."""
    value, type_ = place.value, place.type
    if place.level > DEEPEST:
        return f"is nested more than {DEEPEST} levels deep"
    if value is None:
        return "is null, which XML does not have"
    if isinstance(value, list):
        return _list_problem(value, type_)
    if type_ in ("localized", "array") or isinstance(type_, list):
        return "is not a list, and would be read as one"
    if isinstance(value, Mapping):
        return _object_problem(value, type_, in_list=place.in_list)
    if isinstance(value, str) and (problem := _text_problem(value)) is not None:
        return problem
    if isinstance(type_, Mapping):
        return "is a single value in place of an object"
    if type_ != "unknown":
        return None if _IS[type_](value) else f"is {value!r:.40} in place of {_called(type_)}"
    if not isinstance(value, str):
        return f"is {value!r:.40}, and its type is not known, so it would be read as text"
    if looks_like := _looks_like(value):
        return f"is the text {value!r:.40}, and its type is not known, so it could be read as {looks_like}"
    return None


def _list_problem(value: list[Any], type_: Type) -> str | None:
    if not value:
        return "is an empty list, which XML does not have"
    if any(isinstance(item, list) for item in value):
        return "has a list directly in a list"
    localized = sum(language_of(item) is not None for item in value)
    if type_ == "localized":
        return None if localized == len(value) else f"has an item that is not just {_LOCALIZED}"
    if isinstance(type_, list):
        return "has a localized text, which the type does not allow" if localized else None
    if type_ not in ("array", "unknown"):
        return "is a list in place of one value"
    if localized not in {0, len(value)}:
        return "has localized texts and other items"
    # A reader that does not know that the attribute is a list sees one element and no list.
    if len(value) == 1 and not localized:
        return "is a list of one item that may not be known to be a list, so it could be read as that item"
    return None


def _object_problem(value: Mapping[str, Any], type_: Type, *, in_list: bool) -> str | None:
    if not value:
        return "is an empty object, which looks like no value"
    if (odd := next((name for name in value if _name_problem(name)), None)) is not None:
        return _name_problem(odd)
    if not in_list and language_of(value) is not None:
        return "is a single localized text, which would be read as a list"
    if type_ != "unknown" and not isinstance(type_, Mapping):
        return f"is an object in place of {_called(type_)}"
    return None


def _text_problem(text: str) -> str | None:
    if not text:
        return "is an empty text, which looks like no value"
    if sign := _NOT_A_CHARACTER.search(text):
        return f"contains the character U+{ord(sign[0]):04X}, which XML does not have"
    if text != text.strip():
        return f"begins or ends with white space, which readers may drop: {text[:40]!r}"
    return None


def _name_problem(name: str) -> str | None:
    return None if _NAME.fullmatch(name) else f"has the name {name!r:.80}, which no XML element can have"


def _looks_like(text: str) -> str | None:
    if _LIKE_A_NUMBER.fullmatch(text):
        return "a number"
    if text.lower() in _LIKE_A_BOOLEAN:
        return "a boolean"
    return "null" if text.lower() in _LIKE_NOTHING else None


def _members_of(place: _Member) -> Iterator[_Member]:
    """Yield the members of an object or the items of a list."""
    value, type_ = place.value, place.type
    if isinstance(value, list):
        inner: Type = type_[0] if isinstance(type_, list) else "unknown"
        for index, item in enumerate(value):
            yield _Member(f"{place.path}[{index}]", item, inner, place.level, in_list=True)
    elif isinstance(value, Mapping):
        localized = language_of(value) is not None
        known = _LOCALIZED_ITEM if localized else type_ if isinstance(type_, Mapping) else {}
        for name, member in value.items():
            # A localized text is one element, whatever its members.
            level = place.level + (not localized)
            yield _Member(f"{place.path}.{name}", member, known.get(name, "unknown"), level)


def _called(type_: Any) -> str:
    return {"integer": "a whole number", "boolean": "true or false"}.get(type_, "a text")


# Bytes. The document is read into memory as a whole.
_LARGEST = 500_000_000
_NIL, _LANGUAGES = "xsi:nil", "languages"
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def parse_products(body: bytes) -> list[Product]:
    """Read the products of a SupplierProducts document.

    Raises
    ------
    InputError
        When it is not one; the message says why.

    Examples
    --------
    >>> parse_products(b"<SupplierProducts><product><lifeCycle>1</lifeCycle><isTaggedBy>new</isTaggedBy></product>"
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


def _product(element: XmlElement) -> Product:
    if element.name.rpartition(":")[2] != "product" or element.attributes or element.text.strip():
        raise MarkupRefused(
            f"SupplierProducts contains {element.name!r:.40}, and only product is allowed there"
        )
    return _members_read(element, PRODUCT)


def _members_read(element: XmlElement, types: Mapping[str, Type]) -> dict[str, Any]:
    groups: dict[str, list[XmlElement]] = {}
    for child in element.children:
        groups.setdefault(child.name.rpartition(":")[2], []).append(child)
    return {name: _member(several, types.get(name, "unknown")) for name, several in groups.items()}


def _member(several: list[XmlElement], type_: Type) -> Any:
    first = several[0]
    is_nil = first.attributes.get(_NIL) in {"true", "1"}
    is_list = type_ in ("localized", "array") or isinstance(type_, list)
    if len(several) == 1 and _LANGUAGES not in first.attributes and (is_nil or not is_list):
        return _read_value(first, type_)
    inner: Type = type_[0] if isinstance(type_, list) else "unknown"
    if is_list and (empty := next((one for one in several if _is_empty(one)), None)) is not None:
        raise MarkupRefused(_EMPTY.format(name=empty.name))
    return [_read_value(item, inner) for item in several]


#: An exporter writes such an element for what it does not have: read as a text, it would write over what is there.
_EMPTY = (
    "element {name!r:.40} is empty, which is neither a value nor says that there is none. Leave it out to keep what "
    'the product has, or mark it with xsi:nil="true"'
)


def _is_empty(element: XmlElement) -> bool:
    return not element.attributes and not element.children and not element.text.strip()


def _read_value(element: XmlElement, type_: Type) -> Any:
    marks = dict(element.attributes)
    nil = marks.pop(_NIL, None) in {"true", "1"}
    bare = not element.children and not (nil and element.text)
    match marks:
        case {"languages": code, **others} if bare and not others:
            return {"expressedIn": {"code": code}, "data": None if nil else element.text}
        case {} if not marks and nil and bare:
            return None
        case {} if not marks and not nil and element.children and not element.text.strip():
            return _members_read(element, type_ if isinstance(type_, Mapping) else {})
        case {} if _is_empty(element) and type_ not in ("text", "unknown"):
            raise MarkupRefused(_EMPTY.format(name=element.name))
        case {} if not marks and not nil and not element.children:
            return _typed_scalar(element.text, type_)
    if unknown := sorted(marks.keys() - {_LANGUAGES}):
        raise MarkupRefused(
            f"element {element.name!r:.40} has the XML attribute {unknown[0]!r:.40}, and only languages and xsi:nil "
            "are known. Write its value as plain elements"
        )
    raise MarkupRefused(f"element {element.name!r:.40} has an invalid combination of XML attributes and text")


def _typed_scalar(text: str, type_: Type) -> Any:
    """Return a value of this type; a text that does not fit remains text, for preflight or the service to refuse."""
    if type_ == "text":
        return text
    if type_ == "boolean":
        return _BOOLEANS.get(text.strip().lower(), text)
    if type_ == "integer" and _INTEGER.fullmatch(text):
        return int(text)
    return {"TRUE": True, "FALSE": False}.get(text, text) if type_ == "unknown" else text
