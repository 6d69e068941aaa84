"""The rules of pictures, each on tiny products that pass, fail, are no question, or were not requested."""

from __future__ import annotations

from typing import Any

import prodex
from prodex.quality.states import State
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row
from tests.quality.four_states import NOTHING, Case, Record

GTIN = "03036811359935"
FRONT: dict[str, Any] = {
    "url": "https://media.example/1.jpg",
    "isPackshot": True,
    "productFace": 1,
    "gdsnFileName": f"{GTIN}_C1N1.jpg",
    "width": 2400,
    "height": 3000,
    "format": "jpeg",
    "crc32": "0a",
    "exportables": [{"width": 1024, "height": 1024}, {"width": 64, "height": 64}],
}
BACK = FRONT | {"isPackshot": False, "productFace": 7, "gdsnFileName": f"{GTIN}_C7N1.jpg", "crc32": "0b"}


def pictured(*pictures: Record, **fields: Any) -> Record:
    """Return a consumer unit with these pictures."""
    return {"gtin": GTIN, "isConsumerUnit": True, "assets": {"pictures": list(pictures)}, **fields}


def touched(when: str | None) -> Record:
    """Return a product with a picture, whose pictures were touched then."""
    return {
        "assets": {"pictures": [{"url": "https://media.example/1.jpg"}], "lastUpdatedAt": {"pictures": when}}
    }


PATH = "assets.pictures"
NAME = f"{PATH}.gdsnFileName"
BARE = {"url": "https://media.example/1.jpg"}

CASES = {
    "has_picture": Case(
        pictured(BACK),
        pictured(),
        ("assets.pictures.url", None, None, NOTHING),
        pictured(isConsumerUnit=False),
    ),
    "has_front_packshot": Case(
        pictured(BACK, FRONT),
        pictured(BACK, FRONT | {"isPackshot": None}),
        (PATH, None, FRONT["gdsnFileName"], "picture 2: not marked as packshot, face 1 (front)"),
        pictured(isConsumerUnit=False),
    ),
    "one_front_packshot": Case(
        pictured(FRONT, BACK),
        pictured(FRONT, FRONT | {"gdsnFileName": "second"}),
        (f"{PATH}.isPackshot", None, FRONT["gdsnFileName"], "picture 1: one of 2 packshots of the front"),
        pictured(BACK),
    ),
    "face_agrees_with_file_name": Case(
        pictured(FRONT, BACK),
        pictured(BACK, FRONT | {"productFace": 7}),
        (
            NAME,
            None,
            FRONT["gdsnFileName"],
            "picture 2: face 7 (back) is stated, and face 1 (front) is in the file name",
        ),
        pictured(FRONT | {"gdsnFileName": "IMG_1.jpg"}, BACK | {"productFace": None}),
    ),
    "packshot_large_enough": Case(
        pictured(FRONT | {"width": 100}, BACK | {"width": 1, "height": 1}),
        pictured(FRONT | {"width": 1100, "height": 900}),
        (
            f"{PATH}.width",
            None,
            "1100 x 900",
            "picture 1: longest side under 1200 pixels (preset: many receivers)",
        ),
        pictured(FRONT | {"width": None}, BACK),
        parameters={"pixels": 1200},
    ),
    "packshot_size_known": Case(
        pictured(FRONT, BACK | {"width": None}),
        pictured(FRONT | {"height": None, "definition": "2400 x ?"}),
        (f"{PATH}.width", None, "2400 x ?", "picture 1: width and height are not both given"),
        pictured(BACK),
    ),
    "packshot_has_rendition": Case(
        pictured(BACK | {"exportables": []}, FRONT),
        pictured(BACK, FRONT | {"exportables": FRONT["exportables"][1:]}),
        (
            f"{PATH}.exportables",
            None,
            FRONT["gdsnFileName"],
            "picture 2: no rendition of 1024 pixels or more",
        ),
        pictured(BACK),
    ),
    "pictures_fresh": Case(
        touched("2023-11-03T00:00:00"),
        touched("2023-10-01T00:00:00"),
        ("assets.lastUpdatedAt.pictures", None, "2023-10-01T00:00:00", "no picture touched for 1095 days"),
        touched(None),
    ),
    "picture_file_named_as_gs1": Case(
        pictured(FRONT, BACK | {"gdsnFileName": f"{GTIN}_a1ca_s02.png"}, BARE),
        pictured(FRONT, BACK | {"gdsnFileName": f"{GTIN}_C1.jpg"}),
        (NAME, None, f"{GTIN}_C1.jpg", "picture 2: not GTIN_type face angle state"),
        pictured(BARE),
    ),
    "picture_of_this_gtin": Case(
        pictured(FRONT, BACK | {"gdsnFileName": "IMG_1.jpg"}),
        pictured(FRONT | {"gdsnFileName": "03999990000010_C1N1.jpg"}),
        (NAME, None, "03999990000010_C1N1.jpg", "picture 1: the file name has another GTIN"),
        pictured(BARE),
    ),
    "picture_format_for_web": Case(
        pictured(FRONT | {"format": "JPG"}, BACK | {"format": "image/png"}),
        pictured(FRONT, BACK | {"format": "tiff"}),
        (f"{PATH}.format", None, "tiff", "picture 2: none of jpeg, jpg, png"),
        pictured(BARE),
    ),
    "picture_not_expired": Case(
        pictured(FRONT, BACK | {"fileEffectiveEndDateTime": "2026-11-01T06:00:00"}),
        pictured(FRONT, BACK | {"fileEffectiveEndDateTime": "2026-11-01T05:59:59"}),
        (
            f"{PATH}.fileEffectiveEndDateTime",
            None,
            "2026-11-01T05:59:59",
            "picture 2: its end date has passed",
        ),
        pictured(),
    ),
    "picture_dates_in_order": Case(
        pictured(
            FRONT
            | {
                "fileEffectiveStartDateTime": "2026-01-01T00:00:00",
                "fileEffectiveEndDateTime": "2027-01-01T00:00:00",
            }
        ),
        pictured(
            FRONT
            | {
                "fileEffectiveStartDateTime": "2028-01-01T00:00:00",
                "fileEffectiveEndDateTime": "2027-01-01T00:00:00",
            }
        ),
        (
            f"{PATH}.fileEffectiveEndDateTime",
            None,
            "2027-01-01T00:00:00",
            "picture 1: begins 2028-01-01T00:00:00, ends 2027-01-01T00:00:00",
        ),
        pictured(FRONT | {"fileEffectiveEndDateTime": "2027-01-01T00:00:00"}),
    ),
    "pictures_differ": Case(
        pictured(FRONT, BACK),
        pictured(FRONT, BACK | {"crc32": "0a"}),
        (f"{PATH}.crc32", None, "0a", "picture 1: the same file (crc32) as another picture of the product"),
        pictured(BARE, BARE),
    ),
}


