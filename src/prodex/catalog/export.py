"""Export of a catalogue to a folder of files, with messages for requests that can mean two things."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from prodex.advice import Argument, PythonCall, advice
from prodex.arguments import listed, names_given
from prodex.catalog.catalog import Catalog, known_table
from prodex.catalog.names import LOCALIZED, languages_given, origin_in, rows_in
from prodex.catalog.origin import chosen_as_json, scope_of
from prodex.catalog.part import Part
from prodex.errors import QueryError, SnapshotDamaged
from prodex.files.untrusted import leads_to_folder
from prodex.formats.exporting import ExportedFiles, ExportedTable, check_format, tables_in, write_export
from prodex.formats.registry import FORMATS, FormatName
from prodex.phrases import counted, hint
from prodex.progress import Progress, is_shown
from prodex.tables.declaration import TABLES

#: Endings of files: a folder that ends so is most likely meant as a file.
_ENDINGS = {ending: name for name, one in FORMATS.items() for ending in one.endings}


def export_catalog(
    catalog: Catalog,
    folder: str | Path,
    format: FormatName,
    *,
    tables: Any,
    columns: Any,
    languages: Any,
    escape_formulas: bool,
    progress: Progress,
) -> ExportedFiles:
    """Write tables of a catalogue to a folder; see `Catalog.export`."""
    # First of all, so that a mistake is reported before a folder is made.
    check_format(format, escape_formulas)
    place = _checked_folder(folder, format)
    counting = is_shown(progress)
    if FORMATS[format].holds_records:
        _refuse_parts(format, tables=tables, columns=columns, languages=languages)
        return write_export(
            exported_records(catalog),
            place,
            format,
            catalog.origin.to_json(),
            products=len(catalog),
            scope=scope_of(catalog.chosen, len(catalog)),
            chosen=chosen_as_json(catalog.chosen, len(catalog)),
            progress=progress,
        )
    chosen = selection_of(catalog, format, tables, columns, languages)
    spoken = chosen.languages
    origin = catalog.origin if spoken is None else origin_in(catalog.origin, spoken)
    missing = [name for name in TABLES if name not in chosen.tables]
    return write_export(
        {name: chosen.table(name, counting=counting) for name in chosen.tables},
        place,
        format,
        origin.to_json(),
        escape_formulas=escape_formulas,
        products=len(catalog),
        scope=scope_of(catalog.chosen, len(catalog)),
        chosen=chosen_as_json(catalog.chosen, len(catalog)),
        not_exported=missing,
        languages=spoken,
        left_out=_tables_left_out(
            missing, format, is_default=all(one is None for one in (tables, columns, languages))
        ),
        progress=progress,
    )


def _refuse_parts(format: FormatName, **options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise QueryError(
                advice(
                    "{name} chooses parts of tables, and format {format} holds whole records, from which all tables "
                    "are made again. Leave {name} out, or write another format such as 'parquet'.",
                    name=Argument(name),
                    format=repr(format),
                )
            )


def _tables_left_out(names: Sequence[str], format: FormatName, *, is_default: bool) -> list[str]:
    if not names:
        return []
    kept = [name for name in TABLES if name not in names]
    words = f": {', '.join(kept)}" if len(kept) < len(names) else f", without {', '.join(names)}"
    sentence = f"{len(kept)} of {len(TABLES)} tables{words}"
    if is_default and (own := [name for name in FORMATS[format].only_if_named if name in names]):
        sentence += f" ({FORMATS[format].title} has {', '.join(own)} only if you name it among the tables)"
    return [sentence]


def _checked_folder(folder: Any, format: FormatName) -> Path:
    if not isinstance(folder, str | os.PathLike) or not str(folder):
        raise QueryError(
            f"export() takes a folder to write to, such as catalog.export('out'), not {folder!r:.60}."
        )
    place = Path(folder)
    # A folder that is there is meant, whatever its name: "out.csv" may be one.
    if leads_to_folder(place):
        return place
    if isinstance(folder, str) and folder in FORMATS:  # a Path is never a format in the wrong place
        raise QueryError(
            f"{folder!r} is the name of a format, and export() takes the folder first. Write "
            f"catalog.export('out', {folder!r}), or catalog.export('./{folder}', {format!r}) for a folder of this name."
        )
    if meant := _ENDINGS.get(place.suffix.lower()):
        raise QueryError(
            advice(
                "{file} is the name of a file, and an export is a folder with a file for each table. Write {export} "
                "for a folder, with {table} where one table will do{single}; {wide} writes all that there is of a "
                "product beside it.",
                file=f"{str(folder)!r:.80}",
                export=PythonCall(
                    "catalog.export({folder}, {format!r})",
                    folder=f"{str(place.with_suffix(''))!r:.80}",
                    format=meant,
                ),
                table=PythonCall("tables=['products']"),
                single=PythonCall(
                    ", or {line} for a single file", line=FORMATS[meant].pandas_write.format(path=str(folder))
                ),
                wide=PythonCall("catalog.export_wide({path})", path="path"),
            )
        )
    return place


#: Columns that say which row this is: they are exported whatever else is. The other columns of a lexicon are values.
_KEYS = frozenset({"product_id", "gtin", "attribute", "position"})
_KEYS_OF_LEXICONS = frozenset({"attribute", "code", "short_code", "label_language"})

#: The table with all that was received, in whichever language, and not only rows of localized texts.
_RECORDS = "raw"


@dataclass(frozen=True)
class TablesToExport:
    """What is exported of a catalogue.

    Attributes
    ----------
    catalog
        The catalogue.
    tables
        The tables, in the order of the files.
    columns
        For each table the columns that are kept.
    languages
        Short codes of the languages whose rows are kept; None for all.
    """

    catalog: Catalog
    tables: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]
    languages: tuple[str, ...] | None = None

    def table(self, name: str, *, counting: bool) -> ExportedTable:
        """Return a table as it is exported; with `counting` its number of rows is known before they are written."""
        catalog, kept = self.catalog, self.columns[name]
        lacking = {column for part in catalog.parts for column in part.lacking.get(name, ())}
        gone = [column for column in catalog._columns(name) if column not in kept]
        gone += sorted(lacking - {*gone, *kept})
        localized = self.languages is not None and name in LOCALIZED
        in_all = catalog.row_count(name) if counting or localized else None
        rows = in_all
        if localized:
            rows = sum(batch.num_rows for batch in self._localized(name, ["attribute"])) if counting else None
        return ExportedTable(
            self._batches(name),
            TABLES[name].schema_of(kept),
            tuple(gone),
            rows,
            in_all if localized else None,
            f"in {', '.join(self.languages or ())}",
        )

    def _batches(self, name: str) -> Iterator[pa.RecordBatch]:
        kept = list(self.columns[name])
        if self.languages is None or (name not in LOCALIZED and "texts_count" not in kept):
            return self.catalog.batches(name, kept)
        return self._localized(name, kept) if name in LOCALIZED else self._products(kept)

    def _localized(self, name: str, kept: Sequence[str]) -> Iterator[pa.RecordBatch]:
        wanted = list(dict.fromkeys([*kept, *LOCALIZED[name]]))
        for table in self._pieces(name, wanted):
            yield from rows_in(table, name, self.languages or ()).select(kept).to_batches()

    def _pieces(self, name: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        if not TABLES[name].per_product:
            yield self.catalog.arrow(name, columns)
            return
        for part in self.catalog.parts:
            yield part.read(name, columns)

    def _products(self, kept: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the products with the number of only those texts that are exported."""
        for part in self.catalog.parts:
            products = part.read("products", kept)
            texts = rows_in(
                part.read("texts", ["product_id", *LOCALIZED["texts"]]), "texts", self.languages or ()
            )
            counts = texts["product_id"].value_counts()
            places = pc.index_in(products["product_id"].combine_chunks(), counts.field("values"))
            numbers = pc.fill_null(counts.field("counts").take(places), 0)
            yield from products.set_column(
                products.column_names.index("texts_count"), products.schema.field("texts_count"), numbers
            ).to_batches()


