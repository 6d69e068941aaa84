"""What becomes of calls on their way between prodex and a service: one is lost, or its process ends in that moment."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from re import fullmatch
from typing import Any

import pytest
import requests
import urllib3

import prodex
from prodex_sandbox.faults.kinds import ENDPOINTS

#: Gets a request and what carries it to the service, and returns a reply or raises what becomes of it instead.
Carrier = Callable[[requests.PreparedRequest, Callable[[], requests.Response]], requests.Response]


@contextmanager
def carried(
    endpoint: str, carry: Carrier, session: requests.Session | type[requests.Session] = requests.Session
) -> Iterator[None]:
    """Let a function carry the calls of an endpoint, named as for a `Fault`: those of a session, or of all."""
    send = session.send

    def sent(*arguments: Any, **options: Any) -> requests.Response:
        request = arguments[-1]
        path = request.path_url.partition("?")[0]
        if any(request.method == method and fullmatch(one, path) for method, one in ENDPOINTS[endpoint]):
            return carry(request, lambda: send(*arguments, **options))
        return send(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "send", sent)
        yield


def session_of(service: prodex.service.Client) -> requests.Session:
    """Return the session that carries the calls of a service."""
    return service._transport.session


@contextmanager
def ending_with(service: prodex.service.Client, gtin: str) -> Iterator[None]:
    """Interrupt this process where it sends a product."""

    def carry(request: requests.PreparedRequest, send: Callable[[], requests.Response]) -> requests.Response:
        assert isinstance(request.body, bytes)
        if gtin.encode() in request.body:
            raise KeyboardInterrupt
        return send()

    with carried("upsert", carry, session_of(service)):
        yield


def reply(request: requests.PreparedRequest, content: Any) -> requests.Response:
    """Return a reply of the service to a request, as JSON."""
    body = io.BytesIO(json.dumps(content).encode())
    headers = {"Content-Type": "application/json"}
    raw = urllib3.HTTPResponse(body, headers, 200, preload_content=False)
    return requests.adapters.HTTPAdapter().build_response(request, raw)
