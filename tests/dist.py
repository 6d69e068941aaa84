"""What a release publishes: `make dist` builds it twice, and only if both are the same byte for byte is it kept.

The wheel has a bill of materials in `dist-info/sboms` (PEP 770): the package and what it asks to be installed.
"""

# ruff: noqa: T201 - it prints what it built

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_SBOM = "prodex.cdx.json"


def bill_of_materials(folder: Path) -> dict[str, Any]:
    """Return the bill of materials in CycloneDX, the same for the same pyproject.toml.

    Versions are the lower bounds that the package asks for: which ones are installed, the wheel does not know.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (folder / "requirements.txt").write_text("\n".join(project["dependencies"]) + "\n", "utf-8")
    command = [sys.executable, "-m", "cyclonedx_py", "requirements", str(folder / "requirements.txt")]
    options = ["--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "library", "--output-reproducible"]
    # It warns of every requirement that is a lower bound, which all of them are.
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    made: dict[str, Any] = json.loads(done.stdout)
    for component in made["components"]:
        component.pop("externalReferences", None)  # where it might be downloaded from is not a fact about it
    return made


def build(folder: Path) -> dict[str, str]:
    """Build sdist and wheel into a folder, and return the digest of each by its name."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": _moment()}
    with tempfile.TemporaryDirectory() as beside:
        at = Path(beside)
        backend = [sys.executable, "-m", "hatchling", "build", "--directory", str(at / "built")]
        subprocess.run(backend, cwd=ROOT, env=environment, check=True, capture_output=True)
        (wheel,) = (at / "built").glob("*.whl")
        tool = [sys.executable, "-m", "wheel"]
        subprocess.run([*tool, "unpack", str(wheel), "--dest", str(at)], check=True, capture_output=True)
        (unpacked,) = (path for path in at.glob("prodex-*") if path.is_dir())
        (metadata,) = unpacked.glob("*.dist-info")
        (metadata / "sboms").mkdir()
        text = json.dumps(bill_of_materials(at), indent=1, sort_keys=True)
        (metadata / "sboms" / _SBOM).write_text(f"{text}\n", "utf-8")
        packing = [*tool, "pack", str(unpacked), "--dest-dir", str(at / "built")]
        subprocess.run(packing, env=environment, check=True, capture_output=True)
        folder.mkdir(parents=True)
        for path in sorted((at / "built").iterdir()):
            shutil.copy(path, folder)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def _moment() -> str:
    """Return when the last commit was made: the time of every file in what is built."""
    asked = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "1577836800"


def main() -> int:
    warnings.simplefilter("ignore")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    first, second = build(ROOT / "dist"), build(ROOT / "dist" / "again")
    shutil.rmtree(ROOT / "dist" / "again")
    for name, digest in first.items():
        print(f"{digest}  {name}")
    if first != second:
        print(f"The second build is another one: {second}")
        return 1
    print("Both builds are the same.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
