"""How a catalogue looks: its contents, its time, whether it is complete, and where it is stored."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import TYPE_CHECKING

from prodex.advice import Advice, PythonCall, advice, together
from prodex.catalog.origin import scope_of
from prodex.display.html_tables import block, table
from prodex.files.atomic import relative_to_working_folder
from prodex.phrases import counted, moment_in_words
from prodex.tables.declaration import TABLES
from prodex.untrusted_text import on_one_line

if TYPE_CHECKING:
    from prodex.catalog.catalog import Catalog


#: Reasons for products that were set aside.
_SHOWN = 5


def text_of(catalog: Catalog, *, tables: bool = True) -> Advice:
    """Return a catalogue in words, with the rows of its tables or without; the query is named as Python has it."""
    width = max(map(len, TABLES))
    rows = [
        f"  {name:<{width}} {rows:>12,} rows  one per {TABLES[name].row}"
        for name, rows in (_filled_tables(catalog) if tables else ())
    ]
    lines = (line if isinstance(line, Advice) else on_one_line(line) for line in _catalog_lines(catalog))
    return together(*lines, *rows, by="\n")


def html_of(catalog: Catalog) -> str:
    """Return a catalogue as a small table for a notebook."""
    headline, *others = _catalog_lines(catalog)
    frame = catalog.tables
    rows = [
        (name, row["rows"], row["columns"], row["one row per"])
        for name, row in frame[frame["rows"] > 0].to_dict("index").items()
    ]
    headings = ["table", "rows", "columns", "one row per"]
    filled = table(
        f"{counted(len(rows), 'table')} with rows", headings, rows, numbers=headings[1:3], codes=headings[:1]
    )
    return block(headline, [(line, line.startswith("incomplete")) for line in others], [filled])


def _filled_tables(catalog: Catalog) -> Iterator[tuple[str, int]]:
    """Yield the tables with rows; empty ones would hide those that there is something to do with."""
    # Not from `catalog.tables`, which counts columns as well: for those of `presence` every part is looked at.
    left_out = _tables_not_loaded(catalog)
    for name in TABLES:
        if name not in left_out and (rows := catalog.row_count(name)):
            yield name, rows


def _tables_not_loaded(catalog: Catalog) -> list[str]:
    return [name for name in TABLES if not all(part.holds(name) for part in catalog.parts)]


def _columns_left_out(catalog: Catalog) -> dict[str, int]:
    """Return how many columns of which tables an export left out."""
    lacking: dict[str, set[str]] = {}
    for part in catalog.parts:
        for name, columns in part.lacking.items():
            lacking.setdefault(name, set()).update(columns)
    return {name: len(columns) for name, columns in lacking.items()}


def _catalog_lines(catalog: Catalog) -> Iterator[str]:
    origin, ledger = catalog.origin, catalog.origin.ledger
    is_part = len(catalog) < ledger.distinct
    all_of_them = f"{len(catalog):,}{f' of {ledger.distinct:,}' if is_part else ''} products"
    scope = scope_of(catalog.chosen, len(catalog))
    yield f"Catalogue of {all_of_them if scope is None else scope.removesuffix('.')}"
    when = origin.server_time or origin.loaded_at
    yield f"from {origin.source}" + (f", {moment_in_words(when, zone=UTC)}" if when else "")
    if origin.query is not None:
        yield advice("asked for {query}", query=PythonCall("{query!r}", query=origin.query))
    if (extent := origin.extent) is not None:
        yield f"made of columns: {counted(len(extent.attributes), 'attribute')}; of all others nothing is known"
        if extent.in_part:
            yield f"not every value could be read of {', '.join(extent.in_part)}"
    yield f"{'complete' if origin.complete else 'incomplete'}: {ledger}"
    yield from (f"set aside: {reason}" for reason in ledger.set_aside[:_SHOWN])
    if len(every := ledger.set_aside) > _SHOWN:
        yield advice(
            "set aside: {shown} of {every} shown{all}",
            shown=_SHOWN,
            every=f"{len(every):,}",
            all=PythonCall("; all in catalog.origin.ledger.set_aside"),
        )
    yield from (f"note: {note}" for note in ledger.notes)
    # A file from disk may have fewer tables, which must not be taken for empty ones.
    if left_out := _tables_not_loaded(catalog):
        yield f"not exported, and so not here: {', '.join(left_out)}"
    for name, columns in _columns_left_out(catalog).items():
        kept = len(catalog._columns(name))
        yield f"not exported in full: {kept:,} of {kept + columns:,} columns of {name}"
    is_chosen_now = any(part.chosen is not None for part in catalog.parts)
    if catalog.published is not None:
        yield f"{'chosen from what is' if is_chosen_now else 'as'} published at {catalog.published}"
    elif catalog.folder is None:
        yield advice("in memory{keep}", keep=PythonCall("; catalog.save(name) keeps it"))
    else:
        stored = "chosen from the snapshot" if is_chosen_now else "snapshot"
        yield f"{stored} in {relative_to_working_folder(catalog.folder)}"
