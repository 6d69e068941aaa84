"""The whole sample as JSON lines: every record comes out as it went in."""

from __future__ import annotations

from pathlib import Path

import prodex
from prodex_sandbox.sample import shared_products
from tests.test_json_lines import assert_round_trip


def test_the_whole_sample_comes_back(tmp_path: Path) -> None:
    """12,000 products in two parts: equal as JSON, line by line, and the same tables."""
    records = [shared.record for shared in shared_products()]
    assert_round_trip(prodex.flatten(records).save("sample"), records, tmp_path / "out")
