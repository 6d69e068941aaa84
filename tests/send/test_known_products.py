"""What is read of the records of a catalogue for a correction."""

from __future__ import annotations

from pathlib import Path

from tests.cases import each_row

import prodex
from prodex.send.known_products import received_products, received_values


@each_row(
    "record",
    [
        '{"id": 7, "size": 12.50}',
        '{"id": 7, "size": 1e400, "size": [{"data": 0.1234567890123456789}, 12345678901234567890]}',
        '{"id": 7, "other": NaN, "size": "0,5"}',
        '{"id": 7, "size": {"data": "\\ud83d", "a": 1, "a": 2}}',
        '{"id": 7, "size": -0, "inside": {"size": 3}}',
        '{"id": 7, "size": null}',
        '{"id": 7, "inside": {"size": 3}}',
        '{"id": 7 , "size" :\n 4 }',
    ],
)
def test_one_attribute_is_read_as_the_whole_record_is(record: str, tmp_path: Path) -> None:
    """With its spelling, whichever of two keys counts, and whatever the rest of the record holds."""
    path = tmp_path / "one.jsonl"
    path.write_text(record.replace("\n", " ") + "\n", "utf-8")
    catalog = prodex.read_products(path, name="one", progress=False)
    (whole,) = received_products(catalog, ["7"]).values()
    (value,) = received_values(catalog, ["7"], "size").values()
    assert repr(whole.get("size")) == repr(value)
