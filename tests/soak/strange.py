"""A service that nobody here made, with every trait alone and in pairs: what became of each load and each write."""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import logging
import os
import tempfile
from collections import Counter

import pytest

from tests.load.exchange import paged
from tests.load.strange import PAGE, Judged, cases, judged
from tests.send.strange import judged_write, write_cases


def loads(pairs: int = 150, one_in: int = 1) -> bool:
    """Load and refresh from a service with each trait, and with pairs of them."""
    logging.getLogger("prodex").setLevel(logging.ERROR)  # the cases warn of all that is strange
    results: list[Judged] = []
    for number, case in enumerate(cases(pairs)):
        if number % one_in:
            continue
        with (
            tempfile.TemporaryDirectory(prefix="prodex-soak-") as home,
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setenv("PRODEX_HOME", home)
            paged(case.way, patch)
            patch.setattr("prodex.service.paging.LARGEST_PAGE", PAGE)
            results.append(_told(str(case), judged(case)))
    return _summed("loads and refreshes", results)


def writes(pairs: int = 60, one_in: int = 1) -> bool:
    """Send products to a service with each trait, and with pairs of them."""
    results: list[Judged] = []
    for number, case in enumerate(write_cases(pairs)):
        if number % one_in:
            continue
        with tempfile.TemporaryDirectory(prefix="prodex-soak-") as home:
            os.environ["PRODEX_HOME"] = home
            results.append(_told(str(case), judged_write(case)))
    return _summed("upserts", results)


def _told(case: str, became: Judged) -> Judged:
    if not became.is_good:
        print(f"{became.outcome}: {case}: {became.detail:.300}", flush=True)
    return became


def _summed(what: str, results: list[Judged]) -> bool:
    counts = Counter(one.outcome for one in results)
    bad = {name: number for name, number in counts.items() if name not in {"whole", "refused"}}
    print(
        f"{len(results)} {what} with a strange service: {counts['whole']} whole, {counts['refused']} refused with one "
        f"of our errors, {sum(bad.values())} otherwise {bad or ''}"
    )
    return not bad
