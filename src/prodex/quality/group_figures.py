"""Figures of groups: the scores of their products, and how many of them have the data that they should have."""

from __future__ import annotations

import numpy as np
import pandas as pd

from prodex.errors import QueryError
from prodex.facts.groups import Groups, column_names, with_names
from prodex.locales import language_label
from prodex.phrases import hint_and_all
from prodex.quality.audit import Audit
from prodex.quality.scores import SMALL, by_group, counted, ratio, states_by_group
from prodex.quality.states import State
from prodex.selection.paths import GROUP_PATHS
from prodex.selection.units import ALL_UNITS, CONSUMER, FLAG, CountedUnits, UnitCount, unit_words, units_given
from prodex.tables.columns import Mask


def scores_by(audit: Audit, by: str, block: str | None) -> pd.DataFrame:
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
    return _by_need(_scores(audit, by, None if by == "language" else audit.groups(by), chosen))


def block_scores(audit: Audit, by: str) -> dict[str | None, pd.DataFrame]:
    """Return the scores of the groups that have products, for all checks (None) and for the checks of each block.

    The worst group is first, and all frames have the groups in the same order.
    """
    code, *_ = column_names(by)
    groups = None if by == "language" else audit.groups(by)
    blocks = np.array([check.block for check in audit.checks], object)
    whole = _by_need(_scores(audit, by, groups, np.ones(len(blocks), bool)))
    # A language that a check names may be nobody's.
    whole = whole[whole["products"] > 0]
    found: dict[str | None, pd.DataFrame] = {None: whole}
    for block in dict.fromkeys(blocks):
        found[block] = _scores(audit, by, groups, blocks == block).set_index(code).reindex(whole[code])
    return found


def counted_units_of(audit: Audit, units: str = CONSUMER) -> CountedUnits:
    """Return which products of an audit count as consumer units, or all.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "isConsumerUnit": False}, {"id": 8}])
    >>> print(counted_units_of(prodex.audit(catalog, {"checks": {"valid_gtin": {}}})).count())
    1 consumer unit, 1 of unknown kind
    """
    flags = audit.group_column(FLAG)
    return CountedUnits.of(flags, units_given(units), audit.origin.asked(GROUP_PATHS["unit"]))


def coverage_by(audit: Audit, by: str, units: str) -> pd.DataFrame:
    """Return how many of the products that should have an attribute have it; see `Audit.coverage`."""
    if by == "language":  # that of the check: all products are one group
        return _coverage(audit, Groups.one(by, np.arange(len(audit))), units).drop(columns=["code", "label"])
    code, *label = column_names(by)
    frame = _coverage(audit, audit.groups(by), units)
    frame = frame if label else frame.drop(columns="label")
    return frame.rename(columns={"code": code, "label": "".join(label)})


def _scores(audit: Audit, by: str, groups: Groups | None, chosen: Mask) -> pd.DataFrame:
    """Return the scores of each group by some of the checks, in any order; without groups, of each language."""
    if groups is None:
        return _scores_by_language(audit, chosen)
    return with_names(by_group(_counted(audit, chosen), groups), groups.codes, groups.labels, by)


def _scores_by_language(audit: Audit, chosen: Mask) -> pd.DataFrame:
    """Return the scores of the checks of each language, of the products to which any of them applies."""
    languages = sorted(
        {c.language for c, one in zip(audit.checks, chosen, strict=True) if one and c.language}
    )
    # Without any language the frame still has its columns.
    nothing = np.empty(0, np.int64)
    frames = [by_group(audit.tally, Groups("language", nothing, nothing, [], []))]
    for language in languages:
        tally = _counted(audit, chosen & np.array([check.language == language for check in audit.checks]))
        # Products without a check in this language would count as ready.
        concerned = np.flatnonzero(tally["failed"] + tally["passed"] + tally["unknown"])
        frames.append(by_group(tally, Groups.one("language", concerned)))
    frame = pd.concat(frames, ignore_index=True)
    return with_names(frame, languages, list(map(language_label, languages)), "language")


def _by_need(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort groups, the worst first; small ones below the others, since one product makes too much of their score."""
    by_need = frame.assign(small=frame["products"] < SMALL)
    order = by_need.sort_values(["small", "score", "products"], ascending=[True, True, False], kind="stable")
    return frame.loc[order.index].reset_index(drop=True)


def _coverage(audit: Audit, groups: Groups, units: str) -> pd.DataFrame:
    """Return one row per attribute, language and group in which the attribute should have data."""
    columns = ["attribute", "language", "code", "label", "filled", "applicable", "coverage", "unknown"]
    columns += ["units", "units_unknown"]
    frames = []
    meant = {one: counted_units_of(audit, one) for one in (CONSUMER, ALL_UNITS)}
    counted_units: list[UnitCount] = []
    for place, check in enumerate(audit.checks):
        if not check.is_presence:
            continue
        own = units if check.units == CONSUMER else check.units
        counted = meant[CONSUMER if own == CONSUMER else ALL_UNITS]
        counted_units.append(counted.count())
        is_counted, is_unclear = counted.mask[groups.rows], counted.unknown[groups.rows]
        column = audit.states[:, place][groups.rows]
        counts = states_by_group(column[is_counted], groups.groups[is_counted], len(groups.codes))
        filled, failed, unknown = counts[[State.PASS, State.FAIL, State.UNKNOWN]]
        is_other = is_counted & is_unclear & (column != State.NOT_APPLICABLE)
        unclear = np.bincount(groups.groups[is_other], minlength=len(groups.codes))
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
                "units": pd.Series([own] * len(groups.codes), dtype="str"),
                "units_unknown": unclear,
            }
        )
        # An attribute that applies to nobody in a group has no coverage there.
        frames.append(frame[filled + failed + unknown > 0])
    found = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
    found.attrs["counted"] = unit_words(counted_units)
    return found


def _counted(audit: Audit, chosen: Mask) -> pd.DataFrame:
    """Count some of the checks."""
    if chosen.all():
        return audit.tally
    checks = [check for check, is_chosen in zip(audit.checks, chosen, strict=True) if is_chosen]
    return counted((part.states[:, chosen] for part in audit.parts), checks)
