"""Product cards: the data of the worst products as text; no address in them is ever fetched."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.display.audit import grade_said
from prodex.facts.market import market_label
from prodex.facts.name import shown_one
from prodex.facts.pending import IS_OWN
from prodex.languages import ENGLISH, Message, Translation
from prodex.quality.failures import FOUND, findings_in_words, found_rows
from prodex.quality.rulebook import SEVERITIES
from prodex.quality.states import State
from prodex.untrusted_text import Words, even_limit, label, weight
from prodex.untrusted_text import words as shown

if TYPE_CHECKING:
    from prodex.quality.audit import Audit


_CARDS = 10
_TEXTS = 60
_PICTURES = 12
_CARDS_ROOM = 800_000


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


def cards(audit: Audit, words: Translation = ENGLISH) -> list[dict[str, Any]]:
    """Return the products that are furthest from ready, those with most failing blockers first.

    Of each what names it, its results, the checks that it fails, the worst first, and its texts and pictures that are
    shown, with the number of all.
    """
    tally = audit.tally
    # Blockers first: a product with one is not listed, however good its score.
    by_need = tally[tally["failed"] > 0].sort_values(
        ["blockers", "score"], ascending=[False, True], kind="stable"
    )
    worst = by_need.index[:_CARDS].to_numpy()
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
            {
                **_identity(product, words),
                "score": product["score"],
                "grade": grade_said(product["grade"]),
                "ready": _ready(product["ready"]),
                # It is neither audited nor shown. An export may have left out who has one.
                "is_pending": pd.notna(product["has_pending_update"]) and bool(product["has_pending_update"]),
                "failed": [audit.checks[one] for one in _failed_checks(audit, place)],
                "texts": [
                    (_field(row["attribute"], words), row["language"], shown(row["text"], most))
                    for row in own[:_TEXTS]
                ],
                "texts_total": len(own),
                "pictures": [[_value(one, words) for one in row] for row in images[:_PICTURES]],
                "pictures_total": len(images),
            }
        )
    return rows


def _field(attribute: str | None, words: Translation) -> Words:
    return label(None if attribute is None else words.attribute_title(attribute))


def _ready(ready: Any) -> Message:
    if pd.isna(ready):
        return Message("undecided")
    return Message("yes") if ready else Message("no")


def _failed_checks(audit: Audit, place: int) -> tuple[int, ...]:
    severities = list(SEVERITIES)
    failed: list[int] = np.flatnonzero(audit.states[place] == State.FAIL).tolist()
    return tuple(sorted(failed, key=lambda check: severities.index(audit.checks[check].severity)))


def _identity(product: dict[Any, Any], words: Translation) -> dict[str, Words]:
    named = {name: None if pd.isna(value) else value for name, value in product.items()}
    return {
        "gtin": label(named["gtin"] or named["product_id"]),
        "name": label(named["name"]),
        "owner": label(shown_one(named["owner"], named["owner_id"])),
        "brand": label(shown_one(named["brand"], named["brand_code"])),
        "kind": label(shown_one(named["kind"], named["kind_code"])),
        "market": label(market_label(named["market"], words.language)),
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


def _value(value: object, words: Translation) -> Words:
    # As on the card of a panel: nobody should have to know how a programming language spells it.
    if isinstance(value, bool):
        return label(words.say(Message("yes") if value else Message("no")))
    return label(words.day(value) if isinstance(value, datetime) else value)


_ROWS = 2_000
#: No rows: of nothing at all numpy joins nothing.
_NONE = np.zeros(0, np.int64)
#: Bytes of all values and reasons together.
_ROWS_ROOM = 1_500_000
_COLUMNS = [
    *("gtin", "product_id", "name", "owner_id", "owner"),
    *("attribute", "language", "value", "reason", "accepted"),
]


def failing(audit: Audit, order: list[int], words: Translation = ENGLISH) -> list[dict[str, Any]]:
    """Return the findings of each check that fails, in the order given.

    Of each check its number in the audit, to which links lead, the findings that are shown, the number of all findings,
    and that of the products that fail.
    """
    totals, kept = _first_rows(audit)
    # A page of all findings of a large catalogue would not open; each check keeps a fair share.
    limit = even_limit(list(totals.values()), _ROWS)
    there = kept["check"].to_numpy()
    first = [np.flatnonzero(there == place)[:limit] for place in totals]
    # Put into words together: what the checks say is the same for all of them.
    found = kept.take(np.concatenate([_NONE, *first]))
    said = findings_in_words(found, audit.checks, words).select(_COLUMNS).to_pylist()
    rows: dict[int, list[dict[str, Any]]] = {place: [] for place in totals}
    for place, row in zip(found["check"].to_pylist(), said, strict=True):
        rows[place].append(row)
    texts = [text for row in said for text in (row["value"], row["reason"]) if text]
    most = even_limit([weight(text) for text in texts], _ROWS_ROOM)
    products = audit.by_check["failed"].tolist()
    return [
        {
            "place": place,
            "facts": audit.checks[place],
            "rows": [_finding(row, most, words) for row in rows[place]],
            "total": totals[place],
            "products": products[place],
        }
        for place in order
        if place in rows
    ]


def _first_rows(audit: Audit) -> tuple[dict[int, int], pa.Table]:
    """Count the findings of each check, and keep the first of them."""
    totals: dict[int, int] = {}
    kept = [FOUND.empty_table()]
    for part, accepted in zip(audit.parts, audit.accepted_parts, strict=True):
        found = found_rows(part, audit.checks, accepted=accepted)
        there = found["check"].to_numpy()
        first = [_NONE]
        for place, count in zip(*np.unique(there, return_counts=True), strict=True):
            before = totals.get(place, 0)
            first.append(np.flatnonzero(there == place)[: max(_ROWS - before, 0)])
            totals[place] = before + int(count)
        kept.append(found.take(np.concatenate(first)))
    return totals, pa.concat_tables(kept).unify_dictionaries()


def _finding(row: dict[str, Any], most: int, words: Translation) -> dict[str, Any]:
    """Return a finding as a row of the page."""
    return {
        "gtin": label(row["gtin"] or row["product_id"]),
        "name": label(row["name"]),
        "owner": label(shown_one(row["owner"], row["owner_id"])),
        "attribute": _field(row["attribute"], words),
        "language": row["language"],
        "value": shown(row["value"], most),
        "reason": shown(row["reason"], most),
        "accepted": shown(row["accepted"], 400),
    }
