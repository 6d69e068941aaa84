"""The sandbox and the demo: a load, an audit and its report, weeks of a shop, corrections and what they change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

import prodex
from prodex import clock
from prodex.catalog import Catalog
from prodex.cli.demo_tables import show_contents, show_tables
from prodex.cli.demo_weeks import counts_of, show_weeks, take_answers
from prodex.cli.lab import next_steps
from prodex.cli.output import aligned, say, wrapped
from prodex.compare import diff
from prodex.display_text import on_one_line
from prodex.errors import ChangesRefused, IncompleteLoad
from prodex.files.atomic import home
from prodex.gtin import are_valid
from prodex.load import refresh
from prodex.locales import language_label
from prodex.quality.audit import Audit
from prodex.quality.problems import attribute_label
from prodex.quality.run import audit
from prodex.quality.scores import CAVEAT
from prodex.query import ProductQuery
from prodex.send import Changes, changes_from_frame, upsert
from prodex.service import Client
from prodex.service.local_sandbox import require_sandbox
from prodex.store.reading import flatten
from prodex.text import counted, percent

_LINES = 3
_ATTRIBUTE = "namePublicLong"
_JUST_MADE = timedelta(minutes=1)
_CORRECTED = re.compile(r" \(corrected at [0-9:.]+\)$")


def correct_a_text(client: Client, catalog: Catalog, say: Callable[[str], object]) -> None:
    """Correct one text in one language, wait for the import, and read the product again.

    Raises
    ------
    IncompleteLoad
        When the product is not as sent, or another language changed.
    """
    changes = _a_correction(catalog)
    (edit,) = changes.edits
    tracking = upsert(client, changes, progress=False).wait(progress=False)
    said = f" {on_one_line(tracking.message)}".rstrip()
    page = client.search_products(ProductQuery(gtins_in=edit.gtin, extra={"allow_not_consumer_units": True}))
    there: list[dict[str, Any]] = [json.loads(bytes(product)) for product in page.envelope.data]
    texts = flatten(there).texts.query("attribute == @_ATTRIBUTE")
    if there[0][_ATTRIBUTE] != changes.records[0][_ATTRIBUTE]:
        raise IncompleteLoad(f"GTIN {edit.gtin} now has another long name than was sent.")
    say(
        f"The {attribute_label(edit.attribute)} of GTIN {edit.gtin} in {language_label(str(edit.language))} gets a "
        f"remark: status {tracking.status}.{said} {counted(len(texts) - 1, 'other language')} untouched:"
    )
    row = next(row for row in texts.itertuples() if row.position == edit.position)
    say(f"  {row.language_code}  {on_one_line(row.text)}")


def refresh_and_compare(client: Client, catalog: Catalog, say: Callable[[str], object]) -> Catalog:
    """Fetch only changed products, show the difference, and return the new catalogue.

    Parameters
    ----------
    catalog
        A snapshot.
    """
    assert catalog.folder is not None  # noqa: S101 - a snapshot has one
    name = catalog.folder.parent.name
    fresh = refresh(name, client, progress=False)
    difference = diff(catalog, fresh)
    say(f"A refresh fetches only what changed since the last snapshot: {counts_of(difference)}.")
    if difference.changes.empty:
        raise IncompleteLoad("The refresh did not return the correction.")
    return fresh


def _a_correction(catalog: Catalog) -> Changes:
    """Choose a product with a name in several languages, and correct one of them."""
    names = catalog.texts.query("attribute == @_ATTRIBUTE")
    # Some products of the sample have wrong check digits on purpose, which preflight refuses.
    names = names[are_valid(names["gtin"].fillna("").tolist())]
    languages = names.groupby("product_id")["language"].nunique()
    for product in languages.sort_values(ascending=False, kind="stable").index:
        texts: pd.DataFrame = names[names["product_id"] == product].iloc[:1].copy()
        old = _CORRECTED.sub("", str(texts["text"].iloc[0]))
        moment = datetime.now().astimezone().time().isoformat("milliseconds")
        texts["text"] = f"{old} (corrected at {moment})"
        try:
            changes = changes_from_frame(texts, catalog)
        except ChangesRefused:  # an update of this product is pending, or another one has the same GTIN
            continue
        # The limit of the name, which the remark must not exceed.
        if max(len(item["data"] or "") for item in changes.records[0][_ATTRIBUTE]) <= 200:
            return changes
    raise IncompleteLoad("No product of the catalogue has a long name that could be corrected.")


def show_audit(judged: Audit, say: Callable[[str], object]) -> None:
    """Show an audit, and write its report.

    Parameters
    ----------
    judged
        The audit.
    say
        Prints a line.
    """
    figures, gaps = judged.summary, judged.gaps()
    say(
        f"Audit of {counted(len(judged), 'product')} by {counted(len(judged.checks), 'check')} ({judged.profile}): "
        f"{percent(figures['ready'])} ready, score {percent(figures['score'])}, "
        f"{counted(int(figures['to_work_on']), 'product')} to work on."
    )
    say(f"A product is ready if no blocker fails. {CAVEAT}")
    shown = gaps.head(_LINES).to_dict("records")
    say(f"The {len(shown)} largest gaps of {len(gaps)}, and what it would bring to close them:")
    rows = [(row["problem"], counted(row["products"], "product"), row["brings"]) for row in shown]
    for line in aligned(rows) if rows else ():
        say(f"  {line}")
    page = judged.to_html(_new_folder() / "report.html")
    say(f"The report opens in a browser: {page.as_uri()}")


def show_work_left(judged: Audit, say: Callable[[str], object], trend: Sequence[Audit] = ()) -> None:
    """Show who has most to correct, and write a report with a worklist for each owner.

    Parameters
    ----------
    judged
        The newest audit.
    say
        Prints a line.
    trend
        Earlier audits, which the report shows over time.
    """
    folder = _new_folder()
    index = judged.worklists(folder / "to_fix")
    findings = counted(int(index["findings"].sum()), "finding")
    page = judged.to_html(folder / "report.html", trend=trend)
    say(
        f"{counted(len(index), 'worklist')}, one for each owner, with {findings}, in the folder to_fix beside the "
        f"report over time: {page.as_uri()}"
    )


def _new_folder() -> Path:
    """Return a folder for what an audit writes."""
    return home() / "reports" / f"{datetime.now().astimezone():%Y-%m-%dT%H%M%S}"


def _tell(text: object) -> None:
    """Print a text, its long lines broken."""
    for line in str(text).split("\n"):
        say(wrapped(line))


def _show_first_audit(judged: Audit, *, with_tables: bool) -> None:
    """Show what the first load and the first audit have made."""
    _tell("\n1. Load the products for France, and audit them")
    assert judged.catalog is not None  # noqa: S101 - its snapshot is there
    (show_tables if with_tables else show_contents)(judged.catalog, _tell)
    show_audit(judged, _tell)


def _newest(client: Client, weeks: prodex.SimulatedWeeks) -> Catalog:
    """Return the products as they are now: what was sent since the weeks, by an earlier demo for example, included."""
    kept = prodex.open_snapshot(weeks.name)
    loaded_at = kept.origin.loaded_at
    is_new = loaded_at is not None and timedelta(0) <= clock.now() - loaded_at < _JUST_MADE
    return kept if is_new else refresh(weeks.name, client, progress=False)


app: typer.Typer = typer.Typer()


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog="Example: prodex sandbox --port 8080; prodex sandbox --simulate 7; prodex sandbox --reset",
)
def sandbox(context: typer.Context) -> None:
    """Run a complete exchange service on this machine."""
    if not {"-h", "--help"} & set(context.args):
        require_sandbox()
    from prodex.sandbox import run_command

    raise typer.Exit(run_command(context.args))


@app.command(epilog="Example: prodex demo; prodex demo --tables")
def demo(
    tables: Annotated[
        bool, typer.Option("--tables", help="Show every table, with a few of its lines.")
    ] = False,
) -> None:
    """Show what prodex does, with some weeks of a shop.

    The weeks are simulated in the sandbox: loads, audits, what changed, what is unusual, a correction, and the answers
    of a supplier.
    """
    client = prodex.connect("sandbox")
    _tell(
        f"The sandbox is running at {client.base_url}: an exchange service on this machine, with invented products."
    )
    weeks = prodex.simulated_weeks(
        progress=True, on_first_audit=partial(_show_first_audit, with_tables=tables)
    )
    _tell("\n2. Weeks later, see what has changed")
    show_weeks(weeks, _tell)
    catalog = _newest(client, weeks)
    _tell("\n3. Correct one text, and send what a supplier answered")
    correct_a_text(client, catalog, _tell)
    fresh = refresh_and_compare(client, catalog, _tell)
    judged = audit(fresh, "online-listing", progress=False)
    compared = take_answers(client, weeks, judged, _tell)
    show_work_left(judged if compared is None else compared.new, _tell, trend=weeks.audits)
    _tell("")
    for line in next_steps(weeks.name):
        _tell(line)
