"""Charts say what they count, draw what suppliers typed letter by letter, and hold on light and dark pages."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from PIL import Image

import prodex
from prodex import charts
from prodex.colour_scale import DARK, LIGHT, SCALE, SEVERITY_GROUNDS, shade
from tests.cases import each_row

HOSTILE = ["$5 or $6", "a\nb\tc", "\u202egnp.exe", "<img src=x>", "😀 茶", "\ud83d", "x" * 40_000, ""]


def drawn(figure: Figure) -> Image.Image:
    figure.savefig(written := io.BytesIO(), format="png")
    return Image.open(written)


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].get_yticklabels()]


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_hostile_labels_are_drawn_on_one_short_line() -> None:
    """Formulas, line breaks, turned text, missing glyphs and endless words are drawn without a warning."""
    figure = charts.bars(pd.Series(range(len(HOSTILE)), index=pd.Index(HOSTILE, dtype=object)), "$x^2$ & <b>")
    drawn(figure)
    assert "$x^2$ & <b>" == figure.get_suptitle()
    assert ["$5 or $6", "a b c", "gnp.exe", "<img src=x>"] == words(figure)[:4]
    assert {True} == {len(label) <= 40 and label.isprintable() for label in words(figure)}
    assert not any(label.get_parse_math() for label in figure.axes[0].get_yticklabels())


def test_shares_of_none_are_not_drawn_as_nothing() -> None:
    """A row to which nothing applies shows a dash, not 0 %."""
    filled = pd.DataFrame({"fr": [0, 0], "nl": [3, 0]}, index=["Belgium", "Spain"])
    figure = charts.shares(filled, pd.Series({"Spain": 0, "Belgium": 4}), "Names")
    drawn(figure)
    assert ["0 %\n0 of 4", "75 %\n3 of 4", "–", "–"] == [text.get_text() for text in figure.axes[0].texts]


def test_histogram_of_dates_marks_what_is_old() -> None:
    """Columns before the mark differ in colour from those after it; what has no date is left out."""
    dates = pd.Series(pd.to_datetime(["2025-01-15", "2025-01-20", "2025-03-02", None]))
    months = pd.date_range("2025-01-01", "2025-04-01", freq="MS")
    figure = charts.histogram(dates, "Updates", bins=months, mark=months[1], mark_label="$old$")
    drawn(figure)
    assert [2, 0, 1] == [bar.get_height() for bar in figure.axes[0].patches]
    old, *new = [bar.get_facecolor() for bar in figure.axes[0].patches]
    assert old not in new


@each_row("page", ["#ffffff", "#111111"], ids=["light", "dark"])
@each_row(("colour", "least"), [("GREY", 4), ("BLUE", 3), ("VERMILION", 3)])
def test_contrast(page: str, colour: str, least: float) -> None:
    """Letters and columns stand out from a light and from a dark page."""
    darker, lighter = sorted([luminance(page), luminance(getattr(charts, colour))])
    assert (lighter + 0.05) / (darker + 0.05) >= least


def test_the_page_shines_through() -> None:
    """Nothing is painted behind a chart."""
    corner = drawn(charts.bars(pd.Series({"Milk": 1}), "Milk")).convert("RGBA").getpixel((0, 0))
    assert isinstance(corner, tuple)
    assert 0 == corner[3]


def test_stacks_are_as_long_as_each_other() -> None:
    """Each bar is made of shares, in the order of the columns; a row of nothing is empty."""
    counts = pd.DataFrame({"A": [30, 0, 1], "B": [10, 0, 99]}, index=["May", "June", "July"])
    figure = charts.stacks(counts, "Grades")
    drawn(figure)
    assert [0.75, 0.25, 0, 0, 0.01, 0.99] == [bar.get_width() for bar in figure.axes[0].patches]
    assert ["A 75 %", "B 25 %", "B 99 %"] == [text.get_text() for text in figure.axes[0].texts]
    assert ["May", "June", "July"] == words(figure)


def test_a_narrow_segment_has_no_name_in_it() -> None:
    """A long name is in no segment that it would not fit into; the legend has it all the same."""
    figure = charts.stacks(
        pd.DataFrame({"Van Durmelen Foods": [8], "others": [92]}, index=["May"]), "Changed"
    )
    drawn(figure)
    assert ["others 92 %"] == [text.get_text() for text in figure.axes[0].texts]


def test_heat_of_nothing_is_not_drawn_as_none() -> None:
    """A score of 0 is a number, no score a dash; what is nearly all is not rounded to it."""
    scores = pd.DataFrame({"texts": [0, float("nan")], "food": [0.9999, 1]}, index=["Milk", HOSTILE[3]])
    figure = charts.heat(scores, "Scores")
    drawn(figure)
    assert ["0 %", "99.9 %", "–", "100 %"] == [text.get_text() for text in figure.axes[0].texts]
    assert ["Milk", HOSTILE[3]] == words(figure)
    assert [0, 1, 6, 7] == [shade(score) for score in (1, 0.9999, 0.6, 0.5999)]


def test_others_figures_keep_their_style() -> None:
    """A chart leaves matplotlib's settings and list of open figures as they were."""
    before = dict(plt.rcParams)
    figure = charts.bars(pd.Series({"Milk": 1}), "Milk")
    assert before == dict(plt.rcParams)
    assert isinstance(figure, Figure)
    assert [] == plt.get_fignums()


