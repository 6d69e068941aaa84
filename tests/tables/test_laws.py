"""Laws 1 and 2: no leaf is lost or invented, flattening distributes, and the fast path equals the plain one."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prodex.tables.attributes import child_path
from prodex.tables.declaration import TABLES
from prodex.tables.descriptors import expressed
from prodex.tables.flatten import Tables, decoded, flatten_products
from prodex.tables.parse import ONE_BY_ONE, ShapeCache
from prodex.tables.plain_walk import flatten_one
from prodex.tables.values import read_json
from tests import laws
from tests.wire import CORNERS, NAMED, OTHER_CORNERS, canonical, encode, leaves, listed, products

#: Tables whose leaves have their home elsewhere, or that hold no single leaf.
_COPIES = {"presence", "raw", "descriptors", "code_labels"}

ONE, OTHER = ([encode(product) for product in some] for some in (CORNERS, OTHER_CORNERS))
pages = st.lists(products, max_size=6).map(lambda page: [encode(product) for product in page])
#: Kept over all examples: what was flattened before must not matter.
_LEARNT = ShapeCache()


def rows(tables: Tables, name: str) -> Counter[Any]:
    """Count the rows of a table; NaN cannot stand in any."""
    columns = [c for c in tables[name].column_names if name != "presence"]
    return Counter(tuple(map(repr, row.values())) for row in tables[name].select(columns).to_pylist())


def plain(page: list[bytes]) -> dict[str, Counter[Any]]:
    """Flatten each product by the definition."""
    flat = [flatten_one(read_json(product)) for product in page]
    return {
        name: Counter(tuple(map(repr, row.values())) for one in flat for row in one[name])
        for name in TABLES
        if name not in {"presence", "raw", "code_labels"}
    }


@pytest.mark.slow
@example([b'{"id": 1}', b'{"id": 1, "updatedAt": "EACH"}'])
@example(ONE)
@example(OTHER)
@given(pages)
def test_the_fast_path_equals_the_plain_walk(page: list[bytes]) -> None:
    """Whatever products stand together, the column-wise tables hold exactly the rows of the plain walk."""
    tables = decoded(flatten_products(page, _LEARNT))
    expected = plain(page)
    expected["descriptors"] = Counter(set(expected["descriptors"]))

    assert expected == {name: rows(tables, name) for name in expected}
    states = [flatten_one(read_json(product))["presence"][0] for product in page]
    found = tables["presence"].to_pylist()
    assert states == [{key: one for key, one in row.items() if one != "absent"} for row in found]


@pytest.mark.slow
@example(ONE, OTHER)
@given(pages, pages)
def test_flattening_distributes_over_products(one: list[bytes], other: list[bytes]) -> None:
    """The tables of two pages together are those of the one followed by those of the other."""
    shapes = ShapeCache()
    both = decoded(flatten_products(one + other, shapes))
    apart = decoded(flatten_products(one, shapes)), decoded(flatten_products(other, shapes))

    for name in TABLES:
        expected = rows(apart[0], name) + rows(apart[1], name)
        if name == "descriptors":
            expected = Counter(set(expected))
        assert expected == rows(both, name), name


@pytest.mark.slow
@laws.planted(*CORNERS)
@given(products)
def test_every_leaf_stands_in_exactly_one_cell(product: dict[str, Any]) -> None:
    """Reading the tables back gives each scalar of the product once, at its place, and nothing else."""
    wire = _unwrapped(json.loads(encode(product)), ())
    tables = decoded(flatten_products([encode(product)], _LEARNT))
    expected, described = _without_descriptors(wire)

    assert expected == Counter((*place, _by_value(leaf)) for *place, leaf in _leaves_of(tables, wire))
    assert described == {tuple(row.values()) for row in tables["descriptors"].to_pylist()}


@pytest.mark.slow
@example(ONE)
@example(OTHER)
@given(pages)
def test_tables_have_the_declared_schema_and_known_products(page: list[bytes]) -> None:
    """Even an empty page gives every declared column, and each child row belongs to a product."""
    tables = decoded(flatten_products(page))
    known = set(tables["products"]["product_id"].to_pylist())

    for name, table in TABLES.items():
        if name == "presence":
            continue
        assert [(f.name, f.type) for f in table.schema] == [(f.name, f.type) for f in tables[name].schema], (
            name
        )
        if table.per_product:
            assert set(tables[name]["product_id"].to_pylist()) <= known, name
    assert [product.decode() for product in page] == tables["raw"]["json"].to_pylist()


@pytest.mark.slow
@example(ONE)
@example(OTHER)
@given(pages)
def test_presence_tells_filled_empty_null_and_absent_apart(page: list[bytes]) -> None:
    """For every product and top-level attribute, presence says what a plain look at the JSON says.

    What is there and cannot be read looks filled.
    """
    presence = flatten_products(page)["presence"].to_pylist()

    for product, row in zip(page, presence, strict=True):
        seen = {key for key in row if key not in {"product_id", "gtin"}}
        found = {_column(key): _face(value) for key, value in json.loads(product).items()}
        there = {key: "filled" if row[key] == "unreadable" else row[key] for key in seen}
        assert {**dict.fromkeys(seen, "absent"), **found} == there


def _column(key: str) -> str:
    return f"{key} (attribute)" if key in {"gtin", "product_id"} else canonical(key)


def _face(value: Any) -> str:
    if value is None:
        return "null"
    return "filled" if isinstance(value, bool | int | float) or len(value) else "empty"


_CERTIFICATES = ("certificationInformationList", "certificationDetailsList")
#: Where lists of objects are declared, and where single objects and values: by the wire path of the object around.
_LISTS = {tuple(anchor.split(".")) for table in TABLES.values() for anchor in table.anchors if anchor}
_LISTS |= {("isPartitionedBy",), ("expressedIn",), _CERTIFICATES[:1], _CERTIFICATES}
#: Values that are in no column.
_DATES = {(): ("startAvailabilityDateTime", "endAvailabilityDateTime")}
_DATES[_CERTIFICATES] = ("certificationEffectiveStartDate", "certificationEffectiveEndDate")


def _singles(path: tuple[str, ...]) -> dict[tuple[str, ...], set[str]]:
    """Return the paths of single values from an object at a wire path, and what kinds of value these are."""
    anchor = path[1:] if path[:1] == ("lastRequest",) else path
    while anchor[-1:] == ("children",) and anchor[:1] in {("logisticalHierarchies",), ("sharingUnits",)}:
        anchor = anchor[:-1]
    found: dict[tuple[str, ...], set[str]] = {(name,): {"code"} for name in _DATES.get(anchor, ())}
    for table in TABLES.values():
        for one in table.anchors:
            anchored = tuple(one.split(".")) if one else ()
            for column in table.columns:
                own = column.paths if anchored == anchor and (one or not path) else ()
                above = anchored[:-1] == anchor and column.parent_path and anchored
                for inner in (*own, *([column.parent_path] if above else [])):
                    found.setdefault(tuple(inner), set()).add(column.kind)
    return found


def _is_list_of_objects(path: tuple[str, ...]) -> bool:
    own = path[1:] if path[:1] == ("lastRequest",) else path
    return own in _LISTS or (own[-1:] == ("children",) and _singles(own) == _singles(own[:1]) != {})


def _unwrapped(value: Any, path: tuple[str, ...]) -> Any:
    """Read containers by hand: numbers as keys, an object for a list of objects, a list of one for what is single."""
    value = listed(value) if path else value
    if isinstance(value, list) and _is_list_of_objects(path):
        # Lists in it are one list with it.
        while any(isinstance(listed(item), list) for item in value):
            each = [listed(item) for item in value]
            value = [one for items in each for one in (items if isinstance(items, list) else [items])]
    if isinstance(value, list):
        return [_unwrapped(item, path) for item in value]
    if not isinstance(value, dict):
        return value
    for inner, kinds in _singles(path).items():
        value = _opened(value, inner, kinds)
    return {
        key: [_unwrapped(item, (*path, canonical(key)))]
        if isinstance(item, dict) and listed(item) is item and _is_list_of_objects((*path, key))
        else _unwrapped(item, (*path, canonical(key)))
        for key, item in value.items()
    }


def _opened(value: dict[str, Any], path: tuple[str, ...], kinds: set[str]) -> dict[str, Any]:
    key, *rest = path or ("",)
    if not path or key not in value:
        return value
    items = listed(value[key])
    one = items[0] if isinstance(items, list) and len(items) == 1 else value[key]
    if rest:
        return {**value, key: _opened(one, tuple(rest), kinds)} if isinstance(one, dict) else value
    return value if "number" in kinds or isinstance(one, list | dict) else {**value, key: one}


def _without_descriptors(product: Any) -> tuple[Counter[Any], set[Any]]:
    """Split the leaves of a product into those with a place and the descriptors' (an own reading of the rules)."""
    described: set[Any] = set()

    def strip(value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, list):
            return [strip(item, path) for item in value]
        if not isinstance(value, dict):
            return value
        inner = {key: strip(item, (*path, key)) for key, item in value.items()}
        about = value.get("expressedIn")
        if isinstance(about, dict) and _named(about) and _is_text_or_quantity(value, path):
            inner["expressedIn"] = _take(about, described, path)
        own = path[1:] if path[:1] == ("lastRequest",) else path
        if own == ("expressedIn", "presentEntities") and _named(value):
            return {k: strip(v, (*path, k)) for k, v in _take(value, described, path).items()}
        return inner

    stripped = strip(product, ())
    return Counter(
        (path, position, _by_value(canonical(leaf))) for path, position, leaf in leaves(stripped)
    ), described


