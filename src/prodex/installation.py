"""The lines that are pasted into a shell: one that installs an extra of prodex here, and one that calls its command."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from prodex.errors import MissingExtra
from prodex.progress import in_notebook


def extra_line(extra: str) -> str:
    """Return the line that installs an extra into the environment of this process.

    pip and uv take the prodex that is there, wherever it was installed from, and add only what the extra needs.

    Examples
    --------
    >>> extra_line("sql").partition("pip install ")[2].endswith("'prodex[sql]'")
    True
    """
    wanted = _quoted(f"prodex[{extra}]")
    if in_notebook():  # it installs into the environment of the kernel, whatever the shell has
        return f"%pip install {wanted}"
    python = _in_shell(Path(sys.executable))
    if find_spec("pip") is None:  # environments of uv have none
        return f"uv pip install --python {python} {wanted}"
    return f"{python} -m pip install {wanted}"


def missing_extra(what: str, package: str, extra: str) -> MissingExtra:
    """Return the error for something that needs a package of an extra.

    Parameters
    ----------
    what
        Subject of the sentence.
    package
        As its authors write it.
    extra
        The extra that has it.
    """
    return MissingExtra(f"{what} needs {package}. Install it with: {extra_line(extra)}")


def prodex_command() -> str:
    """Return how the command `prodex` of this environment is called in a shell.

    Examples
    --------
    >>> prodex_command().endswith("prodex")
    True
    """
    beside = Path(sys.executable).with_name("prodex.exe" if os.name == "nt" else "prodex")
    found = shutil.which("prodex")
    is_found = found is not None and Path(found).resolve() == beside.resolve()
    # Programs of a user are elsewhere than the interpreter of the system.
    program = "prodex" if is_found or not beside.exists() else _in_shell(beside)
    # A setting that make gave to this process is not in the shell that make was called from.
    given = os.environ.get("PRODEX_HOME") if is_made() else None
    return program if given is None else f"PRODEX_HOME={shlex.quote(given)} {program}"


def is_made() -> bool:
    """Whether `make` called this process, in a checkout."""
    return "MAKELEVEL" in os.environ and Path("Makefile").exists()


def _in_shell(path: Path) -> str:
    """Return a program as a shell takes it, as short as it may be: `.venv/bin/python`."""
    here = Path.cwd()
    # A name alone would be looked for on the path of programs.
    is_below = path.is_relative_to(here) and path.parent != here
    return _quoted(str(path.relative_to(here) if is_below else path))


def _quoted(text: str) -> str:
    # The shells of Windows do not know single quotation marks.
    return f'"{text}"' if os.name == "nt" else shlex.quote(text)
