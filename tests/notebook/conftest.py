"""What the tests of widgets share: one JupyterLab and one browser for those that need them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from .lab import Lab, chromium, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Serve notebooks; their kernels have a PRODEX_HOME of their own, `lab.home`."""
    with serving(tmp_path_factory.mktemp("lab")) as lab:
        yield lab
