"""Batches: the products of one call, before it and after it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from prodex.send import xml_writing
from prodex.send.records import KEPT_BY_THE_SERVICE, Product

#: What became of a batch on its way: it got its tracking identifier; the service accepted it under an identifier that
#: cannot be read; its answer was lost; the service refused it; or it was not sent.
Sent = Literal["sent", "accepted", "unknown", "refused", "not sent"]

#: Of these, what the service has, or may have.
ARRIVED = frozenset({"sent", "accepted", "unknown"})


@dataclass(frozen=True, slots=True)
class Batch:
    """Products that are sent in one call.

    Attributes
    ----------
    gtins
        Their GTINs; none for an import that somebody else sent.
    sent
        What became of the call.
    tracking
        Its tracking identifier as the service wrote it, or None where none came.
    message
        Why it was not sent, or how its answer was lost.
    """

    gtins: tuple[str, ...]
    sent: Sent
    tracking: str | None = None
    message: str = ""


class Loaded(NamedTuple):
    """A product whose corrections were merged with what was loaded: its key, and its `updatedAt` then."""

    product: str
    updated_at: str | None


class Planned(NamedTuple):
    """One batch of a plan; `loaded` goes with the GTINs, and is empty where nothing was merged."""

    body: bytes
    gtins: tuple[str, ...]
    loaded: tuple[Loaded, ...] = ()


Format = Literal["json", "xml"]

#: Bytes in one call; the specification shows no limit, and services have one.
_LARGEST_BODY = 8_000_000


class Encoding(NamedTuple):
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
ENCODINGS: Mapping[Format, Encoding] = {
    "json": Encoding("application/json", _json, lambda items: b'{"data":[' + b",".join(items) + b"]}"),
    "xml": Encoding(xml_writing.CONTENT_TYPE, xml_writing.encoded, xml_writing.payload),
}


def batches_of(
    products: Sequence[Product], way: Encoding, batch_size: int
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
