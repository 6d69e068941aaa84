"""Charts in one style: each function draws the figures of an audit or a catalogue as a matplotlib `Figure`.

The style works on a light and on a dark page: nothing is painted behind the chart, letters are a grey that both carry,
and everybody can distinguish the colours (Okabe and Ito's blue and vermilion; the shades of `display.style` for scores
and shares). Suppliers' texts are drawn letter by letter: no maths, no line breaks, and a box for characters that no
font has.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import pandas as pd

from prodex.colour_scale import LIGHT, SCALE, SCORES, shade
from prodex.facts.groups import shown_names
from prodex.languages import ENGLISH, Message, Translation
from prodex.phrases import percent
from prodex.quality.group_figures import block_scores
from prodex.quality.scores import SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from prodex.quality.audit import Audit


__all__ = [
    "SCORES",
    "bars",
    "grades_over_time",
    "heat",
    "histogram",
    "largest_gaps",
    "score_map",
    "shade",
    "shares",
    "stacks",
    "steps",
]


#: Tried in this order for each character. The first and the last are part of matplotlib; the others are installed by
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


def one_line(label: object, length: int = _LABEL, weight: str = "normal") -> str:
    """Return a label on one line, with at most `length` characters, all of which the fonts have.

    >>> one_line("$5 or\\n$6"), one_line("x" * 50)[-3:], one_line("\\U0001f9e8")
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
def styled_figure(title: str, height: float) -> Iterator[tuple[Figure, Axes]]:
    """Provide a figure in our style with one pair of axes; other figures keep their style."""
    import matplotlib.pyplot as plt  # a notebook learns from it how to show a figure

    with plt.rc_context({**_STYLE, "font.family": list(families())}):
        figure = plt.figure(figsize=(_WIDTH, height), layout="constrained")
        plt.close(figure)  # pyplot would show it a second time
        axes = figure.add_subplot()
        figure.suptitle(one_line(title, 90, "bold"), x=0.01, ha="left", fontsize=12, fontweight="bold")
        yield figure, axes


def ruled(axes: Axes) -> None:
    """Draw faint lines across, in place of the axis on the left."""
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)


def horizontal_bars(axes: Axes, labels: Iterable[object], longest: int = _LABEL) -> None:
    """Name bars on the left, the first on top, and draw no axes: each bar is labelled."""
    names = [one_line(label, longest) for label in labels]
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.xaxis.set_visible(False)
    axes.spines[["bottom", "left"]].set_visible(False)


def grid_of(axes: Axes, cells: pd.DataFrame) -> None:
    """Name the columns of cells above and their rows on the left, and draw no axes."""
    axes.set_xticks(range(len(cells.columns)), [one_line(label) for label in cells.columns])
    axes.set_yticks(range(len(cells)), [one_line(label) for label in cells.index])
    axes.xaxis.tick_top()
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)


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
    with styled_figure(title, 0.8 + 0.32 * max(len(values), 1)) as (figure, axes):
        axes.barh(range(len(values)), values.astype(float), color=BLUE, height=0.7)
        for place, value in enumerate(values.astype(float).tolist()):
            share = f" ({percent(value / of, 0)})" if of else ""
            axes.annotate(
                number.format(value) + share, (value, place), (4, 0), textcoords="offset points", va="center"
            )
        axes.margins(x=0.12, y=0.02)
        horizontal_bars(axes, values.index, longest)
    return figure


def stacks(counts: pd.DataFrame, title: str, *, words: Translation = ENGLISH) -> Figure:
    """Draw one bar for each row, with a segment for each column, the best on the left.

    All bars have the same length: they show shares. A segment shows its name and share if it is wide enough.

    Parameters
    ----------
    counts
        Up to five columns, from the best to the worst.
    title
        The answer in a sentence, or the question.
    words
        The language of the figures.

    Examples
    --------
    >>> grades = pd.DataFrame({"A": [6, 8], "B": [4, 2]}, index=["May", "June"])
    >>> [text.get_text() for text in stacks(grades, "Grades").axes[0].texts]
    ['A 60 %', 'B 40 %', 'A 80 %', 'B 20 %']
    """
    from matplotlib.patches import Patch

    with styled_figure(title, 0.9 + 0.42 * max(len(counts), 1)) as (figure, axes):
        for place, row in enumerate(counts.astype(float).to_numpy().tolist()):
            total, left = sum(row), 0.0
            for name, value, colour in zip(counts.columns, row, STEPS, strict=False):
                part = value / total if total else 0.0
                axes.barh(place, part, left=left, color=colour, height=0.7, edgecolor=GREY, linewidth=0.4)
                shown = f"{one_line(name)} {words.percent(part, 0)}"
                if part > _LETTER * len(shown):
                    ink = "white" if colour == BLUE else "black"
                    axes.text(left + part / 2, place, shown, ha="center", va="center", fontsize=9, color=ink)
                left += part
        axes.set_xlim(0, 1)
        horizontal_bars(axes, counts.index)
        patches = [Patch(facecolor=colour, edgecolor=GREY) for colour in STEPS[: len(counts.columns)]]
        names = [one_line(name) for name in counts.columns]
        below: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0, -0.02)}
        axes.legend(patches, names, ncols=len(patches), frameon=False, **below)
    return figure


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
    with styled_figure(title, 1.0 + 0.5 * max(len(rows), 1)) as (figure, axes):
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
    with styled_figure(title, 1.0 + 0.36 * max(len(rows), 1)) as (figure, axes):
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
    with styled_figure(title, 3.2) as (figure, axes):
        axes.hist(values.dropna().to_numpy(), bins=list(bins), color=BLUE, rwidth=0.88)
        if mark is not None:
            axes.axvline(mark, color=GREY, linewidth=1.2, linestyle=(0, (4, 2)))
            for column, end in zip(axes.patches, bins[1:], strict=True):
                if end <= mark:
                    column.set_facecolor(VERMILION)
            axes.annotate(
                one_line(mark_label, 80),
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
    with styled_figure(title, 3.0) as (figure, axes):
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
        axes.set_ylabel(one_line(label))
        axes.margins(x=0.06, y=0.25)
        # Whole numbers stay whole, and a course that hardly moves has no ticks that read alike.
        is_whole = bool((known == known.round()).all())
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=is_whole))
        axes.yaxis.set_major_formatter(lambda value, _: number.format(value))
        _label_newest(figure, axes, list(zip(moments, known.tolist(), strict=True)), number)
        ruled(axes)
    return figure


