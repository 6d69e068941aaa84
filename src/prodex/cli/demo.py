"""The sandbox and the demo: three weeks, every table, a correction and what changed by it, an audit - in a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import typer

import prodex
from prodex import clock
from prodex.catalog import Catalog
from prodex.cli.demo_weeks import day_of, show_weeks, take_answers
from prodex.cli.lab import next_steps
from prodex.cli.output import aligned, say
from prodex.compare import diff
from prodex.display_text import on_one_line
from prodex.errors import ChangesRefused, IncompleteLoad
from prodex.facts.groups import shown_names
from prodex.files.atomic import home
from prodex.gtin import are_valid
from prodex.load import refresh
from prodex.quality.audit import Audit
from prodex.quality.run import audit
from prodex.quality.scores import readiness
from prodex.query import ProductQuery
from prodex.send import Changes, changes_from_frame, upsert
from prodex.service import Client
from prodex.service.local_sandbox import require_sandbox
from prodex.store.reading import flatten
from prodex.tables.declaration import TABLES
from prodex.text import percent

_LINES = 3
_WIDTH = 110
_CELL = 26
_ATTRIBUTE = "namePublicLong"
_JUST_MADE = timedelta(minutes=1)
_CORRECTED = re.compile(r" \(corrected at [0-9:.]+\)$")


def show_tables(catalog: Catalog, say: Callable[[str], object]) -> None:
    """Show rows, columns and bytes of each table, then a few of its lines."""
    say(repr(catalog).split("\n  ")[0])
    say(f"\n{'table':<18}{'rows':>12}{'columns':>9}{'bytes':>15}")
    for name in TABLES:
        every = catalog.arrow(name)
        stored = sum(path.stat().st_size for path in catalog.files(name)) if catalog.folder else every.nbytes
        say(f"{name:<18}{every.num_rows:>12,}{every.num_columns:>9}{stored:>15,}")
    for name, table in TABLES.items():
        every = catalog.arrow(name)
        # From the whole table: the first rows often belong to one product.
        spread = sorted({number * len(every) // _LINES for number in range(_LINES)}) if len(every) else []
        rows = every.take(pa.array(spread, pa.int64()))
        say(f"\n{name}: one row per {table.row}; {rows.num_rows} of {every.num_rows:,}")
        for line in _lines(rows):
            say(f"  {line}")


def _lines(rows: pa.Table) -> list[str]:
    """Format rows in columns: as many of the filled ones as fit into the width."""
    shown: list[list[str]] = []
    left = _WIDTH
    for name, column in _telling(rows):
        texts = (on_one_line("" if value is None else value) for value in column.to_pylist())
        cells = [text if len(text) <= _CELL else f"{text[: _CELL - 1]}…" for text in (name, *texts)]
        if (width := max(map(len, cells))) > left:
            break
        shown.append(cells)
        left -= width + 2  # the gap between two columns
    return aligned(list(zip(*shown, strict=True))) if rows.num_rows else []


def _telling(rows: pa.Table) -> list[tuple[str, pa.ChunkedArray]]:
    """Return the columns to show: the GTIN, then filled ones, without keys and repeated facts."""
    dull = {"product_id", "gtin", "uuid", "position", "created_at"}
    columns = dict(zip(rows.column_names, rows.columns, strict=True))
    filled = [(n, c) for n, c in columns.items() if n not in dull and c.null_count < len(c)]
    return [("gtin", columns["gtin"]), *filled] if "gtin" in columns else filled


def correct_a_text(client: Client, catalog: Catalog, say: Callable[[str], object]) -> None:
    """Correct one text in one language, wait for the import, and read the product again.

    Raises
    ------
    IncompleteLoad
        When the product is not as sent, or another language changed.
    """
    changes = _a_correction(catalog)
    (edit,) = changes.edits
    say(f"Correcting one text: {edit.attribute} of GTIN {edit.gtin} in {edit.language!r}.")
    say(f"  before: {on_one_line(edit.before)}\n  after:  {on_one_line(edit.after)}")
    tracking = upsert(client, changes, progress=False).wait(progress=False)
    sent = (
        f"Sent: tracking {tracking.tracking_ids}, status {tracking.status}. {on_one_line(tracking.message)}"
    )
    say(sent.rstrip())
    page = client.search_products(ProductQuery(gtins_in=edit.gtin, extra={"allow_not_consumer_units": True}))
    there: list[dict[str, Any]] = [json.loads(bytes(product)) for product in page.envelope.data]
    texts = flatten(there).texts.query("attribute == @_ATTRIBUTE")
    if there[0][_ATTRIBUTE] != changes.records[0][_ATTRIBUTE]:
        raise IncompleteLoad(f"GTIN {edit.gtin} now has another {_ATTRIBUTE} than was sent.")
    say("Read back from the service:")
    for row in texts.itertuples():
        mark = "corrected" if row.position == edit.position else "untouched"
        say(f"  {row.language_code}  {mark}  {on_one_line(row.text)}")


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
    counted = difference.summary.set_index("change")["products"]
    counts = [f"{int(count):,} {what!s}" for what, count in counted.items() if count]
    say(f"Refreshed by fetching only changed products: {', '.join(counts)}.")
    for row in difference.changes.head(_LINES).itertuples():
        say(f"  GTIN {row.gtin}, {row.attribute} in {row.language!r}: {str(row.old)!r} -> {str(row.new)!r}")
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
    raise IncompleteLoad(f"No product of the catalogue has a {_ATTRIBUTE} that could be corrected.")


def audit_the_sample(catalog: Catalog, say: Callable[[str], object], trend: Sequence[Audit] = ()) -> Audit:
    """Audit the catalogue for online listing, and write the report and a worklist for each owner.

    Parameters
    ----------
    catalog
        The catalogue, audited as of its last change.
    say
        Prints a line.
    trend
        Earlier audits, which the report shows over time.
    """
    changed = catalog.arrow("products", ["updated_at"])["updated_at"]
    # As of its last change: as of today, the figures of the sample would change with its age.
    judged = audit(catalog, "online-listing", now=pc.max(changed).as_py())
    say(repr(judged))
    owners = judged.scores("owner").head(_LINES)
    say(f"The {len(owners)} owners with the lowest scores:")
    for name, row in zip(shown_names(owners, "owner"), owners.to_dict("records"), strict=True):
        score = percent(row["score"])
        say(
            f"  {on_one_line(name):<30}  score {score:>7}, {readiness(row)}, products to work on: {row['to_work_on']:,}"
        )
    folder = home() / "reports" / f"{datetime.now().astimezone():%Y-%m-%dT%H%M%S}"
    page = judged.to_html(folder / "report.html", trend=trend)
    index = judged.worklists(folder / "to_fix")
    say(f"The report opens in a browser: {page.as_uri()}")
    say(
        f"{len(index):,} worklists, one for each owner, with {index['findings'].sum():,} findings: {folder / 'to_fix'}"
    )
    return judged


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
    """Run a complete exchange service on this machine (prodex sandbox --help)."""
    if not {"-h", "--help"} & set(context.args):
        require_sandbox()
    from prodex.sandbox.command import main as serve

    raise typer.Exit(serve(context.args))


@app.command(epilog="Example: prodex demo")
def demo() -> None:
    """Let three weeks pass in the sandbox, show what can be found in them, correct a text, audit, and take answers."""
    client = prodex.connect("sandbox")
    say(f"The sandbox is running at {client.base_url}; all that follows goes through its service.\n")
    weeks = prodex.simulated_weeks(progress=True)
    show_weeks(weeks, say)
    catalog = _newest(client, weeks)
    say("")
    show_tables(catalog, say)
    say(f"\nThe snapshot is in {catalog.folder}.\n")
    correct_a_text(client, catalog, say)
    say("")
    fresh = refresh_and_compare(client, catalog, say)
    say("")
    judged = audit_the_sample(fresh, say, trend=weeks.audits)
    say("")
    take_answers(client, weeks, judged, say)
    since = f"{weeks.name}@{day_of(weeks.monday)}"
    say(f"\nprodex watch {weeks.name} and prodex diff {since} {weeks.name} show the weeks again.")
    say("prodex sandbox --reset takes back all that happened in the sandbox; the next demo begins anew.")
    say("")
    for line in next_steps(weeks.name):
        say(line)
