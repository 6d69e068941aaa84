"""The overview of an audit: headline, warnings, tiles, how many products have each grade, and the largest gaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prodex.messages import counted, percent
from prodex.notebook.session.actions import Block
from prodex.notebook.session.value import Session
from prodex.notebook.views.blocks import box, heading, listed, paragraph, row, table, typed_text
from prodex.notebook.views.drill_down import figure_button, of_check, of_grade, to_work_on, with_blockers
from prodex.notebook.views.figures import AuditFigures, tiles_of
from prodex.untrusted_text import words

_GAPS = 10
#: Bytes of a warning, which may quote a rule that somebody wrote.
_LONG = 2_000


def headline_block(figures: AuditFigures, title: str) -> Block:
    """Return which products were audited, out of how many, with which profile, as of when."""
    judged, of = figures.judged, len(figures.whole)
    some = f" of {of:,}" if len(judged) != of else ""
    number = f"{len(judged):,}{some} products" if some else counted(len(judged), "product")
    folder = judged.catalog_folder
    named = f"{folder.parent.name}, {folder.name}" if folder else f"in memory, from {judged.origin.source}"
    said = [
        f"{number} audited with ",
        typed_text(title),
        f" ({counted(len(judged.checks), 'check')}) ",
        typed_text(named),
        f"; as of {judged.now:%Y-%m-%d %H:%M}",
    ]
    return paragraph(said, key="headline", tone="headline")


def warnings_block(figures: AuditFigures) -> Block | None:
    """Return what limits the meaning of the figures; nothing if nothing does."""
    return listed(
        (typed_text(words(line, _LONG)) for line in figures.warnings), key="warnings", tone="problem"
    )


def notes_block(figures: AuditFigures) -> Block | None:
    """Return what the figures mean."""
    return listed(map(typed_text, figures.notes), key="notes", tone="muted")


def tiles_block(session: Session, figures: AuditFigures) -> Block:
    """Return tiles with the number of products, how many are ready, their score, and how many need work."""
    judged = figures.judged
    waiting = f"{judged.pending:,} with a pending update" if judged.pending else "no pending updates"
    first = {"title": "Products", "figure": f"{len(judged):,}", "detail": waiting, "change": None}
    shown = [first, *tiles_of(session, figures)]
    # The last two count products that a press lists.
    choices = [None] * (len(shown) - 2) + [("any", to_work_on(judged)), ("blocker", with_blockers(judged))]
    tiles = []
    for tile, choice in zip(shown, choices, strict=True):
        title = tile["title"]
        more = None
        if choice is not None and tile["figure"] != "0":
            which, drill = choice
            more = figure_button(
                session, drill, "Show products", key=f"show {which}", do="quality.failing", which=which
            )
        elif choice is not None:
            more = paragraph("None", key="none", tone="muted")
        tiles.append(
            box(
                paragraph(title, key="title", tone="tile-title"),
                paragraph(tile["figure"], key="figure", tone="tile-figure"),
                paragraph(tile["detail"], key="detail", tone="muted small"),
                _change(tile),
                more,
                key=title,
                look="tile",
                label=title,
            )
        )
    return row(*tiles, key="tiles", look="tiles")


def _change(tile: Mapping[str, Any]) -> Block | None:
    if tile["change"] is None:
        return None
    verdict = f", {tile['verdict']}" if tile["verdict"] else ""
    return paragraph(
        f"{tile['change']}{verdict} {tile['since']}", key="change", tone=f"small {tile['verdict']}".strip()
    )


def grades_block(session: Session, figures: AuditFigures) -> Block:
    """Return how many products have each grade; the name of one is a button that shows them."""
    judged = figures.judged
    rows = []
    for grade, count in figures.grades.items():
        # Mostly no product is without a grade, and an empty bar would need an explanation.
        if grade is None and not count:
            continue
        named = f"Grade {grade}" if grade else "No grade"
        share = count / len(judged) if len(judged) else 0.0
        pressed = figure_button(
            session, of_grade(grade), named, key=f"grade {grade}", do="quality.grade", grade=grade
        )
        rows.append(
            {
                "key": named,
                "look": f"grade-{grade or 'none'}",
                "cells": [
                    {"button": pressed} if count else named,
                    {"share": share, "words": ""},
                    f"{count:,}",
                    percent(share),
                ],
            }
        )
    columns: list[dict[str, Any]] = [
        {"name": "grade", "title": "", "head": True},
        {"name": "bar", "title": ""},
        {"name": "products", "title": "", "align": "right"},
        {"name": "share", "title": "", "align": "right"},
    ]
    shown = table(columns, rows, key="grades", label="Grades", look="grades")
    return box(heading("Grades"), shown, key="grades-box")


def gaps_block(session: Session, figures: AuditFigures) -> Block:
    """Return the ten failing checks that would raise the score most if fixed."""
    of = {check.id: check for check in figures.judged.checks}
    shown = figures.gaps[:_GAPS]
    rows = [
        {
            "key": gap["check"],
            "cells": [
                {"words": gap["severity"], "tone": f"severity {gap['severity']}"},
                {
                    "parts": [
                        typed_text(str(gap["problem"])),
                        # Messages are made of characters that every terminal has; a page can show an arrow.
                        {"words": f" if fixed: {gap['brings'].replace('->', '→')}", "tone": "muted then"},
                    ]
                },
                {
                    "button": figure_button(
                        session,
                        of_check(of[gap["check"]]),
                        f"Show {counted(int(gap['products']), 'product')}",
                        key=f"gap {gap['check']}",
                        do="quality.check",
                        check=gap["check"],
                    )
                },
            ],
        }
        for gap in shown
    ]
    more = f" ({len(shown)} of {len(figures.gaps):,})" if len(figures.gaps) > len(shown) else ""
    title = heading(f"Largest gaps{more}" if shown else "No failing checks", key="gaps-title")
    columns: list[dict[str, Any]] = [
        {"name": "severity", "title": ""},
        {"name": "problem", "title": "", "head": True},
        {"name": "products", "title": "", "align": "right"},
    ]
    found = table(columns, rows, key="gaps", label="Largest gaps", look="gaps") if shown else None
    return box(title, found, key="gaps-box")
