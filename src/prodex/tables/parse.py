"""Products as one block of JSON lines, parsed straight into Arrow with a strict, explicit schema.

Nothing is inferred and nothing coerced: a block that holds one surprise is refused as a whole, the odd products are
found in one pass and given to another shape, or left to the plain walk.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from prodex.tables.shape import EMPTY, Shape
from prodex.tables.values import exact

Indices = npt.NDArray[np.int32]

#: More shapes than this are not kept; a shape for fewer products than this is not worth learning.
_MAX_SHAPES = 4
_WORTH_A_SHAPE = 8


class Block(NamedTuple):
    """Products of one shape: their indexes in what was handed in, and their top-level attributes as columns."""

    products: Indices
    fields: dict[str, pa.Array]


class Shapes:
    """The shapes learnt so far, the most useful first. Safe to share among threads."""

    def __init__(self) -> None:
        self._shapes: tuple[Shape, ...] = (EMPTY,)
        self._lock = Lock()

    def parse(self, bodies: Sequence[bytes]) -> tuple[list[Block], dict[int, Any]]:
        """Parse products, one JSON object each.

        Returns
        -------
        blocks, odd
            Every index stands in exactly one block, or among the odd ones with the product decoded.
        """
        known = self._shapes
        shapes: list[tuple[Shape, int]] = []
        blocks: list[Block] = []
        decoded: dict[int, Any] = {}
        left = list(range(len(bodies)))
        for shape in [*known, *[EMPTY] * (_MAX_SHAPES - len(known))]:
            if not left or (shape is EMPTY and shapes and len(left) < _WORTH_A_SHAPE):
                break
            before = len(left)
            shape_now, taken, left = _take(shape, bodies, left, decoded)
            blocks += taken
            shapes.append((shape_now, before - len(left)))
            if len(left) == before and shape is EMPTY:
                break
        self._remember(known, shapes)
        return blocks, {i: decoded[i] if i in decoded else _decode(bodies[i]) for i in left}

    def _remember(self, known: tuple[Shape, ...], used: list[tuple[Shape, int]]) -> None:
        """Keep what was learnt, unless another thread learnt meanwhile: losing a lesson changes nothing."""
        if [shape for shape, _ in used] == list(known[: len(used)]) and len(used) <= 1:
            return
        useful = sorted((s for s in used if s[1]), key=lambda s: -s[1])
        unused = list(known[len(used) :])
        with self._lock:
            if self._shapes is known:
                self._shapes = tuple([shape for shape, _ in useful] + unused)[:_MAX_SHAPES] or (EMPTY,)


def _take(
    shape: Shape, bodies: Sequence[bytes], left: list[int], decoded: dict[int, Any]
) -> tuple[Shape, list[Block], list[int]]:
    """Parse those of the products left that the shape accepts, after widening it where that helps."""
    if (block := _read(shape, bodies, left)) is not None:
        return shape, [block], []
    accepted, refused = _sort(shape, bodies, left)
    if refused:
        decoded.update((i, _decode(bodies[i])) for i in refused if i not in decoded)
        wider = shape.widened(decoded[i] for i in refused)
        if wider is not shape:
            more, refused = _sort(wider, bodies, refused)
            shape, accepted = wider, sorted([*accepted, *more])
    blocks = list(_read_by_halves(shape, bodies, accepted))
    read = {int(i) for block in blocks for i in block.products}
    return shape, blocks, sorted([*refused, *(i for i in accepted if i not in read)])


def _sort(shape: Shape, bodies: Sequence[bytes], indexes: list[int]) -> tuple[list[int], list[int]]:
    accepts = [shape.accepts(bodies[i]) for i in indexes]
    return (
        [i for i, yes in zip(indexes, accepts, strict=True) if yes],
        [i for i, yes in zip(indexes, accepts, strict=True) if not yes],
    )


def _read_by_halves(shape: Shape, bodies: Sequence[bytes], indexes: list[int]) -> Iterator[Block]:
    """Parse what can be parsed: Arrow also refuses what no type tells, such as a key given twice."""
    if not indexes:
        return
    if (block := _read(shape, bodies, indexes)) is not None:
        yield block
    elif len(indexes) > 1:
        middle = len(indexes) // 2
        yield from _read_by_halves(shape, bodies, indexes[:middle])
        yield from _read_by_halves(shape, bodies, indexes[middle:])


def _read(shape: Shape, bodies: Sequence[bytes], indexes: list[int]) -> Block | None:
    """Parse a block as a whole, or return None when Arrow refuses it or would change a number."""
    products = np.array(indexes, dtype=np.int32)
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
    if pc.any(pc.is_nan(array)).as_py():
        return False
    ends = pc.min_max(array).as_py()
    return exact(int(ends["min"])) and exact(int(ends["max"]))


def _decode(body: bytes) -> Any:
    return json.loads(body)
