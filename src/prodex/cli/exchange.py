"""The commands that ask the service and write to it; parsing and printing only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
import typer

import prodex
from prodex.cli.output import Format, FormatOption, OutOption, say, show
from prodex.errors import InputError, QueryError
from prodex.load.reference_data import access_of

Service = Annotated[
    str, typer.Option("--service", help='"sandbox", a base URL, or "" for the one in your settings.')
]
RetrySeconds = Annotated[
    float | None,
    typer.Option(
        "--retry-seconds",
        help="Seconds for which a call that fails is tried again; 20 unless given, and 300 inside a load.",
    ),
]
TokenVersion = Annotated[
    int, typer.Option("--token-version", help="2, or 1 for a service that has the old token endpoint only.")
]
Wait = Annotated[float, typer.Option("--timeout", help="Seconds to wait for the end, with --wait.")]
Upsert = Annotated[
    str,
    typer.Option("--upsert", help='Name of an upsert ("prodex upserts" lists them); the last unless given.'),
]

app = typer.Typer()
scenarios = typer.Typer(
    help="Validation scenarios, for retailers.", no_args_is_help=True, rich_markup_mode=None
)


@app.command(epilog="Example: prodex check --service sandbox")
def check(
    service: Service = "",
    retry_seconds: RetrySeconds = None,
    token_version: TokenVersion = 2,
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Connect, and show host, organisation and the seconds left to the token; never the token.

    On standard error it says where address and credentials came from.
    """
    client = connected(service, retry_seconds, token_version)
    address, *keys = client.settings_sources.values()
    say(f"Address from {address}; credentials from {' and '.join(dict.fromkeys(keys))}.", aside=True)
    show(pd.DataFrame([access_of(client)]), format, out)


