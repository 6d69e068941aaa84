"""A copy of the source in which something is added, and Python run with it: what that touches, and if it works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import prodex

_SOURCE = Path(prodex.__file__).parents[1]

#: Runs each of its arguments as a command.
_BETWEEN = "\f"
_COMMANDS = f"""
import runpy, sys
for line in sys.argv[1:]:
    print({_BETWEEN!r}, end="")
    sys.argv = ["prodex", *line.split()]
    try:
        runpy.run_module("prodex", run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
    sys.stdout.flush()
"""


class ChangedSource:
    """A copy of both packages of `src`, and which of its files were changed or added.

    Parameters
    ----------
    folder
        Where the copy is made, and where what runs with it keeps its snapshots.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: set[str] = set()
        # Compiled modules come along: they know their source by its time and size, and both are kept.
        for package in ("prodex", "prodex_sandbox"):
            shutil.copytree(_SOURCE / package, folder / package)

    def insert(self, file: str, before: str, text: str) -> None:
        """Put lines before the only line that begins with some text, as far in as that line."""
        path = self._folder / file
        lines = path.read_text("utf-8").splitlines(keepends=True)
        (place,) = (number for number, line in enumerate(lines) if line.lstrip().startswith(before))
        indent = lines[place][: -len(lines[place].lstrip())]
        added = [
            indent + line if line.strip() else line for line in text.lstrip("\n").splitlines(keepends=True)
        ]
        path.write_text("".join([*lines[:place], *added, *lines[place:]]), "utf-8")
        self.files.add(file)

    def replace(self, file: str, old: str, new: str) -> None:
        """Put text in the place of another, which is there once."""
        path = self._folder / file
        before, found, after = path.read_text("utf-8").partition(old)
        assert found, f"{file} has no {old!r}"
        assert old not in after, f"{file} has {old!r} twice"
        path.write_text(before + new + after, "utf-8")
        self.files.add(file)

    def append(self, file: str, text: str) -> None:
        """Put lines at the end of a file; a file that is not there is made."""
        path = self._folder / file
        with path.open("a", encoding="utf-8") as opened:
            opened.write(text)
        self.files.add(file)

    def python(self, code: str, *commands: str) -> list[str]:
        """Run a script with the copy, and commands of prodex after it; return what each of these prints.

        All of it is one process. A script or a command that fails fails the test.
        """
        _, *said = self._run("-c", code + _COMMANDS, *commands).split(_BETWEEN)
        return said

    def _run(self, *words: str) -> str:
        own = {
            "PYTHONPATH": str(self._folder),
            "PRODEX_HOME": str(self._folder / "home"),
            "COLUMNS": "200",
            "PYTHONUTF8": "1",
        }
        ended = subprocess.run(
            [sys.executable, *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, **own},
            cwd=self._folder,
            check=False,
        )
        assert 0 == ended.returncode, ended.stderr
        return ended.stdout
