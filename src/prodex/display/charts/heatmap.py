"""Heat maps: shares and scores by row and column."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Any

import pandas as pd

from prodex.display.charts.style import GREY, drawn, grid_of
from prodex.display.style import LIGHT, SCALE, shade
from prodex.messages import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_IN_CELL: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8.5}


def shares(filled: pd.DataFrame, of: pd.Series, title: str) -> Figure:
    """Draw a heat map of shares: each cell has the share of the products of its row.

    Parameters
    ----------
    filled
        Number of products that have it; rows and columns keep their order.
    of
        Number of products that could have it, for each row of `filled`. A row without products stays empty.
    title
        The answer in a sentence, or the question.

    Examples
    --------
    >>> filled = pd.DataFrame({"fr": [8, 0], "nl": [10, 0]}, index=["Belgium", "Spain"])
    >>> [text.get_text() for text in shares(filled, pd.Series([10, 0], filled.index), "Names").axes[0].texts]
    ['80 %\\n8 of 10', '100 %\\n10 of 10', '–', '–']
    """
    rows: list[list[int]] = filled.astype(int).to_numpy().tolist()
    totals: list[int] = of.reindex(filled.index).astype(int).tolist()
    parts = [
        [count / total if total else nan for count in row] for row, total in zip(rows, totals, strict=True)
    ]
    with drawn(title, 1.0 + 0.5 * max(len(rows), 1)) as (figure, axes):
        _shade_cells(axes, parts)
        for place, (row, total) in enumerate(zip(rows, totals, strict=True)):
            for column, count in enumerate(row):
                part = parts[place][column]
                shown = f"{percent(part, 0)}\n{count:,} of {total:,}" if total else "–"
                axes.text(column, place, shown, color=_ink(part), linespacing=1.4, **_IN_CELL)
        grid_of(axes, filled)
    return figure


def heat(values: pd.DataFrame, title: str) -> Figure:
    """Draw a heat map of scores from 0 to 1, the lower the darker; a cell without one stays empty.

    Parameters
    ----------
    values
        Scores; rows and columns keep their order.
    title
        The answer in a sentence, or the question.

    Examples
    --------
    >>> scores = pd.DataFrame({"texts": [0.5, 1.0], "food": [0.9999, nan]}, index=["Milk", "Soap"])
    >>> [text.get_text() for text in heat(scores, "Scores").axes[0].texts]
    ['50.0 %', '99.9 %', '100 %', '–']
    """
    rows: list[list[float]] = values.astype(float).to_numpy().tolist()
    with drawn(title, 1.0 + 0.36 * max(len(rows), 1)) as (figure, axes):
        _shade_cells(axes, rows)
        for place, row in enumerate(rows):
            for column, value in enumerate(row):
                shown = "–" if isnan(value) else percent(value)
                axes.text(column, place, shown, color=_ink(value), **_IN_CELL)
        grid_of(axes, values)
    return figure


def _shade_cells(axes: Axes, scores: list[list[float]]) -> None:
    """Draw the ground of each cell, except of cells without a score; lines part those that are as white as the page."""
    from matplotlib.colors import ListedColormap

    if not any(scores):  # matplotlib refuses an image of nothing
        return
    places = [[nan if isnan(score) else shade(score) for score in row] for row in scores]
    colours = ListedColormap([one.light for one in SCALE])
    axes.imshow(places, cmap=colours, vmin=0, vmax=len(SCALE) - 1, aspect="auto")
    axes.set_xticks([column + 0.5 for column in range(len(scores[0]) - 1)], minor=True)
    axes.set_yticks([place + 0.5 for place in range(len(scores) - 1)], minor=True)
    axes.grid(which="minor", color=GREY, alpha=0.35, linewidth=0.5)


def _ink(score: float) -> str:
    """Return the colour of the letters on a cell."""
    return GREY if isnan(score) else LIGHT[SCALE[shade(score)].ink]
