"""The fields of a query: what they show, what is read from them, and what is said of what cannot be read."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.notebook.views.forms import FormField
from prodex.notebook.views.query_fields import (
    FIELDS,
    Options,
    Pasted,
    TypedQuery,
    asked,
    fields_with_choices,
    form_fields,
    offered_by,
    periods,
    read_gtins,
    similar_words,
)
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

_EARLY = datetime(1970, 3, 1)  # noqa: DTZ001 - Hypothesis adds the zone

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


def fields_of(query: ProductQuery = ProductQuery(), rows: tuple[int, ...] = (0,)) -> list[FormField]:  # noqa: B008
    return [one for group in form_fields(query, rows).values() for one in group]


def asked_for(query: ProductQuery = ProductQuery(), **typed: Any) -> TypedQuery:  # noqa: B008
    """Return what the form asks for that begins with a query, and in which something more was typed."""
    rows = tuple(range(max(len(query.search or ()), 1)))
    return asked({one.name: one.value for one in fields_of(query, rows)} | typed, rows)


def test_every_filter_has_its_field() -> None:
    """The fields fill every filter once, each has a label, and no name is there twice."""
    filled = [name for field in FIELDS for name in field.names]
    assert sorted([*FILTERS, "extra"]) == sorted(filled)
    assert set(FILTERS) == set(VALUES)
    assert all(field.label for field in FIELDS)
    names = [one.name for one in fields_of(rows=(0, 3))]
    assert len(set(names)) == len(names)


def test_a_form_in_which_nothing_was_typed_asks_for_all_products() -> None:
    """What stands in the fields at first is no filter."""
    assert TypedQuery(ProductQuery()) == asked_for()


@pytest.mark.slow
@given(queries())
def test_what_is_shown_of_a_query_is_read_as_the_same_query(query: ProductQuery) -> None:
    """The way from a query to its fields and back is the identity, also as JSON that goes to a browser."""
    rows = tuple(range(max(len(query.search or ()), 1)))
    values = {one.name: one.value for one in fields_of(query, rows)}
    assert TypedQuery(query) == asked(json.loads(json.dumps(values)), rows)


@each_row(
    ("typed", "at", "message"),
    [
        ({"gtins_in": "GTIN\nabc"}, "gtins_in", "There is no GTIN here, but GTIN, abc."),
        ({"owners_in": "11, twelve"}, "owners_in", "“twelve” is no whole number."),
        ({"owners_in": "1" * 400}, "owners_in", "is no whole number."),
        ({"product_languages": "Frnch"}, "product_languages", "no language 'Frnch'. Did you mean 'French'"),
        ({"extra": "{"}, "extra", "This cannot be read as JSON"),
        ({"extra": "[" * 100_000}, "extra", "This cannot be read as JSON"),
        ({"extra": "[1]"}, "extra", "“Further filters, as JSON” is "),
        ({"extra": '{"limit": 5}'}, "extra", "“Further filters, as JSON” holds limit"),
        ({"extra": '{"filter_tags_in": "x"}'}, "extra", "which has a field of its own: “Tag is on”."),
        ({"word_0": "cocoa", "word_0_in": []}, "word_0_in", "one of these for the word “cocoa”, or clear"),
        ({"source_include": "a b"}, "source_include", "“a b” is no path of a field."),
        ({"source_exclude": "id"}, "source_exclude", "“Leave out” holds id, which cannot be left out."),
        ({"updated_at_from": "1969-01-01T00:00"}, "updated_at_from", "Services count time from 1970 on."),
        ({"updated_at_to": "not a whole date"}, "updated_at_to", "This is not a whole date and time."),
        (
            {"updated_at_from": "2026-11-14T00:00", "updated_at_to": "2026-11-13T00:00"},
            "updated_at_from",
            "“Updated from (UTC)” (2026-11-14",
        ),
        ({"tags_in": "new, old", "tags_not_in": "old, new"}, "tags_not_in", "“new”, “old”: also under “Tag"),
    ],
)
def test_what_cannot_be_read_is_said_beside_its_field(typed: dict[str, Any], at: str, message: str) -> None:
    """The sentence has no names of Python, and it is at the field that is to be corrected."""
    found = asked_for(**typed)
    assert found.query is None
    assert [at] == [*found.errors]
    (sentence,) = found.errors.values()
    assert message in sentence
    assert len(sentence) < 400
    assert not [one for one in FILTERS if re.search(rf"\b{one}\b", sentence) and one != "search"]


def test_everything_that_is_wrong_is_said_at_once() -> None:
    """Each of several errors is beside its own field."""
    found = asked_for(owners_in="x", extra="{", word_0="tea", word_0_in=[])
    assert {"owners_in", "extra", "word_0_in"} == set(found.errors)


@pytest.mark.slow
@given(st.data())
def test_whatever_is_typed_is_a_query_or_said_to_be_none(data: st.DataObject) -> None:
    """No text in a field breaks the form: it can be asked for, or is refused in words."""
    texts = [one.name for one in fields_of() if one.kind in ("text", "long", "moment")]
    found = asked_for(**{name: data.draw(st.just("") | st.text(max_size=12), name) for name in texts})
    if found.query is None:
        assert all(found.errors.values())
    else:
        assert found.query == ProductQuery.from_body(found.query.to_body())


def test_many_gtins_are_read_while_somebody_types() -> None:
    """40,000 GTINs do not hold up the form, and are not read again for each letter that is typed elsewhere."""
    text = "\n".join(f"{number:014d}" for number in range(1, 40_001))
    began = time.monotonic()
    found = asked_for(gtins_in=text, tags_in="new")
    assert time.monotonic() - began < 5
    assert found.query is not None
    assert 40_000 == len(found.query.gtins_in or ())


def test_a_field_is_a_value() -> None:
    """A declaration cannot be changed while panels use it."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        FIELDS[0].hint = "x"  # type: ignore[misc]


