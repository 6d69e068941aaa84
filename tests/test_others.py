"""Folders of other people on the machine: an error of ours that names the owner, and never "there are none"."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.others import CLOSED, NOBODY

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")


@pytest.fixture(scope="module")
def said() -> dict[str, dict[str, list[str]]]:
    """Return what each call raises, by what belongs to somebody else."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.others"], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, list[str]]] = json.loads(done.stdout)
    return found


def nobody() -> str:
    """Return what the user that owns nothing is called; a container may have no name for it."""
    import pwd

    try:
        return pwd.getpwuid(NOBODY).pw_name
    except KeyError:
        return f"user {NOBODY}"


@pytest.mark.slow
@pytest.mark.parametrize("what", CLOSED)
def test_what_belongs_to_somebody_else_is_said_with_its_owner(
    what: str, said: dict[str, dict[str, list[str]]]
) -> None:
    """By every call that reads or writes it, as `StorageError`, with what to do; nothing is called missing."""
    others = f"belongs to root, and you are {nobody()}. Ask root for it (chown -R {nobody()}"
    own = "is yours, and its permissions do not let you: chmod -R u+rwX"
    expected = others if os.geteuid() == 0 else own

    # What a list, a job or a panel says of it is a sentence among others.
    strange = {
        name: raised
        for name, raised in said[what].items()
        if raised[0] != "StorageError" or expected not in raised[1].replace("&#x27;", "'")
    }

    assert {} == strange
    assert set(CLOSED[what][1]) == said[what].keys()