def selection_of(
    catalog: Catalog, format: FormatName, tables: Any, columns: Any, languages: Any
) -> TablesToExport:
    """Return what of a catalogue is to be exported.

    Raises
    ------
    QueryError
        When a table, column or language is not known, or they contradict each other.
    """
    named = None if tables is None else _tables(tables)
    chosen = [name for name in catalog._held if name in tables_in(format)] if named is None else named
    spoken = None if languages is None else _languages_to_export(catalog, languages)
    if spoken is not None:
        if named is not None and _RECORDS in named:
            raise QueryError(
                advice(
                    "{records} holds the records with all their languages, and {languages} is to leave some out. Leave "
                    "out one of both: {records} in {tables}, or {languages}.",
                    records=_RECORDS,
                    languages=Argument("languages"),
                    tables=Argument("tables"),
                )
            )
        chosen = [name for name in chosen if name != _RECORDS]
    kept = {name: tuple(catalog._columns(name)) for name in chosen} if columns is None else None
    if kept is None:
        kept = (
            _of_each(catalog, chosen, columns, is_named=named is not None)
            if isinstance(columns, Mapping)
            else _of_all(catalog, chosen, columns, is_named=named is not None)
        )
    return TablesToExport(catalog, tuple(kept), kept, spoken)


def _tables(tables: Any) -> list[str]:
    names = [tables] if isinstance(tables, str) else tables
    if not isinstance(names, Iterable):
        raise QueryError(f"tables={tables!r:.60} does not hold names. Write tables=['products', 'texts'].")
    chosen = list(dict.fromkeys(map(known_table, names)))
    if not chosen:
        raise QueryError("tables=[] names no table. Leave it out to write all, or write tables=['products'].")
    return chosen


