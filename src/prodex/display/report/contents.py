"""The contents of a report, as plain values computed from an audit; nothing is written or drawn here."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pandas as pd

from prodex.colour_scale import shade
from prodex.display.audit import accepted_text, lines, notes
from prodex.display.report.products import FailingProducts, ReportCards, cards, failing
from prodex.display.watch import EXPLAINED, first_sentences, headline
from prodex.facts.groups import column_names, shown_names
from prodex.messages import counted, moment_in_words, percent
from prodex.quality.check import CheckFacts
from prodex.quality.completeness import EVERY_LANGUAGE, Completeness
from prodex.quality.declared_fields import FIELDS
from prodex.quality.requirements import ALL
from prodex.quality.rulebook import SEVERITIES
from prodex.quality.scores import SMALL, readiness
from prodex.quality.states import State
from prodex.quality.watch import watch_of
from prodex.query import ProductQuery
from prodex.untrusted_text import Words, label, words

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


class AcceptedReason(NamedTuple):
    """How many findings somebody has accepted for one reason, and the first day on which one of them ends."""

    reason: Words
    by: Words
    findings: int
    products: int
    until: str


class AcceptedCheck(NamedTuple):
    """How many of the products that fail a check are accepted, and its score as it is and with them."""

    problem: str
    failed: int
    accepted: int
    score: str
    score_with_accepted: str


@dataclass(frozen=True)
class Accepted:
    """What is accepted, and the figures with it.

    Attributes
    ----------
    sentence
        How many findings, by whom, and the figures if these passed.
    reasons, reasons_total
        The reasons of most findings, and how many there are.
    checks, checks_total
        The checks with most accepted products, and how many have some.
    """

    sentence: Words
    reasons: tuple[AcceptedReason, ...]
    reasons_total: int
    checks: tuple[AcceptedCheck, ...]
    checks_total: int


#: Reasons, and checks, that a report lists.
_ACCEPTED = 20


def accepted_contents(audit: Audit) -> Accepted | None:
    """Return what a report says about accepted findings; None where there are none."""
    if not audit.has_accepted:
        return None
    reasons = audit.accepted_reasons()
    checks, then = audit.by_check, audit.with_accepted().by_check
    checks = checks.assign(accepted=checks["failed"] - then["failed"], score_then=then["score"])
    checks = checks[checks["accepted"] > 0].sort_values("accepted", ascending=False, kind="stable")
    return Accepted(
        words(accepted_text(audit), 4_000),
        tuple(
            AcceptedReason(
                words(row["accepted"], 400),
                words(row["accepted_by"], 200),
                row["findings"],
                row["products"],
                "" if pd.isna(row["accepted_until"]) else f"{row['accepted_until']:%Y-%m-%d}",
            )
            for row in reasons.head(_ACCEPTED).to_dict("records")
        ),
        len(reasons),
        tuple(
            AcceptedCheck(
                row["problem"],
                row["failed"],
                row["accepted"],
                percent(row["score"]),
                percent(row["score_then"]),
            )
            for row in checks.head(_ACCEPTED).to_dict("records")
        ),
        len(checks),
    )


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
    completeness
        Of each channel of the requirements how complete the families are; none without requirements.
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
    accepted
        What is accepted; None where nothing is.
    """

    header: Header
    products: int
    facts: tuple[CheckFacts, ...]
    tiles: tuple[Tile, ...]
    watch: Unusual | None
    trend: pd.DataFrame
    gaps: Sequence[Mapping[Hashable, Any]]
    gaps_total: int
    completeness: tuple[ChannelTable, ...]
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
    accepted: Accepted | None = None


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
        completeness=channel_tables(audit),
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
        accepted=accepted_contents(audit),
    )


def _unusual(audit: Audit) -> Unusual | None:
    # The audits before are of all products, and some of them would look unusual beside these.
    if audit.chosen is not None:
        return None
    watch = watch_of(audit)
    # A first audit has nothing to be compared with.
    if watch is None or watch.audits < 2:
        return None
    return Unusual(
        words(headline(watch)), tuple(words(line, 4_000) for line in first_sentences(watch)), EXPLAINED
    )


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


_GAPS = 5
_QUERY = 4_000


@dataclass(frozen=True)
class Header:
    """The source of the figures.

    Attributes
    ----------
    name
        Name of the catalogue.
    facts
        Catalogue, query and profile: pairs of a term and its value.
    not_asked
        What the query left out, and what must not be mistaken for missing.
    warnings
        What limits the meaning of the figures.
    """

    name: Words
    facts: tuple[tuple[str, Words], ...]
    not_asked: tuple[Words, ...]
    warnings: tuple[Words, ...]


