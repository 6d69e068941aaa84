"""Whether answers agree: two that say different things of one place are asked back, both of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from prodex.fix.decisions import AnswerState, Decision


def agreed(decisions: Sequence[Decision]) -> list[Decision]:
    """Return the answers with those in conflict that say different things of one place; the same said twice is one."""
    groups: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
    for number_, one in enumerate(decisions):
        if one.is_open:
            groups[one.place].append(number_)
    made = list(decisions)
    for places in groups.values():
        said = {_said(decisions[place]) for place in places}
        if len(said) > 1:
            for place in places:
                others = [
                    decisions[one].answer
                    for one in places
                    if _said(decisions[one]) != _said(decisions[place])
                ]
                where = ", ".join(f"{one.place} says {one.text!r:.60}" for one in others[:3])
                made[place] = made[place].becomes(
                    AnswerState.CONFLICT,
                    f"another answer to the same says something else: {where}. Keep one of them.",
                )
        else:
            for place in places[1:]:
                first = decisions[places[0]].answer
                made[place] = made[place].becomes(AnswerState.UNCHANGED, f"the same answer as {first.place}.")
    return made


def _said(decision: Decision) -> str:
    """Return what an answer says, so that equal ones can be known."""
    correction = decision.correction
    if correction is None or callable(correction.value):
        return decision.answer.text
    return repr(correction.value)
