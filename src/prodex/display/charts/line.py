"""Charts of a number over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pandas as pd

from prodex.display.charts.style import BLUE, drawn, plain, ruled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NUMBERED = 12
#: Width of a figure and height of a line, as shares of the size of the letters.
_WIDE, _HIGH = 0.62, 1.2
#: Time that is shown on both sides of a single moment.
_AROUND = timedelta(hours=12)


def steps(values: pd.Series, title: str, *, label: str = "", number: str = "{:,.0f}") -> Figure:
    """Draw a number that was recorded from time to time; between two moments it stays the same.

    Parameters
    ----------
    values
        Numbers by the moment at which they were recorded, in any order; missing ones are left out.
    title
        The answer in a sentence, or the question.
    label
        Label of the numbers, with their unit.
    number
        Format of a number; the last twelve points are labelled with it, as far as there is room: the newest first.

    Examples
    --------
    >>> days = pd.to_datetime(["2026-11-01", "2026-11-08", "2026-11-15"])
    >>> figure = steps(pd.Series([600, 598, 640], days), "640 products")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['600', '598', '640']
    """
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.ticker import MaxNLocator

    known = values.dropna().astype(float).sort_index()
    with drawn(title, 3.0) as (figure, axes):
        moments = pd.DatetimeIndex(known.index).to_pydatetime()
        axes.step(moments, known.to_numpy(), where="post", color=BLUE, linewidth=1.8)
        axes.plot(moments, known.to_numpy(), "o", color=BLUE, markersize=5)
        if known.index.nunique() == 1:  # an axis of one moment would run over years
            axes.set_xticks(moments[:1], [f"{moments[0]:%Y-%m-%d %H:%M}"])
            axes.set_xlim(moments[0] - _AROUND, moments[0] + _AROUND)
        elif len(known):
            locator = AutoDateLocator(minticks=2, maxticks=8)  # type: ignore[no-untyped-call]
            axes.xaxis.set_major_locator(locator)
            axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
        axes.set_ylabel(plain(label))
        axes.margins(x=0.06, y=0.25)
        # Whole numbers stay whole, and a course that hardly moves has no ticks that read alike.
        is_whole = bool((known == known.round()).all())
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=is_whole))
        axes.yaxis.set_major_formatter(lambda value, _: number.format(value))
        _label(figure, axes, list(zip(moments, known.tolist(), strict=True)), number)
        ruled(axes)
    return figure


def _label(figure: Figure, axes: Axes, points: Sequence[tuple[datetime, float]], number: str) -> None:
    """Label the newest points, and leave out a label that would lie upon a newer one."""
    from matplotlib.dates import date2num
    from matplotlib.font_manager import FontProperties

    figure.draw_without_rendering()  # so that it is known where the points lie
    pixels = figure.dpi / 72
    size = FontProperties().get_size_in_points() * pixels
    taken: list[tuple[float, float, float]] = []
    labels: list[tuple[str, tuple[datetime, float]]] = []
    for moment, value in reversed(points[-_NUMBERED:]):
        text = number.format(value)
        x, y = axes.transData.transform((date2num(moment), value))  # type: ignore[no-untyped-call]
        half = len(text) * _WIDE * size / 2
        if all(abs(x - one) > half + width or abs(y - high) > size * _HIGH for one, high, width in taken):
            taken.append((x, y, half))
            labels.append((text, (moment, value)))
    for text, point in reversed(labels):
        axes.annotate(text, point, (0, 6), textcoords="offset points", ha="center")
