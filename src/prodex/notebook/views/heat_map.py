"""The heat map of an audit: scores of groups by block; a press on a cell shows the products that fail there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from prodex.display.report.contents import GROUPINGS, score_map
from prodex.facts.groups import column_names, shown_names
from prodex.notebook.session.actions import Block, Want, action
from prodex.notebook.session.readings import last_read, reading
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.blocks import box, heading, paragraph, row
from prodex.notebook.views.cells import ShownCell, cells, cells_row, code_key
from prodex.notebook.views.drill_down import are_shown, audited, of_cell, opened
from prodex.notebook.views.figures import AuditFigures, figures_of
from prodex.notebook.views.forms import FormField, Setting
from prodex.notebook.views.pages_of_rows import RowList
from prodex.phrases import counted
from prodex.progress import Reporter
from prodex.quality import Audit
from prodex.quality.group_figures import block_scores
from prodex.quality.scores import SMALL
from prodex.selection import Selection

_ROWS, _SLOT = 12, "quality.scores"
_SAID = (
    f"Worst first; groups of fewer than {SMALL} products come last. A stronger colour means a lower score. Press a "
    "cell to list the products that fail there."
)
_FORM = "scores"
_GROUPS = Setting(
    _FORM, FormField("by", "Groups", "choice", GROUPINGS[0], [(one, f"{one}s") for one in GROUPINGS])
)
_LIST = RowList(_FORM, _ROWS, _GROUPS.of)


class GroupScores:
    """The scores of all groups of an audit by block, in the order in which they are shown."""

    def __init__(self, audit: Audit, by: str) -> None:
        self.of: Audit = audit
        self.by: str = by
        self.scores: Mapping[str | None, pd.DataFrame] = block_scores(audit, by)
        #: Pages that were drawn: a label is told apart from all others, which takes long for many groups.
        self._pages: dict[int, list[tuple[dict[str, Any], list[Selection]]]] = {}

    def page(self, first: int) -> list[tuple[dict[str, Any], list[Selection]]]:
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

    def behind(self, row: str, column: str) -> Selection:
        """Return the products behind a cell by its keys.

        Raises
        ------
        Refused
            When there is no such cell now.
        """
        blocks = {block_key(one): one for one in self.scores}
        if column not in blocks:
            raise Refused(f"Nothing was done: the audit that is shown now has no block {column[:80]!r}.")
        whole = self.scores[None]
        codes = [None if pd.isna(one) else str(one) for one in whole[column_names(self.by)[0]]]
        for code, name in zip(codes, shown_names(whole, self.by), strict=True):
            if code_key(code) == row:
                return of_cell(self.of, self.by, code, str(name), blocks[column])
        raise Refused("Nothing was done: this group is not among those shown now.")


def heat_map_block(session: Session, figures: AuditFigures) -> Block:
    """Return the scores of the groups, a page at a time."""
    by, scores = _GROUPS.of(session), _scores(session)
    shown, turning = paragraph("These scores are being counted.", key="counting", tone="muted"), None
    if scores is not None and scores.of is figures.judged:
        page, turning = _LIST.page(session, len(scores.scores[None]), by)
        shown = _grid(session, scores, page.start)
    return box(
        heading("Scores by group and block"),
        paragraph(_SAID, key="said", tone="muted small"),
        row(_GROUPS.switch(session, key="groups"), turning, key="bar", look="bar-above"),
        shown,
        key="scores",
    )


def heat_map_wants(session: Session) -> Iterable[Want]:
    """Return the scores that are not counted yet."""
    figures, scores, by = figures_of(session), _scores(session), _GROUPS.of(session)
    if figures is not None and (scores is None or scores.of is not figures.judged):
        judged, known = figures.judged, last_read(session, _SLOT).value or {}
        count = partial(_counted, judged, by, {one: it for one, it in known.items() if it.of is judged})
        yield reading(_SLOT, (judged, by), count, failed=None)


def _counted(
    audit: Audit, by: str, known: Mapping[str, GroupScores], _: Reporter
) -> Mapping[str, GroupScores]:
    """Count the scores of a grouping, beside those of others: who goes back to one does not wait again."""
    scores = GroupScores(audit, by)
    scores.page(0)
    return {**known, by: scores}


def _scores(session: Session) -> GroupScores | None:
    return (last_read(session, _SLOT).value or {}).get(_GROUPS.of(session))


def _grid(session: Session, scores: GroupScores, first: int) -> Block:
    blocks = [block_key(one) for one in scores.scores]
    rows = [
        cells_row(
            _head(group),
            [
                _cell(session, group, *of_block)
                for of_block in zip(blocks, group["cells"], wanted, strict=True)
            ],
        )
        for group, wanted in scores.page(first)
    ]
    return cells(
        [ShownCell(one, one, is_mute=True) for one in blocks],
        rows,
        key="grid",
        label="Scores by group and block",
        corner=scores.by,
        do={"cell": "heat.open"},
        empty=f"No {scores.by}s.",
    )


def block_key(block: str | None) -> str:
    """Return the key of a column, which is its head as well."""
    return "all blocks" if block is None else block


def _head(group: Mapping[str, Any]) -> ShownCell:
    name, products = f"{group['name'].text}{'…' if group['name'].is_cut else ''}", group["products"]
    size = f"n = {products}" if group["is_small"] else f"{products:,}"
    return ShownCell(
        code_key(group["code"]), name, f"{name}: {counted(products, 'product')}", size, is_mute=True
    )


def _cell(
    session: Session, group: Mapping[str, Any], block: str, figure: Mapping[str, Any], wanted: Selection
) -> ShownCell:
    score, failed = figure["score"], figure["failed"]
    fails = counted(failed, "failing check") if failed else ""
    say = "; ".join(filter(None, [f"{group['name'].text}, {block}: {score}", fails]))
    is_pressed = bool(failed) and are_shown(session, wanted)
    return ShownCell(block, score, say, "", fails, figure["shade"], is_pressed, is_mute=not failed)


@action("heat.open")
def open_cell(session: Session, row: str, column: str) -> Session:
    """Show the products of a group that fail a check of a block."""
    audit, scores = audited(session), _scores(session)
    if scores is None or (scores.of.taken_from or scores.of) is not audit:
        raise Refused("Nothing was done: these scores are being counted.")
    return opened(session, scores.behind(row, column))
