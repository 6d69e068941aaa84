"""Values of the attributes that requirements ask for: what a part has of them, and what is not as asked.

Hundreds of checks look at the same attributes. So each attribute is read once for a part, and each text is compared
with a pattern once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import NotExported
from prodex.facts.requested_data import Asked, asked_for
from prodex.languages import Message, Said
from prodex.locales import short_of
from prodex.patterns import PatternTooSlow
from prodex.quality.asked_attributes import NUTRIENTS, AskedAttribute, selector_of, value_columns
from prodex.quality.asks import Ask
from prodex.quality.picture_columns import FACES, PICTURES, PictureColumns
from prodex.quality.products import Products, once_per_part
from prodex.quality.reasons import Reasons, of_each
from prodex.quality.verdict import Evidence, compared_with
from prodex.tables.columns import (
    Mask,
    Numbers,
    Rows,
    as_one_chunk,
    composed_texts,
    encoded,
    filled_values,
    is_true,
)
from prodex.tables.declaration import TABLES
from prodex.tables.fill_state import FillState, FillStates
from prodex.tables.filled import BY_SHAPE, tables_at
from prodex.tables.values import number_text

THERE = Message("there is data")


@once_per_part
def fill_states(products: Products, asked: AskedAttribute) -> FillStates:
    """Return the state of each product at what is asked about: an attribute, a picture's face or a nutrient."""
    needed, language = _needs(asked), asked.language or None
    requested = asked_for(products.origin, needed, language)
    if requested is Asked.NOTHING:
        return np.full(len(products), FillState.NOT_ASKED.number, np.int8)
    path, chosen = selector_of(asked.attribute)
    if chosen:
        states = np.full(len(products), FillState.ABSENT.number, np.int8)
        states[products.unreadable(needed, language)] = FillState.UNREADABLE.number
        states[values_of(products, asked).product] = FillState.FILLED.number
    else:
        states = products.states(path, language)
    if requested is Asked.PART:
        states[states == FillState.ABSENT.number] = FillState.NOT_ASKED.number
    return states


def _needs(asked: AskedAttribute) -> list[str]:
    path, chosen = selector_of(asked.attribute)
    if chosen and path == PICTURES:
        return [f"{PICTURES}.productFace", f"{PICTURES}.url"]
    if chosen:
        return [f"{NUTRIENTS}.isConceptualizedBy.code", f"{NUTRIENTS}.quantity"]
    return [path]


@dataclass(frozen=True, eq=False)
class Values:
    """The values of one attribute: the place of the product of each, its text, and for pictures its size.

    Attributes
    ----------
    is_number
        Which of them were sent as numbers: these are compared by value, and 12.0 is 12.
    more
        What tells each from values that read alike, such as its unit.
    """

    product: Rows
    texts: pa.Array
    is_number: Mask
    pixels: Numbers | None = None
    more: Sequence[tuple[object, ...]] | None = None

    def taken(self, rows: Rows) -> Values:
        """Return some of the values."""
        sizes = None if self.pixels is None else self.pixels[rows]
        texts = self.texts.take(pa.array(rows))
        return Values(self.product[rows], texts, self.is_number[rows], sizes, self.identity(rows))

    def identity(self, rows: Rows) -> Sequence[tuple[object, ...]]:
        """Return what tells some values from others that read alike: the unit, and which picture it is."""
        return [()] * len(rows) if self.more is None else [self.more[row] for row in rows.tolist()]


