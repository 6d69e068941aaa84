"""The sandbox and the demo: a load, an audit and its report, weeks of a shop, corrections and what they change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import pyarrow as pa
import typer

import prodex
from prodex import clock
from prodex.cli.lab import next_steps
from prodex.cli.options import command
from prodex.cli.output import aligned, counts_of, say, wrapped
from prodex.errors import ChangesRefused, IncompleteLoad
from prodex.files.atomic import home, relative_to_working_folder
from prodex.gtin import are_valid
from prodex.locales import language_label
from prodex.phrases import counted, percent
from prodex.tables.declaration import TABLES
from prodex.untrusted_text import on_one_line

_LINES = 3
_ATTRIBUTE = "namePublicLong"
_JUST_MADE = timedelta(minutes=1)
_CORRECTED = re.compile(r" \(corrected at [0-9:.]+\)$")


def correct_a_text(
    client: prodex.service.Client, catalog: prodex.Catalog, say: Callable[[str], object]
) -> None:
    """Correct one text in one language, wait for the import, and read the product again.

    Raises
    ------
    IncompleteLoad
        When the product is not as sent, or another language changed.
    """
    from prodex.languages.labels import attribute_label

    changes = _a_correction(catalog)
    (edit,) = changes.preview().to_dict("records")
    tracking = prodex.upsert(client, changes, progress=False).wait(progress=False)
    message = f" {on_one_line(tracking.message)}".rstrip()
    page = client.search_products(
        prodex.ProductQuery(gtins_in=edit["gtin"], extra={"allow_not_consumer_units": True})
    )
    there: list[dict[str, Any]] = [json.loads(bytes(product)) for product in page.envelope.data]
    texts = prodex.flatten(there).texts.query("attribute == @_ATTRIBUTE")
    if there[0][_ATTRIBUTE] != changes.records[0][_ATTRIBUTE]:
        raise IncompleteLoad(f"GTIN {edit['gtin']} now has another long name than was sent.")
    say(
        f"The {attribute_label(edit['attribute'])} of GTIN {edit['gtin']} in {language_label(edit['language'])} gets "
        f"a remark: status {tracking.status}.{message} {counted(len(texts) - 1, 'other language')} untouched:"
    )
    row = next(row for row in texts.itertuples() if row.position == edit["position"])
    say(f"  {row.language_code}  {on_one_line(row.text)}")


def refresh_and_compare(
    client: prodex.service.Client, catalog: prodex.Catalog, say: Callable[[str], object]
) -> prodex.Catalog:
    """Fetch only changed products, show the difference, and return the new catalogue.

    Parameters
    ----------
    catalog
        A snapshot.
    """
    assert catalog.folder is not None  # noqa: S101 - a snapshot has one
    name = catalog.folder.parent.name
    fresh = prodex.refresh(name, client, progress=False)
    difference = prodex.diff(catalog, fresh)
    say(f"A refresh fetches only what changed since the last snapshot: {counts_of(difference)}.")
    if difference.changes.empty:
        raise IncompleteLoad("The refresh did not return the correction.")
    return fresh


def _a_correction(catalog: prodex.Catalog) -> prodex.send.Changes:
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
            changes = catalog.changes_from(texts)
        except ChangesRefused:  # an update of this product is pending, or another one has the same GTIN
            continue
        # The limit of the name, which the remark must not exceed.
        if max(len(item["data"] or "") for item in changes.records[0][_ATTRIBUTE]) <= 200:
            return changes
    raise IncompleteLoad("No product of the catalogue has a long name that could be corrected.")


def show_audit(judged: prodex.quality.Audit, say: Callable[[str], object]) -> None:
    """Show an audit, and write its report.

    Parameters
    ----------
    judged
        The audit.
    say
        Prints a line.
    """
    from prodex.quality.scores import CAVEAT

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


def show_work_left(
    judged: prodex.quality.Audit, say: Callable[[str], object], trend: Sequence[prodex.quality.Audit] = ()
) -> None:
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


def show_completeness(judged: prodex.quality.Audit, say: Callable[[str], object]) -> None:
    """Show how complete products are for each channel of the shop."""
    from prodex.quality.completeness import EVERY_LANGUAGE
    from prodex.quality.requirements import ALL

    table = judged.completeness()
    every = table[(table["language"] == EVERY_LANGUAGE) & (table.iloc[:, 1] == ALL)]
    shares = [f"{row['channel']} {percent(row['completeness'])}" for row in every.to_dict("records")]
    say(f"Complete by what the shop itself requires: {', '.join(shares)}.")


def _new_folder() -> Path:
    """Return a folder for what an audit writes."""
    return home() / "reports" / f"{datetime.now().astimezone():%Y-%m-%dT%H%M%S}"


def _tell(text: object) -> None:
    """Print a text, its long lines broken."""
    for line in str(text).split("\n"):
        say(wrapped(line))


def _show_first_audit(judged: prodex.quality.Audit, *, with_tables: bool) -> None:
    """Show what the first load and the first audit have made."""
    _tell("1. Load the products for France, and audit them")
    assert judged.catalog is not None  # noqa: S101 - its snapshot is there
    (show_tables if with_tables else show_contents)(judged.catalog, _tell)
    show_audit(judged, _tell)


def _newest(client: prodex.service.Client, weeks: prodex.sandbox_weeks.SimulatedWeeks) -> prodex.Catalog:
    """Return the products as they are now: what was sent since the weeks, by an earlier demo for example, included."""
    kept = prodex.open_snapshot(weeks.name)
    loaded_at = kept.origin.loaded_at
    is_new = loaded_at is not None and timedelta(0) <= clock.now() - loaded_at < _JUST_MADE
    return kept if is_new else prodex.refresh(weeks.name, client, progress=False)


app: typer.Typer = typer.Typer()


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog="Example: prodex sandbox --port 8080; prodex sandbox --simulate 7; prodex sandbox --reset",
)
def sandbox(context: typer.Context) -> None:
    """Run a complete exchange service on this machine."""
    if not {"-h", "--help"} & set(context.args):
        from prodex.service.local_sandbox import require_sandbox

        require_sandbox()
    from prodex.sandbox import run_command

    raise typer.Exit(run_command(context.args))


@command(app, example="prodex demo; prodex demo --tables")
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
    judged = prodex.audit(fresh, "online-listing", progress=False)
    compared = take_answers(client, weeks, judged, _tell)
    show_completeness(prodex.audit(fresh, weeks.requirements, progress=False), _tell)
    show_work_left(judged if compared is None else compared.new, _tell, trend=weeks.audits)
    _tell("")
    for line in next_steps(weeks.name):
        _tell(line)


_WIDTH = 110
_CELL = 26


def show_contents(catalog: prodex.Catalog, say: Callable[[str], object]) -> None:
    """Show how many products and tables there are, and where they are kept."""
    rows = {name: catalog.row_count(name) for name in TABLES}
    filled = counted(sum(map(bool, rows.values())), "table")
    where = "in memory" if catalog.folder is None else f"in {relative_to_working_folder(catalog.folder)}"
    say(f"{counted(len(catalog), 'product')} in {filled} are kept {where}")


def show_tables(catalog: prodex.Catalog, say: Callable[[str], object]) -> None:
    """Show rows, columns and bytes of each table, then a few of its lines."""
    from prodex.display.catalog import text_of

    say(text_of(catalog, tables=False))
    say(f"\n{'table':<18}{'rows':>12}{'columns':>9}{'bytes':>15}")
    for name in TABLES:
        every = catalog.arrow(name)
        stored = sum(path.stat().st_size for path in catalog.files(name)) if catalog.folder else every.nbytes
        say(f"{name:<18}{every.num_rows:>12,}{every.num_columns:>9}{stored:>15,}")
    for name, table in TABLES.items():
        every = catalog.arrow(name)
        rows = _spread(every)
        say(f"\n{name}: one row per {table.row}; {rows.num_rows} of {every.num_rows:,}")
        for line in _table_lines(rows):
            say(f"  {line}")


def _spread(table: pa.Table) -> pa.Table:
    """Return a few rows from the whole table: the first ones often belong to one product."""
    places = sorted({number * len(table) // _LINES for number in range(_LINES)}) if len(table) else []
    return table.take(pa.array(places, pa.int64()))


def _table_lines(rows: pa.Table) -> list[str]:
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


#: Suppliers with fewer findings say little about how they work.
_ENOUGH = 5
_ASKED = ["blocker", "error"]


def show_weeks(weeks: prodex.sandbox_weeks.SimulatedWeeks, say: Callable[[str], object]) -> None:
    """Show the trend of the audits, who corrected what, what changed since Monday, and what is unusual."""
    audits = weeks.audits
    say(
        f"{counted(len(audits), 'load')}, each with an audit. The first, that of the last Monday, and the newest:"
    )
    trend = audits[-1].trend(audits[:-1])
    shown = {audits[0].now.date(), day_of(weeks.monday), audits[-1].now.date()}
    rows = [
        (
            f"{row['now']:%a %Y-%m-%d}",
            f"{row['products']:,} products",
            f"{percent(row['ready'])} ready",
            f"score {percent(row['score'])}",
            f"{row['to_work_on']:,} to work on",
        )
        for row in trend.to_dict("records")
        if row["now"].date() in shown
    ]
    for line in aligned(rows):
        say(f"  {line}")
    _show_suppliers(weeks, audits, say)
    _show_changes(weeks, say)
    say(f"Unusual for this shop (prodex watch {weeks.name}):")
    _show_first([on_one_line(sentence) for sentence in prodex.watch(weeks.name).sentences], say)


def _show_first(lines: list[str], say: Callable[[str], object]) -> None:
    """Show the first line, and how many there are besides: a demo fits on one screen."""
    besides = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    for line in lines[:1]:
        say(f"  {line}{besides}")


def _show_suppliers(
    weeks: prodex.sandbox_weeks.SimulatedWeeks,
    audits: tuple[prodex.quality.Audit, ...],
    say: Callable[[str], object],
) -> None:
    """Show how many of the findings that suppliers were asked about are gone, before the incident of the last night."""
    asked = next(one for one in audits if one.now.date() == weeks.asked)
    before, after = (
        one.failures(severity=_ASKED).drop_duplicates(["product_id", "check"]) for one in (asked, audits[-2])
    )
    place = ["product_id", "check"]
    is_left = before.set_index(place).index.isin(after.set_index(place).index)
    corrected = pd.DataFrame({"owner": before["owner"], "gone": ~is_left}).groupby("owner")["gone"]
    counts = corrected.agg(["size", "sum"])
    gone = int(counts["sum"].sum())
    counts = counts[counts["size"] >= _ENOUGH]
    ranked = counts.assign(share=counts["sum"] / counts["size"]).sort_values("share", ascending=False)
    least = "".join(
        f" (fewest at {on_one_line(owner)}, {int(row['sum']):,} of {int(row['size']):,})"
        for owner, row in ranked.tail(1).iterrows()
    )
    say(
        f"{gone:,} of {len(before):,} findings of {weeks.asked:%d %b}, when suppliers were asked, are gone{least}."
    )


def _show_changes(weeks: prodex.sandbox_weeks.SimulatedWeeks, say: Callable[[str], object]) -> None:
    """Show what changed since the last Monday, and whose products."""
    difference = prodex.diff(weeks.monday, weeks.catalog)
    say(f"Since Monday, {day_of(weeks.monday)}: {counts_of(difference)}.")


def day_of(snapshot: str) -> date:
    """Return the day of a snapshot by its name."""
    return date.fromisoformat(snapshot.partition("@")[2][:10])


def take_answers(
    client: prodex.service.Client,
    weeks: prodex.sandbox_weeks.SimulatedWeeks,
    judged: prodex.quality.Audit,
    say: Callable[[str], object],
) -> prodex.quality.AuditComparison | None:
    """Read the worklist of one supplier with its answers, send what can be used, and prove what it fixed.

    The worklists of other suppliers are left as they are, for whoever tries it next.

    Parameters
    ----------
    judged
        An audit of the newest snapshot.

    Raises
    ------
    IncompleteLoad
        When the answers did not arrive.
    """
    from prodex.quality.comparison import compare_audits

    file = next(iter(sorted(weeks.returned.glob("*.csv"))), None)
    if file is None:
        say("No worklist came back: what is right is known of the sample alone.")
        return None
    fix = prodex.read_worklist(file, judged.catalog, profile=judged.profile, now=judged.now)
    say(f"A supplier has sent its worklist back. {repr(fix).splitlines()[0]}")
    _show_first(
        [f"refused: cell {row.cell}: {on_one_line(row.reason)}" for row in fix.refused.itertuples()], say
    )
    if fix.accepted.empty:
        say("What it answered was sent before. prodex sandbox --reset restores the sample.")
        return None
    # The sandbox may have been reset since: of an import that it does not know nothing has arrived.
    tracking = fix.apply(client, also="unknown", progress=False).wait(progress=False)
    message = f" {on_one_line(tracking.message)}".rstrip()
    imported = f"Status {tracking.status}{message}; the audit of the refreshed catalogue proves it"
    fresh = prodex.refresh(weeks.name, client, progress=False)
    compared = compare_audits(judged, prodex.audit(fresh, judged.profile, now=judged.now, progress=False))
    fixed = compared.changes("fixed")
    if not set(fix.accepted["product_id"]) <= set(fixed["product_id"]):
        raise IncompleteLoad("The audit after the answers does not show all of them as fixed.")
    say(f"{imported}: {counted(len(fixed), 'finding')} fixed.")
    return compared
