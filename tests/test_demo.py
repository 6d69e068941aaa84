"""The demo's tables in a terminal: every table with its size, a few lines, and nothing that a supplier could run."""

from __future__ import annotations

from pathlib import Path

import prodex
from prodex.cli.demo import audit_the_sample, show_tables
from prodex.sandbox.sample import shared_products
from prodex.tables.declaration import TABLES


def shown(catalog: prodex.Catalog) -> list[str]:
    """Return what is said of a catalogue, line by line."""
    said: list[str] = []
    show_tables(catalog, said.append)
    return "\n".join(said).split("\n")


def test_every_table_is_shown_with_rows_columns_and_bytes() -> None:
    """In memory and on disk, and when there is nothing in it."""
    records = [{"id": i, "gtin": f"{i:014d}", "isTaggedBy": ["new"]} for i in range(10)]
    for catalog in (prodex.flatten([]), prodex.flatten(records), prodex.flatten(records).save("ten")):
        lines = shown(catalog)
        for name in TABLES:
            assert [
                line
                for line in lines
                if line.startswith(f"{name} ") and line.split()[1].replace(",", "").isdigit()
            ]
            assert [line for line in lines if line.startswith(f"{name}: one row per ")]
    assert "tags: one row per tag of a product (hasTags, isTaggedBy); 3 of 10" in lines
    assert ["00000000000000", "isTaggedBy", "new"] in [line.split() for line in lines]


def test_what_a_supplier_typed_moves_no_cursor_and_breaks_no_line() -> None:
    """Control characters are shown as replacement characters, long text is cut with a sign."""
    hostile = "\x1b[2Jgone\r\n\u202eevil" + "x" * 40_000
    text = [{"expressedIn": {"code": "eng-GB"}, "data": hostile}]
    lines = shown(prodex.flatten([{"id": 1, "description": text}]))

    assert [] == [line for line in lines if "\x1b" in line or "\u202e" in line or "\r" in line]
    assert max(map(len, lines)) < 150
    assert any("[2Jgone" in line and line.endswith("…") for line in lines)


def test_the_audit_of_the_sample_says_where_report_and_worklists_are(home: Path) -> None:
    """Figures, gaps, the worst owners; and both are there."""
    said: list[str] = []
    audit_the_sample(prodex.flatten(product.record for product in shared_products(60)), said.append)
    told = "\n".join(said)

    for words in ("Audit of 60 products", "largest gaps", "The 3 owners", "Completeness is not accuracy"):
        assert words in told, words
    (folder,) = (home / "reports").iterdir()
    assert (folder / "report.html").as_uri() in told
    assert str(folder / "to_fix") in told
    assert list((folder / "to_fix").glob("*.xlsx"))
