"""Scores: what share of what applies passes, weighted, for a product, a group, or all.

Score = weight of the checks passed / weight of the checks passed or failed, so between 0 and 1. What is not applicable
or unknown is on neither side; where nothing is left there is no score. A product is ready when no blocker fails, not
ready when one does, and undecided when none fails but one is unknown; shares of ready products are of all products.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from prodex.facts.groups import Groups
from prodex.languages import Message
from prodex.phrases import percent
from prodex.quality.check import Check
from prodex.quality.states import State, States

FORMULA = (
    "score = weight of checks passed / weight of checks passed or failed; "
    "ready = no blocker fails, and none is unknown"
)
CAVEAT = "Completeness is not accuracy: a text that is there can still be wrong."

#: Grades with the least score of each, which are those of Akeneo, so that people know them; below them is E.
GRADES = (("A", 0.9), ("B", 0.8), ("C", 0.7), ("D", 0.6), ("E", 0.0))

#: Groups of fewer products are listed below the others: a single product changes their score too much.
SMALL = 10

#: Columns of numbers of checks, by the value of `State`.
STATE_COUNTS = ("passed", "failed", "not_applicable", "unknown")

Floats = npt.NDArray[np.float64]


def grades(scores: Floats) -> npt.NDArray[np.object_]:
    """Return the grade of each score; None where there is none.

    >>> grades(np.array([1, 0.9, 0.899, 0.6, 0.1, np.nan])).tolist()
    ['A', 'A', 'B', 'D', 'E', None]
    """
    made: npt.NDArray[np.object_] = np.full(len(scores), None, object)
    for grade, least in reversed(GRADES):
        made[scores >= least - 1e-12] = grade
    return made


def counted(parts: Iterable[States], checks: Sequence[Check]) -> pd.DataFrame:
    """Count what the checks say of each product, one row for each.

    Parameters
    ----------
    parts
        The matrix, part by part.
    checks
        Its columns.

    Returns
    -------
    pandas.DataFrame
        The weight of the checks passed as `earned`, and of those passed or failed as `possible`; the numbers of checks
        that are `failed`, `passed`, `not_applicable` and `unknown`; how many `blockers` fail, and whether one is
        unknown (`doubtful`); the `score`; and whether it is `ready`, `not_ready` or `undecided`.
    """
    found = []
    for states in (np.empty((0, len(checks)), np.int8), *parts):
        size = len(states)
        earned, failing = np.zeros(size), np.zeros(size)
        count = np.zeros((len(State), size), np.int32)
        blockers, doubtful = np.zeros(size, np.int32), np.zeros(size, bool)
        # Column by column: a matrix of products x checks x states would not fit into memory.
        for column, check in zip(states.T, checks, strict=True):
            is_in = [column == state for state in State]
            count += is_in
            earned += is_in[State.PASS] * check.weight
            failing += is_in[State.FAIL] * check.weight
            if check.severity == "blocker":
                blockers += is_in[State.FAIL]
                doubtful |= is_in[State.UNKNOWN]
        found.append((earned, earned + failing, *count, blockers, doubtful))
    names = ("earned", "possible", *STATE_COUNTS, "blockers", "doubtful")
    tally = {
        name: np.concatenate(columns) for name, columns in zip(names, zip(*found, strict=True), strict=True)
    }
    is_blocked, is_doubtful = tally["blockers"] > 0, tally["doubtful"]
    return pd.DataFrame(
        {
            **tally,
            "score": ratio(tally["earned"], tally["possible"]),
            "ready": ~is_blocked & ~is_doubtful,
            "not_ready": is_blocked,
            "undecided": ~is_blocked & is_doubtful,
        },
        copy=False,
    )


def grades_of(tally: pd.DataFrame, with_blocker: str = "A") -> npt.NDArray[np.object_]:
    """Return the grade of each product that was counted.

    Parameters
    ----------
    tally
        From `counted`.
    with_blocker
        The best grade of a product with a failing blocker; "A" leaves it as its score says.
    """
    made = grades(tally["score"].to_numpy())
    better = [grade for grade, _ in GRADES if grade < with_blocker]
    made[tally["not_ready"].to_numpy() & np.isin(made.astype(str), better)] = with_blocker
    return made


def states_by_group(states: States, group: npt.NDArray[np.int64], groups: int) -> npt.NDArray[np.int64]:
    """Count how often each of so many groups has each state: one row for each `State`, one column for each group.

    >>> states_by_group(np.array([0, 1, 1], np.int8), np.array([0, 0, 1]), 2).tolist()
    [[1, 0], [1, 1], [0, 0], [0, 0]]
    """
    counts = np.bincount(states.astype(np.int64) * groups + group, minlength=len(State) * groups)
    return counts.reshape(len(State), groups)


def by_group(tally: pd.DataFrame, groups: Groups) -> pd.DataFrame:
    """Return one row per group with the figures of its products, which were counted by `counted`."""
    count = len(groups.codes)
    # pandas would take much longer for each column of each of hundreds of small groupings.
    column = {name: values.to_numpy()[groups.rows] for name, values in tally.items()}

    def total(values: npt.NDArray[Any]) -> Floats:
        return np.bincount(groups.groups, values.astype(float), count).astype(float)

    ready, not_ready, undecided = (total(column[name]) for name in ("ready", "not_ready", "undecided"))
    products = groups.sizes.astype(float)
    has_score = ~np.isnan(column["score"])
    counts = {
        "ready_products": ready,
        "not_ready_products": not_ready,
        "undecided_products": undecided,
        "to_work_on": total(column["failed"] > 0),
        **{name: total(column[name]) for name in ("failed", "passed", "not_applicable", "unknown")},
    }
    score = ratio(total(column["earned"]), total(column["possible"]))
    return pd.DataFrame(
        {
            "products": products.astype(int),
            "score": score,
            "grade": pd.Series(grades(score), dtype="str"),
            "mean_score": ratio(total(np.where(has_score, column["score"], 0)), total(has_score)),
            "ready": ratio(ready, products),
            **{name: values.astype(int) for name, values in counts.items()},
        }
    )


def whole_score(tally: pd.DataFrame) -> float:
    """Return the score of all products together; NaN where nothing applies.

    >>> whole_score(counted([], []))
    nan
    """
    return float(ratio(*(tally[name].to_numpy().sum(keepdims=True) for name in ("earned", "possible")))[0])


def ratio(part: Floats, whole: Floats) -> Floats:
    """Divide, with no result where there is nothing to divide by; rounding never leaves 0 to 1."""
    # 0 / 0 is the frequent case of a group to which nothing applies, not an error.
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.minimum(np.where(whole > 0, part / whole, np.nan), 1.0)


def readiness(figures: Mapping[Any, Any] | pd.Series) -> Message:
    """Return how many products are ready, not ready and undecided; together they are all products.

    >>> print(readiness({"ready_products": 61, "not_ready_products": 30, "undecided_products": 9, "products": 100}))
    ready 61, not ready 30, undecided 9 of 100
    """
    return Message(
        "ready {ready}, not ready {not_ready}, undecided {undecided} of {of}",
        **{name: int(figures[f"{name}_products"]) for name in ("ready", "not_ready", "undecided")},
        of=int(figures["products"]),
    )


def moved(before: float, after: float) -> Message:
    """Return what became of a share; a figure that would read as before says how far it moved.

    >>> str(moved(0.61, 0.632)), str(moved(0.99512, 0.99514)), str(moved(0.5, 0.5)), str(moved(float("nan"), 0.5))
    ('61.0 -> 63.2 %', '99.5 % (under +0.01 points)', '50.0 % as before', 'none -> 50.0 %')
    >>> str(moved(0.5, float("nan")))
    '50.0 % -> none'
    """
    if math.isnan(after) and not math.isnan(before):
        # Nothing after it has a sign that would be enough for both.
        return Message("{before:%} -> {share:%}", before=before, share=after)
    if percent(before) != percent(after):
        return Message("{earlier_share} -> {share:%}", earlier_share=before, share=after)
    if before == after or math.isnan(after):
        return Message("{share:%} as before", share=after)
    return Message("{share:%} ({points})", share=after, points=points(after - before))


def points(step: float) -> Message:
    """Return how far a share moved, in points of a hundred.

    >>> str(points(0.005)), str(points(-0.25)), str(points(0.00001))
    ('+0.50 points', '-25.00 points', 'under +0.01 points')
    """
    if abs(step) < 0.00005:
        return Message("under {figure:+.2f} points", figure=math.copysign(0.01, step))
    return Message("{figure:+.2f} points", figure=step * 100)
