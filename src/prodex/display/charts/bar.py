"""Bar charts: numbers, and shares of a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from prodex.display.charts.style import BLUE, GREY, STEPS, drawn, horizontal_bars, plain
from prodex.messages import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: About how wide a letter in a segment is, as a share of the bar.
_LETTER = 0.012


def bars(
    values: pd.Series, title: str, *, of: int | None = None, number: str = "{:,.0f}", longest: int = 40
) -> Figure:
    """Draw one bar for each value, the first on top.

    Parameters
    ----------
    values
        The values, labelled by the index.
    title
        The answer in a sentence, or the question.
    of
        Number of all; each bar is then labelled with its share as well.
    number
        Format of a value.
    longest
        Most characters of a label.

    Examples
    --------
    >>> figure = bars(pd.Series({"Milk": 30, "Bread": 10}), "Milk leads", of=40)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['30 (75 %)', '10 (25 %)']
    """
    with drawn(title, 0.8 + 0.32 * max(len(values), 1)) as (figure, axes):
        axes.barh(range(len(values)), values.astype(float), color=BLUE, height=0.7)
        for place, value in enumerate(values.astype(float).tolist()):
            share = f" ({percent(value / of, 0)})" if of else ""
            axes.annotate(
                number.format(value) + share, (value, place), (4, 0), textcoords="offset points", va="center"
            )
        axes.margins(x=0.12, y=0.02)
        horizontal_bars(axes, values.index, longest)
    return figure


def stacks(counts: pd.DataFrame, title: str) -> Figure:
    """Draw one bar for each row, with a segment for each column, the best on the left.

    All bars have the same length: they show shares. A segment shows its name and share if it is wide enough.

    Parameters
    ----------
    counts
        Up to five columns, from the best to the worst.
    title
        The answer in a sentence, or the question.

    Examples
    --------
    >>> grades = pd.DataFrame({"A": [6, 8], "B": [4, 2]}, index=["May", "June"])
    >>> [text.get_text() for text in stacks(grades, "Grades").axes[0].texts]
    ['A 60 %', 'B 40 %', 'A 80 %', 'B 20 %']
    """
    from matplotlib.patches import Patch

    with drawn(title, 0.9 + 0.42 * max(len(counts), 1)) as (figure, axes):
        for place, row in enumerate(counts.astype(float).to_numpy().tolist()):
            total, left = sum(row), 0.0
            for name, value, colour in zip(counts.columns, row, STEPS, strict=False):
                part = value / total if total else 0.0
                axes.barh(place, part, left=left, color=colour, height=0.7, edgecolor=GREY, linewidth=0.4)
                shown = f"{plain(name)} {percent(part, 0)}"
                if part > _LETTER * len(shown):
                    ink = "white" if colour == BLUE else "black"
                    axes.text(left + part / 2, place, shown, ha="center", va="center", fontsize=9, color=ink)
                left += part
        axes.set_xlim(0, 1)
        horizontal_bars(axes, counts.index)
        patches = [Patch(facecolor=colour, edgecolor=GREY) for colour in STEPS[: len(counts.columns)]]
        names = [plain(name) for name in counts.columns]
        below: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0, -0.02)}
        axes.legend(patches, names, ncols=len(patches), frameon=False, **below)
    return figure
