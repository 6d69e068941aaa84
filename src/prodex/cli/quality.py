"""The commands that audit a catalogue; parsing and printing only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import pandas as pd
import typer

import prodex
from prodex.cli.options import (
    By,
    OutputOptions,
    ProfileName,
    Replace,
    Snapshot,
    SnapshotName,
    Until,
    User,
    WordsLanguage,
    command,
    moment_of,
)
from prodex.cli.output import Format, say
from prodex.cli.typed_numbers import count, share
from prodex.errors import QueryError, SnapshotNotFound
from prodex.phrases import counted, hint, hint_and_all, percent

if TYPE_CHECKING:
    from prodex.languages import Translation

app: typer.Typer = typer.Typer()
profiles: typer.Typer = typer.Typer(
    help="The profiles of audits: which checks, and how bad each is.", rich_markup_mode=None
)


class Units(StrEnum):
    """Which units are counted."""

    CONSUMER = "consumer"
    ALL = "all"


class AuditSection(StrEnum):
    """The sections of an audit that can be shown."""

    SUMMARY = "summary"
    GAPS = "gaps"
    SCORES = "scores"
    CHECKS = "checks"
    FAILURES = "failures"
    DOUBTS = "doubts"
    COVERAGE = "coverage"
    COMPLETENESS = "completeness"
    PRODUCTS = "products"
    CHANGES = "changes"


class Severity(StrEnum):
    """How bad a failure is, the worst first; the values are those of `SEVERITIES`."""

    BLOCKER = "blocker"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@command(app, example="prodex audit shop --profile online-listing --fail-under 0.8")
def audit(
    snapshot: Snapshot,
    output: OutputOptions,
    profile: Annotated[
        str, typer.Option(help="Name of a profile, or the path of your own (.toml), or of requirements.")
    ] = "core",
    requirements: Annotated[
        Path | None,
        typer.Option(
            help="Judge by these requirements as well (.xlsx, .csv, .toml): what channels ask of families."
        ),
    ] = None,
    market: Annotated[str, typer.Option(help="Market of products without a market, by number or name.")] = "",
    food: Annotated[
        bool | None,
        typer.Option(
            "--assume-food/--assume-no-food", help="Whether products without a known kind are food."
        ),
    ] = None,
    what: Annotated[AuditSection, typer.Option("--show", help="Section to show.")] = AuditSection.SUMMARY,
    by: By = "",
    units: Annotated[
        Units, typer.Option(help="With --show coverage: which units count, consumer units or all.")
    ] = Units.CONSUMER,
    html: Annotated[
        Path | None, typer.Option(help="Write the report to this file, and its lists beside it.")
    ] = None,
    worklists: Annotated[
        Path | None, typer.Option(help="Write one workbook per owner (or --by) to this new folder.")
    ] = None,
    replace: Replace = False,
    language: WordsLanguage = "en",
    languages: Annotated[
        Path | None,
        typer.Option(
            help="Languages of single owners' worklists: a TOML file of owner = language, such as ACME = 'de'."
        ),
    ] = None,
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
    as_of: Annotated[
        str, typer.Option(help="Day whose laws are meant, as 2026-08-12; by default that of --now.")
    ] = "",
    keep: Annotated[bool, typer.Option("--save", help="Save the audit beside the snapshot.")] = False,
    fail_under: Annotated[
        float, typer.Option(parser=share, help="Exit code 1 if the score is below this share.")
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
    new_only: Annotated[
        bool,
        typer.Option(
            "--new-only", help="With --fail-on and --fail-under: only what nobody has accepted counts."
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
    all products. With --new-only, findings that were accepted (`prodex accept`) count as passed. For --fail-if-worse,
    an audit is worse if its score is lower or its share of products that are not ready is larger. It also fails, with
    the reason, if there is no audit to compare with, if the audits are not comparable, or if this one knows less.
    Everything is written before the command exits: 0 is success, 1 is failure, 2 is a command that was not understood.
    """
    from prodex.display.audit import comparison_text, text_of
    from prodex.languages import Message, Translation
    from prodex.quality.comparison import compare_audits
    from prodex.worklists.folder import chosen_words

    _refuse_alone(than, fail_if_worse, new_only, fail_under, fail_on)
    if what is AuditSection.CHANGES and not since:
        raise QueryError("--show changes needs an earlier snapshot: --since shop@2026-11-13.")
    _refuse_units(units, what)
    words = Translation.of(language)  # before anything is judged
    of_owners = _languages_of_owners(languages, worklists)
    chosen = prodex.Profile.read(profile)
    if requirements is not None:
        chosen = chosen.with_requirements(requirements)
    if market:
        chosen = chosen.with_market(market)
    if food is not None:
        chosen = chosen.with_assumption(food=food)
    judge = partial(
        _audit_snapshot, profile=chosen, moment=moment_of("now", now), pending=pending, day=as_of or None
    )
    judged = judge(snapshot)
    chosen_words(judged, by or "owner", language, of_owners)  # before anything is written
    earlier = _earlier(since, chosen.name, judge) if since else None
    # Read before this audit is saved, or it would be compared with itself.
    last = _last(snapshot, than, chosen.name, judge) if fail_if_worse else None
    if keep:
        # A catalogue with pending updates is no snapshot any more, so its audit does not know the name.
        judged = judged.save(snapshot.partition("@")[0] if pending else None)
        say(words.gettext("The audit is in {folder}.", folder=judged.folder), aside=True)
    if html is not None:
        page = judged.to_html(html, trend=[] if earlier is None else [earlier], language=language)
        say(words.gettext("The report is {file}.", file=page), aside=True)
    if worklists is not None:
        index = judged.worklists(
            worklists, by or "owner", replace=replace, language=language, languages=of_owners
        )
        written = Message(
            "{worklists} with {findings} written to {folder}.",
            worklists=Message.of_number("{number} worklist", "{number} worklists", len(index)),
            findings=Message.of_number("{number} finding", "{number} findings", int(index["findings"].sum())),
            folder=str(worklists),
        )
        say(words.say(written), aside=True)
    if what is AuditSection.SUMMARY and not by and output.format is Format.TABLE and output.out is None:
        say(text_of(judged, words))
        if earlier is not None:
            say(f"\n{comparison_text(compare_audits(earlier, judged), words)}")
    else:
        is_scores = what is AuditSection.SUMMARY and by
        frame = _audit_section(
            judged, earlier, AuditSection.SCORES if is_scores else what, by, units, language
        )
        # In a table, three digits of a share are enough.
        # Of moments, such as `first_seen`, there is nothing to round, and pandas warns.
        figures = dict.fromkeys(frame.select_dtypes("number").columns, 3)
        output.show(frame.round(figures) if output.format is Format.TABLE else frame)
    is_bad = [_is_broken(judged, fail_under, fail_on, new_only, words)]
    if fail_if_worse:
        is_bad.append(_is_worse(last, judged, snapshot, words))
    if any(is_bad):
        raise typer.Exit(1)


