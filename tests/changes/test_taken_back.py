"""Changes are made and taken back at a service, which spells, orders and labels in its own way, and beside others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.changes import ABSENT, Change, apply, diff, inverse, is_made, is_same, with_orders
from tests.changes.records import amount, pairs_of_values, text, texts, words


def record(value: Any) -> dict[str, Any]:
    """Return a record with a value of an attribute."""
    return {} if value is ABSENT else {"attribute": value}


def told(before: Any, after: Any) -> list[Change]:
    """Return what says something new of a value, orders at the end."""
    pairs = [*with_orders(diff(record(before), record(after), product="7"))]
    return [one for one, _ in pairs] + [order for _, order in pairs if order is not None]


def made(changes: Iterable[Change], value: Any) -> Any:
    """Return a value with some changes."""
    return apply(record(value), changes).get("attribute", ABSENT)


def unordered(value: Any) -> Any:
    """Return a value whose lists have an order of their own."""
    match value:
        case dict():
            inner = {name: unordered(one) for name, one in value.items()}
            return {name: one for name, one in inner.items() if one not in (None, [], {})}
        case list():
            return sorted(map(unordered, value), key=lambda one: json.dumps(one, sort_keys=True))
    return None if value is ABSENT else value


@given(pairs_of_values)
def test_what_says_something_new_leads_to_what_says_the_same(pair: tuple[Any, Any]) -> None:
    """And back, without labels, spellings and empty lists; a change that is made is known to be."""
    before, after = pair
    changes = told(before, after)
    assert is_same(after, made(changes, before))
    assert is_same(before, made(inverse(changes), after))
    for one in changes:
        assert is_made(record(after), one)
        assert one.is_order or is_made(record(before), *inverse([one]))


@given(pairs_of_values, st.randoms(use_true_random=False))
def test_changes_are_made_in_any_order(pair: tuple[Any, Any], chance: Random) -> None:
    """Only the order of a list may then be another one."""
    before, after = pair
    changes = told(before, after)
    expected = unordered(made(changes, before))
    chance.shuffle(changes)
    assert expected == unordered(made(changes, before))


@pytest.mark.slow
@given(pairs_of_values, st.data())
def test_some_of_the_changes_are_made_alone(pair: tuple[Any, Any], data: st.DataObject) -> None:
    """Each stays to be made, or is made; taking it back leads to what was before."""
    before, after = pair
    chosen = [one for one in told(before, after) if data.draw(st.booleans())]
    back = made(inverse(chosen), made(chosen, before))
    assert unordered_is_same(before, back)


def unordered_is_same(one: Any, other: Any) -> bool:
    """Whether two values say the same, in whatever order: an order that is left out is no order to be restored."""
    return (
        is_same(one, other)
        or (
            isinstance(one, list)
            and isinstance(other, list)
            and len(one) == len(other)
            and all(any(is_same(item, another) for another in other) for item in one)
        )
        or unordered(one) == unordered(other)
    )


@given(texts, texts, words)
def test_what_others_have_added_survives(before: list[Any], after: list[Any], word: str) -> None:
    """A text in another language, at the beginning or at the end."""
    others = text("ita-IT", word)
    for one, order in with_orders(diff({"attribute": before}, {"attribute": after}, product="7")):
        if len(one.path) == 1:
            continue  # the list as a whole, since nobody can say which of its texts is which
        back = inverse([one] if order is None else [one, order])
        for present in ([others, *after], [*after, others]):
            assert others in made(back, present)


#: What was before, what was sent, and what a service makes of it.
CASES: dict[str, tuple[Any, Any, Callable[[Any], Any]]] = {
    "the order of items was changed by the service": (
        [{"code": "A"}, {"code": "B"}],
        [{"code": "A"}, {"code": "B"}, {"code": "C"}],
        lambda now: list(reversed(now)),
    ),
    "labels were added to codes": (
        [{"code": "A", "label": "Ah"}],
        [{"code": "B"}],
        lambda now: [{**one, "label": "Bee", "description": "B"} for one in now],
    ),
    "a uuid and times were added to a picture": (
        {"pictures": [{"url": "https://a", "uuid": "u1", "updatedAt": "t1"}]},
        {"pictures": [{"url": "https://a", "uuid": "u1", "updatedAt": "t1"}, {"url": "https://b"}]},
        lambda now: {
            "pictures": [
                one if "uuid" in one else {**one, "uuid": "n", "createdAt": "t9", "updatedAt": "t9"}
                for one in now["pictures"]
            ],
            "lastUpdatedAt": {"pictures": "t9"},
        },
    ),
    "a picture was sent without what the service keeps": (
        {
            "pictures": [{"url": "https://a", "uuid": "u1", "isPackshot": True}],
            "lastUpdatedAt": {"pictures": "t1"},
        },
        {"pictures": [{"url": "https://a", "isPackshot": False}]},
        lambda now: {
            "pictures": [{**one, "uuid": "u1"} for one in now["pictures"]],
            "lastUpdatedAt": {"pictures": "t9"},
        },
    ),
    "a number is written in another way": (
        amount(1, "KGM"),
        amount(2, "KGM"),
        lambda now: {**now, "data": float(now["data"])},
    ),
    "a language is written in another way": (
        [text("fra-FR", "Pain")],
        [text("fra-FR", "Pain bis")],
        lambda now: [text("fr", one["data"]) for one in now],
    ),
    "the language of a new text is written in another way": (
        [text("nld-NL", "Brood")],
        [text("nld-NL", "Brood"), text("fra-FR", "Pain")],
        lambda now: [text(one["expressedIn"]["code"][:2], one["data"]) for one in now],
    ),
    "a text was sent without its place, and another one was added since": (
        [text("fra-FR", "Bon", sort=1)],
        [text("fra-FR", "Bien")],
        lambda now: now,
    ),
    "one of two texts of a language": (
        [text("fra-FR", "un"), text("fra-FR", "deux")],
        [text("fra-FR", "un"), text("fra-FR", "2")],
        lambda now: now,
    ),
    "a text of one country in place of another one's": (
        [text("fra-FR", "Pain")],
        [text("fra-BE", "Pain")],
        lambda now: [{**one, "expressedIn": {"code": "fra-BE", "label": "French (Belgium)"}} for one in now],
    ),
    "an item in the middle was taken away": (
        [{"code": "A"}, {"code": "B"}, {"code": "C"}],
        [{"code": "A"}, {"code": "C"}],
        lambda now: now,
    ),
    "null before": (None, [text("fra-FR", "Pain")], lambda now: now),
    "an empty list before": ([], [text("fra-FR", "Pain")], lambda now: now),
    "nothing before": (ABSENT, [text("fra-FR", "Pain")], lambda now: now),
    "null is sent": ([text("fra-FR", "Pain")], None, lambda _: []),
    "a whole value is deleted, and absent at the service": (7, None, lambda _: ABSENT),
    "true became false": (True, False, lambda now: now),
    "one and true are two values": (1, True, lambda now: now),
}


def test_a_write_is_taken_back_whatever_the_service_makes_of_it() -> None:
    """Back to a value that says the same as before."""
    wrong = {}
    for case, (before, sent, stored) in CASES.items():
        changes = told(before, sent)
        back = made(inverse(changes), stored(sent))
        if "order of items" in case:  # the order is the service's
            back.sort(key=lambda one: one["code"])
        if not changes or not is_same(before, back):
            wrong[case] = back
    assert {} == wrong


def test_a_text_that_was_sent_without_its_place_leaves_others_alone() -> None:
    """Its place is restored, and a text that was added since stays."""
    before, sent = [text("fra-FR", "Bon", sort=1)], [text("fra-FR", "Bien")]
    added = text("ita-IT", "Buono")
    assert [*before, added] == made(inverse(told(before, sent)), [*sent, added])
