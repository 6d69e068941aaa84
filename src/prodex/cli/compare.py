"""The command that compares two snapshots; parsing and printing only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated

import pandas as pd
import typer

import prodex
from prodex.cli.shown import Format, FormatOption, OutOption, say, show
from prodex.errors import InputError

app = typer.Typer()


class Part(StrEnum):
    """What a difference can show."""

    SUMMARY = "summary"
    PRODUCTS = "products"
    CHANGES = "changes"
    ATTRIBUTES = "attributes"
    NOT_COMPARABLE = "not-comparable"


_PARTS: Mapping[Part, Callable[[prodex.Difference], pd.DataFrame]] = {
    Part.SUMMARY: lambda difference: difference.summary(),
    Part.PRODUCTS: lambda difference: difference.products,
    Part.CHANGES: lambda difference: difference.changes,
    Part.ATTRIBUTES: lambda difference: difference.by_attribute(),
    Part.NOT_COMPARABLE: lambda difference: difference.not_comparable,
}


@app.command(epilog="Example: prodex diff shop@2026-11-13 shop --show changes --format csv --out changes.csv")
def diff(
    old: Annotated[str, typer.Argument(help='The older snapshot: "shop@2026-11-13", or its folder.')],
    new: Annotated[str, typer.Argument(help='The newer one: "shop" is the newest of that name.')],
    part: Annotated[Part, typer.Option("--show", help="Which part of the difference.")] = Part.SUMMARY,
    by: Annotated[
        str, typer.Option(help="Count for each owner, brand, kind or other column of products.")
    ] = "",
    format: FormatOption = Format.TABLE,
    out: OutOption = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 when they differ, as diff does.")
    ] = False,
) -> None:
    """Compare two snapshots: products added, removed and changed, and each value old and new."""
    if by and part is not Part.SUMMARY:
        raise InputError("--by counts the summary for each group; leave out --show.")
    difference = prodex.diff(old, new)
    for note in difference.notes:
        say(note, aside=True)
    show(difference.counts(by) if by else _PARTS[part](difference), format, out)
    if exit_code and difference:
        raise typer.Exit(1)