def _languages_to_export(catalog: Catalog, languages: Any) -> tuple[str, ...]:
    given = names_given(listed("languages", languages), "export", "languages")
    return tuple(languages_given(catalog, given, "export"))


def _names(columns: Any) -> list[str]:
    return names_given(listed("columns", columns), "export", "columns")


def _of_each(
    catalog: Catalog, tables: Sequence[str], columns: Mapping[Any, Any], *, is_named: bool
) -> dict[str, tuple[str, ...]]:
    """Return the columns to keep where they are given for some of the tables; the others are kept whole."""
    chosen = {known_table(name): catalog._checked(name, _names(given)) for name, given in columns.items()}
    if strangers := [name for name in chosen if name not in tables]:
        why = "which tables leaves out" if is_named else "which is not exported unless tables names it"
        raise QueryError(
            f"columns names {strangers[0]}, {why}. Add it to tables, or leave it out of columns."
        )
    return {
        name: _with_keys(catalog, name, chosen[name]) if name in chosen else tuple(catalog._columns(name))
        for name in tables
    }


def _of_all(
    catalog: Catalog, tables: Sequence[str], columns: Any, *, is_named: bool
) -> dict[str, tuple[str, ...]]:
    """Return the columns to keep where they are given for all tables alike.

    A table that has none of them is left out, unless it is named; `products` stays for the others to refer to.
    """
    names = _names(columns)
    there = {name: catalog._columns(name) for name in tables}
    every = sorted({column for own in there.values() for column in own})
    for column in names:
        if column not in every:
            for name in tables:  # one that an earlier export left out is not known, rather than wrong
                for part in catalog.parts:
                    part.require(name, [column])
            near = hint(column, every, "catalog.dictionary lists the columns.")
            raise QueryError(f"There is no column {column!r:.60} in {', '.join(tables)}{near}")
    values = set(names) - _KEYS
    return {
        name: _with_keys(catalog, name, names)
        for name in tables
        if is_named or name == "products" or values & set(there[name])
    }


def _with_keys(catalog: Catalog, table: str, names: Sequence[str]) -> tuple[str, ...]:
    keys = _KEYS if TABLES[table].per_product else _KEYS_OF_LEXICONS
    return tuple(name for name in catalog._columns(table) if name in keys or name in names)


def exported_records(catalog: Catalog) -> dict[str, ExportedTable]:
    """Return the records of a catalogue as they are exported, and what is no part of any record.

    Raises
    ------
    NotExported
        When the catalogue has no records.
    """
    for part in catalog.parts:
        part.require(_RECORDS, ["product_id", "json"])
    sizes = tuple(part.size for part in catalog.parts if part.size)
    rows = _whole_records(catalog.parts)
    tables = {
        "products": ExportedTable(rows, TABLES[_RECORDS].schema, rows=len(catalog), parts=sizes),
    }
    # Labels in further languages are from replies of their own.
    if catalog.row_count("code_labels"):
        labels = TABLES["code_labels"].schema
        count = catalog.row_count("code_labels")
        tables["code_labels"] = ExportedTable(catalog.batches("code_labels"), labels, rows=count)
    return tables


def _whole_records(parts: Sequence[Part]) -> Iterator[pa.RecordBatch]:
    for part in parts:
        rows = part.read(_RECORDS)
        if rows.num_rows != part.size:
            raise SnapshotDamaged(
                f"A part has {counted(rows.num_rows, 'record')} of {counted(part.size, 'product')}. Open an earlier "
                "snapshot, or load again; other formats export the tables without the records."
            )
        yield from rows.to_batches()
