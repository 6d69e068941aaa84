"""Ways to the service other than a plain connection: proxies, TLS, and sessions whose adapters are somebody else's."""

from __future__ import annotations

import socket
import ssl
import time
import traceback
from pathlib import Path

import pytest
import requests
import urllib3
from raw_server import Answer, raw_server, reply
from tests.cases import each_row
from tests.certificates import for_localhost

from prodex.errors import ServiceUnreachable, SettingsError
from prodex.limits import Limits
from prodex.network.download import MediaDownloader
from prodex.service import Client, RetryPolicy
from prodex.service.settings import Settings

ONCE = RetryPolicy(attempts=1)
SOON = Limits(seconds=0.4)


def client_at(base_url: str, limits: Limits | None = None, **options: object) -> Client:
    """Return a client that waits long for the next bytes, so that only a limit in all can end a drip."""
    options = {"retry": ONCE, "timeout": 30, **options}
    return Client(Settings(base_url, "key", "secret"), limits=limits, **options)  # type: ignore[arg-type]


def drips(head: bytes, drop: bytes) -> Answer:
    """Answer with a beginning, and then with the same again and again."""

    def answer(caller: socket.socket) -> None:
        caller.sendall(head)
        while True:
            caller.sendall(drop)
            time.sleep(0.02)

    return answer


def falls_silent(head: bytes) -> Answer:
    """Answer with a beginning and nothing more."""

    def answer(caller: socket.socket) -> None:
        caller.sendall(head)
        caller.recv(1)  # until the caller hangs up

    return answer


