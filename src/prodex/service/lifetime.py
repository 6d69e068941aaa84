"""How long a token lives, from what it says of itself and from what comes with it; nothing of that is trusted.

Spec, Limits: "Access token lifetime: 2 hours".
"""

from __future__ import annotations

import base64
import json
import math
from typing import Any

from prodex.service.secret import Secret

LONGEST_LIFETIME = 2 * 60 * 60  # seconds


def claims_of(token: Secret) -> dict[str, Any]:
    """Read what a token says of itself; nothing where it is not the JSON Web Token that it should be."""
    try:
        payload = token.reveal().split(".")[1]
        text = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        claims = json.loads(text, parse_int=whole)
    except (ValueError, LookupError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}


def lifetime_of(claims: dict[str, Any], now: float) -> float:
    """Read from the token for how many seconds it is valid; two hours when it says nothing, or more.

    Issue and end are compared with each other where both are given, so that a clock that is off does no harm.
    """
    end, begin = positive(claims.get("exp")), positive(claims.get("iat")) if "iat" in claims else now
    if end is None or begin is None or end <= begin:
        return LONGEST_LIFETIME
    return min(end - begin, LONGEST_LIFETIME)


def whole(digits: str) -> float:
    """Read an integer of any length: Python refuses those of several thousand digits."""
    return int(digits) if len(digits) < 100 else math.inf


def positive(value: object) -> float | None:
    """Return a finite number above zero, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 < number < math.inf else None
