"""What is said of a query and its load: the count, the progress, the outcome, and the same in Python."""

from __future__ import annotations

from datetime import UTC
from html import escape

from prodex.catalog import Catalog
from prodex.load.reuse import in_words
from prodex.notebook.panel import typed
from prodex.notebook.query.work import Load
from prodex.query import GTINS_PER_CALL, ProductQuery

#: Problems that are shown; the catalogue has all.
PROBLEMS = 20


def told(sentence: str, *, is_problem: bool = False) -> str:
    """Return a sentence as markup, which a screen reader reads out."""
    kind, role = ("problem", "alert") if is_problem else ("note", "status")
    return f"<div class='{kind}' role='{role}'>{typed(sentence)}</div>"


def counted(count: int, query: ProductQuery) -> str:
    """Say how many products match.

    >>> counted(1203, ProductQuery()), counted(1, ProductQuery())
    ('1,203 products match', '1 product matches')
    """
    said = "1 product matches" if count == 1 else f"{count:,} products match"
    gtins = query.gtins_in or ()
    if len(gtins) > GTINS_PER_CALL:
        calls = -(-len(gtins) // GTINS_PER_CALL)
        said += f" (the sum of {calls:,} calls, for {len(gtins):,} GTINs)"
    return said


def progress(done: int, total: int, seconds: float) -> str:
    """Say how far a load has come.

    >>> progress(3500, 12000, 41.3), progress(12000, 12000, 90), progress(0, 0, 2)
    ('3,500 of 12,000 products, 41 s', '12,000 of 12,000 products, 90 s; building the tables', 'asking ..., 2 s')
    """
    if not total:
        return f"asking ..., {seconds:.0f} s"
    said = f"{done:,} of {total:,} products, {seconds:.0f} s"
    return f"{said}; building the tables" if done >= total else said


def cancelled(done: int, total: int) -> str:
    """Say how far a load had come that was cancelled.

    >>> cancelled(3500, 12000)
    'Cancelled after 3,500 of 12,000 products. What came is kept: Load goes on from there.'
    """
    if not done:
        return "Cancelled before any product came."
    return f"Cancelled after {done:,} of {total:,} products. What came is kept: Load goes on from there."


def outcome(catalog: Catalog, load: Load) -> str:
    """Return what came, as markup: how many, complete or not, from when, where it lies, and what is not there."""
    state = "complete" if catalog.complete else "not complete"
    said = [
        f"<p><strong>{escape(str(catalog.origin.ledger))}</strong>, {state}. {_from_when(catalog, load)}</p>"
    ]
    if catalog.folder is not None:
        said.append(f"<p class='muted'>Snapshot in {typed(catalog.folder)}</p>")
    return "".join(said) + _problems(catalog.origin.ledger.problems())


def _from_when(catalog: Catalog, load: Load) -> str:
    loaded = catalog.origin.loaded_at
    if loaded is None or loaded >= load.began:
        return f"Loaded in {load.seconds:,.0f} s."
    when = f"{loaded.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    if load.total:
        return f"Begun at {when}, and gone on with for {load.seconds:,.0f} s."
    return f"From {when}, {in_words(load.began - loaded)} old; nothing had to be fetched."


def _problems(problems: list[tuple[str, str]]) -> str:
    if not problems:
        return ""
    rows = "".join(
        f"<tr><td>{typed(what)}</td><td>{typed(why)}</td></tr>" for what, why in problems[:PROBLEMS]
    )
    of = f"{min(PROBLEMS, len(problems)):,} of {len(problems):,}; all in panel.catalog.problems()"
    return (
        f"<table class='problems'><caption>What is not there: {of}</caption>"
        f"<thead><tr><th scope='col'>What</th><th scope='col'>Why</th></tr></thead><tbody>{rows}</tbody></table>"
    )
