"""How the tables of a part are laid out in their files."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

import prodex
from prodex.store import parts
from prodex_sandbox.sample import shared_products


@pytest.mark.slow
@pytest.mark.parametrize(("block", "groups"), [(20_000_000, 1), (100_000, 10), (1, 120)])
def test_a_catalogue_in_memory_is_saved_in_groups_of_rows(
    monkeypatch: pytest.MonkeyPatch, block: int, groups: int
) -> None:
    """One row group of all its products would have to be unpacked for each product that is read; no row is lost."""
    monkeypatch.setattr(parts, "BLOCK_BYTES", block)
    made = prodex.flatten(product.record for product in shared_products(120))
    saved = made.save("grouped")
    (raw,) = saved.files("raw")
    assert groups <= pq.read_metadata(raw).num_row_groups <= max(2 * groups, 1)
    assert made.equals(saved)
