"""What can be done to many products at once, as a form: an operation, the field, the language, and its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

from prodex.catalog import Catalog
from prodex.corrections.letter_case import CASES
from prodex.corrections.operations import OPERATIONS, UNIT_FACTORS
from prodex.corrections.recipe import RecipeStep
from prodex.errors import ProdexError
from prodex.languages.labels import attribute_title
from prodex.locales import language_label, language_tag, meant_by, short_of, tag_of, variant_of
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.forms import FormField, form_values
from prodex.phrases import hint
from prodex.worklists.answer_kinds import AnswerShape, Shapes
from prodex.worklists.answer_parsing import Vocabulary

FORM = "bulk"
_FIRST = "replace text"
_EVERY, _SAME, _CHOOSE = "every language", "the same", "type to choose"


@dataclass(frozen=True)
class _Parameter:
    """How a parameter is asked: label, kind of field, what stands in an empty one, and whether that is meant."""

    label: str
    kind: str = "text"
    example: str = ""
    is_empty_meant: bool = False


#: Parameters by the name of the operation and their own.
PARAMETERS: Mapping[tuple[str, str], _Parameter] = {
    ("set value", "value"): _Parameter("New value", example="text, 500 g, yes or no"),
    ("set code", "code"): _Parameter("Code", "code", _CHOOSE),
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
    ("move text", "to_attribute"): _Parameter("To field", "attribute", _SAME),
    ("move text", "to_language"): _Parameter("To language", "language", _SAME),
    ("convert unit", "to"): _Parameter("To unit", "unit", _CHOOSE),
    ("convert unit", "only"): _Parameter("Only from", "unit", "any unit"),
    ("copy from", "from_attribute"): _Parameter("From field", "attribute", _SAME),
    ("copy from", "from_language"): _Parameter("From language", "language", _SAME),
    ("copy from", "replace"): _Parameter("Replace what is there", "tick"),
}


class CorrectableFields:
    """The fields, languages and codes of a catalogue, as they are chosen in a form.

    Parameters
    ----------
    catalog
        The catalogue.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._shapes = Shapes.of(catalog)
        columns = ["attribute", "language", "language_code"]
        pairs = catalog.arrow("texts", columns).group_by(columns).aggregate([]).to_pylist()
        paths = {one["attribute"] for one in pairs}
        self._in_use = dict.fromkeys(sorted(paths, key=lambda path: (path != "namePublicLong", path)))
        languages = {one["language"] for one in pairs if one["language"]}
        variants = {variant_of(one["language_code"], one["language"]) for one in pairs}
        tags = {tag_of(one) for one in variants if one is not None}
        # French of Belgium is offered beside French where there is French of France as well.
        languages |= {one for one in tags if len(meant_by(short_of(one), list(tags))) > 1}
        self.languages: dict[str, str] = {one: language_label(one) for one in sorted(languages)}
        self._titles: dict[str, dict[str, str]] = {}
        self._codes: dict[str, list[str]] = {}

    def titles(self, operation: str) -> dict[str, str]:
        """Return the fields that an operation can change, with their titles; those of the products come first."""
        if operation in self._titles:
            return self._titles[operation]
        shapes = OPERATIONS[operation].shapes
        found = [path for path, shape in self._shapes.found.items() if shape in shapes]
        first = [path for path in self._in_use if path in {*found}]
        titles: dict[str, str] = {}
        taken: set[str] = set()
        for path in dict.fromkeys([*first, *sorted(found)]):
            title = attribute_title(path)
            # Two fields of one title are told apart by their paths.
            titles[path] = path if title.casefold() in taken else title
            taken.add(title.casefold())
        self._titles[operation] = titles
        return titles

    def path(self, typed: str, operation: str, at: str) -> str:
        """Return the field that is meant by what was typed: a wire path, or the title of one."""
        known, word = self.titles(operation), typed.strip()
        if not word:
            raise Refused("Choose the field.", at=at)
        by_title = {title.casefold(): path for path, title in known.items()}
        by_path = {path.casefold(): path for path in known}
        found = by_title.get(word.casefold()) or by_path.get(word.casefold())
        if found is None:
            raise Refused(f"There is no field {word!r:.60} for this{hint(word, known.values())}", at=at)
        return found

    def language(self, typed: str, at: str) -> str | None:
        """Return the language that is meant by what was typed: a name or a code; None for every language."""
        if not (word := typed.strip()):
            return None
        named = {label.casefold(): code for code, label in self.languages.items()}
        try:
            return named.get(word.casefold()) or language_tag(word)
        except ProdexError as error:
            raise Refused(str(error), at=at) from error

    def is_text(self, path: str) -> bool:
        """Return whether a field has texts in languages."""
        return self._shapes.of_attribute(path) is AnswerShape.TEXT

    def codes(self, path: str) -> list[str]:
        """Return the codes that the products have in a field."""
        if path not in self._codes:
            self._codes[path] = sorted(Vocabulary.of(self._catalog, {path}).in_use(path))
        return self._codes[path]


