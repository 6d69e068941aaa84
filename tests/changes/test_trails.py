"""The values of an attribute at several times: nothing is lost, and nothing invented, however lists change."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from prodex.changes import ABSENT, absence_of, is_same
from prodex.changes.trails import shown_value, trails

TEXT = st.builds(
    lambda code, data: {"expressedIn": {"code": code}, "data": data},
    st.sampled_from(["fra-FR", "fra-BE", "fr", "nld-NL"]),
    st.sampled_from(["Riz", "Rijst", ""]),
)
CODE = st.builds(lambda code: {"code": code, "label": code.lower()}, st.sampled_from("ABC"))
SCALAR = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["x", "y", ""])
VALUE = st.recursive(
    SCALAR | TEXT | CODE,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "url"]), inner, max_size=3)
    ),
    max_leaves=8,
)
VERSIONS = st.lists(VALUE | st.just(ABSENT), min_size=1, max_size=4)


def leaves(value: Any) -> Counter[str]:
    """Count the values of an attribute by a plain walk: texts, codes, scalars."""
    if isinstance(value, list):
        return sum(map(leaves, value), Counter[str]())
    if isinstance(value, dict) and "code" not in value and "expressedIn" not in value:
        return sum(map(leaves, value.values()), Counter[str]())
    return Counter() if value is None or value is ABSENT else Counter([json.dumps(value)])


def held(root: str, versions: list[Any], number: int) -> Counter[str]:
    """Count the values that the places hold at one time; lists that are one place are walked."""
    found: Counter[str] = Counter()
    for one in trails(root, versions):
        value = one.held[number]
        if absence_of(value) is not None:
            continue
        if one.place.language_code is not None and isinstance(value, str):
            found["text"] += 1
        else:
            found += leaves(value)
    return found


def texts(counted: Counter[str]) -> int:
    """Count the texts among some values."""
    return sum(number for one, number in counted.items() if "expressedIn" in one)


@given(VERSIONS)
def test_every_value_is_at_exactly_one_place(versions: list[Any]) -> None:
    """In every version, whatever stands beside it in others."""
    for number, version in enumerate(versions):
        wanted, found = leaves(version), held("x", versions, number)
        others = Counter({one: many for one, many in wanted.items() if "expressedIn" not in one})
        shown = Counter(
            {one: many for one, many in found.items() if one != "text" and "expressedIn" not in one}
        )
        assert others == shown
        assert texts(wanted) == texts(found) + found["text"]


@given(VALUE)
def test_what_is_there_twice_has_not_changed(value: Any) -> None:
    """A copy of a value is the same at every place, and every value can be shown."""
    copy = json.loads(json.dumps(value))
    for one in trails("x", [value, copy]):
        assert is_same(*one.held)
        assert isinstance(shown_value(one.held[0]), str | None)
