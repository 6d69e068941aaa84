"""The result of a job: what each step did, as values and as a page of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from prodex.phrases import counted, moment_in_words
from prodex.untrusted_text import on_one_line

#: Characters that Markdown or HTML would read as markup, and where an address would become a link.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>&|~#!]|(?<=\w):(?=//)|(?<=\bwww)\.")


@dataclass(frozen=True, repr=False)
class JobResult:
    """What a run of a job did.

    Attributes
    ----------
    name
        Name of the job.
    began
        When the run began, UTC.
    steps
        One result for each step, in order.
    dry_run
        Whether nothing was done, and the steps say what would be.
    path
        The page of the result, if one was written.

    Examples
    --------
    >>> result = JobResult("shop", datetime(2026, 11, 23, 4, tzinfo=UTC), (StepResult("load", "done"),))
    >>> result.exit_code, result.markdown.splitlines()[0]
    (0, '# shop, 2026-11-23 04:00 UTC: done')
    """

    name: str
    began: datetime
    steps: tuple[StepResult, ...]
    dry_run: bool = False
    path: Path | None = None

    @property
    def exit_code(self) -> int:
        """0 if every step was done, else 1; the exit code of `prodex run`."""
        return int(any(step.state in {"failed", "skipped"} for step in self.steps))

    @property
    def headline(self) -> str:
        """What became of it, on one line."""
        failed, skipped = (
            [s.name for s in self.steps if s.state == state] for state in ("failed", "skipped")
        )
        outcome = "would be done" if self.dry_run else "done"
        if failed:
            outcome = f"{', '.join(failed)} failed"
            outcome += f", {', '.join(skipped)} skipped" if skipped else ""
        unusual = sum(int(step.figures.get("unusual", 0)) for step in self.steps)
        news = f"; {counted(unusual, 'figure')} unusual" if unusual else ""
        overridden = sum(int(step.figures.get("overridden", 0)) for step in self.steps)
        news += f"; {counted(overridden, 'value')} overridden since we sent it" if overridden else ""
        return f"{self.name}, {moment_in_words(self.began, zone=UTC)}: {outcome}{news}"

    @property
    def markdown(self) -> str:
        """The whole result as Markdown; what suppliers typed is text in it and no markup."""
        return "\n".join([*self._page(), ""])

    def _page(self) -> Iterator[str]:
        yield f"# {escaped_markdown(self.headline)}"
        yield ""
        if self.dry_run:
            yield "Dry run: nothing was loaded, written, sent or removed."
            yield ""
        yield "| step | outcome | seconds | figures |"
        yield "|---|---|--:|---|"
        for step in self.steps:
            name, summary = escaped_markdown(step.name), escaped_markdown(step.summary)
            yield f"| {name} | {step.state} | {step.seconds:.1f} | {summary} |"
        for step in self.steps:
            if step.lines:
                yield ""
                yield f"## {escaped_markdown(step.name.capitalize())}"
                yield ""
                yield from (f"- {escaped_markdown(line)}" for line in step.lines)
        failed = [step for step in self.steps if step.state == "failed"]
        if failed:
            yield ""
            yield "## What went wrong"
            yield ""
            yield from (f"- {escaped_markdown(step.name)}: {escaped_markdown(step.error)}" for step in failed)
            yield ""
            yield f"{counted(len(failed), 'step')} failed. The next run does every step again."

    def __repr__(self) -> str:
        lines = [self.headline, *(f"  {one.name}: {one.state}; {one.summary}" for one in self.steps)]
        lines += [
            f"  {line}" for one in self.steps if self.dry_run or one.name == "watch" for line in one.lines
        ]
        if self.path is not None:
            lines.append(f"The result is {self.path}.")
        return "\n".join(map(on_one_line, lines))

    def _repr_markdown_(self) -> str:
        return self.markdown


def escaped_markdown(text: str) -> str:
    r"""Return a text as Markdown that shows exactly this text.

    >>> print(escaped_markdown("<b> *Mill* [x](https://x)"))
    \<b\> \*Mill\* \[x\](https\://x)
    """
    return _MARKUP.sub(r"\\\g<0>", on_one_line(text))


State = Literal["done", "failed", "skipped", "planned"]

#: A figure of a step: how many there are of something, or a name such as that of a snapshot.
Figure = int | float | str


@dataclass(frozen=True)
class StepResult:
    """The result of one step.

    Attributes
    ----------
    name
        Name of the step: "load", "audit core".
    state
        "done", "failed", "skipped" since a step that it needs was not done, or "planned" in a dry run.
    seconds
        How long it took.
    figures
        What was counted, and where its results are.
    lines
        What there is to say about it, in sentences.
    error
        Why it failed or was skipped; "" otherwise.

    Examples
    --------
    >>> StepResult("load", "done", 1.5, {"products": 300}).summary
    'products 300'
    """

    name: str
    state: State
    seconds: float = 0.0
    figures: dict[str, Figure] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    error: str = ""

    @property
    def summary(self) -> str:
        """The figures on one line, or why there are none."""
        if self.error:
            return self.error
        shown = {
            name: f"{value:,}" if isinstance(value, int) else str(value)
            for name, value in self.figures.items()
        }
        return ", ".join(f"{name} {value}" for name, value in shown.items())
