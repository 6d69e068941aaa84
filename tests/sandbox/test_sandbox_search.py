"""advanced_search: which products it finds, and which searches it refuses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from small_exchange import BREAD, BUTTER, CIDER, Caller
from tests.cases import each_row

from prodex.sandbox import Sandbox
from prodex_sandbox.records.indexing import SEARCH_FIELDS

NAME, DESCRIPTION, BRAND, KIND = "namePublicLong.data", "description.data", "brand.label", "kind.label"


def entry(query: str, *fields: str) -> dict[str, Any]:
    return {"query": query, "fields": list(fields)}


@each_row(
    ("field", "query", "found"),
    [
        ("namePublicLong.data", "brut", [CIDER]),
        ("composition.data", "farine", [BREAD]),
        ("allergens.data", "lait", [BUTTER]),
        ("brand.label", "apples", [BREAD, CIDER]),
        ("kind.label", "butter", [BUTTER]),
        ("description.data", "va", [CIDER]),
    ],
)
def test_each_field_can_be_searched(shop: Caller, field: str, query: str, found: list[str]) -> None:
    """Each of the six fields is searched where it is named, and nowhere else."""
    assert found == shop.gtins(advanced_search={"must": [entry(query, field)]})
    others = [name for name in SEARCH_FIELDS if name != field]
    assert [] == shop.gtins(advanced_search={"must": [entry(query, *others)]})


def test_an_entry_matches_in_any_one_of_its_fields(shop: Caller) -> None:
    """A product matches an entry in any one of its fields."""
    assert [BUTTER, CIDER] == shop.gtins(advanced_search={"must": [entry("beurre", NAME, DESCRIPTION)]})


def test_a_product_has_to_match_every_entry(shop: Caller) -> None:
    """A product has to match all entries."""
    must = [entry("beurre", NAME, DESCRIPTION), entry("apples", BRAND)]
    assert [CIDER] == shop.gtins(advanced_search={"must": must})


def test_the_words_of_a_query_have_to_stand_in_one_field(shop: Caller) -> None:
    """All words of a query have to stand in one field, in whatever order."""
    assert [BREAD] == shop.gtins(advanced_search={"must": [entry("bread country", NAME, KIND)]})
    assert [] == shop.gtins(advanced_search={"must": [entry("bread apples", BRAND, KIND)]})


def test_every_language_of_a_text_is_searched(shop: Caller) -> None:
    """A word is found in any language of the text."""
    for query in ("campagne", "country"):
        assert [BREAD] == shop.gtins(advanced_search={"must": [entry(query, NAME)]})


def test_case_and_accents_do_not_matter(shop: Caller) -> None:
    """A word is found whatever its case and accents."""
    for query in ("blé", "BLE", "Blé"):
        assert [BREAD] == shop.gtins(advanced_search={"must": [entry(query, "composition.data")]})


def test_a_search_goes_with_other_filters_and_with_scrolling(shop: Caller) -> None:
    """A search and other filters have to match both, in a scroll too."""
    search = {"must": [entry("apples", BRAND)]}
    assert [CIDER] == shop.gtins(advanced_search=search, filter_has_no_packshot=True)
    cursor = shop.call("POST", advanced_search=search, next_page="", limit=1)["next_page"]
    assert [CIDER] == shop.gtins(next_page=cursor)


@each_row(
    "query",
    ['"beurre"', "beurre*", "beurre AND", "NOT beurre", "beurre OR", "NEAR(beurre", "namePublicLong : beurre",
     '" OR "', "beurre'; DROP TABLE products; --", "^beurre", "{beurre}", "beurre\0", '"""', "a" * 100_000,
     "😀 beurre\ud83d"],
)  # fmt: skip
def test_nothing_in_a_query_is_an_operator(shop: Caller, query: str) -> None:
    """Quotes, operators, stars and statements in a query are words, or nothing."""
    reply = shop.search(advanced_search={"must": [entry(query, NAME)]})
    assert reply.status_code in (200, 400), reply.text
    if reply.status_code == 200:
        assert {product["gtin"] for product in reply.json()["data"]} <= {BUTTER}
    else:
        assert "holds no word" in reply.json()["message"]


def test_an_operator_is_a_word_to_look_for(shop: Caller) -> None:
    """A product has to hold the word OR to be found by it."""
    assert [] == shop.gtins(advanced_search={"must": [entry("cidre OR beurre", NAME)]})


def test_signs_between_words_are_passed_over(shop: Caller) -> None:
    """A sign that is no word does not keep a product from being found."""
    assert [BUTTER] == shop.gtins(advanced_search={"must": [entry("farm & field", BRAND)]})


