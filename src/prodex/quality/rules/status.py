"""Rules of status: sharing, acceptance by the recipient, validation by the service, pending updates."""

from __future__ import annotations

from functools import partial

from prodex.facts.name import NAMES
from prodex.languages import Message
from prodex.quality.products import Products, once_per_part
from prodex.quality.rule_forms import IsNot, declare
from prodex.quality.rulebook import rule
from prodex.quality.verdict import Verdict, product_verdict
from prodex.tables.columns import Mask, is_true

#: Numbers of `manufacturerSharingStatus` and of `validation.status`. The specification ends at OK (2); the service also
#: sends CORRECTION (3).
_DRAFT, _PENDING = 2, 3
_NOT_VALIDATED, _NOT_OK, _CORRECTION = 0, 1, 3
_STATES = "Product data exchange service: states"

#: Declares a status that somebody has to act on in time. One that was not sent is not applicable: receivers do not all
#: see the same ones.
_declare = partial(declare, dimension="timeliness", block="freshness", source=_STATES)

_declare(
    "is_no_draft",
    IsNot("sharing_status", _DRAFT, "DRAFT"),
    title="the supplier's record is not a draft",
    problem="Supplier's record is a draft",
    fix="Finish the record and share it.",
    why="A draft may change without notice and is not meant for receivers.",
    severity="error",
)

_declare(
    "is_shared",
    IsNot("sharing_status", _PENDING, "PENDING"),
    title="the supplier's record is shared",
    problem="Supplier's record not shared yet",
    fix="Share the product, or answer the recipient's question.",
    why="Until it is shared, its content is not valid.",
    severity="warning",
)

_declare(
    "is_not_refused",
    IsNot("product_status", "REFUSED", Message("refused by the recipient")),
    title="the recipient has not rejected the product",
    problem="Rejected by the recipient",
    fix="Read why it was rejected, correct it, and share it again.",
    why="A rejected product is not listed, however complete it is.",
    severity="error",
)

_declare(
    "validation_is_not_failed",
    IsNot("validation_status", _NOT_OK, "NOT_OK"),
    title="the product does not fail the service's validation",
    problem="Failed the service's validation",
    fix="Open the product in the service and correct what its validation lists.",
    why="The product failed the recipient's own scenarios and will not be listed.",
    severity="error",
    dimension="validity",
)

_declare(
    "validation_asks_no_correction",
    IsNot("validation_status", _CORRECTION, "CORRECTION"),
    title="the service's validation requires no correction",
    problem="Correction required by the service's validation",
    fix="Open the product in the service and make the required correction.",
    why="Somebody reviewed the product and requires a change.",
    severity="warning",
    dimension="validity",
)

_declare(
    "is_validated",
    IsNot("validation_status", _NOT_VALIDATED, Message("no validation yet")),
    title="the service has validated the product",
    problem="Not validated by the service",
    fix="Activate a validation scenario for the product.",
    why="No validation has run yet, so its result is not known.",
    severity="info",
    dimension="completeness",
)


@rule(
    title="the service has no suggestions for the product",
    problem="Open suggestions of the service",
    fix="Go through the suggestions in the service.",
    severity="info",
    dimension="accuracy",
    block="freshness",
    needs="validation.nbSuggestions",
)
def has_no_suggestions(products: Products) -> Verdict:
    """The service compared the record with other records or with the picture, and suggests changes."""
    # Not applicable without a count: none was made, which is not the same as no suggestion.
    count = products["suggestion_count"]
    reason = Message("suggestions are open")
    return product_verdict(count > 0, "validation.nbSuggestions", count, reason, applies=count.notna())


@rule(
    title="the information is accepted, not just requested",
    problem="Information requested, not accepted",
    fix="Accept or reject the product: all its data wait for acceptance.",
    severity="error",
    dimension="timeliness",
    block="freshness",
    needs=("lastRequest", *(f"{name}.data" for name in NAMES)),
)
def information_is_accepted(products: Products) -> Verdict:
    """The record only looks empty: every check of its content fails for a reason that the supplier cannot fix."""
    reason = Message("the product has a name only in an update that waits for acceptance")
    return product_verdict(_awaits_acceptance(products), "lastRequest", None, reason)


@rule(
    title="no update is pending acceptance",
    problem="Update pending acceptance",
    fix="Accept or reject the update.",
    severity="warning",
    dimension="timeliness",
    block="freshness",
    needs=("lastRequest", *(f"{name}.data" for name in NAMES)),
)
def no_update_waits(products: Products) -> Verdict:
    """The supplier has sent a newer version: the current data will be outdated soon."""
    # A product that was never accepted has only pending data; that is the rule above.
    accepted = ~_awaits_acceptance(products)
    waits = is_true(products.column("has_pending_update")) & accepted
    reason = Message("an update waits for acceptance")
    return product_verdict(waits, "lastRequest", None, reason, applies=accepted)


@once_per_part
def _awaits_acceptance(products: Products) -> Mask:
    """Say for each product whether its names are under `lastRequest` only."""
    # A name is mandatory, so a product without one but with a pending one was never accepted.
    return products.any_filled(NAMES, "lastRequest.") & ~products.any_filled(NAMES)
