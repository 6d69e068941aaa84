"""The quick suite on every Python of this machine that prodex supports: `make pythons`, or `python -m tests.pythons`.

Each has an environment of its own, `.venv-3.12` for example, which is kept. Which versions are missing is said, and is
no failure: a developer has what he has, and `.github/workflows/test.yml` has all of them.
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
    kept = sorted(pyenv.glob(f"{version}.*/bin/python"), key=lambda path: path.parts[-3].split("."))
    on_path = shutil.which(f"python{version}")
    for one in [*([Path(on_path)] if on_path else []), *reversed(kept)]:
        asked = [str(one), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:  # shims of pyenv may lead nowhere
            return one
    return None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make pythons", description=__doc__)
    parser.add_argument("versions", nargs="*", help="which versions; all that the package names by default")
    parser.add_argument("--tests", nargs="*", default=["--quick"], help="what pytest is given")
    options = parser.parse_args(arguments)
    results: dict[str, str] = {}
    for version in options.versions or supported():
        python = interpreter(version)
        if python is None:
            results[version] = "missing on this machine, not tested"
            continue
        home = f".venv-{version}"
        made = subprocess.run(
            ["make", f"PYTHON={python}", f"VENV={home}", f"{home}/.ready"], cwd=ROOT, check=False
        )
        tests = [ROOT / home / "bin" / "python", "-m", "pytest", "-q", *options.tests]
        is_good = made.returncode == 0 and subprocess.run(tests, cwd=ROOT, check=False).returncode == 0
        results[version] = f"{'passed' if is_good else 'FAILED'} ({python})"
    for version, result in results.items():
        print(f"Python {version}: {result}")
    return 1 if any(result.startswith("FAILED") for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
