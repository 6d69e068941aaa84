"""What attributes are called among people, within a sentence and at the head of a row."""

from __future__ import annotations

import re

#: What attributes are called whose wire name does not say it.
LABELS = {
    "GPC": "GS1 brick",
    "advertisedInformations": "advertised information",
    "assets": "pictures, documents and videos",
    "composition": "ingredients",
    "conservationAdvices": "storage conditions",
    "consumptionAdvice": "instructions for use",
    "endAvailabilityDateTime": "last day of availability",
    "gtin": "GTIN",
    "hasTags": "tags",
    "isBrandedBy": "brand",
    "isConceptualizedBy": "concept",
    "isConsumerUnit": "mark of a consumer unit",
    "isLabeledBy": "labels",
    "isPartitionedBy": "nutrition declaration",
    "isTaggedBy": "tag names",
    "kind": "kind",
    "logisticalHierarchies": "hierarchy",
    "nameLegal": "legal name",
    "namePublicLong": "long name",
    "namePublicShort": "short name",
    "originCountry": "country of origin",
    "percentageOfAlcoholByVolume": "alcoholic strength",
    "productionVariantName": "variant name",
    "sharingUnits": "hierarchy",
    "startAvailabilityDateTime": "first day of availability",
    "typePackaging": "type of packaging",
    "uuid": "universally unique id",
}

#: What further attributes are called that rules ask for, for translators: their wire names say it in English.
OTHER_LABELS = (
    *(
        "net content",
        "net weight",
        "gross weight",
        "height",
        "width",
        "depth",
        "description",
        "contact",
        "pictures",
    ),
    *(
        "allergens",
        "format",
        "country of origin",
        "consumer unit",
        "display unit",
        "packaging",
        "owner",
        "status",
    ),
    *(
        "certification effective end date",
        "certification effective start date",
        "code",
        "created at",
        "end date",
    ),
    *(
        "file effective end date time",
        "file effective start date time",
        "id",
        "last request",
        "updated at",
        "crc32",
    ),
    *(
        "manufacturer sharing status",
        "nb suggestions",
        "expressed in",
        "gdsn file name",
        "language",
        "language code",
    ),
    *(
        "language codes",
        "languages",
        "product face",
        "target market id",
        "target product status",
        "exportables",
    ),
    *(
        "nutrients",
        "quantity",
        "children",
        "type",
        "url",
        "size",
        "uuid",
        "certificates",
        "text",
        "documents",
        "videos",
    ),
    *("market", "product", "tag", "label", "contains", "validation", "drained weight"),
    *("last updated at", "product benefits", "warnings", "synonyms", "ingredient name text"),
)

#: Every label that has a translation.
NAMED = frozenset({*LABELS.values(), *OTHER_LABELS})


def attribute_label(attribute: str) -> str:
    """Return what an attribute is called among people: by the list above, else the words of its wire name.

    >>> attribute_label("namePublicLong"), attribute_label("assets.pictures"), attribute_label("grossWeight.data")
    ('long name', 'pictures', 'gross weight')
    >>> attribute_label("isOrderableUnit")
    'orderable unit'
    """
    name = attribute.removesuffix(".data").rpartition(".")[2]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", name)
    return LABELS.get(name) or words.lower().removeprefix("is ")


def attribute_title(path: str) -> str:
    """Return the title of an attribute at the head of a row: first what it is a part of, then its own name.

    >>> attribute_title("namePublicLong"), attribute_title("assets.pictures"), attribute_title("productBenefits.text")
    ('Long name', 'Pictures', 'Product benefits: text')
    """
    parts = path.removesuffix(".data").split(".")
    # Pictures, documents and videos need no more words; all else is a part of something.
    parts = parts[1:] if parts[0] == "assets" and len(parts) > 1 and not parts[1].endswith("At") else parts
    title = ": ".join(dict.fromkeys(attribute_label(part) for part in parts))
    return title[:1].upper() + title[1:]
