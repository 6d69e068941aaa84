"""Products as one block of JSON lines, parsed straight into Arrow with a strict, explicit schema.

Nothing is inferred and nothing coerced: what the schema does not accept is left to the plain walk, attribute by
attribute. An attribute that was odd once is looked at before the block is parsed; a block that is refused all the same
is searched for the reason, which is remembered. So an odd product costs about as much as it has odd attributes.

A shape is an Arrow type learnt from products, never guessed from text: strings stay strings, every number is a
double, null and empty lists leave the type open. Losing the cache costs time and changes nothing, since
attributes that the shape does not accept are walked one by one (`prodex.tables.plain_walk`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from prodex.tables.attributes import child_path
from prodex.tables.columns import as_one_chunk, with_nulls_at
from prodex.tables.containers import Singles, is_index, is_list_at, singles_at
from prodex.tables.values import EXACT, read_json, type_of

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
        # In other containers than the declared ones values are read by the plain walk alone.
        wider = _as_declared(_union(self.type, seen.arrow_type(at_least)))
        return self if wider.equals(self.type) or _type_size(wider) > MAX_FIELDS else Shape(wider)


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
    """Whether the strict reader can have a field of this name; products with other keys stay odd.

    Numbers as keys make a list of an object (`prodex.tables.containers`), and no two of these need have the same.
    """
    return key.isprintable() and not {"\\", '"'} & set(key) and not is_index(key)


def _as_declared(of: pa.DataType, path: str = "", singles: Singles | None = None) -> pa.DataType:
    """Return a type without what is a list where an object or a value is declared, or an object in place of a list."""
    if pa.types.is_list(of):
        return pa.list_(_as_declared(of.value_type, path))
    if not pa.types.is_struct(of):
        return of
    singles = singles_at(path) if singles is None else singles
    fields = []
    for f in of:
        below, inner = child_path(path, f.name), singles.get(f.name)
        is_list = pa.types.is_list(f.type)
        if is_list_at(below):
            is_odd = pa.types.is_struct(f.type) or (is_list and pa.types.is_list(f.type.value_type))
        else:
            is_odd = inner is not None and is_list
        if is_odd:
            continue
        # What is declared of an object is declared from the object around it that is a row.
        further = {**inner, **singles_at(below)} if isinstance(inner, dict) else None
        fields.append((f.name, _as_declared(f.type, below, further)))
    return pa.struct(fields)


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


def _type_size(of: pa.DataType) -> int:
    if pa.types.is_struct(of):
        return 1 + sum(_type_size(f.type) for f in of)
    return 1 + _type_size(of.value_type) if pa.types.is_list(of) else 1


def _strict(of: pa.DataType, name: str) -> Any:
    if pa.types.is_struct(of):
        fields = [(f"f{i}", _strict(f.type, f"{name}_{i}"), None) for i, f in enumerate(of)]
        wire = {f"f{i}": f.name for i, f in enumerate(of)}
        return msgspec.defstruct(name, fields, rename=wire, forbid_unknown_fields=True, gc=False) | None
    if pa.types.is_list(of):
        return list[_strict(of.value_type, name)] | None  # type: ignore[misc]
    return _READ_AS.get(of)


#: The attributes of one product, undecoded.
Top = dict[str, msgspec.Raw]
#: Top-level attributes of a block of products, each as one column.
Fields = dict[str, pa.Array]
#: The odd attributes of some products, decoded, by the product's index.
Odd = dict[int, dict[str, Any]]

#: The same, undecoded.
_Raws = dict[int, Top]

#: A shape is learnt from so many products at most at a time.
_LESSON = 50

#: How often a shape may change in one block. Codes that are numbers are found first, then the shape; other blocks
#: teach the rest.
_LESSONS = 3

#: How often a block is read: once for what does not fit, and once for each attribute with a repeated key.
_TRIES = 6

#: Together these make a text, a quantity or a code of the product itself, so they cannot be taken apart.
_ROOT_SHAPES = {"code", "data"}

_TOP = msgspec.json.Decoder(Top)
_ENCODER = msgspec.json.Encoder()


class _Known(NamedTuple):
    """What the products so far have shown.

    Attributes
    ----------
    shape
        The type that most of them have.
    misfits
        Attributes of which some values did not fit it.
    repeats
        Attributes with a repeated key: Arrow refuses them, and the strict reader does not see it.
    codes_are_numbers
        Whether codes were sent as numbers, which every table has as text.
    """

    shape: Shape = EMPTY
    misfits: frozenset[str] = frozenset()
    repeats: frozenset[str] = frozenset()
    codes_are_numbers: bool = False

    def odd_ones(self, tops: Sequence[Top]) -> _Raws:
        """Return the attributes that are new, or were odd before and are so again."""
        if not self.shape.type.num_fields:
            return {index: top for index, top in enumerate(tops) if top}
        names = frozenset(field.name for field in self.shape.type)
        # A block without any of these is recognized by one comparison of sets for each product.
        usual = names - self.misfits - self.repeats
        odd: _Raws = {}
        for index, top in enumerate(tops):
            if top.keys() <= usual:
                continue
            found = {name: raw for name, raw in top.items() if name not in usual and self._is_odd(name, raw)}
            if found:
                odd[index] = top if _ROOT_SHAPES & top.keys() else found
        return odd

    def _is_odd(self, name: str, raw: msgspec.Raw) -> bool:
        return not self.shape.accepts_attribute(name, raw) or (name in self.repeats and _repeats_a_key(raw))

    def learnt(self, odd: _Raws) -> _Known:
        """Return what is known once some odd attributes were looked at; the same where they teach nothing."""
        lessons = list(odd.values())[:: len(odd) // _LESSON + 1]
        if not self.codes_are_numbers and any(
            quoted_codes(raw) != raw for top in lessons for raw in map(bytes, top.values())
        ):
            return self._replace(codes_are_numbers=True)
        wider = self.shape.widened(map(_decoded_values, lessons))
        return self if wider is self.shape else self._replace(shape=wider)


class ShapeCache:
    """The shape of the products seen so far. Threads may share it; without it parsing only takes longer."""

    def __init__(self) -> None:
        self._known = _Known()
        self._lock = Lock()

    @property
    def codes_are_numbers(self) -> bool:
        """Whether codes were sent as numbers so far; see `quoted_codes`."""
        return self._known.codes_are_numbers

    def parse(self, tops: Sequence[Top], *, codes_are_quoted: bool = False) -> tuple[Fields, Odd]:
        """Parse products, each as its attributes undecoded.

        Parameters
        ----------
        tops
            The products.
        codes_are_quoted
            Whether codes that are numbers were written as text before.

        Returns
        -------
        fields, odd
            Every attribute of every product is in exactly one of them.
        """
        known = self._known
        if known.codes_are_numbers and not codes_are_quoted:
            tops = _with_text_codes(tops)
        odd = known.odd_ones(tops)
        if odd and (wiser := known.learnt(odd)) is not known:
            known, tops, odd = self._learn(wiser, known, tops)
        for _ in range(_TRIES):
            found = _read_block(known.shape, tops, odd)
            if not isinstance(found, _Refused):
                return found, {index: _decoded_values(top) for index, top in odd.items()}
            wiser = _explained(known, found, tops, odd)
            if wiser is known:
                break
            known, tops, odd = self._learn(wiser, known, tops)
        # Arrow refuses the block for a reason that is not known: the plain walk takes all of it.
        return {}, {index: _decoded_values(top) for index, top in enumerate(tops) if top}

    def _learn(
        self, wiser: _Known, before: _Known, tops: Sequence[Top]
    ) -> tuple[_Known, Sequence[Top], _Raws]:
        """Remember what is known now, and look at the block again."""
        for _ in range(_LESSONS):
            if wiser.codes_are_numbers and not before.codes_are_numbers:
                tops = _with_text_codes(tops)
            odd = wiser.odd_ones(tops)
            before, wiser = wiser, wiser.learnt(odd)
            if wiser is before:
                break
        with self._lock:  # another thread may have learnt meanwhile, which is then lost and learnt again
            self._known = before
        return before, tops, odd


class OneByOne:
    """Takes no shape for granted: every attribute of every product is odd, and the plain walk takes it."""

    codes_are_numbers = False

    def parse(self, tops: Sequence[Top], *, codes_are_quoted: bool = False) -> tuple[Fields, Odd]:  # noqa: ARG002
        """Decode products; see `ShapeCache.parse`."""
        return {}, {index: _decoded_values(top) for index, top in enumerate(tops) if top}


ONE_BY_ONE = OneByOne()


def quoted_codes(body: bytes) -> bytes:
    r"""Write codes that are numbers as text, which is how every table holds them.

    The same code list is sent as numbers here and as text there; so both fit one shape.

    >>> quoted_codes(b'{"kind":{"code": 530852},"text":"\\"code\\":1"}')
    b'{"kind":{"code":"530852"},"text":"\\"code\\":1"}'
    """
    return _NUMBER_CODE.sub(rb'"code":"\1"', body)


# The key is unescaped, so it is no part of a text (looked at last, which lets the search skip from key to key);
# -0 is left alone, since as a number it is 0.
_NUMBER_CODE = re.compile(rb'"code":(?<!\\"code":)\s*(0|-?[1-9][0-9]*)(?=[,}\s])')


def _with_text_codes(tops: Sequence[Top]) -> list[Top]:
    return [_TOP.decode(quoted_codes(_ENCODER.encode(top))) for top in tops]


class _Refused(NamedTuple):
    """A block that Arrow refused: for which product, if it says so."""

    row: int | None


_ROW = re.compile(r" in row ([0-9]+)$")


def _explained(known: _Known, refused: _Refused, tops: Sequence[Top], odd: _Raws) -> _Known:
    """Return what is known once the reason was found for which a block was refused; the same where none is found."""
    left = {
        index: {name: raw for name, raw in top.items() if name not in odd[index]} if index in odd else top
        for index, top in enumerate(tops)
    }
    misfits = {
        name
        for top in left.values()
        if not known.shape.accepts(_ENCODER.encode(top))
        for name, raw in top.items()
        if not known.shape.accepts_attribute(name, raw)
    }
    if misfits:
        return known._replace(misfits=known.misfits | misfits)
    # The strict reader takes the last of two values, and Arrow names the first product that has two.
    looked_at = [left[refused.row]] if refused.row in left else list(left.values())
    repeats = {name for top in looked_at for name, raw in top.items() if _repeats_a_key(raw)}
    return known._replace(repeats=known.repeats | repeats) if repeats else known


def _decoded_values(top: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
    return {name: read_json(bytes(raw)) for name, raw in top.items()}


def _repeats_a_key(raw: msgspec.Raw) -> bool:
    """Whether any object of a value has a key twice."""
    repeats = False

    def see_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeats
        repeats = repeats or len(dict(pairs)) < len(pairs)
        return {}

    json.loads(bytes(raw), parse_int=str, parse_float=str, object_pairs_hook=see_object)
    return repeats


def _read_block(shape: Shape, tops: Sequence[Top], odd: _Raws) -> Fields | _Refused:
    """Parse a block without its odd attributes, or say that Arrow refuses it.

    Numbers that Arrow would change are taken out of the columns, and added to `odd`.
    """
    left = list(tops)
    for index, taken in odd.items():
        left[index] = {name: raw for name, raw in tops[index].items() if name not in taken}
    if not shape.type.num_fields or not left:
        return _Refused(None) if any(left) else {}
    # All is one block to Arrow, which ends with a line: whether there are line ends within a product does not matter.
    block = _ENCODER.encode_lines(left)
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(block),
            read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
            parse_options=pyarrow.json.ParseOptions(
                explicit_schema=shape.schema, unexpected_field_behavior="error"
            ),
        )
    except pa.ArrowInvalid as error:
        row = _ROW.search(str(error))
        return _Refused(int(row[1]) if row else None)
    if table.num_rows != len(left):
        return _Refused(None)
    fields = {name: as_one_chunk(table.column(i)) for i, name in enumerate(table.column_names)}
    for name, rows in _inexact(fields):
        _move_to_odd(name, rows, fields, tops, odd)
    return fields


def _move_to_odd(
    name: str, rows: npt.NDArray[np.bool_], fields: Fields, tops: Sequence[Top], odd: _Raws
) -> None:
    """Move the value of one attribute of some products from its column to the odd ones."""
    for index in np.flatnonzero(rows).tolist():
        top = tops[index]
        if _ROOT_SHAPES & top.keys():
            odd[index] = top
            alone = np.arange(len(tops)) == index
            fields |= {other: with_nulls_at(column, pa.array(alone)) for other, column in fields.items()}
        else:
            odd[index] = {**odd.get(index, {}), name: top[name]}
    fields[name] = with_nulls_at(fields[name], pa.array(rows))


def _inexact(fields: Fields) -> Iterable[tuple[str, npt.NDArray[np.bool_]]]:
    """Yield the attributes with numbers that a double does not hold exactly, and the products that have them."""
    for name in list(fields):
        rows = _inexact_rows(fields[name])
        if rows is not None:
            yield name, rows


def _inexact_rows(array: pa.Array) -> npt.NDArray[np.bool_] | None:
    """Return in which rows an array has numbers beyond 2**53, where neighbours merge, or NaN; None where in none."""
    if pa.types.is_struct(array.type):
        found = [_inexact_rows(array.field(i)) for i in range(array.type.num_fields)]
        return _any_of([rows for rows in found if rows is not None])
    if pa.types.is_list(array.type):
        if (items := _inexact_rows(array.flatten())) is None:
            return None
        rows = np.zeros(len(array), np.bool_)
        rows[pc.list_parent_indices(array).to_numpy()[items]] = True
        return rows
    if not pa.types.is_floating(array.type) or array.null_count == len(array):
        return None
    exact = pc.less(pc.abs(array), EXACT)  # no number is less than NaN
    if pc.all(exact).as_py():
        return None
    holds: npt.NDArray[np.bool_] = exact.fill_null(True).to_numpy(zero_copy_only=False)
    return ~holds


def _any_of(rows: Sequence[npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_] | None:
    return np.logical_or.reduce(rows) if rows else None
