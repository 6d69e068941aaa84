"""The refusals of calls: one code, one status, one meaning each.

The specification shows no error body. The sandbox answers ``{"error": code, "message": text}``; the code is
stable, the message says what was wrong, and what to send instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from prodex_sandbox.raw_json import encode, storable

if TYPE_CHECKING:
    from starlette.responses import Response

#: code -> (HTTP status, meaning).
REFUSALS: Final = {
    "authentication_failed": (401, "The caller could not be authenticated: the access key is not known."),
    "token_missing": (401, "The caller could not be authenticated: the call has no bearer token."),
    "token_invalid": (401, "The caller could not be authenticated: the token was not issued here."),
    "token_expired": (401, "The caller could not be authenticated: the token has passed its lifetime."),
    "too_many_attempts": (
        429,
        "Too many wrong secrets; Retry-After says how long to wait. A right one is accepted.",
    ),
    "host_not_served": (421, "The Host of the call is not a name of this machine."),
    "origin_foreign": (403, "The call was made by a page of another site."),
    "retailers_only": (403, "The endpoint is for retailers."),
    "scenarios_not_enabled": (403, "The organisation has no validation scenarios."),
    "deadlines_not_enabled": (403, "The organisation, or the scenario, takes no deadlines."),
    "invalid_json": (400, "The body is not a JSON object."),
    "invalid_gzip": (400, "The body is announced as gzip, and is not, or ends too early."),
    "unsupported_media_type": (415, "The body is announced as something that the endpoint does not take."),
    "body_too_large": (413, "The body, or what it unpacks to, is over the limit."),
    "unknown_parameter": (400, "A parameter that this endpoint does not have."),
    "invalid_value": (400, "A parameter whose value cannot be read as documented."),
    "result_cap": (400, "An offset page that reaches over 10,000 products, or over the cap of GET."),
    "cursor_lost": (410, "The scroll cursor is unknown, of somebody else, or was not used in time."),
    "deadline_passed": (400, "The deadline is in the past."),
    "scenario_unknown": (404, "The organisation has no scenario of this id."),
    "product_unknown": (404, "No product that the caller sees has this uuid."),
    "assignation_pending": (409, "The product's assignation to the caller is pending."),
    "not_shared": (409, "No manufacturer has shared the product's data with the caller."),
    "tracking_unknown": (404, "No import of the caller has this tracking id."),
    "file_unknown": (404, "No product names a file at this address."),
    "file_not_served": (404, "A product names the file, and the sandbox makes none such."),
    "not_found": (404, "There is no such path."),
    "method_not_allowed": (405, "The path does not take this method."),
    "internal_error": (500, "The sandbox itself failed."),
}


class Error(msgspec.Struct, forbid_unknown_fields=True):
    """Why a call was refused; the specification shows no such body."""

    error: Annotated[str, Meta(description="A code that does not change; each endpoint lists its own.")]
    message: Annotated[str, Meta(description="What was wrong, and what to send instead.")]


class Refusal(Exception):
    """A call that is answered with an error.

    Attributes
    ----------
    code
        A key of `REFUSALS`.
    message
        What was wrong and what to send instead.
    headers
        Headers of the answer beside those that every answer has.
    """

    def __init__(self, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.headers: dict[str, str] = (
            {"WWW-Authenticate": "Bearer"} if self.status == 401 else dict(headers or {})
        )

    @property
    def status(self) -> int:
        """The HTTP status of the answer."""
        return REFUSALS[self.code][0]

    @property
    def body(self) -> Error:
        """The JSON body of the answer."""
        return Error(self.code, storable(self.message))


def reply_of(refusal: Refusal) -> Response:
    """Return the answer to a call that is refused."""
    from starlette.responses import Response

    return Response(encode(refusal.body), refusal.status, refusal.headers, "application/json")
