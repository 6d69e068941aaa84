"""The end of a sandbox: every connection ends with it, whatever its caller does at that moment."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import time
import warnings
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import uvicorn

from prodex.sandbox import Sandbox
from prodex_sandbox import server


@pytest.fixture
def callers() -> Iterator[list[socket.socket]]:
    """Return a list for the sockets of callers; they are closed in the end."""
    kept: list[socket.socket] = []
    yield kept
    for one in kept:
        one.close()


def dial(sandbox: Sandbox, *, receives: int | None = None) -> socket.socket:
    """Connect to a sandbox, with a buffer for so many bytes of replies."""
    address = urlsplit(sandbox.base_url)
    caller = socket.socket()
    if receives is not None:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
    caller.settimeout(30)
    caller.connect((address.hostname, address.port))
    return caller


def has_ended(caller: socket.socket) -> bool:
    """Tell whether the other side has ended a connection; what it sent before is read."""
    caller.settimeout(2)
    try:
        while caller.recv(1_000_000):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


def unclosed() -> list[str]:
    """Return what Python says about sockets that nobody has closed."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ResourceWarning)
        gc.collect()
    return [str(one.message) for one in said]


def test_a_caller_that_connects_at_the_last_moment_is_not_left_waiting(
    callers: list[socket.socket], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that is accepted in the same turn as the order to stop ends at once, as the others do."""
    on_tick = uvicorn.Server.on_tick

    async def connected_at_the_last_tick(server: uvicorn.Server, counter: int) -> bool:
        if ends := await on_tick(server, counter):
            callers.append(dial(sandbox))
            # In its next turn the loop sees the caller, and then that this time is over.
            await asyncio.sleep(1e-9)
        return ends

    gc.collect()
    monkeypatch.setattr(uvicorn.Server, "on_tick", connected_at_the_last_tick)
    with caplog.at_level(logging.WARNING), Sandbox([]) as sandbox:
        callers.append(dial(sandbox))
    assert [True, True] == [has_ended(caller) for caller in callers]
    assert not unclosed()
    # The server would tell that it has waited for callers in vain.
    assert not caplog.records


@pytest.mark.slow
def test_a_caller_that_reads_no_reply_does_not_outlive_the_sandbox(callers: list[socket.socket]) -> None:
    """A connection whose replies nobody takes is cut when the time for a calm end is over."""
    gc.collect()
    with Sandbox([]) as sandbox:
        caller = dial(sandbox, receives=1)
        callers.append(caller)
        caller.settimeout(1)
        # The sandbox takes no more calls when it gets rid of no more replies.
        with pytest.raises(TimeoutError):
            caller.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1_000_000)
    assert not unclosed()
    assert has_ended(caller)


def test_a_sandbox_ends_at_once(
    callers: list[socket.socket], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It does not wait for the next turn of its loop, nor for callers that have no call under way."""
    monkeypatch.setattr(server, "_SECONDS_A_TURN", 600)
    with Sandbox([]) as sandbox:
        callers.append(dial(sandbox))
        begun = time.monotonic()

    assert time.monotonic() - begun < 300
    assert "Calls are cut" not in caplog.text
