"""The steps of a job, each a small function, and what each would do in a dry run.

A step gets the context of the run and the number of its entry in the job (of several profiles or exports), and
returns its figures and sentences. What it makes appears as a whole or not at all. Where a run was killed between the
end of a step and its line in the journal, the step finds what it has made and does not make it again.

`<home>/jobs/<name>/exports.json` has the digest of each file of the last export to each folder. While an export is
being written its files have none: if the process is killed in that moment, they are the job's all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec
import pandas as pd

from prodex.catalog import Catalog
from prodex.compare import Difference, diff
from prodex.corrections.bulk import apply_recipe
from prodex.corrections.overridden import override_lines, sent_summary
from prodex.corrections.recipe_files import read_recipe
from prodex.display.audit import accepted_lines
from prodex.errors import (
    ProdexError,
    ServiceError,
    SnapshotDamaged,
    SnapshotError,
    StorageError,
    TrackingTimeout,
)
from prodex.files.atomic import sha256, storage
from prodex.files.folders import restore_old
from prodex.files.state import write_state
from prodex.files.untrusted import Digest, is_file, is_there, read_json
from prodex.formats.exporting import PACKAGE, exported_digests, replaced_files, tables_in
from prodex.job.context import Context, newest_snapshot
from prodex.job.job_file import ExportOptions, Job
from prodex.job.result import Figure
from prodex.job.run_journal import job_folder
from prodex.languages import Message, Translation
from prodex.ledger.upserts import anything_sent, unfollowed_imports
from prodex.load import load_products, refresh
from prodex.load.resume import question_to
from prodex.phrases import counted, percent
from prodex.publishing import publish
from prodex.quality.archive import AUDITS, list_audits, remove_audits
from prodex.quality.comparison import compare_audits, worsening
from prodex.quality.limits import grave_failures, low_score
from prodex.quality.run import audit
from prodex.quality.scores import readiness
from prodex.quality.watch import watch_of
from prodex.send.following import track
from prodex.store.snapshot import SNAPSHOTS, open_snapshot
from prodex.store.vacuum import vacuum
from prodex.tables.declaration import TABLES
from prodex.worklists.fix import Fix

#: Attributes that a comparison lists.
_MOST_CHANGED = 5


class StepOutcome(NamedTuple):
    """What a step counted, what it has to say, and why it failed although something was done; "" if it did not."""

    figures: Mapping[str, Figure]
    lines: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class StepAction:
    """A kind of step.

    Attributes
    ----------
    do
        Does it.
    plan
        Says what it would do, and writes nothing.
    """

    do: Callable[[Context, int], StepOutcome]
    plan: Callable[[Context, int], StepOutcome]


class Step(NamedTuple):
    """A step of a job: its name, its kind, the number of its entry, and the names of the steps that it needs."""

    name: str
    action: str
    entry: int = 0
    needs: tuple[str, ...] = ()


def steps_of(job: Job) -> Iterator[Step]:
    """Yield the steps of a job, in order."""
    yield Step("load", "load")
    for number, recipe in enumerate(job.recipes):
        yield Step(f"recipe {number + 1} ({recipe.file.name})", "recipe", number, ("load",))
    audits = [f"audit {profile.name}" for profile in job.profiles]
    for number, name in enumerate(audits):
        yield Step(name, "audit", number, ("load",))
    if audits and (job.fail_on is not None or job.fail_under):
        yield Step("limits", "limits", needs=tuple(audits))
    if job.compare:
        yield Step("compare", "compare", needs=("load", *audits))
    if job.watch and audits:
        yield Step("watch", "watch", needs=tuple(audits))
    if anything_sent():
        yield Step("sent from here", "sent", needs=("load",))
    if job.worklists is not None:
        yield Step("worklists", "worklists", needs=(f"audit {job.worklists.profile}",))
    for number, export in enumerate(job.exports):
        # With its number: two folders may have the same name.
        name = f"export {number + 1} ({export.format} to {export.folder.name})"
        yield Step(name, "export", number, ("load",))
    if job.publish is not None:
        yield Step("publish", "publish", needs=("load",))
    if job.keep.snapshots is not None or job.keep.audits is not None:
        yield Step("keep", "keep", needs=("load",))


def _load(context: Context, _: int) -> StepOutcome:
    job = context.job
    why = _why_all_is_loaded(context)
    lines: tuple[str, ...] = (f"{why} Everything was loaded anew.",) if why else ()
    if why is None and (made := context.made_meanwhile()) is not None:
        catalog, how = open_snapshot(f"{job.name}@{made}"), "found"
    elif why is None:
        try:
            catalog = refresh(job.name, context.client, allow_incomplete=job.allow_incomplete)
            how = "refreshed"
        except SnapshotDamaged as error:
            lines = (f"The last snapshot is damaged, so everything was loaded anew. {error}",)
            catalog, how = _loaded(context), "loaded"
    else:
        catalog, how = _loaded(context), "loaded"
    assert catalog.folder is not None  # noqa: S101 - a load makes a snapshot
    figures: dict[str, Figure] = {"products": len(catalog), "snapshot": catalog.folder.name, "how": how}
    ledger = catalog.origin.ledger
    return StepOutcome(
        figures,
        (
            *lines,
            *(f"{place}: {why}" for place, why in ledger.problems),
            *(f"Note: {one}." for one in ledger.notes),
        ),
    )


def _loaded(context: Context) -> Catalog:
    job = context.job
    return load_products(
        context.client,
        job.query,
        name=job.name,
        max_age=0,
        labels=job.labels,
        allow_incomplete=job.allow_incomplete,
    )


def _why_all_is_loaded(context: Context) -> str | None:
    """Return why the changes since the newest snapshot are not enough; None if they are.

    They are if it has the answer to what the job asks, and whom: a service does not know what changed in a snapshot of
    another one, or of another access key. It is "" where that is no surprise: the first run, or another query.
    """
    job, client = context.job, context.client
    try:
        newest = open_snapshot(job.name)
    except SnapshotError:
        return ""
    origin, asked = newest.origin, question_to(client, job.query, job.labels)
    if origin.query is None or (origin.query.digest, origin.labels) != (job.query.digest, job.labels):
        return ""
    if origin.source != asked.source:
        return "The last snapshot is from another service."
    if origin.asked_by != asked.asked_by:
        return "The last snapshot was loaded with another access key."
    if origin.accept_language != asked.accept_language:
        return "The last snapshot has labels in another language."
    if len(newest) != origin.ledger.distinct:
        return "The last snapshot is a selection."
    return None


def _plan_load(context: Context, _: int) -> StepOutcome:
    job = context.job
    matching = context.client.count(job.query)
    if (why := _why_all_is_loaded(context)) is not None:
        line = f"{why} Would load {counted(matching, 'product')}.".strip()
        return StepOutcome({"products": matching}, (line,))
    have = len(open_snapshot(job.name))
    line = (
        f"Would fetch what has changed since the snapshot {newest_snapshot(job.name)} of "
        f"{counted(have, 'product')}; the service has {matching:,} now."
    )
    return StepOutcome({"products": matching}, (line,))


def _recipe(context: Context, entry: int) -> StepOutcome:
    """Do a recipe; where a step of it cannot be done at all, the others are done, and this one has failed."""
    fix, outcome = _recipe_done(context, entry)
    steps = fix.steps
    counts = steps[["changed", "already_so", "refused", "needs_confirmation", "conflict", "no_value"]].sum(
        axis=1
    )
    problems = [
        f"Step {row['step']} cannot be done: {row['reason']}."
        for row in steps[(counts == 0) & (steps["reason"] != "")].to_dict("records")
    ]
    return outcome._replace(problem=" ".join(problems))


def _recipe_done(context: Context, entry: int) -> tuple[Fix, StepOutcome]:
    options = context.job.recipes[entry]
    profile = next((one for one in context.job.profiles if one.name == options.profile), None)
    fix = apply_recipe(context.catalog, options.file, profile=profile)
    steps = fix.steps
    names = ("changed", "already_so", "refused", "needs_confirmation", "conflict")
    figures: dict[str, Figure] = {name: int(steps[name].sum()) for name in names}
    lines = [f"{fix.why}."]
    for row in steps.to_dict("records"):
        done = ", ".join(f"{row[name]:,} {name.replace('_', ' ')}" for name in names if row[name])
        why = f" ({row['reason']})" if row["reason"] else ""
        lines.append(
            f"Step {row['step']}, {row['attribute']}: {row['what']}: {done or 'nothing to do'}{why}."
        )
    if not fix.counts["accepted"]:
        return fix, StepOutcome(figures, (*lines, "There is nothing to send."))
    if not options.send:
        return fix, StepOutcome(figures, (*lines, "Nothing was sent: send = true in the job file sends it."))
    # After a kill, what was sent is followed and not sent again: `Fix.apply` looks at the upserts of this machine.
    tracking = fix.apply(context.client, progress=False)
    figures["upsert"] = str(tracking.name)
    try:
        statuses = tracking.wait(progress=False).statuses
    except TrackingTimeout as error:
        return fix, StepOutcome(figures, (*lines, f"Sent as {tracking.name}. {error}"))
    figures |= {f"sent {status}": int(count) for status, count in statuses.items()}
    return fix, StepOutcome(
        figures, (*lines, f"Sent as {tracking.name}; the next load shows what has arrived.")
    )


def _plan_recipe(context: Context, entry: int) -> StepOutcome:
    options = context.job.recipes[entry]
    count = len(read_recipe(options.file).steps)
    then = "send what is accepted" if options.send else "send nothing"
    line = f"Would do {counted(count, 'step')} of {options.file.name}, and {then}."
    return StepOutcome({"steps": count}, (line,))


def _audit(context: Context, entry: int) -> StepOutcome:
    job = context.job
    profile = job.profiles[entry]
    made = context.audited_meanwhile(profile.name, str(context.figures["load"]["snapshot"]))
    if made is None:
        judged = audit(context.catalog, profile).save()
        context.keep_audit(judged)
        assert judged.folder is not None  # noqa: S101 - it was saved
        made = judged.folder.name
    context.figures[f"audit {profile.name}"] = {"audit": made}
    judged = context.audit(profile.name)
    summary = judged.summary
    figures: dict[str, Figure] = {
        "audit": made,
        **{name: int(summary[name]) for name in ("products", "to_work_on", "failed")},
        **{name: int(summary[f"{name}_products"]) for name in ("ready", "not_ready", "undecided")},
    }
    if not pd.isna(judged.score):
        figures["score"] = round(judged.score, 4)
    lines = [f"{readiness(summary)}; score {percent(judged.score)}."]
    if summary["accepted"]:
        figures["accepted"] = int(summary["accepted"])
        figures["score_with_accepted"] = round(judged.with_accepted().score, 4)
    lines += [f"{line}." for line, _ in accepted_lines(judged)]
    crashed = sorted({crash.check for crash in judged.crashes})
    lines += [f"The rule of {check} crashed; its results are unknown." for check in crashed]
    return StepOutcome(figures, tuple(lines))


def _plan_audit(context: Context, entry: int) -> StepOutcome:
    checks = len(context.job.profiles[entry].every_check)
    return StepOutcome({"checks": checks}, (f"Would audit every product by {counted(checks, 'check')}.",))


def _limits(context: Context, _: int) -> StepOutcome:
    """Fail if an audit breaks a limit; nothing needs this step, so that everything else is done all the same."""
    job = context.job
    broken: list[str] = []
    words = Translation(job.language)
    for profile in job.profiles:
        judged = context.audit(profile.name)
        sentences = [low_score(judged, job.fail_under, new_only=job.new_only)]
        if job.fail_on is not None:
            sentences.append(grave_failures(judged, job.fail_on, new_only=job.new_only))
        broken += [f"{profile.name}: {words.say(said)}" for said in filter(None, sentences)]
    if broken:
        raise ProdexError(" ".join(broken))
    return StepOutcome({}, ("No limit is broken.",))


def _plan_limits(context: Context, _: int) -> StepOutcome:
    job = context.job
    limits = [f"a score under {job.fail_under:g}"] if job.fail_under else []
    limits += [] if job.fail_on is None else [f"a failing check of severity {job.fail_on} or worse"]
    new = ", of what nobody has accepted" if job.new_only else ""
    return StepOutcome({}, (f"Would fail on {' or '.join(limits)}{new}.",))


#: Whether an audit is worse than the last one.
_VERDICTS = {True: Message("worse"), False: Message("not worse"), None: Message("not comparable")}


def _compare(context: Context, _: int) -> StepOutcome:
    previous = context.previous
    if previous is None:
        return StepOutcome({}, ("There is no earlier snapshot to compare with.",))
    difference = diff(previous, context.catalog)
    counts = difference.summary.set_index("change")["products"]
    figures: dict[str, Figure] = {str(change): int(count) for change, count in counts.items()}
    lines = [f"Compared with the snapshot {context.before['snapshot']}.", *map(str, difference.notes)]
    lines += _most_changed(difference)
    words = Translation(context.job.language)
    for profile in context.job.profiles:
        last = context.previous_audit(profile.name)
        if last is None:
            none = Message("There is no earlier audit by {profile} to compare with.", profile=profile.name)
            lines.append(words.say(none))
            continue
        comparison = compare_audits(last, context.audit(profile.name))
        found = worsening(comparison)
        verdict = _VERDICTS[found.is_worse]
        fixed, failing = (int(comparison.by_check[name].sum()) for name in ("fixed", "newly_failing"))
        figures |= {f"{profile.name} fixed": fixed, f"{profile.name} newly failing": failing}
        said = Message(
            "{profile}: {verdict}; {figures}; {fixed} fixed, {failing} newly failing.",
            profile=profile.name,
            verdict=verdict,
            figures=found.figures,
            fixed=fixed,
            failing=failing,
        )
        lines += map(words.say, (said, *found.why))
    return StepOutcome(figures, tuple(lines))


def _most_changed(difference: Difference) -> Iterator[str]:
    """Yield what happened to most products."""
    causes = difference.causes
    for sentence in causes["says"].head(_MOST_CHANGED):
        yield f"{sentence}."
    if len(causes) > _MOST_CHANGED:
        yield f"{_MOST_CHANGED} of {len(causes)} kinds of changes are listed."


def _plan_compare(context: Context, _: int) -> StepOutcome:
    newest = context.before.get("snapshot")
    if newest is None:
        return StepOutcome({}, ("There is no earlier snapshot to compare with.",))
    return StepOutcome({}, (f"Would compare with the snapshot {newest}.",))


def _watch(context: Context, _: int) -> StepOutcome:
    lines: list[str] = []
    states: Counter[str] = Counter()
    for number, profile in enumerate(context.job.profiles):
        found = watch_of(context.audit(profile.name), context.job.zone, context.job.language)
        assert found is not None  # noqa: S101 - the audit is that of a snapshot
        findings = found.findings
        # What is of the catalogue is the same for every profile.
        own = findings if number == 0 else findings[findings["measure"].str.endswith("score")]
        states.update(own["state"])
        about = "" if number == 0 else f"{profile.name}: "
        lines += found.sentences if number == 0 else [f"{about}{sentence}" for sentence in own["sentence"]]
    return StepOutcome(
        {"unusual": states["new"], "lasting": states["lasting"], "over": states["over"]}, tuple(lines)
    )


def _plan_watch(context: Context, _: int) -> StepOutcome:
    audits = len(AUDITS.of(context.job.name))
    return StepOutcome({}, (f"Would look for what is unusual after {counted(audits, 'audit')}.",))


def _sent(context: Context, _: int) -> StepOutcome:
    """Say which values that were sent from here are something else by now."""
    problem = _follow_imports(context)
    found = sent_summary(context.catalog)
    figures: dict[str, Figure] = {
        "overridden": len(found.overrides),
        "as_sent": found.as_sent,
        "not_visible_yet": found.not_visible,
        "not_known": found.unknown,
    }
    return StepOutcome(figures, (*problem, *override_lines(found, context.job.name)))


def _follow_imports(context: Context) -> tuple[str, ...]:
    """Ask the service for the imports whose end nobody has seen: only what it confirmed can be overridden."""
    client = context.client
    if not (running := unfollowed_imports(client.base_url, client.fingerprint)):
        return ()
    try:
        track(client, running)
    except ServiceError as error:
        return (f"The imports that were sent from here could not be followed: {error}",)
    return ()


def _plan_sent(context: Context, _: int) -> StepOutcome:
    name = context.job.name
    return StepOutcome(
        {}, (f"Would look for values of {name} that were sent from here and are something else now.",)
    )


def _worklists(context: Context, _: int) -> StepOutcome:
    options = context.job.worklists
    assert options is not None  # noqa: S101 - else there is no such step
    # A folder for each run: what suppliers have filled in is never replaced.
    folder = options.folder / context.time
    only = {"severity": list(options.severity)} if options.severity else {}
    # If it is there, this run wrote it and was killed before it could note so.
    audit = context.audit(options.profile)
    # A supplier who has no product any more is no reason for the others to get none.
    owners = audit.groups(options.by)
    languages = {owner: one for owner, one in options.languages.items() if owners.called(owner)}
    index = audit.worklists(
        folder, options.by, replace=True, language=options.language, languages=languages, **only
    )
    findings = int(index["findings"].sum())
    lines = [f"{counted(len(index), 'worklist')} with {counted(findings, 'finding')} in {folder}."]
    if left_out := [owner for owner in options.languages if owner not in languages]:
        lines.append(f"languages names {', '.join(left_out)}, of whom there is no product.")
    return StepOutcome({"worklists": len(index), "findings": findings, "folder": str(folder)}, tuple(lines))


def _plan_worklists(context: Context, _: int) -> StepOutcome:
    options = context.job.worklists
    assert options is not None  # noqa: S101 - else there is no such step
    line = f"Would write one worklist per {options.by} to a new folder in {options.folder}."
    return StepOutcome({}, (line,))


def _export(context: Context, entry: int) -> StepOutcome:
    options = context.job.exports[entry]
    catalog = context.catalog
    with ExportRecord.of(context.job).exporting(options):
        paths = catalog.export(
            options.folder,
            options.format,
            tables=options.tables or None,
            escape_formulas=options.escape_formulas,
        )
    size = sum(path.stat().st_size for path in paths)
    line = f"{counted(len(paths), 'file')} with {size:,} bytes in {options.folder}."
    return StepOutcome({"files": len(paths), "bytes": size, "folder": str(options.folder)}, (line,))


def _plan_export(context: Context, entry: int) -> StepOutcome:
    options = context.job.exports[entry]
    tables = len(options.tables or TABLES)
    line = f"Would write {counted(tables, 'table')} as {options.format} to {options.folder}."
    return StepOutcome({"tables": tables}, (line,))


def _publish(context: Context, _: int) -> StepOutcome:
    assert context.job.publish is not None  # noqa: S101 - else there is no such step
    done = publish(context.catalog, context.job.publish)
    line = f"Publication {done.number} at {done.uri}: {counted(done.uploaded, 'file')} uploaded, all others were there."
    return StepOutcome({"publication": done.number, "uploaded": done.uploaded}, (line,))


def _plan_publish(context: Context, _: int) -> StepOutcome:
    return StepOutcome({}, (f"Would publish the new snapshot at {context.job.publish}.",))


def _keep(context: Context, _: int) -> StepOutcome:
    keep, name = context.job.keep, context.job.name
    figures: dict[str, Figure] = {}
    lines = []
    if keep.snapshots is not None:
        removed = vacuum(name, keep=keep.snapshots)
        figures |= {"removed": len(removed), "bytes_freed": int(removed["bytes_freed"].sum())}
        lines += [f"Removed {row.time}: {row.reason}." for row in removed.itertuples()]
    if keep.audits is not None:
        gone = remove_audits(name, keep=keep.audits)
        figures["audits_removed"] = len(gone)
        lines += [f"Removed the audit {time}." for time in gone]
    return StepOutcome(figures, tuple(lines))


def _plan_keep(context: Context, _: int) -> StepOutcome:
    keep, name = context.job.keep, context.job.name
    lines = []
    if keep.snapshots is not None:
        there = len(SNAPSHOTS.of(name)) + 1  # and the one that would be loaded
        gone = max(there - keep.snapshots, 0)
        lines.append(
            f"Would remove {counted(gone, 'snapshot')} of {there:,}, unless one is the newest that is whole."
        )
    if keep.audits is not None:
        made = [profile.name for profile in context.job.profiles]
        audits = Counter([*list_audits(name)["profile"], *made] if AUDITS.of(name) else made)
        gone = sum(max(count - keep.audits, 0) for count in audits.values())
        lines.append(f"Would remove {counted(gone, 'audit')} of {audits.total():,}.")
    return StepOutcome({}, tuple(lines))


#: Every kind of step by its name.
ACTIONS: Mapping[str, StepAction] = {
    "load": StepAction(_load, _plan_load),
    "recipe": StepAction(_recipe, _plan_recipe),
    "audit": StepAction(_audit, _plan_audit),
    "limits": StepAction(_limits, _plan_limits),
    "compare": StepAction(_compare, _plan_compare),
    "watch": StepAction(_watch, _plan_watch),
    "sent": StepAction(_sent, _plan_sent),
    "worklists": StepAction(_worklists, _plan_worklists),
    "export": StepAction(_export, _plan_export),
    "publish": StepAction(_publish, _plan_publish),
    "keep": StepAction(_keep, _plan_keep),
}


_FORMAT = 1

#: Files that an error names.
_SHOWN = 3

#: Of each folder the files, each with its digest; None while it is being written.
Written = Mapping[str, Mapping[str, str | None]]


@dataclass(frozen=True)
class ExportRecord:
    """The files that a job has exported.

    Attributes
    ----------
    path
        The file in which that is kept.
    """

    path: Path

    @classmethod
    def of(cls, job: Job) -> ExportRecord:
        """Return the record of a job."""
        return cls(job_folder(job.name) / "exports.json")

    @contextmanager
    def exporting(self, options: ExportOptions) -> Iterator[None]:
        """Note an export that replaces the last one of this job, and refuse one that would replace anything else.

        An export that prodex wrote and nobody has changed is taken for the job's: its record may be damaged or lost.

        Raises
        ------
        StorageError
            When there are files of another program, or the record cannot be written.
        """
        folder, form = options.folder, options.format
        before = self._read()
        names = replaced_files(folder, form, options.tables or tables_in(form))
        with storage(folder):
            if folder.is_dir():
                restore_old(folder, names, folder / PACKAGE)
            known = {**exported_digests(folder), **before.get(str(folder), {})}
            found = [folder / name for name in sorted(names) if is_there(folder / name)]
            others = [path for path in found if not _is_own(path, known, exported_digests(folder))]
        if others:
            raise _refusal(others)
        # From here on they are the job's: whatever is there was, and nobody else writes them meanwhile.
        self._write({**before, str(folder): dict.fromkeys(names)})
        try:
            yield
        except BaseException:  # then the earlier export is as it was
            self._write(before)
            raise
        digests = exported_digests(folder)
        with storage(folder):
            digests[PACKAGE] = sha256(folder / PACKAGE)
        self._write({**before, str(folder): digests})

    def _read(self) -> Written:
        try:
            return read_json(self.path, _Record, layout=_FORMAT).exports
        except (OSError, ValueError):  # then only what an export says of itself is known
            return {}

    def _write(self, exports: Written) -> None:
        record = _Record({folder: dict(files) for folder, files in exports.items()})
        write_state(self.path, record, _FORMAT)


class _Record(msgspec.Struct):
    """A record as JSON."""

    exports: dict[str, dict[str, Digest | None]]


def _is_own(path: Path, *known: Mapping[str, str | None]) -> bool:
    """Whether a file is one that the job, or an export of prodex, wrote, and as it was written."""
    if not is_file(path):
        return False
    expected = {files[path.name] for files in known if path.name in files}
    return None in expected or (bool(expected) and sha256(path) in expected)


def _refusal(others: list[Path]) -> StorageError:
    more = len(others) - _SHOWN
    shown = ", ".join(map(str, others[:_SHOWN])) + (f" and {more:,} more" if more > 0 else "")
    return StorageError(
        f"The export would replace {shown}, which another program wrote or has changed since this job did. Nothing was "
        "written. Move that away, or give the export a folder of its own."
    )
