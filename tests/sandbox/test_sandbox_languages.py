"""The language of labels, and the languages of texts."""

from __future__ import annotations

from typing import Any

from small_exchange import BREAD, BUTTER, RECORDS, Caller
from tests.cases import each_row

from prodex_sandbox.api.listing import choose_language

KNOWN = {"fr", "de", "es", "nl"}


def first(caller: Caller, language: str | None = None, **body: Any) -> dict[str, Any]:
    product: dict[str, Any] = caller.call("POST", language=language, limit=1, **body)["data"][0]
    return product


@each_row(
    ("header", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("fr", "fr"),
        ("FR", "fr"),
        ("fr-FR", "fr"),
        ("de-Latn-CH-1996", "de"),
        ("en-UK", "en"),
        ("it", "en"),
        ("it, nl;q=0.5", "nl"),
        ("fr;q=0.2, es;q=0.9", "es"),
        ("fr;q=0.5, nl;q=0.5", "fr"),
        ("en, fr;q=0.9", "en"),
        ("fr;q=0, de;q=0.1", "de"),
        ("fr;q=0", "en"),
        ("*", "en"),
        ("fr;q=much", "en"),
        ("fr;q=nan, de;q=0.5", "de"),
        (";;,,=;q", "en"),
        ("fr ; q = 1", "fr"),
        ("français", "en"),
    ],
)
def test_the_best_language_that_is_known_is_chosen(header: str | None, language: str) -> None:
    """The best weighted language that is known is chosen; parts that cannot be read are ignored."""
    assert language == choose_language(header, KNOWN)


def test_labels_are_in_us_english_unless_asked_otherwise(shop: Caller) -> None:
    """Without Accept-language, and with an unknown language, labels are in US English as stored."""
    assert RECORDS[BREAD] == first(shop) == first(shop, "en-US") == first(shop, "sv-SE")


def test_labels_of_codes_follow_accept_language_at_any_depth(shop: Caller) -> None:
    """Every object with code and label has its label in the language asked for; all else is as stored."""
    product = first(shop, "fr-FR")
    assert {"code": "APPLE", "label": "Pommes", "description": None} == product["brand"]
    assert [{"data": 500, "expressedIn": {"code": "G", "label": "gramme"}}] == product["netContent"]
    unchanged = RECORDS[BREAD].keys() - {"brand", "netContent"}
    assert {name: RECORDS[BREAD][name] for name in unchanged} == {name: product[name] for name in unchanged}


def test_labels_follow_accept_language_by_get_too(shop: Caller) -> None:
    """A GET has the labels in the language asked for as well."""
    brand = shop.call("GET", language="de", limit=1, filter_source_include="brand.label")["data"][0]
    assert {"brand": {"label": "Apples"}} == brand


def test_a_code_that_is_a_number_has_labels_too(shop: Caller) -> None:
    """A label is found by its code whether that is a string or a number."""
    kinds = shop.call("POST", language="de", filter_gtins_in=[BUTTER])["data"][0]["kind"]
    assert {"code": 530, "label": "Butter (Streichfett)"} == kinds


def test_a_label_without_translation_stays_in_english(shop: Caller) -> None:
    """A label without a translation stays as it is."""
    assert {"code": 531, "label": "Bread"} == first(shop, "fr")["kind"]


@each_row("language", ["fr", "fra-FR", "fr-FR", "FR", "fr,de"])
def test_a_language_of_texts_can_be_named_in_each_form(shop: Caller, language: str) -> None:
    """filter_product_languages takes a short code, a language-country code, or a tag."""
    product = first(shop, filter_product_languages=language)
    assert ["Pain de campagne"] == [item["data"] for item in product["namePublicLong"]]


def test_texts_in_other_languages_are_left_out_at_any_depth(shop: Caller) -> None:
    """Texts in other languages are left out of every attribute; nothing else is."""
    product = first(shop, filter_product_languages=["en"])
    assert ["Country bread"] == [item["data"] for item in product["namePublicLong"]]
    assert [] == product["composition"]
    assert [
        {"text": ["Loaf"]},
        None,
    ] == [item and {"text": [text["data"] for text in item["text"]]} for item in product["synonyms"]]
    unchanged = RECORDS[BREAD].keys() - {"namePublicLong", "composition", "synonyms"}
    assert {name: RECORDS[BREAD][name] for name in unchanged} == {name: product[name] for name in unchanged}


def test_several_languages_keep_the_texts_in_each(shop: Caller) -> None:
    """Several languages keep the texts in each of them."""
    product = first(shop, filter_product_languages=["en", "fr"])
    assert RECORDS[BREAD] == product
