"""Breakdowns of an audit: scores and coverage by owner, brand, kind, market, language, tag or column."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from prodex.errors import QueryError
from prodex.facts.groups import Groups, column_names, named
from prodex.locales import language_label
from prodex.quality.matrix import AuditMatrix
from prodex.quality.scores import SMALL, Tally, ratio
from prodex.quality.states import State
from prodex.text import hint_and_all


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
