"""Access tokens: signed, with an end, checked without being remembered (spec, endpoints 1 and 2)."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Sequence
from typing import Any, Final

import jwt

from prodex.sandbox.attempts import Attempts
from prodex.sandbox.model import Organization
from prodex.sandbox.refusals import Refusal

_ALGORITHM: Final = "HS256"
_HOW: Final = 'send {"client_id": ..., "client_secret": ..., "grant_type": "client_credentials"}'


class Tokens:
    """Issues and checks the tokens of the organisations."""

    def __init__(self, organizations: Sequence[Organization], key: str, lifetime: float) -> None:
        self._by_client = {one.client_id: one for one in organizations}
        self._by_id = {str(one.id): one for one in organizations}
        self._key = key
        self._lifetime = lifetime
        self._epoch = 0
        self._attempts = Attempts()

    def expire(self) -> None:
        """Let every token that was issued until now expire."""
        self._epoch += 1

    def issue(self, credentials: dict[str, Any], address: str) -> str:
        """Return a new token for client credentials that came from an address.

        Raises
        ------
        Refusal
            When they are not right, or were wrong too often of late.
        """
        for name in ("client_id", "client_secret", "grant_type"):
            if not isinstance(credentials.get(name), str):
                raise Refusal("invalid_value", f"{name} is missing or no string; {_HOW} as JSON.")
        if credentials["grant_type"] != "client_credentials":
            raise Refusal("invalid_value", f"grant_type is {credentials['grant_type']!r}; {_HOW}.")
        client_id = credentials["client_id"]
        self._attempts.check(client_id)
        organization = self._by_client.get(client_id)
        if not self._is_secret_of(organization, credentials["client_secret"]) or organization is None:
            self._attempts.note_wrong(client_id, address)
            raise Refusal(
                "authentication_failed",
                "The caller could not be authenticated: the sandbox does not know this client_id with this "
                "client_secret; it prints its access keys when it starts.",
            )
        self._attempts.note_right(client_id)
        issued = time.time()
        claims = {"sub": str(organization.id), "iat": int(issued), "exp": issued + self._lifetime}
        if self._epoch:
            claims["epoch"] = self._epoch
        return jwt.encode(claims, self._key, _ALGORITHM)

    def _is_secret_of(self, organization: Organization | None, secret: str) -> bool:
        # Digests are compared, of an unknown client too: how long it takes tells nothing of secret or client.
        right = organization.client_secret if organization else secrets.token_hex()
        digests = [
            hmac.digest(self._key.encode(), one.encode("utf-8", "surrogatepass"), "sha256")
            for one in (right, secret)
        ]
        return hmac.compare_digest(*digests)

    def check(self, token: str | None) -> Organization:
        """Return whose token this is; raise Refusal when it is nobody's or has expired."""
        if not token:
            raise Refusal(
                "token_missing", "The caller could not be authenticated: send Authorization: Bearer <token>."
            )
        try:
            claims = jwt.decode(token, self._key, [_ALGORITHM], options={"require": ["exp", "sub"]})
            organization = self._by_id[claims["sub"]]
        except jwt.ExpiredSignatureError:
            raise _expired() from None
        except (jwt.InvalidTokenError, KeyError):
            raise Refusal(
                "token_invalid", "The caller could not be authenticated: the token was not issued here."
            ) from None
        if claims.get("epoch", 0) != self._epoch:
            raise _expired()
        return organization


def _expired() -> Refusal:
    return Refusal(
        "token_expired", "The caller could not be authenticated: the token has expired; get a new one."
    )
