"""The command that reads worklists with answers; parsing and printing only."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import prodex
from prodex.cli.options import FollowOptions, OutputOptions, SendOptions, ServiceOptions, Until, command
from prodex.cli.output import Format, say
from prodex.cli.words import of_terminal
from prodex.errors import QueryError
from prodex.phrases import counted

app: typer.Typer = typer.Typer()

_NO_ANSWER = 'The files have no answers yet: suppliers write them into the column "New value".'


class FixSection(StrEnum):
    """The sections of the answers that can be shown."""

    PREVIEW = "preview"
    ANSWERS = "answers"
    REFUSED = "refused"
    CONFLICTS = "conflicts"
    NEEDS_CONFIRMATION = "needs-confirmation"
    ROWS = "rows"
    NOTES = "notes"
    UNCHANGED = "unchanged"
    EFFECT = "effect"


@command(app, example="prodex fix to_fix --send --wait")
def fix(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES", help="Workbooks (.xlsx) and CSV files, or their folder.")
    ],
    service: ServiceOptions,
    sending: SendOptions,
    following: FollowOptions,
    output: OutputOptions,
    snapshot: Annotated[
        str, typer.Option(help="Snapshot with the products; by default the one that the workbooks name.")
    ] = "",
    profile: Annotated[
        str, typer.Option(help="Profile that judges the answers; by default the one that the workbooks name.")
    ] = "",
    owner: Annotated[
        list[str] | None,
        typer.Option(
            help="From whom the files came: only answers about products of this owner, by id or name (repeat)."
        ),
    ] = None,
    what: Annotated[FixSection, typer.Option("--show", help="Section to show.")] = FixSection.PREVIEW,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept", help='Accept the findings for which "Accept because" has a reason, and say so.'
        ),
    ] = False,
    until: Until = "",
    worklists: Annotated[
        Path | None, typer.Option(help="Write what was not taken to this new folder, for its owners.")
    ] = None,
) -> None:
    """Read the answers of worklists, and send them with --send.

    Without --send it only shows what would change. Answers that may not be meant need confirmation, and are sent only
    with --confirm; a reason to accept a finding needs confirmation until --accept. The same command continues one that
    was interrupted: it follows what was sent, and sends only the rest. Exit code 1 if an answer was refused, is to be
    confirmed or in conflict, or, with --send, unless all products arrived.
    """
    if until and not accept:
        raise QueryError("--until is the last day of what --accept accepts; give both.")
    from prodex.display.fix import text_of

    read = prodex.read_worklist(files, snapshot or None, profile=profile or None, owner=owner or None)
    sending.confirmed(read)
    if accept and not read.requests.empty:
        made = read.accept(until=until or None)
        say(
            f"{counted(int(made.failures(accepted=True).shape[0]), 'finding')} of these products accepted.",
            aside=True,
        )
    say(text_of(read, of_terminal), aside=True)
    tracking = None
    if sending.send and read.counts["accepted"]:
        tracking = applied_answers(read, service.connect(), sending, following)
    if worklists is not None:
        index = read.worklist(worklists)
        say(
            f"{counted(len(index), 'worklist')} with {counted(int(index['findings'].sum()), 'answer')} written to "
            f"{worklists}.",
            aside=True,
        )
    if tracking is not None:
        following.follow(tracking, output)
    else:
        if read.answers.empty and what is FixSection.PREVIEW and output.format is Format.TABLE:
            say(_NO_ANSWER, aside=True)
            return
        output.show(answers_section(read, what))
        if sending.send:
            say("No answer is left to send.", aside=True)
        elif read.counts["accepted"]:
            say("Nothing was sent. --send sends the accepted answers.", aside=True)
    if any(read.counts[state] for state in ("refused", "conflict", "needs confirmation")):
        raise typer.Exit(1)


@command(app, example="prodex undo last --send --wait")
def undo(
    upsert: Annotated[
        str,
        typer.Argument(
            metavar="UPSERT", help='Name or number of an upsert ("prodex upserts" lists them), or "last".'
        ),
    ],
    service: ServiceOptions,
    sending: SendOptions,
    following: FollowOptions,
    output: OutputOptions,
    profile: Annotated[
        str, typer.Option(help="Profile that says what it does to the data; by default no check is made.")
    ] = "",
    what: Annotated[FixSection, typer.Option("--show", help="Section to show.")] = FixSection.PREVIEW,
) -> None:
    """Take back what an upsert wrote, with --send.

    The earlier values of exactly what it wrote are restored; what somebody has changed since is a conflict, and stays.
    The same command continues one that was interrupted, given the name of the upsert. An undo is an upsert itself, and
    can be taken back. Exit code 1 if something is refused, to be confirmed or in conflict, or, with --send, unless all
    products arrived.
    """
    from prodex.display.fix import text_of

    client = service.connect()
    made = prodex.undo(upsert, client, profile=profile or None)
    sending.confirmed(made)
    say(text_of(made, of_terminal), aside=True)
    if sending.send and made.counts["accepted"]:
        following.follow(applied_answers(made, client, sending, following), output)
    else:
        output.show(answers_section(made, what))
        if sending.send:
            say("Nothing is left to take back.", aside=True)
        elif made.counts["accepted"]:
            say("Nothing was sent. --send takes it back.", aside=True)
    if any(made.counts[state] for state in ("refused", "conflict", "needs confirmation")):
        raise typer.Exit(1)


def applied_answers(
    read: prodex.worklists.Fix, service: prodex.service.Client, sending: SendOptions, following: FollowOptions
) -> prodex.send.Tracking:
    """Send what earlier runs have left, say what is continued, and wait if requested."""
    from prodex.ledger.upserts import list_entries

    before = {entry.name for entry in list_entries()}
    tracking = read.apply(service, also=sending.also, elsewhere=sending.elsewhere)
    if tracking.name in before:
        say(f"Nothing is left to send: the upsert {tracking.name} has sent it.", aside=True)
    elif tracking.continues:
        say(
            f"Continued {', '.join(tracking.continues)}: what was sent before was not sent again.", aside=True
        )
    if following.wait and tracking.wait(following.timeout).statuses["unknown"]:
        # By now the products show what has arrived of it.
        tracking = read.apply(service, elsewhere=sending.elsewhere).wait(following.timeout)
    return tracking


def answers_section(read: prodex.worklists.Fix, what: FixSection) -> pd.DataFrame:
    sections: dict[FixSection, Callable[[], pd.DataFrame]] = {
        FixSection.PREVIEW: read.preview,
        FixSection.ANSWERS: lambda: read.answers,
        FixSection.REFUSED: lambda: read.refused,
        FixSection.CONFLICTS: lambda: read.conflicts,
        FixSection.NEEDS_CONFIRMATION: lambda: read.needs_confirmation,
        FixSection.ROWS: lambda: read.row_counts,
        FixSection.NOTES: lambda: read.notes,
        FixSection.UNCHANGED: lambda: read.unchanged,
        FixSection.EFFECT: lambda: read.effect().changes(),
    }
    return sections[what]()
