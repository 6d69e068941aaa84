"""The record of a product: its rows in every table of a catalogue, and the JSON as received, indented.

Everything that a card shows is made of these rows. Why a value is missing is decided in
`prodex.facts.attribute_states`, for a record as for a whole catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Origin, Part
from prodex.errors import InputError
from prodex.executors import side_by_side
from prodex.facts.attribute_states import missing_in, unfilled_states
from prodex.facts.market import languages_of, markets_of
from prodex.facts.name import NAME_PATHS, TEXT_COLUMNS, Names
from prodex.facts.pending import PENDING, own_path
from prodex.gtin import comparable, comparable_column
from prodex.locales import language_label
from prodex.phrases import moment_in_words, nearest_few
from prodex.tables.attributes import path_keys, state_column
from prodex.tables.columns import as_one_chunk
from prodex.tables.declaration import COUNTED, TABLES
from prodex.tables.fill_state import LACKING, STATES, FillState
from prodex.tables.unreadable import Unreadable
from prodex.tables.values import number_text, read_json
from prodex.untrusted_text import Words, words

Row: TypeAlias = Mapping[str, Any]

#: Attributes of a product that describe the units that it is packed in, or that are packed in it.
PACKINGS = ("logisticalHierarchies", "sharingUnits")
_PACKED = tuple(f"{one}." for one in PACKINGS)

#: The ids of catalogues that cards were shown of.
_IDS: WeakKeyDictionary[Catalog, pa.ChunkedArray] = WeakKeyDictionary()

#: The tables in which every product has a row.
_ALWAYS = ("raw", "presence", "products")

#: Products whose rows are read together, where all are.
_AT_A_TIME = 500

#: Similar ids that an error names.
_NEAR = 3


class NamedProduct(NamedTuple):
    """What a product is called.

    Attributes
    ----------
    product_id
        Its key.
    market
        Its market, else the one that was asked for: the number as text.
    name
        The best of its names, as its market reads them.
    is_pending
        Whether only an update that waits has a name.
    """

    product_id: str
    market: str | None
    name: str | None = None
    is_pending: bool = False


@dataclass(frozen=True, eq=False)
class CardRecord:
    """A product as the tables have it.

    Attributes
    ----------
    product_id
        Its key.
    tables
        Its rows by table.
    code_labels
        Labels of its codes in further languages: by attribute and code, then by language, (label, description).
    origin
        What was asked for.
    unreadable
        What is there and cannot be read.
    named
        What it is called.
    """

    product_id: str
    tables: Mapping[str, tuple[Row, ...]]
    code_labels: Mapping[tuple[str, str], Mapping[str, tuple[str | None, str | None]]]
    origin: Origin
    unreadable: Unreadable
    named: NamedProduct

    @property
    def product(self) -> Row:
        """The row of `products`."""
        return self.tables["products"][0]

    @property
    def json(self) -> str | None:
        """The record as received."""
        found = self.tables.get("raw", ())
        return found[0]["json"] if found else None

    @cached_property
    def wire(self) -> Mapping[str, Any]:
        """The decoded record; empty if it is missing or nested too deeply to be decoded."""
        try:
            read = read_json((self.json or "{}").encode())
        except (ValueError, RecursionError):
            return {}
        return read if isinstance(read, dict) else {}

    @cached_property
    def required_languages(self) -> tuple[str, ...]:
        """Short codes of the languages that its market wants to read."""
        return languages_of(self.named.market)

    def presence(self, attribute: str) -> FillState:
        """Return the state of an attribute at the top of the record."""
        (row,) = self.tables["presence"][:1] or ({},)
        return FillState(row.get(state_column(attribute)) or FillState.ABSENT)

    def rows(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table, without those of pending updates and of the units of hierarchies."""
        for row in self.tables.get(table, ()):
            if not row["attribute"].startswith((PENDING, *_PACKED)):
                yield row

    def waiting(self, table: str) -> Iterator[Row]:
        """Yield the rows of a pending update, with their attributes as if it were accepted."""
        for row in self.tables.get(table, ()):
            if row["attribute"].startswith(PENDING):
                yield {**row, "attribute": own_path(row["attribute"])}

    def packed(self, table: str) -> Iterator[Row]:
        """Yield the rows of the units of hierarchies."""
        for row in self.tables.get(table, ()):
            if row["attribute"].startswith(_PACKED):
                yield row


