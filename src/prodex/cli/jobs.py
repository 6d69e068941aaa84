"""The commands for every night: run a job, and watch what its audits say; parsing and printing only."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

import prodex
from prodex.cli.options import OutputOptions, SnapshotName, WordsLanguage, command
from prodex.cli.output import Format, say
from prodex.errors import StorageError

app: typer.Typer = typer.Typer()


@command(app, example="prodex run shop.toml --dry-run")
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The job file (.toml).")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what each step would do; nothing is written.")
    ] = False,
    log: Annotated[
        bool, typer.Option("--log", help="Write the lines of the log to standard error as well.")
    ] = False,
) -> None:
    """Do what a job file says, such as every night.

    The steps are: load or refresh, audit, compare, watch, write worklists and exports, publish, clean up. Exit code 0
    if every step was done, 1 if one failed or was skipped; the result says which and why. After a kill, the same
    command continues with the step where it was, for a day.
    """
    result = prodex.run_job(file, dry_run=dry_run, on_line=_copied if log else None)
    say(result.markdown if dry_run else repr(result))
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def _copied(line: str) -> None:
    # The log itself is a file: no night is lost because the disk of its copy is full.
    with suppress(StorageError):
        say(line, aside=True)


@command(app, example="prodex watch shop --exit-code")
def watch(
    name: SnapshotName,
    output: OutputOptions,
    zone: Annotated[
        str,
        typer.Option(help="Time zone of the shop, such as Europe/London; that of this machine by default."),
    ] = "",
    language: WordsLanguage = "en",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if anything is newly unusual.")
    ] = False,
) -> None:
    """Show which figures of the newest saved audit are unusual.

    They are compared with the audits before it; with fewer than five audits nothing is known. Days of the week are
    those of the zone. The text has a sentence for each unusual figure, every other format a row.
    """
    found = prodex.watch(name, zone=zone or None, language=language)
    if output.format is Format.TABLE and output.out is None:
        say(repr(found))
    else:
        output.show(found.findings)
    if exit_code and found.is_unusual:
        raise typer.Exit(1)
