"""The catalogues of messages: whole, up to date, with the places of the English messages, and short enough."""

from __future__ import annotations

import re
from itertools import product

import pytest
from babel.messages import Message
from babel.messages.mofile import read_mo

from prodex.facts.name import NAMES
from prodex.languages import LANGUAGES, Translation
from prodex.languages.translation import _SHOWN
from prodex.tables.attributes import TEXTS
from prodex.worklists import layout
from prodex.worklists.answer_fields import Fields
from prodex.worklists.answer_kinds import Shapes
from tests.cases import each_row
from tests.catalogues import PACKAGES, catalogue, folder_of, messages, untranslated, updated

OTHERS = LANGUAGES[1:]
SHEETS = (
    *(layout.TO_FIX_SHEET, layout.SEVERAL_SHEET, layout.READ_ME_SHEET, layout.SUMMARY_SHEET),
    layout.CODES_SHEET,
)
#: Lines that a heading may take, at the height that it has.
HEADING_LINES = 2


def forms(message: Message) -> list[tuple[str, str]]:
    """Return the English forms of a message, each with its translation."""
    if isinstance(message.id, str):
        return [(message.id, str(message.string))]
    return list(zip(message.id, message.string, strict=True))


def as_texts(message: Message) -> tuple[str, str]:
    """Return a message and its translation, whatever holds their forms."""
    both = (message.id, message.string)
    return tuple(one if isinstance(one, str) else "|".join(one) for one in both)  # type: ignore[return-value]


def pairs(language: str) -> list[tuple[str, str]]:
    """Return all messages of a language, each with its translation."""
    return [
        pair
        for package in PACKAGES
        for message in catalogue(language, package)
        if message.id
        for pair in forms(message)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("package", "language"), [*product(PACKAGES, OTHERS)])
def test_the_catalogue_of_each_language_is_up_to_date(package: str, language: str) -> None:
    """It has the messages of the code, and the compiled file has what it says: else `make messages`."""
    written = catalogue(language, package)
    made = [(one.id, one.string, one.auto_comments) for one in updated(language, package) if one.id]
    assert made == [(one.id, one.string, one.auto_comments) for one in written if one.id]
    with (folder_of(language, package) / f"{package}.mo").open("rb") as file:
        compiled = dict(map(as_texts, (one for one in read_mo(file) if one.id)))
    assert compiled == dict(map(as_texts, (one for one in written if one.id)))


@pytest.mark.slow
@each_row(("package", "language"), [*product(PACKAGES, OTHERS)])
def test_every_message_has_a_translation(package: str, language: str) -> None:
    """Neither a rule nor a heading is left in English."""
    assert [] == [message.id for message in untranslated(updated(language, package))]


@each_row("language", OTHERS)
def test_translations_have_the_places_of_their_messages(language: str) -> None:
    """A value that a sentence has in English is in it in every language, a number with the same digits."""
    places = re.compile(r"{\w+(?::[^{}]*)?}").findall
    assert [] == [
        (english, other) for english, other in pairs(language) if set(places(english)) != set(places(other))
    ]


@each_row("language", OTHERS)
def test_translations_begin_and_end_as_their_messages_do(language: str) -> None:
    """With the same spaces, and with the same mark at the end: sentences are put together from them."""

    def ends(text: str) -> tuple[str, str, str]:
        mark = text[-1:] if text[-1:] in ".:;,?!" else ""
        return text[: -len(text.lstrip()) or None] if text[:1].isspace() else "", mark, text[-1:].strip()[:0]

    assert [] == [(english, other) for english, other in pairs(language) if ends(english) != ends(other)]


@each_row("language", OTHERS)
def test_signs_have_their_spaces_and_quotation_marks_are_those_of_the_language(language: str) -> None:
    """No line breaks before a per cent sign, in French before a colon neither; no language has the marks of ASCII."""
    wrong = r' %(?!\w)|"' + (r"| [:;?!»]|« |’" if language == "fr" else "")
    assert [] == [other for _, other in pairs(language) if re.search(wrong, other)]


@each_row("language", OTHERS)
def test_suppliers_are_addressed_formally(language: str) -> None:
    """Vous, Sie and u: nobody is on first-name terms with a workbook."""
    familiar = {"fr": "tu|toi|ton|ta|tes", "de": "du|dich|dir|dein|deine|deinen", "nl": "jij|jou|jouw|je"}
    found = re.compile(rf"\b(?:{familiar[language]})\b", re.IGNORECASE)
    assert [] == [other for _, other in pairs(language) if found.search(other)]


@pytest.mark.slow
def test_every_kind_of_place_is_in_a_message() -> None:
    """No kind of place is declared that no message has, so that a misspelt one is noticed."""
    found = {
        place
        for package in PACKAGES
        for message in messages(package)
        for one in ([message] if isinstance(message, str) else message)
        for place in re.findall(r"{(\w+)}", one)
    }
    # These rules of one's own may have.
    assert {"attributes", "languages"} == {*_SHOWN} - found


@each_row("language", LANGUAGES)
def test_names_of_sheets_are_of_ascii_and_short(language: str) -> None:
    """Every program and disk keeps them; formulas name the sheet of codes without quotes."""
    names = [Translation(language).gettext(name) for name in SHEETS]
    assert len(names) == len(set(map(str.casefold, names)))
    assert [] == [name for name in names if not name.isascii() or len(name) > 31 - len(" 12")]
    assert names[-1].isalpha()


@each_row("language", LANGUAGES)
def test_headings_fit_into_their_columns(language: str) -> None:
    """In the two lines that the row of headings has, so that no column has to be widened."""
    translation = Translation(language)
    too_long = []
    for column in (*layout.TO_FIX, *layout.SEVERAL):
        heading = translation.gettext(column.heading)
        words = heading.split()
        lines, room = 1, column.width
        for word in words:
            if len(word) > room:
                lines, room = lines + 1, column.width
            room -= len(word) + 1
        if not column.is_hidden and (lines > HEADING_LINES or max(map(len, words)) > column.width):
            too_long.append((heading, column.width))
    assert [] == too_long


@each_row("language", LANGUAGES)
def test_prompts_of_cells_are_as_short_as_spreadsheets_take_them(language: str) -> None:
    """A title of 32 characters, and a message of 255; an answer of a list has no comma."""
    translation = Translation(language)
    codes = {"kind": [("BREAD", "Bread")] * 4_999}
    fields = Fields(Shapes.of(None), codes)
    languages = [None, "fr", "de-AT", "nld-NL", "gsw", "zh", "sr-Latn-RS", "pt-BR"]
    for attribute, spoken in product([*TEXTS, *NAMES, "kind", "isConsumerUnit"], languages):
        if (allowed := fields.allowed(attribute, spoken, translation)) is not None:
            assert (True, True) == (len(allowed.title) <= 32, len(allowed.message) <= 255), allowed
            assert "," not in "".join(allowed.choices)
