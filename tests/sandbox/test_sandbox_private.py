"""What the sandbox keeps is its owner's alone: the store with keys and secrets, and the word of where it answers."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_exchange import MILL, SHOP
from writer import Writer

from prodex.sandbox import Sandbox
from prodex_sandbox.records.model import SharedProduct, View
from prodex_sandbox.records.store import StoreUnusable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes of files are those of POSIX")

PRODUCTS = [SharedProduct({"id": 1, "gtin": "03036811359935"}, MILL.id, (View(SHOP.id),))]


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=["umask 000", "umask 022", "umask 777"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Have files made open to all, as usual, or to nobody at all unless they say otherwise."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


def modes(folder: Path) -> dict[str, str]:
    """Return the modes of a folder and of all that is in it."""
    return {".": mode(folder)} | {path.name: mode(path) for path in folder.iterdir()}


def wanted(folder: Path) -> dict[str, str]:
    return {".": oct(0o700)} | {path.name: oct(0o600) for path in folder.iterdir()}


@pytest.mark.usefixtures("umask")
def test_a_new_home_is_its_owners_alone(tmp_path: Path) -> None:
    """Folder, store, what SQLite keeps beside it, and lock are 0600 in 0700 while it runs and afterwards."""
    home = tmp_path / "home"
    with (
        Sandbox(PRODUCTS, home=home, organizations=[SHOP, MILL], labels={}) as sandbox,
        Writer(sandbox.base_url, MILL).log_in().session as session,
    ):
        Writer(sandbox.base_url, MILL, session).send({"data": [{"gtin": "03036811359935"}]})
        assert {"store.sqlite", "store.sqlite-wal", "store.sqlite-shm", "lock"} <= modes(home).keys()
        assert wanted(home) == modes(home)
    assert wanted(home) == modes(home)


def test_a_home_that_stood_open_is_closed_at_the_start(tmp_path: Path) -> None:
    """A home of an earlier version, open to all, is its owner's alone once the sandbox has started."""
    home = tmp_path / "home"
    with Sandbox(PRODUCTS, home=home, organizations=[SHOP, MILL], labels={}):
        pass
    left_by_a_crash = sqlite3.connect(home / "store.sqlite")
    left_by_a_crash.execute("UPDATE settings SET value = value")
    (home / "server.json").write_text("{}")
    for path in [home, *home.iterdir()]:
        path.chmod(0o777 if path == home else 0o666)
    with Sandbox(home=home, organizations=[], labels={}) as sandbox:
        assert wanted(home) == modes(home)
        assert "shop" == sandbox.credentials[0]["client_id"]
    left_by_a_crash.close()


@pytest.mark.slow
def test_the_word_of_where_it_answers_is_private(tmp_path: Path) -> None:
    """server.json and the ready file hold access keys: nobody else reads them, whatever their mode was before."""
    home, ready = tmp_path / "home", tmp_path / "ready.json"
    ready.write_text("old")
    ready.chmod(0o666)
    (tmp_path / "products.json").write_text('[{"gtin": "1"}]')
    program = (
        "import os, sys; os.umask(0); from prodex_sandbox.command import main; sys.exit(main(sys.argv[1:]))"
    )
    options = ["--home", str(home), "--ready", str(ready), "--products", str(tmp_path / "products.json")]
    with subprocess.Popen(
        [sys.executable, "-c", program, *options], stdout=subprocess.PIPE, text=True
    ) as started:
        try:
            assert started.stdout is not None
            assert '"client_secret"' in started.stdout.readline()
            assert "client_secret" in ready.read_text()
            assert oct(0o600) == mode(ready)
            assert oct(0o600) == mode(home / "server.json")
            assert wanted(home) == modes(home)
        finally:
            started.kill()


def test_a_folder_that_others_share_is_left_open(tmp_path: Path) -> None:
    """A folder such as /tmp, in which everybody writes, stays open to them; what is put into it is private."""
    home = tmp_path / "shared"
    home.mkdir()
    home.chmod(0o1777)
    with Sandbox(PRODUCTS, home=home, organizations=[SHOP, MILL], labels={}):
        assert modes(home) == wanted(home) | {".": oct(0o1777)}


def test_a_file_that_is_no_store_is_refused_and_kept(tmp_path: Path) -> None:
    """A file in place of the store that is no store is left as it is."""
    (tmp_path / "store.sqlite").write_bytes(b"mine")
    with pytest.raises(StoreUnusable, match="is not a store"):
        Sandbox([], home=tmp_path, organizations=[SHOP], labels={}).__enter__()
    assert b"mine" == (tmp_path / "store.sqlite").read_bytes()
