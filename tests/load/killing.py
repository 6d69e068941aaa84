"""A load that is killed again and again, with what the service saw of it."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prodex.sandbox import Sandbox
from tests.forks import Forks, forking

#: Windows fetched side by side: so many pages may be in flight when the process is killed.
SIDE_BY_SIDE = 4

_IMPORTED = """
import prodex
import prodex.load.products, prodex.store.build, requests
"""
_LOAD = f"""
client = prodex.connect(base_url=base_url, client_id=client_id, client_secret=client_secret)
prodex.load_products(client, name="killed", max_age=0, page_size=page_size, windows={SIDE_BY_SIDE})
"""

# Below 10,000 products nothing is cut into windows; the limits are lowered for a catalogue that a test can serve.
_SMALL = """
from prodex.load import windows
from prodex.service import paging
paging.SCROLL_FROM, windows.SMALLEST = 100, 100
"""

# As loads of many products are built, in parts of which some are done when the last page is there.
_IN_PARTS = """
from prodex.store import plan
plan.PRODUCTS_PER_PART = 50
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
    seed: int = 1,
    small: bool = True,
    in_parts: bool = False,
) -> Killing:
    """Load, kill the process (SIGKILL), load again, and so on; let the last load end.

    A process is killed a random moment after a random number of its calls, one in six not before its last call: then
    it is building.
    """
    home.mkdir(parents=True, exist_ok=True)
    before = _IMPORTED + (_SMALL if small else "") + (_IN_PARTS if in_parts else "")
    with forking(before, _LOAD, home / "complaints.txt") as forks:
        return _kill_often(
            partial(_run, forks, sandbox, home, page_size), sandbox, kills, random.Random(seed)
        )


def _kill_often(
    run: Callable[[tuple[int | None, float] | None], bool],
    sandbox: Sandbox,
    kills: int,
    chance: random.Random,
) -> Killing:
    done, loads = 0, 0
    again: list[tuple[int, ...]] = []
    run(None)
    pages = len(_pages(sandbox, 0))
    begin = len(sandbox.requests)
    before: Counter[str] = Counter()
    while done < kills:
        calls = chance.randrange(pages // 3) if chance.random() < 5 / 6 else None
        killed = run((calls, chance.uniform(0, 0.05)))
        seen = Counter(_pages(sandbox, begin))
        again.append(_repeated(before, seen))
        before = seen
        if killed:
            done += 1
        else:
            loads += 1
            begin, before = len(sandbox.requests), Counter()
    run(None)
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


def _run(
    forks: Forks, sandbox: Sandbox, home: Path, page_size: int, ends: tuple[int | None, float] | None
) -> bool:
    """Load in a process of its own, to its end or until so many calls and seconds; say whether it was killed."""
    key = sandbox.credentials[0]
    before = len(sandbox.requests)
    process = forks.start(
        {"PRODEX_HOME": str(home)},
        base_url=sandbox.base_url,
        client_id=key["client_id"],
        client_secret=key["client_secret"],
        page_size=page_size,
    )
    if ends is not None:
        calls, seconds = ends
        if calls is None:
            while len(sandbox.requests) == before and process.is_running():
                time.sleep(0.005)
            _wait_until_quiet(sandbox)
        else:
            while len(sandbox.requests) < before + calls and process.is_running():
                time.sleep(0.002)
        time.sleep(seconds)
        if process.is_running():
            process.kill()
            _wait_until_quiet(sandbox)
            return True
    assert process.wait() == 0, process.complaints()
    return False
