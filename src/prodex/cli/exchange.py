"""The commands that call the service: load products and reference data, write products; parsing and printing only."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

import prodex
from prodex.cli.options import (
    AllowIncomplete,
    Also,
    BatchSize,
    FollowOptions,
    Gtins,
    LoadOptions,
    OutputOptions,
    Select,
    Send,
    ServiceOptions,
    SnapshotName,
    UpsertName,
    command,
    values_of,
)
from prodex.cli.output import Format, counts_of, say
from prodex.cli.typed_numbers import integer, number
from prodex.cli.words import error_in_words
from prodex.errors import InputError, ProdexError, QueryError
from prodex.phrases import counted
from prodex.progress import is_watched
from prodex.untrusted_text import on_one_line

#: Kinds of changes that a refresh names: a screen holds them beside the tables of the snapshot.
_MOST_CHANGED = 5

app: typer.Typer = typer.Typer()
scenarios: typer.Typer = typer.Typer(
    help="Validation scenarios, for retailers.", no_args_is_help=True, rich_markup_mode=None
)


@command(app, example="prodex load --market 250 --tag exportable --name shop")
def load(
    service: ServiceOptions,
    query: prodex.ProductQuery,
    options: LoadOptions,
    name: Annotated[str, typer.Option(help="Name of the snapshot.")] = "",
    labels: Annotated[list[str], typer.Option(help="Also load code labels in this language (repeat).")] = [],  # noqa: B006
    select: Select = None,
    rich_content: Annotated[
        bool, typer.Option("--rich-content", help="Load only GTIN, id and assets.")
    ] = False,
    # 0 and not an hour as in Python: a cell of a notebook is run again and again, a command is given on purpose.
    max_age: Annotated[
        float, typer.Option(parser=number, help="Reuse a snapshot younger than this many seconds.")
    ] = 0,
    page_size: Annotated[
        int | None, typer.Option(parser=integer, help="Products per call, 500 at most.")
    ] = None,
) -> None:
    """Load products from the service and save them as a snapshot.

    After an interruption, the same command continues the load. Of --select it asks what the service can filter.
    """
    if rich_content and (labels or query.source_include or query.source_exclude):
        raise QueryError(
            "--rich-content chooses the fields itself; leave out --labels, --include and --exclude."
        )
    began = datetime.now(UTC)
    arguments = {"name": name or None, "max_age": max_age, "page_size": page_size, **options.arguments}
    if select is not None:
        asked = prodex.Selection.read(select).request(query)
        query = asked.query
        say(
            f"{asked}{' The snapshot has all of them: --select of other commands.' if asked.rest else ''}",
            aside=True,
        )
    if rich_content:
        catalog = prodex.load.load_rich_content(service.connect(), query, **arguments)
    else:
        catalog = prodex.load_products(service.connect(), query, labels=labels, **arguments)
    from prodex.display.catalog import text_of
    from prodex.load.resume import reuse_notice

    # On a terminal, the loader has written this line in place of its progress bar.
    if not is_watched() and (line := reuse_notice(catalog, began)):
        say(line, aside=True)
    say(text_of(catalog))


@command(app, example="prodex refresh shop")
def refresh(
    name: SnapshotName,
    service: ServiceOptions,
    options: LoadOptions,
    sweep: Annotated[
        bool | None,
        typer.Option(
            "--sweep/--no-sweep",
            help="List the keys of all products, to find removed ones; by default if that takes few calls.",
        ),
    ] = None,
    lag: Annotated[
        float | None,
        typer.Option(
            parser=number, help="Seconds that the service takes at most to show a change; by default 900."
        ),
    ] = None,
) -> None:
    """Fetch only what changed, and save a new snapshot.

    It says how many products were added, removed and changed, and what of them changed most.
    """
    from prodex.display.catalog import text_of

    before = prodex.open_snapshot(name)
    catalog = prodex.refresh(name, service.connect(), sweep=sweep, lag=lag, **options.arguments)
    # The tables are those of before: what changed stays on the screen.
    say(text_of(catalog, tables=False))
    try:
        _say_changes(before, catalog)
    # Saved is saved: what is only said of it afterwards makes no failure of it.
    except (ProdexError, OSError) as error:
        cause = error_in_words(error) if isinstance(error, ProdexError) else f"{on_one_line(error)}."
        say(f"What changed is not known: {cause} The new snapshot is saved.", aside=True)


def _say_changes(before: prodex.Catalog, after: prodex.Catalog) -> None:
    """Say what is new, changed and gone since a snapshot, what of it most, and how to see all of it."""
    earlier, later = (f"{one.folder.parent.name}@{one.folder.name}" for one in (before, after) if one.folder)
    difference = prodex.diff(before, after)
    say(f"Since {earlier}: {counts_of(difference)}.")
    for note in difference.notes:
        say(note, aside=True)
    causes = difference.causes
    for sentence in causes["says"].head(_MOST_CHANGED):
        say(f"  {on_one_line(sentence)}")
    if len(causes) > _MOST_CHANGED:
        say(f"  ({_MOST_CHANGED} of {len(causes):,} kinds of changes)")
    if difference:
        say(f"Each old and new value: prodex diff {earlier} {later} --show changes")


@command(app, example="prodex recover shop --allow-incomplete")
def recover(
    name: SnapshotName,
    allow_incomplete: AllowIncomplete = False,
) -> None:
    """Make a snapshot of what an interrupted load received.

    The service is not called.
    """
    from prodex.display.catalog import text_of

    say(text_of(prodex.recover(name, allow_incomplete=allow_incomplete)))


@command(app, example="prodex check --service sandbox")
def check(service: ServiceOptions, output: OutputOptions) -> None:
    """Connect, and show the service and your organisation.

    The remaining seconds of the token are shown as well, never the token itself. Standard error says where base URL and
    credentials were found.
    """
    from prodex.load.reference_data import access_of

    client = service.connect()
    # The first is that of the base URL; the two credentials often have the same source.
    address, *keys = client.settings_sources.values()
    say(f"Address from {address}; credentials from {' and '.join(dict.fromkeys(keys))}.", aside=True)
    output.show(pd.DataFrame([access_of(client)]))


@command(app, example="prodex organizations --type manufacturer")
def organizations(
    service: ServiceOptions,
    output: OutputOptions,
    type: Annotated[str, typer.Option(help="manufacturer (1) or retailer (2); by default both.")] = "",
) -> None:
    """List the organisations of the service."""
    output.show(prodex.load_organizations(service.connect(), type or None))


@command(app, example="prodex segments --permission READ --format csv")
def segments(
    service: ServiceOptions,
    output: OutputOptions,
    permission: Annotated[str, typer.Option(help="Only segments with this type of permission.")] = "",
) -> None:
    """Show the product segment hierarchy."""
    output.show(prodex.load_segments(service.connect(), permission or None))


@command(app, example="prodex upsert products.json --send --wait")
def upsert(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Products: JSON, JSON lines, a reply of the service, or SupplierProducts (.xml).",
        ),
    ],
    service: ServiceOptions,
    following: FollowOptions,
    output: OutputOptions,
    xml: Annotated[bool, typer.Option("--xml", help="Send XML instead of JSON.")] = False,
    send: Send = False,
    batch_size: BatchSize = 500,
    null_deletes: Annotated[
        bool, typer.Option("--null-deletes", help="Let null in the file delete the attribute.")
    ] = False,
    encoding: Annotated[
        str, typer.Option("--encoding", help="Encoding of a JSON file that is not in UTF-8, such as cp1252.")
    ] = "",
    keep_before: Annotated[
        bool,
        typer.Option(
            "--keep-before/--no-keep-before",
            help='Request the products first and keep them as they are, so that "prodex undo" can take it back.',
        ),
    ] = True,
    why: Annotated[str, typer.Option(help='What it is sent for, as "prodex upserts" then says.')] = "",
) -> None:
    """Check products, and send them with --send.

    Without --send it only shows what would be refused, and what is odd; exit code 1 if something would be refused. With
    it, the products are kept first as they are, so that "prodex undo" can take the write back, and the exit code is 1
    unless all of them arrived.
    """
    client = service.connect()
    given: dict[str, Any] = {"batch_size": batch_size, "null_deletes": null_deletes}
    given |= {"format": "xml" if xml else "json", "encoding": encoding or None}
    given |= {"keep_before": keep_before, "why": why or f"file {file.name}"}
    if send:
        following.follow(prodex.upsert(client, file, **given), output)
        return
    trial = prodex.upsert(client, file, dry_run=True, **given)
    say(repr(trial).splitlines()[0], aside=True)
    output.show(trial.findings)
    if errors := int((trial.findings["severity"] == "error").sum()):
        # One error keeps all of them back: a part of a file is not sent in silence.
        say(f"Nothing was sent, and --send would send nothing: {counted(errors, 'error')} found.", aside=True)
        raise typer.Exit(1)
    say("Nothing was sent. --send sends the products.", aside=True)


@command(app, example="prodex track 12 13 --wait")
def track(
    service: ServiceOptions,
    following: FollowOptions,
    output: OutputOptions,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Tracking identifiers; by default those of the last upsert."),
    ] = None,
    upsert: UpsertName = "",
) -> None:
    """Show what became of products that were sent.

    The exit code is 1 unless all of them arrived.
    """
    following.follow(prodex.track(service.connect(), ids or None, upsert=upsert or None), output)


@command(app, example="prodex upserts --format csv")
def upserts(
    output: OutputOptions,
    forget: Annotated[
        list[str] | None,
        typer.Option(
            help="Remove what is kept of the products of this upsert as they were before (repeat), or of all."
        ),
    ] = None,
) -> None:
    """List the upserts from this machine.

    For each, it shows how many products were sent, were not sent, and are unknown; how many bytes are kept of its
    products as they were before, and until when. What --forget removed cannot be taken back any more.
    """
    if forget:
        removed = prodex.send.forget_earlier_records(None if "all" in forget else forget)
        say(f"{removed:,} bytes of earlier records removed.", aside=True)
    output.show(prodex.list_upserts())


@command(app, example="prodex send-rest --send --wait", name="send-rest")
def send_rest(
    service: ServiceOptions,
    following: FollowOptions,
    output: OutputOptions,
    upsert: UpsertName = "",
    send: Send = False,
    also: Also = [],  # noqa: B006
) -> None:
    """List what an upsert has not sent, and send it with --send.

    No other products are sent. With --send, the exit code is 1 unless all of them arrived.
    """
    tracking = prodex.track(service.connect(), upsert=upsert or None)
    if send:
        following.follow(tracking.send_rest(also=also), output)
        return
    products = tracking.products
    left = products[products["status"].isin({"not sent", *also})]
    output.show(left)
    say(
        f"{len(left):,} of {counted(len(products), 'product')} left to send. "
        + ("Nothing was sent. --send sends them." if len(left) else ""),
        aside=True,
    )


@command(scenarios, example="prodex scenarios require --scenario 7=true --gtin 03036811359935 --send")
def require(
    service: ServiceOptions,
    output: OutputOptions,
    scenario: Annotated[list[str], typer.Option(help="SCENARIO_ID=true or =false (repeat).")],
    gtin: Gtins = [],  # noqa: B006
    uuid: Annotated[list[str], typer.Option(help="A uuid (repeat), or @FILE with one per line.")] = [],  # noqa: B006
    snapshot: Annotated[str, typer.Option(help="All products of this snapshot.")] = "",
    deadline: Annotated[str, typer.Option(help="Last day for the manufacturers, as 2027-01-05.")] = "",
    batch_size: BatchSize = 500,
    send: Send = False,
) -> None:
    """Activate or deactivate scenarios on products, with --send.

    Without --send it only says of how many products. With it, the exit code is 1 unless all batches were done.
    """
    # An empty selection must never mean all products.
    named = values_of([*gtin, *uuid])
    if bool(named) == bool(snapshot):
        raise InputError("Say which products: either --gtin and --uuid, or --snapshot.")
    products = prodex.open_snapshot(snapshot) if snapshot else named
    switches = _switches(scenario)
    if not send:
        from prodex.send.scenarios import names_of_products, terms

        # What --send would refuse without a call is refused here as well.
        terms(switches, deadline or None)
        # A program that asked for JSON or CSV gets none of it, and no sentence in its place.
        say(
            f"{counted(len(names_of_products(products)), 'product')}, {counted(len(switches), 'scenario')}.",
            aside=output.format is not Format.TABLE,
        )
        say("Nothing was sent. --send asks this of the service.", aside=True)
        return
    outcome = prodex.require_scenarios(
        service.connect(),
        products,
        switches,
        deadline=deadline or None,
        batch_size=batch_size,
    )
    output.show(outcome.drop(columns="uuids"))
    if (outcome["status"] != "done").any():
        raise typer.Exit(1)


app.add_typer(scenarios, name="scenarios")


def _switches(entries: list[str]) -> dict[str | int, bool]:
    switches: dict[str | int, bool] = {}
    for name, value in map(_switch, entries):
        if switches.setdefault(name, value) != value:
            raise InputError(f"--scenario {name} is both true and false. Give it once.")
    return switches


def _switch(entry: str) -> tuple[str, bool]:
    # From the right: an identifier of a scenario may contain any character.
    name, _, value = entry.rpartition("=")
    if not name or value not in {"true", "false"}:
        raise InputError(f"--scenario {entry!r} is not SCENARIO_ID=true or SCENARIO_ID=false.")
    return name, value == "true"