def read_record(catalog: Catalog, product_id: str) -> CardRecord:
    """Read a product from the one part of a catalogue that has it.

    Parameters
    ----------
    catalog
        The catalogue.
    product_id
        The key of the product.

    Raises
    ------
    InputError
        When the catalogue does not have it; the message names similar ids.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}])
    >>> read_record(catalog, "7").product["brand_code"]
    'ACME'
    """

    place = place_of(catalog, product_id)
    for part in catalog.parts if place >= 0 else ():
        if place < part.size:
            # A part that is restricted to a product reads only the row groups that have rows of it.
            own = part.take(pa.array(np.arange(part.size) == place))
            tables = _read_tables(own)
            labels = _code_labels(catalog, tables)
            (named,) = _named(tables, catalog.origin)
            return CardRecord(product_id, tables, labels, catalog.origin, Unreadable.of(own), named)
        place -= part.size
    raise InputError(_unknown_product(catalog, product_id))


def read_records(catalog: Catalog) -> Iterator[CardRecord]:
    """Yield all products of a catalogue, in its order: some hundreds are read at a time.

    >>> import prodex
    >>> [record.product["gtin"] for record in read_records(prodex.flatten([{"id": 7, "gtin": "1"}, {"id": 8}]))]
    ['1', None]
    """
    for part in catalog.parts:
        for first in range(0, part.size, _AT_A_TIME):
            places = np.arange(part.size)
            own = part.take(pa.array((places >= first) & (places < first + _AT_A_TIME)))
            tables = _read_tables(own)
            labels = _code_labels(catalog, tables)
            unreadable = Unreadable.of(own).each()
            rows = {name: _by_product(some) for name, some in tables.items()}
            for place, named in enumerate(_named(tables, catalog.origin)):
                found = {name: tuple(of.get(named.product_id, ())) for name, of in rows.items()}
                yield CardRecord(named.product_id, found, labels, catalog.origin, unreadable[place], named)


def _named(tables: Mapping[str, tuple[Row, ...]], origin: Origin) -> list[NamedProduct]:
    """Return what each product is called: for all at once, since columns are asked for it."""
    products = [(row["product_id"], row["target_market"]) for row in tables["products"]]
    markets = markets_of(pa.array([own for _, own in products], pa.string()), origin)
    numbers = {product_id: number for number, (product_id, _) in enumerate(products)}
    rows = [row for row in tables.get("texts", ()) if row["attribute"] in NAME_PATHS]
    texts = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in TEXT_COLUMNS})
    names = Names.of(texts, np.array([numbers.get(row["product_id"], -1) for row in rows], np.int64), markets)
    return [
        NamedProduct(product_id, market)
        if row < 0
        else NamedProduct(product_id, market, names.text[row].as_py(), bool(names.is_pending[row]))
        for (product_id, _), market, row in zip(products, markets.to_pylist(), names.rows(), strict=True)
    ]


def _by_product(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["product_id"], []).append(row)
    return found


def is_prepared(catalog: Catalog) -> bool:
    """Return whether a product of the catalogue was read before: the others are found faster then."""
    return catalog in _IDS


def place_of(catalog: Catalog, product_id: str) -> int:
    """Return the place of a product among those of the catalogue; -1 if it is not there.

    >>> import prodex
    >>> place_of(prodex.flatten([{"id": 7}, {"id": 8}]), "8")
    1
    """
    return int(pc.index(_product_ids(catalog), pa.scalar(product_id)).as_py())


def _product_ids(catalog: Catalog) -> pa.ChunkedArray:
    """Return the ids of all products: read for the first card, 20 MB a million, so that others find their part."""
    if catalog not in _IDS:
        read = side_by_side(
            lambda part: as_one_chunk(part.read("products", ["product_id"])["product_id"]), catalog.parts
        )
        _IDS[catalog] = pa.chunked_array(list(read), pa.string())
    return _IDS[catalog]


def _read_tables(part: Part) -> dict[str, tuple[Row, ...]]:
    def rows(name: str) -> tuple[Row, ...]:
        return tuple(part.read(name).to_pylist())

    # A card waits for these files, and unpacking them takes most of the time: as many at a time as there are cores, the
    # slowest first, so that no core waits for the last.
    found = dict(zip(_ALWAYS, side_by_side(rows, _ALWAYS), strict=True))
    # A table with zero rows has nothing to read, so its file is not opened.
    names = [name for name in COUNTED if not all(row.get(f"{name}_count") == 0 for row in found["products"])]
    return {**found, **dict(zip(names, side_by_side(rows, names), strict=True))}


