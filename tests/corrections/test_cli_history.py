"""`prodex history` and `prodex overridden`: what they print, and what they write."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pandas as pd
import pytest
from typer.testing import CliRunner

import prodex
from prodex.cli import app
from tests.corrections.machines import Machines, machines, names
from tests.send.mill_exchange import gtin


@pytest.fixture
def mill() -> Iterator[Machines]:
    """Give a manufacturer at this machine and at another one."""
    with machines() as found:
        yield found


def run(*words: str) -> tuple[str, str]:
    """Run a command; return what it printed, and its notes."""
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert 0 == done.exit_code, done.output
    return done.stdout, done.stderr


@pytest.mark.slow
def test_the_terminal_shows_what_was_changed(mill: Machines) -> None:
    """What never changed is counted, and listed on request; a long text is cut with a sign."""
    mill.load()
    mill.here(namePublicLong=names("Corrigé"))
    mill.elsewhere(description=names("Zutaten " * 20))
    mill.load()

    out, notes = run("history", gtin(1).lstrip("0"))
    assert "Corrigé" in out
    assert "Name 1 de" not in out
    assert "… (160 characters)" in out
    assert "2 snapshots of mine were looked at." in notes
    assert "never changed; --all lists them." in notes
    assert "Name 1 de" in run("history", gtin(1), "--all", "--snapshot", "mine")[0]


def test_csv_has_everything(mill: Machines) -> None:
    """All columns and rows, as in Python."""
    mill.load()
    out, _ = run("history", gtin(1), "--format", "csv", "--attribute", "namePublicLong")

    found = pd.read_csv(io.StringIO(out), dtype=str)
    assert prodex.history(gtin(1)).columns.tolist() == found.columns.tolist()
    assert {"Name 1 fr", "Name 1 en", "Name 1 de"} == set(found["value"])


@pytest.mark.slow
def test_what_was_overridden_is_listed(mill: Machines) -> None:
    """With what was sent and what is there."""
    mill.here(lifeCycle=5)
    mill.load()
    assert "Nothing that was sent from here is known to be overridden." in run("overridden", "mine")[0]
    mill.elsewhere(lifeCycle=9)
    mill.load()

    out, _ = run("overridden", "mine")
    assert all(word in out for word in (gtin(1), "lifeCycle", "max", "spelling", "mine@"))
    assert "5" in run("overridden", "mine", "--format", "json")[0]
