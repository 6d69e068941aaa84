"""What a product is called: one rule, and every place that shows a name goes by it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from prodex.catalog import Catalog
from tests.cases import each_row
from tests.facts.everywhere import NAMING, Record, catalog_of, market, text

pytestmark = pytest.mark.slow

BELGIUM, FRANCE, JAPAN = market(56), market(250), market(392)


def pending(**record: Any) -> Record:
    """Return an update that waits to be accepted."""
    return {"lastRequest": record}


#: What is special about a product, its record, and its name.
CASES: tuple[tuple[str, Record, str | None], ...] = (
    ("a name", {"namePublicLong": [text("fra-FR", "Riz")]}, "Riz"),
    (
        "the language of its market comes first, wherever it stands",
        {"namePublicLong": [text("eng-GB", "Rice"), text("fra-FR", "Riz")], **FRANCE},
        "Riz",
    ),
    (
        "zeros before the number of a market say nothing",
        {"namePublicLong": [text("eng-GB", "Rice"), text("nld-BE", "Rijst")], **market("056")},
        "Rijst",
    ),
    (
        "of several languages of its market, the first of the market's own order",
        {"namePublicLong": [text("fra-BE", "Riz"), text("nld-BE", "Rijst")], **BELGIUM},
        "Rijst",
    ),
    (
        "the other language of its market, before English",
        {"namePublicLong": [text("eng-GB", "Rice"), text("fra-BE", "Riz")], **BELGIUM},
        "Riz",
    ),
    (
        "a short name in the language of its market, before a long one in another",
        {"namePublicLong": [text("deu-DE", "Reis")], "namePublicShort": [text("fra-FR", "Riz")], **FRANCE},
        "Riz",
    ),
    (
        "English, where there is none in a language of its market",
        {"namePublicLong": [text("deu-DE", "Reis"), text("eng-GB", "Rice")], **FRANCE},
        "Rice",
    ),
    (
        "the first one sent, where there is neither",
        {"namePublicLong": [text("deu-DE", "Reis"), text("ita-IT", "Riso")], **FRANCE},
        "Reis",
    ),
    (
        "a market whose languages nobody has listed",
        {"namePublicLong": [text("jpn-JP", "米"), text("eng-GB", "Rice")], **JAPAN},
        "Rice",
    ),
    ("a market that is not a number", {"namePublicLong": [text("fra-FR", "Riz")], **market("FR")}, "Riz"),
    ("a blank market", {"namePublicLong": [text("fra-FR", "Riz")], **market("")}, "Riz"),
    ("a negative market", {"namePublicLong": [text("fra-FR", "Riz")], **market(-250)}, "Riz"),
    (
        "long before short before legal",
        {
            "nameLegal": [text("fra-FR", "Légal")],
            "namePublicShort": [text("fra-FR", "Court")],
            "namePublicLong": [text("fra-FR", "Long")],
        },
        "Long",
    ),
    (
        "short before legal",
        {"nameLegal": [text("fra-FR", "Légal")], "namePublicShort": [text("fra-FR", "Court")]},
        "Court",
    ),
    ("the legal name, where there is no other", {"nameLegal": [text("fra-FR", "Légal")]}, "Légal"),
    (
        "a blank text is not a name",
        {"namePublicLong": [text("fra-FR", " \t\n"), text("fra-FR", "Riz")], **FRANCE},
        "Riz",
    ),
    (
        "an ideographic space is a space",
        {"namePublicLong": [text("jpn-JP", "\u3000"), text("jpn-JP", "\u00a0\u2003"), text("jpn-JP", "米")]},
        "米",
    ),
    (
        "a blank long name, before a short one",
        {"namePublicLong": [text("fra-FR", "")], "namePublicShort": [text("fra-FR", "Riz")]},
        "Riz",
    ),
    (
        "null among the texts, and a text of null",
        {"namePublicLong": [None, text("fra-FR", None), text("fra-FR", "Riz")]},
        "Riz",
    ),
    (
        "a number where a text should be",
        {"namePublicLong": [text("fra-FR", 7)], "nameLegal": [text("fra-FR", "Riz")]},
        "Riz",
    ),
    ("one text that is in no list", {"namePublicLong": text("fra-FR", "Riz")}, "Riz"),
    (
        "what says no language is not a localized text",
        {
            "namePublicLong": [
                {"expressedIn": {"label": "?"}, "data": "Riz"},
                {"expressedIn": {}, "data": "Riz"},
            ]
        },
        None,
    ),
    ("null for a name", {"namePublicLong": None}, None),
    ("an empty list for a name", {"namePublicLong": []}, None),
    ("a description alone", {"description": [text("fra-FR", "Riz")]}, None),
    ("nothing", {}, None),
    (
        "the name of an update that waits, where it has none of its own",
        pending(namePublicLong=[text("eng-GB", "Rice"), text("fra-FR", "Riz")]) | FRANCE,
        "Riz",
    ),
    (
        "its own legal name in a foreign language, before any of an update that waits",
        {"nameLegal": [text("deu-DE", "Reis")]} | pending(namePublicLong=[text("fra-FR", "Riz")]) | FRANCE,
        "Reis",
    ),
    (
        "an update that waits, where its own name is blank",
        {"namePublicLong": [text("fra-FR", " ")]} | pending(nameLegal=[text("fra-FR", "Riz")]),
        "Riz",
    ),
    (
        "no name of a unit that it is packed in",
        {
            "logisticalHierarchies": [
                {
                    "gtin": "@gtin",
                    "typePackaging": {"code": "PALLET"},
                    "namePublicLong": [text("fra-FR", "Palette")],
                }
            ]
        },
        None,
    ),
    ("markup stays what it is", {"namePublicLong": [text("fra-FR", "<b>Riz</b> & $x$")]}, "<b>Riz</b> & $x$"),
    ("right to left", {"namePublicLong": [text("ara-MA", "أرز")]}, "أرز"),
)

RECORDS = [{"id": number, **record} for number, (_, record, _) in enumerate(CASES, 1)]
EXPECTED = {str(number): name for number, (*_, name) in enumerate(CASES, 1)}


def with_own_gtin(record: Record) -> Record:
    """Put the product's GTIN where a case asks for it."""
    for tree in record.get("logisticalHierarchies", ()):
        tree["gtin"] = f"{record['id']:014}"
    return record


