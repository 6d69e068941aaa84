"""The sandbox on this machine: reach the one that runs, or start one. Each test has processes of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
import requests
from exchange import Exchange
from raw_server import raw_server
from tests.cases import each_row
from tests.lived import exchange_in

from prodex.errors import MissingExtra, ServiceUnreachable, SettingsError
from prodex.limits import Limits
from prodex.sandbox import Sandbox
from prodex.service import connect, local_sandbox
from prodex.service.local_sandbox import running_sandbox, sandbox_home, sandbox_settings

# Connects, says what it found, and stays until its input ends.
ANALYST = """
import sys, prodex.service
client = prodex.service.connect("sandbox")
print(client.base_url, client.count(), "prodex_sandbox" in sys.modules, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with a store of three products, so that a start takes no long time."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    monkeypatch.delenv("PRODEX_CLIENT_ID", raising=False)
    products = [{"id": index, "gtin": f"{index:014d}"} for index in range(3)]
    with Sandbox(products, home=tmp_path / "sandbox"):
        pass
    return tmp_path / "sandbox"


class Analyst:
    """A process that connects to the sandbox."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", ANALYST], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self):
        return self

    def says(self):
        """Return base URL, number of products, and whether the sandbox's code was loaded."""
        base_url, count, loaded = self.process.stdout.readline().split()
        return base_url, int(count), loaded == "True"

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


def is_gone(base_url):
    """Say whether nobody answers there any more, after a short while at most."""
    for _ in range(100):
        try:
            requests.get(f"{base_url}/health", timeout=1).close()
        except requests.ConnectionError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
def test_a_sandbox_is_started_shared_and_stopped(home):
    """The first who connects starts the sandbox, others reach the same one, and it ends with the first."""
    with Analyst() as first:
        base_url, count, loaded = first.says()
        assert (3, False) == (count, loaded)
        assert base_url == json.loads((home / "server.json").read_bytes())["base_url"]
        with Analyst() as second:
            assert base_url == second.says()[0]
        assert base_url == connect("sandbox").base_url
    assert is_gone(base_url)
    assert running_sandbox(home) is None


@pytest.mark.slow
def test_two_who_start_at_once_share_one_sandbox(home):
    """Two processes that connect at the same time start one sandbox, not two."""
    with Analyst() as first, Analyst() as second:
        assert first.says() == second.says()


@pytest.mark.slow
def test_a_sandbox_ends_with_a_process_that_is_killed(home):
    """A sandbox does not outlive the process that started it, however that ends."""
    with Analyst() as analyst:
        base_url, _, _ = analyst.says()
        analyst.process.kill()
    assert is_gone(base_url)


KEY = {"client_id": "shop", "client_secret": "shop-secret"}


@each_row("stale", ["dead", "other service", "silent", "cut off"])
def test_what_a_crash_left_behind_is_not_believed(home, stale):
    """A server.json of a sandbox that has ended, or of a port that others use now, counts as none."""
    with Exchange(1) as other:
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        facts = {
            "dead": {"base_url": other.base_url, "pid": ended.pid, "credentials": [KEY]},
            "other service": {"base_url": other.base_url, "pid": os.getpid(), "credentials": [KEY]},
            "silent": {"base_url": "http://127.0.0.1:9", "pid": os.getpid(), "credentials": [KEY]},
            "cut off": {},
        }[stale]
        (home / "server.json").write_text(json.dumps(facts) if facts else '{"base_url": "http')
        assert running_sandbox(home) is None


def _dripping(caller):
    caller.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        caller.sendall(b" ")
        time.sleep(0.02)


def test_a_stranger_who_has_the_port_now_and_never_ends_his_answer_is_left_in_time(home, monkeypatch):
    """Nobody waits for it: it counts as none, like one that is silent."""
    monkeypatch.setattr(local_sandbox, "_HEALTH", Limits(seconds=0.4))
    with raw_server(_dripping) as stranger:
        facts = {"base_url": stranger.base_url, "pid": os.getpid(), "credentials": [KEY]}
        (home / "server.json").write_text(json.dumps(facts))
        begin = time.monotonic()
        assert running_sandbox(home) is None
        assert ["/health"] == stranger.paths
    assert time.monotonic() - begin < 3


ALIVE = {"base_url": "http://127.0.0.1:9", "pid": os.getpid(), "credentials": [KEY]}


@each_row(
    "facts",
    [
        ALIVE | {"base_url": "https://evil.example.com"},
        ALIVE | {"base_url": "http://[::1"},
        ALIVE | {"base_url": 5},
        ALIVE | {"credentials": []},
        ALIVE | {"credentials": [{"client_id": "shop"}]},
        ALIVE | {"credentials": [KEY | {"client_secret": None}]},
        ALIVE | {"credentials": None},
        ALIVE | {"pid": "1"},
        ALIVE | {"pid": 10**30},
        [ALIVE],
        None,
    ],
)
def test_credentials_go_to_no_address_that_a_file_only_claims(home, monkeypatch, facts):
    """An edited server.json is ignored: no request goes to an address that is not on this machine."""
    asked = []
    monkeypatch.setattr(requests.Session, "get", lambda _, url, **__: asked.append(url))
    (home / "server.json").write_text(json.dumps(facts))
    assert running_sandbox(home) is None
    assert [] == asked


@pytest.mark.slow
def test_a_sandbox_that_does_not_start_says_why(home):
    """If the sandbox does not start, the error contains its output."""
    (home / "store.sqlite").write_bytes(b"this is not a database " * 100)
    with pytest.raises(
        ServiceUnreachable, match=r"did not start.*-m prodex sandbox.*Its output: .*store\.sqlite"
    ):
        connect("sandbox")


def test_what_the_sandbox_needs_is_named(home, monkeypatch):
    """Without the packages of the extra, the error names the command that installs them."""
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtra, match=r"needs uvicorn\. Install it with: .*pip install .*\[sandbox\]'$"):
        connect("sandbox")


