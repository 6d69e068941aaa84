"""One unit of a family as its wire record: its attributes, its logistical hierarchies, and how each retailer sees it.

Hierarchies and sharing units have both shapes that services use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from prodex_sandbox.media.files import MEDIA
from prodex_sandbox.records.model import SharingStatus, View
from prodex_sandbox.sample.products import labelling, pictures
from prodex_sandbox.sample.products.dates import Dates, days_from_now, draw_dates, iso
from prodex_sandbox.sample.products.families import MARKETS, Family, Packed, Unit
from prodex_sandbox.sample.products.labelling import EMPTIES, Nutrients, consumer_information, draw_nutrients
from prodex_sandbox.sample.products.participants import PRINCIPAL_ID, SECOND_ID, THIRD_ID
from prodex_sandbox.sample.products.vocabulary import CODES, Ingredient, code_value, quantity

#: Tags that retailers put on products, with the share of products that have them.
_TAGS = {"exportable": 0.45, "online": 0.3, "season-2026": 0.12, "delisted": 0.05, "to check": 0.04}
_OTHERS_STATUSES = ("ACCEPTED", "ACCEPTED", "UPDATED", "TO_BE_VALIDATED", "REFUSED", "ASSIGNATION_PENDING")


def principal_view(rng: Random, family: Family, dates: Dates) -> View:
    """Return the view of the retailer that sees everything, of a product without a planted status."""
    return View(
        organization_id=PRINCIPAL_ID,
        active_range=rng.random() < 0.8,
        validation_status=2 if rng.random() < 0.85 else 0,
        target_market=family.market,
        tags=_tags(rng, dates),
    )


def other_views(rng: Random, family: Family, dates: Dates, principal: View) -> tuple[View, ...]:
    """Return the views of the other retailers that see the product, each with statuses of its own."""
    views = []
    for organization, share in ((SECOND_ID, 0.34), (THIRD_ID, 0.05)):
        if principal.shared_from is SharingStatus.DRAFT or rng.random() >= share:
            continue
        status = rng.choice(_OTHERS_STATUSES)
        # What is not accepted cannot be in the range that a retailer sells.
        accepted = status in {"ACCEPTED", "UPDATED"}
        views.append(
            replace(
                principal,
                organization_id=organization,
                shared_with=SharingStatus.ACCEPTED if accepted else SharingStatus.PENDING,
                product_status=status,
                active_range=accepted and rng.random() < 0.5,
                validation_status=rng.choice((0, 2, 2, 1)),
                target_market=rng.choice(_markets_served(family)),
                tags=_tags(rng, dates) if rng.random() < 0.3 else (),
            )
        )
    return tuple(views)


def _markets_served(family: Family) -> list[int]:
    """Return the markets whose required languages the product has, its own first."""
    others = [
        market
        for market, (required, _) in MARKETS.items()
        if market != family.market and set(required) <= set(family.languages)
    ]
    return [family.market, *others]


def _tags(rng: Random, dates: Dates) -> tuple[tuple[str, str], ...]:
    return tuple(
        (tag, iso(min(dates.updated, days_from_now(-rng.random() * 300))))
        for tag, share in _TAGS.items()
        if rng.random() < share
    )


_GPC = {
    "food": "50000001",
    "alcohol": "50000002",
    "beauty": "53000001",
    "cleaning": "47000001",
    "paper": "47000002",
    "homeware": "73000001",
    "pet": "50000003",
    "stationery": "62000001",
    "textile": "67000001",
    "battery": "78000001",
    "toy": "86000001",
}

#: Attributes of the specification that hardly any supplier fills in: null, empty or not there at all.
_RARELY_FILLED = """
shapeStatement productActivities keepRefrigeratedAfter createdShareValueStatement isComplementaryWith originText
brandHighlight manufactureInsights flavorStatement substitutes packagingMentions isSharedFrom isWrappedBy
dutyFeeTax isSizedBy environmentStatement sparklingValue replaces nutritionalAllegations reasonForNewEAN
isReplaceableBy suggestedRetailPrice offerOnPack
"""

#: Attributes of the specification that no supplier fills in: null or empty, in a few records each.
_NEVER_FILLED = """
compulsoryStatements conservations endAvailabilityDateTime hasNotableIngredients history importClassification
isClassifiedIn isDerivedFrom isEquivalentTo isPracticeCompatible isSubstitutableWith packaging
priceComparisonType productionVariantEffectiveDate shape tradeItemDateOnPackagingTypeCode
"""


@dataclass(slots=True)
class Draft:
    """A record in the making, with all that was decided for it; defects are planted into it."""

    rng: Random
    family: Family
    unit: Unit
    dates: Dates
    view: View
    record: dict[str, Any]
    ingredients: list[Ingredient]
    nutrients: Nutrients | None


def draft(rng: Random, family: Family, unit: Unit, dates: Dates | None = None) -> Draft:
    """Make the record of a unit, without a defect of its own; its dates are drawn unless given."""
    dates = dates or draw_dates(rng)
    view = principal_view(rng, family, dates)
    consumer = unit.is_consumer_unit
    made_of = labelling.ingredients_of(family, unit) if consumer else []
    nutrients = draw_nutrients(rng, family.kind) if consumer else None
    record = _head(family, unit, dates) | _classification(rng, family, unit)
    record |= labelling.names(family, unit)
    # A pack of four has four times the content.
    content = quantity(round(unit.size * max(unit.count, 1), 3), family.kind.unit)
    record["netContent"] = [content] if consumer else None
    record |= {"netWeight": weight(unit.net), **measures(unit)}
    if consumer:
        record |= consumer_information(rng, family, unit, made_of, nutrients)
    record |= _extras(rng, dates)
    record |= _unused(unit)
    hierarchy, sharing = listings(rng, family, unit)
    record["logisticalHierarchies"] = hierarchy
    record["sharingUnits"] = sharing
    certificates = record.get("certificationInformationList")
    record["assets"] = pictures.assets(
        rng, unit, dates, is_food=family.kind.is_food, certificates=certificates
    )
    # The view is written last: defects change it, and write it again.
    made = Draft(rng, family, unit, dates, view, record, made_of, nutrients)
    show(made, view)
    return made


def show(made: Draft, view: View) -> None:
    """Write the values that depend on the viewer into the record, as the first viewer sees them."""
    made.view = view
    made.record |= {
        "manufacturerSharingStatus": int(view.shared_from),
        "targetProductStatus": view.product_status,
        "validation": {"status": view.validation_status, "nbSuggestions": 0, "regulatory_status": None},
        "hasTags": [{"tag": tag, "createdAt": put_on} for tag, put_on in view.tags],
        "isTaggedBy": [tag for tag, _ in view.tags],
    }


def _head(family: Family, unit: Unit, dates: Dates) -> dict[str, Any]:
    supplier = family.supplier
    return {
        "id": unit.id,
        "uuid": unit.uuid,
        "gtin": unit.gtin,
        "_jsonVersion": 3,
        "createdAt": iso(dates.created),
        "updatedAt": iso(dates.updated),
        "supplierId": supplier.id,
        "unitType": unit.packaging,
        "product_key": {
            "product_id": unit.id,
            "organization_id": PRINCIPAL_ID,
            "source_type": 1,
            "target_market_id": family.market,
            "source_id": supplier.id,
        },
        "owner": {
            "uuid": supplier.uuid,
            "type": 1,
            "name": supplier.name,
            "status": 1,
            "group": None,
            "network": [],
        },
        # By the number of the unit rather than by chance, so that all values come in every small sample.
        "lifeCycle": 1 if unit.number % 9 else 2,
        "manufacturerSharingStatus": None,
        "targetProductStatus": None,
        "validation": None,
        "hasTags": [],
        "isTaggedBy": [],
        **flags(unit),
        "isMarkedRecyclable": (True, False, None)[unit.number % 3],
        "hasBatchNumber": True if family.kind.is_food else None,
        "isInvoiceUnit": unit.is_orderable_unit or None,
        "isPromotionalItem": False if unit.number % 4 else None,
    }


def _classification(rng: Random, family: Family, unit: Unit) -> dict[str, Any]:
    brand = {"code": family.brand.code, "label": family.brand.name, "description": None}
    kind = {"code": family.kind.code, "label": family.kind.noun["en"], "description": None}
    languages = [
        {"code": each["code"], "label": each["label"]} for each in map(labelling.descriptor, family.languages)
    ]
    entities = [{"referential": {"name": "languages"}, "presentEntities": languages}]
    if rng.random() < 0.4:
        used = {
            "weights": code_value("unit", "GRM" if unit.gross < 1_000 else "KGM"),
            "netcontents": code_value("unit", family.kind.unit),
            "currencies": code_value("currency", "GBP" if family.market == 826 else "EUR"),
        }
        entities += [
            {"referential": {"name": name}, "presentEntities": [code]} for name, code in used.items()
        ]
    shown: dict[str, Any] = {
        "brand": {**brand, "pictureUrl": f"{MEDIA}/brands/{family.brand.code}.png"},
        "kind": kind,
        "typePackaging": code_value("packaging", unit.packaging),
        "GPC": code_value("gpc", _GPC[family.kind.group]),
        "specializes": {
            "isBrandedBy": dict(brand),
            "isIdentifiedBy": [
                {"reference": f"{family.supplier.number:02d}-{unit.number * 37 % 1_000_003:06d}"}
            ],
            "kind": dict(kind),
        },
        "expressedIn": entities,
    }
    if family.market in {250, 56} and rng.random() < 0.2:
        shown["subdivisions"] = code_value("subdivision", "FR-75" if family.market == 250 else "BE-VAN")
    return shown


def _unused(unit: Unit) -> dict[str, Any]:
    """Return attributes without data, chosen by the number of the unit, so that no random draw changes."""
    empties: dict[str, Any] = {
        name: (None, [])[unit.number % 2]
        for place, name in enumerate(_NEVER_FILLED.split())
        if (unit.number + place) % 9 == 0
    }
    return empties | ({"isNomadic": False} if unit.number % 5 == 0 else {})


def _extras(rng: Random, dates: Dates) -> dict[str, Any]:
    """Return what only some records have: empty attributes, and attributes that no document names."""
    extras: dict[str, Any] = {name: rng.choice(EMPTIES) for name in rng.sample(_RARELY_FILLED.split(), 5)}
    if rng.random() < 0.15:
        extras["lastUserHistoryDate"] = iso(dates.updated)
        extras["barcodeScanText"] = None
        extras["assetsLastRequests"] = []
    if rng.random() < 0.1:
        extras["validationRules"] = []
        extras["tags"] = None
        extras["startAvailabilityDateTime"] = iso(dates.created)
    if rng.random() < 0.06:
        extras["xRetailPlan"] = {
            "priceList": code_value("price_list", rng.choice(("2024-05-01", "2025-10-01"))),
            "weeks": [rng.randrange(1, 53), 53],
            "shelf": {
                "facings": rng.randrange(1, 9),
                "blocks": [{"row": 1, "note": None}, {"row": 2, "note": "eye level"}],
            },
        }
    return extras


def weight(grams: int) -> list[dict[str, Any]]:
    """Return a weight in grams below one kilogram, in kilograms above."""
    return [quantity(grams, "GRM") if grams < 1_000 else quantity(grams / 1_000, "KGM")]


def measures(unit: Unit) -> dict[str, Any]:
    """Return gross weight and dimensions of a unit."""
    height, width, depth = unit.dimensions
    return {
        "grossWeight": weight(unit.gross),
        "height": [quantity(height, "MMT")],
        "width": [quantity(width, "MMT")],
        "depth": [quantity(depth, "MMT")],
    }


def flags(unit: Unit) -> dict[str, Any]:
    """Return what the unit is used for."""
    return {
        "isConsumerUnit": unit.is_consumer_unit,
        "isDespatchUnit": unit.is_despatch_unit,
        "isOrderableUnit": unit.is_orderable_unit,
        "isDisplayUnit": unit.is_display_unit,
    }


def trees_of(family: Family, unit: Unit) -> list[Unit]:
    """Return the roots of the hierarchies that the record of a unit shows.

    Cases and pallets show what they hold; consumer units show every hierarchy that they are packed in, where the
    supplier does so.
    """
    if unit.packaging in {"CASE", "PALLET"}:
        return [unit]
    if not family.shows_parents:
        return []
    return [top for top in family.tops if top is not unit and unit in _held(top)]


def shown_units(family: Family, unit: Unit) -> list[Unit]:
    """Return every unit of the hierarchies that the record of a unit shows, roots first."""
    shown: list[Unit] = []
    for root in trees_of(family, unit):
        shown += [each for each in _held(root) if each not in shown]
    return shown


def _held(root: Unit) -> list[Unit]:
    """Return a unit and everything in it, once each (a planted cycle ends here)."""
    found = [root]
    for unit in found:
        found += [packed.unit for packed in unit.contains if packed.unit not in found]
    return found


def listings(rng: Random, family: Family, unit: Unit) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return `logisticalHierarchies` and `sharingUnits` of a unit's record.

    The shape depends on the supplier: those of even numbers send flat nodes, others put the attributes into `version`.
    At most one of the hierarchies is listed actively; it is in `sharingUnits` as well.
    """
    nested = family.supplier.number % 2 == 1
    hierarchies: list[dict[str, Any]] = []
    sharing: list[dict[str, Any]] = []
    for root in trees_of(family, unit):
        # One hierarchy at most is shared through a listing.
        active = not sharing and rng.random() < 0.3
        tree = _node(Packed(root, 1), nested, ())
        hierarchies.append({"activeListing": active, "product_key_id": root.id % 10_000_019, **tree})
        if active:
            sharing.append(_node(Packed(root, 1), nested, ()))
    return hierarchies, sharing


def _node(packed: Packed, nested: bool, above: tuple[int, ...]) -> dict[str, Any]:
    unit = packed.unit
    # A planted cycle would never end.
    if unit.number in above:
        return {"gtin": unit.gtin, "uuid": unit.uuid, "quantity": packed.quantity}
    packaging = {"code": unit.packaging, "label": CODES["packaging"][unit.packaging]["en"]}
    attributes = {"typePackaging": packaging, **flags(unit), **measures(unit)}
    children = [_node(child, nested, (*above, unit.number)) for child in unit.contains]
    place: dict[str, Any] = {"gtin": packed.gtin or unit.gtin, "uuid": None if packed.gtin else unit.uuid}
    # Services send an unknown quantity as null, or do not send it.
    if packed.quantity is not None or unit.number % 2:
        place["quantity"] = packed.quantity
    if nested:
        return {"version": attributes, **place, "children": children}
    if children or unit.number % 3:
        place["children"] = children or None
    return {**place, **attributes}
