"""The command that does a recipe with the products of a snapshot; parsing and printing only."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import prodex
from prodex.cli.fix import applied_answers
from prodex.cli.options import (
    FollowOptions,
    OutputOptions,
    SendOptions,
    ServiceOptions,
    Snapshot,
    User,
    command,
)
from prodex.cli.output import say
from prodex.cli.words import of_terminal

app: typer.Typer = typer.Typer()


class RecipeSection(StrEnum):
    """What can be shown of a recipe that was done."""

    STEPS = "steps"
    ROWS = "rows"
    PREVIEW = "preview"
    REFUSED = "refused"
    CONFLICTS = "conflicts"
    NEEDS_CONFIRMATION = "needs-confirmation"
    EFFECT = "effect"


@command(app, example="prodex recipe brand-spelling.toml shop --send --wait")
def recipe(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The recipe (.toml).")],
    snapshot: Snapshot,
    service: ServiceOptions,
    sending: SendOptions,
    following: FollowOptions,
    output: OutputOptions,
    profile: Annotated[
        str, typer.Option(help="Profile that says what is fixed, and what would newly fail.")
    ] = "",
    what: Annotated[RecipeSection, typer.Option("--show", help="Section to show.")] = RecipeSection.STEPS,
    user: User = "",
) -> None:
    """Do what a recipe says with the products of a snapshot.

    Without --send it only shows what each step would change. The same command continues one that was interrupted.
    Exit code 1 if a value was refused, to be confirmed or is in conflict, or, with --send, unless all products arrived.
    """
    from prodex.display.fix import text_of

    fix = prodex.apply_recipe(snapshot, file, profile=profile or None, by=user or None)
    sending.confirmed(fix)
    say(f"{fix.why}: {text_of(fix, of_terminal)}", aside=True)
    if sending.send and fix.counts["accepted"]:
        tracking = applied_answers(fix, service.connect(), sending, following)
        following.follow(tracking, output)
    else:
        output.show(_recipe_section(fix, what))
        if sending.send:
            say("Nothing is left to send.", aside=True)
        elif fix.counts["accepted"]:
            say("Nothing was sent. --send sends what is accepted.", aside=True)
    if fix.steps[["refused", "needs_confirmation", "conflict"]].to_numpy().any() or _has_impossible(
        fix.steps
    ):
        raise typer.Exit(1)


def _has_impossible(steps: pd.DataFrame) -> bool:
    """Whether a step did nothing at all, and says why."""
    counts = steps[["changed", "already_so", "no_value"]].sum(axis=1)
    return bool(((counts == 0) & (steps["reason"] != "")).any())


def _recipe_section(fix: prodex.worklists.Fix, what: RecipeSection) -> pd.DataFrame:
    sections: dict[RecipeSection, Callable[[], pd.DataFrame]] = {
        RecipeSection.STEPS: lambda: fix.steps,
        RecipeSection.ROWS: lambda: fix.step_rows,
        RecipeSection.PREVIEW: fix.preview,
        RecipeSection.REFUSED: lambda: fix.refused,
        RecipeSection.CONFLICTS: lambda: fix.conflicts,
        RecipeSection.NEEDS_CONFIRMATION: lambda: fix.needs_confirmation,
        RecipeSection.EFFECT: lambda: fix.effect().changes(),
    }
    return sections[what]()
