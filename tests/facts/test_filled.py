"""The state of an attribute, one of six: a catalogue, its table `presence` and the card of one product agree."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.catalog import Catalog, Origin
from prodex.exploration.card.record import read_record, why_missing
from prodex.facts.attribute_states import fill_states
from prodex.query import ProductQuery
from prodex.store.reading import flatten
from prodex.tables.attributes import child_path
from prodex.tables.fill_state import STATES
from tests.cases import each_row
from tests.wire import KEYS, anything, attributes, localized

#: Attributes without declared rows, where every visible value is data.
_OPEN = ("namePublicLong", "netContent", "unknown", "other")
_RECORDS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            **{name: attributes[name] for name in ("namePublicLong", "netContent", "brand", "assets")},
            "unknown": anything,
            "other": st.fixed_dictionaries({}, optional={"name": st.lists(localized), "data": anything}),
            "lastRequest": st.fixed_dictionaries({}, optional={"unknown": anything}),
        },
    ),
    max_size=4,
).map(lambda records: [{"id": n + 1, **record} for n, record in enumerate(records)])


def states(catalog: Catalog, attribute: str, language: str | None = None) -> list[str]:
    """Return the states in words."""
    return [STATES[state] for state in fill_states(catalog, attribute, language)]


def text(data: Any, language: str = "fra-FR") -> dict[str, Any]:
    """Return a localized text as the service writes it."""
    return {"expressedIn": {"code": language}, "data": data}


def has_data(value: Any) -> bool:
    """Say whether there is anything to see in a value, its languages and units aside: the naive reading."""
    if isinstance(value, dict):
        # A rank beside a text is no data, nor is what a code means.
        is_text = "data" in value and isinstance(value.get("expressedIn"), dict)
        is_code = isinstance(value.get("code"), str | int | float)
        aside = {"expressedIn", *(["sort"] if is_text else []), *(["description"] if is_code else [])}
        return any(has_data(item) for key, item in value.items() if key not in aside)
    if isinstance(value, list):
        return any(map(has_data, value))
    # Spaces, controls and what only formats others show nothing, by the categories of Unicode.
    invisible = {"Zs", "Zl", "Zp", "Cc", "Cf"}
    if isinstance(value, str):
        return any(unicodedata.category(letter) not in invisible for letter in value)
    return value is not None


@pytest.mark.slow
@given(
    _RECORDS, st.sampled_from([*_OPEN, *KEYS]), st.sampled_from([None, *KEYS]), st.sampled_from([None, "fr"])
)
def test_the_card_agrees(
    records: list[dict[str, Any]], attribute: str, inner: str | None, language: str | None
) -> None:
    """What a whole catalogue says of why something is missing is what the card of each product says."""
    catalog = flatten(records)
    path = attribute if inner is None else child_path(attribute, inner)
    for record, state in zip(records, states(catalog, path, language), strict=True):
        if state != "filled":
            assert state == why_missing(read_record(catalog, str(record["id"])), path, language)


@given(_RECORDS, st.sampled_from(_OPEN))
def test_filled_is_what_has_data(records: list[dict[str, Any]], attribute: str) -> None:
    """An attribute is filled where there is anything to see in it; of what cannot be read nobody knows it."""
    for record, state in zip(records, states(flatten(records), attribute), strict=True):
        assert state == "unreadable" or has_data(record.get(attribute)) == (state == "filled")


@pytest.mark.slow
@given(_RECORDS)
def test_presence_tells_what_cannot_be_read(records: list[dict[str, Any]]) -> None:
    """The table says of an attribute at the top that it is unreadable where its state is that, and nowhere else."""
    catalog = flatten(records)
    presence = catalog.presence.drop(columns="product_id")

    for column, told in presence.items():
        name = str(column).removesuffix("_state")
        found = states(catalog, child_path("", name)) if name != "lastRequest" else [""] * len(records)
        assert [one == "unreadable" for one in found] == (told == "unreadable").tolist(), name


@each_row(
    ("attribute", "value", "expected"),
    [
        ("brand", "Acme", "unreadable"),
        ("brand", {"since": "1990"}, "unreadable"),
        ("brand", {"code": "ACME", "since": "1990"}, "filled"),
        ("brand", [{"code": "ACME"}], "filled"),
        ("brand", "", "empty"),
        ("assets", {"pictures": "a.jpg"}, "unreadable"),
        ("assets", {"pictures": "a.jpg", "videos": [{"url": "https://a.example/v"}]}, "filled"),
        ("assets", {"pictures": []}, "filled"),
        ("updatedAt", "yesterday", "unreadable"),
        ("isConsumerUnit", "yes", "unreadable"),
        ("netContent", [{"data": "about 500", "expressedIn": {"code": "GRM"}}], "unreadable"),
        ("nameLegal", "Riz", "unreadable"),
        ("nameLegal", [text("Riz"), {"fr": "Riz"}], "filled"),
        ("nameLegal", [None], "filled"),
        ("unknown", "anything", "filled"),
        ("lastRequest", {"brand": "Acme"}, "filled"),
    ],
)
def test_there_and_not_readable(attribute: str, value: Any, expected: str) -> None:
    """A value that is not as declared is there in `presence`, and nobody takes it for one that is filled."""
    others = [{"id": n, "brand": {"code": "A"}, "nameLegal": [text("Riz")]} for n in range(60)]
    alone = flatten([{"id": 99, attribute: value}]).presence
    among = flatten([*others, {"id": 99, attribute: value}, *others]).presence

    assert [expected] == alone[f"{attribute}_state"].tolist()
    assert [expected] == among[among["product_id"] == "99"][f"{attribute}_state"].tolist()


@each_row(
    ("value", "expected"),
    [
        ([text("Riz")], "filled"),
        ([text("Reis", "deu-DE")], "filled"),
        ([text(" ")], "empty"),
        ([text("")], "empty"),
        ([text(None)], "null"),
        ([text(None), text("")], "empty"),
        ([{"expressedIn": {"code": "fra-FR"}}], "absent"),
        ([], "empty"),
        (None, "null"),
        ([None], "null"),
        ("", "empty"),
        ("  ", "empty"),
        (..., "absent"),
    ],
)
def test_four_reasons(value: Any, expected: str) -> None:
    """Absent, null and empty stay apart, at the top of a record and inside it, and spaces are no text."""
    record = {"id": 7} if value is ... else {"id": 7, "nameLegal": value}

    assert [expected] == states(flatten([record]), "nameLegal")


@each_row(
    ("value", "expected"),
    [
        ([text("Riz"), text("Reis", "deu-DE")], "filled"),
        ([text("Riz")], "absent"),
        ([text("Riz"), text("", "deu-DE")], "empty"),
        ([text("Riz"), text(None, "deu-DE")], "null"),
        ([text("Riz"), {"expressedIn": {"normalizedCode": "de"}, "data": None}], "null"),
        ([text("Riz"), text([], "deu-AT")], "empty"),
        ([], "empty"),
        (None, "null"),
    ],
)
def test_reasons_in_a_language(value: Any, expected: str) -> None:
    """A text that is missing in a language was not sent in it, or was sent in it as null or empty."""
    assert [expected] == states(flatten([{"id": 7, "nameLegal": value}]), "nameLegal", "de")


def test_inside_an_attribute() -> None:
    """At a path below the top the records tell why something is missing."""
    assets: list[Any] = [
        {"pictures": [{"url": "a"}]},
        {"pictures": []},
        {"pictures": None},
        {"videos": []},
        None,
        {},
    ]
    catalog = flatten([{"id": n, "assets": one} for n, one in enumerate(assets)])

    assert ["filled", "empty", "null", "absent", "null", "empty"] == states(catalog, "assets.pictures")
    assert "filled" == states(catalog, "assets.pictures.url")[0]


def test_not_asked_for() -> None:
    """What a query left out is not asked for, unless it came all the same."""
    records = [{"id": 7, "nameLegal": [text("Riz")], "kind": {"code": "A"}}, {"id": 8}]
    origin = Origin("sandbox", ProductQuery(source_include=["nameLegal"], product_languages=["fr"]))
    catalog = Catalog(flatten(records).parts, origin)

    assert ["filled", "absent"] == states(catalog, "nameLegal")
    assert ["filled", "absent"] == states(catalog, "nameLegal", "fr")
    assert ["not asked for"] * 2 == states(catalog, "nameLegal", "de")
    assert ["not asked for"] * 2 == states(catalog, "brand")
    assert ["filled", "not asked for"] == states(catalog, "kind")

    without_data = Origin("sandbox", ProductQuery(source_exclude=["nameLegal.data"]))
    texts = flatten([{"id": 7, "nameLegal": [{"expressedIn": {"code": "fra-FR"}}]}])
    assert ["not asked for"] == states(Catalog(texts.parts, without_data), "nameLegal")


def test_an_update_that_waits_does_not_count() -> None:
    """What waits to be accepted is not the product's own."""
    assert ["absent"] == states(
        flatten([{"id": 7, "lastRequest": {"nameLegal": [text("Riz")]}}]), "nameLegal"
    )


