"""An S3 server for all tests of publishing; each finds it empty, or with one publication."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import prodex
from tests.publishing.s3 import URI, Store, serving
from tests.publishing.snapshots import shop


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Store]:
    """Serve one bucket."""
    with serving() as store:
        yield store


@pytest.fixture(scope="session")
def first_publication(s3_server: Store) -> dict[str, bytes]:
    """Publish once for all tests, and return what is stored then."""
    prodex.publish(shop(), URI, storage_options=s3_server.options)
    stored = s3_server.objects()
    s3_server.empty()
    return stored


@pytest.fixture
def s3(first_publication: dict[str, bytes], s3_server: Store) -> Iterator[Store]:
    """Give the server with one publication, and take back what a test refused."""
    for name, content in first_publication.items():
        s3_server.write(name, content)
    yield s3_server
    s3_server.refuse(float("inf"))
    s3_server.empty()
