"""The top level of each product, read without decoding what is below: its key, what is filled, and the rest.

Arrow merges absent and null, takes a column as either number or text, and stops at a key given twice. So `id` and
`gtin`, which are sent as text and as number, are taken out here, presence is read from the bytes, and of a repeated key
the last one counts, as in every JSON reader.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prodex.gtin import comparable
from prodex.tables.attributes import stored_column
from prodex.tables.declaration import TABLES
from prodex.tables.envelope import escape_lone_surrogates
from prodex.tables.fill_state import STATES, FillState
from prodex.tables.plain_walk import product_key
from prodex.tables.unreadable import unreadable_attributes
from prodex.tables.values import fit, moment_text, read_json, storable
from prodex.written_json import read_written, written_json

_ABSENT, _NULL, _EMPTY, _FILLED = (
    state.number for state in (FillState.ABSENT, FillState.NULL, FillState.EMPTY, FillState.FILLED)
)

#: A list or an object without anything in it, and a text without letters, are this long.
_NOTHING = 2
#: White space between the tokens of JSON is this or less.
_SPACE = 32
#: Products that are looked at together: what is copied of them meanwhile stays in the cache of the processor.
_TOGETHER = 200

_TOP = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Records(NamedTuple):
    """The top level of many products.

    Attributes
    ----------
    product_ids, gtins
        Their keys.
    presence
        For each top-level attribute seen, one `FillState.number` for each product.
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


def read_records(
    products: Sequence[bytes | memoryview], rewritten: Callable[[bytes], bytes] | None = None
) -> Records:
    """Read the top level of products, one JSON object each.

    Parameters
    ----------
    products
        The products.
    rewritten
        Returns the JSON from which the attributes of a product are read; a key is of the product as it was received.

    Examples
    --------
    >>> records = read_records([b'{"id": 7, "gtin": "03036811359935", "brand": null, "allergens": [], "lifeCycle": 1}'])
    >>> records.product_ids, records.gtins, [list(top) for top in records.tops]
    (['7'], ['03036811359935'], [['lifeCycle']])
    >>> {name: str(STATES[faces[0]]) for name, faces in records.presence.items()}
    {'id': 'filled', 'gtin': 'filled', 'brand': 'null', 'allergens': 'empty', 'lifeCycle': 'filled'}
    """
    tops: list[dict[str, msgspec.Raw]] = []
    not_strict: dict[int, dict[str, Any]] = {}
    read = products if rewritten is None else map(rewritten, map(bytes, products))
    for index, product in enumerate(read):
        try:
            tops.append(_TOP.decode(product))
        except (msgspec.DecodeError, UnicodeDecodeError):
            tops.append(_leniently(bytes(product), index, not_strict))
    states, empty_texts = _take_blank_ones(tops)
    product_ids = _codes([top.get("id") for top in tops])
    gtins = _codes([top.get("gtin") for top in tops])
    keys: list[str] = []
    for product, top, identity, gtin in zip(products, tops, product_ids, gtins, strict=True):
        if identity:
            del top["id"]
        # What is no code, such as a list, stays in the record and is flattened like any attribute.
        if gtin is not None:
            del top["gtin"]
        keys.append(identity or _key_without_id(bytes(product), top.get("uuid"), gtin))
    for index, attributes in not_strict.items():
        for name in attributes:
            tops[index].pop(name, None)
    return Records(keys, gtins, states, empty_texts, not_strict, tops)


_NULL_RAW = msgspec.Raw(b"null")


class _PlainKey(msgspec.Struct):
    """Keys as nearly all products have them."""

    id: str | int | None = None
    gtin: str | int | None = None
    updated_at: str | None = msgspec.field(name="updatedAt", default=None)


_PLAIN_KEY = msgspec.json.Decoder(_PlainKey)


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
        key = _PLAIN_KEY.decode(product)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _identity_of_any(product)
    if not key.id:
        return _identity_of_any(product)
    updated_at = None if key.updated_at is None else moment_text(key.updated_at)
    return Identity(str(key.id), updated_at, None if key.gtin is None else str(key.gtin))


def _identity_of_any(product: msgspec.Raw | bytes) -> Identity | None:
    """Return the identity of a product whose keys are of any form."""
    try:
        top = _KEY.decode(product)
    except (msgspec.DecodeError, UnicodeDecodeError):
        if (found := _key_leniently(bytes(product))) is None:
            return None
        top = found
    gtin = _key_scalar(top.gtin)
    if not (key := fit(_key_scalar(top.id), "code")):
        key = _key_without_id(bytes(product), top.uuid, gtin)
    updated_at = fit(_key_scalar(top.updated_at), "string")
    return Identity(str(key), None if updated_at is None else moment_text(updated_at), fit(gtin, "code"))


def _key_leniently(product: bytes) -> _Key | None:
    """Read the keys of a product that only Python's own reader accepts, such as one with NaN."""
    try:
        top = read_written(product)
    except (ValueError, RecursionError):
        return None
    if not isinstance(top, dict):
        return None
    names = ("id", "uuid", "gtin", "updatedAt")
    return _Key(*(msgspec.Raw(written_json(top.get(name)).encode()) for name in names))


