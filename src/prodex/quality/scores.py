"""Scores: what share of what applies passes, weighted, for a product, a group, or all.

Score = weight of the checks passed / weight of the checks passed or failed, so between 0 and 1. What is not applicable
or unknown is on neither side; where nothing is left there is no score. A product is ready when no blocker fails, not
ready when one does, and undecided when none fails but one is unknown; shares of ready products are of all products.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from prodex.errors import QueryError
from prodex.facts.groups import Groups, column_names, named
from prodex.locales import language_label
from prodex.messages import hint_and_all
from prodex.quality.check import CheckFacts
from prodex.quality.matrix import AuditMatrix
from prodex.quality.states import State, States

FORMULA = (
    "score = weight of checks passed / weight of checks passed or failed; "
    "ready = no blocker fails, and none is unknown"
)
CAVEAT = "Completeness is not accuracy: a text that is there can still be wrong."

#: Grades with the least score of each; below them is E.
GRADES = (("A", 0.9), ("B", 0.8), ("C", 0.7), ("D", 0.6), ("E", 0.0))

#: Groups of fewer products stand below the others: one product makes too much of their score.
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
    def of(cls, states: States, checks: Sequence[CheckFacts]) -> Self:
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


def readiness(figures: Mapping[Any, Any] | pd.Series) -> str:
    """Return how many products are ready, not ready and undecided; together they are all products.

    >>> readiness({"ready_products": 61, "not_ready_products": 30, "undecided_products": 9, "products": 100})
    'ready 61, not ready 30, undecided 9 of 100'
    """
    ready, not_ready, undecided = (
        f"{int(figures[f'{name}_products']):,}" for name in ("ready", "not_ready", "undecided")
    )
    return f"ready {ready}, not ready {not_ready}, undecided {undecided} of {int(figures['products']):,}"


def scores_by(audit: AuditMatrix, by: str, block: str | None) -> pd.DataFrame:
    """Return score, grade and readiness of each group; see `Audit.scores`.

    Raises
    ------
    QueryError
        When there is no such group or block; the message names the nearest.
    """
    chosen = np.array([block is None or check.block == block for check in audit.checks], bool)
    if not chosen.any() and block is not None:
        there = dict.fromkeys(check.block for check in audit.checks)
        there_are = hint_and_all(str(block), there, f"Give one of {', '.join(there)}.")
        raise QueryError(f"No check belongs to the block {block!r}{there_are}")
    if by == "language":
        return _scores_by_language(audit, chosen)
    groups = audit.groups(by)
    tally = audit.tally if chosen.all() else _tally(audit, chosen)
    frame = tally.taken(groups.rows).by_group(groups.groups, len(groups.codes))
    return _by_need(named(frame, groups.codes, groups.labels, by))


def coverage_by(audit: AuditMatrix, by: str) -> pd.DataFrame:
    """Return how many of the products that should have an attribute have it; see `Audit.coverage`."""
    if by == "language":  # that of the check: all products are one group
        size = len(audit)
        everything = Groups(by, np.arange(size), np.zeros(size, np.int64), [None], [None])
        return _coverage(audit, everything).drop(columns=["code", "label"])
    code, *label = column_names(by)
    frame = _coverage(audit, audit.groups(by))
    frame = frame if label else frame.drop(columns="label")
    return frame.rename(columns={"code": code, "label": "".join(label)})


def _scores_by_language(audit: AuditMatrix, chosen: npt.NDArray[np.bool_]) -> pd.DataFrame:
    """Return the scores of the checks of each language, of the products to which any of them applies."""
    languages = sorted(
        {c.language for c, one in zip(audit.checks, chosen, strict=True) if one and c.language}
    )
    frames = []
    for language in languages:
        about = chosen & np.array([check.language == language for check in audit.checks])
        tally = _tally(audit, about)
        # Products without a check in this language would count as ready.
        concerned = np.flatnonzero(tally.failed + tally.passed + tally.unknown)
        frames.append(tally.taken(concerned).by_group(np.zeros(len(concerned), np.int64), 1))
    # Without any language the frame still has its columns.
    empty = _tally(audit, chosen).by_group(np.empty(0, np.int64), 0)
    frame = pd.concat([empty, *frames], ignore_index=True)
    return _by_need(named(frame, languages, list(map(language_label, languages)), "language"))


def _by_need(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort groups, the worst first; small ones below the others, since one product makes too much of their score."""
    by_need = frame.assign(small=frame["products"] < SMALL)
    order = by_need.sort_values(["small", "score", "products"], ascending=[True, True, False], kind="stable")
    return frame.loc[order.index].reset_index(drop=True)


def _coverage(audit: AuditMatrix, groups: Groups) -> pd.DataFrame:
    """Return one row per attribute, language and group in which the attribute should have data."""
    columns = ["attribute", "language", "code", "label", "filled", "applicable", "coverage", "unknown"]
    frames = []
    for place, check in enumerate(audit.checks):
        if not check.is_presence:
            continue
        column = audit.states[:, place][groups.rows]
        filled, failed, unknown = (
            np.bincount(groups.groups[column == state], minlength=len(groups.codes))
            for state in (State.PASS, State.FAIL, State.UNKNOWN)
        )
        frame = pd.DataFrame(
            {
                "attribute": pd.Series([check.attribute] * len(groups.codes), dtype="str"),
                "language": pd.Series([check.language] * len(groups.codes), dtype="str"),
                "code": pd.Series(groups.codes, dtype="str"),
                "label": pd.Series(groups.labels, dtype="str"),
                "filled": filled,
                "applicable": filled + failed,
                "coverage": ratio(filled.astype(float), (filled + failed).astype(float)),
                "unknown": unknown,
            }
        )
        # An attribute that applies to nobody in a group has no coverage there.
        frames.append(frame[filled + failed + unknown > 0])
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


def _tally(audit: AuditMatrix, chosen: npt.NDArray[np.bool_]) -> Tally:
    """Count only some of the checks."""
    checks = [check for check, is_chosen in zip(audit.checks, chosen, strict=True) if is_chosen]
    empty = Tally.of(np.empty((0, len(checks)), np.int8), checks)
    return Tally.joined([empty, *(Tally.of(part.states[:, chosen], checks) for part in audit.parts)])
