"""Coverage: how many of the products that should have an attribute have it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from prodex.quality.check import CheckFacts
from prodex.quality.groups import Groups
from prodex.quality.scores import ratio
from prodex.quality.states import State, States


def coverage(
    states: States, checks: Sequence[CheckFacts], presence: Sequence[int], groups: Groups
) -> pd.DataFrame:
    """Return one row per attribute, language and group to which it applies.

    Parameters
    ----------
    states
        The matrix.
    checks
        Its columns.
    presence
        Those that ask for data of an attribute.
    groups
        Which products belong to which group.
    """
    frames = []
    for place in presence:
        column = states[:, place][groups.rows]
        filled, failed, unknown = (
            np.bincount(groups.groups[column == state], minlength=len(groups.codes))
            for state in (State.PASS, State.FAIL, State.UNKNOWN)
        )
        frame = pd.DataFrame(
            {
                "attribute": pd.Series([checks[place].attribute] * len(groups.codes), dtype="str"),
                "language": pd.Series([checks[place].language] * len(groups.codes), dtype="str"),
                "code": pd.Series(groups.codes, dtype="str"),
                "label": pd.Series(groups.labels, dtype="str"),
                "filled": filled,
                "applicable": filled + failed,
                "coverage": ratio(filled.astype(float), (filled + failed).astype(float)),
                "unknown": unknown,
            }
        )
        frames.append(frame[filled + failed + unknown > 0])
    columns = ["attribute", "language", "code", "label", "filled", "applicable", "coverage", "unknown"]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
