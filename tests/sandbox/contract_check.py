"""Replies held against the structs that the OpenAPI document is made of."""

from __future__ import annotations

import json
import re
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import requests

from prodex_sandbox.api.authentication import AccessToken
from prodex_sandbox.api.endpoints import Health, ListedOrganization, OrganizationPage, UpsertAnswer
from prodex_sandbox.api.listing import ProductPage
from prodex_sandbox.api.scenarios import Scenario, ScenarioAnswer
from prodex_sandbox.records.imports import TrackingRecord
from prodex_sandbox.records.segments import Segment
from prodex_sandbox.refusals import Error

#: (method, path) -> what a reply of 200 holds.
REPLIES: Final[dict[tuple[str, str], Any]] = {
    ("POST", r"/auth/v[12]/token"): AccessToken,
    ("GET", "/auth/v2/organization"): OrganizationPage | list[ListedOrganization],
    ("GET", "/public/v1/products"): ProductPage,
    ("POST", "/public/v1/products/list"): ProductPage,
    ("POST", "/public/v1/products"): UpsertAnswer,
    ("GET", "/public/v1/products/track/.*"): TrackingRecord,
    ("GET", "/core/v3/productsegments/hierarchy"): list[Segment],
    ("POST", "/public/v1/validation/rulesets/require"): ScenarioAnswer,
    ("GET", "/sandbox/scenarios"): list[Scenario],
    ("GET", "/health"): Health,
}


def check_reply(reply: requests.Response, *_: Any, **__: Any) -> None:
    """Raise ValidationError when a reply is not as the structs say; other types than JSON are left alone."""
    if reply.headers.get("Content-Type") != "application/json":
        return
    # Half a surrogate pair counts as text.
    body = json.dumps(reply.json(), ensure_ascii=False).encode("utf-8", "replace")
    if reply.status_code != 200:
        msgspec.json.decode(body, type=Error)
        return
    method, path = str(reply.request.method), urlsplit(str(reply.request.url)).path
    for (known, pattern), model in REPLIES.items():
        if method == known and re.fullmatch(pattern, path):
            msgspec.json.decode(body, type=model)
