"""A thousand answers of worklists, in workbooks handled as people do: `python -m tests.soak answers`."""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.fix.looping import looped

#: Seconds for reading, judging and applying a thousand answers.
_TO_REACH = 20.0


def answers(most: int = 1_000) -> bool:
    """Print what became of them; whether all of it is as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        loop = looped(Path(folder), most)
    good, bad = loop.answers.good, loop.answers.bad
    applied = sum(loop.texts.get(place) == [text] for place, text in good.items())
    others = len(loop.moved - loop.may_move)
    seconds = sum(loop.seconds.values())
    shown = {one for one in loop.fixed if not one[1].startswith("updated_within")}
    print(f"   {len(good) + len(bad):,} answers in {loop.files} files, handled in {loop.ways} ways")
    print(f"   good answers applied: {applied:,} of {len(good):,}")
    print(f"   bad answers listed with their cell: {len(loop.refused & bad):,} of {len(bad):,}")
    print(f"   good answers refused or in conflict: {len(good.keys() & loop.refused) + loop.conflicts:,}")
    print(f"   other leaves changed: {others:,}")
    print(
        f"   findings fixed: {len(shown):,}, said before: {len(loop.expected):,}, the same: {shown == loop.expected}"
    )
    parts = ", ".join(f"{name} {value:.1f} s" for name, value in loop.seconds.items())
    print(f"   {seconds:.1f} s ({parts}), at most {_TO_REACH:.0f} s")
    is_right = applied == len(good) and loop.refused == bad and loop.listed and not others
    return is_right and shown == loop.expected and seconds <= _TO_REACH
