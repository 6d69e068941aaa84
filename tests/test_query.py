"""What to ask the service for: taken in many forms, checked, written to the wire and read back."""

from __future__ import annotations

import calendar
import dataclasses
import json
import pickle
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from enum import Enum

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.errors import QueryError
from prodex.query import (
    ALWAYS_REQUESTED,
    FILTERS,
    SEARCH_FIELDS,
    ProductQuery,
    ProductStatus,
    SharingStatus,
    ValidationStatus,
)
from prodex_sandbox.api.filters import read_body, read_query_string
from tests.cases import each_row

NOON = datetime(2026, 11, 13, 12, tzinfo=UTC)
NOON_IN_SECONDS = 1_794_571_200

# Field -> what a user gives, the form in a POST body, and in a GET query; written down from the spec by hand.
WIRE = {
    "gtins_in": (["3036811359935", 8], ["03036811359935", "00000000000008"], "03036811359935,00000000000008"),
    "updated_at_from": (NOON, NOON_IN_SECONDS, "1794571200"),
    "updated_at_to": (NOON, NOON_IN_SECONDS, "1794571200"),
    "validation_status_in": (["ok", "VALIDATION_STATUS_NA", 3], "2,0,3", "2,0,3"),
    "tags_in": (["exportable", "new"], "exportable,new", "exportable,new"),
    "tags_not_in": ("blocked", "blocked", "blocked"),
    "source_include": (
        ["assets"],
        ["assets", "id", "uuid", "gtin", "updatedAt"],
        "assets,id,uuid,gtin,updatedAt",
    ),
    "source_exclude": (["history", "assets"], "history,assets", "history,assets"),
    "target_productstatus_in": (["accepted", "UPDATED"], "ACCEPTED,UPDATED", "ACCEPTED,UPDATED"),
    "status_shared_from": ("draft", 2, "2"),
    "status_shared_with": (4, 4, "4"),
    "target_market": ("France", 250, "250"),
    "product_languages": (["fr", "deu-DE", "Dutch"], "fr,deu-DE,nl", "fr,deu-DE,nl"),
    "has_packshot": (True, True, "true"),
    "has_no_packshot": (True, True, "true"),
    "pictures_last_updated_at_from": (NOON, NOON_IN_SECONDS * 1000, "1794571200000"),
    "pictures_last_updated_at_to": (NOON, NOON_IN_SECONDS * 1000, "1794571200000"),
    "active_range": (True, True, "true"),
    "owners_in": ([11, "12"], "11,12", "11,12"),
    "search": (
        [("cocoa", ["brand.label", "kind.label"])],
        {"must": [{"query": "cocoa", "fields": ["brand.label", "kind.label"]}]},
        None,
    ),
}

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters=","), min_size=1)
PATHS = st.from_regex(r"[a-w]\w{0,8}(\.\w{1,8}){0,3}", fullmatch=True)
MOMENTS = st.datetimes(
    min_value=datetime(1970, 1, 2),  # noqa: DTZ001 - Hypothesis adds the zone
    max_value=datetime(5000, 12, 30),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-5)), timezone(timedelta(hours=5, minutes=45))]),
)
VALUES = {
    "gtins_in": st.lists(st.from_regex(r"[0-9]{1,14}", fullmatch=True), min_size=1),
    "updated_at_from": MOMENTS,
    "updated_at_to": MOMENTS,
    "validation_status_in": st.lists(st.sampled_from(ValidationStatus), min_size=1),
    "tags_in": st.lists(WORDS, min_size=1),
    "tags_not_in": st.lists(WORDS, min_size=1),
    "source_include": st.lists(PATHS, min_size=1),
    "source_exclude": st.lists(PATHS.map(lambda path: f"x_{path}"), min_size=1),
    "target_productstatus_in": st.lists(st.sampled_from(ProductStatus), min_size=1),
    "status_shared_from": st.sampled_from(SharingStatus),
    "status_shared_with": st.sampled_from(SharingStatus),
    "target_market": st.sampled_from([250, 56, 276, 724, 840]),
    "product_languages": st.lists(st.sampled_from(["fr", "fra-FR", "fr-FR", "French", "nl"]), min_size=1),
    "has_packshot": st.just(True),
    "has_no_packshot": st.just(True),
    "pictures_last_updated_at_from": MOMENTS,
    "pictures_last_updated_at_to": MOMENTS,
    "active_range": st.just(True),
    "owners_in": st.lists(st.integers(0, 2**31 - 1), min_size=1),
    "search": st.lists(
        st.tuples(
            st.text(min_size=1).filter(str.strip), st.lists(st.sampled_from(SEARCH_FIELDS), min_size=1)
        ),
        min_size=1,
    ),
}
EXTRA = st.dictionaries(
    st.text(min_size=1).map(lambda name: f"x_{name}"),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=5,
    ),
    max_size=3,
)