def test_the_sandbox_can_be_asked_as_another_organisation(home):
    """Credentials of another organisation are used as given; half a pair is refused."""
    with exchange_in(home.parent, []) as running:
        base_url = running.base_url
        _, other, *_ = json.loads((home / "server.json").read_bytes())["credentials"]
        client = connect("sandbox", client_id=other["client_id"], client_secret=other["client_secret"])
        assert base_url == client.base_url
        client.count()
        assert other["client_id"][:3] in repr(client)
        with pytest.raises(SettingsError, match="together"):
            connect("sandbox", client_id=other["client_id"])


def test_the_home_of_the_sandbox_is_the_platforms_unless_told(monkeypatch, tmp_path):
    """The store is under PRODEX_HOME, else where the platform keeps data of programs."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    assert tmp_path / "sandbox" == sandbox_home()
    monkeypatch.delenv("PRODEX_HOME")
    assert sandbox_home().parts[-2:] == ("prodex", "sandbox")


#: A sandbox that takes its time: it counts, and is ready when it has counted.
COUNTING = """
import json, sys, time
ready, progress = (sys.argv[sys.argv.index(name) + 1] for name in ("--ready", "--progress"))
for done in ("1,000", "9,000"):
    open(progress, "w").write(f"{done} of 12,000 products")
    time.sleep(0.3)
facts = {"base_url": "http://127.0.0.1:9", "pid": 1, "credentials": [{"client_id": "a", "client_secret": "b"}]}
open(ready, "w").write(json.dumps(facts))
time.sleep(60)
"""


def test_who_watches_sees_how_far_the_sample_is_and_where_it_answers(tmp_path, monkeypatch, capsys):
    """A bar while it is made, then the address and how long it stays; where nobody watches, nothing."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    script = tmp_path / "counting.py"
    script.write_text(COUNTING, "utf-8")
    monkeypatch.setattr(local_sandbox, "_COMMAND", (sys.executable, str(script)))

    assert "http://127.0.0.1:9" == sandbox_settings().base_url
    assert "" == capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    sandbox_settings()
    said = capsys.readouterr().err
    for words in (
        "Making the sample catalogue",
        "9,000/12,000 products",
        "12,000/12,000 products",
        "Started the sandbox at http://127.0.0.1:9",
    ):
        assert words in said, words
    assert "it stops with this program" in said
