"""The snapshots of a name over time: the number of products, and their grades."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import ipywidgets as w
import pandas as pd

from prodex.display.html_tables import Html, table
from prodex.messages import counted, percent
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.long_tasks import WorkRow
from prodex.notebook.shared.panel import Panel, html, text_html
from prodex.notebook.snapshots.saved import SnapshotEntry, readable
from prodex.pictures.resize import data_url
from prodex.progress import PATIENCE, SILENT, Reporter
from prodex.quality import list_audits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_AUDITS = 12


@dataclass(frozen=True, eq=False)
class Trend:
    """The snapshots of a name over time.

    Attributes
    ----------
    name
        The name of the snapshots.
    products
        Number of products of each, by the time at which it was made, oldest first.
    grades
        `Audit.trend` of the saved audits by the profile that was used last; None if none is saved.
    audits
        Number of saved audits by that profile.
    unread
        Why one of the saved audits cannot be read; "" where all can.
    """

    name: str
    products: pd.Series
    grades: pd.DataFrame | None
    audits: int
    unread: str = ""


class TrendBox(VBox):
    """Two charts, each with its data as a table; audits are read in the background."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._title, self._products, self._grades = (html("") for _ in range(3))
        columns = w.Box([self._products, self._grades])
        columns.add_class("charts")
        self._reading: WorkRow[Trend] = WorkRow(
            panel, self._draw, panel.show_error, after=PATIENCE, is_dropped=True
        )
        super().__init__([self._title, self._reading, columns])

    def show(self, name: str, snapshots: tuple[SnapshotEntry, ...]) -> None:
        """Show the snapshots of a name over time."""
        self._title.value = f"<h3>{text_html(name)} over time</h3>"
        self._reading.start(
            lambda progress: read_trend(name, snapshots, Reporter(progress.tell)), "Reading the snapshots"
        )

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until the charts are drawn; for scripts and tests."""
        self._reading.wait(seconds)

    def _draw(self, trend: Trend) -> None:
        try:
            self._products.value = products_markup(trend)
            self._grades.value = grades_markup(trend)
        # Not `guarded`, which would remove a message that another part of the panel has shown meanwhile.
        except Exception as error:  # noqa: BLE001 - the widget's edge
            self._panel.show_error(error)


def read_trend(name: str, snapshots: tuple[SnapshotEntry, ...], reporter: Reporter = SILENT) -> Trend:
    """Read the snapshots of a name: numbers of products from the list, grades from the saved audits."""
    own = [one for one in reversed(snapshots) if one.name == name and one.products is not None]
    # The name of a folder is its time; a folder that somebody renamed has none.
    moments = pd.to_datetime([one.moment for one in own], errors="coerce")
    products = pd.Series([one.products for one in own], moments, dtype="float64")
    products = products[products.index.notna()]
    audits = list_audits(name)
    unread = next((note for note in audits["note"] if note), "")
    audits = audits[audits["note"] == ""]
    # Grades of different profiles are not comparable, so only those of the profile that was used last are drawn.
    alike = audits[audits["profile"].isin(audits["profile"].tail(1))]
    if not (opened := readable(alike["folder"].tail(_AUDITS), reporter)):
        return Trend(name, products, None, 0, unread)
    *before, last = opened
    with reporter.phase("Comparing saved audits"):
        grades = last.trend(before)
    return Trend(name, products, grades, len(alike), unread)


def products_markup(trend: Trend) -> str:
    """Draw how many products there were."""
    number = len(trend.products)
    if not number:
        return "<p class='muted'>No snapshot says how many products it has.</p>"
    title = counted(int(trend.products.iloc[-1]), "product")
    if number == 1:
        made = f"made {trend.products.index[-1]:%Y-%m-%d %H:%M} UTC"
        return f"<p>{title} in the only snapshot, {made}.</p>"
    # Imported on request: matplotlib is slow to import, and most panels show no chart.
    from prodex.display import charts

    title = f"{title} in the newest of {number:,} snapshots"
    rows = [(f"{moment:%Y-%m-%d %H:%M}", f"{value:,.0f}") for moment, value in trend.products.items()]
    return chart_html(charts.steps(trend.products, title), title, ("Made (UTC)", "Products"), rows)


def grades_markup(trend: Trend) -> str:
    """Draw how the products were graded, or explain what is needed for that."""
    from prodex.display.charts import grades_over_time, grades_sentence

    missing = f"<p class='muted'>{text_html(trend.unread)}</p>" if trend.unread else ""
    if trend.grades is None:
        return missing or (
            "<p class='muted'>No audit of these snapshots is saved. Save one with 'Save audit' in the audit panel to "
            "see the grades over time.</p>"
        )
    alike = trend.grades[trend.grades["comparable"]]
    if len(alike) == 1:
        last = alike.iloc[-1]
        which = f"by profile {last['profile']} as of {last['now']:%Y-%m-%d %H:%M}"
        return (
            f"<p>{text_html(f'{grades_sentence(alike)} in the only comparable audit, {which}.')}</p>{missing}"
        )
    figure = grades_over_time(trend.grades)
    rows = [
        (
            f"{row['now']:%Y-%m-%d %H:%M}",
            *(f"{row[f'grade_{grade}']:,}" for grade in "ABCDE"),
            f"{row['ready_products']:,} ({percent(row['ready'])})",
            f"{row['not_ready_products']:,}",
            f"{row['undecided_products']:,}",
        )
        for row in alike.to_dict("records")
    ]
    title = f"{figure.get_suptitle()}; profile {trend.grades['profile'].iloc[-1]}"
    more = f", {len(rows)} of {trend.audits:,} audits" if trend.audits > len(rows) else ""
    columns = ("Audit as of", *"ABCDE", "Ready", "Not ready", "Undecided")
    return chart_html(figure, title + more, columns, rows) + missing


def chart_html(figure: Figure, title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a chart as a picture, with its data as a table for those who cannot see it."""
    written = io.BytesIO()
    figure.savefig(written, format="png")
    return (
        f"<figure><img alt='{escape(title, quote=True)}; the data is in the table below' "
        f"src='{data_url(written.getvalue(), 'png')}'></figure><details><summary>Data as a table</summary>"
        f"{table(Html(text_html(title)), columns, rows, numbers=columns[1:])}</details>"
    )