def _code_labels(
    catalog: Catalog, tables: Mapping[str, tuple[Row, ...]]
) -> dict[tuple[str, str], dict[str, tuple[str | None, str | None]]]:
    if not catalog.origin.labels:
        return {}
    codes = {row["code"] for row in tables.get("codes", ())} | {
        value
        for product in tables["products"]
        for name, value in product.items()
        if name.endswith("_code") and value is not None
    }
    found: dict[tuple[str, str], dict[str, tuple[str | None, str | None]]] = {}
    # Labels are stored once for all products, so only those of the codes of these products are read.
    wanted = pc.field("code").isin(pa.array(sorted(codes), pa.string()))
    for part in catalog.parts:
        for row in part.read("code_labels", None, wanted).to_pylist():
            of_code = found.setdefault((row["attribute"], row["code"]), {})
            of_code[row["label_language"]] = (row["label"], row["description"])
    return found


def _unknown_product(catalog: Catalog, product_id: str) -> str:
    keys = catalog.arrow("products", ["product_id", "gtin"])
    # A likely mistake: the GTIN in place of the id.
    named = keys.filter(pc.equal(comparable_column(keys["gtin"]), comparable(product_id)))
    refusal = f"There is no product {product_id:.60} among {len(keys):,}."
    if named.num_rows:
        first = named["product_id"][0].as_py()
        return f"{refusal} It is the GTIN of product {first:.60}: give that id."
    ids = [one for one in keys["product_id"].to_pylist() if _alike(one, product_id)]
    near = nearest_few(product_id, ids, _NEAR, 0.5)
    if near:
        return f"{refusal} Similar ids are {', '.join(one[:60] for one in near)}."
    return f"{refusal} catalog.products['product_id'] has all ids."


def _alike(one: str, other: str) -> bool:
    """Return whether two ids may be similar: comparing a hundred thousand of them in full takes a second."""
    half = max(len(other) // 2, 1)
    return abs(len(one) - len(other)) <= 2 and (one[:half] == other[:half] or one[-half:] == other[-half:])


#: Wire paths of the columns of `products` that hold a leaf of their own.
PATHS: Mapping[str, str] = {
    column.name: ".".join(column.paths[0]) for column in TABLES["products"].columns if column.paths
}


#: Characters of a record that are shown.
_MOST = 300_000
#: Deeper levels are not indented further: a record that nests a thousand times would be made of spaces.
_DEEPEST = 40

_TOO_DEEP = "\n" + "  " * (_DEEPEST + 1)

_SIGN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)


def indented(json: str) -> str:
    """Return JSON with one value per line, and otherwise as it is: repeated keys stay, numbers keep their spelling.

    >>> print(indented('{"a": [1.50, {}], "a": "\\\\ud83d"}'))
    {
      "a": [
        1.50,
        {}
      ],
      "a": "\\ud83d"
    }
    """
    try:
        made = msgspec.json.format(json, indent=2)
        if _TOO_DEEP not in made:
            return made
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    return _indented_by_signs(json)


def _indented_by_signs(json: str) -> str:
    """Return the same of what no reader of JSON takes, and of what nests deep."""
    made: list[str] = []
    depth, before = 0, ""
    # Not decoded and encoded again: that drops repeated keys, changes numbers and lone surrogates, and gives up on
    # deep nesting. Whoever looks here wants to see what was received.
    for found in _SIGN.finditer(json):
        sign = found[0]
        if sign in "]}":
            depth = max(depth - 1, 0)
            if before not in "[{":
                made.append(_indented_line(depth))
        elif before in "[{," and before:
            made.append(_indented_line(depth))
        made.append(f"{sign} " if sign == ":" else sign)
        if sign in "[{":
            depth += 1
        before = sign
    return "".join(made)


def read_raw(json: str | None) -> Words:
    """Return a record indented; of a long one the beginning."""
    if json is None:
        return words(None)
    whole = indented(json)
    shown = words(whole[:_MOST])
    return Words(shown.text, len(whole))


def _indented_line(depth: int) -> str:
    return "\n" + "  " * min(depth, _DEEPEST)


#: Bytes of a value that are shown; texts have a limit of their own.
MOST = 2_000

#: Labels of the uses of a unit, for a product and for the units of a hierarchy alike.
UNIT_FLAGS = {
    "is_consumer_unit": "consumer unit",
    "is_display_unit": "display unit",
    "is_despatch_unit": "despatch unit",
    "is_orderable_unit": "orderable",
    "is_invoice_unit": "invoice unit",
}


def value_text(value: Any, most: int = MOST) -> Words:
    """Return a value as it is shown: a moment in this machine's time zone, and a time without a zone as it was sent.

    >>> value_text(True).text, value_text(4000.0).text, value_text(datetime(2026, 11, 20, 8, 0)).text
    ('yes', '4,000', '2026-11-20 08:00:00')
    """
    if isinstance(value, bool):
        return words("yes" if value else "no")
    if isinstance(value, int | float):
        return words(f"{value:,.15g}" if isinstance(value, float) else f"{value:,}")
    if isinstance(value, datetime):
        form = "%Y-%m-%d %H:%M:%S"
        return words(moment_in_words(value, form) if value.tzinfo else f"{value:{form}}")
    return words(value, most)


