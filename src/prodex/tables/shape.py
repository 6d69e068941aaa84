"""The type that products were seen to have: a cache that lets a whole page be parsed at once.

A shape is an Arrow type learnt from products, never guessed from text: strings stay strings, every number is a
double, null and empty lists leave room for what may come. Losing the cache costs time and changes nothing, since
attributes that the shape does not accept go the plain way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec
import pyarrow as pa

from prodex.tables.values import type_of

#: Deeper or wider than this a shape does not grow; such products stay odd.
MAX_DEPTH = 32
MAX_FIELDS = 6000


@dataclass(frozen=True)
class Shape:
    """One accepted type of product: an Arrow struct type and, made when needed, its strict reader."""

    type: pa.StructType

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(list(self.type))

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[Any]:
        return msgspec.json.Decoder(_strict(self.type, "product"))

    def accepts(self, body: bytes) -> bool:
        """Whether this product holds no field and no JSON type that the shape does not know."""
        return _takes(self._decoder, body)

    def accepts_attribute(self, name: str, raw: msgspec.Raw) -> bool:
        """Whether this value of one top-level attribute does."""
        decoder = self._attribute_decoders.get(name)
        if decoder is None:
            index = self.type.get_field_index(name)
            if index < 0:
                return False
            decoder = msgspec.json.Decoder(_strict(self.type.field(index).type, "attribute"))
            self._attribute_decoders[name] = decoder
        return _takes(decoder, raw)

    @cached_property
    def _attribute_decoders(self) -> dict[str, msgspec.json.Decoder[Any]]:
        return {}

    def widened(self, products: Iterable[Mapping[str, Any]], *, at_least: int = 2) -> Shape:
        """Return a shape that also knows what at least so many of these products show.

        Where products contradict the shape, the shape stays; where they contradict each other, the more frequent
        JSON type wins.
        """
        seen = _Seen()
        for product in products:
            seen.add(product)
        wider = _union(self.type, seen.arrow_type(at_least))
        return self if wider.equals(self.type) or _size(wider) > MAX_FIELDS else Shape(wider)


def _takes(decoder: msgspec.json.Decoder[Any], value: bytes | msgspec.Raw) -> bool:
    try:
        decoder.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


EMPTY = Shape(pa.struct([]))


_SCALARS = {"string": pa.string(), "boolean": pa.bool_(), "number": pa.float64()}
#: What the strict reader takes for each of these; anything else has only been seen as null.
_READ_AS = {pa.string(): str | None, pa.bool_(): bool | None, pa.float64(): float | None}

# Stands for items of which only null was seen: Arrow's reader makes invalid arrays of lists of its null type.
_EMPTY_OBJECT = pa.struct([])


@dataclass
class _Seen:
    """How often each JSON type was seen at one place, and what was seen below it."""

    kinds: Counter[str] = field(default_factory=Counter)
    fields: dict[str, _Seen] = field(default_factory=dict)
    item: _Seen | None = None

    def add(self, value: Any, depth: int = 0) -> None:
        if value is None or type(value) in type_of:
            self.kinds["null" if value is None else type_of[type(value)]] += 1
        elif depth >= MAX_DEPTH:
            self.kinds["too deep"] += 1
        elif isinstance(value, dict):
            self.kinds["object"] += 1
            for key, item in value.items():
                if key not in self.fields:
                    self.fields[key] = _Seen()
                self.fields[key].add(item, depth + 1)
        else:
            self.kinds["list"] += 1
            self.item = self.item or _Seen()
            for item in value:
                self.item.add(item, depth + 1)

    def arrow_type(self, at_least: int) -> pa.DataType:
        (kind, _), *_ = [*(k for k in self.kinds.most_common() if k[0] != "null"), ("null", 0)]
        match kind:
            case "list":
                item = self.item.arrow_type(1) if self.item is not None else pa.null()
                return pa.list_(_EMPTY_OBJECT if pa.types.is_null(item) else item)
            case "object":
                often = {
                    k: seen
                    for k, seen in self.fields.items()
                    if seen.kinds.total() >= at_least and _nameable(k)
                }
                return pa.struct([(key, seen.arrow_type(at_least)) for key, seen in often.items()])
        return _SCALARS.get(kind, pa.null())


def _nameable(key: str) -> bool:
    """Whether the strict reader can have a field of this name; products with other keys stay odd."""
    return key.isprintable() and not {"\\", '"'} & set(key)


def _union(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if pa.types.is_null(one) or (one == _EMPTY_OBJECT and not pa.types.is_null(other)):
        return other
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        fields = {f.name: f.type for f in one}
        for f in other:
            fields[f.name] = _union(fields[f.name], f.type) if f.name in fields else f.type
        return pa.struct(list(fields.items()))
    if pa.types.is_list(one) and pa.types.is_list(other):
        return pa.list_(_union(one.value_type, other.value_type))
    return one


def _size(of: pa.DataType) -> int:
    if pa.types.is_struct(of):
        return 1 + sum(_size(f.type) for f in of)
    return 1 + _size(of.value_type) if pa.types.is_list(of) else 1


def _strict(of: pa.DataType, name: str) -> Any:
    if pa.types.is_struct(of):
        fields = [(f"f{i}", _strict(f.type, f"{name}_{i}"), None) for i, f in enumerate(of)]
        wire = {f"f{i}": f.name for i, f in enumerate(of)}
        return msgspec.defstruct(name, fields, rename=wire, forbid_unknown_fields=True, gc=False) | None
    if pa.types.is_list(of):
        return list[_strict(of.value_type, name)] | None  # type: ignore[misc]
    return _READ_AS.get(of)
