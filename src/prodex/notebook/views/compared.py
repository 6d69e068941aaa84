"""What changed between two snapshots, as blocks: counts, causes, attributes, old and new values, groups and audits.

They are made of a comparison alone, without a session: a panel and a file can show the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.compute as pc

from prodex.compare import Difference
from prodex.compare.difference import whole_attributes
from prodex.facts.groups import shown_names
from prodex.languages.labels import attribute_title
from prodex.locales import language_label
from prodex.notebook.session.actions import Block
from prodex.notebook.views.blocks import Cell, box, heading, listed, listing, paragraph, typed_text
from prodex.notebook.views.cells import short_key
from prodex.phrases import counted
from prodex.quality import AuditComparison
from prodex.quality.scores import moved
from prodex.untrusted_text import cut, ends, words

#: Rows of the tables of causes, checks and groups, and of attributes; characters of a value, of a figure in large
#: letters, of an attribute, and of a tooltip.
_MOST, _ATTRIBUTES, _LONG, _WIDE, _NAME, _HINT = 10, 12, 300, 12, 60, 400
_MOVES = ("added", "removed", "changed")
#: By what products are grouped, and what that is called.
GROUPS = {"owner": "owners", "brand": "brands", "kind": "kinds"}
#: Products without changed values that are there now: how they are called, and why they have none.
_OTHERS = {
    "added": ("added products", "All values of products that were added are new."),
    "touched only": ("products touched only", "Of these products only the date of the update differs."),
}
_WORDS = (
    "Touched only: the date of the update differs, and no value does. Not comparable: missing from a catalogue that is "
    "incomplete, so perhaps not removed."
)
_FIGURES = ("fixed", "newly_failing", "still_failing")

#: An outcome of products as `Difference.outcomes` has it, and an attribute, or None for all of them.
What: TypeAlias = tuple[str, str | None]
EVERY: What = ("changed", None)


@dataclass(frozen=True, eq=False)
class ListedChanges:
    """Changes that can be listed together.

    Attributes
    ----------
    label
        What they are called.
    products
        How many products have them.
    rows
        The rows of `Difference.changes`.
    """

    label: str
    products: int
    rows: npt.NDArray[np.int64]


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
    causes, attributes
        As `Difference` has them.
    choices
        What can be listed.
    groups
        By what products are grouped: the groups with changes, the most first.
    """

    difference: Difference
    audits: AuditComparison | None
    counts: Mapping[str, int]
    causes: pd.DataFrame
    attributes: pd.DataFrame
    choices: Mapping[What, ListedChanges]
    groups: Mapping[str, pd.DataFrame]

    @classmethod
    def of(cls, difference: Difference, audits: AuditComparison | None) -> ComparedSnapshots:
        """Count what is shown of a difference."""
        summary = difference.summary
        counts = dict(zip(summary["change"], summary["products"].tolist(), strict=True))
        attributes = difference.attributes
        groups = {by: _groups_with_changes(difference, by) for by in GROUPS}
        choices = dict(_choices(difference.changes, counts, attributes))
        return cls(difference, audits, counts, difference.causes, attributes, choices, groups)

    def ids(self, what: What) -> tuple[str, ...]:
        """Return the products of changes that are listed."""
        outcome, attribute = what
        if attribute is not None:
            ids = self.difference.changes["product_id"].iloc[self.choices[what].rows]
            return tuple(ids.unique())
        outcomes = self.difference.outcomes
        return tuple(outcomes.filter(pc.field("change") == outcome)["product_id"].to_pylist())


def _choices(
    changes: pd.DataFrame, counts: Mapping[str, int], attributes: pd.DataFrame
) -> Iterator[tuple[What, ListedChanges]]:
    changed = counts["changed"]
    yield EVERY, ListedChanges(f"all changed products ({changed:,})", changed, np.arange(len(changes)))
    rows = changes.groupby(whole_attributes(changes["attribute"]), sort=False).indices
    for one, number in zip(attributes["attribute"], attributes["products"].tolist(), strict=True):
        label = f"\u2068{_short_title(one)}\u2069 ({counted(number, 'product')})"
        yield ("changed", one), ListedChanges(label, number, np.asarray(rows[one]))
    for outcome, (called, _) in _OTHERS.items():
        if number := counts[outcome]:
            yield (outcome, None), ListedChanges(f"{called} ({number:,})", number, np.arange(0))


