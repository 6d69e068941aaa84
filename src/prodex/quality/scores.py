"""Scores: what share of what applies passes, weighted, for a product, a group, or all.

Score = weight of the checks passed / weight of the checks passed or failed, so between 0 and 1. What is not applicable
or unknown is on neither side; where nothing is left there is no score. A product is ready when no blocker fails, not
ready when one does, and undecided when none fails but one is unknown; shares of ready products are of all products.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from prodex.languages import Message
from prodex.messages import percent
from prodex.quality.check import Check
from prodex.quality.states import State, States

FORMULA = (
    "score = weight of checks passed / weight of checks passed or failed; "
    "ready = no blocker fails, and none is unknown"
)
CAVEAT = "Completeness is not accuracy: a text that is there can still be wrong."

#: Grades with the least score of each; below them is E.
GRADES = (("A", 0.9), ("B", 0.8), ("C", 0.7), ("D", 0.6), ("E", 0.0))

#: Groups of fewer products are listed below the others: a single product changes their score too much.
SMALL = 10

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
#: Numbers of checks, of which there is one for each of a million products.
Counts = npt.NDArray[np.int32]


def grades(scores: Floats) -> npt.NDArray[np.object_]:
    """Return the grade of each score; None where there is none.

    >>> grades(np.array([1, 0.9, 0.899, 0.6, 0.1, np.nan])).tolist()
    ['A', 'A', 'B', 'D', 'E', None]
    """
    made: npt.NDArray[np.object_] = np.full(len(scores), None, object)
    for grade, least in reversed(GRADES):
        made[scores >= least - 1e-12] = grade
    return made


@dataclass(frozen=True, eq=False)
class Tally:
    """What is counted for each product.

    Attributes
    ----------
    earned, possible
        Weight of the checks passed, and of those passed or failed.
    failed, passed, not_applicable, unknown
        Numbers of checks.
    blockers
        How many blockers fail.
    doubtful
        Whether a blocker is unknown, so that nobody can say that the product is ready.
    """

    earned: Floats
    possible: Floats
    failed: Counts
    passed: Counts
    not_applicable: Counts
    unknown: Counts
    blockers: Counts
    doubtful: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, states: States, checks: Sequence[Check]) -> Self:
        """Count a part."""
        weights = np.array([check.weight for check in checks], float)
        blocker = np.array([check.severity == "blocker" for check in checks], bool)
        size = len(states)
        earned, failing = np.zeros(size), np.zeros(size)
        counts = np.zeros((len(State), size), np.int32)
        blockers, doubtful = np.zeros(size, np.int32), np.zeros(size, bool)
        # Column by column: a matrix of products x checks x states would not fit into memory.
        for column, weight, blocks in zip(states.T, weights, blocker, strict=True):
            is_in = [column == state for state in State]
            counts += is_in
            earned += is_in[State.PASS] * weight
            failing += is_in[State.FAIL] * weight
            if blocks:
                blockers += is_in[State.FAIL]
                doubtful |= is_in[State.UNKNOWN]
        return cls(
            earned,
            earned + failing,
            counts[State.FAIL],
            counts[State.PASS],
            counts[State.NOT_APPLICABLE],
            counts[State.UNKNOWN],
            blockers,
            doubtful,
        )

    @classmethod
    def joined(cls, tallies: Sequence[Tally]) -> Self:
        """Put the parts together."""
        return cls(
            *(np.concatenate([vars(one)[name] for one in tallies]) for name in cls.__dataclass_fields__)
        )

    def taken(self, rows: Integers | slice) -> Self:
        """Return the counts of some products."""
        return type(self)(*(vars(self)[name][rows] for name in self.__dataclass_fields__))

    @property
    def scores(self) -> Floats:
        return ratio(self.earned, self.possible)

    def grades(self, with_blocker: str = "A") -> npt.NDArray[np.object_]:
        """Return the grade of each product.

        Parameters
        ----------
        with_blocker
            The best grade of a product with a failing blocker; "A" leaves it as its score says.
        """
        made = grades(self.scores)
        better = [grade for grade, _ in GRADES if grade < with_blocker]
        made[self.not_ready & np.isin(made.astype(str), better)] = with_blocker
        return made

    @property
    def ready(self) -> npt.NDArray[np.bool_]:
        return np.asarray((self.blockers == 0) & ~self.doubtful)

    @property
    def not_ready(self) -> npt.NDArray[np.bool_]:
        return self.blockers > 0

    @property
    def undecided(self) -> npt.NDArray[np.bool_]:
        return self.doubtful & ~self.not_ready

    def by_group(self, groups: Integers, count: int) -> pd.DataFrame:
        """Return one row per group, given the group of each product."""

        def total(values: npt.NDArray[np.generic]) -> Floats:
            return np.bincount(groups, values.astype(float), count).astype(float)

        scores = self.scores
        has_score = ~np.isnan(scores)
        products = total(np.ones(len(groups)))
        ready, not_ready, undecided = map(total, (self.ready, self.not_ready, self.undecided))
        counts = {
            "ready_products": ready,
            "not_ready_products": not_ready,
            "undecided_products": undecided,
            # The same two figures under their earlier names.
            "ready_unknown": undecided,
            "to_work_on": total(self.failed > 0),
            "with_blockers": not_ready,
            **{name: total(vars(self)[name]) for name in ("failed", "passed", "not_applicable", "unknown")},
        }
        score = ratio(total(self.earned), total(self.possible))
        return pd.DataFrame(
            {
                "products": products.astype(int),
                "score": score,
                "grade": pd.Series(grades(score), dtype="str"),
                "mean_score": ratio(total(np.where(has_score, scores, 0)), total(has_score)),
                "ready": ratio(ready, products),
                **{name: values.astype(int) for name, values in counts.items()},
            }
        )


def whole_score(tally: Tally) -> float:
    """Return the score of all products together; NaN where nothing applies.

    >>> whole_score(Tally.of(np.empty((0, 0), np.int8), []))
    nan
    """
    return float(ratio(tally.earned.sum(keepdims=True), tally.possible.sum(keepdims=True))[0])


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
    """
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
