"""The digests of records that a snapshot keeps: those of its records, however it was made."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cases import each_row
from tests.store.test_merge import merged, snapshot_of

import prodex
from prodex.catalog import Catalog, Part
from prodex.files import parquet
from prodex.store import parts
from prodex.tables.record_digests import NOTE, RecordDigests
from prodex_sandbox.sample import shared_products


def assert_kept(catalog: Catalog) -> None:
    """Compare what the files keep with what the records are."""
    for part in catalog.parts:
        kept = part.record_digests(computed=False)
        records = [record.encode() for record in part.read("raw")["json"].to_pylist()]
        assert kept is not None
        assert [len(record) for record in records] == kept.sizes.tolist()
        assert [hashlib.sha256(one).digest()[:16] for one in records] == [bytes(one) for one in kept.digests]


@pytest.mark.slow
@pytest.mark.parametrize("block", [20_000_000, 10_000])
def test_each_file_keeps_those_of_its_records(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """In one row group or in many; of a selection those of its products; of none there are none."""
    monkeypatch.setattr(parts, "BLOCK_BYTES", block)
    saved = prodex.flatten(product.record for product in shared_products(40)).save("shop")

    assert_kept(saved)
    assert_kept(saved.where(is_consumer_unit=True))
    assert_kept(prodex.flatten([{"id": 1, "x": "é\U0001f600"}, {"id": 2}]).save("letters"))
    assert_kept(prodex.flatten([]).save("none"))


def test_a_merge_keeps_them(tmp_path: Path) -> None:
    """Of products that stay, changed, came and went; a part that is linked keeps its file."""
    records = [[json.dumps({"id": n, "x": n}).encode() for n in range(k, k + 5)] for k in (0, 5, 10)]
    old = snapshot_of(records)
    changes = [[json.dumps({"id": n, "x": "new"}).encode() for n in (1, 20)]]

    assert_kept(merged(old, changes, tmp_path / "journal", gone=["7"]))


def test_without_them_the_records_are_read(tmp_path: Path) -> None:
    """A snapshot that was copied by another program has none, and a note that is of other records is none."""
    saved = prodex.flatten([{"id": 1}, {"id": 2}]).save("shop")
    (part,) = saved.parts
    path = tmp_path / "raw.parquet"
    for note in (None, b"", b"!", RecordDigests.of(pa.array(["{}"])).note.encode()):
        table = pq.read_table(saved.files("raw")[0]).replace_schema_metadata(None)
        with pq.ParquetWriter(path, table.schema) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({} if note is None else {NOTE: note})
        older = Part.on_disk(2, {**part.files, "raw": path}, {"raw": parquet.facts_of(path)})

        assert older.record_digests(computed=False) is None
        computed, kept = older.record_digests(), part.record_digests(computed=False)
        assert computed is not None
        assert kept is not None
        assert computed.digests.tolist() == kept.digests.tolist()


def test_a_file_without_a_manifest_is_not_believed() -> None:
    """Its footer may have been copied from another one."""
    (part,) = prodex.flatten([{"id": 1}]).save("shop").parts

    assert Part.on_disk(1, part.files).record_digests(computed=False) is None


@each_row("rows", [[], [3], [7, 0, 3, 3], list(range(9, -1, -1))])
def test_rows_are_read_at_their_places(tmp_path: Path, rows: list[int]) -> None:
    """In the order that was asked for, over all row groups."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"n": list(range(10)), "m": list("abcdefghij")}), path, row_group_size=3)

    found = parquet.rows_at(path, ["n"], np.array(rows, np.int64))

    assert found.to_pydict() == {"n": rows}
