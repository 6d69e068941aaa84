"""The product with its rich content (spec, Product and assets).

Every attribute may be absent, since a call chooses its fields, and may be null where it holds no data.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import ConfigDict, Field

from prodex_sandbox.records.model import OrganizationType, ProductStatus, SharingStatus, ValidationStatus
from prodex_sandbox.records.schemas.values import (
    ABSENT,
    CodeValue,
    LocalDateTime,
    LocalizedText,
    OpenObject,
    PicturedCodeValue,
    Uuid,
    described,
    tidy,
)


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


class HierarchyUnit(OpenObject):
    """What a unit of a hierarchy is; it may have any attribute of a product."""

    typePackaging: CodeValue | None = ABSENT
    isConsumerUnit: bool | None = ABSENT
    isDespatchUnit: bool | None = ABSENT
    isOrderableUnit: bool | None = ABSENT


class HierarchyNode(HierarchyUnit):
    """A unit in its place in a hierarchy, with the units that it holds."""

    gtin: str | None = ABSENT
    uuid: str | None = ABSENT
    quantity: int | float | None = described(
        "How many of this unit its parent holds; absent or null where unknown."
    )
    version: HierarchyUnit | None = described(
        "The attributes of the unit, where they are not in the node itself."
    )
    children: list[HierarchyNode | None] | None = ABSENT


class LogisticalHierarchy(HierarchyNode):
    """One hierarchy of a product, from its largest unit down (spec, Product)."""

    activeListing: bool | None = described(
        "Whether it is shared through a listing; it is then among the sharing units too."
    )
    product_key_id: int | None = ABSENT


#: Attributes that the specification only names.
SHAPE_NOT_SHOWN: Final = """
synonyms conservationAdvices productionVariantEffectiveDate shapeStatement productActivities keepRefrigeratedAfter
keepRefrigeratedBefore compulsoryStatements isDerivedFrom createdShareValueStatement isPracticeCompatible shape serves
isComplementaryWith originText brandHighlight manufactureInsights flavorStatement substitutes importClassification
packagingMentions isSharedFrom additives conservations tradeItemDateOnPackagingTypeCode packaging temperature
isClassifiedIn isWrappedBy advertisedInformations startAvailabilityDateTime endAvailabilityDateTime dutyFeeTax
hasNotableIngredients isSizedBy environmentStatement sparklingValue replaces nutritionalAllegations isEquivalentTo
netContent history netWeight grossWeight priceComparisonType originCountry isSubstitutableWith reasonForNewEAN
isReplaceableBy productBenefits suggestedRetailPrice warnings consumptionAdvice isPartitionedBy contact offerOnPack
"""

_Texts = list[LocalizedText | None] | None
#: Where a list is meant, an empty string has been seen for none.
_Blank = Literal[""]


class Tag(OpenObject):
    """A tag that is on a product, and since when (spec, Product: hasTags)."""

    tag: str = ABSENT
    createdAt: str | None = ABSENT


class Referential(OpenObject):
    """The referential of the entities that a product uses (spec, Product: expressedIn)."""

    name: str | None = Field(default=ABSENT, examples=["languages", "netcontents", "currencies", "weights"])


class PresentEntities(OpenObject):
    """The languages or units that a product uses (spec, Product: expressedIn)."""

    referential: Referential | None = ABSENT
    presentEntities: list[CodeValue | None] | None = ABSENT


class Label(OpenObject):
    """A label on a product (spec, Product: isLabeledBy)."""

    startDate: str | None = ABSENT
    endDate: str | None = ABSENT
    detail: list[Any] | None = ABSENT
    value: str | None = ABSENT
    attributedAt: str | None = ABSENT
    isConceptualizedBy: PicturedCodeValue | None = ABSENT


class Identifier(OpenObject):
    """A supplier's own reference (spec, Product: specializes)."""

    reference: str | None = ABSENT


class Specialization(OpenObject):
    """What the product is a variant of (spec, Product: specializes)."""

    isBrandedBy: PicturedCodeValue | None = ABSENT
    isIdentifiedBy: list[Identifier | None] | None = ABSENT
    kind: CodeValue | None = ABSENT


