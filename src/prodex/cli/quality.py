"""The commands that judge a catalogue; parsing and printing only."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import prodex
from prodex.cli.output import Format, FormatOption, OutOption, say, show
from prodex.display.audit import counted
from prodex.errors import QueryError, SnapshotNotFound
from prodex.quality.comparison import compare_audits, worsening
from prodex.quality.rulebook import SEVERITIES
from prodex.store.snapshot import name_of
from prodex.text import hint, hint_and_all

app = typer.Typer()
profiles = typer.Typer(
    help="The profiles of audits: which checks, and how bad each is.", rich_markup_mode=None
)


class AuditSection(StrEnum):
    """What an audit can show."""

    SUMMARY = "summary"
    GAPS = "gaps"
    SCORES = "scores"
    CHECKS = "checks"
    FAILURES = "failures"
    COVERAGE = "coverage"
    PRODUCTS = "products"
    CHANGES = "changes"


class Severity(StrEnum):
    """How bad a failure is, the worst first."""

    BLOCKER = "blocker"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@app.command(epilog="Example: prodex audit shop --profile online-listing --fail-under 0.8")
def audit(
    snapshot: Annotated[str, typer.Argument(help='"shop", or "shop@2026-11-13" for an earlier one.')],
    profile: Annotated[
        str, typer.Option(help="Name of a profile, or the path of your own (.toml).")
    ] = "core",
    market: Annotated[str, typer.Option(help="Market of products that say none, by number or name.")] = "",
    food: Annotated[
        bool | None,
        typer.Option(
            "--assume-food/--assume-no-food", help="What products are that nothing tells to be food or not."
        ),
    ] = None,
    what: Annotated[AuditSection, typer.Option("--show", help="What to show.")] = AuditSection.SUMMARY,
    by: Annotated[
        str,
        typer.Option(
            help="Scores and worklists by owner, brand, kind, market, language, tag or a column of products."
        ),
    ] = "",
    html: Annotated[Path | None, typer.Option(help="Write the report to this file, lists beside it.")] = None,
    worklists: Annotated[
        Path | None, typer.Option(help="Write one workbook for each owner (or --by) to this new folder.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of worklists that are in that folder.")
    ] = False,
    since: Annotated[
        str,
        typer.Option(
            help="Compare with this earlier snapshot, judged by the same profile, or with a saved audit."
        ),
    ] = "",
    pending: Annotated[
        bool, typer.Option("--pending", help="Judge updates that wait as if they were accepted.")
    ] = False,
    now: Annotated[
        str, typer.Option(help='What "older than" refers to, as 2026-11-20T08:00; else now.')
    ] = "",
    keep: Annotated[bool, typer.Option("--save", help="Keep the audit beside the snapshot.")] = False,
    fail_under: Annotated[
        float, typer.Option(min=0, max=1, help="Exit code 1 when the score is below this share.")
    ] = 0.0,
    fail_on: Annotated[
        Severity | None, typer.Option(help="Exit code 1 when anything of this severity, or worse, fails.")
    ] = None,
    fail_if_worse: Annotated[
        bool,
        typer.Option(
            "--fail-if-worse",
            help="Exit code 1 when it is worse than the last saved audit by this profile, or nobody can say.",
        ),
    ] = False,
    than: Annotated[
        str,
        typer.Option(
            help="With --fail-if-worse, compare with this saved audit, or earlier snapshot, instead of the last."
        ),
    ] = "",
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Judge every product of a snapshot by the checks of a profile.

    The score that --fail-under looks at is that of the summary: weight of checks passed / weight of checks passed or
    failed, over all products. Worse, for --fail-if-worse, is a lower score, or a larger share of products that are not
    ready. Audits that are not the same measure, or know less than before, and a missing one to compare with, fail as
    well, with the reason. Everything is written before the exit code says so: 0 is good, 1 is not, or did not work, 2
    was not understood.
    """
    if than and not fail_if_worse:
        raise QueryError("--than says what --fail-if-worse compares with; give both.")
    if what is AuditSection.CHANGES and not since:
        raise QueryError("--show changes needs to know since when: --since shop@2026-11-13.")
    chosen = prodex.Profile.read(profile)
    if market:
        chosen = chosen.with_market(market)
    if food is not None:
        chosen = chosen.with_assumption(food=food)
    moment = _moment(now)
    judged = _judged(snapshot, chosen, moment, pending)
    earlier = _earlier(since, chosen, moment, pending) if since else None
    # Before this audit is kept: it is not compared with itself.
    last = _last(snapshot, than, chosen, moment, pending) if fail_if_worse else None
    if keep:
        judged = judged.save(snapshot.partition("@")[0] if pending else None)
        say(f"The audit is in {judged.folder}.", aside=True)
    if html is not None:
        page = judged.to_html(html, trend=[] if earlier is None else [earlier])
        say(f"The report is {page}.", aside=True)
    if worklists is not None:
        index = judged.worklists(worklists, by or "owner", replace=replace)
        told = f"{len(index):,} worklists with {index['findings'].sum():,} findings are in {worklists}."
        say(told, aside=True)
    if what is AuditSection.SUMMARY and not by and format is Format.TABLE and out is None:
        say(repr(judged))
        if earlier is not None:
            say(f"\n{compare_audits(earlier, judged)!r}")
    else:
        is_scores = what is AuditSection.SUMMARY and by
        _show(_shown(judged, earlier, AuditSection.SCORES if is_scores else what, by), format, out)
    is_bad = [_is_low(judged, fail_under), _is_grave(judged, fail_on)]
    if fail_if_worse:
        is_bad.append(_is_worse(last, judged, snapshot, chosen))
    if any(is_bad):
        raise typer.Exit(1)


