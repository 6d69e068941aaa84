"""The laws of changes: they lead to the other record byte for byte and back, and touch nothing beside them."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prodex.changes import (
    ABSENT,
    NOT_ASKED,
    Change,
    PlaceChanged,
    absence_of,
    apply,
    diff,
    inverse,
    is_exact,
    is_made,
    is_same,
    says_the_same,
    value_at,
    why_not_sendable,
)
from prodex.written_json import read_written, written_json
from tests.changes.records import amount, edited_records, pairs_of_values, text, texts, values

Pair = tuple[dict[str, Any], dict[str, Any]]


def corner(before: str, after: str) -> Pair:
    """Return two records as they are written."""
    return read_written(before), read_written(after)


@pytest.mark.slow
@given(edited_records)
@example(corner('{"id":7,"size":1.50}', '{"id":7,"size":1.5}'))
@example(corner('{"id":7,"a":1,"b":2}', '{"id":7,"b":2,"a":1}'))
@example(corner('{"id":7,"size":1e400,"n":-0}', '{"id":7,"size":1e401,"n":0}'))
@example(corner('{"id":7,"half":"\\ud83d"}', '{"id":7,"half":"\\ud83e"}'))
@example(corner('{"id":7,"two":{"a":1,"a":2}}', '{"id":7,"two":{"a":3,"a":2}}'))
@example(corner('{"id":7,"codes":null}', '{"id":7,"codes":[{"code":"A"}]}'))
@example(corner('{"id":7,"codes":[{"code":"A"},{"code":"B"}]}', '{"id":7}'))
@example(corner('{"id":7,"tags":["a","b","c"]}', '{"id":7,"tags":["c","x","a"]}'))
@example(corner('{"id":7,"tags":["a","a"]}', '{"id":7,"tags":["a"]}'))
@example(({"name": []}, {"name": [text("fra-FR", "Pain"), text("fr", "Pain")]}))
@example(({"name": [text("fr", "Pain")]}, {"name": [text("fra-BE", "Pain"), text("nld-BE", "Brood")]}))
@example(({"name": NOT_ASKED, "size": {}}, {"name": [], "size": NOT_ASKED}))
@example(({}, {}))
def test_changes_lead_to_the_other_record_and_back(pair: Pair) -> None:
    """To the spelling of numbers, the order of keys and of items; the records that are given stay as they are."""
    before, after = pair
    kept = copy.deepcopy(pair)
    changes = diff(before, after, product="7")

    assert is_exact(after, apply(before, changes)), changes
    assert is_exact(before, apply(after, inverse(changes))), changes
    assert all(map(is_exact, pair, kept))
    assert (changes == ()) == is_exact(before, after)


@pytest.mark.slow
@given(edited_records)
@example(corner('{"id":7,"size":1.50,"tags":["a"]}', '{"id":7,"size":1.50,"tags":["b"]}'))
@example(
    corner(
        '{"id":7,"text":[{"size":1.50,"word":"a","half":"\\ud83d"}]}',
        '{"id":7,"text":[{"size":1.50,"word":"b","half":"\\ud83d"}]}',
    )
)
def test_what_is_beside_a_change_is_written_as_before(pair: Pair) -> None:
    """Attributes that no change is about keep their tokens, whichever of the changes are made."""
    before, after = pair
    for one in diff(before, after, product="7"):
        if one.is_order or one.attribute is None or not may_be_made_alone(before, one):
            continue
        made = apply(before, [one])
        left = {name: value for name, value in before.items() if name != one.attribute}
        assert is_exact(left, {name: value for name, value in made.items() if name != one.attribute})
        assert is_exact(one.after, value_at(made, one.path)) or one.before is not ABSENT


def may_be_made_alone(record: Any, change: Change) -> bool:
    """Whether a change needs no other one before it, as an empty list needs its items taken out."""
    return is_same(value_at(record, change.path), change.before)


@given(pairs_of_values)
def test_a_change_survives_being_written(pair: tuple[Any, Any]) -> None:
    """As a value of a set, too; what is written in another way is another change."""
    before, after = pair
    changes = {Change("7", ("attribute",), before, after), *diff({"a": before}, {"a": after}, product="7")}
    assert changes == {Change.from_json(one.to_json()) for one in changes}
    for one in changes:
        again = Change.from_json(one.to_json())
        assert (one.path, absence_of(one.before), absence_of(one.after)) == (
            again.path,
            absence_of(again.before),
            absence_of(again.after),
        )


def test_values_that_are_written_in_another_way_are_other_changes() -> None:
    """One, 1.0, 1.00, true and "1" are five values, and each absence is another one."""
    sides = [1, 1.0, read_written("1.00"), True, "1", None, [], {}, "", ABSENT, NOT_ASKED]
    changes = [Change("7", ("serves",), side, 2) for side in sides]
    assert len(sides) == len(set(changes))
    assert changes == [Change.from_json(one.to_json()) for one in changes]


@given(st.sampled_from([ABSENT, None, [], {}, NOT_ASKED]), values)
@example(NOT_ASKED, [text("fra-FR", "Pain")])
@example(None, [{"code": "A"}])
def test_the_four_absences_stay_four(before: Any, after: Any) -> None:
    """After a change and its inverse there is the same nothing as before."""
    records = [{"other": 1} | ({} if one is ABSENT else {"attribute": one}) for one in (before, after)]
    changes = diff(records[0], records[1], product="7")
    back = apply(apply(records[0], changes), inverse(changes))
    assert absence_of(before) is absence_of(back.get("attribute", ABSENT))
    assert is_exact(before, back.get("attribute", ABSENT))


@pytest.mark.slow
@given(edited_records)
@example(corner('{"id":7,"size":null}', '{"id":7,"size":4}'))
@example(corner('{"id":7,"size":[]}', '{"id":7,"size":[{"code":"A"}]}'))
@example(corner('{"id":7,"size":{}}', '{"id":7}'))
@example(corner('{"id":7,"size":NaN,"validation":[]}', '{"id":7,"size":4,"validation":[1]}'))
@example(({"size": NOT_ASKED}, {"size": 4}))
def test_what_a_service_cannot_be_told_is_listed(pair: Pair) -> None:
    """A service that writes attributes as a whole has each of them as before, or there is a reason for it."""
    before, after = pair
    undone = inverse(diff(before, after, product="7"))
    listed = {one.attribute for one in undone if why_not_sendable(one) is not None}
    if None in listed and any(not one.path for one in undone):
        return  # a record that has a key twice, as a whole
    sendable = [one for one in undone if one.attribute not in listed and one.attribute is not None]
    stored = written_by_a_service(after, apply(after, sendable))
    for name in (before.keys() | after.keys()) - listed:
        expected = written_by_a_service({}, {name: before[name]} if name in before else {}).get(name, ABSENT)
        assert is_exact(expected, stored.get(name, ABSENT)), name


def written_by_a_service(present: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
    """Return what a service has after a write: an attribute as a whole, and of nothing only that there is none."""
    stored = dict(present)
    for name in present.keys() | sent.keys():
        stored.pop(name, None)
        if absence_of(sent.get(name, ABSENT)) is None:
            stored[name] = sent[name]
    return stored


@pytest.mark.slow
@given(edited_records)
@example(
    corner(
        '{"id":7,"size":1,"b":[{"code":"A"},{"code":"B"}]}',
        '{"id":7,"size":1.0,"b":[{"code":"B"},{"code":"A"}]}',
    )
)
def test_what_says_something_new_is_all_that_differs(pair: Pair) -> None:
    """Without the changes that say nothing new, the attributes still say the same as those of the other record."""
    before, after = pair
    changes = diff(before, after, product="7")
    if any(not one.path for one in changes):
        return
    for name in before.keys() | after.keys():
        sides = (before.get(name, ABSENT), after.get(name, ABSENT))
        told = [one for one in changes if one.attribute == name and not says_the_same(one)]
        if is_same(*sides):
            assert not [one for one in told if not one.is_order]
        else:
            assert told


@given(pairs_of_values)
def test_what_is_made_is_not_made_twice(pair: tuple[Any, Any]) -> None:
    """A change that is made is known to be, and makes nothing new."""
    before, after = ({"attribute": one} for one in pair)
    for one in diff(before, after, product="7"):
        if not may_be_made_alone(before, one):
            continue
        made = apply(before, [one])
        assert is_made(made, one)
        assert is_exact(made, apply(made, [one]))


@given(pairs_of_values, values)
@example(([{"code": "A"}], [{"code": "B"}]), [{"code": "C"}])
@example((1, 2), True)
def test_a_place_that_holds_something_else_is_never_replaced(pair: tuple[Any, Any], present: Any) -> None:
    """It is an error that names what is there, and the record stays as it is."""
    kept = copy.deepcopy(present)
    for one in diff({"attribute": pair[0]}, {"attribute": pair[1]}, product="7"):
        if one.is_order:
            continue
        record = {"attribute": present}
        may_be_made = is_same(value_at(record, one.path), one.before) or is_made(record, one)
        with suppress(PlaceChanged):
            apply(record, [one])
            assert may_be_made
        assert is_exact(kept, present)


CONFLICTS = [
    ([text("fra-FR", "Pain")], [text("fra-FR", "Pain bis")], [text("fra-FR", "Pain complet")]),
    ([text("fra-FR", "Pain")], [], [text("fra-FR", "Pain complet")]),
    # Nobody has written the text of Belgium, though it says the same.
    ([text("fra-FR", "Pain")], [text("fra-FR", "Pain bis")], [text("fra-BE", "Pain bis")]),
    (1, 2, 3),
    (1, 2, True),
    (ABSENT, {"code": "A"}, {"code": "B", "label": "A"}),
    ([{"code": "A"}], [{"code": "B"}], [{"code": "C"}]),
    ([{"code": "A"}], [{"code": "B"}], [{"code": "B"}, {"code": "B"}]),
    (1, 2, NOT_ASKED),
]


def test_what_somebody_has_changed_since_is_a_conflict() -> None:
    """It is neither what was sent, nor what was before."""
    wrong = []
    for before, sent, now in CONFLICTS:
        records = [{} if one is ABSENT else {"attribute": one} for one in (before, sent)]
        changes = [one for one in inverse(diff(*records, product="7")) if not says_the_same(one)]
        with pytest.raises(PlaceChanged):
            wrong.append((before, sent, now, apply({"attribute": now}, changes)))
    assert [] == wrong


def test_a_variant_of_a_language_is_a_place_of_its_own() -> None:
    """A text of one country in place of another one's is a text less and a text more."""
    before, after = ({"name": [text(code, "Pain")]} for code in ("fra-FR", "fra-BE"))
    french, belgian = before["name"][0], after["name"][0]
    expected = [(french, ABSENT), (ABSENT, belgian)]
    assert expected == [
        (one.before, one.after) for one in diff(before, after, product="7") if not one.is_order
    ]


