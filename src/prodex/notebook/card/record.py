"""The record of a product: its rows in every table of a catalogue, and the JSON as received, indented."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Origin, Part
from prodex.errors import InputError
from prodex.executors import side_by_side
from prodex.facts.market import languages_of, markets_of
from prodex.facts.pending import PENDING, own_path
from prodex.gtin import comparable, comparable_column
from prodex.messages import nearest_few
from prodex.tables.attributes import state_column
from prodex.tables.columns import whole
from prodex.tables.declaration import COUNTED, TABLES
from prodex.tables.values import read_json
from prodex.untrusted_text import Words, words

Row: TypeAlias = Mapping[str, Any]

#: Attributes of a product that describe the units that it is packed in, or that are packed in it.
PACKINGS = ("logisticalHierarchies", "sharingUnits")
_PACKED = tuple(f"{one}." for one in PACKINGS)

#: The ids of catalogues that cards were shown of.
_IDS: WeakKeyDictionary[Catalog, pa.ChunkedArray] = WeakKeyDictionary()

#: The tables in which every product has a row.
_ALWAYS = ("raw", "presence", "products")

#: Similar ids that an error names.
_NEAR = 3


@dataclass(frozen=True, eq=False)
class Record:
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
    """

    product_id: str
    tables: Mapping[str, tuple[Row, ...]]
    code_labels: Mapping[tuple[str, str], Mapping[str, tuple[str | None, str | None]]]
    origin: Origin

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

    @property
    def market(self) -> str | None:
        """Its market, else the one that was asked for: the number as text."""
        (market,) = markets_of(
            pa.array([self.product["target_market"]], pa.string()), self.origin
        ).to_pylist()
        return None if market is None else str(market)

    @property
    def required_languages(self) -> tuple[str, ...]:
        """Short codes of the languages that its market wants to read."""
        return languages_of(self.market)

    def presence(self, attribute: str) -> str:
        """Return the presence of a top-level attribute: filled, empty, null or absent."""
        (row,) = self.tables["presence"][:1] or ({},)
        return row.get(state_column(attribute)) or "absent"

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


def read_record(catalog: Catalog, product_id: str) -> Record:
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

    place = pc.index(_ids(catalog), pa.scalar(product_id)).as_py()
    for part in catalog.parts if place >= 0 else ():
        if place < part.size:
            # Of a part that is cut down to a product, only the row groups are read that have something of it.
            tables = _read(part.take(pa.array(np.arange(part.size) == place)))
            return Record(product_id, tables, _code_labels(catalog, tables), catalog.origin)
        place -= part.size
    raise InputError(_unknown(catalog, product_id))


def is_prepared(catalog: Catalog) -> bool:
    """Return whether a product of the catalogue was read before: the others are found faster then."""
    return catalog in _IDS


def _ids(catalog: Catalog) -> pa.ChunkedArray:
    """Return the ids of all products: read for the first card, 20 MB a million, so that others find their part."""
    if catalog not in _IDS:
        read = side_by_side(
            lambda part: whole(part.read("products", ["product_id"])["product_id"]), catalog.parts
        )
        _IDS[catalog] = pa.chunked_array(list(read), pa.string())
    return _IDS[catalog]


def _read(part: Part) -> dict[str, tuple[Row, ...]]:
    def rows(name: str) -> tuple[Row, ...]:
        return tuple(part.read(name).to_pylist())

    # A card waits for these files, and most of the time goes into unpacking them: as many at a time as there are cores,
    # the slowest first, so that no core waits for the last.
    found = dict(zip(_ALWAYS, side_by_side(rows, _ALWAYS), strict=True))
    # What is counted as nothing is not there, so its file need not be opened.
    names = [name for name in COUNTED if not all(row.get(f"{name}_count") == 0 for row in found["products"])]
    return {**found, **dict(zip(names, side_by_side(rows, names), strict=True))}


def _code_labels(
    catalog: Catalog, tables: Mapping[str, tuple[Row, ...]]
) -> dict[tuple[str, str], dict[str, tuple[str | None, str | None]]]:
    if not catalog.origin.labels:
        return {}
    product = tables["products"][0]
    codes = {row["code"] for row in tables.get("codes", ())} | {
        value for name, value in product.items() if name.endswith("_code") and value is not None
    }
    found: dict[tuple[str, str], dict[str, tuple[str | None, str | None]]] = {}
    # Labels are stored once for all products, so only those of the codes of this product are read.
    wanted = pc.field("code").isin(pa.array(sorted(codes), pa.string()))
    for part in catalog.parts:
        for row in part.read("code_labels", None, wanted).to_pylist():
            of_code = found.setdefault((row["attribute"], row["code"]), {})
            of_code[row["label_language"]] = (row["label"], row["description"])
    return found


def _unknown(catalog: Catalog, product_id: str) -> str:
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
    made: list[str] = []
    depth, before = 0, ""
    # Not decoded and encoded again: that drops repeated keys, changes numbers and lone surrogates, and gives up on
    # deep nesting. Whoever looks here wants to see what was received.
    for found in _SIGN.finditer(json):
        sign = found[0]
        if sign in "]}":
            depth = max(depth - 1, 0)
            if before not in "[{":
                made.append(_line(depth))
        elif before in "[{," and before:
            made.append(_line(depth))
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


def _line(depth: int) -> str:
    return "\n" + "  " * min(depth, _DEEPEST)
