"""Whether an attribute that is written fits its schema, so that replies stay as the document says."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from prodex.sandbox.schemas.assets import Assets
from prodex.sandbox.schemas.product import Product

_ASSETS: Final = "assets."


def misfit(attribute: str, value: Any) -> str | None:
    """Say in a sentence what of an attribute does not fit; None where all does, or where any shape will do.

    Examples
    --------
    >>> misfit("GPC", [])
    'GPC does not fit: Input should be an object, and is []'
    >>> misfit("assets.pictures", [{"width": "wide"}])
    'assets.pictures does not fit: Input should be a valid integer, and is "wide" (at 0.width)'
    >>> misfit("xRetailPlan", [])
    """
    model = _model_of(attribute)
    if model is None:
        return None
    # Half a surrogate pair is text here, as it is where records are read.
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
