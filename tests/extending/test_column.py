"""How to add a column: one line in the declaration of its table."""

from __future__ import annotations

import pytest

from tests.extending.changed_source import ChangedSource

pytestmark = pytest.mark.slow

ADDED = """
leaf("is_recalled", "isRecalled", "boolean", "recalled by its manufacturer"),
"""

USED = """
import json
import prodex
from prodex.tables.flatten import decoded, flatten_products
from prodex.tables.plain_walk import flatten_one

record = {"id": 7, "gtin": "03036811359935", "isRecalled": True}
catalog = prodex.flatten([record, {"id": 8, "isRecalled": "perhaps"}])

# Both ways of flattening agree, and what does not fit the column is kept elsewhere.
fast = decoded(flatten_products([json.dumps(record).encode()]))["products"].to_pylist()
assert fast[0]["is_recalled"] is True
assert flatten_one(record)["products"][0]["is_recalled"] is True
assert catalog.products["is_recalled"].tolist()[0] is True
assert catalog.scalars[["attribute", "value"]].to_numpy().tolist() == [["isRecalled", "perhaps"]]

# It is in snapshots, exports and what comes back from them, and products can be chosen by it.
catalog.save("shop")
assert prodex.open_snapshot("shop").where(is_recalled=True).products["product_id"].tolist() == ["7"]
for format in ("csv", "xlsx", "parquet", "jsonl"):
    named = list(catalog.tables.index) if format == "csv" else None
    catalog.export(f"out-{format}", format, tables=named)
    assert prodex.read_export(f"out-{format}").equals(catalog), format

# The data dictionary says what it means.
words = catalog.dictionary.set_index("column").loc["is_recalled", "meaning"]
assert words == "recalled by its manufacturer"
"""


def test_a_column_is_one_line_in_one_file(source: ChangedSource) -> None:
    """A new column is flattened, saved, exported, read back, filtered by and documented."""
    source.insert("prodex/tables/declaration.py", 'leaf("life_cycle"', ADDED)
    assert {"prodex/tables/declaration.py"} == source.files
    (described,) = source.python(USED, "tables products")
    assert "recalled by its manufacturer" in described
