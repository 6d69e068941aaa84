"""Judging corrections: by which checks, and what has become of each of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType

from prodex.catalog import Catalog
from prodex.errors import InputError, ProdexError
from prodex.notebook.audit.overview import is_about
from prodex.notebook.shared.arrival_check import ArrivalCheck, has_arrived, missing_line, requested_again
from prodex.progress import SILENT, Reporter
from prodex.quality import Audit, Profile
from prodex.service import Client
from prodex.worklists.fix import Fix
from prodex.worklists.text_corrections import TextCorrection, fix_texts


@dataclass(frozen=True, eq=False)
class JudgedCorrections:
    """Corrections, and what has judged them.

    Attributes
    ----------
    corrections
        The corrections, in the order of the answers of the fix.
    fix
        What has judged them.
    """

    corrections: tuple[TextCorrection, ...]
    fix: Fix

    def are(self, corrections: tuple[TextCorrection, ...], catalog: Catalog) -> bool:
        """Return whether these corrections of this catalogue are the ones that were judged."""
        return self.corrections == corrections and self.fix.catalog is catalog

    def in_state(self, state: str) -> tuple[TextCorrection, ...]:
        """Return the corrections that are in a state, such as "accepted"."""
        found = self.fix.answers["state"].tolist()
        return tuple(one for one, its in zip(self.corrections, found, strict=True) if its == state)


def judge_corrections(
    corrections: tuple[TextCorrection, ...],
    catalog: Catalog,
    profile: Profile | None,
    confirmed: Mapping[TextCorrection, str] = MappingProxyType({}),
) -> JudgedCorrections:
    """Judge corrections of a catalogue by the checks of a profile; without one by what the service would refuse.

    `confirmed` has the question of each correction that needs confirmation and is meant; another question is asked
    again.
    """
    fix = fix_texts(corrections, catalog, profile=profile)
    # The row of what was typed is its number, from 1.
    asked = fix.needs_confirmation
    meant = [
        confirmed.get(corrections[number - 1]) == reason
        for number, reason in zip(asked["row"], asked["reason"], strict=True)
    ]
    if any(meant):
        fix.confirm(asked[meant])
    return JudgedCorrections(corrections, fix)


def profile_of(audit: Audit | None) -> Profile | None:
    """Return the profile that an audit was made by, if there is an audit and its profile is known."""
    if audit is None or audit.made_by is not None:
        return None if audit is None else audit.made_by
    # A profile of one's own is not kept with a saved audit; then a note says that there are no rules.
    with suppress(InputError):
        return Profile.read(audit.profile)
    return None


#: States of a product in which the service certainly does not have what was sent.
_NOT_ARRIVED = frozenset({"ERROR", "refused", "not sent"})


@dataclass(frozen=True, eq=False)
class Proof:
    """Corrections beside the products as the service has them now.

    Attributes
    ----------
    arrived
        The corrections that the products have.
    missing
        Of the others product, attribute and what is known, in words.
    arrival
        The products of now, and the audit of the whole catalogue with them, if there was one before.
    """

    arrived: tuple[TextCorrection, ...]
    missing: tuple[str, ...]
    arrival: ArrivalCheck


def prove(
    sent: JudgedCorrections | None,
    wanted: tuple[TextCorrection, ...],
    service: Client,
    catalog: Catalog,
    audit: Audit | None,
    profile: Profile | None,
    reporter: Reporter = SILENT,
) -> Proof:
    """Request the products of corrections, and see which of them have arrived.

    Parameters
    ----------
    sent
        What was sent, and perhaps more; None if another kernel has sent it.
    wanted
        The corrections that may have been sent.
    service
        Where the products are.
    catalog, audit
        What is explored; an audit of this catalogue is made again.
    profile
        The checks that judge.
    reporter
        Hears of the phases.

    Raises
    ------
    ServiceError
        When the service cannot be reached.
    """
    judged = judge_corrections(wanted, catalog, profile) if sent is None else sent
    fix = judged.fix
    is_ours = audit is not None and profile is not None and is_about(audit, catalog)
    arrival = requested_again(fix, service, profile if is_ours else None, reporter)
    newest = arrival.newest
    every = zip(judged.corrections, newest.answers.to_dict("records"), strict=True)
    rows = [(one, row) for one, row in every if one in wanted]
    missing = tuple(missing_line(row) for _, row in rows if not has_arrived(row))
    return Proof(tuple(one for one, row in rows if has_arrived(row)), missing, arrival)


def not_arrived(sent: JudgedCorrections, error: BaseException | None) -> tuple[TextCorrection, ...]:
    """Return the corrections that the service certainly does not have, after an attempt to send them.

    Parameters
    ----------
    sent
        What was sent, or should have been.
    error
        The error of the attempt, or None.
    """
    corrections, fix = sent.corrections, sent.fix
    if fix.tracking is None:
        # prodex says so of its own errors before a first call; of any other error nobody knows.
        return corrections if isinstance(error, ProdexError) else ()
    failed = {
        product
        for product, status in zip(fix.sent["product_id"], fix.sent["status"], strict=True)
        if status in _NOT_ARRIVED
    }
    # In conflict are those whose products had changed when they were requested, right before the first call.
    conflicts = sent.in_state("conflict")
    return tuple(one for one in corrections if one.product_id in failed or one in conflicts)
