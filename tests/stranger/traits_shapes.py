"""Answers whose shape the specification does not show: organizations, segments, scenarios."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from .switches import declare
from .wire import Reply


def _renamed(tree: Any, **names: str) -> Any:
    """The tree with keys renamed at every level."""
    if isinstance(tree, list):
        return [_renamed(node, **names) for node in tree]
    if isinstance(tree, dict):
        return {names.get(key, key): _renamed(value, **names) for key, value in tree.items()}
    return tree


def _flat(node: Any, parent: Any, key: str) -> list[Any]:
    """The nodes of a tree in one list, each with its parent under a key."""
    own = {"id": node["id"], "name": node["name"], key: parent}
    return [own, *(one for child in node["children"] for one in _flat(child, node["id"], key))]


def _rename(**names: str) -> Any:
    return lambda page, _, __: _renamed(page, **names)


def _flatten(key: str) -> Any:
    return lambda page, _, __: _flat(page, None, key)


def _nest(page: Any, _value: Any, _call: Any) -> Any:
    """A flat list whose parents are objects, and in an order where children come first."""
    flat = _flat(page, None, "parent")
    return [{**one, "parent": {"id": one["parent"]} if one["parent"] else None} for one in reversed(flat)]


def _deep(_page: Any, levels: Any, _call: Any) -> Any:
    node: dict[str, Any] = {"id": "PS_0", "name": "Leaf", "children": []}
    for level in range(1, levels):
        node = {"id": f"PS_{level}", "name": f"Level {level}", "children": [node]}
    return node


def _first_page(_reply: Any, _value: Any, call: Any) -> Any:
    target = re.sub(r"offset=\d+", "offset=0", call.request.target)
    call.request = replace(call.request, target=target)


def _segments(name: str, sentence: str, act: Any, **more: Any) -> None:
    declare(f"segments_{name}", "shape", sentence, "form", act, route="segments", family="segments", **more)


def _organizations(name: str, sentence: str, act: Any, stage: str = "form", **more: Any) -> None:
    declare(
        f"organizations_{name}",
        "shape",
        sentence,
        stage,
        act,
        route="organizations",
        family="organizations",
        **more,
    )


def _scenarios(
    name: str, sentence: str, status: int, body: bytes, content_type: str = "application/json"
) -> None:
    def act(_page: Any, _value: Any, _call: Any) -> Reply:
        return Reply(status, body, {"Content-Type": content_type} if body else {})

    declare(f"scenarios_{name}", "shape", sentence, "form", act, route="scenarios", family="scenarios")


_segments("uuid_and_label", "Segments have uuid and label.", _rename(id="uuid", name="label"))
_segments("code_and_title", "Segments have code and title.", _rename(id="code", name="title"))
_segments(
    "root_without_id", "The root has no id.", lambda page, _, __: {k: v for k, v in page.items() if k != "id"}
)
_segments(
    "root_only_children", "The root has children only.", lambda page, _, __: {"children": page["children"]}
)
_segments("list_at_top", "The roots are a list.", lambda page, _, __: page["children"])
_segments("flat_parent", "Segments are a flat list with `parent`.", _flatten("parent"))
_segments("flat_parent_id", "Segments are a flat list with `parentId`.", _flatten("parentId"))
_segments("flat_parent_object", "Parents are objects; children come before them.", _nest)
_segments("sub_segments", "Children are under subSegments.", _rename(children="subSegments"))
_segments("nodes", "Children are under nodes.", _rename(children="nodes"))
_segments("in_data", "The tree is inside data.", lambda page, _, __: {"data": page})
_segments("list_in_data", "A list of roots is inside data.", lambda page, _, __: {"data": page["children"]})
_segments(
    "names_localized",
    "Names are localized texts.",
    lambda page, _, __: {**page, "name": [{"expressedIn": {"code": "eng-GB"}, "data": page["name"]}]},
)
_segments("ids_numbers", "The root's id is a number.", lambda page, _, __: {**page, "id": 42})
_segments(
    "children_null",
    "A leaf's children are null.",
    lambda page, _, __: {
        **page,
        "children": [*page["children"], {"id": "PS_9", "name": "Empty", "children": None}],
    },
)
_segments("deep", "The tree is many levels deep.", _deep, parameter="levels", default=150)
_segments("empty", "There are no segments: an empty list.", lambda *_: [])
_organizations("list", "Organizations are a bare list.", lambda page, _, __: page["data"])
_organizations(
    "data_only", "Organizations are in data, without a total.", lambda page, _, __: {"data": page["data"]}
)
_organizations(
    "key", "Organizations are under `organizations`.", lambda page, _, __: {"organizations": page["data"]}
)
_organizations(
    "wrong_total",
    "The total is 10 more than there are.",
    lambda page, _, __: {**page, "totalResults": page["totalResults"] + 10},
)
_organizations("paging_ignored", "offset is ignored: each page is the first.", _first_page, "request")
_organizations(
    "uuid_and_name",
    "Organizations have uuid and name.",
    lambda page, _, __: {**page, "data": _renamed(page["data"], id="uuid", nameLegal="name")},
)
_organizations(
    "403",
    "Listing organizations is not allowed.",
    lambda _, __, call: call.reply({"message": "forbidden"}, 403),
    "request",
)
_scenarios("ok_text", "A 200 says OK.", 200, b"OK", "text/plain")
_scenarios("ok_as_json", "A 200 says OK and is labelled JSON.", 200, b"OK")
_scenarios("no_content", "A 204 has no body.", 204, b"")
_scenarios("accepted", "A 202 has an empty body.", 202, b"")
_scenarios("list", "The answer is a JSON list.", 200, b'[{"uuid": "a", "status": "OK"}]')
_scenarios("null", "The answer is null.", 200, b"null")
declare(
    "scenarios_403",
    "shape",
    "The service is for retailers only.",
    "request",
    lambda _, __, call: call.reply({"message": "only for retailers"}, 403),
    route="scenarios",
    family="scenarios",
)
_scenarios(
    "says_false", "A 200 says that nothing was done.", 200, b'{"success": false, "errors": ["not eligible"]}'
)
