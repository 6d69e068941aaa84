"""The log of jobs: one JSON object a line for the begin and the end of each step.

Keys of every line are `time` (UTC), `job`, `run`, `step` and `event` ("start", "done", "failed", "skipped"); at an end
also `seconds` and `figures`, and `error` if there is one. No line holds a secret.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prodex import clock
from prodex.files.append_log import AppendLog
from prodex.files.atomic import make_folder, storage
from prodex.job.step_result import StepResult


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