def without_contradiction(values):
    """Return drawn values so that some product can meet all of them."""
    for begin, end in (
        ("updated_at_from", "updated_at_to"),
        ("pictures_last_updated_at_from", "pictures_last_updated_at_to"),
    ):
        if begin in values and end in values:
            values[begin], values[end] = sorted((values[begin], values[end]))
    if "has_packshot" in values:
        values.pop("has_no_packshot", None)
    if "tags_in" in values and "tags_not_in" in values:
        values["tags_not_in"] = [f"no {tag}" for tag in values["tags_not_in"]]
        values["tags_in"] = [f"with {tag}" for tag in values["tags_in"]]
    return values


@st.composite
def queries(draw, fields=tuple(FILTERS), values=VALUES, extra=EXTRA):
    """Draw queries that no contradiction makes impossible."""
    chosen = draw(st.sets(st.sampled_from(fields)))
    drawn = {name: draw(values[name]) for name in chosen}
    return ProductQuery(**without_contradiction(drawn), extra=draw(extra))


@pytest.mark.slow
@given(queries())
def test_a_query_read_back_from_its_body_is_the_same_query(query):
    """Law 5: a query written as a POST body, sent as JSON text and read back is the same query."""
    again = ProductQuery.from_body(json.loads(query.wire()))
    assert query == again
    assert hash(query) == hash(again)
    assert query.digest == again.digest


@pytest.mark.slow
@given(queries(tuple(name for name in FILTERS if name != "search")))
def test_a_query_read_back_from_its_parameters_is_the_same_query(query):
    """A query written as GET parameters and read back is the same query, as far as text can tell."""
    query = dataclasses.replace(query, extra={})
    params = query.to_params()
    assert {str} >= {type(value) for value in params.values()}
    assert query == ProductQuery.from_body(params)


@pytest.mark.slow
@given(queries())
def test_a_query_survives_pickling_and_prints_as_python(query):
    """A query goes to other processes unchanged, and its repr makes it again."""
    names = {"ProductQuery": ProductQuery, "datetime": __import__("datetime")}
    assert query == pickle.loads(pickle.dumps(query))
    assert query == eval(repr(query), names)


@pytest.mark.slow
@given(queries(tuple(name for name in FILTERS if name != "search")))
def test_the_sandbox_reads_what_the_query_says(query):
    """Law 5: the sandbox's own reading of a body, and of a query string, finds the values of the query."""
    query = dataclasses.replace(query, extra={})
    expected = {
        FILTERS[name].wire: plain(name, getattr(query, name)) for name in FILTERS if getattr(query, name)
    }
    assert expected == read_body(json.loads(query.wire()))
    assert expected == read_query_string(query.to_params().items())


def plain(name, value):
    """Return a value in the spec's own terms: numbers, texts and lists of them."""
    if isinstance(value, datetime):
        whole = calendar.timegm(value.astimezone(UTC).timetuple())
        return whole * 1000 + value.microsecond // 1000 if name.startswith("pictures") else whole
    if isinstance(value, tuple):
        return tuple(plain(name, item) for item in value)
    return value.value if isinstance(value, Enum) else value


def test_every_field_is_declared_and_tested():
    """Every field of a query has its wire name, and this file knows them all."""
    fields = [field.name for field in dataclasses.fields(ProductQuery) if field.name != "extra"]
    assert fields == list(FILTERS)
    assert set(FILTERS) == set(WIRE) == set(VALUES)


@each_row("field", FILTERS)
def test_each_filter_has_the_forms_of_the_spec(field):
    """A value is written as the spec shows it, in a body and in a query string, and both are read back."""
    given_value, in_body, in_params = WIRE[field]
    query = ProductQuery(**{field: given_value})
    wire = FILTERS[field].wire
    assert {wire: in_body} == query.to_body()
    assert query == ProductQuery.from_body({wire: in_body})
    if in_params is not None:
        assert {wire: in_params} == query.to_params()
        assert query == ProductQuery.from_body({wire: in_params})


