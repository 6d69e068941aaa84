"""The sample as JSON lines: every record comes out as it went in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import prodex
from prodex_sandbox.sample import shared_products
from tests.test_json_lines import assert_round_trip

_WHOLE = bool(os.environ.get("PRODEX_WHOLE_SAMPLE"))
#: Products; with PRODEX_WHOLE_SAMPLE=1, as `make soak` sets it, all of the sample.
_COUNT = 12_000 if _WHOLE else 600


def test_the_sample_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of several blocks, in two parts: equal as JSON, line by line, and the same tables."""
    if not _WHOLE:
        for module in ("prodex.tables.flatten", "prodex.store.parts"):
            monkeypatch.setattr(f"{module}.BLOCK_BYTES", 500_000)
    records = [shared.record for shared in shared_products(_COUNT)]
    first, second = (prodex.flatten(half) for half in (records[: _COUNT // 6], records[_COUNT // 6 :]))
    catalog = prodex.Catalog((*first.parts, *second.parts), first.origin)
    assert_round_trip(catalog.save("sample"), records, tmp_path / "out")
