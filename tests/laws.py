"""How many examples Hypothesis draws of each law: in every run, in a quick one, and in the full one of `make soak`.

A law is a test with `@given`, or a machine of rules. No other module names a number of examples. A law that is in no
list here is about one value or a few records, costs less than two seconds of processor time, and nearly every wrong
example falsifies it. One that needs many examples to fail once has a strategy that plants its corners instead: with
`@example`, or as the first branch of a strategy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    import pytest

_T = TypeVar("_T")

#: So many examples has a law in every run; a quick one has a tenth of them, and a full one ten times as many.
EVERY_RUN, QUICK, FULL = 50, 0.1, 10

_SOME = 10


@dataclass(frozen=True, slots=True)
class Law:
    """What a law has that others do not have.

    Parameters
    ----------
    examples
        How many are drawn in every run.
    why
        Why it has a number of its own.
    corners
        What is planted, so that a few examples meet it.
    full
        How many are drawn in a full run, where ten times as many are not right.
    steps, full_steps
        How many steps a machine of rules takes, in a full run as well.
    phases
        What Hypothesis does with it; all, if nothing is named.
    """

    examples: int
    why: str
    corners: str
    full: int | None = None
    steps: int | None = None
    full_steps: int | None = None
    phases: tuple[Phase, ...] = ()

    def number(self, times: float) -> int:
        """Return how many examples a run draws that has so many times as many as every run."""
        if times == FULL and self.full is not None:
            return self.full
        return number(self.examples, times)

    def own(self, times: float) -> settings:
        """Return what Hypothesis is to know of it, on top of the profile."""
        said: dict[str, Any] = {"max_examples": self.number(times)}
        steps = self.full_steps if times == FULL and self.full_steps else self.steps
        said |= {"stateful_step_count": steps} if steps else {}
        said |= {"phases": self.phases} if self.phases else {}
        return settings(**said)


#: Without making a wrong example smaller: each attempt of a law that is dear takes as long as an example.
_NOT_SHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)

#: The laws that take more than two seconds, and those that need another number. No other law has a number of its own.
LISTED: Mapping[str, Law] = {
    "tests/test_selections.py::test_no_function_drops_a_selection": Law(4, "", "", phases=_NOT_SHRUNK),
    "tests/test_selections.py::test_no_panel_drops_a_selection": Law(2, "", "", phases=_NOT_SHRUNK),
    "tests/test_cluster.py::test_what_is_made_does_not_depend_on_the_executor": Law(
        3, "", "", phases=_NOT_SHRUNK
    ),
    "tests/quality/test_reuse.py::test_it_is_equal_to_a_whole_audit": Law(6, "", "", phases=_NOT_SHRUNK),
    "tests/sandbox/test_sandbox_openapi.py::test_every_reply_is_as_the_openapi_document_says": Law(
        50, "", "", phases=_NOT_SHRUNK
    ),
    "tests/test_exports_read_back.py::test_any_products_come_back_exactly": Law(8, "", ""),
    "tests/quality/test_knowledge.py::test_the_law_holds_for_a_catalogue": Law(12, "", ""),
    "tests/quality/test_knowledge.py::test_the_law_holds_for_any_record": Law(12, "", ""),
    "tests/quality/test_knowledge.py::test_the_law_holds_for_the_products_of_every_rule": Law(12, "", ""),
    "tests/store/test_merge.py::test_a_merge_equals_a_build_of_all_current_products": Law(15, "", ""),
    "tests/quality/test_audit_laws.py::test_an_audit_is_one_of_each_product_alone": Law(8, "", ""),
    "tests/quality/test_audit_laws.py::test_the_four_states_add_up": Law(15, "", ""),
    "tests/store/test_snapshot.py::test_a_saved_catalogue_opens_as_the_same": Law(20, "", ""),
    "tests/publishing/test_publish.py::test_every_table_of_any_catalogue_is_read_as_it_was_saved": Law(
        4, "", ""
    ),
    "tests/store/test_presence_columns.py::test_merging_gives_what_flattening_gives": Law(8, "", ""),
    "tests/store/test_store_machine.py::TestStore::runTest": Law(
        20, "", "", full=1000, steps=10, full_steps=30
    ),
}


def number(examples: int, times: float) -> int:
    """Return how many examples are so many times as many, at least one.

    >>> number(25, QUICK), number(4, QUICK), number(25, FULL)
    (2, 1, 250)
    """
    return max(int(examples * times), 1)


def load_profile(times: float) -> None:
    """Have all laws that are imported from now on draw so many times as many examples as in every run.

    No law depends on how fast the machine is. What is drawn is another in each run, but the same where CI is set; in a
    full run it is always another.
    """
    slow_or_shared = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
    settings.register_profile(
        "laws",
        settings(),
        deadline=None,
        max_examples=number(EVERY_RUN, times),
        derandomize=settings().derandomize and times != FULL,
        suppress_health_check=(*slow_or_shared, HealthCheck.function_scoped_fixture),
    )
    settings.load_profile("laws")


def is_law(item: pytest.Item) -> bool:
    """Return whether a test is one of Hypothesis."""
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))


def apply(items: list[pytest.Item], times: float) -> None:
    """Give the laws of the list what they have of their own."""
    done = set()
    for item in items:
        name = item.nodeid.partition("[")[0].partition("@")[0]
        if is_law(item) and name in LISTED and name not in done:
            done.add(name)
            machine, law = getattr(item, "cls", None), LISTED[name].own(times)
            if machine is not None and hasattr(machine, "settings"):
                machine.settings = law
            else:
                law(item.function)  # type: ignore[attr-defined]


def some(strategy: st.SearchStrategy[_T]) -> list[_T]:
    """Return some values of a strategy, the same in every run."""
    drawn: list[_T] = []

    @settings(max_examples=_SOME, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def draw(value: _T) -> None:
        drawn.append(value)

    draw()
    return drawn
