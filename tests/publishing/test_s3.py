"""An object store: what is published there opens elsewhere, nothing is fetched twice, and no credential is shown."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import pytest
from deltalake import DeltaTable

import prodex
from prodex.errors import ProdexError, PublicationConflict, SnapshotDamaged, StorageError
from tests.publishing.s3 import SECRETS, URI, Store
from tests.publishing.snapshots import product, same, shop
from tests.publishing.test_publish import rows_of


@pytest.fixture(autouse=True)
def no_other_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have some of their own."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)


def fetched(home: Path) -> set[str]:
    """Return the files that were fetched."""
    return {path.name for path in (home / "published").glob("*") if path.is_file()}


@pytest.mark.slow
def test_what_is_published_to_an_object_store_opens_elsewhere(s3: Store, home: Path) -> None:
    """With all tables; each file is fetched when it is first needed, once; workers fetch what their parts need."""
    catalog = shop()
    s3.empty()
    published = prodex.publish(catalog, URI, storage_options=s3.options)
    opened = prodex.open_published(URI, storage_options=s3.options)

    assert set() == fetched(home)
    assert 3 == len(opened.texts)
    assert 2 == len(fetched(home))
    shutil.rmtree(home / "published")
    travelled = pickle.loads(pickle.dumps(opened.parts))
    assert catalog.equals(prodex.Catalog(travelled, opened.origin))
    options, version = s3.options, published.versions["texts"]
    read = DeltaTable(f"{URI}/texts", version=version, storage_options=options).to_pyarrow_table()
    assert rows_of(catalog.arrow("texts")) == rows_of(read)
    # No credential is in a repr, or in what was published.
    shown = repr(published) + repr(opened) + repr(opened.parts[0]) + repr(opened.parts[0].files)
    stored = b"".join(s3.objects().values()) + "".join(s3.names()).encode() + shown.encode()
    assert [] == [secret for secret in SECRETS if secret.encode() in stored]
    # What was fetched is read from there, whatever becomes of the store.
    for key in s3.names():
        s3.delete(key)
    assert same(catalog, opened)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["team%20shop", "team shop", "a%2Fb"])
def test_an_address_may_have_percent_signs(s3: Store, home: Path, name: str) -> None:
    """What is written there is read there, also by a second publication."""
    s3.empty()
    uri = f"s3://bucket/{name}"
    catalog = prodex.flatten([product(1), product(2)]).save("shop")
    prodex.publish(catalog, uri, storage_options=s3.options)
    other = catalog.where(product_id="1").save("shop")
    assert same(catalog, prodex.open_published(uri, storage_options=s3.options))
    prodex.publish(other, uri, storage_options=s3.options)
    assert 1 == len(prodex.open_published(uri, storage_options=s3.options))


@pytest.mark.slow
def test_only_what_changed_is_uploaded(s3: Store) -> None:
    """And nothing at all where nothing has changed."""
    old = shop()
    before = s3.objects()
    assert 0 == prodex.publish(old, URI, storage_options=s3.options).uploaded
    assert before == s3.objects()
    new = shop("Riz long")
    second = prodex.publish(new, URI, storage_options=s3.options)

    assert (2, 2) == (second.number, second.uploaded)
    assert before.items() <= s3.objects().items()
    assert same(new, prodex.open_published(URI, storage_options=s3.options))
    assert same(old, prodex.open_published(URI, at=1, storage_options=s3.options))


@pytest.mark.slow
def test_a_second_publisher_is_told(s3: Store) -> None:
    """The store itself decides who was first."""
    mine, others = shop("Riz mine"), shop("Riz of others")
    done: list[int] = []

    def another(_: int, __: int) -> None:
        if not done:
            done.append(1)
            prodex.publish(others, URI, storage_options=s3.options)

    with pytest.raises(PublicationConflict):
        prodex.publish(mine, URI, storage_options=s3.options, progress=another)
    assert same(others, prodex.open_published(URI, storage_options=s3.options))


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 60])
def test_without_rights_it_is_said_without_credentials(after: int, s3: Store) -> None:
    """From the first request on, among the first reads, or in the middle of writing; what was published is whole."""
    old = shop()
    new = shop("Riz long")
    s3.refuse(after)
    with pytest.raises(StorageError, match="You may not") as unwritten:
        prodex.publish(new, URI, storage_options=s3.options)
    s3.refuse(0)
    with pytest.raises(StorageError, match="You may not read there") as unread:
        prodex.open_published(URI, storage_options=s3.options)
    s3.refuse(float("inf"))

    for error in (unwritten, unread):
        shown = str(error.value) + str(error.getrepr(chain=True, showlocals=False))
        assert [] == [secret for secret in SECRETS if secret in shown]
    assert same(old, prodex.open_published(URI, storage_options=s3.options))


def test_a_store_that_is_not_there_is_said() -> None:
    """Within seconds, and without credentials."""
    options = {**Store("http://127.0.0.1:9").options, "max_retries": "0"}
    with pytest.raises(StorageError, match="Check the address") as refused:
        prodex.open_published(URI, storage_options=options)

    assert [] == [secret for secret in SECRETS if secret in str(refused.value)]


def test_a_file_that_was_removed_or_exchanged_is_said(s3: Store) -> None:
    """When it is needed; nothing of another content is kept."""
    keys = sorted(key for key in s3.names() if "/texts/part-" in key)
    s3.delete(keys[0])
    content = bytearray(s3.objects()[keys[1]])
    content[40] ^= 1
    s3.write(keys[1], bytes(content))
    opened = prodex.open_published(URI, storage_options=s3.options)
    problems = []
    for part in opened.parts:
        try:
            part.read("texts")
        except SnapshotDamaged as error:
            problems.append(str(error))

    assert 2 == len(problems)
    assert 1 == sum("were removed" in problem for problem in problems)
    assert 1 == sum("its digest differs" in problem for problem in problems)
    assert all("Publish the snapshot again" in problem for problem in problems)


@pytest.mark.slow
def test_credentials_of_the_environment_are_used_and_not_shown(
    s3: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As every program for object stores does."""
    for name, value in s3.options.items():
        monkeypatch.setenv(name.upper(), value)
    catalog = shop("Riz long")

    assert 2 == prodex.publish(catalog, URI).number
    assert same(catalog, prodex.open_published(URI))
    s3.refuse(0)
    with pytest.raises(ProdexError) as refused:
        prodex.open_published(URI)
    assert [] == [secret for secret in SECRETS if secret in str(refused.value)]
