"""Texts by language, side by side: what is there, and why there is nothing where there is nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from prodex.display_text import Words, even_limit, weight, words
from prodex.errors import QueryError
from prodex.facts.name import NAMES
from prodex.locales import language_tag, short_of
from prodex.notebook.card.labelled_values import tongue
from prodex.notebook.card.missing import Missing, face
from prodex.notebook.card.record import Record, Row
from prodex.quality.text_columns import TEXTS

#: Bytes that all texts of a card may take together, and how many are shown.
_ROOM = 600_000
_MOST = 1_000
#: Columns, so that a record in a thousand languages is a table still.
_MOST_LANGUAGES = 24


@dataclass(frozen=True)
class LanguageText:
    """One text: what it says, and its language as sent where the texts beside it have another."""

    text: Words
    tag: str | None


@dataclass(frozen=True)
class TextCell:
    """The texts of one attribute in one language (as browsers know it), or why there is none."""

    lang: str | None
    texts: tuple[LanguageText, ...]
    gap: Missing | None


@dataclass(frozen=True)
class TextRow:
    """An attribute in every language.

    Attributes
    ----------
    attribute
        Wire path.
    cells
        One for each language.
    gap
        Why there is nothing at all, where all cells agree about it.
    """

    attribute: Words
    cells: tuple[TextCell, ...]
    gap: Missing | None


@dataclass(frozen=True)
class Texts:
    """The table.

    Attributes
    ----------
    languages, languages_total
        Those shown, as short codes with names, and whether the market wants to read them; how many there are.
    lines
        One for each attribute.
    shown, total
        How many texts there are.
    others
        Usual texts of which there is nothing in any language, and which are no line: face, attributes.
    """

    languages: tuple[tuple[str | None, Words, bool], ...]
    languages_total: int
    lines: tuple[TextRow, ...]
    shown: int
    total: int
    others: tuple[tuple[str, tuple[str, ...]], ...]


def texts(record: Record, wanted: Iterable[tuple[str, str | None]] = ()) -> Texts:
    """Return the texts of a product.

    Parameters
    ----------
    record
        The product.
    wanted
        Attributes, with a language or without, that it should have: their gaps are shown.
    """
    wanted = list(wanted)
    every = sorted(record.rows("texts"), key=_order)
    spoken = _languages(record, every, wanted)
    languages = spoken[:_MOST_LANGUAGES]
    rows = [row for row in every if _language(row) in languages][:_MOST]
    cells: dict[tuple[str, str | None], list[Row]] = {}
    for row in rows:
        cells.setdefault((row["attribute"], _language(row)), []).append(row)
    attributes = [*dict.fromkeys(row["attribute"] for row in rows)]
    known = {*NAMES, *(attribute for attribute, _ in wanted)} - {*attributes}
    gaps = {
        attribute: face(record, attribute)
        for attribute in dict.fromkeys((*known, *TEXTS))
        if attribute not in attributes
    }
    shown = {
        attribute
        for attribute, gap in gaps.items()
        if attribute in known or gap in {Missing.NULL, Missing.EMPTY}
    }
    attributes = sorted([*attributes, *shown], key=_rank)
    most = even_limit([weight(row["text"]) for row in rows], _ROOM)
    return Texts(
        languages_total=len(spoken),
        languages=tuple((one, tongue(one), one in record.required_languages) for one in languages),
        lines=tuple(_line(record, attribute, languages, cells, most) for attribute in attributes),
        shown=len(rows),
        total=len(every),
        others=_grouped({attribute: gap for attribute, gap in gaps.items() if attribute not in shown}),
    )


def _line(
    record: Record,
    attribute: str,
    languages: list[str | None],
    cells: dict[tuple[str, str | None], list[Row]],
    most: int,
) -> TextRow:
    made = []
    for language in languages:
        rows = cells.get((attribute, language), ())
        tags = {row["language_code"] for row in rows}
        found = tuple(
            LanguageText(
                words(row["text"], most),
                row["language_code"] if len(tags) > 1 else None,
            )
            for row in rows
        )
        gap = None if found else face(record, attribute, language)
        made.append(TextCell(_known(language), found, gap))
    faces = {cell.gap for cell in made}
    return TextRow(words(attribute, 1_000), tuple(made), faces.pop() if len(faces) == 1 else None)


def _languages(
    record: Record, rows: Iterable[Row], wanted: Iterable[tuple[str, str | None]]
) -> list[str | None]:
    required = [*record.required_languages, *(short_of(one) for _, one in wanted if one)]
    found = dict.fromkeys(map(_language, rows))
    others = sorted(one for one in found if one is not None and one not in required)
    named: list[str | None] = [*dict.fromkeys(required), *others]
    if None in found:
        named.append(None)
    return named or ["en"]


def _known(language: str | None) -> str | None:
    """Return a language that a browser may be told of."""
    try:
        return None if language is None else language_tag(language)
    except QueryError:
        return None


def _language(row: Row) -> str | None:
    code = row["language"] or row["language_code"]
    return short_of(code) if code else None


def _rank(attribute: str) -> tuple[int, str]:
    usual = (*NAMES, *TEXTS)
    return (usual.index(attribute) if attribute in usual else len(usual)), attribute


def _order(row: Row) -> tuple[int, str, tuple[int, ...]]:
    position = tuple(int(one) for one in row["position"].split(".") if one)
    return *_rank(row["attribute"]), position


def _grouped(gaps: dict[str, Missing]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    by_face: dict[str, list[str]] = {}
    for attribute, gap in gaps.items():
        by_face.setdefault(str(gap), []).append(attribute)
    return tuple((gap, tuple(names)) for gap, names in by_face.items())
