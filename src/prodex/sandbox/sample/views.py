"""How each product looks to each retailer: sharing, status, range, validation, market and tags."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from prodex.sandbox.model import SharingStatus, View
from prodex.sandbox.sample.dates import Dates, days_from_now, iso
from prodex.sandbox.sample.families import MARKETS, Family
from prodex.sandbox.sample.participants import PRINCIPAL_ID, SECOND_ID, THIRD_ID

#: Tags that retailers put on products, with the share of products that bear them.
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
