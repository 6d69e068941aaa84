"""The top level of each product, read without decoding what is below: its key, what is filled, and the rest.

Arrow merges absent and null, takes a column as either number or text, and stops at a key given twice. So `id` and
`gtin`, which are sent as text and as number, are taken out here, presence is read from the bytes, and of a repeated key
the last one counts, as in every JSON reader.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from prodex.gtin import comparable
from prodex.tables.attributes import stored_column
from prodex.tables.declaration import TABLES
from prodex.tables.envelope import as_raw_json, escape_lone_surrogates
from prodex.tables.plain_walk import product_key
from prodex.tables.values import fit, moment_text, read_json, storable

#: The states of an attribute; `presence` holds their numbers.
PRESENCE = ("absent", "null", "empty", "filled")

_ABSENT, _NULL, _EMPTY, _FILLED = range(4)
#: Values whose bytes alone show that they are blank, and how long the longest of them is.
_BLANK = {b"null": _NULL, b"[]": _EMPTY, b"{}": _EMPTY, b'""': _EMPTY}
_LONGEST_BLANK = 4
_EMPTY_TEXT = msgspec.Raw(b'""')
#: White space between the tokens of JSON is this or less.
_SPACE = 32

_TOP = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Records(NamedTuple):
    """The top level of many products.

    Attributes
    ----------
    product_ids, gtins
        Their keys.
    presence
        For each top-level attribute seen, one number for each product, into `PRESENCE`.
    empty_texts
        For each attribute the indexes of the products on which it is "" and nothing more.
    not_strict
        For some products the attributes, decoded, that only a lenient reader accepts (NaN is no JSON).
    tops
        Their other attributes, as far as they are filled, undecoded.
    """

    product_ids: list[str]
    gtins: list[str | None]
    presence: dict[str, bytearray]
    empty_texts: dict[str, list[int]]
    not_strict: dict[int, dict[str, Any]]
    tops: list[dict[str, msgspec.Raw]]


def read_records(products: Sequence[bytes]) -> Records:
    """Read the top level of products, one JSON object each.

    >>> records = read_records([b'{"id": 7, "gtin": "03036811359935", "brand": null, "allergens": [], "lifeCycle": 1}'])
    >>> records.product_ids, records.gtins, [list(top) for top in records.tops]
    (['7'], ['03036811359935'], [['lifeCycle']])
    >>> {name: PRESENCE[faces[0]] for name, faces in records.presence.items()}
    {'id': 'filled', 'gtin': 'filled', 'brand': 'null', 'allergens': 'empty', 'lifeCycle': 'filled'}
    """
    records = Records([], [], {}, {}, {}, [])
    presence = _Presence(len(products))
    for index, product in enumerate(products):
        try:
            top = _TOP.decode(product)
        except (msgspec.DecodeError, UnicodeDecodeError):
            top = _leniently(product, index, records)
        presence.add(top, blank := _blank_ones(top))
        for name in blank:
            if top[name] == _EMPTY_TEXT:
                if name in _TEXTS_OF_ROOT:
                    continue
                records.empty_texts.setdefault(name, []).append(index)
            # Many records use null, [], {} and "" alike.
            del top[name]
        identity, gtin = _key_scalar(top.get("id")), _key_scalar(top.get("gtin"))
        if key := fit(identity, "code"):
            del top["id"]
        else:
            key = _key_without_id(product, top.get("uuid"), gtin)
        # What is no code, such as a list, stays in the record and is flattened like any attribute.
        if (text := fit(gtin, "code")) is not None:
            del top["gtin"]
        for name in records.not_strict.get(index, ()):
            del top[name]
        records.product_ids.append(key)
        records.gtins.append(text)
        records.tops.append(top)
    records.presence.update(presence.states())
    return records


_NULL_RAW = msgspec.Raw(b"null")


class _Key(msgspec.Struct):
    id: msgspec.Raw = _NULL_RAW
    uuid: msgspec.Raw = _NULL_RAW
    gtin: msgspec.Raw = _NULL_RAW
    updated_at: msgspec.Raw = msgspec.field(name="updatedAt", default=_NULL_RAW)


_KEY = msgspec.json.Decoder(_Key)


class Identity(NamedTuple):
    """What distinguishes one product, and one state of it, from another.

    Attributes
    ----------
    product_id
        Its key, as the tables have it.
    updated_at
        `updatedAt` in the form in which times are compared (see `moment_text`), or None.
    gtin
        Its GTIN, or None.
    """

    product_id: str
    updated_at: str | None = None
    gtin: str | None = None

    @property
    def filled_gtin(self) -> str | None:
        """The GTIN, filled up with zeros to 14 digits, as queries ask for it."""
        return comparable(self.gtin)


def identify(product: msgspec.Raw | bytes) -> Identity | None:
    """Return the identity of one product, or None for what is no object.

    >>> identify(b'{"id": "7", "gtin": 3036811359935, "updatedAt": "2026-11-20T08:00:00"}')
    Identity(product_id='7', updated_at='2026-11-20T08:00:00', gtin='3036811359935')
    >>> identify(b'{"id": 7, "netWeight": NaN}'), identify(b"null")
    (Identity(product_id='7', updated_at=None, gtin=None), None)
    """
    try:
        top = _KEY.decode(product)
    except (msgspec.DecodeError, UnicodeDecodeError):
        if (found := _key_leniently(bytes(product))) is None:
            return None
        top = found
    gtin = _key_scalar(top.gtin)
    if not (key := fit(_key_scalar(top.id), "code")):
        key = _key_without_id(bytes(product), top.uuid, gtin)
    updated_at = _key_scalar(top.updated_at)
    is_text = isinstance(updated_at, str)
    return Identity(str(key), moment_text(updated_at) if is_text else None, fit(gtin, "code"))


def _key_leniently(product: bytes) -> _Key | None:
    """Read the keys of a product that only Python's own reader accepts, such as one with NaN."""
    try:
        top = json.loads(product)
    except (ValueError, RecursionError):
        return None
    if not isinstance(top, dict):
        return None
    return _Key(*(as_raw_json(top.get(name)) for name in ("id", "uuid", "gtin", "updatedAt")))


