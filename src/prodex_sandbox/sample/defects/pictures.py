"""Defects of pictures (GS1 Product Image Specification, receivers' published minimums)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prodex_sandbox.sample.defects.planting import Trace, in_record
from prodex_sandbox.sample.products.dates import days_from_now, iso
from prodex_sandbox.sample.products.product import Draft

_PICTURES = "assets.pictures"
#: Members with the file name of a picture, in it and in its renditions.
_FILE_NAMES = {"url", "gdsnFileName", "uniformResourceIdentifierOrigin", "uniformResourceIdentifier", "name"}


def _pictures(made: Draft) -> list[dict[str, Any]]:
    pictures: list[dict[str, Any]] = made.record["assets"]["pictures"]
    return pictures


def _has_picture(made: Draft) -> bool:
    return made.unit.is_consumer_unit and len(_pictures(made)) > 0


def _has_two_pictures(made: Draft) -> bool:
    return made.unit.is_consumer_unit and len(_pictures(made)) > 1


def _rename(picture: dict[str, Any], old: str, new: str) -> None:
    """Change a part of the file name of a picture and of its renditions."""
    for file in (picture, *picture["exportables"]):
        for named in _FILE_NAMES & file.keys():
            file[named] = file[named].replace(old, new)


@in_record("pictures", 0.005, _has_picture)
def no_picture(made: Draft) -> Iterable[Trace]:
    """There is no picture at all."""
    made.record["assets"]["pictures"] = made.rng.choice(([], None))
    made.record["assets"]["lastUpdatedAt"] = {"pictures": None}
    return [Trace(_PICTURES), Trace(_PICTURES, defect="no_front_packshot")]


@in_record("pictures", 0.01, _has_two_pictures)
def no_front_packshot(made: Draft) -> Iterable[Trace]:
    """There are pictures, and none is a packshot of the front."""
    # Number 0 is the front packshot; the others show other faces.
    del _pictures(made)[0]
    return [Trace(_PICTURES, f"{len(_pictures(made))} pictures of other faces")]


@in_record("pictures", 0.004, _has_picture)
def packshot_disagrees(made: Draft) -> Iterable[Trace]:
    """The file name of the front packshot names another face."""
    _rename(_pictures(made)[0], "_C1N1", "_C9N1")
    return [Trace("assets.pictures.gdsnFileName", "isPackshot and productFace 1, face 9 in the file name")]


@in_record("pictures", 0.006, _has_picture)
def packshot_too_small(made: Draft) -> Iterable[Trace]:
    """The longest side of the packshot's original is under 500 pixels."""
    width, height = made.rng.choice(((320, 400), (450, 450), (480, 360)))
    _pictures(made)[0] |= {
        "width": width,
        "height": height,
        "definition": f"{width} x {height}",
        "ratio": f"{width / height:.2f}",
    }
    return [Trace("assets.pictures.width", f"{width} x {height}")]


@in_record("pictures", 0.004, _has_picture)
def picture_not_web_format(made: Draft) -> Iterable[Trace]:
    """A picture's original is in a format that browsers do not show."""
    picture = _pictures(made)[-1]
    picture["format"] = "tiff"
    for named in _FILE_NAMES & picture.keys():
        picture[named] = picture[named].replace(".jpg", ".tif")
    return [Trace("assets.pictures.format", "tiff")]


@in_record("pictures", 0.005, _has_picture)
def no_1024_rendition(made: Draft) -> Iterable[Trace]:
    """The front packshot has no rendition of 1024 pixels."""
    packshot = _pictures(made)[0]
    packshot["exportables"] = [each for each in packshot["exportables"] if each["width"] != 1024]
    return [Trace("assets.pictures.exportables", "largest rendition is 512")]


@in_record("pictures", 0.01, _has_two_pictures)
def expired_picture(made: Draft) -> Iterable[Trace]:
    """A picture may no longer be used: its end date has passed."""
    picture = _pictures(made)[-1]
    picture["fileEffectiveStartDateTime"] = iso(days_from_now(-900))
    picture["fileEffectiveEndDateTime"] = iso(days_from_now(-made.rng.randrange(5, 400)))
    return [Trace("assets.pictures.fileEffectiveEndDateTime", picture["fileEffectiveEndDateTime"])]


@in_record("pictures", 0.004, _has_picture)
def picture_dates_reversed(made: Draft) -> Iterable[Trace]:
    """The use of a picture ends before it begins."""
    picture = _pictures(made)[-1]
    picture["fileEffectiveStartDateTime"] = iso(days_from_now(4_000))
    picture["fileEffectiveEndDateTime"] = iso(days_from_now(3_800))
    return [Trace("assets.pictures.fileEffectiveEndDateTime", picture["fileEffectiveEndDateTime"])]


@in_record("pictures", 0.01, _has_two_pictures)
def duplicate_picture(made: Draft) -> Iterable[Trace]:
    """The same file (crc32) is listed twice among the pictures."""
    first, second = _pictures(made)[:2]
    second["crc32"] = first["crc32"]
    return [Trace("assets.pictures.crc32", first["crc32"])]


@in_record("pictures", 0.008, _has_two_pictures)
def several_packshots(made: Draft) -> Iterable[Trace]:
    """More than one picture is marked as the packshot of the front."""
    second = _pictures(made)[1]
    second["isPackshot"] = True
    second["productFace"] = 1
    _rename(second, "_C7N1", "_C1L1")
    return [Trace("assets.pictures.isPackshot", "2 packshots of the front")]


@in_record("pictures", 0.008, _has_two_pictures)
def picture_file_name(made: Draft) -> Iterable[Trace]:
    """The file name of a picture does not follow the GS1 pattern."""
    picture = _pictures(made)[-1]
    stem = picture["gdsnFileName"].removesuffix(".jpg")
    _rename(picture, stem, f"IMG_{made.unit.number % 9_000 + 1_000}")
    return [Trace("assets.pictures.gdsnFileName", picture["gdsnFileName"])]


@in_record("pictures", 0.006, _has_two_pictures)
def picture_of_another_gtin(made: Draft) -> Iterable[Trace]:
    """The file name of a picture has the GTIN of another product."""
    picture = _pictures(made)[-1]
    _rename(picture, f"{made.record['gtin']}_", "03999990000010_")
    return [Trace("assets.pictures.gdsnFileName", picture["gdsnFileName"])]


@in_record("pictures", 0.005, _has_picture)
def stale_pictures(made: Draft) -> Iterable[Trace]:
    """No picture was updated for more than three years."""
    touched = iso(days_from_now(-1_100 - made.rng.randrange(150)))
    # A product is never newer than its pictures.
    made.record["createdAt"] = iso(days_from_now(-1_300))
    made.record["assets"]["lastUpdatedAt"] = {"pictures": touched}
    for picture in _pictures(made):
        for file in (picture, *picture["exportables"]):
            file["createdAt"] = file["updatedAt"] = touched
    return [Trace("assets.lastUpdatedAt.pictures", touched)]
