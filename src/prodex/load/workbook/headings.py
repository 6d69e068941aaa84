"""The columns of a platform's sheet: a technical path above each in row 4, a language or unit in row 6."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from prodex.formats.workbook_cells import Row
from prodex.locales import known_language_tag, language_code, spelled_short
from prodex.send.attribute_types import PRODUCT
from prodex.tables.declaration import TABLES, ColumnKind
from prodex.worklists.answer_kinds import AnswerShape, Shapes
from prodex.worklists.answer_parsing import AnswerRefused, Vocabulary

#: The sign between a label and its code: U+2223, and what people type for it.
BAR, PLAIN_BAR = "∣", "|"

#: Rows of a sheet; all others above the data hold words for people.
PATHS_ROW, QUALIFIERS_ROW, FIRST_ROW = 4, 6, 8

#: What platforms write where there is neither language nor unit.
_NOTHING = frozenset({"", "-", "–", "—", "/", "n/a", "na", "none"})
_IN_BRACKETS = re.compile(r"\s*\([^)]*\)$")
#: Characters of the name of a language with its country and its code.
_LONGEST_LANGUAGE = 200
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/+-]{0,79}")
_UNIT_CODE = re.compile("[A-Z0-9]{2,3}")
UNITS = Vocabulary()
_SHAPES: Mapping[str, AnswerShape] = Shapes.of(None).found


class ColumnContent(StrEnum):
    """What the cells of a column hold."""

    GTIN = "gtin"
    TEXT = "text"
    QUANTITY = "quantity"
    CODE = "code"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    MOMENT = "moment"
    STRING = "string"
    #: A code that is alone in records, without a label.
    PLAIN_CODE = "plain code"
    #: Nobody knows: each cell decides for itself.
    OPEN = "open"


_CONTENT_OF_KIND = {
    "string": ColumnContent.STRING,
    "code": ColumnContent.PLAIN_CODE,
    "integer": ColumnContent.INTEGER,
    "number": ColumnContent.NUMBER,
    "boolean": ColumnContent.BOOLEAN,
    "timestamp": ColumnContent.MOMENT,
    "unix_seconds": ColumnContent.OPEN,
}
_CONTENT_OF_SHAPE = {
    AnswerShape.TEXT: ColumnContent.TEXT,
    AnswerShape.QUANTITY: ColumnContent.QUANTITY,
    AnswerShape.CODE: ColumnContent.CODE,
    AnswerShape.BOOLEAN: ColumnContent.BOOLEAN,
    AnswerShape.INTEGER: ColumnContent.INTEGER,
    AnswerShape.NUMBER: ColumnContent.NUMBER,
    AnswerShape.STRING: ColumnContent.STRING,
}


@dataclass(frozen=True)
class Heading:
    """A column.

    Attributes
    ----------
    path
        Where its values belong; None where row 4 has no path.
    content
        What its cells hold.
    language, unit
        Descriptors of the language or the unit of its cells, as records have them.
    occurrence
        How many columns before it have the same path, language and unit: each begins another item of a list.
    problem
        Why its cells cannot be understood; empty where they can.
    """

    path: TechnicalPath | None
    content: ColumnContent = ColumnContent.OPEN
    language: Mapping[str, str] | None = None
    unit: Mapping[str, str] | None = None
    occurrence: int = 0
    problem: str = ""


def headings_of(paths: Row, qualifiers: Row) -> dict[int, Heading]:
    """Return the columns of a sheet, by their place.

    Parameters
    ----------
    paths
        Row 4.
    qualifiers
        Row 6.
    """
    found: dict[int, Heading] = {}
    seen: Counter[Any] = Counter()
    for place, cell in paths.items():
        qualifier = qualifiers[place].text.strip() if place in qualifiers else ""
        try:
            path = path_of(cell.text)
        except AnswerRefused as error:
            found[place] = Heading(None, problem=str(error))
            continue
        key = (path, qualifier.casefold())
        found[place] = _heading(path, qualifier, seen[key])
        seen[key] += 1
    return found


def _heading(path: TechnicalPath, qualifier: str, occurrence: int) -> Heading:
    content = content_of(path.attribute)
    word = "" if qualifier.casefold() in _NOTHING else qualifier
    unit = (
        _unit_descriptor(word, is_certain=content in (ColumnContent.QUANTITY, ColumnContent.NUMBER))
        if word
        else None
    )
    language = _language_descriptor(word) if word else None
    problem = ""
    if content is ColumnContent.OPEN and word:
        # "ml" is a unit, and Malayalam: a language is written fr, fra-FR or French, and seldom meant by these.
        content = ColumnContent.QUANTITY if unit else ColumnContent.TEXT if language else ColumnContent.OPEN
        if content is ColumnContent.OPEN:
            problem = (
                f"row {QUALIFIERS_ROW} names {qualifier!r:.40}, neither a known language nor a known unit"
            )
    elif content is ColumnContent.TEXT and language is None:
        named = f"{qualifier!r:.40}, which is not a known language" if word else "no language"
        problem = f"row {QUALIFIERS_ROW} names {named}"
    elif content is ColumnContent.QUANTITY and unit is None and word:
        problem = f"row {QUALIFIERS_ROW} names {qualifier!r:.40}, which is not a known unit"
    is_text = content is ColumnContent.TEXT
    return Heading(
        path, content, language if is_text else None, None if is_text else unit, occurrence, problem
    )


def content_of(attribute: str) -> ColumnContent:
    """Return what an attribute holds, as far as the specification and the tables know.

    >>> [str(content_of(one)) for one in ("namePublicLong", "brand", "assets.pictures.isPackshot", "shape.text")]
    ['text', 'code', 'boolean', 'open']
    """
    if attribute.rpartition(".")[2] == "gtin":
        return ColumnContent.GTIN
    if (kind := DECLARED.get(attribute)) is not None:
        return _CONTENT_OF_KIND[kind]
    if (shape := _SHAPES.get(attribute)) is not None:
        return _CONTENT_OF_SHAPE.get(shape, ColumnContent.OPEN)
    if attribute == "id":
        return ColumnContent.PLAIN_CODE
    return ColumnContent.CODE if f"{attribute}.code" in DECLARED else ColumnContent.OPEN


def label_and_code(text: str, *, is_code: bool = True) -> tuple[str, str] | None:
    """Return the label and the code of a cell that has both; None for any other.

    A plain bar is taken for the sign only if what follows looks like a code: one word, and one in capitals unless
    the column is known to hold codes.

    >>> label_and_code("Sea salt∣SALT"), label_and_code("Sea salt | SALT"), label_and_code("a | b c")
    (('Sea salt', 'SALT'), ('Sea salt', 'SALT'), None)
    >>> label_and_code("sugar|salt", is_code=False)
    """
    label, bar, code = (part.strip() for part in text.rpartition(BAR))
    if not bar:
        label, bar, code = (part.strip() for part in text.rpartition(PLAIN_BAR))
        if not _CODE.fullmatch(code) or not (is_code or code == code.upper()):
            return None
    return (label, code) if bar and code else None


def _unit_descriptor(word: str, *, is_certain: bool) -> dict[str, str] | None:
    """Return the descriptor of a unit; one that is not known is taken by its code where a unit has to be."""
    if (both := label_and_code(word)) is not None:
        label, code = both
        known = _known_unit(code) or (code if is_certain and _UNIT_CODE.fullmatch(code) else None)
        return None if known is None else {"code": known, "label": label}
    known = _known_unit(word)
    if known is None:
        return {"code": word} if is_certain and _UNIT_CODE.fullmatch(word) else None
    return {"code": known} if known == word else {"code": known, "label": word}


def _known_unit(word: str) -> str | None:
    try:
        return UNITS.unit(word)
    except AnswerRefused:
        return None


def _language_descriptor(word: str) -> dict[str, str] | None:
    """Return the descriptor of a language, with its country only where one is named."""
    if len(word) > _LONGEST_LANGUAGE:
        return None
    both = label_and_code(word)
    # "French (France)" is the name of a language as platforms show it; the country says nothing about the text.
    for one in (both[1], both[0]) if both is not None else (word, _IN_BRACKETS.sub("", word)):
        if (tag := known_language_tag(one)) is None:
            continue
        short = spelled_short(tag)
        return (
            {"normalizedCode": short, "code": language_code(tag)} if "-" in tag else {"normalizedCode": short}
        )
    return None


_STEP = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)(?:\[([0-9]*)\])?")

#: A record with a list of more items would be mostly gaps.
_MOST_ITEMS = 1_000
_MOST_STEPS = 20

#: Lists that no declaration of attributes shows: nodes of hierarchies, and measures of the GDSN.
_LISTS = frozenset({"children", "height", "width", "depth"})


@dataclass(frozen=True)
class PathStep:
    """A step of a path.

    Attributes
    ----------
    name
        The member of the object.
    index
        The place in its list, where the path says one.
    in_list
        Whether it holds a list.
    """

    name: str
    index: int | None = None
    in_list: bool = False


@dataclass(frozen=True)
class TechnicalPath:
    """A path that was understood.

    Attributes
    ----------
    steps
        From the product inwards; a last step `data` is left out, since it is the value of the attribute around it.
    """

    steps: tuple[PathStep, ...]

    @property
    def attribute(self) -> str:
        """The wire path, as tables name it: without places in lists."""
        return ".".join(step.name for step in self.steps)


def path_of(text: str) -> TechnicalPath:
    """Return the path that a text names.

    Raises
    ------
    AnswerRefused
        When it is no path.

    Examples
    --------
    >>> [(step.name, step.index, step.in_list) for step in path_of("assets.pictures.0.url").steps]
    [('assets', None, False), ('pictures', 0, True), ('url', None, False)]
    >>> path_of("assets.pictures[0].url") == path_of("assets.pictures.0.url")
    True
    >>> path_of("netContent.data").attribute
    'netContent'
    """
    steps: list[PathStep] = []
    for part in text.strip().split("."):
        if part.isascii() and part.isdigit() and steps and steps[-1].index is None:
            steps[-1] = PathStep(steps[-1].name, _index(part), in_list=True)
            continue
        found = _STEP.fullmatch(part)
        if found is None or len(steps) == _MOST_STEPS:
            raise AnswerRefused(f"{text!r:.60} is not a technical path, such as namePublicLong")
        around = ".".join([*(step.name for step in steps), found[1]])
        # The width of a picture is a number, and that of a product a list of measures.
        is_measured = found[1] in _LISTS and around not in DECLARED
        in_list = found[2] is not None or is_measured or around in LISTS
        steps.append(PathStep(found[1], _index(found[2]) if found[2] else None, in_list))
    if len(steps) > 1 and steps[-1] == PathStep("data"):
        del steps[-1]
    if len(steps) == 1 and steps[0].name.casefold() == "gtin":
        steps = [PathStep("gtin")]
    return TechnicalPath(tuple(steps))


def _index(digits: str) -> int:
    if len(digits) > 4 or int(digits) >= _MOST_ITEMS:
        raise AnswerRefused(f"[{digits:.20}] is not a place in a list of at most {_MOST_ITEMS:,} items")
    return int(digits)


def _list_paths(types: Mapping[str, Any], around: str = "") -> Iterator[str]:
    """Yield the wire paths at which the specification shows lists."""
    for name, type_ in types.items():
        path = f"{around}{name}"
        is_list = isinstance(type_, list) or type_ in ("array", "localized")
        if is_list:
            yield path
        inner = type_[0] if isinstance(type_, list) else type_
        if isinstance(inner, Mapping):
            yield from _list_paths(inner, f"{path}.")


#: Wire paths at which there are lists.
LISTS = frozenset(
    [*_list_paths(PRODUCT), *(anchor for table in TABLES.values() for anchor in table.anchors if anchor)]
)

#: Kinds of the values that tables declare, by wire path.
DECLARED: Mapping[str, ColumnKind] = {
    ".".join(filter(None, [anchor, *path])): column.kind
    for table in TABLES.values()
    for anchor in table.anchors
    for column in table.columns
    for path in column.paths
}
