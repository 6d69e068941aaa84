"""What a watch has found, as rows: each figure that is not usual, with a sentence about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Any, NamedTuple

from prodex.quality.figures import Figures
from prodex.quality.local_days import local
from prodex.quality.measures import MEASURES, NONE
from prodex.quality.unusual import WINDOW, FigureKind, FigureState, Judgement, Series
from prodex.text import counted, percent

_A_DAY = timedelta(days=1)

#: The measure of a finding that is about the audits themselves.
LATE = "audits"


class Figure(NamedTuple):
    """A figure: the name of its measure, its supplier where it is one of several attributes, its group, its values."""

    measure: str
    supplier: str
    group: str
    series: Series


def _label(history: Sequence[Figures], by: str, group: str) -> str:
    """Return the newest name of a group: a supplier that is gone has one in earlier audits only."""
    named = (one.labels[by][group] for one in reversed(history) if group in one.labels.get(by, {}))
    return next(named, group)


def finding(
    figure: Figure,
    found: Judgement,
    history: Sequence[Figures],
    zone: tzinfo | None = None,
    *,
    is_silent: bool = False,
) -> dict[str, Any]:
    """Return the row of a figure that is not usual.

    Parameters
    ----------
    figure
        The figure.
    found
        What was found of it at the last audit.
    history
        The figures of all audits, which have names and times.
    zone
        Whose days sentences name; those of this machine where it is None.
    is_silent
        Whether it was found by several days on which nothing was counted.
    """
    label = _label(history, MEASURES[figure.measure].by, figure.group)
    supplier = _label(history, "supplier", figure.supplier) if figure.supplier else NONE
    value = figure.series.values[-1]
    since = history[found.since].moment
    day = f"{local(since, zone):%Y-%m-%d}"
    subject = MEASURES[figure.measure].subject.format(label, supplier)
    words = _silence(subject, found) if is_silent else _sentence(figure, subject, value, found)
    lasts = {
        FigureState.NEW: "",
        FigureState.LASTING: f" Since {day}.",
        FigureState.OVER: f" As usual again; it was not since {day}.",
    }[found.state]
    return {
        "measure": figure.measure,
        "supplier": figure.supplier,
        "group": figure.group,
        "label": label,
        "state": str(found.state),
        "now": value,
        "usual_low": found.low,
        "usual_high": found.high,
        "distance": round(found.distance, 1),
        "audits": found.audits,
        "since": since,
        "sentence": f"{words}{lasts}",
    }


def _sentence(figure: Figure, subject: str, value: float, found: Judgement) -> str:
    measure = MEASURES[figure.measure]
    low, high, now = (_written(one, measure.kind) for one in (found.low, found.high, value))
    usual = low if low == high else f"{low} to {high}"
    what = f" {measure.what}" if measure.what else ""
    return f"{subject}: {now}{what}, usually {usual} ({found.audits} audits)."


def _silence(subject: str, found: Judgement) -> str:
    return f"{subject}: none for {counted(found.audits, 'audit')}, usually {found.high:,.0f} in that time."


def _written(value: float, kind: FigureKind) -> str:
    if kind is FigureKind.SHARE:
        return percent(value, 0 if value in (0, 1) else 1)
    return f"{value:,.0f}"


def late(history: Sequence[Figures], now: datetime | None) -> Iterator[dict[str, Any]]:
    """Yield that audits have stopped, if the newest one is older than any was when the next one came."""
    if now is None:
        return
    # By when they were made: an earlier snapshot may have been audited again later.
    made = sorted(one.audited_at for one in history)
    days = [(later - one) / _A_DAY for one, later in pairwise(made)]
    age = (now - history[-1].audited_at) / _A_DAY
    usual = max(days[-WINDOW:])
    # At least a day and a half more, since a job may start later than usual.
    if age <= usual + max(usual, 1.5):
        return
    yield {
        "measure": LATE,
        "supplier": NONE,
        "group": NONE,
        "label": NONE,
        "state": str(FigureState.NEW),
        "now": age,
        "usual_low": min(days[-WINDOW:]),
        "usual_high": usual,
        "distance": round((age - usual) / 0.5, 1),
        "audits": len(days),
        "since": history[-1].moment,
        "sentence": f"The newest audit is {age:.1f} days old; until now there was one at least every {usual:.1f} days.",
    }