@each_row(
    ("text", "gtins"),
    [
        ("3036811359935", ["03036811359935"]),
        ("GTIN\r\n03036811359935\r\n03663215000110\r\n", ["03036811359935", "03663215000110"]),
        ("03036811359935,03663215000110;8", ["03036811359935", "03663215000110", "00000000000008"]),
        ("03036811359935\tLait\t1.5\n", ["03036811359935"]),
        ('\'03036811359935 "03036811359935" ="03036811359935"', ["03036811359935"]),
        ("3036811359935.0", ["03036811359935"]),
        ("3.03681E+12 -5 ٣٠٣٦٨١١٣٥٩٩٣٥", []),
        (" , \n", []),
    ],
)
def test_gtins_are_read_as_spreadsheets_give_them(text: str, gtins: list[str]) -> None:
    """Headings, other columns, quotes and decimals do no harm, and nothing is guessed."""
    assert tuple(gtins) == read_gtins(text).gtins


def test_what_is_wrong_with_a_paste_is_said_with_numbers() -> None:
    """How many there are, which look wrong and which are left out; a long list is cut."""
    text = "\n".join([*map(str, range(10_000_001, 10_000_021)), "3036811359935", "3036811359935", *"abcdefg"])
    said = str(read_gtins(text))
    assert "21 GTINs to filter by. 1 repeated." in said
    assert "18 with a wrong length or check digit: 10000001, 10000002, 10000003," in said
    assert "(5 of 18)" in said
    assert "Left out, not GTINs: a, b, c, d, e (5 of 7)." in said
    assert Pasted() == read_gtins("")


def choices(name: str, text: str, owners: Options = ()) -> dict[str, FormField]:
    """Return a field in which something was typed, and what stands above it, by name."""
    values = {one.name: one.value for one in fields_of()} | {name: text}
    here = [one for one in fields_of() if one.name == name]
    return {one.name: one for one in fields_with_choices(here, values, owners)}


def test_a_usual_text_is_named_and_another_is_ones_own() -> None:
    """The list shows the preset of the text, or "other paths", which cannot be chosen before."""
    for text, shown in (("", "everything"), ("assets.pictures", "pictures only"), ("brand", "other paths")):
        found = choices("source_include", text)
        options = dict(found["source_include_choice"].options)
        assert shown == options[found["source_include_choice"].value]
        assert ("other paths" in options.values()) == (text == "brand")
        assert "Paths to return" == found["source_include"].label


def test_every_usual_choice_of_fields_is_recognised_again() -> None:
    """The fields of a query are shown as the preset that they came from."""
    (field,) = (one for one in FIELDS if one.name == "source_include")
    for text, _ in field.usual[1:]:
        assert text == field.shown(ProductQuery(source_include=text))


def test_names_of_owners_are_shown_as_they_were_typed() -> None:
    """What an organisation calls itself is a text of somebody else in the list and in the note; no name, no list."""
    hostile = "<img src=x onerror=alert(1)> $5 or $6 \u202egnp"
    found = choices("owners_in", "7, 11", ((11, f"{hostile} (11)"),))
    assert ["owners_in_choice", "owners_in"] == [*found]
    for shown in (found["owners_in_choice"].options[1][1], found["owners_in"].hint):
        assert isinstance(shown, dict)
        assert hostile in shown["text"]
    assert ["owners_in"] == [*choices("owners_in", "7, 11")]


def test_languages_are_named() -> None:
    """Codes are explained as far as they are known, before what the field is for."""
    assert "French, Dutch. Leaves out" in str(
        choices("product_languages", "fr, nld, x")["product_languages"].hint
    )


@each_row("code", ["9" * 5_000, "²", "FR", "", "-1"])
def test_a_market_that_is_no_number_is_not_suggested(code: str) -> None:
    """A service may send any text as a market: the others are suggested all the same."""
    keys = [{"target_market_id": one} for one in (code, "250")]
    found = offered_by(prodex.flatten([{"id": n, "product_key": key} for n, key in enumerate(keys)]))
    assert (250,) == found.markets


def test_a_market_that_nobody_knows_is_offered_where_it_is_asked_for() -> None:
    """A query may have a number that has no name; it stays when something else is typed."""
    (market,) = (one for one in fields_of(ProductQuery(target_market=280)) if one.name == "target_market")
    assert (280, "280") == market.options[-1]


def test_similar_words_are_few_and_of_most_kinds_first() -> None:
    """A word that is too short has none, and none is offered for itself."""
    kinds = ("Oat drink", "Soya drink", "Tea", "Drinking chocolate", "Dry drain")
    assert ["drink", "drinking"] == [other for _, other, _ in similar_words(kinds, ["drinks"])]
    assert [] == similar_words(kinds, ["dr", "tea"])


@given(st.datetimes(timezones=st.just(UTC), min_value=_EARLY))
def test_periods_begin_and_end_where_their_words_say(now: datetime) -> None:
    """On every day of the calendar, the last of a month and of February included."""
    found = {label: limits for label, *limits in periods(now)}
    today, month = found["today"][0], found["last month"]
    assert today is not None
    assert today <= now < today + timedelta(days=1)
    assert month[0] is not None
    assert month[1] is not None
    assert month[1] + timedelta(seconds=1) == today.replace(day=1)
    assert 28 <= (month[1] - month[0]).days + 1 <= 31
    assert 1 == month[0].day
