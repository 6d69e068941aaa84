"""Words are found wherever they stand, whatever their case and accents; GTINs with or without zeros."""

from __future__ import annotations

import unicodedata
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.exploration.product_columns import ProductColumns
from prodex.exploration.search import Search
from prodex.tables.columns import unaccented_texts
from tests.cases import each_row


def french(text: str) -> list[dict[str, Any]]:
    return [{"expressedIn": {"code": "fra-FR"}, "data": text}]


RECORDS = [
    {
        "id": 1,
        "gtin": "03036811359935",
        "namePublicLong": french("Crème brûlée"),
        "composition": french("Lait"),
    },
    {
        "id": 2,
        "gtin": "3663215000110",
        "brand": {"code": "Z7", "label": "Zêste"},
        "kind": {"code": 5, "label": "Thé"},
    },
    {"id": 3, "owner": {"name": "Crème & Co"}, "productBenefits": [{"text": french("a.*b [x] 100%")}]},
    {"id": 4, "lastRequest": {"namePublicLong": french("Lait d'amande")}},
    {"id": 5},
]


@pytest.fixture
def search() -> Search:
    """Search in five products."""
    return Search(ProductColumns(prodex.flatten(RECORDS)))


@pytest.mark.slow
@each_row(
    ("words", "found"),
    [
        ("creme", [1, 3]),
        ("CRÈME", [1, 3]),
        ("crème lait", [1]),
        ("brulee lait", [1]),
        ("lait", [1, 4]),
        ("zeste the", [2]),
        ("z7", [2]),
        (".*", [3]),
        ("[x]", [3]),
        ("100%", [3]),
        ("03036811359935", [1]),
        ("3036811359935", [1]),
        ("003036811359935", [1]),
        ("03663215000110", [2]),
        ("11359", [1]),
        ("0", [1, 2, 3]),
        ("00", [3, 2]),
        ("nothing", []),
        ("  ", [1, 2, 3, 4, 5]),
    ],
)
def test_words_are_found(search: Search, words: str, found: list[int]) -> None:
    """All words have to be there, in whichever texts; no sign means more than itself."""
    assert sorted(found) == [n + 1 for n, one in enumerate(search.find(words)) if one]


def test_a_long_text_is_searched_to_its_end() -> None:
    """40,000 characters hide nothing."""
    text = "x" * 40_000 + " citron"
    search = Search(ProductColumns(prodex.flatten([{"id": 1, "namePublicLong": french(text)}])))

    assert [True] == search.find("citron").tolist()


def test_a_filtered_snapshot_is_searched_part_by_part() -> None:
    """Places are those of what is left, on disk as in memory."""
    catalog = prodex.flatten(RECORDS).save("five").where(gtin=None)

    assert [False, True, False] == Search(ProductColumns(catalog)).find("amande").tolist()


@pytest.mark.slow
@given(st.lists(st.text(max_size=12), max_size=6), st.text(max_size=4))
def test_finding_is_what_python_would_find(texts: list[str], word: str) -> None:
    """A word is found in a text if the folded text holds the folded word."""
    storable = [text.encode("utf-8", "ignore").decode() for text in texts]
    word = word.encode("utf-8", "ignore").decode().replace('"', "")
    records = [{"id": f"#{n}", "namePublicLong": french(text)} for n, text in enumerate(storable)]
    # In quotation marks, so that OR and a minus are letters like others.
    typed = " ".join(f'"{piece}"' for piece in word.split())
    found = Search(ProductColumns(prodex.flatten(records))).find(typed).tolist()

    for text, record, one in zip(storable, records, found, strict=True):
        values = [unaccented_texts(pa.array([value]))[0].as_py() for value in (text, record["id"])]
        pieces = unaccented_texts(pa.array(word.split(), pa.string())).to_pylist()
        assert all(any(piece in value for value in values) for piece in pieces) == one


@given(st.text())
def test_folding_takes_marks_away(text: str) -> None:
    """No mark is left, whatever was typed, and folding twice changes nothing."""
    text = text.encode("utf-8", "ignore").decode()
    once = unaccented_texts(pa.array([text]))[0].as_py()

    assert not [one for one in once if unicodedata.category(one) == "Mn" and ord(one) < 0x700]
    assert once.isascii() or once == unaccented_texts(pa.array([once]))[0].as_py()
