"""The files that records name: their addresses, and what is known of the file at one.

Records may lack anything, and hold anything; what cannot be read counts as missing.

A stored record names its files under `MEDIA`, so that it stays right when the sandbox moves to another port. In a
reply they are under the address at which the caller has reached the sandbox, and an upsert is translated back: both
are one replacement of bytes, and each reverses the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from prodex_sandbox.refusals import Refusal

_NAMES: Final = ("namePublicShort", "namePublicLong", "nameLegal")
_PRINT: Final = (
    "composition", "allergens", "adviceForPreservation", "description", "namePublicLong", "nameLegal",
)  # fmt: skip
_SIGNS: Final = {"GRM": "g", "KGM": "kg", "MLT": "ml", "LTR": "l", "CLT": "cl", "H87": "×"}
#: Supplier's texts are as long as they like; a pack is not.
_MAX_CHARACTERS: Final = 600


Record = Mapping[str, Any]


@dataclass(frozen=True)
class Pack:
    """A trade item, as far as it can be seen.

    Attributes
    ----------
    gtin
        Its digits, for the barcode on the back.
    brand_code, brand
        The brand's code, which decides about the colour, and its label.
    kind
        Code of the kind of product, which decides about the shape.
    packaging
        EACH, PACK, CASE or PALLET; anything else looks like EACH.
    name, content
        The product's name, and its net content as it is written on packs.
    small_print
        The text on the back.
    """

    gtin: str
    brand_code: str
    brand: str
    kind: str
    packaging: str
    name: str
    content: str
    small_print: str


def pack_of(record: Record) -> Pack:
    """Read a pack from a record, and from its pending update (`lastRequest`) what the record itself lacks."""
    waiting = record.get("lastRequest")
    seen = {**(waiting if isinstance(waiting, dict) else {}), **record}
    brand, kind = seen.get("brand"), seen.get("kind")
    small_print = "  ".join(next(_texts(seen.get(name)), "") for name in _PRINT)
    return Pack(
        gtin=_text(seen.get("gtin")),
        brand_code=_member(brand, "code"),
        brand=_member(brand, "label") or _member(brand, "code"),
        kind=_member(kind, "code"),
        packaging=_member(seen.get("typePackaging"), "code"),
        name=next((text for name in _NAMES for text in _texts(seen.get(name))), _member(kind, "label")),
        content=_content(seen.get("netContent")),
        small_print=small_print[: 2 * _MAX_CHARACTERS].strip(),
    )


def objects(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list, or the one object in place of a list."""
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
    text = str(value)[:_MAX_CHARACTERS] if isinstance(value, str | int) else ""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


#: Name of a format in records, or ending of a file's name -> the format.
FORMATS: Final = {"jpeg": "jpeg", "jpg": "jpeg", "tiff": "tiff", "tif": "tiff", "png": "png"}
#: Side of a picture whose record has no width or height.
_SIDE: Final = 1000
#: Pixels of the largest picture that is drawn.
_MAX_PIXELS: Final = 40_000_000


@dataclass(frozen=True)
class PictureFile:
    """A picture of a pack, an original or a rendition.

    Attributes
    ----------
    face
        What is seen (GS1: 1 front, 2 left, 3 top, 7 back, 8 right, 9 bottom).
    format
        A value of `FORMATS`.
    quality
        Of a JPEG, the one to begin with.
    size, crc32
        Number of bytes and CRC-32 that the record has, or None.
    """

    pack: Pack
    face: int
    width: int
    height: int
    format: str
    quality: int
    size: int | None
    crc32: int | None


@dataclass(frozen=True)
class LogoFile:
    """The picture of a brand or of a label."""

    code: str
    label: str
    is_brand: bool


@dataclass(frozen=True)
class DocumentFile:
    """A document of a product."""

    title: str
    pack: Pack


File = PictureFile | LogoFile | DocumentFile


def file_at(addresses: Collection[str], records: Iterable[Record]) -> File:
    """Return what records hold of the file at an address, which may be spelled in several ways.

    Raises
    ------
    Refusal
        When none of them names it, or it is nothing that the sandbox can make.
    """
    for record in records:
        for found in _named_in(record, addresses):
            return found
    raise Refusal("file_unknown", f"No product names {min(addresses)[:300]!r}.")


def _named_in(record: Record, addresses: Collection[str]) -> Iterator[File]:
    for shown in (record, *objects(record.get("lastRequest"))):
        for assets in objects(shown.get("assets")):
            yield from _in_assets(record, assets, addresses)
        for brand in _named(shown.get("brand"), "pictureUrl", addresses):
            yield LogoFile(str(brand.get("code")), str(brand.get("label")), is_brand=True)
        for label in objects(shown.get("isLabeledBy")):
            for concept in _named(label.get("isConceptualizedBy"), "pictureUrl", addresses):
                yield LogoFile(str(concept.get("code")), str(concept.get("label")), is_brand=False)


