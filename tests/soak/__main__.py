"""`make soak`: the figures of loading, refreshing and comparing at their full size; it takes a while.

Numbers that are not reached are said so, and fail the run at its end.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from tests.bench import checksums
from tests.soak import (
    accepted,
    answers,
    campaigns,
    diff,
    knowledge,
    load,
    merge,
    publishing,
    strange,
    undo,
    upserts,
    watch,
    wrong,
)

#: Name -> what it shows and how to run it, at full size and (--quick) at one that only shows that it works.
PARTS: dict[str, tuple[Callable[[], bool], Callable[[], bool]]] = {
    "token": (load.token, load.token),
    "windows": (load.windows, lambda: load.windows(11_000, 0.02) or True),
    "kills": (load.kills, lambda: load.kills(11_000, 2)),
    "strange": (strange.loads, lambda: strange.loads(one_in=40)),
    "strange-writes": (strange.writes, lambda: strange.writes(one_in=20)),
    "wrong": (wrong.loads, lambda: wrong.loads(one_in=20)),
    "filters": (wrong.check, lambda: wrong.check(1_000) or True),
    "upserts": (upserts.kills, lambda: upserts.kills(2)),
    "undo": (undo.undone, lambda: undo.undone(60)),
    "campaigns": (campaigns.campaigns, lambda: campaigns.campaigns(3)),
    "publishing": (publishing.rounds, lambda: publishing.rounds(4)),
    "refresh": (load.refresh, lambda: load.refresh(11_000) or True),
    "merge": (lambda: merge.measure(200_000), lambda: merge.measure(2_000, per_part=500, rounds=1) or True),
    "checksums": (lambda: checksums.measure(10_000), lambda: checksums.measure(500, rounds=1)),
    "knowledge": (knowledge.law, lambda: knowledge.law(6, one_in=20)),
    "accepted": (accepted.nights, lambda: accepted.nights(60, 20, 2)),
    "answers": (answers.answers, lambda: answers.answers(60, 2) or True),
    "watch": (
        lambda: all([watch.incidents(), watch.quiet_nights()]),
        lambda: all(
            [
                watch.incidents(200, 20, planted=watch.PLANTED[16:17]) or True,
                watch.quiet_nights(200, 20, seeds=(1,)),
            ]
        ),
    ),
    "diff": (lambda: not diff.main([]), lambda: not diff.main(["--products", "2000"])),
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="which parts; all by default")
    parser.add_argument("--quick", action="store_true", help="small counts: whether it works, not how fast")
    options = parser.parse_args(arguments)
    missed = []
    for name in options.parts or PARTS:
        begin = time.perf_counter()
        print(f"== {name}", flush=True)
        if not PARTS[name][options.quick]():
            missed.append(name)
        print(f"   ({time.perf_counter() - begin:.0f} s)", flush=True)
    print(f"not reached: {', '.join(missed)}" if missed else "all reached")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