def presence_columns(records: Records, tables: Mapping[str, pa.Table]) -> dict[str, pa.DictionaryArray]:
    """Return the state of each attribute at the top as a column of words; tables show what cannot be read."""
    words = pa.array(map(str, STATES), pa.string())
    states = {name: np.frombuffer(faces, np.int8) for name, faces in records.presence.items()}
    for name, there in unreadable_attributes(tables, states).items():
        states[name][there] = FillState.UNREADABLE.number
    return {
        stored_column(name): pa.DictionaryArray.from_arrays(numbers, words)
        for name, numbers in states.items()
    }


def _take_blank_ones(
    tops: Sequence[dict[str, msgspec.Raw]],
) -> tuple[dict[str, bytearray], dict[str, list[int]]]:
    """Take what is blank out of products; return the state of every attribute, and who has an empty text.

    Many records use null, [], {} and "" alike. How a value begins and how long it is show which of these it is: all
    values of many products are looked at together, and only the few that are blank one by one.
    """
    rows = defaultdict[str, int]()
    rows.default_factory = rows.__len__  # whoever is new gets the next row
    states: list[npt.NDArray[np.int8]] = []
    empty_texts: dict[str, list[int]] = {}
    for start in range(0, len(tops), _TOGETHER):
        some = tops[start : start + _TOGETHER]
        names = list(chain.from_iterable(some))
        values = list(chain.from_iterable(map(dict.values, some)))
        owners = np.repeat(np.arange(len(some)), list(map(len, some)))
        faces, is_text = _faces(values)
        blank = np.flatnonzero(faces != _FILLED)
        for place, owner, text in zip(
            blank.tolist(), owners[blank].tolist(), is_text[blank].tolist(), strict=True
        ):
            name = names[place]
            if text:
                if name in _TEXTS_OF_ROOT:
                    continue
                empty_texts.setdefault(name, []).append(start + owner)
            del some[owner][name]
        of_rows = np.fromiter(map(rows.__getitem__, names), np.intp, len(names))
        states.append(np.full((len(rows), len(some)), _ABSENT, np.int8))
        states[-1][of_rows, owners] = faces
    return {name: _joined_states(states, row) for name, row in rows.items()}, empty_texts


def _faces(values: Sequence[msgspec.Raw]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
    """Return the state of each value, and which are texts."""
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    content = np.frombuffer(b"".join(values), np.uint8)
    starts = np.cumsum(lengths) - lengths
    # A value is one token of valid JSON, so that its first letter says what it is.
    begins = content[starts]
    is_text, is_open = begins == ord('"'), (begins == ord("[")) | (begins == ord("{"))
    faces = np.full(len(values), _FILLED, np.int8)
    faces[begins == ord("n")] = _NULL
    faces[(lengths == _NOTHING) & (is_text | is_open)] = _EMPTY
    spaced = is_open & (content[np.minimum(starts + 1, len(content) - 1)] <= _SPACE)
    for place in np.flatnonzero(spaced).tolist():
        if bytes(values[place])[1:-1].isspace():
            faces[place] = _EMPTY
    return faces, is_text


def _joined_states(states: Sequence[npt.NDArray[np.int8]], row: int) -> bytearray:
    """Return the states of one attribute; those who came before it was seen lack it."""
    return bytearray().join(
        some[row].tobytes() if row < len(some) else bytes([_ABSENT]) * some.shape[1] for some in states
    )


# An empty text of these is a value of the row itself.
_TEXTS_OF_ROOT = {"id", "gtin", "code", "label", "description", "data"}
_TEXTS_OF_ROOT |= {
    path[0] for column in TABLES["products"].columns for path in column.paths if len(path) == 1
}


#: Digits of a whole number that need no care.
_SHORT = 18


def _codes(raws: Sequence[msgspec.Raw | None]) -> list[str | None]:
    """Return the codes of products: mostly all are whole numbers, or all plain texts, which are read at once."""
    lengths = [0 if raw is None else len(raw) for raw in raws]
    if all(lengths):
        joined = b",".join(raws)  # type: ignore[arg-type]
        if joined.replace(b",", b"").isdigit() and max(lengths) <= _SHORT:
            return list(joined.decode().split(","))
        # Where a quote begins and ends each of them, all are texts.
        texts = joined[1:-1].split(b'","') if joined[:1] == joined[-1:] == b'"' else []
        if b"\\" not in joined and [len(text) + 2 for text in texts] == lengths:
            return [text.decode() for text in texts]
    return [fit(_key_scalar(raw), "code") for raw in raws]


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


def _leniently(product: bytes, index: int, not_strict: dict[int, dict[str, Any]]) -> dict[str, msgspec.Raw]:
    """Read what the strict reader refuses and Python's own accepts: half a surrogate pair, or NaN."""
    top = {}
    for key, value in read_written(product).items():
        name, text = storable(key), written_json(value).encode()
        top[name] = msgspec.Raw(escape_lone_surrogates(text))
        try:
            _TOP_VALUE.decode(top[name])
        except msgspec.DecodeError:
            not_strict.setdefault(index, {})[name] = read_json(text)
    return top


_TOP_VALUE = msgspec.json.Decoder(msgspec.Raw)
