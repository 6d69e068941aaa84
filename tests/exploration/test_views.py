"""Saved views come back as they were, under any name, and a damaged file costs itself only."""

from __future__ import annotations

import json
from datetime import UTC

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex.errors import InputError
from prodex.exploration.filtering import ProductFilter
from prodex.exploration.saved_views import (
    SavedView,
    applicable,
    open_view,
    remove_view,
    save_view,
    saved_views,
)
from prodex.selection import FailingChecks, ProductList, Range, Selection
from prodex.selection.plain import as_plain, from_plain
from tests.cases import each_row

codes = st.dictionaries(
    st.text(max_size=8),
    st.lists(st.none() | st.text(max_size=8), min_size=1, max_size=3, unique=True).map(tuple),
    max_size=3,
)
moments = st.datetimes(timezones=st.just(UTC))
limits = st.none() | st.floats(allow_nan=False, allow_infinity=False) | moments
conditions = st.builds(
    Selection,
    groups=codes,
    excepted=codes.map(lambda one: tuple(Selection(groups={name: some}) for name, some in one.items())),
    ranges=st.dictionaries(st.text(max_size=8), st.builds(Range, limits, limits), max_size=2),
    words=st.text(max_size=20),
    failing=st.lists(
        st.builds(FailingChecks, st.text(max_size=9), st.lists(st.text(max_size=5)).map(tuple)), max_size=2
    ).map(tuple),
    listed=st.lists(
        st.builds(ProductList, st.text(max_size=9), st.lists(st.text(max_size=5)).map(tuple)), max_size=2
    ).map(tuple),
)


@pytest.mark.slow
@given(conditions)
def test_conditions_come_back_as_they_were(one: Selection) -> None:
    """Through JSON, whatever codes, words and limits there are."""
    assert one == from_plain(json.loads(json.dumps(as_plain(one), default=str)))


@example(
    Selection(),
    Selection(groups={"a": (None,)}, excepted=tuple(Selection(groups={one: (None,)}) for one in "ab")),
)
@given(conditions, conditions)
def test_what_is_added_is_required_and_can_be_removed(one: Selection, other: Selection) -> None:
    """Lists of products as well; a condition that both have is required once."""
    both = one.adding(other)
    assert both.require(other)
    assert not set(other.listed) & set(both.removing(other).listed)
    for products in other.listed:
        assert products not in both.listing(products).listed


def test_a_list_of_products_that_are_not_here_is_said() -> None:
    """It was saved for another catalogue."""
    here = ProductFilter(prodex.flatten([{"id": 7}, {"id": 8}]))
    some, none = ProductList("some", ("8", "9", "8")), ProductList("gone", ("9",))
    kept, said = applicable(Selection(listed=(some, none)), here)
    assert (some, none) == kept.listed
    assert "No product here meets: list: \u2068gone\u2069." == said
    assert [False, True] == here.mask(Selection(listed=(some,))).tolist()


@each_row("name", ["French, no ingredients", "../../etc/passwd", "CON", "שלום", "a/b", "🧀", "x" * 120])
def test_a_view_is_kept_under_any_name(name: str) -> None:
    """It is listed by the name that was typed, and its file lies in the folder of views."""
    view = SavedView(name, Selection().toggled("language", "fr"), ("gtin", "name"), "gtin", descending=True)
    path = save_view(view)
    assert "views" == path.parent.name
    assert ([name], view) == ([one.name for one in saved_views()], open_view(name))
    remove_view(name)
    remove_view(name)
    assert [] == saved_views()


def test_names_that_look_alike_as_files_are_kept_apart() -> None:
    """Two names have two files."""
    for name in ("a b", "a_b", "A b"):
        save_view(SavedView(name, Selection().searching(name)))
    assert ["A b", "a b", "a_b"] == [view.conditions.words for view in saved_views()]


@each_row(
    "content", ["", "{", "[]", '{"name": 7, "format": 2}', '{"name": "x", "format": "1"}', "[" * 100_000]
)
def test_a_damaged_view_is_left_out_and_said(content: str) -> None:
    """The others are listed as before."""
    save_view(SavedView("good"))
    path = save_view(SavedView("bad"))
    path.write_text(content)
    assert ["good"] == [view.name for view in saved_views()]
    with pytest.raises(InputError, match="cannot be read"):
        open_view("bad")


@each_row("name", ["", "  ", "x" * 121])
def test_a_view_needs_a_name(name: str) -> None:
    """It is said how long it may be."""
    with pytest.raises(InputError, match="Give it 1 to 120"):
        save_view(SavedView(name))


def test_a_view_that_is_not_there_is_said() -> None:
    """The message lists those that are."""
    save_view(SavedView("drinks"))
    with pytest.raises(InputError, match=r"no view 'food'\. Saved are 'drinks'"):
        open_view("food")
