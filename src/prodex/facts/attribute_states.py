"""Is it filled: the state of an attribute of each product, in one language or in any.

Tables show what is filled, what is there and cannot be read, and what was not asked for (`AttributeStates`); that is
all that rules, coverage and requirements ask. Why something is missing they show at the top of a record alone:
`fill_states` looks into records where it has to, by `missing_in`, which is the definition.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.advice import PythonCall, advice
from prodex.catalog import Catalog, Origin, Part
from prodex.errors import SnapshotDamaged
from prodex.executors import side_by_side
from prodex.facts.requested_data import Asked, asked_for
from prodex.locales import short_language, short_of
from prodex.tables.attributes import is_within, path_keys, state_column
from prodex.tables.columns import Mask, Rows, as_one_chunk, by_value, encoded, filled_values, places
from prodex.tables.fill_state import LACKING, FillState, FillStates, state_of
from prodex.tables.filled import BY_SHAPE, Filled, leaf_columns
from prodex.tables.unreadable import Unreadable
from prodex.tables.values import fit, read_json
from prodex.tables.visible import is_visible

#: A wire path, and the short code of a language for its texts in that language alone.
Attribute: TypeAlias = tuple[str, str | None]


def missing_in(value: Any, inner: Iterable[str], language: str | None = None) -> FillState:
    """Return why there is no data at a place inside a value: it is empty, null or absent.

    Of several reasons at one path the most specific is returned: somebody has sent an empty text, nobody an absent one.

    Parameters
    ----------
    value
        The value of an attribute of a record, as JSON has it.
    inner
        The wire keys that lead from there to the place.
    language
        Short code, if texts in one language are missing.

    Examples
    --------
    >>> texts = [{"expressedIn": {"code": "fra-FR"}, "data": None}, {"expressedIn": {"code": "deu-DE"}, "data": " "}]
    >>> [str(missing_in(texts, [], language)) for language in ("fr", "de", "nl", None)]
    ['null', 'empty', 'absent', 'empty']
    >>> str(missing_in({"pictures": []}, ["pictures"]))
    'empty'
    """
    values = list(_list_items(value))
    for key in inner:
        below = [one[key] for one in values if isinstance(one, dict) and key in one]
        values = [item for one in below if state_of(one) is FillState.FILLED for item in _list_items(one)]
        if not values:
            return _most(below)
    if language is not None:
        values = [one["data"] for one in _objects(values) if "data" in one and _is_in(one, language)]
    return _most(_value_leaves(values))


def _most(values: Iterable[Any]) -> FillState:
    # What shows nothing is no data, so that somebody has sent an empty text.
    found = {
        FillState.EMPTY if isinstance(one, str) and not is_visible(one) else state_of(one) for one in values
    }
    return next((one for one in LACKING if one in found), FillState.ABSENT)


def _list_items(value: Any) -> Iterator[Any]:
    """Yield a value, or the items of a list and of the lists in it."""
    # Not recursive, here and below: a record may nest a thousand lists.
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(reversed(one))
        else:
            yield one


def _objects(values: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the objects among values, and those inside them."""
    waiting = list(values)
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _value_leaves(values: list[Any]) -> Iterator[Any]:
    """Yield what is at the end of each way into values: scalars, null, and empty lists and objects."""
    waiting = list(values)
    while waiting:
        one = waiting.pop()
        if one and isinstance(one, dict | list):
            waiting.extend(one.values() if isinstance(one, dict) else one)
        else:
            yield one


def _is_in(item: dict[str, Any], language: str) -> bool:
    described = item.get("expressedIn")
    if not isinstance(described, dict):
        return False
    # As for the column `language` of the tables: the short code as sent, else that of the long one.
    code, short = fit(described.get("code"), "code"), fit(described.get("normalizedCode"), "string")
    spoken = short_language(code, short)
    spoken = code if spoken is None else spoken
    return spoken is not None and short_of(spoken) == short_of(language)


_FILLED, _ABSENT = FillState.FILLED.number, FillState.ABSENT.number
_UNREADABLE, _NOT_ASKED = FillState.UNREADABLE.number, FillState.NOT_ASKED.number
#: Ends of the wire paths at which the codes of a language are that belong to no text, by table.
_LANGUAGE_CODES = {
    "codes": (".expressedIn",),
    "scalars": (".expressedIn.code", ".expressedIn.normalizedCode"),
}
_TOP, _ANY = msgspec.json.Decoder(dict[str, msgspec.Raw]), msgspec.json.Decoder()


