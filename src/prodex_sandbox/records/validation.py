"""Whether an attribute and a GTIN can be stored, and the codes in them looked up and completed.

The attribute model is open: an attribute that the specification does not describe is stored as it is sent, except
that its codes are looked up too. An attribute that the specification describes has to fit its schema.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any, Final

import msgspec
from pydantic import TypeAdapter, ValidationError

from prodex_sandbox.raw_json import decode, encode, storable
from prodex_sandbox.records.attribute_types import ATTRIBUTES, FLAG, TEXT_ATTRIBUTES
from prodex_sandbox.records.merging import ProductRefused
from prodex_sandbox.records.referentials import CODE_ATTRIBUTES, UNITS_OF, Codes
from prodex_sandbox.records.schemas.product import Assets, Product

#: Attributes of which a product needs one.
NAMES: Final = ("nameLegal", "namePublicLong", "namePublicShort")

_MAX_CHARACTERS: Final = 20_000
_MAX_BYTES: Final = 4_000_000
_MAX_LEVELS: Final = 64


def checked(attribute: str, raw: msgspec.Raw, codes: Codes) -> msgspec.Raw:
    """Return an attribute as it is stored: as it was sent, with labels added to codes without one.

    Raises
    ------
    ProductRefused
        When it cannot be stored.
    """
    # Before decoding, which takes several times the memory.
    if len(bytes(raw)) > _MAX_BYTES:
        raise ProductRefused(f"{attribute} has {len(bytes(raw)):,} bytes; at most {_MAX_BYTES:,} are allowed")
    try:
        value = decode(raw)
    except (ValueError, RecursionError) as error:
        raise ProductRefused(f"{attribute} cannot be read: {error}") from None
    _check_shape(attribute, value)
    # Before the schema is checked, since completing changes the value in place.
    completed = _complete(attribute, value, codes)
    if problem := schema_violation(attribute, value):
        raise ProductRefused(storable(problem))
    return msgspec.Raw(encode(value)) if completed else raw


def _check_shape(attribute: str, value: Any) -> None:
    if value is None:
        return
    if ATTRIBUTES.get(attribute) is FLAG and not isinstance(value, bool):
        raise ProductRefused(f"{attribute} is {_short(value)}, not true, false or null")
    if attribute == "lifeCycle" and (not isinstance(value, int) or isinstance(value, bool)):
        raise ProductRefused(f"lifeCycle is {_short(value)}, not an integer")
    if attribute in CODE_ATTRIBUTES and not (isinstance(value, dict) and _is_code(value.get("code"))):
        raise ProductRefused(f"{attribute} is {_short(value)}, not an object with a code")
    if attribute in TEXT_ATTRIBUTES:
        _check_texts(attribute, value)
    if attribute == "assets.pictures":
        _check_pictures(value)


# The schema would refuse wrong types too, but less clearly: these are the ones that suppliers send.
def _check_texts(attribute: str, value: Any) -> None:
    if not isinstance(value, list):
        raise ProductRefused(f"{attribute} is {_short(value)}, not an array of localized texts")
    for index, item in enumerate(value):
        expressed_in = item.get("expressedIn") if isinstance(item, dict) else None
        if item is not None and not (isinstance(expressed_in, dict) and _is_code(expressed_in.get("code"))):
            raise ProductRefused(f"{attribute}[{index}] has no language: expressedIn.code is missing")
        if item is not None and not isinstance(item.get("data"), str | None):
            raise ProductRefused(f"{attribute}[{index}].data is {_short(item['data'])}, not a text")


def _check_pictures(value: Any) -> None:
    if not isinstance(value, list):
        raise ProductRefused(f"assets.pictures is {_short(value)}, not an array of pictures")
    for index, item in enumerate(value):
        if not (isinstance(item, dict) and isinstance(item.get("url"), str) and item["url"]):
            raise ProductRefused(f"assets.pictures[{index}] has no url")
        if not isinstance(item.get("isPackshot"), bool | None):
            shown = _short(item["isPackshot"])
            raise ProductRefused(f"assets.pictures[{index}].isPackshot is {shown}, not true, false or null")


def _complete(attribute: str, value: Any, codes: Codes) -> bool:
    """Look up every code in a value; complete those that were sent without a label. Tell whether there were any."""
    completed = False
    if attribute in CODE_ATTRIBUTES and isinstance(value, dict):
        completed = _look_up(attribute, value, (CODE_ATTRIBUTES[attribute],), codes)
    # Attributes may nest deeper than Python may recurse, so this is a loop with a list of what is left.
    pending = [(value, 1)]
    while pending:
        node, level = pending.pop()
        if level > _MAX_LEVELS:
            raise ProductRefused(f"{attribute} is nested over {_MAX_LEVELS} levels deep")
        if isinstance(node, float) and not math.isfinite(node):
            raise ProductRefused(f"{attribute} holds a number that is out of range")
        if isinstance(node, list):
            pending.extend((item, level + 1) for item in node)
        elif isinstance(node, dict):
            completed |= _complete_item(attribute, node, codes)
            pending.extend((item, level + 1) for item in node.values())
    return completed


def _complete_item(attribute: str, item: dict[str, Any], codes: Codes) -> bool:
    expressed_in, data = item.get("expressedIn"), item.get("data", item.get("quantity"))
    if not (isinstance(expressed_in, dict) and _is_code(expressed_in.get("code"))):
        return False
    if isinstance(data, str):
        if len(data) > _MAX_CHARACTERS:
            raise ProductRefused(
                f"{attribute} has a text of {len(data):,} characters; at most {_MAX_CHARACTERS:,} are allowed"
            )
        referentials: tuple[str, ...] = ("languages",)
    elif isinstance(data, int | float):
        referentials = (UNITS_OF.get(attribute, "units"),)
    else:
        referentials = ("languages", "units")
    return _look_up(attribute, expressed_in, referentials, codes)


def _look_up(attribute: str, value: dict[str, Any], referentials: tuple[str, ...], codes: Codes) -> bool:
    code = str(value["code"])
    for referential in referentials:
        if known := codes.get((referential, code)):
            alone = value.keys() == {"code"}
            if alone:
                value.clear()
                value.update(known)
            return alone
    if any(name in referentials for name, _ in codes):
        raise ProductRefused(f"{attribute}: {code!r} is not in the referential {' or '.join(referentials)}")
    return False


def _is_code(code: Any) -> bool:
    return isinstance(code, str | int) and not isinstance(code, bool) and code != ""


def _short(value: Any) -> str:
    text = encode(value).decode()
    return text if len(text) <= 60 else f"{text[:60]}..."


_LENGTHS: Final = (8, 12, 13, 14)


def normal_gtin(text: str) -> str:
    """Return a GTIN as 14 digits; raise ValueError when it is none.

    Examples
    --------
    >>> normal_gtin("3036811359935")
    '03036811359935'
    """
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"gtin {text[:40]!r} is not made of digits")
    if len(text) not in _LENGTHS:
        raise ValueError(f"gtin {text[:40]!r} has {len(text)} digits; a GTIN has 8, 12, 13 or 14")
    gtin = text.zfill(14)
    check_digit = -sum(int(digit) * (3, 1)[place % 2] for place, digit in enumerate(gtin[:13])) % 10
    if int(gtin[13]) != check_digit:
        raise ValueError(f"gtin {text!r} ends in {gtin[13]}; its check digit is {check_digit}")
    return gtin


_ASSETS: Final = "assets."


def schema_violation(attribute: str, value: Any) -> str | None:
    """Return a sentence about what does not fit the schema; None where all fits, or any shape is allowed.

    Examples
    --------
    >>> schema_violation("GPC", [])
    'GPC does not fit: Input should be an object, and is []'
    >>> schema_violation("assets.pictures", [{"width": "wide"}])
    'assets.pictures does not fit: Input should be a valid integer, and is "wide" (at 0.width)'
    >>> schema_violation("xRetailPlan", [])
    """
    model = _model_of(attribute)
    if model is None:
        return None
    # Half a surrogate pair counts as text, as it does where records are read.
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    try:
        model.validate_json(body, strict=True)
    except ValidationError as refused:
        error = refused.errors(include_url=False, include_context=False)[0]
        # Steps into a union are named by types, not by members.
        steps = [str(step) for step in error["loc"] if isinstance(step, int) or step.isidentifier()]
        found = json.dumps(error["input"], ensure_ascii=False)
        return f"{attribute} does not fit: {error['msg']}, and is {found[:60]}" + (
            f" (at {'.'.join(steps)})" if steps else ""
        )
    return None


@cache
def _model_of(attribute: str) -> TypeAdapter[Any] | None:
    owner = Assets if attribute.startswith(_ASSETS) else Product
    field = owner.model_fields.get(attribute.removeprefix(_ASSETS))
    return TypeAdapter(field.annotation) if field and field.annotation else None
