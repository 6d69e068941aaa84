"""An S3 server for all tests of publishing, with a bucket of its own for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.publishing.s3 import Store, serving


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Store]:
    """Serve one bucket."""
    with serving() as store:
        yield store


@pytest.fixture
def s3(s3_server: Store) -> Iterator[Store]:
    """Give it empty, and take back what a test refused."""
    yield s3_server
    s3_server.refuse(float("inf"))
    for key in s3_server.names():
        s3_server.delete(key)
