"""The sandbox and the demo: every table, a correction and what changed by it, an audit - shown in a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import typer

import prodex
from prodex.catalog import Catalog
from prodex.cli.lab import next_steps
from prodex.cli.output import aligned, say
from prodex.compare import diff
from prodex.display_text import on_one_line
from prodex.errors import ChangesRefused, IncompleteLoad
from prodex.facts.groups import shown_names
from prodex.files.atomic import home
from prodex.fix.worklists import read_worklist
from prodex.gtin import are_valid
from prodex.load import refresh
from prodex.quality.audit import Audit
from prodex.quality.comparison import AuditComparison, compare_audits
from prodex.quality.run import audit
from prodex.quality.scores import readiness
from prodex.query import ProductQuery
from prodex.send import Changes, changes_from_frame, upsert
from prodex.service import Client
from prodex.service.local_sandbox import require_sandbox
from prodex.store.reading import flatten
from prodex.tables.attributes import PENDING
from prodex.tables.declaration import TABLES
from prodex.text import percent

_LINES = 3
_WIDTH = 110
_CELL = 26
_ATTRIBUTE = "namePublicLong"
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


def audit_the_sample(catalog: Catalog, say: Callable[[str], object]) -> tuple[Audit, Path]:
    """Audit the catalogue for online listing, write the report and a worklist for each owner, and return their folder.

    Parameters
    ----------
    catalog
        The catalogue, audited as of its last change.
    say
        Prints a line.
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
    page = judged.to_html(folder / "report.html")
    index = judged.worklists(folder / "to_fix")
    say(f"The report opens in a browser: {page.as_uri()}")
    say(
        f"{len(index):,} worklists, one for each owner, with {index['findings'].sum():,} findings: {folder / 'to_fix'}"
    )
    return judged, folder


def answer_a_worklist(
    client: Client, judged: Audit, folder: Path, say: Callable[[str], object]
) -> AuditComparison | None:
    """Fill in a worklist as a supplier would, send what can be used, and prove what it fixed.

    Where the demo ran so often that no owner has two missing names left, it says so.

    Parameters
    ----------
    judged
        An audit of a snapshot.
    folder
        Where its worklists are.

    Raises
    ------
    IncompleteLoad
        When the answers did not arrive.
    """
    rows = _answerable(folder / "to_fix", judged)
    if len(rows) < 2:
        say("No owner has two missing short names left; prodex sandbox --reset restores the sample.")
        return None
    owner = rows["owner"].iloc[0]
    names = rows["name"].fillna("Article")
    # The last one is longer than a short name may be, which somebody always overlooks.
    answers = [f"{name:.22} {number + 1}" for number, name in enumerate(names)]
    answers[-1] = f"{names.iloc[-1]:.20}, the name of which is much too long"
    returned = folder / "returned" / "answers.csv"
    returned.parent.mkdir()
    rows.assign(new_value=answers).to_csv(returned, index=False)
    say(
        f"{on_one_line(owner)} fills in {len(rows)} missing short names, and sends the worklist back: {returned}"
    )
    fix = read_worklist(returned, judged.catalog, profile=judged.profile, now=judged.now)
    say(repr(fix))
    for row in fix.preview().itertuples():
        say(f"  GTIN {row.gtin}, {row.attribute} in {row.language}: {on_one_line(row.after)}")
    tracking = fix.apply(client, progress=False).wait(progress=False)
    say(f"Sent: status {tracking.status}. {on_one_line(tracking.message)}".rstrip())
    assert judged.catalog_folder is not None  # noqa: S101 - the audit of a snapshot
    fresh = refresh(judged.catalog_folder.parent.name, client, progress=False)
    compared = compare_audits(judged, audit(fresh, judged.profile, now=judged.now, progress=False))
    fixed = compared.changes("fixed")
    if not set(fix.accepted["product_id"]) <= set(fixed["product_id"]):
        raise IncompleteLoad("The audit after the answers does not show all of them as fixed.")
    say(f"The audit of the refreshed catalogue proves it: {len(fixed)} findings are fixed.")
    return compared


def _answerable(folder: Path, judged: Audit) -> pd.DataFrame:
    """Return a few findings of one owner that somebody can answer by writing a short name."""
    assert judged.catalog is not None  # noqa: S101 - it was made of one
    texts = judged.catalog.arrow("texts", ["product_id", "attribute"])
    waiting = texts.filter(pc.starts_with(texts["attribute"], PENDING))["product_id"].unique().to_pylist()
    rows = pd.concat(map(pd.read_parquet, sorted(folder.glob("*.parquet"))))
    rows = rows[rows["check"].str.startswith("required_text[namePublicShort")]
    # What waits for acceptance, or has a wrong GTIN, is no matter of a name.
    rows = rows[~rows["product_id"].isin(waiting) & are_valid(rows["gtin"].fillna("").tolist())]
    rows = rows.drop_duplicates("product_id")
    most = rows["owner_id"].value_counts().index[:1]
    return rows[rows["owner_id"].isin(most)].head(_LINES + 1)


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
    """Load the catalogue of the sandbox over HTTP, show every table, correct a text, audit, and answer a worklist."""
    client = prodex.connect("sandbox")
    say(f"The sandbox is running at {client.base_url}; its catalogue is loaded with the real client.\n")
    catalog = prodex.load_products(client, name="sample", max_age=0, progress=True)
    say("")
    show_tables(catalog, say)
    say(f"\nThe snapshot is in {catalog.folder}.\n")
    correct_a_text(client, catalog, say)
    say("")
    fresh = refresh_and_compare(client, catalog, say)
    say("")
    judged, folder = audit_the_sample(fresh, say)
    say("")
    answer_a_worklist(client, judged, folder, say)
    say("")
    for line in next_steps("sample"):
        say(line)