class Owner(OpenObject):
    """The organisation whose product it is (spec, Product: owner)."""

    type: OrganizationType | None = ABSENT
    name: str | None = ABSENT
    uuid: Uuid | None = ABSENT


class ProductKey(OpenObject):
    """Whose view of the product a record is; seen beyond the specification."""

    product_id: int | None = ABSENT
    organization_id: int | None = ABSENT
    source_type: int | None = ABSENT
    target_market_id: int | None = ABSENT
    source_id: int | None = ABSENT


class Validation(OpenObject):
    """How far the retailer's validation is; seen beyond the specification."""

    status: ValidationStatus | None = ABSENT


class RequiredScenario(OpenObject):
    """A validation scenario that the retailer has activated on the product; the sandbox's own."""

    id: str = ABSENT
    deadline: str | None = ABSENT


def _with_names(schema: dict[str, Any]) -> None:
    tidy(schema)
    schema["properties"] |= {
        name: {"description": "Its shape is not shown in the specification."}
        for name in SHAPE_NOT_SHOWN.split()
    }


class Product(OpenObject):
    """A product (spec, Product). It may have other attributes too."""

    model_config: ClassVar[ConfigDict] = ConfigDict(json_schema_extra=_with_names)

    id: int | str = described("An integer in full records, text in the rich-content response.")
    uuid: Uuid | None = ABSENT
    gtin: str = described("14 digits in all cases shown.")
    jsonVersion: int | None = Field(
        default=ABSENT, alias="_jsonVersion", description="3 in the records shown."
    )
    createdAt: LocalDateTime | None = ABSENT
    updatedAt: LocalDateTime | None = ABSENT
    nameLegal: _Texts = ABSENT
    namePublicShort: _Texts = ABSENT
    namePublicLong: _Texts = ABSENT
    description: _Texts = ABSENT
    composition: _Texts = ABSENT
    allergens: _Texts | _Blank = ABSENT
    productionVariantName: _Texts = ABSENT
    brand: PicturedCodeValue | None = ABSENT
    kind: CodeValue | None = ABSENT
    typePackaging: CodeValue | None = ABSENT
    isConsumerUnit: bool | None = ABSENT
    isDespatchUnit: bool | None = ABSENT
    isOrderableUnit: bool | None = ABSENT
    isInvoiceUnit: bool | None = ABSENT
    isPromotionalItem: bool | None = ABSENT
    isNomadic: bool | None = ABSENT
    isMarkedRecyclable: bool | None = ABSENT
    hasBatchNumber: bool | None = ABSENT
    isDisplayUnit: bool | None = described("Seen beyond the specification.")
    lifeCycle: int | None = ABSENT
    manufacturerSharingStatus: SharingStatus | None = ABSENT
    targetProductStatus: ProductStatus | None = described(
        "Seen beyond the specification, with the values of the filter."
    )
    validation: Validation | None = ABSENT
    hasTags: list[Tag | None] | None = ABSENT
    isTaggedBy: list[str | None] | None = ABSENT
    expressedIn: list[PresentEntities | None] | None = ABSENT
    isLabeledBy: list[Label | None] | _Blank | None = ABSENT
    specializes: Specialization | None = ABSENT
    owner: Owner | None = ABSENT
    GPC: CodeValue | None = ABSENT
    subdivisions: CodeValue | None = ABSENT
    logisticalHierarchies: list[LogisticalHierarchy | None] | None = ABSENT
    sharingUnits: list[HierarchyNode | None] | None = ABSENT
    assets: Assets | None = ABSENT
    product_key: ProductKey | None = ABSENT
    supplierId: int | None = described("Seen beyond the specification.")
    unitType: str | None = described("Seen beyond the specification.")
    lastRequest: Product | None = described(
        "The same attributes, as they wait for acceptance; seen beyond the specification."
    )
    requiredScenarios: list[RequiredScenario | None] | None = described(
        "The caller's active validation scenarios; the sandbox's own."
    )
