"""The snapshots of a name over time: the number of products, and their grades, as charts with their data as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor, log10
from typing import Any

import pandas as pd

from prodex.display.charts import grades_sentence
from prodex.notebook.session.actions import Block, Want
from prodex.notebook.session.readings import last_read, reading
from prodex.notebook.session.session import Session
from prodex.notebook.views.audits_before import readable
from prodex.notebook.views.blocks import (
    box,
    columns_of,
    fold,
    heading,
    paragraph,
    table,
    typed_text,
    work,
)
from prodex.notebook.views.saved_snapshots import SnapshotEntry
from prodex.phrases import counted, percent
from prodex.progress import PATIENCE, SILENT, Reporter
from prodex.quality import list_audits

_AUDITS = 12
_GRADES = "ABCDE"
#: Ticks of an axis, and the newest points that are labelled.
_TICKS, _LABELLED = 5, 12
#: Share of the bar from which on a segment has room for its words.
_ROOM = 0.09
_SLOT = "snapshots.trend"


@dataclass(frozen=True, eq=False)
class SnapshotTrend:
    """The snapshots of a name over time.

    Attributes
    ----------
    name
        The name of the snapshots.
    products
        Number of products of each, by the time at which it was made, oldest first.
    grades
        `Audit.trend` of the saved audits by the profile that was used last; None if none is saved.
    audits
        Number of saved audits by that profile.
    unread
        Why one of the saved audits cannot be read; "" where all can.
    """

    name: str
    products: pd.Series
    grades: pd.DataFrame | None
    audits: int
    unread: str = ""


def trend_wants(name: str, snapshots: tuple[SnapshotEntry, ...]) -> Iterable[Want]:
    """Yield what is to be read for the charts of a name."""
    options: dict[str, Any] = {"title": "Reading the snapshots", "after": PATIENCE, "is_dropped": True}
    yield reading(_SLOT, (name, snapshots), partial(read_trend, name, snapshots), failed=None, **options)


def trend_blocks(session: Session, name: str) -> list[Block]:
    """Return the charts of a name, once they are read."""
    trend: SnapshotTrend | None = last_read(session, _SLOT).value
    # While another name is read, nothing is shown of the one before.
    charts = [_products(session, trend), _grades(session, trend)] if trend and trend.name == name else []
    shown = box(*charts, key="charts", look="charts")
    return [one for one in (heading(f"\u2068{name}\u2069 over time"), work(session, _SLOT), shown) if one]


def read_trend(name: str, snapshots: tuple[SnapshotEntry, ...], reporter: Reporter = SILENT) -> SnapshotTrend:
    """Read the snapshots of a name: numbers of products from the list, grades from the saved audits."""
    own = [one for one in reversed(snapshots) if one.name == name and one.products is not None]
    # The name of a folder is its time; a folder that somebody renamed has none.
    moments = pd.to_datetime([one.moment for one in own], errors="coerce")
    products = pd.Series([one.products for one in own], moments, dtype="float64")
    products = products[products.index.notna()]
    audits = list_audits(name)
    unread = next((note for note in audits["note"] if note), "")
    audits = audits[audits["note"] == ""]
    # Grades of different profiles are not comparable, so only those of the profile that was used last are drawn.
    alike = audits[audits["profile"].isin(audits["profile"].tail(1))]
    if not (opened := readable(alike["folder"].tail(_AUDITS), reporter)):
        return SnapshotTrend(name, products, None, 0, unread)
    *before, last = opened
    with reporter.phase("Comparing saved audits"):
        grades = last.trend(before)
    return SnapshotTrend(name, products, grades, len(alike), unread)


def _products(session: Session, trend: SnapshotTrend) -> Block:
    """Draw how many products there were."""
    number = len(trend.products)
    if not number:
        return paragraph("No snapshot says how many products it has.", key="products", tone="muted")
    title = counted(int(trend.products.iloc[-1]), "product")
    if number == 1:
        made = f"made {trend.products.index[-1]:%Y-%m-%d %H:%M} UTC"
        return paragraph(f"{title} in the only snapshot, {made}.", key="products")
    title = f"{title} in the newest of {number:,} snapshots"
    rows = [(f"{moment:%Y-%m-%d %H:%M}", f"{value:,.0f}") for moment, value in trend.products.items()]
    chart = {"kind": "steps", "key": "chart", "title": title, **_steps(trend.products)}
    return _chart(session, "products", title, chart, ("Made (UTC)", "Products"), rows)


def _grades(session: Session, trend: SnapshotTrend) -> Block:
    """Draw how the products were graded, or explain what is needed for that."""
    missing = paragraph(typed_text(trend.unread), key="unread", tone="muted") if trend.unread else None
    if trend.grades is None:
        how = (
            "'Save audit' in the section Quality"
            if session.can("export.save")
            else "'prodex audit NAME --save' in a terminal"
        )
        advice = f"No audit of these snapshots is saved. Save one with {how} to see the grades over time."
        return missing or paragraph(advice, key="grades", tone="muted")
    alike = trend.grades[trend.grades["comparable"]].tail(_AUDITS)
    said = str(grades_sentence(trend.grades))
    if len(alike) == 1:
        last = alike.iloc[-1]
        which = f"by profile {last['profile']} as of {last['now']:%Y-%m-%d %H:%M}"
        only = paragraph(typed_text(f"{said} in the only comparable audit, {which}."), key="only")
        return box(only, missing, key="grades")
    records = alike.to_dict("records")
    rows = [
        (
            f"{one['now']:%Y-%m-%d %H:%M}",
            *(f"{one[f'grade_{grade}']:,}" for grade in _GRADES),
            f"{one['ready_products']:,} ({percent(one['ready'])})",
            f"{one['not_ready_products']:,}",
            f"{one['undecided_products']:,}",
        )
        for one in records
    ]
    more = f", {len(rows)} of {trend.audits:,} audits" if trend.audits > len(rows) else ""
    title = f"{said}; profile {trend.grades['profile'].iloc[-1]}{more}"
    chart = {"kind": "stacks", "key": "chart", "title": title, "names": [*_GRADES], "rows": _stacks(records)}
    columns = ("Audit as of", *_GRADES, "Ready", "Not ready", "Undecided")
    return box(_chart(session, "grades", title, chart, columns, rows), missing, key="grades")


def _chart(
    session: Session,
    key: str,
    title: str,
    chart: Block,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
) -> Block:
    """Return a chart with its title, and below it its data as a table for those who cannot see it."""
    listed = [{"key": str(place), "cells": [*cells]} for place, cells in enumerate(rows)]
    data = table(columns_of(columns), listed, key="data", label=title)
    below = fold(session, f"trend {key}", "Data as a table", lambda: [data])
    return box(heading(f"\u2068{title}\u2069", key="title", level=4), chart, below, key=key, look="chart")


def _steps(values: pd.Series) -> dict[str, Any]:
    """Return a course as places from 0 to 1, from the left and from below, with ticks and words.

    >>> days = pd.to_datetime(["2026-11-01", "2026-11-08", "2026-11-15"])
    >>> course = _steps(pd.Series([600.0, 598.0, 640.0], days))
    >>> [one["x"] for one in course["points"]], [one["words"] for one in course["points"]]
    ([0.0, 0.5, 1.0], ['600', '598', '640'])
    >>> [one["words"] for one in course["up"]], [one["words"] for one in course["along"]]
    (['580', '600', '620', '640'], ['2026-11-01', '2026-11-08', '2026-11-15'])
    """
    known = values.sort_index()
    numbers, moments = known.tolist(), pd.DatetimeIndex(known.index)
    ticks = _ticks(min(numbers), max(numbers))
    low, high = ticks[0], ticks[-1]
    first, span = moments[0], (moments[-1] - moments[0]).total_seconds()
    # Names of folders tell seconds, of which one may have several snapshots.
    across = [
        round((moment - first).total_seconds() / span if span else place / (len(moments) - 1), 4)
        for place, moment in enumerate(moments)
    ]
    # Within one day the time tells points apart.
    is_day = moments[0].date() == moments[-1].date()
    named = [f"{moment:%H:%M}" if is_day else f"{moment:%Y-%m-%d}" for moment in moments]
    places = sorted({round(at * (len(moments) - 1) / (_TICKS - 1)) for at in range(_TICKS)})
    labelled = len(moments) - _LABELLED
    points = [
        {
            "x": x,
            "y": round((number - low) / (high - low), 4),
            "words": f"{number:,.0f}" if place >= labelled else "",
            "hint": f"{moment:%Y-%m-%d %H:%M} UTC: {counted(int(number), 'product')}",
        }
        for place, (x, number, moment) in enumerate(zip(across, numbers, moments, strict=True))
    ]
    up = [{"at": round((one - low) / (high - low), 4), "words": f"{one:,.0f}"} for one in ticks]
    along = [{"at": across[place], "words": named[place]} for place in places]
    return {"points": points, "up": up, "along": along}


def _ticks(low: float, high: float) -> list[float]:
    """Return round whole numbers around a range.

    >>> _ticks(3.0, 3.0), _ticks(0.0, 12_000.0)
    ([2.0, 3.0, 4.0], [0.0, 5000.0, 10000.0, 15000.0])
    """
    if high - low < 1:
        return [max(0.0, low - 1), low, low + 1] if low else [0.0, 1.0]
    rough = (high - low) / (_TICKS - 1)
    power = 10 ** floor(log10(rough))
    step = max(1.0, next(one * power for one in (1.0, 2.0, 5.0, 10.0) if one * power >= rough))
    begin = floor(low / step)
    ends = [place * step for place in range(begin, begin + 2 * _TICKS)]
    return ends[: next(place for place, one in enumerate(ends) if one >= high) + 1]


def _stacks(records: Sequence[dict[Any, Any]]) -> list[Block]:
    days = [f"{one['now']:%Y-%m-%d}" for one in records]
    once = len(set(days)) == len(days)
    rows = []
    for place, one in enumerate(records):
        counts = [int(one[f"grade_{grade}"]) for grade in _GRADES]
        total = sum(counts)
        shares = [number / total if total else 0.0 for number in counts]
        parts = [
            {
                "share": round(share, 4),
                "words": f"{grade} {percent(share, 0)}" if share >= _ROOM else "",
                "hint": f"{grade}: {counted(number, 'product')} ({percent(share, 0)})",
            }
            for grade, share, number in zip(_GRADES, shares, counts, strict=True)
        ]
        label = days[place] if once else f"{one['now']:%Y-%m-%d %H:%M}"
        rows.append({"key": str(place), "label": label, "parts": parts})
    return rows
