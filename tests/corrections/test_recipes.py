"""Recipes: steps in order, what each did and could not do, their files, and files that are hostile."""

from __future__ import annotations

import json
import string
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex import operations as do
from prodex.corrections.recipe import recipe_text
from prodex.errors import ChangesRefused, InputError
from prodex.exploration.filtering import ProductFilter
from prodex.selection import Range, Selection
from tests.corrections.test_bulk import after, catalog, counts


def step(
    operation: Any, attribute: str = "namePublicLong", language: str | None = None, **more: Any
) -> prodex.RecipeStep:
    """Return a step."""
    return prodex.RecipeStep(operation, attribute, language, **more)


def read(tmp_path: Path, content: str | bytes) -> prodex.Recipe:
    """Read a recipe from what its file has."""
    path = tmp_path / "recipe.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return prodex.Recipe.read(path)


def test_each_step_sees_what_the_ones_before_it_left() -> None:
    """Trimmed, the prefix goes; in the other order it is the same place all the same, and one change is sent."""
    steps = [
        step(do.TrimSpaces()),
        step(do.RemovePrefix("ACME Riz"), language="fr"),
        step(do.ReplaceText("ACME", "A")),
    ]
    one = catalog().where(product_id="0")
    refused = prodex.apply_recipe(one, prodex.Recipe(steps))
    assert [1, 0, 2] == refused.steps["changed"].tolist()
    assert "nothing would be left" in refused.steps["reason"][1]
    assert [("ACME  Riz", "A Riz"), ("ACME Rijst", "A Rijst")] == [row[1:] for row in after(refused)]
    other_order = prodex.apply_recipe(one, prodex.Recipe([steps[1], steps[0]]))
    assert [0, 1] == other_order.steps["changed"].tolist()


def test_what_a_later_step_changes_back_is_not_changed() -> None:
    """The counts are those of what is sent."""
    steps = [step(do.ReplaceText("Thé", "Tee")), step(do.ReplaceText("Tee", "Thé"))]
    fix = prodex.apply_recipe(catalog(), prodex.Recipe(steps))
    assert [] == after(fix)
    assert [0, 0] == fix.steps["changed"].tolist()
    assert "a later step changes it back" in fix.steps["reason"][0]


def test_products_are_chosen_once_and_a_step_may_have_fewer() -> None:
    """A step that changes the brand does not change which products the next one is about."""
    recipe = prodex.Recipe(
        [
            step(do.SetCode("ZEST"), "brand", where={"brand_code": "ACME"}),
            step(do.SetValue("neu"), "description", "fr", where={"brand_code": "ACME"}),
        ],
        chosen=[{"is_consumer_unit": True}],
    )
    assert [("brand", "ACME", "ZEST"), ("description", None, "neu")] == after(
        prodex.apply_recipe(catalog(), recipe)
    )


def test_a_step_that_cannot_be_done_stops_nobody_unless_it_is_required() -> None:
    """It says why; with required, nothing of the recipe is done."""
    steps = [
        step(do.TrimSpaces(), "nameLogn"),
        step(do.TrimSpaces()),
        step(do.ConvertUnit("ml"), "netContent"),
    ]
    fix = prodex.apply_recipe(catalog(), prodex.Recipe(steps))
    assert [0, 1, 0] == fix.steps["changed"].tolist()
    assert "no product here has an attribute 'nameLogn'" in fix.steps["reason"][0]
    assert 3 == fix.steps["refused"][2]
    for wrong in (steps[0], steps[2]):
        required = prodex.RecipeStep(wrong.operation, wrong.attribute, required=True)
        with pytest.raises(ChangesRefused, match=r"Nothing of the recipe was done: step 2 .* is required"):
            prodex.apply_recipe(catalog(), prodex.Recipe([steps[1], required]))


def test_columns_that_there_are_not_are_named_by_their_step() -> None:
    """A wrong keyword of where is that of its step; of what is chosen it is an error."""
    with pytest.raises(ValueError, match=r"where: .*brand_code"):
        step(do.TrimSpaces(), where={"brand_cod": "ACME"})
    wrong = prodex.Recipe([step(do.TrimSpaces(), where={"packaging_code": "PALET"})])
    assert "PALLET" in prodex.apply_recipe(catalog(), wrong).steps["reason"][0]
    with pytest.raises(ValueError, match="brand_code"):
        prodex.apply_recipe(catalog(), prodex.Recipe([step(do.TrimSpaces())], chosen=[{"brand_cod": "ACME"}]))


