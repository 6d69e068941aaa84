"""How this prodex was installed, so that a message can name the line that adds what is missing.

Installers leave it behind: `direct_url.json` names the file, folder or repository that a package was installed from,
`INSTALLER` the program, and pipx and uv keep a file of their own in the environment of a tool.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from prodex.errors import MissingExtra
from prodex.progress import in_notebook

_CONSTRAINTS = "constraints.txt"
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra == ['\"]([a-z]+)['\"]")


@dataclass(frozen=True)
class Installation:
    """What is known of an installation.

    Examples
    --------
    >>> here = Installation(Path("/venv"), Path("/venv/bin/python"))
    >>> here.line_for("sql")
    "/venv/bin/python -m pip install 'prodex[sql]'"
    """

    #: Root of the environment, and its interpreter.
    prefix: Path
    python: Path
    #: The file or folder that it was installed from, or an address for pip; neither if that was an index.
    source: Path | None = None
    address: str = ""
    is_editable: bool = False
    #: "pip", "uv" or another program; "pipx" and "uv tool" if the environment is one of theirs.
    installer: str = "pip"
    has_pip: bool = True
    #: Whether the programs of the environment are those that a shell finds, or at least `prodex` is.
    is_active: bool = False
    is_on_path: bool = False
    is_notebook: bool = False
    #: Extras of which every package is there.
    extras: tuple[str, ...] = ()

    def line_for(self, extra: str) -> str:
        """Return the line that installs an extra into this environment."""
        if self.installer in {"pipx", "uv tool"}:
            # Both install the tool anew, so what was there has to be named again.
            wanted = self._requirement(*sorted({*self.extras, extra}))
            return f"{self.installer} install --force {wanted}"
        wanted = self._requirement(extra)
        if not self.has_pip or self.installer == "uv":
            return f"uv pip install --python {_path_in_command(self.python)} {wanted}"
        if self.is_notebook:
            return f"%pip install {wanted}"
        pip = "pip" if self.is_active else f"{_path_in_command(self.python)} -m pip"
        if self.is_made_by_make and self.source is not None:
            return f"{pip} install --constraint {_path_in_command(self.source / _CONSTRAINTS)} {wanted}"
        return f"{pip} install {wanted}"

    @property
    def is_made_by_make(self) -> bool:
        """Whether `make` made the environment, in a checkout."""
        return (
            self.is_editable
            and self.source is not None
            and self.prefix == self.source / ".venv"
            and (self.source / "Makefile").exists()
        )

    @property
    def command(self) -> str:
        """How the command `prodex` of this environment is called in a shell."""
        beside = _program(self.python)
        # Programs of a user are elsewhere than the interpreter of the system.
        program = "prodex" if self.is_on_path or not beside.exists() else _path_in_command(beside)
        # A setting that make gave to this process is not in the shell that make was called from.
        given = os.environ.get("PRODEX_HOME") if self.is_made_by_make and "MAKELEVEL" in os.environ else None
        return program if given is None else f"PRODEX_HOME={shlex.quote(given)} {program}"

    def _requirement(self, *extras: str) -> str:
        name = "prodex" if self.source is None else _short_path(self.source)
        wanted = f"{name}[{','.join(extras)}]"
        if self.address:
            wanted = f"{wanted} @ {self.address}"
        return f"--editable {_quoted(wanted)}" if self.is_editable else _quoted(wanted)


def installation() -> Installation:
    """Return how this prodex was installed.

    Examples
    --------
    >>> installation().python == Path(sys.executable)
    True
    """
    try:
        own = distribution("prodex")
    except PackageNotFoundError:  # a source tree on the path
        return Installation(Path(sys.prefix), Path(sys.executable))
    found = installation_of(own, Path(sys.prefix), Path(sys.executable))
    return replace(found, has_pip=find_spec("pip") is not None, is_notebook=in_notebook())


def installation_of(own: Distribution, prefix: Path, python: Path) -> Installation:
    """Return what an installed package, the root of its environment and the `PATH` say.

    Parameters
    ----------
    own
        The package.
    prefix, python
        Root and interpreter of its environment.
    """
    tools = {"pipx_metadata.json": "pipx", "uv-receipt.toml": "uv tool"}
    tool = next((name for file, name in tools.items() if (prefix / file).exists()), None)
    source, address, is_editable = _installed_from(own)
    program = Path(shutil.which("prodex") or python)
    return Installation(
        prefix=prefix,
        python=python,
        source=source,
        address=address,
        is_editable=is_editable,
        installer=tool or (own.read_text("INSTALLER") or "pip").strip(),
        is_active=program == _program(python),
        # pipx and uv link to it from a folder that is on the path.
        is_on_path=program.resolve() == _program(python).resolve(),
        extras=_complete_extras(own),
    )


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
    return MissingExtra(f"{what} needs {package}. Install it with: {installation().line_for(extra)}")


def _installed_from(own: Distribution) -> tuple[Path | None, str, bool]:
    """Return the file or folder, or the address, that a package was installed from, and whether it is editable."""
    try:
        found = json.loads(own.read_text("direct_url.json") or "{}")
        url, within = str(found.get("url", "")), found.get("vcs_info", {})
        vcs, commit = within.get("vcs", ""), within.get("commit_id", "")
        is_editable = bool(found.get("dir_info", {}).get("editable"))
        parts = urlsplit(url)
    except (ValueError, AttributeError):
        return None, "", False
    if parts.scheme == "file" and not vcs:
        path = Path(url2pathname(parts.path))
        return (path, "", is_editable) if path.exists() else (None, "", False)
    # Credentials, which no message may have; over SSH, the name before the @ is none.
    if not parts.scheme or parts.password or ("@" in parts.netloc and parts.scheme != "ssh"):
        return None, "", False
    return None, f"{vcs}+{url}@{commit}" if vcs else url, False


def _complete_extras(own: Distribution) -> tuple[str, ...]:
    """Return the extras of which every package is installed."""
    needed: dict[str, list[str]] = {}
    for requirement in own.requires or ():
        name, extra = _NAME.match(requirement), _EXTRA.search(requirement)
        if name and extra:
            needed.setdefault(extra[1], []).append(name[0])
    return tuple(extra for extra, names in needed.items() if all(map(_is_installed, names)))


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _short_path(path: Path) -> str:
    """Return a path as short as it may be in the working directory: `.`, `.venv/bin/python`, `/opt/prodex`."""
    here = Path.cwd()
    if not path.is_relative_to(here):
        return str(path)
    within = path.relative_to(here)
    # A name alone would be looked for among the programs, or on an index.
    return str(within) if len(within.parts) != 1 else os.path.join(".", within)  # noqa: PTH118 - pathlib drops the dot


def _program(python: Path) -> Path:
    """Return the command `prodex` beside an interpreter, as Linux and macOS or Windows call it.

    >>> str(_program(Path("bin/python3.11"))), str(_program(Path("Scripts/python.exe")))
    ('bin/prodex', 'Scripts/prodex.exe')
    """
    return python.with_name("prodex.exe" if python.suffix.lower() == ".exe" else "prodex")


def _path_in_command(path: Path) -> str:
    shown = _short_path(path)
    return shown if re.fullmatch(r"[\w./:\\~-]+", shown) else _quoted(shown)


def _quoted(text: str) -> str:
    # The shells of Windows do not know single quotation marks.
    return f'"{text}"' if os.name == "nt" else shlex.quote(text)
