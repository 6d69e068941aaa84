"""The commands that judge a catalogue; parsing and printing only."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import prodex
from prodex.cli.shown import Format, FormatOption, OutOption, show
from prodex.errors import QueryError

app = typer.Typer()
profiles = typer.Typer(
    help="The profiles of audits: which checks, and how bad each is.", rich_markup_mode=None
)


class Shown(StrEnum):
    """What an audit can show."""

    SUMMARY = "summary"
    GAPS = "gaps"
    CHECKS = "checks"
    FAILURES = "failures"
    COVERAGE = "coverage"
    PRODUCTS = "products"


@app.command(epilog="Example: prodex audit shop --profile online-listing --fail-under 0.8")
def audit(
    snapshot: Annotated[str, typer.Argument(help='"shop", or "shop@2026-11-13" for an earlier one.')],
    profile: Annotated[
        str, typer.Option(help="Name of a profile, or the path of your own (.toml).")
    ] = "core",
    market: Annotated[str, typer.Option(help="Market of products that say none, by number or name.")] = "",
    what: Annotated[Shown, typer.Option("--show", help="What to show.")] = Shown.SUMMARY,
    by: Annotated[
        str, typer.Option(help="Scores by owner, brand, kind, market, language, tag or a column of products.")
    ] = "",
    pending: Annotated[
        bool, typer.Option("--pending", help="Judge updates that wait as if they were accepted.")
    ] = False,
    now: Annotated[
        str, typer.Option(help='What "older than" refers to, as 2026-11-20T08:00; else now.')
    ] = "",
    keep: Annotated[bool, typer.Option("--save", help="Keep the audit beside the snapshot.")] = False,
    fail_under: Annotated[
        float, typer.Option(min=0, max=1, help="Exit code 1 when the score is below this share.")
    ] = 0.0,
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Judge every product of a snapshot by the checks of a profile."""
    catalog = prodex.open_snapshot(snapshot)
    chosen = prodex.Profile.read(profile)
    if market:
        chosen = chosen.with_market(market)
    judged = prodex.audit(
        prodex.with_pending_updates(catalog) if pending else catalog, chosen, now=_moment(now)
    )
    if keep:
        judged = judged.save(snapshot.partition("@")[0] if pending else None)
        typer.echo(f"The audit is in {judged.folder}.", err=True)
    if by:
        _show(judged.scores(by), format, out)
    elif what is Shown.SUMMARY and format is Format.TABLE and out is None:
        typer.echo(repr(judged))
    else:
        _show(_shown(judged, what), format, out)
    score = judged.summary()["score"]
    if fail_under and not score >= fail_under:
        told = "there is none, since nothing applies" if pd.isna(score) else f"it is {score:.3f}"
        typer.echo(f"The score is not {fail_under:g} or more: {told}.", err=True)
        raise typer.Exit(1)


@app.command(epilog="Example: prodex rules --format csv")
def rules(
    block: Annotated[
        str, typer.Option(help="Only identity, texts, food, pictures, hierarchies or freshness.")
    ] = "",
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """List the rules: what should be true, how bad it is if not, and the parameters of each."""
    listed = prodex.rules()
    if block:
        listed = listed[listed["block"] == block]
        if listed.empty:
            there = ", ".join(prodex.rules()["block"].unique())
            raise QueryError(f"There are no rules under {block!r}; there are {there}.")
    columns = ["rule", "block", "severity", "title", "parameters"]
    show(listed[columns] if format is Format.TABLE else listed, format, out)


@profiles.callback(invoke_without_command=True)
def list_profiles(context: typer.Context) -> None:
    """List the profiles that come with prodex."""
    if context.invoked_subcommand is None:
        show(prodex.profiles(), Format.TABLE, None)


@profiles.command("show", epilog="Example: prodex profiles show food-eu")
def show_profile(
    name: Annotated[str, typer.Argument(help="Name of a profile, or the path of your own (.toml).")],
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Show the checks of a profile: severity, weight, and for which products."""
    table = prodex.Profile.read(name).table
    show(table.drop(columns="fix") if format is Format.TABLE else table, format, out)


app.add_typer(profiles, name="profiles")


def _show(frame: pd.DataFrame, format: Format, out: Path | None) -> None:
    """Show figures; whoever reads them in a table needs three digits of a share."""
    show(frame.round(3) if format is Format.TABLE else frame, format, out)


def _shown(judged: prodex.Audit, what: Shown) -> pd.DataFrame:
    match what:
        case Shown.GAPS:
            return judged.gaps()
        case Shown.CHECKS:
            return judged.by_check()
        case Shown.FAILURES:
            return judged.failures()
        case Shown.COVERAGE:
            return judged.coverage()
        case Shown.PRODUCTS:
            return judged.products
    return judged.summary().to_frame().T.infer_objects()


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError as error:
        raise QueryError(f"--now {text!r} is no date-time. Write it as 2026-11-20T08:00.") from error
