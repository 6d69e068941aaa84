"""The merge rule as a law, on whatever records hold."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_row

from prodex_sandbox.records.merging import ProductRefused, attributes_of, merged
from prodex_sandbox.records.upsert import normal_gtin

NOW = datetime(2026, 11, 20, 12, 0, 0, 999, tzinfo=UTC)
NAMES = st.sampled_from(["a", "b", "c", "updated", "x.y"])
#: JSON as somebody may write it, blanks and odd numbers included.
VALUES = st.sampled_from(["null", "[ ]", "[1,  2]", '{"k" : 1.50}', '"\\u00e9"', "true", "1E2", '"null"'])
RECORDS = st.dictionaries(NAMES, VALUES)
MEMBERS = st.dictionaries(st.sampled_from(["pictures", "documents", "videos"]), VALUES)
TIMES = st.sampled_from(
    [
        None,
        "null",
        "5",
        '"2026-01-01T00:00:00"',
        '"2026-11-20T12:00:00"',
        '"2027-01-01T00:00:00"',
        '"9999-12-31"',
    ]
)


def raw(values: dict[str, str]) -> dict[str, msgspec.Raw]:
    return {name: msgspec.Raw(value.encode()) for name, value in values.items()}


def written(values: dict[str, str]) -> str:
    """Write an object with more blanks than need be."""
    return "{ " + ", ".join(f'"{name}" : {value}' for name, value in values.items()) + " }"


def plain(values: dict[str, Any]) -> dict[str, str]:
    return {name: bytes(value).decode() for name, value in values.items()}


@given(stored=RECORDS, sent=RECORDS)
def test_what_is_sent_replaces_what_is_not_sent_stays_and_null_deletes(
    stored: dict[str, str], sent: dict[str, str]
) -> None:
    """After a write a record has the attributes that were sent, byte for byte, others as before, and no nulls."""
    after = plain(merged(raw(stored), raw(sent), NOW))
    wanted = {name: value for name, value in (stored | sent).items() if sent.get(name) != "null"}
    assert wanted | {"updatedAt": '"2026-11-20T12:00:00"'} == after


@given(stored=MEMBERS, sent=MEMBERS)
def test_assets_are_merged_by_member(stored: dict[str, str], sent: dict[str, str]) -> None:
    """The rule applies inside assets, and their date changes exactly when the pictures do."""
    before, attributes = raw({"assets": written(stored)}), attributes_of(raw({"assets": written(sent)}))
    after = merged(before, attributes, NOW)["assets"]
    if not sent:
        assert written(stored) == bytes(after).decode()
    members = plain(msgspec.json.decode(bytes(after), type=dict[str, msgspec.Raw]))
    next_updated_at = members.pop("lastUpdatedAt", None)
    assert {name: value for name, value in (stored | sent).items() if sent.get(name) != "null"} == members
    pictures = [json.loads(of.get("pictures", "null")) for of in (stored, members)]
    assert ('{"pictures":"2026-11-20T12:00:00"}' if pictures[0] != pictures[1] else None) == next_updated_at


@given(before=TIMES)
def test_updated_at_is_now_and_never_earlier_than_it_was(before: str | None) -> None:
    """updatedAt becomes now, or stays where it is later; what is no time is ignored."""
    after = json.loads(bytes(merged(raw({"updatedAt": before} if before else {}), {}, NOW)["updatedAt"]))
    later = {'"2027-01-01T00:00:00"': "2027-01-01T00:00:00", '"9999-12-31"': "9999-12-31T00:00:00"}
    assert later.get(before or "", "2026-11-20T12:00:00") == after


@each_row("assets", ["[]", "1", '"x"', "true"])
def test_assets_are_an_object(assets: str) -> None:
    """Assets that are no object are refused."""
    with pytest.raises(ProductRefused, match="assets is not an object"):
        attributes_of(raw({"assets": assets}))


@given(digits=st.integers(0, 10**13 - 1).map("{:013d}".format), length=st.sampled_from([8, 12, 13, 14]))
def test_exactly_one_last_digit_makes_a_gtin(digits: str, length: int) -> None:
    """Of the ten last digits, only the check digit is accepted."""
    body = digits[14 - length :]
    taken, refused = [], []
    for last in "0123456789":
        try:
            taken.append(normal_gtin(body + last))
        except ValueError as error:
            refused.append(str(error))
    (gtin,) = taken
    assert 9 == sum(f"its check digit is {gtin[-1]}" in message for message in refused)
    weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(reversed(gtin)))
    assert (14, 0) == (len(gtin), weighted % 10)
