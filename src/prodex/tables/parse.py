"""Products as one block of JSON lines, parsed straight into Arrow with a strict, explicit schema.

Nothing is inferred and nothing coerced: a block that holds one surprise is refused as a whole, the odd products are
found in one pass and given to another shape, or left to the plain walk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from prodex.tables.shape import EMPTY, Shape
from prodex.tables.values import EXACT

Indices = npt.NDArray[np.int32]

#: More shapes than this are not kept; a shape for fewer products than this is not worth learning.
_MAX_SHAPES = 4
_WORTH_A_SHAPE = 8
#: A shape is learnt from so many products at most at a time.
_LESSON = 200


class Block(NamedTuple):
    """Products of one shape: their indexes in what was handed in, and their top-level attributes as columns."""

    products: Indices
    fields: dict[str, pa.Array]


class Shapes:
    """The shapes learnt so far, the most useful first. Safe to share among threads."""

    def __init__(self) -> None:
        self._shapes: tuple[Shape, ...] = (EMPTY,)
        self._codes_come_as_numbers = False
        self._lock = Lock()

    def parse(self, bodies: Sequence[bytes]) -> tuple[list[Block], dict[int, Any]]:
        """Parse products, one JSON object each.

        Returns
        -------
        blocks, odd
            Every index stands in exactly one block, or among the odd ones with the product decoded.
        """
        everything = list(range(len(bodies)))
        known = self._shapes
        if self._codes_come_as_numbers:
            bodies = [quoted_codes(body) for body in bodies]
        if (block := _read(known[0], bodies, everything)) is not None:
            return [block], {}
        if not self._codes_come_as_numbers:
            mended = [quoted_codes(body) for body in bodies]
            self._codes_come_as_numbers = mended != list(bodies)
            bodies = mended
        return self._share(bodies, everything, known)

    def _share(
        self, bodies: Sequence[bytes], left: list[int], known: tuple[Shape, ...]
    ) -> tuple[list[Block], dict[int, Any]]:
        """Give the products to one shape after the other, and learn new shapes for what is left."""
        used: list[tuple[Shape, int]] = []
        blocks: list[Block] = []
        decoded: dict[int, Any] = {}
        for shape in [*known, *[EMPTY] * (_MAX_SHAPES - len(known))]:
            if not left or (shape is EMPTY and used and len(left) < _WORTH_A_SHAPE):
                break
            before = len(left)
            shape_now, block, left = _take(shape, bodies, left, decoded)
            blocks += [block] if block is not None else []
            used.append((shape_now, before - len(left)))
            if len(left) == before and shape is EMPTY:
                break
        self._remember(known, used)
        return blocks, {i: decoded[i] if i in decoded else json.loads(bodies[i]) for i in left}

    def _remember(self, known: tuple[Shape, ...], used: list[tuple[Shape, int]]) -> None:
        """Keep what was learnt, unless another thread learnt meanwhile: losing a lesson changes nothing."""
        useful = sorted((s for s in used if s[1]), key=lambda s: -s[1])
        kept = ([shape for shape, _ in useful] + list(known[len(used) :]))[:_MAX_SHAPES]
        with self._lock:
            if self._shapes is known and kept:
                self._shapes = tuple(kept)


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


def _take(
    shape: Shape, bodies: Sequence[bytes], left: list[int], decoded: dict[int, Any]
) -> tuple[Shape, Block | None, list[int]]:
    """Parse those of the products left that the shape accepts, after widening it where that helps."""
    accepted, refused = _sort(shape, bodies, left)
    if refused:
        lesson = refused[:: len(refused) // _LESSON + 1]
        decoded.update((i, json.loads(bodies[i])) for i in lesson if i not in decoded)
        wider = shape.widened(decoded[i] for i in lesson)
        if wider is not shape:
            more, refused = _sort(wider, bodies, refused)
            shape, accepted = wider, sorted([*accepted, *more])
    block = _read(shape, bodies, accepted)
    if block is None:
        strange = {i for i in accepted if _is_strange(bodies[i])}
        refused, accepted = sorted([*refused, *strange]), [i for i in accepted if i not in strange]
        block = _read(shape, bodies, accepted)
    return shape, block, refused if block is not None else left


def _sort(shape: Shape, bodies: Sequence[bytes], indexes: list[int]) -> tuple[list[int], list[int]]:
    accepts = [shape.accepts(bodies[i]) for i in indexes]
    return (
        [i for i, yes in zip(indexes, accepts, strict=True) if yes],
        [i for i, yes in zip(indexes, accepts, strict=True) if not yes],
    )


def _is_strange(body: bytes) -> bool:
    """Whether a product holds what no type tells and Arrow would not keep: a key twice, a number it cannot hold."""
    strange = False

    def see_number(text: str) -> float:
        nonlocal strange
        number = float(text)
        strange = strange or not abs(number) < EXACT
        return number

    def see_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal strange
        strange = strange or len(dict(pairs)) < len(pairs)
        return {}

    json.loads(
        body,
        parse_int=see_number,
        parse_float=see_number,
        parse_constant=see_number,
        object_pairs_hook=see_object,
    )
    return strange


def _read(shape: Shape, bodies: Sequence[bytes], indexes: list[int]) -> Block | None:
    """Parse a block as a whole, or return None when Arrow refuses it or would change a number."""
    products = np.array(indexes, dtype=np.int32)
    if not indexes:
        return Block(products, {})
    if not shape.type.num_fields:
        return Block(products, {}) if all(bodies[i] == b"{}" for i in indexes) else None
    block = b"\n".join(bodies if len(indexes) == len(bodies) else [bodies[i] for i in indexes])
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
    if table.num_rows != len(indexes) or not all(_exact(array) for array in fields.values()):
        return None
    return Block(products, fields)


def _exact(array: pa.Array) -> bool:
    """Whether every number below was held by a double exactly: beyond 2**53 neighbours merge, NaN is no number."""
    if pa.types.is_struct(array.type):
        return all(_exact(array.field(i)) for i in range(array.type.num_fields))
    if pa.types.is_list(array.type):
        return _exact(array.values)
    if not pa.types.is_floating(array.type) or array.null_count == len(array):
        return True
    return bool(pc.all(pc.less(pc.abs(array), EXACT)).as_py())  # no number is less than NaN
