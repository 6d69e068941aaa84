"""Write the sample as files: `python -m prodex_sandbox.sample --count 200 --out data/sample`.

`products.json` is one reply of the service with all products, `plan.json` the defects planted in them.
`law-products.json` and `law-plan.json` are the same of products that laws ask something of; see `law_products`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from prodex_sandbox.sample.catalogue import shared_products, write_plan
from prodex_sandbox.sample.law_products import write_law_products


def main(arguments: Sequence[str] | None = None) -> None:
    """Write products and plan into a folder."""
    parser = argparse.ArgumentParser(
        prog="python -m prodex_sandbox.sample", description="Write the sample as files."
    )
    parser.add_argument("--count", type=int, default=200, help="number of products (default: %(default)s)")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the random numbers (default: %(default)s)"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for products.json and plan.json")
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    write_products(chosen.out / "products.json", chosen.count, chosen.seed)
    write_plan(chosen.out / "plan.json", chosen.count, chosen.seed)
    write_law_products(chosen.out)


def write_products(path: Path, count: int, seed: int) -> None:
    """Write products as one reply of the service, one product a line."""
    lines = [
        json.dumps(shared.record, ensure_ascii=False, separators=(",", ":"))
        for shared in shared_products(count, seed)
    ]
    data = ",\n".join(lines)
    path.write_text(
        f'{{"totalResults": {len(lines)}, "data": [\n{data}\n], "offset": 0}}\n', encoding="utf-8"
    )


if __name__ == "__main__":
    main()
