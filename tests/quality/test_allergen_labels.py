"""What the rule of allergens says of 1,537 lists of ingredients, written by people who had not seen it.

`allergen_labels.tsv` has a list of ingredients a row, by language and kind, with the groups of Annex II that it holds
as an expert of the law says (`contains`), those that it only warns of (`warned`), and those of which nobody can tell
(`unsure`). `python -m tests.quality.test_allergen_labels` prints the figures.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import csv
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from prodex.quality.states import State
from tests.quality.allergen_table import Hostile, outcomes

pytestmark = pytest.mark.slow

TABLE = Path(__file__).with_name("allergen_labels.tsv")
LANGUAGES = {"en", "fr", "de", "nl", "it", "es", "pt"}


class Judged(NamedTuple):
    """A row of the table, with what the rule says of it."""

    number: str
    kind: str
    language: str
    contains: frozenset[str]
    state: State
    named_wrongly: frozenset[str]


@cache
def judged(table: Path = TABLE) -> tuple[Judged, ...]:
    """Return the rows of a table, judged as foods that list no allergens."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = [
        Hostile(row["language"] if row["language"] in LANGUAGES else "pl", "", row["text"].replace("␤", "\n"))
        for row in rows
    ]
    return tuple(
        Judged(
            row["number"],
            row["kind"],
            row["language"],
            frozenset(row["contains"].split()),
            outcome.state,
            outcome.groups - {*row["contains"].split(), *row["unsure"].split()},
        )
        for row, outcome in zip(rows, outcomes(texts), strict=True)
    )


def test_no_list_that_names_an_allergen_passes() -> None:
    """Fewer than one in a hundred does, by whatever kind it is named."""
    passing = [one for one in judged() if one.contains and one.state == State.PASS]
    assert len(passing) <= sum(bool(one.contains) for one in judged()) / 100, passing


def test_findings_are_true() -> None:
    """At most two lists in a hundred have a finding of a group that they do not hold."""
    wrong = [one for one in judged() if one.named_wrongly]
    assert len(wrong) <= len(judged()) / 50, wrong


def test_most_harmless_lists_pass() -> None:
    """Seven in ten of the lists without an allergen do: a rule that knows nothing would be of no use."""
    harmless = [one for one in judged() if not one.contains and one.language in LANGUAGES]
    assert sum(one.state == State.PASS for one in harmless) >= 0.7 * len(harmless)


def test_a_list_in_another_language_is_unknown() -> None:
    """Neither a pass nor a finding is made of words that only look alike."""
    others = {one.number: one.state for one in judged() if one.language not in LANGUAGES}
    assert {State.UNKNOWN} == set(others.values()), others


def main(table: Path) -> None:
    """Print the figures of a table."""
    rows = judged(table)
    named = [one for one in rows if one.contains]
    wrong = [one for one in rows if one.named_wrongly]
    passing = [one for one in named if one.state == State.PASS]
    print(
        f"{len(passing)} of {len(named)} that name an allergen pass, {len(wrong)} of {len(rows)} findings are false"
    )
    for kind in dict.fromkeys(one.kind for one in rows):
        states = Counter((bool(one.contains), one.state.name) for one in rows if one.kind == kind)
        print(
            f"{kind:10}", {f"{'names' if has else 'free'}, {state}": n for (has, state), n in states.items()}
        )


if __name__ == "__main__":
    import sys

    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE)
