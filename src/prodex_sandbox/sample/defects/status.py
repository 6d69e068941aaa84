"""Defects of freshness, sharing and validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from prodex_sandbox.records.model import SharingStatus
from prodex_sandbox.sample.defects.planting import Trace, any_product, declare, in_record
from prodex_sandbox.sample.products.dates import days_from_now, draw_stale_dates, iso
from prodex_sandbox.sample.products.product import Draft, show, weight

#: Attributes that are under `lastRequest` only until the recipient accepts a product.
_AWAITING = """
nameLegal namePublicShort namePublicLong productionVariantName description composition allergens netContent
isPartitionedBy contact conservationAdvices consumptionAdvice originCountry percentageOfAlcoholByVolume
"""
#: Defects that a program sees which does not read `lastRequest`.
_SEEMS_MISSING = """
missing_text missing_name missing_language missing_net_content missing_composition missing_contact
missing_storage missing_instructions missing_origin missing_alcohol missing_nutrition
"""

declare(
    "not_yet_accepted",
    "The product was shared and not accepted: its information is under lastRequest only.",
    ("sharing_pending", *_SEEMS_MISSING.split()),
)


@in_record("status", 0.01, any_product)
def stale(made: Draft) -> Iterable[Trace]:
    """The product was not updated for more than two years."""
    dates = draw_stale_dates(made.rng)
    made.record |= {"createdAt": iso(dates.created), "updatedAt": iso(dates.updated)}
    assets = made.record["assets"]
    # Pictures are never newer than the update of their product.
    if assets["pictures"] and assets["lastUpdatedAt"]["pictures"] > iso(dates.updated):
        assets["lastUpdatedAt"] = {"pictures": iso(dates.pictures)}
        for picture in assets["pictures"]:
            for file in (picture, *picture["exportables"]):
                file |= {"createdAt": iso(dates.created), "updatedAt": iso(dates.pictures)}
    return [Trace("updatedAt", iso(dates.updated))]


def _share(made: Draft, sharing: SharingStatus, *statuses: str) -> Iterable[Trace]:
    """Set how far the product is shared, and one of the retailer's statuses that fit."""
    status = made.rng.choice(statuses)
    view = replace(made.view, shared_from=sharing, shared_with=sharing, product_status=status)
    show(made, replace(view, active_range=False))
    return [Trace("manufacturerSharingStatus", status)]


@in_record("status", 0.01, any_product)
def sharing_draft(made: Draft) -> Iterable[Trace]:
    """The supplier's record is a draft."""
    return _share(made, SharingStatus.DRAFT, "NOT_ASSIGNED", "WAITING_TO_BE_SHARED")


@in_record("status", 0.015, any_product)
def sharing_pending(made: Draft) -> Iterable[Trace]:
    """The supplier's record is waiting to be shared."""
    return _share(made, SharingStatus.PENDING, "ASSIGNATION_PENDING", "TO_BE_VALIDATED", "REFUSED")


@in_record("status", 0.01, any_product)
def validation_not_ok(made: Draft) -> Iterable[Trace]:
    """The validation of the service failed."""
    show(made, replace(made.view, validation_status=1))
    return [Trace("validation.status", "1")]


@in_record("status", 0.006, any_product)
def validation_correction(made: Draft) -> Iterable[Trace]:
    """The validation of the service asks for a correction."""
    show(made, replace(made.view, validation_status=3))
    return [Trace("validation.status", "3")]


@in_record("status", 0.01, any_product)
def validation_suggestions(made: Draft) -> Iterable[Trace]:
    """The service has suggestions for the product."""
    suggestions = made.rng.randrange(1, 9)
    made.record["validation"]["nbSuggestions"] = suggestions
    return [Trace("validation.nbSuggestions", str(suggestions))]


@in_record("status", 0.012, any_product)
def update_pending(made: Draft) -> Iterable[Trace]:
    """The supplier sent an update that the recipient has not accepted."""
    show(made, replace(made.view, product_status="UPDATED"))
    made.record["lastRequest"] = {
        "updatedAt": made.record["updatedAt"],
        "grossWeight": weight(made.unit.gross + 5),
        "namePublicLong": [
            {**item, "data": f"{item['data']} +"} for item in made.record.get("namePublicLong") or ()
        ],
    }
    return [Trace("lastRequest", "grossWeight, namePublicLong")]


@in_record("status", 0.12, lambda made: "certificationInformationList" in made.record)
def certificate_expired(made: Draft) -> Iterable[Trace]:
    """A certificate has passed its end date."""
    ended = days_from_now(-made.rng.randrange(5, 300))
    details = made.record["certificationInformationList"][0]["certificationDetailsList"][0]
    details["certificationEffectiveEndDate"] = ended
    for document in made.record["assets"]["documents"]:
        if document["documentTypeCode"]["code"] == "CERTIFICATE":
            document["fileEffectiveEndDateTime"] = ended
    path = "certificationInformationList.certificationDetailsList.certificationEffectiveEndDate"
    return [Trace(path, iso(ended))]


def await_acceptance(made: Draft) -> list[Trace]:
    """Move the information of a product under `lastRequest`, where it waits for the recipient."""
    moved = {name: made.record.pop(name) for name in _AWAITING.split() if name in made.record}
    made.record["lastRequest"] = moved
    view = replace(made.view, shared_with=SharingStatus.PENDING, product_status="TO_BE_VALIDATED")
    show(made, replace(view, active_range=False))
    return [Trace("lastRequest", ", ".join(moved))]
