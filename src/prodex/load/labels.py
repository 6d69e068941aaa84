"""Labels of codes in further languages, loaded with as few products as contain every code.

The service writes the labels of a reply in one language. Loading everything again for each language would cost as many
calls; but the same codes are in very many products, so a few products that together contain all of them are enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from prodex.catalog.part import Part
from prodex.progress import Phase, Reporter
from prodex.query import ProductQuery
from prodex.service import Client, pages
from prodex.store.parts import StoredPart, rewrite_table
from prodex.tables.codes import Code, code_values, declared_codes
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import decoded, flatten_products

#: GTINs by which a product can be requested.
_GTIN = re.compile("[0-9]{1,14}")


def load_code_labels(
    service: Client,
    query: ProductQuery,
    languages: Sequence[str],
    parts: Sequence[StoredPart],
    folder: Path,
    reporter: Reporter,
) -> list[StoredPart]:
    """Load the labels of codes in further languages, each once, into `code_labels` of the first part."""
    with reporter.phase("Loading labels in further languages", "products") as phase:
        return _with_labels(service, query, languages, parts, folder, phase)


def _with_labels(
    service: Client,
    query: ProductQuery,
    languages: Sequence[str],
    parts: Sequence[StoredPart],
    folder: Path,
    phase: Phase,
) -> list[StoredPart]:
    opened = [part.open(folder) for part in parts]
    known = pa.concat_tables([part.read("code_labels") for part in opened]).to_pylist()
    names = TABLES["code_labels"].schema.names
    rows = {tuple(row[name] for name in names[:3]): tuple(row[name] for name in names[3:]) for row in known}
    chosen = _fewest_products(opened, {(attribute, code) for attribute, code, _ in rows})
    if not chosen:
        return list(parts)
    again = replace(query, gtins_in=tuple(chosen))
    total = len(chosen) * len(languages)
    for language in languages:
        # A product that was removed meanwhile is no reason to fail: its codes then have no label in this language.
        for page in pages(service, again, accept_language=language, progress=False, report=lambda _: None):
            phase(phase.done + len(page), total)
            tables = decoded(flatten_products([bytes(product) for product in page.envelope.data]))
            for attribute, code, label, description in code_values(tables):
                if label is not None or description is not None:
                    rows[attribute, code, language] = (label, description)
    labels = [dict(zip(names, (*key, *value), strict=True)) for key, value in sorted(rows.items())]
    table = pa.Table.from_pylist(labels, TABLES["code_labels"].schema)
    return [rewrite_table(parts[0], folder, "code_labels", table), *parts[1:]]


def _fewest_products(parts: Iterable[Part], known: Collection[Code]) -> list[str]:
    """Choose GTINs that together contain every code: products with many codes first, then for missing codes."""
    codes_of: dict[str, set[Code]] = {}

    def see(gtin: str | None, attribute: str, code: str | None) -> None:
        if code and (attribute, code) not in known and _GTIN.fullmatch(gtin or ""):
            codes_of.setdefault(str(gtin), set()).add((attribute, code))

    for part in parts:
        for row in part.read("codes", ["gtin", "attribute", "code"]).to_pylist():
            see(row["gtin"], row["attribute"], row["code"])
        for one in declared_codes():
            for row in part.read(one.table, ["gtin", one.code]).to_pylist():
                see(row["gtin"], one.attribute, row[one.code])
    # Greedy, and good enough: the fewest products would be a set cover, which takes exponential time.
    chosen: dict[Code, str] = {}
    for gtin in sorted(codes_of, key=lambda gtin: (-len(codes_of[gtin]), gtin)):
        for value in codes_of[gtin]:
            chosen.setdefault(value, gtin)
    return sorted(set(chosen.values()))