@dataclass(frozen=True)
class Tile:
    """One figure and its change.

    Attributes
    ----------
    title, figure, detail
        What is counted, the number, and of how many.
    change, since
        The change, and the audit it refers to; None where there is no earlier one.
    verdict
        "better", "worse", or nothing.
    of_all
        The same figure of all products, where the report is about some of them; else None.
    """

    title: str
    figure: str
    detail: str
    change: str | None
    since: str
    verdict: str
    of_all: str | None = None


def header(audit: Audit) -> Header:
    """Return the source of the figures of an audit."""
    origin = audit.origin
    folder = audit.catalog_folder
    # Files and records announce no total, so there is nothing to compare with.
    announced = origin.ledger.announced is not None
    asked_at = origin.server_time or origin.loaded_at
    query = "everything in the files or records" if origin.query is None else repr(origin.query)
    if origin.extent is not None and origin.query is None:
        query = f"none: {counted(len(origin.extent.attributes), 'attribute')} in the columns of a file"
    facts = {
        "Catalogue": folder.parent.name if folder else "in memory",
        "Snapshot": folder.name if folder else None,
        "Scope": None if audit.chosen is None else audit.scope,
        # Of an audit of what was found, a section says it.
        "Accepted": accepted_text(audit)
        if audit.as_found is not None and len(audit.accepted_reasons())
        else None,
        "From": origin.source,
        "Requested": moment_in_words(asked_at, zone=UTC) if asked_at else None,
        "Query": query,
        "Received": f"{origin.ledger}, {'complete' if origin.complete else 'incomplete'}"
        if announced
        else None,
        "Audited": f"{moment_in_words(audit.audited_at, zone=UTC)}, as of {audit.now:%Y-%m-%d %H:%M}",
        "Laws": None if audit.as_of is None else f"as of {audit.as_of}",
        "By": f"profile {audit.profile}, {len(audit.checks)} checks, rule set {audit.rule_set}",
    }
    warned = [line for line, is_warning in lines(audit) if is_warning]
    return Header(
        label(folder.parent.name if folder else origin.source),
        tuple((term, words(value, _QUERY)) for term, value in facts.items() if value is not None),
        tuple(words(one, _QUERY) for one in _not_asked(audit)),
        tuple(words(line, _QUERY) for line in warned),
    )


def _not_asked(audit: Audit) -> list[str]:
    """Return what the query left out, and the checks that are unknown because of it."""
    query = audit.origin.query or ProductQuery()
    restrictions = {
        "Only these attributes were requested": query.source_include,
        "These attributes were left out": query.source_exclude,
        "Only texts in these languages were requested": query.product_languages,
    }
    if (extent := audit.origin.extent) is not None:
        restrictions |= {
            "Only these attributes are in the columns of the file": extent.attributes,
            "Of these attributes not every value could be read": extent.in_part,
        }
    left_out = [f"{what}: {', '.join(names)}." for what, names in restrictions.items() if names]
    table = audit.by_check
    waiting = {check.id: check.not_asked for check in audit.checks if check.not_asked}
    if waiting:
        fields = dict.fromkeys(FIELDS[name].label for names in waiting.values() for name in names)
        left_out.append(
            f"Not asked, since the profile does not say where the catalogue has it: {', '.join(fields)}."
        )
    crashed = {crash.check for crash in audit.crashes}
    # Crashed checks have a section of their own.
    others = ~table["check"].isin({*crashed, *waiting})
    blind = table[(table["unknown"] == len(audit)) & others]["check"].tolist()
    if len(audit) and blind:
        therefore = "Therefore unknown for every product" if left_out else "Unknown for every product"
        left_out.append(f"{therefore}: {', '.join(blind)}.")
    return left_out


def tiles(audit: Audit, before: Audit | None) -> tuple[Tile, ...]:
    """Return the four figures, with the change since the audit before."""
    now = audit.summary
    then = before.summary if before else None
    since = _moment_before(audit, before) if before else ""
    grade = now["grade"] if isinstance(now["grade"], str) else "none"
    of_products = f"of {counted(int(now['products']), 'product')}"
    every = None if audit.taken_from is None else audit.taken_from.summary

    def tile(title: str, name: str, detail: str) -> Tile:
        share = name in {"ready", "mean_score"}

        def shown(figures: pd.Series) -> str:
            return percent(figures[name]) if share else f"{figures[name]:,}"

        change, verdict = _change_in_words(now[name], then[name], share) if then is not None else (None, "")
        of_all = None
        if every is not None:
            of_all = f"{shown(every)} of all {counted(int(every['products']), 'product')}"
        return Tile(title, shown(now), detail, change, since, verdict, of_all)

    return (
        tile("Ready", "ready", str(readiness(now))),
        tile("Mean score", "mean_score", f"all checks together: {percent(now['score'])}, grade {grade}"),
        tile("Products to work on", "to_work_on", of_products),
        tile("Products not ready", "not_ready_products", f"a blocker fails; {of_products}"),
    )


