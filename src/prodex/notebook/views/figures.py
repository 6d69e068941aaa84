"""The figures of an audit for the products that are shown: counted in the background, kept until others are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from operator import is_not
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from prodex.display.audit import accepted_text, lines, notes
from prodex.display.report.contents import check_rows, tiles
from prodex.notebook.session.actions import Want
from prodex.notebook.session.readings import last_read, read_for, reading
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.audited_products import difference_sentence
from prodex.notebook.views.audits_before import previous
from prodex.notebook.views.products_left import left_of
from prodex.notebook.views.search import search_wants
from prodex.phrases import counted, percent
from prodex.progress import Reporter
from prodex.quality import Audit
from prodex.selection import Selection
from prodex.tables.columns import Mask

_COUNTED, _BEFORE = "quality.figures", "quality.before"


class FindingNumbers(NamedTuple):
    """How many findings can be accepted, and taken back; each with the number of products that have any of them."""

    left: int = 0
    left_products: int = 0
    accepted: int = 0
    accepted_products: int = 0


class AuditFigures:
    """What an audit says of the products that are shown.

    Attributes
    ----------
    whole, conditions
        The audit of all products, and which of the products that are shown are meant: of these the figures are.
    judged
        The audit of these products.
    tiles, checks
        As a report has them; of each check also the place of its gap (`gain`, the largest gap last) and what it
        `brings` to fix it.
    gaps
        The failing checks, those first that would raise the score most.
    failing
        The checks that any of them fails as found, by id, each with its problem, how many fail, and how many of these
        failures are accepted.
    grades
        How many have each grade; None is the grade of products to which no check applies.
    accepted
        What is accepted of them, in words.
    findings
        How many findings are not accepted and how many are, each with the number of their products: by check, and of
        all checks under "".
    warnings, notes
        What limits the figures, and what they mean.
    """

    def __init__(self, session: Session, whole: Audit, judged: Audit) -> None:
        self.whole: Audit = whole
        self.conditions: Selection = session.conditions
        self.judged: Audit = judged
        self.tiles: list[dict[str, Any]] = tiles(judged, None)
        gaps = judged.gaps().to_dict("records")
        self.gaps: list[dict[str, Any]] = [{str(name): value for name, value in row.items()} for row in gaps]
        brings = {gap["check"]: (-place, gap["brings"]) for place, gap in enumerate(self.gaps)}
        without = (-len(brings), "")
        self.checks: list[dict[str, Any]] = [
            {**row, **dict(zip(("gain", "brings"), brings.get(row["facts"].id, without), strict=True))}
            for row in check_rows(judged)
        ]
        self.failing: tuple[tuple[str, str], ...] = _failing(judged)
        summary = judged.summary
        grades: dict[str | None, int] = {grade: int(summary[f"grade_{grade}"]) for grade in "ABCDE"}
        self.grades: Mapping[str | None, int] = {**grades, None: len(judged) - sum(grades.values())}
        self.accepted: str = _accepted(judged)
        self.findings: Mapping[str, FindingNumbers] = _findings(judged)
        warned = [str(line) for line, is_warning in lines(whole) if is_warning]
        self.warnings: list[str] = [*filter(None, [difference_sentence(whole, session.catalog)]), *warned]
        self.notes: list[str] = [*map(str, notes(whole))]


def figures_of(session: Session) -> AuditFigures | None:
    """Return the figures of the audit that is shown; those of other products of it until they are counted."""
    counted = last_read(session, _COUNTED)
    figures: AuditFigures | None = counted.value
    if figures is None or any(map(is_not, counted.key[:2], (session.audit, session.catalog))):
        return None
    return figures


def figures_shown(session: Session) -> AuditFigures:
    """Return the figures of the products that are shown: what is done with these must be done with those seen.

    Raises
    ------
    Refused
        When they are still being counted.
    """
    figures = figures_of(session)
    if figures is None or figures.conditions != session.conditions:
        raise Refused("Nothing was done: the figures of these products are being counted. Press again.")
    return figures


def tiles_of(session: Session, figures: AuditFigures) -> list[dict[str, Any]]:
    """Return the tiles, with how they changed since the audit before, once that is read."""
    # Figures of some products are no progress of all of them.
    before = None if figures.conditions else read_for(session, _BEFORE, (figures.whole,))
    return (before and before.value) or figures.tiles


def figures_wants(session: Session) -> Iterable[Want]:
    """Return what has to be counted for the section."""
    audit = session.audit
    if audit is None:
        return
    yield reading(_BEFORE, (audit,), partial(_since_before, audit), failed=None, is_dropped=True)
    conditions, mask = session.conditions, None
    if searches := [*search_wants(session)]:
        # The figures wait for all that words find.
        yield from searches
        return
    if conditions and session.filter.has_found(conditions.words):
        mask = left_of(session).mask
    key = (audit, session.catalog, conditions, mask)
    yield reading(_COUNTED, key, partial(_counted, session, audit, mask), failed=None)


def _counted(session: Session, whole: Audit, mask: Mask | None, _: Reporter) -> AuditFigures:
    judged = whole
    if session.conditions:
        kept = session.filter.mask(session.conditions) if mask is None else mask
        judged = whole.only(session.filter.products.ids.filter(pa.array(kept)), session.chosen_words)
    return AuditFigures(session, whole, judged)


def _since_before(audit: Audit, _: Reporter) -> list[dict[str, Any]] | None:
    before = previous(audit)
    return None if before is None else tiles(audit, before)


def _failing(audit: Audit) -> tuple[tuple[str, str], ...]:
    # What is accepted is no finding of a view, and is taken back there.
    as_found = audit.as_found or audit
    then = as_found.with_accepted() if as_found.has_accepted else as_found
    made = []
    for check, failed, left in zip(
        as_found.checks, as_found.by_check["failed"], then.by_check["failed"], strict=True
    ):
        if failed:
            accepted = f", {failed - left:,} accepted" if failed > left else ""
            made.append((check.id, f"{check.problem} ({counted(int(failed), 'product')}{accepted})"))
    return tuple(made)


def _findings(audit: Audit) -> Mapping[str, FindingNumbers]:
    # As found: what is accepted is no finding of a view, and is taken back there.
    as_found = audit.as_found or audit
    names = [check.id for check in as_found.checks]
    # A last row for all checks.
    numbers = np.zeros((len(names) + 1, len(FindingNumbers._fields)), np.int64)
    for part, accepted in zip(as_found.parts, as_found.accepted_parts, strict=True):
        product, check = (part.findings[name].to_numpy() for name in ("product", "check"))
        is_accepted = np.zeros(len(product), bool)
        is_accepted[accepted["finding"].to_numpy()] = True
        for column, chosen in ((0, ~is_accepted), (2, is_accepted)):
            own = np.unique(product[chosen].astype(np.int64) * len(names) + check[chosen])
            numbers[:-1, column] += np.bincount(check[chosen], minlength=len(names))
            numbers[:-1, column + 1] += np.bincount(own % max(len(names), 1), minlength=len(names))
            numbers[-1, column : column + 2] += chosen.sum(), len(np.unique(product[chosen]))
    return {
        name: FindingNumbers(*row)
        for name, row in zip([*names, ""], numbers.tolist(), strict=True)
        if any(row)
    }


def _accepted(audit: Audit) -> str:
    """Return what is accepted of an audit, with the score with and without."""
    if not len(audit.accepted_reasons()):
        return "Nothing is accepted of these products."
    other = "with" if audit.as_found is not None else "without"
    return f"{accepted_text(audit)}, {percent(audit.score)} {other}."
