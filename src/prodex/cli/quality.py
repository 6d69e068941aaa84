"""The commands that audit a catalogue; parsing and printing only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import prodex
from prodex.cli.options import OutputOptions, time_of, with_groups
from prodex.cli.output import Format, say
from prodex.errors import QueryError, SnapshotNotFound
from prodex.messages import counted, hint, hint_and_all
from prodex.quality.comparison import compare_audits, worsening
from prodex.quality.rulebook import SEVERITIES
from prodex.store.snapshot import name_of

app: typer.Typer = typer.Typer()
profiles: typer.Typer = typer.Typer(
    help="The profiles of audits: which checks, and how bad each is.", rich_markup_mode=None
)


class AuditSection(StrEnum):
    """The sections of an audit that can be shown."""

    SUMMARY = "summary"
    GAPS = "gaps"
    SCORES = "scores"
    CHECKS = "checks"
    FAILURES = "failures"
    COVERAGE = "coverage"
    PRODUCTS = "products"
    CHANGES = "changes"


class Severity(StrEnum):
    """How bad a failure is, the worst first; the values are those of `SEVERITIES`."""

    BLOCKER = "blocker"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@app.command(epilog="Example: prodex audit shop --profile online-listing --fail-under 0.8")
@with_groups
def audit(
    snapshot: Annotated[str, typer.Argument(help='"shop", or "shop@2026-11-13" for an earlier one.')],
    output: OutputOptions,
    profile: Annotated[
        str, typer.Option(help="Name of a profile, or the path of your own (.toml).")
    ] = "core",
    market: Annotated[str, typer.Option(help="Market of products without a market, by number or name.")] = "",
    food: Annotated[
        bool | None,
        typer.Option(
            "--assume-food/--assume-no-food", help="Whether products without a known kind are food."
        ),
    ] = None,
    what: Annotated[AuditSection, typer.Option("--show", help="Section to show.")] = AuditSection.SUMMARY,
    by: Annotated[
        str,
        typer.Option(
            help="Group scores and worklists by owner, brand, kind, market, language, tag or a column of products."
        ),
    ] = "",
    html: Annotated[
        Path | None, typer.Option(help="Write the report to this file, and its lists beside it.")
    ] = None,
    worklists: Annotated[
        Path | None, typer.Option(help="Write one workbook per owner (or --by) to this new folder.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace worklists that are in that folder.")
    ] = False,
    since: Annotated[
        str,
        typer.Option(
            help="Compare with this earlier snapshot, audited by the same profile, or with a saved audit."
        ),
    ] = "",
    pending: Annotated[
        bool, typer.Option("--pending", help="Include pending updates as if they were accepted.")
    ] = False,
    now: Annotated[
        str, typer.Option(help="Time from which ages are counted, as 2026-11-20T08:00; by default now.")
    ] = "",
    keep: Annotated[bool, typer.Option("--save", help="Save the audit beside the snapshot.")] = False,
    fail_under: Annotated[
        float, typer.Option(min=0, max=1, help="Exit code 1 if the score is below this share.")
    ] = 0.0,
    fail_on: Annotated[
        Severity | None, typer.Option(help="Exit code 1 if a check of this severity, or worse, fails.")
    ] = None,
    fail_if_worse: Annotated[
        bool,
        typer.Option(
            "--fail-if-worse",
            help="Exit code 1 if it is worse than the last saved audit by this profile, or if that is not known.",
        ),
    ] = False,
    than: Annotated[
        str,
        typer.Option(
            help="With --fail-if-worse: compare with this saved audit or earlier snapshot instead of the last audit."
        ),
    ] = "",
) -> None:
    """Audit a snapshot by the checks of a profile.

    --fail-under compares the score of the summary: weight of passed checks / weight of passed and failed checks, over
    all products. For --fail-if-worse, an audit is worse if its score is lower or its share of products that are not
    ready is larger. It also fails, with the reason, if there is no audit to compare with, if the audits are not
    comparable, or if this one knows less. Everything is written before the command exits: 0 is success, 1 is failure, 2
    is a command that was not understood.
    """
    if than and not fail_if_worse:
        raise QueryError("--than is the audit that --fail-if-worse compares with; give both.")
    if what is AuditSection.CHANGES and not since:
        raise QueryError("--show changes needs an earlier snapshot: --since shop@2026-11-13.")
    chosen = prodex.Profile.read(profile)
    if market:
        chosen = chosen.with_market(market)
    if food is not None:
        chosen = chosen.with_assumption(food=food)
    judge = partial(_audit_snapshot, profile=chosen, moment=time_of("now", now), pending=pending)
    judged = judge(snapshot)
    earlier = _earlier(since, chosen.name, judge) if since else None
    # Read before this audit is saved, or it would be compared with itself.
    last = _last(snapshot, than, chosen.name, judge) if fail_if_worse else None
    if keep:
        # A catalogue with pending updates is no snapshot any more, so its audit does not know the name.
        judged = judged.save(snapshot.partition("@")[0] if pending else None)
        say(f"The audit is in {judged.folder}.", aside=True)
    if html is not None:
        page = judged.to_html(html, trend=[] if earlier is None else [earlier])
        say(f"The report is {page}.", aside=True)
    if worklists is not None:
        index = judged.worklists(worklists, by or "owner", replace=replace)
        summary = (
            f"{counted(len(index), 'worklist')} with {counted(int(index['findings'].sum()), 'finding')} written to "
            f"{worklists}."
        )
        say(summary, aside=True)
    if what is AuditSection.SUMMARY and not by and output.format is Format.TABLE and output.out is None:
        say(repr(judged))
        if earlier is not None:
            say(f"\n{compare_audits(earlier, judged)!r}")
    else:
        is_scores = what is AuditSection.SUMMARY and by
        frame = _audit_section(judged, earlier, AuditSection.SCORES if is_scores else what, by)
        # In a table, three digits of a share are enough.
        output.show(frame.round(3) if output.format is Format.TABLE else frame)
    is_bad = [_is_low(judged, fail_under), _has_failures(judged, fail_on)]
    if fail_if_worse:
        is_bad.append(_is_worse(last, judged, snapshot))
    if any(is_bad):
        raise typer.Exit(1)


#: Audits a snapshot in the same way as the first one.
_Judge = Callable[[str], prodex.Audit]


def _audit_snapshot(
    snapshot: str, profile: prodex.Profile, moment: datetime | None, pending: bool
) -> prodex.Audit:
    catalog = prodex.open_snapshot(snapshot)
    return prodex.audit(prodex.with_pending_updates(catalog) if pending else catalog, profile, now=moment)


def _earlier(since: str, profile: str, judge: _Judge) -> prodex.Audit:
    """Audit an earlier snapshot in the same way; if it was removed, open its saved audit."""
    if Path(since).parent.name == "audits":  # the folder of a saved audit
        return prodex.open_audit(since)
    try:
        return judge(since)
    except SnapshotNotFound as error:
        try:
            return prodex.open_audit(since, profile)
        except SnapshotNotFound:
            raise error from None


def _last(snapshot: str, than: str, profile: str, judge: _Judge) -> prodex.Audit | None:
    """Return the audit to compare with: the given one, else the last saved one; None if there is none."""
    if than:
        return _earlier(than, profile, judge)
    name = name_of(prodex.open_snapshot(snapshot), "audit --fail-if-worse")
    try:
        return prodex.open_audit(name, profile)
    except SnapshotNotFound:
        return None


def _is_worse(last: prodex.Audit | None, judged: prodex.Audit, snapshot: str) -> bool:
    if last is None:
        say(
            f"There is no saved audit of {snapshot.partition('@')[0]!r} by the profile {judged.profile} to compare "
            "with. --save saves this one, unless it is saved already.",
            aside=True,
        )
        return True
    found = worsening(compare_audits(last, judged))
    if found.is_worse is False:
        return False
    before = f"the audit of {last.audited_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    verdict = "It is worse than" if found.is_worse else "It is not known whether this audit is worse than"
    say(" ".join([f"{verdict} {before}: {found.figures}.", *found.why]), aside=True)
    return True


def _is_low(judged: prodex.Audit, fail_under: float) -> bool:
    score = judged.score
    # Not `<`: a score that does not exist (NaN) is not enough either.
    is_low = bool(fail_under) and not score >= fail_under
    if is_low:
        actual = "there is none, since no check applies" if pd.isna(score) else f"it is {score:.3f}"
        say(f"The score is not {fail_under:g} or more: {actual}.", aside=True)
    return is_low


def _has_failures(judged: prodex.Audit, fail_on: Severity | None) -> bool:
    if fail_on is None:
        return False
    worse = list(SEVERITIES)[: list(SEVERITIES).index(fail_on) + 1]
    checks = judged.by_check
    failures = int(checks.loc[checks["severity"].isin(worse), "failed"].sum())
    if failures:
        say(f"{counted(failures, 'failing check')} of severity {' or '.join(worse)}.", aside=True)
    return bool(failures)


@app.command(epilog="Example: prodex rules valid_gtin")
@with_groups
def rules(
    output: OutputOptions,
    rule: Annotated[str, typer.Argument(help="Show all facts of this rule.")] = "",
    block: Annotated[
        str,
        typer.Option(
            help="Only rules of this block: identity, texts, food, pictures, hierarchies or freshness."
        ),
    ] = "",
) -> None:
    """List the rules of audits, or show one.

    A rule is a sentence that should be true of a product; a check is a rule with parameters, and a column of an audit.
    """
    listed = prodex.rules()
    if block:
        listed = listed[listed["block"] == block]
        if listed.empty:
            there = list(prodex.rules()["block"].unique())
            near = hint_and_all(block, there, f"Give one of {', '.join(there)}.")
            raise QueryError(f"There are no rules under {block!r}{near}")
    if rule:
        listed = listed[listed["rule"] == rule]
        if listed.empty:
            near = hint(rule, prodex.rules()["rule"], "`prodex rules` lists them.")
            raise QueryError(f"There is no rule {rule!r}{near}")
        if output.format is Format.TABLE:
            facts = listed.iloc[0].astype(str)
            output.show(pd.DataFrame({"rule": facts.index[1:], rule: facts.to_numpy()[1:]}))
            return
    columns = ["rule", "block", "severity", "title", "parameters"]
    output.show(listed[columns] if output.format is Format.TABLE else listed)


@profiles.callback(invoke_without_command=True)
def list_profiles(context: typer.Context) -> None:
    """List the profiles that come with prodex."""
    if context.invoked_subcommand is None:
        OutputOptions().show(prodex.profiles())


@profiles.command("show", epilog="Example: prodex profiles show food-eu")
@with_groups
def show_profile(
    output: OutputOptions,
    name: Annotated[str, typer.Argument(help="Name of a profile, or the path of your own (.toml).")],
) -> None:
    """Show the checks of a profile.

    Each check has its severity, its weight, and the products that it applies to.
    """
    table = prodex.Profile.read(name).table
    output.show(table.drop(columns="fix") if output.format is Format.TABLE else table)


app.add_typer(profiles, name="profiles")


@app.command(epilog='Example: prodex requirements shop requirements.xlsx --channel "Web shop:France"')
def requirements(
    snapshot: Annotated[str, typer.Argument(help='"shop", or "shop@2026-11-13" for an earlier one.')],
    file: Annotated[Path, typer.Argument(help="The workbook to write (.xlsx).")],
    by: Annotated[
        str, typer.Option(help="Tell families by kind, gpc or a column of products; by default kind.")
    ] = "",
    channel: Annotated[
        list[str] | None,
        typer.Option(
            help='Channel and market of a sheet, "Web shop:France"; repeat it for more. By default the markets.'
        ),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(help="Language of texts; repeat it for more. By default those of each market."),
    ] = None,
    families: Annotated[int, typer.Option(min=0, help="So many of the largest families have a column.")] = 40,
    start: Annotated[
        str,
        typer.Option(
            help="Requirements (.xlsx, .csv, .toml), or a profile, whose answers are in the cells already."
        ),
    ] = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Write a workbook that is there anew; its answers are kept.")
    ] = False,
) -> None:
    """Write a workbook in which you say what each channel asks.

    Rows are attributes, columns families of products, and each cell shows which share of them has it today. Type must,
    should, may or not over the shares, and judge by the file: prodex audit shop --profile requirements.xlsx.
    """
    written = prodex.requirements(
        file,
        prodex.open_snapshot(snapshot),
        by=by or None,
        channels=channel or None,
        languages=language or None,
        families=families,
        start=start or None,
        replace=replace,
    )
    kept = prodex.Requirements.read(written)
    say(
        f"{written} has {counted(len(kept.channels), 'sheet')} of {len(kept.families):,} families and "
        f"{counted(len(kept.requirements), 'answer')}. Its first sheet says how to fill it in.",
        aside=True,
    )


def _audit_section(
    judged: prodex.Audit, earlier: prodex.Audit | None, what: AuditSection, by: str
) -> pd.DataFrame:
    match what:
        case AuditSection.CHANGES if earlier is not None:
            return compare_audits(earlier, judged).changes()
        case AuditSection.SCORES:
            return judged.scores(by or "owner")
        case AuditSection.GAPS:
            return judged.gaps()
        case AuditSection.CHECKS:
            return judged.by_check
        case AuditSection.FAILURES:
            return judged.failures()
        case AuditSection.COVERAGE:
            return judged.coverage(by or "language")
        case AuditSection.PRODUCTS:
            return judged.products
    return judged.summary.to_frame().T.infer_objects()
