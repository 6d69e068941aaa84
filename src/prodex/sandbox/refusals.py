"""Every way in which the sandbox refuses a call: one code, one status, one meaning each.

The specification shows no error body. The sandbox answers ``{"error": code, "message": text}``; the code is
stable, the message says what came, and what to send instead.
"""

from __future__ import annotations

from typing import Final

#: code -> (HTTP status, meaning).
REFUSALS: Final = {
    "authentication_failed": (401, "The caller could not be authenticated: the access key is not known."),
    "token_missing": (401, "The caller could not be authenticated: no bearer token came with the call."),
    "token_invalid": (401, "The caller could not be authenticated: the token was not issued here."),
    "token_expired": (401, "The caller could not be authenticated: the token has passed its lifetime."),
    "invalid_json": (400, "The body is not a JSON object."),
    "unsupported_media_type": (415, "The body is not announced as application/json."),
    "unknown_parameter": (400, "A parameter that this endpoint does not have."),
    "invalid_value": (400, "A parameter whose value cannot be read as documented."),
    "result_cap": (400, "An offset page that reaches over 10,000 products, or over the cap of GET."),
    "cursor_lost": (410, "The scroll cursor is unknown, of somebody else, or was not used in time."),
    "not_found": (404, "There is no such path."),
    "method_not_allowed": (405, "The path does not take this method."),
    "internal_error": (500, "The sandbox itself failed."),
}


class Refusal(Exception):
    """A call that is answered with an error.

    Attributes
    ----------
    code
        A key of `REFUSALS`.
    message
        What came and what to send instead.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def status(self) -> int:
        """The HTTP status of the answer."""
        return REFUSALS[self.code][0]

    @property
    def body(self) -> dict[str, str]:
        """The JSON body of the answer."""
        return {"error": self.code, "message": self.message}
