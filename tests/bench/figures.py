"""Further figures of prodex alone; as a program (`python -m tests.bench.figures parse PRODUCTS`) one, as JSON."""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from statistics import median
from time import perf_counter

import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.declaration import TABLES
from prodex.tables.envelope import split
from prodex.tables.flatten import Tables, decoded, flatten_products
from prodex.tables.parse import ShapeCache
from prodex.tables.records import read_records
from tests.bench.products import PAGE, count_leaves, odd, products, reply

#: Two threads, whatever the machine: the figures are meant to be compared.
_THREADS = 2


def parse(rounds: str, file: str) -> float:
    """Return products/s of splitting and parsing the pages of a file of JSON lines, on two threads."""
    with gzip.open(file) as lines:
        records = [line.strip() for line in lines]
    pages = [b'{"data":[' + b",".join(records[i : i + PAGE]) + b"]}" for i in range(0, len(records), PAGE)]
    shapes = ShapeCache()

    def split_and_parse(mine: Sequence[bytes]) -> None:
        data = [bytes(product) for page in mine for product in split(page).data]
        shapes.parse(read_records(data).tops)

    halves = [pages[i::_THREADS] for i in range(_THREADS)]
    seconds = []
    with ThreadPoolExecutor(_THREADS) as threads:
        for _ in range(int(rounds) + 1):
            started = perf_counter()
            list(threads.map(split_and_parse, halves))
            seconds.append(perf_counter() - started)
    return len(records) / median(seconds[1:])


def import_time(rounds: str) -> float:
    """Return what `import prodex` takes after pandas and pyarrow, as a share of what these two take."""
    code = (
        "from time import perf_counter as now; began = now(); import pandas, pyarrow; there = now(); import prodex; "
        "print((now() - there) / (there - began))"
    )
    run = [sys.executable, "-c", code]
    shares = [
        float(subprocess.run(run, check=True, capture_output=True).stdout) for _ in range(int(rounds) + 1)
    ]
    return median(shares[1:])


def sample(count: str) -> float:
    """Return products/s of making the sandbox's sample catalogue."""
    from prodex_sandbox.sample import shared_products

    started = perf_counter()
    made = sum(1 for _ in shared_products(int(count)))
    return made / (perf_counter() - started)


def leaves(count: str) -> tuple[int, int]:
    """Hold the leaves in the tables against a naive walk, product by product; one in fifty is odd.

    Returns
    -------
    tuple
        Leaves of the naive walk, and how many products' leaves the tables differ by, added up.
    """
    walked = wrong = 0
    shapes = ShapeCache()
    records = (
        odd(p, number) if number % 50 == 49 else p for number, p in enumerate(products(int(count), seed=2))
    )
    while page := list(islice(records, 2 * PAGE)):
        raw = [bytes(product) for product in split(reply(page)).data]
        found = leaves_of_tables(decoded(flatten_products(raw, shapes)))
        for record in page:
            expected = count_leaves(record)
            walked += expected
            wrong += abs(expected - found[str(record["id"])])
    return walked, wrong


def leaves_of_tables(tables: Tables) -> Counter[str]:
    """Count the leaves that the tables hold of each product; what is derived or copied is none.

    Labels and short codes of a language or unit stand in `descriptors` once, and count for each text that uses them.
    """
    counts = Counter(dict.fromkeys(tables["products"]["product_id"].to_pylist(), 2))  # id and gtin
    described: dict[str, int] = {
        row["code"]: sum(row[name] is not None for name in ("code", "short_code", "description", "label"))
        for row in tables["descriptors"].to_pylist()
    }
    own = {
        "texts": ["text"],
        "quantities": ["value"],
        "codes": ["code", "label", "description"],
        "scalars": ["value"],
    }
    for name, table in TABLES.items():
        columns = own.get(name) or [column.name for column in table.columns if column.paths]
        held = tables[name]
        for column in columns:
            keys = held["product_id"].filter(held[column].is_valid()) if held.num_rows else pa.array([])
            counts.update({pair["values"]: pair["counts"] for pair in pc.value_counts(keys).to_pylist()})
        for code in {"texts": "language_code", "quantities": "unit_code"}.get(name, "").split():
            for key, value in zip(held["product_id"].to_pylist(), held[code].to_pylist(), strict=True):
                counts[key] += described[value]
    return counts


FIGURES = {
    "parse": parse,
    "import_time": import_time,
    "sample": sample,
    "leaves": leaves,
}

if __name__ == "__main__":
    print(json.dumps(FIGURES[sys.argv[1]](*sys.argv[2:])))  # type: ignore[operator]