@once_per_part
def values_of(products: Products, asked: AskedAttribute) -> Values:
    """Return all values of what is asked about.

    Raises
    ------
    NotExported
        When an export left them out.
    """
    path, chosen = selector_of(asked.attribute)
    if path == PICTURES:
        return _pictures(products, chosen)
    if chosen:
        return _nutrient(products, chosen)
    read: list[Values] = []
    for column in value_columns(path):
        read.append(_values(np.arange(len(products)), products.column(column)))
    for table, (column, *_) in BY_SHAPE.items():
        # A quantity is a number with its unit, which no condition names: whether it is as asked, nobody can say.
        if table == "quantities":
            continue
        names = ["attribute", column, *_FURTHER.get(table, ())]
        rows = products.arrow(table, *names)
        meant = is_true(pc.is_in(rows["attribute"], pa.array(_ends(path), pa.string())))
        if table == "texts" and asked.language:
            meant &= _in_language(rows["language"], asked.language)
        rows = rows.filter(pa.array(meant))
        is_number = is_true(pc.equal(rows["type"], "number")) if table == "scalars" else None
        more = rows["language"].to_pylist() if table == "texts" else None
        read.append(
            _values(as_one_chunk(rows["product"]).to_numpy(), as_one_chunk(rows[column]), is_number, more)
        )
    return Values(
        np.concatenate([one.product for one in read]),
        pa.concat_arrays([one.texts for one in read]),
        np.concatenate([one.is_number for one in read]),
        more=[more for one in read for more in one.identity(np.arange(len(one.product)))],
    )


class Wrong(NamedTuple):
    """What is not as asked.

    Attributes
    ----------
    products, unsaid
        Which products have a value that is wrong, and of which nobody can say it.
    evidence
        The wrong values.
    too_slow
        The message of a pattern that took too long; empty where none did.
    """

    products: Mask
    unsaid: Mask
    evidence: Evidence
    too_slow: str


def wrong_values(
    products: Products, asked: AskedAttribute, asks: Mapping[int, Ask], wanted: Rows, there: Mask
) -> Wrong:
    """Return what is not as asked of products that have the attribute.

    Parameters
    ----------
    products
        The products.
    asked
        What is asked about.
    asks
        What is asked of its values, by number.
    wanted
        The number of each product; below 0 it is none.
    there
        Which products are judged.
    """
    values = values_of(products, asked)
    wrong, unsaid = np.zeros((2, len(there)), bool)
    rows: list[Rows] = []
    reasons: list[Said | None] = []
    compared: list[str] = []
    too_slow = ""
    for number, ask in asks.items():
        if not ask.is_of_value:
            continue
        meant = (wanted == number) & there
        own = np.flatnonzero(meant[values.product])
        if ask.pixels and values.pixels is not None:
            own = own[~np.isnan(values.pixels[own])]
        taken = values.taken(own)
        taken = replace(taken, texts=composed_texts(pc.utf8_trim_whitespace(taken.texts)))
        refused = _refused(ask, taken, len(there))
        if ask.pattern:
            try:
                matched = _are_matched(products, ask, taken.texts.to_pylist())
            except PatternTooSlow as error:
                too_slow = str(error)
                unsaid |= meant
            else:
                why = Message("does not match the pattern {pattern}", pattern=ask.pattern)
                refused = chain(refused, [(~matched, why, ("pattern", ask.pattern))])
        for bad, why, condition in refused:
            rows.append(own[bad])
            reasons += of_each(why, int(bad.sum()))
            compared += [compared_with(*condition, *more) for more in values.identity(own[bad])]
        # Something is there, and nothing of it can be compared: nobody can say that it is right, or wrong.
        meant[values.product[own]] = False
        unsaid |= meant
    place = np.concatenate([np.zeros(0, np.int64), *rows])
    wrong[values.product[place]] = True
    order = np.argsort(values.product[place], kind="stable")
    found = values.taken(place[order])
    in_order = order.tolist()
    evidence = _evidence(
        asked,
        found.product,
        found.texts,
        [reasons[one] for one in in_order],
        [compared[one] for one in in_order],
    )
    return Wrong(wrong, unsaid, evidence, too_slow)


