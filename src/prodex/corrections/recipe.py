"""Recipes as values: which products are chosen, and what is done with them, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from prodex.arguments import described
from prodex.corrections.operations import OPERATIONS, Operation, parameters_of
from prodex.errors import InputError
from prodex.files.toml_writing import toml_lines, toml_value, write_toml
from prodex.locales import language_tag
from prodex.selection import Selection
from prodex.selection.plain import as_plain, selection_given

#: The newest format of a file that this version reads, and the one that it writes.
FORMAT: Final = 2

_NOTES: Final = """\
# A recipe of prodex: what is done with the values of many products.
#   prodex recipe {name} SNAPSHOT          shows what it would change; --send sends it
#   prodex.apply_recipe(catalog, "{name}")  does the same in Python
# Steps are done in their order, and each sees what the ones before it left. Remove, copy and reorder them at will.
# A step may have: language = "fr" (texts in every language without it), where = {{brand_code = "ACME"}}, and
# required = true (nothing is done if this step cannot be done).
# do = one of: {operations}
"""


@dataclass(frozen=True)
class RecipeStep:
    """One step of a recipe.

    Attributes
    ----------
    operation
        What is done: one of `prodex.operations`.
    attribute
        The wire path of the attribute that it is done with.
    language
        The language of the texts that are meant, as a code or a name; None for texts in every language.
    where
        Of which products; of all that are chosen by default.
    required
        Whether nothing of the recipe is done if this cannot be done.

    Examples
    --------
    >>> import prodex
    >>> prodex.RecipeStep(prodex.operations.TrimSpaces(), "namePublicLong", "French").words
    'namePublicLong in French: trim and collapse spaces'
    """

    operation: Operation
    attribute: str
    language: str | None = None
    where: Selection = field(default_factory=Selection)
    required: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", selection_given(self.where, "where"))
        if type(self.operation) not in OPERATIONS.values():
            raise InputError(
                f"The operation of a step is {described(self.operation)}. Give one of prodex.operations, such as "
                "prodex.operations.TrimSpaces()."
            )
        if not isinstance(self.attribute, str) or not self.attribute.strip():
            raise InputError(
                f"The attribute of a step is {described(self.attribute)}. Give a wire path, such as namePublicLong."
            )
        if self.language is not None:
            if not isinstance(self.language, str):
                raise InputError(
                    f"The language of a step is {described(self.language)}. Give a code or a name."
                )
            language_tag(self.language)  # raises where there is no such language, and names the nearest

    @property
    def words(self) -> str:
        """What it does, for people."""
        return f"{self.attribute}{f' in {self.language}' if self.language else ''}: {self.operation.words}"


@dataclass(frozen=True)
class Recipe:
    """What is done with many products, to be done again with others.

    Attributes
    ----------
    steps
        What is done, in order: each step sees what the ones before it left.
    title
        What it is for.
    chosen
        Which products of a catalogue: a `prodex.Selection`, or a mapping like the table of the file. Empty for all.
    by_hand
        In words, how products were chosen where that cannot be written: then it is done with all that it is given.

    Examples
    --------
    >>> import prodex
    >>> trim = prodex.RecipeStep(prodex.operations.TrimSpaces(), "namePublicLong")
    >>> recipe = prodex.Recipe([trim], title="Spaces", chosen=prodex.Selection.of(brand_code="ACME"))
    >>> path = recipe.save(getfixture("tmp_path") / "spaces.toml")
    >>> prodex.Recipe.read(path) == recipe
    True
    """

    steps: tuple[RecipeStep, ...]
    title: str = ""
    chosen: Selection = field(default_factory=Selection)
    by_hand: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.steps, list | tuple):
            raise InputError(
                f"steps of a recipe is {described(self.steps)}. Give a list of RecipeStep values."
            )
        object.__setattr__(self, "steps", tuple(self.steps))
        object.__setattr__(self, "chosen", selection_given(self.chosen, "chosen"))
        if wrong := [one for one in self.steps if not isinstance(one, RecipeStep)]:
            raise InputError(f"A recipe has {described(wrong[0])}. Give prodex.RecipeStep values.")

    def save(self, path: str | Path) -> Path:
        """Write the recipe to a file, with notes on how to edit it, and return the path.

        Raises
        ------
        InputError
            When a value of it cannot be written in TOML, or there is a file already that is no recipe.
        StorageError
            When the disk refuses.
        """
        return write_recipe(self, path)

    @staticmethod
    def read(path: str | Path) -> Recipe:
        """Read a recipe from its file.

        Parameters
        ----------
        path
            The file, as `Fix.recipe` or `Recipe.save` wrote it, edited or not.

        Raises
        ------
        InputError
            When it cannot be read; the message has every line that is wrong, with the nearest names.

        Examples
        --------
        >>> import prodex
        >>> path = getfixture("tmp_path") / "spaces.toml"
        >>> _ = path.write_text('[[steps]]\\ndo = "trim spaces"\\nattribute = "nameLegal"\\n')
        >>> prodex.Recipe.read(path).steps[0].words
        'nameLegal: trim and collapse spaces'
        """
        from prodex.corrections.recipe_files import read_recipe

        return read_recipe(path)


def write_recipe(recipe: Recipe, path: str | Path) -> Path:
    """Write a recipe to a file, and return its path.

    Raises
    ------
    InputError
        When a value of it cannot be written, or there is a file already that is no recipe.
    StorageError
        When the disk refuses.
    """
    notes = _NOTES.format(name=Path(path).name, operations=", ".join(OPERATIONS))
    return write_toml(path, f"{notes}\n{recipe_text(recipe)}", "recipe", "steps")


def recipe_text(recipe: Recipe) -> str:
    """Return a recipe as TOML.

    >>> from prodex.corrections.operations import TrimSpaces
    >>> print(recipe_text(Recipe([RecipeStep(TrimSpaces(), "nameLegal")], title="Spaces")))
    title = "Spaces"
    format = 2
    <BLANKLINE>
    [[steps]]
    do = "trim spaces"
    attribute = "nameLegal"
    <BLANKLINE>
    """
    return "\n".join(_lines(recipe)) + "\n"


def _lines(recipe: Recipe) -> Iterator[str]:
    yield f"title = {toml_value(recipe.title)}"
    yield f"format = {FORMAT}"
    if recipe.by_hand:
        yield "# How the products were chosen cannot be written: the steps are done with all that are given."
        yield f"by_hand = {toml_value(recipe.by_hand)}"
    if recipe.chosen:
        yield from ("", "# Only these products of the catalogue: those that meet each line.", "[chosen]")
        yield from toml_lines(as_plain(recipe.chosen))
    for step in recipe.steps:
        yield ""
        yield "[[steps]]"
        yield f"do = {toml_value(step.operation.do)}"
        yield f"attribute = {toml_value(step.attribute)}"
        if step.language is not None:
            yield f"language = {toml_value(step.language)}"
        yield from toml_lines(parameters_of(step.operation))
        if step.where:
            yield f"where = {toml_value(as_plain(step.where))}"
        if step.required:
            yield "required = true"