def _in_assets(record: Record, assets: Record, addresses: Collection[str]) -> Iterator[File]:
    pictures = list(objects(assets.get("pictures")))
    for picture in pictures:
        if picture.get("url") in addresses:
            # Pictures of one checksum are one file, even if their records name different faces.
            crc32 = picture.get("crc32")
            shows = next((one for one in pictures if crc32 and one.get("crc32") == crc32), picture)
            yield _picture(record, picture, shows, picture.get("format") or picture["url"])
        for rendition in _named(picture.get("exportables"), "uniformResourceIdentifier", addresses):
            yield _picture(record, rendition, picture, rendition["uniformResourceIdentifier"])
    # One description of the service names the documents in the singular.
    for name in ("documents", "document"):
        for document in _named(assets.get(name), "uniformResourceIdentifier", addresses):
            title = _member(next(objects(document.get("documentTypeCode")), None), "label")
            yield DocumentFile(title or _text(document.get("fileName")), pack_of(record))
    for name, word in (("videos", "a video"), ("enriched_contents", "a page")):
        if any(_named(assets.get(name), "url", addresses)):
            raise Refusal("file_not_served", f"It is {word}, and the sandbox makes none.")


def _named(value: object, member: str, addresses: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield the objects with one of the addresses in a member."""
    return (one for one in objects(value) if one.get(member) in addresses)


def _picture(record: Record, file: Record, shows: Record, named: object) -> PictureFile:
    """Read a picture; `named` is its format, or the name of its file."""
    ending = str(named).rpartition(".")[2].lower()
    if ending not in FORMATS:
        raise Refusal("file_not_served", f"It is {ending[:40]!r}; the sandbox draws {', '.join(FORMATS)}.")
    width, height = _whole(file.get("width"), _SIDE), _whole(file.get("height"), _SIDE)
    if min(width, height) < 1 or width * height > _MAX_PIXELS:
        limit = f"the sandbox draws {_MAX_PIXELS:,} at most"
        raise Refusal("file_not_served", f"It has {width} x {height} pixels; {limit}.")
    return PictureFile(
        pack=pack_of(record),
        face=_whole(shows.get("productFace"), 1),
        width=width,
        height=height,
        format=FORMATS[ending],
        quality=min(95, max(1, _whole(file.get("quality"), 90))),
        size=file.get("fileSize") if isinstance(file.get("fileSize"), int) else None,
        crc32=_checksum(file.get("crc32")),
    )


def _whole(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _checksum(value: object) -> int | None:
    """Read a CRC-32 as records have it: a number, or text in hexadecimal digits, or in decimal ones if over 8."""
    if isinstance(value, str):
        decimal = value.isascii() and value.isdigit() and len(value) > 8
        try:
            value = int(value[:20], 10 if decimal else 16)
        except ValueError:
            return None
    return value if isinstance(value, int) and 0 <= value < 2**32 else None


#: The address of files in stored records; `.example` is a name that never resolves (RFC 2606).
MEDIA: Final = "https://media.prodex.example"
#: The path under which the sandbox serves them.
PATH: Final = "/media"

# A Host header is chosen by the caller and copied into JSON, so it must not hold a quotation mark.
_MEDIA_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


@dataclass(frozen=True)
class MediaAddress:
    """The address under which a caller reaches files.

    Examples
    --------
    >>> here = MediaAddress("http://127.0.0.1:8000/media")
    >>> here.in_reply(b'{"url":"https://media.prodex.example/00/1/front.jpg"}')
    b'{"url":"http://127.0.0.1:8000/media/00/1/front.jpg"}'
    >>> here.in_store(b'{"url":"http://127.0.0.1:8000/media/00/1/front.jpg"}')
    b'{"url":"https://media.prodex.example/00/1/front.jpg"}'
    """

    text: str

    def in_reply(self, stored: bytes) -> bytes:
        """Return stored JSON as this caller gets it."""
        return stored.replace(f"{MEDIA}/".encode(), f"{self.text}/".encode())

    def in_store(self, sent: bytes) -> bytes:
        """Return JSON or XML of this caller as it is stored; some writers of JSON escape every slash."""
        for address in (f"{self.text}/", f"{self.text}/".replace("/", r"\/")):
            for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
                sent = sent.replace(address.encode(encoding), f"{MEDIA}/".encode(encoding))
        return sent


def address_of_call(scope: Mapping[str, Any]) -> MediaAddress:
    """Return the address of files for a caller: by the Host header of the call, else by the socket that was called."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) == 1 and _MEDIA_HOST.fullmatch(hosts[0]):
        host = hosts[0].decode("ascii")
    else:
        name, port = scope["server"]
        host = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
    return MediaAddress(f"{scope['scheme']}://{host}{PATH}")
