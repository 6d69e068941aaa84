"""Which products of a catalogue have an attribute filled, and why it is missing in the others.

`missing_in` is the definition, a walk of one record. `fill_states` decides the same for whole catalogues from their
tables, and looks into records only where the tables do not show it.

What is there and cannot be read (`prodex.facts.unreadable`) is neither filled nor missing.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Origin, Part
from prodex.errors import SnapshotDamaged
from prodex.executors import side_by_side
from prodex.facts.presence import BY_SHAPE, Presence, leaf_columns
from prodex.facts.unreadable import Unreadable
from prodex.locales import short_language, short_of
from prodex.tables.attributes import is_within, state_column
from prodex.tables.columns import Mask, Rows, encoded, filled_values, places, whole
from prodex.tables.plain_walk import presence_of
from prodex.tables.values import fit, read_json
from prodex.tables.visible import is_visible


class Missing(StrEnum):
    """Why a value is missing; the member's value is shown."""

    ABSENT = "absent"
    NULL = "null"
    EMPTY = "empty"
    NOT_ASKED = "not requested"
    #: There, and nobody knows what it means.
    UNREADABLE = "not readable"


_KEY = re.compile(r"(?:\\.|[^.\\])+")
#: Of several reasons at one path the most specific is shown: somebody has sent an empty text, nobody an absent one.
_MOST_SPECIFIC = (Missing.EMPTY, Missing.NULL, Missing.ABSENT)


def missing_in(value: Any, inner: Iterable[str], language: str | None = None) -> Missing:
    """Return why there is no data at a place inside a value.

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
        values = [item for one in below if presence_of(one) == "filled" for item in _list_items(one)]
        if not values:
            return _most(below)
    if language is not None:
        values = [one["data"] for one in _objects(values) if "data" in one and _is_in(one, language)]
    return _most(_value_leaves(values))


def keys(path: str) -> list[str]:
    r"""Return the wire keys of a path, the inverse of `child_path`.

    >>> keys(r"tags.a\.b.\e")
    ['tags', 'a.b', '']
    """
    found = _KEY.findall(path) or [r"\e"]  # the path of a product that is itself a code or a text
    return ["" if one == r"\e" else re.sub(r"\\(.)", r"\1", one) for one in found]


def _most(values: Iterable[Any]) -> Missing:
    # What shows nothing is no data, so that somebody has sent an empty text.
    presences = {
        "empty" if isinstance(one, str) and not is_visible(one) else presence_of(one) for one in values
    }
    return next((one for one in _MOST_SPECIFIC if one in presences), Missing.ABSENT)


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


#: The states of an attribute of a product: filled, one of four reasons why it is not, or there and not readable.
FILL_STATES = ("filled", "empty", "null", "absent", "not asked for", "not readable")

#: Places in `FILL_STATES`, one for each product.
Fill: TypeAlias = npt.NDArray[np.int8]
#: A wire path, and the short code of a language for its texts in that language alone.
Attribute: TypeAlias = tuple[str, str | None]

_FILLED, _EMPTY, _NULL, _ABSENT, _NOT_ASKED, _UNREADABLE = range(6)
_WHY = {Missing.EMPTY: _EMPTY, Missing.NULL: _NULL, Missing.ABSENT: _ABSENT}
#: Filled at the top of the record, with no data at the place that is asked about.
_UNDECIDED = -1
_AT_TOP = {"filled": _UNDECIDED, "empty": _EMPTY, "null": _NULL, "absent": _ABSENT}
#: Ends of the wire paths at which the codes of a language are that belong to no text, by table.
_LANGUAGE_CODES = {
    "codes": (".expressedIn",),
    "scalars": (".expressedIn.code", ".expressedIn.normalizedCode"),
}
_TOP, _ANY = msgspec.json.Decoder(dict[str, msgspec.Raw]), msgspec.json.Decoder()


def fill_states(catalog: Catalog, attribute: str, language: str | None = None) -> Fill:
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
        Places in `FILL_STATES`.

    Raises
    ------
    NotExported
        When the catalogue was read from an export without the tables that are needed.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    >>> catalog = prodex.flatten([{"id": 7, "nameLegal": name}, {"id": 8, "nameLegal": []}, {"id": 9}])
    >>> [FILL_STATES[state] for state in fill_states(catalog, "nameLegal")]
    ['filled', 'empty', 'absent']
    >>> [FILL_STATES[state] for state in fill_states(catalog, "nameLegal", "de")]
    ['absent', 'empty', 'absent']
    """
    wanted = [(attribute, language)]
    read = side_by_side(lambda part: part_fill(part, catalog.origin, wanted)[0], catalog.parts)
    return np.concatenate([np.zeros(0, np.int8), *read])


def part_fill(part: Part, origin: Origin, wanted: Sequence[Attribute]) -> list[Fill]:
    """Return the states of several attributes of the products of a part; each table is read once."""
    rows = _PartRows(part, sorted({attribute for attribute, _ in wanted}))
    presence = Presence(part.size, rows.read, rows.positions)
    unreadable = Unreadable.of(part)
    found = [_states_from_tables(rows, presence, unreadable, origin, *one) for one in wanted]
    _explain(rows, wanted, found)
    return found


class Filled(NamedTuple):
    """Which products of a part have attributes filled, and of which nobody knows it.

    Attributes
    ----------
    filled
        In any language, and in each that occurs.
    unreadable
        Where something is there and cannot be read: in any language (None), in a language that it says itself, and
        without saying one ("").
    """

    filled: Mapping[Attribute, Mask]
    unreadable: Mapping[Attribute, Mask]


