"""What became of corrections that were sent: what certainly did not arrive, and what the products of now prove."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from prodex.catalog import Catalog
from prodex.errors import ProdexError
from prodex.fix.result import Fix
from prodex.fix.text_corrections import TextCorrection, fix_texts
from prodex.notebook.audit.overview import is_about
from prodex.phases import PhaseObserver, Reporter
from prodex.quality import Audit, AuditComparison, Profile
from prodex.quality.comparison import compare_audits
from prodex.quality.run import audit as audit_of
from prodex.service import Client

#: States of a product in which the service certainly does not have what was sent.
_NOT_ARRIVED = frozenset({"ERROR", "refused", "not sent"})

UNHEARD = PhaseObserver(lambda _: None)
_NOT_THERE = "the product does not show it (yet)"


@dataclass(frozen=True, eq=False)
class Proof:
    """Corrections beside the products as the service has them now.

    Attributes
    ----------
    arrived
        The corrections that the products have.
    missing
        Of the others product, attribute and what is known, in words.
    of
        The catalogue that they were judged by.
    newest
        The same corrections judged by the products of now; `newest.catalog` is the catalogue with these.
    comparison
        The audit of the products before and now.
    audit
        The audit of the whole catalogue with the products of now, if there was one before.
    """

    arrived: tuple[TextCorrection, ...]
    missing: tuple[str, ...]
    of: Catalog
    newest: Fix
    comparison: AuditComparison
    audit: Audit | None


def prove(
    fix: Fix | None,
    corrections: tuple[TextCorrection, ...],
    wanted: Collection[TextCorrection],
    service: Client,
    catalog: Catalog,
    audit: Audit | None,
    profile: Profile | None,
    progress: PhaseObserver = UNHEARD,
) -> Proof:
    """Request the products of corrections, and see which of them have arrived.

    Parameters
    ----------
    fix
        That which was sent; None if it was sent by another kernel.
    corrections
        The corrections, in the order of its answers.
    wanted
        Those of them that may have been sent.
    service
        Where the products are.
    catalog, audit
        What is explored; an audit of this catalogue is made again.
    profile
        The checks that judge.
    progress
        Hears of the phases.

    Raises
    ------
    ServiceError
        When the service cannot be reached.
    """
    if fix is None:
        fix = fix_texts(corrections, catalog, profile=profile)
    with Reporter(progress.tell).phase("Requesting the products"):
        newest = fix.recheck(service)
    rows = zip(corrections, newest.answers.to_dict("records"), strict=True)
    sent = [(one, row) for one, row in rows if one in wanted]
    missing = (
        f"{row['name'] or one.product_id}, {one.attribute}: {row['reason'] or _NOT_THERE}"
        for one, row in sent
        if row["state"] != "unchanged"
    )
    arrived = tuple(one for one, row in sent if row["state"] == "unchanged")
    compared = compare_audits(fix.before, newest.before)
    if audit is not None and profile is not None and is_about(audit, catalog):
        audit = audit_of(newest.catalog, profile, progress=progress)
    return Proof(arrived, tuple(missing), fix.catalog, newest, compared, audit)


def in_state(fix: Fix, corrections: tuple[TextCorrection, ...], *states: str) -> tuple[TextCorrection, ...]:
    """Return the corrections that are in one of these states; they are in the order of the answers of the fix."""
    found = fix.answers["state"].tolist()
    return tuple(one for one, state in zip(corrections, found, strict=True) if state in states)


def not_arrived(
    fix: Fix, corrections: tuple[TextCorrection, ...], error: BaseException | None
) -> tuple[TextCorrection, ...]:
    """Return the corrections that the service certainly does not have, after an attempt to send them.

    Parameters
    ----------
    fix
        What was sent, or should have been.
    corrections
        The corrections, in the order of its answers.
    error
        The error of the attempt, or None.
    """
    if fix.tracking is None:
        # prodex says so of its own errors before a first call; of any other error nobody knows.
        return corrections if isinstance(error, ProdexError) else ()
    failed = {
        product
        for product, status in zip(fix.sent["product_id"], fix.sent["status"], strict=True)
        if status in _NOT_ARRIVED
    }
    # In conflict are those whose products had changed when they were requested, right before the first call.
    conflicts = in_state(fix, corrections, "conflict")
    return tuple(one for one in corrections if one.product_id in failed or one in conflicts)