def _judged(snapshot: str, profile: prodex.Profile, moment: datetime | None, pending: bool) -> prodex.Audit:
    catalog = prodex.open_snapshot(snapshot)
    return prodex.audit(prodex.with_pending_updates(catalog) if pending else catalog, profile, now=moment)


def _earlier(since: str, profile: prodex.Profile, moment: datetime | None, pending: bool) -> prodex.Audit:
    """Judge an earlier snapshot as today's is, so that they compare; where only its audit was kept, open that."""
    if Path(since).parent.name == "audits":  # the folder that a saved audit told
        return prodex.open_audit(since)
    try:
        return _judged(since, profile, moment, pending)
    except SnapshotNotFound as error:
        try:
            return prodex.open_audit(since, profile.name)
        except SnapshotNotFound:
            raise error from None


def _last(
    snapshot: str, than: str, profile: prodex.Profile, moment: datetime | None, pending: bool
) -> prodex.Audit | None:
    """Return the audit to compare with: the one that is named, else the last saved; None where there is none."""
    if than:
        return _earlier(than, profile, moment, pending)
    name = name_of(prodex.open_snapshot(snapshot), "audit --fail-if-worse")
    try:
        return prodex.open_audit(name, profile.name)
    except SnapshotNotFound:
        return None


def _is_worse(
    last: prodex.Audit | None, judged: prodex.Audit, snapshot: str, profile: prodex.Profile
) -> bool:
    if last is None:
        say(
            f"There is no saved audit of {snapshot.partition('@')[0]!r} by the profile {profile.name} to compare with. "
            "--save keeps this one, if it is not kept already.",
            aside=True,
        )
        return True
    found = worsening(compare_audits(last, judged))
    if found.is_worse is False:
        return False
    before = f"the audit of {last.audited_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    told = (
        f"It is worse than {before}"
        if found.is_worse
        else f"Nobody can say whether this audit is worse than {before}"
    )
    say(" ".join([f"{told} {before}: {found.figures}.", *found.why]), aside=True)
    return True


def _is_low(judged: prodex.Audit, fail_under: float) -> bool:
    score = judged.score
    is_low = bool(fail_under) and not score >= fail_under
    if is_low:
        told = "there is none, since nothing applies" if pd.isna(score) else f"it is {score:.3f}"
        say(f"The score is not {fail_under:g} or more: {told}.", aside=True)
    return is_low


def _is_grave(judged: prodex.Audit, fail_on: Severity | None) -> bool:
    if fail_on is None:
        return False
    worse = list(SEVERITIES)[: list(SEVERITIES).index(fail_on) + 1]
    checks = judged.by_check
    grave = int(checks.loc[checks["severity"].isin(worse), "failed"].sum())
    if grave:
        say(f"{counted(grave, 'failing check')} of severity {' or '.join(worse)}.", aside=True)
    return bool(grave)


@app.command(epilog="Example: prodex rules valid_gtin")
def rules(
    rule: Annotated[str, typer.Argument(help="Show all that is known of this rule.")] = "",
    block: Annotated[
        str, typer.Option(help="Only identity, texts, food, pictures, hierarchies or freshness.")
    ] = "",
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """List the rules: what should be true, how bad it is if not, and the parameters of each.

    A rule is a sentence that should be true of a product; a check is a rule with its parameters, which is one column of
    an audit.
    """
    listed = prodex.rules()
    if block:
        listed = listed[listed["block"] == block]
        if listed.empty:
            there = list(prodex.rules()["block"].unique())
            near = hint_and_all(block, there, f"There are {', '.join(there)}.")
            raise QueryError(f"There are no rules under {block!r}{near}")
    if rule:
        listed = _one(listed, rule)
        if format is Format.TABLE:
            facts = listed.iloc[0].astype(str)
            show(pd.DataFrame({"rule": facts.index[1:], rule: facts.to_numpy()[1:]}), format, out)
            return
    columns = ["rule", "block", "severity", "title", "parameters"]
    show(listed[columns] if format is Format.TABLE else listed, format, out)


def _one(listed: pd.DataFrame, rule: str) -> pd.DataFrame:
    found = listed[listed["rule"] == rule]
    if found.empty:
        raise QueryError(
            f"There is no rule {rule!r}{hint(rule, listed['rule'], '`prodex rules` lists them.')}"
        )
    return found


@profiles.callback(invoke_without_command=True)
def list_profiles(context: typer.Context) -> None:
    """List the profiles that come with prodex."""
    if context.invoked_subcommand is None:
        show(prodex.profiles(), Format.TABLE, None)


@profiles.command("show", epilog="Example: prodex profiles show food-eu")
def show_profile(
    name: Annotated[str, typer.Argument(help="Name of a profile, or the path of your own (.toml).")],
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Show the checks of a profile: severity, weight, and for which products."""
    table = prodex.Profile.read(name).table
    show(table.drop(columns="fix") if format is Format.TABLE else table, format, out)


app.add_typer(profiles, name="profiles")


def _show(frame: pd.DataFrame, format: Format, out: Path | None) -> None:
    """Show figures; whoever reads them in a table needs three digits of a share."""
    show(frame.round(3) if format is Format.TABLE else frame, format, out)


def _shown(judged: prodex.Audit, earlier: prodex.Audit | None, what: AuditSection, by: str) -> pd.DataFrame:
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


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError as error:
        raise QueryError(f"--now {text!r} is no date-time. Write it as 2026-11-20T08:00.") from error
