"""Tokens: who may call, for how long, and what a JSON Web Token is made of."""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .settings import Settings


@dataclass
class Grant:
    """One token that was given out: when it ends and how many calls it has served."""

    ends: float
    calls: int = 0


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def jwt(claims: dict[str, Any] | str) -> str:
    """A signed token; claims given as text are taken as they are."""
    text = claims if isinstance(claims, str) else json.dumps(claims)
    front = _part(b'{"typ":"JWT","alg":"HS256"}') + "." + _part(text.encode())
    return front + "." + _part(hmac.digest(b"stranger", front.encode(), hashlib.sha256))


class Access:
    """The tokens of one stranger."""

    def __init__(self, settings: Settings, now: Callable[[], float]) -> None:
        self._settings = settings
        self._now = now
        self._grants: dict[str, Grant] = {}
        self._numbers = itertools.count(1)

    def claims(self, hours: float = 0.0) -> dict[str, Any]:
        """The claims of a new token, from a clock that is some hours off."""
        now = int(self._now() + hours * 3600)
        lifetime = int(self._settings.token_lifetime)
        return {"iat": now, "exp": now + lifetime, "jti": str(next(self._numbers)), "username": "stranger"}

    def give(self, token: str) -> str:
        """Make a token valid and return it."""
        self._grants[token] = Grant(self._now() + self._settings.token_lifetime)
        return token

    def allows(self, authorization: str) -> bool:
        """Whether the header holds a token that is valid now; counts the call."""
        scheme, _, token = authorization.partition(" ")
        grant = self._grants.get(token.strip())
        if scheme.lower() != "bearer" or grant is None or self._now() >= grant.ends:
            return False
        grant.calls += 1
        return self._settings.token_calls is None or grant.calls <= self._settings.token_calls

    def forget(self) -> None:
        """Refuse every token given out so far."""
        self._grants.clear()
