"""Recipes that grow: what the same steps would change again needs confirmation, so that no night sends it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex import operations as do
from tests.corrections.test_bulk import after, amount, product, text

NAME, LEGAL, LONG = "namePublicShort", "nameLegal", "description"


def step(
    operation: Any, attribute: str = NAME, language: str | None = "fr", **more: Any
) -> prodex.RecipeStep:
    """Return a step with texts in French."""
    return prodex.RecipeStep(operation, attribute, language, **more)


def named(name: str, **more: Any) -> prodex.Catalog:
    """Return a catalogue of one product with a name."""
    return prodex.flatten([product(0, **{NAME: [text("fra-FR", name)]} | more)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "name", "then"),
    [
        (do.ReplaceText("Acme", "Acme Inc"), "Acme Riz", "'Acme Inc Inc Riz'"),
        (do.ReplaceText(r"^(?=\w)", "- ", pattern=True), "Riz", None),
        (do.ReplaceText(r"\b(?=r)", "- ", pattern=True, ignore_case=True), "riz", "'- - riz'"),
        (do.ReplaceText("  ", " "), "Riz    long", "'Riz long'"),
        (do.RemovePrefix("Acme"), "Acme Acme Riz", "'Riz'"),
        (do.ReplaceText("Acme Inc", "Acme"), "Acme Inc Riz", None),
        (do.ChangeCase("title"), "riz long d'inde", None),
        (do.TrimSpaces(), " Riz \u00a0 long ", None),
    ],
)
def test_what_a_step_would_change_again_needs_confirmation(
    operation: Any, name: str, then: str | None
) -> None:
    """The question says what would become of it; confirmed, it is sent once, as it was previewed."""
    for fix in (
        prodex.correct(named(name), NAME, operation),
        prodex.apply_recipe(named(name), prodex.Recipe([step(operation)])),
    ):
        if then is None:
            assert (1, 0) == (fix.counts["accepted"], fix.counts["needs confirmation"])
            continue
        assert (0, 1) == (fix.counts["accepted"], fix.counts["needs confirmation"])
        assert [1] == fix.steps["needs_confirmation"].tolist()
        assert f"would become {then}" in fix.steps["reason"][0]
        assert 1 == len(after(fix.confirm()))


def _copied(attribute: str, other: str) -> prodex.RecipeStep:
    return step(do.CopyFrom(from_attribute=other, replace=True), attribute)


@pytest.mark.parametrize(
    ("steps", "record", "asked"),
    [
        # Each night one step further: C, A, B.
        ([step(do.ReplaceText("A", "B")), step(do.ReplaceText("C", "A"))], {NAME: "C"}, 1),
        ([step(do.ReplaceText("C", "A")), step(do.ReplaceText("A", "B"))], {NAME: "C"}, 0),
        # What one step adds, another one takes away: together they come to an end.
        (
            [step(do.ReplaceText("Acme", "Acme Inc")), step(do.ReplaceText("Inc Inc", "Inc"))],
            {NAME: "Acme"},
            0,
        ),
        # Three places in a circle.
        (
            [_copied(NAME, LEGAL), _copied(LEGAL, LONG), _copied(LONG, NAME)],
            {NAME: "1", LEGAL: "2", LONG: "3"},
            3,
        ),
        ([_copied(NAME, LEGAL), _copied(LEGAL, LONG)], {NAME: "1", LEGAL: "2", LONG: "3"}, 1),
    ],
)
def test_steps_that_change_what_the_others_made_need_confirmation(
    steps: list[prodex.RecipeStep], record: dict[str, str], asked: int
) -> None:
    """The recipe as a whole is done again, and not each of its steps by itself."""
    attributes = {name: [text("fra-FR", value)] for name, value in record.items()}
    fix = prodex.apply_recipe(prodex.flatten([product(0, **attributes)]), prodex.Recipe(steps))
    assert asked == fix.counts["needs confirmation"]


@pytest.mark.slow
def test_products_are_chosen_as_they_would_be_then() -> None:
    """Brands that change to and fro need confirmation; one that is chosen by what it was is not, and is done once."""
    brand = {"code": "ACME"}
    to_zest = step(do.SetCode("ZEST"), "brand", None, where={"brand_code": "ACME"})
    to_acme = step(do.SetCode("ACME"), "brand", None, where={"brand_code": "ZEST"})
    brands = prodex.flatten([product(0, brand=brand), product(1, brand={"code": "ZEST"})])
    assert {"needs confirmation": 2} == prodex.apply_recipe(brands, prodex.Recipe([to_zest, to_acme])).counts
    assert 0 == prodex.apply_recipe(brands, prodex.Recipe([to_zest])).counts["needs confirmation"]
    # That nothing has the old brand in the end is no warning.
    renamed = step(do.SetCode("ACME2"), "brand", None, where={"brand_code": "ACME"})
    acme = prodex.flatten([product(0, brand=brand)])
    assert {"needs confirmation": 1} == prodex.apply_recipe(acme, prodex.Recipe([renamed])).counts

    grows = step(do.ReplaceText("Riz", "Riz Riz"))
    once = step(do.ReplaceText("Riz", "Riz Riz"), where={"brand_code": "ACME"})
    rice = product(0, brand=brand, **{NAME: [text("fra-FR", "Riz")]})
    catalog = prodex.flatten([rice, product(1, brand={"code": "ZEST"})])
    for steps, asked in (([grows, to_zest], 1), ([once, to_zest], 0), ([once], 1)):
        assert asked == prodex.apply_recipe(catalog, prodex.Recipe(steps)).counts["needs confirmation"], steps
    chosen = prodex.Recipe([grows, to_zest], chosen=[{"brand_code": "ACME"}])
    assert 0 == prodex.apply_recipe(catalog, chosen).counts["needs confirmation"]


def test_other_values_than_texts_come_to_an_end() -> None:
    """Codes and quantities that are what the step makes of them do not need confirmation."""
    catalog = prodex.flatten([product(0, netContent=[amount(0.5, "KGM")], brand={"code": "A"})])
    for attribute, operation in (("netContent", do.ConvertUnit("g")), ("netContent", do.RemoveValue())):
        assert 1 == prodex.correct(catalog, attribute, operation).counts["accepted"]


_LETTERS = st.text("ab ", min_size=1, max_size=3)
_TEXTS = st.text("aAb \u00a0", min_size=1, max_size=5).filter(str.strip)
_STEPS = st.one_of(
    st.builds(do.ReplaceText, _LETTERS, _LETTERS, ignore_case=st.booleans()),
    st.builds(do.RemovePrefix, _LETTERS.filter(str.strip)),
    st.sampled_from([do.TrimSpaces(), do.ChangeCase("upper"), do.ChangeCase("lower")]),
    st.builds(do.CopyFrom, st.sampled_from([NAME, LEGAL]), replace=st.booleans()),
    st.builds(do.MoveText, st.sampled_from([NAME, LEGAL])),
)


@pytest.mark.slow
@given(st.lists(st.tuples(_STEPS, st.sampled_from([NAME, LEGAL])), min_size=1, max_size=3), _TEXTS, _TEXTS)
def test_what_is_accepted_stays_as_it_is_when_the_recipe_is_done_again(
    steps: list[tuple[Any, str]], name: str, legal: str
) -> None:
    """The law of a recipe: the values that it would send without a question are the same on the next night."""
    recipe = prodex.Recipe([step(operation, attribute) for operation, attribute in steps])
    record = product(0, **{NAME: [text("fra-FR", name)], LEGAL: [text("fra-FR", legal)]})
    fix = prodex.apply_recipe(prodex.flatten([record]), recipe)
    if fix.counts["accepted"] == 0 or fix.counts["needs confirmation"]:
        return
    sent = {row[0]: row[2] for row in after(fix)}
    made = record | {key: [text("fra-FR", value)] if value else [] for key, value in sent.items()}
    again = prodex.apply_recipe(prodex.flatten([made]), recipe)
    assert not sent.keys() & {row[0] for row in after(again)}