def test_wire_names_are_those_of_the_spec():
    """The wire names are the parameters of endpoints 4 and 5, as the spec prints them."""
    prefixed = set(FILTERS) - {
        "updated_at_from",
        "updated_at_to",
        "status_shared_from",
        "status_shared_with",
        "search",
    }
    expected = {name: f"filter_{name}" if name in prefixed else name for name in FILTERS} | {
        "search": "advanced_search"
    }
    assert expected == {name: one.wire for name, one in FILTERS.items()}


@each_row(
    "tags",
    [["a", "b"], ("a", "b"), "a,b", " a , b ", pd.Series(["a", "b"]), (tag for tag in "ab"), ["a", "b", "a"]],
)
def test_lists_are_taken_in_any_form(tags):
    """A list may be any iterable or a comma-separated string; it is kept as a tuple of distinct values."""
    assert ProductQuery(tags_in=tags).tags_in == ("a", "b")


def test_gtins_keep_their_leading_zeros():
    """GTINs are filled up to 14 digits, whether they came as text or as a number that lost its zeros."""
    query = ProductQuery(gtins_in=[3036811359935, "03036811359935", np.int64(96385074), "96385074"])
    assert query.gtins_in == ("03036811359935", "00000096385074")


@each_row("gtin", [3036811359935.5, float("nan"), None, "3.03681E+12", "123456789012345", "", True, -1])
def test_what_is_no_gtin_is_refused(gtin):
    """A GTIN that a spreadsheet has turned into something else is refused, not guessed."""
    with pytest.raises(QueryError, match="gtins_in"):
        ProductQuery(gtins_in=[gtin])


@each_row("name", [name for name in FILTERS if isinstance(WIRE[name][0], list)])
def test_an_empty_list_is_refused(name):
    """An empty list is refused: the service would take it for no filter, and send everything."""
    with pytest.raises(QueryError, match=f"{name} is empty"):
        ProductQuery(**{name: []})


def test_naive_datetimes_are_refused_with_the_way_to_mend_them():
    """A datetime without a zone is refused; the message shows both ways to give it one."""
    with pytest.raises(
        QueryError, match=r"updated_at_from got 2026-11-13T12:00:00 without.*tzinfo=UTC.*astimezone"
    ):
        ProductQuery(updated_at_from=NOON.replace(tzinfo=None))


@each_row("number", [NOON_IN_SECONDS * 1000, 10**11, -1, 10**30])
def test_milliseconds_for_seconds_are_refused(number):
    """A number that is too large for seconds is refused as milliseconds."""
    with pytest.raises(QueryError, match="looks like milliseconds"):
        ProductQuery(updated_at_to=number)


@each_row("moment", [NOON_IN_SECONDS, NOON, pd.Timestamp(NOON), NOON + timedelta(microseconds=999_999)])
def test_seconds_are_whole_and_in_utc(moment):
    """Points in time go over the wire in the field's own unit, cut to it, whatever zone they came in."""
    zoned = moment if isinstance(moment, int) else moment.astimezone(timezone(timedelta(hours=9)))
    query = ProductQuery(updated_at_from=zoned)
    assert query.updated_at_from == NOON
    assert query.updated_at_from.tzinfo == UTC


@each_row("moment", [NOON_IN_SECONDS * 1000, "2026-11-13", date(2026, 11, 13), True, 1.5, pd.NaT])
def test_only_datetimes_are_points_in_time_of_pictures(moment):
    """For pictures, where the wire counts milliseconds, numbers are refused: their unit cannot be seen."""
    with pytest.raises(QueryError, match="pictures_last_updated_at_from takes an aware datetime"):
        ProductQuery(pictures_last_updated_at_from=moment)


def test_before_1970_there_is_no_unix_time():
    """A point in time before 1970 is refused."""
    with pytest.raises(QueryError, match="before 1970"):
        ProductQuery(updated_at_from=datetime(1969, 12, 31, tzinfo=UTC))


