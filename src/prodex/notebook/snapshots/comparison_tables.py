"""What a comparison shows, as HTML: counts, groups, attributes, old and new values, and checks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from html import escape
from typing import Any

import pandas as pd
import pyarrow.compute as pc

from prodex.compare import Difference
from prodex.display.html_tables import Html, table
from prodex.facts.groups import shown_names
from prodex.locales import language_label
from prodex.messages import counted, moved
from prodex.notebook.panel import list_html, text_html
from prodex.quality import AuditComparison
from prodex.quality.problems import attribute_title
from prodex.untrusted_text import words

#: Rows of the tables of groups, checks and attributes; characters of a value, and of a figure in large letters.
_GROUPS, _CHECKS, _ATTRIBUTES, _LONG, _WIDE = 10, 10, 12, 300, 12
#: Changed values on the card of a product, and how many are shown without a press.
_ON_CARD, _UNFOLDED = 20, 2
_MOVES = ("added", "removed", "changed")
_WORDS = (
    "<p class='muted'>Touched only: the date of the update differs, and no value does. "
    "Not comparable: missing from a catalogue that is incomplete, so perhaps not removed.</p>"
)


def tiles_markup(pairs: Iterable[tuple[str, str]]) -> str:
    """Return figures with their titles as tiles."""
    cells = "".join(
        f"<div class='tile{' small' * (len(figure) > _WIDE)}'><div class='title'>{escape(title)}</div>"
        f"<div class='figure'>{escape(figure)}</div></div>"
        for title, figure in pairs
    )
    return f"<div class='tiles'>{cells}</div>"


def counts_markup(difference: Difference) -> str:
    """Return how many products were added, removed, changed, touched or are unchanged."""
    pairs = difference.summary.itertuples(index=False)
    return tiles_markup((str(change).capitalize(), f"{count:,}") for change, count in pairs) + _WORDS


def notes_markup(difference: Difference) -> str:
    """Return what could not be compared, and why."""
    notes = list(difference.notes)
    if len(difference.not_comparable):
        rows = difference.not_comparable.head(_GROUPS).to_dict("records")
        named = ", ".join(
            f"{attribute_title(row['attribute'])}{_language(row)}: {row['why']}" for row in rows
        )
        notes.append(
            f"Not compared, {len(rows)} of {counted(len(difference.not_comparable), 'attribute')}: {named}."
            " All are in difference.not_comparable."
        )
    return list_html(notes)


def groups_markup(difference: Difference, by: str) -> str:
    """Return the groups with the most changed products."""
    counts = difference.counts(by)
    total = counts[list(_MOVES)].sum(axis=1).sort_values(ascending=False, kind="stable")
    moved = counts.loc[total.index[total > 0]]
    if moved.empty:
        return "<p class='muted'>No group has changes.</p>"
    shown = moved.head(_GROUPS)
    counted_moves = shown[list(_MOVES)].itertuples(index=False)
    rows = [
        (_verbatim(name), *counts)
        for name, counts in zip(shown_names(moved, by), counted_moves, strict=False)
    ]
    caption = f"{len(shown)} of {counted(len(moved), by)} with changes"
    moves = tuple(one.capitalize() for one in _MOVES)
    return table(caption, (by.capitalize(), *moves), rows, numbers=moves, look="plain numbers")


def attributes_markup(changes: pd.DataFrame) -> str:
    """Return the attributes with the most changed products, and how many of their values changed in which way.

    What is below an attribute counts for it: a picture that is removed takes fifty values with it, and is one thing.
    """
    if changes.empty:
        return ""
    counts = changes.groupby([changes["attribute"].map(whole_attribute), "change"]).size().to_dict()
    products = products_of_attributes(changes)
    shown = products.head(_ATTRIBUTES)
    rows = [
        (_titled(str(attribute)), int(number), *(counts.get((attribute, one), 0) for one in _MOVES))
        for attribute, number in shown.items()
    ]
    numbers = ("Products", *(f"Values {one}" for one in _MOVES))
    caption = f"{len(shown)} of {counted(len(products), 'attribute')} with changed values"
    return table(caption, ("Attribute", *numbers), rows, numbers=numbers, look="plain numbers")


def causes_markup(difference: Difference) -> str:
    """Return what happened, in sentences: many values that changed for one reason are one line."""
    causes = difference.causes
    if causes.empty:
        return ""
    most = causes.head(_CHECKS)
    rows = [
        (_verbatim(says), int(items), int(products))
        for says, items, products in zip(most["says"], most["items"], most["products"], strict=True)
    ]
    caption = f"{len(most)} of {counted(len(causes), 'kind')} of changes, most products first"
    return table(caption, ("What", "Items", "Products"), rows, numbers=("Items", "Products"), look="plain")


def whole_attribute(attribute: str) -> str:
    """Return the attribute that another one is a part of; below `assets` these are pictures, documents and so on."""
    parts = attribute.split(".")
    return ".".join(parts[: 2 if parts[0] == "assets" else 1])


def products_of_attributes(changes: pd.DataFrame) -> pd.Series[int]:
    """Return of how many products each attribute has changed values, the most first."""
    products = changes.groupby(changes["attribute"].map(whole_attribute))["product_id"].nunique()
    return products.sort_values(ascending=False, kind="stable")


def changes_markup(changes: pd.DataFrame) -> str:
    """Return changed values, old next to new."""
    if changes.empty:
        return ""
    rows = [
        (
            _verbatim(row["product_id"] if pd.isna(row["gtin"]) else row["gtin"]),
            _titled(row["attribute"], _language(row)),
            f"{str(row['column']).replace('_', ' ')} {row['change']}",
            _value(row["old"]),
            _value(row["new"]),
        )
        for row in changes.to_dict("records")
    ]
    headings = ("GTIN", "Attribute", "What", "Old", "New")
    return table("Old and new", headings, rows, codes=headings[:1], look="plain")


def product_changes_markup(difference: Difference, product_id: str) -> str:
    """Return what changed of one product since the older catalogue, for its card; empty if nothing did."""
    since = difference.old.origin.loaded_at
    when = "the older snapshot" if since is None else f"{since:%Y-%m-%d %H:%M}"
    outcomes = difference.outcomes
    is_added = pc.and_(pc.equal(outcomes["product_id"], product_id), pc.equal(outcomes["change"], "added"))
    if pc.any(is_added).as_py():
        return _on_card(f"<p class='muted'>New since {escape(when)}.</p>")
    own = difference.changes[difference.changes["product_id"] == product_id]
    if own.empty:
        return ""
    rows = [
        (_titled(row["attribute"], _language(row)), _value(row["old"]), _value(row["new"]))
        for row in own.head(_ON_CARD).to_dict("records")
    ]
    rest = "; the section Snapshots exports all" if len(own) > len(rows) else ""
    shown = f"{len(rows)} of {counted(len(own), 'changed value')}{rest}"
    changed = table(shown, ("Attribute", "Old", "New"), rows, look="plain")
    # Folded where it would push the product itself out of sight.
    is_open = " open" * (len(own) <= _UNFOLDED)
    title = f"{counted(len(own), 'value')} changed since {escape(when)}"
    return _on_card(f"<details{is_open}><summary>{title}</summary>{changed}</details>")


def _on_card(inside: str) -> str:
    return f'<div class="prodex card mathjax_ignore">{inside}</div>'


def audits_markup(compared: AuditComparison) -> str:
    """Return which checks were fixed and which fail now."""
    checks = compared.by_check
    counts = {name: int(checks[name].sum()) for name in ("fixed", "newly_failing", "still_failing")}
    old, new = compared.old.summary, compared.new.summary
    pairs = [(name.replace("_", " ").capitalize(), f"{count:,}") for name, count in counts.items()]
    pairs += [
        (name.capitalize(), moved(old[name], new[name]).replace("->", "→")) for name in ("ready", "score")
    ]
    changed = checks[checks[["fixed", "newly_failing"]].sum(axis=1) > 0]
    # What got worse comes first: somebody has to look at it.
    changed = changed.sort_values(["newly_failing", "fixed"], ascending=False, kind="stable")
    shown = changed[["problem", "severity", "fixed", "newly_failing"]].head(_CHECKS)
    caption = (
        f"{len(shown)} of {counted(len(changed), 'check')} that changed, by profile {compared.new.profile}"
    )
    columns = ("Problem", "Severity", "Fixed", "Newly failing")
    rows = [(_verbatim(problem), *others) for problem, *others in shown.itertuples(index=False)]
    listed = table(_verbatim(caption), columns, rows, numbers=columns[2:], look="plain") if rows else ""
    return f"<h4>Audits</h4>{list_html(compared.notes)}{tiles_markup(pairs)}{listed}"


def _verbatim(text: object) -> Html:
    """Return text as a cell that shows it letter by letter and uncut."""
    return Html(text_html(text))


def _titled(attribute: str, language: str = "") -> Html:
    """Return an attribute as people call it; pointing at it shows its name in the tables."""
    return Html(
        f'<span title="{escape(attribute, quote=True)}">{text_html(attribute_title(attribute) + language)}</span>'
    )


def _language(row: Mapping[Hashable, Any]) -> str:
    return "" if pd.isna(row["language"]) else f" in {language_label(row['language'])}"


def _value(value: object) -> Html:
    if pd.isna(value):  # type: ignore[call-overload]
        return Html("<span class='muted'>none</span>")
    text = words(value)
    if text.text == "":
        return Html("<span class='muted'>empty</span>")
    if text.length <= _LONG:
        return _verbatim(text.text)
    cut = text_html(text.text[:_LONG])
    return Html(f"{cut}… <span class='muted'>({_LONG} of {text.length:,} characters)</span>")
