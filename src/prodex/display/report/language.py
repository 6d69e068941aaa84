"""The report in another language: the sentences of the page, its figures, and what its charts say.

The page is made in English. Each of its texts is a sentence, or a part between two figures, and is translated
as one; what suppliers typed is in elements of its own (`bdi`), and stays as it is. What prodex says in such an element,
such as the reason of a finding, is translated before the page is made.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from prodex.display.report.contents import Contents
from prodex.languages import Translation
from prodex.untrusted_text import Words, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What is not translated within these: values of suppliers, names for programs, and what no one reads.
_AS_IT_IS = frozenset({"bdi", "code", "style", "script"})
_TAG = re.compile(r"(<[^>]*>)")
_NAME = re.compile(r"</?([a-z0-9]+)")
#: Attributes that are read out.
_SAID = re.compile(r'(?<= )(aria-label|alt)="([^"]*)"')
_NUMBER = re.compile(r"([<>]?)(\d[\d,]*(?:\.\d+)?)( %)?")
#: "long name in French (1,204), brand (3)".
_MISSING = re.compile(r"(.+?) \((\d[\d,]*)\)(?:, |$)")
#: What fixing a problem brings: to the share of ready products, and to the score.
_GAINS = re.compile(r"(ready .*?), (score .*)")
#: Facts of the header whose values are names, and no sentences.
_NAMES = frozenset({"From", "Snapshot"})


def translated_contents(contents: Contents, translation: Translation) -> Contents:
    """Return the contents of a report with what prodex says among the values of suppliers in a language."""
    if translation.is_english:
        return contents
    header = contents.header

    def said(some: Words) -> Words:
        return some if some.is_missing or some.is_long else words(text_in(some.text, translation), 4_000)

    return replace(
        contents,
        header=replace(
            header,
            facts=tuple((term, value if term in _NAMES else said(value)) for term, value in header.facts),
            not_asked=tuple(map(said, header.not_asked)),
            warnings=tuple(map(said, header.warnings)),
        ),
        failing=tuple(
            replace(one, rows=tuple(replace(row, reason=said(row.reason)) for row in one.rows))
            for one in contents.failing
        ),
        accepted=None
        if contents.accepted is None
        else replace(contents.accepted, sentence=said(contents.accepted.sentence)),
        completeness=tuple(
            replace(
                table,
                new=said(table.new),
                rows=tuple(replace(row, missing=_missing(row.missing, translation)) for row in table.rows),
            )
            for table in contents.completeness
        ),
    )


def _missing(text: str, translation: Translation) -> str:
    """Return what is missing most in a language: attributes, each with a number of products."""
    each = _MISSING.findall(text)
    return ", ".join(
        f"{translation.translated(what)} ({translation.number(Decimal(number.replace(',', '')))})"
        for what, number in each
    )


def translated_page(page: str, translation: Translation) -> str:
    """Return a page in a language.

    >>> translated_page('<html lang="en"><p>Key figures: <bdi>Market</bdi></p><th>Market</th>', Translation("fr"))
    '<html lang="fr"><p>Key figures: <bdi>Market</bdi></p><th>Marché</th>'
    """
    if translation.is_english:
        return page
    return "".join(_translated_pieces(page, translation))


def _translated_pieces(page: str, translation: Translation) -> Iterator[str]:
    within: list[str] = []
    for piece in _TAG.split(page):
        if piece.startswith("<"):
            found = _NAME.match(piece)
            name = found[1] if found is not None else ""
            if name in _AS_IT_IS:
                within = within[:-1] if piece.startswith("</") else [*within, name]
            if name == "html":
                piece = piece.replace('lang="en"', f'lang="{translation.language}"')  # noqa: PLW2901 - the tag as it is written
            yield _SAID.sub(lambda said: f'{said[1]}="{_escaped(said[2], translation)}"', piece)
        elif within or not piece.strip():
            yield piece
        else:
            before, after = piece[: -len(piece.lstrip())] if piece[:1].isspace() else "", ""
            text = piece.strip()
            after = piece[len(before) + len(text) :]
            yield f"{before}{_escaped(text, translation)}{after}"


def _escaped(text: str, translation: Translation) -> str:
    return html.escape(text_in(" ".join(html.unescape(text).split()), translation))


def text_in(text: str, translation: Translation) -> str:
    """Return a text of the report in a language: a sentence, a figure, a moment or the name of a language.

    >>> [text_in(one, Translation("de")) for one in ("12,000", "61.2 %", "2026-11-26", "French", "my own words")]
    ['12.000', '61,2\\xa0%', '26. November 2026', 'Französisch', 'my own words']
    """
    if (number := _NUMBER.fullmatch(text)) is not None:
        figure = translation.number(Decimal(number[2].replace(",", "")), len(number[2].partition(".")[2]))
        return (
            translation.gettext("{figure} %", figure=f"{number[1]}{figure}")
            if number[3]
            else f"{number[1]}{figure}"
        )
    said = translation.translated(text)
    if said != text:
        return said
    if text.endswith(".") and (said := translation.translated(text[:-1])) != text[:-1]:
        return f"{said}."
    if (gains := _GAINS.fullmatch(text)) is not None:
        return ", ".join(translation.translated(one) for one in gains.groups())
    return translation.translated_moment(text) or translation.language_in_words(text) or text


def translate_figure(figure: Figure, translation: Translation) -> None:
    """Translate what a chart says."""
    if translation.is_english:
        return
    from matplotlib.text import Text

    for one in figure.findobj(Text):
        lines = [text_in(line, translation) for line in one.get_text().split("\n")]
        one.set_text("\n".join(lines))
