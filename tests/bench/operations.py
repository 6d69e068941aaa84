"""What users do with a catalogue that is there, at several sizes: seconds and the peak of memory of each.

`python -m tests.bench.operations keep FILE` keeps the products of a file as a snapshot, and a second one in which one
in a hundred was changed; `... audit` does one of the operations in this process and prints what it took.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import prodex
from prodex.catalog import Catalog
from prodex_sandbox.sample import AS_OF
from tests.bench.measuring import Measured, Stopwatch, alone, sandbox

_PROFILE = "online-listing"
_CHANGED_ONE_IN = 100


def keep(lines: Path) -> Measured:
    """Keep the products as snapshots, as they are and changed; return what the first took to read."""
    with changed(lines, lambda number: {"lifeCycle": 7, "xChangedName": f"name {number}"}) as other:
        made = []
        for name, file in (("bench", lines), ("changed", other)):
            watch = Stopwatch()
            prodex.read_products(file, name=name, progress=False)
            made.append(watch.read())
    return made[0]


@contextmanager
def changed(lines: Path, change: Callable[[int], dict[str, Any]]) -> Iterator[Path]:
    """Give a file of the products, one in a hundred of them with other values."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder, lines.open("rb") as products:
        file = Path(folder) / "changed.jsonl"
        with file.open("wb") as other:
            for number, line in enumerate(products):
                if number % _CHANGED_ONE_IN:
                    other.write(line)
                else:
                    other.write(json.dumps(json.loads(line) | change(number)).encode() + b"\n")
        yield file


def _opened() -> Catalog:
    return prodex.open_snapshot("bench")


def show() -> object:
    """Open the newest snapshot and show it as text."""
    return repr(_opened())


def show_html() -> object:
    """Show it as a notebook does."""
    return _opened()._repr_html_()


def products() -> object:
    return _opened().products


def where() -> object:
    """Choose one brand, then look at its texts."""
    catalog = _opened()
    brand = catalog.head(1).products["brand"].iloc[0]
    return catalog.where(brand=brand).texts


def texts() -> object:
    """Take three columns of all texts."""
    return _opened().table("texts", columns=["product_id", "attribute", "language"])


def sql() -> object:
    """Group all texts."""
    return _opened().sql("SELECT attribute, language, count(*) AS texts FROM texts GROUP BY ALL ORDER BY ALL")


def wide() -> object:
    """One row a product, texts in one language."""
    return _opened().wide("fr")


def audit() -> object:
    """Audit by the profile of the demo."""
    return prodex.audit(_opened(), _PROFILE, progress=False, now=AS_OF)


def diff() -> object:
    """Compare with the snapshot in which one in a hundred was changed."""
    return prodex.diff(_opened(), prodex.open_snapshot("changed")).summary


def export() -> object:
    """Export all tables as Parquet."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
        return _opened().export(Path(folder) / "out")


def wide_over_result() -> list[float]:
    """Return the seconds of one wide table, and the peak of memory over what it returns, in MB."""
    catalog = _opened()
    watch = Stopwatch()
    frame = catalog.wide("fr")
    measured = watch.read()
    return [measured.seconds, measured.peak_mb - frame.memory_usage(index=True, deep=True).sum() / 1e6]


def verify() -> object:
    """Check every file against the manifest."""
    return prodex.verify("bench")


def worklists() -> object:
    """Write a workbook for each owner (the audit is part of it)."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
        found = prodex.audit(_opened(), _PROFILE, progress=False, now=AS_OF)
        return found.worklists(Path(folder) / "out", by="owner")


OPERATIONS: dict[str, Callable[[], object]] = {
    "open and repr": show,
    "open and HTML": show_html,
    "products": products,
    "where one brand, then its texts": where,
    "three columns of all texts": texts,
    "sql: group all texts": sql,
    "wide('fr')": wide,
    "audit": audit,
    "audit and worklists": worklists,
    "diff, 1 % changed": diff,
    "export as Parquet": export,
    "verify": verify,
}


def refresh(lines: Path, kept: Path, step: str = "update") -> Any:
    """Refresh a snapshot after one in a hundred products was changed at the service, which is another process.

    `kept` is where the sandbox keeps them as they were. As the step "night" the products are also audited, before and
    after, and worklists are written.
    """
    first, _ = _served("evening" if step == "night" else "load", lines, home=kept)
    # After the load, or a refresh would not ask for it.
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}"
    with changed(lines, lambda _: {"lifeCycle": 7, "updatedAt": now}) as other:
        # It is the same service, at the same address, that has the changed products next time.
        return _served(step, other, "--port", first)[1]


def _served(step: str, lines: Path, *options: object, home: Path | None = None) -> tuple[int | None, Any]:
    """Do one step with a sandbox that serves the products of a file; return its port, and what was measured."""
    with sandbox(lines, *options, home=home) as server:
        key, port = server["credentials"][0], urlsplit(server["base_url"]).port
        given = (server["base_url"], key["client_id"], key["client_secret"], server["products"])
        return port, alone("operations", step, *given)


def _pulled(step: str, base_url: str, client_id: str, client_secret: str, count: int) -> Measured:
    service = prodex.connect(base_url=base_url, client_id=client_id, client_secret=client_secret)
    watch = Stopwatch()
    is_load = step in {"load", "evening"}
    if is_load:
        found = prodex.load_products(service, name="refreshed", max_age=0, progress=False)
    else:
        found = prodex.refresh("refreshed", service, progress=False)
    if step in {"evening", "night"}:
        judged = prodex.audit(found, _PROFILE, progress=False, now=AS_OF).save()
        if step == "night":
            with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
                judged.worklists(Path(folder) / "out", by="owner")
    measured = watch.read()
    expected = count if is_load else count // _CHANGED_ONE_IN
    if not found.complete or len(found) != count or found.origin.ledger.received < expected:
        raise SystemExit(f"the {step} found {len(found):,} of {count:,} products: {found.origin.ledger}")
    return measured


def main(arguments: Sequence[str]) -> Any:
    """Keep the snapshots, or do one of the operations."""
    match arguments:
        case ["keep", lines]:
            return keep(Path(lines))
        case ["refresh", lines, kept]:
            return refresh(Path(lines), Path(kept))
        case ["night", lines, kept]:
            return refresh(Path(lines), Path(kept), "night")
        case ["wide over result"]:
            return wide_over_result()
        case ["load" | "update" | "evening" | "night" as step, base_url, client_id, client_secret, count]:
            return _pulled(step, base_url, client_id, client_secret, int(count))
        case [name]:
            operation = OPERATIONS[name]
            watch = Stopwatch()
            operation()
            return watch.read()
    raise SystemExit(__doc__)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
