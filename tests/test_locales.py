"""Markets and languages by code and by name."""

from __future__ import annotations

import pytest

import prodex
from prodex.errors import QueryError
from prodex.locales import (
    known_language_tag,
    language_code,
    language_label,
    language_name,
    language_tag,
    market_code,
    market_name,
)
from prodex.notebook.views.card_contents import read_card
from tests.cases import each_row


@each_row(
    "market", [250, "250", "FR", "fr", "FRA", "France", "frankreich", "Frankrijk", "Francia", " France "]
)
def test_a_market_is_found_by_number_code_or_name(market):
    """A market is found by its number, its codes, and its name in five languages."""
    assert market_code(market) == 250


@each_row(
    ("name", "number"),
    [
        ("Belgium", 56),
        ("BE", 56),
        ("056", 56),
        ("Germany", 276),
        ("Ethiopia", 231),
        ("Yemen", 887),
        ("Sudan", 729),
    ],
)
def test_a_name_never_leads_to_a_number_that_was_given_up(name, number):
    """A country that had other numbers before is known by today's."""
    assert number == market_code(name)


@each_row("market", [0, 999, 1000, -1, "", "Frnce-Land", "EU", "XX"])
def test_what_is_no_market_is_refused(market):
    """What is no market is refused, with the value in the message."""
    with pytest.raises(QueryError, match="There is no market"):
        market_code(market)


def test_a_misspelt_market_gets_the_nearest_name():
    """A misspelt market gets the nearest name as a hint."""
    with pytest.raises(QueryError, match="Did you mean 'Belgium'"):
        market_code("Belgum")


def test_market_names_come_in_the_language_asked_for():
    """A market's name comes in the language asked for; an unknown number stays a number."""
    assert (market_name(250), market_name(250, "de"), market_name(999)) == ("France", "Frankreich", "999")


@each_row(
    ("language", "tag"),
    [
        ("fr", "fr"),
        ("fr-FR", "fr-FR"),
        ("fra-FR", "fr-FR"),
        ("fre", "fr"),
        ("FR_fr", "fr-FR"),
        ("French", "fr"),
        ("Französisch", "fr"),
        ("nld-BE", "nl-BE"),
        ("en-UK", "en-UK"),
        ("zh-Hant-TW", "zh-Hant-TW"),
    ],
)
def test_a_language_becomes_a_tag(language, tag):
    """Codes of two and three letters and names become the tag that Accept-language takes."""
    assert tag == language_tag(language)


@each_row(
    ("language", "code"),
    [
        ("fr-FR", "fra-FR"),
        ("de", "deu"),
        ("nl-NL", "nld-NL"),
        ("Spanish", "spa"),
        ("ro", "ron"),
        ("hr", "hrv"),
    ],
)
def test_a_language_becomes_a_code_of_the_service(language, code):
    """A tag becomes the three-letter code that texts carry, in its terminological form."""
    assert code == language_code(language)


@each_row("tag", ["fr-FR", "de-DE", "es-ES", "nl-NL", "en-GB", "it", "pt-BR", "sv", "zh-CN"])
def test_tags_and_codes_are_inverse(tag):
    """A tag turned into a code and back is the same tag."""
    assert tag == language_tag(language_code(tag))


@each_row("language", ["", "qq", "qq-QQ", "Klingonish", "fr-", "f"])
def test_what_is_no_language_is_refused(language):
    """What is no language is refused."""
    with pytest.raises(QueryError, match="There is no language"):
        language_tag(language)


def test_language_names_tell_the_country():
    """A language's name tells its country where the tag has one."""
    assert (
        language_name("fra-BE"),
        language_name("fr"),
        language_name("fr", "de"),
    ) == ("French (Belgium)", "French", "Französisch")


def test_a_market_that_is_no_number_of_ours_keeps_its_own() -> None:
    """Codes of suppliers may have any length, and are shown unchanged."""
    assert ("France", "Belgium", "999", "9" * 5_000) == tuple(
        map(market_name, ("0250", 56, "999", "9" * 5_000))
    )


def test_an_unknown_language_is_shown_without_looking_for_similar_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where nobody is told of a mistake, thousands of odd codes cost no search for what was meant."""
    monkeypatch.setattr(
        "difflib.get_close_matches", lambda *_, **__: pytest.fail("somebody looked for a similar name")
    )
    assert ("xqz-ZZ", "klingon") == (language_label("xqz-ZZ"), language_label("klingon"))
    assert (None, "fr-FR") == (known_language_tag("xqz-ZZ"), known_language_tag("fra-FR"))
    record = {"id": 7, "description": [{"expressedIn": {"code": "xqz-ZZ"}, "data": "Riz long"}]}
    catalog = prodex.flatten([record])
    assert not prodex.audit(catalog, "online-listing", progress=False).crashes
    assert "Riz long" in read_card(catalog, "7").html
