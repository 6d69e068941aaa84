"""What stands around each section: the sections to choose from, which catalogue is shown, and what is to be told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prodex.catalog import Catalog
from prodex.catalog.origin import scope_of
from prodex.notebook.session.actions import Block, Section, action
from prodex.notebook.session.session import Session
from prodex.notebook.views.blocks import box, button, outcome, paragraph, switch, typed_text
from prodex.notebook.views.focus import FocusWish
from prodex.phrases import counted
from prodex.untrusted_text import cut

#: Characters of the name of the catalogue before.
_LONGEST = 40


def frame_view(session: Session, sections: Sequence[Section], section: Section) -> dict[str, Any]:
    """Return the view of a panel: what stands around its open section, and the section."""
    wish = session.part(FocusWish)
    return {
        "section": section.name,
        "title": section.title(session),
        "head": _head(session, sections, section),
        "focus": {"key": wish.on, "wish": wish.wish},
        "blocks": section.view(session),
    }


def _head(session: Session, sections: Sequence[Section], section: Section) -> list[Block]:
    titles = {one.name: one.title(session) for one in sections}
    many = len(sections) > 1
    back = None
    if session.former is not None:
        label = f"Back to {catalog_label(session.former[0])}"
        title = f"Show {catalog_title(session.former[0])} again"
        back = button(label, "frame.back", look="link", title=title)
    return [
        one
        for one in (
            switch("Sections", section.name, titles, "section.open", key="sections") if many else None,
            box(
                paragraph(typed_text(catalog_title(session.catalog)), key="catalogue", tone="status"),
                back,
                key="shown-catalogue",
                look="shown-catalogue",
            )
            # A section alone says it where it would be taken for one of all products.
            if many or _is_a_part(session.catalog)
            else None,
            outcome(session, section.name, key="notice"),
        )
        if one
    ]


@action("section.open")
def open_section(session: Session, name: str) -> Session:
    """Open a section."""
    return session.replaced(section=name)


@action("frame.back")
def go_back(session: Session) -> Session:
    """Show the catalogue before again, with its audit; the one of now is the one before then."""
    return session if session.former is None else session.looking_at(*session.former)


def _is_a_part(catalog: Catalog) -> bool:
    return not catalog.complete or scope_of(catalog.chosen, len(catalog)) is not None


def catalog_title(catalog: Catalog) -> str:
    """Return which catalogue it is, in words: its snapshot, how many products, and what it is a part of."""
    notes = "" if catalog.complete else ", incomplete"
    if (scope := scope_of(catalog.chosen, len(catalog))) is not None:
        notes += f", a selection: {scope}"
    if catalog.folder is None:
        return f"{counted(len(catalog), 'product')}, in memory{notes}"
    return f"{snapshot_title(catalog.folder, len(catalog))}{notes}"


def snapshot_title(folder: Path, products: int | None) -> str:
    """Return a snapshot in words.

    >>> snapshot_title(Path("shop/2026-11-13T050102.123456Z"), 12_000)
    'shop, 2026-11-13 05:01:02 (12,000 products)'
    """
    much = "cannot be read" if products is None else counted(products, "product")
    return f"{folder.parent.name}, {snapshot_moment(folder.name)} ({much})"


def snapshot_moment(name: str) -> str:
    """Return when a snapshot was made, UTC, from the name of its folder.

    >>> snapshot_moment("2026-11-13T050102.123456Z"), snapshot_moment("by hand")
    ('2026-11-13 05:01:02', 'by hand')
    """
    day, _, clock = name.partition("T")
    return f"{day} {clock[:2]}:{clock[2:4]}:{clock[4:6]}" if len(clock) >= 6 else name


def catalog_label(catalog: Catalog) -> str:
    """Return a catalogue in a few words, for the button that goes back to it."""
    if catalog.folder is None:
        return counted(len(catalog), "product")
    return f"{cut(catalog.folder.parent.name, _LONGEST)}, {snapshot_moment(catalog.folder.name)}"
