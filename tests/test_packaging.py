"""Wheel and sdist are complete, and the wheel runs in an environment that has nothing of the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import time
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "prodex"

# One worker builds once for all of them.
pytestmark = [pytest.mark.xdist_group("packaging"), pytest.mark.slow]


def unavailable(what: str) -> None:
    """Skip where a developer lacks something; under CI nothing may be left out."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def build(checkout: Path, target: str, folder: Path) -> Path:
    """Build a wheel or an sdist of a checkout, with the build backend that is installed here."""
    if find_spec("hatchling") is None:
        unavailable("hatchling is missing")
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sdist from the checkout."""
    return build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the sdist, as an installer without a wheel would."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    return build(unpacked, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel with what the demo needs into an empty environment, and return the folder of its programs."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    options = ["--quiet", "--no-compile", "--constraint", str(ROOT / "constraints.txt")]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(programs / "python"),
            "install",
            *options,
            f"{wheel}[sandbox]",
        ],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        check=False,
    )
    if done.returncode:
        unavailable(f"pip cannot install the wheel: {done.stderr[-1000:]}")
    return programs


def run(programs: Path, folder: Path, *command: str) -> str:
    """Run a command outside the checkout, in an environment that says nothing, and return what it printed."""
    settings = {
        "PATH": f"{programs}{os.pathsep}/usr/bin",
        "HOME": str(folder),
        "PRODEX_HOME": str(folder / "home"),
    }
    done = subprocess.run(
        [programs / command[0], *command[1:]],
        capture_output=True,
        text=True,
        env=settings,
        cwd=folder,
        check=False,
    )
    assert 0 == done.returncode, done.stderr[-2000:]
    return done.stdout


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    """Modules, profiles, word lists, styles, templates and py.typed: what is in the source tree, and nothing else."""
    there = {
        f"prodex/{path.relative_to(SOURCE).as_posix()}"
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert there == packed
    kinds = {Path(name).suffix for name in packed if name != "prodex/py.typed"}
    assert {".py", ".csv", ".tsv", ".toml", ".css", ".html"} <= kinds, kinds
    assert "prodex/py.typed" in packed


def test_the_sdist_has_what_it_takes_to_test_it(sdist: Path) -> None:
    """Tests, sample, docs and exact versions; nothing that a run has left."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    for name in (
        "pyproject.toml",
        "constraints.txt",
        "Makefile",
        "LICENSE",
        "README.md",
        "docs/conf.py",
        "tests/test_packaging.py",
        "data/sample/products.json",
    ):
        assert name in names
    assert [] == [
        name
        for name in names
        if name.startswith((".venv", "docs/_build", "data/snapshots")) or ".pyc" in name
    ]


def test_the_demo_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """In an empty environment, outside the checkout: it needs no file that the wheel does not have."""
    code = "import prodex; print(prodex.__file__)"
    assert str(ROOT) not in run(installed, tmp_path, "python", "-c", code)

    store = tmp_path / "home" / "sandbox"
    # A sandbox of 600 products instead of 12,000; the demo finds it in its home.
    serving = subprocess.Popen(
        [
            installed / "prodex",
            "sandbox",
            "--sample",
            "600",
            "--home",
            store,
            "--ready",
            tmp_path / "ready.json",
        ],
        env={"PATH": "/usr/bin", "HOME": str(tmp_path)},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(tmp_path / "ready.json", serving)
        shown = run(installed, tmp_path, "prodex", "demo")
    finally:
        serving.terminate()
        serving.wait(30)

    for words in ("status SUCCESS", "1 changed", "Audit of 600 products", "The report opens in a browser"):
        assert words in shown, words
    assert list((tmp_path / "home" / "reports").glob("*/report.html"))


def _wait_for(ready: Path, serving: subprocess.Popen[bytes], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not ready.exists():
        assert serving.poll() is None, "the sandbox ended"
        assert time.monotonic() < end, "the sandbox did not start"
        time.sleep(0.1)