@each_row(
    ("fields", "words"),
    [
        ({"updated_at_from": NOON, "updated_at_to": NOON - timedelta(days=1)}, "is after"),
        ({"has_packshot": True, "has_no_packshot": True}, "contradict"),
        ({"tags_in": ["a", "b"], "tags_not_in": ["b"]}, r"both hold \['b'\]"),
        ({"has_packshot": False}, "has_packshot takes True"),
        ({"active_range": False}, "active_range takes True"),
        ({"status_shared_with": 7}, r"takes DRAFT \(2\), PENDING \(3\), ACCEPTED \(4\)"),
        ({"status_shared_with": True}, "does not know True"),
        ({"validation_status_in": "PERFECT"}, "validation_status_in does not know 'PERFECT'"),
        ({"target_productstatus_in": ["LOST"]}, "TO_BE_VALIDATED"),
        ({"target_market": "Atlantis"}, "no market 'Atlantis'"),
        ({"target_market": 250.0}, "whole numbers"),
        ({"product_languages": "Elvish"}, "no language 'Elvish'"),
        ({"owners_in": ["me"]}, "whole numbers"),
        ({"source_include": ["."]}, "dotted paths"),
        ({"source_include": ["assets..url"]}, "dotted paths"),
        ({"source_exclude": ["the brand"]}, "dotted paths"),
        ({"tags_in": ["a,b"]}, "without commas"),
        ({"tags_in": {"a": 1}}, "without commas"),
        ({"search": [("cocoa", ["gtin"])]}, "namePublicLong.data, composition.data, allergens.data"),
        ({"search": ("cocoa", ["brand.label"])}, "list of"),
        ({"search": [("", ["brand.label"])]}, "needs a word"),
        ({"search": 5}, "list of"),
        ({"search": []}, "search is empty"),
        ({"extra": {"filter_tags_in": "a"}}, "field of its own: tags_in"),
        ({"extra": {"limit": 5}}, "limit"),
        ({"extra": {"x": NOON}}, "JSON"),
        ({"extra": {"x": float("nan")}}, "JSON"),
    ],
)
def test_what_cannot_be_meant_is_refused(fields, words):
    """A value that the service could not understand, or not as it was meant, is refused with what to give."""
    with pytest.raises(QueryError, match=words):
        ProductQuery(**fields)


@each_row(
    ("name", "nearest"),
    [
        ("tag_in", "tags_in"),
        ("filter_target_market", "target_market"),
        ("gtin", "gtins_in"),
        ("market", "target_market"),
    ],
)
def test_an_unknown_field_gets_the_nearest_name(name, nearest):
    """A misspelt field is an error that names the nearest one."""
    with pytest.raises(QueryError, match=f"no field '{name}'. Did you mean {nearest}?"):
        ProductQuery(**{name: 1})


def test_keys_of_all_tables_are_always_requested():
    """The keys of all tables and the language of a requested text are added to the requested fields."""
    query = ProductQuery(source_include=["namePublicLong.data", "synonyms.text.data", "gtin"])
    assert query.source_include == (
        "namePublicLong.data",
        "synonyms.text.data",
        "gtin",
        "namePublicLong.expressedIn",
        "synonyms.text.expressedIn",
        "id",
        "uuid",
        "updatedAt",
    )


@each_row("field", [*ALWAYS_REQUESTED, "namePublicLong.expressedIn", "brand", "assets"])
def test_what_is_always_requested_cannot_be_excluded(field):
    """Excluding a key, a language or something that is requested as well is an error."""
    with pytest.raises(QueryError, match=f"source_exclude holds {field}"):
        ProductQuery(source_include=["brand", "assets.pictures"], source_exclude=[field])


@each_row("field", [*ALWAYS_REQUESTED, "namePublicLong.expressedIn", "netContent.expressedIn.code"])
def test_keys_cannot_be_excluded_from_full_records(field):
    """Without requested fields, keys and languages cannot be excluded either; all else can."""
    with pytest.raises(QueryError, match=f"source_exclude holds {field}"):
        ProductQuery(source_exclude=["history", field])


def test_a_part_of_a_requested_field_can_be_excluded():
    """What lies below a requested field can be left out, as can names that only begin alike."""
    query = ProductQuery(source_include=["assets"], source_exclude=["assets.videos", "asset", "identity"])
    assert ("assets.videos", "asset", "identity") == query.source_exclude


def test_unknown_filters_pass_through():
    """A filter that prodex does not know goes to the wire as it is, and comes back from there."""
    query = ProductQuery(gtins_in="1", extra={"allow_not_consumer_units": True, "list": ["a", 1]})
    assert query.to_body() == {
        "filter_gtins_in": ["00000000000001"],
        "allow_not_consumer_units": True,
        "list": ["a", 1],
    }
    assert query.to_params() == {
        "allow_not_consumer_units": "true",
        "list": "a,1",
        "filter_gtins_in": "00000000000001",
    }
    assert query == ProductQuery.from_body(query.to_body())


