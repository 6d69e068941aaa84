"""Excerpts of records: the members that a store looks at when it is filled, read without decoding the others.

A record of 10 kB holds some thousand values, and a store looks at fifty of them. What is skipped is checked all the
same: that it is JSON, that its texts are UTF-8, and that its numbers are no longer than Python reads. A record that
does not pass here, or whose members have other types than expected, is decoded as a whole; that alone decides on it.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypedDict

import msgspec

from prodex_sandbox.raw_json import decode
from prodex_sandbox.records.referentials import DESCRIBED_ATTRIBUTES


class _Item(msgspec.Struct, gc=False):
    expressedIn: msgspec.Raw = msgspec.Raw(b"null")  # noqa: N815 - as on the wire


class _Picture(TypedDict, total=False):
    isPackshot: Any


class _AssetDates(TypedDict, total=False):
    pictures: Any


class _Assets(TypedDict, total=False):
    pictures: list[_Picture | None] | None
    lastUpdatedAt: _AssetDates | None


class _Members(TypedDict, total=False):
    id: Any
    uuid: Any
    gtin: Any
    updatedAt: Any
    isConsumerUnit: Any
    isDisplayUnit: Any
    owner: Any
    manufacturerSharingStatus: Any
    targetProductStatus: Any
    validation: Any
    product_key: Any
    hasTags: Any
    isTaggedBy: Any
    GPC: Any
    brand: Any
    kind: Any
    typePackaging: Any
    assets: _Assets | None
    # Of a service reply, which is several records.
    data: msgspec.Raw


# Localized texts and quantities: many items, in few languages and units.
_DESCRIBED: Final = dict.fromkeys(DESCRIBED_ATTRIBUTES, list[_Item | None] | None)
_MEMBERS: Final = msgspec.json.Decoder(
    TypedDict("_Members", {**_Members.__annotations__, **_DESCRIBED}, total=False)  # type: ignore[operator]
)

# Python refuses integers of more digits than `sys.get_int_max_str_digits`, which is 640 or more: so many that one byte
# in a hundred is enough to see them.
_SAMPLED: Final = 100
_LONG_NUMBER: Final = re.compile(rb"[0-9]{6}")


class Excerpts:
    """Makes excerpts of the records of a store.

    Of localized texts and quantities, an excerpt has the items with a language or unit that no earlier one had: all
    that referentials are made of.
    """

    def __init__(self) -> None:
        self._described: dict[str, set[bytes]] = {name: set() for name in DESCRIBED_ATTRIBUTES}

    def of(self, body: bytes) -> dict[str, Any] | None:
        """Return the excerpt of a record; None where the bytes have to be decoded as a whole to say what they are."""
        if _LONG_NUMBER.search(body[::_SAMPLED]):
            return None
        try:
            if not body.isascii():
                body.decode()
            excerpt: dict[str, Any] = _MEMBERS.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if "data" in excerpt:
            return None
        for name, seen in self._described.items():
            if items := excerpt.get(name):
                found = {bytes(item.expressedIn) for item in items if item is not None}
                excerpt[name] = [] if found <= seen else self._new(items, seen)
        return excerpt

    @staticmethod
    def _new(items: list[_Item | None], seen: set[bytes]) -> list[dict[str, Any]]:
        new: dict[bytes, None] = {}
        for item in items:
            if item is not None and (raw := bytes(item.expressedIn)) not in seen:
                new[raw] = None
        seen.update(new)
        return [{"expressedIn": decode(raw)} for raw in new]
