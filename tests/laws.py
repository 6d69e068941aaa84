"""How many examples Hypothesis draws of each law: in every run, in a quick one, and in the full one of `make soak`.

A law is a test with `@given`, or a machine of rules. No other module names a number of examples. A law that is in no
list here is about one value or a few records, costs less than two seconds of processor time, and nearly every wrong
example falsifies it. One that needs many examples to fail once has a strategy that plants its corners instead: with
`@example`, or as the first branch of a strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    import pytest

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])

#: So many examples has a law in every run; a quick one has a tenth of them, and a full one ten times as many.
EVERY_RUN, QUICK, FULL = 40, 0.1, 10

_SOME = 10


@dataclass(frozen=True, slots=True)
class Law:
    """What a law has that others do not have.

    Parameters
    ----------
    examples
        How many are drawn in every run; 0 if only what is planted is met there.
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
        # Of a law that draws none, a run that is not full has what is planted alone.
        phases = (Phase.explicit,) if not self.examples and times != FULL else self.phases
        said |= {"phases": phases} if phases else {}
        return settings(**said)


#: Without making a wrong example smaller: each attempt of a law that is dear takes as long as an example.
_NOT_SHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)

_LESS_ASKED_FOR = "@example: without class, nutrients and addresses; one list of units of two; a language"

