"""The comparison of two snapshots: counts, causes, old and new values, groups, and their audits; with an export."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.compare import Difference, diff
from prodex.errors import InputError
from prodex.facts.groups import shown_names
from prodex.files.atomic import writing
from prodex.formats.csv_files import write_csv
from prodex.languages.labels import attribute_title
from prodex.locales import language_label
from prodex.messages import counted, moment_in_words
from prodex.notebook.session.actions import Block, Panel, action, task
from prodex.notebook.session.value import Refused, Session
from prodex.notebook.views.audits_before import readable
from prodex.notebook.views.blocks import (
    Cell,
    Typed,
    box,
    button,
    heading,
    listed,
    paragraph,
    row,
    switch,
    table,
    typed_text,
    work,
)
from prodex.notebook.views.cells import short_key
from prodex.notebook.views.forms import FormField, form, form_values
from prodex.notebook.views.pages_of_rows import first_on_page, pager
from prodex.notebook.views.paths import path_of
from prodex.notebook.views.saved_snapshots import (
    ListedSnapshots,
    SnapshotEntry,
    explored,
    snapshots_to_compare,
)
from prodex.progress import Progress, Reporter, reporting, showing
from prodex.quality import AuditComparison, compare_audits, list_audits
from prodex.quality.scores import moved
from prodex.selection import ProductList, Selection
from prodex.untrusted_text import cut, ends, words

#: Changed values that are written at a time, and those on a page.
_BATCH, _ROWS = 10_000, 20
#: Rows of the tables of groups, checks and attributes; characters of a value, of a figure in large letters, of an
#: attribute, and of a tooltip.
_GROUPS, _CHECKS, _ATTRIBUTES, _LONG, _WIDE, _NAME, _HINT = 10, 10, 12, 300, 12, 60, 400
_MOVES = ("added", "removed", "changed")
BY = {"owner": "owners", "brand": "brands", "kind": "kinds"}
#: Products without changed values that are there now, and how they are called.
_OTHERS = {"added": "added products", "touched only": "products touched only"}
_NO_VALUES = {
    "added": "All values of products that were added are new.",
    "touched only": "Of these products only the date of the update differs.",
}
_WORDS = (
    "Touched only: the date of the update differs, and no value does. Not comparable: missing from a catalogue that is "
    "incomplete, so perhaps not removed."
)
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

#: An outcome of products as `Difference.outcomes` has it, and an attribute, or None for all of them.
What = tuple[str, str | None]
_ALL: What = ("changed", None)


@dataclass(frozen=True, eq=False)
class ComparedSnapshots:
    """What changed between two snapshots, counted once.

    Attributes
    ----------
    difference
        The difference.
    audits
        The comparison of their audits; None where they have none by the same profile.
    counts
        How many products were added, removed, changed and so on.
    causes
        `Difference.causes`.
    whole
        The whole attribute of each changed value: what is below an attribute counts for it.
    attributes
        Of how many products each attribute has changed values, the most first.
    moves
        How many of its values were added, removed and changed.
    groups
        By what products are grouped: the groups with changes, the most first.
    """

    difference: Difference
    audits: AuditComparison | None
    counts: Mapping[str, int]
    causes: pd.DataFrame
    whole: pd.Series
    attributes: pd.Series
    moves: Mapping[Any, int]
    groups: Mapping[str, pd.DataFrame]
    _shown: dict[What, pd.DataFrame] = field(default_factory=dict)

    @classmethod
    def of(cls, difference: Difference, audits: AuditComparison | None) -> ComparedSnapshots:
        """Count what is shown of a difference."""
        changes = difference.changes
        whole = changes["attribute"].map(whole_attribute)
        counts = difference.summary.set_index("change")["products"]
        return cls(
            difference,
            audits,
            {str(name): int(number) for name, number in counts.items()},
            difference.causes,
            whole,
            products_of_attributes(changes),
            {} if changes.empty else changes.groupby([whole, "change"]).size().to_dict(),
            {by: _groups_with_changes(difference, by) for by in BY},
        )

    def values(self, what: What) -> pd.DataFrame:
        """Return the changed values that are listed."""
        if what not in self._shown:
            changes, (outcome, attribute) = self.difference.changes, what
            if outcome in _OTHERS:
                found = changes.iloc[:0]
            else:
                found = changes if attribute is None else changes[self.whole == attribute]
            self._shown.clear()
            self._shown[what] = found
        return self._shown[what]

    def ids(self, what: What) -> tuple[str, ...]:
        """Return the products of the changed values that are listed, or of an outcome."""
        outcome, attribute = what
        if attribute is not None:
            return tuple(dict.fromkeys(self.values(what)["product_id"]))
        outcomes = self.difference.outcomes
        return tuple(outcomes.filter(pc.field("change") == outcome)["product_id"].to_pylist())

    @property
    def choices(self) -> dict[What, str]:
        """Whose changes can be listed, and what that is called."""
        named: dict[What, str] = {
            ("changed", str(one)): f"\u2068{_short_title(str(one))}\u2069 ({counted(int(number), 'product')})"
            for one, number in self.attributes.items()
        }
        others: dict[What, str] = {
            (one, None): f"{words} ({self.counts[one]:,})"
            for one, words in _OTHERS.items()
            if self.counts[one]
        }
        return {_ALL: f"all changed products ({self.counts['changed']:,})", **named, **others}


@dataclass(frozen=True)
class ComparisonState:
    """What the comparison keeps.

    Attributes
    ----------
    found
        The last comparison.
    what
        Whose changes are listed.
    first
        The first changed value of the page.
    by
        By what products are grouped.
    written
        What was exported last.
    """

    found: ComparedSnapshots | None = None
    what: What = _ALL
    first: int = 0
    by: str = "owner"
    written: str = ""


def comparison_blocks(session: Session, every: Sequence[SnapshotEntry]) -> list[Block]:
    """Return the form that compares two snapshots, and what the last comparison has found."""
    fields, found = _pair_fields(session, every), session.part(ComparisonState).found
    values = form_values(session, "compare", fields)
    newest = next((one for one in every if one.folder == values["new"]), None)
    starts = [] if newest is None else snapshots_to_compare(_comparable(every), newest)
    since = [
        button([typed_text(label)], "comparison.since", look="link", old=one.folder, new=values["new"])
        for label, one in starts
    ]
    busy = "The comparison runs" if _SLOT in session.works else ""
    blocks = [
        heading("Compare snapshots"),
        row(*since, key="since") if since else None,
        form(
            session,
            "compare",
            fields,
            button("Compare", "comparison.run", look="main", off=busy),
            look="wide",
            label="Compare snapshots",
        ),
        work(session, _SLOT),
        *(_results(session, found) if found is not None and found.difference is session.difference else ()),
    ]
    return [one for one in blocks if one]


def _comparable(every: Iterable[SnapshotEntry]) -> list[SnapshotEntry]:
    """Return the snapshots that can be compared: not those that cannot be read."""
    return [one for one in every if one.products is not None]


def _pair_fields(session: Session, every: Sequence[SnapshotEntry]) -> list[FormField]:
    offered, chosen = _comparable(every), explored(session)
    options = [(one.folder, one.title) for one in offered]
    preferred = [*([chosen] if chosen in offered else []), *offered]
    pairs = ((_before(offered, one), one) for one in preferred if one is not None)
    old, new = next(((old, new) for old, new in pairs if old is not None), (None, None))
    given = session.typed.get("compare", {}).get("new")
    # Whoever chooses another newer one most often means the one before it.
    if (own := next((one for one in offered if one.folder == given), None)) is not None:
        old = _before(offered, own) or old
    none = [] if old and new else [("", "a snapshot …")]
    return [
        FormField("old", "From", "choice", old.folder if old else "", [*none, *options]),
        FormField("new", "To", "choice", new.folder if new else "", [*none, *options]),
    ]


def _before(offered: Iterable[SnapshotEntry], new: SnapshotEntry) -> SnapshotEntry | None:
    """Return the newest earlier snapshot of the same name."""
    return next((one for one in offered if one.name == new.name and one.time < new.time), None)


@task("comparison.run")
def compare(app: Panel) -> None:
    """Compare the two snapshots that are chosen, in the background."""
    every = app.session.part(ListedSnapshots).entries or ()
    offered = {one.folder for one in _comparable(every)}
    values = form_values(app.session, "compare", _pair_fields(app.session, every))
    old, new = values["old"], values["new"]
    if not {old, new} <= offered:
        if len(offered) < 2:
            raise Refused("A comparison needs two snapshots. Load or save a catalogue first.")
        raise Refused("Select a snapshot under From, and another one under To.", at="compare.old")
    if old == new:
        raise Refused("Both are the same snapshot. Select another one under From.", at="compare.old")

    app.run(_SLOT, partial(compared, Path(old), Path(new)), with_comparison, title="Comparing")


def with_comparison(session: Session, found: ComparedSnapshots) -> Session:
    """Return the session that shows what changed."""
    state = replace(session.part(ComparisonState), found=found, what=_ALL, first=0, written="")
    return session.replaced(difference=found.difference).with_part(state)


@task("comparison.since")
def compare_since(app: Panel, old: str, new: str) -> None:
    """Select an earlier snapshot, and compare at once."""
    app.change(lambda session: session.with_typed("compare", old=old, new=new))
    compare(app)


def compared(old: Path, new: Path, progress: Progress = False) -> ComparedSnapshots:
    """Compare two snapshots, and their newest audits by the same profile if both have one."""
    difference = diff(old, new, progress=progress)
    with reporting(progress, "Compared") as reporter, reporter.phase("Comparing their audits"):
        audits = compared_audits(old, new)
        return ComparedSnapshots.of(difference, audits)


def compared_audits(old: Path, new: Path) -> AuditComparison | None:
    """Compare the newest audits of two snapshots by the same profile; None where there are none."""
    before, after = (_audits_of(side) for side in (old, new))
    # The profile that was used last is the one that somebody works with.
    for profile in reversed([profile for profile in after if profile in before]):
        if len(both := readable([before[profile], after[profile]])) == 2:
            return compare_audits(*both)
    return None


def _audits_of(snapshot: Path) -> dict[str, str]:
    """Return the folder of the newest audit of a snapshot by each profile."""
    # The folder of all snapshots may have moved since the audit, so only the snapshot's own name is compared.
    return {
        str(row["profile"]): str(row["folder"])
        for row in list_audits(snapshot.parent.name).to_dict("records")
        if isinstance(row["snapshot"], str) and Path(row["snapshot"]).name == snapshot.name
    }


def export_changes(difference: Difference, path: Path, is_safe: bool, progress: Progress = False) -> str:
    """Write every changed value to a file, and return where.

    Raises
    ------
    InputError
        When the file exists.
    """
    # A list of changes is evidence: it is never replaced by that of another comparison.
    if path.exists():
        raise InputError(f"{path} already exists. Give another name, or delete it first.")
    rows = pa.Table.from_pandas(difference.changes, preserve_index=False)
    # A column without a value is of type null, and the schema of the file must not depend on what has changed.
    rows = rows.cast(pa.schema([(name, pa.string()) for name in rows.column_names]))
    with writing(path) as beside, showing(progress, "Exporting", "changes", len(rows)) as phase:
        batches = phase.passing(rows.to_batches(max_chunksize=_BATCH))
        write_csv(batches, rows.schema, beside, escape_formulas=is_safe)
    return f"Exported {counted(len(rows), 'changed value')} to {path.absolute()}."


def what_changed(found: ComparedSnapshots, most: int | None = None) -> list[Block]:
    """Return how many products changed and how, what happened, and the attributes that changed: of each so many."""
    blocks = (
        listed(map(typed_text, _notes(found.difference)), key="notes", tone="note"),
        _tiles(((one.capitalize(), f"{number:,}") for one, number in found.counts.items()), key="counts"),
        paragraph(_WORDS, key="words", tone="muted"),
        *_causes(found, most or _CHECKS),
        *_attribute_table(found, most or _ATTRIBUTES),
    )
    return [one for one in blocks if one]


def _results(session: Session, found: ComparedSnapshots) -> list[Block | None]:
    state = session.part(ComparisonState)
    exporting = "The export runs" if _EXPORT in session.works else ""
    return [
        *what_changed(found),
        *_values(session, found),
        form(
            session,
            "changes-file",
            _FILE,
            button("Export changes as CSV", "comparison.export", off=exporting),
        ),
        work(session, _EXPORT),
        paragraph(typed_text(state.written), key="written", tone="note") if state.written else None,
        *([] if found.audits is None else audits_compared(found.audits)),
        heading("Groups with most changes", level=4),
        switch("Groups", state.by, BY, "comparison.by", key="by", argument="by"),
        group_table(found, state.by),
    ]


def _notes(difference: Difference) -> list[str]:
    """Return what could not be compared, and why."""
    notes = list(difference.notes)
    if len(difference.not_comparable):
        rows = difference.not_comparable.head(_GROUPS).to_dict("records")
        named = ", ".join(
            f"{attribute_title(one['attribute'])}{_in_language(one)}: {one['why']}" for one in rows
        )
        notes.append(
            f"Not compared, {len(rows)} of {counted(len(difference.not_comparable), 'attribute')}: {named}."
            " All are in difference.not_comparable."
        )
    return notes


def _tiles(pairs: Iterable[tuple[str, str]], *, key: str) -> Block:
    """Return figures with their titles."""
    return box(
        *(
            box(
                paragraph(title, key="title", tone="muted"),
                paragraph(figure, key="figure", tone="figure small" if len(figure) > _WIDE else "figure"),
                key=title,
                look="figure-tile",
            )
            for title, figure in pairs
        ),
        key=key,
        look="figure-tiles",
    )


def _causes(found: ComparedSnapshots, most: int) -> list[Block]:
    """Return what happened, in sentences: many values that changed for one reason are one line."""
    causes = found.causes
    if causes.empty:
        return []
    rows = [
        {
            "key": short_key(f"{one['attribute']} {one['language']} {one['change']}"),
            "cells": [typed_text(one["says"]), f"{one['items']:,}", f"{one['products']:,}"],
            **_listing(("changed", str(one["attribute"]))),
        }
        for one in causes.head(most).to_dict("records")
    ]
    caption = f"{len(rows)} of {counted(len(causes), 'kind')} of changes, most products first"
    return [
        heading("What happened", level=4),
        paragraph(f"{caption}. Press one to list its changed values.", key="causes-caption", tone="muted"),
        table(_columns("What", "Items", "Products"), rows, key="causes", label=caption),
    ]


def _attribute_table(found: ComparedSnapshots, most: int) -> list[Block]:
    """Return the attributes with the most changed products, and how many of their values changed in which way."""
    if found.attributes.empty:
        return []
    rows = [
        {
            "key": short_key(str(attribute)),
            "cells": [
                _attribute_cell(str(attribute)),
                f"{number:,}",
                *(f"{found.moves.get((str(attribute), one), 0):,}" for one in _MOVES),
            ],
            **_listing(("changed", str(attribute))),
        }
        for attribute, number in found.attributes.head(most).items()
    ]
    caption = f"{len(rows)} of {counted(len(found.attributes), 'attribute')} with changed values"
    columns = _columns("Attribute", "Products", *(f"Values {one}" for one in _MOVES))
    return [
        heading("Changes by attribute", level=4),
        paragraph(caption, key="attributes-caption", tone="muted"),
        table(columns, rows, key="attributes", label=caption, look="numbers"),
    ]


def _listing(what: What) -> Block:
    return {"do": "comparison.show", "args": {"value": list(what)}}


def _values(session: Session, found: ComparedSnapshots) -> list[Block | None]:
    """Return old and new values side by side, and a button that shows their products."""
    state = session.part(ComparisonState)
    choices = found.choices
    what = state.what if state.what in choices else _ALL
    changes = found.values(what)
    number = found.counts[what[0]] if what[1] is None else int(found.attributes[what[1]])
    first = first_on_page(state.first, _ROWS, len(changes))
    shows = button(
        f"Show {counted(number, 'product')}",
        "comparison.products",
        key="products",
        look="link",
        title="List them in the section Products",
        value=list(what),
    )
    return [
        heading("Changed values", level=4),
        row(
            form(
                session,
                "changes",
                [
                    FormField(
                        "what",
                        "Changes of",
                        "choice",
                        list(what),
                        [(list(one), title) for one, title in choices.items()],
                        do="comparison.show",
                    )
                ],
            ),
            pager(first, _ROWS, len(changes), "changed value", "comparison.turn", key="values-pages"),
            shows if number else None,
            key="values-bar",
        ),
        paragraph("Press a row to open the product.", key="values-caption", tone="muted")
        if len(changes)
        else None,
        table(
            VALUE_COLUMNS,
            [change_row(one) for one in changes.iloc[first : first + _ROWS].to_dict("records")],
            key="values",
            label="Old and new values",
            empty=_NO_VALUES.get(what[0], "No value has changed."),
        ),
    ]


def change_row(change: Mapping[Hashable, Any]) -> Block:
    """Return a changed value as a row."""
    named = change["product_id"] if pd.isna(change["gtin"]) else change["gtin"]
    place = (
        change[name] for name in ("product_id", "attribute", "language", "key", "old_position", "position")
    )
    return {
        "key": short_key(" ".join(map(str, (*place, change["column"], change["change"])))),
        "cells": [
            typed_text(str(named)),
            _attribute_cell(change["attribute"], _in_language(change)),
            typed_text(f"{str(change['column']).replace('_', ' ')} {change['change']}"),
            _value_cell(change["old"]),
            _value_cell(change["new"]),
        ],
        "do": "comparison.card",
        "args": {"product_id": str(change["product_id"])},
    }


def group_table(found: ComparedSnapshots, by: str) -> Block:
    """Return the groups with the most changed products."""
    moved_groups = found.groups[by]
    shown = moved_groups.head(_GROUPS)
    rows = [
        {"key": str(place), "cells": [typed_text(str(name)), *(f"{one:,}" for one in numbers)]}
        for place, (name, numbers) in enumerate(
            zip(shown_names(shown, by), shown[list(_MOVES)].itertuples(index=False), strict=True)
        )
    ]
    caption = f"{len(shown)} of {counted(len(moved_groups), by)} with changes"
    columns = _columns(by.capitalize(), *(one.capitalize() for one in _MOVES))
    return box(
        paragraph(caption, key="caption", tone="muted") if rows else None,
        table(columns, rows, key="table", label=caption, empty="No group has changes.", look="numbers"),
        key="groups",
    )


def _groups_with_changes(difference: Difference, by: str) -> pd.DataFrame:
    counts = difference.counts(by)
    total = counts[list(_MOVES)].sum(axis=1).sort_values(ascending=False, kind="stable")
    return counts.loc[total.index[total > 0]]


def audits_compared(audits: AuditComparison) -> list[Block | None]:
    """Return which checks were fixed and which fail now."""
    checks = audits.by_check
    old, new = audits.old.summary, audits.new.summary
    pairs = [
        (name.replace("_", " ").capitalize(), f"{int(checks[name].sum()):,}")
        for name in ("fixed", "newly_failing", "still_failing")
    ]
    pairs += [
        (name.capitalize(), str(moved(old[name], new[name])).replace("->", "→"))
        for name in ("ready", "score")
    ]
    changed = checks[checks[["fixed", "newly_failing"]].sum(axis=1) > 0]
    # What got worse is listed first: somebody has to look at it.
    changed = changed.sort_values(["newly_failing", "fixed"], ascending=False, kind="stable")
    shown = changed[["check", "problem", "severity", "fixed", "newly_failing"]].head(_CHECKS)
    caption = (
        f"{len(shown)} of {counted(len(changed), 'check')} that changed, by profile {audits.new.profile}"
    )
    rows = [
        {
            "key": str(check),
            "cells": [
                typed_text(str(problem)),
                {"words": str(severity), "tone": f"severity {severity}"},
                f"{fixed:,}",
                f"{failing:,}",
            ],
        }
        for check, problem, severity, fixed, failing in shown.itertuples(index=False)
    ]
    columns = _columns("Problem", "Severity", "Fixed", "Newly failing", numbers=("Fixed", "Newly failing"))
    return [
        heading("Audits", level=4),
        listed(map(typed_text, audits.notes), key="audit-notes", tone="note"),
        _tiles(pairs, key="audit-counts"),
        paragraph(typed_text(caption), key="audits-caption", tone="muted") if rows else None,
        table(columns, rows, key="audits", label=caption) if rows else None,
    ]


@action("comparison.show", is_quiet=True)
def list_changes(session: Session, value: list[str | None]) -> Session:
    """List the changes of other products, or of another attribute."""
    what, found = _what(value), session.part(ComparisonState).found
    if found is None or what not in found.choices:
        return session
    return session.with_part(replace(session.part(ComparisonState), what=what, first=0))


@action("comparison.turn", is_quiet=True)
def turn_values(session: Session, first: int) -> Session:
    """Turn to other changed values."""
    return session.with_part(replace(session.part(ComparisonState), first=first))


@action("comparison.by", is_quiet=True)
def group_by(session: Session, by: str) -> Session:
    """Group the products otherwise."""
    if by not in BY:
        raise Refused(f"Products are not grouped by {by[:60]!r}.")
    return session.with_part(replace(session.part(ComparisonState), by=by))


@action("comparison.products")
def show_products(session: Session, value: list[str | None]) -> Session:
    """List products of the newer snapshot, which is explored then, if another one was."""
    found, what = _found(session), _what(value)
    if what not in found.choices:
        raise Refused("Nothing was done: the comparison has no such changes by now.")
    products = ProductList(_list_title(what, found.difference), found.ids(what))
    newer = _newer(session, found)
    return newer.filtered(Selection(listed=(products,))).replaced(section="products")


@action("comparison.card")
def open_card(session: Session, product_id: str) -> Session:
    """Open the card of a product in the newer snapshot."""
    found = _found(session)
    return _newer(session, found).replaced(product_id=product_id, section="products")


def _found(session: Session) -> ComparedSnapshots:
    found = session.part(ComparisonState).found
    if found is None or found.difference is not session.difference:
        raise Refused("Nothing is compared yet. Press Compare first.")
    return found


def _newer(session: Session, found: ComparedSnapshots) -> Session:
    new = found.difference.new
    return session if session.catalog.folder == new.folder else session.looking_at(new)


def _what(value: list[str | None]) -> What:
    outcome, attribute = value if len(value) == 2 else ("", None)
    return outcome or "", attribute


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
    # A list of changes is evidence: it is never replaced by that of another comparison.
    if path.exists():
        raise Refused(
            f"{path} already exists. Give another name, or delete it first.", at="changes-file.file"
        )

    def written(session: Session, said: str) -> Session:
        return session.with_part(replace(session.part(ComparisonState), written=said))

    write = partial(_write, found.difference, path, bool(values["is_safe"]))
    app.run(_EXPORT, write, written, title="Exporting changes")


def _write(difference: Difference, path: Path, is_safe: bool, reporter: Reporter) -> str:
    return export_changes(difference, path, is_safe, reporter)


def whole_attribute(attribute: str) -> str:
    """Return the attribute that another one is a part of; below `assets` these are pictures, documents and so on."""
    parts = attribute.split(".")
    return ".".join(parts[: 2 if parts[0] == "assets" else 1])


def products_of_attributes(changes: pd.DataFrame) -> pd.Series[int]:
    """Return of how many products each attribute has changed values, the most first."""
    products = changes.groupby(changes["attribute"].map(whole_attribute))["product_id"].nunique()
    return products.sort_values(ascending=False, kind="stable")


def _columns(first: str, *others: str, numbers: Sequence[str] | None = None) -> list[Block]:
    """Return the columns of a table; all but the first are numbers, unless given."""
    right = others if numbers is None else numbers
    titles = (first, *others)
    return [{"name": one, "title": one, **({"align": "right"} if one in right else {})} for one in titles]


#: The columns of changed values.
VALUE_COLUMNS = _columns("GTIN", "Attribute", "What", "Old", "New", numbers=())


def _short_title(attribute: str) -> str:
    title = cut(attribute_title(attribute), _NAME)
    return title + ends(title)


def _attribute_cell(attribute: str, language: str = "") -> Cell:
    """Return an attribute as people call it; pointing at it shows its name in the tables."""
    hint = cut(attribute, _HINT)
    return {"words": typed_text(attribute_title(attribute) + language), "title": hint + ends(hint)}


def _in_language(one: Mapping[Hashable, Any]) -> str:
    return "" if pd.isna(one["language"]) else f" in {language_label(one['language'])}"


def _value_cell(value: object) -> Cell:
    if pd.isna(value):  # type: ignore[call-overload]
        return {"words": "none", "tone": "muted"}
    text = words(value)
    if text.length <= _LONG:
        return typed_text(text)
    beginning = text.text[:_LONG]
    shown: Typed = {
        "text": f"{beginning}{ends(beginning)}…",
        "note": f"{_LONG} of {text.length:,} characters",
    }
    return shown
