"""Which products were chosen, and for which a check or a channel is: said in the language of who reads it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import load_workbook

import prodex
from prodex.catalog.origin import Chosen
from prodex.languages import LANGUAGES, Message, Translation
from prodex.selection import Range, Selection
from tests.cases import each_row

NBSP = "\N{NO-BREAK SPACE}"
MANY = Selection.of(product_id=list(map(str, range(106))))
#: A choice, and how it is said in French, German and Dutch.
CHOICES = [
    (
        Selection.of(market=[250, 56]),
        "marché = France ou Belgique",
        "Markt = Frankreich oder Belgien",
        "markt = Frankrijk of België",
    ),
    (
        ~Selection.of(brand_code=None),
        "sauf marque = rien",
        "außer Marke = nichts",
        "behalve merk = niets",
    ),
    (
        Selection.of(is_consumer_unit=True, kind_code="TEA"),
        "unité consommateur = oui; type = TEA",
        "Verbrauchereinheit = ja; Art = TEA",
        "consumenteneenheid = ja; soort = TEA",
    ),
    (
        MANY,
        "produit = l'une de 106 valeurs",
        "Produkt = einer von 106 Werten",
        "product = een van 106 waarden",
    ),
    (
        Selection.of(kind_code="TEA") | Selection.of(kind_code="EGGS", market=250),
        "soit type = TEA, soit (type = EGGS; marché = France)",
        "entweder Art = TEA, oder (Art = EGGS; Markt = Frankreich)",
        "ofwel soort = TEA, of (soort = EGGS; markt = Frankrijk)",
    ),
    (
        Selection().within("net_weight", Range(1500, None)),
        f"poids net{NBSP}: à partir de 1\N{NARROW NO-BREAK SPACE}500",
        "Nettogewicht: ab 1.500",
        "nettogewicht: vanaf 1.500",
    ),
    (
        Selection().within("updated_at", Range(None, datetime(2026, 10, 1, 8, tzinfo=UTC))),
        f"date de mise à jour{NBSP}: jusqu'à 1er octobre 2026, 08:00",
        "Änderungsdatum: bis 1. Oktober 2026, 08:00",
        "wijzigingsdatum: tot en met 1 oktober 2026, 08:00",
    ),
]


@each_row(("selection", "french", "german", "dutch"), CHOICES)
def test_a_choice_is_said_in_each_language(
    selection: Selection, french: str, german: str, dutch: str
) -> None:
    """Columns, markets, absent values, numbers and days are as the reader calls them."""
    assert [french, german, dutch] == [Translation(one).say(selection.said) for one in LANGUAGES[1:]]


CATALOG = prodex.flatten(
    [
        {
            "id": number,
            "gtin": f"0303681135993{number}",
            "brand": {"code": "ACME"},
            "product_key": {"target_market_id": 276},
            "isConsumerUnit": True,
        }
        for number in range(3)
    ]
)
CHOSEN = CATALOG.where(lambda products: products["gtin"] != "", brand_code="ACME").head(2)
SAID = (
    "2 sur 3 produits, choisis par\N{NO-BREAK SPACE}: marque = ACME; une condition en Python; les 2 premiers."
)


def test_a_choice_stays_a_message_in_what_is_saved(tmp_path: Path) -> None:
    """A snapshot that is opened tomorrow says it in French as well."""
    saved = prodex.audit(CHOSEN.save("shop"), "core").save()
    words = Translation("fr")
    found = [one.scope_said for one in (prodex.audit(CHOSEN, "core"), saved, prodex.open_audit(saved.folder))]
    assert ["2 of 3 products, chosen by: brand_code = ACME; a condition in Python; the first 2."] * 3 == [
        str(one) for one in found
    ]
    assert [SAID] * 3 == [words.say(one) for one in found]


HOSTILE = [
    {"of": 9, "words": [{"id": "{number} a", "values": {"(many)": "{number} b"}}]},
    {"of": 9, "words": [{"id": "a", "values": {"(many)": "b", "number": "x"}}]},
    {"of": 9, "words": [{"values": {}}]},
    {"of": 9, "words": [7]},
    {"of": 9, "words": "brand_code = ACME"},
]


@each_row("written", HOSTILE)
def test_a_choice_of_somebody_else_that_is_no_message_is_refused(written: dict[str, object]) -> None:
    """What cannot be said in every language would end a report in one of them."""
    with pytest.raises(ValueError, match=r"."):
        Chosen.from_json(written)


def test_the_market_of_a_channel_is_said_in_the_language(tmp_path: Path) -> None:
    """In the report and in the worklist; the name of the check is the same in each language."""
    rows = [["Shop", "Germany", "*", "namePublicLong", "must"]]
    columns = ["channel", "market", "family", "attribute", "level"]
    audit = prodex.audit(CATALOG, prodex.Requirements.of(pd.DataFrame(rows, columns=columns)))
    assert ["must_have[Shop (Germany),namePublicLong]"] == [one.id for one in audit.checks]
    page = audit.to_html(tmp_path / "a.html", language="de").read_text("utf-8")
    # In the name of the check, by which programs know it, the market is English.
    assert {"Deutschland", "Germany"} == set(re.findall(r"Shop \((\w+)\)", page))
    assert "Germany" not in page.replace(audit.checks[0].id, "")
    index = audit.worklists(tmp_path / "to_fix", language="de")
    book = load_workbook(tmp_path / "to_fix" / index["file"][0])
    problems = {row[3] for row in book["Korrekturen"].iter_rows(min_row=2, values_only=True)}
    assert {"Fehlt für Shop (Deutschland): langer Name"} == problems


def test_one_product_is_one(tmp_path: Path) -> None:
    """In the sheet to read first, in every language."""
    audit = prodex.audit(CATALOG.where(product_id="0"), {"checks": {"has_name": {}}})
    said = []
    for language in LANGUAGES:
        index = audit.worklists(tmp_path / language, language=language)
        book = load_workbook(tmp_path / language / index["file"][0])
        rows = book.worksheets[0].iter_rows(values_only=True)
        said += [str(row[0]) for row in rows if re.match("(Catalogue|Katalog|Catalogus)", str(row[0]))]
    assert ["1 product", "1 produit", "1 Produkt", "1 product"] == [one.split(", ")[1] for one in said]


@each_row("language", LANGUAGES)
def test_the_subject_of_a_mail_stands_behind_its_name(language: str, tmp_path: Path) -> None:
    """Programs that do not unfold a header would show an empty subject."""
    owners = [{"id": length, "owner": {"id": length, "name": "o" * length}} for length in range(1, 60)]
    audit = prodex.audit(prodex.flatten(owners), {"checks": {"has_name": {}}})
    index = audit.worklists(tmp_path / "to_fix", language=language)
    mails = [(tmp_path / "to_fix" / mail).read_bytes() for mail in index["mail"]]
    assert [] == [mail[:80] for mail in mails if b"Subject:\r\n" in mail]


def test_one_form_of_a_translation_is_meant_for_both() -> None:
    """Where one and many are alike in a language, whoever translates writes it once."""
    one, many = "{number} Zxq", "{number} Zxqs"
    prodex.packs.add_messages("de", {one: "{number} Zeichen"})
    said = [Translation("de").say(Message.of_number(one, many, number)) for number in (1, 2)]
    assert ["1 Zeichen", "2 Zeichen"] == said
