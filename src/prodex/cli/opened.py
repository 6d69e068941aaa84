"""The explorer in the browser, from a terminal, for those who open no notebook."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

import prodex
from prodex.cli.options import Select, Send, ServiceOptions, command
from prodex.cli.output import say
from prodex.cli.typed_numbers import integer
from prodex.errors import InputError
from prodex.installation import missing_extra

app: typer.Typer = typer.Typer()


@command(app, example="prodex open shop; prodex open shop shop@2026-11-13 --to changes.html", name="open")
def open_page(
    snapshots: Annotated[
        list[str],
        typer.Argument(
            metavar="SNAPSHOTS", help='"shop"; with "shop@2026-11-13" what changed since then as well.'
        ),
    ],
    service: ServiceOptions,
    send: Send = False,
    port: Annotated[
        int, typer.Option(parser=integer, help="Port of this machine; by default any that is free.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open nothing.")
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", help="Write the page as one HTML file for a colleague, such as shop.html, instead."
        ),
    ] = None,
    select: Select = None,
) -> None:
    """Open snapshots in the browser, or write them as a page.

    A page that is written opens without prodex. One that is opened is for the browsers of this machine, and for
    whoever has its address; Ctrl-C ends it. It only reads; with --send it also sends corrections.
    """
    if to is not None:
        if send or port or no_browser or service != ServiceOptions():
            raise InputError(
                "--to writes a file: it serves no page, and asks no service. Leave out --send, --port, --no-browser "
                "and the options of a service."
            )
        _write(snapshots, to, None if select is None else prodex.Selection.read(select))
        return
    if select is not None:
        raise InputError(
            "--select is for a file (--to shop.html). A page has filters of its own: choose there."
        )
    _serve(snapshots, service, send=send, port=port, is_opened=not no_browser)


def _serve(snapshots: list[str], service: ServiceOptions, *, send: bool, port: int, is_opened: bool) -> None:
    if not has_marimo():
        raise missing_extra("prodex open", "marimo", "page")
    if not send and service != ServiceOptions():
        raise InputError(
            "Without --send the page asks no service. Add --send, or leave the options of a service out."
        )
    from prodex.page.serving import SnapshotPage, serve

    page = SnapshotPage.of(snapshots, service.connect() if send else None)
    serve(page, lambda address: say(f"{address} (Ctrl-C ends it)"), port=port, is_opened=is_opened)
    say("The page is closed.", aside=True)


def _write(snapshots: list[str], to: Path, selection: prodex.Selection | None) -> None:
    """Write the products of a snapshot, or of two what changed; only those of a selection, if there is one."""
    from prodex.page.serving import SnapshotPage

    page = SnapshotPage.of(snapshots)
    if page.changes is None:
        panel = page.panel()
        if selection is not None:
            panel.selection = selection
        written = panel.to_html(to)
    else:
        found = page.changes.difference
        if selection is not None:
            found = prodex.diff(found.old.where(selection), found.new.where(selection))
        written = found.to_html(to)
    say(str(written))


def has_marimo() -> bool:
    """Whether marimo is installed."""
    return find_spec("marimo") is not None
