"""Gaps: what fails, and what the figures would be if it were fixed; and the checks of an audit as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from prodex.errors import QueryError
from prodex.languages import ENGLISH, Message, Translation
from prodex.phrases import hint, percent
from prodex.quality.check import Check, plain_fact
from prodex.quality.rulebook import SEVERITIES
from prodex.quality.scores import points, ratio
from prodex.quality.states import State, States

_COLUMNS = [
    *("check", "rule", "problem", "title", "block", "severity", "products", "applicable", "share"),
    *("ready_if_fixed", "score_if_fixed", "ready_gain", "score_gain", "brings", "fix"),
]


def gaps(
    parts: Iterable[States],
    checks: Sequence[Check],
    tally: pd.DataFrame,
    by: str,
    words: Translation = ENGLISH,
) -> pd.DataFrame:
    """Return one row per check (or rule) with failing products, the one that would help most first.

    If a check were fixed, every product that fails it would pass it. `ready` moves where it is the only blocker that
    fails, `score` by its weight.

    Parameters
    ----------
    parts
        The states of each part; one part is looked at at a time.
    checks, tally
        The columns of the states, and what is counted of all products.
    by
        "check" or "rule".
    words
        The language of problems, titles, gains and what to do.
    """
    if by not in {"check", "rule"}:
        near = hint(str(by), ["check", "rule"])
        raise QueryError(f"Gaps are by 'check' or by 'rule', not by {by!r}{near}")
    members: dict[str, list[int]] = {}
    for place, check in enumerate(checks):
        members.setdefault(check.id if by == "check" else check.rule.id, []).append(place)
    # The sums stay the same for all checks: only what a fixed check would add changes.
    earned, possible, are_ready = (tally[one].to_numpy().sum() for one in ("earned", "possible", "ready"))
    size = len(tally)
    # Columns of pandas take longer to subtract from than all else here, many times for each check.
    blockers, is_doubtful = tally["blockers"].to_numpy(), tally["doubtful"].to_numpy(bool)
    ready, score = _ratio_of(are_ready, size), _ratio_of(earned, possible)
    found = {name: _Counted.of([checks[place] for place in places]) for name, places in members.items()}
    begin = 0
    for states in parts:
        part = slice(begin, begin + len(states))
        begin += len(states)
        for name, places in members.items():
            found[name].add(states[:, places], blockers[part], is_doubtful[part])
    rows = []
    for name, places in members.items():
        own, counted_here = [checks[place] for place in places], found[name]
        count, applicable, would_be = counted_here.failing, counted_here.applicable, counted_here.ready
        if not count:
            continue
        ready_then = _ratio_of(would_be, size)
        score_then = _ratio_of(earned + counted_here.failed @ [check.weight for check in own], possible)
        rows.append(
            (
                name if by == "check" else None,
                own[0].rule.id,
                _joined_words([words.say(check.problem) for check in own], words),
                _joined_words([words.say(check.title) for check in own], words),
                own[0].block,
                min((check.severity for check in own), key=list(SEVERITIES).index),
                count,
                applicable,
                count / applicable,
                ready_then,
                score_then,
                ready_then - ready,
                score_then - score,
                brings(ready, ready_then, score, score_then, int(would_be - are_ready), words),
                _joined_words([words.say(check.fix) for check in own], words),
            )
        )
    frame = pd.DataFrame(rows, columns=_COLUMNS)
    # Ready products first: a listing needs them, a score does not sell anything.
    frame = frame.sort_values(["ready_gain", "score_gain", "products"], ascending=False, kind="stable")
    return frame.drop(columns=["check"] if by == "rule" else []).reset_index(drop=True)


@dataclass
class _Counted:
    """What is counted of the checks of a row.

    Attributes
    ----------
    is_blocker
        Of each check, whether it is a blocker.
    failed
        For each check how many products fail it.
    failing, applicable
        Products that fail any of them, and to which any of them applies.
    ready
        Products that would be ready if they passed all of them.
    """

    is_blocker: npt.NDArray[np.bool_]
    failed: npt.NDArray[np.int64]
    failing: int = 0
    applicable: int = 0
    ready: int = 0

    @classmethod
    def of(cls, checks: Sequence[Check]) -> _Counted:
        """Return what is counted of checks before the first part."""
        return cls(
            np.array([check.severity == "blocker" for check in checks]), np.zeros(len(checks), np.int64)
        )

    def add(
        self, states: States, blockers: npt.NDArray[np.integer], is_doubtful: npt.NDArray[np.bool_]
    ) -> None:
        """Count the products of a part as well: of each its failing blockers, and whether one is unknown."""
        failed = states == State.FAIL
        # Fixing a check makes a product ready only where no other blocker fails.
        left = blockers - failed[:, self.is_blocker].sum(axis=1)
        # A product that becomes free of failing blockers but has an unknown one is then undecided.
        self.ready += int(((left == 0) & ~is_doubtful).sum())
        self.failed += failed.sum(axis=0)
        self.failing += int(failed.any(axis=1).sum())
        self.applicable += int((failed | (states == State.PASS)).any(axis=1).sum())


def brings(
    ready: float,
    ready_then: float,
    score: float,
    score_then: float,
    products: int,
    words: Translation = ENGLISH,
) -> str:
    """Describe the gain of fixing something: the new share of ready products, and how much ready and score rise.

    >>> brings(0.61, 0.632, 0.9, 0.905, 22)
    'ready 61.0 -> 63.2 % (+2.20 points), score +0.50 points'
    >>> brings(0.61, 0.61001, 0.9, 0.90001, 1), brings(0.61, 0.61, 0.9, 0.9, 0)
    ('ready +1 product, score under +0.01 points', 'nothing in ready or score')
    """
    gains = []
    if products and percent(ready) == percent(ready_then):
        gains.append(Message.of_number("ready +{number} product", "ready +{number} products", products))
    elif products:
        values = {"earlier_share": ready, "share": ready_then, "points": points(ready_then - ready)}
        gains.append(Message("ready {earlier_share} -> {share:%} ({points})", **values))
    # Sums of floating point numbers may differ by less without any gain.
    if score_then - score > 1e-11:
        gains.append(Message("score {points}", points=points(score_then - score)))
    return ", ".join(map(words.say, gains)) or words.gettext("nothing in ready or score")


def _ratio_of(part: float, whole: float) -> float:
    return float(ratio(np.array([float(part)]), np.array([float(whole)]))[0])


def _joined_words(said: list[str], words: Translation) -> str:
    others = len(set(said)) - 1
    return words.gettext("{text} (and {count} more)", text=said[0], count=others) if others else said[0]


_FACTS = ("rule", "problem", "title", "block", "dimension", "severity", "weight")


def counts_by_check(parts: Iterable[States], checks: int) -> dict[int, npt.NDArray[np.int64]]:
    """Return for each state how many products have it under each check, given the matrix part by part."""
    counts: dict[int, npt.NDArray[np.int64]] = {state: np.zeros(checks, np.int64) for state in State}
    for states in parts:
        for state in State:
            counts[state] += (states == state).sum(axis=0)
    return counts


def by_check(
    counts: Mapping[int, npt.NDArray[np.int64]],
    checks: Sequence[Check],
    crashed: Mapping[str, str],
) -> pd.DataFrame:
    """Return one row per check.

    Parameters
    ----------
    counts
        For each state how many products have it under each check.
    checks
        The checks.
    crashed
        Messages of the checks that could not be asked, by id.
    """
    frame = pd.DataFrame(
        {
            "check": [check.id for check in checks],
            **{name: [plain_fact(check, name) for check in checks] for name in _FACTS},
            "failed": counts[State.FAIL],
            "passed": counts[State.PASS],
            "not_applicable": counts[State.NOT_APPLICABLE],
            "unknown": counts[State.UNKNOWN],
        }
    )
    applicable = (counts[State.FAIL] + counts[State.PASS]).astype(float)
    frame["score"] = ratio(counts[State.PASS].astype(float), applicable)
    frame["crash"] = pd.array([crashed.get(check.id) for check in checks], "str")
    return frame


def laws(counts: Mapping[int, npt.NDArray[np.int64]], checks: Sequence[Check]) -> pd.DataFrame:
    """Return one row per check that a law or a day stands behind; see `Audit.laws`, and `by_check`."""
    rows = [
        (
            *(check.law, check.id, str(check.problem), check.severity),
            "not asked" if check.not_asked else check.standing,
            *(check.in_force, check.until, int(counts[State.FAIL][place]), ", ".join(check.not_asked)),
        )
        for place, check in enumerate(checks)
        if check.law or check.standing
    ]
    columns = [
        "law",
        "check",
        "problem",
        "severity",
        "standing",
        "in_force",
        "until",
        "failed",
        "declare",
    ]
    return pd.DataFrame(rows, columns=columns)
