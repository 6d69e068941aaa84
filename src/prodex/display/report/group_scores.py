"""Scores of groups by block, and the groups with most failing checks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from prodex.display.style import shade
from prodex.facts.groups import column_names, shown_names
from prodex.messages import percent
from prodex.quality.scores import SMALL, readiness
from prodex.quality.states import State
from prodex.untrusted_text import Words, label

if TYPE_CHECKING:
    from prodex.quality.audit import Audit

#: The groupings of the heat map.
GROUPINGS = ("kind", "owner", "brand", "language", "market")
#: The groupings of the list of worst offenders.
OFFENDERS = ("owner", "brand", "kind")

_MOST = 25
_OFFENDERS = 10


@dataclass(frozen=True)
class ScoreCell:
    """A score in the heat map.

    Attributes
    ----------
    score
        As shown; a dash if no check applies, or none with a weight.
    failed
        Number of failing checks of its products, also of those without a weight.
    shade
        From 0 (nothing fails) to 7; None if there is no score.
    """

    score: str
    failed: int
    shade: int | None


@dataclass(frozen=True)
class ScoreMapRow:
    """A group in the heat map: one cell for all blocks together, and one for each.

    Attributes
    ----------
    code
        Code of the group; None for the products without one.
    is_small
        Whether it has so few products that it is listed after the others, whatever its score.
    """

    code: str | None
    name: Words
    products: int
    is_small: bool
    cells: tuple[ScoreCell, ...]


@dataclass(frozen=True)
class ScoreMap:
    """Scores of groups by block, the worst group first; small ones after the others.

    Attributes
    ----------
    by
        The grouping.
    blocks
        The columns, after "all".
    rows
        The groups that are shown.
    total
        Number of all groups.
    """

    by: str
    blocks: tuple[str, ...]
    rows: tuple[ScoreMapRow, ...]
    total: int


@dataclass(frozen=True)
class RankedGroup:
    """A group with many failing checks: its figures, and its most frequent problem."""

    name: Words
    products: int
    is_small: bool
    to_work_on: int
    readiness: str
    failed: int
    score: str
    grade: str
    worst_problem: str
    worst_count: int


@dataclass(frozen=True)
class Ranking:
    """The groups with the most failing checks, the worst first and small ones last, and the number of all groups."""

    by: str
    rows: tuple[RankedGroup, ...]
    total: int


@dataclass(frozen=True, eq=False)
class GroupScores:
    """Scores of all groups, block by block; a heat map shows some of them.

    Attributes
    ----------
    by
        What is grouped by.
    blocks
        The blocks of the audit.
    whole
        `Audit.scores` of all checks, the worst group first.
    of_block
        The same for each block, by code of the group.
    """

    by: str
    blocks: tuple[str, ...]
    whole: pd.DataFrame
    of_block: tuple[pd.DataFrame, ...]

    @classmethod
    def of(cls, audit: Audit, by: str) -> Self:
        """Compute the scores of an audit."""
        blocks = tuple(dict.fromkeys(check.block for check in audit.checks))
        code, *_ = column_names(by)
        whole = audit.scores(by)
        whole = whole[whole["products"] > 0]  # a language that a check names may be nobody's
        return cls(
            by, blocks, whole, tuple(audit.scores(by, block=block).set_index(code) for block in blocks)
        )

    def shown(self, first: int = 0, most: int = _MOST) -> ScoreMap:
        """Return `most` groups, beginning with number `first`."""
        code, *_ = column_names(self.by)
        some = self.whole.iloc[first : first + most]
        # Of all groups: labels that occur twice are told apart by their codes, also from one page to the next.
        names = shown_names(self.whole, self.by)[first : first + most]
        # Blocks list their groups in an order of their own.
        frames = (some.set_index(code), *(frame.reindex(some[code]) for frame in self.of_block))
        columns = [_cells(frame) for frame in frames]
        rows = tuple(
            ScoreMapRow(
                None if pd.isna(row[code]) else row[code],
                label(names[place]),
                int(row["products"]),
                row["products"] < SMALL,
                tuple(column[place] for column in columns),
            )
            for place, (_, row) in enumerate(some.iterrows())
        )
        return ScoreMap(self.by, self.blocks, rows, len(self.whole))


def heat_map(audit: Audit, by: str) -> ScoreMap:
    """Return the scores of the worst groups, block by block."""
    return GroupScores.of(audit, by).shown()


def _cells(scores: pd.DataFrame) -> list[ScoreCell]:
    """Return the cell of each group; a group is empty where no check of the block is in its language."""
    pairs = zip(scores["score"].tolist(), scores["failed"].fillna(0).astype(int).tolist(), strict=True)
    return [
        ScoreCell("–", failed, None) if math.isnan(score) else ScoreCell(percent(score), failed, shade(score))
        for score, failed in pairs
    ]


def offenders(audit: Audit, by: str) -> Ranking:
    """Return the groups with the most failing checks; groups of fewer than ten products come last."""
    code, *_ = column_names(by)
    scores = audit.scores(by)
    worst = scores[scores["failed"] > 0]
    # Small groups come last: one of two products that fails would lead every list.
    worst = worst.assign(is_small=worst["products"] < SMALL).sort_values(
        ["is_small", "failed", "to_work_on"], ascending=[True, False, False], kind="stable"
    )
    groups = audit.groups(by)
    names = shown_names(worst, by)
    rows = []
    for name, (_, row) in zip(names, worst.head(_OFFENDERS).iterrows(), strict=False):
        own = groups.members(None if pd.isna(row[code]) else row[code])
        counts = (audit.states[own] == State.FAIL).sum(axis=0)
        most = int(np.argmax(counts))
        rows.append(
            RankedGroup(
                label(name),
                int(row["products"]),
                bool(row["is_small"]),
                int(row["to_work_on"]),
                readiness(row),
                int(row["failed"]),
                percent(row["score"]),
                row["grade"] if isinstance(row["grade"], str) else "none",
                audit.checks[most].problem,
                int(counts[most]),
            )
        )
    return Ranking(by, tuple(rows), len(worst))
