"""What the controls of a query show, and what is read from them, are inverses for every query."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.errors import QueryError
from prodex.notebook.query.fields import FIELDS, QueryField, asked, control_values
from prodex.query import (
    FILTERS,
    SEARCH_FIELDS,
    ProductQuery,
    ProductStatus,
    SharingStatus,
    ValidationStatus,
)
from tests.cases import each_row
from tests.test_query import without_contradiction

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=","), min_size=1).filter(
    str.strip
)
PATHS = st.one_of(
    st.from_regex(r"[a-w]\w{0,8}(\.\w{1,8}){0,3}", fullmatch=True),
    st.sampled_from(["id", "gtin", "namePublicLong.data", "namePublicLong.expressedIn", "assets"]),
)
MOMENTS = st.datetimes(
    min_value=datetime(1970, 1, 2),  # noqa: DTZ001 - Hypothesis adds the zone
    max_value=datetime(5000, 12, 30),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-5)), timezone(timedelta(hours=5, minutes=45))]),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    "gtins_in": st.lists(st.from_regex(r"[0-9]{1,14}", fullmatch=True), min_size=1),
    "updated_at_from": MOMENTS,
    "updated_at_to": MOMENTS,
    "validation_status_in": st.lists(st.sampled_from(ValidationStatus), min_size=1),
    "tags_in": st.lists(TEXTS, min_size=1),
    "tags_not_in": st.lists(TEXTS, min_size=1),
    "source_include": st.lists(PATHS, min_size=1),
    "source_exclude": st.lists(PATHS.map(lambda path: f"x_{path}".replace("expressedIn", "x")), min_size=1),
    "target_productstatus_in": st.lists(st.sampled_from(ProductStatus), min_size=1),
    "status_shared_from": st.sampled_from(SharingStatus),
    "status_shared_with": st.sampled_from(SharingStatus),
    "target_market": st.sampled_from([250, 56, 276, 724, 840, 280]),
    "product_languages": st.lists(
        st.sampled_from(["fr", "fra-FR", "fr-FR", "French", "nl", "Dutch", "zh-Hant-TW"]), min_size=1
    ),
    "has_packshot": st.just(True),
    "has_no_packshot": st.just(True),
    "pictures_last_updated_at_from": MOMENTS,
    "pictures_last_updated_at_to": MOMENTS,
    "active_range": st.just(True),
    "owners_in": st.lists(st.integers(), min_size=1),
    "search": st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip),
            st.lists(st.sampled_from(SEARCH_FIELDS), min_size=1),
        ),
        min_size=1,
    ),
}


@st.composite
def queries(draw: st.DrawFn) -> ProductQuery:
    """Draw queries that no contradiction makes impossible."""
    values = {name: draw(VALUES[name]) for name in draw(st.sets(st.sampled_from(list(VALUES))))}
    extra = draw(st.dictionaries(TEXTS.map(lambda name: f"x_{name}"), JSON, max_size=3))
    return ProductQuery(**without_contradiction(values), extra=extra)


def test_every_filter_has_its_control() -> None:
    """The controls fill every filter once, and pass on values unchanged."""
    filled = [name for field in FIELDS for name in field.names]
    assert sorted([*FILTERS, "extra"]) == sorted(filled)
    assert set(FILTERS) == set(VALUES)


@pytest.mark.slow
@given(queries())
def test_what_is_shown_of_a_query_is_read_as_the_same_query(query: ProductQuery) -> None:
    """The way from a query to the values of the controls and back is the identity."""
    assert query == asked(control_values(query))


@pytest.mark.slow
@given(st.lists(queries(), min_size=1, max_size=3))
def test_the_controls_hold_what_they_are_told_to_show(some: list[ProductQuery]) -> None:
    """The way through the controls themselves is the identity, and nothing of a former query stays."""
    controls = [field.make() for field in FIELDS]
    for query in some:
        for control, value in zip(controls, control_values(query), strict=True):
            control.value = value
        assert query == asked([control.value for control in controls])


def test_a_new_panel_shows_no_filter() -> None:
    """New controls ask for everything."""
    assert ProductQuery() == asked([field.make().value for field in FIELDS])
    assert ProductQuery() == asked(control_values(ProductQuery()))


def field_of(name: str) -> QueryField:
    return next(field for field in FIELDS if name in field.names)


@each_row(
    ("name", "value", "message"),
    [
        ("gtins_in", "GTIN\nabc", "gtins_in has no GTIN, but GTIN, abc"),
        ("owners_in", "11, twelve", "owners_in takes whole numbers, not 'twelve'"),
        ("product_languages", "Frnch", "There is no language 'Frnch'. Did you mean 'French'"),
        ("extra", "{", "extra cannot be read as JSON"),
        ("extra", "[" * 100_000, "extra cannot be read as JSON"),
        ("extra", "[1]", "extra is "),
        ("extra", '{"limit": 5}', "extra holds limit"),
        ("search", (("cocoa", ()),), "No field is selected for the word 'cocoa'"),
        ("source_include", "a b", "dotted paths"),
        ("source_exclude", "id", "which cannot be left out"),
        ("updated_at_from", datetime(1969, 1, 1), "before 1970"),  # noqa: DTZ001 - a picker knows no zone
    ],
)
def test_what_cannot_be_read_is_said(name: str, value: Any, message: str) -> None:
    """A value that no query can have is an error with a message."""
    values = [value if name in field.names else field.shown(ProductQuery()) for field in FIELDS]
    with pytest.raises(QueryError) as refused:
        asked(values)
    assert message in str(refused.value)


def test_a_field_is_a_value() -> None:
    """A declaration cannot be changed while panels use it."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        field_of("search").hint = ""  # type: ignore[misc]
