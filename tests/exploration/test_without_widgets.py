"""The engine below the panels does without widgets: reports and commands use it, where no notebook is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import prodex

HERE = Path(__file__).parent
ENGINE = Path(prodex.__file__).with_name("exploration")


@pytest.mark.slow
def test_the_engine_s_tests_run_without_widgets() -> None:
    """Its examples and its tests pass as if ipywidgets, anywidget and traitlets were not installed."""
    tests = sorted(str(path) for path in HERE.glob("test_*.py") if path.name != Path(__file__).name)
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-n0",
                "--quick",
                "-p",
                "tests.exploration.without_widgets",
            ),
            *(*tests, str(ENGINE)),
        ],
        capture_output=True,
        text=True,
        cwd=HERE.parents[1],
        check=False,
    )

    assert 0 == done.returncode, done.stdout[-2_000:]


def test_the_widgets_are_hidden() -> None:
    """What hides them for the test above does it."""
    code = "from tests.exploration.without_widgets import hide; hide(); import ipywidgets"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE.parents[1], check=False
    )

    assert "hidden" in done.stderr
