"""What all tests share: where files lie, a sandbox that is filled once, a client of it, a browser, a JupyterLab."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer.main
import typer.testing

import prodex
from prodex.sandbox import Sandbox
from prodex_sandbox.sample import shared_products

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.notebook.lab import Lab

#: Files in memory, and how many bytes must be free there for all tests.
_IN_MEMORY, _ENOUGH = Path("/dev/shm"), 6 * 2**30


def pytest_configure() -> None:
    """Keep temporary files in memory where the system has room for them.

    Everything that prodex keeps is flushed to the disk. Thousands of small snapshots would spend most of their time
    waiting for it, and what is flushed is read back in the same way from memory.
    """
    if "TMPDIR" not in os.environ and _IN_MEMORY.is_dir() and shutil.disk_usage(_IN_MEMORY).free > _ENOUGH:
        os.environ["TMPDIR"] = str(_IN_MEMORY)  # for the processes that tests start as well
        tempfile.tempdir = None  # chosen anew


@pytest.fixture(scope="session", autouse=True)
def _commands_are_built_once() -> Iterator[None]:
    """Build the commands once for all tests: for each call Typer builds all of them, which takes longer than many."""
    built = cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", built)
        patch.setattr(typer.testing, "_get_command", built)
        yield


@pytest.fixture(scope="session")
def sample() -> prodex.Catalog:
    """Hold 400 products of the sample, as the retailer sees them that sees all."""
    return prodex.flatten(product.record for product in shared_products(400))


@pytest.fixture(scope="session")
def sample_exchange() -> Iterator[Sandbox]:
    """Serve 600 products of the sample."""
    with Sandbox(products=shared_products(600)) as sandbox:
        yield sandbox


@pytest.fixture
def service(sample_exchange: Sandbox) -> prodex.service.Client:
    """Reach them as the retailer that sees all."""
    key = sample_exchange.credentials[0]
    return prodex.connect(
        base_url=sample_exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Give one browser to all that look through one: its driver cannot run twice in a process."""
    from tests.notebook.lab import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Serve notebooks; their kernels have a PRODEX_HOME of their own, `lab.home`."""
    from tests.notebook.lab import serving

    with serving(tmp_path_factory.mktemp("lab")) as lab:
        yield lab
