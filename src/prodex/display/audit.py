"""How an audit and a comparison of two look: the figures, what weighs most, and how reliable that is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prodex.display.html_tables import block, table
from prodex.messages import counted, day_in_words, moved, percent
from prodex.quality.comparison import CHANGES
from prodex.quality.completeness import EVERY_LANGUAGE, Completeness
from prodex.quality.laws import ANNOUNCED
from prodex.quality.requirements import ALL
from prodex.quality.scores import CAVEAT, FORMULA, readiness
from prodex.untrusted_text import on_one_line

if TYPE_CHECKING:
    import pandas as pd

    from prodex.quality.audit import Audit
    from prodex.quality.comparison import AuditComparison

_SHOWN, _LONG = 5, 200


def text_of(audit: Audit) -> str:
    """Return an audit in words."""
    headline, *others = [line for line, _ in lines(audit)]
    found = audit.gaps()
    rows = [_gap(row) for row in found.head(_SHOWN).to_dict("records")]
    width = max((len(row[0]) for row in rows), default=0)
    shown = [f"  {problem:<{width}}  {count:>17}  if fixed: {brings}" for problem, count, brings in rows]
    return "\n".join(map(on_one_line, [headline, *others, _gaps_title(len(found)), *shown, *notes(audit)]))


def html_of(audit: Audit) -> str:
    """Return an audit as a small table for a notebook."""
    (headline, _), *others = lines(audit)
    found = audit.gaps()
    rows = [
        (problem, count, brings.replace("->", "→"))
        for problem, count, brings in map(_gap, found.head(_SHOWN).to_dict("records"))
    ]
    title = _gaps_title(len(found))
    gaps = table(title.rstrip(":."), ["problem", "failing", "if fixed"], rows, numbers=["failing"])
    # Without gaps there is no table for the title, so it is a line of its own.
    return block(headline, others if rows else [*others, (title, False)], [gaps] * bool(rows), notes(audit))


def lines(audit: Audit) -> Iterator[tuple[str, bool]]:
    """Yield the lines above the gaps, each with whether it is a warning."""
    figures, products, checks = audit.summary, len(audit), len(audit.checks)
    yield f"Audit of {counted(products, 'product')} by {counted(checks, 'check')} ({audit.profile})", False
    if audit.chosen is not None:
        yield audit.scope, False
    yield _scores_text(figures), False
    if audit.taken_from is not None:
        of_all = audit.taken_from
        yield f"all {counted(len(of_all), 'product')}: {_scores_text(of_all.summary)}", False
    if audit.families is not None:
        seen = Completeness.of(audit)
        yield from ((line, False) for line in seen.sentences)
        if new := seen.new_families_words:
            yield new, True
    yield from accepted_lines(audit)
    yield f"from {audit.origin.source}, as of {audit.now:%Y-%m-%d %H:%M}", False
    # First of all warnings: with products missing, every figure is that of a part.
    if not audit.origin.complete:
        yield f"incomplete: {audit.origin.ledger}", True
    if figures["checks_unknown"]:
        unknown = (
            f"{figures['checks_unknown']} of {checks} checks unknown for all products: their data "
            "were not requested, or nothing decides to which products they apply"
        )
        yield f"{unknown}{', or the rule crashed' * bool(audit.crashes)}", True
    elif unknown_results := figures["unknown"] - figures["checks_not_asked"] * products:
        yield f"{unknown_results:,} of {products * checks:,} results are unknown", False
    yield from ((line, False) for line in _law_lines(audit))
    # Only worth a warning where a check asks for the market.
    without_market = sum(part.column("market").null_count for part in audit.parts)
    if without_market and any("market = " in check.scope for check in audit.checks):
        nowhere = counted(without_market, "product")
        yield f"no market is known for {nowhere}: checks for a market cannot judge them", True
    if figures["undecided_products"]:
        undecided = counted(figures["undecided_products"], "product")
        yield f"{undecided} undecided: their data do not show whether they are ready", True
    # A broken rule crashes in every part: one message of each check is enough.
    crashed: dict[str, str] = {crash.check: crash.message for crash in audit.crashes}
    for check, message in list(crashed.items())[:_SHOWN]:
        yield f"rule crashed: {check}: {_one_line(message)}", True
    if len(crashed) > _SHOWN:
        yield f"{_SHOWN} of {len(crashed)} crashed checks shown; all in audit.crashes", True


def _law_lines(audit: Audit) -> Iterator[str]:
    """Yield which checks wait for a declaration, and which for the first day of their law."""
    if not_asked := list(dict.fromkeys(name for check in audit.checks for name in check.not_asked)):
        count = counted(audit.summary["checks_not_asked"], "check")
        yield f"{count} not asked: the profile declares no {', '.join(not_asked)}; see audit.laws()"
    first_days = [
        check.in_force for check in audit.checks if check.standing == ANNOUNCED and check.in_force is not None
    ]
    if first_days:
        count = counted(len(first_days), "check")
        yield f"{count} of laws that are not in force yet, the next from {day_in_words(min(first_days))} on"


#: People who are named in the line that says who has accepted something.
_NAMED = 3


def accepted_lines(audit: Audit) -> Iterator[tuple[str, bool]]:
    """Yield what is accepted and the figures with it, and what of the file cannot be read."""
    if len(audit.accepted_reasons()):
        # Whoever does not know that it is a view takes its figures for those of what was found.
        yield accepted_text(audit), audit.as_found is not None
    file = audit.accepted_findings
    if file is not None and file.unread:
        if not file.unread[0].line:
            yield f"nothing is accepted: {file.unread[0].note}", True
            return
        numbers = ", ".join(str(one.line) for one in file.unread[:_SHOWN])
        more = ", ..." if len(file.unread) > _SHOWN else ""
        what = counted(len(file.unread), "line")
        yield f"{what} of {file.path.name} cannot be read ({numbers}{more}); prodex.accepted says why", True


def accepted_text(audit: Audit) -> str:
    """Return how many findings are accepted and by whom, and the figures of the view, or of what was found."""
    reasons = audit.accepted_reasons()
    people = (
        reasons.groupby("accepted_by", sort=False)["findings"]
        .sum()
        .sort_values(ascending=False, kind="stable")
    )
    named = [str(name) or "nobody" for name in people.index[:_NAMED]]
    others = f" and {len(people) - _NAMED} more" if len(people) > _NAMED else ""
    is_view = audit.as_found is not None
    figures = (audit.as_found or audit.with_accepted()).summary
    share = "" if math.isnan(figures["ready"]) else f" ({percent(figures['ready'])})"
    return (
        f"{counted(int(reasons['findings'].sum()), 'finding')} accepted by {', '.join(named)}{others}"
        f"{' and taken as passed; without' if is_view else '; with'} them ready {figures['ready_products']:,}{share}, "
        f"score {percent(figures['score'])}"
    )


def _scores_text(figures: pd.Series) -> str:
    grade = figures["grade"] if isinstance(figures["grade"], str) else "none"
    share = "" if math.isnan(figures["ready"]) else f" ({percent(figures['ready'])} ready)"
    return (
        f"{readiness(figures)}{share}, score {percent(figures['score'])} (grade {grade}), "
        f"{counted(figures['to_work_on'], 'product')} to work on"
    )


def notes(audit: Audit) -> list[str]:
    """Return the footnotes that belong under every score."""
    own = sum(not check.shipped for check in audit.checks)
    rules = f"Rule set {audit.rule_set}" + (f" and {counted(own, 'own check')}" if own else "")
    # The formula belongs under every score: without it, two audits seem comparable that are not.
    best = audit.grade_with_blocker
    limit = "" if best == "A" else f" A product with a failing blocker has grade {best} at best."
    footnotes = [f"{FORMULA}.{limit} {rules}. {CAVEAT}"]
    if audit.assumed:
        footnotes.append(
            f"Assumed where the data do not decide: {', '.join(map(_assumption, audit.assumed))}."
        )
    wanted = None if audit.made_by is None else audit.made_by.requirements
    if wanted is not None:
        for words, said in (("Noted in", wanted.notes), ("Left alone in", wanted.ignored)):
            more = f"; and {len(said) - _SHOWN:,} more" if len(said) > _SHOWN else ""
            footnotes += [f"{words} the requirements: {'; '.join(said[:_SHOWN])}{more}."] if said else []
    if audit.pending:
        footnotes.append(
            f"{counted(audit.pending, 'product')} judged without an update pending acceptance. To judge what will be "
            'after it: "Include pending updates", --pending, or prodex.audit(prodex.with_pending_updates(catalog)).'
        )
    return footnotes


def _assumption(assumed: tuple[str, Any]) -> str:
    name, value = assumed
    return f"{name} = {str(value).lower() if isinstance(value, bool) else value}"


def _one_line(message: str) -> str:
    r"""Return a rule's message on one line, without characters that move a cursor or change the direction of writing.

    >>> _one_line("ValueError: \u202ea\nb")
    'ValueError: \\u202ea\\nb'
    """
    shown = on_one_line(message[:_LONG])
    return shown if len(message) <= _LONG else f"{shown}... ({_LONG} of {len(message):,} characters)"


def _gaps_title(count: int) -> str:
    return f"The {min(count, _SHOWN)} largest gaps of {count}:" if count else "No check fails."


def _gap(row: dict[Any, Any]) -> tuple[str, str, str]:
    return row["problem"], counted(row["products"], "product"), row["brings"]


#: Number of checks that a comparison lists.
_CHECKS = 10


def comparison_text(comparison: AuditComparison) -> str:
    """Return a comparison in words."""
    rows, every = _changed_checks(comparison)
    shown = [f"  {problem}: {fixed:,} fixed, {failing:,} newly failing" for problem, fixed, failing in rows]
    if every > _CHECKS:
        shown.append(f"  {_CHECKS} of {every} checks that changed; all in .by_check")
    lines = [*_comparison_lines(comparison), *shown, *comparison.notes, notes(comparison.new)[0]]
    return "\n".join(map(on_one_line, lines))


def comparison_html(comparison: AuditComparison) -> str:
    """Return a comparison as a small table for a notebook."""
    headline, *others = _comparison_lines(comparison)
    rows, every = _changed_checks(comparison)
    title = f"{len(rows)} of {counted(every, 'check')} that changed; all in .by_check"
    headings = ["problem", "fixed", "newly failing"]
    changed = [table(title, headings, rows, numbers=headings[1:])] if rows else []
    # Whatever limits the comparison is a warning; "->" is read aloud as a minus sign and a bracket.
    lines = [(line.replace("->", "→"), False) for line in others]
    return block(
        headline, [*lines, *((note, True) for note in comparison.notes)], changed, notes(comparison.new)[:1]
    )


def _comparison_lines(comparison: AuditComparison) -> list[str]:
    old, new = comparison.old, comparison.new
    before, after = old.summary, new.summary
    counts = ", ".join(
        f"{int(comparison.by_check[name.replace(' ', '_')].sum()):,} {name}" for name in CHANGES
    )
    added = f"{counted(len(comparison.added), 'product')} added, {len(comparison.gone):,} gone"
    views = [one.as_found is not None for one in (old, new)]
    accepted = ["what is accepted passes in both"] if all(views) else []
    if not any(views) and (before["accepted"] or after["accepted"]):
        score = moved(*(one.with_accepted().score for one in (old, new)))
        accepted.append(
            f"accepted now: {before['accepted']:,} failing before, {after['accepted']:,} now; with them score {score}"
        )
    return [
        f"{old.now:%Y-%m-%d %H:%M} to {new.now:%Y-%m-%d %H:%M} ({new.profile})",
        f"{readiness(before)} -> {readiness(after)}, score {moved(before['score'], after['score'])}",
        f"{counts}; {added}",
        *accepted,
        *_completeness_moved(old, new),
        *_law_changes(comparison),
    ]


def _law_changes(comparison: AuditComparison) -> list[str]:
    """Return how many checks a law has begun or ended for, and how the score moved without that."""
    changes = comparison.law_changes
    if not len(changes):
        return []
    was, is_ = (one.score for one in comparison.by_one_law())
    first = changes.iloc[0]
    stands = f"{first['check']} for one ({first['was']}, now {first['is']})"
    count = counted(len(changes), "check")
    return [
        f"{count} whose law began or ended, {stands}; by the laws of the new audit score {moved(was, is_)}"
    ]


def _completeness_moved(old: Audit, new: Audit) -> list[str]:
    """Return for each channel that both audits know how the share of complete products moved."""
    shares = []
    for one in (old, new):
        if one.families is None:
            return []
        table = one.completeness()
        every = table[(table["language"] == EVERY_LANGUAGE) & (table.iloc[:, 1] == ALL)]
        shares.append(dict(zip(every["channel"], every["completeness"], strict=True)))
    return [
        f"complete for {channel}: {moved(shares[0][channel], share)}"
        for channel, share in shares[1].items()
        if channel in shares[0]
    ]


def _changed_checks(comparison: AuditComparison) -> tuple[list[tuple[Any, ...]], int]:
    """Return problem, products fixed and newly failing of the first checks that changed, and how many changed."""
    columns = ["problem", "fixed", "newly_failing"]
    changed = comparison.by_check[comparison.by_check[columns[1:]].sum(axis=1) > 0]
    return list(changed[columns].head(_CHECKS).itertuples(index=False, name=None)), len(changed)
