"""The scene of a trade item: one pack, several together, a case, or a pallet of cases; on white, with a shadow."""

from __future__ import annotations

from typing import Final

from PIL import Image

from prodex.sandbox.media.colours import Palette
from prodex.sandbox.media.flats import draw_flat
from prodex.sandbox.media.light import cast_shadow
from prodex.sandbox.media.outers import draw_case, draw_pallet, draw_several
from prodex.sandbox.media.packs import Pack
from prodex.sandbox.media.printing import Print, print_back, print_front, print_side
from prodex.sandbox.media.rounds import draw_round, draw_round_from_above
from prodex.sandbox.media.shapes import Round, seen_from, shape_of

#: Faces (GS1 Product Image Specification).
_LEFT, _TOP, _BACK, _RIGHT, _BOTTOM = 2, 3, 7, 8, 9
#: How much of the foot of a thing decides how wide its shadow is, as a share of the picture.
_SOLE: Final = 0.05
_PRINTS: Final[dict[int, Print]] = {
    _BACK: print_back,
    _LEFT: print_side,
    _RIGHT: print_side,
    _TOP: print_side,
    _BOTTOM: print_side,
}


def draw_scene(pack: Pack, face: int, side: int, colours: Palette) -> Image.Image:
    """Draw a trade item on a square of so many pixels."""
    item = _item(pack, face, side, colours)
    scene = Image.new("RGB", (side, side), "white")
    if face not in (_TOP, _BOTTOM):
        foot = (item.getbbox() or (0, 0, side, side))[3]
        standing = item.crop((0, foot - round(_SOLE * side), side, foot)).getbbox()
        left, _, right, _ = standing or (0, 0, side, 0)
        cast_shadow(scene, left, right, foot)
    scene.paste(item, (0, 0), item)
    return scene


def _item(pack: Pack, face: int, side: int, colours: Palette) -> Image.Image:
    """Draw a trade item on a transparent square."""
    match pack.packaging:
        case "PALLET":
            return draw_pallet(pack, side, colours)
        case "CASE":
            return draw_case(pack, side, colours)
        case "PACK" if face not in (_TOP, _BOTTOM, _BACK):
            return draw_several(_one(pack, face, side, colours), pack, colours)
        case _:
            return _one(pack, face, side, colours)


def _one(pack: Pack, face: int, side: int, colours: Palette) -> Image.Image:
    shape, tone = shape_of(pack.kind)
    print_ = _PRINTS.get(face, print_front)
    if isinstance(shape, Round):
        if face in (_TOP, _BOTTOM):
            return draw_round_from_above(side, shape, pack, colours)
        return draw_round(side, shape, tone, pack, colours, print_)
    return draw_flat(side, seen_from(face, shape), tone, pack, colours, print_)
