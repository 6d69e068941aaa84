"""What of a record is served: dotted paths, attributes without data, and the rich content."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from small_exchange import BREAD, BUTTER, RECORDS, SHOP, Caller
from tests.cases import each_row

from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.api.projection import Projection

RECORD: dict[str, Any] = {
    "a": {"b": {"c": 1, "d": 2}, "e": 3},
    "list": [{"x": {"y": 1}, "z": 2}, None, {"z": 3}, 5, [{"x": {"y": 4}}]],
    "empty": [],
    "null": None,
    "false": False,
    "text": "",
    "big": 2**70,
}


def shaped(include: str = "", exclude: str = "", **options: Any) -> Any:
    shape = Projection(include.split() if include else (), exclude.split() if exclude else (), **options)
    return json.loads(shape.serve(json.dumps(RECORD).encode()))


@each_row(
    ("include", "kept"),
    [
        ("a", {"a": RECORD["a"]}),
        ("a.b", {"a": {"b": {"c": 1, "d": 2}}}),
        ("a.b.c", {"a": {"b": {"c": 1}}}),
        ("a.b.c a.e", {"a": {"b": {"c": 1}, "e": 3}}),
        ("a.b a.b.c", {"a": {"b": {"c": 1, "d": 2}}}),
        ("a.b.c a.b", {"a": {"b": {"c": 1, "d": 2}}}),
        ("a.nothing", {}),
        ("a.e.deeper", {}),
        ("nothing", {}),
        ("list.x.y", {"list": [{"x": {"y": 1}}, [{"x": {"y": 4}}]]}),
        ("list.z", {"list": [{"z": 2}, {"z": 3}]}),
        ("list.nothing", {}),
        ("empty null false text", {"false": False, "text": ""}),
        ("big", {"big": 2**70}),
    ],
)
def test_include_keeps_what_its_paths_name(include: str, kept: dict[str, Any]) -> None:
    """Dotted paths keep what they name, through objects and lists; attributes without data are absent."""
    assert kept == shaped(include)


@each_row(
    ("exclude", "gone"),
    [
        ("a", {"a": None}),
        ("a.b", {"a": {"e": 3}}),
        ("a.b.c", {"a": {"b": {"d": 2}, "e": 3}}),
        ("a a.b", {"a": None}),
        ("a.b.nothing nothing", {}),
        ("list.x", {"list": [{"z": 2}, None, {"z": 3}, 5, [{}]]}),
        ("empty null", {"empty": None, "null": None}),
    ],
)
def test_exclude_leaves_out_what_its_paths_name(exclude: str, gone: dict[str, Any]) -> None:
    """Dotted paths leave out what they name, through objects and lists, and nothing else."""
    wanted = RECORD | gone
    for path in exclude.split():
        if "." not in path:
            wanted.pop(path, None)
    assert wanted == shaped(exclude=exclude)


def test_exclude_leaves_out_of_what_include_keeps() -> None:
    """A field that both include and exclude name is left out."""
    assert {"a": {"e": 3}} == shaped("a", "a.b")
    assert {} == shaped("a", "a")


def test_a_projection_decodes_nothing_that_it_keeps_whole() -> None:
    """An attribute that is kept whole is served in the spelling it is stored in."""
    body = rb'{"n": 1.10e2, "t": "\u00e9", "a": {"b":  1,  "c": 2}}'
    assert rb'{"n":1.10e2,"t":"\u00e9"}' == Projection(include=["n", "t"]).serve(body)
    assert rb'{"n":1.10e2,"t":"\u00e9","a":{"b":1}}' == Projection(exclude=["a.c"]).serve(body)


def test_half_a_surrogate_pair_survives_a_projection() -> None:
    """A text that no file can hold keeps its wire escape, whatever is done to the record."""
    body = rb'{"gtin":"1","name":[{"data":"\ud83d"}],"other":1}'
    assert body == Projection().serve(body)
    for shape in (Projection(include=["gtin", "name.data"]), Projection(exclude=["other"])):
        assert rb'{"gtin":"1","name":[{"data":"\ud83d"}]}' == shape.serve(body)


def test_a_deep_record_can_be_shaped() -> None:
    """A record nested 500 levels deep is served in one language and without an attribute."""
    deep: Any = {"data": "x", "expressedIn": {"normalizedCode": "fr"}}
    for _ in range(500):
        deep = {"level": [deep]} if len(str(deep)) % 2 else {"level": deep}
    body = json.dumps({"deep": deep, "label": 1, "more": {"code": "1", "label": "one"}}).encode()
    assert b'"x"' in Projection(languages=["fr"]).serve(body)
    assert b'"x"' not in Projection(languages=["de"]).serve(body)
    assert b'"uno"' in Projection(exclude=["label"], labels={("1", "one"): "uno"}).serve(body)


names = st.sampled_from("abc")
values = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@given(record=st.dictionaries(names, values, max_size=3), path=st.lists(names, min_size=1, max_size=3))
def test_what_include_keeps_and_exclude_leaves_has_every_leaf_once(
    record: dict[str, Any], path: list[str]
) -> None:
    """The leaves that a path includes and those that it excludes are together the leaves of the record."""
    dotted, body = ".".join(path), json.dumps(record).encode()
    included = json.loads(Projection(include=[dotted]).serve(body))
    excluded = json.loads(Projection(exclude=[dotted]).serve(body))
    assert sorted(leaves(record)) == sorted([*leaves(included), *leaves(excluded)])


def leaves(value: Any, path: str = "") -> list[str]:
    """List the scalars below a value other than null, with the names on the way to them."""
    if isinstance(value, dict):
        return [leaf for name, item in value.items() for leaf in leaves(item, f"{path}.{name}")]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item, path)]
    return [] if value is None else [f"{path}={value!r}"]


@each_row("include", ["gtin,id,assets", "assets", "gtin,assets.pictures.url,assets.documents"])
def test_rich_content_has_gtin_and_an_id_that_is_a_string(shop: Caller, include: str) -> None:
    """Fields of only gtin, id and assets make the rich-content response: gtin and id always, id as a string."""
    for method in ("GET", "POST"):
        product = shop.call(method, limit=1, filter_source_include=include)["data"][0]
        assert {"gtin", "id", "assets"} == product.keys()
        assert (BREAD, "1") == (product["gtin"], product["id"])


@each_row("include", ["gtin,id", "gtin,id,assets,uuid", "id,assets,namePublicLong.data"])
def test_any_other_response_has_an_id_that_is_an_integer(shop: Caller, include: str) -> None:
    """With other fields, or without assets, id is an integer."""
    assert 1 == shop.call("GET", limit=1, filter_source_include=include)["data"][0]["id"]


def test_rich_content_holds_the_assets_as_stored(shop: Caller) -> None:
    """The assets of the rich-content response are those of the record."""
    data = shop.call("GET", filter_source_include="gtin,id,assets", filter_gtins_in=BUTTER)["data"]
    assert [{"id": "2", "gtin": BUTTER, "assets": RECORDS[BUTTER]["assets"]}] == data


def test_documents_can_be_served_under_another_name() -> None:
    """With documents_key, documents come under that name, and nothing else changes."""
    body = b'{"assets":{"pictures":[],"documents":[1]},"documents":2}'
    assert b'{"assets":{"pictures":[],"document":[1]},"documents":2}' == Projection(
        documents_key="document"
    ).serve(body)


def test_the_sandbox_serves_documents_under_the_name_set() -> None:
    """With documents_key=document every record of the sandbox names them so."""
    with Sandbox(
        [RECORDS[BREAD]], organizations=[SHOP], labels={}, behaviour=Behaviour(documents_key="document")
    ) as sandbox:
        caller = Caller(sandbox.base_url).log_in()
        with caller.session:
            for include in ({}, {"filter_source_include": ["assets"]}):
                assets = caller.call("POST", **include)["data"][0]["assets"]
                assert [{"fileName": "a.pdf"}] == assets["document"]
                assert "documents" not in assets
