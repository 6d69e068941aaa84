"""The header of a card: what the product is, whether its GTIN is valid, and its status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pyarrow as pa

from prodex.errors import InputError
from prodex.explore.card.record import PATHS, UNIT_FLAGS, LabelledValue, Record, value_text, why_missing
from prodex.facts.fill import Missing
from prodex.facts.market import market_label
from prodex.facts.name import NAME_PATHS, TEXT_COLUMNS, Names
from prodex.gtin import check_digit, from_upc_e, normal_form
from prodex.query import SharingStatus, ValidationStatus
from prodex.untrusted_text import Words, label, words

#: Labels of the columns with yes or no.
_FLAGS = {
    **UNIT_FLAGS,
    "is_promotional_item": "promotional item",
    "is_nomadic": "consumed on the go",
    "is_marked_recyclable": "marked recyclable",
    "has_batch_number": "batch number",
}
_NAMED: Mapping[str, type[IntEnum]] = {"sharing_status": SharingStatus, "validation_status": ValidationStatus}
_STATUSES = {
    "sharing_status": "Sharing",
    "validation_status": "Validation",
    "product_status": "Product status",
    "regulatory_status": "Regulatory",
    "suggestion_count": "Suggestions",
}


@dataclass(frozen=True)
class CardHeader:
    """The first part of a card.

    Attributes
    ----------
    name
        The name of the product, in the first language of its market that has one.
    name_is_pending
        Whether only a pending update has a name.
    gtin, digits
        The GTIN as sent, and the result of its check.
    gtin_is_valid
        Whether the GTIN passes the check.
    facts
        Brand, kind, owner, market, packaging.
    flags
        Properties by answer: yes, no, or why there is no answer.
    statuses
        The statuses of the product.
    """

    name: Words
    name_is_pending: bool
    gtin: Words
    digits: str
    gtin_is_valid: bool
    facts: tuple[LabelledValue, ...]
    flags: tuple[tuple[str, tuple[str, ...]], ...]
    statuses: tuple[LabelledValue, ...]


def read_header(record: Record) -> CardHeader:
    """Return the header of a product's card."""
    product = record.product
    name, waits = _name(record)
    gtin = product["gtin"]
    problem = "no GTIN: " + why_missing(record, "gtin") if gtin is None else _wrong(gtin)
    return CardHeader(
        name=label(name),
        name_is_pending=waits,
        gtin=words(gtin),
        digits=problem or "check digit correct",
        gtin_is_valid=not problem,
        facts=(
            _fact(record, "Brand", "brand", "brand_code"),
            _fact(record, "Kind", "kind", "kind_code"),
            _fact(record, "Owner", "owner", ""),
            _market(record),
            _fact(record, "Packaging", "packaging", "packaging_code"),
        ),
        flags=tuple(_flags(record)),
        statuses=tuple(_status(record, column, term) for column, term in _STATUSES.items()),
    )


def _name(record: Record) -> tuple[str | None, bool]:
    rows = [row for row in record.tables.get("texts", ()) if row["attribute"] in NAME_PATHS]
    texts = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in TEXT_COLUMNS})
    names = Names.of(texts, np.zeros(len(rows), np.int64), pa.array([record.market], pa.string()))
    (row,) = names.rows().tolist()
    if row < 0:
        return None, False
    return names.text[row].as_py(), bool(names.is_pending[row])


def _wrong(gtin: str) -> str:
    try:
        full = normal_form(gtin)
    except InputError:
        shown = label(gtin).text
        digits = "".join(one for one in shown if one.isascii() and one.isdigit())
        # The check digit is worth a sentence only if everything else is right: of other lengths it has no meaning.
        if (expanded := from_upc_e(digits)) is not None and shown == digits:
            return f"UPC-E with the right check digit; its GTIN is {expanded}"
        if shown == digits and len(digits) in {8, 12, 13, 14} and int(digits):
            return f"check digit {digits[-1]} is wrong, expected {check_digit(digits[:-1].zfill(13))}"
        return "not a GTIN: 14 digits expected"
    return "" if full == gtin else f"check digit correct; with all 14 digits {full}"


def _fact(record: Record, term: str, name: str, code: str) -> LabelledValue:
    value, coded = record.product[name], record.product.get(code) if code else None
    missing = why_missing(record, PATHS[code or name].rpartition(".")[0])
    if value is None:
        return LabelledValue(term, label(coded), missing=missing)
    return LabelledValue(term, label(value), label(None if coded == value else coded), missing)


def _market(record: Record) -> LabelledValue:
    own = record.product["target_market"]
    number = record.market
    if number is None:
        return LabelledValue("Market", words(None), missing=why_missing(record, PATHS["target_market"]))
    name = market_label(number)
    # Without a market of its own the product is judged by that of the query, so the card says where it is from.
    note = number if own else f"{number}, from the query"
    return LabelledValue("Market", label(name), label(None if note == name else note))


def _flags(record: Record) -> Iterator[tuple[str, tuple[str, ...]]]:
    answers: dict[str, list[str]] = {}
    for column, name in _FLAGS.items():
        value = record.product[column]
        answer = _no_answer(record, column) if value is None else "yes" if value else "no"
        answers.setdefault(answer, []).append(name)
    # Grouped by answer, since of ten properties most have the same one.
    for answer in ("yes", "no", *sorted(answers.keys() - {"yes", "no"})):
        if answer in answers:
            yield answer, tuple(answers[answer])


def _no_answer(record: Record, column: str) -> str:
    gap = why_missing(record, PATHS[column])
    return str(gap) if gap is Missing.NOT_ASKED else f"not specified ({gap})"


def _status(record: Record, column: str, term: str) -> LabelledValue:
    value = record.product[column]
    if value is None:
        return LabelledValue(term, words(None), missing=why_missing(record, PATHS[column]))
    if column in _NAMED:
        # The service may have a status that is newer than this release: it is shown as its number.
        known = {int(one): one.name for one in _NAMED[column]}
        number = value_text(value if value in known else None)
        return LabelledValue(term, value_text(known.get(value, value)), number)
    return LabelledValue(term, value_text(value))
