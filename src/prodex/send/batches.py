"""Batches: products encoded as JSON or XML, and split into calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from prodex.advice import Argument, advice
from prodex.arguments import whole_number
from prodex.errors import InputError
from prodex.ledger.earlier_records import without_maintained
from prodex.send import xml
from prodex.send.records import Product
from prodex.written_json import written_json

Format = Literal["json", "xml"]

#: Products in one call, as the operators of the service recommend.
LARGEST_BATCH = 500

#: Bytes in one call: the specification shows no limit, but servers have one (often 10 MB).
_LARGEST_BODY = 8_000_000


class Encoding(NamedTuple):
    """How products are encoded: content type, one product, and the payload of several.

    `begins` and `between` are the bytes in a payload before the first product, and between two.
    """

    content_type: str
    one: Callable[[Product], bytes]
    all: Callable[[Sequence[bytes]], bytes]
    begins: int
    between: int

    def without(self, body: bytes, sizes: Sequence[int], places: Collection[int]) -> bytes:
        """Return a payload without the products at some places; the others stay byte by byte as they are.

        >>> json_, (one, other) = ENCODINGS["json"], (b'{"a":1.0}', b'{"b":1e400}')
        >>> json_.without(json_.all([one, other]), [len(one), len(other)], {0})
        b'{"data":[{"b":1e400}]}'
        """
        items, at = [], self.begins
        for place, size in enumerate(sizes):
            if place not in places:
                items.append(body[at : at + size])
            at += size + self.between
        return self.all(items)


def _json(product: Product) -> bytes:
    """Encode a product as services do: compact, and without escapes for letters; what was loaded as it was written."""
    return written_json(product).encode()


#: The encodings by format.
ENCODINGS: Mapping[Format, Encoding] = {
    "json": Encoding(
        "application/json", _json, lambda items: b'{"data":[' + b",".join(items) + b"]}", len('{"data":['), 1
    ),
    "xml": Encoding(xml.CONTENT_TYPE, xml.encode_product, xml.join_products, xml.BEGINS, xml.BETWEEN),
}


def encoding_of(content_type: str) -> Encoding:
    """Return the encoding of payloads by their content type."""
    return next(one for one in ENCODINGS.values() if one.content_type == content_type)


def make_batches(
    products: Sequence[Product], encoding: Encoding, batch_size: int
) -> Iterator[tuple[bytes, tuple[str, ...], tuple[int, ...]]]:
    """Yield payloads with the GTINs and the sizes of their products, each within the limits of number and bytes."""
    items: list[bytes] = []
    gtins: list[str] = []
    size = 0
    for product in products:
        item = encoding.one(without_maintained(product))
        # A single product above the limit is still sent: only the service can refuse it.
        if items and (len(items) == batch_size or size + len(item) > _LARGEST_BODY):
            yield encoding.all(items), tuple(gtins), tuple(map(len, items))
            items, gtins, size = [], [], 0
        items.append(item)
        gtins.append(product["gtin"])
        size += len(item)
    if items:
        yield encoding.all(items), tuple(gtins), tuple(map(len, items))


def checked_batch_size(size: int) -> int:
    """Return the number of products in one call, if the service accepts it.

    Raises
    ------
    InputError
        When it is not a whole number from 1 to 500.
    """
    if (whole := whole_number(size, 1, LARGEST_BATCH)) is None:
        raise InputError(
            advice(
                "{size} is {given}; give a whole number from 1 to {most}.",
                size=Argument("batch_size"),
                given=repr(size),
                most=LARGEST_BATCH,
            )
        )
    return whole
