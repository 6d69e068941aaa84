"""The law of knowledge at full size: real products and the sample, each against fifty restrictions."""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import gzip
import json

from prodex_sandbox.sample import shared_products
from tests.quality.restricting import Record, audited, contradictions, drawn
from tests.test_real_products import REAL


def law(restrictions: int = 50, one_in: int = 1) -> bool:
    """Print how many cells of how many audits say something else with less asked for."""
    of_everybody = {"the sample": [dict(each.record) for each in shared_products(2_000, seed=12)]}
    if REAL.is_file():
        with gzip.open(REAL) as file:
            of_everybody["real products"] = [json.loads(line) for line in file]
    else:
        print(f"  {REAL.name} is not at hand: the sample alone")
    held = [_holds(name, records[::one_in], restrictions) for name, records in of_everybody.items()]
    return all(held)


def _holds(name: str, records: list[Record], restrictions: int) -> bool:
    records, everything = audited(records)
    wrong = [
        f"{query.to_body()}: {cell}"
        for query in drawn(records, restrictions, seed=12)
        for cell in contradictions(records, query, everything)
    ]
    print(
        f"  {name}: {len(records):,} products x {len(everything.checks)} checks x {restrictions} restrictions, "
        f"{len(wrong)} contradictions"
    )
    for one in wrong[:20]:
        print(f"    {one}")
    return not wrong
