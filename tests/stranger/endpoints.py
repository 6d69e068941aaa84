"""The endpoints of the specification: each takes a call and returns what becomes the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from . import search
from .access import jwt
from .catalogue import KIND_LABELS, Record, relabelled
from .scrolling import ABSENT, Refused
from .wire import Reply, Request

if TYPE_CHECKING:
    from .service import Stranger

UNKNOWN_CALLER = {"message": "The caller could not be authenticated"}

PATHS = (
    ("POST", r"/auth/v2/token", "token"),
    ("POST", r"/auth/v1/token", "token"),
    ("GET", r"/auth/v2/organization", "organizations"),
    ("GET", r"/public/v1/products", "products"),
    ("POST", r"/public/v1/products/list", "products"),
    ("POST", r"/public/v1/products", "upsert"),
    ("GET", r"/public/v1/products/track/(\d+)", "tracking"),
    ("GET", r"/core/v3/productsegments/hierarchy", "segments"),
    ("POST", r"/public/v1/validation/rulesets/require", "scenarios"),
)


def route_of(request: Request) -> str:
    """The name of the endpoint that a request is for, or ``nowhere``."""
    for method, pattern, route in PATHS:
        if method == request.method and re.fullmatch(pattern, request.path):
            return route
    return "nowhere"


@dataclass
class Call:
    """One request on its way through the service."""

    stranger: Stranger
    request: Request
    route: str
    number: int
    """Counted for each route from 1."""

    records: list[Record] = field(default_factory=list)
    """Of a product read: the whole records behind the items of ``data``."""

    pieces: list[bytes] = field(default_factory=list)

    def raw(self, text: str | bytes) -> str:
        """A stand-in for JSON that json.dumps cannot write; ``encoded`` puts the text in its place."""
        self.pieces.append(text if isinstance(text, bytes) else text.encode())
        return f"@@RAW{len(self.pieces) - 1}@@"

    def encoded(self, answer: Any) -> bytes:
        """The answer as JSON in UTF-8."""
        body = json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass")
        for i, piece in enumerate(self.pieces):
            body = body.replace(f'"@@RAW{i}@@"'.encode(), piece)
        return body

    def reply(self, answer: Any, status: int = 200) -> Reply:
        """A reply with a JSON body; an answer that is a reply already stays as it is."""
        if isinstance(answer, Reply):
            return answer
        if self.route == "upsert" and "xml" in self.request.headers.get("content-type", ""):
            return Reply(status, _xml(answer).encode(), {"Content-Type": "application/xml"})
        return Reply(status, self.encoded(answer), {"Content-Type": "application/json"})


def _xml(answer: Any) -> str:
    def element(value: Any) -> str:
        if isinstance(value, dict):
            return "".join(f"<{name}>{element(inner)}</{name}>" for name, inner in value.items())
        return escape(str(value))

    return f'<?xml version="1.0" encoding="UTF-8"?><response>{element(answer)}</response>'


def token(call: Call) -> Any:
    """Endpoints 1 and 2: a token for the right client credentials."""
    content = call.request.content
    stranger = call.stranger
    expected = {
        "client_id": stranger.client_id,
        "client_secret": stranger.client_secret,
        "grant_type": "client_credentials",
    }
    if not isinstance(content, dict) or any(content.get(name) != value for name, value in expected.items()):
        return call.reply(UNKNOWN_CALLER, 401)
    access = stranger.access
    return {"access_token": access.give(jwt(access.claims())), "token_type": "JWT"}


def organizations(call: Call) -> Any:
    """Endpoint 3: the organizations of one type, or all."""
    query = call.request.query
    everyone = [
        {"id": 7 + i, "nameLegal": f"Supplier {7 + i}" if i < 3 else f"Retailer {i}", "type": 1 + (i > 2)}
        for i in range(5)
    ]
    wanted = query.get("organization_type")
    found = [one for one in everyone if wanted is None or str(one["type"]) == wanted]
    offset = search.whole(query.get("offset", 0), "offset")
    limit = search.whole(query.get("limit", 20), "limit")
    return {"totalResults": len(found), "data": found[offset : offset + limit], "offset": offset}


def products(call: Call) -> Any:
    """Endpoints 4 to 6: filters, then a page by offset or by scroll."""
    stranger, request = call.stranger, call.request
    content = request.query if request.method == "GET" else request.content or {}
    if not isinstance(content, dict):
        raise Refused(400, "the body must be a JSON object")
    query = stranger.switches.run("query", dict(content), call)
    limit = _limit(call, query)
    offset = search.whole(query.get("offset") or 0, "offset")
    cursor = query.get("next_page")
    envelope: Record = {"totalResults": 0, "data": [], "offset": offset}
    if cursor not in (None, ""):
        scroll, call.records, envelope["offset"], following = stranger.scrolls.go_on(str(cursor), limit)
        envelope["totalResults"] = len(scroll.records)
    else:
        found = search.find([stranger.products[key] for key in stranger.ids()], query)
        found = stranger.switches.run("found", found, call)
        envelope["totalResults"] = len(found)
        # On GET the first scroll call has no cursor, so every GET from the start may begin a scroll.
        if cursor == "" or (request.method == "GET" and "offset" not in query):
            call.records, _, following = stranger.scrolls.begin(found, limit)
        else:
            call.records, following = found[offset : offset + limit], ABSENT
    envelope["data"] = [_in_language(call, search.shown(record, query)) for record in call.records]
    if following is not ABSENT:
        envelope["next_page"] = following
    return envelope


def _limit(call: Call, query: search.Query) -> int:
    settings = call.stranger.settings
    largest = settings.largest_limit
    if call.request.method == "GET" and query.get("filter_source_include"):
        largest = max(largest, 4000) if largest == 500 else largest
    asked = query.get("limit")
    limit = settings.default_limit if asked in (None, "") else search.whole(asked, "limit")
    if limit < 1:
        raise Refused(400, f"limit must be at least 1, got {limit}")
    return min(limit, largest)


def _in_language(call: Call, record: Record) -> Record:
    language = call.request.headers.get("accept-language", "en")[:2].lower()
    return record if language == "en" else relabelled(record, language)


def upsert(call: Call) -> Any:
    """Endpoint 7: accept a payload and give its tracking number."""
    request = call.request
    return {"tracking": call.stranger.imports.take(request.body, request.headers.get("content-type", ""))}


def tracking(call: Call) -> Any:
    """Endpoint 8: what became of an upsert."""
    record = call.stranger.imports.track(int(call.request.path.rsplit("/", 1)[1]))
    return call.reply({"message": "unknown tracking id"}, 404) if record is None else dict(record)


def segments(_call: Call) -> Any:
    """Endpoint 9: the tree of product segments."""
    children = [
        {"id": f"PS_42_{code}_leaf", "name": labels["en"], "children": []}
        for code, labels in KIND_LABELS.items()
    ]
    food = {"id": "PS_42_1_food", "name": "Food", "children": children[:3]}
    other = {"id": "PS_42_2_other", "name": "Other", "children": children[3:]}
    return {"id": "PS_42_0_root", "name": "All products", "children": [food, other]}


def scenarios(call: Call) -> Any:
    """Endpoint 10: activate or deactivate scenarios on products."""
    content = call.request.content
    uuids = content.get("uuids") if isinstance(content, dict) else None
    if not isinstance(uuids, list) or not isinstance(content.get("ruleset_values"), dict):
        raise Refused(400, "uuids and ruleset_values are required")
    call.stranger.activations.append(content)
    return {"updated": len(uuids)}


def nowhere(_call: Call) -> Any:
    """A path that the specification does not know."""
    raise Refused(404, "there is no such endpoint")


ENDPOINTS: dict[str, Callable[[Call], Any]] = {
    "token": token,
    "organizations": organizations,
    "products": products,
    "upsert": upsert,
    "tracking": tracking,
    "segments": segments,
    "scenarios": scenarios,
    "nowhere": nowhere,
}
