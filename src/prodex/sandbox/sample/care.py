"""How careful everybody is: how often a defect comes from a supplier, with a kind of product, or in a market.

`care.csv` says how many times as often as usual a defect is planted there; "*" stands for all defects that have no line
of their own. What has no line is as usual, and where several lines meet they are multiplied.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from random import Random

from prodex.sandbox.sample.families import Family


@cache
def _lines() -> Mapping[tuple[str, str, str], float]:
    text = resources.files(__package__).joinpath("care.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter=";")
    return {(row["of"], row["name"], row["defect"]): float(row["times"]) for row in rows}


@cache
def _times(of: str, name: str, defect: str) -> float:
    lines = _lines()
    return lines.get((of, name, defect), lines.get((of, name, "*"), 1.0))


def times(family: Family, defect: str) -> float:
    """Return how many times as often as usual a family has a defect."""
    return (
        _times("supplier", family.supplier.name, defect)
        * _times("kind", family.kind.code, defect)
        * _times("market", str(family.market), defect)
    )


def forgotten_language(rng: Random, languages: Sequence[str]) -> str:
    """Draw the language that is missing: some are forgotten more often than others."""
    weights = [_times("language", language, "missing_language") for language in languages]
    return rng.choices(languages, weights)[0]
