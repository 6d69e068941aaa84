"""Failing products by check: as many rows as a page can hold, and the number of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from prodex.facts.name import shown_one
from prodex.untrusted_text import Words, even_limit, label, weight, words

if TYPE_CHECKING:
    from prodex.quality.audit import Audit

_ROWS = 2_000
#: Bytes of all values and reasons together.
_ROOM = 1_500_000
_COLUMNS = (
    *("check", "gtin", "product_id", "name", "owner_id", "owner"),
    *("attribute", "language", "value", "reason"),
)


@dataclass(frozen=True)
class Failure:
    """One finding of a check."""

    gtin: Words
    name: Words
    owner: Words
    attribute: Words
    language: str | None
    value: Words
    reason: Words


@dataclass(frozen=True)
class FailingProducts:
    """The findings of one check.

    Attributes
    ----------
    place
        Number of the check in the audit, to which links lead.
    rows
        The findings that are shown.
    total
        Number of all findings.
    products
        Number of products that fail.
    """

    place: int
    rows: tuple[Failure, ...]
    total: int
    products: int


def failing(audit: Audit, order: list[int]) -> tuple[FailingProducts, ...]:
    """Return the findings of each check that fails, in the order given."""
    totals, kept = _first_rows(audit)
    # A page of all findings of a large catalogue would not open; each check keeps a fair share.
    limit = even_limit([totals[place] for place in kept], _ROWS)
    shown = {place: rows[:limit] for place, rows in kept.items()}
    texts = [
        text for rows in shown.values() for row in rows for text in (row["value"], row["reason"]) if text
    ]
    most = even_limit([weight(text) for text in texts], _ROOM)
    products = audit.by_check["failed"].tolist()
    return tuple(
        FailingProducts(
            place, tuple(_failure(row, most) for row in shown[place]), totals[place], products[place]
        )
        for place in order
        if place in shown
    )


def _first_rows(audit: Audit) -> tuple[dict[int, int], dict[int, list[dict[str, str | None]]]]:
    """Count the findings of each check, and keep the first of them."""
    totals: dict[int, int] = {}
    kept: dict[int, list[dict[str, str | None]]] = {}
    places = {check.id: place for place, check in enumerate(audit.checks)}
    for batch in audit.failure_batches():
        # By the numbers of the dictionary and not by names: a large audit has millions of findings.
        checks = batch.column("check")
        named = np.array([places[one] for one in checks.dictionary.to_pylist()], np.int64)
        there = named[checks.indices.to_numpy()]
        for place, count in zip(*np.unique(there, return_counts=True), strict=True):
            totals[int(place)] = totals.get(int(place), 0) + int(count)
            rows = kept.setdefault(int(place), [])
            first = np.flatnonzero(there == place)[: _ROWS - len(rows)]
            rows += pa.Table.from_batches([batch]).select(_COLUMNS).take(first).to_pylist()
    return totals, kept


def _failure(row: dict[str, str | None], most: int) -> Failure:
    return Failure(
        gtin=label(row["gtin"] or row["product_id"]),
        name=label(row["name"]),
        owner=label(shown_one(row["owner"], row["owner_id"])),
        attribute=label(row["attribute"]),
        language=row["language"],
        value=words(row["value"], most),
        reason=words(row["reason"], most),
    )
