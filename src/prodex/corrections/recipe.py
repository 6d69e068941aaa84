"""Recipes as values: which products are chosen, and what is done with them, in order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Final

from prodex.arguments import described
from prodex.corrections.operations import OPERATIONS, Operation, parameters_of
from prodex.errors import InputError, StorageError
from prodex.files.atomic import make_folder, storage, writing
from prodex.files.toml_text import TomlFile
from prodex.locales import language_tag

#: The newest format of a file that this version reads, and the one that it writes.
FORMAT: Final = 1
#: In place of a value: that there is none. TOML has no word for it.
NO_VALUE: Final = "no_value"
#: The key of what an explorer showed, among keywords of `where`.
EXPLORER: Final = "explorer"

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
        for name, kind in (("steps", "RecipeStep values"), ("chosen", "mappings of keywords of where()")):
            given = getattr(self, name)
            if not isinstance(given, list | tuple):
                raise InputError(f"{name} of a recipe is {described(given)}. Give a list of {kind}.")
            object.__setattr__(self, name, tuple(given))
        if wrong := [one for one in self.steps if not isinstance(one, RecipeStep)]:
            raise InputError(f"A recipe has {described(wrong[0])}. Give prodex.RecipeStep values.")
        if unknown := [one for one in self.chosen if not isinstance(one, Mapping)]:
            raise InputError(
                f"chosen has {described(unknown[0])}. Give mappings of keywords of where(): {{'brand_code': 'ACME'}}."
            )

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


def write_recipe(recipe: Recipe, path: str | Path) -> Path:
    """Write a recipe to a file, and return its path.

    Raises
    ------
    InputError
        When a value of it cannot be written, or there is a file already that is no recipe.
    StorageError
        When the disk refuses.
    """
    file = Path(path)
    with storage(file):
        is_there_already = file.exists()
    if is_there_already and not _is_recipe(file):
        raise InputError(
            f"{file} is there already and is no recipe, so that it is not replaced. Give another name."
        )
    text = _NOTES.format(name=file.name, operations=", ".join(OPERATIONS)) + "\n" + recipe_text(recipe)
    with storage(file):
        make_folder(file.absolute().parent)
        with writing(file) as beside:
            beside.write_text(text, "utf-8", newline="\n")
    return file


def recipe_text(recipe: Recipe) -> str:
    """Return a recipe as TOML.

    >>> from prodex.corrections.operations import TrimSpaces
    >>> print(recipe_text(Recipe([RecipeStep(TrimSpaces(), "nameLegal")], title="Spaces")))
    title = "Spaces"
    format = 1
    <BLANKLINE>
    [[steps]]
    do = "trim spaces"
    attribute = "nameLegal"
    <BLANKLINE>
    """
    return "\n".join(_lines(recipe)) + "\n"


def _is_recipe(file: Path) -> bool:
    try:
        return "steps" in TomlFile.read(file, "").values
    except (InputError, StorageError):
        return False


def _lines(recipe: Recipe) -> Iterator[str]:
    yield f"title = {_toml(recipe.title)}"
    yield f"format = {FORMAT}"
    if recipe.by_hand:
        yield "# How the products were chosen cannot be written: the steps are done with all that are given."
        yield f"by_hand = {_toml(recipe.by_hand)}"
    for number, chosen in enumerate(recipe.chosen):
        yield ""
        if number == 0:
            yield "# Only these products of the catalogue; each table narrows them further."
        yield "[[chosen]]"
        yield from (f"{_key(name)} = {_toml(value)}" for name, value in chosen.items() if name != EXPLORER)
        if EXPLORER in chosen:
            yield "[chosen.explorer]"
            yield from (f"{_key(name)} = {_toml(value)}" for name, value in chosen[EXPLORER].items() if value)
    for step in recipe.steps:
        yield ""
        yield "[[steps]]"
        yield f"do = {_toml(step.operation.do)}"
        yield f"attribute = {_toml(step.attribute)}"
        if step.language is not None:
            yield f"language = {_toml(step.language)}"
        yield from (f"{name} = {_toml(value)}" for name, value in parameters_of(step.operation).items())
        if step.where:
            yield f"where = {_toml(step.where)}"
        if step.required:
            yield "required = true"


_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _toml(value: Any) -> str:
    """Return a value as TOML has it."""
    match value:
        case None:
            return f"{{{NO_VALUE} = true}}"
        case bool():
            return str(value).lower()
        case str():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise InputError(
                    f"{value!r:.60} has half of a character, which a file cannot hold."
                ) from None
            return f'"{"".join(map(_escaped, value))}"'
        case int():
            return str(int(value))
        case float():
            return repr(value) if math.isfinite(value) else str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case Mapping():
            if not value:
                return "{}"
            kept = (f"{_key(name)} = {_toml(one)}" for name, one in value.items())
            return f"{{{', '.join(kept)}}}"
        case list() | tuple():
            return f"[{', '.join(map(_toml, value))}]"
    raise InputError(
        f"{described(value)} cannot be kept in a recipe. Give texts, numbers, dates, True or False."
    )


def _escaped(one: str) -> str:
    """Return a character as the text of TOML has it."""
    if one in _ESCAPES:
        return _ESCAPES[one]
    return one if one >= " " and one != "\x7f" else f"\\u{ord(one):04X}"


def _key(name: object) -> str:
    text = str(name)
    return (
        text
        if text and all(one.isascii() and (one.isalnum() or one in "_-") for one in text)
        else _toml(text)
    )
