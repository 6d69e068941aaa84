"""The commands about snapshots on this machine: list, verify, remove, export, publish, compare, download pictures."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, cast

import typer

import prodex
from prodex.catalog import Catalog
from prodex.catalog.origin import scope_of
from prodex.cli.options import OutputOptions, with_groups
from prodex.cli.output import Format, aligned, say
from prodex.cli.typed_numbers import integer
from prodex.errors import InputError, QueryError
from prodex.formats.exporting import ExportedFiles
from prodex.formats.registry import FORMATS, FormatName
from prodex.messages import counted, hint_and_all
from prodex.tables.declaration import TABLES, data_dictionary

app: typer.Typer = typer.Typer()

#: Products on a contact sheet, and the length of the longest side of its pictures in pixels: larger ones make a page
#: that browsers open slowly.
_ON_ONE_PAGE = 500
_SHOWN_SIZE = 160


@app.command(epilog="Example: prodex snapshots")
def snapshots(
    name: Annotated[str, typer.Argument(help="Only snapshots of this name.")] = "*",
    check: Annotated[bool, typer.Option("--verify", help="Check every file against its digest.")] = False,
) -> None:
    """List the snapshots on this machine."""
    listed = prodex.list_snapshots(name)
    if listed.empty:
        say("No snapshot yet. `prodex load --service sandbox --name sample` makes one.")
        return
    say(listed.to_string(index=False))
    damaged = 0
    for folder in listed["folder"] if check else ():
        try:
            files = prodex.verify(folder)
        # One damaged snapshot must not hide the state of the others.
        except (prodex.errors.SnapshotDamaged, prodex.errors.OtherLayout) as error:
            damaged += 1
            say(f"{folder}: {error}")
            continue
        bad = files[~files["ok"]]
        damaged += len(bad)
        say(f"{folder}: {len(files) - len(bad)} of {len(files)} files as written")
        for row in bad.itertuples():
            say(f"  {row.file}: {row.problem}")
    if damaged:
        raise typer.Exit(1)


@app.command(epilog="Example: prodex vacuum shop --keep 3 --dry-run")
@with_groups
def vacuum(
    name: Annotated[str, typer.Argument(help="Name of the snapshots.")],
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


@app.command(epilog="Example: prodex tables texts")
def tables(table: Annotated[str, typer.Argument(help="Show the columns of this table.")] = "") -> None:
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


@app.command(epilog="Example: prodex export shop --format csv --to out/")
def export(
    snapshot: Annotated[str, typer.Argument(help='"shop", or "shop@2026-11-13" for an earlier one.')],
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
    language: Annotated[
        list[str], typer.Option(help="Only texts in this language: fr, fra-FR or French (repeat).")
    ] = [],  # noqa: B006
    select: Annotated[Path | None, typer.Option(help="Only the products of this selection (.toml).")] = None,
    escape_formulas: Annotated[
        bool, typer.Option(help="Write CSV that is safe to open in a spreadsheet.")
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


@app.command(epilog="Example: prodex publish shop s3://bucket/shop")
def publish(
    snapshot: Annotated[str, typer.Argument(help='"shop", or "shop@2026-11-13" for an earlier one.')],
    to: Annotated[str, typer.Argument(help="Folder, or address of an object store: s3://bucket/shop.")],
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


@app.command(epilog="Example: prodex diff shop@2026-11-13 shop --show changes --format csv --out changes.csv")
@with_groups
def diff(
    old: Annotated[str, typer.Argument(help='The older snapshot: "shop@2026-11-13", or its folder.')],
    new: Annotated[str, typer.Argument(help='The newer one: "shop" is the newest of that name.')],
    output: OutputOptions,
    part: Annotated[
        DifferencePart, typer.Option("--show", help="Part of the difference to show.")
    ] = DifferencePart.SUMMARY,
    by: Annotated[
        str,
        typer.Option(
            help="Show counts by owner, brand, kind, market, language, tag or a column of products."
        ),
    ] = "",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if they differ, as diff does.")
    ] = False,
) -> None:
    """Compare two snapshots.

    It shows products that were added, removed or changed, and each old and new value.
    """
    if by and part is not DifferencePart.SUMMARY:
        raise InputError("--by shows counts by group; leave out --show.")
    difference = prodex.diff(old, new)
    for note in difference.notes:
        say(note, aside=True)
    output.show(difference.counts(by) if by else getattr(difference, part.name.lower()))
    if exit_code and difference:
        raise typer.Exit(1)


@app.command(epilog="Example: prodex pictures shop --to images --size 512 --packshots-only")
def pictures(
    snapshot: Annotated[str, typer.Argument(help='"shop", or "shop@2026-11-13" for an earlier one.')],
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
    catalog = prodex.open_snapshot(snapshot)
    outcome = prodex.download_pictures(catalog, to, size=size, packshots_only=packshots_only, workers=workers)
    say(repr(outcome))
    if html is not None:
        sheet = catalog.gallery(
            size=_SHOWN_SIZE, packshots_only=packshots_only, per_page=_ON_ONE_PAGE, folder=to
        )
        say(f"The contact sheet of {sheet.title} is {sheet.to_html(html)}.", aside=True)
    if not outcome.complete:
        raise typer.Exit(1)
