"""What services were seen to send otherwise than the specification says: codes as integers, blanks of several kinds.

Records are stored as the specification says; they are served otherwise where a setting asks for it.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from prodex.sandbox.upsert import SET_BY_EXCHANGE
from prodex.sandbox.wire import decode, encode

#: Attributes with codes of brands and kinds in them.
_WITH_CODES: Final = ("brand", "kind", "specializes", "lastRequest")
_CODE_VALUES: Final = frozenset({"brand", "kind", "isBrandedBy"})
_NO_DATA: Final = (b"null", b"[]")
#: Kinds of blank that were seen, the documented ones first.
_BLANKS: Final = (b"null", b"[]", b'""', b"{}")

Members = dict[str, msgspec.Raw]


def with_integer_codes(record: Mapping[str, msgspec.Raw]) -> Members:
    """Return a record in which codes of brands and kinds are integers where they are made of digits.

    Examples
    --------
    >>> from prodex.sandbox.wire import joined, members
    >>> joined(with_integer_codes(members(b'{"brand":{"code":"4001"},"kind":{"code":"TEA"}}')))
    b'{"brand":{"code":4001},"kind":{"code":"TEA"}}'
    """
    given = dict(record)
    for name in _WITH_CODES:
        if name in given and b'"code"' in bytes(given[name]):
            value = {name: decode(given[name])}
            _make_integers(value)
            given[name] = msgspec.Raw(encode(value[name]))
    return given


def with_odd_blanks(record: Mapping[str, msgspec.Raw]) -> Members:
    """Return a record in which attributes without data are null, an empty array, an empty text or an empty object.

    Which one it is, is settled by attribute and product, so that every reply says the same. What the exchange sets
    itself stays as it is.
    """
    id_ = bytes(record.get("id", b""))
    return {
        name: msgspec.Raw(_BLANKS[zlib.crc32(name.encode() + id_) % len(_BLANKS)])
        if bytes(raw) in _NO_DATA and name not in SET_BY_EXCHANGE
        else raw
        for name, raw in record.items()
    }


def _make_integers(value: Any) -> None:
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, dict):
            for name in _CODE_VALUES & node.keys():
                held = node[name]
                code = held.get("code") if isinstance(held, dict) else None
                # A code with a zero before it would lose it.
                if (
                    isinstance(code, str)
                    and code.isascii()
                    and code.isdigit()
                    and str(int(code[:30])) == code
                ):
                    held["code"] = int(code)
            pending.extend(node.values())
