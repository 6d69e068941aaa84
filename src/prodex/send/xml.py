"""Products as XML (spec, endpoint 7): SupplierProducts, a `product` each, elements named after attributes.

The specification shows plain elements, and one XML attribute: `languages` on a localized text. So an object is an
element with elements in it, a list is an element repeated, and a reader has only the attribute's type to tell what is
meant. `xml_limits` names what could not be read back as it was; that goes as JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Product = dict[str, Any]

CONTENT_TYPE = "application/xml"

_HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n<SupplierProducts>'
_RETURN = {"\r": "&#13;"}


def payload(products: Iterable[bytes]) -> bytes:
    """Put encoded products into one payload."""
    return b"\n".join([_HEAD, *products, b"</SupplierProducts>\n"])


def encoded(product: Product) -> bytes:
    """Write one product; `xml_limits.problems` must have found nothing.

    Examples
    --------
    >>> print(encoded({"gtin": "03036811359935", "isConsumerUnit": True, "lifeCycle": 1, "namePublicLong": [
    ...     {"expressedIn": {"code": "fra-FR"}, "data": "Pain & beurre"}]}).decode())
    <product><gtin>03036811359935</gtin><isConsumerUnit>true</isConsumerUnit><lifeCycle>1</lifeCycle>\
<namePublicLong languages="fra-FR">Pain &amp; beurre</namePublicLong></product>
    """
    return f"<product>{''.join(_members(product))}</product>".encode()


def language_of(item: Any) -> str | None:
    """Return the language code of a localized text that holds nothing else, or None."""
    match item:
        case {"expressedIn": {"code": str(code), **more}, "data": str(), **others} if not more and not others:
            return code
    return None


def _members(value: Mapping[str, Any]) -> Iterator[str]:
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
            return f"<{name}>{''.join(_members(value))}</{name}>"
    return f"<{name}>{escape(str(value), _RETURN)}</{name}>"
