"""How to add an export format: a module that writes and reads one table, and its entry in the registry."""

from __future__ import annotations

import pytest

from tests.extending.changed_source import ChangedSource

pytestmark = pytest.mark.slow

MODULE = '''
"""NDJSON: one object per row, in the order of the table."""

import json

import pyarrow as pa


def write_ndjson(batches, schema, path):
    """Write one table; all texts are in it as they are."""
    with path.open("w", encoding="utf-8") as file:
        for batch in batches:
            file.writelines(json.dumps(row, default=str) + "\\n" for row in batch.to_pylist())
    return 0


def read_ndjson(path, schema, *, escape_formulas, limits):
    """Read one table back."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    columns = {field.name: pa.array([row[field.name] for row in rows]) for field in schema}
    return pa.table({name: values.cast(schema.field(name).type) for name, values in columns.items()}, schema=schema)
'''

ENTRY = """
"ndjson": ExportFormat(
    "NDJSON (rows)",
    write_ndjson,
    read_ndjson,
    "Every line is one row as JSON.",
    "pandas.read_json({path!r}, lines=True)",
    "catalog.products.to_json({path!r}, orient='records', lines=True)",
    (".ndjson",),
),
"""

USED = """
import ipywidgets
import pytest
import prodex


catalog = prodex.flatten([{"id": 7, "brand": {"code": "ACME", "label": '"quoted" '}}, {"id": 8, "brand": None}])

# The catalogue writes it, read_export reads it, and mistakes are explained with it.
paths = catalog.export("out", "ndjson", tables=["products", "texts"])
assert [path.name for path in paths] == ["products.ndjson", "texts.ndjson", "datapackage.json"]
assert prodex.read_export("out").products.equals(catalog.products)
with pytest.raises(prodex.errors.QueryError, match="did you mean 'ndjson'"):
    catalog.export("out", "ndjsn")
with pytest.raises(prodex.errors.QueryError, match="to_json"):
    catalog.export("list.ndjson")

# The explorer proposes it.
explorer = prodex.explore(catalog)
explorer.app.act("fold.set", key="export", is_open=True)
assert "NDJSON (rows)" in str(explorer.app.view())
catalog.save("shop")
"""


def test_an_export_format_is_a_module_and_its_entry(source: ChangedSource) -> None:
    """A new format is written, read back, named in messages, and proposed on the command line and in the explorer."""
    source.append("prodex/formats/ndjson_rows.py", MODULE)
    source.insert(
        "prodex/formats/registry.py",
        "from prodex.formats.xlsx_files",
        "from prodex.formats.ndjson_rows import read_ndjson, write_ndjson\n",
    )
    source.insert("prodex/formats/registry.py", '"parquet": ExportFormat(', ENTRY)
    source.replace("prodex/formats/registry.py", '"xlsx", "jsonl"]', '"xlsx", "jsonl", "ndjson"]')
    assert {"prodex/formats/ndjson_rows.py", "prodex/formats/registry.py"} == source.files
    help_, written = source.python(USED, "export --help", "export shop --format ndjson --to again")
    assert "ndjson" in help_
    assert "texts.ndjson" in written
