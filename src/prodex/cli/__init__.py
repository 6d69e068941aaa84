"""The commands; parsing and printing only.

Exit codes: 0 done, 1 it did not work (the message says why), 2 the command was not understood.
"""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

import prodex
from prodex.cli import exchange, quality
from prodex.cli.exchange import Service, listed
from prodex.demo import correct_a_text, show_tables
from prodex.errors import ProdexError, QueryError
from prodex.query import SEARCH_FIELDS
from prodex.tables.declaration import TABLES, data_dictionary

app = typer.Typer(
    name="prodex",
    help="Product data from an exchange service, as tables that an analyst can trust.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command; what prodex raises on purpose becomes one line and exit code 1."""
    try:
        app()
    except ProdexError as error:
        typer.echo(f"prodex: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("prodex: stopped; nothing half-written was left", err=True)
        sys.exit(130)


@app.callback()
def _all(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say what happens, call by call.")] = False,
) -> None:
    if verbose:
        logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(name)s %(message)s", stream=sys.stderr)


@app.command(epilog="Example: prodex load --market 250 --tag exportable --name shop")
def load(
    service: Service = "",
    name: Annotated[str, typer.Option(help="Name of the snapshot.")] = "",
    gtin: Annotated[list[str], typer.Option(help="A GTIN (repeat), or @FILE with one a line.")] = [],  # noqa: B006
    market: Annotated[str, typer.Option(help="Market, by ISO 3166-1 number or name.")] = "",
    tag: Annotated[list[str], typer.Option(help="With this tag (repeat).")] = [],  # noqa: B006
    without_tag: Annotated[list[str], typer.Option(help="Without this tag (repeat).")] = [],  # noqa: B006
    include: Annotated[list[str], typer.Option(help="Only this field (repeat).")] = [],  # noqa: B006
    exclude: Annotated[list[str], typer.Option(help="Without this field (repeat).")] = [],  # noqa: B006
    language: Annotated[list[str], typer.Option(help="Only texts in this language (repeat).")] = [],  # noqa: B006
    updated_from: Annotated[str, typer.Option(help="Changed since, as 2026-11-20T08:00+01:00.")] = "",
    updated_to: Annotated[str, typer.Option(help="Changed until.")] = "",
    pictures_from: Annotated[str, typer.Option(help="Pictures changed since.")] = "",
    pictures_to: Annotated[str, typer.Option(help="Pictures changed until.")] = "",
    product_status: Annotated[list[str], typer.Option(help="Retailer-side status (repeat).")] = [],  # noqa: B006
    validation: Annotated[list[str], typer.Option(help="Validation status (repeat).")] = [],  # noqa: B006
    shared_from: Annotated[str, typer.Option(help="DRAFT, PENDING or ACCEPTED at the source.")] = "",
    shared_with: Annotated[str, typer.Option(help="DRAFT, PENDING or ACCEPTED at the target.")] = "",
    packshot: Annotated[
        bool | None, typer.Option("--packshot/--no-packshot", help="Only with, or without, a packshot.")
    ] = None,
    active_range: Annotated[bool, typer.Option("--active-range", help="Only in the active range.")] = False,
    owner: Annotated[list[str], typer.Option(help="Owner id (repeat).")] = [],  # noqa: B006
    search: Annotated[
        list[str], typer.Option(help="WORD, or WORD@FIELD,FIELD (repeat: all must be found).")
    ] = [],  # noqa: B006
    extra: Annotated[list[str], typer.Option(help="Any other filter, as WIRE_NAME=VALUE (repeat).")] = [],  # noqa: B006
    labels: Annotated[list[str], typer.Option(help="Also code labels in this language (repeat).")] = [],  # noqa: B006
    rich_content: Annotated[bool, typer.Option(help="Only GTIN, id and assets.")] = False,
    max_age: Annotated[float, typer.Option(help="Use a snapshot younger than so many seconds.")] = 0,
    page_size: Annotated[int | None, typer.Option(help="Products a call, 500 at most.")] = None,
    allow_incomplete: Annotated[bool, typer.Option(help="Keep what came, even if it is not all.")] = False,
) -> None:
    """Load products from the service and keep them as a snapshot."""
    asked: dict[str, Any] = {
        "gtins_in": listed(gtin),
        "target_market": market,
        "tags_in": tag,
        "tags_not_in": without_tag,
        "source_include": include,
        "source_exclude": exclude,
        "product_languages": language,
        "updated_at_from": _moment("--updated-from", updated_from),
        "updated_at_to": _moment("--updated-to", updated_to),
        "pictures_last_updated_at_from": _moment("--pictures-from", pictures_from),
        "pictures_last_updated_at_to": _moment("--pictures-to", pictures_to),
        "target_productstatus_in": product_status,
        "validation_status_in": [int(v) if v.isdecimal() else v for v in validation],
        "status_shared_from": shared_from,
        "status_shared_with": shared_with,
        "has_packshot": packshot or None,
        "has_no_packshot": packshot is False or None,
        "active_range": active_range or None,
        "owners_in": owner,
        "search": [_search(entry) for entry in search],
        "extra": dict(_pair(entry) for entry in extra),
    }
    query = prodex.ProductQuery(
        **{field: value for field, value in asked.items() if value not in ("", [], None, {})}
    )
    if rich_content and (labels or include or exclude):
        raise QueryError(
            "--rich-content chooses the fields itself; leave out --labels, --include and --exclude."
        )
    client = prodex.connect(service or None)
    if rich_content:
        catalog = prodex.load_rich_content(
            client,
            query,
            name=name or None,
            max_age=max_age,
            page_size=page_size,
            allow_incomplete=allow_incomplete,
        )
    else:
        catalog = prodex.load_products(
            client,
            query,
            name=name or None,
            max_age=max_age,
            page_size=page_size,
            labels=labels,
            allow_incomplete=allow_incomplete,
        )
    typer.echo(repr(catalog))


@app.command(epilog="Example: prodex snapshots")
def snapshots(
    name: Annotated[str, typer.Argument(help="Only those of this name.")] = "*",
    check: Annotated[
        bool, typer.Option("--verify", help="Also check every file against its digest.")
    ] = False,
) -> None:
    """List the snapshots on this machine."""
    listed = prodex.list_snapshots(name)
    if listed.empty:
        typer.echo("No snapshot yet. `prodex load --service sandbox --name sample` makes one.")
        return
    typer.echo(listed.to_string(index=False))
    damaged = 0
    for folder in listed["folder"] if check else ():
        try:
            files = prodex.verify(folder)
        except prodex.errors.SnapshotDamaged as error:
            damaged += 1
            typer.echo(f"{folder}: {error}")
            continue
        bad = files[~files["ok"]]
        damaged += len(bad)
        typer.echo(f"{folder}: {len(files) - len(bad)} of {len(files)} files as written")
        for row in bad.itertuples():
            typer.echo(f"  {row.file}: {row.problem}")
    if damaged:
        raise typer.Exit(1)


@app.command(epilog="Example: prodex tables texts")
def tables(table: Annotated[str, typer.Argument(help="Show the columns of this table.")] = "") -> None:
    """Show the tables of a catalogue, or the columns of one: the data dictionary."""
    if table and table not in TABLES:
        raise QueryError(f"There is no table {table!r}; there are {', '.join(TABLES)}.")
    if not table:
        width = max(map(len, TABLES))
        for one in TABLES.values():
            typer.echo(f"{one.name:<{width}}  one row per {one.row}")
        return
    rows = data_dictionary(table)
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for column, kind, path, meaning in rows:
        typer.echo(f"{column:<{widths[0]}}  {kind:<{widths[1]}}  {path:<{widths[2]}}  {meaning}")


@app.command(epilog="Example: prodex export shop --format csv --to out/")
def export(
    snapshot: Annotated[str, typer.Argument(help='"shop", or "shop@2026-11-13" for an earlier one.')],
    to: Annotated[Path, typer.Option(help="Folder to write to.")],
    format: Annotated[str, typer.Option(help="parquet or csv.")] = "parquet",
    escape_formulas: Annotated[bool, typer.Option(help="CSV that is safe to open in a spreadsheet.")] = False,
) -> None:
    """Write every table of a snapshot to files."""
    options = {"escape_formulas": True} if escape_formulas else {}
    for path in prodex.open_snapshot(snapshot).export(to, format, **options):
        typer.echo(f"{path}  {path.stat().st_size:,} bytes")


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog="Example: prodex sandbox --port 8080",
)
def sandbox(context: typer.Context) -> None:
    """Run a complete exchange service on this machine (prodex sandbox --help)."""
    try:
        from prodex.sandbox.command import main as serve
    except ImportError as error:
        raise prodex.errors.MissingExtra(
            f"The sandbox needs {error.name}: pip install 'prodex[sandbox]'."
        ) from error
    raise typer.Exit(serve(context.args))


app.add_typer(exchange.app)
app.add_typer(quality.app)


@app.command(epilog="Example: prodex demo")
def demo() -> None:
    """Pull the sandbox's catalogue over HTTP, show every table, and correct a text at the service."""
    client = prodex.connect("sandbox")
    typer.echo(f"The sandbox answers at {client.base_url}; its catalogue comes through the real client.\n")
    catalog = prodex.load_products(client, name="sample", max_age=0, progress=True)
    typer.echo("")
    show_tables(catalog, typer.echo)
    typer.echo(f"\nThe snapshot is in {catalog.folder}.\n")
    correct_a_text(client, catalog, typer.echo)
    typer.echo("Next: make lab opens the first notebook; prodex --help lists the commands.")


def _moment(option: str, text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise QueryError(f"{option} {text!r} is no date-time. Write it as 2026-11-20T08:00+01:00.") from error
    if moment.tzinfo is None and len(text) <= len("2026-11-20"):
        return moment.replace(tzinfo=UTC)
    return moment


def _search(entry: str) -> tuple[str, list[str]]:
    word, _, fields = entry.partition("@")
    return word, fields.split(",") if fields else list(SEARCH_FIELDS)


def _pair(entry: str) -> tuple[str, Any]:
    import json

    name, separator, value = entry.partition("=")
    if not separator:
        raise QueryError(f"--extra {entry!r} is not NAME=VALUE.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