def _refuse_alone(
    than: str, fail_if_worse: bool, new_only: bool, fail_under: float, fail_on: Severity | None
) -> None:
    """Refuse options that mean nothing without another one."""
    if than and not fail_if_worse:
        raise QueryError("--than is the audit that --fail-if-worse compares with; give both.")
    if new_only and not fail_under and fail_on is None:
        raise QueryError("--new-only says what --fail-on and --fail-under judge; give one of them.")


def _refuse_units(units: Units, what: AuditSection) -> None:
    """Refuse units where nothing is counted by them."""
    if units is not Units.CONSUMER and what is not AuditSection.COVERAGE:
        raise QueryError(
            "--units says what --show coverage counts. Requirements say themselves which units each channel means."
        )


def _languages_of_owners(file: Path | None, worklists: Path | None) -> dict[str, str]:
    """Read in which language the worklists of single owners are written: a table of owner = language."""
    if file is None:
        return {}
    if worklists is None:
        raise QueryError("--languages is about worklists: give their folder as well, --worklists to_fix.")
    from prodex.files.toml_text import TomlFile
    from prodex.languages import Translation

    read = TomlFile.read(file, f"The languages in {file}")
    found = {}
    for owner, language in read.values.items():
        with read.text.named((owner,)):
            found[owner] = Translation.of(language).language
    return found


