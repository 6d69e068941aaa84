"""The commands about who changed what: the history of a product, and what was overridden; parsing and printing only."""

from __future__ import annotations

from typing import Annotated

import pandas as pd
import typer

import prodex
from prodex.cli.options import OutputOptions, SnapshotName, command
from prodex.cli.output import Format, cut, say
from prodex.phrases import counted

app: typer.Typer = typer.Typer()

#: Characters of a value that a terminal shows.
_SHOWN = 60


@command(app, example="prodex history 3036811359935 --snapshot shop --attribute namePublicLong")
def history(
    product: Annotated[str, typer.Argument(metavar="GTIN", help="GTIN in any spelling, or id of a product.")],
    output: OutputOptions,
    snapshot: Annotated[list[str] | None, typer.Option(help="Only snapshots of this name (repeat).")] = None,
    attribute: Annotated[
        str, typer.Option(help="Only this attribute, or what is in it: namePublicLong.")
    ] = "",
    every: Annotated[
        bool, typer.Option("--all", help="Also list, on the terminal, values that were never changed.")
    ] = False,
) -> None:
    """Show who changed a product: its values across snapshots.

    For each value it says since when it is there, in which snapshot it came, what was before, and whether it was sent
    from this machine. Files have all values and columns.
    """
    found = prodex.history(product, snapshot or None, attribute=attribute or None)
    if output.format is not Format.TABLE:
        output.show(found)
    else:
        places = ["name", "product_id", "attribute", "language", "item"]
        steps = found.groupby(places, dropna=False, sort=False)["event"].transform("size")
        shown = found if every else found[(steps > 1) | (found["sent"] != "no") | (found["attribute"] == "")]
        if shown.empty and output.out is None:
            say("No value was changed.")
        else:
            output.show(_for_terminal(shown))
        if unchanged := len(found) - len(shown):
            say(f"{counted(unchanged, 'value')} never changed; --all lists them.", aside=True)
    for note in found.attrs["notes"]:
        say(note, aside=True)


@command(app, example="prodex overridden shop --format csv --out overridden.csv")
def overridden(
    name: SnapshotName,
    output: OutputOptions,
) -> None:
    """List values that we sent and that are something else now."""
    found = prodex.open_snapshot(name).overridden()
    if output.format is Format.TABLE:
        if found.empty and output.out is None:
            say("Nothing that was sent from here is known to be overridden.")
            return
        columns = ["gtin", "attribute", "language", "sent", "now", "sent_at", "by", "why", "since_snapshot"]
        output.show(_cut(found[columns]))
        return
    output.show(found)


def _for_terminal(found: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that fit a terminal; values without a text are shown by their state."""
    columns = ["attribute", "language", "item", "event", "value", "since", "snapshot", "sent", "by", "why"]
    shown = found[columns].copy()
    shown["value"] = found["value"].astype(object).where(found["value"].notna(), "(" + found["state"] + ")")
    if found["product_id"].nunique() > 1:
        shown.insert(0, "product_id", found["product_id"])
    return _cut(shown)


def _cut(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose long texts are cut, with a sign, and whose times are short."""
    short = frame.astype(object).where(frame.notna(), None)
    for name in short.columns:
        short[name] = short[name].map(_short)
    return short


def _short(value: object) -> object:
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d %H:%M}"
    return cut(value, _SHOWN) if isinstance(value, str) else value
