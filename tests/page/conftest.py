"""A home with snapshots, made once for all tests of the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from .opened import filled_home


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold two snapshots of a shop, and an audit."""
    return filled_home(tmp_path_factory.mktemp("page") / "home")