@each_row(
    ("pixels", "preset"),
    [
        (500, "preset: Google Merchant Center from 2027"),
        (2500, "preset: GS1 New Zealand"),
        (640, "as the profile says"),
    ],
)
def test_a_finding_names_whose_minimum_it_is(pixels: int, preset: str) -> None:
    """A published minimum is named by its source, and a user's by the profile."""
    case = Case(
        {}, pictured(FRONT | {"width": 9, "height": 9}), (None, None, None, ""), parameters={"pixels": pixels}
    )

    assert (
        f"picture 1: longest side under {pixels} pixels ({preset})" == case.found("packshot_large_enough")[3]
    )


def test_one_large_packshot_of_several_is_enough() -> None:
    """Shops take the best one."""
    small = FRONT | {"width": 9, "height": 9}
    case = Case(pictured(small, FRONT), pictured(small, small), (None, None, None, ""))

    assert [State.PASS, State.FAIL] == case.states("packshot_large_enough")


def test_parameters_say_what_is_wanted() -> None:
    """Formats, side of the rendition, and days are taken from the profile."""
    product = pictured(FRONT | {"format": "webp"})
    product["assets"]["lastUpdatedAt"] = {"pictures": "2026-10-01T00:00:00"}
    checks = {
        "picture_format_for_web": {"formats": ["WebP"]},
        "packshot_has_rendition": {"side": 2000},
        "pictures_fresh": {"days": 31},
    }

    audit = prodex.audit(
        prodex.flatten([{"id": 7, **product}]), {"checks": checks}, now=AS_OF, progress=False
    )

    assert [[State.PASS, State.FAIL, State.FAIL]] == audit.states.tolist()
