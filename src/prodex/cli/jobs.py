"""The command that runs a job; parsing and printing only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import prodex
from prodex.cli.output import say

app: typer.Typer = typer.Typer()


@app.command(epilog="Example: prodex run shop.toml --dry-run")
def run(
    file: Annotated[Path, typer.Argument(help="The job file (.toml).")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what each step would do; nothing is written.")
    ] = False,
    log: Annotated[
        bool, typer.Option("--log", help="Write the lines of the log to standard error as well.")
    ] = False,
) -> None:
    """Do what a job file says: load or refresh, audit, compare, watch, write worklists and exports, publish, clean up.

    Exit code 0 if every step was done, 1 if one failed or was skipped; the result says which and why. A run that was
    killed goes on at the step where it was when the same command is given again within a day.
    """
    result = prodex.run_job(
        file, dry_run=dry_run, on_line=(lambda line: say(line, aside=True)) if log else None
    )
    say(result.markdown if dry_run else repr(result))
    if result.exit_code:
        raise typer.Exit(result.exit_code)
