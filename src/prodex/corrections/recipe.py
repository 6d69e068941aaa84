"""Recipes as values: which products are chosen, and what is done with them, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from prodex.arguments import described
from prodex.corrections.operations import OPERATIONS, Operation
from prodex.errors import InputError
from prodex.locales import language_tag


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
        Of which products, as keywords of `Catalog.where`; of all that are chosen by default.
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
    where: Mapping[str, Any] = field(default_factory=dict)
    required: bool = False

    def __post_init__(self) -> None:
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
        Which products of a catalogue, by keywords of `Catalog.where` or by the conditions of an explorer (under
        "explorer"); products have to meet each of several. Empty for all.
    by_hand
        In words, how products were chosen where that cannot be written: then it is done with all that it is given.

    Examples
    --------
    >>> import prodex
    >>> trim = prodex.RecipeStep(prodex.operations.TrimSpaces(), "namePublicLong")
    >>> recipe = prodex.Recipe([trim], title="Spaces", chosen=[{"brand_code": "ACME"}])
    >>> path = recipe.save(getfixture("tmp_path") / "spaces.toml")
    >>> prodex.read_recipe(path) == recipe
    True
    """

    steps: tuple[RecipeStep, ...]
    title: str = ""
    chosen: tuple[Mapping[str, Any], ...] = ()
    by_hand: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        object.__setattr__(self, "chosen", tuple(self.chosen))
        if wrong := [one for one in self.steps if not isinstance(one, RecipeStep)]:
            raise InputError(f"A recipe has {described(wrong[0])}. Give prodex.RecipeStep values.")
        if unknown := [one for one in self.chosen if not isinstance(one, Mapping)]:
            raise InputError(
                f"chosen has {described(unknown[0])}. Give mappings of keywords of where(): {{'brand_code': 'ACME'}}."
            )

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a recipe from its file; see `prodex.read_recipe`."""
        from prodex.corrections.recipe_files import read_recipe

        return read_recipe(path)  # type: ignore[return-value]

    def save(self, path: str | Path) -> Path:
        """Write the recipe to a file, with notes on how to edit it, and return the path.

        Raises
        ------
        InputError
            When a value of it cannot be written in TOML, or there is a file already that is no recipe.
        StorageError
            When the disk refuses.
        """
        from prodex.corrections.recipe_files import write_recipe

        return write_recipe(self, path)