def test_nothing_to_draw_is_drawn() -> None:
    """Empty data gives an empty chart, not an error."""
    drawn(charts.bars(pd.Series(dtype=float), "None"))
    drawn(charts.shares(pd.DataFrame(columns=["fr"]), pd.Series(dtype=int), "None"))
    drawn(charts.histogram(pd.Series(dtype=float), "None", bins=[0, 1]))
    drawn(charts.stacks(pd.DataFrame(columns=["A"]), "None"))
    drawn(charts.heat(pd.DataFrame(columns=["texts"]), "None"))


def test_steps_stay_as_they_were_between_two_moments() -> None:
    """Points are in the order of time, each with its number; missing values are left out."""
    days = pd.to_datetime(["2026-11-15", "2026-11-01", "2026-11-08"])
    figure = charts.steps(pd.Series([640, 600, None], days), "$5 or $6", label="products of $x$")
    drawn(figure)
    line = figure.axes[0].lines[0]
    assert "steps-post" == line.get_drawstyle()
    assert [600, 640] == line.get_ydata().tolist()
    assert ["600", "640"] == [text.get_text() for text in figure.axes[0].texts]
    assert "products of $x$" == figure.axes[0].get_ylabel()


@pytest.mark.slow
def test_many_steps_say_the_last_numbers() -> None:
    """Only the last twelve points show their number; a single point, or none, is drawn as well."""
    days = pd.date_range("2026-01-01", periods=40)
    figure = charts.steps(pd.Series(range(40), days), "Products")
    drawn(figure)
    assert [str(number) for number in range(28, 40)] == [text.get_text() for text in figure.axes[0].texts]
    drawn(charts.steps(pd.Series([1], days[:1]), "One"))
    drawn(charts.steps(pd.Series(dtype=float), "None"))


def test_labels_of_close_moments_do_not_cover_each_other() -> None:
    """The newest number is always there; one that would lie upon it is left out, and one beside it is not."""
    days = pd.to_datetime(["2026-11-01 06:00", "2026-11-20 06:00", "2026-11-20 07:00", "2026-11-20 08:00"])
    figure = charts.steps(pd.Series([970, 971, 971, 971], days), "Products")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    labels = figure.axes[0].texts
    assert ["970", "971"] == [text.get_text() for text in labels]
    first, last = [text.get_window_extent(canvas.get_renderer()) for text in labels]
    assert not first.overlaps(last)


