"""The figures of an audit for the products that are shown: counted in the background, kept until others are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from prodex.catalog import Catalog
from prodex.display.audit import accepted_text, lines, notes
from prodex.display.report.contents import check_rows, tiles
from prodex.messages import counted, percent
from prodex.notebook.session.actions import Want
from prodex.notebook.session.value import Session
from prodex.notebook.views.audited_products import difference_sentence
from prodex.notebook.views.audits_before import previous
from prodex.notebook.views.products_left import left_of
from prodex.notebook.views.search import search_wants
from prodex.progress import Reporter
from prodex.quality import Audit
from prodex.selection import Selection
from prodex.tables.columns import Mask


@dataclass(frozen=True, eq=False)
class AuditFigures:
    """What an audit says of the products that are shown.

    Attributes
    ----------
    whole, catalog, conditions
        The audit of all products, the catalogue that is shown, and which of its products: of these the figures are.
    judged
        The audit of these products.
    tiles, checks
        As a report has them.
    gaps
        The failing checks, those first that would raise the score most.
    failing
        The checks that any of them fails as found, by id, each with its problem, how many fail, and how many of these
        failures are accepted.
    grades
        How many have each grade; None is the grade of products to which no check applies.
    accepted
        What is accepted of them, in words.
    warnings, notes
        What limits the figures, and what they mean.
    """

    whole: Audit
    catalog: Catalog
    conditions: Selection
    judged: Audit
    tiles: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    gaps: list[dict[str, Any]]
    failing: tuple[tuple[str, str], ...]
    grades: Mapping[str | None, int]
    accepted: str
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CountedFigures:
    """The figures that were counted last, and the audit before."""

    figures: AuditFigures | None = None
    compared: Audit | None = None
    tiles: list[dict[str, Any]] | None = None


def figures_of(session: Session) -> AuditFigures | None:
    """Return the figures of the audit that is shown; those of other products of it until they are counted."""
    figures = session.part(CountedFigures).figures
    if figures is None or figures.whole is not session.audit or figures.catalog is not session.catalog:
        return None
    return figures


def tiles_of(session: Session, figures: AuditFigures) -> list[dict[str, Any]]:
    """Return the tiles, with how they changed since the audit before, once that is read."""
    counted = session.part(CountedFigures)
    # Figures of some products are no progress of all of them.
    is_whole = not figures.conditions and counted.compared is figures.whole
    return (counted.tiles if is_whole else None) or figures.tiles


def figures_wants(session: Session) -> Iterable[Want]:
    """Return what has to be counted for the section."""
    audit = session.audit
    if audit is None:
        return
    yield Want("quality.before", (audit,), partial(_compared, audit), _with_tiles, {"is_dropped": True})
    conditions, mask = session.conditions, None
    if searches := [*search_wants(session)]:
        # The figures wait for all that words find.
        yield from searches
        return
    if conditions and session.filter.has_found(conditions.words):
        mask = left_of(session).mask
    yield Want(
        "quality.figures",
        (audit, session.catalog, conditions, mask),
        partial(counted_figures, session, mask),
        _with_figures,
    )


def counted_figures(session: Session, mask: Mask | None = None, _: Reporter | None = None) -> AuditFigures:
    """Count what an audit says of the products that are shown."""
    whole, conditions = session.audit, session.conditions
    assert whole is not None  # noqa: S101 - wanted only where there is one
    judged = whole
    if conditions:
        kept = session.filter.mask(conditions) if mask is None else mask
        judged = whole.only(session.filter.products.ids.filter(pa.array(kept)), session.chosen_words)
    warned = [str(line) for line, is_warning in lines(whole) if is_warning]
    return AuditFigures(
        whole,
        session.catalog,
        conditions,
        judged,
        tiles(judged, None),
        check_rows(judged),
        [{str(name): value for name, value in row.items()} for row in judged.gaps().to_dict("records")],
        _failing(judged),
        _grades(judged),
        figures_sentence(judged),
        tuple(filter(None, [difference_sentence(whole, session.catalog), *warned])),
        tuple(map(str, notes(whole))),
    )


def _failing(audit: Audit) -> tuple[tuple[str, str], ...]:
    # What is accepted is no finding of a view, and is taken back there.
    found = audit.as_found or audit
    then = found.with_accepted() if found.has_accepted else found
    made = []
    for check, failed, left in zip(
        found.checks, found.by_check["failed"], then.by_check["failed"], strict=True
    ):
        if failed:
            accepted = f", {failed - left:,} accepted" if failed > left else ""
            made.append((check.id, f"{check.problem} ({counted(int(failed), 'product')}{accepted})"))
    return tuple(made)


def _grades(audit: Audit) -> dict[str | None, int]:
    summary = audit.summary
    counts: dict[str | None, int] = {grade: int(summary[f"grade_{grade}"]) for grade in "ABCDE"}
    return {**counts, None: len(audit) - sum(counts.values())}


def figures_sentence(audit: Audit) -> str:
    """Return what is accepted of an audit, with the score with and without."""
    if not len(audit.accepted_reasons()):
        return "Nothing is accepted of these products."
    other = "with" if audit.as_found is not None else "without"
    return f"{accepted_text(audit)}, {percent(audit.score)} {other}."


def _with_figures(session: Session, figures: AuditFigures) -> Session:
    before = session.part(CountedFigures)
    return session.with_part(CountedFigures(figures, before.compared, before.tiles))


def _compared(audit: Audit, _: Reporter) -> tuple[Audit, list[dict[str, Any]] | None]:
    before = previous(audit)
    return audit, None if before is None else tiles(audit, before)


def _with_tiles(session: Session, found: tuple[Audit, list[dict[str, Any]] | None]) -> Session:
    return session.with_part(CountedFigures(session.part(CountedFigures).figures, *found))
