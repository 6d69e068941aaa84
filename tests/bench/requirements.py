"""What requirements cost: a workbook of 40 families x 120 attributes x 3 channels, beside the profile `online-listing`.

`python -m tests.bench.requirements [PRODUCTS] [ROUNDS] [FAMILIES]`: the workbook is written, read back, and judged by,
in turns with the profile in one process; before that the peak of memory of a quarter of the products and of all, each
in a process of its own. The last line has the figures as JSON; `make bench` shows them.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time

import pandas as pd

import prodex
from prodex.quality.asked_attributes import shape_of
from prodex.quality.asks import CHARACTERS
from prodex_sandbox.sample import AS_OF
from tests.bench.profiles import _KEEP, run

#: What the workbook may cost, as a multiple of the profile.
MOST = 1.3
FAMILIES, ATTRIBUTES, CHANNELS = 40, 120, ("Web shop:France", "Leaflet:Belgium", "Catalogue:Germany")

_SOURCE = Path(__file__).parents[2] / "src"
_PEAK = """
import resource, sys
import prodex
from prodex_sandbox.sample import AS_OF
prodex.audit("bench", sys.argv[1], now=AS_OF, progress=False).completeness()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
"""


def condition(attribute: str, language: str) -> str:
    """Return what a value has to be like: of texts their length, of front pictures their size."""
    if "[front]" in attribute:
        return "at least 800 pixels"
    return "at least 5 characters" if language and CHARACTERS in shape_of(attribute).judged else ""


def filled_in(catalog: prodex.Catalog, path: Path, families: int = FAMILIES) -> prodex.Requirements:
    """Write a workbook of so many cells, fill in each of them, and read it back."""
    every = prodex.Requirements.read(
        prodex.write_requirements(path, catalog, channels=list(CHANNELS), families=families)
    )
    channels, chosen = every.channels, [one.code for one in every.families][:families]
    sheet = pd.read_excel(path, sheet_name="Requirements", engine="openpyxl", dtype=str).fillna("")
    first = sheet[(sheet["Market"] == "France") & (sheet["Attribute"] != "")]
    rows = [
        (attribute, language.replace("any", ""))
        for attribute, language in first[["Attribute", "Language"]].to_numpy()
    ]
    draw = Random(7)
    asked = [
        {
            "channel": channel.name,
            "market": channel.market,
            "family": family,
            "attribute": attribute,
            "language": language,
            "level": (level := draw.choice(["must", "must", "should", "may", "not"])),
            "condition": condition(attribute, language) if level == "must" else "",
        }
        for channel in channels
        for family in chosen
        for attribute, language in dict.fromkeys(rows[:ATTRIBUTES])
    ]
    path.unlink()
    return prodex.Requirements.read(prodex.Requirements.of(pd.DataFrame(asked), name="bench").write(path))


def measure(products: int = 100_000, rounds: int = 3, families: int = FAMILIES) -> dict[str, float]:
    """Print what requirements cost, and return it."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as name:
        home = Path(name)
        os.environ["PRODEX_HOME"] = name
        run(_SOURCE, home, _KEEP, str(products // 4))
        begin = perf_counter()
        quarter = filled_in(prodex.open_snapshot("bench"), home / "requirements.xlsx", families)
        writing = perf_counter() - begin
        peaks = [float(run(_SOURCE, home, _PEAK, str(home / "requirements.xlsx")))]
        run(_SOURCE, home, _KEEP, str(products))
        peaks.append(float(run(_SOURCE, home, _PEAK, str(home / "requirements.xlsx"))))
        plain = float(run(_SOURCE, home, _PEAK.replace(".completeness()", ""), "online-listing"))
        catalog = prodex.open_snapshot("bench")
        seconds: dict[str, list[float]] = {"online-listing": [], "requirements": []}
        for _ in range(rounds):
            for which, profile in (("online-listing", "online-listing"), ("requirements", quarter)):
                start = process_time()
                checks = len(prodex.audit(catalog, profile, now=AS_OF, progress=False).checks)
                seconds[which].append(process_time() - start)
    profile_time, own_time = (median(one) for one in seconds.values())
    ratio = own_time / profile_time
    print(
        f"{products:,} products, {len(quarter.requirements):,} cells ({checks:,} checks): an audit by them takes "
        f"{own_time:.1f} s of the processors, one by online-listing {profile_time:.1f} s: {ratio:.2f} times, at most "
        f"{MOST}"
    )
    print(
        f"peak of memory with completeness: {peaks[0]:,.0f} MB for {products // 4:,} products, {peaks[1]:,.0f} MB for "
        f"{products:,}; by online-listing {plain:,.0f} MB. Writing, filling in and reading the workbook took "
        f"{writing:.1f} s"
    )
    return {
        "ratio": ratio,
        "cells": len(quarter.requirements),
        "quarter_mb": peaks[0],
        "whole_mb": peaks[1],
        "profile_mb": plain,
        "workbook": writing,
    }


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:]))))
