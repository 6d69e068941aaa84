"""What the rule of allergens says of the texts of two tables, by language: `python -m tests.quality.allergen_table`.

`allergen_texts.csv` holds compositions with the groups that each must yield. `allergen_verdicts.tsv` holds hostile ones
with the verdict of a food that lists no allergens: the groups that are found, `pass`, `unknown`, or `none` where no
group may be found and a pass is not asked for. Both were written by hand.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import prodex
from prodex.quality.states import State
from prodex_food.vocabulary import GROUPS
from prodex_sandbox.sample import AS_OF
from tests.quality.four_states import text

LANGUAGES = ("en", "fr", "de", "es", "it", "nl", "pt")
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Labelled:
    """A composition with the groups of allergens that it names."""

    language: str
    groups: frozenset[str]
    text: str


@dataclass(frozen=True)
class Hostile:
    """A composition with the verdict of a food that lists no allergens."""

    language: str
    verdict: str
    text: str

    @property
    def labelled(self) -> Labelled:
        """The same as a composition with its groups: what is no list of ingredients names none."""
        groups = () if self.verdict in ("pass", "unknown", "none") else self.verdict.split()
        return Labelled(self.language, frozenset(groups), self.text)


@dataclass(frozen=True)
class Outcome:
    """What the rule says of one composition: its state, and the groups that it finds."""

    state: State
    groups: frozenset[str]


@cache
def labelled() -> tuple[Labelled, ...]:
    """Return the compositions of the first table."""
    with (_HERE / "allergen_texts.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter=";")
        return tuple(Labelled(row["language"], frozenset(row["groups"].split()), row["text"]) for row in rows)


@cache
def hostile() -> tuple[Hostile, ...]:
    """Return the compositions of the second table, in which `\\n` and `\\u200b` are written so."""
    lines = (_HERE / "allergen_verdicts.tsv").read_text("utf-8").splitlines()
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(
        Hostile(
            row["language"],
            row["verdict"],
            row["text"].replace("\\n", "\n").replace("\\u200b", "\u200b"),
        )
        for row in rows
    )


def outcomes(texts: Sequence[Labelled | Hostile], label: str | None = None) -> list[Outcome]:
    """Return what the rule says of each text of a food that lists no allergens, labelled with its language."""
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
    return [
        Outcome(State(state), frozenset(groups))
        for state, groups in zip(audit.states[:, 0].tolist(), seen, strict=True)
    ]


def measured(texts: Sequence[Labelled], label: str | None = None) -> dict[str, tuple[float, float]]:
    """Return recall and precision over pairs of a text and a group, by language and of all."""
    counts: Counter[tuple[str, str]] = Counter()
    for one, outcome in zip(texts, outcomes(texts, label), strict=True):
        for language in (one.language, "all"):
            counts[language, "right"] += len(outcome.groups & one.groups)
            counts[language, "wanted"] += len(one.groups)
            counts[language, "found"] += len(outcome.groups)
    return {
        language: (
            counts[language, "right"] / counts[language, "wanted"],
            counts[language, "right"] / max(counts[language, "found"], 1),
        )
        for language in (*LANGUAGES, "all")
    }


def as_table(figures: dict[str, tuple[float, float]]) -> str:
    """Return figures as text, one language in a line."""
    return "\n".join(
        f"{language:4} recall {recall:.3f} precision {precision:.3f}"
        for language, (recall, precision) in figures.items()
    )


def wrong(label: str | None = None) -> list[str]:
    """Return the hostile texts of which the rule says something else, with what it says."""
    found = []
    for one, outcome in zip(hostile(), outcomes(hostile(), label), strict=True):
        said = " ".join(group for group in GROUPS if group in outcome.groups) or outcome.state.name.lower()
        is_right = said in ("pass", "unknown") if one.verdict == "none" else said == one.verdict
        if not is_right:
            found.append(f"{one.language}: {one.verdict}, not {said}: {one.text}")
    return found


def main() -> None:
    """Print recall and precision of both tables together, by language, and the verdicts that are wrong."""
    texts = (*labelled(), *(one.labelled for one in hostile()))
    counts = Counter(one.language for one in texts)
    others = wrong()
    lines = [
        ", ".join(f"{counts[language]} texts in {language}" for language in LANGUAGES),
        as_table(measured(texts)),
        f"{len(others)} of {len(hostile())} verdicts are wrong",
        *others,
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
