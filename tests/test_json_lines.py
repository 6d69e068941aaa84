"""An export as JSON lines holds the records as they came, and becomes the same catalogue again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex.catalog import Part
from prodex.errors import ExportDamaged, InputError, NotExported, QueryError, SnapshotDamaged
from prodex_sandbox.sample import shared_products
from tests import wire
from tests.cases import each_row
from tests.test_real_products import REAL


def lines_of(folder: Path) -> list[Any]:
    """Return the records of an export."""
    with (folder / "products.jsonl").open("rb") as file:
        return [json.loads(line) for line in file]


def described(folder: Path) -> dict[str, Any]:
    """Return the data package of a folder."""
    package: dict[str, Any] = json.loads((folder / "datapackage.json").read_text("utf-8"))
    return package


def assert_round_trip(catalog: prodex.Catalog, records: list[Any], folder: Path) -> None:
    """Compare the lines with the records that came, and the catalogue that is read back with the exported one."""
    paths = catalog.export(folder, "jsonl")
    assert ["products.jsonl", "datapackage.json"] == [path.name for path in paths]
    assert records == lines_of(folder)
    read = prodex.read_export(folder)
    assert catalog.equals(read)
    sizes = [part.size for part in catalog.parts if part.size]
    assert (sizes or [0]) == [part.size for part in read.parts]


@pytest.mark.slow
@pytest.mark.parametrize("saved", [False, True])
def test_invented_products_come_back(tmp_path: Path, saved: bool) -> None:
    """From memory and from disk: equal as JSON, line by line, and the same tables."""
    records = [shared.record for shared in shared_products(200)]
    catalog = prodex.flatten(records)
    assert_round_trip(catalog.save("sample") if saved else catalog, records, tmp_path / "out")


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_file(), reason="real products are not on this machine")
def test_real_products_come_back(tmp_path: Path) -> None:
    """5,000 products as a service sends them: each line is the line that was read, byte for byte."""
    import gzip

    received = gzip.decompress(REAL.read_bytes()).splitlines()
    catalog = prodex.read_products(REAL)
    assert_round_trip(catalog, [json.loads(line) for line in received], tmp_path / "out")
    assert received == (tmp_path / "out" / "products.jsonl").read_bytes().splitlines()
    again = prodex.read_products(tmp_path / "out" / "products.jsonl")
    for table in catalog.tables.index:
        assert catalog.arrow(table).equals(again.arrow(table)), table


@given(records=st.lists(wire.products, max_size=4))
@example(records=wire.CORNERS)
@example(records=[{}, {}, {"id": "\u2028 \x00 \r\n"}])
def test_any_products_come_back(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    """Law: the lines are the records, also without a key, with any text, and of no product at all."""
    catalog = prodex.flatten(records)
    folder = tmp_path_factory.mktemp("law")
    catalog.export(folder, "jsonl")

    assert catalog.raw["json"].map(json.loads).tolist() == lines_of(folder)
    assert catalog.equals(prodex.read_export(folder))


def test_a_record_of_several_lines_is_one_line(tmp_path: Path) -> None:
    """White space between the tokens is all that may change; half a surrogate pair and NaN stay."""
    (tmp_path / "a.json").write_text('{\n  "id": 1,\r\n  "a": "x\\ny\\u2028"\n}', encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"id": 2, "half": "\\ud83d", "b": 1.0}\n{"id": 3, "none": NaN}\n')
    catalog = prodex.read_products([tmp_path / "a.json", tmp_path / "b.jsonl"])
    catalog.export(tmp_path / "out", "jsonl")

    content = (tmp_path / "out" / "products.jsonl").read_bytes()
    assert (3, True) == (content.count(b"\n"), content.endswith(b"}\n"))
    assert catalog.raw["json"].tolist()[1:] == content.decode().splitlines()[1:]
    assert {"id": 1, "a": "x\ny\u2028"} == lines_of(tmp_path / "out")[0]
    read = prodex.read_export(tmp_path / "out")
    for table in set(catalog.tables.index) - {"raw"}:
        assert catalog.arrow(table).equals(read.arrow(table)), table


def test_a_selection_holds_its_products_alone(tmp_path: Path) -> None:
    """In the order of the catalogue, over parts on disk, and none of the others."""
    records = [{"id": n, "brand": {"code": "A" if n % 3 else "B"}} for n in range(20)]
    halves = [prodex.flatten(records[:10]), prodex.flatten(records[10:])]
    both = prodex.Catalog((*halves[0].parts, *halves[1].parts), halves[0].origin).save("both")
    chosen = both.where(brand_code="B")
    assert_round_trip(chosen, [one for one in records if one["brand"] == {"code": "B"}], tmp_path / "out")
    both.where(brand_code="none").export(tmp_path / "nothing", "jsonl")
    assert [] == lines_of(tmp_path / "nothing")
    assert 0 == len(prodex.read_export(tmp_path / "nothing"))


def test_labels_in_further_languages_come_back(tmp_path: Path) -> None:
    """They are no part of the records, and have a file of their own."""
    catalog = prodex.flatten([{"id": 1, "x": {"code": "a", "label": "A"}}])
    (part,) = catalog.parts
    rows = [{"attribute": "x", "code": "a", "label_language": "fr", "label": "=A\né", "description": None}]
    labels = pa.Table.from_pylist(rows, catalog.arrow("code_labels").schema)
    catalog = prodex.Catalog((replace(part, tables={**part.tables, "code_labels": labels}),), catalog.origin)
    paths = catalog.export(tmp_path, "jsonl")

    assert ["products.jsonl", "code_labels.jsonl", "datapackage.json"] == [path.name for path in paths]
    assert catalog.equals(prodex.read_export(tmp_path))


def test_the_package_has_digests_and_parts(tmp_path: Path) -> None:
    """As those of other formats, with the number of records and where the data comes from."""
    catalog = prodex.flatten([{"id": 1}, {"id": 2}], source="here")
    catalog.export(tmp_path, "jsonl")
    (resource,) = (package := described(tmp_path))["resources"]

    assert ("products", "products.jsonl", "jsonl", 2) == tuple(
        resource[name] for name in ("name", "path", "format", "rows")
    )
    assert resource["hash"].startswith("sha256:")
    assert (2, "here", []) == (package["products"], package["origin"]["source"], package["not_exported"])


def test_memory_stays_with_a_part(tmp_path: Path) -> None:
    """Each part is read, written and given back before the next one is read."""
    read: list[int] = []

    class Counted(Part):
        def read(self, table: str, *others: Any, **more: Any) -> pa.Table:
            if table == "raw":
                read.append(written())
            return super().read(table, *others, **more)

    def written() -> int:
        return sum(path.stat().st_size for path in tmp_path.rglob("products.jsonl"))

    one = prodex.flatten([{"id": 1, "x": "y" * 3_000_000}]).parts[0]
    parts = tuple(Counted(one.size, tables=one.tables) for _ in range(3))
    prodex.Catalog(parts, prodex.catalog.Origin("records")).export(tmp_path / "out", "jsonl")
    assert [True, True] == [size > n * 3_000_000 for n, size in enumerate(read)][1:]


@each_row("options", [{"tables": ["products"]}, {"columns": ["brand"]}, {"languages": ["fr"]}])
def test_a_part_of_a_record_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    """A record is whole or not there; the message names the option and what to do."""
    with pytest.raises(QueryError, match=rf"{next(iter(options))}.*whole records.*'parquet'"):
        prodex.flatten([{"id": 1}]).export(tmp_path / "out", "jsonl", **options)
    assert not (tmp_path / "out").exists()


def test_without_records_there_is_an_error(tmp_path: Path) -> None:
    """An export that was made without them says so, and which line makes one with them."""
    prodex.flatten([{"id": 1}]).export(tmp_path / "csv", "csv")
    with pytest.raises(NotExported, match=r"raw.*tables=\[\.\.\., 'raw'\]"):
        prodex.read_export(tmp_path / "csv").export(tmp_path / "out", "jsonl")
    assert not (tmp_path / "out").exists()


@each_row("record", [None, "", "7", "null", "[]", '{"id": 2}', '{"id": 1', '{"id": 1}{"id": 1}'])
def test_a_damaged_record_is_named(tmp_path: Path, record: str | None) -> None:
    """It is null, no JSON, no object, or of another product; nothing is written, an earlier export stays."""
    catalog = prodex.flatten([{"id": 1}])
    catalog.export(tmp_path / "out", "jsonl")
    (part,) = catalog.parts
    keys = {"product_id": ["1"], "gtin": pa.nulls(1, pa.string())}
    raw = pa.table({**keys, "json": pa.array([record], pa.string())}, schema=catalog.arrow("raw").schema)
    damaged = prodex.Catalog((replace(part, tables={**part.tables, "raw": raw}),), catalog.origin)
    with pytest.raises(SnapshotDamaged, match=r"product '1'.*load again") as caught:
        damaged.export(tmp_path / "out", "jsonl")
    assert ("1",) == caught.value.products
    assert catalog.equals(prodex.read_export(tmp_path / "out"))


def test_a_record_too_few_is_said(tmp_path: Path) -> None:
    """A file of records that lacks one is damaged, however well the others are."""
    catalog = prodex.flatten([{"id": 1}, {"id": 2}])
    (part,) = catalog.parts
    fewer = replace(part, tables={**part.tables, "raw": part.tables["raw"].slice(1)})
    with pytest.raises(SnapshotDamaged, match="1 record of 2 products"):
        prodex.Catalog((fewer,), catalog.origin).export(tmp_path / "out", "jsonl")
    assert not (tmp_path / "out").exists()


def tampered() -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """Yield what somebody may put in the place of the records of two products, and the changes to its description."""
    yield "no JSON", b'{"id": 1}\nnonsense\n', {}
    yield "no object", b'{"id": 1}\n[2]\n', {}
    yield "a blank line", b'{"id": 1}\n\n', {}
    yield "fewer", b'{"id": 1}\n', {}
    yield "more", b'{"id": 1}\n{"id": 2}\n{"id": 3}\n', {}
    yield "not cut as said", b'{"id": 1}\n{"id": 2}\n', {"parts": [1, 7]}
    yield "cut into nothing", b'{"id": 1}\n{"id": 2}\n', {"parts": [0] * 10_001 + [2]}
    yield "deep", b'{"id": 1}\n{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", {}


@pytest.mark.parametrize(("content", "changes"), [pytest.param(c, d, id=name) for name, c, d in tampered()])
def test_records_of_somebody_else_are_not_trusted(
    tmp_path: Path, content: bytes, changes: dict[str, Any]
) -> None:
    """Whoever changes the records can change their digest, too, so that the lines are looked at one by one."""
    prodex.flatten([{"id": 1}, {"id": 2}]).export(tmp_path, "jsonl")
    package = described(tmp_path)
    (resource,) = package["resources"]
    digest = hashlib.sha256(content).hexdigest()
    resource |= {"bytes": len(content), "hash": f"sha256:{digest}"} | changes
    (tmp_path / "datapackage.json").write_text(json.dumps(package))
    (tmp_path / "products.jsonl").write_bytes(content)

    with pytest.raises(ExportDamaged, match=r"products\.jsonl|parts\[0\]"):
        prodex.read_export(tmp_path)


def test_a_limit_is_kept(tmp_path: Path) -> None:
    """The bytes of the file count, as for every export."""
    prodex.flatten([{"id": 1}]).export(tmp_path, "jsonl")
    with pytest.raises(InputError, match="wire_bytes"):
        prodex.read_export(tmp_path, limits=prodex.limits.Limits(wire_bytes=3))
