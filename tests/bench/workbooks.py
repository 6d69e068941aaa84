"""`python -m tests.bench.workbooks OTHER/src`: a worklist of 50,000 rows, read here and in another checkout in turns.

Each turn is a fresh process that reads the same file and counts its cells; what is printed is processor time, the best
of all turns, and the ratio. Checkouts that find other cells fail the run.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from xlsxwriter import Workbook

from tests.bench.measuring import HOME

ROWS, TURNS = 50_000, 5

#: What a turn runs; it prints the cells that are filled, and the seconds.
_TURN = """
import sys, time
from prodex.formats.spreadsheet_files import sheets_of
begin = time.process_time()
with sheets_of(sys.argv[1]) as sheets:
    cells = sum(len(row) for sheet in sheets for _, row in sheet.rows())
print(cells, time.process_time() - begin)
"""


def write_worklist(path: Path, rows: int = ROWS) -> Path:
    """Write a workbook as large as a worklist of so many findings: some columns repeat, some differ in each row."""
    with Workbook(path) as book:
        sheet = book.add_worksheet("To fix")
        for number in range(1, rows + 1):
            texts = [f"{number * 7_919:014d}", str(number), f"Pain de campagne {number % 9_999}"]
            texts += ["namePublicLong", "fr", "Belgium (056)", "error", f"Pain {number} é", "No French name"]
            texts += ["It is missing", "Write the name in French", f"Answer {number} à la crème"]
            texts += ["Write a text", "Every product has a name", "required_text[namePublicLong,fr]"]
            sheet.write_row(number, 0, [*texts, number, "fra-FR", "0", "2026-11-20T08:00:00"])
    return path


def turn(source: Path, file: Path) -> tuple[int, float]:
    """Read the file once with the prodex of a source folder."""
    environment = os.environ | {"PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-c", _TURN, str(file)], env=environment, capture_output=True, text=True, check=True
    )
    cells, seconds = done.stdout.split()
    return int(cells), float(seconds)


def main(sources: list[str]) -> int:
    """Measure this checkout and the others, in turns."""
    every = [HOME / "src", *map(Path, sources)]
    with tempfile.TemporaryDirectory() as folder:
        file = write_worklist(Path(folder, "worklist.xlsx"))
        turns = [[turn(source, file) for source in every] for _ in range(TURNS)]
    best = [min(one[place][1] for one in turns) for place in range(len(every))]
    for source, seconds in zip(every, best, strict=True):
        print(f"{seconds:6.2f} s  {best[0] / seconds:5.2f} times  {source}")
    return 0 if 1 == len({cells for one in turns for cells, _ in one}) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
