"""What is said of an audit as a whole, as markup: what was judged, what to beware of, what the figures mean."""

from __future__ import annotations

from html import escape

from prodex.catalog import Catalog
from prodex.notebook.panel import typed
from prodex.quality import Audit
from prodex.quality.display import counted, lines, notes
from prodex.verbatim import words

_LONG = 2_000


def headline(audit: Audit, title: str) -> str:
    """Say what was judged, by what, as of when."""
    folder = audit.catalog_folder
    named = f"{folder.parent.name}, {folder.name}" if folder else f"in memory, from {audit.origin.source}"
    return (
        f"<p class='headline'><b>{counted(len(audit), 'product')}</b> by <b>{typed(title)}</b> "
        f"({counted(len(audit.checks), 'check')}) <span class='muted'>{typed(named)}; as of "
        f"{audit.now:%Y-%m-%d %H:%M}</span></p>"
    )


def warnings(audit: Audit, catalog: Catalog | None) -> str:
    """Say what makes the figures less than they seem; nothing if nothing does."""
    found = [line for line, is_warning in lines(audit) if is_warning]
    if catalog is not None and not is_about(audit, catalog):
        found.insert(
            0,
            f"This audit is of another catalogue ({counted(len(audit), 'product')}) than the one that is looked at "
            f"({counted(len(catalog), 'product')}). Press Audit to judge that one.",
        )
    if not found:
        return ""
    listed = "".join(f"<li>{typed(words(line, _LONG).text)}</li>" for line in found)
    return f"<div class='problem' role='note'><ul>{listed}</ul></div>"


def footnotes(audit: Audit) -> str:
    """Say what the figures mean."""
    return "".join(f"<p class='muted small'>{escape(note)}</p>" for note in notes(audit))


def is_about(audit: Audit, catalog: Catalog) -> bool:
    """Say whether an audit is of just these products, as they were loaded then."""
    if audit.catalog is catalog:
        return True
    loads = [(one.query, one.server_time, one.loaded_at) for one in (audit.origin, catalog.origin)]
    if loads[0] != loads[1] or len(audit) != len(catalog):
        return False
    ids = catalog.arrow("products", ["product_id"])["product_id"].combine_chunks()
    return bool(audit.identity["product_id"].combine_chunks().equals(ids))