def _is_broken(
    judged: prodex.quality.Audit,
    fail_under: float,
    fail_on: Severity | None,
    new_only: bool,
    words: Translation,
) -> bool:
    """Say which limits the audit breaks."""
    from prodex.quality.limits import grave_failures, low_score

    broken = [low_score(judged, fail_under, new_only=new_only)]
    if fail_on is not None:
        broken.append(grave_failures(judged, fail_on, new_only=new_only))
    for said in filter(None, broken):
        say(words.say(said), aside=True)
    return any(broken)


#: Audits a snapshot in the same way as the first one.
_Judge: TypeAlias = "Callable[[str], prodex.quality.Audit]"


def _audit_snapshot(
    snapshot: str, profile: prodex.Profile, moment: datetime | None, pending: bool, day: str | None
) -> prodex.quality.Audit:
    catalog = prodex.open_snapshot(snapshot)
    if not pending:
        return prodex.audit(catalog, profile, now=moment, as_of=day)
    # A catalogue with pending updates is no snapshot any more, and what is accepted is that of its name still.
    from prodex.quality.accepted import file_beside

    beside = file_beside(catalog.folder)
    accepted = beside if beside is not None and beside.exists() else None
    return prodex.audit(catalog.with_pending_updates(), profile, now=moment, accepted=accepted, as_of=day)


def _earlier(since: str, profile: str, judge: _Judge) -> prodex.quality.Audit:
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


def _last(snapshot: str, than: str, profile: str, judge: _Judge) -> prodex.quality.Audit | None:
    """Return the audit to compare with: the given one, else the last one that was saved here; None if there is none."""
    if than:
        return _earlier(than, profile, judge)
    from prodex.quality.archive import last_own_audit
    from prodex.store.snapshot import name_of

    # One that came along with a copied folder would decide whether this one is worse.
    return last_own_audit(name_of(prodex.open_snapshot(snapshot), "audit --fail-if-worse"), profile)


def _is_worse(
    last: prodex.quality.Audit | None, judged: prodex.quality.Audit, snapshot: str, words: Translation
) -> bool:
    from prodex.languages import Message
    from prodex.quality.comparison import compare_audits, worsening

    if last is None:
        none = Message(
            "There is no saved audit of {name} by the profile {profile} to compare with that was made here. --save "
            "saves this one, unless it is saved already.",
            name=repr(snapshot.partition("@")[0]),
            profile=judged.profile,
        )
        say(words.say(none), aside=True)
        return True

    found = worsening(compare_audits(last, judged))
    if found.is_worse is False:
        return False
    values = {"moment": f"{last.audited_at.astimezone(UTC):%Y-%m-%d %H:%M}", "figures": found.figures}
    verdict = Message("It is worse than the audit of {moment} UTC: {figures}.", **values)
    if not found.is_worse:
        verdict = Message(
            "It is not known whether this audit is worse than the audit of {moment} UTC: {figures}.", **values
        )
    say(" ".join(map(words.say, (verdict, *found.why))), aside=True)
    return True


