"""Charts in one style: figures and their answer go in, a matplotlib `Figure` comes out.

The style holds on a light and on a dark page: nothing is painted behind the chart, letters are a grey that both
carry, and colours are told apart by everybody (Okabe and Ito's blue and vermilion; cividis for shares). What suppliers
typed is drawn letter by letter: no maths, no line breaks, and a box for what no font has.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _VERMILION, _GREY = "#0072B2", "#D55E00", "#7A7A7A"
#: From good to bad, told apart by everybody.
_STEPS = (_BLUE, "#56B4E9", "#F0E442", "#E69F00", _VERMILION)
#: Where the shades of a heat map of scores change: most scores stand near the top, and so do the steps.
SCORES = (0.6, 0.8, 0.9, 0.95, 0.97, 0.99, 1.0)
_SHADES = ("#ffffff", "#fff5eb", "#fee6ce", "#fdd0a2", "#fdae6b", "#f58a3c", "#b53d02", "#7f2704")
_FONT = "DejaVu Sans"  # comes with matplotlib
_WIDTH = 8.0  # inches, of 128 dots each: as wide as a notebook's column
_LABEL = 40  # characters
_STYLE: dict[Any, Any] = {
    "axes.edgecolor": _GREY,
    "axes.facecolor": "none",
    "axes.labelcolor": _GREY,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 128,
    "figure.facecolor": "none",
    "font.family": [_FONT],
    "font.size": 10,
    "savefig.facecolor": "none",
    "text.color": _GREY,
    "text.parse_math": False,
    "xtick.color": _GREY,
    "ytick.color": _GREY,
}


def bars(values: pd.Series, title: str, *, of: int | None = None, number: str = "{:,.0f}") -> Figure:
    """Draw one bar for each value, the first on top.

    Parameters
    ----------
    values
        What to draw, labelled by the index.
    title
        The answer in a sentence, or the question.
    of
        How many there are in all; each bar then says its share of them.
    number
        How a value is written.

    Examples
    --------
    >>> figure = bars(pd.Series({"Milk": 30, "Bread": 10}), "Milk leads", of=40)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['30 (75 %)', '10 (25 %)']
    """
    with _drawn(title, 0.8 + 0.32 * max(len(values), 1)) as (figure, axes):
        places = range(len(values))
        axes.barh(places, values.astype(float), color=_BLUE, height=0.7)
        axes.set_yticks(places, [_plain(label) for label in values.index])
        axes.invert_yaxis()
        for place, value in enumerate(values.astype(float).tolist()):
            share = f" ({_percent(value / of)})" if of else ""
            axes.annotate(
                number.format(value) + share, (value, place), (4, 0), textcoords="offset points", va="center"
            )
        axes.margins(x=0.12, y=0.02)
        axes.tick_params(length=0)
        axes.xaxis.set_visible(False)
        axes.spines[["bottom", "left"]].set_visible(False)
    return figure


def shares(filled: pd.DataFrame, of: pd.Series, title: str) -> Figure:
    """Draw a heat map of shares: in each cell how many of its row's products.

    Parameters
    ----------
    filled
        How many have it; rows and columns are drawn as they stand.
    of
        How many could have it, for each row of `filled`. A row of which there is none stays empty.
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
    with _drawn(title, 1.0 + 0.5 * max(len(rows), 1)) as (figure, axes):
        if any(parts):  # matplotlib refuses an image of nothing
            axes.imshow(parts, cmap=colormaps["cividis"], vmin=0, vmax=1, aspect="auto")
        for place, (row, total) in enumerate(zip(rows, totals, strict=True)):
            for column, count in enumerate(row):
                part = parts[place][column]
                axes.text(
                    column,
                    place,
                    f"{_percent(part)}\n{count:,} of {total:,}" if total else "–",
                    ha="center",
                    va="center",
                    fontsize=8.5,
                    linespacing=1.4,
                    color=("black" if part > 0.55 else "white") if total else _GREY,
                )
        axes.set_xticks(range(len(filled.columns)), [_plain(label) for label in filled.columns])
        axes.set_yticks(range(len(rows)), [_plain(label) for label in filled.index])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return figure