ENDLESS = {
    "a header": drips(b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "a body": drips(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", b" "),
    "silence in the head": falls_silent(b"HTTP/1.1 200 OK\r\n"),
    "silence in the body": falls_silent(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"),
}


class Derived(requests.adapters.HTTPAdapter):
    """An adapter as people make them for certificates of their company."""

    def init_poolmanager(self, *given: object, **named: object) -> None:
        super().init_poolmanager(*given, **named, ssl_context=ssl.create_default_context())  # type: ignore[arg-type]


class OwnConnections(requests.adapters.HTTPAdapter):
    """An adapter that opens connections of a class of its own."""

    def init_poolmanager(self, *given: object, **named: object) -> None:
        super().init_poolmanager(*given, **named)  # type: ignore[arg-type]
        connection = type("OwnConnection", (urllib3.connection.HTTPConnection,), {})
        pool = type("OwnPool", (urllib3.HTTPConnectionPool,), {"ConnectionCls": connection})
        self.poolmanager.pool_classes_by_scheme = {"http": pool, "https": urllib3.HTTPSConnectionPool}


@pytest.mark.slow
@each_row("kind", ENDLESS)
@each_row("adapter", [requests.adapters.HTTPAdapter, Derived, OwnConnections])
def test_a_reply_over_an_adapter_of_somebody_else_is_left_in_time(kind: str, adapter: type) -> None:
    """Its head and its body, whether it drips or falls silent."""
    session = requests.Session()
    session.mount("http://", adapter())
    with raw_server(ENDLESS[kind]) as server:
        begin = time.monotonic()
        with pytest.raises(ServiceUnreachable, match="did not end in time: stopped after"):
            client_at(server.base_url, SOON, session=session).search_products()

    assert time.monotonic() - begin < 3


def test_a_connection_that_the_session_had_before_is_limited_too() -> None:
    """Somebody called the service with it, and the connection was kept."""
    session = requests.Session()
    with raw_server(ENDLESS["a header"]) as server:
        assert session.get(f"{server.base_url}/token").ok
        begin = time.monotonic()
        with pytest.raises(ServiceUnreachable, match="did not end in time"):
            client_at(server.base_url, SOON, session=session).search_products()

    assert time.monotonic() - begin < 3


@pytest.mark.slow
@each_row("kind", ENDLESS)
def test_a_proxy_that_never_ends_its_reply_is_left_in_time(kind: str) -> None:
    """It answers in place of the service."""
    with raw_server(ENDLESS[kind]) as proxy:
        session = requests.Session()
        session.trust_env = False
        session.proxies = {"http": proxy.base_url}
        begin = time.monotonic()
        with pytest.raises(ServiceUnreachable, match="did not end in time"):
            client_at("http://127.0.0.1:9", SOON, session=session).search_products()

    assert time.monotonic() - begin < 3
    assert 1 == len(proxy.paths)


@pytest.mark.slow
@each_row("kind", ["a header", "silence in the head"])
def test_a_proxy_that_never_opens_its_tunnel_is_left_in_time(kind: str) -> None:
    """The answer to CONNECT has the same limit as a reply."""
    with raw_server(ENDLESS[kind]) as proxy:
        session = requests.Session()
        session.trust_env = False
        session.proxies = {"https": proxy.base_url}
        begin = time.monotonic()
        with pytest.raises(ServiceUnreachable, match="did not end in time"):
            client_at("https://api.example.com", SOON, session=session).search_products()

    assert time.monotonic() - begin < 3


@each_row(
    "proxy",
    [
        "http://",
        "ftp://u:canary@proxy:1",
        "http://u:canary@a b:1",
        "http://u:canary@proxy:99999",
        "http://u:canary@[::1",
        f"http://u:canary@{'a' * 300}:1",
    ],
)
@each_row("session", [requests.Session, None])
def test_a_proxy_that_was_mistyped_is_said(
    proxy: str, session: type | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its password, and before anything is sent."""
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, proxy)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    client = client_at("https://api.example.com", session=session and session())
    with pytest.raises(
        ServiceUnreachable, match=r"cannot be called .* proxies of the session or of the env"
    ) as found:
        client.count()

    shown = "".join(traceback.format_exception(found.value))
    assert "canary" not in shown


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost, with its key."""
    return for_localhost(tmp_path_factory.mktemp("certificate"))


@pytest.mark.slow
@each_row("kind", ENDLESS)
def test_a_reply_over_tls_that_never_ends_is_left_in_time(
    kind: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read of TLS can be ended like any other."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    session = requests.Session()
    with raw_server(ENDLESS[kind], certificate=certificate) as server:
        client = client_at(server.base_url, Limits(seconds=1), session=session)
        begin = time.monotonic()
        with pytest.raises(ServiceUnreachable, match="did not end in time"):
            client.search_products()

    assert time.monotonic() - begin < 4


@pytest.mark.slow
def test_a_reply_over_tls_that_pauses_is_read_to_its_end(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pauses within the timeout lose nothing, neither in the head nor in the body."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    whole = reply()

    def haltingly(caller: socket.socket) -> None:
        for place in range(0, len(whole), 40):
            caller.sendall(whole[place : place + 40])
            time.sleep(0.7)

    session = requests.Session()
    with raw_server(haltingly, certificate=certificate) as server:
        assert 1 == len(client_at(server.base_url, session=session).search_products())


@pytest.mark.slow
def test_tls_of_the_service_is_verified(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the authorities that are known, and for the name that was called."""
    with raw_server(ENDLESS["a header"], certificate=certificate) as server:
        with pytest.raises(ServiceUnreachable, match="certificate of localhost was not accepted"):
            client_at(server.base_url).search_products()
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
        numbered = server.base_url.replace("localhost", "127.0.0.1")
        with pytest.raises(ServiceUnreachable, match=r"certificate of 127[.]0[.]0[.]1 was not accepted"):
            client_at(numbered, session=requests.Session()).count()

    assert [] == server.paths


@each_row(
    "content",
    [None, b"", b"no certificate", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
)
def test_certificates_that_cannot_be_read_are_said(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the file, and before anything is sent; for a picture like for a call to the service."""
    bundle = tmp_path / "bundle.pem"
    if content is not None:
        bundle.write_bytes(content)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(bundle))
    with pytest.raises(SettingsError, match=r"bundle[.]pem cannot be read .*REQUESTS_CA_BUNDLE"):
        client_at("https://api.example.com").count()
    with MediaDownloader("") as media, pytest.raises(SettingsError, match=r"bundle[.]pem cannot be read"):
        media.download("https://media.example/a.jpg", tmp_path / "part")
