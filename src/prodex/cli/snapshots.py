"""The commands about snapshots on this machine: list, verify, remove, export, publish, compare, download pictures."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, cast

import pandas as pd
import typer

import prodex
from prodex.catalog import Catalog
from prodex.catalog.origin import scope_of
from prodex.cli.options import By, OutputOptions, Select, Snapshot, SnapshotName, TextLanguages, command
from prodex.cli.output import Format, aligned, say
from prodex.cli.typed_numbers import integer
from prodex.cli.words import of_terminal
from prodex.errors import InputError, QueryError
from prodex.formats.exporting import ExportedFiles
from prodex.formats.registry import FORMATS, FormatName
from prodex.phrases import counted, hint_and_all
from prodex.tables.declaration import TABLES, data_dictionary

app: typer.Typer = typer.Typer()

#: Products on a contact sheet, and the length of the longest side of its pictures in pixels: larger ones make a page
#: that browsers open slowly.
_ON_ONE_PAGE = 500
#: Snapshots that a terminal of 24 lines shows below the command, with a line about the rest.
_ON_ONE_SCREEN = 20
#: Characters of the time of a snapshot up to its second: 2026-11-13T081500.
_TO_THE_SECOND = 17
_SHOWN_SIZE = 160


@command(app, example="prodex snapshots shop --verify")
def snapshots(
    output: OutputOptions,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Only snapshots of this name.")] = "*",
    every: Annotated[
        bool, typer.Option("--all", help=f"List more than the newest {_ON_ONE_SCREEN} on the terminal.")
    ] = False,
    check: Annotated[bool, typer.Option("--verify", help="Check every file against its digest.")] = False,
) -> None:
    """List the snapshots on this machine, the newest first.

    Files have all columns: the folder of each, its number among those of its name, its bytes.
    """
    listed = prodex.list_snapshots(name)
    if listed.empty and name != "*":
        prodex.open_snapshot(name)  # there is none: the error names those that there are
    is_read_by_people = output.format is Format.TABLE and output.out is None
    if listed.empty and is_read_by_people:
        say("No snapshot yet. `prodex load --service sandbox --name sample` makes one.")
        return
    # Reversed first: of two with the same time, the one that was published later is above.
    listed = listed[::-1].sort_values("time", ascending=False, kind="stable", ignore_index=True)
    if is_read_by_people:
        _say_snapshots(listed, listed if every else listed.head(_ON_ONE_SCREEN))
    else:
        output.show(listed)
    # Sentences behind JSON or CSV would make it none.
    verdict = partial(say, aside=not is_read_by_people)
    damaged = 0
    for folder, note in zip(listed["folder"], listed["note"], strict=True) if check else ():
        try:
            files = prodex.verify(folder)
        # Files without their manifest, and a name that nobody may read.
        except prodex.errors.SnapshotNotFound:
            damaged += 1
            verdict(note)
            continue
        # One damaged snapshot must not hide the state of the others.
        except (prodex.errors.SnapshotDamaged, prodex.errors.OtherLayout) as error:
            damaged += 1
            verdict(f"{folder}: {error}")
            continue
        bad = files[~files["ok"]]
        damaged += len(bad)
        if Path(folder).is_symlink():  # by its path it can be verified, and by its name nothing opens it
            damaged += 1
            verdict(note)
        verdict(f"{folder}: {len(files) - len(bad)} of {len(files)} files as written")
        for row in bad.itertuples():
            verdict(f"  {row.file}: {row.problem}")
    if damaged:
        raise typer.Exit(1)


def _say_snapshots(listed: pd.DataFrame, shown: pd.DataFrame) -> None:
    """Show snapshots by the words that other commands take for them, and how to see the rest."""
    # A second tells two snapshots apart, nearly always.
    names = listed["name"] + "@" + listed["time"].str.slice(stop=_TO_THE_SECOND)
    names = names.mask(names.duplicated(keep=False), listed["name"] + "@" + listed["time"])
    rows = [("snapshot", "products", "MB", "")]
    for name, row in zip(names, shown.to_dict("records"), strict=False):
        is_read = not pd.isna(row["products"])
        note = row["note"] or ("" if row["complete"] else "incomplete")
        size = f"{row['bytes'] / 1e6:,.1f}" if is_read else ""
        rows.append((name, f"{row['products']:,}" if is_read else "", size, note))
    for line in aligned(rows):
        say(line)
    if len(shown) < len(listed):
        say(f"The newest {len(shown)} of {len(listed):,}; --all lists the rest.")


@command(app, example="prodex vacuum shop --keep 3 --dry-run")
def vacuum(
    name: SnapshotName,
    output: OutputOptions,
    keep: Annotated[int, typer.Option(parser=integer, help="Number of newest snapshots to keep.")] = 3,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
) -> None:
    """Remove all but the newest snapshots of a name.

    The files of interrupted loads are removed as well.
    """
    removed = prodex.vacuum(name, keep=keep, dry_run=dry_run)
    output.show(removed)
    if output.format is Format.TABLE:
        done = "would be removed and would free" if dry_run else "removed, which freed"
        say(f"{len(removed)} {done} {removed['bytes_freed'].sum():,} bytes")


@command(app, example="prodex tables texts")
def tables(
    table: Annotated[str, typer.Argument(metavar="[TABLE]", help="Show the columns of this table.")] = "",
) -> None:
    """Show the tables of a catalogue, or the columns of one.

    Each column has its type, its path in the JSON of the service, and its meaning.
    """
    if table and table not in TABLES:
        near = hint_and_all(table, TABLES, f"Give one of {', '.join(TABLES)}.")
        raise QueryError(f"There is no table {table!r}{near}")
    rows = (
        data_dictionary(table) if table else [(one.name, f"one row per {one.row}") for one in TABLES.values()]
    )
    for line in aligned(rows):
        say(line)


@command(app, example="prodex export shop --format csv --to out/")
def export(
    snapshot: Snapshot,
    to: Annotated[Path, typer.Option(help="Folder to write to; with --wide, the file.")],
    format: Annotated[
        str | None,
        typer.Option(
            help=f"One of {', '.join(FORMATS)}; parquet by default. With --wide, the file says it.",
            show_default=False,
        ),
    ] = None,
    wide: Annotated[
        list[str],
        typer.Option(
            help="Write one table, a row for each product and its labels beside its codes, with texts in these "
            "languages: fr,nl (or all)."
        ),
    ] = [],  # noqa: B006
    table: Annotated[list[str], typer.Option(help="Only this table (repeat).")] = [],  # noqa: B006
    column: Annotated[
        list[str],
        typer.Option(help="Only this column: brand, or products.brand to keep other tables whole (repeat)."),
    ] = [],  # noqa: B006
    language: TextLanguages = [],  # noqa: B006
    select: Select = None,
    escape_formulas: Annotated[
        bool, typer.Option("--escape-formulas", help="Write CSV that is safe to open in a spreadsheet.")
    ] = False,
) -> None:
    """Write the tables of a snapshot to files.

    --wide writes one table to one file, for Excel and Power BI.
    prodex.read_export reads the tables back. CSV has the table raw only with --table raw; jsonl holds the records as
    they were received, one a line.
    """
    catalog = prodex.open_snapshot(snapshot)
    if select is not None:
        catalog = catalog.where(prodex.Selection.read(select))
    if wide:
        tables = {"--table": table, "--language": language}
        written = _written_wide(catalog, to, format, wide, column, tables, escape_formulas=escape_formulas)
    else:
        # `export` refuses an unknown format, with the same message as in Python.
        written = catalog.export(
            to,
            cast(FormatName, format or "parquet"),
            tables=table or None,
            columns=_chosen_columns(column) if column else None,
            languages=language or None,
            escape_formulas=escape_formulas,
        )
    for path in written:
        say(f"{path}  {path.stat().st_size:,} bytes")
    if scope := scope_of(catalog.chosen, len(catalog)):
        say(f"Written: {scope}", aside=True)
    for sentence in written.left_out:
        say(f"Written: {sentence}.", aside=True)


def _written_wide(
    catalog: Catalog,
    to: Path,
    format: str | None,
    wide: list[str],
    columns: list[str],
    of_tables: Mapping[str, list[str]],
    *,
    escape_formulas: bool,
) -> ExportedFiles:
    """Write one table to one file, and refuse what is about the files of many tables."""
    if named := next((option for option, values in of_tables.items() if values), None):
        raise InputError(
            f"--wide writes one table, with texts in the languages that it names, and {named} chooses from many "
            "tables. Leave it out; --column chooses columns."
        )
    if format is not None and to.suffix.lower() != f".{format}":
        raise InputError(
            f"--format {format:.20} and the file {to.name!r:.80} do not agree. Leave --format out."
        )
    languages = [one.strip() for several in wide for one in several.split(",") if one.strip()]
    if not languages:
        raise InputError("--wide names no language. Write fr,nl, or all for all of them.")
    return catalog.export_wide(
        to,
        None if [one.lower() for one in languages] == ["all"] else languages,
        columns=columns or None,
        escape_formulas=escape_formulas,
    )


def _chosen_columns(words: list[str]) -> list[str] | dict[str, list[str]]:
    """Return the columns that are named for all tables, or for each table apart."""
    apart = [word.partition(".") for word in words]
    # Suppliers name attributes, and so columns of `presence`, with dots as well.
    is_apart = [table in TABLES and bool(name) for table, _, name in apart]
    if any(is_apart) and not all(is_apart):
        stranger = words[is_apart.index(False)]
        raise QueryError(
            f"--column {stranger!r} names no table, and others do. Write --column TABLE.COLUMN for each, or no table."
        )
    if not any(is_apart):
        return words
    columns: dict[str, list[str]] = {}
    for table, _, name in apart:
        columns.setdefault(table, []).append(name)
    return columns


@command(app, example="prodex publish shop --to s3://bucket/shop")
def publish(
    snapshot: Snapshot,
    to: Annotated[str, typer.Option(help="Folder, or address of an object store: s3://bucket/shop.")],
    older: Annotated[
        bool,
        typer.Option("--older", help="Publish it even if the newest publication is of a newer snapshot."),
    ] = False,
) -> None:
    """Publish a snapshot as Delta tables.

    prodex.open_published opens it as a catalogue. Only files that are not there yet are uploaded. Credentials of an
    object store come from the environment, such as AWS_ACCESS_KEY_ID.
    """
    done = prodex.publish(prodex.open_snapshot(snapshot), to, older=older)
    say(f"Publication {done.number} of {done.name!r} at {done.uri}: {done.products:,} products")
    say(f"{counted(done.uploaded, 'file')} uploaded; all others were there")


class DifferencePart(StrEnum):
    """The parts of a difference that can be shown; each is named after the attribute of `Difference` that has it."""

    SUMMARY = "summary"
    PRODUCTS = "products"
    CHANGES = "changes"
    BY_ATTRIBUTE = "attributes"
    NOT_COMPARABLE = "not-comparable"


@command(app, example="prodex diff shop@2026-11-13 shop --show changes --format csv --out changes.csv")
def diff(
    old: Annotated[
        str, typer.Argument(metavar="OLD", help='The older snapshot: "shop@2026-11-13", or its folder.')
    ],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help='The newer one: "shop" is the newest of that name.')
    ],
    output: OutputOptions,
    part: Annotated[
        DifferencePart, typer.Option("--show", help="Part of the difference to show.")
    ] = DifferencePart.SUMMARY,
    by: By = "",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if they differ, as diff does.")
    ] = False,
) -> None:
    """Compare two snapshots.

    It shows products that were added, removed or changed, and each old and new value; --by shows their counts by group.
    """
    if by and part is not DifferencePart.SUMMARY:
        raise InputError("--by shows counts by group; leave out --show.")
    difference = prodex.diff(old, new)
    for note in difference.notes:
        say(note, aside=True)
    output.show(difference.counts(by) if by else getattr(difference, part.name.lower()))
    if exit_code and difference:
        raise typer.Exit(1)


@command(app, example="prodex pictures shop --to images --size 512 --packshots-only")
def pictures(
    snapshot: Snapshot,
    to: Annotated[Path, typer.Option(help="Folder to download to; files in it are kept.")],
    size: Annotated[
        int | None,
        typer.Option(
            parser=integer, help="Least length of the longest side in pixels; by default the original files."
        ),
    ] = None,
    packshots_only: Annotated[
        bool, typer.Option("--packshots-only", help="Only pictures that are marked as packshots.")
    ] = False,
    workers: Annotated[
        int, typer.Option(parser=integer, help="Files downloaded in parallel; four of one host at most.")
    ] = 8,
    html: Annotated[
        Path | None, typer.Option(help=f"Write a contact sheet of the first {_ON_ONE_PAGE} products.")
    ] = None,
) -> None:
    """Download the pictures of a snapshot, and check each.

    Each file is compared with what its record says of it. Exit code 1 if a file is broken, could not be downloaded, or
    has no address; pictures.csv in the folder says which and why. Files that are there already are not downloaded
    again, so the same command continues after an interruption.
    """
    from prodex.display.pictures import text_of

    catalog = prodex.open_snapshot(snapshot)
    outcome = prodex.download_pictures(catalog, to, size=size, packshots_only=packshots_only, workers=workers)
    say(text_of(outcome, of_terminal))
    if html is not None:
        sheet = catalog.gallery(
            size=_SHOWN_SIZE, packshots_only=packshots_only, per_page=_ON_ONE_PAGE, folder=to
        )
        say(f"The contact sheet of {sheet.title} is {sheet.to_html(html)}.", aside=True)
    if not outcome.complete:
        raise typer.Exit(1)
