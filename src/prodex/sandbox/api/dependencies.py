"""What FastAPI passes to the endpoints: the parts of the exchange, and the organisation that calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from anyio import CapacityLimiter
from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from prodex.sandbox.api.authentication import Tokens
from prodex.sandbox.api.listing import Listing
from prodex.sandbox.behaviour import Behaviour
from prodex.sandbox.records.imports import Worker
from prodex.sandbox.records.model import Organization
from prodex.sandbox.records.store import Store


@dataclass(frozen=True)
class Exchange:
    """What the endpoints work with.

    Attributes
    ----------
    writers
        Limits the threads that wait for the lock of the store, so that there are always threads for reading.
    drawers
        Limits the pictures that are drawn at a time: large ones take much memory, and all of them take CPU.
    """

    store: Store
    behaviour: Behaviour
    tokens: Tokens
    listing: Listing
    worker: Worker
    writers: CapacityLimiter
    drawers: CapacityLimiter


async def _exchange(request: Request) -> Exchange:
    exchange: Exchange = request.app.state.exchange
    return exchange


CurrentExchange = Annotated[Exchange, Depends(_exchange)]
_Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]


async def _caller(exchange: CurrentExchange, credentials: _Credentials) -> Organization:
    return exchange.tokens.check(credentials.credentials if credentials else None)


async def _caller_where_needed(exchange: CurrentExchange, credentials: _Credentials) -> Organization | None:
    needed = exchange.behaviour.organizations_need_token
    return exchange.tokens.check(credentials.credentials if credentials else None) if needed else None


Caller = Annotated[Organization, Depends(_caller)]
#: The caller, or None where the sandbox asks for no token.
CallerWhereNeeded = Annotated[Organization | None, Depends(_caller_where_needed)]
