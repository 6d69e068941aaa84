"""What shape a product has: by its kind as far as that is known, else a box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from prodex.sandbox.media.colours import Colour
from prodex.sandbox.media.solids import Profile


@dataclass(frozen=True)
class Round:
    """A body that stands on a round foot.

    Attributes
    ----------
    profile
        Its outline, from the top of the body to its foot.
    top, foot
        Where these are in a picture, from 0 to 1 downwards.
    cap
        Down to which place (0 to 1 of the body) the cap goes.
    label
        From which place to which the label goes.
    bend
        How much is seen from above, as a share of half the width.
    gloss
        How it shines.
    lid
        Colour of a lid that is seen from above, or None.
    """

    profile: Profile
    top: float
    foot: float
    cap: float
    label: tuple[float, float]
    bend: float = 0.12
    gloss: float = 0.8
    lid: Colour | None = None


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
        "box", "carton" (with a gable), "bag", "tray", "card" or "folded".
    """

    width: float
    height: float
    depth: float
    form: str


Shape = Round | Flat

_METAL: Final = (206, 209, 213)
_FOIL: Final = (226, 228, 231)

SHAPES: Final[Mapping[str, Shape]] = {
    "bottle": Round(
        ((0, 0.052), (0.11, 0.052), (0.115, 0.043), (0.17, 0.046), (0.36, 0.15), (0.95, 0.15), (1, 0.138)),
        0.05, 0.93, 0.11, (0.42, 0.88),
    ),
    "wine": Round(
        ((0, 0.044), (0.03, 0.044), (0.035, 0.04), (0.3, 0.043), (0.46, 0.132), (0.97, 0.132), (1, 0.125)),
        0.03, 0.94, 0.17, (0.54, 0.87), gloss=1.0,
    ),
    "flacon": Round(
        ((0, 0.085), (0.17, 0.085), (0.175, 0.06), (0.2, 0.065), (0.29, 0.17), (0.6, 0.18), (0.95, 0.165), (1, 0.15)),
        0.07, 0.93, 0.172, (0.32, 0.93), gloss=0.5,
    ),
    "canister": Round(
        ((0, 0.075), (0.13, 0.075), (0.135, 0.06), (0.17, 0.065), (0.27, 0.2), (0.96, 0.215), (1, 0.2)),
        0.06, 0.93, 0.13, (0.34, 0.92), gloss=0.5,
    ),
    "spray": Round(
        ((0, 0.05), (0.2, 0.06), (0.205, 0.045), (0.27, 0.05), (0.42, 0.15), (0.95, 0.15), (1, 0.14)),
        0.06, 0.93, 0.2, (0.42, 0.92), gloss=0.6,
    ),
    "aerosol": Round(
        ((0, 0.09), (0.02, 0.1), (0.2, 0.1), (0.205, 0.112), (0.24, 0.125), (0.97, 0.125), (1, 0.12)),
        0.06, 0.94, 0.2, (0.24, 0.98), gloss=1.0,
    ),
    "can": Round(
        ((0, 0.19), (0.025, 0.2), (0.975, 0.2), (1, 0.19)),
        0.24, 0.89, 0.03, (0.05, 0.96), bend=0.2, gloss=0.9, lid=_METAL,
    ),
    "tin": Round(
        ((0, 0.3), (0.05, 0.31), (0.95, 0.31), (1, 0.3)),
        0.38, 0.82, 0.05, (0.08, 0.94), bend=0.24, gloss=0.9, lid=_METAL,
    ),
    "jar": Round(
        ((0, 0.2), (0.15, 0.2), (0.155, 0.185), (0.18, 0.19), (0.25, 0.225), (0.94, 0.225), (1, 0.205)),
        0.19, 0.91, 0.15, (0.33, 0.9), bend=0.14, gloss=0.9,
    ),
    "tub": Round(
        ((0, 0.268), (0.06, 0.268), (0.065, 0.25), (0.97, 0.2), (1, 0.19)),
        0.3, 0.89, 0.062, (0.09, 0.96), bend=0.22, gloss=0.5, lid=_FOIL,
    ),
    "pot": Round(
        ((0, 0.26), (0.24, 0.26), (0.245, 0.245), (0.95, 0.235), (1, 0.2)),
        0.36, 0.85, 0.24, (0.3, 0.92), bend=0.2, gloss=0.7,
    ),
    "tube": Round(
        ((0, 0.19), (0.05, 0.19), (0.55, 0.175), (0.85, 0.13), (0.86, 0.1), (1, 0.095)),
        0.06, 0.93, 0.0, (0.06, 0.84), bend=0.04, gloss=0.6,
    ),
    "box": Flat(0.5, 0.74, 0.09, "box"),
    "wide box": Flat(0.72, 0.46, 0.08, "box"),
    "square box": Flat(0.7, 0.66, 0.06, "box"),
    "slab": Flat(0.76, 0.38, 0.03, "box"),
    "carton": Flat(0.36, 0.68, 0.11, "carton"),
    "bag": Flat(0.58, 0.8, 0.0, "bag"),
    "wide bag": Flat(0.74, 0.6, 0.0, "bag"),
    "tray": Flat(0.78, 0.58, 0.0, "tray"),
    "card": Flat(0.54, 0.8, 0.0, "card"),
    "folded": Flat(0.7, 0.56, 0.0, "folded"),
}  # fmt: skip

