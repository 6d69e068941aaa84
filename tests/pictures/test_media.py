"""The way out: what it asks, whom it asks, and what it takes."""

from __future__ import annotations

import resource
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from prodex.errors import MediaFailed, MediaRefused, StorageError
from prodex.limits import Limits
from prodex.network.download import DownloadPolicy, MediaDownloader
from prodex.network.retry import RetryPolicy
from tests.cases import each_row
from tests.certificates import for_localhost

from .conftest import Internet
from .file_server import FileServer, serving

HURRY = RetryPolicy(
    attempts=3, seconds=20, first_wait=0.01, longest_wait=0.02, jitter=0, longest_retry_after=0.3
)
OUTSIDE = "93.184.215.14"
CONTENT = bytes(range(256)) * 400


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "file.part"


def way_to(server: FileServer, limits: Limits | None = None, **policy: float) -> MediaDownloader:
    """Return a way out for a catalogue that came from this server."""
    return MediaDownloader(server.base_url, limits=limits, policy=DownloadPolicy(**policy), retry=HURRY)  # type: ignore[arg-type]


def test_a_file_comes_as_it_is(server: FileServer, part: Path) -> None:
    """Byte for byte."""
    with way_to(server) as media:
        media.download(server.serve("/a.jpg", CONTENT), part)

    assert CONTENT == part.read_bytes()