def test_a_chain_of_moves_is_sent_as_a_whole_or_not_at_all() -> None:
    """A text that moves on takes the place of none, and where its last place refuses it, it stays in its first."""
    one = prodex.flatten([json.loads(catalog().where(product_id="1").raw["json"].iloc[0])])
    steps = [
        step(do.MoveText(to_language="nl"), language="fr"),
        step(do.MoveText("productionVariantName"), language="nl"),
    ]
    fix = prodex.apply_recipe(one, prodex.Recipe(steps))
    assert [] == after(fix)  # the country of Dutch is not known from this product alone
    whole = prodex.apply_recipe(catalog(), prodex.Recipe(steps, chosen=[{"product_id": "1"}]))
    assert [("namePublicLong", "Thé"), ("productionVariantName", None)] == [row[:2] for row in after(whole)]


def test_what_was_done_is_kept_and_done_again(tmp_path: Path) -> None:
    """The file has what was chosen and what was done, and gives the same fix."""
    first = prodex.correct(
        catalog().where(brand_code=("ACME", "ZEST")).where(is_consumer_unit=True),
        "namePublicLong",
        do.ReplaceText("ACME", "Acme"),
        language="French",
    )
    path = first.recipe(tmp_path / "brand-spelling.toml")
    text = path.read_text("utf-8")
    assert 'title = "brand spelling"' in text
    assert 'brand_code = ["ACME", "ZEST"]' in text
    again = prodex.apply_recipe(catalog(), path)
    assert first.preview().equals(again.preview())
    assert counts(first) == counts(again)
    assert "recipe brand spelling" == again.why
    assert path == again.recipe(path)
    assert prodex.Recipe.read(path).chosen == Selection.of(brand_code=["ACME", "ZEST"], is_consumer_unit=True)


@pytest.mark.parametrize(
    "choose",
    [
        lambda whole: whole.where(pc.field("texts_count") > 2),
        lambda whole: whole.where([True, False, False, False]),
        lambda whole: whole.where(lambda products: products["gtin"].str.startswith("030")),
        lambda whole: whole.head(1),
    ],
)
def test_what_cannot_be_written_is_said_in_words(tmp_path: Path, choose: Any) -> None:
    """The recipe then works on all that it is given, and says that."""
    chosen = choose(catalog()).where(brand_code="ACME")
    path = prodex.correct(chosen, "namePublicLong", do.TrimSpaces()).recipe(tmp_path / "trim.toml")
    recipe = prodex.Recipe.read(path)
    assert recipe.by_hand
    assert "cannot be written" in path.read_text("utf-8")
    assert Selection.of(brand_code="ACME") == recipe.chosen
    assert "done with all 4 products that were given" in prodex.apply_recipe(catalog(), recipe).why


def test_what_an_explorer_shows_is_chosen_again(tmp_path: Path) -> None:
    """Facets, ranges and words are kept as they are saved in views."""
    conditions = Selection().toggled("brand", "ACME").toggled("brand", None).searching("riz")
    conditions = conditions.within("texts_count", Range(least=2.0))
    chosen = ProductFilter(catalog()).catalog(conditions)
    path = prodex.correct(chosen, "namePublicLong", do.TrimSpaces()).recipe(tmp_path / "trim.toml")
    assert 'brand = ["ACME", {no_value = true}]' in path.read_text("utf-8")
    assert ["0"] == prodex.apply_recipe(catalog(), path).answers["product_id"].tolist()
    failing = Selection().failing_any("x", ("names_not_in_capitals",))
    recipe = prodex.Recipe([step(do.TrimSpaces())], chosen=failing)
    with pytest.raises(InputError, match="Give the profile"):
        prodex.apply_recipe(catalog(), recipe)
    assert 0 == len(prodex.apply_recipe(catalog(), recipe, profile="core").answers)


def test_functions_and_other_files_are_no_recipes(tmp_path: Path) -> None:
    """A function is not kept, and a file that is no recipe is not replaced."""
    with pytest.raises(InputError, match="A function or a Series cannot be kept"):
        prodex.correct(catalog(), "namePublicLong", str.upper).recipe(tmp_path / "no.toml")
    other = tmp_path / "other.toml"
    other.write_text("name = 'shop'\n", "utf-8")
    with pytest.raises(InputError, match="is no recipe"):
        prodex.correct(catalog(), "namePublicLong", do.TrimSpaces()).recipe(other)
    assert "name = 'shop'\n" == other.read_text("utf-8")


