"""The types of product attributes (spec, Product; beyond it, what is known of a deployed service), declared once.

Products as XML are read by them, since XML itself says nothing of types. The attribute model is open: what is not
declared has no type, and its text is text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Scalar:
    """A value of one type, in words as messages say it."""

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


def _texts(names: str) -> dict[str, Type]:
    return dict.fromkeys(names.split(), TEXT)


_DESCRIPTOR: Final = Record(_texts("normalizedCode code description label"))
_LOCALIZED: Final = Array(Record({"expressedIn": _DESCRIPTOR, "data": TEXT}))
_QUANTITIES: Final = Array(Record({"expressedIn": _DESCRIPTOR, "data": NUMBER}))
_CODE: Final = Record(_texts("code description label pictureUrl"))
_CODES: Final = Array(_CODE)
_LOCALIZED_INSIDE: Final = Array(Record({"text": _LOCALIZED}))

_EXPORTABLE: Final = Record(
    {
        **_texts("uniformResourceIdentifier crc32 name createdAt updatedAt"),
        **dict.fromkeys(("height", "width", "fileSize", "productpicture_id"), INTEGER),
    }
)
_PICTURE: Final = Record(
    {
        "isPackshot": FLAG,
        **_texts(
            "url definition resolution ratio format uniformResourceIdentifierOrigin gdsnFileName crc32"
            " fileEffectiveStartDateTime fileEffectiveEndDateTime createdAt updatedAt"
        ),
        **dict.fromkeys(
            ("angleHorizontal", "angleVertical", "resolutionX", "resolutionY", "width", "height"), INTEGER
        ),
        "tags": Array(TEXT),
        "exportables": Array(_EXPORTABLE),
    }
)
_DOCUMENT: Final = Record(
    {
        **_texts("fileName uniformResourceIdentifier updatedAt"),
        "documentTypeCode": _CODE,
        "fileEffectiveStartDateTime": INTEGER,
        "fileEffectiveEndDateTime": INTEGER,
    }
)
_ASSETS: Final = Record(
    {
        "pictures": Array(_PICTURE),
        "documents": Array(_DOCUMENT),
        "document": Array(_DOCUMENT),
        "videos": Array(),
        "enriched_contents": Array(),
        "lastUpdatedAt": Record({"pictures": TEXT}),
    }
)
_NODE_MEMBERS: Final[dict[str, Type]] = {
    **_texts("gtin uuid"),
    "activeListing": FLAG,
    "product_key_id": INTEGER,
    "quantity": NUMBER,
}
_NODE: Final = Record(_NODE_MEMBERS)
_NODE_MEMBERS["children"] = Array(_NODE)
_LABEL: Final = Record(
    {
        **_texts("startDate endDate value attributedAt"),
        "detail": Array(),
        "isConceptualizedBy": _CODE,
    }
)

# Nutrients of a basis, in a shape that is assumed.
_PARTITION: Final = Record(
    {
        "name": TEXT,
        "quantity": NUMBER,
        "isMeasuredBy": _CODE,
        "contains": Array(
            Record(
                {
                    "isConceptualizedBy": _CODE,
                    "quantity": NUMBER,
                    "expressedIn": _DESCRIPTOR,
                    "percentageOfDailyValueIntake": NUMBER,
                }
            )
        ),
    }
)

#: Localized texts.
TEXT_ATTRIBUTES: Final = frozenset(
    [
        "nameLegal",
        "namePublicShort",
        "namePublicLong",
        "description",
        "composition",
        "allergens",
        "productionVariantName",
    ]
)
#: Booleans, or null.
FLAG_ATTRIBUTES: Final = frozenset(
    [
        "isConsumerUnit",
        "isDespatchUnit",
        "isOrderableUnit",
        "isInvoiceUnit",
        "isPromotionalItem",
        "isNomadic",
        "isMarkedRecyclable",
        "hasBatchNumber",
        "isDisplayUnit",
    ]
)
# The specification names them, and says that they come as arrays or null.
_ARRAYS: Final = """
conservationAdvices productionVariantEffectiveDate shapeStatement productActivities keepRefrigeratedAfter
keepRefrigeratedBefore compulsoryStatements isDerivedFrom createdShareValueStatement isPracticeCompatible shape serves
isComplementaryWith originText brandHighlight manufactureInsights flavorStatement substitutes importClassification
packagingMentions isSharedFrom additives conservations tradeItemDateOnPackagingTypeCode packaging temperature
isClassifiedIn isWrappedBy advertisedInformations startAvailabilityDateTime endAvailabilityDateTime dutyFeeTax
hasNotableIngredients isSizedBy environmentStatement sparklingValue replaces nutritionalAllegations isEquivalentTo
history priceComparisonType isSubstitutableWith reasonForNewEAN isReplaceableBy suggestedRetailPrice
consumptionAdvice contact offerOnPack
"""

#: Every attribute of which a type is known.
ATTRIBUTES: Final[Mapping[str, Type]] = {
    **dict.fromkeys(_ARRAYS.split(), Array()),
    **dict.fromkeys(TEXT_ATTRIBUTES, _LOCALIZED),
    **dict.fromkeys(FLAG_ATTRIBUTES, FLAG),
    **_texts(
        "uuid gtin createdAt updatedAt targetProductStatus unitType barcodeScanText lastUserHistoryDate"
    ),
    **dict.fromkeys(("id", "_jsonVersion", "lifeCycle", "manufacturerSharingStatus", "supplierId"), INTEGER),
    **dict.fromkeys(("brand", "kind", "typePackaging", "GPC", "subdivisions"), _CODE),
    **dict.fromkeys(
        ("netContent", "netWeight", "grossWeight", "height", "width", "depth", "percentageOfAlcoholByVolume"),
        _QUANTITIES,
    ),
    "isPartitionedBy": Array(_PARTITION),
    **dict.fromkeys(("synonyms", "productBenefits", "warnings"), _LOCALIZED_INSIDE),
    "originCountry": _CODES,
    "hasTags": Array(Record(_texts("tag createdAt"))),
    "isTaggedBy": Array(TEXT),
    "expressedIn": Array(
        Record({"referential": Record(_texts("name")), "presentEntities": Array(_DESCRIPTOR)})
    ),
    "isLabeledBy": Array(_LABEL),
    "specializes": Record(
        {"isBrandedBy": _CODE, "isIdentifiedBy": Array(Record(_texts("reference"))), "kind": _CODE}
    ),
    "owner": Record({"type": INTEGER, "status": INTEGER, **_texts("uuid name")}),
    "product_key": Record(
        dict.fromkeys(
            ("product_id", "organization_id", "source_type", "target_market_id", "source_id"), INTEGER
        )
    ),
    "validation": Record({"status": INTEGER, "nbSuggestions": INTEGER}),
    "logisticalHierarchies": Array(_NODE),
    "sharingUnits": Array(_NODE),
    "assets": _ASSETS,
    "assetsLastRequests": Array(),
    "validationRules": Array(Record(_texts("type ruleId"))),
    "foodAndBeverageIngredientDescriptionList": Array(Record({"ingredientNameText": _LOCALIZED})),
    "targetConsumerGenderList": Array(Record({"targetConsumerGenderCode": _CODE})),
    "flavors": Array(Record({"flavor": _CODE})),
    "certificationInformationList": Array(
        Record(
            {
                "certificationDetailsList": Array(
                    Record({"certificationValueText": TEXT, "certificationEffectiveEndDate": INTEGER})
                )
            }
        )
    ),
}
