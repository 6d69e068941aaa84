"""Answers of worklists, sent back as people do: `python -m tests.soak answers`.

A thousand answers in workbooks that were handled in every way, a thousand of every kind, a supplier who cheats, and
somebody who interrupts.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.worklists.cheating import CHEATS, reached
from tests.worklists.every_kind import given
from tests.worklists.interrupting import interrupt_often
from tests.worklists.looping import looped, shown_as_fixed

#: Seconds for reading, judging, applying and proving a thousand answers.
_TO_REACH = 20.0


def answers(most: int = 1_000, interrupted: int = 60) -> bool:
    """Print what became of all of them; whether it is as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        os.environ["PRODEX_HOME"] = str(at / "home")
        is_right = [_handled(at, most), _of_every_kind(at, most), _cheats(at), _interrupts(at, interrupted)]
    return all(is_right)


def _handled(folder: Path, most: int) -> bool:
    loop = looped(_new(folder / "handled"), most)
    good, bad = loop.answers.good, loop.answers.bad
    applied = sum(loop.texts.get(place) == [text] for place, text in good.items())
    others = len(loop.moved - loop.may_move)
    shown = shown_as_fixed(loop)
    print(f"   {len(good) + len(bad):,} answers in {loop.files} files, handled in {loop.ways} ways")
    print(f"   good answers applied: {applied:,} of {len(good):,}")
    print(f"   bad answers listed with their cell: {len(loop.refused & bad):,} of {len(bad):,}")
    print(f"   good answers refused or in conflict: {len(good.keys() & loop.refused) + loop.conflicts:,}")
    print(f"   other leaves changed: {others:,}")
    print(
        f"   findings fixed: {len(shown):,}, said before: {len(loop.expected):,}, the same: {shown == loop.expected}"
    )
    is_right = applied == len(good) and loop.refused == bad and loop.listed and not others
    return _in_time(loop.seconds) and is_right and shown == loop.expected


def _of_every_kind(folder: Path, most: int) -> bool:
    found = given(folder / "kinds", most)
    states = ", ".join(f"{count:,} {name}" for name, count in found.by_state.most_common())
    print(f"   {found.good + found.bad:,} answers of {found.kinds} kinds: {states}")
    print(f"   good answers applied: {found.applied:,} of {found.good:,}")
    print(f"   bad answers refused, to be confirmed or in conflict: {found.held:,} of {found.bad:,}")
    print(f"   other attributes changed: {len(found.others):,}")
    print(f"   rows accounted for: {found.accounted:,} of {found.rows:,}")
    for what in [*found.wrong, *found.others][:10]:
        print(f"      {what}")
    is_right = (found.applied, found.held, found.accounted) == (found.good, found.bad, found.rows)
    return _in_time(found.seconds) and is_right and not found.others


def _cheats(folder: Path) -> bool:
    found = [one for name in CHEATS for one in reached(name, folder / name)]
    print(f"   a supplier cheats in {len(CHEATS)} ways; reached without confirmation: {len(found)}")
    for what in found:
        print(f"      {what}")
    return not found


def _interrupts(folder: Path, times: int) -> bool:
    found = interrupt_often(_new(folder / "interrupted"), folder / "home", times)
    print(
        f"   {found.kills} kills and {found.interrupts} interrupts in {found.worklists} worklists; sent twice: "
        f"{len(found.twice)}; not accounted for: {len(found.unaccounted)}"
    )
    print(
        f"   {found.sent:,} products sent, {found.unknown:,} unknown, of which {found.unknown_that_arrived:,} arrived"
    )
    for what in [*found.twice, *found.unaccounted][:10]:
        print(f"      {what}")
    return not found.twice and not found.unaccounted and found.kills + found.interrupts >= times


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _in_time(seconds: Mapping[str, float]) -> bool:
    parts = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())
    total = sum(seconds.values())
    print(f"   {total:.1f} s ({parts}), at most {_TO_REACH:.0f} s")
    return total <= _TO_REACH
