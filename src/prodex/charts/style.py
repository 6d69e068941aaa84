"""The one style of all charts, which holds on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from prodex.charts.fonts import families, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#7A7A7A"
#: From good to bad, told apart by everybody.
STEPS = (BLUE, "#56B4E9", "#F0E442", "#E69F00", VERMILION)

_WIDTH = 8.0  # inches, of 128 dots each: as wide as a notebook's column
_STYLE: dict[Any, Any] = {
    "axes.edgecolor": GREY,
    "axes.facecolor": "none",
    "axes.labelcolor": GREY,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 128,
    "figure.facecolor": "none",
    "font.size": 10,
    "savefig.facecolor": "none",
    "text.color": GREY,
    "text.parse_math": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
}


@contextmanager
def drawn(title: str, height: float) -> Iterator[tuple[Figure, Axes]]:
    """Give a figure in our style with one pair of axes; other figures keep theirs."""
    import matplotlib.pyplot as plt  # a notebook learns from it how to show a figure

    with plt.rc_context({**_STYLE, "font.family": list(families())}):
        figure = plt.figure(figsize=(_WIDTH, height), layout="constrained")
        plt.close(figure)  # pyplot would show it a second time
        axes = figure.add_subplot()
        figure.suptitle(plain(title, 90, "bold"), x=0.01, ha="left", fontsize=12, fontweight="bold")
        yield figure, axes


def percent(part: float, digits: int = 0) -> str:
    """Write a share so that 100 % is all of them and 0 % is none: what is nearly so is not rounded to it.

    >>> percent(1), percent(0.9996), percent(0.0004), percent(0.57), percent(0.9996, 1)
    ('100 %', '>99 %', '<1 %', '57 %', '99.9 %')
    """
    if digits and 0 < part < 1:
        least = 10.0 ** -(digits + 2)
        return f"{min(max(part, least), 1 - least):.{digits}%}".replace("%", " %")
    if 0 < part < 1 and round(part, 2) in {0, 1}:
        return "<1 %" if part < 0.5 else ">99 %"
    return f"{part:.0%}".replace("%", " %")
