"""Batches: products encoded as JSON or XML and split into calls, and the state of each call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from prodex.arguments import whole_number
from prodex.changes import MAINTAINED_BY_SERVICE
from prodex.errors import InputError
from prodex.send import xml
from prodex.send.records import Product
from prodex.written_json import written_json

#: The state of a call: it returned a tracking identifier; the service accepted it, but the identifier cannot be read;
#: its reply was lost; the service refused it; or it was not made.
Sent = Literal["sent", "accepted", "unknown", "refused", "not sent"]

#: The states in which the service has the products, or may have them.
ARRIVED = frozenset({"sent", "accepted", "unknown"})


@dataclass(frozen=True, slots=True)
class Batch:
    """Products that are sent in one call.

    Attributes
    ----------
    gtins
        Their GTINs, without those that were left out; none for an import that was not sent from here.
    sent
        The state of the call.
    tracking
        Its tracking identifier as the service wrote it, or None.
    message
        Why it was not sent, or how its reply was lost.
    arrived
        The GTINs for which the service has shown what was sent, although it never confirmed it.
    continued_by
        Name of the upsert that sends these products instead, or those that have not arrived; else "".
    left_out
        The GTINs that were planned for the call and are never sent by it, each with the reason: somebody has changed
        the product since its corrections were merged with it.
    is_left_out
        Whether these are the products that were left out of a call; see `by_call`.
    """

    gtins: tuple[str, ...]
    sent: Sent
    tracking: str | None = None
    message: str = ""
    arrived: frozenset[str] = frozenset()
    continued_by: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    is_left_out: bool = False

    def by_call(self) -> Iterator[Batch]:
        """Yield the products of the call, and those that were left out of it as batches that are not sent."""
        if self.gtins or not self.left_out:
            yield replace(self, left_out={}) if self.left_out else self
        for why in dict.fromkeys(self.left_out.values()):
            gtins = tuple(gtin for gtin, reason in self.left_out.items() if reason == why)
            yield Batch(gtins, "not sent", message=why, is_left_out=True)

    @property
    def has_arrived(self) -> bool:
        """Whether the service was seen to have all of it."""
        return bool(self.gtins) and self.arrived.issuperset(self.gtins)

    @property
    def is_done(self) -> bool:
        """Whether its payload is not needed any more."""
        is_empty = bool(self.left_out) and not self.gtins
        return self.sent in {"sent", "accepted"} or bool(self.continued_by) or self.has_arrived or is_empty


class Loaded(NamedTuple):
    """A loaded product with which corrections were merged: its key and its `updatedAt`."""

    product: str
    updated_at: str | None


class Planned(NamedTuple):
    """One batch of a plan; `loaded` and `edits` are parallel to the GTINs, or empty if nothing was merged.

    `edits` has a digest of each correction of a product (`prodex.send.earlier_upserts`). `sizes` has the bytes of each
    product in the body, parallel to the GTINs; without them the body is sent as a whole, or not at all.
    """

    body: bytes
    gtins: tuple[str, ...]
    loaded: tuple[Loaded, ...] = ()
    edits: tuple[tuple[str, ...], ...] = ()
    sizes: tuple[int, ...] = ()


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
    "xml": Encoding(xml.CONTENT_TYPE, xml.encoded, xml.payload, xml.BEGINS, xml.BETWEEN),
}


def encoding_of(content_type: str) -> Encoding:
    """Return the encoding of payloads by their content type."""
    return next(one for one in ENCODINGS.values() if one.content_type == content_type)


def batches_of(
    products: Sequence[Product], encoding: Encoding, batch_size: int
) -> Iterator[tuple[bytes, tuple[str, ...], tuple[int, ...]]]:
    """Yield payloads with the GTINs and the sizes of their products, each within the limits of number and bytes."""
    items: list[bytes] = []
    gtins: list[str] = []
    size = 0
    for product in products:
        item = encoding.one(writable(product))
        # A single product above the limit is still sent: only the service can refuse it.
        if items and (len(items) == batch_size or size + len(item) > _LARGEST_BODY):
            yield encoding.all(items), tuple(gtins), tuple(map(len, items))
            items, gtins, size = [], [], 0
        items.append(item)
        gtins.append(product["gtin"])
        size += len(item)
    if items:
        yield encoding.all(items), tuple(gtins), tuple(map(len, items))


def writable(product: Product) -> Product:
    """Return a product without the attributes that the service maintains: as it is sent."""
    kept = {name: value for name, value in product.items() if name not in MAINTAINED_BY_SERVICE}
    if isinstance(assets := kept.get("assets"), dict) and "lastUpdatedAt" in assets:
        kept["assets"] = {name: value for name, value in assets.items() if name != "lastUpdatedAt"}
    return kept


def checked_batch_size(size: int) -> int:
    """Return the number of products in one call, if the service accepts it.

    Raises
    ------
    InputError
        When it is not a whole number from 1 to 500.
    """
    if (whole := whole_number(size, 1, LARGEST_BATCH)) is None:
        raise InputError(f"batch_size is {size!r}; give a whole number from 1 to {LARGEST_BATCH}.")
    return whole
