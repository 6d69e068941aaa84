"""Products as one block of JSON lines, parsed straight into Arrow with a strict, explicit schema.

Nothing is inferred and nothing coerced: a block with a single unexpected value is refused as a whole. The attributes
that cause this are then found and left to the plain walk; the block is parsed without them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from prodex.tables.shape import EMPTY, Shape
from prodex.tables.values import EXACT, read_json

#: Top-level attributes of a block of products, each as one column.
Fields = dict[str, pa.Array]
#: The odd attributes of some products, decoded, by the product's index.
Odd = dict[int, dict[str, Any]]

_Raws = dict[str, msgspec.Raw]

#: A shape is learnt from so many products at most at a time.
_LESSON = 200

#: Together these make a text, a quantity or a code of the product itself, so they cannot be taken apart.
_ROOT_SHAPES = {"code", "data"}

_TOP = msgspec.json.Decoder(_Raws)
_ENCODER = msgspec.json.Encoder()


class ShapeCache:
    """The shape of the products seen so far. Threads may share it; without it parsing only takes longer."""

    def __init__(self) -> None:
        self._shape = EMPTY
        self._codes_come_as_numbers = False
        self._lock = Lock()

    def parse(self, bodies: Sequence[bytes]) -> tuple[Fields, Odd]:
        """Parse products, one JSON object each.

        Returns
        -------
        fields, odd
            Every attribute of every product is in exactly one of them.
        """
        shape = self._shape
        if self._codes_come_as_numbers:
            bodies = [quoted_codes(body) for body in bodies]
        if (fields := _read(shape, bodies)) is not None:
            return fields, {}
        if not self._codes_come_as_numbers:
            mended = [quoted_codes(body) for body in bodies]
            self._codes_come_as_numbers = mended != list(bodies)
            bodies = mended
        shape, odd = self._learn(shape, bodies)
        bodies = _without(bodies, odd)
        fields = _read(shape, bodies)
        if fields is None:
            strange = _find(bodies, lambda _, raw: _is_strange(raw))
            bodies, odd = _without(bodies, strange), _merged(odd, strange)
            fields = _read(shape, bodies)
        if (
            fields is None
        ):  # Arrow refuses the block for a reason we do not know: the plain walk takes all of it
            fields, odd = {}, _merged(odd, _find(bodies, lambda *_: True))
        return fields, {index: _decoded(raws) for index, raws in odd.items()}

    def _learn(self, shape: Shape, bodies: Sequence[bytes]) -> tuple[Shape, dict[int, _Raws]]:
        """Find what the shape does not accept, and widen it by what several products show."""
        refused = [index for index, body in enumerate(bodies) if not shape.accepts(body)]
        odd = _find(bodies, lambda name, raw: not shape.accepts_attribute(name, raw), refused)
        wider = shape.widened(_decoded(raws) for raws in list(odd.values())[:: len(odd) // _LESSON + 1])
        if wider is shape:
            return shape, odd
        with self._lock:  # another thread may have learnt meanwhile, which is then lost and learnt again
            self._shape = wider
        refused = [index for index in refused if not wider.accepts(bodies[index])]
        return wider, _find(bodies, lambda name, raw: not wider.accepts_attribute(name, raw), refused)


def quoted_codes(body: bytes) -> bytes:
    r"""Write codes that are numbers as text, which is how every table holds them.

    The same code list comes as numbers here and as text there; so both fit one shape.

    >>> quoted_codes(b'{"kind":{"code": 530852},"text":"\\"code\\":1"}')
    b'{"kind":{"code":"530852"},"text":"\\"code\\":1"}'
    """
    return _NUMBER_CODE.sub(rb'"code":"\1"', body)


# The key stands unescaped, so it is no part of a text (looked at last, which lets the search skip from key to key);
# -0 is left alone, since as a number it is 0.
_NUMBER_CODE = re.compile(rb'"code":(?<!\\"code":)\s*(0|-?[1-9][0-9]*)(?=[,}\s])')


def _find(
    bodies: Sequence[bytes], is_odd: Callable[[str, msgspec.Raw], bool], indexes: Sequence[int] | None = None
) -> dict[int, _Raws]:
    """Return the odd attributes of each product that has any."""
    odd: dict[int, _Raws] = {}
    for index in range(len(bodies)) if indexes is None else indexes:
        top = _TOP.decode(bodies[index])
        found = {name: raw for name, raw in top.items() if is_odd(name, raw)}
        if found:
            odd[index] = top if _ROOT_SHAPES & top.keys() else found
    return odd


def _without(bodies: Sequence[bytes], odd: dict[int, _Raws]) -> list[bytes]:
    """Return the products without their odd attributes."""
    left = list(bodies)
    for index, raws in odd.items():
        top = _TOP.decode(bodies[index])
        left[index] = _ENCODER.encode({name: raw for name, raw in top.items() if name not in raws})
    return left


def _merged(one: dict[int, _Raws], other: dict[int, _Raws]) -> dict[int, _Raws]:
    return one | {index: one.get(index, {}) | raws for index, raws in other.items()}


def _decoded(raws: _Raws) -> dict[str, Any]:
    return {name: read_json(bytes(raw)) for name, raw in raws.items()}


def _is_strange(raw: msgspec.Raw) -> bool:
    """Whether a value holds what Arrow would change without an error: a repeated key, a number it cannot hold."""
    strange = False

    def see_number(text: str) -> float:
        nonlocal strange
        number = float(text)  # reads any number of digits
        strange = strange or not abs(number) < EXACT
        return number

    def see_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal strange
        strange = strange or len(dict(pairs)) < len(pairs)
        return {}

    json.loads(
        bytes(raw),
        parse_int=see_number,
        parse_float=see_number,
        parse_constant=see_number,
        object_pairs_hook=see_object,
    )
    return strange


def _read(shape: Shape, bodies: Sequence[bytes]) -> Fields | None:
    """Parse a block as a whole, or return None when Arrow refuses it or would change a number."""
    if not shape.type.num_fields or not bodies:
        return {} if all(body == b"{}" for body in bodies) else None
    block = b"\n".join(bodies)
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(block),
            read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
            parse_options=pyarrow.json.ParseOptions(
                explicit_schema=shape.schema, unexpected_field_behavior="error"
            ),
        )
    except pa.ArrowInvalid:
        return None
    fields = {name: table.column(i).combine_chunks() for i, name in enumerate(table.column_names)}
    if table.num_rows != len(bodies) or not all(_exact(array) for array in fields.values()):
        return None
    return fields


def _exact(array: pa.Array) -> bool:
    """Whether a double holds every number in an array exactly: beyond 2**53 neighbours merge, NaN is no number."""
    if pa.types.is_struct(array.type):
        return all(_exact(array.field(i)) for i in range(array.type.num_fields))
    if pa.types.is_list(array.type):
        return _exact(array.values)
    if not pa.types.is_floating(array.type) or array.null_count == len(array):
        return True
    return bool(pc.all(pc.less(pc.abs(array), EXACT)).as_py())  # no number is less than NaN
