"""Problems in a person's words: what is shown where a check fails, with labels and names of languages filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from prodex.locales import language_label

#: What attributes are called whose wire name does not say it.
_LABELS = {
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
    "isTaggedBy": "tags",
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

#: Parameters of rules whose values are wire names, and those whose values are languages.
_ATTRIBUTES = ("attribute", "attributes", "composition", "listed")
_LANGUAGES = ("language", "languages")


def attribute_label(attribute: str) -> str:
    """Return what an attribute is called among people: by the list above, else the words of its wire name.

    >>> attribute_label("namePublicLong"), attribute_label("assets.pictures"), attribute_label("grossWeight.data")
    ('long name', 'pictures', 'gross weight')
    """
    name = attribute.removesuffix(".data").rpartition(".")[2]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", name)
    return _LABELS.get(name) or words.lower()


def problem_of(rule: str, title: str, parameters: Iterable[tuple[str, Any]]) -> str:
    """Return the problem that a failing check is, as a sentence that begins with a capital.

    Parameters
    ----------
    rule
        The problem as the rule says it, with `{parameters}`; a rule of one's own may say none.
    title
        What should be true, filled in: what is denied where the rule says no problem.
    parameters
        Names and values.

    Examples
    --------
    >>> problem_of("{attribute} missing in {language}", "", [("attribute", "namePublicLong"), ("language", "fr")])
    'Long name missing in French'
    >>> problem_of("", "the product is light", [])
    'Not true: the product is light'
    """
    if not rule:
        return f"Not true: {title}"
    given = dict(parameters)
    sentence = re.sub(
        r"{(\w+)}",
        lambda found: _in_words(found[1], given[found[1]]) if found[1] in given else found[0],
        rule,
    )
    return sentence[:1].upper() + sentence[1:]


def _in_words(name: str, value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(_in_words(name, one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,.15g}"
    if name in _ATTRIBUTES:
        return attribute_label(str(value))
    return language_label(str(value)) if name in _LANGUAGES else str(value)