def test_nobody_can_change_a_query():
    """A query stays what it was: its fields, what it was made from, and what it gives away."""
    extra = {"list": [1]}
    query = ProductQuery(tags_in=["a"], extra=extra)
    extra["list"].append(2)
    query.to_body()["list"].append(3)
    assert query.to_body() == {"filter_tags_in": "a", "list": [1]}
    with pytest.raises(dataclasses.FrozenInstanceError):
        query.tags_in = ("b",)
    with pytest.raises(TypeError):
        query.extra["list"] = []


def test_search_is_for_post_alone():
    """A query with a search cannot be written as GET parameters."""
    with pytest.raises(QueryError, match="search cannot be asked by GET"):
        ProductQuery(search="cocoa").to_params()


def test_a_word_alone_is_looked_for_everywhere():
    """A word without fields is looked for in all fields that the service can search."""
    assert ProductQuery(search="dark cocoa, 70 %").search == (("dark cocoa, 70 %", SEARCH_FIELDS),)


def test_bodies_of_others_can_be_read():
    """A body with other legal forms and with paging in it is read as a query without paging."""
    body = {
        "filter_gtins_in": "1,2",
        "filter_tags_in": ["a"],
        "updated_at_from": "1794571200",
        "limit": 500,
        "offset": 0,
        "next_page": "",
    }
    assert ProductQuery(gtins_in=[1, 2], tags_in="a", updated_at_from=NOON) == ProductQuery.from_body(body)


@each_row(
    "body",
    [
        {"updated_at_from": "yesterday"},
        {"updated_at_from": 10**30},
        {"advanced_search": {"should": []}},
        {"advanced_search": "cocoa"},
        {"filter_has_packshot": "maybe"},
    ],
)
def test_a_body_that_cannot_be_read_is_refused(body):
    """A body with a value of no known form is refused."""
    with pytest.raises(QueryError):
        ProductQuery.from_body(body)


def test_a_query_prints_only_what_it_asks():
    """The repr shows the fields that are set, with statuses as their names."""
    query = ProductQuery(validation_status_in=[2], status_shared_from=3, target_productstatus_in="REFUSED")
    assert (
        repr(query) == "ProductQuery(validation_status_in=('OK',), target_productstatus_in=('REFUSED',), "
        "status_shared_from='PENDING')"
    )
    assert repr(ProductQuery()) == "ProductQuery()"


@pytest.mark.slow
def test_the_digest_does_not_depend_on_order_or_process():
    """The digest is the same for any order of values, in any process, and differs for another question."""
    query = ProductQuery(gtins_in=["1", "2"], tags_in=["a", "b"], extra={"x": 1, "y": 2})
    other = ProductQuery(extra={"y": 2, "x": 1}, tags_in=["b", "a"], gtins_in=["2", "1"])
    code = f"from prodex.query import ProductQuery; print({query!r}.digest)"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert query.digest == other.digest == printed
    assert query.digest != ProductQuery(gtins_in=["1", "2"], tags_not_in=["a", "b"]).digest


def test_a_probe_asks_for_one_uuid_with_all_filters():
    """A probe keeps every filter and asks for one product and its uuid alone (spec, pagination rule 3)."""
    query = ProductQuery(tags_in="a", source_include=["brand"], source_exclude=["kind"])
    assert query.to_probe() == {"filter_tags_in": "a", "filter_source_include": ["uuid"], "limit": 1}


def test_rich_content_asks_for_its_fields_alone():
    """The query for rich content keeps the filters and asks for GTIN, id and assets (spec, endpoint 6)."""
    query = ProductQuery(has_packshot=True, source_include=["brand"])
    assert query.to_rich_content_params() == {
        "filter_has_packshot": "true",
        "filter_source_include": "gtin,id,assets",
    }


def test_long_lists_of_gtins_are_cut_without_loss():
    """Calls of a long list hold every GTIN once, and keep the other filters."""
    query = ProductQuery(gtins_in=range(1000), tags_in="a")
    parts = list(query.in_calls(300))
    assert [len(part.gtins_in) for part in parts] == [300, 300, 300, 100]
    assert query.gtins_in == tuple(gtin for part in parts for gtin in part.gtins_in)
    assert {("a",)} == {part.tags_in for part in parts}