@pytest.mark.slow
def test_nothing_of_ours_is_given_away(
    server: FileServer, part: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No token, no cookie, nothing of ~/.netrc, no referrer: only who asks, and for what."""
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    url = server.serve("/a.jpg", CONTENT, headers={"Set-Cookie": "session=1"})
    with way_to(server) as media:
        media.download(url, part)
        media.download(url, tmp_path / "again.part")

    assert ["/a.jpg", "/a.jpg"] == server.paths
    for headers in [*server.identified, *(headers for _, headers in server.asked)]:
        assert {"host", "user-agent", "accept", "accept-encoding"} == set(headers)
        assert headers["user-agent"].startswith("prodex/")


@each_row(
    "host",
    [
        *(
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "0.0.0.0",
            "0",
            "localhost",
        ),
        *("[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "10.0.0.1", "192.168.0.1", "169.254.169.254"),
        *("[fe80::1]", "[fd00:ec2::254]", "１２７.0.0.1"),
    ],
)
def test_addresses_of_this_machine_and_its_network_are_refused(
    host: str, internet: Internet, part: Path
) -> None:
    """In every notation, before any connection."""
    with (
        MediaDownloader("https://api.example.com", resolve=internet.resolve) as media,
        pytest.raises(MediaRefused) as told,
    ):
        media.download(f"http://{host}:8080/a.jpg", part)

    assert "was not requested" in str(told.value)
    assert [] == internet.connected


@each_row(
    "ips",
    [["10.0.0.1"], ["127.0.0.1"], [OUTSIDE, "192.168.1.1"], ["64:ff9b::a00:1"], ["::ffff:169.254.169.254"]],
)
def test_a_name_that_leads_inside_is_refused(ips: list[str], internet: Internet, part: Path) -> None:
    """Even if only one of its addresses does."""
    internet.names["media.example"] = ips
    with (
        MediaDownloader("https://api.example.com", resolve=internet.resolve) as media,
        pytest.raises(MediaRefused),
    ):
        media.download("https://media.example/a.jpg", part)

    assert [] == internet.connected


def test_the_connection_goes_to_the_address_that_was_checked(
    server: FileServer, internet: Internet, part: Path
) -> None:
    """The name is looked up once; what it means a moment later does not matter."""
    server.serve("/a.jpg", CONTENT)
    internet.names["media.example"] = [OUTSIDE]
    internet.machines[OUTSIDE] = server.port
    with MediaDownloader("https://api.example.com", resolve=internet.resolve) as media:
        media.download("http://media.example/a.jpg", part)

    assert CONTENT == part.read_bytes()
    assert ["media.example"] == internet.looked_up
    assert [OUTSIDE] == internet.connected
    assert "media.example" == server.asked[0][1]["host"]


def test_a_name_is_checked_for_each_connection(server: FileServer, internet: Internet, part: Path) -> None:
    """A name that leads inside when the next connection is opened is refused then, though it was public before."""
    closing = {"Connection": "close"}
    server.serve("/a.jpg", CONTENT, headers=closing)
    internet.names["media.example"] = [OUTSIDE]
    internet.machines[OUTSIDE] = server.port
    with MediaDownloader("https://api.example.com", resolve=internet.resolve) as media:
        media.download("http://media.example/a.jpg", part)
        internet.names["media.example"] = ["127.0.0.1"]
        internet.machines["127.0.0.1"] = server.port
        with pytest.raises(MediaRefused, match=r"media.example was not requested: 127[.]0[.]0[.]1 is not"):
            media.download("http://media.example/a.jpg", part)

    assert [OUTSIDE] == internet.connected


def test_a_connection_stays_with_the_address_that_was_checked(
    server: FileServer, internet: Internet, tmp_path: Path
) -> None:
    """While it is kept, the name may lead anywhere: the files come from where they came before."""
    server.serve("/a.jpg", CONTENT)
    internet.names["media.example"] = [OUTSIDE]
    internet.machines[OUTSIDE] = server.port
    with MediaDownloader("https://api.example.com", resolve=internet.resolve) as media:
        for name in ("a", "b"):
            media.download("http://media.example/a.jpg", tmp_path / f"{name}.part")
            internet.names["media.example"] = ["10.0.0.1"]

    assert ([OUTSIDE], 2) == (internet.connected, len(server.asked))


def test_the_next_address_of_a_name_is_tried(server: FileServer, internet: Internet, part: Path) -> None:
    """When nobody answers at the first."""
    server.serve("/a.jpg", CONTENT)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = closed.getsockname()[1]
    internet.names["media.example"] = ["8.8.8.8", OUTSIDE]
    internet.machines |= {"8.8.8.8": nobody, OUTSIDE: server.port}
    with MediaDownloader("https://api.example.com", resolve=internet.resolve) as media:
        media.download("http://media.example/a.jpg", part)

    assert ["8.8.8.8", OUTSIDE] == internet.connected


@each_row("place", ["http://localhost:{port}/", "http://127.1:{port}/", "http://127.0.0.1:{other}/"])
def test_only_the_very_address_of_the_sandbox_is_excepted(server: FileServer, part: Path, place: str) -> None:
    """Not another port of this machine, nor another of its names."""
    with serving() as other, way_to(server) as media:
        server.serve("/a.jpg", CONTENT)
        other.serve("/a.jpg", CONTENT)
        with pytest.raises(MediaRefused):
            media.download(place.format(port=server.port, other=other.port) + "a.jpg", part)
        assert [] == [*server.asked, *other.asked]


@each_row(
    "health",
    [
        b"",
        b"<html>",
        b"{}",
        b"[]",
        b'"prodex sandbox"',
        b'{"service": "vault"}',
        b"[" * 60_000,
        b" " * 99_000,
    ],
)
def test_what_is_no_sandbox_is_not_asked_though_a_snapshot_says_so(
    health: bytes, server: FileServer, part: Path
) -> None:
    """Who hands on a snapshot can name any address of this machine as its source: a notebook's, a database's."""
    server.health = health
    with way_to(server) as media, pytest.raises(MediaRefused, match="the server there is not a sandbox"):
        media.download(server.serve("/api/kernels", CONTENT), part)

    assert ([], 1) == (server.asked, len(server.identified))


def test_a_sandbox_is_identified_once(server: FileServer, tmp_path: Path) -> None:
    """Not for each of its files."""
    with way_to(server) as media:
        for name in ("a", "b"):
            media.download(server.serve(f"/{name}.jpg", CONTENT), tmp_path / f"{name}.part")

    assert 1 == len(server.identified)


def test_nobody_else_may_send_us_to_the_sandbox(server: FileServer, internet: Internet, part: Path) -> None:
    """A redirect from outside does not inherit the exception, not even over a line that is open."""
    server.serve("/inside.jpg", CONTENT)
    internet.names["media.example"] = [OUTSIDE]
    with serving() as outside:
        internet.machines[OUTSIDE] = outside.port
        outside.serve("/a.jpg", status=302, headers={"Location": f"{server.base_url}/inside.jpg"})
        with MediaDownloader(server.base_url, retry=HURRY, resolve=internet.resolve) as media:
            media.download(f"{server.base_url}/inside.jpg", part)
            with pytest.raises(MediaRefused):
                media.download("http://media.example/a.jpg", part)

    assert ["/inside.jpg"] == server.paths


@each_row(
    "location",
    [
        *("http://169.254.169.254/latest/meta-data", "http://localhost:{port}/b.jpg", "//127.1:{port}/b.jpg"),
        *("file:///etc/passwd", "ftp://media.example/a.jpg", "http://user:secret@127.0.0.1:{port}/b.jpg"),
        *("http://[::1", "data:image/png;base64,AAAA"),
    ],
)
def test_a_redirect_is_checked_like_any_address(server: FileServer, part: Path, location: str) -> None:
    """Wherever it comes from."""
    headers = {"Location": location.format(port=server.port)}
    with way_to(server) as media, pytest.raises(MediaRefused):
        media.download(server.serve("/a.jpg", status=302, headers=headers), part)

    assert ["/a.jpg"] == server.paths


def test_redirects_are_followed_a_few_times(server: FileServer, part: Path) -> None:
    """Relative ones too; a circle ends."""
    server.serve("/pictures/a.jpg", status=301, headers={"Location": "b.jpg"})
    server.serve("/pictures/b.jpg", status=307, headers={"Location": "/c.jpg"})
    server.serve("/c.jpg", CONTENT)
    circle = server.serve("/circle.jpg", status=302, headers={"Location": "/circle.jpg"})
    with way_to(server) as media:
        media.download(f"{server.base_url}/pictures/a.jpg", part)
        with pytest.raises(MediaRefused, match="more than 5 redirects"):
            media.download(circle, part)

    assert CONTENT == part.read_bytes()
    assert 6 == server.paths.count("/circle.jpg")


def test_a_file_may_not_be_larger_than_the_limit(server: FileServer, part: Path) -> None:
    """Whether it says so beforehand or not."""
    announced = server.serve("/a.jpg", CONTENT)
    endless = server.serve("/b.jpg", CONTENT, unannounced=True)
    with way_to(server, Limits(wire_bytes=10_000)) as media:
        for url, said in (
            (announced, "has 102,400 bytes, and the limit is 10,000"),
            (endless, "more bytes than the limit of 10,000"),
        ):
            with pytest.raises(MediaRefused, match=said):
                media.download(url, part)

    assert not part.exists()


@pytest.mark.slow
def test_a_server_that_drips_is_left(server: FileServer, part: Path) -> None:
    """After the total time, although each byte comes in time; what came stays for another time."""
    url = server.serve("/a.jpg", CONTENT, drip=0.1, version='"1"')
    begin = time.monotonic()
    with way_to(server, Limits(seconds=1.5)) as media, pytest.raises(MediaFailed, match=r"more than 1[.]5 s"):
        media.download(url, part)

    assert time.monotonic() - begin < 5
    assert 0 < part.stat().st_size < 100


def test_a_server_that_drips_its_headers_is_left(part: Path) -> None:
    """The time runs from the first byte on, not from the end of the headers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            caller = listening.accept()[0]
            try:
                caller.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while True:
                    caller.sendall(b"x")
                    time.sleep(0.05)
            except OSError:
                caller.close()

        threading.Thread(target=drip, daemon=True).start()
        base_url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        begin = time.monotonic()
        with (
            MediaDownloader(base_url, limits=Limits(seconds=0.5), retry=HURRY) as media,
            pytest.raises(MediaFailed),
        ):
            media.download(f"{base_url}/a.jpg", part)

    assert time.monotonic() - begin < 3


def test_a_server_that_says_nothing_is_asked_again_and_left(server: FileServer, part: Path) -> None:
    """Three times, each until the time for the next bytes is over."""
    url = server.serve("/a.jpg", CONTENT, before=lambda: time.sleep(1))
    with (
        way_to(server, read=0.2) as media,
        pytest.raises(MediaFailed, match=r"3 times .* did not answer in time"),
    ):
        media.download(url, part)

    assert ["/a.jpg"] * 3 == server.paths


def test_what_broke_off_goes_on(server: FileServer, part: Path) -> None:
    """From where it ended, if it is still the same version."""
    url = server.serve("/a.jpg", CONTENT, version='"1"', cuts=[40_000, 10_000])
    with way_to(server) as media:
        media.download(url, part)

    assert CONTENT == part.read_bytes()
    asked = [(headers.get("range"), headers.get("if-range")) for _, headers in server.asked]
    assert [(None, None), ("bytes=40000-", '"1"'), ("bytes=50000-", '"1"')] == asked


def test_what_an_earlier_process_left_goes_on(server: FileServer, part: Path) -> None:
    """The version is remembered beside the part."""
    url = server.serve("/a.jpg", CONTENT, version='"1"', cuts=[40_000] * 3)
    server.files["/a.jpg"].ranges = False
    with way_to(server) as media, pytest.raises(MediaFailed, match="to come"):
        media.download(url, part)
    server.files["/a.jpg"].ranges = True
    with way_to(server) as media:
        media.download(url, part)

    assert CONTENT == part.read_bytes()
    assert "bytes=40000-" == server.asked[-1][1]["range"]


@pytest.mark.parametrize("version", [None, 'W/"1"'])
def test_without_a_certain_version_it_begins_anew(
    server: FileServer, part: Path, version: str | None
) -> None:
    """Two halves of different files would be worse than none."""
    url = server.serve("/a.jpg", CONTENT, version=version, cuts=[40_000])
    with way_to(server) as media:
        media.download(url, part)

    assert CONTENT == part.read_bytes()
    assert all("range" not in headers for _, headers in server.asked)


def test_another_version_begins_anew(server: FileServer, part: Path) -> None:
    """The server says so by sending all of it."""
    url = server.serve("/a.jpg", CONTENT, version='"1"', cuts=[40_000] * 3, ranges=False)
    with way_to(server) as media, pytest.raises(MediaFailed):
        media.download(url, part)
    server.serve("/a.jpg", CONTENT[::-1], version='"2"')
    with way_to(server) as media:
        media.download(url, part)

    assert CONTENT[::-1] == part.read_bytes()


def test_a_part_that_is_longer_than_the_file_begins_anew(server: FileServer, part: Path) -> None:
    """The server refuses to go on (416), and is asked for all of it."""
    url = server.serve("/a.jpg", CONTENT, version='"1"')
    part.write_bytes(CONTENT * 2)
    part.with_suffix(".version").write_text('"1"')
    with way_to(server) as media:
        media.download(url, part)

    assert CONTENT == part.read_bytes()


def test_a_server_that_goes_on_elsewhere_is_not_believed(server: FileServer, part: Path) -> None:
    """What it sends would be put together with what it does not belong to."""
    url = server.serve("/a.jpg", CONTENT, version='"1"', ranges=False, status=206)
    server.files["/a.jpg"].headers = {"Content-Range": f"bytes 5-{len(CONTENT) - 1}/{len(CONTENT)}"}
    part.write_bytes(CONTENT[:100])
    part.with_suffix(".version").write_text('"1"')
    with way_to(server) as media, pytest.raises(MediaFailed, match="a different file there"):
        media.download(url, part)

    assert not part.exists()


def test_a_busy_server_is_given_the_pause_it_asks_for(server: FileServer, part: Path) -> None:
    """429 and 503 with Retry-After; up to a limit."""
    pauses = [429, 503]
    url = server.serve(
        "/a.jpg", CONTENT, headers={"Retry-After": "100"}, before=lambda: pauses.pop() if pauses else None
    )
    begin = time.monotonic()
    with way_to(server) as media:
        media.download(url, part)

    assert CONTENT == part.read_bytes()
    assert 0.6 <= time.monotonic() - begin < 5


@each_row(("status", "times"), [(404, 1), (403, 1), (410, 1), (204, 1), (304, 1), (500, 3), (503, 3)])
def test_what_does_not_pass_is_not_asked_again(
    server: FileServer, part: Path, status: int, times: int
) -> None:
    """A 4xx is an answer; a 5xx may pass, and is given up after a few times."""
    url = server.serve("/a.jpg", status=status)
    with way_to(server) as media, pytest.raises(MediaFailed, match=f"HTTP {status}") as failure:
        media.download(url, part)

    assert (status, times) == (failure.value.status, len(server.asked))


def test_what_comes_compressed_is_refused(server: FileServer, part: Path) -> None:
    """Nobody asked for that, and a few bytes could become very many."""
    url = server.serve("/a.jpg", CONTENT, headers={"Content-Encoding": "gzip"})
    with way_to(server) as media, pytest.raises(MediaRefused, match="compressed"):
        media.download(url, part)


def test_a_host_that_is_silent_is_left_alone(part: Path) -> None:
    """After a few files nobody waits for it any more; an answer, whatever it says, makes it heard again."""
    with serving() as server:
        missing = f"{server.base_url}/missing.jpg"
        media = way_to(server, silences=2)
        url = f"{server.base_url}/a.jpg"
        with pytest.raises(MediaFailed, match="404"):
            media.download(missing, part)
    with media:
        for _ in range(2):
            with pytest.raises(MediaFailed, match="no connection"):
                media.download(url, part)
        with pytest.raises(MediaFailed, match="not asked again"):
            media.download(url, part)


def test_a_host_that_is_refused_something_is_not_silent(server: FileServer, part: Path) -> None:
    """It answered: its other files are asked for."""
    bad = server.serve("/bad.jpg", CONTENT, headers={"Content-Encoding": "gzip"})
    with way_to(server, silences=2) as media:
        for _ in range(3):
            with pytest.raises(MediaRefused):
                media.download(bad, part)
        media.download(server.serve("/a.jpg", CONTENT), part)

    assert CONTENT == part.read_bytes()


def test_few_connections_to_one_host_at_a_time(server: FileServer, tmp_path: Path) -> None:
    """However many threads ask."""
    now, most, lock = [0], [0], threading.Lock()

    def count() -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.05)
        with lock:
            now[0] -= 1

    url = server.serve("/a.jpg", CONTENT, before=count)
    with way_to(server, per_host=3) as media:
        threads = [
            threading.Thread(target=media.download, args=(url, tmp_path / f"{i}.part")) for i in range(12)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert 12 == len(list(tmp_path.glob("*.part")))
    assert 3 == most[0]


def test_connections_are_used_again(server: FileServer, internet: Internet, tmp_path: Path) -> None:
    """One for many files, also after one of them was not there; and a new one when it was closed meanwhile."""
    server.serve("/a.jpg", CONTENT)
    with MediaDownloader(server.base_url, resolve=internet.resolve) as media:
        for i in range(3):
            media.download(f"{server.base_url}/a.jpg", tmp_path / f"{i}.part")
        assert 1 == len(internet.connected)
        server.serve("/b.jpg", CONTENT, headers={"Connection": "close"})
        for name in ("b", "a"):
            media.download(f"{server.base_url}/{name}.jpg", tmp_path / f"{name}.part")
        assert 2 == len(internet.connected)


@pytest.mark.slow
def test_few_connections_wait(server: FileServer, internet: Internet, tmp_path: Path) -> None:
    """Pictures may lie at thousands of hosts, and a process may not have so many connections."""
    server.serve("/a.jpg", CONTENT)
    internet.machines[OUTSIDE] = server.port
    before = len(list(Path("/dev/fd").iterdir()))
    with MediaDownloader("", resolve=internet.resolve) as media:
        for number in range(200):
            internet.names[f"{number}.example"] = [OUTSIDE]
            media.download(f"http://{number}.example/a.jpg", tmp_path / f"{number}.part")
        # Each has two ends here; the server may be closing its own still.
        assert len(list(Path("/dev/fd").iterdir())) - before < 200

    assert 200 == len(internet.connected)


def test_what_comes_behind_a_file_is_not_the_next_one(
    server: FileServer, internet: Internet, tmp_path: Path
) -> None:
    """A server that sends more than it told is not listened to any further; the next file comes over a new line."""
    url = server.serve("/a.jpg", b"one", trails=b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
    with MediaDownloader(server.base_url, resolve=internet.resolve) as media:
        for name in ("a", "b"):
            media.download(url, tmp_path / f"{name}.part")
            time.sleep(0.3)

    assert [b"one", b"one"] == [(tmp_path / f"{name}.part").read_bytes() for name in ("a", "b")]
    assert 2 == len(internet.connected)


def test_a_halt_ends_what_is_under_way(server: FileServer, part: Path) -> None:
    """At once, and nothing begins afterwards."""
    begun = threading.Event()
    url = server.serve("/a.jpg", CONTENT, drip=0.1, before=begun.set)
    with way_to(server) as media:
        stopper = threading.Thread(target=lambda: (begun.wait(), media.halt()))
        stopper.start()
        begin = time.monotonic()
        for _ in range(2):
            with pytest.raises(MediaFailed, match="stopped"):
                media.download(url, part)
        stopper.join()

    assert time.monotonic() - begin < 5
    assert 1 == len(server.asked)


def test_a_full_disk_is_said(server: FileServer, part: Path) -> None:
    """With the place, and as what it is; what came stays."""
    url = server.serve("/a.jpg", CONTENT, version='"1"')
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with way_to(server) as media, pytest.raises(StorageError, match=r"file\.part: File too large"):
            media.download(url, part)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with way_to(server) as media:
        media.download(url, part)

    assert ("bytes=50000-", CONTENT) == (server.asked[-1][1]["range"], part.read_bytes())


@each_row("link", [Path.symlink_to, Path.hardlink_to])
@each_row("status", [200, 206])
def test_a_link_where_a_part_is_kept_leads_nowhere(
    link: Callable[[Path, Path], None], status: int, server: FileServer, part: Path, tmp_path: Path
) -> None:
    """A folder may come from somebody else: nothing is added to what lies outside it, and nothing of that is sent."""
    mine = tmp_path / "mine"
    mine.write_text("secret")
    link(part, mine)
    link(part.with_suffix(".version"), mine)
    headers = {"Content-Range": f"bytes 0-{len(CONTENT) - 1}/{len(CONTENT)}"}
    url = server.serve("/a.jpg", CONTENT, status=status, headers=headers if status == 206 else {})
    with way_to(server) as media:
        media.download(url, part)

    assert (CONTENT, "secret") == (part.read_bytes(), mine.read_text())
    assert "secret" not in str(server.asked)


@each_row("version", [b"", b"a\r\nX: y", b"\xff", b"a\n", b'W/"1"'])
def test_a_part_whose_version_is_damaged_begins_anew(version: bytes, server: FileServer, part: Path) -> None:
    """It may have been cut off, or be no version at all."""
    part.write_bytes(b"begun")
    part.with_suffix(".version").write_bytes(version)
    with way_to(server) as media:
        media.download(server.serve("/a.jpg", CONTENT), part)

    assert CONTENT == part.read_bytes()
    assert "range" not in server.asked[0][1]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost, with its key."""
    return for_localhost(tmp_path_factory.mktemp("certificate"))


@pytest.mark.slow
def test_tls_is_verified_for_the_name(
    certificate: Path, part: Path, internet: Internet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although the connection goes to an address: the name in the certificate must be the one that was typed."""
    with serving(certificate) as server:
        server.serve("/a.jpg", CONTENT)
        named = f"https://localhost:{server.port}"
        with (
            MediaDownloader(named, retry=HURRY) as media,
            pytest.raises(MediaFailed, match="certificate of localhost"),
        ):
            media.download(f"{named}/a.jpg", part)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
        with MediaDownloader(named, retry=HURRY) as media:
            media.download(f"{named}/a.jpg", part)
        assert CONTENT == part.read_bytes()
        internet.names["media.example"] = [OUTSIDE]
        internet.machines[OUTSIDE] = server.port
        with (
            MediaDownloader("", retry=HURRY, resolve=internet.resolve) as media,
            pytest.raises(MediaFailed, match="certifi"),
        ):
            media.download("https://media.example/a.jpg", part)


def test_no_proxy_is_used(server: FileServer, part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would look the name up again; when there is one and nobody answers, the message says so."""
    with serving() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.base_url)
        monkeypatch.delenv("no_proxy", raising=False)
        with way_to(server) as media:
            media.download(server.serve("/a.jpg", CONTENT), part)
        with socket.create_server(("127.0.0.1", 0)) as closed:
            nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
        with (
            MediaDownloader(nobody, retry=HURRY) as media,
            pytest.raises(MediaFailed, match="No proxy is used"),
        ):
            media.download(f"{nobody}/a.jpg", part)
        assert [] == proxy.asked
