"""Segment hierarchies of each shape that services were seen to answer: no row and no name is lost."""

from __future__ import annotations

import pytest
from exchange import says
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_row

import prodex
from prodex.errors import IncompleteLoad, UnexpectedReply
from prodex.load.reference_data import segment_rows

EXPECTED = [
    ("1", "All", None, 0, "All"),
    ("2", "Food", "1", 1, "All > Food"),
    ("3", "Bread", "2", 2, "All > Food > Bread"),
    ("4", "Tools", "1", 1, "All > Tools"),
]


def tree(ids="id", names="name", children="children"):
    """Make one tree of four segments, its members called differently."""

    def node(number, name, *below):
        return {ids: number, names: name, children: list(below)}

    return node("1", "All", node("2", "Food", node("3", "Bread")), node("4", "Tools"))


def flat(parent="parentId", ids="id", names="name", root=None):
    """Make the same as a list in which segments name their parents."""
    rows = [("1", "All", root), ("2", "Food", "1"), ("4", "Tools", "1"), ("3", "Bread", "2")]
    return [{ids: number, names: name, parent: above} for number, name, above in rows]


def table(reply):
    """Return the columns that every hierarchy has."""
    return [
        tuple(row[name] for name in ("id", "name", "parent", "level", "path")) for row in segment_rows(reply)
    ]


SHAPES = {
    "id, name and children": tree(),
    "uuid and label": tree("uuid", "label"),
    "code and title": tree("code", "title"),
    "subSegments": tree(children="subSegments"),
    "nodes": tree(children="nodes"),
    "a list at the top": [tree()],
    "data": {"data": [tree()], "totalResults": 4},
    "data, one root": {"data": tree()},
    "flat with parent": flat("parent"),
    "flat with parentId": flat("parentId"),
    "flat with uuids": flat("parentUuid", "uuid", "label"),
    "flat with parents as objects": [
        row | {"parent": None if row["parent"] is None else {"id": row["parent"]}} for row in flat("parent")
    ],
    "flat in data": {"data": flat("parentUuid", "uuid", "label"), "totalResults": 4},
    "flat, children before parents": flat()[::-1],
    "flat, the root's parent is empty": flat(root=""),
    "flat with whole numbers": [
        row | {"id": int(row["id"]), "parentId": row["parentId"] and int(row["parentId"])} for row in flat()
    ],
    "names in several languages": [
        row | {"name": [{"expressedIn": {"code": "eng-GB"}, "data": row["name"]}]} for row in flat()
    ],
}


@each_row("shape", SHAPES)
def test_every_shape_gives_the_same_rows(shape):
    """Each of the shapes that services were seen to answer."""
    found = table(SHAPES[shape])
    assert EXPECTED == sorted(found)
    assert found.index(EXPECTED[0]) < found.index(EXPECTED[1]) < found.index(EXPECTED[2])


def test_several_roots_and_one_without_id_or_name():
    """Each is a row; what has no name is known by its id."""
    reply = [
        {"name": "Food", "children": [{"id": 7}]},
        {"id": "8", "children": []},
        {"colour": "red", "children": []},
    ]
    assert [
        (None, "Food", None, 0, "Food"),
        ("7", None, None, 1, "Food > 7"),
        ("8", None, None, 0, "8"),
        (None, None, None, 0, "(no name)"),
    ] == table(reply)
    assert "red" == segment_rows(reply)[3]["colour"]
    assert (None, None, None, 0, "(no name)") == table({"children": [{"id": "7"}]})[0]


def test_what_else_stands_in_a_segment_has_columns(client, exchange):
    """uuid beside id, objects, lists of texts in languages; ours keep their names."""
    reply = {
        "id": 1,
        "uuid": "u",
        "level": "deep",
        "tags": ["x"],
        "texts": [{"expressedIn": {}, "data": "t"}],
        "path": "p",
    }
    exchange.answers.append(says(200, reply))
    frame = prodex.load_segments(client)
    assert {"uuid": "u", "level (attribute)": "deep", "tags": ["x"], "path (attribute)": "p"} == {
        name: frame[name][0] for name in ("uuid", "level (attribute)", "tags", "path (attribute)")
    }
    assert (1, "1", 0) == (len(frame), frame["id"][0], frame["level"][0])
    assert [{"expressedIn": {}, "data": "t"}] == frame["texts"][0]


@each_row(
    "reply",
    [
        [{"id": "a", "parent": "b"}, {"id": "b", "parent": "a"}, {"id": "c", "parent": "b"}, {"id": "d"}],
        [{"id": "a", "parent": "a"}, {"id": "b"}],
    ],
)
def test_a_circle_of_parents_is_refused(reply):
    """It has no root, so that no row could say where its segments are."""
    with pytest.raises(
        ValueError, match=r"no root is above .* segments?, as in a circle: 'a' is below '[ab]'"
    ):
        segment_rows(reply)


