"""How a `Tracking` looks: the outcome first, then the failed products."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from prodex.advice import Named, PythonCall, advice, in_words
from prodex.display.html_tables import block, table
from prodex.files.atomic import relative_to_working_folder
from prodex.phrases import counted
from prodex.untrusted_text import on_one_line

if TYPE_CHECKING:
    from prodex.send.tracking import Tracking

_ROWS = 10


def text_of(tracking: Tracking, words: Callable[[Named], str] = str) -> str:
    """Return a tracking as text; `words` are those of arguments and calls that it names."""
    lines = [f"{name + ':':<14}{in_words(value, words)}" for name, value in facts_of(tracking)]
    failed = tracking.failed
    lines += [f"  {row.gtin}  {row.status}  {row.message}" for row in failed.head(_ROWS).itertuples()]
    if len(failed) > _ROWS:
        every = f"{len(failed):,}"
        more = advice(
            "  {shown} of {every} shown{all}", shown=_ROWS, every=every, all=PythonCall("; all in .failed")
        )
        lines.append(in_words(more, words))
    return "\n".join(map(on_one_line, lines))


def html_of(tracking: Tracking) -> str:
    """Return a tracking as small tables for a notebook."""
    tables = [table("The import", [], facts_of(tracking))]
    failed = tracking.failed
    if len(failed):
        title = f"{min(_ROWS, len(failed))} of {len(failed):,} products that were not integrated"
        rows = failed[["gtin", "status", "message"]].head(_ROWS).itertuples(index=False, name=None)
        tables.append(table(title, ["gtin", "status", "message"], rows))
    return block(f"Tracking of {counted(tracking.count, 'product')}", tables=tables)


def facts_of(tracking: Tracking) -> list[tuple[str, str]]:
    counts = ", ".join(f"{number:,} {status}" for status, number in tracking.statuses.most_common())
    ids = [str(one) for one in tracking.tracking_ids]
    shown = ", ".join(ids[:_ROWS]) + (f" and {len(ids) - _ROWS} more" if len(ids) > _ROWS else "")
    warnings = 0 if tracking.findings.empty else len(tracking.findings)
    facts = {
        "status": tracking.status,
        "message": tracking.message,
        "count": f"{tracking.count:,}",
        "products": counts,
        "tracking ids": shown,
        "created at": tracking.created_at,
        "user": tracking.user,
        "organization": tracking.organization,
        "endpoint": tracking.endpoint,
        "preflight": advice("{number} findings{all}", number=f"{warnings:,}", all=PythonCall(" in .findings"))
        if warnings
        else None,
        "kept in": str(relative_to_working_folder(tracking.path)) if tracking.path else None,
    }
    return [(name, value) for name, value in facts.items() if value]
