"""How words are compared: every place that leaves accents out of account leaves out the same."""

from __future__ import annotations

import pyarrow as pa

import prodex
from prodex.exploration.product_columns import ProductColumns
from prodex.exploration.search import Search
from prodex.phrases import unaccented
from prodex.quality.text_normalization import folded
from prodex.tables.columns import unaccented_texts
from tests.cases import each_row

SPELLINGS = {
    "riz": "riz",
    "Crème BRÛLÉE": "creme brulee",
    "Œufs de bœuf": "oeufs de boeuf",
    "Süßstoff": "sussstoff",
    "STRAẞE": "strasse",
    "Æblegrød": "aeblegrod",
    "Ångström": "angstrom",
    "İstanbul": "istanbul",
    "ﬁlet": "filet",
    "Ｒｉｚ": "riz",
    "e\u0301clair": "eclair",
    "ζωή": "ζωη",
    "أَرُزّ": "ارز",
}


@each_row("word", SPELLINGS)
def test_every_place_reads_a_word_alike(word: str) -> None:
    """Letters of both sizes, accents and ligatures make no difference, in one word, in a column, in a rule's text."""
    column = pa.array([word, None])

    assert SPELLINGS[word] == unaccented(word)
    assert [SPELLINGS[word], None] == unaccented_texts(column).to_pylist()
    assert [SPELLINGS[word], ""] == folded(column).to_pylist()


@each_row("word", SPELLINGS)
def test_a_search_finds_a_word_however_it_is_spelled(word: str) -> None:
    """What is typed without accents finds what a supplier wrote with them, and the other way round."""
    names = [[{"expressedIn": {"code": "fra-FR"}, "data": one}] for one in (word, SPELLINGS[word])]
    catalog = prodex.flatten({"id": number, "namePublicLong": name} for number, name in enumerate(names))
    search = Search(ProductColumns(catalog))

    assert [[True, True]] * 2 == [search.find(one).tolist() for one in (word, SPELLINGS[word])]
