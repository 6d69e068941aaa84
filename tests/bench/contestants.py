"""The ways from page bytes to zstd Parquet that are held against each other.

Each takes a folder of pages, one file a reply, leaves Parquet files of all tables, and tells how many rows each list
of `SHARED` made. As a program (`python -m tests.bench.contestants prodex PAGES OUT ROUNDS`) one runs alone in a fresh
process and prints seconds, peak memory and rows as JSON.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from tests.bench.measuring import Stopwatch
from tests.bench.products import SHARED

#: Pages that make one Parquet file: 10,000 products, as prodex's parts hold.
_PAGES_A_FILE = 20


class Contestant(Protocol):
    """One way: what is done before the clock starts, what is measured, and what came out."""

    def __init__(self, pages: Path, out: Path) -> None: ...

    def run(self) -> None: ...

    def rows(self) -> dict[str, int]: ...


class Prodex:
    """Build as every load does, on threads, from the journal that the download left."""

    def __init__(self, pages: Path, out: Path) -> None:
        from prodex.store.journal import LoadJournal
        from prodex.tables.envelope import split
        from prodex.tables.records import identify

        self._journal = LoadJournal.begin(out / "journal", {})
        self._tables = out / "tables"
        for path in sorted(pages.glob("*.json")):
            body = path.read_bytes()
            envelope = split(body)
            keys = [identify(product) for product in envelope.data]
            self._journal.add("pull/0", body, envelope, keys, received_at=datetime.now(UTC))

    def run(self) -> None:
        from prodex.store.build import build_parts
        from prodex.store.plan import plan

        parts = plan(self._journal).parts
        self._products = sum(p.products for p in build_parts(self._journal.folder, parts, self._tables))

    def rows(self) -> dict[str, int]:
        import pyarrow.parquet as pq

        rows = Counter({"products": self._products})
        for table, paths in SHARED.items():
            for file in (self._tables / table).glob("*.parquet"):
                seen = Counter(pq.read_table(file, columns=["attribute"])["attribute"].to_pylist())
                rows.update({path: seen[path] for path in paths})
        return dict(rows)


class JsonNormalize:
    """Use `pandas.json_normalize` as its documentation does, one frame for each list, on the one core it uses.

    Pages are read with Python's own `json`, as `requests` and the examples of pandas do; so they are for dlt.
    As in prodex each row has a position, and each product its JSON and what is filled, empty or null.
    """

    def __init__(self, pages: Path, out: Path) -> None:
        import pandas as pd

        self._normalize = pd.json_normalize
        self._concat, self._frame_of = pd.concat, pd.DataFrame.from_records
        self._pages = sorted(pages.glob("*.json"))
        self._out = out
        self._rows: Counter[str] = Counter()

    def run(self) -> None:
        for number in range(0, len(self._pages), _PAGES_A_FILE):
            bodies = [path.read_bytes() for path in self._pages[number : number + _PAGES_A_FILE]]
            records = [record for body in bodies for record in json.loads(body)["data"]]
            self._write("products", number, self._normalize([_without_lists(record) for record in records]))
            self._write("presence", number, self._frame_of([_presence(record) for record in records]))
            raw = [
                {"id": r["id"], "gtin": r["gtin"], "json": json.dumps(r, ensure_ascii=False)} for r in records
            ]
            self._write("raw", number, self._frame_of(raw))
            self._rows["products"] += len(records)
            for table, paths in SHARED.items():
                frames = {path: self._frame(records, path) for path in paths}
                self._rows.update({path: len(frame) for path, frame in frames.items()})
                self._write(table, number, self._concat(frames, names=["attribute"]).reset_index("attribute"))

    def rows(self) -> dict[str, int]:
        return dict(self._rows)

    def _frame(self, records: list[dict[str, Any]], wire_path: str) -> Any:
        """Return the rows of one list; `json_normalize` fails where it is not there."""
        path = wire_path.split(".")
        filled = [record for record in records if record.get(path[0])]
        return self._normalize(filled, path, ["id", "gtin"], meta_prefix="product.").rename(
            columns={0: "value"}
        )

    def _write(self, table: str, number: int, frame: Any) -> None:
        inner = [
            name for name in ("exportables", "children", "tags") if name in frame
        ]  # have their own tables
        frame.drop(columns=inner).to_parquet(self._out / f"{table}-{number}.parquet", compression="zstd")


class Dlt:
    """Extract, normalize and load with dlt, Parquet written by as many workers as there are cores."""

    def __init__(self, pages: Path, out: Path) -> None:
        workers = str(os.cpu_count())
        os.environ |= {
            "RUNTIME__DLTHUB_TELEMETRY": "false",
            "RUNTIME__LOG_LEVEL": "ERROR",
            "NORMALIZE__WORKERS": workers,
            "LOAD__WORKERS": workers,
            # More files than workers, or one worker alone would normalize everything.
            "EXTRACT__DATA_WRITER__FILE_MAX_ITEMS": "2500",
            "EXTRACT__DATA_WRITER__BUFFER_MAX_ITEMS": "2500",
            "NORMALIZE__DATA_WRITER__BUFFER_MAX_ITEMS": "50000",
            "NORMALIZE__DATA_WRITER__COMPRESSION": "zstd",
            "DLT_DATA_DIR": str(out / "home"),
        }
        import dlt

        def received() -> Iterator[list[dict[str, Any]]]:
            for path in sorted(pages.glob("*.json")):
                yield json.loads(path.read_bytes())["data"]

        self._received = dlt.resource(received, name="products")
        self._tables = out / "tables"
        self._pipeline = dlt.pipeline(
            "bench",
            pipelines_dir=str(out / "pipelines"),
            destination=dlt.destinations.filesystem(self._tables.as_uri()),
            dataset_name="bench",
        )

    def run(self) -> None:
        self._pipeline.run(self._received(), loader_file_format="parquet")

    def rows(self) -> dict[str, int]:
        import pyarrow.parquet as pq

        naming = self._pipeline.default_schema.naming
        rows = {}
        for path in ("products", *(path for paths in SHARED.values() for path in paths)):
            keys = ["products"] if path == "products" else ["products", *path.split(".")]
            name = naming.normalize_tables_path(naming.make_path(*keys))
            files = (self._tables / "bench" / name).glob("*.parquet")
            rows[path] = sum(pq.read_metadata(file).num_rows for file in files)
        return rows


class Polars:
    """Read the pages as JSON lines with a type that polars infers, then explode and unnest one list after the other."""

    def __init__(self, pages: Path, out: Path) -> None:
        import polars as pl

        self._pl = pl
        self._pages = sorted(pages.glob("*.json"))
        self._out = out
        self._rows: Counter[str] = Counter()

    def run(self) -> None:
        pl = self._pl
        for number in range(0, len(self._pages), _PAGES_A_FILE):
            lines = b"\n".join(path.read_bytes() for path in self._pages[number : number + _PAGES_A_FILE])
            pages = pl.read_ndjson(lines, infer_schema_length=None)
            records = pages.select(pl.col("data")).explode("data").unnest("data")
            self._rows["products"] += records.height
            lists = [name for name, kind in records.schema.items() if isinstance(kind, pl.List)]
            self._write("products", number, records.drop([*lists, "assets"]))
            for table, paths in SHARED.items():
                for path in paths:
                    frame = self._frame(records, path)
                    self._rows[path] += frame.height
                    self._write(f"{table}-{path}", number, frame)

    def rows(self) -> dict[str, int]:
        return dict(self._rows)

    def _frame(self, records: Any, wire_path: str) -> Any:
        pl = self._pl
        first, *rest = wire_path.split(".")
        frame = records.select("id", "gtin", pl.col(first).alias("item"))
        for key in rest:
            if isinstance(frame.schema["item"], pl.List):
                frame = frame.explode("item")
            frame = frame.with_columns(pl.col("item").struct.field(key).alias("item"))
        return frame.filter(pl.col("item").list.len() > 0).explode("item")

    def _write(self, name: str, number: int, frame: Any) -> None:
        frame.write_parquet(self._out / f"{name}-{number}.parquet", compression="zstd")


class DuckDb:
    """Read the pages with `read_json`, and copy one list after the other, unnested, to Parquet."""

    def __init__(self, pages: Path, out: Path) -> None:
        import duckdb

        self._connection = duckdb.connect()
        self._pages = str(pages / "*.json")
        self._largest = max(path.stat().st_size for path in pages.glob("*.json"))
        self._out = out
        self._rows: dict[str, int] = {}

    def run(self) -> None:
        # A page is one object of several MB, larger than what DuckDB takes for an object unless told; it makes room for
        # two of the largest in every thread.
        self._connection.execute(
            "CREATE TABLE records AS SELECT unnest(data, max_depth := 2) FROM "
            f"read_json(?, maximum_object_size = {self._largest + 1}, sample_size = -1, union_by_name = true)",
            [self._pages],
        )
        kinds = dict(
            self._connection.execute("SELECT column_name, column_type FROM (DESCRIBE records)").fetchall()
        )
        lists = ", ".join(
            f'"{name}"' for name, kind in kinds.items() if kind.endswith("[]") or name == "assets"
        )
        self._rows["products"] = self._copy("products", f"SELECT * EXCLUDE ({lists}) FROM records")
        for table, paths in SHARED.items():
            for path in paths:
                self._rows[path] = self._copy(f"{table}-{path}", _unnested(path))

    def rows(self) -> dict[str, int]:
        return self._rows

    def _copy(self, name: str, query: str) -> int:
        target = self._out / f"{name}.parquet"
        copied = self._connection.execute(f"COPY ({query}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
        return int((copied.fetchone() or (0,))[0])


def _unnested(wire_path: str) -> str:
    """Return the query of the items of a list, one row each."""
    first, *rest = wire_path.split(".")
    # Assets are an object; every other step of these paths is a list.
    query = f'SELECT id, gtin, "{first}" AS item FROM records'
    for at, key in enumerate(rest):
        if (first, at) != ("assets", 0):
            query = f"SELECT id, gtin, unnest(item) AS item FROM ({query})"
        query = f'SELECT id, gtin, item."{key}" AS item FROM ({query})'
    return f"SELECT id, gtin, unnest(item) AS item FROM ({query})"


CONTESTANTS: dict[str, type[Contestant]] = {
    "prodex": Prodex,
    "json_normalize": JsonNormalize,
    "dlt": Dlt,
    "polars": Polars,
    "duckdb": DuckDb,
}


def _presence(record: dict[str, Any]) -> dict[str, Any]:
    faces = {
        key: "null" if value is None else "filled" if value else "empty" for key, value in record.items()
    }
    return {**faces, "product.id": record["id"], "product.gtin": record["gtin"]}


def _without_lists(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if not isinstance(value, list) and key != "assets"}


def main(name: str, pages: str, out: str, rounds: str) -> None:
    """Run one contestant several times, after a warm-up on the first page, and print what it took."""
    folder = Path(out)
    first = folder / "first"
    first.mkdir(parents=True)
    shutil.copy(min(Path(pages).glob("*.json")), first)
    found = []
    for number, source in enumerate([first, *[Path(pages)] * int(rounds)]):
        place = folder / f"round-{number}"
        place.mkdir()
        contestant = CONTESTANTS[name](source, place)
        watch = Stopwatch()
        contestant.run()
        found.append(watch.read())
        rows = contestant.rows()
        shutil.rmtree(place)
    seconds, cpu, peaks = (list(values) for values in zip(*found[1:], strict=True))
    print(json.dumps({"seconds": seconds, "cpu": cpu, "peak_mb": max(peaks), "rows": rows}))


if __name__ == "__main__":
    main(*sys.argv[1:])