def test_a_language_in_another_spelling_says_the_same() -> None:
    """In a list and alone; a unit in another spelling does not."""
    for wrapped in (lambda one: [one], lambda one: one):
        changes = diff(
            {"a": wrapped(text("fra-FR", "Pain"))}, {"a": wrapped(text("fr", "Pain"))}, product="7"
        )
        assert [True] == list(map(says_the_same, changes))
    units = [{"contains": {"quantity": 1, "expressedIn": {"code": code}}} for code in ("GRM", "GRM ")]
    assert [False] == list(map(says_the_same, diff(*units, product="7")))


SAME = [
    (1, 1.0),
    (1, read_written("1.00")),
    (None, []),
    ({}, ABSENT),
    ({"pictures": [], "lastUpdatedAt": "t"}, None),
    ({"code": "FR", "label": "France"}, {"code": "FR"}),
    (text("fra-FR", "Pain"), text("fr", "Pain")),
    ([amount(1, "KGM")], [amount(1.0, "KGM")]),
    ({"url": "a", "uuid": "u1", "updatedAt": "t"}, {"url": "a"}),
]
DIFFERENT = [
    (1, True),
    (1, "1"),
    ("", None),
    (NOT_ASKED, None),
    (NOT_ASKED, ABSENT),
    ("Pain", "Pain "),
    ({"code": "FR"}, {"code": "BE"}),
    (text("fra-FR", "Pain"), text("fra-BE", "Pain")),
    (amount(1, "KGM"), amount(1, "GRM")),
    ([1, 2], [2, 1]),
    (read_written("1e400"), read_written("1e401")),
    (read_written('{"a":1,"a":2}'), {"a": 2}),
]