def test_snapshot_and_filter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot of several parts and what a filter leaves of it say the same as the records in memory."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    names: list[Any] = [[text("Riz")], [], None, [text(None)], [text("Reis", "deu-DE")]]
    records = [{"id": n, "nameLegal": names[n % 5], "brand": {"code": str(n % 3)}} for n in range(60)]
    catalog = flatten(records)
    saved = catalog.save("fill")
    chosen = saved.where(brand_code="1")

    for language in (None, "fr"):
        expected = fill_states(catalog, "nameLegal", language)
        np.testing.assert_array_equal(expected, fill_states(saved, "nameLegal", language))
        np.testing.assert_array_equal(expected[1::3], fill_states(chosen, "nameLegal", language))
    assert 0 == len(fill_states(saved.where(brand_code="none"), "nameLegal"))


def test_export_without_records(tmp_path: Path) -> None:
    """Without records the reason inside an attribute is not told: absent; at the top it is."""
    flatten([{"id": 7, "assets": {"pictures": []}, "brand": None}]).export(
        tmp_path, tables=[name for name in prodex.flatten([]).tables.index if name != "raw"]
    )
    catalog = prodex.read_export(tmp_path)

    assert ["absent"] == states(catalog, "assets.pictures")
    assert ["null"] == states(catalog, "brand")


def test_no_products() -> None:
    """A catalogue without products has no states."""
    assert [] == states(flatten([]), "nameLegal", "fr")
