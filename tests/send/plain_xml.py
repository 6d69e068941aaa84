"""A reader of SupplierProducts that knows the specification and nothing of prodex.

An element is read by its attribute's type, as the tables "Product" and "assets" of the specification show it. Where
they show none, it reads as a lenient service may: what looks like a number or a boolean is one, white
space around a text says nothing, and an element that stands alone is no list.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

TEXTS = {"nameLegal", "namePublicShort", "namePublicLong", "description", "composition", "allergens"} | {
    "productionVariantName"
}
BOOLEANS = {
    "isConsumerUnit",
    "isDespatchUnit",
    "isOrderableUnit",
    "isInvoiceUnit",
    "isPromotionalItem",
    "isNomadic",
    "isMarkedRecyclable",
    "hasBatchNumber",
}
CODE_VALUE = {"code": str, "description": str, "label": str, "pictureUrl": str}
DATES = {"createdAt": str, "updatedAt": str}
EXPORTABLE = {
    "uniformResourceIdentifier": str,
    **dict.fromkeys(("height", "width", "fileSize", "productpicture_id"), int),
    "crc32": str,
    **DATES,
}
PICTURE = {
    "url": str,
    "isPackshot": bool,
    **dict.fromkeys(
        ("angleHorizontal", "angleVertical", "resolutionX", "resolutionY", "width", "height"), int
    ),
    **dict.fromkeys(("definition", "resolution", "ratio", "format"), str),
    "tags": [None],
    "exportables": [EXPORTABLE],
    **DATES,
}
#: Of those whose "types are arrays or null", some.
ARRAYS = ("synonyms", "warnings", "netContent", "productBenefits", "packaging")
PRODUCT: dict[str, Any] = {
    "gtin": str,
    "uuid": str,
    **DATES,
    **{name: [str] for name in TEXTS},
    **dict.fromkeys(BOOLEANS, bool),
    **dict.fromkeys(("_jsonVersion", "lifeCycle", "manufacturerSharingStatus"), int),
    **dict.fromkeys(("brand", "kind", "typePackaging"), CODE_VALUE),
    **{name: [None] for name in ARRAYS},
    "hasTags": [{"tag": str, "createdAt": str}],
    "isTaggedBy": [str],
    "isLabeledBy": [{"isConceptualizedBy": CODE_VALUE}],
    "specializes": {"isBrandedBy": CODE_VALUE, "isIdentifiedBy": [{"reference": str}], "kind": CODE_VALUE},
    "owner": {"type": int, "name": str},
    "logisticalHierarchies": [{"activeListing": bool}],
    "assets": {"pictures": [PICTURE], "documents": [None], "videos": [None], "enriched_contents": [None]},
}


def read(body: bytes) -> list[dict[str, Any]]:
    """Return the products of a payload."""
    root = ElementTree.fromstring(body)
    assert ("SupplierProducts", {}) == (root.tag, root.attrib)
    assert {"product"} >= {child.tag for child in root}
    return [members(child, PRODUCT) for child in root]


def members(element: ElementTree.Element, types: Any) -> dict[str, Any]:
    """Read the elements in an element."""
    known = types if isinstance(types, dict) else {}
    groups: dict[str, list[ElementTree.Element]] = {}
    for child in element:
        assert {"languages"} >= set(child.attrib), child.attrib
        groups.setdefault(child.tag, []).append(child)
    return {
        name: [value(item, item_type(known.get(name))) for item in several]
        if len(several) > 1 or isinstance(known.get(name), list) or "languages" in several[0].attrib
        else value(several[0], known.get(name))
        for name, several in groups.items()
    }


def item_type(type_: Any) -> Any:
    return type_[0] if isinstance(type_, list) else None


def value(element: ElementTree.Element, type_: Any) -> Any:
    """Read one value."""
    text = (element.text or "").strip()
    if "languages" in element.attrib:
        return {"expressedIn": {"code": element.attrib["languages"].strip()}, "data": text}
    if len(element):
        return members(element, type_)
    if not text:
        return None
    if type_ is bool:
        return {"true": True, "false": False}[text]
    if type_ is int:
        return int(text)
    if type_ is str:
        return text
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        return float(text)
    return {"true": True, "false": False, "null": None}.get(text.lower(), text)
