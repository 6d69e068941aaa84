"""Pictures with their renditions, and the other assets of a product."""

from __future__ import annotations

from random import Random
from typing import Any

from prodex_sandbox.media.files import MEDIA
from prodex_sandbox.sample.products import families
from prodex_sandbox.sample.products.dates import Dates, days_from_now, iso
from prodex_sandbox.sample.products.families import Unit
from prodex_sandbox.sample.products.vocabulary import code_value

#: Sides of the square JPG renditions in pixels.
RENDITIONS = (1024, 512, 256, 128, 64)
#: Type, face and angle of pictures in order (GS1 Product Image Specification): front, back, sides, top.
_VIEWS = (("C", 1, "N"), ("C", 7, "N"), ("A", 2, "L"), ("A", 8, "R"), ("A", 3, "C"))
#: Width and height of originals; the longest side reaches the strictest of the published minimums (2500).
_ORIGINALS = ((3000, 3000), (2500, 2500), (2600, 3400), (4000, 3000), (2400, 3200))


def picture(rng: Random, unit: Unit, sequence: int, dates: Dates) -> dict[str, Any]:
    """Return one picture of a unit; number 0 is the front packshot."""
    image_type, face, angle = _VIEWS[sequence]
    width, height = rng.choice(_ORIGINALS)
    created, updated = iso(dates.created), iso(dates.pictures)
    stem = f"{unit.gtin}_{image_type}{face}{angle}1"
    folder = f"{MEDIA}/{unit.id % 97:02d}/{unit.id}"
    original: dict[str, Any] = {
        "url": f"{folder}/{stem}.jpg",
        "isPackshot": sequence == 0,
        "typeOfInformation": 1 if face in {1, 2, 3} else 2,
        "contentType": 1,
        "productFace": face,
        "fileType": 1,
        "angleHorizontal": {"L": 315, "R": 45}.get(angle, 0),
        "angleVertical": 0,
        "angleOther": None,
        "sequenceNumber": sequence + 1,
        "definition": f"{width} x {height}",
        "resolution": "300 dpi",
        "resolutionX": 300,
        "resolutionY": 300,
        "width": width,
        "height": height,
        "ratio": f"{width / height:.2f}",
        "format": "jpeg",
        "tags": ["web"] if sequence == 0 and rng.random() < 0.3 else [],
        "gdsnFileName": f"{stem}.jpg",
        # Eight numbers for each picture: the original, and up to seven renditions.
        "crc32": families.checksum(unit.number, sequence * 8),
        "createdAt": created,
        "updatedAt": updated,
    }
    if rng.random() < 0.2:
        original["fileEffectiveStartDateTime"] = iso(dates.created)
        original["fileEffectiveEndDateTime"] = iso(days_from_now(1_500 + rng.randrange(3_000)))
    if rng.random() < 0.15:
        original |= {
            "product_key_id": unit.id % 10_000_019,
            "scope": "public",
            "backgroundScore": round(rng.random(), 3),
            "webOptimizedType": None,
            "ipUsageRights": None,
            "uniformResourceIdentifierOrigin": original["url"],
        }
    if rng.random() < 0.1:
        original["studio"] = {
            "reference": f"ST-{unit.id % 10_007}",
            "light": {"kelvin": 5500, "boxes": [2, 1]},
        }
    original["exportables"] = [
        {
            "uniformResourceIdentifier": f"{folder}/{stem}_{side}.jpg",
            "height": side,
            "width": side,
            # About what a JPEG of this size needs, so that a drawn picture fits.
            "fileSize": int(side * side * 0.14 * (0.8 + rng.random() * 0.4)) + 700,
            "productpicture_id": unit.id % 1_000_003 * 8 + sequence,
            "crc32": families.checksum(unit.number, sequence * 8 + place),
            "createdAt": created,
            "updatedAt": updated,
        }
        for place, side in enumerate(RENDITIONS, start=1)
    ]
    # Some suppliers send more of a rendition than the specification shows.
    if unit.number % 4 == 0:
        for rendition in original["exportables"]:
            rendition |= {"name": f"{stem}_{rendition['width']}.jpg", "quality": 85}
    return original


def assets(
    rng: Random, unit: Unit, dates: Dates, *, is_food: bool, certificates: list[dict[str, Any]] | None
) -> dict[str, Any]:
    """Return the rich content of a unit: most of it on consumer units, a picture on some of the others.

    Parameters
    ----------
    rng
        Source of chance.
    unit
        The unit.
    dates
        Its dates.
    is_food
        Whether a data sheet is a food specification.
    certificates
        The certificates whose files belong to the documents, or None.
    """
    # Consumers see consumer units; other units seldom have pictures.
    if unit.is_consumer_unit:
        count = rng.choice((1, 1, 1, 2, 2, 3)) if unit.packaging == "EACH" else 1
    else:
        count = 1 if rng.random() < 0.05 else 0
    pictures = [picture(rng, unit, sequence, dates) for sequence in range(count)]
    rich: dict[str, Any] = {
        "pictures": pictures,
        "documents": [],
        "videos": [],
        "enriched_contents": [],
        "lastUpdatedAt": {"pictures": iso(dates.pictures) if pictures else None},
    }
    if rng.random() < 0.12:
        sheet = "SPECIFICATION" if is_food else "SAFETY_SHEET"
        rich["documents"].append(_document(unit, dates, sheet, days_from_now(1_400 + unit.number % 900)))
    for certificate in certificates or ():
        # The file of a certificate ends with it.
        end = certificate["certificationDetailsList"][0]["certificationEffectiveEndDate"]
        rich["documents"].append(_document(unit, dates, "CERTIFICATE", end))
    if unit.is_consumer_unit and rng.random() < 0.04:
        rich["videos"] = [
            {
                "url": f"{MEDIA}/{unit.id % 97:02d}/{unit.id}/{unit.gtin}_video.mp4",
                "format": "mp4",
                "duration": 12 + unit.number % 48,
                "updatedAt": iso(dates.pictures),
            }
        ]
    if unit.is_consumer_unit and rng.random() < 0.04:
        rich["enriched_contents"] = [
            {"url": f"{MEDIA}/pages/{unit.id}.html", "provider": "sandbox", "updatedAt": iso(dates.updated)}
        ]
    return rich


def _document(unit: Unit, dates: Dates, kind: str, end: int) -> dict[str, Any]:
    name = f"{unit.gtin}_{kind.lower()}.pdf"
    return {
        "fileName": name,
        "uniformResourceIdentifier": f"{MEDIA}/documents/{unit.id}/{name}",
        "documentTypeCode": code_value("document", kind),
        "fileEffectiveStartDateTime": dates.created,
        "fileEffectiveEndDateTime": end,
        "updatedAt": iso(dates.updated),
    }
