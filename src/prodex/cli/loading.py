"""The commands that load products; parsing and printing only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

import prodex
from prodex.cli.options import LoadOptions, ServiceOptions, with_groups
from prodex.cli.output import say
from prodex.errors import QueryError
from prodex.load.reuse import reuse_notice
from prodex.progress import is_watched

app = typer.Typer()


@app.command(epilog="Example: prodex load --market 250 --tag exportable --name shop")
@with_groups
def load(
    service: ServiceOptions,
    query: prodex.ProductQuery,
    options: LoadOptions,
    name: Annotated[str, typer.Option(help="Name of the snapshot.")] = "",
    labels: Annotated[list[str], typer.Option(help="Also load code labels in this language (repeat).")] = [],  # noqa: B006
    rich_content: Annotated[bool, typer.Option(help="Load only GTIN, id and assets.")] = False,
    # 0 and not an hour as in Python: a cell of a notebook is run again and again, a command is given on purpose.
    max_age: Annotated[float, typer.Option(help="Reuse a snapshot younger than so many seconds.")] = 0,
    page_size: Annotated[int | None, typer.Option(help="Products per call, 500 at most.")] = None,
) -> None:
    """Load products from the service and save them as a snapshot.

    After an interruption, the same command continues the load.
    """
    if rich_content and (labels or query.source_include or query.source_exclude):
        raise QueryError(
            "--rich-content chooses the fields itself; leave out --labels, --include and --exclude."
        )
    began = datetime.now(UTC)
    arguments = {"name": name or None, "max_age": max_age, "page_size": page_size, **options.arguments}
    if rich_content:
        catalog = prodex.load_rich_content(service.connect(), query, **arguments)
    else:
        catalog = prodex.load_products(service.connect(), query, labels=labels, **arguments)
    # On a terminal, the loader has written this line in place of its progress bar.
    if not is_watched() and (line := reuse_notice(catalog, began)):
        say(line, aside=True)
    say(repr(catalog))


@app.command(epilog="Example: prodex refresh shop")
@with_groups
def refresh(
    snapshot: Annotated[str, typer.Argument(help="Name of the snapshot.")],
    service: ServiceOptions,
    options: LoadOptions,
    sweep: Annotated[
        bool | None,
        typer.Option(
            "--sweep/--no-sweep",
            help="List the keys of all products, to find removed ones; by default if that takes few calls.",
        ),
    ] = None,
) -> None:
    """Fetch only the products that changed since a snapshot was loaded, and save a new snapshot."""
    before = prodex.open_snapshot(snapshot)
    catalog = prodex.refresh(snapshot, service.connect(), sweep=sweep, **options.arguments)
    say(repr(catalog))
    time = "" if before.folder is None else before.folder.name
    say(f"{len(before):,} products before. What changed: prodex diff {snapshot}@{time} {snapshot}")


@app.command(epilog="Example: prodex recover shop --allow-incomplete")
def recover(
    name: Annotated[str, typer.Argument(help="Name of the snapshot that was being loaded.")],
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="Save what was received even if it is incomplete.")
    ] = False,
) -> None:
    """Make a snapshot of what an interrupted load received, without the service."""
    say(repr(prodex.recover(name, allow_incomplete=allow_incomplete)))
