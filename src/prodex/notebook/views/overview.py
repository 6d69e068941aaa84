"""The overview of an audit: headline, warnings, tiles, how many products have each grade, and the largest gaps."""

from __future__ import annotations

from typing import Any

from prodex.notebook.session.actions import Block
from prodex.notebook.session.session import Session
from prodex.notebook.views.blocks import box, heading, listed, paragraph, row, table, typed_text, untitled
from prodex.notebook.views.drill_down import figure_button, of_check, of_grade, to_work_on, with_blockers
from prodex.notebook.views.figures import AuditFigures, tiles_of
from prodex.notebook.views.frame import snapshot_moment
from prodex.phrases import counted, percent
from prodex.untrusted_text import words

_GAPS = 10
#: Bytes of a warning, which may quote a rule that somebody wrote.
_LONG = 2_000
_GRADE_COLUMNS = untitled("grade", "bar", "products", "share", head="grade", numbers=["products", "share"])
_GAP_COLUMNS = untitled("severity", "problem", "products", head="problem", numbers=["products"])


def headline_block(figures: AuditFigures, title: str) -> Block:
    """Return which products were audited, out of how many, with which profile, as of when."""
    judged, of = figures.judged, len(figures.whole)
    some = f" of {of:,}" if len(judged) != of else ""
    number = f"{len(judged):,}{some} products" if some else counted(len(judged), "product")
    folder, source = judged.catalog_folder, f"in memory, from {judged.origin.source}"
    said = [
        f"{number} audited with ",
        typed_text(title),
        f" ({counted(len(judged.checks), 'check')}); ",
        typed_text(f"{folder.parent.name}, {snapshot_moment(folder.name)}" if folder else source),
        f"; as of {judged.now:%Y-%m-%d %H:%M}",
    ]
    return paragraph(said, key="headline", tone="headline")


def warnings_block(figures: AuditFigures) -> Block | None:
    """Return what limits the meaning of the figures; nothing if nothing does."""
    warnings = [typed_text(words(line, _LONG)) for line in figures.warnings]
    return listed(warnings, key="warnings", tone="problem")


def notes_block(figures: AuditFigures) -> Block | None:
    """Return what the figures mean."""
    return listed(map(typed_text, figures.notes), key="notes", tone="muted")


def tiles_block(session: Session, figures: AuditFigures) -> Block:
    """Return tiles with the number of products, how many are ready, their score, and how many need work."""
    judged = figures.judged
    waiting = f"{judged.pending:,} with a pending update" if judged.pending else "no pending updates"
    first = {"title": "Products", "figure": f"{len(judged):,}", "detail": waiting, "change": None}
    *others, any_fails, blocker_fails = [first, *tiles_of(session, figures)]
    # The last two count products that a press lists.
    lists = [("any", to_work_on, any_fails), ("blocker", with_blockers, blocker_fails)]
    return row(
        *(_tile(one, None) for one in others),
        *(
            _tile(
                one,
                figure_button(
                    session,
                    wanted(judged),
                    "Show products",
                    key=f"show {which}",
                    do="quality.failing",
                    which=which,
                )
                if one["figure"] != "0"
                else paragraph("None", key="none", tone="muted"),
            )
            for which, wanted, one in lists
        ),
        key="tiles",
        look="tiles",
    )


def _tile(tile: dict[str, Any], more: Block | None) -> Block:
    title, change = tile["title"], None
    if tile["change"] is not None:
        verdict = tile["verdict"]
        said = f"{tile['change']}{f', {verdict}' if verdict else ''} {tile['since']}"
        change = paragraph(said, key="change", tone=f"small {verdict}".strip())
    return box(
        paragraph(title, key="title", tone="tile-title"),
        paragraph(tile["figure"], key="figure", tone="tile-figure"),
        paragraph(tile["detail"], key="detail", tone="muted small"),
        change,
        more,
        key=title,
        look="tile",
        label=title,
    )


def grades_block(session: Session, figures: AuditFigures) -> Block:
    """Return how many products have each grade; the name of one is a button that shows them."""
    rows = []
    for grade, count in figures.grades.items():
        # Mostly no product is without a grade, and an empty bar would need an explanation.
        if grade is None and not count:
            continue
        named, share = f"Grade {grade}" if grade else "No grade", count / max(1, len(figures.judged))
        shows = figure_button(
            session, of_grade(grade), named, key=f"grade {grade}", do="quality.grade", grade=grade
        )
        cells = [{"button": shows} if count else named, {"share": share, "words": ""}]
        cells += [f"{count:,}", percent(share)]
        rows.append({"key": named, "look": f"grade-{grade or 'none'}", "cells": cells})
    shown = table(_GRADE_COLUMNS, rows, key="grades", label="Grades", look="grades")
    return box(heading("Grades"), shown, key="grades-box")


def gaps_block(session: Session, figures: AuditFigures) -> Block:
    """Return the ten failing checks that would raise the score most if fixed."""
    of, gaps = {check.id: check for check in figures.judged.checks}, figures.gaps[:_GAPS]
    if not gaps:
        return box(heading("No failing checks", key="gaps-title"), key="gaps-box")
    rows = []
    for gap in gaps:
        check, severity = gap["check"], gap["severity"]
        shows = figure_button(
            session,
            of_check(of[check]),
            f"Show {counted(int(gap['products']), 'product')}",
            key=f"gap {check}",
            do="quality.check",
            check=check,
        )
        # Messages are made of characters that every terminal has; a page can show an arrow.
        then = {"words": f" if fixed: {gap['brings'].replace('->', '→')}", "tone": "muted then"}
        cells = [
            {"words": severity, "tone": f"severity {severity}"},
            {"parts": [typed_text(str(gap["problem"])), then]},
            {"button": shows},
        ]
        rows.append({"key": check, "cells": cells})
    more = f" ({len(gaps)} of {len(figures.gaps):,})" if len(figures.gaps) > len(gaps) else ""
    return box(
        heading(f"Largest gaps{more}", key="gaps-title"),
        table(_GAP_COLUMNS, rows, key="gaps", label="Largest gaps", look="gaps"),
        key="gaps-box",
    )