@command(app, example='prodex accept shop --check valid_gtin --reason "printed so on the pack"')
def accept(
    name: SnapshotName,
    reason: Annotated[str, typer.Option(help="Why the findings are accepted.")],
    check: Annotated[
        list[str] | None,
        typer.Option(help="Only findings of this check or rule (repeat)."),
    ] = None,
    product: Annotated[
        list[str] | None,
        typer.Option(help="Only of this product, by its id or GTIN (repeat)."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All findings of today that are not accepted yet: a baseline.")
    ] = False,
    until: Until = "",
    user: User = "",
    profile: Annotated[
        str, typer.Option(help="Audit the newest snapshot by this profile instead of opening the last audit.")
    ] = "",
) -> None:
    """Accept findings until what they are about changes.

    They fail still, and are marked: scores are shown with and without them, worklists leave them out, and audit
    --new-only does not count them. They are those of the last saved audit, or of one that is made now.
    """
    judged, chosen = _chosen_findings(name, profile, check, product, everything)
    made = prodex.accept(
        judged, None if everything else chosen, reason=reason, by=user or None, until=until or None
    )
    _say_accepted(made)


@command(app, example="prodex withdraw shop --product 03036811359936")
def withdraw(
    name: SnapshotName,
    check: Annotated[
        list[str] | None,
        typer.Option(help="Only findings of this check or rule (repeat)."),
    ] = None,
    product: Annotated[
        list[str] | None,
        typer.Option(help="Only of this product, by its id or GTIN (repeat)."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All findings that are accepted.")] = False,
    reason: Annotated[str, typer.Option(help="Why, if there is something to say.")] = "",
    user: User = "",
    profile: Annotated[
        str, typer.Option(help="Audit the newest snapshot by this profile instead of opening the last audit.")
    ] = "",
) -> None:
    """Take back that findings are accepted."""
    judged, chosen = _chosen_findings(name, profile, check, product, everything)
    made = prodex.withdraw(judged, None if everything else chosen, reason=reason, by=user or None)
    _say_accepted(made)


@command(app, example="prodex accepted shop --format csv --out accepted.csv")
def accepted(
    snapshot: Annotated[
        str,
        typer.Argument(metavar="NAME", help='Name of the snapshots, such as "shop", or a file (.jsonl).'),
    ],
    output: OutputOptions,
) -> None:
    """List what was accepted, by whom and why.

    Each line of the file is a row with its state: in force, superseded, value changed, date passed, withdrawn, not in
    the newest audit, or what cannot be read, with the reason.
    """
    table = prodex.accepted(snapshot)
    few = ["line", "product_id", "check", "value", "reason", "by", "until", "state", "note"]
    output.show(table[few] if output.format is Format.TABLE else table)


def _chosen_findings(
    snapshot: str, profile: str, check: list[str] | None, product: list[str] | None, everything: bool
) -> tuple[prodex.quality.Audit, pd.DataFrame]:
    """Return an audit and the findings of it that are meant."""
    if everything == bool(check or product):
        raise QueryError("Say which findings: --check, --product or both, or --all for all of them.")
    if profile:
        judged = prodex.audit(snapshot, profile)
    else:
        try:
            judged = prodex.open_audit(snapshot)
        except SnapshotNotFound:
            judged = prodex.audit(snapshot, "core")
    wanted: dict[str, Any] = {}
    if check:
        # The id of a check names one, and that of its rule all with other parameters.
        wanted["check" if set(check) <= {one.id for one in judged.checks} else "rule"] = check
    if product:
        ids = set(judged.identity["product_id"].to_pylist())
        wanted["product_id"] = [
            each
            for one in product
            for each in ([one] if one in ids else judged.failures(gtin=one)["product_id"])
        ]
    found = judged.failures(**wanted)
    if not everything and found.empty:
        raise QueryError(
            "No finding of the audit is meant by that. `prodex audit --show failures` lists them."
        )
    return judged, found


def _say_accepted(made: prodex.quality.Audit) -> None:
    from prodex.display.audit import written_text

    file = made.accepted_findings
    every = len(made.failures(accepted=True))
    if file is not None:
        words = str(written_text(file.written)) if file.written is not None else ""
        say(
            f"{words[:1].upper()}{words[1:]}; {every:,} accepted in all; score {percent(made.score)}, "
            f"{percent(made.with_accepted().score)} with them."
        )
        say(f"The file is {file.path}.", aside=True)


@command(app, example="prodex laws")
def laws(
    output: OutputOptions,
    fields: Annotated[
        bool, typer.Option("--fields", help="List the fields that a profile can declare for them instead.")
    ] = False,
) -> None:
    """List the laws behind the rules, and their days.

    A law that has not begun makes warnings; fields that the specification does not have are declared in a profile.
    --fields lists what the specification has no attribute for, and where other catalogues were seen to have it.
    """
    if fields:
        output.show(prodex.quality.law_fields())
        return
    listed = prodex.laws()
    # Sentences and addresses would make each line of a table several screens wide.
    output.show(
        listed[["law", "rule", "in_force", "until", "declare"]] if output.format is Format.TABLE else listed
    )
    if output.format is Format.TABLE and output.out is None:
        say(
            "--format csv has what a rule cannot see as well; --fields lists what a profile can declare.",
            aside=True,
        )


@command(app, example="prodex rules valid_gtin")
def rules(
    output: OutputOptions,
    rule: Annotated[str, typer.Argument(metavar="[RULE]", help="Show all facts of this rule.")] = "",
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


@command(profiles, example="prodex profiles show food-eu", name="show")
def show_profile(
    output: OutputOptions,
    profile: ProfileName,
) -> None:
    """Show the checks of a profile.

    Each check has its severity, its weight, and the products that it applies to.
    """
    table = prodex.Profile.read(profile).table
    output.show(table.drop(columns="fix") if output.format is Format.TABLE else table)


app.add_typer(profiles, name="profiles")


@command(app, example='prodex requirements shop --to requirements.xlsx --channel "Web shop:France"')
def requirements(
    snapshot: Snapshot,
    to: Annotated[Path, typer.Option(help="The workbook to write (.xlsx).")],
    by: Annotated[
        str, typer.Option(help="Tell families by kind, gpc or a column of products; by default kind.")
    ] = "",
    channel: Annotated[
        list[str] | None,
        typer.Option(help='A channel and its market, "Web shop:France" (repeat); by default the markets.'),
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Language of texts (repeat); by default those of each market.")
    ] = None,
    families: Annotated[
        int, typer.Option(parser=count, help="So many of the largest families are in the matrix.")
    ] = 40,
    start: Annotated[
        str,
        typer.Option(
            help="Requirements (.xlsx, .csv, .toml), or a profile, whose answers are there already."
        ),
    ] = "",
    replace: Replace = False,
) -> None:
    """Write a workbook in which you say what each channel asks.

    Its sheet Requirements has a row for each attribute: choose must, should, may or not. A matrix of each channel shows
    which share of each family has what today. Judge by the file: prodex audit shop --profile requirements.xlsx. If the
    workbook is there, --replace writes it anew and keeps its answers.
    """
    written = prodex.write_requirements(
        to,
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
        f"{written} has {counted(len(kept.channels), 'channel')}, {len(kept.families):,} families and "
        f"{counted(len(kept.requirements), 'answer')}. Its first sheet says how to fill it in.",
        aside=True,
    )


def _saying_what_counts(frame: pd.DataFrame) -> pd.DataFrame:
    """Say beside a table of how many products its figures are."""
    if counts := frame.attrs.get("counted"):
        say(f"Counted: {counts}.", aside=True)
    return frame


def _audit_section(
    judged: prodex.quality.Audit,
    earlier: prodex.quality.Audit | None,
    what: AuditSection,
    by: str,
    units: Units,
    language: str,
) -> pd.DataFrame:
    from prodex.languages import Translation
    from prodex.quality.comparison import compare_audits
    from prodex.quality.failures import failures_frame

    words = Translation.of(language)

    match what:
        case AuditSection.CHANGES if earlier is not None:
            return compare_audits(earlier, judged).changes()
        case AuditSection.SCORES:
            return judged.scores(by or "owner")
        case AuditSection.GAPS:
            return judged.gaps(words=words)
        case AuditSection.CHECKS:
            return judged.by_check
        case AuditSection.FAILURES:
            return failures_frame(judged.failure_batches(words=words))
        case AuditSection.DOUBTS:
            return judged.doubts(by="value", words=words)
        case AuditSection.COMPLETENESS:
            return _saying_what_counts(judged.completeness(by or None))
        case AuditSection.COVERAGE:
            return _saying_what_counts(judged.coverage(by or "language", units=units))
        case AuditSection.PRODUCTS:
            return judged.products
    return judged.summary.to_frame().T.infer_objects()