def heat(values: pd.DataFrame, title: str) -> Figure:
    """Draw a heat map of scores from 0 to 1, the lower the darker; a cell without one stays empty.

    Parameters
    ----------
    values
        Scores; rows and columns are drawn as they stand.
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
    with _drawn(title, 1.0 + 0.36 * max(len(rows), 1)) as (figure, axes):
        if any(row for row in rows):
            axes.imshow(shades, cmap=ListedColormap(_SHADES), vmin=0, vmax=len(SCORES), aspect="auto")
        for place, row in enumerate(rows):
            for column, value in enumerate(row):
                ink = _GREY if isnan(value) else "white" if shades[place][column] > 5 else "black"
                said = "–" if isnan(value) else _percent(value, 1)
                axes.text(column, place, said, ha="center", va="center", fontsize=8.5, color=ink)
        axes.set_xticks(range(len(values.columns)), [_plain(label) for label in values.columns])
        axes.set_yticks(range(len(rows)), [_plain(label) for label in values.index])
        axes.set_xticks([column + 0.5 for column in range(len(values.columns) - 1)], minor=True)
        axes.set_yticks([place + 0.5 for place in range(len(rows) - 1)], minor=True)
        axes.grid(which="minor", color=_GREY, alpha=0.35, linewidth=0.5)
        axes.xaxis.tick_top()
        axes.tick_params(which="both", length=0)
        axes.spines[:].set_visible(False)
    return figure


def shade(score: float) -> int:
    """Return how dark a score is drawn: 0 where nothing is missing, then a step for each of `SCORES` that it misses.

    >>> shade(1.0), shade(0.999), shade(0.5)
    (0, 1, 7)
    """
    return len(SCORES) - bisect_right(SCORES, score)


def stacks(counts: pd.DataFrame, title: str) -> Figure:
    """Draw one bar for each row, made of a piece for each column, the best on the left.

    Every bar is as long as the others: it shows shares. A piece that is wide enough says which it is and its share.

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

    with _drawn(title, 0.9 + 0.42 * max(len(counts), 1)) as (figure, axes):
        for place, row in enumerate(counts.astype(float).to_numpy().tolist()):
            total, left = sum(row), 0.0
            for name, value, colour in zip(counts.columns, row, _STEPS, strict=False):
                part = value / total if total else 0.0
                axes.barh(place, part, left=left, color=colour, height=0.7, edgecolor=_GREY, linewidth=0.4)
                if part > 0.07:
                    said = f"{_plain(name)} {_percent(part)}"
                    ink = "white" if colour == _BLUE else "black"
                    axes.text(left + part / 2, place, said, ha="center", va="center", fontsize=9, color=ink)
                left += part
        axes.set_yticks(range(len(counts)), [_plain(label) for label in counts.index])
        axes.set_xlim(0, 1)
        axes.invert_yaxis()
        axes.tick_params(length=0)
        axes.xaxis.set_visible(False)
        axes.spines[["bottom", "left"]].set_visible(False)
        patches = [Patch(facecolor=colour, edgecolor=_GREY) for colour in _STEPS[: len(counts.columns)]]
        axes.legend(
            patches,
            [_plain(name) for name in counts.columns],
            loc="upper left",
            bbox_to_anchor=(0, -0.02),
            ncols=len(patches),
            frameon=False,
        )
    return figure


def histogram(
    values: pd.Series,
    title: str,
    *,
    bins: Sequence[Any],
    mark: Any = None,
    mark_label: str = "",
    label: str = "",
) -> Figure:
    """Draw how numbers or dates are spread; what lies below the mark stands out.

    Parameters
    ----------
    values
        Numbers or dates; missing ones are left out.
    title
        The answer in a sentence, or the question.
    bins
        Edges of the columns. A value outside of them is not drawn, so let them reach far enough.
    mark, mark_label
        Where to draw a line, and what to write beside it; best an edge.
    label
        What the values are, with their unit.

    Examples
    --------
    >>> figure = histogram(pd.Series([400, 2500, 3000]), "Sizes", bins=[0, 1200, 2400, 3600], mark=1200)
    >>> [int(bar.get_height()) for bar in figure.axes[0].patches]
    [1, 0, 2]
    """
    with _drawn(title, 3.2) as (figure, axes):
        axes.hist(values.dropna().to_numpy(), bins=list(bins), color=_BLUE, rwidth=0.88)
        if mark is not None:
            axes.axvline(mark, color=_GREY, linewidth=1.2, linestyle=(0, (4, 2)))
            for column, end in zip(axes.patches, bins[1:], strict=True):
                if end <= mark:
                    column.set_facecolor(_VERMILION)
            axes.annotate(
                _plain(mark_label, 80),
                (mark, 1),
                (5, 0),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                va="top",
            )
        axes.set_xlabel(label)
        axes.set_ylim(top=axes.get_ylim()[1] * 1.12)  # room for the mark's label
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        if not pd.api.types.is_datetime64_any_dtype(values):
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="y", color=_GREY, alpha=0.3, linewidth=0.6)
        axes.set_axisbelow(True)
    return figure


@contextmanager
def _drawn(title: str, height: float) -> Iterator[tuple[Figure, Axes]]:
    """Give a figure in our style with one pair of axes; other figures keep theirs."""
    import matplotlib.pyplot as plt  # a notebook learns from it how to show a figure

    with plt.rc_context(_STYLE):
        figure = plt.figure(figsize=(_WIDTH, height), layout="constrained")
        plt.close(figure)  # pyplot would show it a second time
        axes = figure.add_subplot()
        figure.suptitle(_plain(title, 90), x=0.01, ha="left", fontsize=12, fontweight="bold")
        yield figure, axes


def _percent(part: float, digits: int = 0) -> str:
    """Write a share so that 100 % is all of them and 0 % is none: what is nearly so is not rounded to it.

    >>> _percent(1), _percent(0.9996), _percent(0.0004), _percent(0.57), _percent(0.9996, 1)
    ('100 %', '>99 %', '<1 %', '57 %', '99.9 %')
    """
    if digits and 0 < part < 1:
        least = 10.0 ** -(digits + 2)
        return f"{min(max(part, least), 1 - least):.{digits}%}".replace("%", " %")
    if 0 < part < 1 and round(part, 2) in {0, 1}:
        return "<1 %" if part < 0.5 else ">99 %"
    return f"{part:.0%}".replace("%", " %")


def _plain(label: object, length: int = _LABEL) -> str:
    """Write a label on one line, no longer than `length`, in characters that the font has."""
    words = " ".join(
        "".join(" " if unicodedata.category(c) in {"Cc", "Cf"} else c for c in str(label)).split()
    )
    known = "".join(c if ord(c) in _glyphs() else "\N{WHITE SQUARE}" for c in words)
    return known if len(known) <= length else known[: length - 1] + "…"


@lru_cache(maxsize=1)
def _glyphs() -> frozenset[int]:
    from matplotlib import font_manager

    return frozenset(font_manager.get_font(font_manager.findfont(_FONT)).get_charmap())
