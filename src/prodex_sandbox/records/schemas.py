"""The attributes of products, declared once: what an upsert may write, what XML means, and what the document describes.

Replies of products are no part of it: they are the bytes in the store. Tests compare them with these declarations.

Every attribute may be absent, since a call chooses its fields, and may be null where it holds no data.

Products as XML are read by them, since XML itself carries no types. The attribute model is open: what is not declared
has no type, and its text is text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta

from prodex_sandbox.records.model import OrganizationType, ProductStatus, SharingStatus, ValidationStatus

#: The default of members that may be absent: they are not written, and the document names no default.
ABSENT: Final[Any] = UNSET


class OpenObject(msgspec.Struct):
    """An object that may have other members than those described: the attribute model is open."""


class ClosedObject(msgspec.Struct, forbid_unknown_fields=True):
    """An object that has the members described and no others."""


#: Date and time as records hold them. RFC 3339 asks for a zone, so the format is not `date-time`.
LocalDateTime = Annotated[
    str,
    Meta(
        description="ISO 8601 local date-time without zone, YYYY-MM-DDThh:mm:ss; the sandbox means UTC.",
        examples=["2026-01-31T08:00:00"],
        extra_json_schema={"format": "date-time-local"},
    ),
]
Uuid = Annotated[str, Meta(examples=["11111111-0000-4000-8000-000000000001"])]
#: Codes are text in the specification; services were seen to send integers too.
Code = Annotated[str | int, Meta(description="A code; text, though integers have been seen.")]


class CodeValue(OpenObject):
    """A code with its label in the language asked for (spec, Code value object)."""

    code: Code | None = ABSENT
    label: str | None = ABSENT
    description: str | None = ABSENT


class PicturedCodeValue(CodeValue):
    """A code value that has a picture: a brand, or the meaning of a label (spec, Code value object)."""

    pictureUrl: str | None = ABSENT


class Language(CodeValue):
    """Language descriptor of a localized text (spec, Localized text item)."""

    normalizedCode: str | None = ABSENT


class LocalizedText(OpenObject):
    """One text in one language (spec, Localized text item)."""

    expressedIn: Language | None = ABSENT
    data: str | None = ABSENT


class Exportable(OpenObject):
    """One rendition of a picture (spec, Exportable fields)."""

    uniformResourceIdentifier: str | None = ABSENT
    height: Annotated[int | None, Meta(description="Pixels.")] = ABSENT
    width: Annotated[int | None, Meta(description="Pixels.")] = ABSENT
    fileSize: Annotated[int | None, Meta(description="Bytes.")] = ABSENT
    productpicture_id: int | None = ABSENT
    crc32: str | None = ABSENT
    createdAt: LocalDateTime | None = ABSENT
    updatedAt: LocalDateTime | None = ABSENT
    name: Annotated[str | None, Meta(description="Seen beyond the specification.")] = ABSENT
    quality: Annotated[str | int | None, Meta(description="Seen beyond the specification.")] = ABSENT


class Picture(OpenObject):
    """One picture (spec, Picture fields). Types of fields that the specification only names are open."""

    url: str | None = ABSENT
    isPackshot: bool | None = ABSENT
    typeOfInformation: str | int | None = ABSENT
    contentType: str | int | None = ABSENT
    productFace: str | int | None = ABSENT
    fileType: str | int | None = ABSENT
    angleHorizontal: Annotated[int | None, Meta(description="Degrees.")] = ABSENT
    angleVertical: Annotated[int | None, Meta(description="Degrees.")] = ABSENT
    angleOther: str | int | None = ABSENT
    sequenceNumber: str | int | None = ABSENT
    definition: Annotated[str | None, Meta(description="Such as width x height.")] = ABSENT
    resolution: str | None = ABSENT
    resolutionX: int | None = ABSENT
    resolutionY: int | None = ABSENT
    width: Annotated[int | None, Meta(description="Pixels of the original.")] = ABSENT
    height: Annotated[int | None, Meta(description="Pixels of the original.")] = ABSENT
    ratio: str | None = ABSENT
    format: str | None = ABSENT
    tags: list[str | None] | None = ABSENT
    uniformResourceIdentifierOrigin: str | None = ABSENT
    fileEffectiveStartDateTime: LocalDateTime | None = ABSENT
    fileEffectiveEndDateTime: LocalDateTime | None = ABSENT
    createdAt: LocalDateTime | None = ABSENT
    updatedAt: LocalDateTime | None = ABSENT
    exportables: list[Exportable | None] | None = ABSENT


_UnixSeconds = Annotated[int, Meta(description="UNIX seconds; records hold date-times beside them.")]


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
    document: Annotated[
        list[Document | None] | None,
        Meta(
            description="The documents under the name that one description has; see the setting documents_key."
        ),
    ] = ABSENT
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
    quantity: Annotated[
        int | float | None,
        Meta(description="How many of this unit its parent holds; absent or null where unknown."),
    ] = ABSENT
    version: Annotated[
        HierarchyUnit | None,
        Meta(description="The attributes of the unit, where they are not in the node itself."),
    ] = ABSENT
    children: list[HierarchyNode | None] | None = ABSENT


class LogisticalHierarchy(HierarchyNode):
    """One hierarchy of a product, from its largest unit down (spec, Product)."""

    activeListing: Annotated[
        bool | None,
        Meta(description="Whether it is shared through a listing; it is then among the sharing units too."),
    ] = ABSENT
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

    name: Annotated[str | None, Meta(examples=["languages", "netcontents", "currencies", "weights"])] = ABSENT


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


class Product(OpenObject):
    """A product (spec, Product). It may have other attributes too."""

    id: Annotated[
        int | str, Meta(description="An integer in full records, text in the rich-content response.")
    ] = ABSENT
    uuid: Uuid | None = ABSENT
    gtin: Annotated[str, Meta(description="14 digits in all cases shown.")] = ABSENT
    jsonVersion: Annotated[int | None, Meta(description="3 in the records shown.")] = msgspec.field(
        default=ABSENT, name="_jsonVersion"
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
    isDisplayUnit: Annotated[bool | None, Meta(description="Seen beyond the specification.")] = ABSENT
    lifeCycle: int | None = ABSENT
    manufacturerSharingStatus: SharingStatus | None = ABSENT
    targetProductStatus: Annotated[
        ProductStatus | None,
        Meta(description="Seen beyond the specification, with the values of the filter."),
    ] = ABSENT
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
    supplierId: Annotated[int | None, Meta(description="Seen beyond the specification.")] = ABSENT
    unitType: Annotated[str | None, Meta(description="Seen beyond the specification.")] = ABSENT
    lastRequest: Annotated[
        Product | None,
        Meta(description="The same attributes, as they wait for acceptance; seen beyond the specification."),
    ] = ABSENT
    requiredScenarios: Annotated[
        list[RequiredScenario | None] | None,
        Meta(description="The caller's active validation scenarios; the sandbox's own."),
    ] = ABSENT


@dataclass(frozen=True)
class Scalar:
    """A value of one type, in the words of messages."""

    words: str


@dataclass(frozen=True)
class Record:
    """An object; members that are not declared may be there too, as may an object without any that is."""

    members: Mapping[str, Type] = field(default_factory=dict)


@dataclass(frozen=True)
class Array:
    """An array of items of one type; None where their type is not known."""

    items: Type | None = None


Type = Scalar | Record | Array

TEXT: Final = Scalar("a text")
FLAG: Final = Scalar("true or false")
INTEGER: Final = Scalar("an integer")
NUMBER: Final = Scalar("a number")

# A bool is an int for Python too, so it is tried first.
_SCALARS: Final = ((bool, FLAG), (int, INTEGER), (float, NUMBER), (str, TEXT))
#: Members of the schemas' objects that a deployed service sends beyond the specification.
_BEYOND: Final[Mapping[type[msgspec.Struct], Mapping[str, Type]]] = {
    HierarchyNode: {"activeListing": FLAG, "product_key_id": INTEGER},
    Owner: {"status": INTEGER},
    Validation: {"nbSuggestions": INTEGER},
}
_RECORDS: Final[dict[type[msgspec.Struct], Record]] = {}


def _record(model: type[msgspec.Struct]) -> Record:
    if model not in _RECORDS:
        members: dict[str, Type] = {}
        # Entered before its members are known, since some hold objects of their own kind.
        _RECORDS[model] = Record(members)
        for member in msgspec.structs.fields(model):
            if (type_ := _type(member.type)) is not None:
                members[member.encode_name] = type_
        members |= _BEYOND.get(model, {})
    return _RECORDS[model]


def _type(annotation: Any) -> Type | None:
    """Return the type that a member of a schema has; None where it may be anything."""
    options = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return _type(options[0])
    if get_origin(annotation) is list:
        return Array(_type(options[0]))
    if isinstance(annotation, type):
        if issubclass(annotation, msgspec.Struct):
            return _record(annotation)
        return next((scalar for type_, scalar in _SCALARS if issubclass(annotation, type_)), None)
    if {int, float} <= set(options):
        return NUMBER
    # What a schema names first is what is documented; the others were seen.
    return next((type_ for option in options if (type_ := _type(option)) is not None), None)


_DESCRIPTOR: Final = Record(dict.fromkeys(("normalizedCode", "code", "description", "label"), TEXT))
_CODE: Final = Record(dict.fromkeys(("code", "description", "label", "pictureUrl"), TEXT))
_LOCALIZED: Final = Array(_record(LocalizedText))
_QUANTITIES: Final = Array(Record({"expressedIn": _DESCRIPTOR, "data": NUMBER}))
_SCHEMA: Final = _record(Product).members

# Nutrients of a basis, in a shape that is assumed.
_NUTRIENT: Final = Record(
    {
        "isConceptualizedBy": _CODE,
        "quantity": NUMBER,
        "expressedIn": _DESCRIPTOR,
        "percentageOfDailyValueIntake": NUMBER,
    }
)
_CERTIFICATE: Final = Record({"certificationValueText": TEXT, "certificationEffectiveEndDate": INTEGER})

#: Every attribute of which a type is known.
ATTRIBUTES: Final[Mapping[str, Type]] = {
    # The specification names them, and says that they come as arrays or null.
    **dict.fromkeys(SHAPE_NOT_SHOWN.split(), Array()),
    **_SCHEMA,
    **dict.fromkeys(("barcodeScanText", "lastUserHistoryDate"), TEXT),
    **dict.fromkeys(
        ("netContent", "netWeight", "grossWeight", "height", "width", "depth", "percentageOfAlcoholByVolume"),
        _QUANTITIES,
    ),
    **dict.fromkeys(("synonyms", "productBenefits", "warnings"), Array(Record({"text": _LOCALIZED}))),
    "isPartitionedBy": Array(
        Record({"name": TEXT, "quantity": NUMBER, "isMeasuredBy": _CODE, "contains": Array(_NUTRIENT)})
    ),
    "originCountry": Array(_CODE),
    "assetsLastRequests": Array(),
    "validationRules": Array(Record(dict.fromkeys(("type", "ruleId"), TEXT))),
    "foodAndBeverageIngredientDescriptionList": Array(Record({"ingredientNameText": _LOCALIZED})),
    "targetConsumerGenderList": Array(Record({"targetConsumerGenderCode": _CODE})),
    "flavors": Array(Record({"flavor": _CODE})),
    "certificationInformationList": Array(Record({"certificationDetailsList": Array(_CERTIFICATE)})),
}

#: Localized texts of the product itself.
TEXT_ATTRIBUTES: Final = frozenset(name for name, type_ in _SCHEMA.items() if type_ == _LOCALIZED)
