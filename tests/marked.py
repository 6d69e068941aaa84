"""Products of which each bears its own mark in every text, and everything that can be read in what is made of them."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from ipywidgets import Widget

import prodex
from prodex_sandbox.sample import shared_products
from tests.corrections.undoing import gtin

#: So many products; their numbers begin with 1.
COUNT = 6

#: What has to stay as it is for the record to be read as a product at all.
_KEPT = {"uuid", "_jsonVersion", "tag", "isTaggedBy", "targetProductStatus"}
#: Lists of codes that are not the products' own: a language, a unit, a nutrient, a type of packaging.
_SHARED = {"expressedIn", "isMeasuredBy", "isConceptualizedBy", "typePackaging", "GPC"}


def mark(number: int) -> str:
    """Return the mark of a product: in capitals, as codes are."""
    return f"ZV{number}QX"


def product_id(number: int) -> str:
    """Return the id of a product."""
    return f"90{number}00{number}7"


def uuid(number: int) -> str:
    """Return what scenarios know a product by."""
    return f"00000000-0000-4000-8000-{number:012d}"


def own_gtin(number: int, *, packed: bool = False) -> str:
    """Return the GTIN of a product, or of a case with nothing else in it."""
    return gtin(54_100_000_000 + 1_000_003 * number + packed)


def marks(number: int) -> set[str]:
    """Return what shows that something is of a product, in small letters."""
    return {mark(number).lower(), product_id(number), own_gtin(number).lstrip("0"), uuid(number)}


def records() -> list[dict[str, Any]]:
    """Return the products: rich ones of the sample, and updates that wait for the second and the last."""
    return [_of(number, record) for number, record in enumerate(_rich(), 1)]


@cache
def _rich() -> list[Mapping[str, Any]]:
    """Return the richest products of the sample, of which `_of` makes others: to find them takes half a second."""
    sample = [one.record for one in shared_products(400)]
    return sorted(sample, key=lambda one: -len(json.dumps(one)))[:COUNT]


def _of(number: int, record: Mapping[str, Any]) -> dict[str, Any]:
    own = _marked({key: one for key, one in record.items() if key != "lastRequest"}, mark(number))
    own |= {"id": int(product_id(number)), "gtin": own_gtin(number)}
    own["uuid"] = uuid(number)
    own["product_key"] = {**own["product_key"], "product_id": own["id"], "target_market_id": 250}
    names = [{"expressedIn": {"code": "fra-FR"}, "data": f"PAIN  {mark(number)}"}]
    own |= {"namePublicLong": names, "isTaggedBy": ["odd" if number % 2 else "even"]}
    own["logisticalHierarchies"] = [
        {
            "gtin": own_gtin(number, packed=True),
            "quantity": 1,
            "typePackaging": {"code": "CASE", "label": "Case"},
            "children": [
                {"gtin": own["gtin"], "quantity": 6, "typePackaging": {"code": "EACH"}, "children": []}
            ],
        }
    ]
    if number in {2, COUNT}:
        own["lastRequest"] = {"description": [{**names[0], "data": f"En attente {mark(number)}"}]}
    return own


def _marked(value: Any, word: str, name: str = "", parent: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _marked(one, word, key, name) for key, one in value.items()}
    if isinstance(value, list):
        return [_marked(one, word, name, parent) for one in value]
    if name == "gtin":
        return None
    if not isinstance(value, str) or name in _KEPT or name.endswith(("Date", "DateTime", "At")):
        return value
    if parent in {*_SHARED, "presentEntities"} or (parent, name) == ("isPartitionedBy", "name"):
        return value
    if value.startswith("https://"):
        return f"{value}?{word}"
    return f"{value}_{word}" if name == "code" else f"{value} {word}"


def texts_in(value: Any, seen: dict[int, object] | None = None) -> Iterator[str]:
    """Yield what can be read in a value: in frames, files of every kind, pages, widgets, and what is inside them."""
    match value:
        case None | bool():
            pass
        case str():
            yield value
        case bytes():
            yield value.decode("utf-8", "replace")
        case Files():
            yield from _texts_in_file(value.path)
        case pd.DataFrame() | pd.Series():
            yield value.to_csv()
        case pa.Table() | pa.RecordBatch() | pa.Array() | pa.ChunkedArray():
            yield str(value.to_pylist())  # all of its texts at once
        case _:
            seen = {} if seen is None else seen
            if id(value) not in seen:
                seen[id(value)] = value  # as long as it is kept, nothing else has its identity
                yield from _texts_inside(value, seen)


def _texts_inside(value: Any, seen: dict[int, object]) -> Iterator[str]:
    inside: Iterable[Any] = ()
    if isinstance(value, Mapping):
        inside = (one for entry in value.items() for one in entry)
    elif isinstance(value, list | tuple | set | frozenset):
        inside = value
    elif isinstance(value, Widget):
        names = set(value.trait_names()) - {"comm", "log", "layout", "style"}
        inside = (getattr(value, name) for name in names)
    elif isinstance(value, prodex.Catalog):
        inside = (repr(value), value._repr_html_(), *map(value.arrow, value._held))
    else:
        yield repr(value)
        yield getattr(value, "_repr_html_", str)() or ""
        if dataclasses.is_dataclass(value):
            names = {one.name for one in dataclasses.fields(value) if not one.name.startswith("_")}
            inside = (getattr(value, name) for name in names)
    for one in inside:
        yield from texts_in(one, seen)


@dataclasses.dataclass(frozen=True)
class Files:
    """A file or a folder that was written: what is in it counts, and not where it is alone."""

    path: Path


#: Data in a page for a colleague.
_PACKED = re.compile(r'<script type="text/x-prodex" id="prodex-[\w-]+">([\w+/=]*)</script>')


def _texts_in_file(path: Path) -> Iterator[str]:
    yield path.name
    if path.is_dir():
        for one in sorted(path.iterdir()):
            yield from _texts_in_file(one)
    elif path.suffix == ".parquet":
        yield from texts_in(pq.read_table(path))
        yield str(pq.read_schema(path).metadata)
    elif path.suffix in {".xlsx", ".zip"}:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield from texts_in(archive.read(name))
    elif path.is_file():
        text = path.read_bytes().decode("utf-8", "replace")
        yield text
        # A page for a colleague holds its data packed.
        yield from (gzip.decompress(base64.b64decode(one)).decode() for one in _PACKED.findall(text))


def numbers_in(value: Any, read: dict[int, object] | None = None) -> set[int]:
    """Return the numbers of the products of which something can be read in a value.

    Parameters
    ----------
    value
        Anything.
    read
        What has been read already, by its identity: none of it is read again, and this value is added.
    """
    text = "\n".join(texts_in(value, read)).lower()
    return {number for number in range(1, 1 + COUNT) if any(one in text for one in marks(number))}
