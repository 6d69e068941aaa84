"""The style of all charts, for light and dark pages."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: Tried in this order for each character. The first and the last come with matplotlib; the others are installed by
#: operating systems for other scripts. Fonts with coloured emoji are not among them: matplotlib cannot draw these.
_WANTED = (
    "DejaVu Sans",
    # Linux has a font for each script.
    *("Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Arabic", "Noto Sans Hebrew"),
    *("Noto Sans Thai", "Noto Sans Devanagari", "Noto Sans Symbols 2", "Noto Emoji", "Symbola"),
    # macOS and Windows have one for many scripts, and others for East Asia.
    *("Arial Unicode MS", "Hiragino Sans", "PingFang SC", "Apple SD Gothic Neo"),
    *("Yu Gothic", "Microsoft YaHei", "Malgun Gothic", "Segoe UI Symbol"),
    "STIXGeneral",
)
_BOX = "\N{WHITE SQUARE}"
_LABEL = 40  # characters


def plain(label: object, length: int = _LABEL, weight: str = "normal") -> str:
    """Return a label on one line, with at most `length` characters, all of which the fonts have.

    >>> plain("$5 or\\n$6"), plain("x" * 50)[-3:], plain("\\U0001f9e8")
    ('$5 or $6', 'xx…', '□')
    """
    words = " ".join(
        "".join(" " if unicodedata.category(c) in {"Cc", "Cf"} else c for c in str(label)).split()
    )
    cut = words if len(words) <= length else words[: length - 1] + "…"
    return "".join(c if ord(c) in _glyphs(weight) else _BOX for c in cut)


@cache
def families() -> tuple[str, ...]:
    """Return the fonts that are installed."""
    from matplotlib import font_manager

    known = set(font_manager.fontManager.get_font_names())
    return tuple(name for name in _WANTED if name in known)


@cache
def _glyphs(weight: str) -> frozenset[int]:
    """Return the characters that the fonts have; bold fonts have fewer."""
    from matplotlib import font_manager

    wanted = [font_manager.FontProperties(family=name, weight=weight) for name in families()]
    paths = [font_manager.findfont(one, fallback_to_default=False) for one in wanted]
    return frozenset().union(*(font_manager.get_font(path).get_charmap() for path in paths))


BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#7A7A7A"
#: From good to bad, in colours that everybody can distinguish.
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
    """Provide a figure in our style with one pair of axes; other figures keep their style."""
    import matplotlib.pyplot as plt  # a notebook learns from it how to show a figure

    with plt.rc_context({**_STYLE, "font.family": list(families())}):
        figure = plt.figure(figsize=(_WIDTH, height), layout="constrained")
        plt.close(figure)  # pyplot would show it a second time
        axes = figure.add_subplot()
        figure.suptitle(plain(title, 90, "bold"), x=0.01, ha="left", fontsize=12, fontweight="bold")
        yield figure, axes


def ruled(axes: Axes) -> None:
    """Draw faint lines across, in place of the axis on the left."""
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)


def horizontal_bars(axes: Axes, labels: Iterable[object], longest: int = _LABEL) -> None:
    """Name bars on the left, the first on top, and draw no axes: each bar is labelled."""
    names = [plain(label, longest) for label in labels]
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.xaxis.set_visible(False)
    axes.spines[["bottom", "left"]].set_visible(False)


def grid_of(axes: Axes, cells: pd.DataFrame) -> None:
    """Name the columns of cells above and their rows on the left, and draw no axes."""
    axes.set_xticks(range(len(cells.columns)), [plain(label) for label in cells.columns])
    axes.set_yticks(range(len(cells)), [plain(label) for label in cells.index])
    axes.xaxis.tick_top()
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
