"""What is known of an HTML file that was written for somebody else: where it is, and what it does not have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from prodex.untrusted_text import on_one_line


@dataclass(frozen=True, repr=False)
class HtmlFile:
    """A file that was written.

    Attributes
    ----------
    path
        Where it is.
    size
        Its bytes.
    notes
        What it says about itself: how many of how many products it has, what was left out, and how to get that.
    """

    path: Path
    size: int
    notes: tuple[str, ...] = ()

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return on_one_line(" ".join([f"{self.path} ({self.size / 1e6:.1f} MB).", *self.notes]))

    __repr__ = __str__
