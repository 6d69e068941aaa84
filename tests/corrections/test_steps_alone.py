"""A recipe against its steps done one by one, each with the products that the one before it left at the service."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

import prodex
from prodex import operations as do
from tests.corrections.test_bulk import amount, product, text

OPERATIONS = (
    *(do.TrimSpaces(), do.ReplaceText("a", "A"), do.ReplaceText("A", "a"), do.RemovePrefix("ACME")),
    *(do.ChangeCase("upper"), do.ChangeCase("title"), do.ChangeCase("sentence")),
    *(do.MoveText("description"), do.MoveText(to_language="nl"), do.MoveText("synonyms", "de-DE")),
    *(do.CopyFrom("synonyms"), do.CopyFrom("description", replace=True), do.CopyFrom(from_language="fr")),
    *(do.SetValue("neu"), do.SetValue("5 g"), do.SetValue(value=True), do.RemoveValue()),
    *(do.SetCode("ZEST"), do.ConvertUnit("kg"), do.ConvertUnit("g")),
)
ATTRIBUTES = (
    *("synonyms", "description", "brand", "netContent", "originCountry", "isConsumerUnit"),
    *("productBenefits.text", "netWeight"),
)


def records(draw: Random) -> list[dict[str, Any]]:
    """Return three products with texts in some languages."""

    def texts(most: int) -> list[dict[str, Any]]:
        codes = draw.sample(["fra-FR", "nld-NL", "deu-DE"], draw.randrange(1, most))
        return [text(code, draw.choice(["ACME  riz", "Riz a", "thé"])) for code in codes]

    return [
        product(
            number,
            namePublicLong=[text("fra-FR", "N")],
            brand={"code": draw.choice(["ACME", "ZEST"])},
            synonyms=texts(4),
            description=texts(3),
            netContent=[amount(draw.choice([500, 0.5]), draw.choice(["GRM", "KGM"]))],
            netWeight=[amount(draw.choice([500, 1]), "GRM")],
            originCountry=[{"code": "FR"}],
            isConsumerUnit=draw.choice([True, False]),
            productBenefits=[{"text": [text("fra-FR", " bon a")]}],
        )
        for number in range(3)
    ]


def sent(before: list[dict[str, Any]], steps: list[prodex.RecipeStep]) -> list[dict[str, Any]]:
    """Return products as the service has them once a recipe was sent."""
    fix = prodex.apply_recipe(prodex.flatten(before), prodex.Recipe(steps))
    if fix.counts["needs confirmation"]:
        fix.confirm()
    if fix.answers.empty:
        return before
    changes = fix._known().changes
    written = {product: one.record for product, one in changes.writes.items()}
    after = [one | written.get(str(one["id"]), {}) for one in before]
    return [{name: value for name, value in one.items() if value is not None} for one in after]


def comparable(value: Any) -> Any:
    """Return a value without labels, and with lists in one order: texts that are added are the last."""
    if isinstance(value, dict):
        return {name: comparable(one) for name, one in sorted(value.items()) if name != "label"}
    if isinstance(value, list):
        return sorted(map(comparable, value), key=json.dumps)
    return value if isinstance(value, bool | str) else float(value)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_recipe_does_what_its_steps_do_one_by_one(seed: int) -> None:
    """What one write changes in the end is what several writes would have changed."""
    draw = Random(seed)
    for _ in range(8):
        before = records(draw)
        steps = [
            prodex.RecipeStep(
                draw.choice(OPERATIONS), draw.choice(ATTRIBUTES), draw.choice([None, None, "fr", "nl"])
            )
            for _ in range(draw.randrange(1, 6))
        ]
        after = before
        for one in steps:
            after = sent(after, [one])
        assert comparable(after) == comparable(sent(before, steps)), [one.words for one in steps]


def test_a_text_that_moves_to_another_language_of_its_attribute_leaves_its_place() -> None:
    """One write deletes it there and adds it here; the list of the attribute is one."""
    before = [product(0, namePublicLong=[text("fra-FR", "N")], synonyms=[text("nld-NL", "Rijst")])]
    (after,) = sent(before, [prodex.RecipeStep(do.MoveText(to_language="de-DE"), "synonyms", "nl")])
    assert [text("deu-DE", "Rijst")] == after["synonyms"]


@pytest.mark.slow
def test_the_counts_of_steps_are_those_of_their_rows() -> None:
    """Each figure of a step is the number of its rows in that state, and what is changed is sent."""
    draw = Random(7)
    for _ in range(25):
        steps = [
            prodex.RecipeStep(draw.choice(OPERATIONS), draw.choice(ATTRIBUTES), draw.choice([None, "fr"]))
            for _ in range(draw.randrange(1, 6))
        ]
        fix = prodex.apply_recipe(prodex.flatten(records(draw)), prodex.Recipe(steps))
        rows = fix.step_rows
        for step in fix.steps.to_dict("records"):
            states = rows[rows["step"] == step["step"]]["state"].value_counts()
            for name in ("changed", "already_so", "refused", "needs_confirmation", "conflict"):
                assert int(states.get(name, 0)) == step[name], [one.words for one in steps]
        assert bool(fix.counts["accepted"]) == bool(fix.steps["changed"].sum())
