"""`prodex open` as a process of its own, as somebody starts it in a terminal, with a home that tests fill.

What the process asks of the network is kept by an audit hook of Python, which sees every library.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

import prodex as px
from prodex_sandbox.sample import shared_products

#: Seconds until the page says where it is, and until it has ended.
_START, _END = 120, 30
#: The products of the newer snapshot whose long names are gone.
CHANGED = 10
_STARTED = """
    import sys

    def heard(event, arguments, kept=open(sys.argv[1], "a", buffering=1)):
        if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
            print(event, arguments[1:], file=kept)

    sys.addaudithook(heard)
    sys.argv[:] = ["prodex", *sys.argv[2:]]
    from prodex.cli import main

    main()
"""


@dataclass
class OpenedPage:
    """A page that is served.

    Attributes
    ----------
    process
        Who serves it.
    address
        What was printed.
    folder
        Where it was started, with what it has said and asked.
    """

    process: subprocess.Popen[str]
    address: str
    folder: Path

    @property
    def port(self) -> int:
        """Where it listens."""
        return urlsplit(self.address).port or 0

    @property
    def token(self) -> str:
        """What opens it."""
        return parse_qs(urlsplit(self.address).query)["access_token"][0]

    @property
    def asked(self) -> list[str]:
        """What its process has asked of the network."""
        return (self.folder / "asked.txt").read_text("utf-8").splitlines()

    @property
    def said(self) -> str:
        """What it has said aside."""
        return (self.folder / "aside.txt").read_text("utf-8")

    def end(self) -> tuple[int, str]:
        """Press Ctrl-C, and return how it ended, and what it has printed after its address."""
        self.process.send_signal(signal.SIGINT)
        printed, _ = self.process.communicate(timeout=_END)
        return self.process.returncode, printed

    def answer(self, path: str = "/", *lines: str, host: str | None = "", method: str = "GET") -> str:
        """Return the beginning of the answer to a request that no browser would send; `host` None sends none."""
        own = [] if host is None else [f"Host: {host or f'127.0.0.1:{self.port}'}"]
        request = "\r\n".join([f"{method} {path} HTTP/1.1", *own, *lines, "", ""])
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(request.encode())
            answer = b""
            while b"\r\n\r\n" not in answer and (more := connection.recv(65_536)):
                answer += more
        return answer.decode("utf-8", "replace")


def filled_home(folder: Path) -> Path:
    """Return a home with two snapshots of a shop a week apart, and the audit of the newer one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRODEX_HOME", str(folder))
        records = [one.record for one in shared_products(120)]
        later = [
            {**record, "namePublicLong": None} if place < CHANGED else record
            for place, record in enumerate(records)
        ]
        for day, some in ((20, records), (27, later)):
            made = px.flatten(some).save("shop").folder
            assert made is not None
            made.rename(made.parent / f"2026-11-{day}T050102.000000Z")
        px.audit(px.open_snapshot("shop"), "online-listing").save()
    return folder


@contextmanager
def opened(
    folder: Path, home: Path, *words: str, before: Sequence[str] = (), browser: str = ""
) -> Iterator[OpenedPage]:
    """Open a page until its test ends.

    Parameters
    ----------
    folder
        Where it is started; the home of its user is in it.
    home
        Where its snapshots are.
    words, before
        What stands after `open` in the terminal, and before it.
    browser
        How the browser is started; it is not, unless given.
    """
    (folder / "user").mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    environment |= {
        "HOME": str(folder / "user"),
        "PRODEX_HOME": str(home),
        "BROWSER": browser,
        "PYTHONUNBUFFERED": "1",
    }
    options = [] if browser else ["--no-browser"]
    command = [
        sys.executable,
        "-c",
        textwrap.dedent(_STARTED),
        str(folder / "asked.txt"),
        *before,
        "open",
        *words,
        *options,
    ]
    with (folder / "aside.txt").open("w", encoding="utf-8") as aside:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=aside,
            text=True,
            encoding="utf-8",
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("http://127.0.0.1:"), (line, (folder / "aside.txt").read_text("utf-8"))
        yield OpenedPage(process, line.split()[0], folder)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=_END)
