"""Labels of codes in further languages, loaded with as few products as contain every code.

The service writes the labels of a reply in one language. Loading everything again for each language would cost as many
calls; but the same codes are in very many products, so a few products that together contain all of them are enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from prodex.catalog.load_ledger import Ledger
from prodex.catalog.part import Part
from prodex.gtin import comparable
from prodex.phrases import counted
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
) -> tuple[list[StoredPart], list[str]]:
    """Load the labels of codes in further languages, each once, into `code_labels` of the first part.

    Returns
    -------
    tuple of list of StoredPart and list of str
        The parts, and a note for each language in which labels did not come.
    """
    with reporter.phase("Loading labels in further languages", "products") as phase:
        return _with_labels(service, query, languages, parts, folder, phase)


def _with_labels(
    service: Client,
    query: ProductQuery,
    languages: Sequence[str],
    parts: Sequence[StoredPart],
    folder: Path,
    phase: Phase,
) -> tuple[list[StoredPart], list[str]]:
    opened = [part.open(folder) for part in parts]
    known = pa.concat_tables([part.read("code_labels") for part in opened]).to_pylist()
    names = TABLES["code_labels"].schema.names
    rows = {tuple(row[name] for name in names[:3]): tuple(row[name] for name in names[3:]) for row in known}
    # What did not come in one of the languages is asked for again.
    in_all = set.intersection(*({key[:2] for key in rows if key[2] == language} for language in languages))
    chosen = _fewest_products(opened, in_all)
    if not chosen:
        return list(parts), []
    again = replace(query, gtins_in=tuple(chosen))
    total = len(chosen) * len(languages)
    notes = []
    for language in languages:
        # A product that was removed meanwhile is no reason to fail: its codes then have no label in this language.
        ledgers: list[Ledger] = []
        for page in pages(service, again, accept_language=language, progress=False, report=ledgers.append):
            phase(phase.done + len(page), total)
            tables = decoded(flatten_products([bytes(product) for product in page.envelope.data]))
            for attribute, code, label, description in code_values(tables):
                if label is not None or description is not None:
                    rows[attribute, code, language] = (label, description)
        absent = {gtin for ledger in ledgers for gtin in ledger.missing_gtins}
        lost = {
            code
            for gtin, codes in chosen.items()
            if comparable(gtin) in absent
            for code in codes
            if (*code, language) not in rows
        }
        if lost:
            notes.append(
                f"labels in {language} did not come for {counted(len(lost), 'code')}: of "
                f"{counted(len(chosen), 'product')} that were requested for labels, {len(absent):,} did not come"
            )
    labels = [dict(zip(names, (*key, *value), strict=True)) for key, value in sorted(rows.items())]
    table = pa.Table.from_pylist(labels, TABLES["code_labels"].schema)
    return [rewrite_table(parts[0], folder, "code_labels", table), *parts[1:]], notes


def _fewest_products(parts: Iterable[Part], known: Collection[Code]) -> Mapping[str, set[Code]]:
    """Choose GTINs that together contain every code, each with its codes: products with many codes first."""
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
    return {gtin: codes_of[gtin] for gtin in sorted(set(chosen.values()))}