#: The laws that take more than two seconds, and those that need another number. No other law has a number of its own.
LISTED: Mapping[str, Law] = {
    "tests/test_selections.py::test_no_function_drops_a_selection": Law(
        0,
        "an example asks fifty functions twice, which takes two seconds",
        "@example: of both kinds with some left out, saved; of one kind, in memory",
        full=10,
        phases=_NOT_SHRUNK,
    ),
    "tests/test_selections.py::test_no_panel_drops_a_selection": Law(
        0,
        "an example makes eight panels twice",
        "@example: of both kinds with some left out",
        full=10,
        phases=_NOT_SHRUNK,
    ),
    "tests/test_cluster.py::test_what_is_made_does_not_depend_on_the_executor": Law(
        1,
        "an example builds, merges, audits and compares three times, in other processes",
        "@example: wire.CORNERS, and others in their place",
        phases=_NOT_SHRUNK,
    ),
    "tests/store/test_store_machine.py::TestStore::runTest": Law(
        20,
        "a story loads, saves, audits and loses power several times, which takes a third of a second",
        "a crash at one of the first calls, where files are made; at any; after the last",
        full=1000,
        steps=10,
        full_steps=30,
    ),
    "tests/test_exports_read_back.py::test_any_products_come_back_exactly": Law(
        3, "four formats; an example writes and reads twenty tables", "@example: hostile texts, wire.CORNERS"
    ),
    "tests/quality/test_audit_laws.py::test_an_audit_is_one_of_each_product_alone": Law(
        3, "an example audits three times by every check", "@example: wire.CORNERS, cut in two"
    ),
    "tests/quality/test_audit_laws.py::test_the_four_states_add_up": Law(
        6, "an example audits by every check", "@example: wire.CORNERS"
    ),
    "tests/quality/test_knowledge.py::test_the_law_holds_for_a_catalogue": Law(
        5, "an example audits by every check", _LESS_ASKED_FOR
    ),
    "tests/quality/test_knowledge.py::test_the_law_holds_for_any_record": Law(
        5, "an example audits twice by every check", f"{_LESS_ASKED_FOR}, of wire.CORNERS"
    ),
    "tests/quality/test_knowledge.py::test_the_law_holds_for_the_products_of_every_rule": Law(
        6, "an example audits by every check", _LESS_ASKED_FOR
    ),
    "tests/store/test_merge.py::test_a_merge_equals_a_build_of_all_current_products": Law(
        8,
        "an example writes two snapshots and reads their files",
        "@example: wire.CORNERS, of which some changed, came and went; a change in no part",
    ),
    "tests/store/test_snapshot.py::test_a_saved_catalogue_opens_as_the_same": Law(
        8, "an example writes twenty tables in three parts", "@example: wire.CORNERS, an empty part, others"
    ),
    "tests/publishing/test_publish.py::test_every_table_of_any_catalogue_is_read_as_it_was_saved": Law(
        3, "an example writes twenty tables three times", "@example: wire.CORNERS, an empty part, others"
    ),
    "tests/store/test_presence_columns.py::test_merging_gives_what_flattening_gives": Law(
        12, "an example writes two snapshots", "records of a few attributes, each in all states"
    ),
    "tests/store/test_delivery.py::test_a_snapshot_of_files_is_what_reading_them_at_once_gives": Law(
        20,
        "an example writes a snapshot",
        "one file of each form, among them what is cut off, and no product",
    ),
    "tests/load/test_laws.py::test_each_product_comes_once_or_an_error_says_what_is_missing": Law(
        10,
        "an example serves and loads a catalogue",
        "@example: each way to page, with products that change, come and go at its calls, and an error that lasts",
    ),
    "tests/service/test_paging.py::test_every_product_comes_once": Law(
        30,
        "an example answers up to 200 pages",
        "@example: no product, a last page that is full, one product less than by scroll, a lost page",
    ),
    "tests/compare/test_compare_laws.py::test_neither_parts_nor_order_matter": Law(
        15, "an example compares two catalogues twice", "@example: wire.CORNERS, and others in their place"
    ),
    "tests/worklists/test_worklists.py::test_the_worklists_together_are_the_failures": Law(
        12, "an example writes workbooks", "six ways to group, and owners that are alike"
    ),
    "tests/worklists/test_only_what_is_previewed.py::"
    "test_the_record_differs_in_what_the_preview_shows_and_in_nothing_else": Law(
        15, "an example reads a file and judges answers", "each has one answer of each of seven kinds"
    ),
    "tests/worklists/test_rows.py::test_every_row_of_any_table_is_accounted_for": Law(
        15, "an example writes and reads a table", "empty rows and repeated headings among the first choices"
    ),
    "tests/quality/test_required_checks.py::test_what_is_left_out_of_a_query_changes_no_answer": Law(
        12, "an example audits forty products", "fields that requirements read without naming them"
    ),
    "tests/notebook/test_card_laws.py::test_a_card_of_anything_is_a_page_part": Law(
        10, "an example audits a product and draws its card", "@example: wire.CORNERS"
    ),
    "tests/send/test_spelled_values.py::test_one_text_is_corrected_and_no_other_token_changes": Law(
        12,
        "an example loads, corrects and undoes",
        "@example: every spelling that is kept, and one that is refused, beside the text and elsewhere",
    ),
    "tests/tables/test_laws.py::test_flattening_distributes_over_products": Law(
        30, "an example flattens three times", "@example: wire.CORNERS, and others in their place"
    ),
    "tests/test_wide.py::test_a_cell_is_filled_where_the_record_holds_a_value": Law(
        25, "an example asks for every path of its records", "@example: wire.CORNERS"
    ),
    "tests/notebook/test_query_fields_view.py::test_what_is_shown_of_a_query_is_read_as_the_same_query": Law(
        30, "an example makes a field for each filter", "each filter absent, empty and filled"
    ),
    "tests/notebook/test_coverage_view.py::test_filled_columns_are_what_the_states_say": Law(
        30, "an example asks for six fills", "@example: wire.CORNERS"
    ),
    "tests/quality/test_accepted.py::test_accepted_stays_accepted_until_something_changes": Law(
        25, "an example audits twice", "GTINs that are wrong, missing, or of two products"
    ),
    "tests/quality/test_accepted_identity.py::test_a_condition_is_part_of_what_was_judged": Law(
        30, "an example audits twice and writes a file", "the same GTIN, value or condition in half of them"
    ),
    "tests/quality/test_allergens.py::test_a_warning_in_brackets_takes_and_adds_nothing": Law(
        25, "an example reads a text in three forms", "@example: a list of two, and the first warning"
    ),
    "tests/quality/test_selection.py::test_findings_and_states_are_those_of_the_whole_audit": Law(
        12,
        "an example audits the sample",
        "@example: nobody; the first and the last, with one that is not there",
    ),
    "tests/sandbox/test_sandbox_media.py::test_no_text_keeps_a_picture_from_being_drawn": Law(
        20, "an example draws three pictures", "texts of all characters, half surrogates among them"
    ),
    "tests/sandbox/test_sandbox_openapi.py::test_every_reply_is_as_the_openapi_document_says": Law(
        15,
        "twelve operations",
        "test_sandbox_refusals.py has bodies and queries that no document allows",
        phases=(Phase.explicit, Phase.generate),
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


def has_a_tenth(item: pytest.Item) -> bool:
    """Return whether a test is a law of ten examples or more, of which a quick run draws some."""
    listed = LISTED.get(_name(item))
    return is_law(item) and (listed is None or listed.examples * QUICK >= 1)


def _name(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0].partition("@")[0]


def apply(items: list[pytest.Item], times: float) -> None:
    """Give the laws of the list what they have of their own."""
    done = set()
    for item in items:
        name = _name(item)
        if is_law(item) and name in LISTED and name not in done:
            done.add(name)
            machine, law = getattr(item, "cls", None), LISTED[name].own(times)
            if machine is not None and hasattr(machine, "settings"):
                machine.settings = law
            else:
                law(item.function)  # type: ignore[attr-defined]


def planted(*examples: Any) -> Callable[[_F], _F]:
    """Have a law of one value meet some in every run."""

    def decorate(law: _F) -> _F:
        for one in reversed(examples):
            law = example(one)(law)
        return law

    return decorate


def some(strategy: st.SearchStrategy[_T]) -> list[_T]:
    """Return some values of a strategy, the same in every run."""
    drawn: list[_T] = []

    @settings(max_examples=_SOME, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def draw(value: _T) -> None:
        drawn.append(value)

    draw()
    return drawn
