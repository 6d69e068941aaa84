"""How to add a table: its declaration, and the property by which a catalogue shows it."""

from __future__ import annotations

import pytest

from tests.extending.changed_source import ChangedSource

pytestmark = pytest.mark.slow

#: The property is written by `python tests/test_catalog_tables.py --write`, here shortened.
PROPERTY = '''
    @property
    def promotions(self) -> pd.DataFrame:
        """One row per promotion."""
        return self._frame("promotions")
'''

ADDED = """
_child(
    "promotions",
    "promotion",
    leaf("code", "promotionCode", "code", "code of the promotion"),
    leaf("discount", "discount", "number", "discount, percent"),
    anchors=("promotions",),
),
"""

USED = """
import json
import prodex
from prodex.tables.flatten import decoded, flatten_products
from prodex.tables.plain_walk import flatten_one

record = {"id": 7, "promotions": [{"promotionCode": "A", "discount": 10}, {"promotionCode": 5, "left": "over"}]}
expected = [["7", "0", "A", 10.0], ["7", "1", "5", None]]
columns = ["product_id", "position", "code", "discount"]

# Both ways of flattening agree, and what has no column is kept elsewhere.
fast = decoded(flatten_products([json.dumps(record).encode()]))["promotions"]
assert [[row[name] for name in columns] for row in fast.to_pylist()] == expected
assert [[row[name] for name in columns] for row in flatten_one(record)["promotions"]] == expected
catalog = prodex.flatten([record])
assert catalog.promotions["code"].tolist() == ["A", "5"]
assert catalog.products["promotions_count"].tolist() == [2]
assert catalog.scalars["attribute"].tolist() == ["promotions.left"]

# It is in snapshots, exports, what comes back from them, and SQL.
catalog.save("shop")
assert prodex.open_snapshot("shop").row_count("promotions") == 2
for format in ("csv", "xlsx", "parquet", "jsonl"):
    named = list(catalog.tables.index) if format == "csv" else None
    catalog.export(f"out-{format}", format, tables=named)
    assert prodex.read_export(f"out-{format}").equals(catalog), format
assert set(catalog.dictionary.query("table == 'promotions'")["column"]) >= set(columns)
"""


def test_a_table_is_declared_in_one_file_and_shown_by_a_second(source: ChangedSource) -> None:
    """A new child table is flattened, counted, saved, exported, read back and documented."""
    source.insert("prodex/tables/declaration.py", "_HIERARCHIES,", ADDED)
    source.append("prodex/catalog/table_properties.py", PROPERTY)
    assert {"prodex/tables/declaration.py", "prodex/catalog/table_properties.py"} == source.files
    (described,) = source.python(USED, "tables promotions")
    assert "discount, percent" in described
