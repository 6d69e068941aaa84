"""Heat maps: shares and scores by row and column."""

from __future__ import annotations

from bisect import bisect_right
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import pandas as pd

from prodex.display.charts.style import GREY, drawn, grid_of
from prodex.display.style import SHADES
from prodex.messages import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Where the shades of a heat map of scores change: most scores are near the top, and so are the steps.
SCORES = (0.6, 0.8, 0.9, 0.95, 0.97, 0.99, 1.0)

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
    from matplotlib import colormaps

    rows: list[list[int]] = filled.astype(int).to_numpy().tolist()
    totals: list[int] = of.reindex(filled.index).astype(int).tolist()
    parts = [
        [count / total if total else nan for count in row] for row, total in zip(rows, totals, strict=True)
    ]
    with drawn(title, 1.0 + 0.5 * max(len(rows), 1)) as (figure, axes):
        if any(parts):  # matplotlib refuses an image of nothing
            axes.imshow(parts, cmap=colormaps["cividis"], vmin=0, vmax=1, aspect="auto")
        for place, (row, total) in enumerate(zip(rows, totals, strict=True)):
            for column, count in enumerate(row):
                part = parts[place][column]
                shown = f"{percent(part, 0)}\n{count:,} of {total:,}" if total else "–"
                # cividis runs from dark blue to light yellow; the text changes where both inks have the same contrast.
                ink = ("black" if part > 0.55 else "white") if total else GREY
                axes.text(column, place, shown, color=ink, linespacing=1.4, **_IN_CELL)
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
    from matplotlib.colors import ListedColormap

    rows: list[list[float]] = values.astype(float).to_numpy().tolist()
    shades = [[nan if isnan(value) else shade(value) for value in row] for row in rows]
    with drawn(title, 1.0 + 0.36 * max(len(rows), 1)) as (figure, axes):
        if any(row for row in rows):
            axes.imshow(shades, cmap=ListedColormap(SHADES), vmin=0, vmax=len(SCORES), aspect="auto")
        for place, row in enumerate(rows):
            for column, value in enumerate(row):
                ink = GREY if isnan(value) else "white" if shades[place][column] > 5 else "black"
                shown = "–" if isnan(value) else percent(value)
                axes.text(column, place, shown, color=ink, **_IN_CELL)
        axes.set_xticks([column + 0.5 for column in range(len(values.columns) - 1)], minor=True)
        axes.set_yticks([place + 0.5 for place in range(len(rows) - 1)], minor=True)
        axes.grid(which="minor", color=GREY, alpha=0.35, linewidth=0.5)
        grid_of(axes, values)
    return figure


def shade(score: float) -> int:
    """Return the shade of a score: 0 if nothing fails, and one more for each of `SCORES` that it does not reach.

    >>> shade(1.0), shade(0.999), shade(0.5)
    (0, 1, 7)
    """
    return len(SCORES) - bisect_right(SCORES, score)
