"""The report: one HTML file that opens in any browser, with the full lists beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prodex.display.report.contents import contents
from prodex.display.report.files import FILES, folder_of, write_files
from prodex.display.report.page import rendered
from prodex.errors import InputError
from prodex.files.folders import replacing
from prodex.files.untrusted import is_folder, is_there, leads_to_folder
from prodex.progress import PATIENCE, Progress, Reporter, reporting

if TYPE_CHECKING:
    from prodex.quality.audit import Audit

__all__ = ["write_report"]


def write_report(
    audit: Audit, path: str | Path, trend: Sequence[Audit] = (), progress: Progress = None
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

    Returns
    -------
    pathlib.Path
        The path of the page.

    Raises
    ------
    InputError
        When the path is that of a folder, or the trend is not a list of audits.
    StorageError
        When the disk refuses.
    """
    page = Path(path).absolute()
    if leads_to_folder(page):
        raise InputError(f"{path} is a folder. Name the file, such as {Path(path) / 'report.html'}.")
    if isinstance(trend, type(audit)) or not all(isinstance(one, type(audit)) for one in trend):
        raise InputError("trend is a list of earlier audits, such as [px.open_audit('shop@2026-10-01')].")
    with reporting(progress, "Report", "rows", after=PATIENCE) as reporter:
        return _written(audit, page, trend, reporter)


def _written(audit: Audit, page: Path, trend: Sequence[Audit], reporter: Reporter) -> Path:
    with reporter.phase("Collecting figures"):
        shown = contents(audit, trend)
    folder = folder_of(page)
    if is_there(folder) and not is_folder(folder):
        raise InputError(
            f"{folder} is a link or a file, and the lists of the page go into a folder of that name beside it. Give "
            "the page another name."
        )
    with replacing(folder, FILES, page) as beside:
        files = write_files(audit, beside, folder.name, shown.failures_total, reporter)
        # With one kind of line ends, the same audit gives the same bytes on every system.
        (beside / page.name).write_text(rendered(shown, files), encoding="utf-8", newline="\n")
    return page
