"""How a comparison of two audits looks: the figures before and after, what changed, and where most of it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prodex.display.audit import notes
from prodex.display.html_tables import block, table
from prodex.display_text import on_one_line
from prodex.quality.comparison import CHANGES
from prodex.quality.scores import readiness
from prodex.text import counted, moved

if TYPE_CHECKING:
    from prodex.quality.comparison import AuditComparison

_ROWS = 10


def text_of(comparison: AuditComparison) -> str:
    """Return a comparison in words."""
    rows, every = _changed(comparison)
    shown = [f"  {problem}: {fixed:,} fixed, {failing:,} newly failing" for problem, fixed, failing in rows]
    if every > _ROWS:
        shown.append(f"  {_ROWS} of {every} checks that changed; all in .by_check")
    lines = [*_lines(comparison), *shown, *comparison.notes, notes(comparison.new)[0]]
    return "\n".join(map(on_one_line, lines))


def html_of(comparison: AuditComparison) -> str:
    """Return a comparison as a small table for a notebook."""
    headline, *others = _lines(comparison)
    rows, every = _changed(comparison)
    title = f"{len(rows)} of {counted(every, 'check')} that changed; all in .by_check"
    headings = ["problem", "fixed", "newly failing"]
    changed = [table(title, headings, rows, numbers=headings[1:])] if rows else []
    # What stands in the way of comparing is a warning; a shortened arrow would read as a minus sign and a bracket.
    lines = [(line.replace("->", "→"), False) for line in others]
    return block(
        headline, [*lines, *((note, True) for note in comparison.notes)], changed, notes(comparison.new)[:1]
    )


def _lines(comparison: AuditComparison) -> list[str]:
    old, new = comparison.old, comparison.new
    before, after = old.summary, new.summary
    counts = ", ".join(
        f"{int(comparison.by_check[name.replace(' ', '_')].sum()):,} {name}" for name in CHANGES
    )
    added = f"{counted(len(comparison.added), 'product')} added, {len(comparison.gone):,} gone"
    return [
        f"{old.now:%Y-%m-%d %H:%M} to {new.now:%Y-%m-%d %H:%M} ({new.profile})",
        f"{readiness(before)} -> {readiness(after)}, score {moved(before['score'], after['score'])}",
        f"{counts}; {added}",
    ]


def _changed(comparison: AuditComparison) -> tuple[list[tuple[Any, ...]], int]:
    """Return problem, products fixed and newly failing of the first checks that changed, and how many changed."""
    columns = ["problem", "fixed", "newly_failing"]
    changed = comparison.by_check[comparison.by_check[columns[1:]].sum(axis=1) > 0]
    return list(changed[columns].head(_ROWS).itertuples(index=False, name=None)), len(changed)
