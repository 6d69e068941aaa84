"""Whether answers agree: two that say different things of one place are asked back, both of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from prodex.fix.decisions import AnswerState, Decision
from prodex.fix.reading import Answer

#: What is said of a place: each value, with the numbers of the answers that say it.
_Said = Mapping[str | None, Sequence[int]]


def agreed(decisions: Sequence[Decision]) -> list[Decision]:
    """Return the answers with those in conflict that say different things of one place; the same said twice is one.

    Of thousands that are about one place, each is compared with what is said of the place, and not with each other.
    """
    places: dict[tuple[str | None, ...], dict[str | None, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, one in enumerate(decisions):
        if one.is_open:
            for place, value in one.says.items():
                places[place][value].append(number)
    made = list(decisions)
    for number, one in enumerate(decisions):
        if not one.is_open:
            continue
        said = [(places[place], value) for place, value in one.says.items()]
        others = list(islice((other for values, value in said for other in _others(values, value)), 3))
        if others:
            where = ", ".join(
                f"{answer.place} says {answer.text!r:.60}" for answer in _answers(decisions, others)
            )
            made[number] = one.becomes(
                AnswerState.CONFLICT,
                f"another answer to the same says something else: {where}. Keep one of them.",
            )
        elif said and all(values[value][0] < number for values, value in said):
            first = decisions[max(values[value][0] for values, value in said)].answer
            made[number] = one.becomes(AnswerState.UNCHANGED, f"the same answer as {first.place}.")
    return made


def _others(values: _Said, own: str | None) -> Iterator[int]:
    """Yield the answers that say something else."""
    return (number for value, numbers in values.items() if value != own for number in numbers)


def _answers(decisions: Sequence[Decision], numbers: Sequence[int]) -> Iterator[Answer]:
    return (decisions[number].answer for number in numbers)
