"""Replies held against the models that the OpenAPI document is made of."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from pydantic import TypeAdapter

from prodex_sandbox.api.openapi import (
    AccessToken,
    Error,
    Health,
    ListedOrganization,
    OrganizationPage,
    ProductPage,
    Scenario,
    ScenarioAnswer,
    Segment,
    TrackingRecord,
    UpsertAnswer,
)

#: (method, path) -> what a reply of 200 holds.
REPLIES: Final[dict[tuple[str, str], TypeAdapter[Any]]] = {
    ("POST", r"/auth/v[12]/token"): TypeAdapter(AccessToken),
    ("GET", "/auth/v2/organization"): TypeAdapter(OrganizationPage | list[ListedOrganization]),
    ("GET", "/public/v1/products"): TypeAdapter(ProductPage),
    ("POST", "/public/v1/products/list"): TypeAdapter(ProductPage),
    ("POST", "/public/v1/products"): TypeAdapter(UpsertAnswer),
    ("GET", "/public/v1/products/track/.*"): TypeAdapter(TrackingRecord),
    ("GET", "/core/v3/productsegments/hierarchy"): TypeAdapter(list[Segment]),
    ("POST", "/public/v1/validation/rulesets/require"): TypeAdapter(ScenarioAnswer),
    ("GET", "/sandbox/scenarios"): TypeAdapter(list[Scenario]),
    ("GET", "/health"): TypeAdapter(Health),
}
_ERROR: Final = TypeAdapter(Error)


def check_reply(reply: requests.Response, *_: Any, **__: Any) -> None:
    """Raise ValidationError when a reply is not as the models say; other types than JSON are left alone."""
    if reply.headers.get("Content-Type") != "application/json":
        return
    if reply.status_code != 200:
        _ERROR.validate_json(reply.content, strict=True)
        return
    method, path = str(reply.request.method), urlsplit(str(reply.request.url)).path
    for (known, pattern), model in REPLIES.items():
        if method == known and re.fullmatch(pattern, path):
            model.validate_json(reply.content, strict=True)