def _is_text_or_quantity(value: dict[str, Any], path: tuple[str, ...]) -> bool:
    """Decide by the names that were given to codes by hand; what no list has, the tables may decide."""
    data, about = value.get("data"), value["expressedIn"]
    if not (isinstance(data, str) or _is_exact(data)):
        return False
    code, short = about.get("code"), about.get("normalizedCode")
    code = canonical(code) if _is_code(code) else None
    short = canonical(short) if isinstance(short, str) else None
    if path[-1:] == ("namePublicLong",):
        named = "language"
    elif code in NAMED and (NAMED[code] == "language" or short is None):
        named = NAMED[code]
    else:
        found = expressed(code, short).value.removeprefix("a ").replace("probably a", "like a")
        named = "two letters" if found.startswith("two letters") else found
    if path[-1:] in {("netContent",), ("width",)} and named != "language":
        named = "like a unit" if named == "two letters" else "unit"
    if not isinstance(data, str):
        return named != "language"
    if named in {"language", "two letters"}:
        return True
    if (number := _amount(data)) is None:
        return named != "unit"
    return named in {"unit", "like a unit"} and abs(number) < 2**53


def _amount(text: str) -> Decimal | None:
    """Read a number that came as text: a second, slower reading of the grammar."""
    left = text.strip()
    left = left[1:] if left[:1] in {"+", "-"} else left
    digits = left.replace(",", ".", 1).replace(".", "", 1)
    if not digits or len(digits) > 30 or not set(digits) <= set("0123456789"):
        return None
    return Decimal(text.strip().replace(",", "."))