def test_what_says_the_same_and_what_does_not() -> None:
    """Whichever of the two is first."""
    wrong = [pair for pair in SAME if not (is_same(*pair) and is_same(*reversed(pair)))]
    wrong += [pair for pair in DIFFERENT if is_same(*pair) or is_same(*reversed(pair))]
    assert [] == wrong


@given(values, values)
def test_sameness_is_of_both_sides(one: Any, other: Any) -> None:
    """And each value is the same as itself."""
    assert is_same(one, copy.deepcopy(one))
    assert is_exact(one, copy.deepcopy(one))
    assert is_same(one, other) == is_same(other, one)
    if is_exact(one, other):
        assert is_same(one, other)


def test_an_item_that_is_added_changes_none_beside_it() -> None:
    """In front of a list, it is one item more and another order; what others have added meanwhile stays."""
    before, after = {"tags": ["b", "c"]}, {"tags": ["a", "b", "c"]}
    changes = diff(before, after, product="7")
    assert ["a"] == [one.after for one in changes if not one.is_order]
    assert {"tags": ["a", "b", "c", "own"]} == apply({"tags": ["b", "c", "own"]}, changes)
    assert {"tags": ["own", "b", "c"]} == apply({"tags": ["own", "a", "b", "c"]}, inverse(changes))


