"""How long a new user waits for the first report: `pip install` and `prodex demo`, or `make demo` in a fresh checkout.

What pip has downloaded once, it has in its cache: the first installation fills it, and the second one is measured.
Processor time stands beside the seconds of a clock, because other programs on the machine do not lengthen it as much.
"""

# ruff: noqa: T201 - a process prints its result

from __future__ import annotations

import json
import os
import resource
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
    before = _processor_time()
    made, installed = _installed(wheel, environment)
    by_pip = _processor_time() - before
    demo = [str(environment / "bin" / "prodex"), "demo"]
    report, whole = _until_report(demo, work, PRODEX_HOME=str(folder / "home"))
    every = made + installed + report
    return {
        "all": every,
        "environment": made,
        "install": installed,
        "install_processor": by_pip,
        "demo": report,
        "share": report / every,
        "whole_demo": whole,
    }


def by_make(rounds: int) -> dict[str, float]:
    """Return the seconds from a fresh checkout to the report of `make demo`."""
    with tempfile.TemporaryDirectory(prefix="prodex-first-") as name:
        sdist = _built("sdist", Path(name, "sdist"))
        return _median(_first_by_make(sdist, Path(name, str(number))) for number in range(rounds))


def _first_by_make(sdist: Path, folder: Path) -> dict[str, float]:
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (checkout,) = folder.iterdir()
    python = f"PYTHON={sys.executable}"
    begin = perf_counter()
    subprocess.run(
        ["make", ".venv/.demo", python], cwd=checkout, env=_environment(), check=True, capture_output=True
    )
    installed = perf_counter() - begin
    report, _ = _until_report(["make", "demo", python], checkout)
    return {"make demo": installed + report, "install": installed, "demo": report}


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


def _until_report(command: Sequence[str], folder: Path, **settings: str) -> tuple[float, float]:
    """Run a command to its end, and return the seconds until it said where the first report is, and until its end."""
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
            if line.startswith(_REPORT) and seconds is None:
                seconds = perf_counter() - begin
    if process.returncode or seconds is None:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}, and no report")
    return seconds, perf_counter() - begin


def _processor_time() -> float:
    """Return the seconds of processor time of the processes that this one has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _environment() -> dict[str, str]:
    """Return the environment of this process without what would lead to this checkout or to another home."""
    left_out = {"PYTHONPATH", "PRODEX_HOME", "PRODEX_SERVICE", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL"}
    # Python keeps a program's output back while nobody reads it from a terminal.
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {"PYTHONUNBUFFERED": "1"}


if __name__ == "__main__":
    print(json.dumps({"pip": by_pip, "make": by_make}[sys.argv[1]](int(sys.argv[2]))))
