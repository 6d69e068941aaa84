"""What changed between two snapshots, as markup: counts, groups, values old beside new, and what audits say of it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from html import escape

import pandas as pd

from prodex.compare import Difference
from prodex.notebook.panel import typed
from prodex.quality import AuditComparison
from prodex.quality.display import counted, moved
from prodex.verbatim import words

_GROUPS, _CHECKS, _LONG, _WIDE = 10, 10, 300, 12


def tiles_markup(pairs: Iterable[tuple[str, str]]) -> str:
    """Return figures with their titles, side by side."""
    cells = "".join(
        f"<div class='tile{' small' * (len(figure) > _WIDE)}'><div class='title'>{escape(title)}</div>"
        f"<div class='figure'>{escape(figure)}</div></div>"
        for title, figure in pairs
    )
    return f"<div class='tiles'>{cells}</div>"


def counts_markup(difference: Difference) -> str:
    """Say how many products were added, removed, changed, touched or left as they were."""
    pairs = difference.summary().itertuples(index=False)
    return tiles_markup((str(change).capitalize(), f"{count:,}") for change, count in pairs)


def notes_markup(difference: Difference) -> str:
    """Say what keeps the two from being compared as a whole."""
    told = list(difference.notes)
    if len(difference.not_comparable):
        rows = difference.not_comparable.head(_GROUPS).to_dict("records")
        named = ", ".join(f"{_attribute(row)}: {row['why']}" for row in rows)
        told.append(
            f"Not compared, {len(rows)} of {counted(len(difference.not_comparable), 'attribute')}: {named}."
            " All are in difference.not_comparable."
        )
    if not told:
        return ""
    return (
        f"<div class='problem' role='note'><ul>{''.join(f'<li>{typed(one)}</li>' for one in told)}</ul></div>"
    )


def groups_markup(difference: Difference, by: str) -> str:
    """Say in which groups of products most changed."""
    counts = difference.counts(by)
    moved = counts[counts[["added", "removed", "changed"]].sum(axis=1) > 0]
    if moved.empty:
        return "<p class='muted'>In no group.</p>"
    shown = moved.head(_GROUPS)
    label = by if by in shown else shown.columns[0]
    named = shown[label].where(shown[label].notna(), shown[shown.columns[0]])
    rows = [
        [typed(f"without {by}" if pd.isna(name) else name), *(f"{row[change]:,}" for change in _MOVES)]
        for name, row in zip(named, shown.to_dict("records"), strict=True)
    ]
    caption = f"{len(shown)} of {counted(len(moved), by)} with changes"
    moves = tuple(one.capitalize() for one in _MOVES)
    return table(caption, (by.capitalize(), *moves), rows, numbers=moves)


def changes_markup(changes: pd.DataFrame) -> str:
    """Show changed values, old beside new."""
    if changes.empty:
        return ""
    rows = [
        [
            f"<span class='gtin'>{typed(row['product_id'] if pd.isna(row['gtin']) else row['gtin'])}</span>",
            typed(_attribute(row)),
            escape(f"{row['column']} {row['change']}"),
            _value(row["old"]),
            _value(row["new"]),
        ]
        for row in changes.to_dict("records")
    ]
    return table("Changed values", ("GTIN", "Attribute", "What", "Old", "New"), rows)


def audits_markup(compared: AuditComparison) -> str:
    """Say what was fixed and what fails now."""
    checks = compared.by_check
    counts = {name: int(checks[name].sum()) for name in ("fixed", "newly_failing", "still_failing")}
    old, new = compared.old.summary(), compared.new.summary()
    pairs = [(name.replace("_", " ").capitalize(), f"{count:,}") for name, count in counts.items()]
    pairs += [
        *((name.capitalize(), moved(old[name], new[name]).replace("->", "→")) for name in ("ready", "score")),
    ]
    changed = checks[checks[["fixed", "newly_failing"]].sum(axis=1) > 0]
    changed = changed.sort_values(["newly_failing", "fixed"], ascending=False, kind="stable")
    rows = [
        [typed(row["problem"]), escape(row["severity"]), f"{row['fixed']:,}", f"{row['newly_failing']:,}"]
        for row in changed.head(_CHECKS).to_dict("records")
    ]
    told = "".join(f"<li>{typed(note)}</li>" for note in compared.notes)
    notes = f"<div class='problem' role='note'><ul>{told}</ul></div>" if told else ""
    caption = (
        f"{len(rows)} of {counted(len(changed), 'check')} that changed, by profile {compared.new.profile}"
    )
    columns = ("Problem", "Severity", "Fixed", "Newly failing")
    listed = table(caption, columns, rows, numbers=columns[2:]) if rows else ""
    return f"<h4>Their audits</h4>{notes}{tiles_markup(pairs)}{listed}"


def table(
    caption: str, columns: Sequence[str], rows: Iterable[list[str]], *, numbers: Collection[str] = ()
) -> str:
    """Return a table; its cells are markup already. Columns of numbers stand on the right."""
    kinds = [" class='n'" if name in numbers else "" for name in columns]
    head = "".join(
        f"<th scope='col'{kind}>{escape(name)}</th>" for name, kind in zip(columns, kinds, strict=True)
    )
    body = "".join(
        f"<tr><th scope='row'>{first}</th>"
        f"{''.join(f'<td{kind}>{cell}</td>' for cell, kind in zip(cells, kinds[1:], strict=True))}</tr>"
        for first, *cells in rows
    )
    narrow = " numbers" if len(numbers) == len(columns) - 1 else ""
    return (
        f"<table class='plain{narrow}'><caption>{typed(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _attribute(row: Mapping[Hashable, object]) -> str:
    language = "" if pd.isna(row["language"]) else f" ({row['language']})"  # type: ignore[call-overload]
    return f"{row['attribute']}{language}"


def _value(value: object) -> str:
    if pd.isna(value):  # type: ignore[call-overload]
        return "<span class='muted'>none</span>"
    text = words(value)
    if text.text == "":
        return "<span class='muted'>empty</span>"
    if text.length <= _LONG:
        return typed(text.text)
    cut = typed(text.text[:_LONG])
    return f"{cut}… <span class='muted'>({_LONG} of {text.length:,} characters)</span>"


_MOVES = ("added", "removed", "changed")
