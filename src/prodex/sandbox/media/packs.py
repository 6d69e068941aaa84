"""What can be seen on a pack: taken from a product's record, whatever that lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_NAMES: Final = ("namePublicShort", "namePublicLong", "nameLegal")
_PRINT: Final = (
    "composition",
    "allergens",
    "adviceForPreservation",
    "description",
    "namePublicLong",
    "nameLegal",
)
_SIGNS: Final = {"GRM": "g", "KGM": "kg", "MLT": "ml", "LTR": "l", "CLT": "cl", "H87": "×"}
#: Supplier's texts are as long as they like; a pack is not.
_MOST: Final = 600


@dataclass(frozen=True)
class Pack:
    """A trade item, as far as it can be seen.

    Attributes
    ----------
    gtin
        Its digits, which the barcode on the back shows.
    brand_code, brand
        The brand's code, which decides about the colour, and its label.
    kind
        Code of the kind of product, which decides about the shape.
    packaging
        EACH, PACK, CASE or PALLET; anything else looks like EACH.
    name, content
        The product's name, and its net content as it is written on packs.
    small_print
        What stands on the back.
    """

    gtin: str
    brand_code: str
    brand: str
    kind: str
    packaging: str
    name: str
    content: str
    small_print: str


def pack_of(record: Mapping[str, Any]) -> Pack:
    """Take a pack from a record; what waits under `lastRequest` counts where the record itself has nothing."""
    waiting = record.get("lastRequest")
    seen = {**(waiting if isinstance(waiting, dict) else {}), **record}
    brand, kind = seen.get("brand"), seen.get("kind")
    return Pack(
        gtin=_text(seen.get("gtin")),
        brand_code=_member(brand, "code"),
        brand=_member(brand, "label") or _member(brand, "code"),
        kind=_member(kind, "code"),
        packaging=_member(seen.get("typePackaging"), "code"),
        name=next((text for name in _NAMES for text in _texts(seen.get(name))), _member(kind, "label")),
        content=_content(seen.get("netContent")),
        small_print="  ".join(next(_texts(seen.get(name)), "") for name in _PRINT)[: 2 * _MOST].strip(),
    )


def objects(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list, or the one object that stands in its place."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            yield item


def _texts(value: object) -> Iterator[str]:
    return (text for item in objects(value) if (text := _text(item.get("data"))))


def _content(value: object) -> str:
    for item in objects(value):
        amount, unit = item.get("data"), item.get("expressedIn")
        if isinstance(amount, int | float) and not isinstance(amount, bool):
            if amount == 1 and _member(unit, "code") == "H87":
                return ""
            sign = _SIGNS.get(_member(unit, "code"), _member(unit, "label"))
            return f"{sign} {amount:g}" if sign == "×" else f"{amount:g} {sign}".strip()
    return ""


def _member(value: object, name: str) -> str:
    return _text(value.get(name)) if isinstance(value, dict) else ""


def _text(value: object) -> str:
    text = str(value)[:_MOST] if isinstance(value, str | int) else ""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())
