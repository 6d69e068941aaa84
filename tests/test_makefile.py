"""What the commands of the Makefile touch."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
#: What a user runs; all other commands are for those who change prodex. `clean` removes both environments.
OF_USERS = {"demo", "lab", "clean"}
TARGETS = sorted({*re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)} - OF_USERS)


def dry(target: str, folder: Path) -> str:
    """Return what `make` would do for a target in a folder where nothing is installed yet."""
    return subprocess.run(
        ["make", "-n", target], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder as a fresh clone has it, as far as `make` looks."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    return folder


def test_no_command_of_developers_changes_the_environment_of_users(fresh: Path) -> None:
    """`make docs`, the tests and all else that is no demo and no lab install and run in `.venv-dev` alone."""
    touching = [target for target in TARGETS if re.search(r"\.venv(?!-)", dry(target, fresh))]
    assert {"docs", "test", "check", "bench", "dist"} <= set(TARGETS)
    assert touching == []


@pytest.mark.parametrize("target", ["demo", "lab"])
def test_the_demo_and_the_lab_run_where_users_have_installed(target: str, fresh: Path) -> None:
    """They install into `.venv`, which is the one of the README."""
    done = dry(target, fresh)
    assert ".venv/bin/" in done
    assert ".venv-dev" not in done
