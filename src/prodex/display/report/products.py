"""Product cards: the data of the worst products as text; no address in them is ever fetched."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.facts.market import market_label
from prodex.facts.name import shown_one
from prodex.facts.pending import IS_OWN
from prodex.messages import percent
from prodex.quality.rulebook import SEVERITIES
from prodex.quality.states import State
from prodex.untrusted_text import Words, even_limit, label, weight, words

if TYPE_CHECKING:
    from prodex.quality.audit import Audit


_CARDS = 10
_TEXTS = 60
_PICTURES = 12
_CARDS_ROOM = 800_000


@dataclass(frozen=True)
class CardText:
    """One text of a product."""

    attribute: Words
    language: str | None
    text: Words


@dataclass(frozen=True)
class ReportCard:
    """A product with what it fails, its texts and its pictures.

    Attributes
    ----------
    gtin, name, owner, brand, kind, market
        Identification of the product.
    score, grade, ready
        Results of the audit.
    is_pending
        Whether an update is pending acceptance; it is neither audited nor shown.
    failed
        Numbers of the checks that it fails, the worst first.
    texts, texts_total
        Its texts that are shown, and the number of all.
    pictures, pictures_total
        Descriptions of its pictures that are shown, and the number of all.
    """

    gtin: Words
    name: Words
    owner: Words
    brand: Words
    kind: Words
    market: Words
    score: str
    grade: str
    ready: str
    is_pending: bool
    failed: tuple[int, ...]
    texts: tuple[CardText, ...]
    texts_total: int
    pictures: tuple[tuple[Words, ...], ...]
    pictures_total: int


@dataclass(frozen=True)
class ReportCards:
    """The products that are furthest from ready, and the number of all that fail a check.

    Attributes
    ----------
    with_data
        Whether the catalogue was available, so that texts and pictures could be read.
    """

    rows: tuple[ReportCard, ...]
    total: int
    with_data: bool


#: The facts of a picture: heading and column of `pictures`.
PICTURE_FACTS = {
    "file": "gdsn_file_name",
    "format": "format",
    "width": "width",
    "height": "height",
    "packshot": "is_packshot",
    "face": "product_face",
    "valid from": "effective_start",
    "valid until": "effective_end",
}


def cards(audit: Audit) -> ReportCards:
    """Return the products that are furthest from ready, those with most failing blockers first."""
    tally = audit.tally
    failing = np.flatnonzero(tally.failed > 0)
    # Blockers first: a product with one is not listed, however good its score.
    by_need = np.lexsort((tally.scores[failing], -tally.blockers[failing]))
    worst = failing[by_need][:_CARDS]
    products = audit.products.iloc[worst].to_dict("records")
    texts, pictures = _texts_and_pictures(audit, [str(one["product_id"]) for one in products])
    # Texts share a budget of bytes, so that one long text does not push the others off the page.
    most = even_limit(
        [weight(row["text"]) for rows in texts.values() for row in rows[:_TEXTS] if row["text"]], _CARDS_ROOM
    )
    rows = []
    for place, product in zip(worst.tolist(), products, strict=True):
        own, images = texts.get(product["product_id"], []), pictures.get(product["product_id"], [])
        rows.append(
            ReportCard(
                **_identity_words(product),
                score=percent(product["score"]),
                grade=product["grade"] if isinstance(product["grade"], str) else "none",
                ready="undecided" if pd.isna(product["ready"]) else "yes" if product["ready"] else "no",
                is_pending=bool(product["has_pending_update"]),
                failed=_failed_checks(audit, place),
                texts=tuple(
                    CardText(label(row["attribute"]), row["language"], words(row["text"], most))
                    for row in own[:_TEXTS]
                ),
                texts_total=len(own),
                pictures=tuple(tuple(map(_value_words, row)) for row in images[:_PICTURES]),
                pictures_total=len(images),
            )
        )
    return ReportCards(tuple(rows), len(failing), audit.catalog is not None)


def _failed_checks(audit: Audit, place: int) -> tuple[int, ...]:
    severities = list(SEVERITIES)
    failed: list[int] = np.flatnonzero(audit.states[place] == State.FAIL).tolist()
    return tuple(sorted(failed, key=lambda check: severities.index(audit.checks[check].severity)))


def _identity_words(product: dict[Any, Any]) -> dict[str, Words]:
    named = {name: None if pd.isna(value) else value for name, value in product.items()}
    return {
        "gtin": label(named["gtin"] or named["product_id"]),
        "name": label(named["name"]),
        "owner": label(shown_one(named["owner"], named["owner_id"])),
        "brand": label(shown_one(named["brand"], named["brand_code"])),
        "kind": label(shown_one(named["kind"], named["kind_code"])),
        "market": label(market_label(named["market"])),
    }


def _texts_and_pictures(
    audit: Audit, products: list[str]
) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Return texts and pictures of some products, without those of pending updates."""
    if audit.catalog is None:
        return {}, {}
    # One pass over the table for all cards instead of one for each.
    chosen = pc.field("product_id").isin(pa.array(products, pa.string()))
    own = chosen & IS_OWN
    texts: dict[str, list[Any]] = {}
    table = audit.catalog.arrow("texts", ["product_id", "attribute", "language", "text"], own)
    for row in table.sort_by([("attribute", "ascending"), ("language", "ascending")]).to_pylist():
        texts.setdefault(row["product_id"], []).append(row)
    pictures: dict[str, list[Any]] = {}
    table = audit.catalog.arrow("pictures", ["product_id", *PICTURE_FACTS.values()], own)
    for row in table.to_pylist():
        pictures.setdefault(row["product_id"], []).append([row[column] for column in PICTURE_FACTS.values()])
    return texts, pictures


def _value_words(value: object) -> Words:
    # As on the card of a panel: nobody should have to know how a programming language spells it.
    if isinstance(value, bool):
        return label("yes" if value else "no")
    if isinstance(value, datetime):
        return label(f"{value:%Y-%m-%d}")
    return label(value)


_ROWS = 2_000
#: Bytes of all values and reasons together.
_ROWS_ROOM = 1_500_000
_COLUMNS = (
    *("check", "gtin", "product_id", "name", "owner_id", "owner"),
    *("attribute", "language", "value", "reason", "accepted"),
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
    accepted: Words


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
    most = even_limit([weight(text) for text in texts], _ROWS_ROOM)
    products = audit.by_check["failed"].tolist()
    return tuple(
        FailingProducts(
            place, tuple(_failure_of_row(row, most) for row in shown[place]), totals[place], products[place]
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


def _failure_of_row(row: dict[str, str | None], most: int) -> Failure:
    return Failure(
        gtin=label(row["gtin"] or row["product_id"]),
        name=label(row["name"]),
        owner=label(shown_one(row["owner"], row["owner_id"])),
        attribute=label(row["attribute"]),
        language=row["language"],
        value=words(row["value"], most),
        reason=words(row["reason"], most),
        accepted=words(row["accepted"], 400),
    )
