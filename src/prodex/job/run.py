"""Running a job: its steps in order, under a lock, with a journal, a log and a page of what became of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter

from prodex import clock
from prodex.errors import ProdexError
from prodex.files.atomic import writing
from prodex.files.lock import locked
from prodex.job.context import Context, newest_before
from prodex.job.job_file import Job, read_job
from prodex.job.result import JobResult, State, StepResult
from prodex.job.run_journal import JobLog, RunJournal, job_folder
from prodex.job.steps import ACTIONS, Step, StepOutcome, steps_of

#: Gets each line of the log, which is a JSON object.
OnLine = Callable[[str], object]


def run_job(path: str | Path, *, dry_run: bool = False, on_line: OnLine | None = None) -> JobResult:
    """Do what a job file says: load or refresh, audit, compare, watch, write worklists and exports, publish, clean up.

    The first run loads, later ones fetch only what has changed. A step that fails does not stop those that do not need
    it. A run that was killed continues at the step where it was, if the same file is run again within a day: finished
    steps are not repeated. Two runs of a job exclude each other.

    Parameters
    ----------
    path
        The job file; `docs/howto/jobs.md` has an example.
    dry_run
        Only say what each step would do. The service is asked for a count; nothing is written.
    on_line
        Gets each line of the log as well.

    Returns
    -------
    JobResult
        The steps with their figures, the page as Markdown, and the exit code of `prodex run`.

    Raises
    ------
    InputError
        When the job file cannot be used; the message names file, line and key.
    SnapshotLocked
        When another process is running the job.
    StorageError
        When state, log or result cannot be written. Finished steps are not repeated by the next run.

    Examples
    --------
    >>> import prodex, tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "shop.toml")
    >>> _ = path.write_text('name = "shop"\\nservice = "sandbox"\\nprofile = "core"\\n')
    >>> result = prodex.run_job(path)
    >>> [(step.name, step.state) for step in result.steps][:2], result.exit_code
    ([('load', 'done'), ('audit core', 'done')], 0)
    """
    job = read_job(path)
    if dry_run:
        return _dry_run(job)
    with locked(job_folder(job.name), f"running the job {job.name!r}"):
        journal = RunJournal.unfinished(job) or RunJournal.begin(job, newest_before(job))
        return _run(job, journal, on_line)


def _run(job: Job, journal: RunJournal, on_line: OnLine | None) -> JobResult:
    folder = job.results / job.name
    log = JobLog(folder / "log.jsonl", job.name, journal.time, on_line)
    context = Context.of(job, journal)
    results: dict[str, StepResult] = {}
    for step in steps_of(job):
        done = journal.steps.get(step.name)
        if done is None:
            log.start(step.name)
            done = _result(step, results, partial(ACTIONS[step.action].do, context, step.entry))
            # The journal first: a step that is not in it is done again; a step that is not in the log is not reported.
            journal = journal.with_step(done, job.name)
            log.end(done)
        context.figures[step.name] = done.figures
        results[step.name] = done
    result = JobResult(job.name, journal.began, tuple(results.values()), path=folder / f"{journal.time}.md")
    assert result.path is not None  # noqa: S101 - it was just given
    with writing(result.path) as beside:
        beside.write_text(result.markdown, "utf-8", newline="\n")
    # Only now: a run that was killed before its page was written continues here.
    journal.write(job.name, ended=True)
    return result


def _dry_run(job: Job) -> JobResult:
    now = clock.now()
    context = Context(job, clock.as_name(now), newest_before(job))
    results: dict[str, StepResult] = {}
    for step in steps_of(job):
        results[step.name] = _result(step, results, partial(ACTIONS[step.action].plan, context, step.entry))
    planned = (replace(one, state="planned") if one.state == "done" else one for one in results.values())
    return JobResult(job.name, now, tuple(planned), dry_run=True)


def _result(step: Step, results: Mapping[str, StepResult], do: Callable[[], StepOutcome]) -> StepResult:
    """Do a step, unless one that it needs was not done; an error of prodex is its result."""
    for needed in step.needs:
        if results[needed].state != "done":
            return StepResult(step.name, "skipped", error=f"it needs {needed!r}, which was not done")
    begin = perf_counter()
    try:
        outcome = do()
    # Of the disk, too: a file that cannot be read costs its step, not the others.
    except (ProdexError, OSError) as error:
        words = " ".join([str(error), *getattr(error, "__notes__", ())])
        return StepResult(step.name, "failed", perf_counter() - begin, error=words)
    state: State = "failed" if outcome.problem else "done"
    seconds = perf_counter() - begin
    # A line may be advice, of which a journal keeps the words.
    lines = tuple(map(str, outcome.lines))
    return StepResult(step.name, state, seconds, dict(outcome.figures), lines, outcome.problem)
