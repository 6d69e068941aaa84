"""How a watch looks: what is unusual in sentences, the first of many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prodex.display.html_tables import block
from prodex.messages import counted, moment_in_words
from prodex.untrusted_text import on_one_line

if TYPE_CHECKING:
    from prodex.quality.watch import Watch

#: Sentences that are shown; all are in `findings`.
_SHOWN = 12

#: How the measure is explained below every list.
EXPLAINED = (
    "A figure is unusual if it lies outside all its values of the last 28 audits, by more than its usual changes "
    "explain. By chance alone, one audit in a thousand has such a figure."
)


def text_of(watch: Watch) -> str:
    """Return a watch in words."""
    return "\n".join(
        map(
            on_one_line,
            [headline(watch), *(f"  {line}" for line in first_sentences(watch)), *_watch_notes(watch)],
        )
    )


def html_of(watch: Watch) -> str:
    """Return a watch for a notebook; what is new is a warning."""
    new = len(watch.new)
    lines = [(line, place < new) for place, line in enumerate(first_sentences(watch))]
    return block(headline(watch), lines, notes=_watch_notes(watch))


def headline(watch: Watch) -> str:
    """Return what a watch says, in one line."""
    when = "" if watch.moment is None else f" of {moment_in_words(watch.moment, zone=watch.zone)}"
    new, others = len(watch.new), len(watch.findings) - len(watch.new)
    what = f"{new:,} unusual" if watch.enough else counted(watch.audits, "audit")
    known = f"; {counted(others, 'finding')} of earlier audits" if others else ""
    return f"Watch of {watch.name}{when}: {what}{known}"


def first_sentences(watch: Watch) -> list[str]:
    """Return the first sentences, and how many more there are."""
    sentences = watch.sentences
    more = len(sentences) - _SHOWN
    return [*sentences[:_SHOWN], *([f"{counted(more, 'more figure')} in .findings"] if more > 0 else [])]


def _watch_notes(watch: Watch) -> list[str]:
    return [EXPLAINED] if watch.enough else []