def _label_newest(figure: Figure, axes: Axes, points: Sequence[tuple[datetime, float]], number: str) -> None:
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


_AUDITS = 12
_GROUPS = 15
_NAME, _SENTENCE = 30, 60  # characters


def grades_over_time(trend: pd.DataFrame, *, words: Translation = ENGLISH) -> Figure:
    """Draw how the grades of the products are distributed, one bar for each audit.

    Parameters
    ----------
    trend
        What `Audit.trend` returns; audits that are not comparable are left out.
    words
        The language of the chart.

    Examples
    --------
    >>> import prodex
    >>> audit = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]), {"checks": {"valid_gtin": {}}})
    >>> grades_over_time(audit.trend()).get_suptitle()
    '100 % of 1 product has grade A or B'
    """
    alike = trend[trend["comparable"]].tail(_AUDITS)
    counts = alike[[f"grade_{grade}" for grade in "ABCDE"]].astype(int)
    counts.columns = pd.Index(list("ABCDE"))
    days = [words.day(moment) for moment in alike["now"]]
    once = len(set(days)) == len(days)
    counts.index = pd.Index(days if once else [words.moment(moment) for moment in alike["now"]])
    return stacks(counts, words.say(grades_sentence(trend)), words=words)


def grades_sentence(trend: pd.DataFrame) -> Message:
    """Return how many products of the last audit have a good grade.

    Examples
    --------
    >>> import prodex
    >>> audit = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]), {"checks": {"valid_gtin": {}}})
    >>> print(grades_sentence(audit.trend()))
    100 % of 1 product has grade A or B
    """
    last = trend[trend["comparable"]].iloc[-1]
    total = sum(int(last[f"grade_{grade}"]) for grade in "ABCDE")
    # A share of nothing would be taken for one of all products.
    if not total:
        return Message("No product has a grade")
    share = float(last["grade_A"] + last["grade_B"]) / total
    return Message.of_number(
        "{share:%} of {number} product has grade A or B",
        "{share:%} of {number} products have grade A or B",
        total,
        share=share,
    )


def largest_gaps(audit: Audit, most: int = 10) -> Figure:
    """Draw what fixing each check would gain: points of ready, or of the score where no blocker fails.

    Parameters
    ----------
    audit
        The audit.
    most
        How many checks are shown.

    Examples
    --------
    >>> import prodex
    >>> audit = prodex.audit(prodex.flatten([{"id": 8, "gtin": "03036811359936"}]), {"checks": {"valid_gtin": {}}})
    >>> [label.get_text() for label in largest_gaps(audit).axes[0].get_yticklabels()]
    ['GTIN missing or wrong']
    """
    found = audit.gaps()
    what = "ready" if (found["ready_gain"] > 0).any() else "score"
    gains = found[found[f"{what}_gain"] > 0].set_index("problem")[f"{what}_gain"] * 100
    shown = gains.sort_values(ascending=False, kind="stable").head(most)
    title = f"Gain in {what} if fixed, in points: {len(shown)} of {len(gains)} problems"
    return bars(shown, title, number="+{:.2f}", longest=_SENTENCE)


def score_map(audit: Audit, by: str = "kind", most: int = _GROUPS) -> Figure:
    """Draw the scores of groups by block, the worst group on top; groups of fewer than ten products below the others.

    Parameters
    ----------
    audit
        The audit.
    by
        What `Audit.scores` groups by.
    most
        How many groups are shown.

    Examples
    --------
    >>> import prodex
    >>> audit = prodex.audit(prodex.flatten([{"id": 8, "gtin": "03036811359936"}]), {"checks": {"valid_gtin": {}}})
    >>> [text.get_text() for text in score_map(audit, "market").axes[0].texts]
    ['0 %', '0 %']
    """
    frames = block_scores(audit, by)
    whole = frames[None]
    shown = whole.head(most)
    scores = pd.DataFrame(
        {block or "all": frame["score"].head(most).to_numpy() for block, frame in frames.items()}
    )
    named = shown_names(whole, by)[:most]
    size = [f" (n = {count})" if count < SMALL else "" for count in shown["products"]]
    scores.index = pd.Index(
        [f"{one_line(name, _NAME)}{more}" for name, more in zip(named, size, strict=True)]
    )
    small = f"; n = products, where under {SMALL}" if any(size) else ""
    return heat(scores, f"Scores by {by} and block, the worst {len(shown)} of {len(whole)}{small}")
