"""Authentication: access tokens (spec, endpoints 1 and 2), and a throttle on guessing secrets.

Tokens are signed and contain the time at which they expire, so that none has to be remembered. After too many wrong
secrets for a client, or from an address for whichever clients, further wrong ones are refused for a while, longer each
time. A right secret is always accepted, since the wrong ones may be somebody else's: on one machine even the
address is the same. Unknown client ids are treated like known ones, so that answers do not reveal which exist.
"""

from __future__ import annotations

import hmac
import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import jwt
from msgspec import Meta

from prodex_sandbox.records.model import Organization
from prodex_sandbox.records.schemas import ABSENT, ClosedObject
from prodex_sandbox.refusals import Refusal

#: Wrong tries without a wait, since people mistype.
_FREE_TRIES_OF_CLIENT: Final = 4
_FREE_TRIES_OF_ADDRESS: Final = 20
_LONGEST_WAIT: Final = 60.0
_FORGOTTEN_AFTER: Final = 900.0
_MAX_REMEMBERED: Final = 10_000


class _WrongTries:
    """Wrong tries by name, how many and when the last was, of a limited number of names."""

    def __init__(self, free: int) -> None:
        self._free = free
        self._by_name: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_name)

    def wait(self, name: str, now: float) -> float:
        """Return the seconds to wait from now on; none or less where there is nothing to wait for."""
        tries, last = self._get(name, now)
        over = tries - self._free
        return last + min(2.0 ** min(over - 1, 10), _LONGEST_WAIT) - now if over > 0 else 0.0

    def add(self, name: str, now: float) -> None:
        self._by_name[name] = self._get(name, now)[0] + 1, now
        self._by_name.move_to_end(name)
        # Callers choose the names, so their number is limited; the oldest is removed first.
        if len(self._by_name) > _MAX_REMEMBERED:
            self._by_name.popitem(last=False)

    def forget(self, name: str) -> None:
        self._by_name.pop(name, None)

    def _get(self, name: str, now: float) -> tuple[int, float]:
        tries, last = self._by_name.get(name, (0, now))
        return (tries, last) if now - last <= _FORGOTTEN_AFTER else (0, now)


class LoginThrottle:
    """Counts wrong tries for clients and from addresses, and refuses further wrong ones for a while.

    Parameters
    ----------
    clock
        Seconds from any start, never going back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._clients = _WrongTries(_FREE_TRIES_OF_CLIENT)
        self._addresses = _WrongTries(_FREE_TRIES_OF_ADDRESS)
        self._lock = threading.Lock()

    @property
    def remembered(self) -> int:
        """How many clients and addresses are remembered."""
        return len(self._clients) + len(self._addresses)

    def check(self, client_id: str) -> None:
        """Raise Refusal while wrong secrets for a client are refused; one that arrives meanwhile is not counted."""
        with self._lock:
            wait = self._clients.wait(_shortened(client_id), self._clock())
        _refuse_attempts(wait)

    def note_wrong(self, client_id: str, address: str) -> None:
        """Count a wrong try; raise Refusal where the address has been wrong too often."""
        with self._lock:
            now = self._clock()
            self._clients.add(_shortened(client_id), now)
            self._addresses.add(address, now)
            wait = self._addresses.wait(address, now)
        _refuse_attempts(wait)

    def note_right(self, client_id: str) -> None:
        """Forget the wrong tries of a client that has shown the right secret."""
        with self._lock:
            self._clients.forget(_shortened(client_id))


def _refuse_attempts(wait: float) -> None:
    if wait > 0:
        seconds = math.ceil(wait)
        raise Refusal(
            "too_many_attempts",
            f"Too many wrong secrets for this client_id, or from this address; wait {seconds} s.",
            {"Retry-After": str(seconds)},
        )


def _shortened(client_id: str) -> str:
    # A client id may be as long as a body.
    # It is a key of the counts, so a long one would take as much memory for a quarter of an hour.
    return client_id[:200]


_ALGORITHM: Final = "HS256"
_HOW: Final = 'send {"client_id": ..., "client_secret": ..., "grant_type": "client_credentials"}'


class TokenRequest(ClosedObject):
    """Client credentials (spec, endpoint 1)."""

    client_id: str
    client_secret: str
    grant_type: Literal["client_credentials"]


class AccessToken(ClosedObject):
    """A bearer token (spec, Access token response)."""

    access_token: Annotated[str, Meta(description="A JWT, for the header `Authorization: Bearer`.")]
    token_type: Literal["JWT"] = ABSENT
    type: Annotated[
        Literal["JWT"],
        Meta(description="The token's type under the name that one example has; see token_type_key."),
    ] = ABSENT


def read_credentials(body: Mapping[str, Any]) -> TokenRequest:
    """Read the body of a call for a token; raise Refusal when it is not as documented."""
    # Further members are no reason to keep somebody out.
    for name in TokenRequest.__struct_fields__:
        if not isinstance(body.get(name), str):
            raise Refusal("invalid_value", f"{name} is missing or no string; {_HOW} as JSON.")
    if body["grant_type"] != "client_credentials":
        raise Refusal("invalid_value", f"grant_type is {body['grant_type']!r}; {_HOW}.")
    return TokenRequest(*(body[name] for name in TokenRequest.__struct_fields__))


class Tokens:
    """Issues and checks the tokens of the organisations."""

    def __init__(
        self,
        organizations: Sequence[Organization],
        key: str,
        lifetime: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._by_client = {one.client_id: one for one in organizations}
        self._by_id = {str(one.id): one for one in organizations}
        self._key = key
        self._lifetime = lifetime
        self._epoch = 0
        self._attempts = LoginThrottle(clock)

    def expire(self) -> None:
        """Make every token expire that was issued until now."""
        self._epoch += 1

    def issue(self, credentials: TokenRequest, address: str) -> str:
        """Return a new token for the client credentials that an address has sent.

        Raises
        ------
        Refusal
            When they are not right; with a time to wait after too many wrong ones.
        """
        client_id = credentials.client_id
        organization = self._by_client.get(client_id)
        if not self._is_secret_of(organization, credentials.client_secret) or organization is None:
            self._attempts.check(client_id)
            self._attempts.note_wrong(client_id, address)
            raise Refusal(
                "authentication_failed",
                "The caller could not be authenticated: the sandbox does not know this client_id with this "
                "client_secret; it prints its access keys when it starts.",
            )
        self._attempts.note_right(client_id)
        issued = time.time()
        # `exp` is a float, so that a lifetime may be a fraction of a second.
        claims = {"sub": str(organization.id), "iat": int(issued), "exp": issued + self._lifetime}
        # Without an epoch unless tokens were made to expire, so that tokens stay valid over a restart.
        if self._epoch:
            claims["epoch"] = self._epoch
        return jwt.encode(claims, self._key, _ALGORITHM)

    def _is_secret_of(self, organization: Organization | None, secret: str) -> bool:
        # Digests are compared, for an unknown client too, so that the time it takes reveals neither secret nor client.
        right = organization.client_secret if organization else secrets.token_hex()
        digests = [
            hmac.digest(self._key.encode(), one.encode("utf-8", "surrogatepass"), "sha256")
            for one in (right, secret)
        ]
        return hmac.compare_digest(*digests)

    def check(self, token: str | None) -> Organization:
        """Return the organisation of a token; raise Refusal when it is invalid or has expired."""
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