def _is_exact(value: Any) -> bool:
    return not isinstance(value, bool) and (
        isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**53)
    )


def _is_code(value: Any) -> bool:
    whole = _is_exact(value) and float(value).is_integer() and abs(value) < 2**53
    return isinstance(value, str) or whole or (isinstance(value, int) and not isinstance(value, bool))


def _named(about: dict[str, Any]) -> bool:
    return _is_code(about.get("code")) or isinstance(about.get("normalizedCode"), str)


def _take(about: dict[str, Any], described: set[Any], path: tuple[str, ...]) -> dict[str, Any]:
    taken = {"code": about.get("code") if _is_code(about.get("code")) else None}
    taken |= {
        key: about[key]
        for key in ("normalizedCode", "description", "label")
        if isinstance(about.get(key), str)
    }
    order = ("code", "normalizedCode", "description", "label")
    described.add(tuple(None if taken.get(key) is None else canonical(taken[key]) for key in order))
    return {key: value for key, value in about.items() if taken.get(key) is None}


def _by_value(text: str) -> str:
    """Let all spellings of one time be one value, and all spellings of one number."""
    if (number := _amount(text)) is not None:
        return canonical(float(number)) if abs(number) < 2**53 else canonical(number)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if len(text) < 19 or "W" in text:
        return text
    with suppress(OverflowError):
        moment = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    return moment.isoformat()


