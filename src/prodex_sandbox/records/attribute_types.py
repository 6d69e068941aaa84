"""The types of product attributes: those of the schemas, completed by what is known of a deployed service.

Products as XML are read by them, since XML itself carries no types. The attribute model is open: what is not declared
has no type, and its text is text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, get_args, get_origin

from pydantic import BaseModel

from prodex_sandbox.records.schemas.product import SHAPE_NOT_SHOWN, HierarchyNode, Owner, Product, Validation
from prodex_sandbox.records.schemas.values import LocalizedText


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

# A bool is an int for Python too, so it comes first.
_SCALARS: Final = ((bool, FLAG), (int, INTEGER), (float, NUMBER), (str, TEXT))
#: Members of the schemas' objects that a deployed service sends beyond the specification.
_BEYOND: Final[Mapping[type[BaseModel], Mapping[str, Type]]] = {
    HierarchyNode: {"activeListing": FLAG, "product_key_id": INTEGER},
    Owner: {"status": INTEGER},
    Validation: {"nbSuggestions": INTEGER},
}
_RECORDS: Final[dict[type[BaseModel], Record]] = {}


def _record(model: type[BaseModel]) -> Record:
    if model not in _RECORDS:
        members: dict[str, Type] = {}
        # Entered before its members are known, since some hold objects of their own kind.
        _RECORDS[model] = Record(members)
        for name, described in model.model_fields.items():
            if (type_ := _type(described.annotation)) is not None:
                members[described.alias or name] = type_
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
        if issubclass(annotation, BaseModel):
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
