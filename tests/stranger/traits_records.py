"""All products in another shape than the specification draws: texts, codes, lists and identifiers."""

from __future__ import annotations

import re
from typing import Any

from .switches import declare


def _each(change: Any) -> Any:
    """An act that changes every product of every page."""

    def act(page: Any, value: Any, call: Any) -> Any:
        items = [change(item, value, call) if isinstance(item, dict) else item for item in page["data"]]
        return {**page, "data": items}

    return act


def _attributes(change: Any) -> Any:
    """An act that changes every attribute of every product."""
    return _each(lambda item, _, __: {name: change(value) for name, value in item.items()})


def _shape(name: str, sentence: str, act: Any, **more: Any) -> None:
    declare(name, "shape", sentence, "page", act, **more)


def _is_texts(value: Any) -> bool:
    return (
        bool(value) and isinstance(value, list) and isinstance(value[0], dict) and "expressedIn" in value[0]
    )


def _is_code(value: Any) -> bool:
    return isinstance(value, dict) and {"code", "label"} <= set(value)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _wrapped(item: Any, _value: Any, _call: Any) -> Any:
    return {"product": item}


def _last_request(item: Any, _value: Any, _call: Any) -> Any:
    """Keep what identifies a product and put the rest under lastRequest."""
    outside = ("id", "uuid", "gtin", "updatedAt", "createdAt", "owner")
    inner = {name: value for name, value in item.items() if name not in outside}
    return {**{name: item[name] for name in outside if name in item}, "lastRequest": inner}


_shape(
    "texts_plain",
    "Localized texts are plain text.",
    _attributes(lambda v: v[0]["data"] if _is_texts(v) else v),
    family="texts",
)
_shape(
    "texts_object",
    "One localized text is an object, not a list.",
    _attributes(lambda v: v[0] if _is_texts(v) else v),
    family="texts",
)
_shape(
    "texts_by_language",
    "Localized texts are an object by language.",
    _attributes(lambda v: {t["expressedIn"]["normalizedCode"]: t["data"] for t in v} if _is_texts(v) else v),
    family="texts",
)
_shape(
    "texts_null_data",
    "Each localized list ends with a text that is null.",
    _attributes(lambda v: [*v, {**v[0], "data": None}] if _is_texts(v) else v),
    family="texts",
)
_shape(
    "texts_without_language",
    "Texts do not say their language.",
    _attributes(lambda v: [{"data": t["data"]} for t in v] if _is_texts(v) else v),
    family="texts",
)
_shape(
    "texts_null_items",
    "Localized lists hold a null.",
    _attributes(lambda v: [None, *v] if _is_texts(v) else v),
    family="texts",
)
_shape(
    "codes_plain",
    "Code values are plain codes.",
    _attributes(lambda v: v["code"] if _is_code(v) else v),
    family="codes",
)
_shape(
    "codes_numbers",
    "Codes are numbers.",
    _attributes(lambda v: {**v, "code": sum(map(ord, str(v["code"])))} if _is_code(v) else v),
    family="codes",
)
_shape(
    "codes_null",
    "Codes and labels are null.",
    _attributes(lambda v: {**v, "code": None, "label": None} if _is_code(v) else v),
    family="codes",
)
_shape(
    "codes_lists",
    "Code values are lists of one.",
    _attributes(lambda v: [v] if _is_code(v) else v),
    family="codes",
)
_shape(
    "codes_labels_objects",
    "Labels are objects by language.",
    _attributes(lambda v: {**v, "label": {"en": v["label"]}} if _is_code(v) else v),
    family="codes",
)
_shape("empty_lists_null", "Empty lists are null.", _attributes(lambda v: None if v == [] else v))
_shape(
    "nulls_absent",
    "Attributes without data are absent.",
    _each(lambda item, _, __: {n: v for n, v in item.items() if v not in (None, [])}),
)
_shape(
    "booleans_as_text",
    "Booleans are texts.",
    _attributes(lambda v: str(v).lower() if isinstance(v, bool) else v),
    family="booleans",
)
_shape(
    "booleans_as_numbers",
    "Booleans are 0 and 1.",
    _attributes(lambda v: int(v) if isinstance(v, bool) else v),
    family="booleans",
)
_shape(
    "keys_in_snake_case",
    "Attribute names are in snake case.",
    _each(lambda item, _, __: {_snake(name): value for name, value in item.items()}),
    family="keys",
)
_shape(
    "ids_as_text",
    "All ids are texts.",
    _each(lambda item, _, __: {**item, "id": str(item["id"])} if "id" in item else item),
)
_shape(
    "ids_change",
    "A product's id differs from read to read.",
    _each(
        lambda item, _, call: (
            {**item, "id": 10**9 + call.number * 10**6 + item["id"]}
            if isinstance(item.get("id"), int)
            else item
        )
    ),
)
_shape(
    "ids_absent",
    "No product has an id.",
    _each(lambda item, _, __: {n: v for n, v in item.items() if n != "id"}),
)
_shape(
    "uuids_absent",
    "No product has a uuid.",
    _each(lambda item, _, __: {n: v for n, v in item.items() if n != "uuid"}),
)
_shape(
    "uuids_upper_case",
    "uuids are in capitals.",
    _each(lambda item, _, __: {**item, "uuid": item["uuid"].upper()} if item.get("uuid") else item),
)
_shape(
    "gtins_of_13",
    "All GTINs have 13 digits.",
    _each(lambda item, _, __: {**item, "gtin": item["gtin"][1:]} if item.get("gtin") else item),
    family="gtins",
)
_shape(
    "gtins_as_numbers",
    "All GTINs are numbers.",
    _each(lambda item, _, __: {**item, "gtin": int(item["gtin"])} if item.get("gtin") else item),
    family="gtins",
)
_shape(
    "gtins_equal",
    "All products have one GTIN, in several markets.",
    _each(lambda item, _, __: {**item, "gtin": "03036811359935"}),
    family="gtins",
)
_shape(
    "assets_singular",
    "Documents are under `document`.",
    _each(
        lambda item, _, __: (
            {
                **item,
                "assets": {("document" if n == "documents" else n): v for n, v in item["assets"].items()},
            }
            if item.get("assets")
            else item
        )
    ),
    family="assets",
)
_shape(
    "assets_list",
    "Assets are a list.",
    _each(lambda item, _, __: {**item, "assets": [item["assets"]]} if item.get("assets") else item),
    family="assets",
)
_shape("products_wrapped", "Each product is inside `product`.", _each(_wrapped), family="wrapping")
_shape(
    "products_under_last_request",
    "Data stands under lastRequest, as for products not yet accepted.",
    _each(_last_request),
    family="wrapping",
)
_shape(
    "attributes_unknown",
    "Each product has attributes nobody knows.",
    _each(lambda item, _, __: {**item, "x-new": {"a": [1, None, {}]}, "tags": {}}),
)
declare(
    "totals_key_renamed",
    "shape",
    "totalResults is called total.",
    "form",
    lambda page, _, __: {("total" if n == "totalResults" else n): v for n, v in page.items()},
)
declare(
    "data_key_renamed",
    "shape",
    "data is called products.",
    "form",
    lambda page, _, __: {("products" if n == "data" else n): v for n, v in page.items()},
)
declare(
    "cursor_key_renamed",
    "shape",
    "next_page is called nextPage.",
    "form",
    lambda page, _, __: {("nextPage" if n == "next_page" else n): v for n, v in page.items()},
)
declare(
    "envelope_wrapped",
    "shape",
    "The envelope is inside `result`.",
    "form",
    lambda page, _, __: {"result": page},
)
