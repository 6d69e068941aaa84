"""Labels of codes in further languages, loaded with as few products as contain every code.

The service writes the labels of a reply in one language. Loading everything again for each language would cost as many
calls; but the same codes are in very many products, so a few products that together contain all of them are enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from prodex.catalog.part import Part
from prodex.progress import Reporter, Show
from prodex.query import ProductQuery
from prodex.service import Client, pages
from prodex.store.parts import StoredPart, rewrite_table
from prodex.tables.declaration import TABLES, Column
from prodex.tables.flatten import decoded, flatten_products

Code = tuple[str, str]

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
    with reporter.phase("Loading labels in further languages", "products") as show:
        return _with_labels(service, query, languages, parts, folder, show)


def _with_labels(
    service: Client,
    query: ProductQuery,
    languages: Sequence[str],
    parts: Sequence[StoredPart],
    folder: Path,
    show: Show,
) -> list[StoredPart]:
    opened = [part.open(folder) for part in parts]
    known = pa.concat_tables([part.read("code_labels") for part in opened]).to_pylist()
    names = TABLES["code_labels"].schema.names
    rows = {tuple(row[name] for name in names[:3]): tuple(row[name] for name in names[3:]) for row in known}
    chosen = _fewest_products(opened, {(attribute, code) for attribute, code, _ in rows})
    if not chosen:
        return list(parts)
    again = replace(query, gtins_in=tuple(chosen))
    received, total = 0, len(chosen) * len(languages)
    for language in languages:
        # A product that was removed meanwhile is no reason to fail: its codes then have no label in this language.
        for page in pages(service, again, accept_language=language, progress=False, report=lambda _: None):
            received += len(page)
            show(received, max(total, received))
            tables = decoded(flatten_products([bytes(product) for product in page.envelope.data]))
            for attribute, code, label, description in code_values(tables):
                if label is not None or description is not None:
                    rows[attribute, code, language] = (label, description)
    labels = [dict(zip(names, (*key, *value), strict=True)) for key, value in sorted(rows.items())]
    table = pa.Table.from_pylist(labels, TABLES["code_labels"].schema)
    return [rewrite_table(parts[0], folder, "code_labels", table), *parts[1:]]


def code_values(tables: dict[str, pa.Table]) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Yield attribute, code, label and description of every code value of a catalogue, in whichever table it is."""
    yield from _distinct_codes(tables["codes"], "attribute", ("code", "label", "description"))
    for name, attribute, columns in _declared_codes():
        for row in _distinct_codes(tables[name], None, columns):
            yield attribute, *row[1:]


def _fewest_products(parts: Iterable[Part], known: Collection[Code]) -> list[str]:
    """Choose GTINs that together contain every code: products with many codes first, then for missing codes."""
    codes_of: dict[str, set[Code]] = {}

    def see(gtin: str | None, attribute: str, code: str | None) -> None:
        if code and (attribute, code) not in known and _GTIN.fullmatch(gtin or ""):
            codes_of.setdefault(str(gtin), set()).add((attribute, code))

    for part in parts:
        for row in part.read("codes", ["gtin", "attribute", "code"]).to_pylist():
            see(row["gtin"], row["attribute"], row["code"])
        for name, attribute, (code, _, _) in _declared_codes():
            for row in part.read(name, ["gtin", code]).to_pylist():
                see(row["gtin"], attribute, row[code])
    # Greedy, and good enough: the fewest products would be a set cover, which takes exponential time.
    chosen: dict[Code, str] = {}
    for gtin in sorted(codes_of, key=lambda gtin: (-len(codes_of[gtin]), gtin)):
        for value in codes_of[gtin]:
            chosen.setdefault(value, gtin)
    return sorted(set(chosen.values()))


def _declared_codes() -> Iterator[tuple[str, str, tuple[str, str, str | None]]]:
    """Yield the code values with columns of their own: table, attribute (wire path), columns."""
    for table in TABLES.values():
        for prefix, columns in _code_columns(table.columns).items():
            attribute = ".".join([*table.anchors[0].split("."), *prefix]).lstrip(".")
            yield table.name, attribute, columns


def _code_columns(columns: Sequence[Column]) -> dict[tuple[str, ...], tuple[str, str, str | None]]:
    """Return code, label and description columns of a table, by the wire path of their object."""
    by_path = {path: column.name for column in columns for path in column.paths[:1]}
    return {
        path[:-1]: (name, by_path[*path[:-1], "label"], by_path.get((*path[:-1], "description")))
        for path, name in by_path.items()
        if path[-1:] == ("code",) and (*path[:-1], "label") in by_path
    }


def _distinct_codes(
    table: pa.Table, attribute: str | None, columns: tuple[str, str, str | None]
) -> set[tuple[str, str, str | None, str | None]]:
    names = [name for name in (attribute, *columns) if name is not None]
    rows = table.select(names).group_by(names).aggregate([]).to_pylist()
    code, label, description = columns
    # A table without one of the columns has no such key: then the attribute is "", and the description None.
    return {
        (row.get(attribute, ""), row[code], row[label], row.get(description))
        for row in rows
        if row[code] is not None
    }
