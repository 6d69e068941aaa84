"""Law: of a file of ours every flipped bit is an error, or makes no difference; nothing is read as other data."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import prodex
from prodex.errors import QueryError, SnapshotDamaged
from prodex.files import parquet
from prodex_sandbox.sample import shared_products
from tests.cases import each_row

#: A small file of few rows is mostly footer and page headers, where checksums of pages do not reach.
TABLES = ("products", "texts", "quantities", "tags", "raw")


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    """A few products of the sample."""
    return [shared.record for shared in shared_products(12)]


def flips(content: bytes, count: int, seed: int) -> list[int]:
    """Choose bits: half of them anywhere, half in the footer, with its length and the magic words."""
    chance = Random(seed)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    bits = [*range(32), *range(8 * len(content) - 64, 8 * len(content))]
    bits += [chance.randrange(8 * len(content)) for _ in range(count // 2)]
    return bits + [chance.randrange(8 * footer, 8 * len(content)) for _ in range(count // 2)]


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_no_flipped_bit_of_a_snapshot_is_read_as_other_data(
    table: str, records: list[dict[str, Any]]
) -> None:
    """In pages, headers and footer."""
    catalog = prodex.flatten(records).save("shop")
    assert catalog.folder is not None
    (path,) = catalog.files(table)
    content, expected = path.read_bytes(), catalog.arrow(table)
    seen: Counter[str] = Counter()
    for bit in flips(content, 120, seed=len(table)):
        path.write_bytes(flipped(content, bit))
        part = prodex.open_snapshot("shop").parts[0]
        try:
            rows, columns, found = part.rows(table), part.columns(table), part.read(table)
        except SnapshotDamaged:
            seen["refused"] += 1
            continue
        assert (len(expected), expected.column_names) == (rows, columns)
        assert expected.equals(found)
        seen["the same"] += 1
    assert seen["refused"] > seen.total() / 2  # a magic word at the beginning, unused statistics: no data


def test_a_manifest_without_the_digest_of_a_footer_is_refused(records: list[dict[str, Any]]) -> None:
    """Nobody would notice a column that was given another name."""
    folder = prodex.flatten(records).save("shop").folder
    assert folder is not None
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    del manifest["parts"][0]["files"]["texts"]["footer"]
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")

    with pytest.raises(SnapshotDamaged, match="footer"):
        prodex.open_snapshot("shop")


def test_whatever_is_read_of_a_damaged_page_is_refused(records: list[dict[str, Any]]) -> None:
    """A column, a condition, a piece, a frame, SQL: all go the way that verifies."""
    catalog = prodex.flatten(records).save("shop")
    (path,) = catalog.files("texts")
    column = pq.read_metadata(path).row_group(0).column(catalog.arrow("texts").column_names.index("text"))
    middle = column.data_page_offset + column.total_compressed_size // 2
    path.write_bytes(flipped(path.read_bytes(), 8 * middle))
    part = prodex.open_snapshot("shop").parts[0]

    with pytest.raises(SnapshotDamaged, match=r"texts.part-00000"):
        part.read("texts", ["text"])
    with pytest.raises(SnapshotDamaged, match=r"texts.part-00000"):
        part.read("texts", ["attribute"], pc.field("text") == "Riz")
    with pytest.raises(SnapshotDamaged, match=r"texts.part-00000"):
        list(part.pieces("texts", 1))
    with pytest.raises(SnapshotDamaged, match=r"texts.part-00000"):
        catalog.texts  # noqa: B018
    with pytest.raises(SnapshotDamaged, match=r"texts.part-00000"):
        catalog.sql("select max(length(text)) from texts")


def test_a_condition_that_does_not_fit_is_no_damage(records: list[dict[str, Any]]) -> None:
    """The file is as it was written, so it is the question that is wrong."""
    catalog = prodex.flatten(records).save("shop")

    with pytest.raises(QueryError, match="does not fit"):
        catalog.arrow("texts", filter=pc.field("text") > 7)


@pytest.mark.slow
def test_every_page_that_is_written_has_a_checksum(records: list[dict[str, Any]], tmp_path: Path) -> None:
    """Of snapshots, audits, exports and reports: a flipped bit of a page never goes unseen."""
    catalog = prodex.flatten(records).save("shop")
    catalog.export(tmp_path / "out")
    audit = prodex.audit(catalog, "online-listing").save()
    audit.to_html(tmp_path / "report.html")
    assert catalog.folder is not None
    assert audit.folder is not None
    folders = [catalog.folder, audit.folder, tmp_path / "out", tmp_path / "report_files"]

    for folder in folders:
        files = sorted(folder.rglob("*.parquet"), key=lambda path: path.stat().st_size)
        path, content = files[-1], files[-1].read_bytes()
        column = pq.read_metadata(path).row_group(0).column(0)
        last = column.data_page_offset + column.total_compressed_size - column.data_page_offset % 1 - 1
        start = column.dictionary_page_offset or column.data_page_offset
        path.write_bytes(flipped(content, 8 * (start + column.total_compressed_size - 1)))
        assert last >= start
        with pytest.raises(OSError, match=r"CRC|corrupt|integrity"):
            pq.read_table(path, page_checksum_verification=True, partitioning=None)
        path.write_bytes(content)


def test_reading_stays_possible_for_anybody(records: list[dict[str, Any]]) -> None:
    """Checksums are part of the format: a reader that does not verify them reads the same."""
    catalog = prodex.flatten(records).save("shop")

    for path in catalog.files("products"):
        assert pq.read_table(path, partitioning=None).num_rows == len(records)
    assert isinstance(parquet.dataset(dict.fromkeys(catalog.files("tags")), pa.schema([])).schema, pa.Schema)


@each_row(
    "places",
    [[0], [2_047, 2_048], [5_999], [10, 2_057], [10, 2_058], [3, 5_000], list(range(6_000))],
    ids=lambda places: f"{len(places)} from {places[0]} to {places[-1]}",
)
def test_rows_that_are_wanted_come_alone_and_in_order(tmp_path: Path, places: list[int]) -> None:
    """Within one batch, over its edge, at the end, far apart, or all: in few pieces where they are many."""
    table = pa.table(
        {"product_id": [f"{n}" for n in range(6_000)], "text": [f"x{n % 7}" for n in range(6_000)]}
    )
    parquet.write(table, tmp_path / "part.parquet")
    wanted = pa.array([f"{n}" for n in places])

    found = parquet.read(tmp_path / "part.parquet", columns=["text"], among=("product_id", wanted))

    assert [f"x{n % 7}" for n in places] == found["text"].to_pylist()
    assert found["text"].num_chunks <= 2
