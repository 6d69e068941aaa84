"""Every field that the specification names comes up in the sandbox's sample, in the shape it gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.cases import each_row

from prodex_sandbox.sample import shared_products

LOCAL_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Check = Callable[[Any], bool]


def of(*types: type) -> Check:
    return lambda value: type(value) in types


def matches(pattern: re.Pattern[str]) -> Check:
    return lambda value: isinstance(value, str) and bool(pattern.fullmatch(value))


TEXT, INTEGER, ARRAY, OBJECT = of(str), of(int), of(list), of(dict)
FLAG, OPTIONAL_TEXT, OPTIONAL_FLAG = of(bool), of(str, type(None)), of(bool, type(None))
CODE, DATE_TIME = TEXT, matches(LOCAL_DATE_TIME)

TEXT_FIELDS = (
    "nameLegal namePublicShort namePublicLong description composition allergens productionVariantName"
)
FLAG_FIELDS = """
isConsumerUnit isDespatchUnit isOrderableUnit isInvoiceUnit isPromotionalItem isNomadic isMarkedRecyclable
hasBatchNumber
"""
PICTURE_FIELDS = """
typeOfInformation contentType productFace fileType angleHorizontal angleVertical angleOther sequenceNumber definition
resolution resolutionX resolutionY width height ratio format uniformResourceIdentifierOrigin
fileEffectiveStartDateTime fileEffectiveEndDateTime
"""

#: What the specification says of a product's own fields.
PRODUCT: dict[str, Check] = {
    "id": INTEGER,
    "uuid": matches(UUID),
    "gtin": lambda value: isinstance(value, str) and len(value) == 14,
    "_jsonVersion": lambda value: value == 3,
    "createdAt": DATE_TIME,
    "updatedAt": DATE_TIME,
    **dict.fromkeys(TEXT_FIELDS.split(), ARRAY),
    **dict.fromkeys(("brand", "kind", "typePackaging"), OBJECT),
    **dict.fromkeys(FLAG_FIELDS.split(), OPTIONAL_FLAG),
    "lifeCycle": INTEGER,
    "manufacturerSharingStatus": lambda value: value in (2, 3, 4),
    "hasTags": ARRAY,
    "isTaggedBy": ARRAY,
    "expressedIn": ARRAY,
    "isLabeledBy": ARRAY,
    "specializes": OBJECT,
    "owner": OBJECT,
    "GPC": OBJECT,
    "subdivisions": OBJECT,
    "logisticalHierarchies": ARRAY,
    "assets": OBJECT,
}  # fmt: skip

#: Paths of nested fields.
NESTED: dict[str, dict[str, Check]] = {
    "namePublicLong": {"expressedIn": OBJECT, "data": TEXT},
    "namePublicLong.expressedIn": {
        "normalizedCode": TEXT,
        "code": matches(re.compile(r"[a-z]{3}-[A-Z]{2}")),
        "description": TEXT,
        "label": TEXT,
    },
    "brand": {"code": CODE, "label": TEXT, "description": OPTIONAL_TEXT, "pictureUrl": OPTIONAL_TEXT},
    "kind": {"code": CODE, "label": TEXT, "description": OPTIONAL_TEXT},
    "hasTags": {"tag": TEXT, "createdAt": DATE_TIME},
    "expressedIn": {"referential": OBJECT, "presentEntities": ARRAY},
    "expressedIn.referential": {
        "name": lambda value: value in {"languages", "netcontents", "currencies", "weights"}
    },
    "isLabeledBy": {
        "startDate": OPTIONAL_TEXT,
        "endDate": OPTIONAL_TEXT,
        "detail": ARRAY,
        "value": OPTIONAL_TEXT,
        "attributedAt": OPTIONAL_TEXT,
        "isConceptualizedBy": OBJECT,
    },
    "isLabeledBy.isConceptualizedBy": {"code": CODE, "label": TEXT, "pictureUrl": OPTIONAL_TEXT},
    "specializes": {"isBrandedBy": OBJECT, "isIdentifiedBy": ARRAY, "kind": OBJECT},
    "specializes.isIdentifiedBy": {"reference": TEXT},
    "owner": {"type": INTEGER, "name": TEXT},
    "logisticalHierarchies": {"activeListing": FLAG, "product_key_id": INTEGER},
    "assets": {
        "pictures": ARRAY,
        "documents": ARRAY,
        "videos": ARRAY,
        "enriched_contents": ARRAY,
        "lastUpdatedAt": OBJECT,
    },
    "assets.lastUpdatedAt": {"pictures": lambda value: value is None or DATE_TIME(value)},
    "assets.pictures": {
        "url": TEXT,
        "isPackshot": FLAG,
        **dict.fromkeys(PICTURE_FIELDS.split(), of(str, int, float, dict, type(None))),
        "tags": ARRAY,
        "createdAt": DATE_TIME,
        "updatedAt": DATE_TIME,
        "exportables": ARRAY,
    },
    "assets.pictures.exportables": {
        "uniformResourceIdentifier": TEXT,
        "height": INTEGER,
        "width": INTEGER,
        "fileSize": INTEGER,
        "productpicture_id": INTEGER,
        "crc32": TEXT,
        "createdAt": DATE_TIME,
        "updatedAt": DATE_TIME,
    },
}

#: "Other product attribute names that appear (types are arrays or null as returned)".
OTHERS = """
synonyms conservationAdvices productionVariantEffectiveDate shapeStatement productActivities keepRefrigeratedAfter
keepRefrigeratedBefore compulsoryStatements isDerivedFrom createdShareValueStatement isPracticeCompatible shape serves
isComplementaryWith originText brandHighlight manufactureInsights flavorStatement substitutes importClassification
packagingMentions isSharedFrom additives conservations tradeItemDateOnPackagingTypeCode packaging temperature
isClassifiedIn isWrappedBy advertisedInformations startAvailabilityDateTime endAvailabilityDateTime dutyFeeTax
hasNotableIngredients isSizedBy environmentStatement sparklingValue replaces nutritionalAllegations isEquivalentTo
netContent history netWeight grossWeight priceComparisonType originCountry isSubstitutableWith reasonForNewEAN
isReplaceableBy productBenefits suggestedRetailPrice warnings consumptionAdvice isPartitionedBy contact offerOnPack
"""


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    """Take the beginning of the sample, without the planted oddities that are no such shape on purpose."""
    return [product.record for product in shared_products(1_500)]


def values_at(value: Any, path: str) -> Iterator[Any]:
    name, _, rest = path.partition(".")
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and name in item:
            yield from values_at(item[name], rest) if rest else [item[name]]


def items_at(records: list[dict[str, Any]], path: str) -> list[dict[str, Any]]:
    found = []
    for value in values_at(records, path):
        found += [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    return found


def fitting(values: list[Any], check: Check) -> float:
    return sum(map(check, values)) / len(values)


@pytest.mark.slow
@each_row("name", PRODUCT)
def test_every_field_of_a_product_comes_up_in_its_shape(records: list[dict[str, Any]], name: str) -> None:
    """A described field is there, and nearly always of its type; planted oddities and empty strings are the rest."""
    values = [record[name] for record in records if record.get(name) is not None]
    assert values
    assert fitting(values, PRODUCT[name]) > 0.8


@each_row("path", NESTED)
def test_every_nested_field_comes_up_in_its_shape(records: list[dict[str, Any]], path: str) -> None:
    """Each field of a nested object is there in the shape that the specification gives."""
    items = items_at(records, path)
    for name, check in NESTED[path].items():
        values = [item[name] for item in items if name in item]
        assert values, name
        assert fitting(values, check) > 0.8, name


def test_every_other_attribute_name_comes_up(records: list[dict[str, Any]]) -> None:
    """Each of the names that the specification only lists is a name of some record."""
    seen = {name for record in records for name in record}
    assert [] == sorted(set(OTHERS.split()) - seen)