def _moment_before(audit: Audit, before: Audit) -> str:
    """Return the day of the audit before; on the same day its time, since that day would be today."""
    is_same_day = before.now.date() == audit.now.date()
    return f"{before.now:%H:%M}" if is_same_day else f"{before.now:%Y-%m-%d}"


def _change_in_words(now: float, then: float, is_share: bool) -> tuple[str, str]:
    if math.isnan(now) or math.isnan(then):
        return "nothing to compare", ""
    step = now - then
    size = f"{abs(step) * 100:.1f} points" if is_share else f"{abs(step):,}"
    # A change that rounds to nothing would read as "0.0 points higher".
    if not step or size == "0.0 points":
        return "no change", ""
    # More is better for shares, and worse for numbers of products that need work.
    verdict = "better" if (step > 0) == is_share else "worse"
    words = ("higher", "lower") if is_share else ("more", "fewer")
    arrow, word = ("▲", words[0]) if step > 0 else ("▼", words[1])
    return f"{arrow} {size} {word}", verdict


def largest_gaps(found: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Return the gaps that it would help most to close, as rows of `Audit.gaps`."""
    return found.head(_GAPS).to_dict("records")


#: Families of a channel that the report lists.
_FAMILIES = 20


@dataclass(frozen=True)
class FamilyRow:
    """How complete a family is for a channel.

    Attributes
    ----------
    name
        What it is called; None for all products.
    is_new
        Whether the requirements do not list it.
    products, complete, incomplete, unknown
        Numbers of products.
    share, with_accepted
        Which share is complete, and which would be with what was accepted; None where nothing is required.
    missing
        What is missing most.
    """

    name: Words | None
    is_new: bool
    products: int
    complete: int
    incomplete: int
    unknown: int
    share: float | None
    with_accepted: float | None
    missing: str


@dataclass(frozen=True)
class ChannelTable:
    """How complete products are for a channel: all of them first, then the families, the least complete first.

    Attributes
    ----------
    channel
        The channel.
    rows
        All products, and the families that are shown.
    total
        Number of families.
    new
        Which families the requirements do not list, in a sentence; empty where there is none.
    """

    channel: Words
    rows: tuple[FamilyRow, ...]
    total: int
    new: Words


def channel_tables(audit: Audit) -> tuple[ChannelTable, ...]:
    """Return how complete products are for each channel of the requirements; none without requirements."""
    if audit.families is None:
        return ()
    seen = Completeness.of(audit)
    table = seen.table_of_both()
    table = table[table["language"] == EVERY_LANGUAGE]
    code, name = table.columns[1:3]
    made = []
    for channel in seen.wanted.channels:
        own = table[table["channel"] == channel.label]
        families = own[own[code] != ALL].sort_values(["completeness", "products"], ascending=[True, False])
        rows = [*own[own[code] == ALL].to_dict("records"), *families.head(_FAMILIES).to_dict("records")]
        made.append(
            ChannelTable(
                words(channel.label),
                tuple(_family_row(row, code, name) for row in rows),
                len(families),
                words(seen.new_families_words),
            )
        )
    return tuple(made)


def _family_row(row: Mapping[Hashable, Any], code: str, name: str) -> FamilyRow:
    is_all = row[code] == ALL
    called = "without family" if pd.isna(row[code]) else row[name] if not pd.isna(row[name]) else row[code]
    numbers = {one: int(row[one]) for one in ("products", "complete", "incomplete", "unknown")}
    shares = (row["completeness"], row["with_accepted"])
    share, accepted = (None if math.isnan(one) else float(one) for one in shares)
    is_new = not is_all and not row["listed"] and not pd.isna(row[code])
    return FamilyRow(
        None if is_all else label(called),
        is_new,
        **numbers,
        share=share,
        with_accepted=accepted,
        missing=row["missing_most"] or "",
    )


#: The groupings of the heat map.
GROUPINGS = ("kind", "owner", "brand", "language", "market")
#: The groupings of the list of worst offenders.
OFFENDERS = ("owner", "brand", "kind")

_MOST = 25
_OFFENDERS = 10


@dataclass(frozen=True)
class ScoreCell:
    """A score in the heat map.

    Attributes
    ----------
    score
        As shown; a dash if no check applies, or none with a weight.
    failed
        Number of failing checks of its products, also of those without a weight.
    shade
        From 0 (nothing fails) to 7; None if there is no score.
    """

    score: str
    failed: int
    shade: int | None


@dataclass(frozen=True)
class ScoreMapRow:
    """A group in the heat map: one cell for all blocks together, and one for each.

    Attributes
    ----------
    code
        Code of the group; None for the products without one.
    is_small
        Whether it has so few products that it is listed after the others, whatever its score.
    """

    code: str | None
    name: Words
    products: int
    is_small: bool
    cells: tuple[ScoreCell, ...]


@dataclass(frozen=True)
class ScoreMap:
    """Scores of groups by block, the worst group first; small ones after the others.

    Attributes
    ----------
    by
        The grouping.
    blocks
        The columns, after "all".
    rows
        The groups that are shown.
    total
        Number of all groups.
    """

    by: str
    blocks: tuple[str, ...]
    rows: tuple[ScoreMapRow, ...]
    total: int


@dataclass(frozen=True)
class RankedGroup:
    """A group with many failing checks: its figures, and its most frequent problem."""

    name: Words
    products: int
    is_small: bool
    to_work_on: int
    readiness: str
    failed: int
    score: str
    grade: str
    worst_problem: str
    worst_count: int


@dataclass(frozen=True)
class Ranking:
    """The groups with the most failing checks, the worst first and small ones last, and the number of all groups."""

    by: str
    rows: tuple[RankedGroup, ...]
    total: int


@dataclass(frozen=True, eq=False)
class GroupScores:
    """Scores of all groups, block by block; a heat map shows some of them.

    Attributes
    ----------
    by
        What is grouped by.
    blocks
        The blocks of the audit.
    whole
        `Audit.scores` of all checks, the worst group first.
    of_block
        The same for each block, by code of the group.
    """

    by: str
    blocks: tuple[str, ...]
    whole: pd.DataFrame
    of_block: tuple[pd.DataFrame, ...]

    @classmethod
    def of(cls, audit: Audit, by: str) -> Self:
        """Compute the scores of an audit."""
        blocks = tuple(dict.fromkeys(check.block for check in audit.checks))
        code, *_ = column_names(by)
        whole = audit.scores(by)
        whole = whole[whole["products"] > 0]  # a language that a check names may be nobody's
        return cls(
            by, blocks, whole, tuple(audit.scores(by, block=block).set_index(code) for block in blocks)
        )

    def shown(self, first: int = 0, most: int = _MOST) -> ScoreMap:
        """Return `most` groups, beginning with number `first`."""
        code, *_ = column_names(self.by)
        some = self.whole.iloc[first : first + most]
        # Labels are made for all groups: where two are equal, their codes distinguish them, also on different pages.
        names = shown_names(self.whole, self.by)[first : first + most]
        # Blocks list their groups in an order of their own.
        frames = (some.set_index(code), *(frame.reindex(some[code]) for frame in self.of_block))
        columns = [_score_cells(frame) for frame in frames]
        rows = tuple(
            ScoreMapRow(
                None if pd.isna(row[code]) else row[code],
                label(names[place]),
                int(row["products"]),
                row["products"] < SMALL,
                tuple(column[place] for column in columns),
            )
            for place, (_, row) in enumerate(some.iterrows())
        )
        return ScoreMap(self.by, self.blocks, rows, len(self.whole))


def heat_map(audit: Audit, by: str) -> ScoreMap:
    """Return the scores of the worst groups, block by block."""
    return GroupScores.of(audit, by).shown()


def _score_cells(scores: pd.DataFrame) -> list[ScoreCell]:
    """Return the cell of each group; a group is empty where no check of the block is in its language."""
    pairs = zip(scores["score"].tolist(), scores["failed"].fillna(0).astype(int).tolist(), strict=True)
    return [
        ScoreCell("–", failed, None) if math.isnan(score) else ScoreCell(percent(score), failed, shade(score))
        for score, failed in pairs
    ]


def offenders(audit: Audit, by: str) -> Ranking:
    """Return the groups with the most failing checks; groups of fewer than ten products are last."""
    code, *_ = column_names(by)
    scores = audit.scores(by)
    worst = scores[scores["failed"] > 0]
    # Small groups are last: a group of two products, of which one fails, would lead every list.
    worst = worst.assign(is_small=worst["products"] < SMALL).sort_values(
        ["is_small", "failed", "to_work_on"], ascending=[True, False, False], kind="stable"
    )
    groups = audit.groups(by)
    names = shown_names(worst, by)
    rows = []
    for name, (_, row) in zip(names, worst.head(_OFFENDERS).iterrows(), strict=False):
        own = groups.members(None if pd.isna(row[code]) else row[code])
        counts = (audit.states[own] == State.FAIL).sum(axis=0)
        most = int(np.argmax(counts))
        rows.append(
            RankedGroup(
                label(name),
                int(row["products"]),
                bool(row["is_small"]),
                int(row["to_work_on"]),
                str(readiness(row)),
                int(row["failed"]),
                percent(row["score"]),
                row["grade"] if isinstance(row["grade"], str) else "none",
                str(audit.checks[most].problem),
                int(counts[most]),
            )
        )
    return Ranking(by, tuple(rows), len(worst))