def _groups_with_changes(difference: Difference, by: str) -> pd.DataFrame:
    counts = difference.counts(by)
    total = counts[list(_MOVES)].sum(axis=1).sort_values(ascending=False, kind="stable")
    return counts.loc[total.index[total > 0]]


def summary_blocks(found: ComparedSnapshots, most: int | None = None) -> list[Block]:
    """Return what happened: what was not compared, counts, causes, and the attributes with changed values.

    Parameters
    ----------
    found
        What changed.
    most
        So many causes and attributes are listed; a screenful, unless given.
    """
    counts = {name.capitalize(): f"{number:,}" for name, number in found.counts.items()}
    notes = listed(map(typed_text, _notes(found.difference)), key="notes", tone="note")
    return [
        *([notes] if notes else []),
        _tiles(counts, key="counts"),
        paragraph(_WORDS, key="words", tone="muted"),
        *_causes(found.causes, most or _MOST),
        *_attributes(found.attributes, most or _ATTRIBUTES),
    ]


def _notes(difference: Difference) -> list[str]:
    """Return what could not be compared, and why."""
    notes, left_out = [*difference.notes], difference.not_comparable
    if len(left_out):
        rows = left_out.head(_MOST).to_dict("records")
        named = ", ".join(
            f"{attribute_title(one['attribute'])}{in_language(one)}: {one['why']}" for one in rows
        )
        of = f"{len(rows)} of {counted(len(left_out), 'attribute')}"
        notes.append(f"Not compared, {of}: {named}. All are in difference.not_comparable.")
    return notes


def _tiles(figures: Mapping[str, str], *, key: str) -> Block:
    """Return figures with their titles."""
    tiles = [
        box(
            paragraph(title, key="title", tone="muted"),
            paragraph(figure, key="figure", tone="figure small" if len(figure) > _WIDE else "figure"),
            key=title,
            look="figure-tile",
        )
        for title, figure in figures.items()
    ]
    return box(*tiles, key=key, look="figure-tiles")


def _causes(causes: pd.DataFrame, most: int) -> list[Block]:
    """Return what happened, in sentences: many values that changed for one reason are one line."""
    if causes.empty:
        return []
    rows = causes.head(most).to_dict("records")
    caption = f"{len(rows)} of {counted(len(causes), 'kind')} of changes, most products first"
    return [
        heading("What happened", level=4),
        paragraph(f"{caption}. Press one to list its changed values.", key="causes-caption", tone="muted"),
        listing(
            rows,
            {"What": lambda one: typed_text(one["says"]), "Items": "items", "Products": "products"},
            key="causes",
            label=caption,
            name=lambda one: short_key(f"{one['attribute']} {one['language']} {one['change']}"),
            more=_lists_values,
        ),
    ]


def _attributes(attributes: pd.DataFrame, most: int) -> list[Block]:
    """Return the attributes with the most changed products, and how many of their values changed in which way."""
    if attributes.empty:
        return []
    rows = attributes.head(most).to_dict("records")
    caption = f"{len(rows)} of {counted(len(attributes), 'attribute')} with changed values"
    return [
        heading("Changes by attribute", level=4),
        paragraph(caption, key="attributes-caption", tone="muted"),
        listing(
            rows,
            {
                "Attribute": attribute_cell,
                "Products": "products",
                **{f"Values {one}": one for one in _MOVES},
            },
            key="attributes",
            label=caption,
            name=lambda one: short_key(one["attribute"]),
            more=_lists_values,
            look="numbers",
        ),
    ]


def _lists_values(one: Mapping[Any, Any]) -> Block:
    return {"do": "comparison.show", "args": {"value": ["changed", one["attribute"]]}}