def present_values(products: Products, asked: AskedAttribute, there: Mask) -> Evidence:
    """Return what products have that they must not have: one finding for each, of all that is there."""
    path, _ = selector_of(asked.attribute)
    rows = np.flatnonzero(there)
    said: dict[int, list[str]] = {product: [] for product in rows.tolist()}
    shown: dict[int, str] = {}
    # What an export left out must not make unknown what is known without it.
    with suppress(NotExported):
        values = values_of(products, asked)
        chosen = np.flatnonzero(there[values.product])
        texts = values.texts.take(pa.array(chosen)).to_pylist()
        for product, text, more in zip(
            values.product[chosen].tolist(), texts, values.identity(chosen), strict=True
        ):
            shown.setdefault(product, text)
            said[product].append(compared_with(text, *more))
    if said and not asked.language and path == asked.attribute:
        for leaves in _leaves(products, path):
            own = leaves.filter(pa.array(there[as_one_chunk(leaves["product"]).to_numpy()]))
            for product, *leaf in zip(*(one.to_pylist() for one in own.columns), strict=True):
                said[product].append(compared_with(*leaf))
    return _evidence(
        asked,
        rows,
        pa.array([shown.get(product) for product in rows.tolist()], pa.string()),
        THERE,
        [compared_with(sorted(said[product])) for product in rows.tolist()],
    )


def _evidence(
    asked: AskedAttribute, product: Rows, texts: pa.Array, reasons: Reasons, compared: Sequence[str]
) -> Evidence:
    return Evidence(
        product, asked.path, asked.language or None, texts, reasons, pa.array(compared, pa.string())
    )


@once_per_part
def _leaves(products: Products, path: str) -> list[pa.Table]:
    """Return what products have below an attribute, at whatever depth: another content has not been looked at."""
    found = []
    for table in tables_at(path):
        keys = {"product_id", "gtin", "attribute", "position"}
        columns = [name for name in TABLES[table].schema.names if name not in keys]
        if table in BY_SHAPE:
            # What the content is and not how it is spelled or labelled: 500 g are not 500 kg.
            columns = [*BY_SHAPE[table], *_IDENTIFYING.get(table, ())]
        with suppress(NotExported):
            rows = products.arrow(table, "attribute", *columns)
            inside = pc.or_(pc.equal(rows["attribute"], path), pc.starts_with(rows["attribute"], f"{path}."))
            found.append(rows.filter(inside))
    return found


@dataclass
class _Matches:
    """Which texts match a pattern, as far as they were looked at, and whether that took too long."""

    known: dict[str, bool] = field(default_factory=dict)
    too_slow: PatternTooSlow | None = None


def _are_matched(products: Products, ask: Ask, texts: list[str]) -> Mask:
    """Return which texts match the pattern; each is looked at once, whichever check and family asks for it."""
    matches = products.remember(("matches", ask.pattern), _Matches)
    if matches.too_slow is not None:
        raise matches.too_slow
    new = [text for text in dict.fromkeys(texts) if text not in matches.known]
    try:
        matches.known.update(zip(new, ask.value_pattern.are_whole(new), strict=True))
    except PatternTooSlow as error:
        matches.too_slow = error
        raise
    return np.array([matches.known[text] for text in texts], bool)


def _pictures(products: Products, face: str) -> Values:
    pictures = PictureColumns.of(products)
    chosen = np.ones(len(pictures.product), bool)
    if face:
        number = next(key for key, name in FACES.items() if name == face)
        chosen = is_true(pc.equal(pictures["product_face"], number))
    sizes = pictures.longest_side[chosen]
    words = ["size not given" if np.isnan(one) else f"{one:g} pixels" for one in sizes.tolist()]
    which = [(name,) for name in pictures.identities(np.flatnonzero(chosen))]
    no_numbers = np.zeros(len(words), bool)
    return Values(pictures.product[chosen], pa.array(words, pa.string()), no_numbers, sizes, which)


