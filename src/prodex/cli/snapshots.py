"""The commands about snapshots on this machine; parsing and printing only."""

from __future__ import annotations

from typing import Annotated

import typer

import prodex
from prodex.cli.shown import Format, FormatOption, OutOption, say, show

app = typer.Typer()


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
        say("No snapshot yet. `prodex load --service sandbox --name sample` makes one.")
        return
    say(listed.to_string(index=False))
    damaged = 0
    for folder in listed["folder"] if check else ():
        try:
            files = prodex.verify(folder)
        except prodex.errors.SnapshotDamaged as error:
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
def vacuum(
    name: Annotated[str, typer.Argument(help="Name of the snapshots.")],
    keep: Annotated[int, typer.Option(help="How many of the newest stay.")] = 3,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Remove all but the newest snapshots of a name, and what interrupted loads left."""
    removed = prodex.vacuum(name, keep=keep, dry_run=dry_run)
    show(removed, format, out)
    if format is Format.TABLE:
        done = "would be removed and would free" if dry_run else "removed, which freed"
        say(f"{len(removed)} {done} {removed['bytes_freed'].sum():,} bytes")