@cache
def catalog_from(start: int) -> Catalog:
    """Return ten of the products; every place is asked about the same catalogue."""
    return catalog_of([with_own_gtin(dict(one)) for one in RECORDS[start : start + 10]])


@pytest.mark.slow
@each_row("place", NAMING)
def test_every_place_calls_a_product_the_same(place: str, tmp_path: Path) -> None:
    """The language of the market first, then English, then what came first; never a blank; at last what waits."""
    found: dict[str, str | None] = {}
    for start in range(0, len(RECORDS), 10):  # the report shows ten cards at most
        found |= NAMING[place](catalog_from(start), tmp_path / str(start))

    told = {CASES[int(key) - 1][0]: (name, EXPECTED[key]) for key, name in found.items()}
    assert {case: (expected, expected) for case, (_, expected) in told.items()} == told
    assert EXPECTED.keys() == found.keys()


@each_row("place", NAMING)
def test_the_market_that_was_asked_for_counts_where_a_product_says_none(place: str, tmp_path: Path) -> None:
    """A product of a query for one market is named in its language; one that says another keeps to that."""
    names = [text("eng-GB", "Rice"), text("fra-FR", "Riz"), text("deu-DE", "Reis")]
    records = [{"id": 1, "namePublicLong": names}, {"id": 2, "namePublicLong": names, **market(276)}]

    assert {"1": "Riz", "2": "Reis"} == NAMING[place](catalog_of(records, 250), tmp_path)


CUTTING = ("cards of the report", "lists of the report", "page of the explorer", "product card")


@each_row("place", NAMING)
def test_a_name_of_forty_thousand_characters_is_one(place: str, tmp_path: Path) -> None:
    """Frames have all of it, and what shows it shows its beginning."""
    long = "Riz " * 10_000
    (name,) = NAMING[place](
        catalog_of([{"id": 1, "namePublicLong": [text("fra-FR", long)]}]), tmp_path
    ).values()

    assert name is not None
    assert (name[:40] if place in CUTTING else name) == (long[:40] if place in CUTTING else long)