def test_the_order_of_a_list_is_a_change() -> None:
    """Made and taken back where another item has been added since."""
    before, after = {"tags": ["a", "b", "c"]}, {"tags": ["c", "b", "a"]}
    (change,) = diff(before, after, product="7")
    assert change.is_order
    assert not says_the_same(change)
    assert {"tags": ["c", "b", "a", "own"]} == apply({"tags": ["a", "b", "c", "own"]}, [change])
    assert {"tags": ["a", "b", "c", "own"]} == apply({"tags": ["c", "b", "a", "own"]}, inverse([change]))


@given(texts, texts, texts)
@example(
    [text("fra-FR", "a"), text("nld-NL", "b"), text("fra-BE", "c")],
    [text("fra-BE", "c"), text("fra-FR", "a"), text("nld-NL", "b")],
    [text("nld-NL", "b"), text("fr", "a")],
)
def test_an_order_loses_and_doubles_nothing(before: list[Any], after: list[Any], present: list[Any]) -> None:
    """Whatever is in the list by now, and in whichever spelling."""
    for one in diff({"name": before}, {"name": after}, product="7"):
        if one.is_order:
            made = apply({"name": present}, [one])["name"]
            assert sorted(map(written_json, present)) == sorted(map(written_json, made))


def test_a_record_that_is_new_or_gone_is_one_change() -> None:
    """Of the product as a whole; a service cannot be told it."""
    record = {"id": 7, "serves": 4}
    (change,) = diff(ABSENT, record)
    assert ("7", ()) == (change.product, change.path)
    assert record == apply(ABSENT, [change])
    assert ABSENT is apply(record, inverse([change]))
    assert why_not_sendable(change)


def test_a_record_is_written_as_it_was_read() -> None:
    """A change of a text leaves each other token of the record as it is."""
    name = '[{"expressedIn":{"code":"fra-FR"},"data":"\\ud83dA"}]'
    written = f'{{"id":7,"big":12345678901234567890123,"size":1.50,"name":{name},"w":1E5}}'
    before, after = read_written(written), read_written(written.replace("\\ud83dA", "B"))
    assert written.replace("\\ud83dA", "B") == written_json(apply(before, diff(before, after)))
