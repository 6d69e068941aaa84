"""The commands that bring products here; parsing and printing only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

import prodex
from prodex.cli.exchange import RetrySeconds, Service, TokenVersion, connected, listed
from prodex.cli.output import say
from prodex.errors import QueryError
from prodex.load.budget import LoadBudget
from prodex.load.products import WINDOWS
from prodex.load.reuse import used_again
from prodex.progress import is_watched
from prodex.query import SEARCH_FIELDS

app = typer.Typer()

WindowsOption = Annotated[
    int, typer.Option(help="Windows of time fetched side by side in large pulls; 0 for one scroll.")
]
IncompleteOption = Annotated[
    bool, typer.Option("--allow-incomplete", help="Keep what came, even if it is not all.")
]
CallsOption = Annotated[float, typer.Option(help="End the load, and keep what came, after so many calls.")]
SecondsOption = Annotated[float, typer.Option(help="The same after so many seconds.")]
BytesOption = Annotated[float, typer.Option(help="The same after so many bytes, unpacked.")]


@app.command(epilog="Example: prodex load --market 250 --tag exportable --name shop")
def load(
    service: Service = "",
    retry_seconds: RetrySeconds = None,
    token_version: TokenVersion = 2,
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
    windows: WindowsOption = WINDOWS,
    allow_incomplete: IncompleteOption = False,
    most_calls: CallsOption = LoadBudget().calls,
    most_seconds: SecondsOption = LoadBudget().seconds,
    most_bytes: BytesOption = LoadBudget().bytes,
) -> None:
    """Load products from the service and keep them as a snapshot.

    A load that was interrupted goes on where it was: give the same command again.
    """
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
    client = connected(service, retry_seconds, token_version)
    budget = LoadBudget(calls=most_calls, seconds=most_seconds, bytes=most_bytes)
    began = datetime.now(UTC)
    if rich_content:
        catalog = prodex.load_rich_content(
            client,
            query,
            name=name or None,
            max_age=max_age,
            page_size=page_size,
            windows=windows,
            allow_incomplete=allow_incomplete,
            budget=budget,
        )
    else:
        catalog = prodex.load_products(
            client,
            query,
            name=name or None,
            max_age=max_age,
            page_size=page_size,
            windows=windows,
            labels=labels,
            allow_incomplete=allow_incomplete,
            budget=budget,
        )
    if not is_watched() and (line := used_again(catalog, began)):  # a terminal has it already
        say(line, aside=True)
    say(repr(catalog))


@app.command(epilog="Example: prodex refresh shop")
def refresh(
    snapshot: Annotated[str, typer.Argument(help="Name of the snapshot.")],
    service: Service = "",
    retry_seconds: RetrySeconds = None,
    token_version: TokenVersion = 2,
    sweep: Annotated[
        bool | None,
        typer.Option(
            "--sweep/--no-sweep",
            help="List the keys of everything, to find what has gone; by default where that takes few calls.",
        ),
    ] = None,
    windows: WindowsOption = WINDOWS,
    allow_incomplete: IncompleteOption = False,
    most_calls: CallsOption = LoadBudget().calls,
    most_seconds: SecondsOption = LoadBudget().seconds,
    most_bytes: BytesOption = LoadBudget().bytes,
) -> None:
    """Fetch only what changed since a snapshot was loaded, and make a new one of it."""
    client = connected(service, retry_seconds, token_version)
    before = prodex.open_snapshot(snapshot)
    catalog = prodex.refresh(
        snapshot,
        client,
        sweep=sweep,
        windows=windows,
        allow_incomplete=allow_incomplete,
        budget=LoadBudget(calls=most_calls, seconds=most_seconds, bytes=most_bytes),
    )
    say(repr(catalog))
    say(
        f"{len(before):,} products before. What changed: prodex diff {snapshot}@{_time_of(before)} {snapshot}"
    )


@app.command(epilog="Example: prodex recover shop --allow-incomplete")
def recover(
    name: Annotated[str, typer.Argument(help="Name of the snapshot that was being loaded.")],
    allow_incomplete: IncompleteOption = False,
) -> None:
    """Make a snapshot of what an interrupted load left, without the service."""
    say(repr(prodex.recover(name, allow_incomplete=allow_incomplete)))


def _time_of(catalog: prodex.Catalog) -> str:
    return "" if catalog.folder is None else catalog.folder.name


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