def _fields(session: Session) -> CorrectableFields:
    return CorrectableFields(session.catalog)


def operation_name(session: Session) -> str:
    """Return the operation that is chosen."""
    name = session.typed.get(FORM, {}).get("operation", _FIRST)
    return name if name in OPERATIONS else _FIRST


def operation_fields(session: Session) -> list[FormField]:
    """Return the fields of the form; beside the one that is missing or wrong a sentence says so."""
    wrong, said = "", ""
    try:
        chosen_operation(session)
    except Refused as refused:
        wrong, said = refused.at, str(refused)
    return [
        replace(one, hint=said) if wrong == f"{FORM}.{one.name}" else one for one in _form_fields(session)
    ]


def _form_fields(session: Session) -> Iterator[FormField]:
    name, known = operation_name(session), session.derived(_fields)
    titles, languages = [*known.titles(name).values()], [*known.languages.values()]
    first = titles[0] if titles else ""
    yield FormField("attribute", "In field", value=first, placeholder=_CHOOSE, suggestions=titles)
    try:
        path = known.path(str(session.typed.get(FORM, {}).get("attribute", first)), name, "")
    except Refused:
        path = ""
    if not path or known.is_text(path):
        yield FormField("language", "Language", placeholder=_EVERY, suggestions=languages)
    suggested = {"unit": [*UNIT_FACTORS], "language": languages, "attribute": titles}
    for one in fields(OPERATIONS[name]):
        asked, at = PARAMETERS[name, one.name], f"{name}.{one.name}"
        match asked.kind:
            case "tick" | "space":
                yield FormField(at, asked.label, "tick", False)
            case "case":
                options = [(case, case.capitalize()) for case in CASES]
                yield FormField(at, asked.label, "choice", CASES[0], options)
            case kind:
                offered = known.codes(path) if kind == "code" and path else suggested.get(kind, [])
                yield FormField(at, asked.label, placeholder=asked.example, suggestions=offered)


def chosen_operation(session: Session) -> RecipeStep:
    """Return what the form says.

    Raises
    ------
    Refused
        When something is missing in it, or cannot be read, with the field.
    """
    name, known = operation_name(session), session.derived(_fields)
    values = form_values(session, FORM, _form_fields(session))
    attribute = known.path(str(values["attribute"] or ""), name, f"{FORM}.attribute")
    made, given, at = OPERATIONS[name], {}, {}
    for one in fields(made):
        asked, field = PARAMETERS[name, one.name], f"{name}.{one.name}"
        at[one.name] = f"{FORM}.{field}"
        value = _read(values.get(field), asked, name, known, at[one.name])
        if value is None and one.default is MISSING:
            raise Refused(f"Fill in {asked.label!r}.", at=at[one.name])
        if value is not None:
            given[one.name] = value
    typed = str(values.get("language") or "")
    language = known.language(typed, f"{FORM}.language") if known.is_text(attribute) else None
    try:
        return RecipeStep(made(**given), attribute, language)
    except ProdexError as error:
        raise Refused(str(error), at=next(iter(at.values()), f"{FORM}.attribute")) from error


def _read(value: Any, asked: _Parameter, operation: str, known: CorrectableFields, at: str) -> Any:
    """Return what a field says; None where it says nothing."""
    match asked.kind:
        case "tick":
            return bool(value)
        case "space":
            return "space" if value else "keep"
        case "words":
            return tuple(word for one in str(value or "").split(",") if (word := one.strip()))
        case "attribute" if value:
            return known.path(str(value), operation, at)
        case "language" if value:
            return known.language(str(value), at)
    return str(value or "") if value or asked.is_empty_meant else None