def test_a_character_comes_from_whichever_font_has_it() -> None:
    """Characters that the first font lacks come from another; a box replaces only those that no font has."""
    watch, unassigned = "\N{WATCH}", "\U000e0fff"
    assert watch not in map(chr, font_manager.get_font(font_manager.findfont("DejaVu Sans")).get_charmap())
    figure = charts.bars(pd.Series({f"{watch} Öl مرحبا {unassigned}": 1}), f"{watch} is not there in bold")
    drawn(figure)  # a glyph that is missing is a warning, and a warning an error
    assert [f"{watch} Öl مرحبا □"] == words(figure)
    assert "□ is not there in bold" == figure.get_suptitle()
    assert "DejaVu Sans" == charts.families()[0]


def test_letters_on_coloured_pieces_can_be_read() -> None:
    """Text on a bar or a cell has enough contrast with its colour, on any page."""
    counts = pd.DataFrame([[20, 20, 20, 20, 20]], columns=list("ABCDE"), index=["May"])
    axes = charts.stacks(counts, "Grades").axes[0]
    pairs = [
        (to_hex(text.get_color()), to_hex(piece.get_facecolor()))
        for text, piece in zip(axes.texts, axes.patches, strict=True)
    ]
    scores = pd.DataFrame([[0.1, 0.65, 0.85, 0.92, 0.96, 0.98, 0.995, 1.0]], columns=list("abcdefgh"))
    cells = charts.heat(scores, "Scores").axes[0].texts
    filled = pd.DataFrame((scores * 1000).astype(int))
    shares = charts.shares(filled, pd.Series([1000]), "Shares").axes[0].texts
    shades = [SCALE[shade(score)].light for score in scores.iloc[0]]
    for texts in (cells, shares):
        pairs += [(to_hex(text.get_color()), ground) for text, ground in zip(texts, shades, strict=True)]
    for pair in pairs:
        darker, lighter = sorted(map(luminance, pair))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, pair


@pytest.mark.parametrize("page", [LIGHT, DARK])
def test_letters_on_every_shade_can_be_read(page: Mapping[str, str]) -> None:
    """On a light and on a dark page, and so on paper, which has the colours of the screen."""
    for place, one in enumerate(SCALE):
        darker, lighter = sorted((luminance(page[f"h{place}"]), luminance(page[one.ink])))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, one


def test_the_scale_is_declared_once() -> None:
    """No other file names a colour of it or of a severity: whoever changes the scale changes it everywhere."""
    root = Path(prodex.__file__).parent
    declared = {
        *(colour for one in SCALE for colour in (one.light, one.dark)),
        *SEVERITY_GROUNDS.values(),
    }
    # White and the ground of a dark page are colours of many things.
    own = {colour.casefold() for colour in declared} - {SCALE[0].light, SCALE[0].dark}
    texts = {
        path: path.read_text("utf-8").casefold()
        for suffix in ("py", "css", "js", "html")
        for path in root.rglob(f"*.{suffix}")
    }
    assert {"colour_scale.py"} == {
        path.name for path, text in texts.items() if any(colour in text for colour in own)
    }


def test_whole_numbers_have_whole_ticks() -> None:
    """A course from 600 to 599 products has no third line between."""
    days = pd.to_datetime(["2026-11-01", "2026-11-08"])
    figure = charts.steps(pd.Series([600, 599], days), "599 products")
    figure.canvas.draw()
    ticks = [float(tick) for tick in figure.axes[0].get_yticks()]
    assert [] == [tick for tick in ticks if tick != round(tick)]


def test_gaps_are_counted_as_one_and_none_is_no_zero_of_zero() -> None:
    """One problem is one, and where no problem weighs anything the title says so."""
    catalog = prodex.flatten([{"id": 1, "gtin": "03036811359936"}])
    titles = [
        charts.largest_gaps(
            prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": one}}})
        ).get_suptitle()
        for one in ("error", "info")
    ]
    assert [
        "Gain in score if fixed, in points: 1 of 1 problem",
        "Nothing to gain in ready or score, of 1 problem",
    ] == titles
