"""Run them: `python -m tests.clock`, with the Debian package `faketime`; exit code 1 when any fails anywhere.

Each run begins seconds before the day, the month, the year or the hour of the zone ends, so that the end comes while
tests run. All processes of a run have the same clock, and waits take as long as ever.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: Moment by UTC, and the zone of the machine.
MOVES: Sequence[tuple[str, str]] = (
    ("2028-02-29T23:59:40+00:00", "UTC"),  # the end of a leap day
    ("2026-12-31T23:59:40+00:00", "Pacific/Kiritimati"),  # where it is the next day already, for 14 hours
    ("2027-02-01T03:29:40+00:00", "America/St_Johns"),  # the end of a month, half an hour off everybody else
    ("2026-03-29T00:59:40+00:00", "Europe/Berlin"),  # before an hour that does not exist
    ("2027-06-30T18:14:40+00:00", "Asia/Kathmandu"),  # a quarter of an hour off
)

#: What has to do with dates, by folder: two folders cannot be one run, since their conftest.py have one name. What goes
#: by the times of files (vacuum, resuming) is not here: the kernel writes those, and its clock stays.
FILES: Mapping[str, Sequence[str]] = {
    "sandbox": ("scenarios",),
    "send": ("scenarios",),
    "service": ("headers",),
    "load": ("windows",),
    "": ("query",),
}

#: What takes longer, once, before the hour that does not exist.
LONG: Mapping[str, Sequence[str]] = {
    "sandbox": ("tokens",),
    "service": ("authentication",),
    "load": ("refresh",),
    "quality": ("saved",),
}


def main() -> int:
    """Run all of it."""
    if shutil.which("faketime") is None:
        sys.stderr.write(
            "The clock cannot be moved without the command faketime (Debian package faketime).\n"
        )
        return 1
    runs = [(*move, folder, names) for move in MOVES for folder, names in FILES.items()]
    runs += [(*MOVES[3], folder, names) for folder, names in LONG.items()]
    failed = [
        f"{moment} {zone}: tests/{folder}"
        for moment, zone, folder, names in runs
        if run(datetime.fromisoformat(moment), zone, files_of(folder, names))
    ]
    sys.stderr.writelines(f"failed with the clock at {one}\n" for one in failed)
    return int(bool(failed))


def files_of(folder: str, names: Sequence[str]) -> list[Path]:
    """Return files of a folder."""
    prefix = "test_sandbox_" if folder == "sandbox" else "test_"
    return [ROOT / "tests" / folder / f"{prefix}{name}.py" for name in names]


def run(moment: datetime, zone: str, files: Sequence[Path]) -> int:
    """Run some files with the clock moved; return the exit code."""
    ahead = moment.timestamp() - time.time()
    python = os.pathsep.join(
        filter(None, [str(Path(__file__).parent / "python"), os.environ.get("PYTHONPATH")])
    )
    command = [
        "faketime", "--exclude-monotonic", "-f", f"{ahead:+.0f}s",
        sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *map(str, files),
    ]  # fmt: skip
    sys.stderr.write(f"{moment:%Y-%m-%d %H:%M:%S} UTC, {zone}: {', '.join(path.name for path in files)}\n")
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, "TZ": zone, "PYTHONPATH": python}, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
