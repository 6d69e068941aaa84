"""The top of the report: the catalogue, its query and profile; the four figures; the largest gaps."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from prodex.display.audit import lines
from prodex.messages import counted, percent
from prodex.quality.scores import readiness
from prodex.query import ProductQuery
from prodex.untrusted_text import Words, label, words

if TYPE_CHECKING:
    from prodex.quality.audit import Audit

_GAPS = 5
_QUERY = 4_000


@dataclass(frozen=True)
class Header:
    """The source of the figures.

    Attributes
    ----------
    name
        Name of the catalogue.
    facts
        Catalogue, query and profile: pairs of a term and its value.
    not_asked
        What the query left out, and what must not be mistaken for missing.
    warnings
        What limits the meaning of the figures.
    """

    name: Words
    facts: tuple[tuple[str, Words], ...]
    not_asked: tuple[Words, ...]
    warnings: tuple[Words, ...]


@dataclass(frozen=True)
class Tile:
    """One figure and its change.

    Attributes
    ----------
    title, figure, detail
        What is counted, the number, and of how many.
    change, since
        The change, and the audit it refers to; None where there is no earlier one.
    verdict
        "better", "worse", or nothing.
    of_all
        The same figure of all products, where the report is about some of them; else None.
    """

    title: str
    figure: str
    detail: str
    change: str | None
    since: str
    verdict: str
    of_all: str | None = None


def header(audit: Audit) -> Header:
    """Return the source of the figures of an audit."""
    origin = audit.origin
    folder = audit.catalog_folder
    # Files and records announce no total, so there is nothing to compare with.
    announced = origin.ledger.announced is not None
    asked_at = origin.server_time or origin.loaded_at
    query = "everything in the files or records" if origin.query is None else repr(origin.query)
    if origin.extent is not None and origin.query is None:
        query = f"none: {counted(len(origin.extent.attributes), 'attribute')} in the columns of a file"
    facts = {
        "Catalogue": folder.parent.name if folder else "in memory",
        "Snapshot": folder.name if folder else None,
        "Scope": None if audit.chosen is None else audit.scope,
        "From": origin.source,
        "Requested": f"{asked_at:%Y-%m-%d %H:%M} UTC" if asked_at else None,
        "Query": query,
        "Received": f"{origin.ledger}, {'complete' if origin.complete else 'incomplete'}"
        if announced
        else None,
        "Audited": f"{audit.audited_at:%Y-%m-%d %H:%M} UTC, as of {audit.now:%Y-%m-%d %H:%M}",
        "By": f"profile {audit.profile}, {len(audit.checks)} checks, rule set {audit.rule_set}",
    }
    warned = [line for line, is_warning in lines(audit) if is_warning]
    return Header(
        label(folder.parent.name if folder else origin.source),
        tuple((term, words(value, _QUERY)) for term, value in facts.items() if value is not None),
        tuple(words(one, _QUERY) for one in _not_asked(audit)),
        tuple(words(line, _QUERY) for line in warned),
    )


def _not_asked(audit: Audit) -> list[str]:
    """Return what the query left out, and the checks that are unknown because of it."""
    query = audit.origin.query or ProductQuery()
    restrictions = {
        "Only these attributes were requested": query.source_include,
        "These attributes were left out": query.source_exclude,
        "Only texts in these languages were requested": query.product_languages,
    }
    if (extent := audit.origin.extent) is not None:
        restrictions |= {
            "Only these attributes are in the columns of the file": extent.attributes,
            "Of these attributes not every value could be read": extent.in_part,
        }
    left_out = [f"{what}: {', '.join(names)}." for what, names in restrictions.items() if names]
    table = audit.by_check
    crashed = {crash.check for crash in audit.crashes}
    # Crashed checks have a section of their own.
    blind = table[(table["unknown"] == len(audit)) & ~table["check"].isin(crashed)]["check"].tolist()
    if len(audit) and blind:
        therefore = "Therefore unknown for every product" if left_out else "Unknown for every product"
        left_out.append(f"{therefore}: {', '.join(blind)}.")
    return left_out


def tiles(audit: Audit, before: Audit | None) -> tuple[Tile, ...]:
    """Return the four figures, with the change since the audit before."""
    now = audit.summary
    then = before.summary if before else None
    since = _moment_before(audit, before) if before else ""
    grade = now["grade"] if isinstance(now["grade"], str) else "none"
    of_products = f"of {counted(int(now['products']), 'product')}"
    every = None if audit.taken_from is None else audit.taken_from.summary

    def tile(title: str, name: str, detail: str) -> Tile:
        share = name in {"ready", "mean_score"}

        def shown(figures: pd.Series) -> str:
            return percent(figures[name]) if share else f"{figures[name]:,}"

        change, verdict = _change(now[name], then[name], share) if then is not None else (None, "")
        of_all = None
        if every is not None:
            of_all = f"{shown(every)} of all {counted(int(every['products']), 'product')}"
        return Tile(title, shown(now), detail, change, since, verdict, of_all)

    return (
        tile("Ready", "ready", readiness(now)),
        tile("Mean score", "mean_score", f"all checks together: {percent(now['score'])}, grade {grade}"),
        tile("Products to work on", "to_work_on", of_products),
        tile("Products not ready", "not_ready_products", f"a blocker fails; {of_products}"),
    )


def _moment_before(audit: Audit, before: Audit) -> str:
    """Return the day of the audit before; on the same day its time, since that day would be today."""
    is_same_day = before.now.date() == audit.now.date()
    return f"{before.now:%H:%M}" if is_same_day else f"{before.now:%Y-%m-%d}"


def _change(now: float, then: float, is_share: bool) -> tuple[str, str]:
    if math.isnan(now) or math.isnan(then):
        return "nothing to compare", ""
    step = now - then
    size = f"{abs(step) * 100:.1f} points" if is_share else f"{abs(step):,}"
    # A change that rounds to nothing would read as "0.0 points higher".
    if not step or size == "0.0 points":
        return "no change", ""
    # More is better for shares, and worse for numbers of products that need work.
    verdict = "better" if (step > 0) == is_share else "worse"
    words = ("higher", "lower") if is_share else ("more", "fewer")
    arrow, word = ("▲", words[0]) if step > 0 else ("▼", words[1])
    return f"{arrow} {size} {word}", verdict


def largest_gaps(found: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Return the gaps that it would help most to close, as rows of `Audit.gaps`."""
    return found.head(_GAPS).to_dict("records")