@dataclass(frozen=True, eq=False)
class AttributeStates:
    """The states of attributes of some products, as tables show them.

    Attributes
    ----------
    filled
        Which of the products have data.
    unreadable
        Which of them have something that cannot be read.
    origin
        What was asked for.
    """

    filled: Filled
    unreadable: Unreadable
    origin: Origin

    def of(self, attribute: str, language: str | None = None) -> FillStates:
        """Return for each product whether an attribute is filled, cannot be read or was not asked for, else absent."""
        states = unfilled_states(self.unreadable, self.origin, attribute, language)
        states[self.filled.products(attribute, language)] = _FILLED
        return states


def unfilled_states(
    unreadable: Unreadable, origin: Origin, attribute: str, language: str | None = None
) -> FillStates:
    """Return for each product why an attribute is not filled, if it is not: what is simply missing is absent."""
    if asked_for(origin, [attribute], language) is Asked.NOTHING:
        return np.full(unreadable.size, _NOT_ASKED, np.int8)
    states = np.full(unreadable.size, _ABSENT, np.int8)
    states[unreadable.products([attribute], language)] = _UNREADABLE
    return states


def fill_states(catalog: Catalog, attribute: str, language: str | None = None) -> FillStates:
    """Return the state of an attribute of each product, in the order of the catalogue.

    An attribute is filled if there is data at its wire path or anywhere below it that is the product's own. Otherwise
    the most specific of the reasons counts: it was not asked for; it is there and cannot be read; somebody has sent an
    empty value (an empty list, a text that shows nothing); or null; or nothing at all, and it is absent.

    Parameters
    ----------
    catalog
        The catalogue. An export without the table `raw` does not show why something inside an attribute is missing:
        there it counts as absent.
    attribute
        Wire path, such as `namePublicLong`, `netContent` or `assets.pictures.url`.
    language
        Language of the texts that count; by default texts in any language.

    Returns
    -------
    numpy.ndarray
        Numbers of the states, places in `STATES`.

    Raises
    ------
    NotExported
        When the catalogue was read from an export without the tables that are needed.

    Examples
    --------
    >>> import prodex
    >>> from prodex.tables.fill_state import STATES
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    >>> catalog = prodex.flatten([{"id": 7, "nameLegal": name}, {"id": 8, "nameLegal": []}, {"id": 9}])
    >>> [str(STATES[state]) for state in fill_states(catalog, "nameLegal")]
    ['filled', 'empty', 'absent']
    >>> [str(STATES[state]) for state in fill_states(catalog, "nameLegal", "de")]
    ['absent', 'empty', 'absent']
    """
    read = side_by_side(lambda part: _part_states(part, catalog.origin, attribute, language), catalog.parts)
    return np.concatenate([np.zeros(0, np.int8), *read])


def _part_states(part: Part, origin: Origin, attribute: str, language: str | None) -> FillStates:
    if not part.size:  # a strict filter leaves most parts empty
        return np.zeros(0, np.int8)
    rows = _PartRows(part, [attribute])
    filled = rows.filled()
    states = AttributeStates(filled, Unreadable.of(part), origin).of(attribute, language)
    missing = states == _ABSENT
    if not missing.any():
        return states
    first, *inner = path_keys(attribute)
    at_top = rows.at_top(first)
    states[missing] = at_top[missing]
    # Filled at the top of the record, with no data at the place that is asked about: the record says why.
    undecided = missing & ((at_top == _FILLED) | (at_top == _UNREADABLE))
    states[undecided] = _ABSENT
    if language is not None:
        # Where there is data of the attribute at all, there is no text in this language, unless one without data.
        undecided &= rows.may_hold_blanks(attribute) | ~filled.products(attribute)
    places_of = np.flatnonzero(undecided)
    for product, record in rows.records(places_of).items() if len(places_of) else ():
        states[product] = missing_in(_attribute_value(record, first), inner, language).number
    return states


def filled_masks(part: Part, attributes: Sequence[str]) -> Iterator[tuple[FillState, Attribute, Mask]]:
    """Yield which products of a part have attributes filled, and which have something there that cannot be read.

    Each is yielded in any language (None), and in each language that occurs. What cannot be read and says no language
    may be in any: it is yielded under "".
    """
    if not part.size:
        return
    filled, unreadable = _PartRows(part, attributes).filled(), Unreadable.of(part)
    for attribute in attributes:
        for language in (None, *filled.languages(attribute)):
            yield FillState.FILLED, (attribute, language), filled.products(attribute, language)
        said = {one or "" for one in unreadable.languages(attribute)}
        for language in (None, *said) if said else ():
            yield FillState.UNREADABLE, (attribute, language), unreadable.products([attribute], language)


