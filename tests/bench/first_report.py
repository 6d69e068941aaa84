"""How long a new user waits for the first report: `pip install` and `prodex demo`, or `make demo` in a fresh checkout.

What pip has downloaded once, it has in its cache: the first installation fills it, and the second one is measured.
"""

# ruff: noqa: T201 - a process prints its result

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from tests.bench.measuring import HOME

#: What a reader of the README installs, and the line of the demo that says where the report is.
_EXTRAS = "sandbox,lab"
_REPORT = "The report opens in a browser"


def by_pip(rounds: int) -> dict[str, float]:
    """Return the seconds of making an environment, of installing the wheel into it, and of the demo's report."""
    with tempfile.TemporaryDirectory(prefix="prodex-first-") as name:
        wheel = _built("wheel", Path(name))
        _installed(wheel, Path(name, "warm"))
        return _median(_first_by_pip(wheel, Path(name, str(number))) for number in range(rounds))


def _first_by_pip(wheel: Path, folder: Path) -> dict[str, float]:
    environment, work = folder / "environment", folder / "work"
    work.mkdir(parents=True)
    made, installed = _installed(wheel, environment)
    demo = [str(environment / "bin" / "prodex"), "demo"]
    report = _until_report(demo, work, PRODEX_HOME=str(folder / "home"))
    return {"all": made + installed + report, "environment": made, "install": installed, "demo": report}


def by_make(rounds: int) -> dict[str, float]:
    """Return the seconds from a fresh checkout to the report of `make demo`."""
    with tempfile.TemporaryDirectory(prefix="prodex-first-") as name:
        sdist = _built("sdist", Path(name, "sdist"))
        return _median(_first_by_make(sdist, Path(name, str(number))) for number in range(rounds))


def _first_by_make(sdist: Path, folder: Path) -> dict[str, float]:
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (checkout,) = folder.iterdir()
    return {"make demo": _until_report(["make", "demo", f"PYTHON={sys.executable}"], checkout)}


def _median(rounds: Iterable[dict[str, float]]) -> dict[str, float]:
    every = list(rounds)
    return {name: median(one[name] for one in every) for name in every[0]}


def _built(target: str, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=HOME, check=True, capture_output=True)
    (built,) = folder.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return built


def _installed(wheel: Path, environment: Path) -> tuple[float, float]:
    begin = perf_counter()
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    made = perf_counter()
    python, constraints = environment / "bin" / "python", HOME / "constraints.txt"
    options = ["--quiet", "--disable-pip-version-check", "--constraint", str(constraints)]
    command = [str(python), "-m", "pip", "install", *options, f"{wheel}[{_EXTRAS}]"]
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"pip cannot install the wheel: {done.stderr[-2000:]}")
    return made - begin, perf_counter() - made


def _until_report(command: Sequence[str], folder: Path, **settings: str) -> float:
    """Run a command to its end, and return the seconds until it said where the report is."""
    begin, seconds = perf_counter(), None
    with subprocess.Popen(
        command,
        cwd=folder,
        env=_environment() | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(_REPORT):
                seconds = perf_counter() - begin
    if process.returncode or seconds is None:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}, and no report")
    return seconds


def _environment() -> dict[str, str]:
    """Return the environment of this process without what would lead to this checkout or to another home."""
    left_out = {"PYTHONPATH", "PRODEX_HOME", "PRODEX_SERVICE", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL"}
    # Python keeps a program's output back while nobody reads it from a terminal.
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {"PYTHONUNBUFFERED": "1"}


if __name__ == "__main__":
    print(json.dumps({"pip": by_pip, "make": by_make}[sys.argv[1]](int(sys.argv[2]))))