@app.command(epilog="Example: prodex organizations --type manufacturer")
def organizations(
    type: Annotated[str, typer.Option(help="manufacturer (1) or retailer (2); both unless given.")] = "",
    service: Service = "",
    retry_seconds: RetrySeconds = None,
    token_version: TokenVersion = 2,
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """List the organisations of the service."""
    show(
        prodex.load_organizations(connected(service, retry_seconds, token_version), type or None), format, out
    )


@app.command(epilog="Example: prodex segments --permission READ --format csv")
def segments(
    permission: Annotated[str, typer.Option(help="Type of permission asked for.")] = "",
    service: Service = "",
    retry_seconds: RetrySeconds = None,
    token_version: TokenVersion = 2,
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Show the product segment hierarchy."""
    show(
        prodex.load_segments(connected(service, retry_seconds, token_version), permission or None),
        format,
        out,
    )


@app.command(epilog="Example: prodex upsert products.json --dry-run")
def upsert(
    file: Annotated[
        Path,
        typer.Argument(
            help="Products: JSON, JSON lines, a reply of the service, or SupplierProducts (.xml)."
        ),
    ],
    xml: Annotated[bool, typer.Option("--xml", help="Send as XML instead of JSON.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check, and show what is found.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the outcome of each product.")] = False,
    timeout: Wait = 3600,
    batch_size: Annotated[int, typer.Option(help="Products a call, 500 at most.")] = 500,
    null_deletes: Annotated[
        bool, typer.Option("--null-deletes", help="Take null as an order to delete the attribute.")
    ] = False,
    service: Service = "",
    retry_seconds: RetrySeconds = None,
    token_version: TokenVersion = 2,
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Write products to the service; exit code 1 unless all of them arrived."""
    client = connected(service, retry_seconds, token_version)
    way: Literal["xml", "json"] = "xml" if xml else "json"
    if dry_run:
        run = prodex.upsert(
            client, file, format=way, dry_run=True, batch_size=batch_size, null_deletes=null_deletes
        )
        say(repr(run).splitlines()[0], aside=True)
        show(run.findings, format, out)
        if (run.findings["severity"] == "error").any():
            raise typer.Exit(1)
        return
    tracking = prodex.upsert(client, file, format=way, batch_size=batch_size, null_deletes=null_deletes)
    _follow(tracking, wait, timeout, format, out)


@app.command(epilog="Example: prodex track 12 13 --wait")
def track(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Tracking identifiers; those of the last upsert unless given.")
    ] = None,
    upsert: Upsert = "",
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the outcome of each product.")] = False,
    timeout: Wait = 3600,
    service: Service = "",
    retry_seconds: RetrySeconds = None,
    token_version: TokenVersion = 2,
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Show what became of products that were sent; exit code 1 unless all of them arrived."""
    tracking = prodex.track(
        connected(service, retry_seconds, token_version), ids or None, upsert=upsert or None
    )
    _follow(tracking, wait, timeout, format, out)


@app.command(epilog="Example: prodex upserts --format csv")
def upserts(format: FormatOption = Format.TABLE, out: OutOption = None) -> None:
    """List the upserts from this machine: how many products of each were sent, not sent, or are unknown."""
    show(prodex.list_upserts(), format, out)


@app.command("send-rest", epilog="Example: prodex send-rest --wait")
def send_rest(
    upsert: Upsert = "",
    also: Annotated[
        list[str],
        typer.Option(help="refused: also what was refused; unknown: also what may have arrived (repeat)."),
    ] = [],  # noqa: B006
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the outcome of each product.")] = False,
    timeout: Wait = 3600,
    service: Service = "",
    retry_seconds: RetrySeconds = None,
    token_version: TokenVersion = 2,
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Send the products of an upsert that were not sent, and only those; exit code 1 unless all of them arrived."""
    tracking = prodex.track(connected(service, retry_seconds, token_version), upsert=upsert or None)
    _follow(tracking.send_rest(also=also), wait, timeout, format, out)


@scenarios.command(epilog="Example: prodex scenarios require --scenario 7=true --gtin 03036811359935")
def require(
    scenario: Annotated[list[str], typer.Option(help="SCENARIO_ID=true or =false (repeat).")],
    gtin: Annotated[list[str], typer.Option(help="A GTIN (repeat), or @FILE with one a line.")] = [],  # noqa: B006
    uuid: Annotated[list[str], typer.Option(help="A uuid (repeat), or @FILE with one a line.")] = [],  # noqa: B006
    snapshot: Annotated[str, typer.Option(help="All products of this snapshot.")] = "",
    deadline: Annotated[str, typer.Option(help="Day by which it has to be done, YYYY-MM-DD.")] = "",
    batch_size: Annotated[int, typer.Option(help="Products a call, 500 at most.")] = 500,
    service: Service = "",
    retry_seconds: RetrySeconds = None,
    token_version: TokenVersion = 2,
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Activate or deactivate scenarios on products; exit code 1 unless all batches were done."""
    named = listed([*gtin, *uuid])
    if bool(named) == bool(snapshot):
        raise InputError("Say which products: either --gtin and --uuid, or --snapshot.")
    outcome = prodex.require_scenarios(
        connected(service, retry_seconds, token_version),
        prodex.open_snapshot(snapshot) if snapshot else named,
        dict(_switch(entry) for entry in scenario),
        deadline=deadline or None,
        batch_size=batch_size,
    )
    show(outcome.drop(columns="uuids"), format, out)
    if (outcome["status"] != "done").any():
        raise typer.Exit(1)


app.add_typer(scenarios, name="scenarios")


def connected(service: str, retry_seconds: float | None, token_version: int) -> prodex.Client:
    """Return the client of a command."""
    retry = None
    if retry_seconds is not None:
        retry = prodex.RetryPolicy(seconds=retry_seconds, load_seconds=retry_seconds)
    return prodex.connect(service or None, retry=retry, token_version=token_version)


def listed(values: list[str]) -> list[str]:
    """Return values of a repeated option, of which @FILE stands for the words in a file."""
    words: list[str] = []
    for value in values:
        if not value.startswith("@"):
            words.append(value)
            continue
        try:
            words += Path(value[1:]).read_text("utf-8").split()
        except (OSError, UnicodeDecodeError) as error:
            raise QueryError(f"{value} cannot be read: {error}. Give @FILE with one value a line.") from error
    return words


def _follow(tracking: prodex.Tracking, wait: bool, timeout: float, format: Format, out: Path | None) -> None:
    if wait:
        tracking.wait(timeout)
    say(repr(tracking), aside=True)
    show(tracking.products if wait else tracking.batches, format, out)
    if tracking.status not in {"SUCCESS", "IN_PROGRESS"}:
        raise typer.Exit(1)


def _switch(entry: str) -> tuple[str, bool]:
    name, _, value = entry.rpartition("=")
    if not name or value not in {"true", "false"}:
        raise InputError(f"--scenario {entry!r} is not SCENARIO_ID=true or SCENARIO_ID=false.")
    return name, value == "true"
