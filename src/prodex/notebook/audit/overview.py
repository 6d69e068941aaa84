"""The overview of an audit: headline, warnings, tiles, the distribution of grades, and the largest gaps."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import ipywidgets as w
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.display.audit import lines, notes
from prodex.display.report.contents import tiles
from prodex.messages import counted, percent
from prodex.notebook.audit.drill_down import (
    Choose,
    DrillDownButton,
    of_check,
    of_grade,
    to_work_on,
    with_blockers,
)
from prodex.notebook.shared.boxes import Box, VBox
from prodex.notebook.shared.panel import Panel, html, list_html, row, show_if, styled, text_html
from prodex.quality import Audit
from prodex.untrusted_text import words

#: None is the grade of products to which no check applies.
_GRADES = (*"ABCDE", None)
_GAPS = 10
#: Characters of a warning, which may quote a rule that somebody wrote.
_LONG = 2_000


class AuditTiles(Box):
    """Tiles with the number of products, how many are ready, their score, and how many need work."""

    def __init__(self, panel: Panel, choose: Choose) -> None:
        self._figures = [html("") for _ in range(5)]
        self.buttons: list[DrillDownButton] = [DrillDownButton(panel, choose, "link") for _ in range(2)]
        boxes = [styled(w.VBox([figure]), "tile") for figure in self._figures]
        for box, button in zip(boxes[-2:], self.buttons, strict=True):
            box.children = (*box.children, button)
        super().__init__(boxes)
        self.add_class("tiles")

    def show(self, audit: Audit, before: Audit | None = None) -> None:
        """Show the figures of an audit, and how they changed since an earlier one."""
        waiting = f"{audit.pending:,} with a pending update" if audit.pending else "no pending updates"
        products = {"title": "Products", "figure": f"{len(audit):,}", "detail": waiting, "change": None}
        shown = [products, *tiles(audit, before)]
        for figure, tile in zip(self._figures, shown, strict=True):
            figure.value = (
                f"<div class='title'>{escape(tile['title'])}</div><div class='figure'>{escape(tile['figure'])}"
                f"</div><div class='detail'>{escape(tile['detail'])}</div>{_change_html(tile)}"
            )
        choices = (to_work_on(audit), with_blockers(audit))
        for button, tile, choice in zip(self.buttons, shown[-2:], choices, strict=True):
            is_some = tile["figure"] != "0"
            button.set_choice(choice if is_some else None, "Show products" if is_some else "None")


def _change_html(tile: Mapping[str, Any]) -> str:
    if tile["change"] is None:
        return ""
    verdict = f", {tile['verdict']}" if tile["verdict"] else ""
    return (
        f"<div class='detail {tile['verdict']}'>{escape(tile['change'])}{verdict} "
        f"<span class='muted'>since {escape(tile['since'])}</span></div>"
    )


class GradeBars(VBox):
    """A bar for the number of products of each grade; its label is a button that shows them."""

    def __init__(self, panel: Panel, choose: Choose) -> None:
        self.buttons: list[DrillDownButton] = [DrillDownButton(panel, choose, "grade") for _ in _GRADES]
        self._bars = [html("", "bar-cell") for _ in _GRADES]
        pairs = zip(self.buttons, self._bars, strict=True)
        self._rows = [row(*pair, look="grade-row") for pair in pairs]
        super().__init__([html("<h3>Grades</h3>"), *self._rows])

    def show(self, audit: Audit) -> None:
        """Show the distribution of the grades of an audit."""
        figures = audit.summary
        counts = [int(figures[f"grade_{grade}"]) for grade in _GRADES if grade]
        counts.append(len(audit) - sum(counts))
        lines = zip(_GRADES, counts, self.buttons, self._bars, self._rows, strict=True)
        for grade, count, button, bar, line in lines:
            named = f"Grade {grade}" if grade else "No grade"
            button.set_choice(of_grade(grade) if count else None, named)
            share = count / len(audit) if len(audit) else 0.0
            # The bar says what the numbers beside it say, so screen readers skip it.
            bar.value = (
                f"<div class='bar grade-{grade or 'none'}' aria-hidden='true'>"
                f"{f'<span style=width:{share * 100:.2f}%></span>' if count else ''}</div>"
                f"<span class='n'>{count:,}</span> <span class='n muted'>{percent(share)}</span>"
            )
            # Mostly no product is without a grade, and an empty bar would need an explanation.
            show_if(line, grade is not None or count > 0)


class GapList(VBox):
    """The ten failing checks that would raise the score most if fixed."""

    def __init__(self, panel: Panel, choose: Choose) -> None:
        self._title = html("")
        self._words = [html("", "gap") for _ in range(_GAPS)]
        self.buttons: list[DrillDownButton] = [DrillDownButton(panel, choose, "link") for _ in range(_GAPS)]
        pairs = zip(self._words, self.buttons, strict=True)
        self._rows = [row(*pair, look="gap-row") for pair in pairs]
        super().__init__([self._title, *self._rows])

    def show(self, audit: Audit) -> None:
        """Show the largest gaps of an audit."""
        found = audit.gaps()
        of = {check.id: check for check in audit.checks}
        shown = found.head(_GAPS).to_dict("records")
        more = (
            f" <span class='muted'>{len(shown)} of {len(found):,}</span>" if len(found) > len(shown) else ""
        )
        self._title.value = f"<h3>{'Largest gaps' if shown else 'No failing checks'}{more}</h3>"
        for place, line in enumerate(self._rows):
            show_if(line, place < len(shown))
        for sentence, button, gap in zip(self._words, self.buttons, shown, strict=False):
            sentence.value = (
                f"<span class='severity {escape(gap['severity'])}'>{escape(gap['severity'])}</span> "
                f"<span class='what'>{text_html(gap['problem'])}</span> <span class='muted then'>if fixed: "
                f"<b>{escape(gap['brings'].replace('->', '→'))}</b></span>"
            )
            button.set_choice(of_check(of[gap["check"]]), f"Show {counted(int(gap['products']), 'product')}")


def headline(audit: Audit, title: str, of: int | None = None) -> str:
    """Return which products were audited, out of how many, with which profile, as of when."""
    some = "" if of is None or of == len(audit) else f" of {of:,}"
    number = f"{len(audit):,}{some} products" if some else counted(len(audit), "product")
    folder = audit.catalog_folder
    named = f"{folder.parent.name}, {folder.name}" if folder else f"in memory, from {audit.origin.source}"
    return (
        f"<p class='headline'><b>{number}</b> audited with <b>{text_html(title)}</b> "
        f"({counted(len(audit.checks), 'check')}) <span class='muted'>{text_html(named)}; as of "
        f"{audit.now:%Y-%m-%d %H:%M}</span></p>"
    )


def warnings(audit: Audit, catalog: Catalog | None) -> str:
    """Return what limits the meaning of the figures; nothing if nothing does."""
    found = [str(line) for line, is_warning in lines(audit) if is_warning]
    if catalog is not None and not is_about(audit, catalog):
        # First of all: the figures would be taken for those of the catalogue that is shown.
        shown = catalog.arrow("products", ["product_id"])["product_id"]
        shared = pc.sum(pc.is_in(audit.identity["product_id"], value_set=shown)).as_py() or 0
        found.insert(
            0,
            f"This audit covers another catalogue ({counted(len(audit), 'product')}) than the one shown "
            f"({counted(len(catalog), 'product')}): {f'{shared:,}' if shared else 'no'} "
            f"{'product is' if shared in {0, 1} else 'products are'} in both. Press Audit to audit the one shown.",
        )
    return list_html([words(line, _LONG).text for line in found])


def footnotes(audit: Audit) -> str:
    """Return what the figures mean."""
    return "".join(f"<p class='muted small'>{escape(str(note))}</p>" for note in notes(audit))


def is_about(audit: Audit, catalog: Catalog) -> bool:
    """Return whether an audit covers exactly these products, as they were loaded then."""
    if audit.catalog is catalog:
        return True
    # An audit that was saved and opened again has no catalogue, so the load and the ids are compared.
    loads = [(one.query, one.server_time, one.loaded_at) for one in (audit.origin, catalog.origin)]
    if loads[0] != loads[1] or len(audit) != len(catalog):
        return False
    ids = catalog.arrow("products", ["product_id"])["product_id"].combine_chunks()
    return bool(audit.identity["product_id"].combine_chunks().equals(ids))
