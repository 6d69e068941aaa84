"""The columns of a part, each read once."""

from __future__ import annotations

import pyarrow as pa
import pytest

import prodex
from prodex.catalog import Part
from prodex.quality.part_columns import PartColumns

_RECORDS = [
    {"id": number, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": f"Riz {number}"}]}
    for number in range(3)
]


@pytest.fixture(params=["in memory", "on disk"])
def part(request: pytest.FixtureRequest) -> Part:
    catalog = prodex.flatten(_RECORDS)
    return (catalog if request.param == "in memory" else catalog.save("shop")).parts[0]


def test_columns_are_those_of_the_part(part: Part):
    """Whether a text is held as a dictionary or not, what is read is what the part holds."""
    columns = PartColumns([part])
    for table in ("products", "texts", "presence"):
        names = part.columns(table)
        expected = part.read(table, names).to_pydict()
        assert columns.read(table, names).to_pydict() == expected
        assert columns.encoded(table, names).to_pydict() == expected
        assert {name: columns.plain(table, name).to_pylist() for name in names} == expected


def test_rules_get_no_dictionaries(part: Part):
    """What a rule gets is texts, however they are held."""
    columns = PartColumns([part])
    assert columns.plain("texts", "attribute").type == pa.string()
    assert columns.read("texts", ["attribute", "text"]).schema.types == [pa.string(), pa.string()]


def test_a_column_is_read_once(part: Part, monkeypatch: pytest.MonkeyPatch):
    """What was read once is not read again, unless it was forgotten."""
    read = []
    encoded = Part.encoded
    monkeypatch.setattr(
        Part, "encoded", lambda self, table, names: read.append(table) or encoded(self, table, names)
    )
    columns = PartColumns([part])
    columns.arrays("texts", ["text"])
    columns.arrays("texts", ["text", "product_id", "attribute"])
    assert read == ["texts"]
    columns.forget()
    columns.arrays("texts", ["text"])
    assert read == ["texts", "texts"]
