"""What an audit found, in a file: figures, grades, largest gaps, and failing checks, of which each filters."""

from __future__ import annotations

from typing import Any

from prodex.messages import counted
from prodex.notebook.session.actions import Block
from prodex.notebook.session.value import Session
from prodex.notebook.views.audit import OfferedProfiles
from prodex.notebook.views.blocks import box, heading, paragraph, row, table, typed_text
from prodex.notebook.views.figures import AuditFigures
from prodex.notebook.views.overview import (
    gaps_block,
    grades_block,
    headline_block,
    notes_block,
    tiles_block,
    warnings_block,
)


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
        notes_block(figures),
    )
    return [one for one in blocks if one]


def _checks(failing: list[dict[str, Any]]) -> Block:
    rows = [
        {
            "key": check["facts"].id,
            "cells": [
                {"words": check["facts"].severity, "tone": f"severity {check['facts'].severity}"},
                typed_text(str(check["facts"].problem)),
                typed_text(check["facts"].block),
                f"{check['failed']:,}",
                f"{check['passed']:,}",
                f"{check['not_applicable']:,}",
                f"{check['unknown']:,}",
            ],
            "do": "checks.open",
            "args": {"check": check["facts"].id},
        }
        for check in failing
    ]
    columns: list[dict[str, Any]] = [
        {"name": "severity", "title": "Severity"},
        {"name": "problem", "title": "Problem", "head": True},
        {"name": "block", "title": "Block"},
        *(
            {"name": one, "title": one, "align": "right"}
            for one in ("Fail", "Pass", "Not applicable", "Unknown")
        ),
    ]
    said = f"{counted(len(failing), 'failing check')}. Press one to list its products."
    return box(
        heading("Checks"),
        paragraph(said if failing else "No failing checks.", key="said", tone="muted"),
        table(columns, rows, key="checks-table", label="Checks", look="checks"),
        key="checks-box",
    )
