"""The form that says what is done to the chosen products: an operation, the field, the language, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

import ipywidgets as w
from traitlets import Int

from prodex.catalog import Catalog
from prodex.corrections.letter_case import CASES
from prodex.corrections.operations import OPERATIONS, UNIT_FACTORS, Operation
from prodex.corrections.recipe import RecipeStep
from prodex.errors import InputError
from prodex.languages.labels import attribute_title
from prodex.locales import language_label, language_tag, meant_by, short_of, tag_of, variant_of
from prodex.messages import hint
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.panel import Panel, check_box, html, row, show_if, text_html
from prodex.worklists.answer_kinds import AnswerShape, Shapes
from prodex.worklists.answer_parsing import Vocabulary

_EVERY, _SAME = "every language", "the same"


@dataclass(frozen=True)
class ChosenOperation:
    """What is done, and where: what the form says.

    Attributes
    ----------
    attribute
        Wire path of the field.
    language
        The language, as a code; None for every language, and for what has none.
    operation
        The operation.
    """

    attribute: str
    language: str | None
    operation: Operation

    @property
    def step(self) -> RecipeStep:
        """The same as a step of a recipe."""
        return RecipeStep(self.operation, self.attribute, self.language)


@dataclass(frozen=True)
class _Parameter:
    """How a parameter is asked: label, kind of field, what stands in an empty one, and whether that is meant."""

    label: str
    kind: str = "text"
    example: str = ""
    is_empty_meant: bool = False


#: Parameters by the name of the operation and their own.
_PARAMETERS: Mapping[tuple[str, str], _Parameter] = {
    ("set value", "value"): _Parameter("New value", example="text, 500 g, yes or no"),
    ("set code", "code"): _Parameter("Code", "code"),
    ("replace text", "find"): _Parameter("Find", example="ACME Inc"),
    ("replace text", "by"): _Parameter("Replace by", example="empty takes it out", is_empty_meant=True),
    ("replace text", "pattern"): _Parameter("Pattern", "tick"),
    ("replace text", "ignore_case"): _Parameter("Ignore case", "tick"),
    ("replace text", "whole_words"): _Parameter("Whole words", "tick"),
    ("change case", "to"): _Parameter("To", "case"),
    ("change case", "keep"): _Parameter("Keep", "words", "UHT, BIO"),
    ("trim spaces", "line_breaks"): _Parameter("Line breaks become spaces", "space"),
    ("trim spaces", "no_break"): _Parameter("No-break spaces become plain", "space"),
    ("remove prefix", "prefix"): _Parameter("Prefix", example="ACME"),
    ("remove prefix", "ignore_case"): _Parameter("Ignore case", "tick"),
    ("move text", "to_attribute"): _Parameter("To field", "attribute"),
    ("move text", "to_language"): _Parameter("To language", "language"),
    ("convert unit", "to"): _Parameter("To unit", "unit"),
    ("convert unit", "only"): _Parameter("Only from", "units", "any unit"),
    ("copy from", "from_attribute"): _Parameter("From field", "attribute"),
    ("copy from", "from_language"): _Parameter("From language", "language"),
    ("copy from", "replace"): _Parameter("Replace what is there", "tick"),
}
_FIRST = "replace text"


class OperationForm(VBox):
    """The form; whatever is changed in it raises `changes`.

    Parameters
    ----------
    panel
        The panel around it.

    Attributes
    ----------
    operation, attribute, language
        The fields that every operation has.
    parameters
        Those of the operation that is chosen, by name.
    changes
        How often something was changed.
    """

    changes: Int[int, int] = Int(0)

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._shapes = Shapes.of(None)
        self._words: Callable[[str], list[tuple[str, str]]] = lambda _: []
        options = [(name.capitalize(), name) for name in OPERATIONS]
        # Buttons, since a list takes two presses, and hides what can be done at all.
        self.operation: w.ToggleButtons = w.ToggleButtons(options=options, value=_FIRST)
        self.operation.add_class("operations")
        self.attribute: w.Combobox = w.Combobox(description="In field", placeholder="type to choose")
        self.language: w.Combobox = w.Combobox(description="Language", placeholder=_EVERY)
        self.parameters: dict[str, Any] = {}
        self._asked = row(look="form-row")
        self._hint = html("", "muted")
        super().__init__(
            [self.operation, row(self.attribute, self.language, look="form-row"), self._asked, self._hint]
        )
        self.add_class("operation-form")
        panel.on(self.operation, lambda _: self._choose(), "value")
        panel.on(self.attribute, lambda _: self._follow_field(), "value")
        panel.on(self.language, lambda _: self._changed(), "value")

    def hold(self, catalog: Catalog) -> None:
        """Offer the fields, languages and codes of a catalogue."""
        self._shapes = Shapes.of(catalog)
        columns = ["attribute", "language", "language_code"]
        pairs = catalog.arrow("texts", columns).group_by(columns).aggregate([]).to_pylist()
        self._in_use = dict.fromkeys(
            sorted({one["attribute"] for one in pairs}, key=lambda path: (path != "namePublicLong", path))
        )
        languages = {one["language"] for one in pairs if one["language"]}
        variants = {variant_of(one["language_code"], one["language"]) for one in pairs}
        tags = {tag_of(one) for one in variants if one is not None}
        # French of Belgium is offered beside French where there is French of France as well.
        languages |= {one for one in tags if len(meant_by(short_of(one), list(tags))) > 1}
        self._languages = {one: language_label(one) for one in sorted(languages)}
        self.language.options = list(self._languages.values())

        def codes(attribute: str) -> list[tuple[str, str]]:
            words = Vocabulary.of(catalog, {attribute})
            return [(one, one) for one in sorted(words.in_use(attribute))]

        self._words = codes
        self._choose()

    @property
    def chosen(self) -> ChosenOperation:
        """What the form says.

        Raises
        ------
        InputError, QueryError
            When something is missing in it, or cannot be read.
        """
        name = str(self.operation.value)
        attribute = self._path_of(str(self.attribute.value), self.operation.value)
        given = {
            key: value
            for key, field in self.parameters.items()
            if (value := _given(field, _PARAMETERS[name, key])) is not None
        }
        made = OPERATIONS[name]
        needed = {one.name for one in fields(made) if one.default is MISSING}
        if missing := needed - given.keys():
            first = _PARAMETERS[name, min(missing)].label
            raise InputError(f"Fill in {first!r}.")
        for key in ("to_attribute", "from_attribute"):
            if key in given:
                given[key] = self._path_of(str(given[key]), name)
        is_text = self._shapes.of_attribute(attribute) is AnswerShape.TEXT
        for key in ("to_language", "from_language"):
            if key in given:
                given[key] = self._language(str(given[key]))
        language = self._language(str(self.language.value)) if is_text else None
        return ChosenOperation(attribute, language, made(**given))

    def _language(self, typed: str) -> str | None:
        word = typed.strip()
        if not word:
            return None
        named = {label.casefold(): code for code, label in self._languages.items()}
        return named.get(word.casefold()) or language_tag(word)

    def say(self, sentence: str) -> None:
        """Say what is missing."""
        self._hint.value = text_html(sentence) if sentence else ""

    def _path_of(self, typed: str, operation: object) -> str:
        """Return the field that is meant by what was typed: a wire path, or the title of one."""
        known = self._fields_of(str(operation))
        word = typed.strip()
        if not word:
            raise InputError("Choose the field.")
        by_title = {title.casefold(): path for path, title in known.items()}
        by_path = {path.casefold(): path for path in known}
        found = by_title.get(word.casefold()) or by_path.get(word.casefold())
        if found is None:
            raise InputError(f"There is no field {word!r:.60} for this{hint(word, known.values())}")
        return found

    def _fields_of(self, operation: str) -> dict[str, str]:
        """Return the fields that an operation can change, with their titles; those of the products come first."""
        shapes = OPERATIONS[operation].shapes
        found = [path for path, shape in self._shapes.found.items() if shape in shapes]
        ranked = sorted(found, key=lambda path: (path not in self._in_use, path))
        first = [path for path in self._in_use if path in set(found)]
        titles: dict[str, str] = {}
        taken: set[str] = set()
        for path in dict.fromkeys([*first, *ranked]):
            title = attribute_title(path)
            # Two fields of one title are told apart by their paths.
            titles[path] = path if title.casefold() in taken else title
            taken.add(title.casefold())
        return titles

    def _choose(self) -> None:
        """Ask for the parameters of the operation that was chosen."""
        name = str(self.operation.value)
        known = self._fields_of(name)
        titles = list(known.values())
        self.attribute.options = titles
        if self.attribute.value not in titles:
            self.attribute.value = titles[0] if titles else ""
        self._show_language()
        self.parameters = {
            one.name: self._field(_PARAMETERS[name, one.name])
            for one in fields(OPERATIONS[name])
            if (name, one.name) in _PARAMETERS
        }
        self._asked.children = tuple(self.parameters.values())
        for field in self.parameters.values():
            self._panel.on(field, lambda _: self._changed(), "value")
        self._changed()

    def _field(self, parameter: _Parameter) -> Any:
        label = parameter.label
        match parameter.kind:
            case "tick":
                return check_box(label)
            case "space":
                return check_box(label)
            case "case":
                return w.ToggleButtons(options=[(one.capitalize(), one) for one in CASES])
            case "unit" | "units":
                example = parameter.example or "type to choose"
                return w.Combobox(description=label, placeholder=example, options=list(UNIT_FACTORS))
            case "language":
                return w.Combobox(
                    description=label, placeholder=_SAME, options=list(self._languages.values())
                )
            case "attribute":
                titles = list(self._fields_of(str(self.operation.value)).values())
                return w.Combobox(description=label, placeholder=_SAME, options=titles)
            case "code":
                return w.Combobox(description=label, placeholder="type to choose", options=self._codes())
        return w.Text(description=label, placeholder=parameter.example, continuous_update=True)

    def _codes(self) -> list[str]:
        try:
            attribute = self._path_of(str(self.attribute.value), self.operation.value)
        except InputError:
            return []
        return [code for code, _ in self._words(attribute)]

    def _follow_field(self) -> None:
        self._show_language()
        if "code" in self.parameters:
            self.parameters["code"].options = self._codes()
        self._changed()

    def _show_language(self) -> None:
        try:
            attribute = self._path_of(str(self.attribute.value), self.operation.value)
        except InputError:
            return
        show_if(self.language, self._shapes.of_attribute(attribute) is AnswerShape.TEXT)

    def _changed(self) -> None:
        self.changes += 1


def _given(field: Any, parameter: _Parameter) -> Any:
    """Return what a field says; None where it says nothing."""
    match parameter.kind:
        case "tick":
            return bool(field.value)
        case "space":
            return "space" if field.value else "keep"
        case "words":
            return tuple(word for one in str(field.value).split(",") if (word := one.strip()))
        case "text" if parameter.is_empty_meant:
            return str(field.value)
    return field.value or None
