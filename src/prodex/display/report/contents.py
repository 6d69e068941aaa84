"""The contents of a report, as plain values computed from an audit; nothing is written or drawn here."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from prodex.display.audit import notes
from prodex.display.report.failing_products import FailingProducts, failing
from prodex.display.report.group_scores import GROUPINGS, OFFENDERS, Ranking, ScoreMap, heat_map, offenders
from prodex.display.report.headline import Header, Tile, header, largest_gaps, tiles
from prodex.display.report.product_cards import ReportCards, cards
from prodex.display.watch import EXPLAINED, headline, shown
from prodex.messages import percent
from prodex.quality.check import CheckFacts
from prodex.quality.rulebook import SEVERITIES
from prodex.quality.watch import watch_of
from prodex.untrusted_text import Words, words

if TYPE_CHECKING:
    from prodex.quality.audit import Audit


@dataclass(frozen=True)
class CheckRow:
    """A row of the table of checks: a check and its results.

    Attributes
    ----------
    place
        Number of the check in the audit.
    facts
        Its description in the audit.
    failed, passed, not_applicable, unknown
        Numbers of products.
    score, share
        Share of the products that pass, as shown and as a number; None if it applies to none.
    crash
        Why its rule crashed, if it did.
    """

    place: int
    facts: CheckFacts
    failed: int
    passed: int
    not_applicable: int
    unknown: int
    score: str
    share: float | None
    crash: Words


@dataclass(frozen=True)
class Unusual:
    """What a watch says: its headline, its sentences, and how they are meant."""

    headline: Words
    lines: tuple[Words, ...]
    explained: str


@dataclass(frozen=True, eq=False)
class Contents:
    """The contents of a report, in their order.

    Attributes
    ----------
    facts
        The checks, by their number.
    watch
        What is unusual by the audits that were saved before; None where there are none.
    trend
        Figures of this audit and of those before it, as `Audit.trend` returns them.
    gaps, gaps_total
        The largest gaps, and how many there are.
    heat
        One heat map for each grouping.
    checks
        The table of checks: failing checks first, by severity.
    notes
        The footnotes of every score.
    failing, failures_shown, failures_total
        Findings by check, the number of those shown, and of all.
    failed
        Number of failing checks of products: cells of the matrix.
    rules
        Number of rules that the checks are made of.
    grade_with_blocker
        The best grade of a product with a failing blocker.
    crashes
        Each rule that crashed: check, part, message.
    scope
        Of how many products these were chosen, in words; empty for all of them.
    """

    header: Header
    products: int
    facts: tuple[CheckFacts, ...]
    tiles: tuple[Tile, ...]
    watch: Unusual | None
    trend: pd.DataFrame
    gaps: Sequence[Mapping[Hashable, Any]]
    gaps_total: int
    heat: tuple[ScoreMap, ...]
    offenders: tuple[Ranking, ...]
    checks: tuple[CheckRow, ...]
    failing: tuple[FailingProducts, ...]
    failures_shown: int
    failures_total: int
    failed: int
    rules: int
    grade_with_blocker: str
    cards: ReportCards
    notes: tuple[str, ...]
    crashes: tuple[tuple[str, int, Words], ...]
    scope: str = ""


def contents(audit: Audit, trend: Sequence[Audit] = ()) -> Contents:
    """Return the contents of the report of an audit.

    Parameters
    ----------
    audit
        The audit.
    trend
        Earlier audits; the tiles compare with the newest one by the same profile and rule set.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
    >>> shown = contents(prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}}))
    >>> [(tile.title, tile.figure) for tile in shown.tiles][:2]
    [('Ready', '50.0 %'), ('Mean score', '50.0 %')]
    """
    # Computed once: gaps and checks are used by several sections.
    found = audit.gaps()
    rows = check_rows(audit)
    failures = failing(audit, [row.place for row in rows])
    return Contents(
        header=header(audit),
        products=len(audit),
        facts=audit.checks,
        tiles=tiles(audit, _before(audit, trend)),
        watch=_unusual(audit),
        trend=audit.trend(trend),
        gaps=largest_gaps(found),
        gaps_total=len(found),
        heat=tuple(heat_map(audit, by) for by in GROUPINGS),
        offenders=tuple(offenders(audit, by) for by in OFFENDERS),
        checks=rows,
        failing=failures,
        failures_shown=sum(len(one.rows) for one in failures),
        failures_total=sum(one.total for one in failures),
        failed=int(audit.tally.failed.sum()),
        rules=len({check.rule for check in audit.checks}),
        grade_with_blocker=audit.grade_with_blocker,
        cards=cards(audit),
        notes=tuple(notes(audit)),
        crashes=tuple((crash.check, crash.part, words(crash.message, 4_000)) for crash in audit.crashes),
        scope="" if audit.chosen is None else f"{audit.chosen.of:,} that were chosen",
    )


def _unusual(audit: Audit) -> Unusual | None:
    # The audits before are of all products, and some of them would look unusual beside these.
    if audit.chosen is not None:
        return None
    watch = watch_of(audit)
    # A first audit has nothing to be compared with.
    if watch is None or watch.audits < 2:
        return None
    return Unusual(words(headline(watch)), tuple(words(line, 4_000) for line in shown(watch)), EXPLAINED)


def _before(audit: Audit, trend: Sequence[Audit]) -> Audit | None:
    """Return the newest earlier audit by the same profile and rule set."""
    earlier = [
        one
        for one in trend
        # An audit by another profile or rule set would make every tile look like a change.
        if one.measure == audit.measure and (one.now, one.audited_at) < (audit.now, audit.audited_at)
    ]
    return max(earlier, key=lambda one: (one.now, one.audited_at), default=None)


def check_rows(audit: Audit) -> tuple[CheckRow, ...]:
    """Return the rows of the table of checks, failing checks first, by severity."""
    severities = list(SEVERITIES)
    rows = [
        CheckRow(
            place=place,
            facts=audit.checks[place],
            **{name: row[name] for name in ("failed", "passed", "not_applicable", "unknown")},
            score=percent(row["score"]),
            share=None if pd.isna(row["score"]) else row["score"],
            crash=words(None if pd.isna(row["crash"]) else row["crash"], 4_000),
        )
        for place, row in enumerate(audit.by_check.to_dict("records"))
    ]
    return tuple(
        # Failing checks first: there are far more that pass.
        sorted(rows, key=lambda row: (not row.failed, severities.index(row.facts.severity), -row.failed))
    )
