"""The shape of a product: by its kind where that is known (`kinds.csv`, `shapes.csv`), else a box."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Final

from PIL import ImageColor

from prodex.sandbox.media.colours import Colour


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

    profile: tuple[tuple[float, float], ...]
    top: float
    foot: float
    cap: float
    label: tuple[float, float]
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
    form
        "box", "carton" (with a gable), "tray", "card" or "folded".
    """

    width: float
    height: float
    depth: float
    form: str


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = resources.files(__package__).joinpath(f"{name}.csv").read_text("utf-8")
    yield from csv.DictReader(text.splitlines(), delimiter=";")


def _pair(text: str) -> tuple[float, float]:
    one, _, other = text.partition(":")
    return float(one), float(other)


def _colour(text: str) -> Colour | None:
    red, green, blue, *_ = ImageColor.getrgb(text or "black")
    return (red, green, blue) if text else None


def _shape(row: Mapping[str, str]) -> Round | Flat:
    if row["form"] != "round":
        return Flat(float(row["width"]), float(row["height"]), float(row["depth"]), row["form"])
    numbers = {name: float(row[name]) for name in ("top", "foot", "cap", "bend", "gloss")}
    profile = tuple(map(_pair, row["profile"].split()))
    return Round(profile=profile, label=_pair(row["label"]), lid=_colour(row["lid"]), **numbers)


SHAPES: Final[Mapping[str, Round | Flat]] = {row["shape"]: _shape(row) for row in _rows("shapes")}
_KINDS: Final = {row["kind"]: (row["shape"], _colour(row["body"])) for row in _rows("kinds")}


def shape_of(kind: str) -> tuple[Round | Flat, Colour | None]:
    """Return the shape of a kind of product, and the colour of its body where that is not the brand's."""
    name, body = _KINDS.get(kind, ("box", None))
    return SHAPES[name], body


def seen_from(face: int, shape: Flat) -> Flat:
    """Return a shape as it is from the left (2) or right (8), from above (3) or below (9); else as from the front."""
    flat = shape.form in {"tray", "card", "folded"}
    deep = 0.2 if flat else 0.42 * min(shape.width, shape.height) + 0.06
    match face:
        case 2 | 8:
            return Flat(deep, shape.height, shape.depth / 2, "box" if flat else shape.form)
        case 3 | 9:
            return Flat(shape.width, deep, 0, "box")
    return shape