def _nutrient(products: Products, code: str) -> Values:
    rows = products.arrow("nutrients", "nutrient_code", "quantity", "unit_code")
    kept = is_true(pc.equal(rows["nutrient_code"], code)) & filled_values(as_one_chunk(rows["quantity"]))
    rows = rows.filter(pa.array(kept))
    return _values(
        as_one_chunk(rows["product"]).to_numpy(),
        as_one_chunk(rows["quantity"]),
        more=rows["unit_code"].to_pylist(),
    )


def _refused(ask: Ask, values: Values, size: int) -> Iterator[tuple[Mask, Message, tuple[object, ...]]]:
    """Yield which of some values, of so many products, are not as asked, for each why, and the condition for all.

    What their pattern says is asked elsewhere, since it may take too long.

    Texts are without spaces around, and each letter is one character.
    """
    texts = values.texts
    length = pc.utf8_length(texts).to_numpy()
    if ask.one_of:
        allowed = composed_texts(pa.array(ask.one_of, pa.string()))
        good = is_true(pc.is_in(pc.utf8_lower(texts), pc.utf8_lower(allowed)))
        if values.is_number.any():
            numbers = pa.array(filter(None, map(_number, ask.one_of)), pa.string())
            good |= values.is_number & is_true(pc.is_in(texts, numbers))
        bad = ~good
        # Neither their order nor their case decides.
        codes = sorted({code.lower() for code in ask.one_of})
        yield bad, Message("none of {codes}", codes=ask.one_of), ("one of", *codes)
    if ask.shortest:
        bad = length < ask.shortest
        yield (
            bad,
            Message(
                "too short: {count} of at least {least} characters", count=length[bad], least=ask.shortest
            ),
            ("shortest", ask.shortest),
        )
    if ask.longest:
        bad = length > ask.longest
        yield (
            bad,
            Message("too long: {count} of at most {most} characters", count=length[bad], most=ask.longest),
            ("longest", ask.longest),
        )
    if ask.pixels and values.pixels is not None:
        # One picture that is large enough will do.
        largest = np.zeros(size)
        np.maximum.at(largest, values.product, values.pixels)
        bad = largest[values.product] < ask.pixels
        too_small = Message("at least {pixels} pixels on the longest side are required", pixels=ask.pixels)
        yield bad, too_small, ("pixels", ask.pixels)


def _ends(path: str) -> list[str]:
    """Return the wire paths at which the value of an attribute is: at itself, in `data`, or as a code."""
    return [path, f"{path}.data", f"{path}.code"]


#: Columns that decide beside attribute and value.
_FURTHER: Mapping[str, tuple[str, ...]] = {"texts": ("language",), "scalars": ("type",)}
#: What tells a content from another one that reads alike.
_IDENTIFYING: Mapping[str, tuple[str, ...]] = {"texts": ("language",), "quantities": ("unit_code",)}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")


def _number(code: str) -> str | None:
    """Return a number as tables hold it; None for what is a code alone, such as 007.

    >>> _number("12.0"), _number("12"), _number("0.50"), _number("007"), _number("A")
    ('12', '12', '0.5', None, None)
    """
    return number_text(float(code)) if _NUMBER.fullmatch(code) else None


def _values(
    product: Rows, values: pa.Array, is_number: Mask | None = None, more: Sequence[object] | None = None
) -> Values:
    texts = as_one_chunk(values)
    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(texts.type.value_type)
    if is_number is None:
        is_number = np.full(len(texts), pa.types.is_integer(texts.type) or pa.types.is_floating(texts.type))
    texts = texts if pa.types.is_string(texts.type) else texts.cast(pa.string())
    filled = filled_values(texts)
    kept = None if more is None else [(more[row],) for row in np.flatnonzero(filled).tolist()]
    texts = as_one_chunk(texts.filter(pa.array(filled)))
    return Values(np.asarray(product, np.int64)[filled], texts, is_number[filled], more=kept)


def _in_language(languages: pa.ChunkedArray, language: str) -> Mask:
    distinct, code = encoded(languages)
    same = [short_of(one) == language for one in distinct.to_pylist()]
    return np.array([*same, False], bool)[code]
