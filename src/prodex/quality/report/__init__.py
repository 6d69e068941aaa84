"""The report: one HTML file that opens anywhere, with the full lists beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prodex.files import writing
from prodex.quality.report.contents import contents
from prodex.quality.report.files import write_files
from prodex.quality.report.page import rendered

if TYPE_CHECKING:
    from prodex.quality.outcome import Audit

__all__ = ["write_report"]


def write_report(audit: Audit, path: str | Path, trend: Sequence[Audit] = ()) -> Path:
    """Write an audit as a page, and the lists that it shows a part of into a folder beside it.

    Parameters
    ----------
    audit
        What is reported.
    path
        Of the page; what stands there is replaced.
    trend
        Earlier audits.

    Returns
    -------
    pathlib.Path
        Where the page is.

    Raises
    ------
    StorageError
        When the disk refuses.
    """
    page = Path(path).absolute()
    shown = contents(audit, trend)
    text = rendered(shown, write_files(audit, page))
    with writing(page) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")
    return page
