"""The laws of changes of leaves: they lead to the other value and back, and never replace what is not theirs."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.send.leaves import ABSENT, LeafChange, LeafChanged, is_same_value, leaf_changes

ROOT = "attribute"


def text(code: str, data: str, **more: Any) -> dict[str, Any]:
    """Return a localized text."""
    return {"expressedIn": {"code": code}, "data": data, **more}


def amount(data: float, code: str) -> dict[str, Any]:
    """Return an amount with its unit."""
    return {"data": data, "expressedIn": {"code": code}}


WORDS = st.sampled_from(["Pain", "Bread", "Brot", "delete", "-", "", "x\ud800", "1", "ﷺ"])
NUMBERS = st.sampled_from([0, 1, 1.0, 2, 1.5, -1, 2**53 + 1])
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, WORDS)
LANGUAGES = st.sampled_from(["fra-FR", "fra-BE", "fr", "nld-NL", "deu-DE"])
TEXTS = st.lists(
    st.builds(
        lambda one, more: {**one, **more},
        st.builds(text, LANGUAGES, WORDS),
        st.fixed_dictionaries({}, optional={"sort": NUMBERS}),
    ),
    max_size=4,
)
CODES = st.lists(
    st.fixed_dictionaries({"code": st.sampled_from("ABCD")}, optional={"label": WORDS, "sort": NUMBERS}),
    max_size=4,
)
AMOUNTS = st.lists(st.builds(amount, NUMBERS, st.sampled_from(["GRM", "KGM", "MLT"])), max_size=3)
PICTURES = st.lists(
    st.fixed_dictionaries(
        {"url": st.sampled_from(["https://a", "https://b", "https://c"])},
        optional={
            "isPackshot": st.booleans(),
            "uuid": st.sampled_from(["u1", "u2"]),
            "updatedAt": st.sampled_from(["t1", "t2"]),
            "tags": st.lists(WORDS, max_size=2),
        },
    ),
    max_size=3,
)
NESTED = st.lists(st.fixed_dictionaries({"rank": NUMBERS, "text": TEXTS}), max_size=3)
ONE = st.one_of(
    st.just(ABSENT),
    SCALARS,
    TEXTS,
    CODES,
    AMOUNTS,
    NESTED,
    st.builds(text, LANGUAGES, WORDS),
    st.fixed_dictionaries({}, optional={"pictures": PICTURES, "documents": CODES, "lastUpdatedAt": WORDS}),
    st.lists(SCALARS, max_size=3),
)
#: Two values of one attribute: mostly of one kind, as a correction has them.
PAIRS = st.one_of(
    st.tuples(ONE, ONE),
    *(
        st.tuples(kind, kind)
        for kind in (TEXTS, CODES, AMOUNTS, PICTURES, NESTED, st.lists(SCALARS, max_size=3))
    ),
)


def applied(changes: Sequence[LeafChange], value: Any) -> Any:
    """Apply changes one after the other."""
    for one in changes:
        value = one.applied(value)
    return value


def unordered(value: Any) -> Any:
    """Return a value whose lists have an order of their own."""
    match value:
        case dict():
            return {
                name: unordered(inner)
                for name, inner in value.items()
                if unordered(inner) not in (None, [], {})
            }
        case list():
            return sorted(map(unordered, value), key=lambda one: json.dumps(one, sort_keys=True))
    return None if value is ABSENT else value


@given(PAIRS)
def test_all_changes_lead_to_the_other_value(pair: tuple[Any, Any]) -> None:
    """And the value that was given stays as it is."""
    before, after = pair
    kept = copy.deepcopy(before)
    assert is_same_value(after, applied(leaf_changes(ROOT, before, after), before))
    assert kept == before


@given(PAIRS)
def test_the_inverses_lead_back(pair: tuple[Any, Any]) -> None:
    """The last change is taken back first."""
    before, after = pair
    inverses = [one.inverse() for one in reversed(leaf_changes(ROOT, before, after))]
    assert is_same_value(before, applied(inverses, after))


@given(PAIRS)
def test_what_is_made_is_not_made_twice(pair: tuple[Any, Any]) -> None:
    """Each change is there in the other value, and its inverse in the first one."""
    before, after = pair
    for one in leaf_changes(ROOT, before, after):
        assert (True, True) == (one.is_made(after), one.inverse().is_made(before))
        assert one.applied(after) is after


@given(PAIRS)
def test_values_that_say_the_same_are_no_change(pair: tuple[Any, Any]) -> None:
    """And those that do not are one."""
    before, after = pair
    assert is_same_value(before, after) == (not leaf_changes(ROOT, before, after))


@given(PAIRS, st.randoms(use_true_random=False))
def test_changes_apply_in_any_order(pair: tuple[Any, Any], chance: Any) -> None:
    """Only the order of a list may then be another one."""
    before, after = pair
    changes = list(leaf_changes(ROOT, before, after))
    chance.shuffle(changes)
    expected = unordered(applied(leaf_changes(ROOT, before, after), before))
    assert expected == unordered(applied(changes, before))


@given(PAIRS, st.data())
def test_some_of_the_changes_can_be_made_alone(pair: tuple[Any, Any], data: st.DataObject) -> None:
    """Each stays to be made, or is made; taking it back leads to the first value."""
    before, after = pair
    changes = leaf_changes(ROOT, before, after)
    chosen = [one for one in changes if data.draw(st.booleans())]
    made = applied(chosen, before)
    assert is_same_value(before, applied([one.inverse() for one in reversed(chosen)], made))


@given(TEXTS, TEXTS, WORDS)
def test_what_others_have_added_survives(before: list[Any], after: list[Any], word: str) -> None:
    """A text in another language, at the beginning or at the end."""
    others = text("ita-IT", word)
    for one in leaf_changes(ROOT, before, after):
        if not one.path:
            continue  # the list as a whole, since its order is the change
        inverse = one.inverse()
        for present in ([others, *after], [*after, others]):
            assert others in inverse.applied(present)


@given(PAIRS, ONE)
def test_nothing_else_is_ever_replaced(pair: tuple[Any, Any], present: Any) -> None:
    """A place that holds neither the one nor the other is a conflict, and stays."""
    before, after = pair
    kept = copy.deepcopy(present)
    for one in leaf_changes(ROOT, before, after):
        holds = one.found(present)
        try:
            made = one.applied(present)
        except LeafChanged:
            continue
        finally:
            assert kept == present
        assert is_same_value(holds, one.before) or one.is_made(present)
        assert one.is_made(made)


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
    "null before": (None, [text("fra-FR", "Pain")], lambda now: now),
    "an empty list before": ([], [text("fra-FR", "Pain")], lambda now: now),
    "nothing before": (ABSENT, [text("fra-FR", "Pain")], lambda now: now),
    "null is sent": ([text("fra-FR", "Pain")], None, lambda _: []),
    "a whole value is deleted, and absent at the service": (7, None, lambda _: ABSENT),
    "true became false": (True, False, lambda now: now),
    "one and true are two values": (1, True, lambda now: now),
}


@pytest.mark.parametrize("case", CASES)
def test_a_write_is_taken_back_whatever_the_service_makes_of_it(case: str) -> None:
    """Back to a value that says the same as before."""
    before, sent, stored = CASES[case]
    inverses = [one.inverse() for one in reversed(leaf_changes(ROOT, before, sent))]
    assert inverses
    made = applied(inverses, stored(sent))
    if isinstance(before, list) and isinstance(made, list):  # the order is the service's
        made.sort(key=lambda one: [is_same_value(one, other) for other in before], reverse=True)
    assert is_same_value(before, made)


@pytest.mark.parametrize(
    ("before", "sent", "now"),
    [
        ([text("fra-FR", "Pain")], [text("fra-FR", "Pain bis")], [text("fra-FR", "Pain complet")]),
        ([text("fra-FR", "Pain")], [], [text("fra-FR", "Pain complet")]),
        # Nobody has written the text of Belgium, though it says the same.
        ([text("fra-FR", "Pain")], [text("fra-FR", "Pain bis")], [text("fra-BE", "Pain bis")]),
        (1, 2, 3),
        (1, 2, True),
        (ABSENT, {"code": "A"}, {"code": "B", "label": "A"}),
        ([{"code": "A"}], [{"code": "B"}], [{"code": "C"}]),
        ([{"code": "A"}], [{"code": "B"}], [{"code": "B"}, {"code": "B"}]),
    ],
)
def test_what_somebody_has_changed_since_is_a_conflict(before: Any, sent: Any, now: Any) -> None:
    """It is neither what was sent, nor what was before."""
    (change,) = leaf_changes(ROOT, before, sent)
    with pytest.raises(LeafChanged):
        change.inverse().applied(now)


def test_a_text_that_was_sent_without_its_place_leaves_others_alone() -> None:
    """Its place is restored, and a text that was added since stays."""
    before, sent = [text("fra-FR", "Bon", sort=1)], [text("fra-FR", "Bien")]
    inverses = [one.inverse() for one in reversed(leaf_changes(ROOT, before, sent))]
    added = text("ita-IT", "Buono")
    assert [*before, added] == applied(inverses, [*sent, added])
