"""A copy of the source for each example, which may add something to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extending.changed_source import ChangedSource


@pytest.fixture
def source(tmp_path: Path) -> ChangedSource:
    """Copy the source."""
    return ChangedSource(tmp_path)
