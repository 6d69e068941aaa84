"""The heat map of an audit: scores of groups by block; a press on a cell shows the products that fail there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import pandas as pd

from prodex.display.report.contents import GROUPINGS, score_map
from prodex.facts.groups import column_names, shown_names
from prodex.messages import counted
from prodex.notebook.session.actions import Block, Want, action
from prodex.notebook.session.value import Refused, Session
from prodex.notebook.views.blocks import box, heading, paragraph, row, switch
from prodex.notebook.views.cells import ShownCell, cells, cells_row, short_key
from prodex.notebook.views.drill_down import DrillDown, audited, of_cell, opened
from prodex.notebook.views.figures import AuditFigures, figures_of
from prodex.notebook.views.pages_of_rows import first_of, pager_of, turned_to
from prodex.progress import Reporter
from prodex.quality import Audit
from prodex.quality.group_figures import block_scores
from prodex.quality.scores import SMALL
from prodex.selection import Code

_ROWS = 12
_ALL = "all blocks"
_SAID = (
    f"Worst first; groups of fewer than {SMALL} products come last. A stronger colour means a lower score. Press a "
    "cell to list the products that fail there."
)
Grouping = Literal["kind", "owner", "brand", "language", "market"]


class GroupScores:
    """The scores of all groups of an audit by block, in the order in which they are shown."""

    def __init__(self, audit: Audit, by: str) -> None:
        self.of: Audit = audit
        self.by: str = by
        self.scores: Mapping[str | None, pd.DataFrame] = block_scores(audit, by)
        self.total: int = len(self.scores[None])
        #: Pages that were drawn: a label is told apart from all others, which takes long for many groups.
        self._pages: dict[int, list[tuple[dict[str, Any], list[DrillDown]]]] = {}

    def page(self, first: int) -> list[tuple[dict[str, Any], list[DrillDown]]]:
        """Return the rows of a page, each with the products behind its cells."""
        if first not in self._pages:
            rows = score_map(self.scores, self.by, first, _ROWS)["rows"]
            self._pages[first] = [
                (
                    one,
                    [
                        of_cell(self.of, self.by, one["code"], one["name"].text, block)
                        for block in self.scores
                    ],
                )
                for one in rows
            ]
        return self._pages[first]

    def group(self, key: str) -> tuple[Code, str]:
        """Return code and name of the group of a row.

        Raises
        ------
        Refused
            When there is none of this key now.
        """
        whole = self.scores[None]
        codes = [None if pd.isna(one) else str(one) for one in whole[column_names(self.by)[0]]]
        for code, name in zip(codes, shown_names(whole, self.by), strict=True):
            if row_key(code) == key:
                return code, str(name)
        raise Refused("Nothing was done: this group is not among those shown now.")


@dataclass(frozen=True, eq=False)
class ShownScores:
    """By what products are grouped, and the scores that were counted last for each grouping."""

    by: str = "kind"
    known: Mapping[str, GroupScores] | None = None


def heat_map_block(session: Session, figures: AuditFigures) -> Block:
    """Return the scores of the groups, a page at a time."""
    by = session.part(ShownScores).by
    scores = _scores(session)
    if scores is None or scores.of is not figures.judged:
        shown = [paragraph("These scores are being counted.", key="counting", tone="muted")]
        turning = None
    else:
        first = first_of(session, "scores", scores.total, _ROWS)
        shown, turning = [_grid(session, scores, first)], pager_of("scores", scores.total, by, first, _ROWS)
    options = {one: f"{one}s" for one in GROUPINGS}
    return box(
        heading("Scores by group and block"),
        paragraph(_SAID, key="said", tone="muted small"),
        row(
            switch("Groups", by, options, "heat.group", key="groups", argument="by"),
            turning,
            key="bar",
            look="bar-above",
        ),
        *shown,
        key="scores",
    )


def heat_map_wants(session: Session) -> Iterable[Want]:
    """Return the scores that are not counted yet."""
    figures = figures_of(session)
    if figures is None:
        return
    by, scores = session.part(ShownScores).by, _scores(session)
    if scores is None or scores.of is not figures.judged:
        yield Want(
            "quality.scores", (figures.judged, by), partial(_counted, figures.judged, by), _with_scores
        )


def _counted(audit: Audit, by: str, _: Reporter) -> GroupScores:
    scores = GroupScores(audit, by)
    scores.page(0)
    return scores


def _with_scores(session: Session, scores: GroupScores) -> Session:
    shown = session.part(ShownScores)
    known = {by: one for by, one in (shown.known or {}).items() if one.of is scores.of}
    return session.with_part(replace(shown, known={**known, scores.by: scores}))


def _scores(session: Session) -> GroupScores | None:
    shown = session.part(ShownScores)
    return (shown.known or {}).get(shown.by)


def _grid(session: Session, scores: GroupScores, first: int) -> Block:
    blocks = list(scores.scores)
    rows = []
    for group, choices in scores.page(first):
        rows.append(
            cells_row(
                _head(group),
                [
                    _cell(session, group, block, figure, choice)
                    for block, figure, choice in zip(blocks, group["cells"], choices, strict=True)
                ],
            )
        )
    return cells(
        [ShownCell(block_key(one), block_key(one), is_mute=True) for one in blocks],
        rows,
        key="grid",
        label="Scores by group and block",
        corner=scores.by,
        do={"cell": "heat.open"},
        empty=f"No {scores.by}s.",
    )


def row_key(code: Code) -> str:
    """Return the key of a row: two groups may have one name, and what their codes are is a supplier's choice."""
    return "none" if code is None else short_key(f"={code}")


def block_key(block: str | None) -> str:
    """Return the key of a column, which is its head as well."""
    return _ALL if block is None else block


def _head(group: Mapping[str, Any]) -> ShownCell:
    name, products = f"{group['name'].text}{'…' if group['name'].is_cut else ''}", group["products"]
    size = f"n = {products}" if group["is_small"] else f"{products:,}"
    return ShownCell(
        row_key(group["code"]), name, f"{name}: {counted(products, 'product')}", size, is_mute=True
    )


def _cell(
    session: Session,
    group: Mapping[str, Any],
    block: str | None,
    figure: Mapping[str, Any],
    choice: DrillDown,
) -> ShownCell:
    score, failed = figure["score"], figure["failed"]
    fails = counted(failed, "failing check") if failed else ""
    say = "; ".join(filter(None, [f"{group['name'].text}, {block_key(block)}: {score}", fails]))
    return ShownCell(
        block_key(block),
        score,
        say,
        "",
        fails,
        figure["shade"],
        is_pressed=bool(failed) and choice.is_in(session.conditions),
        is_mute=not failed,
    )


@action("heat.group", is_quiet=True)
def group_by(session: Session, by: Grouping) -> Session:
    """Group products by something else."""
    return turned_to(session.with_part(replace(session.part(ShownScores), by=by)), "scores", 0)


@action("heat.open")
def open_cell(session: Session, row: str, column: str) -> Session:
    """Show the products of a group that fail a check of a block."""
    audit, scores = audited(session), _scores(session)
    if scores is None or (scores.of.taken_from or scores.of) is not audit:
        raise Refused("Nothing was done: these scores are being counted.")
    block = next((one for one in scores.scores if block_key(one) == column), "")
    if block == "":
        raise Refused(f"Nothing was done: the audit that is shown now has no block {column[:80]!r}.")
    code, name = scores.group(row)
    return opened(session, of_cell(audit, scores.by, code, name, block))
