"""Texts by language: a row for each attribute, a column for each language, and why a text is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from prodex.exploration.card.record import CardRecord, Row, language_text, order_of, why_missing
from prodex.facts.name import NAMES
from prodex.languages.labels import attribute_label, attribute_title
from prodex.locales import known_language_tag, short_of
from prodex.quality.text_columns import TEXTS
from prodex.tables.fill_state import FillState
from prodex.untrusted_text import Words, even_limit, weight, words

#: Bytes of all texts of a card together, and number of texts that are shown.
_ROOM = 600_000
_MOST = 1_000
#: Columns: a record with a thousand languages would make a table that no browser can show.
_MOST_LANGUAGES = 24


@dataclass(frozen=True)
class LanguageText:
    """A text.

    Attributes
    ----------
    text
        As it is shown.
    tag
        Its language code as sent, if the other texts of its cell have another.
    whole
        The text itself.
    position, language_code
        By which it is known among the texts of its attribute; as in `catalog.texts`.
    """

    text: Words
    tag: str | None
    whole: str
    position: str
    language_code: str | None


@dataclass(frozen=True)
class TextCell:
    """The texts of an attribute in a language, or why there is none; `lang` is the tag of the language for browsers."""

    language: str | None
    lang: str | None
    texts: tuple[LanguageText, ...]
    gap: FillState | None


@dataclass(frozen=True)
class TextRow:
    """An attribute in every language.

    Attributes
    ----------
    path
        Wire path of the attribute.
    attribute
        The same as it is shown.
    cells
        One for each language.
    gap
        Why there is no text at all, if the reason is the same in all languages.
    """

    path: str
    attribute: Words
    cells: tuple[TextCell, ...]
    gap: FillState | None


@dataclass(frozen=True)
class Texts:
    """The table of texts.

    Attributes
    ----------
    languages, languages_total
        The languages that are shown, as short codes with names and whether the market requires them; the number of all.
    lines
        A row for each attribute.
    shown, total
        Number of texts that are shown, and of all texts.
    others
        Usual texts that are missing in every language and have no row: the reason, and the attributes.
    updated_at
        When the product was last changed (ISO 8601), if it is known.
    """

    languages: tuple[tuple[str | None, Words, bool], ...]
    languages_total: int
    lines: tuple[TextRow, ...]
    shown: int
    total: int
    others: tuple[tuple[str, tuple[str, ...]], ...]
    updated_at: str | None


def texts(record: CardRecord, wanted: Iterable[tuple[str, str | None]] = ()) -> Texts:
    """Return the texts of a product.

    Parameters
    ----------
    record
        The product.
    wanted
        Attributes, with or without a language, that the product should have: they are shown even if missing.
    """
    wanted = list(wanted)
    every = sorted(record.rows("texts"), key=_order_of_texts)
    spoken = _column_languages(record, every, wanted)
    languages = spoken[:_MOST_LANGUAGES]
    rows = [row for row in every if _language_of_row(row) in languages][:_MOST]
    cells: dict[tuple[str, str | None], list[Row]] = {}
    for row in rows:
        cells.setdefault((row["attribute"], _language_of_row(row)), []).append(row)
    attributes = [*dict.fromkeys(row["attribute"] for row in rows)]
    # Names and the texts that the audit looks for have a row in any case: their absence is what a reader has to see.
    known = {*NAMES, *(attribute for attribute, _ in wanted)} - {*attributes}
    gaps = {
        attribute: why_missing(record, attribute)
        for attribute in dict.fromkeys((*known, *TEXTS))
        if attribute not in attributes
    }
    shown = {
        attribute
        for attribute, gap in gaps.items()
        if attribute in known or gap in {FillState.NULL, FillState.EMPTY}
    }
    attributes = sorted([*attributes, *shown], key=_attribute_rank)
    # The same limit for all texts: one that is very long must not leave the others without room.
    most = even_limit([weight(row["text"]) for row in rows], _ROOM)
    return Texts(
        languages_total=len(spoken),
        languages=tuple((one, language_text(one), one in record.required_languages) for one in languages),
        lines=tuple(_text_row(record, attribute, languages, cells, most) for attribute in attributes),
        shown=len(rows),
        total=len(every),
        others=_attributes_by_gap(
            {attribute: gap for attribute, gap in gaps.items() if attribute not in shown}
        ),
        updated_at=None if (changed := record.product["updated_at"]) is None else changed.isoformat(),
    )


def _text_row(
    record: CardRecord,
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
                row["text"],
                row["position"],
                row["language_code"],
            )
            for row in rows
        )
        gap = None if found else why_missing(record, attribute, language)
        made.append(TextCell(language, _browser_language(language), found, gap))
    faces = {cell.gap for cell in made}
    return TextRow(
        attribute,
        words(attribute_title(attribute), 1_000),
        tuple(made),
        faces.pop() if len(faces) == 1 else None,
    )


def _column_languages(
    record: CardRecord, rows: Iterable[Row], wanted: Iterable[tuple[str, str | None]]
) -> list[str | None]:
    required = [*record.required_languages, *(short_of(one) for _, one in wanted if one)]
    found = dict.fromkeys(map(_language_of_row, rows))
    others = sorted(one for one in found if one is not None and one not in required)
    named: list[str | None] = [*dict.fromkeys(required), *others]
    if None in found:
        named.append(None)
    # A table without any column could not show which attributes are missing.
    return named or ["en"]


def _browser_language(language: str | None) -> str | None:
    """Return a language as browsers know it; None for one that they do not know."""
    return None if language is None else known_language_tag(language)


def _language_of_row(row: Row) -> str | None:
    code = row["language"] or row["language_code"]
    return short_of(code) if code else None


def _attribute_rank(attribute: str) -> tuple[int, str]:
    usual = (*NAMES, *TEXTS)
    return (usual.index(attribute) if attribute in usual else len(usual)), attribute


def _order_of_texts(row: Row) -> tuple[int, str, tuple[int, ...]]:
    return *_attribute_rank(row["attribute"]), order_of(row["position"])


def _attributes_by_gap(gaps: dict[str, FillState]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    by_face: dict[str, list[str]] = {}
    for attribute, gap in gaps.items():
        by_face.setdefault(str(gap), []).append(attribute_label(attribute))
    return tuple((gap, tuple(names)) for gap, names in by_face.items())
