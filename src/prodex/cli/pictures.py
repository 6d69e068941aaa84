"""The command that downloads pictures; parsing and printing only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import prodex
from prodex.cli.output import say
from prodex.pictures import download_pictures, gallery

app: typer.Typer = typer.Typer()

_ON_ONE_PAGE = 500
_SHOWN_SIZE = 160


@app.command(epilog="Example: prodex pictures shop --to images --size 512 --packshots-only")
def pictures(
    snapshot: Annotated[str, typer.Argument(help='"shop", or "shop@2026-11-13" for an earlier one.')],
    to: Annotated[Path, typer.Option(help="Folder to download to; files in it are kept.")],
    size: Annotated[
        int | None,
        typer.Option(help="Least length of the longest side in pixels; by default the original files."),
    ] = None,
    packshots_only: Annotated[
        bool, typer.Option("--packshots-only", help="Only pictures that are marked as packshots.")
    ] = False,
    workers: Annotated[int, typer.Option(help="Files downloaded in parallel; four of one host at most.")] = 8,
    html: Annotated[
        Path | None, typer.Option(help=f"Write a contact sheet of the first {_ON_ONE_PAGE} products.")
    ] = None,
) -> None:
    """Download the pictures of a snapshot to a folder, and check each against its description.

    Exit code 1 if a file is broken, could not be downloaded, or has no address; pictures.csv in the folder says which
    and why. Files that are there already are not downloaded again, so the same command continues after an interruption.
    """
    catalog = prodex.open_snapshot(snapshot)
    outcome = download_pictures(catalog, to, size=size, packshots_only=packshots_only, workers=workers)
    say(repr(outcome))
    if html is not None:
        sheet = gallery(
            catalog, size=_SHOWN_SIZE, packshots_only=packshots_only, per_page=_ON_ONE_PAGE, folder=to
        )
        say(f"The contact sheet of {sheet.title} is {sheet.to_html(html)}.", aside=True)
    if not outcome.complete:
        raise typer.Exit(1)
