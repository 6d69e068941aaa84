"""The sample as JSON lines: every record comes out as it went in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import prodex
from prodex.sandbox.sample import shared_products
from tests.test_json_lines import assert_round_trip


def test_the_sample_comes_back(tmp_path: Path) -> None:
    """4,000 products from all of it, in two parts: equal as JSON, line by line, and the same tables."""
    records = [shared.record for shared in shared_products()][::3]
    one, other = (prodex.flatten(half) for half in (records[:2_000], records[2_000:]))
    both = replace(one, parts=(*one.parts, *other.parts)).save("sample")
    assert 2 == len(both.parts)
    assert_round_trip(both, records, tmp_path / "out")
