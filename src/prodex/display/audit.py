"""How an audit and a comparison of two look: the figures, what weighs most, and how reliable that is."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from prodex.display.html_tables import block, table
from prodex.languages import ENGLISH, Message, Said, Translation
from prodex.phrases import counted, day_in_words
from prodex.quality.comparison import CHANGES
from prodex.quality.completeness import EVERY_LANGUAGE, Completeness
from prodex.quality.laws import ANNOUNCED, ENDED, IN_FORCE
from prodex.quality.profile import markets_without_language
from prodex.quality.requirements import ALL
from prodex.quality.scores import CAVEAT, FORMULA, moved, readiness
from prodex.untrusted_text import on_one_line

if TYPE_CHECKING:
    import pandas as pd

    from prodex.quality.accepted import WrittenFindings
    from prodex.quality.audit import Audit
    from prodex.quality.comparison import AuditComparison

_SHOWN, _LONG = 5, 200


def text_of(audit: Audit, words: Translation = ENGLISH) -> str:
    """Return an audit in words."""
    headline, *others = [words.say(line) for line, _ in lines(audit)]
    found = audit.gaps(words=words)
    rows = [_gap(row, words) for row in found.head(_SHOWN).to_dict("records")]
    width = max((len(row[0]) for row in rows), default=0)
    if_fixed = words.gettext("if fixed:")
    shown = [f"  {problem:<{width}}  {count:>17}  {if_fixed} {brings}" for problem, count, brings in rows]
    below = [words.say(_gaps_title(len(found))), *shown, *map(words.say, notes(audit))]
    return "\n".join(map(on_one_line, [headline, *others, *below]))


def html_of(audit: Audit) -> str:
    """Return an audit as a small table for a notebook."""
    (headline, _), *others = [(str(line), is_warning) for line, is_warning in lines(audit)]
    found = audit.gaps()
    rows = [
        (problem, count, brings.replace("->", "→"))
        for problem, count, brings in map(_gap, found.head(_SHOWN).to_dict("records"))
    ]
    title = str(_gaps_title(len(found)))
    gaps = table(title.rstrip(":."), ["problem", "failing", "if fixed"], rows, numbers=["failing"])
    # Without gaps there is no table for the title, so it is a line of its own.
    below = [str(note) for note in notes(audit)]
    return block(headline, others if rows else [*others, (title, False)], [gaps] * bool(rows), below)


def lines(audit: Audit) -> Iterator[tuple[Said, bool]]:
    """Yield the lines above the gaps, each with whether it is a warning."""
    figures, products, checks = audit.summary, len(audit), len(audit.checks)
    made_of = {"products": products_said(products), "checks": checks_said(checks), "profile": audit.profile}
    yield Message("Audit of {products} by {checks} ({profile})", **made_of), False
    if audit.chosen is not None:
        yield audit.chosen.said(products), False
    yield _scores(figures), False
    if audit.taken_from is not None:
        every = products_said(len(audit.taken_from))
        yield Message("all {products}: {said}", products=every, said=_scores(audit.taken_from.summary)), False
    if audit.families is not None:
        seen = Completeness.of(audit)
        yield from ((line, False) for line in seen.sentences)
        if new := seen.new_families_said:
            yield new, True
    yield from _written_lines(audit)
    yield from accepted_lines(audit)
    moment = f"{audit.now:%Y-%m-%d %H:%M}"
    yield Message("from {source}, as of {moment}", source=audit.origin.source_said, moment=moment), False
    # First of all warnings: with products missing, every figure is that of a part.
    if not audit.origin.complete:
        yield Message("incomplete: {said}", said=audit.origin.ledger.said), True
    if count := int(figures["checks_unknown"]):
        yield _unknown_checks(count, checks, is_crashed=bool(audit.crashes)), True
    elif unknown := int(figures["unknown"] - figures["checks_not_asked"] * products):
        said = Message.of_number(
            "{number} of {of} results is unknown",
            "{number} of {of} results are unknown",
            unknown,
            of=products * checks,
        )
        yield said, False
    yield from ((line, False) for line in _law_lines(audit))
    yield from ((line, True) for line in _market_lines(audit))
    if undecided := int(figures["undecided_products"]):
        said = Message.of_number(
            "{number} product undecided: their data do not show whether they are ready",
            "{number} products undecided: their data do not show whether they are ready",
            undecided,
        )
        yield said, True
    if doubted := sum(len(pc.unique(part.doubts["product"])) for part in audit.parts):
        said = Message.of_number(
            "why {number} product cannot be judged: audit.doubts(), or --show doubts",
            "why {number} products cannot be judged: audit.doubts(), or --show doubts",
            doubted,
        )
        yield said, False
    # A broken rule crashes in every part: one message of each check is enough.
    crashed: dict[str, str] = {crash.check: crash.message for crash in audit.crashes}
    for check, message in list(crashed.items())[:_SHOWN]:
        yield Message("rule crashed: {check}: {text}", check=check, text=_one_line(message)), True
    if len(crashed) > _SHOWN:
        said = Message(
            "{count} of {of} crashed checks shown; all in audit.crashes", count=_SHOWN, of=len(crashed)
        )
        yield said, True


def _market_lines(audit: Audit) -> Iterator[Message]:
    """Yield what is not judged for want of a market, or of its language; only where a check asks for these."""
    without_market = sum(part.column("market").null_count for part in audit.parts)
    if without_market and any("market = " in check.scope for check in audit.checks):
        yield Message.of_number(
            "no market is known for {number} product: checks for a market cannot judge them",
            "no market is known for {number} products: checks for a market cannot judge them",
            without_market,
        )
    if others := markets_without_language(audit.checks, (part.column("market") for part in audit.parts)):
        yield Message.of_number(
            "no language is known for the market of {number} product ({markets}): no text is asked for in it",
            "no language is known for the market of {number} products ({markets}): no text is asked for in it",
            sum(others.values()),
            markets=", ".join(others),
        )


def products_said(number: int) -> Message:
    """Return a number of products."""
    return Message.of_number("{number} product", "{number} products", number)


def checks_said(number: int) -> Message:
    """Return a number of checks."""
    return Message.of_number("{number} check", "{number} checks", number)


def _unknown_checks(number: int, of: int, *, is_crashed: bool) -> Message:
    said = Message.of_number(
        "{number} of {of} checks unknown for all products: their data were not requested or cannot be read, or nothing "
        "decides to which products they apply",
        "{number} of {of} checks unknown for all products: their data were not requested or cannot be read, or nothing "
        "decides to which products they apply",
        number,
        of=of,
    )
    return Message("{said}, or the rule crashed", said=said) if is_crashed else said


def _law_lines(audit: Audit) -> Iterator[Message]:
    """Yield which checks wait for a declaration, and which for the first day of their law."""
    if not_asked := tuple(dict.fromkeys(name for check in audit.checks for name in check.not_asked)):
        yield Message(
            "{checks} not asked: the profile declares no {names}; see audit.laws()",
            checks=checks_said(int(audit.summary["checks_not_asked"])),
            names=not_asked,
        )
    first_days = [
        check.in_force for check in audit.checks if check.standing == ANNOUNCED and check.in_force is not None
    ]
    if first_days:
        yield Message(
            "{checks} of laws that are not in force yet, the next from {day} on",
            checks=checks_said(len(first_days)),
            day=day_in_words(min(first_days)),
        )


#: People who are named in the line that says who has accepted something.
_NAMED = 3


def accepted_lines(audit: Audit) -> Iterator[tuple[Said, bool]]:
    """Yield what is accepted and the figures with it, and what of the file cannot be read."""
    if len(audit.accepted_reasons()):
        # Whoever does not know that it is a view takes its figures for those of what was found.
        yield accepted_text(audit), audit.as_found is not None
    file = audit.accepted_findings
    if file is not None and file.unread:
        if not file.unread[0].line:
            yield Message("nothing is accepted: {text}", text=file.unread[0].note), True
            return
        numbers = tuple(str(one.line) for one in file.unread[:_SHOWN])
        said = Message.of_number(
            "{number} line of {file} cannot be read ({numbers}); prodex.accepted says why",
            "{number} lines of {file} cannot be read ({numbers}); prodex.accepted says why",
            len(file.unread),
            file=file.path.name,
            numbers=(*numbers, "...") if len(file.unread) > _SHOWN else numbers,
        )
        yield said, True


def _written_lines(audit: Audit) -> Iterator[tuple[Said, bool]]:
    """Yield what a call has just accepted or taken back; pages and lists of later are not about that."""
    if audit.accepted_findings is not None and audit.accepted_findings.written is not None:
        yield written_text(audit.accepted_findings.written), False


def written_text(written: WrittenFindings) -> Message:
    """Return how many findings one call has accepted, or taken back."""
    number, products = written.findings, products_said(written.products)
    if written.is_withdrawal:
        if not number:
            return Message("no finding withdrawn")
        return Message.of_number(
            "{number} finding of {products} withdrawn",
            "{number} findings of {products} withdrawn",
            number,
            products=products,
        )
    if not number:
        return Message("no finding newly accepted")
    return Message.of_number(
        "{number} finding of {products} newly accepted",
        "{number} findings of {products} newly accepted",
        number,
        products=products,
    )


def accepted_text(audit: Audit) -> Message:
    """Return how many findings are accepted and by whom, and the figures of the view, or of what was found."""
    reasons = audit.accepted_reasons()
    people = (
        reasons.groupby("accepted_by", sort=False)["findings"]
        .sum()
        .sort_values(ascending=False, kind="stable")
    )
    names: Any = tuple(str(name) or Message("nobody") for name in people.index[:_NAMED])
    if len(people) > _NAMED:
        names = Message("{names} and {count} more", names=names, count=len(people) - _NAMED)
    figures = (audit.as_found or audit.with_accepted()).summary
    ready: Any = int(figures["ready_products"])
    if not math.isnan(figures["ready"]):
        ready = Message("{count} ({share:%})", count=ready, share=float(figures["ready"]))
    values = {"names": names, "ready": ready, "score": float(figures["score"])}
    number = int(reasons["findings"].sum())
    if audit.as_found is not None:
        return Message.of_number(
            "{number} finding accepted by {names} and taken as passed; without them ready {ready}, score {score:%}",
            "{number} findings accepted by {names} and taken as passed; without them ready {ready}, score {score:%}",
            number,
            **values,
        )
    return Message.of_number(
        "{number} finding accepted by {names}; with them ready {ready}, score {score:%}",
        "{number} findings accepted by {names}; with them ready {ready}, score {score:%}",
        number,
        **values,
    )


def grade_said(grade: object) -> Message:
    """Return a grade in words; there is none where no check applies."""
    return Message("grade {grade}", grade=grade) if isinstance(grade, str) else Message("grade none")


def _scores(figures: pd.Series) -> Message:
    values = {
        "score": float(figures["score"]),
        "grade": grade_said(figures["grade"]),
        "products": products_said(int(figures["to_work_on"])),
    }
    if math.isnan(figures["ready"]):
        return Message(
            "{readiness}, score {score:%} ({grade}), {products} to work on",
            readiness=readiness(figures),
            **values,
        )
    return Message(
        "{readiness} ({share:%} ready), score {score:%} ({grade}), {products} to work on",
        readiness=readiness(figures),
        share=float(figures["ready"]),
        **values,
    )


def notes(audit: Audit) -> list[Message]:
    """Return the footnotes that belong under every score."""
    own = sum(not check.shipped for check in audit.checks)
    rules = Message("Rule set {rule_set}", rule_set=audit.rule_set)
    if own:
        rules = Message.of_number(
            "Rule set {rule_set} and {number} own check",
            "Rule set {rule_set} and {number} own checks",
            own,
            rule_set=audit.rule_set,
        )
    # The formula belongs under every score: without it, two audits seem comparable that are not.
    best = audit.grade_with_blocker
    said = {"formula": Message(FORMULA), "rules": rules, "caveat": Message(CAVEAT)}
    footnotes = [
        Message("{formula}. {rules}. {caveat}", **said)
        if best == "A"
        else Message(
            "{formula}. A product with a failing blocker has grade {grade} at best. {rules}. {caveat}",
            grade=best,
            **said,
        )
    ]
    if audit.assumed:
        assumed = tuple(map(_assumption, audit.assumed))
        footnotes.append(Message("Assumed where the data do not decide: {text}.", text=assumed))
    wanted = None if audit.made_by is None else audit.made_by.requirements
    if wanted is not None and wanted.notes:
        footnotes.append(Message("Noted in the requirements: {text}.", text=_first_said(wanted.notes)))
    if wanted is not None and wanted.ignored:
        footnotes.append(Message("Left alone in the requirements: {text}.", text=_first_said(wanted.ignored)))
    if audit.pending:
        footnotes.append(
            Message.of_number(
                "{number} product judged without an update pending acceptance. To judge what will be after it: "
                '"Include pending updates", --pending, or prodex.audit(catalog.with_pending_updates()).',
                "{number} products judged without an update pending acceptance. To judge what will be after it: "
                '"Include pending updates", --pending, or prodex.audit(catalog.with_pending_updates()).',
                audit.pending,
            )
        )
    return footnotes


def _first_said(said: Sequence[str]) -> Said:
    """Return the first of several notes, and how many more there are."""
    first = "; ".join(said[:_SHOWN])
    if len(said) <= _SHOWN:
        return first
    return Message("{text}; and {count} more", text=first, count=len(said) - _SHOWN)


def _assumption(assumed: tuple[str, Any]) -> str:
    name, value = assumed
    if name == "ingredients":
        # There may be hundreds of them.
        return f"{name} = {sum(map(len, json.loads(value).values()))} words"
    return f"{name} = {str(value).lower() if isinstance(value, bool) else value}"


def _one_line(message: str) -> Said:
    r"""Return a rule's message on one line, without characters that move a cursor or change the direction of writing.

    >>> _one_line("ValueError: \u202ea\nb")
    'ValueError: \\u202ea\\nb'
    """
    shown = on_one_line(message[:_LONG])
    if len(message) <= _LONG:
        return shown
    return Message("{text}... ({count} of {of} characters)", text=shown, count=_LONG, of=len(message))


def _gaps_title(count: int) -> Message:
    if not count:
        return Message("No check fails.")
    return Message.of_number(
        "The only gap:", "The {number} largest gaps of {count}:", min(count, _SHOWN), count=count
    )


def _gap(row: dict[Any, Any], words: Translation = ENGLISH) -> tuple[str, str, str]:
    return row["problem"], words.say(products_said(row["products"])), row["brings"]


#: Number of checks that a comparison lists.
_CHECKS = 10


def comparison_text(comparison: AuditComparison, words: Translation = ENGLISH) -> str:
    """Return a comparison in words."""
    rows, every = _changed_checks(comparison)
    said: list[Said] = [
        Message(
            "{problem}: {fixed} fixed, {failing} newly failing", problem=one, fixed=fixed, failing=failing
        )
        for one, fixed, failing in rows
    ]
    if every > _CHECKS:
        said.append(Message("{count} of {of} checks that changed; all in .by_check", count=_CHECKS, of=every))
    shown = [f"  {words.say(one)}" for one in said]
    below = [*comparison.said, notes(comparison.new)[0]]
    lines = [*map(words.say, _comparison_lines(comparison)), *shown, *map(words.say, below)]
    return "\n".join(map(on_one_line, lines))


def comparison_html(comparison: AuditComparison) -> str:
    """Return a comparison as a small table for a notebook."""
    headline, *others = map(str, _comparison_lines(comparison))
    rows, every = _changed_checks(comparison)
    title = f"{len(rows)} of {counted(every, 'check')} that changed; all in .by_check"
    headings = ["problem", "fixed", "newly failing"]
    cells = [(str(problem), *counts) for problem, *counts in rows]
    changed = [table(title, headings, cells, numbers=headings[1:])] if rows else []
    # Whatever limits the comparison is a warning; "->" is read aloud as a minus sign and a bracket.
    lines = [(line.replace("->", "→"), False) for line in others]
    return block(
        headline,
        [*lines, *((note, True) for note in comparison.notes)],
        changed,
        [str(notes(comparison.new)[0])],
    )


def _comparison_lines(comparison: AuditComparison) -> Iterator[Message]:
    old, new = comparison.old, comparison.new
    before, after = old.summary, new.summary
    moments = {"then_moment": f"{old.now:%Y-%m-%d %H:%M}", "moment": f"{new.now:%Y-%m-%d %H:%M}"}
    yield Message("{then_moment} to {moment} ({profile})", **moments, profile=new.profile)
    yield Message(
        "{earlier} -> {now}, score {moved}",
        earlier=readiness(before),
        now=readiness(after),
        moved=moved(before["score"], after["score"]),
    )
    counts = {
        name.replace(" ", "_"): int(comparison.by_check[name.replace(" ", "_")].sum()) for name in CHANGES
    }
    yield Message.of_number(
        "{fixed} fixed, {newly_failing} newly failing, {still_failing} still failing, {not_comparable} not comparable; "
        "{number} product added, {gone} gone",
        "{fixed} fixed, {newly_failing} newly failing, {still_failing} still failing, {not_comparable} not comparable; "
        "{number} products added, {gone} gone",
        len(comparison.added),
        gone=len(comparison.gone),
        **counts,
    )
    views = [one.as_found is not None for one in (old, new)]
    if all(views):
        yield Message("what is accepted passes in both")
    elif not any(views) and (before["accepted"] or after["accepted"]):
        yield Message(
            "accepted now: {earlier} failing before, {now} now; with them score {moved}",
            earlier=int(before["accepted"]),
            now=int(after["accepted"]),
            moved=moved(*(one.with_accepted().score for one in (old, new))),
        )
    yield from _completeness_moved(old, new)
    if len(comparison.law_changes):
        yield _law_changes(comparison)


def _law_changes(comparison: AuditComparison) -> Message:
    """Return how many checks a law has begun or ended for, and how the score moved without that."""
    first = comparison.law_changes.iloc[0]
    return Message.of_number(
        "{number} check whose law began or ended, {check} for one ({earlier}, now {now}); by the laws of the new audit "
        "score {moved}",
        "{number} checks whose law began or ended, {check} for one ({earlier}, now {now}); by the laws of the new "
        "audit score {moved}",
        len(comparison.law_changes),
        check=first["check"],
        earlier=_STANDINGS[first["was"]],
        now=_STANDINGS[first["is"]],
        moved=moved(*(one.score for one in comparison.by_one_law())),
    )


#: How a law stands on a day.
_STANDINGS = {
    ANNOUNCED: Message("announced"),
    IN_FORCE: Message("in force"),
    ENDED: Message("ended"),
}


def _completeness_moved(old: Audit, new: Audit) -> Iterator[Message]:
    """Yield for each channel that both audits know how the share of complete products moved."""
    if old.families is None or new.families is None:
        return
    tables = (one.completeness() for one in (old, new))
    before, after = (
        dict(zip(every["channel"], every["completeness"], strict=True))
        for every in (one[(one["language"] == EVERY_LANGUAGE) & (one.iloc[:, 1] == ALL)] for one in tables)
    )
    for channel in new.families.channels:
        if channel.label in before and channel.label in after:
            how = moved(before[channel.label], after[channel.label])
            yield Message("complete for {channel}: {moved}", channel=channel.said, moved=how)


def _changed_checks(comparison: AuditComparison) -> tuple[list[tuple[Any, ...]], int]:
    """Return problem, products fixed and newly failing of the first checks that changed, and how many changed."""
    columns = ["check", "fixed", "newly_failing"]
    changed = comparison.by_check[comparison.by_check[columns[1:]].sum(axis=1) > 0]
    problems = {check.id: check.problem for check in comparison.new.checks}
    first = changed[columns].head(_CHECKS).itertuples(index=False, name=None)
    return [(problems[check], *counts) for check, *counts in first], len(changed)
