"""Rules of status: sharing, the recipient's acceptance, the service's own validation, updates that wait."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from prodex.facts.name import NAMES
from prodex.quality.products import Products
from prodex.quality.rulebook import Evidence, Verdict, rule

_DRAFT, _PENDING = 2, 3
_NOT_VALIDATED, _NOT_OK, _CORRECTION = 0, 1, 3
_STATES = "Product data exchange service: states"


@rule(
    title="the supplier's record is no draft",
    problem="Supplier's record is a draft",
    fix="Finish the record and share it.",
    severity="error",
    dimension="timeliness",
    block="freshness",
    needs="manufacturerSharingStatus",
    source=_STATES,
)
def is_no_draft(products: Products) -> Verdict:
    """A draft may change without notice, and was never meant to be read."""
    return _is_not(products, "sharing_status", _DRAFT, "manufacturerSharingStatus", "DRAFT")


@rule(
    title="the supplier's record does not wait to be shared",
    problem="Supplier's record waits to be shared",
    fix="Share the product, or answer what the recipient asked.",
    severity="warning",
    dimension="timeliness",
    block="freshness",
    needs="manufacturerSharingStatus",
    source=_STATES,
)
def is_shared(products: Products) -> Verdict:
    """Until it is shared, what it says does not count."""
    return _is_not(products, "sharing_status", _PENDING, "manufacturerSharingStatus", "PENDING")


@rule(
    title="the recipient has not refused the product",
    problem="Refused by the recipient",
    fix="Read why it was refused, correct it, and share it again.",
    severity="error",
    dimension="timeliness",
    block="freshness",
    needs="targetProductStatus",
    source=_STATES,
)
def is_not_refused(products: Products) -> Verdict:
    """A refused product is not listed, however complete it is."""
    return _is_not(products, "product_status", "REFUSED", "targetProductStatus", "refused by the recipient")


@rule(
    title="the validation of the service does not say no",
    problem="Not OK by the service's validation",
    fix="Open the product in the service and correct what its validation names.",
    severity="error",
    block="freshness",
    needs="validation.status",
    source=_STATES,
)
def validation_is_not_failed(products: Products) -> Verdict:
    """The recipient's own scenarios have failed; it will not be listed."""
    return _is_not(products, "validation_status", _NOT_OK, "validation.status", "NOT_OK")


@rule(
    title="the validation of the service asks for no correction",
    problem="To be corrected by the service's validation",
    fix="Open the product in the service and make the correction it asks for.",
    severity="warning",
    block="freshness",
    needs="validation.status",
    source=_STATES,
)
def validation_asks_no_correction(products: Products) -> Verdict:
    """Somebody has looked, and something has to change."""
    return _is_not(products, "validation_status", _CORRECTION, "validation.status", "CORRECTION")


@rule(
    title="the service has validated the product",
    problem="Not validated by the service",
    fix="Activate a validation scenario for the product.",
    severity="info",
    dimension="completeness",
    block="freshness",
    needs="validation.status",
    source=_STATES,
)
def is_validated(products: Products) -> Verdict:
    """Nobody has judged it yet: neither good nor bad."""
    return _is_not(products, "validation_status", _NOT_VALIDATED, "validation.status", "no validation yet")


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
    """The service compared the record with others, or with the picture, and would change something."""
    count = products["suggestion_count"]
    open_ = np.flatnonzero((count > 0).fillna(False).to_numpy(bool))
    evidence = Evidence(open_, "validation.nbSuggestions", None, count.iloc[open_], "suggestions are open")
    return Verdict(products.any(open_), count.notna(), evidence)


@rule(
    title="the information is accepted, not only requested",
    problem="Information requested, not accepted",
    fix="Accept or refuse the product: all it says waits under lastRequest.",
    severity="error",
    dimension="timeliness",
    block="freshness",
    needs=("lastRequest", *(f"{name}.data" for name in NAMES)),
)
def information_is_accepted(products: Products) -> Verdict:
    """The record looks empty, and is not: every check of its content fails for a reason the supplier cannot mend."""
    waits = _awaits_acceptance(products)
    found = np.flatnonzero(waits)
    reason = "the product has a name under lastRequest only"
    return Verdict(waits, evidence=Evidence(found, "lastRequest", None, None, reason))


@rule(
    title="no update waits to be accepted",
    problem="Update waits to be accepted",
    fix="Accept or refuse the update.",
    severity="warning",
    dimension="timeliness",
    block="freshness",
    needs=("lastRequest", *(f"{name}.data" for name in NAMES)),
)
def no_update_waits(products: Products) -> Verdict:
    """The supplier has sent something newer: what is read here is about to be wrong."""
    accepted = ~_awaits_acceptance(products)
    waits = products["has_pending_update"].fillna(False).to_numpy(bool) & accepted
    found = np.flatnonzero(waits)
    evidence = Evidence(found, "lastRequest", None, None, "an update waits under lastRequest")
    return Verdict(waits, accepted, evidence)


def _is_not(products: Products, column: str, wrong: int | str, attribute: str, meaning: str) -> Verdict:
    """Fail the products with this value; those without any are not applicable."""
    status = products[column]
    found = np.flatnonzero((status == wrong).fillna(False).to_numpy(bool))
    evidence = Evidence(found, attribute, None, status.iloc[found], meaning)
    return Verdict(products.any(found), status.notna(), evidence)


def _awaits_acceptance(products: Products) -> npt.NDArray[np.bool_]:
    """Say for each product whether its names stand under `lastRequest` only."""

    def made() -> npt.NDArray[np.bool_]:
        own = np.logical_or.reduce([products.filled(name) for name in NAMES])
        waits = np.logical_or.reduce([products.filled(f"lastRequest.{name}") for name in NAMES])
        return np.asarray(waits & ~own)

    return products.remember("awaits acceptance", made)
