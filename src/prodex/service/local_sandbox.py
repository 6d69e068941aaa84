"""The sandbox on this machine: find the one that is running, or start one.

The sandbox is a separate program (`python -m prodex sandbox`); nothing of it is imported here.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated, Any

import msgspec

from prodex.errors import ServiceUnreachable, SettingsError
from prodex.files.atomic import home, is_alive
from prodex.files.lock import locked
from prodex.files.untrusted import read_json
from prodex.installation import missing_extra
from prodex.limits import REPLY, LimitExceeded, Limits, Meter
from prodex.network.addresses import LONGEST_HEALTH, is_health_of_sandbox, is_loopback
from prodex.progress import Phase, in_notebook, showing, write_line
from prodex.service.secret import Secret
from prodex.service.settings import Settings

_COMMAND = (sys.executable, "-m", "prodex", "sandbox")

# Seconds. The first start takes long: it fills the store with the sample catalogue.
_START_TIME = 300
_STOP_TIME = 10
_HEALTH = Limits(seconds=10)

# How far a new store is, as the sandbox reports it.
_COUNTED = re.compile(rb"([\d,]+) of ([\d,]+) products")


def sandbox_settings(*, client_id: str | None = None, client_secret: str | Secret | None = None) -> Settings:
    """Return base URL and credentials of the running sandbox; start one if none is running.

    A sandbox that was started here ends with this process.

    Parameters
    ----------
    client_id, client_secret
        Of another organisation of the sandbox; by default its principal retailer, who sees all products.

    Raises
    ------
    MissingExtra
        When the packages that the sandbox needs are not installed.
    ServiceUnreachable
        When it does not start; the message contains its output.
    """
    if (client_id is None) != (client_secret is None):
        raise SettingsError("Give client_id and client_secret together, or neither of them for the sandbox.")
    client_secret = None if client_secret is None else Secret(client_secret)
    home = sandbox_home()
    # Two notebooks that start at the same time must share one sandbox: its store has one writer.
    with locked(home, "starting the sandbox", name="start.lock", patience=None):
        facts = running_sandbox(home) or _start(home)
    principal = facts.credentials[0]
    own = "the sandbox's own access keys"
    return Settings(
        base_url=facts.base_url,
        client_id=client_id or principal.client_id,
        client_secret=client_secret or principal.client_secret,
        sources={
            "base_url": f"the sandbox in {home}",
            "client_id": "an argument" if client_id else own,
            "client_secret": "an argument" if client_secret else own,
        },
    )


def require_sandbox() -> None:
    """Raise a `MissingExtra` where the packages that the sandbox needs are not installed."""
    for package in ("starlette", "uvicorn"):
        if importlib.util.find_spec(package) is None:
            raise missing_extra("The sandbox", package, "sandbox")


def sandbox_home() -> Path:
    """Return the folder of the sandbox's store: under `PRODEX_HOME`, else the platform's data folder."""
    return home() / "sandbox"


class _AccessKey(msgspec.Struct):
    client_id: str
    client_secret: str


class RunningSandbox(msgspec.Struct):
    """What a running sandbox writes of itself (`server.json`), as far as it is needed here."""

    base_url: str
    pid: Annotated[int, msgspec.Meta(gt=0, lt=2**31)]
    credentials: Annotated[list[_AccessKey], msgspec.Meta(min_length=1)]


def running_sandbox(home: Path) -> RunningSandbox | None:
    """Return base URL, process and credentials of the sandbox of this folder, or None if none is running."""
    try:
        facts = read_json(home / "server.json", RunningSandbox)
        # A sandbox that was killed leaves its file, and its process id and port may belong to others now.
        if not is_loopback(facts.base_url) or not is_alive(facts.pid):
            return None
        return facts if _is_sandbox(facts.base_url) else None
    except (OSError, ValueError, OverflowError):
        return None


def _is_sandbox(base_url: str) -> bool:
    """Whether the server at a base URL answers soon that it is a sandbox."""
    from urllib3.exceptions import HTTPError

    from prodex.network.http_adapter import LimitedAdapter, LimitedCall

    adapter, call = LimitedAdapter(), LimitedCall(Meter(_HEALTH, REPLY, "connect"))
    try:
        with closing(adapter), adapter.get(f"{base_url}/health", call, timeout=(10, 10)) as reply:
            return is_health_of_sandbox(reply.read(LONGEST_HEALTH))
    except (OSError, HTTPError, LimitExceeded):
        return False


def _start(home: Path) -> RunningSandbox:
    require_sandbox()
    with tempfile.TemporaryDirectory(prefix="prodex-", ignore_cleanup_errors=True) as folder:
        ready, progress, output = (Path(folder, name) for name in ("ready.json", "progress", "stderr.txt"))
        options = ["--home", str(home), "--ready", str(ready), "--progress", str(progress)]
        options += ["--stop-with", str(os.getpid())]
        # Ctrl-C in a notebook stops the cell, not the sandbox. Windows has no sessions for it.
        apart: dict[str, Any] = (
            {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined,unused-ignore]
            if os.name == "nt"
            else {"start_new_session": True}
        )
        with output.open("wb") as stderr:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [*_COMMAND, *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                **apart,
            )
        atexit.register(_stop, process)
        facts = _await(process, ready, progress)
        if facts is None:
            _stop(process)
            raise ServiceUnreachable(
                f"The sandbox did not start. Try `{' '.join(_COMMAND[1:])}` in a terminal. Its output: "
                f"{output.read_text('utf-8', 'replace').strip()[-2000:] or 'nothing'}"
            )
    end = "this kernel" if in_notebook() else "this program"
    write_line(
        None,
        f"Started the sandbox at {facts.base_url}; it stops with {end}. "
        "To keep one running, start `prodex sandbox` in a terminal.",
    )
    return facts


def _await(process: subprocess.Popen[bytes], ready: Path, progress: Path) -> RunningSandbox | None:
    """Wait until the sandbox writes that it is ready; None if it ends or takes too long."""
    begin = time.monotonic()
    with ExitStack() as bar:
        phase: Phase | None = None
        while time.monotonic() - begin < _START_TIME:
            if ready.exists():
                if phase is not None:
                    phase(phase.total, phase.total)
                return read_json(ready, RunningSandbox)
            if process.poll() is not None:
                return None
            if progress.exists() and (counted := _COUNTED.search(progress.read_bytes())):
                # Only a new store takes so long that there is something to show.
                phase = phase or bar.enter_context(showing(None, "Making the sample catalogue"))
                phase(*(int(number.replace(b",", b"")) for number in counted.groups()))
            time.sleep(0.05)
    return None


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_STOP_TIME)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
