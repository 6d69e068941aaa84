"""A progress bar is shown only where a person watches."""

from __future__ import annotations

import io
import sys
import types

import pytest

from prodex.progress import Reporter, in_notebook, is_watched, reporting, showing


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self):
        return True


def test_a_terminal_gets_a_bar(monkeypatch):
    """At a terminal the bar counts products up to the total."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with showing(None, "Products") as show:
        show(50, 120)
        show(120, 120)
    assert "Products: 100%" in terminal.getvalue()
    assert "120/120" in terminal.getvalue()


def test_false_silences_a_terminal(monkeypatch):
    """progress=False shows nothing even at a terminal."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with showing(False, "Products") as show:
        show(1, 2)
    assert "" == terminal.getvalue()


@pytest.mark.parametrize(("progress", "shown"), [(None, False), (True, True)])
def test_nobody_is_bothered_where_nobody_watches(monkeypatch, progress, shown):
    """In a job the bar is off unless asked for."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with showing(progress, "Products") as show:
        show(1, 2)
    assert shown == bool(stream.getvalue())


def test_a_function_gets_both_numbers():
    """A function is called with the number done and the total."""
    seen = []
    with showing(lambda done, total: seen.append((done, total)), "Products") as show:
        show(1, 2)
        show(2, 2)
    assert [(1, 2), (2, 2)] == seen


def test_a_reporter_gets_phases_and_counts():
    """Given as `progress=`, it hears each step of each phase, and what the whole call counts, before its step."""
    heard = []
    reporter = Reporter(
        lambda progress: heard.append((progress.phase, progress.done, progress.total)),
        lambda done, total: heard.append((done, total)),
    )
    with reporting(reporter, "Audited") as given:
        with given.phase("Reading", "products") as phase:
            phase.add(5)
        with given.phase("Auditing", "products", 5, counts=True) as phase:
            phase.add(2)
            phase(5, 5)
    assert [
        *(("Reading", 0, 0), ("Reading", 5, 0)),
        *(("Auditing", 0, 5), (2, 5), ("Auditing", 2, 5), (5, 5), ("Auditing", 5, 5)),
    ] == heard


def test_what_is_more_than_was_expected_is_all_of_it():
    """A total is never less than what is done; it stays unknown where it is."""
    seen = []
    with showing(lambda *counts: seen.append(counts), "Products", total=3) as phase:
        assert [[1, 2], [3, 4]] == list(phase.passing([[1, 2], [3, 4]]))
        phase(9, 0)
    assert [(2, 3), (4, 4), (9, 0)] == seen


def test_a_notebook_is_watched(monkeypatch):
    """A kernel counts as a notebook; IPython at a terminal and a process without streams do not."""
    monkeypatch.setattr(sys, "stderr", None)
    ipython = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel="kernel"))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert in_notebook()
    assert is_watched()
    ipython.get_ipython = lambda: None
    assert not in_notebook()
    assert not is_watched()
