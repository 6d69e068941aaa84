"""Products that are requested again after corrections were sent: what has arrived, and what was fixed by it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prodex.messages import counted
from prodex.notebook.shared.panel import list_html, text_html
from prodex.progress import Reporter
from prodex.quality import Audit, AuditComparison, Profile
from prodex.quality.comparison import compare_audits
from prodex.quality.run import audit as audit_of
from prodex.service import Client
from prodex.worklists.fix import Fix

#: Why a correction is thought not to have arrived, where the product says nothing else.
_NOT_THERE = "the product does not show it (yet)"
_LINES = 20


@dataclass(frozen=True, eq=False)
class ArrivalCheck:
    """The products of a `Fix` as the service has them now.

    Attributes
    ----------
    fix
        What was sent, judged by the catalogue of then: `fix.catalog`.
    newest
        The same answers judged by the products of now; `newest.catalog` is the catalogue with these.
    comparison
        The audit of the products before and now.
    audit
        The audit of the whole catalogue with the products of now, if one was asked for.
    """

    fix: Fix
    newest: Fix
    comparison: AuditComparison
    audit: Audit | None


def requested_again(
    fix: Fix, service: Client, profile: Profile | str | None, reporter: Reporter
) -> ArrivalCheck:
    """Request the products of corrections.

    Parameters
    ----------
    fix
        What was sent.
    service
        Where the products are.
    profile
        The checks of an audit of the whole catalogue; None makes no audit.
    reporter
        Hears of the phases.

    Raises
    ------
    ServiceError
        When the service cannot be reached.
    """
    with reporter.phase("Requesting the products"):
        newest = fix.recheck(service)
    compared = compare_audits(fix.before, newest.before)
    made = None if profile is None else audit_of(newest.catalog, profile, progress=reporter)
    return ArrivalCheck(fix, newest, compared, made)


def sent_and_missing(arrival: ArrivalCheck) -> tuple[int, tuple[str, ...]]:
    """Return how many answers were sent, and which of them the products of now do not show, in words."""
    before, now = (one.answers.to_dict("records") for one in (arrival.fix, arrival.newest))
    sent = [after for asked, after in zip(before, now, strict=True) if asked["state"] == "accepted"]
    return len(sent), tuple(missing_line(one) for one in sent if not has_arrived(one))


def has_arrived(answer: Mapping[Hashable, Any]) -> bool:
    """Return whether a product of now has what was answered: then nothing would change any more."""
    return bool(answer["state"] == "unchanged")


def missing_line(answer: Mapping[Hashable, Any]) -> str:
    """Return which answer has not arrived, and what is known of it."""
    return (
        f"{answer['name'] or answer['product_id']}, {answer['attribute']}: {answer['reason'] or _NOT_THERE}"
    )


def arrival_html(every: int, missing: Sequence[str], arrival: ArrivalCheck, host: str) -> str:
    """Return what has arrived, what was fixed by it, and what has not arrived, and why that is thought.

    Parameters
    ----------
    every
        Number of corrections that were sent.
    missing
        Those that have not arrived, in words.
    """
    number = every - len(missing)
    arrived = (
        counted(every, "correction") if number == every else f"{number:,} of {counted(every, 'correction')}"
    )
    verb = "has" if every == 1 else "have"
    sentence = f"{arrived} {verb} arrived at {host}, where the products were requested again."
    fixed = f"{fixed_and_new(arrival.comparison)}." if arrival.newest.profile.checks else ""
    lines = "".join(f"<li>{text_html(f'Fixed: {one}')}</li>" for one in lines_of(arrival.comparison, "fixed"))
    new = [f"New: {one}" for one in lines_of(arrival.comparison, "newly failing")]
    return (
        f"<div class='note' role='status'><p>{text_html(sentence)} {text_html(fixed)}</p><ul>{lines}</ul></div>"
        f"{list_html([*missing[:_LINES], *new])}"
    )


def fixed_and_new(effect: AuditComparison) -> str:
    """Return how many findings are fixed, and how many are new."""
    fixed, new = len(effect.changes("fixed")), len(effect.changes("newly failing"))
    return f"{counted(fixed, 'finding')} fixed, {new:,} new"


def lines_of(effect: AuditComparison, change: str) -> list[str]:
    """Return product and problem of what changed, the first of them."""
    rows = effect.changes(change)
    first = rows.head(_LINES).to_dict("records")
    named = [f"{row['problem']}: {row['name'] or row['product_id']}" for row in first]
    return [*named, f"{len(rows) - _LINES:,} more"] if len(rows) > _LINES else named
