"""What steps did, in the words of what became of it: a change that is refused in the end is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd

from prodex.catalog import Catalog
from prodex.corrections.leaves import Rows, as_texts
from prodex.corrections.stepping import StepDone
from prodex.worklists.answer_outcomes import AnswerState

#: Columns of `Fix.steps`.
_STATES: Final = ("changed", "already_so", "refused", "needs_confirmation", "conflict")
STEP_COLUMNS: Final = ("step", "what", "attribute", *_STATES, "no_value", "reason")
#: Columns of `Fix.step_rows`.
ROW_COLUMNS: Final = (
    *("step", "product_id", "gtin", "attribute", "language", "before", "after", "state", "reason"),
)
#: What becomes of a place in the words of a step, by the state of its answer.
_IN_STEPS: Final = {
    AnswerState.ACCEPTED: "changed",
    AnswerState.UNCHANGED: "already_so",
    AnswerState.REFUSED: "refused",
    AnswerState.NEEDS_CONFIRMATION: "needs_confirmation",
    AnswerState.CONFLICT: "conflict",
}
_CHANGED_BACK: Final = "a later step changes it back, so that nothing is sent."

States: TypeAlias = Mapping[int, tuple[AnswerState, str]]


@dataclass(frozen=True, eq=False)
class StepLog:
    """What steps did.

    Attributes
    ----------
    catalog
        The products, in the order of their numbers.
    results
        What each step did.
    numbers
        By attribute, the number of the answer of each of its rows; 0 for none.
    """

    catalog: Catalog
    results: Sequence[StepDone]
    numbers: Mapping[str, Rows]

    def frame(self, states: States) -> pd.DataFrame:
        """Return one row for each step, by the present state of each answer."""
        rows = []
        for number, done in enumerate(self.results, 1):
            found = Counter(self._states(done, states))
            found.update(("refused", why) for *_, why in done.refused)
            counts = Counter({"already_so": len(done.so_already), "conflict": done.gone})
            reasons: Counter[str] = Counter()
            for (state, why), times in found.items():
                counts[state] += times
                if state != "changed" and why:
                    reasons[why] += times
            # What is refused says more than what is so already.
            most = max(reasons, key=lambda one: (one != _CHANGED_BACK, reasons[one]), default="")
            told = (number, done.words, done.step.attribute, *(counts[one] for one in _STATES))
            rows.append((*told, done.without, done.impossible or most))
        return pd.DataFrame(rows, columns=list(STEP_COLUMNS))

    def _states(self, done: StepDone, states: States) -> Iterator[tuple[str, str]]:
        """Yield what became of each row that a step changed, and why."""
        if done.leaves is None:
            return
        numbers = self.numbers[done.leaves.attribute][done.changed]
        for row, number in zip(done.changed.tolist(), numbers.tolist(), strict=True):
            if number == 0 and row in done.arrived:
                # A text that was moved and is back where it was may still stand where it arrived.
                leaves, there = done.arrived[row]
                number = int(self.numbers[leaves.attribute][there])  # noqa: PLW2901
            if number == 0:
                yield "already_so", _CHANGED_BACK
            else:
                state, reason = states.get(number, (AnswerState.ACCEPTED, ""))
                yield _IN_STEPS[state], reason

    def rows(self, states: States) -> pd.DataFrame:
        """Return one row for each value that a step has looked at."""
        ids, gtins = (self.catalog.arrow("products", [one])[one] for one in ("product_id", "gtin"))
        rows = [
            (number, ids[product].as_py(), gtins[product].as_py(), *told)
            for number, done in enumerate(self.results, 1)
            for product, *told in self._rows_of(done, states)
        ]
        return pd.DataFrame(rows, columns=list(ROW_COLUMNS), dtype=object)

    def _rows_of(self, done: StepDone, states: States) -> Iterator[tuple[Any, ...]]:
        leaves = done.leaves
        if leaves is None:
            return
        refused = np.array([one.row for one in done.refused if one.row >= 0], np.int64)
        held = leaves.texts(np.concatenate([done.so_already, refused]))
        rows = np.concatenate([done.changed, done.so_already, refused])
        spoken = leaves.spoken(rows).to_pylist()
        owners, languages = leaves.owners(rows), dict(zip(rows.tolist(), spoken, strict=True))
        sides = (as_texts(one).to_pylist() for one in (done.before, done.after))
        became = self._states(done, states)
        for row, before, after, state in zip(done.changed.tolist(), *sides, became, strict=True):
            yield owners[row], leaves.attribute, languages[row], before, after, *state
        for row in done.so_already.tolist():
            yield owners[row], leaves.attribute, languages[row], held[row], held[row], "already_so", ""
        for product, row, why in done.refused:
            language = languages.get(row, done.step.language)
            yield product, leaves.attribute, language, held.get(row), None, "refused", why
