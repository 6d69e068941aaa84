"""Simulated weeks in a terminal: what became better, what changed, what is unusual, and what came back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pandas as pd

from prodex.cli.output import aligned
from prodex.compare import Difference, diff
from prodex.display_text import on_one_line
from prodex.errors import IncompleteLoad
from prodex.fix.worklists import read_worklist
from prodex.history import SimulatedWeeks
from prodex.load import refresh
from prodex.quality.audit import Audit
from prodex.quality.comparison import AuditComparison, compare_audits
from prodex.quality.run import audit
from prodex.quality.watch import watch
from prodex.service import Client
from prodex.text import counted, percent

#: Suppliers with fewer findings say little about how they work.
_ENOUGH = 5
_IN_WORDS = {"touched only": "with only a new date of update"}
_ASKED = ["blocker", "error"]


def show_weeks(weeks: SimulatedWeeks, say: Callable[[str], object]) -> None:
    """Show the trend of the audits, who corrected what, what changed since Monday, and what is unusual."""
    audits = weeks.audits
    say(
        f"{counted(len(audits), 'load')}, each with an audit. The first, that of the last Monday, and the newest:"
    )
    trend = audits[-1].trend(audits[:-1])
    shown = {audits[0].now.date(), day_of(weeks.monday), audits[-1].now.date()}
    rows = [
        (
            f"{row['now']:%a %Y-%m-%d}",
            f"{row['products']:,} products",
            f"{percent(row['ready'])} ready",
            f"score {percent(row['score'])}",
            f"{row['to_work_on']:,} to work on",
        )
        for row in trend.to_dict("records")
        if row["now"].date() in shown
    ]
    for line in aligned(rows):
        say(f"  {line}")
    _show_suppliers(weeks, audits, say)
    _show_changes(weeks, say)
    say(f"Unusual for this shop (prodex watch {weeks.name}):")
    _show_first([on_one_line(sentence) for sentence in watch(weeks.name).sentences], say)


def _show_first(lines: list[str], say: Callable[[str], object]) -> None:
    """Show the first line, and how many there are besides: a demo fits on one screen."""
    besides = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    for line in lines[:1]:
        say(f"  {line}{besides}")


def _show_suppliers(weeks: SimulatedWeeks, audits: tuple[Audit, ...], say: Callable[[str], object]) -> None:
    """Show how many of the findings that suppliers were asked about are gone, before the incident of the last night."""
    asked = next(one for one in audits if one.now.date() == weeks.asked)
    before, after = (
        one.failures(severity=_ASKED).drop_duplicates(["product_id", "check"]) for one in (asked, audits[-2])
    )
    place = ["product_id", "check"]
    is_left = before.set_index(place).index.isin(after.set_index(place).index)
    corrected = pd.DataFrame({"owner": before["owner"], "gone": ~is_left}).groupby("owner")["gone"]
    counts = corrected.agg(["size", "sum"])
    gone = int(counts["sum"].sum())
    counts = counts[counts["size"] >= _ENOUGH]
    ranked = counts.assign(share=counts["sum"] / counts["size"]).sort_values("share", ascending=False)
    least = "".join(
        f" (fewest at {on_one_line(owner)}, {int(row['sum']):,} of {int(row['size']):,})"
        for owner, row in ranked.tail(1).iterrows()
    )
    say(
        f"{gone:,} of {len(before):,} findings of {weeks.asked:%d %B}, when suppliers were asked, are gone{least}."
    )


def _show_changes(weeks: SimulatedWeeks, say: Callable[[str], object]) -> None:
    """Show what changed since the last Monday, and whose products."""
    difference = diff(weeks.monday, weeks.catalog)
    say(f"Since Monday, {day_of(weeks.monday)}: {counts_of(difference)}.")


def counts_of(difference: Difference) -> str:
    """Return how many products were added, removed, changed ..., in words that need no manual."""
    by_change = difference.summary.set_index("change")["products"]
    return ", ".join(
        f"{int(count):,} {_IN_WORDS.get(str(change), change)}" for change, count in by_change.items() if count
    )


def day_of(snapshot: str) -> date:
    """Return the day of a snapshot by its name."""
    return date.fromisoformat(snapshot.partition("@")[2][:10])


def take_answers(
    client: Client, weeks: SimulatedWeeks, judged: Audit, say: Callable[[str], object]
) -> AuditComparison | None:
    """Read the worklist of one supplier that came back, send what can be used, and prove what it fixed.

    The worklists of other suppliers are left as they are, for whoever tries it next.

    Parameters
    ----------
    judged
        An audit of the newest snapshot.

    Raises
    ------
    IncompleteLoad
        When the answers did not arrive.
    """
    file = next(iter(sorted(weeks.returned.glob("*.csv"))), None)
    if file is None:
        say("No worklist came back: what is right is known of the sample alone.")
        return None
    fix = read_worklist(file, judged.catalog, profile=judged.profile, now=judged.now)
    say(f"A supplier has sent its worklist back. {repr(fix).splitlines()[0]}")
    _show_first(
        [f"refused: cell {row.cell}: {on_one_line(row.reason)}" for row in fix.refused.itertuples()], say
    )
    if fix.accepted.empty:
        say("What it answered was sent before. prodex sandbox --reset restores the sample.")
        return None
    # The sandbox may have been reset since: of an import that it does not know nothing has arrived.
    tracking = fix.apply(client, also="unknown", progress=False).wait(progress=False)
    said = f" {on_one_line(tracking.message)}".rstrip()
    imported = f"Status {tracking.status}{said}; the audit of the refreshed catalogue proves it"
    fresh = refresh(weeks.name, client, progress=False)
    compared = compare_audits(judged, audit(fresh, judged.profile, now=judged.now, progress=False))
    fixed = compared.changes("fixed")
    if not set(fix.accepted["product_id"]) <= set(fixed["product_id"]):
        raise IncompleteLoad("The audit after the answers does not show all of them as fixed.")
    say(f"{imported}: {counted(len(fixed), 'finding')} fixed.")
    return compared
