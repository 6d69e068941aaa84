"""The page: the contents rendered by a template that escapes all of it, with one chart as an embedded picture."""

from __future__ import annotations

import base64
import hashlib
import io
from importlib.resources import files as resources

from prodex.display.charts import grades_over_time
from prodex.display.charts.audit_charts import grades_sentence
from prodex.display.html_tables import data_url, template
from prodex.display.report.contents import Contents
from prodex.display.report.files import LinkedFile
from prodex.display.report.product_cards import PICTURE_FACTS
from prodex.display.style import DARK, LIGHT, SCALE, custom_properties, shade_rules, stylesheet
from prodex.quality.scores import SMALL


def rendered(contents: Contents, files: tuple[LinkedFile, ...] = ()) -> str:
    """Return the page.

    Parameters
    ----------
    contents
        The contents.
    files
        The files that it links to.
    """
    # The policy of the page names the hash of this script, so that a browser runs no other.
    script = _resource("sort.js")
    return template("prodex.display", "report", "page.html").render(
        it=contents,
        files=files,
        chart=_chart(contents),
        chart_words=_chart_words(contents),
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


def _chart(contents: Contents) -> str:
    """Draw the grades as an SVG picture in the page itself; of one audit there is nothing to draw."""
    if contents.trend["comparable"].sum() < 2:
        return ""
    # Imported on request: it takes a while.
    import matplotlib as mpl

    drawn = io.BytesIO()
    # Without a date, and with ids that are no random numbers, the same audit gives the same page.
    with mpl.rc_context({"svg.hashsalt": "prodex"}):
        figure = grades_over_time(contents.trend)
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return data_url(drawn.getvalue(), "svg+xml")


def _chart_words(contents: Contents) -> str:
    """Return what the chart shows in words, for those who cannot see it, and in the place of a chart of one audit."""
    row = contents.trend[contents.trend["comparable"]].iloc[-1]
    grades = ", ".join(f"{row[f'grade_{grade}']:,} {grade}" for grade in "ABCDE")
    if contents.trend["comparable"].sum() < 2:
        others = "only audit" if len(contents.trend) == 1 else "only audit of this measure"
        return f"{grades_sentence(contents.trend)} ({grades}). It is the {others}: there is no trend yet."
    return f"Stacked bars of grades for each audit. The last one: {grades}. The table below has all of them."
