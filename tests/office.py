"""LibreOffice, as people have it: it opens a workbook and saves it under another name."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

#: CI installs it, and a test that needs it fails there without.
needs_office = pytest.mark.skipif(
    shutil.which("soffice") is None and not os.environ.get("CI"),
    reason="LibreOffice is not installed; CI has it, and fails without",
)


_FORMATS = {"xlsx": "xlsx:Calc MS Excel 2007 XML", "ods": "ods"}


def saved_again(book: Path, folder: Path, ending: str = "xlsx") -> Path:
    """Open a workbook in LibreOffice, and return what it saves in a folder."""
    profile = f"-env:UserInstallation={(folder / 'office').as_uri()}"
    options = ["--headless", "--convert-to", _FORMATS[ending], "--outdir", str(folder / "saved")]
    subprocess.run(["soffice", profile, *options, str(book)], check=True, capture_output=True, timeout=120)
    return folder / "saved" / f"{book.stem}.{ending}"
