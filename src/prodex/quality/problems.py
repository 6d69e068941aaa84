"""What a supplier is asked for, in words that need no knowledge of the service, and what an answer is about."""

from __future__ import annotations

from prodex.languages import Message
from prodex.languages.recognized import recognized

#: What a supplier is asked for, by rule where its attribute does not say it, else by attribute: a name, and what it is.
_ASKED_BY_RULE = {
    "has_picture": "Picture: one of the product",
    "packshot_large_enough": "Front packshot: a larger picture of the front on white",
    "packshot_has_rendition": "Front packshot: a larger picture of the front on white",
    "packshot_size_known": "Front packshot: its size in pixels",
}
_ASKED = {
    "GPC": "GS1 brick: the category of the product",
    "allergens": "Allergens: those that the ingredients contain",
    "assets.pictures": "Picture: one of the product",
    "assets.pictures.isPackshot": "Front packshot: picture of the front on white",
    "brand": "Brand: its code or its name",
    "composition": "Ingredients: the list as on the pack",
    "conservationAdvices": "Storage conditions: as on the pack",
    "consumptionAdvice": "Instructions for use: as on the pack",
    "contact": "Contact: name and address as on the pack",
    "description": "Description: what customers read about the product",
    "isPartitionedBy": "Nutrition declaration: the table as on the pack",
    "kind": "Kind: the category of the product",
    "logisticalHierarchies": "Hierarchy: cases and pallets, and what they contain",
    "nameLegal": "Legal name: the name that the law requires",
    "namePublicLong": "Long name: the full name that customers read",
    "namePublicShort": "Short name: the name where there is little room",
    "netContent": "Net content: the amount in the pack",
    "originCountry": "Country of origin",
    "percentageOfAlcoholByVolume": "Alcoholic strength: per cent by volume",
    "productionVariantName": "Variant name: what tells it from similar products",
}

#: Parameters of rules whose values are wire names, and those whose values are languages.
_ATTRIBUTES = ("attribute", "attributes", "composition", "listed")
_LANGUAGES = ("language", "languages")


def asked_label(attribute: str | None, rule: str | None = None) -> Message | None:
    """Return what a supplier is asked for, in words that need no knowledge of the service.

    Parameters
    ----------
    attribute
        The attribute of a finding.
    rule
        The rule that asks.

    Examples
    --------
    >>> attributes = ("assets.pictures.isPackshot", "brand.code", "assets.pictures.format", "grossWeight.data")
    >>> [str(asked_label(one)) for one in attributes]
    ['Front packshot: picture of the front on white', 'Brand: its code or its name', 'Picture: format', 'Gross weight']
    """
    if attribute is None:
        return None
    known = _ASKED_BY_RULE.get(rule or "") or _ASKED.get(attribute) or _ASKED.get(attribute.partition(".")[0])
    if known is not None:
        return Message(known)
    if attribute.startswith("assets.pictures."):
        if attribute.endswith(".url"):
            return asked_label("assets.pictures")
        return Message("Picture: {attribute}", attribute=attribute)
    return Message.sentence("{attribute}", attribute=attribute)


def asked_attribute(label: str) -> str | None:
    """Return the attribute that a supplier was asked for in these words; None where they do not say which.

    >>> asked_attribute("Long name: the full name that customers read"), asked_attribute("Gross weight")
    ('namePublicLong', None)
    """
    asked = recognized(label, frozenset(_ASKED.values()))
    found = [attribute for attribute, one in _ASKED.items() if one == asked]
    return found[0] if len(found) == 1 else None
