"""Histograms of numbers or dates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from prodex.display.charts.style import BLUE, GREY, VERMILION, drawn, plain, ruled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def histogram(
    values: pd.Series,
    title: str,
    *,
    bins: Sequence[Any],
    mark: Any = None,
    mark_label: str = "",
    label: str = "",
) -> Figure:
    """Draw a histogram of numbers or dates; the columns below the mark have another colour.

    Parameters
    ----------
    values
        Numbers or dates; missing ones are left out.
    title
        The answer in a sentence, or the question.
    bins
        Edges of the columns. Values outside of them are not drawn.
    mark, mark_label
        Position and label of a line; preferably one of the edges.
    label
        Label of the values, with their unit.

    Examples
    --------
    >>> figure = histogram(pd.Series([400, 2500, 3000]), "Sizes", bins=[0, 1200, 2400, 3600], mark=1200)
    >>> [int(bar.get_height()) for bar in figure.axes[0].patches]
    [1, 0, 2]
    """
    with drawn(title, 3.2) as (figure, axes):
        axes.hist(values.dropna().to_numpy(), bins=list(bins), color=BLUE, rwidth=0.88)
        if mark is not None:
            axes.axvline(mark, color=GREY, linewidth=1.2, linestyle=(0, (4, 2)))
            for column, end in zip(axes.patches, bins[1:], strict=True):
                if end <= mark:
                    column.set_facecolor(VERMILION)
            axes.annotate(
                plain(mark_label, 80),
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
        ruled(axes)
    return figure
