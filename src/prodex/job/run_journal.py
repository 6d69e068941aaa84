"""The journal of a run: which steps have ended, so that a run that was killed continues where it was.

`<home>/jobs/<name>/run.json`, written anew as a whole after each step. Only a step whose end is in it counts as done.

Keys of every line are `time` (UTC), `job`, `run`, `step` and `event` ("start", "done", "failed", "skipped"); at an end
also `seconds` and `figures`, and `error` if there is one. No line holds a secret.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import msgspec

from prodex import clock
from prodex.files.append_log import AppendLog
from prodex.files.atomic import home, make_folder, storage
from prodex.files.state import write_state
from prodex.files.untrusted import Moment, check_moment, read_json
from prodex.job.job_file import Job
from prodex.job.result import StepResult

_FORMAT = 1
#: What to do with a journal that another version wrote.
_ADVICE = "The job then does all its steps."

#: The key of `RunJournal.before` under which a run notes the number of the newest snapshot before it.
NUMBER = "number"

_FILE = "run.json"

#: A run that began longer ago starts again: too much has changed meanwhile.
_RESUMABLE = timedelta(hours=24)


def job_folder(name: str) -> Path:
    """Return the folder of the state of a job."""
    return home() / "jobs" / name


@dataclass(frozen=True)
class RunJournal:
    """What is known of a run.

    Attributes
    ----------
    job
        Digest of the job file.
    began
        When it began, UTC.
    before
        The newest snapshot and, by profile, the newest audits when it began: "the last" ones, to compare with.
    steps
        Results of the steps that have ended, by name.
    """

    job: str
    began: datetime
    before: Mapping[str, str]
    steps: Mapping[str, StepResult] = field(default_factory=dict)

    @property
    def time(self) -> str:
        """The name of the run: when it began, as snapshots are named."""
        return clock.as_name(self.began)

    @classmethod
    def begin(cls, job: Job, before: Mapping[str, str]) -> Self:
        """Begin a run, and write that down."""
        journal = cls(job.digest, clock.now(), before)
        journal.write(job.name)
        return journal

    @classmethod
    def unfinished(cls, job: Job) -> Self | None:
        """Return the run of this job file that was interrupted within a day; None if there is none.

        Raises
        ------
        OtherLayout
            When another version of prodex wrote it.
        """
        path = job_folder(job.name) / _FILE
        try:
            written = read_json(path, _JournalLayout, layout=_FORMAT, advice=_ADVICE)
            check_moment(written.began)
            int(written.before[NUMBER])
        except (OSError, ValueError, KeyError):
            # What cannot be read says of no step that it ended: all are done again, and nothing is lost by that.
            return None
        age = clock.now() - written.began
        if written.ended or written.job != job.digest or not timedelta(0) <= age <= _RESUMABLE:
            return None
        done = {name: step for name, step in written.steps.items() if step.state == "done"}
        return cls(written.job, written.began.astimezone(UTC), written.before, done)

    def with_step(self, step: StepResult, name: str) -> Self:
        """Return the journal with one more step, and write it down."""
        journal = replace(self, steps={**self.steps, step.name: step})
        journal.write(name)
        return journal

    def write(self, name: str, *, ended: bool = False) -> None:
        """Write the journal of the job of a name, as a whole."""
        state = _JournalLayout(self.job, self.began, ended, dict(self.before), dict(self.steps))
        write_state(job_folder(name) / _FILE, state, _FORMAT)


class _JournalLayout(msgspec.Struct):
    """A journal as JSON."""

    job: str
    began: Moment
    ended: bool
    before: dict[str, str]
    steps: dict[str, StepResult]


@dataclass(frozen=True)
class JobLog:
    """Writes the log of one run.

    Attributes
    ----------
    path
        The file; lines are added to it.
    job, run
        Name of the job, and of the run.
    also
        Gets each line as well, without its line end; None for nobody.
    """

    path: Path
    job: str
    run: str
    also: Callable[[str], object] | None = None

    def start(self, step: str) -> None:
        """Note that a step begins."""
        self._write({"step": step, "event": "start"})

    def end(self, result: StepResult) -> None:
        """Note how a step ended."""
        more = {"error": result.error} if result.error else {}
        self._write(
            {
                "step": result.name,
                "event": result.state,
                "seconds": round(result.seconds, 3),
                "figures": result.figures,
                **more,
            }
        )

    def _write(self, facts: dict[str, Any]) -> None:
        now = f"{clock.now():%Y-%m-%dT%H:%M:%S.%f}Z"
        # Escaped to ASCII: whoever looks at the file in a terminal gets no control characters of a supplier.
        line = json.dumps({"time": now, "job": self.job, "run": self.run, **facts})
        with storage(self.path):
            make_folder(self.path.parent)
        AppendLog(self.path, private=False).append(line.encode())
        if self.also is not None:
            self.also(line)
