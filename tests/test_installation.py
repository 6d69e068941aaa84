"""A message about a missing extra names the line that installs it here, however prodex was installed."""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import Distribution
from pathlib import Path

import pytest

import prodex
from prodex.installation import Installation, installation, installation_of, missing_extra
from tests.cases import each_row


class Environment:
    """A virtual environment with the traces that an installer leaves of prodex, and a package `there`."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        self.python.parent.mkdir(parents=True)
        self.program = self.python.with_name("prodex")
        self.program.touch()
        self.program.chmod(0o755)
        self.metadata = folder / "lib" / "prodex-1.dist-info"
        self.metadata.mkdir(parents=True)
        there = folder / "lib" / "there-1.dist-info"
        there.mkdir()
        (there / "METADATA").write_text("Name: there\nVersion: 1\n", "utf-8")
        needs = ["gone>=1; extra == 'sql'", "there>=0.1; extra == 'sandbox'", "gone>=1; extra == 'lab'"]
        lines = ["Name: prodex", "Version: 1", *(f"Requires-Dist: {one}" for one in needs)]
        self.leaves("METADATA", "\n".join(lines) + "\n")
        self.leaves("INSTALLER", "pip\n")
        self.monkeypatch = monkeypatch
        monkeypatch.syspath_prepend(str(folder / "lib"))
        monkeypatch.setenv("PATH", "/usr/bin")
        monkeypatch.delenv("MAKELEVEL", raising=False)

    def leaves(self, name: str, text: str) -> None:
        """Write a file of the installed package."""
        (self.metadata / name).write_text(text, "utf-8")

    def comes_from(self, **found: object) -> None:
        """Say where the package was installed from."""
        self.leaves("direct_url.json", json.dumps(found))

    def says(self, folder: Path) -> list[str]:
        """Return the line that installs an extra, and the command, as they are said in a folder."""
        self.monkeypatch.chdir(folder)
        here = installation_of(Distribution.at(self.metadata), self.folder, self.python)
        return [here.line_for("sql"), here.command]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Make a folder beside the checkout."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """Make an environment into which pip installed prodex from an index."""
    return Environment(tmp_path / "co" / ".venv", monkeypatch)


def test_in_an_environment_that_is_not_active_its_own_python_is_named(
    environment: Environment, tmp_path: Path, elsewhere: Path
) -> None:
    """`pip` alone would be that of another environment."""
    line = f"{environment.python} -m pip install 'prodex[sql]'"

    assert [line, str(environment.program)] == environment.says(elsewhere)
    inside = environment.says(tmp_path / "co")
    assert [".venv/bin/python -m pip install 'prodex[sql]'", ".venv/bin/prodex"] == inside


def test_in_an_active_environment_pip_is_enough(environment: Environment, tmp_path: Path) -> None:
    """The shell finds the programs of the environment first."""
    environment.monkeypatch.setenv("PATH", f"{environment.python.parent}{os.pathsep}/usr/bin")

    assert ["pip install 'prodex[sql]'", "prodex"] == environment.says(tmp_path)


def test_what_was_installed_from_a_file_or_a_folder_is_named(
    environment: Environment, tmp_path: Path
) -> None:
    """An index may not have it. What has gone since is not named."""
    wheel = tmp_path / "prodex-1-py3-none-any.whl"
    environment.comes_from(url=wheel.as_uri(), archive_info={})
    assert environment.says(tmp_path)[0].endswith("-m pip install 'prodex[sql]'")
    wheel.touch()
    assert environment.says(tmp_path)[0].endswith(f"-m pip install './{wheel.name}[sql]'")
    assert environment.says(tmp_path / "co")[0].endswith(f"-m pip install '{wheel}[sql]'")

    environment.comes_from(url=(tmp_path / "co").as_uri(), dir_info={})
    assert environment.says(tmp_path / "co")[0].endswith("-m pip install '.[sql]'")


def test_an_editable_installation_stays_editable(
    environment: Environment, tmp_path: Path, elsewhere: Path
) -> None:
    """It is installed again from its checkout."""
    environment.comes_from(url=(tmp_path / "co").as_uri(), dir_info={"editable": True})
    line = f"{environment.python} -m pip install --editable '{tmp_path}/co[sql]'"
    assert line == environment.says(elsewhere)[0]


def test_what_make_installed_keeps_its_exact_versions(environment: Environment, tmp_path: Path) -> None:
    """And a command has the PRODEX_HOME that make gave, which the shell does not have."""
    checkout = tmp_path / "co"
    (checkout / "Makefile").touch()
    environment.comes_from(url=checkout.as_uri(), dir_info={"editable": True})
    line = ".venv/bin/python -m pip install --constraint ./constraints.txt --editable '.[sql]'"

    assert [line, ".venv/bin/prodex"] == environment.says(checkout)
    environment.monkeypatch.setenv("MAKELEVEL", "1")
    environment.monkeypatch.setenv("PRODEX_HOME", "data")
    assert [line, "PRODEX_HOME=data .venv/bin/prodex"] == environment.says(checkout)


def test_a_repository_is_named_without_credentials(environment: Environment, tmp_path: Path) -> None:
    """With the commit that is installed; an address that holds credentials is not shown."""
    at = {"vcs_info": {"vcs": "git", "commit_id": "abc"}}
    environment.comes_from(url="https://example.com/prodex.git", **at)
    wanted = "'prodex[sql] @ git+https://example.com/prodex.git@abc'"
    assert environment.says(tmp_path)[0].endswith(f"-m pip install {wanted}")
    environment.comes_from(url="https://me:secret@example.com/prodex.git", **at)
    assert environment.says(tmp_path)[0].endswith("-m pip install 'prodex[sql]'")


@each_row("text", ["{", "[]", "null", '{"url": 5}', '{"dir_info": []}'])
def test_a_damaged_file_of_the_installer_is_no_error(
    environment: Environment, tmp_path: Path, text: str
) -> None:
    """The message is about something else."""
    environment.leaves("direct_url.json", text)
    assert environment.says(tmp_path)[0].endswith("-m pip install 'prodex[sql]'")


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("pipx_metadata.json", "pipx install --force 'prodex[sandbox,sql]'"),
        ("uv-receipt.toml", "uv tool install --force 'prodex[sandbox,sql]'"),
    ],
)
def test_a_tool_is_installed_anew_with_the_extras_that_it_has(
    environment: Environment, tmp_path: Path, file: str, line: str
) -> None:
    """Both programs own the environment, and would forget what pip adds to it; what is incomplete is no extra.

    The lines were also run with pipx 1.18 and uv 0.13.
    """
    (environment.folder / file).touch()
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "prodex").symlink_to(environment.program)
    environment.monkeypatch.setenv("PATH", str(linked))
    assert [line, "prodex"] == environment.says(tmp_path)


def test_uv_adds_to_its_own_environments(environment: Environment, elsewhere: Path) -> None:
    """They have no pip, and neither have others that were made without it."""
    environment.leaves("INSTALLER", "uv\n")
    line = f"uv pip install --python {environment.python} 'prodex[sql]'"
    assert line == environment.says(elsewhere)[0]
    assert line == Installation(environment.folder, environment.python, has_pip=False).line_for("sql")


def test_a_notebook_gets_its_own_command() -> None:
    """It installs into the environment of the kernel, whatever the shell has."""
    here = Installation(Path("/venv"), Path("/venv/bin/python"), is_notebook=True)
    assert "%pip install 'prodex[sql]'" == here.line_for("sql")


def test_a_path_with_blanks_is_quoted() -> None:
    """The line is to be pasted."""
    here = Installation(
        Path("/my venv"), Path("/my venv/bin/python"), source=Path("/my code"), is_editable=True
    )
    assert "'/my venv/bin/python' -m pip install --editable '/my code[sql]'" == here.line_for("sql")


def test_the_error_ends_with_the_line() -> None:
    """What needs what, and then the line, without a full stop that would be copied with it."""
    words = r"^catalog\.sql\(\) needs DuckDB\. Install it with: .*pip install .*\[sql\]'$"
    with pytest.raises(prodex.ProdexError, match=words):
        raise missing_extra("catalog.sql()", "DuckDB", "sql")


def test_this_environment_is_recognized() -> None:
    """Whatever it is, the line is for the Python that runs this."""
    here = installation()

    assert (Path(sys.prefix), Path(sys.executable)) == (here.prefix, here.python)
    assert "[cluster]" in here.line_for("cluster")
