"""The types of attributes, as far as the specification shows them ("Product", "assets"), as data.

JSON distinguishes numbers, lists and null; plain XML does not, so a reader needs the type of the attribute. Attributes
that are not listed here have no known type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

#: `localized` is a list of texts, each with its language. `array` is a list about which nothing else is shown, so that
#: a reader may not know that it is a list. `[type]` is a list of such values. A mapping is an object; its other
#: members have no known type, like `unknown`.
Type: TypeAlias = (
    Literal["text", "boolean", "integer", "localized", "array", "unknown"]
    | list["Type"]
    | Mapping[str, "Type"]
)


def _same_type(type_: Type, names: str) -> dict[str, Type]:
    """Return the type of several attributes."""
    return dict.fromkeys(names.split(), type_)


CODE_VALUE: Mapping[str, Type] = _same_type("text", "code description label pictureUrl")

LANGUAGE: Mapping[str, Type] = _same_type("text", "normalizedCode code description label")

_EXPORTABLE: Mapping[str, Type] = {
    **_same_type("text", "uniformResourceIdentifier crc32 createdAt updatedAt"),
    **_same_type("integer", "height width fileSize productpicture_id"),
}

_PICTURE: Mapping[str, Type] = {
    **_same_type("text", "url definition resolution ratio format createdAt updatedAt"),
    **_same_type("integer", "angleHorizontal angleVertical resolutionX resolutionY width height"),
    "isPackshot": "boolean",
    "tags": ["unknown"],
    "exportables": [_EXPORTABLE],
}

#: "Types are arrays or null as returned" (spec, Product); nothing else is shown.
_ARRAYS = """
synonyms conservationAdvices productionVariantEffectiveDate shapeStatement productActivities
keepRefrigeratedAfter keepRefrigeratedBefore compulsoryStatements isDerivedFrom createdShareValueStatement
isPracticeCompatible shape serves isComplementaryWith originText brandHighlight manufactureInsights
flavorStatement substitutes importClassification packagingMentions isSharedFrom additives conservations
tradeItemDateOnPackagingTypeCode packaging temperature isClassifiedIn isWrappedBy advertisedInformations
startAvailabilityDateTime endAvailabilityDateTime dutyFeeTax hasNotableIngredients isSizedBy
environmentStatement sparklingValue replaces nutritionalAllegations isEquivalentTo netContent history
netWeight grossWeight priceComparisonType originCountry isSubstitutableWith reasonForNewEAN isReplaceableBy
productBenefits suggestedRetailPrice warnings consumptionAdvice isPartitionedBy contact offerOnPack
"""

PRODUCT: Mapping[str, Type] = {
    **_same_type("array", _ARRAYS),
    **_same_type("text", "uuid gtin createdAt updatedAt"),
    **_same_type("integer", "_jsonVersion lifeCycle manufacturerSharingStatus"),
    **_same_type("boolean", "isConsumerUnit isDespatchUnit isOrderableUnit isInvoiceUnit isPromotionalItem"),
    **_same_type("boolean", "isNomadic isMarkedRecyclable hasBatchNumber"),
    **_same_type("localized", "nameLegal namePublicShort namePublicLong productionVariantName"),
    **_same_type("localized", "description composition allergens"),
    **_same_type(CODE_VALUE, "brand kind typePackaging"),
    "expressedIn": [{"referential": {"name": "text"}, "presentEntities": "array"}],
    "GPC": {},
    "subdivisions": {},
    "hasTags": [{"tag": "text", "createdAt": "text"}],
    "isTaggedBy": ["text"],
    "isLabeledBy": [{"detail": "array", "isConceptualizedBy": CODE_VALUE}],
    "specializes": {"isBrandedBy": CODE_VALUE, "isIdentifiedBy": [{"reference": "text"}], "kind": CODE_VALUE},
    "owner": {"type": "integer", "name": "text"},
    "logisticalHierarchies": [{"activeListing": "boolean"}],
    "assets": {
        "pictures": [_PICTURE],
        **_same_type(["unknown"], "documents videos enriched_contents"),
        "lastUpdatedAt": {"pictures": "text"},
    },
}
