"""Every shipped rule on tiny products that pass, fail, are no question, or were not requested."""

from __future__ import annotations

import pytest

from prodex.quality.states import State
from tests.cases import each_row
from tests.quality import (
    test_rules_food,
    test_rules_food_law,
    test_rules_freshness,
    test_rules_hierarchies,
    test_rules_identity,
    test_rules_market_laws,
    test_rules_pictures,
    test_rules_texts,
)
from tests.quality.four_states import Case, Record, lacks, rules_of

BLOCKS = {
    "food": test_rules_food.CASES | test_rules_food_law.CASES,
    "freshness": test_rules_freshness.CASES,
    "hierarchies": test_rules_hierarchies.CASES,
    "identity": test_rules_identity.CASES,
    "pictures": test_rules_pictures.CASES,
    "texts": test_rules_texts.CASES,
}
CASES = {rule: case for cases in BLOCKS.values() for rule, case in cases.items()}
#: Rules of laws on offers are tried with what they need declared; see `test_rules_market_laws`.
DECLARED = set(test_rules_market_laws.CASES)
EDGES = [*test_rules_identity.EDGES, *test_rules_texts.EDGES]


@pytest.mark.slow
@each_row("rule", CASES)
def test_what_the_rule_says(rule: str) -> None:
    """Each rule has a product that passes, one that fails and one to which it does not apply."""
    assert CASES[rule].expected == CASES[rule].states(rule)


@pytest.mark.slow
@each_row("rule", CASES)
def test_what_is_found(rule: str) -> None:
    """The product that fails has attribute, language, verbatim value and reason."""
    assert CASES[rule].finding == CASES[rule].found(rule)


@pytest.mark.slow
@each_row("rule", [rule for rule, case in CASES.items() if case.asked])
def test_what_nobody_asked_for_is_unknown(rule: str) -> None:
    """This holds for a product that would have passed as well as for one that would have failed."""
    assert [State.UNKNOWN] * 2 == CASES[rule].states(rule, CASES[rule].asked)[:2]


@pytest.mark.slow
@each_row(("rule", "record", "state"), EDGES)
def test_where_the_line_is_drawn(rule: str, record: Record, state: State) -> None:
    """A value just before the limit passes, and one just behind it fails."""
    case = Case(record, {}, ("", None, None, ""), parameters=CASES[rule].parameters)
    assert state == case.states(rule)[0]


@each_row("block", BLOCKS)
def test_every_rule_is_tried_and_explained(block: str) -> None:
    """All rules of the block are tested, and each states why it matters and what to do."""
    assert rules_of(block) - DECLARED == set(BLOCKS[block])
    assert {} == {rule: lacks(rule) for rule in rules_of(block) if lacks(rule)}


def test_every_block_is_here() -> None:
    """Whoever adds a block adds its cases."""
    assert rules_of() == set(CASES) | DECLARED
