"""The report: one HTML file that opens in any browser, with the full lists beside it."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Mapping, Sequence
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prodex.colour_scale import DARK, LIGHT, SCALE, custom_properties, shade_rules, stylesheet
from prodex.display.charts import grades_over_time, grades_sentence
from prodex.display.html_tables import template
from prodex.display.report.contents import contents
from prodex.display.report.files import FILES, LinkedFile, folder_of, write_files
from prodex.display.report.products import PICTURE_FACTS
from prodex.errors import InputError
from prodex.files.folders import replacing
from prodex.files.untrusted import is_folder, is_there, leads_to_folder
from prodex.languages import ENGLISH, Message, Translation
from prodex.pictures.resize import data_url
from prodex.progress import PATIENCE, Progress, Reporter, reporting
from prodex.quality.scores import SMALL

if TYPE_CHECKING:
    import pandas as pd

    from prodex.quality.audit import Audit


__all__ = ["write_report"]


def write_report(
    audit: Audit,
    path: str | Path,
    trend: Sequence[Audit] = (),
    progress: Progress = None,
    language: str = "en",
) -> Path:
    """Write an audit as a page, and the lists that it shows a part of into a folder beside it.

    Parameters
    ----------
    audit
        The audit.
    path
        The file of the page. An existing page is replaced together with its lists, so that a page never links to the
        lists of another. Other files in the folder of the lists are kept.
    trend
        Earlier audits.
    progress
        A progress bar in notebooks and terminals once it takes over a second (None), or from the start (True), none
        (False), or a function of (done, total), both in rows of the lists.
    language
        The language of the page: English, French, German or Dutch, by code or name. The lists beside it are for
        programs as well, and stay as they are.

    Returns
    -------
    pathlib.Path
        The path of the page.

    Raises
    ------
    InputError
        When the path is that of a folder, the trend is not a list of audits, or there is no such language.
    StorageError
        When the disk refuses.
    """
    page = Path(path).absolute()
    if leads_to_folder(page):
        raise InputError(f"{path} is a folder. Name the file, such as {Path(path) / 'report.html'}.")
    if isinstance(trend, type(audit)) or not all(isinstance(one, type(audit)) for one in trend):
        raise InputError("trend is a list of earlier audits, such as [px.open_audit('shop@2026-10-01')].")
    words = Translation.of(language)
    with reporting(progress, "Report", "rows", after=PATIENCE) as reporter:
        return _write_files(audit, page, trend, reporter, words)


def _write_files(
    audit: Audit, page: Path, trend: Sequence[Audit], reporter: Reporter, words: Translation
) -> Path:
    with reporter.phase("Collecting figures"):
        shown = contents(audit, trend, words)
    folder = folder_of(page)
    if is_there(folder) and not is_folder(folder):
        raise InputError(
            f"{folder} is a link or a file, and the lists of the page go into a folder of that name beside it. Give "
            "the page another name."
        )
    with replacing(folder, FILES, page) as beside:
        files = write_files(audit, beside, folder.name, shown["failures_total"], reporter)
        # With one kind of line ends, the same audit gives the same bytes on every system.
        (beside / page.name).write_text(rendered(shown, files, words), encoding="utf-8", newline="\n")
    return page


def rendered(
    contents: Mapping[str, Any], files: tuple[LinkedFile, ...] = (), words: Translation = ENGLISH
) -> str:
    """Return the page.

    Parameters
    ----------
    contents
        The contents, in its language.
    files
        The files that it links to.
    words
        The language.
    """
    # The policy of the page names the hash of this script, so that a browser runs no other.
    script = _resource("sort.js")
    trend = contents["trend"]
    return template("prodex.display", "report", "page.html", words.language).render(
        it=contents,
        lang=words.language,
        files=files,
        chart=_chart(trend, words),
        chart_words=words.say(_chart_said(trend)),
        style=_style(),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        picture_facts=list(PICTURE_FACTS),
        scale=SCALE,
        small=SMALL,
    )


def _style() -> str:
    """Return the style sheet: what the report has in common with summaries and panels, then its own."""
    # The theme of the system decides: a page that is opened by itself has no notebook around it.
    dark = custom_properties(":root", DARK)
    shared = [custom_properties(":root", LIGHT), f"@media (prefers-color-scheme: dark) {{ {dark} }}"]
    shades = shade_rules(":is(.prodex-tables td, .prodex-tables .legend span)")
    return "\n".join([*shared, stylesheet("tables", "audit"), shades, _resource("style.css")])


def _resource(name: str) -> str:
    return (resources("prodex.display.report") / name).read_text("utf-8")


def _chart(trend: pd.DataFrame, words: Translation) -> str:
    """Draw the grades as an SVG picture in the page itself; of one audit there is nothing to draw."""
    if trend["comparable"].sum() < 2:
        return ""
    # Imported on request: it takes a while.
    import matplotlib as mpl

    drawn = io.BytesIO()
    # Without a date, and with ids that are no random numbers, the same audit gives the same page.
    with mpl.rc_context({"svg.hashsalt": "prodex"}):
        figure = grades_over_time(trend, words=words)
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return data_url(drawn.getvalue(), "svg+xml")


def _chart_said(trend: pd.DataFrame) -> Message:
    """Return what the chart shows in words, for those who cannot see it, and in the place of a chart of one audit."""
    row = trend[trend["comparable"]].iloc[-1]
    grades = tuple(Message("{count} {grade}", count=int(row[f"grade_{one}"]), grade=one) for one in "ABCDE")
    if trend["comparable"].sum() >= 2:
        return Message(
            "Stacked bars of grades for each audit. The last one: {grades}. The table below has all of them.",
            grades=grades,
        )
    if len(trend) == 1:
        return Message(
            "{said} ({grades}). It is the only audit: there is no trend yet.",
            said=grades_sentence(trend),
            grades=grades,
        )
    return Message(
        "{said} ({grades}). It is the only audit of this measure and these products: there is no trend yet.",
        said=grades_sentence(trend),
        grades=grades,
    )
