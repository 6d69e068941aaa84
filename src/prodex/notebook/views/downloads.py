"""Files that a page hands over to its browser, where nothing may be written into folders of this machine."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from prodex.errors import InputError
from prodex.notebook.session.actions import Panel
from prodex.progress import Reporter

#: Bytes that are handed over: they pass through memory, here and in the browser.
_MOST = 50_000_000


def handed_over(
    app: Panel, name: str, kind: str, write: Callable[[Path, Reporter], str], reporter: Reporter
) -> str:
    """Have files written, hand them over to the page, and return in words what they are.

    Parameters
    ----------
    app
        The panel.
    name
        What several files are called together.
    kind
        How the names of those end that somebody wants ("xlsx"); others only go with them.
    write
        Writes them into a folder, which is removed, and returns in words what it has written.

    Raises
    ------
    InputError
        When there is none, or when they are too large.
    """
    with TemporaryDirectory(prefix="prodex-download-") as folder:
        said = write(Path(folder), reporter)
        # Where it was written is of no use to anybody: the files first, whose paths begin with the folder's.
        for one in sorted((Path(folder), *Path(folder).rglob("*")), reverse=True):
            said = said.replace(f" to {one}", "")
        file, content = packed(Path(folder), name, kind)
    if len(content) > _MOST:
        raise InputError(
            f"{file} has {len(content):,} bytes, and a page hands over {_MOST:,} at most. Show fewer products, or "
            "export them from a terminal or a notebook."
        )
    app.give(file, content)
    return f"{said} Your browser saves {file} ({len(content):,} bytes)."


def packed(folder: Path, name: str, kind: str) -> tuple[str, bytes]:
    """Return the one file of a kind that was written into a folder, or all that is there as an archive: name, content.

    Raises
    ------
    InputError
        When there is none.
    """
    files = sorted(one for one in folder.rglob("*") if one.is_file())
    wanted = [one for one in files if one.suffix == f".{kind}"]
    if not wanted:
        raise InputError("There is nothing to hand over: these products have no findings to write about.")
    if len(wanted) == 1:
        return wanted[0].name, wanted[0].read_bytes()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packing:
        for one in files:
            packing.write(one, one.relative_to(folder))
    return f"{name}.zip", archive.getvalue()