def value_table(found: ComparedSnapshots, what: What, rows: slice) -> Block:
    """Return old and new values side by side."""
    changes = found.difference.changes.iloc[found.choices[what].rows[rows]]
    return listing(
        changes.to_dict("records"),
        {
            "GTIN": lambda one: typed_text(
                f"id {one['product_id']}" if pd.isna(one["gtin"]) else one["gtin"]
            ),
            "Attribute": lambda one: attribute_cell(one, in_language(one)),
            "What": lambda one: typed_text(f"{one['column'].replace('_', ' ')} {one['change']}"),
            "Old": lambda one: _value_cell(one["old"]),
            "New": lambda one: _value_cell(one["new"]),
        },
        key="values",
        label="Old and new values",
        name=lambda one: short_key(" ".join(str(one[name]) for name in _PLACE)),
        more=lambda one: {"do": "comparison.card", "args": {"product_id": one["product_id"]}},
        empty=_OTHERS.get(what[0], ("", "No value has changed."))[1],
    )


#: What tells a changed value from all others.
_PLACE = ("product_id", "attribute", "language", "key", "old_position", "position", "column", "change")


def group_table(found: ComparedSnapshots, by: str) -> Block:
    """Return the groups with the most changed products."""
    groups = found.groups[by].head(_MOST)
    rows = groups.assign(name=shown_names(groups, by)).to_dict("records")
    caption = f"{len(rows)} of {counted(len(found.groups[by]), by)} with changes"
    shown = listing(
        rows,
        {by.capitalize(): lambda one: typed_text(one["name"])} | {one.capitalize(): one for one in _MOVES},
        key="table",
        label=caption,
        empty="No group has changes.",
        look="numbers",
    )
    return box(paragraph(caption, key="caption", tone="muted") if rows else None, shown, key="groups")


def audit_blocks(audits: AuditComparison) -> Iterable[Block | None]:
    """Yield which checks were fixed and which fail now."""
    checks, old, new = audits.by_check, audits.old.summary, audits.new.summary
    figures = {name.replace("_", " ").capitalize(): f"{int(checks[name].sum()):,}" for name in _FIGURES} | {
        name.capitalize(): str(moved(old[name], new[name])).replace("->", "→") for name in ("ready", "score")
    }
    changed = checks[checks[["fixed", "newly_failing"]].sum(axis=1) > 0]
    # What got worse is listed first: somebody has to look at it.
    changed = changed.sort_values(["newly_failing", "fixed"], ascending=False, kind="stable")
    rows = changed.head(_MOST).to_dict("records")
    caption = f"{len(rows)} of {counted(len(changed), 'check')} that changed, by profile {audits.new.profile}"
    yield heading("Audits", level=4)
    yield listed(map(typed_text, audits.notes), key="audit-notes", tone="note")
    yield _tiles(figures, key="audit-counts")
    if rows:
        yield paragraph(typed_text(caption), key="audits-caption", tone="muted")
        yield listing(
            rows,
            {
                "Problem": lambda one: typed_text(str(one["problem"])),
                "Severity": lambda one: {
                    "words": one["severity"],
                    "tone": f"severity {one['severity']}",
                },
                "Fixed": "fixed",
                "Newly failing": "newly_failing",
            },
            key="audits",
            label=caption,
            name=lambda one: one["check"],
        )


def _short_title(attribute: str) -> str:
    title = cut(attribute_title(attribute), _NAME)
    return title + ends(title)


def attribute_cell(one: Mapping[Any, Any], more: str = "") -> Cell:
    """Return an attribute as people call it; pointing at it shows its name in the tables."""
    hint = cut(one["attribute"], _HINT)
    return {"words": typed_text(attribute_title(one["attribute"]) + more), "title": hint + ends(hint)}


def in_language(one: Mapping[Any, Any]) -> str:
    """Return the language of a change in words, to be put behind its attribute."""
    return "" if pd.isna(one["language"]) else f" in {language_label(one['language'])}"


def _value_cell(value: object) -> Cell:
    if pd.isna(value):  # type: ignore[call-overload]
        return {"words": "none", "tone": "muted"}
    text = words(value)
    if text.length <= _LONG:
        return typed_text(text)
    beginning = text.text[:_LONG]
    return {
        "text": f"{beginning}{ends(beginning)}…",
        "note": f"{_LONG} of {text.length:,} characters",
    }
