"""Products as payloads: written as JSON or XML, cut so that each is small enough in number and in bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from prodex.send import xml
from prodex.send.records import KEPT_BY_THE_SERVICE, Product

Format = Literal["json", "xml"]

#: Bytes in one call; the specification shows no limit, and services have one.
_LARGEST_BODY = 8_000_000


class Way(NamedTuple):
    """How products are written."""

    content_type: str
    one: Callable[[Product], bytes]
    all: Callable[[Sequence[bytes]], bytes]


def _json(product: Product) -> bytes:
    """Write a product as services do: compact, and letters as they are."""
    try:
        return json.dumps(product, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half a surrogate pair has no UTF-8; its escape is the only way to send it
        return json.dumps(product, separators=(",", ":")).encode()


#: The ways to write products, by format.
WAYS: Mapping[Format, Way] = {
    "json": Way("application/json", _json, lambda items: b'{"data":[' + b",".join(items) + b"]}"),
    "xml": Way(xml.CONTENT_TYPE, xml.encoded, xml.payload),
}


def batches_of(
    products: Sequence[Product], way: Way, batch_size: int
) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """Yield payloads with the GTINs in them, small enough in number and in bytes."""
    items: list[bytes] = []
    gtins: list[str] = []
    size = 0
    for product in products:
        item = way.one(writable(product))
        if items and (len(items) == batch_size or size + len(item) > _LARGEST_BODY):
            yield way.all(items), tuple(gtins)
            items, gtins, size = [], [], 0
        items.append(item)
        gtins.append(product["gtin"])
        size += len(item)
    if items:
        yield way.all(items), tuple(gtins)


def writable(product: Product) -> Product:
    """Return a product without what the service keeps itself: as it is sent."""
    kept = {name: value for name, value in product.items() if name not in KEPT_BY_THE_SERVICE}
    if isinstance(assets := kept.get("assets"), dict) and "lastUpdatedAt" in assets:
        kept["assets"] = {name: value for name, value in assets.items() if name != "lastUpdatedAt"}
    return kept