_BROWN: Final = (92, 52, 24)
_GREEN: Final = (38, 72, 48)
_WATER: Final = (205, 228, 240)
_CREAM: Final = (247, 242, 230)

#: Kind -> its shape, and what the body looks like under the label (None: as the brand).
_LOOKS: Final[Mapping[str, tuple[str, Colour | None]]] = {
    "YOGURT": ("tub", None), "HARD_CHEESE": ("slab", None), "BUTTER": ("slab", None), "ICE_CREAM": ("tub", None),
    "MILK_DRINK": ("bottle", (245, 226, 214)), "FRESH_MILK": ("bottle", (248, 248, 246)), "EGGS": ("wide box", None),
    "HAM": ("tray", (232, 160, 158)), "CHICKEN_FILLET": ("tray", (241, 200, 176)),
    "SAUSAGES": ("tray", (196, 108, 84)), "SMOKED_SALMON": ("tray", (240, 140, 100)), "TOFU": ("tray", (240, 232, 210)),
    "PIZZA": ("square box", None), "LASAGNE": ("wide box", None), "FROZEN_PEAS": ("bag", None), "PRAWNS": ("bag", None),
    "MUSSELS": ("bag", None), "CRISPS": ("bag", None), "RICE": ("bag", None), "PASTA": ("bag", None),
    "WHEAT_FLOUR": ("bag", _CREAM), "LUPIN_FLOUR": ("bag", _CREAM), "SLICED_BREAD": ("wide bag", None),
    "530860": ("bag", None), "DRIED_APRICOTS": ("bag", None), "NUT_MIX": ("bag", None), "COFFEE": ("bag", None),
    "530852": ("slab", None), "530853": ("slab", None), "BISCUITS": ("slab", None),
    "SESAME_CRACKERS": ("wide box", None),
    "JAM": ("jar", (150, 26, 42)), "HONEY": ("jar", (214, 146, 34)), "NUT_SPREAD": ("jar", (84, 46, 26)),
    "PEANUT_BUTTER": ("jar", (186, 124, 62)), "MUSTARD": ("jar", (206, 166, 52)),
    "MAYONNAISE": ("jar", (244, 236, 206)),
    "TOMATO_SAUCE": ("jar", (186, 42, 28)), "COCONUT_CURRY": ("jar", (216, 152, 52)),
    "BABY_PUREE": ("jar", (236, 178, 92)),
    "CANDLE": ("jar", (244, 236, 222)), "OLIVE_OIL": ("wine", (150, 146, 44)), "DRESSING": ("bottle", (226, 206, 140)),
    "SOUP": ("carton", None), "TINNED_TUNA": ("tin", None), "CHICKPEAS": ("can", None), "DOG_FOOD": ("can", None),
    "CAT_FOOD": ("tin", None), "ORANGE_JUICE": ("carton", None), "SOY_DRINK": ("carton", None),
    "OAT_DRINK": ("carton", None), "MINERAL_WATER": ("bottle", _WATER), "LEMONADE": ("bottle", (238, 232, 150)),
    "BEER": ("wine", _BROWN), "WINE": ("wine", (36, 22, 26)), "CIDER": ("wine", _GREEN), "SHAMPOO": ("flacon", None),
    "SHOWER_GEL": ("flacon", None), "TOOTHPASTE": ("tube", (250, 250, 250)), "FACE_CREAM": ("pot", (246, 244, 242)),
    "DEODORANT": ("aerosol", None), "SUN_CREAM": ("tube", None), "SOAP": ("slab", None), "NAPPIES": ("wide bag", None),
    "LAUNDRY_LIQUID": ("canister", None), "DISH_LIQUID": ("flacon", None), "GLASS_CLEANER": ("spray", _WATER),
    "BLEACH": ("canister", (250, 250, 250)), "TOILET_PAPER": ("wide bag", None), "BIN_BAGS": ("slab", None),
    "SPONGES": ("wide bag", None), "BIRD_SEED": ("bag", None), "CAT_LITTER": ("bag", None), "PENS": ("card", None),
    "NOTEBOOK": ("card", None), "GLUE_STICK": ("card", None), "70010": ("card", None), "70011": ("card", None),
    "FRYING_PAN": ("card", None), "T_SHIRT": ("folded", None), "SOCKS": ("folded", None), "TOWEL": ("folded", None),
    "BED_LINEN": ("folded", None), "TEA": ("wide box", None), "70020": ("square box", None),
    "70022": ("square box", None), "70023": ("square box", None), "STORAGE_BOX": ("wide box", None),
}  # fmt: skip


def seen_from(face: int, shape: Flat) -> Flat:
    """Return a shape as it is from the left (2) or right (8), from above (3) or below (9); else as from the front."""
    deep = 0.2 if shape.form in {"tray", "card", "folded"} else 0.42 * min(shape.width, shape.height) + 0.06
    match face:
        case 2 | 8:
            return Flat(
                deep,
                shape.height,
                0.5 * shape.depth,
                shape.form if shape.form in {"bag", "carton"} else "box",
            )
        case 3 | 9:
            return Flat(shape.width, deep, 0.0, "box")
    return shape


def shape_of(kind: str) -> tuple[Shape, Colour | None]:
    """Return the shape of a kind of product, and the colour of its body where it does not have the brand's."""
    name, tone = _LOOKS.get(kind, ("box", None))
    return SHAPES[name], tone
