"""The rich content of a product (spec, assets)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from prodex.sandbox.records.schemas.values import ABSENT, CodeValue, LocalDateTime, OpenObject, described


class Exportable(OpenObject):
    """One rendition of a picture (spec, Exportable fields)."""

    uniformResourceIdentifier: str | None = ABSENT
    height: int | None = described("Pixels.")
    width: int | None = described("Pixels.")
    fileSize: int | None = described("Bytes.")
    productpicture_id: int | None = ABSENT
    crc32: str | None = ABSENT
    createdAt: LocalDateTime | None = ABSENT
    updatedAt: LocalDateTime | None = ABSENT
    name: str | None = described("Seen beyond the specification.")
    quality: str | int | None = described("Seen beyond the specification.")


class Picture(OpenObject):
    """One picture (spec, Picture fields). Types of fields that the specification only names are open."""

    url: str | None = ABSENT
    isPackshot: bool | None = ABSENT
    typeOfInformation: str | int | None = ABSENT
    contentType: str | int | None = ABSENT
    productFace: str | int | None = ABSENT
    fileType: str | int | None = ABSENT
    angleHorizontal: int | None = described("Degrees.")
    angleVertical: int | None = described("Degrees.")
    angleOther: str | int | None = ABSENT
    sequenceNumber: str | int | None = ABSENT
    definition: str | None = described("Such as width x height.")
    resolution: str | None = ABSENT
    resolutionX: int | None = ABSENT
    resolutionY: int | None = ABSENT
    width: int | None = described("Pixels of the original.")
    height: int | None = described("Pixels of the original.")
    ratio: str | None = ABSENT
    format: str | None = ABSENT
    tags: list[str | None] | None = ABSENT
    uniformResourceIdentifierOrigin: str | None = ABSENT
    fileEffectiveStartDateTime: LocalDateTime | None = ABSENT
    fileEffectiveEndDateTime: LocalDateTime | None = ABSENT
    createdAt: LocalDateTime | None = ABSENT
    updatedAt: LocalDateTime | None = ABSENT
    exportables: list[Exportable | None] | None = ABSENT


_UnixSeconds = Annotated[int, Field(description="UNIX seconds; records hold date-times beside them.")]


class Document(OpenObject):
    """A document, such as a certificate. The specification does not show its fields; these were seen."""

    fileName: str | None = ABSENT
    uniformResourceIdentifier: str | None = ABSENT
    documentTypeCode: CodeValue | None = ABSENT
    fileEffectiveStartDateTime: _UnixSeconds | str | None = ABSENT
    fileEffectiveEndDateTime: _UnixSeconds | str | None = ABSENT
    updatedAt: LocalDateTime | None = ABSENT


class Video(OpenObject):
    """A video. The specification does not show its fields."""


class EnrichedContent(OpenObject):
    """A page or recipe of rich content. The specification does not show its fields."""


class AssetDates(OpenObject):
    """When the files of a kind changed last (spec, assets)."""

    pictures: LocalDateTime | None = ABSENT


class Assets(OpenObject):
    """The rich content of a product (spec, assets)."""

    pictures: list[Picture | None] | None = ABSENT
    documents: list[Document | None] | None = ABSENT
    document: list[Document | None] | None = described(
        "The documents under the name that one description has; see the setting documents_key."
    )
    videos: list[Video | None] | None = ABSENT
    enriched_contents: list[EnrichedContent | None] | None = ABSENT
    lastUpdatedAt: AssetDates | None = ABSENT
