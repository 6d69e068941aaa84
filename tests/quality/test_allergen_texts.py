"""How many allergens the rule finds in compositions as suppliers write them, and how many of those it finds are there.

`allergen_texts.csv` holds texts in seven languages, each with the groups that it must yield. It was written before the
vocabulary that it measures was mended; whoever finds a composition that is read wrongly adds it there.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.quality.allergen_detection import GROUPS
from prodex.sandbox.sample import AS_OF
from tests.quality.four_states import text

LANGUAGES = ("en", "fr", "de", "es", "it", "nl", "pt")
DEMANDED = 0.98


@dataclass(frozen=True)
class Labelled:
    """A composition with the groups of allergens that it names."""

    language: str
    groups: frozenset[str]
    text: str


@cache
def labelled() -> tuple[Labelled, ...]:
    """Return the texts of the table."""
    with (Path(__file__).parent / "allergen_texts.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter=";")
        return tuple(Labelled(row["language"], frozenset(row["groups"].split()), row["text"]) for row in rows)


def found(texts: tuple[Labelled, ...], label: str | None = None) -> list[frozenset[str]]:
    """Return the groups that the rule finds in each text of a food that lists no allergens."""
    catalog = prodex.flatten(
        {
            "id": place,
            "isConsumerUnit": True,
            "GPC": {"code": "50000001"},
            "composition": [text(label or one.language, one.text)],
            "allergens": [],
        }
        for place, one in enumerate(texts)
    )
    profile: dict[str, Any] = {"checks": {"composition_allergens_listed": {}}}
    audit = prodex.audit(catalog, profile, now=AS_OF, progress=False)
    assert () == audit.crashes
    seen: list[set[str]] = [set() for _ in texts]
    findings = audit.failures(check="composition_allergens_listed")
    for place, reason in zip(findings["product_id"], findings["reason"], strict=True):
        seen[int(place)] |= {group for group in GROUPS if reason.startswith(f"{group}:")}
    return [frozenset(groups) for groups in seen]


def measured(label: str | None = None) -> dict[str, tuple[float, float]]:
    """Return recall and precision over pairs of a text and a group, by language and of all."""
    counts: Counter[tuple[str, str]] = Counter()
    for one, groups in zip(labelled(), found(labelled(), label), strict=True):
        for language in (one.language, "all"):
            counts[language, "right"] += len(groups & one.groups)
            counts[language, "wanted"] += len(one.groups)
            counts[language, "found"] += len(groups)
    return {
        language: (
            counts[language, "right"] / counts[language, "wanted"],
            counts[language, "right"] / max(counts[language, "found"], 1),
        )
        for language in (*LANGUAGES, "all")
    }


def test_the_table_is_a_table() -> None:
    """It holds over 300 texts in seven languages, each once, with groups that exist."""
    assert len(labelled()) > 300
    assert len(labelled()) == len({one.text for one in labelled()})
    assert set(LANGUAGES) == {one.language for one in labelled()}
    assert set(GROUPS) == {group for one in labelled() for group in one.groups}


@pytest.mark.parametrize("label", [None, "fr", "sv"], ids=["as labelled", "called French", "called Swedish"])
def test_the_allergens_of_the_table_are_found(label: str | None) -> None:
    """Recall and precision are at least 0.98, whatever language the label states."""
    figures = measured(label)

    recall, precision = figures["all"]
    assert recall >= DEMANDED, _table(figures)
    assert precision >= DEMANDED, _table(figures)


def _table(figures: dict[str, tuple[float, float]]) -> str:
    return "\n".join(
        f"{language:4} recall {recall:.3f} precision {precision:.3f}"
        for language, (recall, precision) in figures.items()
    )
