"""The comparison of two snapshots: which two, what changed, its products and cards, and a file of all changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from prodex.compare import Difference, diff
from prodex.files.atomic import writing
from prodex.formats.csv_files import write_csv
from prodex.languages.labels import attribute_title
from prodex.notebook.session.actions import Block, Panel, action, task
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.audits_before import audits_of, readable
from prodex.notebook.views.blocks import button, heading, paragraph, row, typed_text, work
from prodex.notebook.views.compared import (
    EVERY,
    GROUPS,
    ComparedSnapshots,
    What,
    audit_blocks,
    group_table,
    summary_blocks,
    value_table,
)
from prodex.notebook.views.forms import FormField, Setting, form, form_values
from prodex.notebook.views.frame import catalog_title
from prodex.notebook.views.pages_of_rows import RowList
from prodex.notebook.views.paths import path_of
from prodex.notebook.views.saved_snapshots import (
    ListedSnapshots,
    SnapshotEntry,
    explored,
    snapshots_to_compare,
)
from prodex.notebook.views.written_files import write_files, written_blocks
from prodex.phrases import counted, moment_in_words
from prodex.progress import SILENT, Reporter
from prodex.quality import AuditComparison, compare_audits
from prodex.selection import ProductList, Selection

#: Changed values that are written at a time, and those on a page.
_BATCH, _ROWS = 10_000, 20
_SLOT, _EXPORT = "comparison", "comparison.export"
_FILE = [
    FormField("file", "File", value="changes.csv"),
    FormField(
        "is_safe",
        "Safe for spreadsheets (puts an apostrophe before text that would run as a formula)",
        "tick",
        value=True,
    ),
]


@dataclass(frozen=True)
class ComparisonState:
    """What the comparison keeps.

    Attributes
    ----------
    found
        The last comparison.
    what
        Whose changes are listed.
    """

    found: ComparedSnapshots | None = None
    what: What = EVERY


def _listed(session: Session) -> object:
    state = session.part(ComparisonState)
    return state.found, state.what


_VALUES = RowList("comparison.values", _ROWS, _listed)
_GROUPED = Setting("comparison", FormField("by", "Groups", "choice", "owner", [*GROUPS.items()]))


def comparison_blocks(session: Session, every: Sequence[SnapshotEntry]) -> list[Block]:
    """Return the form that compares two snapshots, and what the last comparison has found."""
    fields, found = _pair_fields(session, every), session.part(ComparisonState).found
    chosen = form_values(session, "compare", fields)["new"]
    newest = next((one for one in every if one.folder == chosen), None)
    since = [
        button([typed_text(label)], "comparison.since", look="link", old=one.folder, new=chosen)
        for label, one in (snapshots_to_compare(_comparable(every), newest) if newest else ())
    ]
    start = button(
        "Compare", "comparison.run", look="main", off="The comparison runs" * (_SLOT in session.works)
    )
    blocks = [
        heading("Compare snapshots"),
        row(*since, key="since") if since else None,
        form(session, "compare", fields, start, look="wide", label="Compare snapshots"),
        work(session, _SLOT),
    ]
    if found is not None and found.difference is session.difference:
        blocks += [_pair(found, form_values(session, "compare", fields)), *_results(session, found)]
    return [one for one in blocks if one]


def _pair(found: ComparedSnapshots, chosen: Mapping[str, Any]) -> Block:
    """Return which two were compared: the form above may have others by now."""
    pair = {"old": found.difference.old, "new": found.difference.new}
    titles = [typed_text(catalog_title(one)) for one in pair.values()]
    is_chosen = all(one.folder is not None and str(one.folder) == chosen[name] for name, one in pair.items())
    now = "" if is_chosen else " Others are chosen above: press Compare to see what changed between these."
    said = ["Changes from ", titles[0], " to ", titles[1], f".{now}"]
    return paragraph(said, key="compared", tone="status" if is_chosen else "note")


def _comparable(every: Iterable[SnapshotEntry]) -> list[SnapshotEntry]:
    """Return the snapshots that can be compared: not those that cannot be read."""
    return [one for one in every if one.products is not None]


def _pair_fields(session: Session, every: Sequence[SnapshotEntry]) -> list[FormField]:
    offered, chosen = _comparable(every), explored(session)
    # The one that is explored is compared with the one before it; or else the newest that has one.
    preferred = sorted(offered, key=lambda one: one != chosen)
    old, new = next(((old, new) for new in preferred if (old := _before(offered, new))), (None, None))
    given = session.typed.get("compare", {}).get("new")
    # Whoever chooses another newer one most often means the one before it.
    if (own := next((one for one in offered if one.folder == given), None)) is not None:
        old = _before(offered, own) or old
    options = [
        *([] if old and new else [("", "a snapshot …")]),
        *((one.folder, one.title) for one in offered),
    ]
    return [
        FormField("old", "From", "choice", old.folder if old else "", options),
        FormField("new", "To", "choice", new.folder if new else "", options),
    ]


def _before(offered: Iterable[SnapshotEntry], new: SnapshotEntry) -> SnapshotEntry | None:
    """Return the newest earlier snapshot of the same name."""
    return next((one for one in offered if one.name == new.name and one.time < new.time), None)


def _results(session: Session, found: ComparedSnapshots) -> list[Block | None]:
    state = session.part(ComparisonState)
    off = "The export runs" * (_EXPORT in session.works)
    export = button("Export changes as CSV", "comparison.export", off=off)
    return [
        *summary_blocks(found),
        *_values(session, found, state.what),
        form(session, "changes-file", _FILE, export),
        *written_blocks(session, _EXPORT, key="written"),
        *(audit_blocks(found.audits) if found.audits else ()),
        heading("Groups with most changes", level=4),
        _GROUPED.switch(session, key="by"),
        group_table(found, _GROUPED.of(session)),
    ]


def _values(session: Session, found: ComparedSnapshots, what: What) -> list[Block | None]:
    """Return old and new values, whose they are, and a button that shows their products."""
    chosen = found.choices[what]
    options = [([*one], listed.label) for one, listed in found.choices.items()]
    whose = FormField("what", "Changes of", "choice", [*what], options, do="comparison.show")
    rows, turning = _VALUES.page(session, len(chosen.rows), "changed value", key="values-pages")
    shows = button(
        f"Show {counted(chosen.products, 'product')}",
        "comparison.products",
        key="products",
        look="link",
        title="List them in the section Products",
        value=[*what],
    )
    how = paragraph("Press a row to open the product.", key="values-caption", tone="muted")
    return [
        heading("Changed values", level=4),
        row(form(session, "changes", [whose]), turning, shows if chosen.products else None, key="values-bar"),
        how if len(chosen.rows) else None,
        value_table(found, what, rows),
    ]


@task("comparison.run")
def compare(app: Panel) -> None:
    """Compare the two snapshots that are chosen, in the background."""
    every = app.session.part(ListedSnapshots).entries or ()
    old, new = form_values(app.session, "compare", _pair_fields(app.session, every)).values()
    if not (old and new):
        if len(_comparable(every)) < 2:
            raise Refused("A comparison needs two snapshots. Load or save a catalogue first.")
        raise Refused("Select a snapshot under From, and another one under To.", at="compare.old")
    if old == new:
        raise Refused("Both are the same snapshot. Select another one under From.", at="compare.old")

    app.run(_SLOT, partial(compared, Path(old), Path(new)), with_comparison, title="Comparing")


def with_comparison(session: Session, found: ComparedSnapshots) -> Session:
    """Return the session that shows what changed."""
    now = session.replaced(difference=found.difference).noting("", section=_EXPORT)
    return now.with_changed(ComparisonState, found=found, what=EVERY)


@task("comparison.since")
def compare_since(app: Panel, old: str, new: str) -> None:
    """Select an earlier snapshot, and compare at once."""
    app.change(lambda session: session.with_typed("compare", old=old, new=new))
    compare(app)


def compared(old: Path, new: Path, reporter: Reporter = SILENT) -> ComparedSnapshots:
    """Compare two snapshots, and their newest audits by the same profile if both have one."""
    difference = diff(old, new, progress=reporter)
    with reporter.phase("Comparing their audits"):
        return ComparedSnapshots.of(difference, compared_audits(old, new))


def compared_audits(old: Path, new: Path) -> AuditComparison | None:
    """Compare the newest audits of two snapshots by the same profile; None where there are none."""
    before, after = dict(audits_of(old)), dict(audits_of(new))
    # The profile that was used last is the one that somebody works with.
    for profile in reversed([profile for profile in after if profile in before]):
        if len(both := readable([before[profile], after[profile]])) == 2:
            return compare_audits(*both)
    return None


@action("comparison.show", is_quiet=True)
def list_changes(session: Session, value: What) -> Session:
    """List the changes of other products, or of another attribute."""
    if value not in _found(session).choices:
        return session
    return session.with_changed(ComparisonState, what=value)


@action("comparison.products")
def show_products(session: Session, value: What) -> Session:
    """List products of the newer snapshot, which is explored then, if another one was."""
    found = _found(session)
    if value not in found.choices:
        raise Refused("Nothing was done: the comparison has no such changes by now.")
    products = ProductList(_list_title(value, found.difference), found.ids(value))
    newer = _newer(session, found)
    return newer.filtered(Selection(listed=(products,))).replaced(section="products")


@action("comparison.card")
def open_card(session: Session, product_id: str) -> Session:
    """Open the card of a product in the newer snapshot."""
    return _newer(session, _found(session)).replaced(product_id=product_id, section="products")


def _found(session: Session) -> ComparedSnapshots:
    found = session.part(ComparisonState).found
    if found is None or found.difference is not session.difference:
        raise Refused("Nothing is compared yet. Press Compare first.")
    return found


def _newer(session: Session, found: ComparedSnapshots) -> Session:
    new = found.difference.new
    return session if session.catalog.folder == new.folder else session.looking_at(new)


def _list_title(what: What, difference: Difference) -> str:
    outcome, attribute = what
    since = difference.old.origin.loaded_at
    when = "" if since is None else f" since {moment_in_words(since)}"
    return f"{outcome}{when}" if attribute is None else f"{attribute_title(attribute)} {outcome}{when}"


@task("comparison.export")
def start_export(app: Panel) -> None:
    """Write every changed value to the file that was named."""
    found, values = _found(app.session), form_values(app.session, "changes-file", _FILE)
    path = path_of(str(values["file"] or "").strip() or "changes.csv", at="changes-file.file")

    write = partial(export_changes, found.difference, path, bool(values["is_safe"]))
    write_files(app, _EXPORT, write, "Exporting changes", at="changes-file.file")


def export_changes(difference: Difference, path: Path, is_safe: bool, reporter: Reporter) -> str:
    """Write every changed value to a file, and return where."""
    # A list of changes is evidence: it is never replaced by that of another comparison.
    if path.exists():
        raise Refused(
            f"{path} already exists. Give another name, or delete it first.", at="changes-file.file"
        )
    rows = pa.Table.from_pandas(difference.changes, preserve_index=False)
    # A column without a value is of type null, and the schema of the file must not depend on what has changed.
    rows = rows.cast(pa.schema([(name, pa.string()) for name in rows.column_names]))
    with writing(path) as beside, reporter.phase("Exporting", "changes", len(rows)) as phase:
        batches = phase.passing(rows.to_batches(max_chunksize=_BATCH))
        write_csv(batches, rows.schema, beside, escape_formulas=is_safe)
    return f"Exported {counted(len(rows), 'changed value')} to {path.absolute()}."