@each_row(
    ("search", "words"),
    [
        ("bread", "it is not an object of must"),
        ({}, "it is not an object of must"),
        ({"must": [], "should": []}, "it is not an object of must"),
        ({"must": {"query": "bread"}}, "must is not an array"),
        ({"must": ["bread"]}, "must[0] is not an object of fields and query"),
        ({"must": [entry("bread", NAME), {"query": "bread"}]}, "must[1] is not an object"),
        ({"must": [{"query": 5, "fields": [NAME]}]}, "must[0].query is 5, not a string"),
        ({"must": [entry("", NAME)]}, "must[0].query is '', which holds no word"),
        ({"must": [entry("* - !", NAME)]}, "holds no word"),
        ({"must": [entry("a " * 65, NAME)]}, "holds 65 words; at most 64 are allowed"),
        ({"must": [{"query": "bread", "fields": []}]}, "must[0].fields is []"),
        ({"must": [{"query": "bread", "fields": NAME}]}, "not an array of fields"),
        ({"must": [entry("bread", NAME, "gtin")]}, "'gtin', which is not one of namePublicLong.data"),
        ({"must": [{"query": "bread", "fields": [{"a": 1}]}]}, "which is not one of"),
        ({"must": [entry("a", NAME)] * 33}, "must holds 33 entries; at most 32 are allowed"),
    ],
)  # fmt: skip
def test_a_search_of_another_form_is_refused(shop: Caller, search: Any, words: str) -> None:
    """A search that is not as documented is refused; the message names the place."""
    reply = shop.search(advanced_search=search)
    assert (400, "invalid_value") == (reply.status_code, reply.json()["error"])
    assert "advanced_search: " in reply.json()["message"]
    assert words in reply.json()["message"]


def test_the_most_that_a_search_may_hold_can_be_searched(shop: Caller) -> None:
    """A search as large as the sandbox takes it is answered."""
    must = [entry("bread " * 64, *SEARCH_FIELDS)] * 32
    assert 200 == shop.search(advanced_search={"must": must}).status_code


def named(id_: int, name: str) -> dict[str, Any]:
    """Return a product with a name, which advanced_search looks through."""
    return {"id": id_, "gtin": f"{id_:014}", "namePublicLong": [{"data": name}]}


def found(caller: Caller, word: str) -> list[str]:
    return [gtin.lstrip("0") for gtin in caller.gtins(advanced_search={"must": [entry(word, NAME)]})]


@pytest.mark.parametrize("searched_before", [False, True])
def test_texts_are_those_of_now_however_late_the_first_search_is(searched_before: bool) -> None:
    """What was changed, added, removed and reset before the first search is found as after it."""
    products = [named(1, "apple"), named(2, "pear"), named(3, "cherry"), {"id": 4, "gtin": "4"}]
    with Sandbox(products) as sandbox:
        caller = Caller(sandbox.base_url, sandbox.organizations[0], keeps_contract=False).log_in()
        with caller.session:
            if searched_before:
                assert ["1"] == found(caller, "apple")
            sandbox.change([named(1, "quince"), named(5, "pear")])
            sandbox.remove([3])
            sandbox.change([named(2, "plum")])
            sandbox.reset(["2".zfill(14)])
            assert [[], ["1"], ["2", "5"], [], []] == [
                found(caller, word) for word in ("apple", "quince", "pear", "cherry", "plum")
            ]
            sandbox.reset()
            assert [["1"], ["2"], ["3"]] == [found(caller, word) for word in ("apple", "pear", "cherry")]


def test_first_searches_may_come_at_once() -> None:
    """Each of several first searches finds everything, and texts are indexed once."""
    with Sandbox([named(number, f"word {number % 7}") for number in range(1, 300)]) as sandbox:
        callers = [Caller(sandbox.base_url, sandbox.organizations[0], keeps_contract=False) for _ in range(6)]
        for caller in callers:
            caller.log_in()
        with ThreadPoolExecutor(len(callers)) as pool:
            replies = list(pool.map(lambda caller: len(found(caller, "word")), callers))
        for caller in callers:
            caller.session.close()
    assert [20] * len(callers) == replies


def test_texts_stay_indexed_over_a_restart(tmp_path: Path) -> None:
    """A home that is searched for the first time after a restart finds what one finds that was searched before."""
    for word, searches in (("apple", False), ("apple", True), ("pear", True)):
        with Sandbox([named(1, "apple"), named(2, "pear")], home=tmp_path) as sandbox:
            caller = Caller(sandbox.base_url, sandbox.organizations[0], keeps_contract=False).log_in()
            with caller.session:
                if searches:
                    assert [{"apple": "1", "pear": "2"}[word]] == found(caller, word)