def _leaves_of(tables: Tables, product: dict[str, Any]) -> Any:
    """Read the leaves back from the cells, by the declared paths."""
    (root,) = tables["products"].to_pylist()
    for key, column in (("id", "product_id"), ("gtin", "gtin")):
        value = product.get(key)
        if _is_code(value) and (key == "gtin" or value != ""):
            assert canonical(value) == root[column]
            yield (key,), (), canonical(value)
    for name, table in TABLES.items():
        for row in () if name in _COPIES else tables[name].to_pylist():
            place = tuple(int(i) for i in row["position"].split(".") if i) if name != "products" else ()
            yield from _cells(name, row, _segments(row.get("attribute", "")), place, table, product)


def _cells(
    name: str, row: dict[str, Any], path: tuple[str, ...], place: tuple[int, ...], table: Any, product: Any
) -> Any:
    shaped = {"texts": [("text", "data")], "quantities": [("value", "data")], "scalars": [("value", None)]}
    shaped["codes"] = [(key, key) for key in ("code", "label", "description")]
    for column, key in shaped.get(name, ()):
        if row[column] is not None:
            value = Decimal(row[column]) if row.get("type") == "number" else row[column]
            yield (path if key is None else (*path, key)), place, canonical(value)
    for column in table.columns:
        if column.paths and (value := row[column.name]) is not None:
            homes = [home for home in column.paths if name != "hierarchies" or len(column.paths) == 1]
            home = homes[0] if homes else _home(column, path, place, value, product)
            if name == "tags" and column.name == "tag" and _at(product, path, place, ()) == value:
                home = ()
            yield (*path, *home), place, _spelled(value)


def _home(
    column: Any, path: tuple[str, ...], place: tuple[int, ...], value: Any, product: Any
) -> tuple[str, ...]:
    """Find which of two possible places of a hierarchy's column was taken: the first that fits."""
    for home in column.paths:
        found = _at(product, path, place, home)
        fits = (
            isinstance(found, bool) if isinstance(value, bool) else _is_code(found) and column.kind == "code"
        )
        if fits or (column.kind == "string" and isinstance(found, str)):
            return tuple(home)
    raise AssertionError(f"{column.name} has no home")


def _at(value: Any, path: tuple[str, ...], place: tuple[int, ...], home: tuple[str, ...]) -> Any:
    keys, indexes = list(path), list(place)
    while keys or indexes:
        if isinstance(value, list):
            value = value[indexes.pop(0)]
        else:
            key = keys.pop(0)
            value = next(item for name, item in value.items() if canonical(name) == key)
    for key in home:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _spelled(value: Any) -> str:
    if isinstance(value, datetime):
        return f"{int(value.timestamp())}" if value.tzinfo else value.isoformat()
    return canonical(value)


def _segments(attribute: str) -> tuple[str, ...]:
    """Take a wire path apart again."""
    segments, current, escaped = [], "", False
    for character in attribute:
        if escaped:
            current += "" if character == "e" else character
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == ".":
            segments.append(current)
            current = ""
        else:
            current += character
    return (*segments, current) if attribute else ()


def test_paths_of_odd_keys_stay_unambiguous() -> None:
    """A dot or backslash inside a key, and an empty key, give paths that can be taken apart again."""
    assert _segments(child_path(child_path(child_path("a", ""), "b.c"), "d\\")) == ("a", "", "b.c", "d\\")


@pytest.mark.slow
@example(ONE)
@example(OTHER)
@given(pages)
def test_few_products_walked_one_by_one_give_the_same_tables(page: list[bytes]) -> None:
    """Whether columns or the plain walk flatten a block shows nowhere: not in values, types or the order of rows."""
    shapes = ShapeCache()
    flatten_products(page, shapes)

    assert decoded(flatten_products(page, ONE_BY_ONE)) == decoded(flatten_products(page, shapes))