def wire_text(value: Any) -> str:
    """Return a value as it was on the wire, so that typed columns and untyped scalars can be compared.

    >>> wire_text(True), wire_text(0.5), wire_text(datetime(2026, 11, 20, 8, 0))
    ('true', '0.5', '2026-11-20T08:00:00')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, datetime):
        # The service sends seconds since 1970 for times with a zone, and ISO 8601 for times without one.
        return str(int(value.timestamp())) if value.tzinfo else value.isoformat()
    return str(value)


def order_of(position: str) -> tuple[int, ...]:
    """Return a position as numbers, by which rows are sorted: as text, item 10 would be before item 2.

    >>> order_of("0.10") > order_of("0.2")
    True
    """
    return tuple(int(one) for one in position.split(".") if one)


def item_text(position: str) -> str | None:
    """Return which item of a list a position means; None for the first, which is mostly the only one.

    >>> item_text("0"), item_text("0.2"), item_text("")
    (None, 'item 1.3', None)
    """
    numbers = [one + 1 for one in order_of(position)]
    return "item " + ".".join(map(str, numbers)) if any(one > 1 for one in numbers) else None


def language_text(code: str | None) -> Words:
    """Return the name of a language, or its code if it has no name.

    >>> language_text("fr").text, language_text("xx-Klingon").text, language_text(None).text
    ('French', 'xx-Klingon', 'no language')
    """
    return words("no language" if code is None else language_label(code), MOST)


#: Tables of values of any attribute: their columns, with what each adds to the path of the attribute. The leaves of
#: all other tables are their declared columns.
_BY_SHAPE = {
    "texts": {"": "text"},
    "codes": {".code": "code", ".label": "label", ".description": "description"},
    "quantities": {"": "value"},
    "scalars": {"": "value"},
}


class Leaf(NamedTuple):
    """A leaf of a record.

    Attributes
    ----------
    attribute
        Wire path.
    place
        The language of a text, else the position in lists.
    value
        The value as sent; a quantity with its unit.
    """

    attribute: str
    place: str
    value: str


def leaves_of(table: str, row: Row) -> Iterator[Leaf]:
    """Yield the leaves of a row.

    >>> row = {"attribute": "netContent", "position": "0", "value": 250.0, "unit_code": "GRM", "unit": "g"}
    >>> list(leaves_of("quantities", row))
    [Leaf(attribute='netContent', place='0', value='250 g')]
    """
    place = row["position"]
    if table == "texts":
        place = row["language"] or row["language_code"] or ""
    for suffix, column in _paths_of_columns(table):
        value = row[column]
        if value is None:
            continue
        text = wire_text(value)
        if table == "quantities":
            text = " ".join(filter(None, [text, row["unit"] or row["unit_code"]]))
        yield Leaf(f"{row['attribute']}{suffix}", place, text)


def product_leaves(record: CardRecord) -> Iterator[Leaf]:
    """Yield the leaves in columns of `products`."""
    for column, path in PATHS.items():
        if record.product[column] is not None:
            yield Leaf(path, "", wire_text(record.product[column]))


def _paths_of_columns(table: str) -> Iterator[tuple[str, str]]:
    if table in _BY_SHAPE:
        yield from _BY_SHAPE[table].items()
        return
    for column in TABLES[table].columns:
        for path in column.paths[:1]:
            yield "".join(f".{key}" for key in path if key), column.name
    # These two columns are filled by a rule of their own, so their declaration has no path.
    if table == "entities":
        yield from ((".code", "entity_code"), (".normalizedCode", "short_code"))


def why_missing(record: CardRecord, attribute: str, language: str | None = None) -> FillState:
    """Return why there is no value at a wire path.

    Parameters
    ----------
    record
        The product.
    attribute
        Wire path, such as `namePublicLong` or `assets.pictures`.
    language
        Short code, if a text in one language is missing.

    Examples
    --------
    >>> import prodex
    >>> from prodex.exploration.card.record import read_record
    >>> record = read_record(prodex.flatten([{"id": 7, "brand": None, "assets": {"pictures": []}}]), "7")
    >>> [str(why_missing(record, path)) for path in ("brand", "kind", "assets.pictures", "assets.videos")]
    ['null', 'absent', 'empty', 'absent']
    """
    state = STATES[int(unfilled_states(record.unreadable, record.origin, attribute, language)[0])]
    if state is not FillState.ABSENT:
        return state
    first, *inner = path_keys(attribute)
    at_top = record.presence(first)
    return at_top if at_top in LACKING else missing_in(record.wire.get(first, []), inner, language)
