"""A load that is killed again and again, with what the service saw of it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from prodex.sandbox import Sandbox

#: Windows fetched side by side: so many pages may be in flight when the process is killed.
SIDE_BY_SIDE = 4

_LOAD = f"""
import os, sys
import prodex
key = {{"base_url": sys.argv[1], "client_id": sys.argv[2], "client_secret": sys.argv[3]}}
client = prodex.connect(**key)
print("begins", flush=True)
prodex.load_products(client, name="killed", max_age=0, page_size=int(sys.argv[4]), windows={SIDE_BY_SIDE})
"""

# Below 10,000 products nothing is cut into windows; the limits are lowered for a catalogue that a test can serve.
_SMALL = """
from prodex.load import windows
from prodex.service import walk
walk.SCROLL_FROM, windows.SMALLEST = 100, 100
"""


@dataclass(frozen=True)
class Killing:
    """What became of it.

    Attributes
    ----------
    kills
        How often the process was killed.
    loads
        How many loads came to their end all the same.
    pages
        Pages that one load needs when nobody kills it.
    fetched_again
        Of each time it went on, how many pages of a window were asked for once more, for each window of which any was.
    """

    kills: int
    loads: int
    pages: int
    fetched_again: tuple[tuple[int, ...], ...]

    @property
    def most_of_a_window(self) -> int:
        """The most pages that one window had to fetch again after one kill."""
        return max((pages for windows in self.fetched_again for pages in windows), default=0)

    @property
    def in_all(self) -> int:
        """All pages that were fetched again."""
        return sum(pages for windows in self.fetched_again for pages in windows)


def kill_often(
    sandbox: Sandbox,
    home: Path,
    kills: int,
    *,
    page_size: int,
    longest: float,
    seed: int = 1,
    small: bool = True,
) -> Killing:
    """Load, kill the process (SIGKILL) after a random time, load again, and so on; let the last load end.

    Parameters
    ----------
    longest
        Seconds after which a process is killed at the latest.
    """
    chance = random.Random(seed)
    done, loads = 0, 0
    again: list[tuple[int, ...]] = []
    _run(sandbox, home, page_size, None, small)
    pages = len(_pages(sandbox, 0))
    begin = len(sandbox.requests)
    before: Counter[str] = Counter()
    while done < kills:
        killed = _run(sandbox, home, page_size, chance.uniform(0, longest), small)
        seen = Counter(_pages(sandbox, begin))
        again.append(_repeated(before, seen))
        before = seen
        if killed:
            done += 1
        else:
            loads += 1
            begin, before = len(sandbox.requests), Counter()
    _run(sandbox, home, page_size, None, small)
    seen = Counter(_pages(sandbox, begin))
    again.append(_repeated(before, seen))
    return Killing(done, loads + 1, pages, tuple(again))


def _repeated(before: Counter[str], now: Counter[str]) -> tuple[int, ...]:
    """Return of each window how many pages were asked for that had been asked for before."""
    windows: Counter[str] = Counter()
    for page, count in now.items():
        if before[page] and count > before[page]:
            query = {key: value for key, value in json.loads(page).items() if key != "next_page"}
            windows[json.dumps(query)] += count - before[page]
    return tuple(windows.values())


def _pages(sandbox: Sandbox, begin: int) -> list[str]:
    """Return the pages that were asked for; counts are not pages."""
    bodies = [body for _, path, body in sandbox.requests[begin:] if path.endswith("/list")]
    return [json.dumps(body, sort_keys=True) for body in bodies if body.get("limit") != 1]


def _wait_until_quiet(sandbox: Sandbox) -> None:
    """Wait until the service has noted what it was asked before the process ended."""
    noted = -1
    while noted != len(sandbox.requests):
        noted = len(sandbox.requests)
        time.sleep(0.1)


def _run(sandbox: Sandbox, home: Path, page_size: int, seconds: float | None, small: bool) -> bool:
    """Load in a process of its own; say whether it was killed before its end."""
    key = sandbox.credentials[0]
    arguments = [sandbox.base_url, key["client_id"], key["client_secret"], str(page_size)]
    with subprocess.Popen(
        [sys.executable, "-c", (_SMALL if small else "") + _LOAD, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PRODEX_HOME": str(home)},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "begins\n", process.stderr.read()
        if seconds is not None:
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                _wait_until_quiet(sandbox)
                return True
        process.wait()
        assert process.returncode == 0, process.stderr.read()
        return False
