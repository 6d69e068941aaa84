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


def saved_again(book: Path, folder: Path) -> Path:
    """Open a workbook in LibreOffice, and return what it saves in a folder."""
    profile = f"-env:UserInstallation={(folder / 'office').as_uri()}"
    options = ["--headless", "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", str(folder / "saved")]
    subprocess.run(["soffice", profile, *options, str(book)], check=True, capture_output=True, timeout=120)
    return folder / "saved" / book.name
