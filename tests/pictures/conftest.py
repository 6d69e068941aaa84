"""What tests of pictures share: a server of files, pictures to serve, catalogues that point to them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from .file_server import FileServer, serving


@pytest.fixture
def server() -> Iterator[FileServer]:
    """Serve files on this machine."""
    with serving() as served:
        yield served


@dataclass
class Internet:
    """The world outside, which no test may reach.

    Attributes
    ----------
    names
        The addresses that each name has; a list of lists gives others each time it is looked up.
    machines
        The port on this machine that stands for an address outside.
    looked_up, connected
        The names and addresses that were asked for.
    """

    names: dict[str, list[str]] = field(default_factory=dict)
    machines: dict[str, int] = field(default_factory=dict)
    looked_up: list[str] = field(default_factory=list)
    connected: list[str] = field(default_factory=list)

    def resolve(self, host: str, port: int, **_: Any) -> list[Any]:
        """Look a name up; addresses and names of this machine are known to everybody."""
        self.looked_up.append(host)
        if host not in self.names:
            return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [(None, None, None, "", (ip, port)) for ip in self.names[host]]


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Internet:
    """Stand in for name servers and for machines outside; a connection to anywhere else fails the test."""
    world = Internet()
    connect: Callable[..., socket.socket] = socket.create_connection

    def connected(address: tuple[str, int], *options: Any, **more: Any) -> socket.socket:
        world.connected.append(address[0])
        if address[0] in world.machines:
            address = ("127.0.0.1", world.machines[address[0]])
        assert address[0] in {"127.0.0.1", "::1"}, f"{address} is outside"
        return connect(address, *options, **more)

    monkeypatch.setattr(socket, "create_connection", connected)
    return world