GOOD = '[[steps]]\ndo = "trim spaces"\nattribute = "nameLegal"\n'


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("trim spaces", "Trim_Spaces"),
        "steps = [{do = 'trim spaces', attribute = 'nameLegal'}]",
    ],
)
def test_files_of_any_editor_are_read(tmp_path: Path, content: str | bytes) -> None:
    """Line ends of Windows, byte order marks and spellings of an operation say the same."""
    assert (step(do.TrimSpaces(), "nameLegal"),) == read(tmp_path, content).steps


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (GOOD.encode("utf-16"), "is UTF-16 text. Save it as UTF-8"),
        ("x = [" * 9_000, "nested too deep|is not TOML"),
        ("title = ", "is not TOML"),
        (GOOD + "do = 'x'\n", "is not TOML: Cannot overwrite"),
        ("", "there are no steps"),
        ("steps = 3", r"write \[\[steps\]\]"),
        ("title = 3\n" + GOOD, "line 1, title: title is"),
        ("titel = 'x'\n" + GOOD, "line 1, titel: there is no key 'titel'; did you mean 'title'"),
        (GOOD.replace("trim", "trimm"), "did you mean 'trim spaces'"),
        (GOOD.replace("trim spaces", "__import__"), "there is no operation '__import__'"),
        (GOOD.replace('"trim spaces"', "['eval']"), "there is no operation"),
        ("[[steps]]\nattribute = 'x'", "there is no do. Write one of: set value"),
        ("[[steps]]\ndo = 'trim spaces'", "there is no attribute"),
        ("[[steps]]\ndo = 'replace text'\nattribute = 'x'", "there is no find(.|\n)*there is no by"),
        (GOOD + "languag = 'fr'", "line 4, steps.languag: .*did you mean 'language'"),
        (GOOD + "language = 'Frensh'", "line 4, steps.language: .*French"),
        (GOOD + "language = 4", "steps.language"),
        (GOOD + "required = 'yes'", "give true or false"),
        (GOOD + "where = 'brand'", "give a table"),
        (GOOD + "where = {brand_cod = 'A'}", "did you mean 'brand_code'"),
        (GOOD + "where = {brand_code = {x = 1}}", "give a value, or a list of values"),
        (GOOD + "line_breaks = 1979-05-27", "give a text, a number"),
        (GOOD + "line_breaks = 'maybe'", "line 4, steps.line_breaks: .*'keep' or 'space'"),
        ("[[chosen]]\nbrand_cod = 'A'\n" + GOOD, "line 2, chosen.brand_cod: .*did you mean 'brand_code'"),
        ("[chosen.explorer]\nfacets = 3\n" + GOOD, "line 1, chosen.explorer: there is no key"),
        ("[chosen]\ngroups = 3\n" + GOOD, "line 2, chosen.groups: it is the number 3; give a table"),
        ("[[steps]]\ndo = 'set value'\nattribute = 'x'\nvalue = [1]", "Give a text"),
        (
            "[[steps]]\ndo = 'change case'\nattribute = 'x'\nto = 'upper'\nkeep = [{a = 1}]",
            "Give a list of words",
        ),
        (
            "[[steps]]\ndo = 'replace text'\nattribute = 'x'\nfind = '('\nby = ''\npattern = true",
            "cannot be read",
        ),
    ],
)
def test_a_hostile_file_is_one_error_with_its_lines(tmp_path: Path, content: str | bytes, words: str) -> None:
    """What cannot be read is named with file, line and the nearest name; nothing in it is executed."""
    with pytest.raises(InputError, match=words):
        read(tmp_path, content)


def test_one_error_has_every_line_that_is_wrong(tmp_path: Path) -> None:
    """Whoever edits a file sees all that is wrong at once."""
    content = (
        GOOD
        + "languag = 'fr'\n"
        + GOOD.replace("trim", "trimm")
        + "titel = 1\n"
        + GOOD
        + "language = 'Frensh'\n"
    )
    with pytest.raises(InputError) as error:
        read(tmp_path, content)
    lines = str(error.value).splitlines()
    assert 3 == len(lines)
    assert ["line 4", "line 6", "line 12"] == [line.split(", ")[1] for line in lines]


