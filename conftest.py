"""For every test, the examples in docstrings included: a home of its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test's snapshots to itself, and real credentials out of all of them."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    for name in ("PRODEX_BASE_URL", "PRODEX_CLIENT_ID", "PRODEX_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"
