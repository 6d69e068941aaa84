"""The GS1 Global Product Classification: segment, family, class and brick, as far as a code contains them.

A code has eight digits. Those of segments, families and classes begin with the code above them and end in zeros: class
50131700 is of family 50130000, and that of segment 50000000. Those of bricks begin with 1000 and do not show what
they are bricks of; nobody here has the list of all of them. Services send codes of any level.
"""

from __future__ import annotations

from collections.abc import Mapping

#: What the segments are called, by the first two digits of their codes (GS1 GPC).
SEGMENTS: Mapping[str, str] = {
    "10": "Pet care and food",
    "11": "Industrial fluid pumps and systems",
    "12": "Tobacco and cannabis",
    "13": "Pest and plant control",
    "14": "Lighting",
    "47": "Cleaning and hygiene",
    "50": "Food and beverages",
    "51": "Healthcare",
    "53": "Beauty and personal care",
    "54": "Baby care",
    "58": "Several segments",
    "60": "Printed and reference materials",
    "61": "Music",
    "62": "Stationery and office machinery",
    "63": "Footwear",
    "64": "Personal accessories",
    "65": "Computing",
    "66": "Communications",
    "67": "Clothing",
    "68": "Audio, video and photography",
    "70": "Arts, crafts and needlework",
    "71": "Sports equipment",
    "72": "Home appliances",
    "73": "Kitchenware and tableware",
    "74": "Camping",
    "75": "Furniture and furnishings",
    "77": "Vehicles",
    "78": "Electrical supplies",
    "79": "Plumbing, heating and ventilation",
    "80": "Tools and equipment",
    "81": "Lawn and garden",
    "82": "Power tools",
    "83": "Building products",
    "84": "Tool storage and workshop aids",
    "85": "Safety and protection at work",
    "86": "Toys and games",
    "87": "Fluids, fuels and gases",
    "88": "Lubricants",
    "89": "Live animals",
    "91": "Safety, security and surveillance",
    "92": "Storage and haulage containers",
    "93": "Horticulture plants",
    "94": "Crops",
    "95": "Services and vending machines",
    "96": "Monetary assets",
    "98": "Raw materials except food",
    "99": "Postmortem products",
}

_DIGITS = 8
_PET_CARE, _BRICKS = "10000000", "1000"


def is_brick(code: str) -> bool:
    """Return whether a code is that of a brick: its class is not known.

    >>> is_brick("10000025"), is_brick("10000000"), is_brick("50131700")
    (True, False, False)
    """
    return _is_code(code) and code.startswith(_BRICKS) and code != _PET_CARE


def gpc_above(code: str) -> tuple[str, ...]:
    """Return the codes of the class, the family and the segment that a code is of, as far as it contains them.

    >>> gpc_above("50131703"), gpc_above("50130000"), gpc_above("10000025"), gpc_above("5013")
    (('50131700', '50130000', '50000000'), ('50000000',), (), ())
    """
    if not _is_code(code) or is_brick(code):
        return ()
    above = (f"{code[:length]:0<{_DIGITS}}" for length in (6, 4, 2))
    return tuple(dict.fromkeys(one for one in above if one != code))


def segment_label(code: str) -> str | None:
    """Return what a segment is called; None for a code that is not a segment's.

    >>> segment_label("50000000"), segment_label("97000000"), segment_label("50130000")
    ('Food and beverages', 'GPC segment 97', None)
    """
    if not _is_code(code) or not code.endswith("000000"):
        return None
    return SEGMENTS.get(code[:2], f"GPC segment {code[:2]}")


def _is_code(code: str) -> bool:
    return len(code) == _DIGITS and code.isascii() and code.isdecimal()
