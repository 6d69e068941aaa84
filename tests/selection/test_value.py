"""A selection means what its parts mean together, in the order and the nesting of nobody's choice."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex import Selection
from prodex.errors import InputError, ProdexError, QueryError
from prodex.selection import Begins, FailingChecks, ProductList, Range
from prodex.selection.plain import COLUMNS, KEYS, as_plain, from_plain
from tests.cases import each_row

RECORDS: list[dict[str, Any]] = [
    {"id": 1, "brand": {"code": "ACME"}, "hasTags": [{"tag": "new"}, {"tag": "big"}], "isConsumerUnit": True},
    {"id": 2, "brand": {"code": "ACORN"}, "hasTags": [], "isConsumerUnit": False, "lifeCycle": 2},
    {"id": 3, "hasTags": [{"tag": "old"}], "lifeCycle": 7, "product_key": {"target_market_id": "056"}},
    {"id": 4, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Riz au lait"}]},
]
CATALOG = prodex.flatten(RECORDS)

#: One condition of every kind, and the products that it means, read off the records by hand.
SINGLE: list[tuple[Selection, set[int]]] = [
    (Selection.of(brand_code="ACME"), {1}),
    (Selection.of(brand_code=["ACORN", None]), {2, 3, 4}),
    (Selection.of(brand_code=Begins("AC")), {1, 2}),
    (Selection.of(market="Belgium"), {3}),
    (Selection(groups={"tag": ("new", "old")}), {1, 3}),
    (Selection(groups={"tag": (None,)}), {2, 4}),
    (Selection(groups={"fill:namePublicLong:fr": ("filled",)}), {4}),
    (Selection(groups={"missing": ("brand", "namePublicLong:fr")}), {1, 3, 4}),
    (Selection(groups={"missing:all": ("brand", "namePublicLong:fr")}), {1, 2, 3, 4}),
    (Selection(ranges={"life_cycle": Range(3, None)}), {3}),
    (Selection(words="lait"), {4}),
    (Selection(listed=(ProductList("some", ("2", "9")),)), {2}),
    (Selection(), {1, 2, 3, 4}),
]


def meant(selection: Selection) -> set[int]:
    """Return the products that a selection means."""
    return {number for number, is_meant in enumerate(CATALOG.mask(selection).tolist(), 1) if is_meant}


def nested() -> st.SearchStrategy[tuple[Selection, set[int]]]:
    """Give a selection of any nesting, and its products by the algebra of sets."""
    every = {1, 2, 3, 4}
    return st.recursive(
        st.sampled_from(SINGLE),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda two: (two[0][0] & two[1][0], two[0][1] & two[1][1])),
            st.tuples(inner, inner).map(lambda two: (two[0][0] | two[1][0], two[0][1] | two[1][1])),
            inner.map(lambda one: (~one[0], every - one[1])),
        ),
        max_leaves=6,
    )


@pytest.mark.parametrize(("selection", "products"), SINGLE)
def test_each_condition_means_these_products(selection: Selection, products: set[int]) -> None:
    """By itself, in a mask and in `where`."""
    assert products == meant(selection)
    assert products == {int(one) for one in CATALOG.where(selection).products["product_id"]}


@given(nested())
def test_and_or_and_not_are_those_of_sets(one: tuple[Selection, set[int]]) -> None:
    """However deep they are nested: two conditions about one name stay two."""
    selection, products = one
    assert products == meant(selection)


@given(nested())
def test_a_selection_comes_back_from_json_and_toml(
    tmp_path_factory: pytest.TempPathFactory, one: tuple[Selection, set[int]]
) -> None:
    """As the same value, which hashes and reads the same."""
    selection, _ = one
    path = tmp_path_factory.mktemp("selections") / "one.toml"
    for again in (
        from_plain(json.loads(json.dumps(as_plain(selection)))),
        prodex.Selection.read(selection.save(path)),
    ):
        assert selection == again
        assert (hash(selection), str(selection)) == (hash(again), str(again))


@given(nested())
def test_each_condition_alone_makes_the_whole(one: tuple[Selection, set[int]]) -> None:
    """What `single` yields means together what the selection means."""
    selection, products = one
    masks = [CATALOG.mask(each) for each in selection.single()]
    every = np.ones(len(CATALOG), bool)
    assert products == {
        number for number, is_meant in enumerate(np.logical_and.reduce([every, *masks]), 1) if is_meant
    }


def test_no_column_has_the_name_of_a_key() -> None:
    """Else a file could not say which of both is meant."""
    assert not set(KEYS) & set(COLUMNS)


@each_row(
    ("given", "words"),
    [
        ({"brand_cod": "ACME"}, "brand_cod: .*did you mean 'brand_code'"),
        ({"brand_code": {"x": 1}}, "brand_code: .*give a value, or a list"),
        ({"any": []}, "any: .*give a list of tables"),
        ({"any": [{"nothing": 1}]}, r"any\.0\.nothing: there is no key"),
        ({"except": "ACME"}, "except: it is the text 'ACME'"),
        ({"groups": {"tag": [1]}}, r"groups\.tag: its codes are texts"),
        ({"ranges": {"texts_count": {"least": 1}}}, r"ranges\.texts_count\.least: there is no key"),
        ({"ranges": {"texts_count": {"from": float("nan")}}}, "give a number, or a day such as"),
        ({"ranges": {"texts_count": {"from": "1"}}}, "give a number, or a day such as"),
        ({"words": 7}, "words: it is the number 7"),
        ({"products": [{"title": "x", "ids": [7]}]}, r"products\.0: give a title and ids"),
        (7, "it is the number 7"),
    ],
)
def test_what_is_no_selection_is_refused_with_its_place(given: Any, words: str) -> None:
    """And with what to write instead."""
    with pytest.raises(InputError, match=words):
        from_plain(given)


def test_a_deep_nest_is_refused_and_not_followed() -> None:
    """A file may be from anybody."""
    deep: Any = {"brand_code": "ACME"}
    for _ in range(200):
        deep = {"except": [deep]}
    with pytest.raises(InputError, match="nested deeper than 20"):
        from_plain(deep)


@given(st.integers(1, 60))
def test_what_is_saved_can_be_read(depth: int) -> None:
    """Or is refused when it is written, not when it is needed."""
    selection = Selection.of(brand_code="ACME") & Selection.of(brand_code="ZEST")
    for _ in range(depth):
        selection = ~(selection | Selection.of(market=56)) & ~Selection.of(brand_code="ACME")
    if depth > 9:  # each turn is two levels, and 20 are read
        with pytest.raises(InputError, match="nested deeper"):
            as_plain(selection)
    else:
        assert selection == from_plain(as_plain(selection))


@pytest.mark.parametrize("language", ["fr", "FR", "fra", "fra-FR", "fr_BE"])
@pytest.mark.parametrize("group", ["missing", "missing:all"])
def test_a_language_that_is_lacked_is_one_in_any_form(group: str, language: str) -> None:
    """It was looked up letter by letter, so that every product lacked its name in "fra-FR"."""
    lacking = Selection(groups={group: (f"namePublicLong:{language}",)})

    assert 4 not in meant(lacking)
    assert meant(lacking) == meant(Selection(groups={group: ("namePublicLong:fr",)}))
    # By way of a facet as well, where a language is chosen beside it.
    assert set() == meant(lacking & Selection(groups={"language": ("fra-FR",)}))


def test_the_last_day_of_a_range_belongs_to_it() -> None:
    """As in a file; a day was refused with the advice to give one."""
    catalog = prodex.flatten([{"id": n, "updatedAt": f"2026-01-3{n}T12:00:00"} for n in (0, 1)])
    days = Range(date(2026, 1, 31), date(2026, 1, 31))

    assert [False, True] == catalog.mask(Selection(ranges={"updated_at": days})).tolist()
    with pytest.raises(QueryError, match="a day, such as"):
        catalog.mask(Selection(ranges={"updated_at": Range("2026-01-31")}))  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [float("nan"), pd.NaT, np.float64("nan")])
def test_a_limit_that_is_no_value_is_refused(limit: Any) -> None:
    """The largest date of an empty column is none: NaT was an error of pandas, and NaN meant no product."""
    with pytest.raises(InputError, match="Leave it out where the range is open"):
        Range(limit)


@pytest.mark.parametrize("code", [True, 250, float("nan")])
def test_the_code_of_a_group_that_is_no_text_is_refused(code: Any) -> None:
    """Of no product is the code the number 250, and True ended with an error of Python."""
    for codes in ((code,), [code], code):
        with pytest.raises(InputError, match="Codes of groups are texts"):
            Selection(groups={"market": codes})


@each_row(
    ("text", "products"),
    [
        ("life_cycle = {from = 2, to = 6}", {2}),
        ("ranges = {life_cycle = {to = 7}}", {2, 3}),
        ("updated_at = {from = 2026-01-01, to = 2026-01-31}", {3}),
        ("updated_at = {to = 2026-01-31T08:00:00}", set()),
        ('updated_at = {from = "31.1.2026"}', {3}),
    ],
)
def test_a_range_in_a_file_has_whole_days(tmp_path: Path, text: str, products: set[int]) -> None:
    """As somebody who edits it means them: the last day belongs to it."""
    path = tmp_path / "one.toml"
    path.write_text(text)
    records = [*RECORDS[:2], RECORDS[2] | {"updatedAt": "2026-01-31T20:15:00"}, RECORDS[3]]
    mask = prodex.flatten(records).mask(prodex.Selection.read(path))
    assert products == {number for number, is_meant in enumerate(mask.tolist(), 1) if is_meant}


def test_a_list_that_no_file_can_hold_is_refused_before_it_is_written(tmp_path: Path) -> None:
    """A file that cannot be read again is none."""
    with pytest.raises(InputError, match=r"would have .* bytes, and of a selection 1,048,576 are read"):
        Selection.of(product_id=[f"{number:020d}" for number in range(60_000)]).save(tmp_path / "all.toml")
    assert [] == list(tmp_path.iterdir())


def test_a_file_that_is_something_else_is_not_replaced(tmp_path: Path) -> None:
    """A typing error in a name costs nobody a recipe."""
    path = tmp_path / "spelling.toml"
    path.write_text('title = "a recipe"\n')
    with pytest.raises(InputError, match="is no selection"):
        Selection.of(brand_code="ACME").save(path)
    assert 'title = "a recipe"\n' == path.read_text()


@each_row(
    "selection",
    [
        Selection.of(brand_cod="ACME"),
        Selection.of(sharing_status="DRAFFT"),
        Selection(groups={"colour": ("red",)}),
        Selection(ranges={"brand": Range(1, 2)}),
        Selection(failing=(FailingChecks("x", ("valid_gtin",)),)),
        Selection.of(texts_count=Begins("1")),
    ],
)
@pytest.mark.parametrize(
    "wrap", [lambda one: one, lambda one: one | Selection.of(brand_code="ACME"), lambda one: ~one]
)
def test_what_cannot_be_asked_is_an_error_wherever_it_stands(selection: Selection, wrap: Any) -> None:
    """Never products that nobody has asked for."""
    with pytest.raises((QueryError, ProdexError)):
        CATALOG.where(wrap(selection))


def test_a_beginning_that_no_product_has_is_said() -> None:
    """As a value is."""
    with pytest.raises(QueryError, match="1 of 2 values of brand_code were not found"):
        CATALOG.where(brand_code=[Begins("AC"), Begins("ZZ")], unmatched="raise")


@given(
    st.lists(st.sampled_from(["a", "b", None]), max_size=6), st.lists(st.sampled_from(["a", "b"]), max_size=4)
)
def test_a_press_twice_is_a_press_taken_back(chosen: list[str | None], excluded: list[str]) -> None:
    """A code is selected or excluded, never both; nothing is left of conditions that were taken back."""
    selection = Selection()
    for code in chosen:
        selection = selection.toggled("tag", code)
    for code in excluded:
        selection = selection.excluding("tag", code)
    assert not set(selection.groups.get("tag", ())) & set(selection.excluded.get("tag", ()))
    assert Selection() == selection.without_group("tag")


@pytest.mark.parametrize(
    ("group", "code", "near"),
    [
        ("fill:brand", "filed", "filled"),
        ("fill:brand", "Filled", "filled"),
        ("packshot", "true", "yes"),
        ("unit", "ture", "true"),
        ("complete:Web shop", "complet", "complete"),
    ],
)
def test_a_typed_code_that_a_group_cannot_have_is_refused(
    tmp_path: Path, group: str, code: str, near: str
) -> None:
    """No product has it, so that "all but these" meant every product."""
    path = tmp_path / "own.toml"
    path.write_text(f'except = {{groups = {{"{group}" = "{code}"}}}}')

    with pytest.raises(InputError, match=rf"own\.toml, line 1, except.*has no code '{code}'.*{near}"):
        Selection.read(path)
    with pytest.raises(InputError, match="has no code"):
        from_plain({"groups": {group: [None, code]}})
    with pytest.raises(InputError, match=rf"groups: .* has no code '{code}'.*{near}"):
        Selection(groups={group: (None, code)})
    for way in (Selection().toggled, Selection().excluding):
        with pytest.raises(InputError, match="has no code"):
            way(group, code)


def test_codes_of_a_group_are_a_text_or_a_list_as_in_files() -> None:
    """A text is one code, and not one for each of its letters."""
    one = Selection(groups={"brand": ("ACME",)})
    assert one == Selection(groups={"brand": "ACME"}) == Selection(groups={"brand": ["ACME"]})  # type: ignore[dict-item]
