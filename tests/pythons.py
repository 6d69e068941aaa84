"""The quick suite on every Python of this machine that prodex supports: `make pythons`, or `python -m tests.pythons`.

Each has an environment of its own, `.venv-3.12` for example, which is kept. Which versions are missing is said, and is
no failure: a developer has what he has, and `.github/workflows/test.yml` has all of them. `--list` only says which
there are, as CI does.
"""

# ruff: noqa: T201 - it prints what it found

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]


def supported() -> list[str]:
    """Return the versions that the package names, such as "3.12"."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found = (
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", one) for one in project["classifiers"]
    )
    return [one[1] for one in found if one]


def interpreter(version: str) -> Path | None:
    """Return a Python of a version: of the path, or one that pyenv keeps; None if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    kept = sorted(pyenv.glob(f"{version}.*/bin/python"), key=_numbers)
    on_path = shutil.which(f"python{version}")
    for one in [*([Path(on_path)] if on_path else []), *reversed(kept)]:
        asked = [str(one), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:  # shims of pyenv may lead nowhere
            return one
    return None


def _numbers(python: Path) -> list[int]:
    """Return the numbers of a version that pyenv keeps: 3.11.10 comes after 3.11.9."""
    return [int(number) for number in re.findall(r"\d+", python.parts[-3])]


@dataclass
class Outcome:
    """What pytest said of a run: its last line, and the tests that failed."""

    counts: str = "no test ran"
    failed: list[str] = field(default_factory=list)

    def read(self, line: str) -> None:
        """Take a line of its output into account.

        >>> said = Outcome()
        >>> for line in ["....F.", "FAILED tests/test_a.py::test_b[1] - assert 1 == 2", "1 failed, 5 passed in 0.1s"]:
        ...     said.read(line)
        >>> said
        Outcome(counts='1 failed, 5 passed in 0.1s', failed=['FAILED tests/test_a.py::test_b[1] - assert 1 == 2'])
        """
        line = line.strip().strip("=").strip()
        if re.match(r"(FAILED|ERROR) \S", line):
            self.failed.append(line)
        if re.search(r"\d+ (passed|failed|error|deselected|skipped).* in [\d.]+s", line):
            self.counts = line


def run(python: Path, tests: list[str]) -> tuple[bool, Outcome]:
    """Run tests by the interpreter of an environment, show what it says, and return whether they passed."""
    # Whatever else is on the path is not what its environment has installed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    outcome = Outcome()
    with subprocess.Popen(
        [python, "-m", "pytest", "-q", *tests],
        cwd=ROOT,
        env=environment | {"PYTHONIOENCODING": "utf-8"},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            outcome.read(line)
    return process.returncode == 0, outcome


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make pythons", description=__doc__)
    parser.add_argument("versions", nargs="*", help="which versions; all that the package names by default")
    parser.add_argument("--tests", nargs="*", default=["--quick"], help="what pytest is given")
    parser.add_argument("--list", action="store_true", help="only say which versions there are")
    options = parser.parse_args(arguments)
    results: dict[str, list[str]] = {}
    for version in options.versions or supported():
        python = interpreter(version)
        if python is None:
            results[version] = ["missing on this machine, not tested"]
            continue
        if options.list:
            results[version] = [f"found ({python})"]
            continue
        home = f".venv-{version}"
        made = subprocess.run(
            ["make", f"PYTHON={python}", f"VENV={home}", f"{home}/.ready"], cwd=ROOT, check=False
        )
        if made.returncode:
            results[version] = [f"FAILED: its environment could not be made ({python})"]
            continue
        is_good, outcome = run(ROOT / home / "bin" / "python", options.tests)
        results[version] = [
            f"{'passed' if is_good else 'FAILED'}: {outcome.counts} ({python})",
            *outcome.failed,
        ]
    for version, (result, *failed) in results.items():
        print("\n    ".join([f"Python {version}: {result}", *failed]))
    return 1 if any(result.startswith("FAILED") for result, *_ in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
