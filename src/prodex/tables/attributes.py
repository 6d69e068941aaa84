"""Names of a product's attributes that are known: those of the specification, and those that services send beside.

The attribute model is open, so a name that is not here may be somebody's own: the catalogue that has it tells.
"""

from __future__ import annotations

from collections.abc import Iterator

from prodex.tables.declaration import TABLES

#: What the wire path of everything in an update begins with that waits to be accepted.
PENDING = "lastRequest."

#: Localized texts that the specification names.
TEXTS = (
    "nameLegal",
    "namePublicShort",
    "namePublicLong",
    "description",
    "composition",
    "allergens",
    "productionVariantName",
)

#: "Other product attribute names that appear" (spec, Product).
_OTHERS = """
synonyms conservationAdvices productionVariantEffectiveDate shapeStatement productActivities keepRefrigeratedAfter
keepRefrigeratedBefore compulsoryStatements isDerivedFrom createdShareValueStatement isPracticeCompatible shape serves
isComplementaryWith originText brandHighlight manufactureInsights flavorStatement substitutes importClassification
packagingMentions isSharedFrom additives conservations tradeItemDateOnPackagingTypeCode packaging temperature
isClassifiedIn isWrappedBy advertisedInformations startAvailabilityDateTime endAvailabilityDateTime dutyFeeTax
hasNotableIngredients isSizedBy environmentStatement sparklingValue replaces nutritionalAllegations isEquivalentTo
netContent history netWeight grossWeight priceComparisonType originCountry isSubstitutableWith reasonForNewEAN
isReplaceableBy productBenefits suggestedRetailPrice description warnings consumptionAdvice isPartitionedBy contact
offerOnPack nameLegal namePublicShort namePublicLong composition allergens productionVariantName subdivisions
""".split()  # noqa: SIM905
#: Seen at a deployed service, and in records of the GDSN.
_SEEN = """
assetsLastRequests barcodeScanText certificationInformationList depth flavors foodAndBeverageIngredientDescriptionList
height lastRequest lastUserHistoryDate percentageOfAlcoholByVolume sharingUnits tags targetConsumerGenderList
textileModel validationRules width
""".split()  # noqa: SIM905


def _declared() -> Iterator[str]:
    for table in TABLES.values():
        for anchor in table.anchors:
            yield from filter(None, [anchor])
            for column in table.columns:
                yield from (".".join(filter(None, [anchor, *path])) for path in column.paths)


#: Wire paths that the tables declare, such as "assets.pictures.url".
PATHS = frozenset(_declared())
#: Names at the top of a product.
ATTRIBUTES = frozenset(["id", "gtin", *_OTHERS, *_SEEN, *(path.partition(".")[0] for path in PATHS)])
