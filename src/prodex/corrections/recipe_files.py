"""The file of a recipe: TOML, short, to be read and edited by people, with notes that say how.

::

    title = "Brand spelling"

    [chosen]
    brand_code = "ACME"

    [[steps]]
    do = "replace text"
    attribute = "namePublicLong"
    language = "fr"
    find = "Acme Inc"
    by = "Acme"

It names operations and holds no code. What cannot be read is named in one error, line by line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Final

from prodex.arguments import described
from prodex.corrections.operations import OPERATIONS, Operation
from prodex.corrections.recipe import FORMAT, Recipe, RecipeStep
from prodex.errors import InputError
from prodex.files.layouts import require_layout
from prodex.files.toml_text import Keys, TomlFile, TomlText
from prodex.phrases import hint
from prodex.selection import Selection
from prodex.selection.plain import read_plain

#: Steps of a recipe: a longer one was made by a program, and takes long.
_MOST_STEPS: Final = 1_000
_KEYS: Final = ("title", "format", "chosen", "by_hand", "steps")
_OF_STEP: Final = ("do", "attribute", "language", "where", "required")


def read_recipe(path: str | Path) -> Recipe:
    """Read a recipe from its file; see `Recipe.read`."""
    if not isinstance(path, str | Path):
        raise InputError(
            f"path is {described(path)}. Give the path of a recipe: prodex.Recipe.read('spelling.toml')."
        )
    file = Path(path)
    read = TomlFile.read(file, f"The recipe {file}")
    return _RecipeReader(read.text).recipe(read.values)


class _RecipeReader:
    """Reads the values of one file, and collects what is wrong with them."""

    def __init__(self, place: TomlText) -> None:
        self._place = place
        self._problems: list[str] = []

    def recipe(self, values: Mapping[str, Any]) -> Recipe:
        self._known(values, _KEYS, ())
        form = values.get("format", FORMAT)
        if not isinstance(form, int) or isinstance(form, bool) or form < 1:
            self._add(("format",), f"format is {described(form)}; leave it out.")
        else:
            require_layout(self._place.shown, form, FORMAT)
        title = self._text(values, "title")
        by_hand = self._text(values, "by_hand")
        chosen = self._selection(values.get("chosen", {}), ("chosen",))
        given = self._tables(values, "steps", "do = 'trim spaces'")
        if len(given) > _MOST_STEPS:
            raise InputError(f"{self._place.shown} has {len(given):,} steps, and may have {_MOST_STEPS:,}.")
        steps = [self._step(one, ("steps", number)) for number, one in enumerate(given)]
        if not given:
            self._problems.append(
                f"{self._place.shown}: there are no steps. Write [[steps]], and below it do and attribute."
            )
        if self._problems:
            raise InputError("\n".join(dict.fromkeys(self._problems)))
        return Recipe(tuple(one for one in steps if one is not None), title, chosen, by_hand)

    def _step(self, table: Mapping[str, Any], here: Keys) -> RecipeStep | None:
        before = len(self._problems)
        kind = self._operation(table, here)
        attribute = table.get("attribute")
        if "attribute" not in table:
            self._add(
                here, "there is no attribute. Write the wire path, such as attribute = 'namePublicLong'"
            )
        elif not isinstance(attribute, str) or not attribute.strip():
            self._add((*here, "attribute"), f"attribute is {described(attribute)}; give a text.")
        where = self._selection(table.get("where", {}), (*here, "where"))
        required = table.get("required", False)
        if not isinstance(required, bool):
            self._add((*here, "required"), f"required is {described(required)}; give true or false.")
        operation = None if kind is None else self._made(kind, table, here)
        if operation is None or len(self._problems) > before:
            return None
        try:
            return RecipeStep(operation, str(attribute), table.get("language"), where, required)
        except InputError as error:
            self._add((*here, "language"), str(error))
        except ValueError as error:  # of a language that there is not
            self._add((*here, "language"), str(error))
        return None

    def _operation(self, table: Mapping[str, Any], here: Keys) -> type[Operation] | None:
        if "do" not in table:
            self._add(here, f"there is no do. Write one of: {', '.join(OPERATIONS)}.")
            return None
        given = table["do"]
        name = (
            " ".join(given.replace("_", " ").replace("-", " ").lower().split())
            if isinstance(given, str)
            else ""
        )
        if name not in OPERATIONS:
            near = hint(name, OPERATIONS, f"Write one of: {', '.join(OPERATIONS)}.")
            self._add((*here, "do"), f"there is no operation {given!r:.60}{near}")
            return None
        return OPERATIONS[name]

    def _made(self, kind: type[Operation], table: Mapping[str, Any], here: Keys) -> Operation | None:
        own = {one.name: one for one in fields(kind)}
        self._known(table, (*_OF_STEP, *own), here, f" of {kind.do!r}")
        for name, one in own.items():
            if one.default is MISSING and name not in table:
                self._add(here, f"there is no {name}, which {kind.do!r} needs.")
        given = {name: table[name] for name in own if name in table}
        for name, value in given.items():
            if isinstance(value, list):
                given[name] = tuple(value)
            elif not isinstance(value, str | bool | int | float):
                self._add(
                    (*here, name), f"{name} is {described(value)}; give a text, a number, true or false."
                )
                return None
        if any(one.default is MISSING and name not in table for name, one in own.items()):
            return None
        try:
            return kind(**given)
        except ValueError as error:  # `InputError` and `QueryError` are
            words = str(error)
            named = next((name for name in given if words.startswith((f"{name} ", f"{name}:"))), None)
            self._add((*here, named or next(iter(given), "do")), words)
            return None

    def _selection(self, given: object, here: Keys) -> Selection:
        return read_plain(given, self._add, here) or Selection()

    def _known(
        self,
        table: Mapping[str, Any],
        known: tuple[str, ...],
        here: Keys,
        of: str = "",
    ) -> None:
        for key in table:
            if key not in known:
                there_are = hint(key, known, f"Give one of {', '.join(known)}.")
                self._add((*here, key), f"there is no key {key!r:.60}{of}{there_are}")

    def _tables(self, values: Mapping[str, Any], key: str, example: str) -> list[Mapping[str, Any]]:
        given = values.get(key, [])
        several = [given] if isinstance(given, Mapping) else given
        if not isinstance(several, list) or not all(isinstance(one, Mapping) for one in several):
            self._add((key,), f"{key} is {described(given)}; write [[{key}]] and below it {example}")
            return []
        return several

    def _text(self, values: Mapping[str, Any], key: str) -> str:
        given = values.get(key, "")
        if not isinstance(given, str):
            self._add((key,), f"{key} is {described(given)}; give a text.")
            return ""
        return given

    def _add(self, keys: Keys, problem: str) -> None:
        self._problems.append(f"{self._place.where(keys)}: {problem}")
