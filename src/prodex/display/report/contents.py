"""The contents of a report: plain values computed from an audit, in its reader's words; nothing is drawn here."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from prodex.colour_scale import shade
from prodex.display.audit import accepted_text, checks_said, grade_said, lines, notes
from prodex.display.report.products import cards, failing
from prodex.display.watch import explained, first_sentences, headline
from prodex.facts.groups import column_names, shown_names
from prodex.facts.unreadable import unreadable_places
from prodex.languages import ENGLISH, Message, Said, Translation
from prodex.quality.completeness import EVERY_LANGUAGE, Completeness, counted_of
from prodex.quality.declared_fields import FIELDS
from prodex.quality.group_figures import block_scores
from prodex.quality.requirements import ALL
from prodex.quality.rulebook import SEVERITIES
from prodex.quality.scores import SMALL, readiness
from prodex.quality.states import State
from prodex.quality.watch import watch_of
from prodex.query import ProductQuery
from prodex.untrusted_text import Words, label
from prodex.untrusted_text import words as shown

if TYPE_CHECKING:
    from prodex.quality.audit import Audit

#: Bytes of a sentence of the page, which may quote what somebody typed.
_SENTENCE = 4_000


def contents(audit: Audit, trend: Sequence[Audit] = (), words: Translation = ENGLISH) -> dict[str, Any]:
    """Return the contents of the report of an audit, by the names that the page has for them.

    Parameters
    ----------
    audit
        The audit.
    trend
        Earlier audits; the tiles compare with the newest one by the same profile and rule set.
    words
        The language of the page.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
    >>> found = contents(prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}}))
    >>> [(tile["title"], tile["figure"]) for tile in found["tiles"]][:2]
    [('Ready', '50.0 %'), ('Mean score', '50.0 %')]
    """
    # Computed once: gaps and checks are used by several sections.
    gaps = audit.gaps(words=words)
    rows = check_rows(audit, words)
    findings = failing(audit, [row["place"] for row in rows], words)
    return {
        "name": label(words.say(_name(audit))),
        "header": header(audit, words),
        "not_asked": [shown(one, _SENTENCE) for one in not_asked(audit, words)],
        "warnings": [shown(words.say(line), _SENTENCE) for line, is_warning in lines(audit) if is_warning],
        "products": len(audit),
        "of": None if audit.chosen is None else audit.chosen.of,
        "facts": audit.checks,
        "tiles": tiles(audit, _before(audit, trend), words),
        "watch": unusual(audit, words),
        "accepted": accepted_contents(audit, words),
        "trend": audit.trend(trend),
        "gaps": gaps.head(_GAPS).to_dict("records"),
        "gaps_total": len(gaps),
        "channels": channel_tables(audit, words),
        "new_families": _new_families(audit, words),
        "heat": [heat_map(audit, by, words) for by in GROUPINGS],
        "offenders": [(by, *offenders(audit, by, words)) for by in OFFENDERS],
        "checks": rows,
        "failing": findings,
        "failures_shown": sum(len(one["rows"]) for one in findings),
        "failures_total": sum(one["total"] for one in findings),
        "failed": int(audit.tally["failed"].sum()),
        "rules": len({check.rule.id for check in audit.checks}),
        "grade_with_blocker": audit.grade_with_blocker,
        "cards": cards(audit, words),
        "cards_total": int((audit.tally["failed"] > 0).sum()),
        "has_data": audit.catalog is not None,
        "notes": notes(audit),
        "crashes": [(one.check, one.part, shown(one.message, _SENTENCE)) for one in audit.crashes],
    }


def _name(audit: Audit) -> Said:
    folder = audit.catalog_folder
    return folder.parent.name if folder else audit.origin.source_said


def header(audit: Audit, words: Translation = ENGLISH) -> list[tuple[str, Words]]:
    """Return the source of the figures: catalogue, query and profile, each term with its value."""
    origin = audit.origin
    folder = audit.catalog_folder
    # Files and records announce no total, so there is nothing to compare with.
    announced = origin.ledger.announced is not None
    asked_at = origin.server_time or origin.loaded_at
    query: Any = Message("everything in the files or records") if origin.query is None else repr(origin.query)
    if origin.extent is not None and origin.query is None:
        query = Message.of_number(
            "none: {number} attribute in the columns of a file",
            "none: {number} attributes in the columns of a file",
            len(origin.extent.attributes),
        )
    received = Message("{text}, complete") if origin.complete else Message("{text}, incomplete")
    facts = [
        (Message("Catalogue"), folder.parent.name if folder else Message("in memory")),
        (Message("Snapshot"), folder.name if folder else None),
        (Message("Scope"), None if audit.chosen is None else audit.chosen.said(len(audit))),
        (Message("From"), origin.source_said),
        (
            Message("Requested"),
            Message("{moment} UTC", moment=words.moment(asked_at.astimezone(UTC))) if asked_at else None,
        ),
        (Message("Query"), query),
        (Message("Received"), received.with_values(text=origin.ledger.said) if announced else None),
        (
            Message("Audited"),
            Message(
                "{moment} UTC, as of {then_moment}",
                moment=words.moment(audit.audited_at.astimezone(UTC)),
                then_moment=words.moment(audit.now),
            ),
        ),
        (Message("Laws"), None if audit.as_of is None else Message("as of {day}", day=str(audit.as_of))),
        (
            Message("By"),
            Message(
                "profile {profile}, {checks}, rule set {rule_set}",
                profile=audit.profile,
                checks=checks_said(len(audit.checks)),
                rule_set=str(audit.rule_set),
            ),
        ),
    ]
    return [
        (words.say(term), shown(words.say(value), _SENTENCE)) for term, value in facts if value is not None
    ]


def not_asked(audit: Audit, words: Translation = ENGLISH) -> list[str]:
    """Return what the query left out and must not be mistaken for missing, and what is unknown because of it."""
    query = audit.origin.query or ProductQuery()
    restrictions = [
        (Message("Only these attributes were requested: {text}."), query.source_include),
        (Message("These attributes were left out: {text}."), query.source_exclude),
        (Message("Only texts in these languages were requested: {text}."), query.product_languages),
    ]
    if (extent := audit.origin.extent) is not None:
        restrictions += [
            (Message("Only these attributes are in the columns of the file: {text}."), extent.attributes),
            (Message("Of these attributes not every value could be read: {text}."), extent.in_part),
        ]
    left_out = [what.with_values(text=tuple(names)) for what, names in restrictions if names]
    # A field that the profile does not declare leaves other checks as they are: only a request makes them unknown.
    is_restricted = bool(left_out)
    table = audit.by_check
    waiting = {check.id: check.not_asked for check in audit.checks if check.not_asked}
    if waiting:
        labels = dict.fromkeys(FIELDS[name].label for names in waiting.values() for name in names)
        left_out.append(
            Message(
                "Not asked, since the profile does not say where the catalogue has it: {labels}.",
                labels=tuple(map(Message, labels)),
            )
        )
    crashed = {crash.check for crash in audit.crashes}
    # Crashed checks have a section of their own.
    others = ~table["check"].isin({*crashed, *waiting})
    blind = tuple(table[(table["unknown"] == len(audit)) & others]["check"].tolist())
    if len(audit) and blind:
        left_out.append(
            Message("Therefore unknown for every product: {text}.", text=blind)
            if is_restricted
            else Message("Unknown for every product: {text}.", text=blind)
        )
    if unreadable := _unreadable(audit):
        left_out.append(
            Message(
                "At these attributes of some products of the catalogue is something that cannot be read: {text}. It is "
                "no missing value, and what needs it is unknown.",
                text=unreadable,
            )
        )
    return [words.say(one) for one in left_out]


def _unreadable(audit: Audit) -> tuple[str, ...]:
    """Return the wire paths at which the catalogue holds what cannot be read, as far as it is available."""
    if audit.catalog is None:
        return ()
    extent = audit.origin.extent
    found = (path for path, _ in unreadable_places(audit.catalog))
    # Of a file, attributes of which not every value could be read are named already.
    return tuple(dict.fromkeys(one for one in found if extent is None or not extent.is_in_part(one)))


def tiles(audit: Audit, before: Audit | None, words: Translation = ENGLISH) -> list[dict[str, Any]]:
    """Return the four figures, with the change since the audit before.

    Of each what is counted, the figure, and of how many (`detail`); the `change`, None where there is no audit before,
    since when, and whether it is "better", "worse" or nothing (`verdict`); and the same figure `of_all` products, where
    the report is about some of them.
    """
    now = audit.summary
    then = before.summary if before else None
    since = _moment_before(audit, before, words) if before else ""
    number = int(now["products"])
    every = None if audit.taken_from is None else audit.taken_from.summary

    def tile(title: Message, name: str, detail: Message) -> dict[str, Any]:
        is_share = name in {"ready", "mean_score"}
        change, verdict = _change(now[name], then[name], is_share) if then is not None else (None, "")
        of_all = None if every is None else words.say(_of_all(every[name], int(every["products"]), is_share))
        return {
            "title": words.say(title),
            "figure": words.percent(now[name]) if is_share else words.number(int(now[name])),
            "detail": words.say(detail),
            "change": None if change is None else words.say(change),
            "since": since,
            "verdict": verdict,
            "of_all": of_all,
        }

    return [
        tile(Message("Ready"), "ready", readiness(now)),
        tile(
            Message("Mean score"),
            "mean_score",
            Message(
                "all checks together: {score:%}, {grade}",
                score=float(now["score"]),
                grade=grade_said(now["grade"]),
            ),
        ),
        tile(
            Message("Products to work on"),
            "to_work_on",
            Message.of_number("of {number} product", "of {number} products", number),
        ),
        tile(
            Message("Products not ready"),
            "not_ready_products",
            Message.of_number(
                "a blocker fails; of {number} product", "a blocker fails; of {number} products", number
            ),
        ),
    ]


def _of_all(figure: float, products: int, is_share: bool) -> Message:
    if is_share:
        return Message.of_number(
            "{share:%} of all {number} product",
            "{share:%} of all {number} products",
            products,
            share=float(figure),
        )
    return Message.of_number(
        "{count} of all {number} product", "{count} of all {number} products", products, count=int(figure)
    )


def _before(audit: Audit, trend: Sequence[Audit]) -> Audit | None:
    """Return the newest earlier audit by the same profile and rule set."""
    earlier = [
        one
        for one in trend
        # An audit by another profile or rule set would make every tile look like a change.
        if audit.is_like(one) and (one.now, one.audited_at) < (audit.now, audit.audited_at)
    ]
    return max(earlier, key=lambda one: (one.now, one.audited_at), default=None)


def _moment_before(audit: Audit, before: Audit, words: Translation) -> str:
    """Return since when: the day of the audit before; on the same day its time, since that day would be today."""
    if before.now.date() == audit.now.date():
        return words.gettext("since {time}", time=f"{before.now:%H:%M}")
    return words.gettext("since {day}", day=words.day(before.now))


def _change(now: float, then: float, is_share: bool) -> tuple[Message, str]:
    """Return a change in words, and whether it is for the better or the worse; nothing where there is none."""
    if math.isnan(now) or math.isnan(then):
        return Message("nothing to compare"), ""
    step = now - then
    # A change that rounds to nothing would read as "0.0 points higher".
    if not step or (is_share and f"{abs(step) * 100:.1f}" == "0.0"):
        return Message("no change"), ""
    # More is better for shares, and worse for numbers of products that need work.
    verdict = "better" if (step > 0) == is_share else "worse"
    if is_share:
        figure = abs(step) * 100
        if step > 0:
            return Message("▲ {figure:.1f} points higher", figure=figure), verdict
        return Message("▼ {figure:.1f} points lower", figure=figure), verdict
    if step > 0:
        return Message("▲ {count} more", count=int(step)), verdict
    return Message("▼ {count} fewer", count=-int(step)), verdict


def unusual(audit: Audit, words: Translation = ENGLISH) -> tuple[Words, list[Words], str] | None:
    """Return what a watch says: its headline, its sentences, and how they are meant; None without audits before."""
    # The audits before are of all products, and some of them would look unusual beside these.
    if audit.chosen is not None:
        return None
    watch = watch_of(audit)
    # A first audit has nothing to be compared with.
    if watch is None or watch.audits < 2:
        return None
    watch = replace(watch, language=words.language)
    sentences = [shown(line, _SENTENCE) for line in first_sentences(watch)]
    return shown(headline(watch)), sentences, explained(watch)


#: Reasons, and checks, that a report lists.
_ACCEPTED = 20


def accepted_contents(audit: Audit, words: Translation = ENGLISH) -> dict[str, Any] | None:
    """Return what a report says about accepted findings: why, and which checks with how many; None without any."""
    if not audit.has_accepted:
        return None
    reasons = audit.accepted_reasons()
    checks, then = audit.by_check, audit.with_accepted().by_check
    checks = checks.assign(
        accepted=checks["failed"] - then["failed"],
        score_then=then["score"],
        problem=[words.say(check.problem) for check in audit.checks],
    )
    checks = checks[checks["accepted"] > 0].sort_values("accepted", ascending=False, kind="stable")
    return {
        "sentence": shown(words.say(accepted_text(audit)), _SENTENCE),
        "reasons": [
            {
                "reason": shown(row["accepted"], 400),
                "by": shown(row["accepted_by"], 200),
                "findings": row["findings"],
                "products": row["products"],
                "until": None if pd.isna(row["accepted_until"]) else row["accepted_until"],
            }
            for row in reasons.head(_ACCEPTED).to_dict("records")
        ],
        "reasons_total": len(reasons),
        "checks": checks.head(_ACCEPTED).to_dict("records"),
        "checks_total": len(checks),
    }


def check_rows(audit: Audit, words: Translation = ENGLISH) -> list[dict[str, Any]]:
    """Return the rows of the table of checks, failing checks first, by severity.

    Of each its `place` in the audit, the check (`facts`), how many products have which state, the share of those that
    pass as shown (`score`) and as a number (None if it applies to none), and why its rule crashed, if it did.
    """
    severities = list(SEVERITIES)
    rows = [
        {
            "place": place,
            "facts": check,
            **{name: row[name] for name in ("failed", "passed", "not_applicable", "unknown")},
            "score": words.percent(row["score"]),
            "share": None if pd.isna(row["score"]) else row["score"],
            "crash": shown(None if pd.isna(row["crash"]) else row["crash"], _SENTENCE),
        }
        for place, (check, row) in enumerate(
            zip(audit.checks, audit.by_check.to_dict("records"), strict=True)
        )
    ]
    # Failing checks first: there are far more that pass.
    return sorted(
        rows, key=lambda row: (not row["failed"], severities.index(row["facts"].severity), -row["failed"])
    )


#: Gaps that the report lists: those that it would help most to close.
_GAPS = 5

#: Families of a channel that the report lists.
_FAMILIES = 20


def channel_tables(
    audit: Audit, words: Translation = ENGLISH
) -> list[tuple[Words, list[dict[str, Any]], int, str]]:
    """Return how complete products are for each channel of the requirements; none without requirements.

    Of each its name, a row of all products, the families that are shown, the least complete first, how many there are,
    and which units the figures count.
    """
    if audit.families is None:
        return []
    seen = Completeness.of(audit)
    table = seen.table_of_both(words)
    table = table[table["language"] == EVERY_LANGUAGE]
    code, name = table.columns[1:3]
    made = []
    for channel in seen.wanted.channels:
        own = table[table["channel"] == channel.label]
        families = own[own[code] != ALL].sort_values(["completeness", "products"], ascending=[True, False])
        rows = [*own[own[code] == ALL].to_dict("records"), *families.head(_FAMILIES).to_dict("records")]
        counted = counted_of(rows[0]).words(words)
        made.append(
            (
                shown(words.say(channel.said)),
                [_family(row, code, name) for row in rows],
                len(families),
                counted,
            )
        )
    return made


def _family(row: Mapping[Hashable, Any], code: str, name: str) -> dict[str, Any]:
    """Return how complete a family is: its name (None for all products), whether it is new, its figures."""
    has_code = not pd.isna(row[code])
    called = row[name] if not pd.isna(row[name]) else row[code]
    return {
        **{one: row[one] for one in ("products", "complete", "unknown")},
        **{
            one: None if math.isnan(row[one]) else float(row[one])
            for one in ("completeness", "with_accepted")
        },
        "is_all": row[code] == ALL,
        "name": label(called) if has_code else None,
        "is_new": row[code] != ALL and not row["listed"] and has_code,
        "missing": row["missing_most"] or "",
    }


def _new_families(audit: Audit, words: Translation) -> Words | None:
    said = None if audit.families is None else Completeness.of(audit).new_families_said
    return None if said is None else shown(words.say(said))


#: The groupings of the heat map.
GROUPINGS = ("kind", "owner", "brand", "language", "market")
#: The groupings of the list of worst offenders.
OFFENDERS = ("owner", "brand", "kind")

_MOST = 25
_OFFENDERS = 10


def heat_map(audit: Audit, by: str, words: Translation = ENGLISH) -> dict[str, Any]:
    """Return the scores of the worst groups, block by block."""
    return score_map(block_scores(audit, by), by, words=words)


def score_map(
    scores: Mapping[str | None, pd.DataFrame],
    by: str,
    first: int = 0,
    most: int = _MOST,
    words: Translation = ENGLISH,
) -> dict[str, Any]:
    """Return the rows of a heat map for some groups, beginning with number `first`, and how many groups there are.

    Of each group its `code` (None for the products without one), its name and products, whether it has so few that it
    is listed after the others, and a cell for all blocks together and for each of the `blocks`: the score, the number
    of failing checks, also of those without a weight, and the shade from 0 (nothing fails) to 7, None without a score.
    """
    whole, code = scores[None], column_names(by)[0]
    page = slice(first, first + most)
    # Labels are made for all groups: where two are equal, their codes distinguish them, also on different pages.
    names = shown_names(whole, by, words)[page]
    columns = [_score_cells(frame.iloc[page], words) for frame in scores.values()]
    rows = [
        {
            "code": None if pd.isna(row[code]) else row[code],
            "name": label(name),
            "products": int(row["products"]),
            "is_small": row["products"] < SMALL,
            "cells": cells,
        }
        for name, row, *cells in zip(names, whole.iloc[page].to_dict("records"), *columns, strict=True)
    ]
    return {"by": by, "blocks": list(scores)[1:], "rows": rows, "total": len(whole)}


def _score_cells(scores: pd.DataFrame, words: Translation) -> list[dict[str, Any]]:
    """Return the cell of each group; a group is empty where no check of the block is in its language."""
    pairs = zip(scores["score"].tolist(), scores["failed"].fillna(0).astype(int).tolist(), strict=True)
    return [
        {
            "score": "–" if math.isnan(score) else words.percent(score),
            "failed": failed,
            "shade": None if math.isnan(score) else shade(score),
        }
        for score, failed in pairs
    ]


def offenders(audit: Audit, by: str, words: Translation = ENGLISH) -> tuple[list[dict[str, Any]], int]:
    """Return the groups with the most failing checks, and how many have any.

    Of each its figures and its most frequent problem; groups of fewer than ten products are last.
    """
    code, *_ = column_names(by)
    scores = audit.scores(by)
    worst = scores[scores["failed"] > 0]
    # Small groups are last: a group of two products, of which one fails, would lead every list.
    worst = worst.assign(is_small=worst["products"] < SMALL).sort_values(
        ["is_small", "failed", "to_work_on"], ascending=[True, False, False], kind="stable"
    )
    groups = audit.groups(by)
    rows = []
    for name, row in zip(
        shown_names(worst, by, words), worst.head(_OFFENDERS).to_dict("records"), strict=False
    ):
        own = groups.members(None if pd.isna(row[code]) else row[code])
        counts = (audit.states[own] == State.FAIL).sum(axis=0)
        most = int(np.argmax(counts))
        rows.append(
            {
                **{one: row[one] for one in ("products", "is_small", "to_work_on", "failed", "score")},
                "name": label(name),
                "readiness": words.say(readiness(row)),
                "grade": row["grade"] if isinstance(row["grade"], str) else words.gettext("none"),
                "worst_problem": words.say(audit.checks[most].problem),
                "worst_count": int(counts[most]),
            }
        )
    return rows, len(worst)
