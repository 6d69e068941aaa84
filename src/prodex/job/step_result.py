"""What became of a step of a job: done, failed or skipped, with its figures and what it has to say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

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
