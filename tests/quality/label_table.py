"""What the rules say of labels of claims and of statements, by language: `python -m tests.quality.label_table`.

`claim_labels.tsv` and `statement_labels.tsv` were written from the law, by somebody who has not seen the rules. Each is
a table of products; `expected` is what the Annex of Regulation (EC) No 1924/2006, or Annex III of Regulation (EU) No
1169/2011, says of it. Rows that are wrong by the text of the law, or that are two opinions, are left out by number.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import prodex
from prodex.quality.states import State
from prodex_sandbox.sample import AS_OF
from tests.quality.four_states import Record, text

_HERE = Path(__file__).parent

#: The rule that judges a claim of the Annex; none judges vitamins, kinds of fat, or what is only called light.
_OF_CLAIM: Mapping[str, str] = {
    **dict.fromkeys(("low sugars", "sugars-free"), "sugars_claims_hold"),
    "no added sugars": "no_added_sugars_claim_holds",
    **dict.fromkeys(("low fat", "fat-free"), "fat_claims_hold"),
    **dict.fromkeys(("low saturated fat", "saturated fat-free"), "saturates_claims_hold"),
    **dict.fromkeys(
        ("low sodium/salt", "very low sodium/salt", "sodium-free or salt-free", "no added sodium/salt"),
        "salt_claims_hold",
    ),
    **dict.fromkeys(("low energy", "energy-free"), "energy_claims_hold"),
    **dict.fromkeys(("source of fibre", "high fibre"), "fibre_claims_hold"),
    **dict.fromkeys(("source of protein", "high protein"), "protein_claims_hold"),
}
#: The rule of a nutrient of which a text says that there is less.
_OF_LESS = {
    "fat": "fat_claims_hold",
    "sugars": "sugars_claims_hold",
    "salt": "salt_claims_hold",
    "sodium": "salt_claims_hold",
}
CLAIM_RULES = tuple(dict.fromkeys(_OF_CLAIM.values()))
#: The rule of a situation, and the ingredients and nutrients with which the statement is due.
_OF_SITUATION: Mapping[str, tuple[str, str, tuple[str, float] | None]] = {
    "sweetener": ("sweeteners_are_stated", "E330, E955", None),
    "sugar_and_sweetener": ("sugars_and_sweeteners_are_stated", "sugar, E955", None),
    "aspartame": ("phenylalanine_is_stated", "E330, E951", None),
    "laxative": ("laxative_effects_are_stated", "E965", ("POLYL", 60.0)),
    "caffeine_drink": ("high_caffeine_is_stated", "caffeine", ("CAFFN", 0.032)),
    "caffeine_food": ("high_caffeine_is_stated", "caffeine", None),
    "phytosterols": ("plant_sterols_are_stated", "E330, phytosterols", None),
}
STATEMENT_RULES = tuple(dict.fromkeys(rule for rule, _, _ in _OF_SITUATION.values()))
#: Codes of nutrients and units by the names of the table.
_NUTRIENTS = {
    "energy_kcal": ("ENER-", "E14"),
    "fat": ("FAT", "GRM"),
    "saturates": ("FASAT", "GRM"),
    "carbohydrate": ("CHOAVL", "GRM"),
    "sugars": ("SUGAR-", "GRM"),
    "fibre": ("FIBTG", "GRM"),
    "protein": ("PRO-", "GRM"),
    "salt": ("SALTEQ", "GRM"),
    "sodium": ("NA", "GRM"),
}
#: Rows that are left out, by number, and why.
LEFT_OUT: Mapping[str, Mapping[str, str]] = {
    "claim": {
        "92": "declared in whole grams, 13 g may mean the 13.2 g that are 12 %",
        "79": "one kind of sugar alone is named, and whether that means all of them is an opinion",
    },
    "statement": {"126": "the term of the law is another one, and the sense is there"},
}


@dataclass(frozen=True)
class Judged:
    """A row of a table, and what the rules say of it.

    Attributes
    ----------
    row
        The row, by the headings of its table.
    rule
        The rule whose verdict is asked for; "" where no rule judges it.
    state
        What that rule says; not applicable where there is none.
    others
        The rules that fail it as well.
    """

    row: Mapping[str, str]
    rule: str
    state: State
    others: tuple[str, ...]

    @property
    def must_fail(self) -> bool:
        """Whether the law wants a finding."""
        return self.row["expected"] in {"not_fulfilled", "part", "none"} and self.is_asked

    @property
    def is_asked(self) -> bool:
        """Whether a rule judges the row; a text of claims with none is asked of all rules."""
        return bool(self.rule) and self.row.get("claim") != "none"

    @property
    def is_false(self) -> bool:
        """Whether a rule finds what is none."""
        return bool(self.others) or (self.state is State.FAIL and not self.must_fail)


@cache
def rows(name: str) -> tuple[Mapping[str, str], ...]:
    """Return the rows of a table without those that are left out."""
    lines = (_HERE / f"{name}_labels.tsv").read_text("utf-8").splitlines()
    found = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(row for row in found if row["number"] not in LEFT_OUT[name])


def claims() -> list[Judged]:
    """Return what the rules say of the labels with claims."""
    return _judged(rows("claim"), CLAIM_RULES, _claiming, _rule_of_claim)


def _rule_of_claim(row: Mapping[str, str]) -> str:
    """Return the rule of a row: that of its claim, or of the nutrient of which there is less."""
    less = row["nutrients"].split()[-1].partition("=")[0]
    return _OF_CLAIM.get(row["claim"], "") or (
        _OF_LESS.get(less, "") if row["claim"] == "reduced nutrient" else ""
    )


def statements() -> list[Judged]:
    """Return what the rules say of the labels with statements."""
    asked = [row for row in rows("statement") if row["situation"] in _OF_SITUATION]
    return _judged(asked, STATEMENT_RULES, _stating, lambda row: _OF_SITUATION[row["situation"]][0], True)


def _judged(
    labels: Sequence[Mapping[str, str]], rules: Sequence[str], record: Any, rule_of: Any, alone: bool = False
) -> list[Judged]:
    catalog = prodex.flatten({"id": place, **record(row)} for place, row in enumerate(labels))
    checks: dict[str, Any] = {rule: {} for rule in rules}
    audit = prodex.audit(catalog, {"checks": checks}, now=AS_OF, progress=False)
    assert () == audit.crashes
    found = []
    for row, states in zip(labels, audit.states.tolist(), strict=True):
        by_rule = {rule: State(state) for rule, state in zip(rules, states, strict=True)}
        rule = rule_of(row)
        others = (
            ()
            if alone
            else tuple(one for one, state in by_rule.items() if one != rule and state is State.FAIL)
        )
        found.append(Judged(row, rule, by_rule.get(rule, State.NOT_APPLICABLE), others))
    return found


def _claiming(row: Mapping[str, str]) -> Record:
    declared = dict(one.split("=") for one in row["nutrients"].split())
    unit = "MLT" if declared.pop("per") == "100ml" else "GRM"
    contains = [_nutrient(*_NUTRIENTS[name], float(amount)) for name, amount in declared.items()]
    return {
        "isConsumerUnit": True,
        "GPC": {"code": "50000001"},
        "namePublicLong": [text(row["language"], row["text"])],
        **({"composition": [text(row["language"], row["ingredients"])]} if row["ingredients"] else {}),
        "isPartitionedBy": [_partition(unit, contains, row["state"])],
    }


def _stating(row: Mapping[str, str]) -> Record:
    _, ingredients, nutrient = _OF_SITUATION[row["situation"]]
    contains = [_nutrient(nutrient[0], "GRM", nutrient[1])] if nutrient else []
    unit = "MLT" if row["situation"] == "caffeine_drink" else "GRM"
    return {
        "isConsumerUnit": True,
        "GPC": {"code": "50000001"},
        "composition": [text(row["language"], ingredients)],
        "compulsoryStatements": [text(row["language"], row["text"])],
        **({"isPartitionedBy": [_partition(unit, contains, "")]} if contains else {}),
    }


def _nutrient(code: str, unit: str, amount: float) -> Record:
    return {"isConceptualizedBy": {"code": code}, "quantity": amount, "expressedIn": {"code": unit}}


def _partition(unit: str, contains: Sequence[Record], state: str) -> Record:
    name = "100 g" if unit == "GRM" else "100 ml"
    found = {"name": name, "quantity": 100, "isMeasuredBy": {"code": unit}, "contains": contains}
    states = {"as_sold": "UNPREPARED", "as_prepared": "PREPARED"}
    return {**found, "preparationState": {"code": states[state]}} if state else found


def as_table(judged: Sequence[Judged], by: str) -> str:
    """Return figures as text, by a column and of all: how is judged what must fail, and what else is."""
    lines = []
    for group in (*dict.fromkeys(one.row[by] for one in judged), "all"):
        own = [one for one in judged if group in (one.row[by], "all")]
        must = Counter(one.state.name.lower() for one in own if one.must_fail)
        may = Counter(one.state.name.lower() for one in own if not one.must_fail and one.rule)
        lines.append(
            f"{group:30} {len(own):3}  must fail {_counts(must)};  others {_counts(may)};"
            f"  false {sum(one.is_false for one in own)}"
        )
    return "\n".join(lines)


def _counts(counts: Mapping[str, int]) -> str:
    return " ".join(f"{name} {counts.get(name, 0)}" for name in ("fail", "pass", "unknown", "not_applicable"))


def wrong(judged: Iterable[Judged]) -> list[str]:
    """Return the rows that are found falsely, or that must fail and do not."""
    return [
        f"{one.row['number']} {one.row['language']} {one.row['expected']} {one.rule}: {one.state.name.lower()} "
        f"{' '.join(one.others)}: {one.row['text']:.90} | {one.row.get('ingredients', '')}"
        for one in judged
        if one.is_false or (one.must_fail and one.state is not State.FAIL)
    ]


def main() -> None:
    """Print the figures of both tables, and the rows that are judged otherwise than the law does."""
    for judged, kind in ((claims(), "claim"), (statements(), "situation")):
        for line in (as_table(judged, "language"), as_table(judged, kind), *wrong(judged)):
            sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