class _PartRows:
    """The rows of a part that are about some attributes: each table is read once, and only as far as needed."""

    def __init__(self, part: Part, attributes: Sequence[str]) -> None:
        self.part = part
        self._attributes = attributes
        self._columns: dict[tuple[str, str], pa.Array] = {}
        self._positions: dict[str, Rows] = {}

    def filled(self) -> Filled:
        """Return which products have data, as these rows show it."""
        return Filled(self.part.size, self.read, self.positions)

    def read(self, table: str, columns: Sequence[str]) -> list[pa.Array]:
        if any((table, name) not in self._columns for name in columns):
            names = [*columns, *self._needed(table)]
            condition = self._condition() if table in BY_SHAPE else None
            found = self.part.read(table, list(dict.fromkeys(names)), condition)
            self._columns |= {(table, name): as_one_chunk(found[name]) for name in names}
        return [self._columns[table, name] for name in columns]

    def _needed(self, table: str) -> Iterator[str]:
        """Yield the columns of a table that will be asked for: to open a file takes longer than to read a column."""
        yield "product_id"
        if table != "products":
            yield "attribute"
        yield from BY_SHAPE.get(table, ())
        yield from ("language", "language_code") if table == "texts" else ()
        for attribute in self._attributes:
            yield from (column for column, _ in leaf_columns(table, attribute))

    def positions(self, table: str) -> Rows:
        if table not in self._positions:
            (of,), (ids,) = self.read(table, ["product_id"]), self.read("products", ["product_id"])
            found = places(of, ids)
            if len(found) and found.min() < 0:
                raise SnapshotDamaged(
                    advice(
                        "{rows} rows of {table} are of products that the catalogue does not have. Run {verify} to see "
                        "what is damaged, and open an earlier snapshot or load again.",
                        rows=f"{(found < 0).sum():,}",
                        table=table,
                        verify=PythonCall("verify()"),
                    )
                )
            self._positions[table] = found
        return self._positions[table]

    def at_top(self, name: str) -> FillStates:
        """Return the states of an attribute at the top of the records."""
        column = state_column(name)
        read = self.part.read("presence", [column])
        if column not in read.column_names:  # of what nobody in this part has, there is no column
            return np.full(self.part.size, _ABSENT, np.int8)
        return by_value(read[column], lambda word: FillState(word).number, _ABSENT).astype(np.int8)

    def may_hold_blanks(self, attribute: str) -> Mask:
        """Say for each product whether it may have a text without data, in any language, at or below a wire path."""
        text, of = self.read("texts", ["text", "attribute"])
        rows = [("texts", _at(of, attribute) & ~filled_values(text))]
        # A text without data leaves the codes of its language, each at a path of its own.
        for table, ends in _LANGUAGE_CODES.items():
            (of,) = self.read(table, ["attribute"])
            rows.append((table, _at(of, attribute, ends)))
        found = np.zeros(self.part.size, bool)
        for table, chosen in rows:
            found[self.positions(table)[chosen]] = True
        return found

    def records(self, products: Rows) -> dict[int, Mapping[str, Any]]:
        """Return the records of some products, by position; the attributes at the top are not decoded."""
        if not self.part.holds("raw"):
            return {}
        (ids,) = self.read("products", ["product_id"])
        chosen = pc.field("product_id").isin(ids.take(pa.array(products)))
        read = self.part.read("raw", ["product_id", "json"], chosen)
        there = places(as_one_chunk(read["product_id"]), ids).tolist()
        return dict(zip(there, map(_attributes, read["json"].to_pylist()), strict=True))

    def _condition(self) -> pc.Expression:
        """Return which rows of a table can be about the attributes."""
        # A range, by which row groups without such rows are left out: "/" is the character after the dot.
        own = pc.field("attribute")
        ranges = [(own >= one) & (own < f"{one}/") for one in self._attributes]
        return reduce(operator.or_, ranges)


def _at(paths: pa.Array, attribute: str, ends: tuple[str, ...] = ("",)) -> Mask:
    """Say for each wire path whether it is at or below an attribute, and ends in one of these ways."""
    distinct, code = encoded(paths)
    chosen = [is_within(one, attribute) and one.endswith(ends) for one in distinct.to_pylist()]
    return np.array(chosen, bool)[code]


def _attributes(json: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = _decoded_or(json.encode(), _TOP, {})
    return found


def _attribute_value(record: Mapping[str, Any], name: str) -> Any:
    """Return the value of an attribute of a record; one that cannot be decoded says nothing, as an empty list."""
    found = record.get(name, [])
    return _decoded_or(bytes(found), _ANY, []) if isinstance(found, msgspec.Raw) else found


def _decoded_or(json: bytes, decoder: msgspec.json.Decoder[Any], otherwise: Any) -> Any:
    # Several times as fast as the standard library, which reads what this one refuses, such as lone surrogates.
    try:
        return decoder.decode(json)
    except (ValueError, RecursionError):
        with suppress(ValueError, RecursionError):
            return read_json(json)
    return otherwise