def test_a_parent_that_is_not_in_the_reply_stays_named():
    """What a permission hides is not there; the place in a tree counts more than what a segment says of it."""
    assert [("a", None, "x", 0, "a")] == table([{"id": "a", "parent": "x"}])
    assert [("a", None, None, 0, "a"), ("b", None, "a", 1, "a > b")] == table(
        [{"id": "a", "children": [{"id": "b", "parent": "z"}]}]
    )
    assert ["a", "a"] == [row["id"] for row in segment_rows([{"id": "a"}, {"id": "a", "name": "other"}])]


@given(
    st.recursive(
        st.none() | st.integers(0, 3) | st.sampled_from(["a", "b", "0"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "uuid", "name", "parent", "children", "data", "x"]), inner, max_size=4
            )
        ),
        max_leaves=15,
    )
)
def test_any_reply_is_read_or_refused(reply):
    """Never another error and never without end."""
    try:
        rows = segment_rows(reply)
    except ValueError:
        return
    assert len(rows) <= 40
    for row in rows:
        assert {"id", "name", "parent", "level", "path"} <= set(row)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.none() | st.sampled_from("abcdefx")), max_size=8))
def test_no_row_of_a_flat_list_is_lost(pairs):
    """Duplicates and missing parents included; a circle is refused, and so is what is below it."""
    above = dict(reversed(pairs))  # of two segments of one id the first is meant
    reply = [{"id": one, "parent": parent} for one, parent in pairs]

    def is_endless(one):
        for _ in range(len(pairs) + 1):
            one = above.get(one)
        return one is not None

    if any(map(is_endless, above)):
        with pytest.raises(ValueError, match="circle"):
            segment_rows(reply)
    else:
        assert sorted(one for one, _ in pairs) == sorted(row["id"] for row in segment_rows(reply))


@each_row(
    "reply, words",
    [
        ([{"segmentId": "7", "segmentName": "Food"}], r"'segmentId': '7'.* is no segment with id"),
        ({"mine": [{"id": "a"}], "others": []}, r"'mine': .* is no segment"),
        ({"id": "1", "children": {"2": {}}}, r"'children' is \{'2': \{\}\}, which is no list"),
        ({"id": "1", "name": {"fr": "x"}}, r"\{'fr': 'x'\} is neither an identifier nor"),
        ([{"id": True}], "True is neither"),
    ],
    ids=["other names", "several lists", "children by id", "names by language", "a flag as an id"],
)
def test_another_shape_is_refused_with_its_value(reply, words):
    """Nothing is guessed: a wrong hierarchy would be worse than none."""
    with pytest.raises(ValueError, match=words):
        segment_rows(reply)


@each_row("reply", [{"children": "x"}, {"id": 1, "children": ["a"]}, {"a": 1}, [[]], {"data": {"data": 3}}])
def test_what_cannot_be_read_is_shown(client, exchange, reply):
    """The error has the reply, shortened, and without secrets."""
    reply = reply | {"token": "canary-secret-5f2b\x1b"} if isinstance(reply, dict) else reply
    exchange.answers.append(says(200, reply))
    with pytest.raises(UnexpectedReply, match=r"no list of segments.*It sent") as caught:
        prodex.load_segments(client)
    assert ("canary" in str(caught.value), "\x1b" in str(caught.value)) == (False, False)


@each_row(
    "shape",
    [
        lambda rows: {"organizations": rows, "total": "3"},
        lambda rows: {"totalResults": 0, "data": rows},
        lambda rows: {"totalResults": 1, "data": rows},
        lambda rows: {"totalResults": None, "data": rows},
        lambda rows: {"totalResults": -1, "data": rows, "links": [{"rel": "next"}]},
    ],
)
def test_organisations_are_read_whatever_is_announced(client, exchange, shape):
    """A total ends nothing: it is a claim that has to be reached."""
    rows = [{"id": None, "name": "A"}, {"id": None, "name": "B"}, {"uuid": "u", "name": "C"}]
    exchange.answers.extend([says(200, shape(rows[:1])), says(200, shape(rows[1:])), says(200, shape([]))])
    frame = prodex.load_organizations(client)
    assert ["A", "B", "C"] == frame["name"].tolist()


def test_an_offset_behind_the_last_organisation_may_be_refused(client, exchange):
    """What came is kept, unless more was announced."""
    exchange.answers.extend([says(200, [{"id": 1}]), says(400, "no such offset")])
    assert 1 == len(prodex.load_organizations(client))
    exchange.answers.extend([says(200, {"total": "2", "data": [{"id": 1}]}), says(400, "no such offset")])
    with pytest.raises(IncompleteLoad, match="1 organisations were received, but the service announced 2"):
        prodex.load_organizations(client)


def test_organisations_that_change_between_pages_do_not_go_on_for_ever(client, exchange):
    """A page with the same ids ends the list, whatever their other fields are."""
    exchange.answers.extend([says(200, [{"id": 1, "seen": number}]) for number in range(9)])
    assert [0, 1] == prodex.load_organizations(client)["seen"].tolist()
