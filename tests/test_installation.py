"""A message about a missing extra names the line that installs it here, and next steps are lines that can be pasted."""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace

import pytest

import prodex
from prodex import installation
from prodex.installation import extra_line, missing_extra, prodex_command


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an environment in a checkout that is not active; return the folder of its programs."""
    programs = tmp_path / "co" / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "prodex"):
        (programs / name).touch()
        (programs / name).chmod(0o755)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.delenv("MAKELEVEL", raising=False)
    return programs


def test_the_line_names_the_python_that_lacks_the_package(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pip` alone could be that of another environment."""
    assert f"{environment}/python -m pip install 'prodex[sql]'" == extra_line("sql")
    monkeypatch.chdir(environment.parents[1])
    assert ".venv/bin/python -m pip install 'prodex[sql]'" == extra_line("sql")
    monkeypatch.chdir(environment)
    assert f"{environment}/python -m pip install 'prodex[sql]'" == extra_line("sql")


def test_uv_adds_to_an_environment_without_pip(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that uv made have none, and neither have others that were made without it."""
    specs: dict[str, ModuleSpec | None] = {"pip": None}
    monkeypatch.setattr(installation, "find_spec", specs.__getitem__)
    assert f"uv pip install --python {environment}/python 'prodex[sql]'" == extra_line("sql")


def test_a_notebook_gets_its_own_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """It installs into the environment of the kernel, whatever the shell has."""
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=None))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    assert "%pip install 'prodex[sql]'" == extra_line("sql")


def test_a_path_with_blanks_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is to be pasted."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "my venv" / "python"))
    monkeypatch.chdir(tmp_path)
    assert "'my venv/python' -m pip install 'prodex[sql]'" == extra_line("sql")


def test_the_command_is_the_one_of_this_environment(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name alone only where a shell finds it, also through a link, as pipx and uv make one."""
    assert f"{environment}/prodex" == prodex_command()
    monkeypatch.chdir(environment.parents[1])
    assert ".venv/bin/prodex" == prodex_command()
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "prodex").symlink_to(environment / "prodex")
    monkeypatch.setenv("PATH", f"{linked}{os.pathsep}/usr/bin")
    assert "prodex" == prodex_command()


def test_the_command_has_the_folder_that_make_gave(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shell that make was called from has no PRODEX_HOME."""
    monkeypatch.setenv("PRODEX_HOME", "data")
    monkeypatch.setenv("MAKELEVEL", "1")
    assert f"{environment}/prodex" == prodex_command()
    monkeypatch.chdir(environment.parents[1])
    Path("Makefile").touch()
    assert "PRODEX_HOME=data .venv/bin/prodex" == prodex_command()


def test_the_error_ends_with_the_line() -> None:
    """What needs what, and then the line, without a full stop that would be copied with it."""
    words = r"^catalog\.sql\(\) needs DuckDB\. Install it with: .*pip install .*prodex\[sql\]'$"
    with pytest.raises(prodex.ProdexError, match=words):
        raise missing_extra("catalog.sql()", "DuckDB", "sql")
