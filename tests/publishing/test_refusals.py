"""What is of others, newer, removed or edited is refused with what to do, and stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

import prodex
from prodex.errors import (
    InputError,
    OtherLayout,
    PublicationRefused,
    SettingsError,
    SnapshotDamaged,
    StorageError,
)
from prodex.publishing.destination import place_of
from tests.cases import each_row
from tests.publishing.snapshots import published_to, same, shop
from tests.publishing.test_publish import files_of


@each_row("inside", ["", "_snapshots", "texts"])
def test_a_delta_table_of_another_program_is_left_alone(inside: str, tmp_path: Path) -> None:
    """Be it the place itself, the pointer, or one of the tables."""
    write_deltalake(tmp_path / inside, pa.table({"a": [1]}))
    before = files_of(tmp_path)

    with pytest.raises(PublicationRefused, match=r"another program.*place of its own"):
        prodex.publish(shop(), tmp_path)
    assert before == files_of(tmp_path)
    if inside == "_snapshots":
        with pytest.raises(PublicationRefused, match="another program"):
            prodex.open_published(tmp_path)


def test_another_name_is_not_mixed_in(tmp_path: Path) -> None:
    """A place has the publications of one name."""
    catalog = shop()
    prodex.publish(catalog, tmp_path)
    before = files_of(tmp_path)

    with pytest.raises(PublicationRefused, match="'shop', not of 'other'"):
        prodex.publish(shop(name="other"), tmp_path)
    assert before == files_of(tmp_path)
    assert same(catalog, prodex.open_published(tmp_path))


@pytest.mark.parametrize("table", ["_snapshots", "texts"])
def test_what_a_newer_version_wrote_is_left_alone(table: str, tmp_path: Path) -> None:
    """Neither added to nor read; the message says to update."""
    prodex.publish(shop(), tmp_path)
    log = tmp_path / table / "_delta_log" / f"{0:020d}.json"
    log.write_text(log.read_text().replace("prodex, format 2,", "prodex, format 3,"))
    before = files_of(tmp_path)

    with pytest.raises(OtherLayout, match="Update prodex"):
        prodex.publish(shop("Riz long"), tmp_path)
    assert before == files_of(tmp_path)
    if table == "_snapshots":
        with pytest.raises(OtherLayout, match="Update prodex"):
            prodex.open_published(tmp_path)


def test_a_protocol_of_a_newer_delta_is_refused(tmp_path: Path) -> None:
    """A table that asks for a reader that there is not yet."""
    prodex.publish(shop(), tmp_path)
    log = tmp_path / "_snapshots" / "_delta_log" / f"{0:020d}.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "protocol" in line:
            line["protocol"] = {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": ["ofTheFuture"],
                "writerFeatures": ["ofTheFuture"],
            }
    log.write_text("\n".join(map(json.dumps, lines)))

    with pytest.raises(PublicationRefused, match="Update both"):
        prodex.open_published(tmp_path)


@pytest.mark.slow
def test_a_version_that_is_removed_under_a_reader_is_said(tmp_path: Path) -> None:
    """A vacuum removes files of earlier publications: their readers are told, and the newest is whole."""
    old = shop()
    prodex.publish(old, tmp_path)
    reader = prodex.open_published(tmp_path)
    assert 3 == len(reader.texts)
    new = shop("Riz long")
    prodex.publish(new, tmp_path)
    removed = DeltaTable(tmp_path / "texts").vacuum(0, dry_run=False, enforce_retention_duration=False)

    assert 1 == len(removed)
    with pytest.raises(SnapshotDamaged, match=r"vacuum.*Publish the snapshot again"):
        reader.texts  # noqa: B018 - reading it is the test
    with pytest.raises(SnapshotDamaged, match="vacuum"):
        prodex.open_published(tmp_path, at=1)
    assert same(new, prodex.open_published(tmp_path))
    prodex.publish(old, tmp_path, older=True)
    assert same(old, prodex.open_published(tmp_path, at=1))
    assert 3 == len(reader.texts)


def test_files_and_versions_that_were_deleted_are_published_again(tmp_path: Path) -> None:
    """Publishing the same snapshot brings back what is missing, be it a file or the log of a table."""
    catalog = shop()
    first = prodex.publish(catalog, tmp_path)
    prodex.open_published(tmp_path).files("codes")[0].unlink()

    again = prodex.publish(catalog, tmp_path)
    assert (1, 1) == (again.number, again.uploaded)
    assert same(catalog, prodex.open_published(tmp_path))

    for log in (tmp_path / "texts" / "_delta_log").glob("*.json"):
        log.unlink()
    healed = prodex.publish(catalog, tmp_path)
    assert 3 == DeltaTable(tmp_path / "texts", version=healed.versions["texts"]).to_pyarrow_table().num_rows
    assert first.number <= healed.number


def pointer_file(place: Path) -> Path:
    """Return the file that holds the row of the only publication."""
    (path,) = (place / "_snapshots").glob("*.parquet")
    return path


def edit(**values: object) -> Callable[[Path], None]:
    """Change columns of the pointer's row, as somebody else might."""

    def edited(place: Path) -> None:
        path = pointer_file(place)
        table = pq.read_table(path)
        for name, value in values.items():
            number = table.column_names.index(name)
            table = table.set_column(
                number, table.schema.field(name), [pa.array([value], table.schema.field(name).type)]
            )
        pq.write_table(table, path)
        log = place / "_snapshots" / "_delta_log" / f"{0:020d}.json"
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        for line in lines:
            if "add" in line:
                line["add"] |= {"size": path.stat().st_size, "stats": None}
        log.write_text("\n".join(map(json.dumps, lines)))

    return edited


