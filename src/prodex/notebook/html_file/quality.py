"""What an audit found, in a file: figures, grades, largest gaps, what is accepted, and failing checks as filters."""

from __future__ import annotations

from typing import Any

from prodex.notebook.session.actions import Block
from prodex.notebook.session.session import Session
from prodex.notebook.views.acceptance import accepted_block
from prodex.notebook.views.audit import OfferedProfiles
from prodex.notebook.views.blocks import Cell, box, heading, listing, paragraph, row, typed_text
from prodex.notebook.views.figures import AuditFigures
from prodex.notebook.views.overview import (
    gaps_block,
    grades_block,
    headline_block,
    notes_block,
    tiles_block,
    warnings_block,
)
from prodex.phrases import counted
from prodex.quality import Check


def quality_blocks(session: Session) -> list[Block]:
    """Return what an audit found of the products of a session; nothing without an audit."""
    if session.audit is None:
        return []
    figures = AuditFigures(session, session.audit, session.audit)
    title = session.derived(OfferedProfiles).title(figures.judged)
    blocks = (
        headline_block(figures, title),
        warnings_block(figures),
        tiles_block(session, figures),
        row(grades_block(session, figures), gaps_block(session, figures), key="columns", look="columns"),
        _checks([one for one in figures.checks if one["failed"]]),
        accepted_block(figures),
        notes_block(figures),
    )
    return [one for one in blocks if one]


def _checks(failing: list[dict[str, Any]]) -> Block:
    said = f"{counted(len(failing), 'failing check')}. Press one to list its products."
    shown = listing(
        failing,
        {
            "Severity": lambda one: _severity(one["facts"]),
            "Problem": lambda one: typed_text(str(one["facts"].problem)),
            "Block": lambda one: typed_text(one["facts"].block),
            "Fail": "failed",
            "Pass": "passed",
            "Not applicable": "not_applicable",
            "Unknown": "unknown",
        },
        key="checks-table",
        label="Checks",
        name=lambda one: one["facts"].id,
        more=lambda one: {"do": "checks.open", "args": {"check": one["facts"].id}},
        head="Problem",
        look="checks",
    )
    return box(
        heading("Checks"),
        paragraph(said if failing else "No failing checks.", key="said", tone="muted"),
        shown,
        key="checks-box",
    )


def _severity(check: Check) -> Cell:
    return {"words": check.severity, "tone": f"severity {check.severity}"}
