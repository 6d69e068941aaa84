"""What somebody at a terminal sees of a sandbox: how far its products are, where it answers, how to stop it."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from prodex.sandbox import Sandbox
from prodex_sandbox import terminal
from prodex_sandbox.terminal import announce, with_progress


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture
def _each_product_takes_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock go on whenever it is looked at."""
    seconds = count()
    # Of its own: other threads of this process have their clock.
    monkeypatch.setattr(terminal, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))


@pytest.mark.usefixtures("_each_product_takes_a_second")
def test_a_file_gets_one_line_however_long_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    """Products come unchanged, and all are counted."""
    assert ["a", "b"] == list(with_progress("ab", 12_000, "making the sample catalogue"))
    assert list(range(500)) == list(with_progress(range(500), None, "reading the files"))

    assert [
        "prodex sandbox: making the sample catalogue: 2 products in 3 s",
        "prodex sandbox: reading the files: 500 products in 501 s",
    ] == capsys.readouterr().err.splitlines()


@pytest.mark.usefixtures("_each_product_takes_a_second")
def test_a_program_that_waits_reads_how_far_it_is(tmp_path: Path) -> None:
    """A number that is not known beforehand is not shown."""
    said = []
    for total in (12_000, None):
        for _ in with_progress("ab", total, "reading the files", tmp_path / "progress"):
            said.append((tmp_path / "progress").read_text("utf-8"))

    assert [
        "0 of 12,000 products",
        "1 of 12,000 products",
        "0 products",
        "1 products",
    ] == said


@pytest.mark.usefixtures("_each_product_takes_a_second")
def test_a_terminal_gets_one_line_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written again and again, and then what follows is written over it."""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    list(with_progress("ab", 2, "making the sample catalogue"))

    assert "\n" not in screen.getvalue()
    assert "" == screen.getvalue().split("\r")[-1]
    assert screen.getvalue().split("\r")[-2].isspace()


def test_what_takes_no_time_is_not_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody can read it."""
    list(with_progress(range(100), 100, "making the sample catalogue"))
    assert "" == capsys.readouterr().err


def test_the_announcement_is_in_words_on_a_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Text of others that is in it moves no cursor."""
    key = {"client_id": "shop", "client_secret": "invented", "organization": "Shop \x1b[2J"}
    server = {"base_url": "http://127.0.0.1:8080", "products": 12_000, "credentials": [key]}
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    announce(server, tmp_path, is_default=False)

    for words in (
        "http://127.0.0.1:8080/docs",
        "12,000 products",
        "shop, secret invented",
        "Stop it with Ctrl-C",
    ):
        assert words in screen.getvalue(), words
    assert "\x1b" not in screen.getvalue()
    assert "prodex.connect" not in screen.getvalue()  # it looks in another folder
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    announce(server, tmp_path / "sandbox", is_default=True)
    assert 'prodex.connect("sandbox")' in screen.getvalue()


def test_a_program_gets_one_line_of_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As ever, with all access keys."""
    server = {"base_url": "http://127.0.0.1:8080", "products": 1, "credentials": [{"client_id": "shop"}]}
    announce(server, tmp_path, is_default=False)
    assert server == json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_ctrl_c_stops_what_a_real_terminal_shows(tmp_path: Path) -> None:
    """A process with a terminal of its own, told to stop by the key that it names."""
    with Sandbox([{"id": 1, "gtin": "03036811359935"}], home=tmp_path):
        pass
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "prodex", "sandbox", "--home", str(tmp_path)]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        said = b""
        while b"Ctrl-C" not in said:
            said += os.read(ours, 1000)
        process.send_signal(2)
        assert 0 == process.wait(30)
    os.close(ours)

    assert b"with 1 product." in said
    assert b"{" not in said