def part_filled(part: Part, attributes: Sequence[str]) -> Filled:
    """Return which products of a part have attributes filled: in any language, and in each language that occurs.

    Why an attribute is missing is not looked for, so that no record is read.
    """
    if not part.size:
        return Filled({}, {})
    rows = _PartRows(part, attributes)
    presence = Presence(part.size, rows.read, rows.positions)
    unreadable = Unreadable.of(part)
    found: dict[Attribute, Mask] = {}
    unclear: dict[Attribute, Mask] = {}
    for attribute in attributes:
        for language in (None, *presence.languages(attribute)):
            found[attribute, language] = presence.filled(attribute, language)
        for said in unreadable.languages(attribute):
            for language in {None, said or ""}:
                unclear[attribute, language] = unreadable.products([attribute], language)
    return Filled(found, unclear)


def _states_from_tables(
    rows: _PartRows,
    presence: Presence,
    unreadable: Unreadable,
    origin: Origin,
    attribute: str,
    language: str | None,
) -> Fill:
    """Return the states as far as tables show them."""
    if not rows.part.size:  # a strict filter leaves most parts empty
        return np.zeros(0, np.int8)
    if origin.asked(attribute, language):
        states = rows.at_top(keys(attribute)[0]).copy()
    else:
        states = np.full(rows.part.size, _NOT_ASKED, np.int8)
    states[unreadable.products([attribute], language) & (states != _NOT_ASKED)] = _UNREADABLE
    states[presence.filled(attribute, language)] = _FILLED
    if language is not None:
        # Where there is data of the attribute at all, there is no text in this language, unless one without data.
        is_there = presence.filled(attribute) & ~rows.may_hold_blanks(attribute)
        states[(states == _UNDECIDED) & is_there] = _ABSENT
    return states


def _explain(rows: _PartRows, wanted: Sequence[Attribute], found: Sequence[Fill]) -> None:
    """Look into the records of products where tables do not show why something is missing."""
    undecided = [states == _UNDECIDED for states in found]
    asked = np.flatnonzero(np.logical_or.reduce([np.zeros(rows.part.size, bool), *undecided]))
    if not len(asked):
        return
    records = rows.records(asked)
    for (attribute, language), states, here in zip(wanted, found, undecided, strict=True):
        first, *inner = keys(attribute)
        for product in np.flatnonzero(here).tolist():
            value = _attribute_value(records.get(product, {}), first)
            states[product] = _WHY[missing_in(value, inner, language)]


class _PartRows:
    """The rows of a part that are about some attributes: each table is read once, and only as far as needed."""

    def __init__(self, part: Part, attributes: Sequence[str]) -> None:
        self.part = part
        self._attributes = attributes
        self._columns: dict[tuple[str, str], pa.Array] = {}
        self._positions: dict[str, Rows] = {}
        self._blanks: dict[str, Mask] = {}
        self._at_top: dict[str, Fill] | None = None

    def read(self, table: str, columns: Sequence[str]) -> list[pa.Array]:
        if any((table, name) not in self._columns for name in columns):
            names = [*columns, *self._needed(table)]
            condition = self._condition() if table in BY_SHAPE else None
            found = self.part.read(table, list(dict.fromkeys(names)), condition)
            self._columns |= {(table, name): whole(found[name]) for name in names}
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
                    f"{(found < 0).sum():,} rows of {table} are of products that the catalogue does not have. Run "
                    "verify() to see what is damaged, and open an earlier snapshot or load again."
                )
            self._positions[table] = found
        return self._positions[table]

    def at_top(self, name: str) -> Fill:
        """Return the states of an attribute at the top of the records; `_UNDECIDED` where it is filled."""
        if self._at_top is None:
            names = dict.fromkeys(state_column(keys(attribute)[0]) for attribute in self._attributes)
            read = self.part.read("presence", list(names))
            self._at_top = {column: _top_states(read[column]) for column in read.column_names}
        # Of what nobody in this part has, there is no column.
        absent = np.full(self.part.size, _ABSENT, np.int8)
        return self._at_top.get(state_column(name), absent)

    def may_hold_blanks(self, attribute: str) -> Mask:
        """Say for each product whether it may have a text without data, in any language, at or below a wire path."""
        if attribute not in self._blanks:
            text, of = self.read("texts", ["text", "attribute"])
            rows = [("texts", _at(of, attribute) & ~filled_values(text))]
            # A text without data leaves the codes of its language, each at a path of its own.
            for table, ends in _LANGUAGE_CODES.items():
                (of,) = self.read(table, ["attribute"])
                rows.append((table, _at(of, attribute, ends)))
            found = np.zeros(self.part.size, bool)
            for table, chosen in rows:
                found[self.positions(table)[chosen]] = True
            self._blanks[attribute] = found
        return self._blanks[attribute]

    def records(self, products: Rows) -> dict[int, Mapping[str, Any]]:
        """Return the records of some products, by position; the attributes at the top are not decoded."""
        if not self.part.holds("raw"):
            return {}
        (ids,) = self.read("products", ["product_id"])
        chosen = pc.field("product_id").isin(ids.take(pa.array(products)))
        read = self.part.read("raw", ["product_id", "json"], chosen)
        there = places(whole(read["product_id"]), ids).tolist()
        return dict(zip(there, map(_attributes, read["json"].to_pylist()), strict=True))

    def _condition(self) -> pc.Expression:
        """Return which rows of a table can be about the attributes."""
        # A range, by which row groups without such rows are left out: "/" is the character after the dot.
        own = pc.field("attribute")
        ranges = [(own >= one) & (own < f"{one}/") for one in self._attributes]
        return reduce(operator.or_, ranges)


def _top_states(column: pa.ChunkedArray) -> Fill:
    distinct, code = encoded(column)
    return np.array([_AT_TOP[one] for one in distinct.to_pylist()], np.int8)[code]


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