def presence_columns(records: Records) -> dict[str, pa.DictionaryArray]:
    """Return the presence of each top-level attribute as a column of words."""
    words = pa.array(PRESENCE)
    return {
        stored_column(name): pa.DictionaryArray.from_arrays(np.frombuffer(faces, np.int8), words)
        for name, faces in records.presence.items()
    }


def _blank_ones(top: dict[str, msgspec.Raw]) -> dict[str, int]:
    """Return the states of the attributes of a product that are not filled."""
    # Nearly all values are longer, and do not begin with white space. What is shorter may be blank.
    looked_at = {
        name: value
        for name, raw in top.items()
        if len(value := bytes(raw)) <= _LONGEST_BLANK or value[1] <= _SPACE
    }
    states = {}
    for name, value in looked_at.items():
        if value in _BLANK:
            states[name] = _BLANK[value]
        elif value[0] in b"[{" and value[1:-1].isspace():
            states[name] = _EMPTY
    return states


class _Presence:
    """Collects which attributes each of so many products has."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._rows: dict[str, int] = {}
        self._came: list[int] = []
        self._sizes: list[int] = []
        self._blank: list[tuple[str, int, int]] = []

    def add(self, top: dict[str, msgspec.Raw], blank: dict[str, int]) -> None:
        """Add the next product: all its attributes, and the states of those that are blank."""
        rows = self._rows
        try:
            came = [rows[name] for name in top]
        except KeyError:
            came = [rows.setdefault(name, len(rows)) for name in top]
        self._blank += [(name, len(self._sizes), state) for name, state in blank.items()]
        self._came += came
        self._sizes.append(len(came))

    def states(self) -> dict[str, bytearray]:
        """Return the state of every attribute of every product."""
        states = np.full((len(self._rows), self._count), _ABSENT, np.int8)
        states[self._came, np.repeat(np.arange(self._count), self._sizes)] = _FILLED
        for name, index, state in self._blank:
            states[self._rows[name], index] = state
        return {name: bytearray(states[row]) for name, row in self._rows.items()}


# An empty text of these is a value of the row itself.
_TEXTS_OF_ROOT = {"id", "gtin", "code", "label", "description", "data"}
_TEXTS_OF_ROOT |= {
    path[0] for column in TABLES["products"].columns for path in column.paths if len(path) == 1
}


#: Digits of a whole number that need no care.
_SHORT = 18


def _key_scalar(raw: msgspec.Raw | None) -> Any:
    """Decode a key; what is no scalar is none."""
    value = b"null" if raw is None else bytes(raw)
    if value[:1] in b"[{":
        return None
    if value[:1] == b'"' and b"\\" not in value:  # most keys are plain text, and there are many
        return value[1:-1].decode()
    if len(value) <= _SHORT and value.isdigit():  # and most others whole numbers
        return int(value)
    return read_json(value)


def _key_without_id(product: bytes, uuid: msgspec.Raw | None, gtin: Any) -> str:
    for value in (_key_scalar(uuid), gtin):
        if key := fit(value, "code"):
            return str(key)
    return product_key(read_json(product))


def _leniently(product: bytes, index: int, records: Records) -> dict[str, msgspec.Raw]:
    """Read what the strict reader refuses and Python's own accepts: half a surrogate pair, or NaN."""
    top = {}
    for key, value in json.loads(product).items():
        name, text = storable(key), json.dumps(value)
        top[name] = msgspec.Raw(escape_lone_surrogates(text.encode()))
        try:
            _TOP_VALUE.decode(top[name])
        except msgspec.DecodeError:
            records.not_strict.setdefault(index, {})[name] = value
    return top


_TOP_VALUE = msgspec.json.Decoder(msgspec.Raw)