def test_files_that_are_none_and_are_too_large(tmp_path: Path) -> None:
    """A folder, a missing file and a file of megabytes are errors of ours."""
    with pytest.raises(InputError, match="cannot be read"):
        prodex.Recipe.read(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        prodex.Recipe.read(tmp_path / "none.toml")
    with pytest.raises(InputError):
        read(tmp_path, b"#" * (2**20 + 1))
    with pytest.raises(InputError, match="path is"):
        prodex.apply_recipe(catalog(), 3)  # type: ignore[arg-type]


_TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(lambda one: bool(one.strip()))
_WORD = st.text(string.ascii_letters, min_size=1, max_size=6)
_LANGUAGES = st.sampled_from(["fr", "French", "nld-NL", "pt-BR"])
_OPERATIONS = st.one_of(
    st.builds(
        do.SetValue,
        _TEXT | st.booleans() | st.integers(-(2**53), 2**53) | st.sampled_from([0.5, -3.25, 1e-7, 1e300]),
    ),
    st.builds(do.SetCode, _TEXT),
    st.builds(
        do.ReplaceText, _TEXT, st.text(st.characters(codec="utf-8"), max_size=5), ignore_case=st.booleans()
    ),
    st.builds(
        do.ChangeCase, st.sampled_from(["upper", "lower", "title"]), st.lists(_TEXT, max_size=2).map(tuple)
    ),
    st.builds(do.TrimSpaces, st.sampled_from(["keep", "space"]), st.sampled_from(["keep", "space"])),
    st.builds(do.RemovePrefix, _TEXT, st.booleans()),
    st.builds(do.MoveText, _WORD, st.none() | _LANGUAGES),
    st.builds(do.CopyFrom, _WORD, st.none() | _LANGUAGES, st.booleans()),
    st.builds(do.ConvertUnit, st.sampled_from(["kg", "GRM"]), st.none() | st.just("oz")),
    st.just(do.RemoveValue()),
)
_VALUES = (
    st.none()
    | _TEXT
    | st.booleans()
    | st.integers(-5, 10**12)
    | st.just(datetime(2026, 11, 26, 8, tzinfo=UTC))
)
_GIVEN = _VALUES | st.lists(_VALUES, min_size=1, max_size=3)
_WHERE = st.fixed_dictionaries({}, optional=dict.fromkeys(["brand_code", "gtin", "texts_count"], _GIVEN))
_STEPS = st.builds(prodex.RecipeStep, _OPERATIONS, _WORD, st.none() | _LANGUAGES, _WHERE, st.booleans())
_RECIPES = st.builds(
    prodex.Recipe,
    st.lists(_STEPS, min_size=1, max_size=3),
    st.text(st.characters(codec="utf-8"), max_size=9),
    st.lists(_WHERE.filter(bool), max_size=2),
    st.sampled_from(["", "a mask"]),
)


@given(_RECIPES)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, recipe: prodex.Recipe
) -> None:
    """A recipe and its file say the same, whatever characters are in it."""
    path = tmp_path_factory.mktemp("recipes") / "recipe.toml"
    assert recipe == prodex.Recipe.read(recipe.save(path))
    assert recipe_text(recipe) in path.read_text("utf-8")


def test_steps_and_recipes_are_checked_when_they_are_made() -> None:
    """What is no operation, attribute or language is refused with what to give."""
    with pytest.raises(InputError, match=r"Give one of prodex\.operations"):
        step("trim")
    with pytest.raises(InputError, match="wire path"):
        step(do.TrimSpaces(), " ")
    with pytest.raises(InputError, match="RecipeStep values"):
        prodex.Recipe([do.TrimSpaces()])  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"Give a prodex\.Selection"):
        prodex.Recipe([step(do.TrimSpaces())], chosen=["brand"])  # type: ignore[list-item]


@pytest.mark.parametrize("given", [np.float64(0.5), np.int64(3), np.bool_(True)])
def test_a_value_of_a_frame_is_kept_as_a_plain_one(tmp_path: Path, given: Any) -> None:
    """What pandas returns for a cell or a sum is set, and the file of the recipe can be read."""
    recipe = prodex.Recipe([step(do.SetValue(given))])
    kept = read(tmp_path, recipe_text(recipe)).steps[0].operation
    assert do.SetValue(given.item()) == kept
    assert f"{given.item()!r}" == repr(getattr(kept, "value", None))
