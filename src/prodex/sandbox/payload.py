"""The payload of an upsert: from a body to the members of each product (spec, endpoint 7)."""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import Final

import msgspec

from prodex.sandbox.supplier_products import UnreadableProduct, read_supplier_products
from prodex.sandbox.wire import encode, items, members

JSON: Final = "application/json"
XML: Final = "application/xml"

#: The members of a product as they were sent, each value still as its JSON bytes.
Members = dict[str, msgspec.Raw]


class Unreadable(dict[str, msgspec.Raw]):
    """A product with a value that is not what its attribute holds; its gtin is all that was read of it.

    Attributes
    ----------
    message
        Which value of which attribute it is.
    """

    def __init__(self, gtin: str, message: str) -> None:
        super().__init__(gtin=msgspec.Raw(encode(gtin)))
        self.message = message


class PayloadUnreadable(Exception):
    """The payload breaks the format; the message says where."""


def read_payload(body: bytes, media_type: str, most: int) -> list[Members]:
    """Return the products of a payload, `most` of them at most; some may be `Unreadable`.

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
            raise PayloadUnreadable('The payload is JSON, but no object; send {"data": [...]}.')
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
            Unreadable(product.gtin, product.message)
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
