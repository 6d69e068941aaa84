"""What the service has after corrections were sent: their products are requested again, and shown in all sections."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.exploration.drafts import are_same_products
from prodex.notebook.session.actions import Block
from prodex.notebook.session.session import Session
from prodex.notebook.views.audited_products import is_about
from prodex.notebook.views.blocks import box, listed, paragraph, typed_text
from prodex.notebook.views.fix_blocks import first_lines, fixed_and_new, lines_of
from prodex.phrases import counted
from prodex.progress import Reporter
from prodex.quality import Audit, AuditComparison, Profile
from prodex.quality.comparison import compare_audits
from prodex.quality.run import audit as audit_of
from prodex.service import Client
from prodex.worklists.fix import Fix

#: Why a correction is thought not to have arrived, where the product says nothing else.
_NOT_THERE = "the product does not show it (yet)"


@dataclass(frozen=True, eq=False)
class ArrivedCorrections:
    """The products of a `Fix` as the service has them now.

    Attributes
    ----------
    fix
        What was sent.
    newest
        The same answers judged by the products of now; `newest.catalog` is `base` with these.
    comparison
        The audit of the products before and now.
    base
        The catalogue that was shown when they were requested.
    audit
        The audit of the whole catalogue with the products of now, if there was one before.
    """

    fix: Fix
    newest: Fix
    comparison: AuditComparison
    base: Catalog
    audit: Audit | None

    def arrived(self) -> list[bool]:
        """Return of each answer whether the product has it."""
        return [has_arrived(one) for one in self.newest.answers.to_dict("records")]

    def missing(self, corrections: Sequence[bool] | None = None) -> tuple[int, list[str]]:
        """Return how many answers were sent, and which of them the products of now do not show, in words.

        `corrections` says which answers count; by default those that were accepted.
        """
        counts = (
            [one == "accepted" for one in self.fix.answers["state"]] if corrections is None else corrections
        )
        now = self.newest.answers.to_dict("records")
        sent = [one for one, is_sent in zip(now, counts, strict=True) if is_sent]
        return len(sent), [_missing_line(one) for one in sent if not has_arrived(one)]


def request_again(fix: Fix, service: Client, session: Session, reporter: Reporter) -> ArrivedCorrections:
    """Request the products of corrections, for what is shown now.

    Raises
    ------
    ServiceError
        When the service cannot be reached.
    """
    base = session.catalog
    # Others may have been sent since these were judged: the products of now are put into what is shown now.
    if base is not fix.catalog and not is_later(base, fix.catalog):
        base = fix.catalog
    with reporter.phase("Requesting the products"):
        newest = replace(fix, catalog=base).recheck(service)
    is_covered = session.audit is not None and is_about(session.audit, base)
    profile = profile_of(session.audit) if is_covered else None
    made = None if profile is None else audit_of(newest.catalog, profile, progress=reporter)
    return ArrivedCorrections(fix, newest, compare_audits(fix.before, newest.before), base, made)


def arrival_block(arrival: ArrivedCorrections, every: int, missing: Sequence[str], host: str) -> Block:
    """Return what has arrived, what was fixed by it, and what has not arrived, and why that is thought."""
    number = every - len(missing)
    which = (
        counted(every, "correction") if number == every else f"{number:,} of {counted(every, 'correction')}"
    )
    verb = "has" if every == 1 else "have"
    said = f"{which} {verb} arrived at {host}, where the products were requested again."
    if arrival.newest.profile.checks:
        said += f" {fixed_and_new(arrival.comparison)}."
    fixed = [typed_text(f"Fixed: {one}") for one in lines_of(arrival.comparison, "fixed")]
    new = [f"New: {one}" for one in lines_of(arrival.comparison, "newly failing")]
    problems = [typed_text(one) for one in (*first_lines(missing, len(missing)), *new)]
    return box(
        paragraph(said, key="arrived", tone="note"),
        listed(fixed, key="fixed"),
        listed(problems, key="missing", tone="problem"),
        key="arrival",
    )


def has_arrived(answer: Mapping[Hashable, Any]) -> bool:
    """Return whether a product of now has what was answered: then nothing would change any more."""
    return bool(answer["state"] == "unchanged")


def _missing_line(answer: Mapping[Hashable, Any]) -> str:
    return (
        f"{answer['name'] or answer['product_id']}, {answer['attribute']}: {answer['reason'] or _NOT_THERE}"
    )


def is_later(catalog: Catalog, other: Catalog) -> bool:
    """Return whether a catalogue is another one with newer products in it."""
    return catalog.folder == other.folder and are_same_products(catalog, other)


def profile_of(audit: Audit | None) -> Profile | None:
    """Return the profile that an audit was made by, if there is an audit and its profile is known."""
    if audit is None or audit.made_by is not None:
        return None if audit is None else audit.made_by
    # A profile of one's own is not kept with a saved audit; then a sentence says that there are no rules.
    with suppress(InputError):
        return Profile.read(audit.profile)
    return None
