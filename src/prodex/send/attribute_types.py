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

CODE_VALUE: Mapping[str, Type] = {
    "code": "text",
    "description": "text",
    "label": "text",
    "pictureUrl": "text",
}

LANGUAGE: Mapping[str, Type] = {
    "normalizedCode": "text",
    "code": "text",
    "description": "text",
    "label": "text",
}

_DATES: Mapping[str, Type] = {"createdAt": "text", "updatedAt": "text"}

_EXPORTABLE: Mapping[str, Type] = {
    "uniformResourceIdentifier": "text",
    "height": "integer",
    "width": "integer",
    "fileSize": "integer",
    "productpicture_id": "integer",
    "crc32": "text",
    **_DATES,
}

_PICTURE: Mapping[str, Type] = {
    "url": "text",
    "isPackshot": "boolean",
    "angleHorizontal": "integer",
    "angleVertical": "integer",
    "definition": "text",
    "resolution": "text",
    "resolutionX": "integer",
    "resolutionY": "integer",
    "width": "integer",
    "height": "integer",
    "ratio": "text",
    "format": "text",
    "tags": ["unknown"],
    "exportables": [_EXPORTABLE],
    **_DATES,
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
    **dict.fromkeys(_ARRAYS.split(), "array"),
    "uuid": "text",
    "gtin": "text",
    "_jsonVersion": "integer",
    **_DATES,
    "nameLegal": "localized",
    "namePublicShort": "localized",
    "namePublicLong": "localized",
    "description": "localized",
    "composition": "localized",
    "allergens": "localized",
    "productionVariantName": "localized",
    "brand": CODE_VALUE,
    "kind": CODE_VALUE,
    "typePackaging": CODE_VALUE,
    "isConsumerUnit": "boolean",
    "isDespatchUnit": "boolean",
    "isOrderableUnit": "boolean",
    "isInvoiceUnit": "boolean",
    "isPromotionalItem": "boolean",
    "isNomadic": "boolean",
    "isMarkedRecyclable": "boolean",
    "hasBatchNumber": "boolean",
    "lifeCycle": "integer",
    "manufacturerSharingStatus": "integer",
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
        "documents": ["unknown"],
        "videos": ["unknown"],
        "enriched_contents": ["unknown"],
        "lastUpdatedAt": {"pictures": "text"},
    },
}
