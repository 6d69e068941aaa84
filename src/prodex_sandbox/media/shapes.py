"""The shape of a product: by its kind where that is known (`kinds.csv`, `shapes.csv`), else a box."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from prodex_sandbox.media.colours import Colour, colour_of
from prodex_sandbox.records.reading import read_table

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Round:
    """A body with a round surface.

    Attributes
    ----------
    profile
        Its outline: places from the top (0) to the foot (1), with half of the width there as a share of the picture.
    top, foot
        Where these are in the picture, from 0 to 1 downwards.
    cap
        The end of the cap, as a place of the profile.
    label
        Where the label begins and ends, as places of the profile.
    bend
        How much is seen from above, as a share of half the width; 0 for what has a straight edge.
    gloss
        How much light it reflects, from 0 to 1.
    lid
        Colour of a lid that is seen from above, or None.
    """

    profile: tuple[Numbers, ...]
    top: float
    foot: float
    cap: float
    label: Numbers
    bend: float
    gloss: float
    lid: Colour | None


@dataclass(frozen=True)
class Flat:
    """Something with a flat front.

    Attributes
    ----------
    width, height
        Of the front, as shares of the picture.
    depth
        How far its side is seen, as a share of the picture.
    label
        What of the front is printed, as shares of it.
    part, step
        Of what is thin and shows what is sold beside its label: the box of the first of six parts, and how far each
        is from the one before, as shares of the front. Empty for a box.
    """

    width: float
    height: float
    depth: float = 0.0
    label: Numbers = (0.0, 0.0, 1.0, 1.0)
    part: Numbers = ()
    step: Numbers = ()


def _numbers(text: str) -> Numbers:
    return tuple(map(float, text.split(":"))) if text else ()


def _colour(text: str) -> Colour | None:
    return colour_of(text) if text else None


#: How columns are read that are not a number.
_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "lid": _colour,
    "profile": lambda text: tuple(map(_numbers, text.split())),
    **dict.fromkeys(("label", "part", "step"), _numbers),
}


def _shape(row: Mapping[str, str]) -> Round | Flat:
    type_ = Round if row["form"] == "round" else Flat
    return type_(**{one.name: _READERS.get(one.name, float)(row[one.name]) for one in fields(type_)})


SHAPES: Final[Mapping[str, Round | Flat]] = {
    row["shape"]: _shape(row) for row in read_table(__package__, "shapes")
}
_KINDS: Final = {
    row["kind"]: (row["shape"], _colour(row["body"])) for row in read_table(__package__, "kinds")
}


def shape_of(kind: str) -> tuple[Round | Flat, Colour | None]:
    """Return the shape of a kind of product, and the colour of its body where that is not the brand's."""
    name, body = _KINDS.get(kind, ("box", None))
    return SHAPES[name], body


def seen_from(face: int, shape: Flat) -> Flat:
    """Return a shape as it is from the left (2) or right (8), from above (3) or below (9); else as from the front."""
    # What is thin shows an edge from the side that is just wide enough to be printed on.
    deep = 0.2 if shape.part else 0.42 * min(shape.width, shape.height) + 0.06
    if face in {2, 8}:
        return Flat(deep, shape.height, shape.depth / 2)
    return Flat(shape.width, deep) if face in {3, 9} else shape