def elsewhere(place: Path) -> None:
    """Have the log name a file outside of the table."""
    log = place / "_snapshots" / "_delta_log" / f"{0:020d}.json"
    path = pointer_file(place)
    path.rename(place / "outside.parquet")
    log.write_text(log.read_text().replace(path.name, "../outside.parquet"))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut file": lambda place: pointer_file(place).write_bytes(b"PAR1 no"),
    "no file": lambda place: pointer_file(place).unlink(),
    "a file elsewhere": elsewhere,
    "no log": lambda place: (place / "_snapshots" / "_delta_log" / f"{0:020d}.json").write_text("{"),
    "paths in parts": edit(parts='[{"number": 0, "products": 1, "files": {"../../etc": {}}}]'),
    "digests that are paths": edit(
        parts='[{"number":0,"products":3,"files":{"products":{"rows":3,"bytes":1,"sha256":"../../../etc/passwd"}}}]'
    ),
    "no JSON": edit(parts="no"),
    "another count": edit(products=5),
    "no origin": edit(origin="[]"),
    "versions of nothing": edit(versions="{}"),
    "negative number": edit(publication=-1),
    "null": edit(name=None),
}


@pytest.mark.slow
@each_row("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_pointer_that_is_not_as_it_was_written_is_refused(
    damage: Callable[[Path], object], tmp_path: Path
) -> None:
    """It comes from others: nothing of it becomes a path or an exception of Python."""
    published_to(tmp_path)
    damage(tmp_path)

    with pytest.raises(SnapshotDamaged, match="cannot be read"):
        prodex.open_published(tmp_path)


def test_links_in_a_publication_are_not_followed(tmp_path: Path) -> None:
    """They could lead to any file of the reader."""
    prodex.publish(shop(), tmp_path)
    path = prodex.open_published(tmp_path).files("texts")[0]
    elsewhere = tmp_path.with_name("elsewhere.parquet")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)

    with pytest.raises(SnapshotDamaged, match="link"):
        prodex.open_published(tmp_path)


def test_a_file_that_was_exchanged_is_refused(tmp_path: Path) -> None:
    """Its digest is in the pointer."""
    prodex.publish(shop(), tmp_path)
    opened = prodex.open_published(tmp_path)
    one, other = opened.files("texts")[:2]
    one.replace(other)

    with pytest.raises(SnapshotDamaged):
        prodex.open_published(tmp_path).texts  # noqa: B018 - reading it is the test


@each_row(
    "uri",
    [
        "s3://key:secret-word@bucket/x",
        "s3://secret-word@bucket/x",
        "az://c/x?sig=secret-word",
        "s3://[secret-word/x",
    ],
)
def test_credentials_in_an_address_are_refused_without_showing_them(uri: str) -> None:
    """An address is shown in reprs, in logs and in tables."""
    with pytest.raises(SettingsError) as refused:
        prodex.open_published(uri)

    assert "secret-word" not in str(refused.value)


@each_row(
    "uri", ["gs://bucket/shop/", "abfss://container@account.dfs.core.windows.net/shop", "az://container/shop"]
)
def test_addresses_of_other_stores_and_their_options_are_passed_on(uri: str) -> None:
    """As they are given; the options are in no repr."""
    place = place_of(uri, {"azure_storage_account_key": "secret-word"})

    assert (uri.rstrip("/"), None) == (place.address, place.folder)
    assert "secret-word" == place.storage_options["azure_storage_account_key"]
    assert f"{uri.rstrip('/')}/texts" == place.at("texts")
    assert "secret-word" not in repr(place)


def test_what_a_store_says_is_shown_without_its_signatures_and_its_markup() -> None:
    """Azure has credentials in the addresses of its requests, and S3 quotes them in its replies."""
    place = place_of("az://container/shop", {"azure_storage_sas_key": "sv=1&sig=secret-word"})
    said = (
        "Error performing GET https://a.blob.core.windows.net/c/x?sv=1&sig=secret-word in 4ms - 403 Forbidden\n"
        "<Error><Code>AccessDenied</Code><StringToSign>secret-word</StringToSign></Error>"
    )
    shown = str(place.refusal("read", OSError(said)))

    assert "GET https://a.blob.core.windows.net/c/x in 4ms - 403 Forbidden (AccessDenied)." in shown
    assert "You may not read there." in shown
    assert "secret-word" not in shown


def test_an_address_of_a_file_is_a_folder(tmp_path: Path) -> None:
    """As other programs write it."""
    prodex.publish(shop(), f"file://{tmp_path}")

    assert same(shop(), prodex.open_published(tmp_path))


@each_row(
    ("uri", "message"),
    [
        ("file://team/shop", "has three slashes and a whole path"),
        ("file:///team/shop#2", "%23 for #"),
        ("file:/team/shop", "is an address"),
        (Path("s3://bucket/shop"), "as text with two slashes"),
        ("~nobody-here/shop", "a user whom this machine does not have"),
    ],
)
def test_a_folder_that_was_not_meant_is_not_published_to(uri: str | Path, message: str) -> None:
    """An address that lost a slash, or a part of it, is the name of another folder."""
    with pytest.raises(InputError, match=message):
        prodex.publish(shop(), uri)


def test_options_that_are_no_texts_are_refused_without_showing_them(tmp_path: Path) -> None:
    """A value may be a credential."""
    with pytest.raises(InputError) as refused:
        prodex.open_published("s3://bucket/x", storage_options={"aws_secret_access_key": ["secret-word"]})  # type: ignore[dict-item]

    assert "secret-word" not in str(refused.value)


def test_an_address_that_nobody_understands_is_refused() -> None:
    """With the ones that there are."""
    with pytest.raises(StorageError, match="Known schemes"):
        prodex.open_published("nonsense://bucket/x")
